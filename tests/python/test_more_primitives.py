"""Primitives that spell functions with arguments in another place, against NumPy, eager and compiled."""

import math

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, ops

R = np.random.RandomState(7)
X = R.randn(3, 4).astype(np.float32)
VOLUME = R.randn(2, 3, 5, 6, 7).astype(np.float32)
BOXES = np.array([[0, 0, 10, 10], [5, 5, 9, 20], [1, 2, 3, 4]], np.float32)
IDS = np.array([0, 2, 0], np.int32)


def t(value):
    return Tensor(np.asarray(value))


def parts(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def blocks(x, how):
    return how(x[:, :, :4, :6, :6].reshape(2, 3, 2, 2, 3, 2, 3, 2), axis=(3, 5, 7))


def std_mean(x, axis, ddof):
    return x.std(axis, ddof=ddof, keepdims=True), x.mean(axis, keepdims=True)


def scattered(how):
    """Rows 0, 2 and 0 of X joined with the rows of X one after the other."""
    out = X.copy()
    for i, row in zip(IDS, X[::-1]):
        out[i] = how(out[i], row)
    return out


SQUARE = X[:, :3].astype(np.float64) + 3 * np.eye(3)
CASES = [
    (ops.AvgPool3D(2, 2), (VOLUME,), blocks(VOLUME, np.mean)),
    (ops.MaxPool3D(2, 2), (VOLUME,), blocks(VOLUME, np.max)),
    (ops.MaxPool3D((1, 1, 2, 2, 2), (1, 1, 2, 2, 2)), (VOLUME,), blocks(VOLUME, np.max)),
    (ops.BartlettWindow(periodic=False), (np.array(5),), np.bartlett(5)),
    (ops.BlackmanWindow(periodic=False), (np.array(6),), np.blackman(6)),
    (ops.HammingWindow(periodic=False), (np.array(6),), np.hamming(6)),
    (ops.Bucketize([0.0, 1.0]), (X,), np.digitize(X, [0.0, 1.0], right=True)),
    (ops.ChannelShuffle(2), (VOLUME[:, :2, 0],), VOLUME[:, :2, 0]),
    (
        ops.Conv3D(4, 3),
        (VOLUME[:, :, :3, :3, :3], np.ones((4, 3, 3, 3, 3), np.float32)),
        np.broadcast_to(VOLUME[:, :, :3, :3, :3].sum((1, 2, 3, 4)).reshape(2, 1, 1, 1, 1), (2, 4, 1, 1, 1)),
    ),
    (ops.Cross(), (X[:, :3], X[::-1, :3].copy()), np.cross(X[:, :3], X[::-1, :3], axis=0)),
    (ops.Cross(1), (X[:, :3], X[::-1, :3].copy()), np.cross(X[:, :3], X[::-1, :3])),
    (
        ops.DiagPart(),
        (np.arange(36.0).reshape(2, 3, 2, 3),),
        np.arange(36.0).reshape(6, 6).diagonal().reshape(2, 3),
    ),
    (ops.Expand(), (X[:, :1], (3, 5)), np.broadcast_to(X[:, :1], (3, 5))),
    (ops.Fmax(), (X, np.where(X > 0, np.nan, X + 1)), np.fmax(X, np.where(X > 0, np.nan, X + 1))),
    (ops.Gcd(), (np.array([12, 18]), np.array([8, 27])), np.array([4, 9])),
    (ops.Lcm(), (np.array([4, 6]), np.array([6, 9])), np.array([12, 18])),
    (ops.Ger(), (X[0], X[1]), np.outer(X[0], X[1])),
    (ops.GLU(1), (X,), X[:, :2] / (1 + np.exp(-X[:, 2:]))),
    (ops.Heaviside(), (np.array([-1.0, 0, 2]), np.array([5.0, 6, 7])), np.array([0.0, 6, 1])),
    (ops.Hypot(), (X, X + 1), np.hypot(X, X + 1)),
    (ops.Imag(), (X,), np.zeros_like(X)),
    (ops.Real(), (X,), X),
    (ops.IndexFill(), (X, 0, IDS, 5.0), np.where([[True], [False], [True]], 5, X)),
    (ops.LeftShift(), (np.array([1, 3]), np.array([2, 1])), np.array([4, 6])),
    (ops.RightShift(), (np.array([9, -8]), np.array([2, 1])), np.array([2, -4])),
    (ops.Lgamma(), (np.abs(X) + 1,), np.vectorize(math.lgamma)(np.abs(X) + 1)),
    (ops.Logit(), (1 / (1 + np.exp(-X)),), X),
    (ops.Logit(0.1), (np.array([0.0, 0.5, 1.0]),), np.log([0.1 / 0.9, 1, 0.9 / 0.1])),
    (ops.LpNorm(1, 3), (X,), (np.abs(X) ** 3).sum(1) ** (1 / 3)),
    (ops.MatrixDeterminant(), (SQUARE,), np.linalg.det(SQUARE)),
    (ops.LogMatrixDeterminant(), (SQUARE,), np.linalg.slogdet(SQUARE)),
    (ops.MatrixPower(3), (SQUARE,), np.linalg.matrix_power(SQUARE, 3)),
    (ops.Median(axis=1), (X,), (np.sort(X, 1)[:, 1], X.argsort(1)[:, 1])),
    (ops.Median(global_median=True), (X,), (np.sort(X, None)[5], 0)),
    (ops.NonZero(), (np.array([[0, 2], [3, 0]]),), np.array([[0, 1], [1, 0]])),
    (ops.Pdist(1.0), (X,), np.array([np.abs(X[i] - X[j]).sum() for i in range(3) for j in range(i + 1, 3)])),
    (ops.ReduceStd((1,), False, True), (X,), std_mean(X, 1, 0)),
    (ops.ReduceStd(1, True, True), (X,), std_mean(X, 1, 1)),
    (ops.Roll(1, 0), (X,), np.roll(X, 1, 0)),
    (ops.SearchSorted(ms.int32), (np.array([1.0, 3, 5]), np.array([3.0, 4])), np.array([1, 2])),
    (ops.SearchSorted(right=True), (np.array([1.0, 3, 5]), np.array([3.0, 4])), np.array([2, 2])),
    (ops.TrilIndices(3, 4), (), np.stack(np.tril_indices(3, 0, 4))),
    (ops.TriuIndices(3, 4, 1), (), np.stack(np.triu_indices(3, 1, 4))),
    (ops.TruncateDiv(), (np.array([7, -7]), np.array([2, 2])), np.array([3, -3])),
    (ops.TruncateMod(), (np.array([7, -7]), np.array([2, 2])), np.array([1, -1])),
    (ops.UniqueConsecutive(True, True), (np.array([1, 1, 2, 1]),), ([1, 2, 1], [0, 0, 1, 2], [2, 1, 1])),
    (ops.UnravelIndex(), (np.array([5, 22]), np.array([4, 6])), np.stack(np.unravel_index([5, 22], (4, 6)))),
    (ops.UnsortedSegmentProd(), (X, IDS, 3), np.stack([X[0] * X[2], np.ones(4), X[1]])),
    (ops.IOU(), (BOXES, BOXES), None),
    (ops.TripletMarginLoss(), (X, X + 1, X - 2, np.array(1.0, np.float32)), np.float32(0)),
]


@pytest.mark.parametrize(
    ("primitive", "operands", "want"), CASES, ids=lambda value: getattr(value, "name", "")
)
def test_primitives(primitive, operands, want):
    arrays = [
        v
        if isinstance(v, (int, float, tuple)) or np.ndim(v) == 0 and np.asarray(v).dtype.kind == "i"
        else t(v)
        for v in operands
    ]
    arrays = [int(v) if isinstance(v, np.ndarray) else v for v in arrays]
    got = primitive(*arrays)
    if want is not None:
        wanted = want if isinstance(want, tuple) else (want,)
        assert len(parts(got)) == len(wanted)
        for a, b in zip(parts(got), wanted):
            assert a.shape == np.shape(b)
            np.testing.assert_allclose(a.asnumpy(), b, 3e-5, 3e-6)
    compiled = ms.jit(lambda *given: primitive(*given))
    for _ in range(3):
        for a, b in zip(parts(got), parts(compiled(*arrays))):
            assert np.array_equal(a.asnumpy(), b.asnumpy())


def test_boxes_go_there_and_back():
    anchors, truths = t(BOXES), t(BOXES + np.array([1, 2, 3, 4], np.float32))
    deltas = ops.BoundingBoxEncode(means=(0.1,) * 4, stds=(0.5,) * 4)(anchors, truths)
    back = ops.BoundingBoxDecode((100, 100), means=(0.1,) * 4, stds=(0.5,) * 4)(anchors, deltas)
    np.testing.assert_allclose(back.asnumpy(), truths.asnumpy(), 1e-5, 1e-4)
    assert np.allclose(ops.IOU()(anchors, anchors).asnumpy().diagonal(), 1)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("Sub", np.subtract),
        ("Mul", np.multiply),
        ("Div", np.divide),
        ("Max", np.maximum),
        ("Min", np.minimum),
    ],
)
def test_scattering_into_parameters(name, how):
    for make, ids in ((f"Scatter{name}", IDS), (f"ScatterNd{name}", IDS[:, None])):
        p = ms.Parameter(t(X), name="p")
        result = getattr(ops, make)()(p, t(ids), t(X[::-1].copy()))
        np.testing.assert_allclose(p.asnumpy(), scattered(how), 1e-5)
        assert np.array_equal(result.asnumpy(), p.asnumpy())


def test_drawing():
    x = t(np.ones((4, 50, 3, 3), np.float32))
    for primitive in (ops.Dropout2D(0.8), ops.Dropout3D(0.8)):
        given = x if primitive.name == "Dropout2D" else ops.expand_dims(x, 2)
        y, mask = primitive(given)
        y, mask = y.asnumpy().reshape(200, -1), mask.asnumpy().reshape(200, -1)
        assert np.array_equal(y, np.where(mask, np.float32(1) / np.float32(0.8), 0))
        assert (mask == mask[:, :1]).all() and 120 < mask[:, 0].sum() < 195
    drawn = ops.Multinomial()(t(np.array([0.0, 1, 3], np.float32)), 200)
    assert drawn.dtype == ms.int32 and set(drawn.tolist()) == {1, 2}
    drawn = ops.RandomCategorical()(t(np.array([[0.0, -1e9], [-1e9, 0.0]], np.float32)), 5)
    assert drawn.dtype == ms.int64 and drawn.tolist() == [[0] * 5, [1] * 5]
    assert ops.Bernoulli()(x, 1.0).asnumpy().all()


def test_counts_of_a_size():
    x = t(np.array([0, 1, 1, 7], np.int32))
    assert ops.Bincount()(x, 3, t(np.array([1.5, 2, 3, 4], np.float32))).tolist() == [1.5, 5, 0]
    assert ops.Bincount()(x, 3, t(np.zeros(0, np.float32))).tolist() == [1, 2, 0]


def test_qr():
    q, r = ops.Qr()(t(SQUARE))
    np.testing.assert_allclose(q.asnumpy() @ r.asnumpy(), SQUARE, 1e-9)
    q, _ = ops.Qr(full_matrices=True)(t(X[:, :2].astype(np.float64)))
    assert q.shape == (3, 3)


def test_errors():
    with pytest.raises(ValueError, match="unknown pad_mode: got 'round'"):
        ops.MaxPool3D(2, pad_mode="round")(t(VOLUME))
    with pytest.raises(ValueError, match="axes do not come in pairs"):
        ops.DiagPart()(t(X))
