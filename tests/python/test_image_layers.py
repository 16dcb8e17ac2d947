"""Measures of images and the layers without parameters against formulas in NumPy, eager and in graph mode."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops

R = np.random.RandomState(4)
IMAGES = R.rand(2, 3, 16, 14).astype(np.float32)
NOISY = np.clip(IMAGES + 0.1 * R.randn(*IMAGES.shape), 0, 1).astype(np.float32)


def close(got, want, rtol=2e-5, atol=1e-6):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want):
            close(g, w, rtol, atol)
    else:
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got.asnumpy(), want, rtol, atol)


def thrice(cell, want, *arrays, rtol=2e-5):
    """The cell gives `want` at each of three calls; in graph mode the last ones run compiled."""
    for _ in range(3):
        close(cell(*map(Tensor, arrays)), want, rtol)


def similarity(x, y, top=1.0, size=11, sigma=1.5, k1=0.01, k2=0.03):
    """Means over places of the whole measure and of contrast and structure, window by window in float64."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    places = np.arange(size) - (size - 1) / 2
    line = np.exp(-(places**2) / (2 * sigma**2))
    window = np.outer(line, line) / line.sum() ** 2
    c1, c2 = (k1 * top) ** 2, (k2 * top) ** 2
    height, width = x.shape[2] - size + 1, x.shape[3] - size + 1
    whole, rest = np.zeros((*x.shape[:2], height, width)), np.zeros((*x.shape[:2], height, width))
    for i in range(height):
        for j in range(width):
            a, b = x[:, :, i : i + size, j : j + size], y[:, :, i : i + size, j : j + size]
            mean_a, mean_b = (a * window).sum((2, 3)), (b * window).sum((2, 3))
            apart_a, apart_b = a - mean_a[..., None, None], b - mean_b[..., None, None]
            var_a, var_b = (apart_a**2 * window).sum((2, 3)), (apart_b**2 * window).sum((2, 3))
            both = (apart_a * apart_b * window).sum((2, 3))
            rest[:, :, i, j] = (2 * both + c2) / (var_a + var_b + c2)
            light = (2 * mean_a * mean_b + c1) / (mean_a**2 + mean_b**2 + c1)
            whole[:, :, i, j] = light * rest[:, :, i, j]
    return whole.mean((2, 3)), rest.mean((2, 3))


def test_ssim(mode):  # noqa: ARG001
    thrice(nn.SSIM(), similarity(IMAGES, NOISY)[0].mean(1), IMAGES, NOISY)
    thrice(nn.SSIM(), np.ones(2), IMAGES, IMAGES)
    thrice(
        nn.SSIM(255.0, 5, 0.8, 0.02, 0.05),
        similarity(IMAGES * 255, NOISY * 255, 255.0, 5, 0.8, 0.02, 0.05)[0].mean(1),
        IMAGES * 255,
        NOISY * 255,
    )
    bytes_a, bytes_b = (np.round(v * 255).astype(np.uint8) for v in (IMAGES, NOISY))
    thrice(nn.SSIM(255, 4), similarity(bytes_a, bytes_b, 255.0, 4)[0].mean(1), bytes_a, bytes_b)


def test_ssim_has_the_gradient_of_its_formula():
    cell = nn.SSIM(filter_size=3)
    x, y = IMAGES[:1, :1, :4, :4], NOISY[:1, :1, :4, :4]
    slope = ms.grad(lambda v: cell(v, Tensor(y.astype(np.float64))).sum())(Tensor(x.astype(np.float64)))
    for place in ((0, 0, 1, 2), (0, 0, 3, 3)):
        step = np.zeros_like(x, np.float64)
        step[place] = 1e-5
        ends = [similarity(x + s * step, y, size=3)[0].sum() for s in (1, -1)]
        np.testing.assert_allclose(slope[place].asnumpy(), (ends[0] - ends[1]) / 2e-5, 1e-5)


def halved(x):
    return x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2).mean((3, 5))


def test_msssim(mode):  # noqa: ARG001
    powers = (0.3, 0.7)
    x, y = IMAGES[:, :, :12, :12], NOISY[:, :, :12, :12]
    first = similarity(x, y, size=5)[1]
    last = similarity(halved(x), halved(y), size=5)[0]
    want = (np.maximum(first, 0) ** 0.3 * np.maximum(last, 0) ** 0.7).mean(1)
    thrice(nn.MSSSIM(power_factors=powers, filter_size=5), want, x, y)
    assert nn.MSSSIM().power_factors == (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def test_psnr(mode):  # noqa: ARG001
    want = 10 * np.log10(1 / ((IMAGES - NOISY).astype(np.float64) ** 2).mean((1, 2, 3)))
    thrice(nn.PSNR(), want, IMAGES, NOISY)
    bytes_a, bytes_b = (np.round(v * 255).astype(np.uint8) for v in (IMAGES, NOISY))
    error = ((bytes_a.astype(float) - bytes_b) ** 2).mean((1, 2, 3))
    thrice(nn.PSNR(255), 10 * np.log10(255**2 / error), bytes_a, bytes_b)
    assert nn.PSNR()(Tensor(IMAGES), Tensor(IMAGES)).tolist() == [np.inf, np.inf]


def test_gradients_and_crops(mode):  # noqa: ARG001
    dy, dx = np.zeros_like(IMAGES), np.zeros_like(IMAGES)
    dy[:, :, :-1], dx[..., :-1] = np.diff(IMAGES, axis=2), np.diff(IMAGES, axis=3)
    thrice(nn.ImageGradients(), (dy, dx), IMAGES)
    one = nn.ImageGradients()(Tensor(np.ones((1, 1, 1, 3), np.int32)))
    assert one[0].dtype == ms.int32 and not one[0].asnumpy().any()
    thrice(nn.CentralCrop(0.5), IMAGES[:, :, 4:12, 3:11], IMAGES)
    thrice(nn.CentralCrop(0.5), IMAGES[0, :, 4:12, 3:11], IMAGES[0])
    thrice(nn.CentralCrop(1.0), IMAGES, IMAGES)
    thrice(nn.CentralCrop(0.1), IMAGES[:, :, 7:9, 6:8], IMAGES)


def test_moments(mode):  # noqa: ARG001
    for axis in (None, 1, (0, 2), -1):
        for keep in (None, True, False):
            want = IMAGES.mean(axis, keepdims=bool(keep)), IMAGES.var(axis, keepdims=bool(keep))
            thrice(nn.Moments(axis, keep), want, IMAGES)
    half = (IMAGES[0] * 300).astype(np.float16)
    wide = half.astype(np.float64)
    got = nn.Moments()(Tensor(half))
    assert got[1].dtype == ms.float16
    close(got, (wide.mean().astype(np.float16), wide.var().astype(np.float16)), 1e-3)


def test_ranges(mode):  # noqa: ARG001
    for args in ((5,), (1, 8, 2), (8, 1, -3), (0, 0, 1)):
        got = nn.Range(*args)()
        assert got.dtype == ms.int32
        np.testing.assert_array_equal(got.asnumpy(), np.arange(*args))
    got = nn.Range(0.5, 2.0, 0.5)()
    assert got.dtype == ms.float32 and got.tolist() == [0.5, 1.0, 1.5]


def test_diagonals(mode):  # noqa: ARG001
    rows = R.randn(2, 3, 4)
    thrice(nn.MatrixDiag(), rows[..., None] * np.eye(4), rows)
    for shape in ((3, 4), (2, 3, 3), (2, 4, 3)):
        matrix = R.randn(*shape)
        thrice(nn.MatrixDiagPart(), np.diagonal(matrix, 0, -2, -1), matrix)
        diagonal = R.randn(*shape[:-2], min(shape[-2:]))
        want = matrix.copy()
        for i in range(diagonal.shape[-1]):
            want[..., i, i] = diagonal[..., i]
        thrice(nn.MatrixSetDiag(), want, matrix, diagonal)
    slopes = ms.grad(lambda m, d: (nn.MatrixSetDiag()(m, d) * 2).sum(), (0, 1))(
        Tensor(np.ones((2, 3))), ops.ones(2, ms.float64)
    )
    assert slopes[0].tolist() == [[0, 2, 2], [2, 0, 2]] and slopes[1].tolist() == [2, 2]
    for axis in (0, (1, 2), ()):
        axes = axis if axis != () else None
        top = rows.max(axes, keepdims=True)
        for keep in (False, True):
            want = np.log(np.exp(rows - top).sum(axes, keepdims=True)) + top
            want = want if keep else want.squeeze(axes)
            thrice(nn.ReduceLogSumExp(axis, keep), want, rows)


class Product(nn.Cell):
    def construct(self, x, y):
        return x * y, x.sum()


def test_jvp_and_vjp(mode):  # noqa: ARG001
    x, y, v, w = (R.randn(3).astype(np.float32) for _ in range(4))
    for _ in range(3):
        results, along = nn.Jvp(Product())(*map(Tensor, (x, y)), (Tensor(v), Tensor(w)))
        close(results, (x * y, x.sum()))
        close(along, (v * y + x * w, v.sum()))
        results, slopes = nn.Vjp(Product())(*map(Tensor, (x, y)), (Tensor(v), Tensor(w[0])))
        close(results, (x * y, x.sum()))
        close(slopes, (v * y + w[0], v * x))
        close(nn.Vjp(nn.Tanh())(Tensor(x), Tensor(v))[1], v * (1 - np.tanh(x) ** 2))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_batch_norm_primitive(mode, layout):  # noqa: ARG001
    x = R.randn(4, 3, 2, 5).astype(np.float32)
    gamma, beta = R.rand(3).astype(np.float32), R.randn(3).astype(np.float32)
    given = x.transpose(0, 2, 3, 1) if layout == "NHWC" else x

    def normal(mean, variance, eps):
        parts = (v.reshape(3, 1, 1) for v in (mean, variance, gamma, beta))
        m, v, g, b = parts
        want = (x - m) / np.sqrt(v + eps) * g + b
        return want.transpose(0, 2, 3, 1) if layout == "NHWC" else want

    running = [ms.Parameter(Tensor(v), name=n, requires_grad=False) for n, v in (("m", beta), ("v", gamma))]
    infer = ops.BatchNorm(epsilon=1e-3, data_format=layout)
    for _ in range(3):
        got = infer(Tensor(given), Tensor(gamma), Tensor(beta), *running)
        close(got, (normal(beta, gamma, 1e-3), beta, gamma, beta, gamma), 1e-4)
    train = ops.BatchNorm(is_training=True, momentum=0.25, data_format=layout)
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    want_mean, want_variance = beta.copy(), gamma.copy()
    for _ in range(3):
        got = train(Tensor(given), Tensor(gamma), Tensor(beta), *running)
        close(got, (normal(mean, variance, 1e-5), mean, variance, mean, variance), 1e-4, 1e-5)
        want_mean = 0.75 * want_mean + 0.25 * mean
        want_variance = 0.75 * want_variance + 0.25 * x.var((0, 2, 3), ddof=1)
        close(running[0], want_mean, 1e-4)
        close(running[1], want_variance, 1e-4)


def test_gradient_of_the_batch_norm_primitive():
    """As that of the function, whose gradient the samples of its op check."""
    x, gamma, beta = (Tensor(R.randn(*s)) for s in ((4, 3), (3,), (3,)))
    weights = Tensor(R.randn(4, 3))
    mean, variance = ops.zeros(3, ms.float64), ops.ones(3, ms.float64)
    train = ops.BatchNorm(is_training=True)

    def mine(x, gamma, beta):
        return (train(x, gamma, beta, mean, variance)[0] * weights).sum()

    def formula(x, gamma, beta):
        centre = x - x.mean(0)
        return ((centre / ops.sqrt((centre * centre).mean(0) + 1e-5) * gamma + beta) * weights).sum()

    for a, b in zip(ms.grad(mine, (0, 1, 2))(x, gamma, beta), ms.grad(formula, (0, 1, 2))(x, gamma, beta)):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-9, 1e-9)


def test_refusals():
    small = Tensor(np.ones((1, 1, 8, 8), np.float32))
    for bad in (
        lambda: nn.SSIM(filter_size=0),
        lambda: nn.SSIM(max_val=-1.0),
        lambda: nn.SSIM()(small, small),
        lambda: nn.SSIM(filter_size=3)(small, small[:, :, 1:]),
        lambda: nn.SSIM(filter_size=3)(small[0], small[0]),
        lambda: nn.MSSSIM(power_factors=()),
        lambda: nn.MSSSIM(filter_size=8, power_factors=(0.5, 0.5))(small, small),
        lambda: nn.PSNR(0),
        lambda: nn.ImageGradients()(small[0]),
        lambda: nn.CentralCrop(1.5),
        lambda: nn.CentralCrop(0.5)(small[0, 0]),
        lambda: nn.Moments((1, 1)),
        lambda: nn.Range(0, 5, 0),
        lambda: nn.Range(0, 5, -1),
        lambda: nn.MatrixDiagPart()(Tensor([1.0])),
        lambda: nn.MatrixSetDiag()(small, Tensor([1.0])),
        lambda: ops.BatchNorm(data_format="CNHW")(*[Tensor([1.0])] * 5),
    ):
        with pytest.raises(ValueError, match="got"):
            bad()
    for bad in (
        lambda: nn.SSIM(max_val="1"),
        lambda: nn.SSIM(filter_size=3)(small, small.astype(ms.float16)),
        lambda: nn.MSSSIM(power_factors=1.0),
        lambda: nn.CentralCrop("a"),
        lambda: nn.Moments("a"),
        lambda: nn.Moments(keep_dims=1),
        lambda: nn.Moments()(Tensor([1])),
        lambda: nn.Range("a"),
        lambda: nn.ReduceLogSumExp(0, 1),
        lambda: nn.Jvp(3),
        lambda: nn.Jvp(nn.Tanh())(small),
        lambda: nn.Vjp(nn.Tanh())(small),
    ):
        with pytest.raises(TypeError, match="got"):
            bad()
