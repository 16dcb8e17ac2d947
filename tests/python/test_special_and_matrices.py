"""Special functions, matrices, windows of images and boxes against NumPy and the mathematics behind them."""

import math

import numpy as np
import pytest

sorus = pytest.importorskip("sorus")
from sorus import Tensor, ops  # noqa: E402

RNG = np.random.default_rng(3)
MATRICES = RNG.standard_normal((5, 4, 4))


def test_lgamma_has_poles_and_reflects() -> None:
    points = np.array([-3.7, -2.5, -0.3, 1e-3, 0.5, 3.3, 30.0, 1e10, 1e30])
    np.testing.assert_allclose(
        ops.lgamma(Tensor(points)).asnumpy(), [math.lgamma(p) for p in points], rtol=1e-13, atol=1e-14
    )
    assert np.isposinf(ops.lgamma(Tensor(np.array([0.0, -1.0, -2.0, np.inf]))).asnumpy()).all()


def test_digamma_is_the_gradient_of_lgamma() -> None:
    points = Tensor(np.array([-3.7, 0.5, 1.0, 30.0]))
    slopes = sorus.grad(lambda v: ops.lgamma(v).sum())(points)
    np.testing.assert_allclose(ops.digamma(points).asnumpy(), slopes.asnumpy(), rtol=1e-12)
    assert np.isnan(ops.digamma(Tensor(np.array([0.0, -1.0]))).asnumpy()).all()


def test_bessel_functions_meet_where_series_and_expansion_do() -> None:
    points = np.array([-20.0, -3.0, 0.0, 1.0, 13.99, 14.01, 50.0])
    np.testing.assert_allclose(ops.i0(Tensor(points)).asnumpy(), np.i0(points), rtol=1e-11)
    angles = (np.arange(2000) + 0.5) * np.pi / 2000  # J0(x) is the mean of cos(x sin(t))
    wanted = np.cos(points[:, None] * np.sin(angles)).mean(1)
    np.testing.assert_allclose(ops.bessel_j0(Tensor(points)).asnumpy(), wanted, atol=1e-10)


def test_divisors_of_negatives_and_zero() -> None:
    a, b = np.array([0, 12, -18, 7], np.int32), np.array([0, 8, 12, 0], np.int32)
    np.testing.assert_array_equal(ops.gcd(Tensor(a), Tensor(b)).asnumpy(), np.gcd(a, b))
    np.testing.assert_array_equal(ops.lcm(Tensor(a), Tensor(b)).asnumpy(), np.lcm(a, b))


def test_inverse_and_determinants_of_batches() -> None:
    x = Tensor(MATRICES)
    np.testing.assert_allclose(ops.inverse(x).asnumpy(), np.linalg.inv(MATRICES), rtol=1e-10)
    np.testing.assert_allclose(ops.det(x).asnumpy(), np.linalg.det(MATRICES), rtol=1e-12)
    sign, size = ops.slogdet(x)
    wanted = np.linalg.slogdet(MATRICES)
    np.testing.assert_array_equal(sign.asnumpy(), wanted[0])
    np.testing.assert_allclose(size.asnumpy(), wanted[1], rtol=1e-12, atol=1e-12)


def test_determinant_needs_exchanges_and_finds_singular_matrices() -> None:
    exchanged = np.eye(3, dtype=np.float32)[[1, 0, 2]]
    assert float(ops.det(Tensor(exchanged))) == -1.0
    assert float(ops.det(Tensor(np.array([[0.0, 0, 1], [0, 0, 2], [1, 2, 3]])))) == 0.0


def test_gradient_of_logdet_is_the_inverse() -> None:
    found = sorus.grad(lambda v: ops.logdet(ops.matmul(v, v.swapaxes(-1, -2))).sum())(Tensor(MATRICES))
    np.testing.assert_allclose(
        found.asnumpy(), 2 * np.linalg.inv(MATRICES).swapaxes(-1, -2), rtol=1e-9, atol=1e-10
    )


def test_cholesky_of_batches_and_its_inverse() -> None:
    positive = MATRICES @ MATRICES.swapaxes(-1, -2) + np.eye(4)
    factor = ops.cholesky(Tensor(positive))
    np.testing.assert_allclose(factor.asnumpy(), np.linalg.cholesky(positive), rtol=1e-12, atol=1e-14)
    upper = ops.cholesky(Tensor(positive), upper=True)
    np.testing.assert_array_equal(upper.asnumpy(), factor.asnumpy().swapaxes(-1, -2))
    np.testing.assert_allclose(
        ops.cholesky_inverse(factor).asnumpy(), np.linalg.inv(positive), rtol=1e-9, atol=1e-12
    )


def test_covariances_with_weights() -> None:
    x, counts, weights = MATRICES[0], np.array([1, 2, 3, 4]), np.array([1.0, 2.0, 0.5, 4.0])
    found = ops.cov(Tensor(x), correction=0, fweights=Tensor(counts), aweights=Tensor(weights))
    np.testing.assert_allclose(
        found.asnumpy(), np.cov(x, ddof=0, fweights=counts, aweights=weights), rtol=1e-12, atol=1e-14
    )


def test_median_is_nan_where_an_element_is_and_nanmedian_leaves_it_out() -> None:
    x = Tensor([[1.0, math.nan, 3.0, 2.0], [4.0, 6.0, 5.0, 7.0]])
    values, places = ops.median(x, 1)
    assert math.isnan(values.asnumpy()[0]) and values.asnumpy()[1] == 5.0
    np.testing.assert_array_equal(places.asnumpy(), [1, 2])
    values, places = ops.nanmedian(x, 1)
    np.testing.assert_array_equal(values.asnumpy(), [2.0, 5.0])
    np.testing.assert_array_equal(places.asnumpy(), [3, 2])


def test_fold_is_the_transpose_of_unfold() -> None:
    x = Tensor(RNG.standard_normal((2, 3, 6, 7)).astype(np.float32))
    windows = ops.unfold(x, (2, 3), 1, 1, 2)
    assert windows.shape == (2, 18, 16)
    weights = Tensor(RNG.standard_normal(windows.shape).astype(np.float32))
    gradient = sorus.grad(lambda v: (ops.unfold(v, (2, 3), 1, 1, 2) * weights).sum())(x)
    np.testing.assert_allclose(
        gradient.asnumpy(), ops.fold(weights, (6, 7), (2, 3), 1, 1, 2).asnumpy(), rtol=1e-6, atol=1e-6
    )


def test_batches_of_blocks_come_back() -> None:
    x = Tensor(RNG.standard_normal((2, 3, 6, 7)).astype(np.float32))
    borders = [[1, 1], [1, 1]]
    blocks = ops.space_to_batch_nd(x, [2, 3], borders)
    assert blocks.shape == (12, 3, 4, 3)
    np.testing.assert_array_equal(ops.batch_to_space_nd(blocks, [2, 3], borders).asnumpy(), x.asnumpy())


def test_the_identity_grid_gives_the_image() -> None:
    x = Tensor(RNG.standard_normal((2, 3, 5, 4)).astype(np.float32))
    theta = Tensor(np.tile(np.eye(2, 3, dtype=np.float32), (2, 1, 1)))
    for align_corners in (False, True):
        grid = ops.affine_grid(theta, x.shape, align_corners)
        found = ops.grid_sample(x, grid, align_corners=align_corners)
        np.testing.assert_allclose(found.asnumpy(), x.asnumpy(), atol=1e-5)


def test_encoded_boxes_decode() -> None:
    anchors = Tensor([[1.0, 1.0, 4.0, 6.0], [2.0, 0.0, 7.0, 3.0]])
    truths = Tensor([[2.0, 1.5, 5.0, 8.0], [1.0, 1.0, 8.0, 5.0]])
    stds = (0.1, 0.1, 0.2, 0.2)
    deltas = ops.bounding_box_encode(anchors, truths, stds=stds)
    found = ops.bounding_box_decode(anchors, deltas, (20, 20), stds=stds)
    np.testing.assert_allclose(found.asnumpy(), truths.asnumpy(), rtol=1e-5)


def test_runs_of_slices() -> None:
    values, inverse, counts = ops.unique_consecutive(Tensor([[1, 1, 2], [3, 3, 3]]), True, True, 1)
    np.testing.assert_array_equal(values.asnumpy(), [[1, 2], [3, 3]])
    np.testing.assert_array_equal(inverse.asnumpy(), [0, 0, 1])
    np.testing.assert_array_equal(counts.asnumpy(), [2, 1])


@pytest.mark.parametrize("shape", [(5, 4, 4), (2, 5, 3), (3, 5)])
def test_qr_gives_orthogonal_matrices_and_triangles(shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape)
    for mode in ("reduced", "complete"):
        q, r = (t.asnumpy() for t in ops.qr(Tensor(x), mode))
        np.testing.assert_allclose(q @ r, x, atol=1e-13)
        unit = np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], q.shape[-1], q.shape[-1]))
        np.testing.assert_allclose(q.swapaxes(-1, -2) @ q, unit, atol=1e-13)
        np.testing.assert_array_equal(r, np.triu(r))
        for i in np.ndindex(shape[:-2]):
            np.testing.assert_allclose(r[i], np.linalg.qr(x[i], mode)[1], atol=1e-12)


def test_multi_margin_loss_by_hand() -> None:
    x, target = Tensor([[0.5, 1.0, -1.0], [2.0, 0.0, 1.5]]), Tensor([0, 2], sorus.int64)
    found = ops.multi_margin_loss(x, target, reduction="none")
    np.testing.assert_allclose(found.asnumpy(), [1.5 / 3, 1.5 / 3], rtol=1e-6)
