"""Singular values, what is made of them, ranges and draws, against NumPy."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, mint, ops
from sorus import numpy as mnp

RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("shape", [(3, 3), (6, 2), (2, 5), (4, 2, 3), (2, 3, 20, 17), (1, 1), (0, 3), (2, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("full", [False, True])
def test_svd(shape, dtype, full):
    """Values, and columns that are orthonormal and give the matrix again."""
    a = RANDOM.normal(size=shape).astype(dtype)
    s, u, v = (t.asnumpy() for t in ops.svd(Tensor(a), full))
    wanted = np.linalg.svd(a.astype(np.float64), full_matrices=full)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    assert s.dtype == dtype and u.shape == wanted[0].shape and v.shape == np.swapaxes(wanted[2], -1, -2).shape
    np.testing.assert_allclose(s, wanted[1], rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(ops.svd(Tensor(a), compute_uv=False).asnumpy(), s)
    k = s.shape[-1]
    again = (u[..., :k] * s[..., None, :]) @ np.swapaxes(v[..., :k], -1, -2)
    np.testing.assert_allclose(again, a, atol=20 * tolerance)
    for q in (u, v):
        eye = np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1]))
        np.testing.assert_allclose(np.swapaxes(q, -1, -2) @ q, eye, atol=20 * tolerance)


@pytest.mark.parametrize("order", ["fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_matrix_norms(order, keepdims):
    """All orders, over any two axes."""
    a = RANDOM.normal(size=(4, 3, 5)).astype(np.float64)
    for axes in ((0, 1), (2, 0), (-1, -2)):
        got = ops.matrix_norm(Tensor(a), order, axes, keepdims)
        wanted = np.linalg.norm(a, order, axes, keepdims)
        np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-12)
    wanted = np.linalg.norm(a[0], order)
    np.testing.assert_allclose(ops.norm(Tensor(a[0]), order).asnumpy(), wanted, rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 4), (2, 3, 3)])
def test_pinv(shape):
    """Pseudo-inverses, those of matrices without full rank included."""
    a = RANDOM.normal(size=shape)
    np.testing.assert_allclose(ops.pinv(Tensor(a)).asnumpy(), np.linalg.pinv(a), atol=1e-12)
    a[..., -1, :] = a[..., 0, :]
    np.testing.assert_allclose(ops.pinv(Tensor(a)).asnumpy(), np.linalg.pinv(a), atol=1e-11)
    cut = ops.pinv(Tensor(a), rtol=0.5).asnumpy()
    np.testing.assert_allclose(cut, np.linalg.pinv(a, 0.5), atol=1e-11)


def test_gradient_of_pinv_of_the_identity():
    """Equal singular values, whose vectors are any: the derivative is that of the inverse all the same."""
    weights = RANDOM.normal(size=(3, 3))
    gradient = ms.grad(lambda a: (ops.pinv(a) * Tensor(weights)).sum())(Tensor(np.eye(3)))
    np.testing.assert_allclose(gradient.asnumpy(), -weights, atol=1e-12)


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 50])
def test_ranges(count, endpoint):
    """numpy.linspace and numpy.logspace, with arrays as ends, too."""
    first, last = np.array([0.5, -3.0]), 9.25
    for axis in (0, -1):
        got = mnp.linspace(Tensor(first), last, count, endpoint, dtype=ms.float64, axis=axis)
        wanted = np.linspace(first, last, count, endpoint, axis=axis)
        np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-15)
    got = mnp.logspace(-1.5, 2, count, endpoint, 2.0, ms.float64)
    np.testing.assert_allclose(got.asnumpy(), np.logspace(-1.5, 2, count, endpoint, 2.0), rtol=1e-14)
    _, step = mnp.linspace(0.1, 0.7, max(count, 2), endpoint, True)
    assert step.dtype == ms.float32  # rounded once
    assert step.asnumpy() == np.float32(np.linspace(0.1, 0.7, max(count, 2), endpoint, True)[1])


def test_ranges_of_ops_have_numpys_bits():
    """Steps are computed in float64 and rounded once."""
    for start, end, steps in ((0.1, 0.7, 33), (-2, 5, 11), (3.3, -1e5, 101)):
        wanted = np.linspace(start, end, steps, dtype=np.float32)
        np.testing.assert_array_equal(ops.linspace(start, end, steps).asnumpy(), wanted)
    np.testing.assert_array_equal(mint.linspace(0, 1, 5, dtype=ms.float64).asnumpy(), np.linspace(0, 1, 5))
    slope = ms.grad(lambda a: ops.linspace(a, Tensor(1.0), 5).sum())(Tensor(0.0))
    assert float(slope) == 2.5
    with pytest.raises(TypeError, match="'steps' has the wrong type"):
        ops.linspace(0, 1, 2.5)


def test_gamma_draws():
    """Shapes broadcast, and means are alpha / beta."""
    ms.set_seed(4)
    drawn = ops.gamma((20000, 1), Tensor([0.5, 3.0]), Tensor([1.0, 2.0]))
    assert drawn.shape == (20000, 2) and drawn.dtype == ms.float32
    np.testing.assert_allclose(drawn.asnumpy().mean(0), [0.5, 1.5], atol=0.04)
    first = ops.gamma((5,), Tensor(2.0), Tensor(1.0), seed=8).asnumpy()
    ms.set_seed(4)
    np.testing.assert_array_equal(ops.gamma((5,), Tensor(2.0), Tensor(1.0), seed=8).asnumpy(), first)


def test_nextafter():
    """The next number of the dtype."""
    a = RANDOM.normal(size=(3, 1)).astype(np.float32)
    b = RANDOM.normal(size=(4,)).astype(np.float32)
    np.testing.assert_array_equal(ops.nextafter(Tensor(a), Tensor(b)).asnumpy(), np.nextafter(a, b))
    np.testing.assert_array_equal(Tensor(a).nextafter(Tensor(b)).asnumpy(), np.nextafter(a, b))


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_unsigned_integers_beside_numbers(dtype):
    """They compute as the other integers do."""
    a = np.array([[1, 2, 7], [0, 3, 9]], dtype)
    t = Tensor(a)
    np.testing.assert_array_equal((t * 2 + 1).asnumpy(), a * 2 + 1, strict=True)
    assert (t * 0.5).dtype == ms.float32
    np.testing.assert_array_equal(ops.count_nonzero(t).asnumpy(), 5)
    np.testing.assert_array_equal(ops.isclose(t, t + 1).asnumpy(), np.zeros((2, 3), bool))
    np.testing.assert_allclose(ops.deg2rad(t).asnumpy(), np.deg2rad(a).astype(np.float32), rtol=1e-6)
    np.testing.assert_array_equal(ops.where(t > 2, t, 0).asnumpy(), np.where(a > 2, a, 0), strict=True)


def test_numbers_that_float64_does_not_hold():
    """Large integers fill a tensor exactly."""
    number = 2**60 + 1
    assert ops.full((2,), number, dtype=ms.int64).tolist() == [number, number]
