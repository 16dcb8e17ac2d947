"""Collective primitives in a world of one, and those beside them."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, ops

X = Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize(
    "primitive",
    [
        ops.AllReduce(),
        ops.AllReduce(ops.ReduceOp.MAX),
        ops.AllGather(),
        ops.ReduceScatter(ops.ReduceOp.SUM),
        ops.Reduce(0),
        ops.CollectiveGather(0),
        ops.CollectiveScatter(),
        ops.AlltoAll(1, 0, 1),
    ],
    ids=lambda p: p.name,
)
def test_one_process_keeps_what_it_has(primitive):
    assert np.array_equal(primitive(X).asnumpy(), X.asnumpy())
    assert np.array_equal(ms.grad(lambda x: (primitive(x) * x).sum())(X).asnumpy(), 2 * X.asnumpy())
    with pytest.raises(TypeError, match="'input_x' has the wrong type: got float"):
        primitive(1.0)


def test_several_tensors_and_none():
    a, b = ops.Broadcast(0)((X, X + 1))
    assert np.array_equal(b.asnumpy(), X.asnumpy() + 1) and a.shape == (2, 3)
    assert ops.AlltoAllV()(X, [4], [4]).tolist() == [0, 1, 2, 3]
    assert ops.Barrier()() is None


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ops.AllReduce("mean"), "unknown 'op': got 'mean'"),
        (lambda: ops.Broadcast(1), "'root_rank' is out of range: got 1, need 0"),
        (lambda: ops.AlltoAll(2, 0, 1), "'split_count' is out of range: got 2"),
        (lambda: ops.AllGather("nobody"), "nobody"),
        (lambda: ops.RandomChoiceWithMask(0), "'count' is out of range: got 0"),
    ],
)
def test_errors(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_status_of_floats():
    assert ops.FloatStatus()(X).tolist() == [0]
    for bad in (np.inf, -np.inf, np.nan):
        assert ms.jit(ops.FloatStatus())(Tensor([1.0, bad])).tolist() == [1]
    flag = ops.NPUAllocFloatStatus()()
    assert ops.NPUGetFloatStatus()(flag).shape == (8,) and not ops.NPUClearFloatStatus()(flag).asnumpy().any()


def test_partial():
    assert ops.Partial()(lambda a, b: a - b, 5)(3) == 2


def test_choosing_true_elements():
    mask = np.zeros((5, 6), bool)
    mask[1, 2] = mask[3, 4] = mask[0, 5] = True
    places, there = ops.RandomChoiceWithMask(5)(Tensor(mask))
    assert there.tolist() == [True] * 3 + [False] * 2 and places.dtype == ms.int32
    assert {tuple(p) for p in places.asnumpy()[:3]} == {(1, 2), (3, 4), (0, 5)}
    assert not places.asnumpy()[3:].any()
    places, there = ops.RandomChoiceWithMask(2)(Tensor(mask))
    assert there.asnumpy().all() and len({tuple(p) for p in places.asnumpy()}) == 2
    assert all(mask[tuple(p)] for p in places.asnumpy())
    with pytest.raises(TypeError, match="need bool"):
        ops.RandomChoiceWithMask(2)(X)
