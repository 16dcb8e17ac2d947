"""Functions and methods that few programs use, against NumPy, eager and compiled."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, ops

R = np.random.RandomState(9)
X = R.randn(4, 6).astype(np.float32)
N = np.array([[1, np.nan, 3], [4, 5, 6], [-1, 0, -np.inf]], np.float32)
SQUARE = R.randn(2, 3, 3) + 3 * np.eye(3)
IDS = np.array([[0, 2], [1, 0]])


def parts(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def both(call, want, *arrays, rtol=2e-5):
    """The result of `call` is `want`, and the same to the bit when compiled."""
    given = [Tensor(a) for a in arrays]
    got = call(*given)
    wanted = want if isinstance(want, tuple) else (want,)
    assert len(parts(got)) == len(wanted)
    for a, b in zip(parts(got), wanted):
        assert a.shape == np.shape(b)
        np.testing.assert_allclose(a.asnumpy(), b, rtol, 2e-6)
    compiled = ms.jit(call)
    for _ in range(3):
        for a, b in zip(parts(got), parts(compiled(*given))):
            assert np.array_equal(a.asnumpy(), b.asnumpy(), equal_nan=True)


def test_of_elements():
    both(ops.angle, np.angle(N), N)
    both(ops.isneginf, np.isneginf(N), N)
    both(ops.isposinf, np.isposinf(N), N)
    both(ops.isreal, np.isreal(N), N)
    both(ops.sgn, np.sign(X), X)
    both(ops.inv, 1 / X, X)
    both(ops.ldexp, np.ldexp(X, 3), X, np.array(3))
    both(ops.swiglu, X[:, :3] / (1 + np.exp(-X[:, :3])) * X[:, 3:], X)
    both(ops.type_as, X.astype(np.int32), X, np.zeros(1, np.int32))
    assert ops.is_complex(Tensor(X)) is False
    assert Tensor(X).is_signed() and not Tensor(np.zeros(2, np.uint8)).is_signed()


def test_of_matrices():
    both(lambda x: ops.matrix_band_part(x, 1, 0), np.triu(np.tril(X), -1), X)
    both(lambda x: ops.matrix_band_part(x, -1, 2), np.tril(X, 2), X)
    rhs = R.randn(2, 3, 2)
    both(ops.matrix_solve, np.linalg.solve(SQUARE, rhs), SQUARE, rhs)
    both(lambda a, b: ops.matrix_solve(a, b, True), np.linalg.solve(SQUARE.swapaxes(1, 2), rhs), SQUARE, rhs)
    both(ops.t, X.T, X)
    both(lambda x: ops.row_stack((x, x)), np.vstack((X, X)), X)
    both(lambda x, y: ops.view_as(x, y), X.reshape(8, 3), X, np.zeros((8, 3)))
    both(
        lambda x, y: ops.dist(x, y, 3), (np.abs(X - 1) ** 3).sum() ** (1 / 3), X, np.ones((4, 6), np.float32)
    )
    both(ops.padding, np.pad(X[:, :1], ((0, 0), (0, 7))), X[:, :1])
    q, r = Tensor(X).qr(False)
    assert q.shape == (4, 4) and np.allclose(q.asnumpy() @ r.asnumpy(), X, atol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_quantiles(axis, keepdims):
    shares = np.array([0.0, 0.3, 0.95])
    both(lambda x: ops.quantile(x, 0.3, axis, keepdims), np.quantile(X, 0.3, axis, keepdims=keepdims), X)
    want = np.quantile(X, shares, axis, keepdims=keepdims)
    both(lambda x: ops.quantile(x, Tensor(shares), axis, keepdims), want, X)
    holes = np.where(X > 1, np.nan, X)
    both(lambda x: x.quantile(0.5, axis, keepdims), np.quantile(holes, 0.5, axis, keepdims=keepdims), holes)
    want = np.nanquantile(holes, 0.4, axis, keepdims=keepdims)
    both(lambda x: ops.nanquantile(x, 0.4, axis, keepdims), want, holes)
    both(lambda x: ops.nanmean(x, axis, keepdims), np.nanmean(holes, axis, keepdims=keepdims), holes)


def test_classes_and_masks():
    got = ops.intopk(Tensor([[0.1, 0.5, 0.4], [0.3, 0.3, 0.2]]), Tensor([2, 1]), 1)
    assert got.tolist() == [False, True]
    assert ops.sequence_mask(Tensor([1, 3])).tolist() == [[True, False, False], [True, True, True]]
    assert ops.sequence_mask(Tensor([1, 3]), 2).tolist() == [[True, False], [True, True]]
    values, places = ops.max_pool2d(Tensor(X[None, None]), 2, return_indices=True)
    back = ops.max_unpool2d(values, places, 2).asnumpy()
    assert np.array_equal(np.sort(back[back != 0]), np.sort(values.asnumpy().ravel()))


@pytest.mark.parametrize("dtype", (np.int32, np.int64, np.float32, np.float16))
def test_places_among_distinct_elements(dtype):
    x = np.array([[3, 1, 3], [0, 1, 2]], dtype)
    want = np.array([[0, 1, 0], [2, 1, 3]]), np.array([3, 1, 3, 0, 1, 2], dtype)
    # As recorded of the genuine wheel.
    places = ms.int64 if dtype is np.int64 else ms.int32
    both(ops.unique, (np.array([3, 1, 0, 2], dtype), want[0]), x)
    both(ops.Unique(), (np.array([3, 1, 0, 2], dtype), want[0]), x)
    sorted_places = np.unique(want[1], return_inverse=True)[1]
    both(lambda t: ms.numpy.unique(t, True), (np.unique(x), sorted_places), want[1])
    for call in (ops.unique, ops.Unique(), lambda t: ms.numpy.unique(t, True)):
        for run in (call, ms.jit(call)):
            for _ in range(3):
                values, inverse = run(Tensor(x))
                assert (values.dtype, inverse.dtype) == (Tensor(x).dtype, places)
    _, inverse = ms.mint.unique(Tensor(x), return_inverse=True)
    assert inverse.dtype == ms.int64


def test_drawing():
    ms.set_seed(1)
    drawn = ops.laplace((20000,), 2.0, 3.0).asnumpy()
    assert abs(np.median(drawn) - 2) < 0.1 and abs(np.abs(drawn - 2).mean() - 3) < 0.1
    assert ops.standard_laplace((2, 3)).shape == (2, 3)
    mixed = ops.shuffle(Tensor(np.arange(50)))
    assert sorted(mixed.tolist()) == list(range(50)) and mixed.tolist() != list(range(50))
    x = Tensor(np.zeros((40, 50), np.float32))
    x.uniform_(2, 3)
    assert 2 <= x.asnumpy().min() < 2.1 < 2.9 < x.asnumpy().max() <= 3
    x.normal_(5, 2)
    assert abs(x.asnumpy().mean() - 5) < 0.3 and abs(x.asnumpy().std() - 2) < 0.2
    assert x.uniform(0, 1).shape == (40, 50)
    chosen = ops.random_categorical(Tensor([[0.0, -1e9]]), 4)
    assert chosen.tolist() == [[0] * 4] and chosen.dtype == ms.int64


def test_methods_that_are_functions():
    x = Tensor(X)
    for name, arguments in (
        ("deg2rad", ()),
        ("digamma", ()),
        ("frac", ()),
        ("hardshrink", (0.3,)),
        ("lgamma", ()),
        ("logcumsumexp", (1,)),
        ("msort", ()),
        ("sinc", ()),
        ("signbit", ()),
        ("cov", ()),
        ("histc", (5,)),
        ("copysign", (Tensor(-X),)),
        ("xdivy", (Tensor(X + 9),)),
        ("rot90", (1, (0, 1))),
        ("slice_scatter", (Tensor(np.zeros((4, 2), np.float32)), 1, 1, 3)),
        ("renorm", (2.0, 0, 1.0)),
    ):
        want = getattr(ops, name)(x, *arguments)
        assert np.array_equal(getattr(x, name)(*arguments).asnumpy(), want.asnumpy(), equal_nan=True), name
    assert [p.shape for p in x.tensor_split(3, 1)] == [(4, 2)] * 3
    assert np.array_equal(x.float_power(2).asnumpy(), np.float_power(X, 2))
    assert x.clone() is not x and x.is_floating_point()
    assert np.array_equal(x.diagflat(1).asnumpy(), np.diagflat(X, 1))
    values, places = x.kthvalue(2)
    assert np.array_equal(values.asnumpy(), np.sort(X)[:, 1])
    places, values = x.argmax_with_value(1)
    assert np.array_equal(values.asnumpy(), X.max(1)) and np.array_equal(places.asnumpy(), X.argmax(1))
    assert Tensor([1, 1, 4]).bincount().tolist() == [0, 2, 0, 0, 1]
    assert Tensor([3, 1, 3]).unique().tolist() == [1, 3]
    assert Tensor([1.0, 3.0]).searchsorted(Tensor([2.0])).tolist() == [1]
    assert x.sum_to_size(4, 1).shape == (4, 1) and x.sum_to_size((6,)).shape == (6,)
    assert x.new_full((2,), 7).tolist() == [7, 7] and x.new_empty((2, 3), dtype=ms.int8).shape == (2, 3)


def test_methods_in_place():
    def changed(change):
        x = Tensor(X)
        change(x)
        return x.asnumpy()

    assert np.array_equal(changed(lambda x: x.clamp_(-0.5, 0.5)), X.clip(-0.5, 0.5))
    assert np.array_equal(changed(lambda x: x.floor_()), np.floor(X))
    assert np.allclose(changed(lambda x: x.tanh_()), np.tanh(X), 1e-6)
    assert np.array_equal(changed(lambda x: x.masked_fill_(Tensor(X > 0), 9.0)), np.where(X > 0, 9, X))
    want = X.copy()
    np.add.at(want, [1, 1], 2.0)
    ones = Tensor(np.ones((2, 6), np.float32))
    assert np.allclose(changed(lambda x: x.index_add_(0, Tensor([1, 1]), ones, alpha=2)), want)
    five = Tensor(np.full((2, 2), 5, np.float32))
    assert np.array_equal(changed(lambda x: x.scatter_(1, Tensor(IDS), five))[2:], X[2:])
    assert changed(lambda x: x.scatter_(1, Tensor(IDS), five))[0, 2] == 5
    got = changed(lambda x: x.scatter_add_(1, Tensor(IDS), five))
    assert np.isclose(got[1, 1], X[1, 1] + 5) and np.isclose(got[0, 0], X[0, 0] + 5)
    rows = Tensor(np.array([[0], [2]]))
    for name, how in (("sub", np.subtract), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)):
        got = getattr(Tensor(X), f"scatter_{name}")(rows, Tensor(X[:2] + 1)).asnumpy()
        want = X.copy()
        want[[0, 2]] = how(want[[0, 2]], X[:2] + 1)
        assert np.allclose(got, want)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ops.quantile(Tensor(X), 1.5), "'q' is out of range"),
        (lambda: ops.padding(Tensor(X)), "last axis does not fit"),
        (lambda: ops.swiglu(Tensor(X[:, :3])), "axis does not fit"),
        (lambda: ops.intopk(Tensor(X), Tensor([1]), 1), "shapes do not fit"),
        (lambda: ops.matrix_band_part(Tensor(X[0]), 0, 0), "too few axes"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_layers():
    image = X.reshape(1, 1, 4, 6)
    values, places = ops.max_pool2d(Tensor(image), 2, return_indices=True)
    blocks = image.reshape(1, 1, 2, 2, 3, 2)
    kept = (blocks == values.asnumpy()[:, :, :, None, :, None]).reshape(image.shape)
    both(ms.nn.MaxUnpool2d(2), np.where(kept, image, 0), values.asnumpy(), places.asnumpy())
    line, at = np.array([[[3.0, 4.0]]], np.float32), np.array([[[1, 2]]])
    both(ms.nn.MaxUnpool1d(2), np.array([[[0, 3.0, 4.0, 0]]]), line, at)
    both(ms.nn.MaxUnpool3d(1), line[:, :, None, None], line[:, :, None, None], at[:, :, None, None] - 1)
    norms = (np.abs(blocks) ** 3).sum((3, 5)) ** (1 / 3)
    both(ms.nn.LPPool2d(3, 2), norms, np.abs(image))
    both(ms.nn.LPPool1d(2, 3), np.sqrt((X.reshape(4, 1, 2, 3) ** 2).sum(-1)), X[:, None])
    both(ms.nn.ChannelShuffle(2), X[None, [0, 2, 1, 3]], X[None])
    both(ms.nn.Unflatten(-1, (2, 3)), X.reshape(4, 2, 3), X)
    near, far = np.linalg.norm(X - 1 + 1e-6, axis=1), np.linalg.norm(X + 2 + 1e-6, axis=1)
    ones = np.ones_like(X)
    want = np.maximum(near - far + 1.5, 0)
    both(ms.nn.TripletMarginLoss(margin=1.5, reduction="none"), want, X, ones, -2 * ones, rtol=1e-4)
    classes = np.array([0, 5, 2, 1])
    apart = np.maximum(0.7 - X[np.arange(4), classes][:, None] + X, 0)
    apart[np.arange(4), classes] = 0
    both(ms.nn.MultiMarginLoss(margin=0.7), apart.sum(1).mean() / 6, X, classes)
    with pytest.raises(ValueError, match="'axis' is out of range: got 2"):
        ms.nn.Unflatten(2, (1,))(Tensor(X))
