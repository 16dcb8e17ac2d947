"""Arguments that MindSpore documents under other names or beyond the usual ones; signatures to inspect."""

import inspect

import numpy as np
import pytest
import sorus
from sorus import Parameter, Tensor, mint, ops
from sorus import numpy as snp

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


def test_other_names_of_operands():
    assert X.expand_as(x=X).shape == (2, 3)
    assert X.multiply(value=2).asnumpy().tolist() == (X * 2).asnumpy().tolist()
    assert X.remainder(divisor=2).asnumpy().tolist() == [[0, 1, 0], [1, 0, 1]]
    assert X.sub(y=1).asnumpy().tolist() == [[-1, 0, 1], [2, 3, 4]]
    holes = Tensor([[1.0, float("nan")], [2.0, 3.0]])
    assert holes.nansum(dim=1, keepdim=True).asnumpy().tolist() == [[1.0], [5.0]]
    assert holes.nansum(axis=0).asnumpy().tolist() == [3.0, 3.0]
    assert mint.arcsin(x=Tensor([0.0])).asnumpy().tolist() == [0.0]
    assert snp.arccos(input=Tensor([1.0])).asnumpy().tolist() == [0.0]
    assert snp.negative(a=Tensor([1])).asnumpy().tolist() == [-1]
    assert snp.logical_not(a=Tensor([True])).asnumpy().tolist() == [False]


def test_randint_from_zero():
    for drawn in (mint.randint(5, (40,)), mint.randint(high=5, size=(40,)), mint.randint(0, 5, (40,))):
        assert drawn.shape == (40,)
        assert set(drawn.asnumpy().tolist()) <= {0, 1, 2, 3, 4}


def test_cholesky_upper():
    a = Tensor(np.array([[4.0, 2.0], [2.0, 3.0]]))
    lower, upper = ops.Cholesky()(a), ops.Cholesky(upper=True)(a)
    np.testing.assert_array_equal(upper.asnumpy(), lower.asnumpy().T)


@pytest.mark.parametrize("kwargs", [{}, {"axis": 0}, {"axisa": 0, "axisb": 0, "axisc": 0}, {"axisc": 0}])
def test_cross(kwargs):
    a, b = np.random.default_rng(0).normal(size=(2, 3, 3))
    np.testing.assert_allclose(snp.cross(Tensor(a), Tensor(b), **kwargs).asnumpy(), np.cross(a, b, **kwargs))


def test_cross_of_two_components():
    a, b, c = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 9.0]]), np.ones((2, 3))
    assert snp.cross(Tensor(a), Tensor(b)).asnumpy().tolist() == [-4.0, -1.0]
    np.testing.assert_array_equal(
        snp.cross(Tensor(a), Tensor(c)).asnumpy(), np.cross(np.pad(a, ((0, 0), (0, 1))), c)
    )
    with pytest.raises(ValueError, match="cross: extent does not fit: got 4"):
        snp.cross(Tensor(np.ones(4)), Tensor(np.ones(4)))


def test_numpy_shapes():
    assert snp.size(X) == 6
    assert snp.size(X, axis=1) == 3
    with pytest.raises(ValueError, match="size: axis is out of range: got 2"):
        snp.size(X, 2)
    for indexing in ("xy", "ij"):
        got = snp.meshgrid(Tensor([1, 2, 3]), Tensor([4, 5]), Tensor([6]), sparse=True, indexing=indexing)
        want = np.meshgrid([1, 2, 3], [4, 5], [6], sparse=True, indexing=indexing)
        assert [t.asnumpy().tolist() for t in got] == [w.tolist() for w in want]
    assert snp.eye(3, 4, 1).asnumpy().tolist() == np.eye(3, 4, 1).tolist()
    assert snp.eye(3, k=-1).asnumpy().tolist() == np.eye(3, k=-1).tolist()
    assert snp.zeros_like(X, shape=(4,)).asnumpy().tolist() == [0, 0, 0, 0]
    assert snp.ones_like(X, shape=(1, 2), dtype=sorus.int32).asnumpy().tolist() == [[1, 1]]
    assert snp.bincount(Tensor([0, 1, 1, 3]), length=3).asnumpy().tolist() == [1, 2, 0]
    assert snp.bincount(Tensor([0, 1]), length=4).asnumpy().tolist() == [1, 1, 0, 0]


def test_cdist_mode():
    x = Tensor(np.eye(2, dtype=np.float32))
    a = mint.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    np.testing.assert_array_equal(a.asnumpy(), mint.cdist(x, x).asnumpy())
    with pytest.raises(ValueError, match="cdist: unknown 'compute_mode': got 'fast'"):
        mint.cdist(x, x, compute_mode="fast")


def test_embedding_max_norm_scales_the_rows_that_are_looked_up():
    weight = Parameter(Tensor(np.array([[3.0, 4.0], [30.0, 40.0], [0.3, 0.4]], np.float32)))
    found = ops.embedding(Tensor([[0, 2]]), weight, max_norm=1.0)
    np.testing.assert_allclose(found.asnumpy(), [[[0.6, 0.8], [0.3, 0.4]]], rtol=1e-5)
    np.testing.assert_allclose(weight.asnumpy(), [[0.6, 0.8], [30.0, 40.0], [0.3, 0.4]], rtol=1e-5)
    ones = Parameter(Tensor(np.array([[3.0, 4.0]], np.float32)))
    ops.embedding(Tensor([0]), ones, max_norm=3.5, norm_type=1.0)
    np.testing.assert_allclose(ones.asnumpy(), [[1.5, 2.0]], rtol=1e-5)


def test_embedding_gradient_by_frequency():
    weight = Tensor(np.ones((3, 2), np.float32))
    places = Tensor([0, 0, 2, 0])

    def total(w, scaled):
        return ops.embedding(places, w, scale_grad_by_freq=scaled).sum()

    assert ops.grad(total)(weight, False).asnumpy().tolist() == [[3, 3], [0, 0], [1, 1]]
    np.testing.assert_allclose(ops.grad(total)(weight, True).asnumpy(), [[1, 1], [0, 0], [1, 1]], rtol=1e-6)
    assert total(weight, True).item() == 8.0


def test_inplace_writes_the_operand():
    x = Tensor([-1.0, 2.0])
    y = mint.nn.functional.relu(x, inplace=True)
    assert x.asnumpy().tolist() == y.asnumpy().tolist() == [0.0, 2.0]
    z = Tensor(np.ones(100, np.float32))
    dropped = mint.nn.functional.dropout(z, 0.5, inplace=True)
    assert z.asnumpy().tolist() == dropped.asnumpy().tolist()


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (ops.add, ["input", "other"]),
        (ops.conv2d, ["input", "weight", "bias", "stride", "pad_mode", "padding", "dilation", "groups"]),
        (mint.sum, None),
        (Tensor.sum, None),
        (snp.cross, ["a", "b", "axisa", "axisb", "axisc", "axis"]),
    ],
)
def test_signatures(function, names):
    signature = inspect.signature(function)
    if names is not None:
        assert list(signature.parameters) == names
    assert list(signature.parameters)[0] in ("input", "self", "a")


def test_signature_of_defaults():
    parameters = inspect.signature(ops.embedding).parameters
    assert parameters["norm_type"].default == 2.0
    assert parameters["input"].default is inspect.Parameter.empty
    assert inspect.signature(ops.randn).parameters["size"].kind is inspect.Parameter.VAR_POSITIONAL
    assert str(inspect.signature(X.matmul)) == "(tensor2)"


def test_greatest_common_divisors_of_the_least_integer():
    least = Tensor(np.array([-(2**31)] * 4, np.int32))
    other = Tensor(np.array([6, 0, 2**30, -3], np.int32))
    assert ops.gcd(least, other).asnumpy().tolist() == [2, -(2**31), 2**30, 1]
    assert ops.gcd(Tensor([-12, 0, 7]), Tensor([18, -5, 0])).asnumpy().tolist() == [6, 5, 7]
    unsigned = Tensor(np.array([250, 12], np.uint8))
    assert ops.gcd(unsigned, Tensor(np.array([100, 18], np.uint8))).asnumpy().tolist() == [50, 6]
    assert ops.lcm(Tensor([4, -6, 0]), Tensor([6, 4, 5])).asnumpy().tolist() == [12, 12, 0]


def test_sinc_far_out():
    x = Tensor(np.array([0.0, 0.5, 1.0, 2.5, -1e20, 1.3e38, 3e38], np.float32))
    got = ops.sinc(x).asnumpy()
    want = np.array([1.0, 2 / np.pi, 0.0, 2 / (5 * np.pi), 0.0, 0.0, 0.0])
    np.testing.assert_allclose(got, want, rtol=2e-7, atol=0)


def test_segments():
    x = Tensor(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32))
    assert ops.unsorted_segment_sum(x, Tensor([1, -1, 1]), 2).asnumpy().tolist() == [[0, 0], [6, 8]]
    for name in ("sum", "max", "min", "prod"):
        function = getattr(ops, f"unsorted_segment_{name}")
        with pytest.raises(IndexError, match=f"unsorted_segment_{name}: index out of range.*got 2"):
            function(x, Tensor([0, 2, 1]), 2)


def test_bools_of_other_bytes():
    bytes_ = np.array([0, 1, 2, 255], np.uint8)
    for made in (Tensor(bytes_.view(np.bool_)), Tensor.from_numpy(bytes_.copy().view(np.bool_))):
        assert made.astype(sorus.int32).sum().item() == 3
        assert made.asnumpy().view(np.uint8).tolist() == [0, 1, 1, 1]
    shared = np.array([[True, False], [False, True]])
    t = Tensor.from_numpy(shared)
    shared[0, 1] = True
    assert t.asnumpy().tolist() == [[True, True], [False, True]]
