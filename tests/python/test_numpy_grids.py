"""Histograms, grids, functions over axes and dtypes of `sorus.numpy` against NumPy, eager and compiled."""

import numpy as np
import pytest

import sorus as ms
import sorus.numpy as mnp
from sorus import Tensor

R = np.random.RandomState(11)
A = R.randn(50).astype(np.float32)
WEIGHTS = R.rand(50).astype(np.float32)
PLANE = R.randn(40, 2).astype(np.float32)
SPACE = R.randn(30, 3)


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, (tuple, list)) else [value]


def tensors(value):
    if isinstance(value, np.ndarray):
        return Tensor(value)
    return type(value)(tensors(v) for v in value) if isinstance(value, (list, tuple)) else value


def check(name, arguments, keywords, rtol=1e-5, atol=1e-5):
    want = flat(getattr(np, name)(*arguments, **keywords))
    given, named = tensors(arguments), {k: tensors(v) for k, v in keywords.items()}
    got = flat(getattr(mnp, name)(*given, **named))
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert a.shape == np.shape(b)
        np.testing.assert_allclose(a.asnumpy(), b, rtol, atol)
    places = [i for i, a in enumerate(given) if isinstance(a, Tensor)]

    def call(*some):
        filled = list(given)
        for i, a in zip(places, some):
            filled[i] = a
        return getattr(mnp, name)(*filled, **named)

    compiled = ms.jit(call)
    for _ in range(3):
        for a, b in zip(got, flat(compiled(*[given[i] for i in places]))):
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


EDGES = np.array([-1.0, -0.5, 0.25, 2.0], np.float32)


@pytest.mark.parametrize(
    ("name", "arguments", "keywords"),
    [
        ("histogram", (A,), {}),
        ("histogram", (A, 7), {"range": (-1, 1.5)}),
        ("histogram", (A, EDGES), {}),
        ("histogram", (A, [0, 1, 2]), {"density": True}),
        ("histogram", (A, 5), {"density": True, "weights": WEIGHTS}),
        ("histogram", (A.reshape(5, 10), 3), {"weights": WEIGHTS.reshape(5, 10)}),
        ("histogram", (np.array([2, 2, 2]), 4), {}),
        ("histogram", (np.array([1, 2, 3, 4]), [1, 2, 3]), {}),  # the last edge belongs to the last bin
        ("histogram", (np.zeros(0, np.float32), 4), {}),
        ("histogram", (np.array([1.0, 2, 2, 9]), np.array([1.0, 2, 2, 3])), {}),  # an empty bin
        ("histogram_bin_edges", (A, 6), {}),
        ("histogram_bin_edges", (A, 6), {"range": (2, 2)}),
        ("histogram_bin_edges", (np.zeros(0, np.float32), 2), {}),
        ("histogram2d", (PLANE[:, 0], PLANE[:, 1]), {}),
        ("histogram2d", (PLANE[:, 0], PLANE[:, 1], [3, 4]), {"range": [(-1, 1), (-2, 2)]}),
        ("histogram2d", (PLANE[:, 0], PLANE[:, 1], EDGES), {"density": True}),
        ("histogram2d", (PLANE[:, 0], PLANE[:, 1], [EDGES, 3]), {"weights": WEIGHTS[:40]}),
        ("histogramdd", (PLANE, 4), {"density": True}),
        ("histogramdd", (SPACE, (2, 3, 4)), {}),
        ("histogramdd", (SPACE, (2, EDGES, 4)), {"range": [None, None, (0, 1)], "weights": SPACE[:, 0] ** 2}),
        (
            "choose",
            (np.array([[0, 1], [2, 0]]), [np.array([[1, 2], [3, 4]]), np.array(5), np.array([6, 7])]),
            {},
        ),
        ("choose", (np.array([-1, 4, 1]), [np.array(10), np.array(20)]), {"mode": "clip"}),
        ("choose", (np.array([-1, 4, 1]), [np.array(10), np.array(20)]), {"mode": "wrap"}),
        ("choose", (np.array([0, 1, 1]), [np.array(10), np.array(20)]), {"mode": "raise"}),
        ("intersect1d", (np.array([3, 1, 2, 3]), np.array([3, 5, 1])), {}),
        ("intersect1d", (np.array([3, 1, 2]), np.array([3, 5, 1])), {"assume_unique": True}),
        ("intersect1d", (np.array([7, 3, 1, 3]), np.array([3, 5, 1, 1])), {"return_indices": True}),
        ("intersect1d", (np.array([1.0]), np.array([2.0])), {"return_indices": True}),
        ("polyint", (np.array([3.0, 4, 5]),), {}),
        ("polyint", (np.array([3.0, 4, 5]),), {"m": 2, "k": [7, 8]}),
        ("polyint", (np.array([3.0, 4, 5]),), {"m": 3, "k": 2}),
        ("unravel_index", (np.array([[0, 22], [41, 37]]), (7, 6)), {}),
        ("unravel_index", (np.array([31, 41, 13]), (7, 6)), {"order": "F"}),
        ("unwrap", (np.cumsum(A) % (2 * np.pi),), {}),
        ("unwrap", (np.array([[0, 3.5, 7, 0.1], [0, -4, 9, 1]]),), {"discont": 4.0}),
        ("unwrap", (np.array([[0.0, 5], [3, 0], [9, 1]]),), {"axis": 0}),
    ],
)
def test_as_numpy(name, arguments, keywords):
    check(name, arguments, keywords)


def test_dtypes_of_histograms():
    counts, edges = mnp.histogram([1, 2, 1], bins=[0, 1, 2, 3])
    assert (counts.dtype, edges.dtype) == (ms.float32, ms.int32)
    assert mnp.histogram(Tensor(np.ones(3)))[1].dtype == ms.float64
    assert mnp.unravel_index(Tensor([3]), (2, 2))[0].dtype == ms.int32
    assert mnp.intersect1d(Tensor([1]), Tensor([1]), return_indices=True)[1].dtype == ms.int32
    counts, _ = mnp.histogram(Tensor(np.array([1.0, np.nan, 2.0])), 2, (0, 4))
    assert counts.tolist() == [1.0, 1.0]
    assert mnp.array_str(Tensor([1, 2])) == "[1 2]"


def test_gradients_of_weights():
    """The sums of weights are linear: the gradient of a count is 1 for what falls into it."""
    x, w = Tensor(np.array([0.5, 1.5, 1.7], np.float32)), Tensor(np.ones(3, np.float32))
    found = ms.grad(lambda w: mnp.histogram(x, [0, 1, 2], weights=w)[0][1])(w)
    assert found.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "key",
    [
        slice(0, 3),
        slice(1, 7, 2),
        slice(5, 0, -2),
        slice(-1, 1, 5j),
        slice(0.0, 1.0, 0.25),
        (slice(0, 2), slice(1, 4)),
        (slice(0, 1, 3j), slice(0, 2)),
        (slice(None, 2), slice(0, 3), slice(1, 2)),
        (slice(0, 0), slice(0, 3)),
    ],
)
@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
def test_grids(name, key):
    got, want = getattr(mnp, name)[key], getattr(np, name)[key]
    if name == "ogrid" and isinstance(key, tuple):
        assert isinstance(got, list)
    for i, (a, b) in enumerate(zip(flat(got), flat(list(want) if isinstance(got, list) else want))):
        assert a.shape == b.shape
        lines = [key[i]] if isinstance(got, list) else list(key) if isinstance(key, tuple) else [key]
        whole = all(isinstance(v, int) for line in lines for v in (line.start, line.stop, line.step) if v)
        assert a.dtype == (ms.int32 if whole else ms.float32)
        np.testing.assert_allclose(a.asnumpy(), b, 1e-6)


def test_grids_refuse():
    for key in (3, (slice(0, 2), 3), slice(1, None), slice("a", 2), ()):
        with pytest.raises(TypeError, match="grid"):
            mnp.mgrid[key]
    assert "mgrid" in dir(mnp) and repr(mnp.ogrid) == "<sorus.numpy.ogrid>"


def scaled(v, k, b=0):
    return v[:2] * k + b


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_over_axes(mode):
    ms.set_context(mode=mode)
    try:
        cube = R.randn(2, 3, 4).astype(np.float32)
        for axis in (0, 1, -1):
            for mine, theirs, args, kwargs in (
                (mnp.sum, np.sum, (), {}),
                (mnp.diag, np.diag, (), {}),
                (scaled, scaled, (3,), {"b": 1}),
                (lambda v: v.reshape(-1, 1), lambda v: v.reshape(-1, 1), (), {}),
            ):
                want = np.apply_along_axis(theirs, axis, cube, *args, **kwargs)
                got = mnp.apply_along_axis(mine, axis, Tensor(cube), *args, **kwargs)
                np.testing.assert_allclose(got.asnumpy(), want, 1e-5, 1e-6)
        for axes in (0, (0, 2), [1, -1]):
            got = mnp.apply_over_axes(mnp.sum, Tensor(cube), axes)
            np.testing.assert_allclose(got.asnumpy(), np.apply_over_axes(np.sum, cube, axes), 1e-5, 1e-6)
        x = np.linspace(-2, 2, 9)
        for functions in ([lambda v: -v, 5], [lambda v: -v, 5, lambda v: v * 9]):
            conditions = [x < -1, x > 1]
            want = np.piecewise(x, conditions, functions)
            got = mnp.piecewise(Tensor(x), [Tensor(c) for c in conditions], functions)
            np.testing.assert_array_equal(got.asnumpy(), want)
        got = mnp.piecewise(Tensor(x), Tensor(x > 0), [lambda v, k: v * k], 3)
        np.testing.assert_allclose(got.asnumpy(), np.where(x > 0, x * 3, 0))
        slope = ms.grad(lambda m: mnp.apply_along_axis(lambda v: (v * v).sum(), 0, m).sum())(Tensor(cube))
        np.testing.assert_allclose(slope.asnumpy(), 2 * cube, 1e-6)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_promotion():
    """Beside a float every int gives that float, as everywhere in Sorus; elsewhere NumPy is right."""
    names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
    for a in names:
        for b in names:
            floats = [n for n in (a, b) if n.startswith("float")]
            want = floats[0] if len(floats) == 1 else np.promote_types(a, b).name
            assert mnp.promote_types(a, b) == getattr(ms, want.replace("bool", "bool_")), (a, b)
    assert mnp.promote_types(int, ms.int8) == ms.int32 and mnp.promote_types(float, bool) == ms.float32
    assert mnp.promote_types(ms.bfloat16, ms.float16) == ms.float32
    assert mnp.result_type(3, ms.int8) == ms.int32
    assert mnp.result_type(ms.int8, Tensor(A), True) == ms.float32
    assert mnp.result_type([1, 2], "int64") == ms.int64


def test_refusals():
    x = Tensor(A)
    for bad, text in (
        (lambda: mnp.histogram(x, 0), "out of range"),
        (lambda: mnp.histogram(x, [2, 1]), "edges that go up"),
        (lambda: mnp.histogram(x, [[1, 2]]), "need a vector"),
        (lambda: mnp.histogram(x, 3, (3, 1)), "larger end last"),
        (lambda: mnp.histogram(x, 3, (0, np.inf)), "finite"),
        (lambda: mnp.histogram(x, 3, weights=[1.0]), "'weights' does not fit"),
        (lambda: mnp.histogramdd(Tensor(SPACE), (2, 3)), "'bins' does not fit"),
        (lambda: mnp.histogramdd([A, A[:3]]), "coordinates differ"),
        (lambda: mnp.choose(Tensor([2]), [1, 2], "raise"), "out of range"),
        (lambda: mnp.choose(Tensor([2]), [1, 2], "near"), "unknown mode"),
        (lambda: mnp.polyint(x, -1), "negative"),
        (lambda: mnp.polyint(x, 3, [1, 2]), "too short"),
        (lambda: mnp.unravel_index(Tensor([2]), (2, 2), "A"), "unknown order"),
        (lambda: mnp.result_type(), "nothing to combine"),
        (lambda: mnp.apply_along_axis(mnp.sum, 2, Tensor(PLANE)), "out of range"),
        (lambda: mnp.apply_along_axis(mnp.sum, 0, Tensor(np.zeros((3, 0)))), "no vectors"),
        (lambda: mnp.apply_over_axes(lambda a, axis: a.sum(), Tensor(PLANE), 0), "changes the rank"),
        (lambda: mnp.piecewise(x, [x > 0], [1, 2, 3]), "lists do not fit"),
    ):
        with pytest.raises(ValueError, match=text):
            bad()
    for bad in (
        lambda: mnp.histogram(x, 2.5),
        lambda: mnp.promote_types("zz", "int8"),
        lambda: mnp.promote_types(3, "int8"),
        lambda: mnp.apply_along_axis(mnp.sum, 0, [1, 2]),
        lambda: mnp.apply_along_axis(mnp.sum, 1.0, x),
    ):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(NotImplementedError, match="need a number or edges"):
        mnp.histogram(x, "auto")
