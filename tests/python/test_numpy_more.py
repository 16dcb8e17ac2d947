"""Further names of `sorus.numpy` against NumPy itself, eager and compiled."""

import numpy as np
import pytest

import sorus as ms
import sorus.numpy as mnp
from sorus import Tensor

R = np.random.RandomState(5)
A = R.randn(3, 4).astype(np.float32)
V = R.randn(7).astype(np.float32)
I = np.array([[3, -2, 5], [0, 7, -4]], np.int32)
HOLES = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan], [4, 5, 6]], np.float32)
UP = np.array([0.0, 1.0, 2.5], np.float32)


def tensors(value):
    if isinstance(value, np.ndarray):
        return Tensor(value)
    return type(value)(tensors(v) for v in value) if isinstance(value, (list, tuple)) else value


def parts(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def check(name, arguments, keywords, reads=False):
    want = getattr(np, name)(*arguments, **keywords)
    given = [tensors(v) for v in arguments]
    got = getattr(mnp, name)(*given, **{k: tensors(v) for k, v in keywords.items()})
    assert len(parts(got)) == len(parts(want))
    for a, b in zip(parts(got), parts(want)):
        a = a.asnumpy() if isinstance(a, Tensor) else np.asarray(a)
        assert a.shape == np.shape(b), (a.shape, np.shape(b))
        np.testing.assert_allclose(a, b, 2e-5, 2e-6)
    compiled = ms.jit(
        lambda *operands: getattr(mnp, name)(*operands, **{k: tensors(v) for k, v in keywords.items()})
    )
    for _ in range(3):
        for a, b in zip(parts(got), parts(compiled(*given))):
            assert np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


CASES = [
    ("append", (A, A), {}),
    ("append", (A, A), {"axis": 1}),
    ("argwhere", (I,), {}),
    ("around", (A, 1), {}),
    ("array_equal", (A, A), {}),
    ("array_equal", (A, V), {}),
    ("array_equal", (HOLES, HOLES), {}),
    ("array_equal", (HOLES, HOLES), {"equal_nan": True}),
    ("array_equiv", (np.ones((2, 3)), np.ones(3)), {}),
    ("array_equiv", (np.ones(2), np.ones(3)), {}),
    ("average", (A,), {}),
    ("average", (A,), {"axis": 0, "weights": np.array([1.0, 2, 4], np.float32)}),
    ("average", (A,), {"axis": 1, "weights": np.abs(A), "returned": True}),
    ("average", (I,), {"returned": True}),
    ("bartlett", (6,), {}),
    ("blackman", (7,), {}),
    ("hamming", (5,), {}),
    ("hanning", (6,), {}),
    ("broadcast_arrays", (A, A[0]), {}),
    ("copy", (A,), {}),
    ("corrcoef", (A,), {}),
    ("corrcoef", (A[0], A[1]), {}),
    ("corrcoef", (A,), {"rowvar": False}),
    ("cov", (A,), {}),
    ("cov", (A, A[::-1].copy()), {"bias": True}),
    ("cov", (A,), {"rowvar": False, "ddof": 0}),
    ("cov", (A,), {"fweights": np.array([1, 2, 1, 3])}),
    ("count_nonzero", (I,), {}),
    ("count_nonzero", (I,), {"axis": 1, "keepdims": True}),
    ("deg2rad", (A,), {}),
    ("radians", (A,), {}),
    ("rad2deg", (A,), {}),
    ("diag_indices", (3,), {}),
    ("diagflat", (A, 1), {}),
    ("diff", (A,), {}),
    ("diff", (A, 2, 0), {}),
    ("digitize", (A, np.array([-1.0, 0, 1], np.float32)), {}),
    ("digitize", (UP, UP), {"right": True}),
    ("digitize", (UP, UP[::-1].copy()), {}),
    ("digitize", (UP, UP[::-1].copy()), {"right": True}),
    ("divmod", (I, np.array([2, 3, -2], np.int32)), {}),
    ("dsplit", (R.randn(2, 3, 4).astype(np.float32), 2), {}),
    ("vsplit", (A, 3), {}),
    ("hsplit", (A, [1, 3]), {}),
    ("ediff1d", (A,), {}),
    ("ediff1d", (A, np.float32(9), np.array([1.0, 2], np.float32)), {}),
    ("geomspace", (1, 1000), {"num": 4}),
    ("geomspace", (-1, -8), {"num": 3, "endpoint": False}),
    ("gradient", (A,), {}),
    ("gradient", (A, 2.0), {"axis": 1}),
    ("gradient", (A, 2.0, 3.0), {}),
    ("in1d", (I, np.array([3, 0, 7], np.int32)), {}),
    ("isin", (I, [3, 0, 7]), {}),
    ("isin", (I, [3, 0, 7]), {"invert": True}),
    ("indices", ((2, 3),), {"sparse": True}),
    ("interp", (A, UP, V[:3]), {}),
    ("interp", (A, UP, V[:3]), {"left": -5.0, "right": 5.0}),
    ("isposinf", (np.array([1, np.inf, -np.inf], np.float32),), {}),
    ("isneginf", (np.array([1, np.inf, -np.inf], np.float32),), {}),
    ("ix_", (np.array([0, 2]), np.array([1, 3, 1])), {}),
    ("nancumsum", (HOLES,), {}),
    ("nancumsum", (HOLES,), {"axis": 1}),
    ("nansum", (HOLES,), {"axis": 0}),
    ("nanmean", (HOLES,), {}),
    ("nanmax", (HOLES[::2],), {"axis": 0, "keepdims": True}),
    ("nanmin", (HOLES[::2],), {"axis": 1}),
    ("nanstd", (HOLES,), {}),
    ("nanvar", (HOLES[::2],), {"axis": 1, "ddof": 0}),
    ("pad", (A, 2), {}),
    ("pad", (A, ((1, 0), (2, 3))), {"constant_values": ((1, 2), (3, 4))}),
    ("pad", (A, ((1, 2), (2, 3))), {"mode": "edge"}),
    ("pad", (A, ((1, 5), (2, 9))), {"mode": "reflect"}),
    ("pad", (A, (4, 3)), {"mode": "symmetric"}),
    ("pad", (A, 6), {"mode": "wrap"}),
    ("pad", (A, ((1, 2), (0, 3))), {"mode": "maximum"}),
    ("pad", (A, 2), {"mode": "mean", "stat_length": 2}),
    ("pad", (A, 1), {"mode": "minimum", "stat_length": ((1, 2), (3, 1))}),
    ("pad", (A, ((2, 3), (1, 2))), {"mode": "linear_ramp", "end_values": (5.0, -4.0)}),
    ("polyadd", (V, V[:3]), {}),
    ("polysub", (V[:3], V), {}),
    ("polymul", (I[0], I[0]), {}),
    ("polymul", (V, V[:3]), {}),
    ("polyder", (V,), {}),
    ("polyder", (V, 3), {}),
    ("polyval", (V[:4], A), {}),
    ("convolve", (V, V[:3]), {}),
    ("convolve", (V[:3], V, "same"), {}),
    ("convolve", (V, V[:4], "same"), {}),
    ("convolve", (V, V[:3], "valid"), {}),
    ("correlate", (V, V[:3]), {}),
    ("correlate", (V, V[:4], "same"), {}),
    ("correlate", (V[:4], V, "same"), {}),
    ("correlate", (V[:4], V, "full"), {}),
    ("correlate", (V[:4], V), {}),
    ("positive", (A,), {}),
    ("rollaxis", (R.randn(2, 3, 4).astype(np.float32), 2), {}),
    ("rollaxis", (R.randn(2, 3, 4).astype(np.float32), 0, 3), {}),
    ("select", ([A > 1, A > 0], [A, -A], 7.0), {}),
    ("setdiff1d", (I, np.array([3, 0], np.int32)), {}),
    ("signbit", (np.array([1.0, -1, 0.0, -0.0, -np.inf]),), {}),
    ("trapz", (A,), {"axis": 0}),
    ("tri", (3, 4, 1), {}),
    ("tril_indices", (3, 1, 4), {}),
    ("triu_indices", (3,), {}),
    ("triu_indices_from", (A,), {"k": 1}),
    ("tril_indices_from", (A,), {}),
    ("vander", (V[:3],), {}),
    ("vander", (V[:3], 2), {"increasing": True}),
    ("invert", (I,), {}),
    ("gcd", (np.array([12, 18]), np.array([8, 27])), {}),
    ("lcm", (np.array([4, 6]), np.array([6, 9])), {}),
    ("heaviside", (np.array([-1.0, 0, 2]), np.array([5.0, 6, 7])), {}),
    ("copysign", (A, -A), {}),
    ("logaddexp2", (A, A), {}),
]


@pytest.mark.parametrize(
    ("name", "arguments", "keywords"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_as_numpy(name, arguments, keywords):
    if not hasattr(np, name):
        pytest.skip("this NumPy has no such name")
    with np.errstate(all="ignore"):
        check(name, arguments, keywords)


def test_names_that_numpy_keeps_elsewhere():
    arrays = [R.randn(*shape).astype(np.float64) for shape in ((4, 3), (3, 9), (9, 2), (2, 5))]
    for chosen in (arrays, [arrays[0][0], *arrays[1:]], [arrays[0], arrays[1][:, 0]]):
        got = mnp.multi_dot([Tensor(a) for a in chosen])
        np.testing.assert_allclose(got.asnumpy(), np.linalg.multi_dot(chosen), 1e-9)
    square = A[:, :3].astype(np.float64)
    np.testing.assert_allclose(
        mnp.matrix_power(Tensor(square), 3).asnumpy(), np.linalg.matrix_power(square, 3), 1e-9
    )
    assert mnp.ravel_multi_index((Tensor([1, 9]), Tensor([2, 3])), (4, 6)).tolist() == [8, 21]
    assert mnp.ravel_multi_index((Tensor([1, 9]), Tensor([2, 3])), (4, 6), mode="wrap").tolist() == [8, 9]
    want = ((A[1:] + A[:-1]) / 2).sum(0)
    np.testing.assert_allclose(mnp.trapz(Tensor(A), axis=0).asnumpy(), want, 1e-5)
    assert mnp.asfarray([1, 2]).dtype == ms.float32
    assert mnp.sometrue(Tensor([False, True])).tolist() is True
    assert mnp.isscalar(3) and not mnp.isscalar(Tensor(3))
    assert mnp.empty_like(Tensor(A), dtype=ms.int8).shape == (3, 4)
    assert mnp.in1d([1, 2], [2]).tolist() == [False, True]


def test_random_ints():
    drawn = mnp.randint(3, shape=(500,))
    assert drawn.dtype == ms.int32 and set(drawn.tolist()) == {0, 1, 2}
    assert set(mnp.randint(-2, 0, 100, ms.int8).tolist()) == {-2, -1}
    with pytest.raises(ValueError, match="no numbers to choose from"):
        mnp.randint(5, 5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: mnp.pad(Tensor(A), -1), "'pad_width' is out of range: got -1"),
        (lambda: mnp.pad(Tensor(A), 1, mode="odd"), "unknown mode: got 'odd'"),
        (lambda: mnp.pad(Tensor(A), ((1, 2, 3),)), "'pad_width' does not fit"),
        (lambda: mnp.convolve(Tensor(A), Tensor(V)), "convolve: operands do not fit"),
        (lambda: mnp.multi_dot([Tensor(A)]), "too few arrays: got 1"),
        (lambda: mnp.average(Tensor(A), weights=Tensor(V)), "'weights' does not fit"),
        (lambda: mnp.gradient(Tensor(A), edge_order=2), "unsupported 'edge_order': got 2"),
        (lambda: mnp.geomspace(0, 3), "ends do not fit: got 0 and 3"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_indices_are_a_tuple_of_an_array_for_each_axis():
    got = mnp.indices((2, 3), "int64")
    assert isinstance(got, tuple) and got[0].dtype == ms.int64
    np.testing.assert_array_equal([g.asnumpy() for g in got], np.indices((2, 3)))


def test_dtypes_have_names():
    assert mnp.zeros(2, "float16").dtype == ms.float16
    assert mnp.sum(ms.Tensor([1.0, 2.0]), dtype="float64").dtype == ms.float64
    assert mnp.array([1 << 40, 1]).dtype == ms.int64  # which int32 cannot hold
    for name in ("float33", "string", "function"):
        with pytest.raises(TypeError, match=f"zeros: 'dtype' is unknown: got '{name}'"):
            mnp.zeros(2, name)
