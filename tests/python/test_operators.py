"""Operators of Tensor and the generic function object."""

import pickle

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, ops


def test_numbers_promote_weakly():
    x = Tensor([1, 2], ms.int8)
    assert (x + 1).dtype is ms.int8
    assert (1 + x).dtype is ms.int8
    assert (x + 1.5).dtype is ms.float32
    assert (Tensor([1.0], ms.float16) * 2.5).dtype is ms.float16
    assert (Tensor([True]) + 1).dtype is ms.int64
    assert (Tensor([100], ms.int8) + 1000).asnumpy().tolist() == [76]


def test_lists_and_arrays_beside_tensors():
    t = Tensor([1.0, 2.0])
    assert (t + [1, 2]).asnumpy().tolist() == [2, 4]
    assert (t + np.ones(2, np.float32)).asnumpy().tolist() == [2, 3]
    with pytest.raises(TypeError):
        t + None
    with pytest.raises(TypeError):
        t + "a"


def test_arithmetic():
    a, b = np.array([1.0, 2.0], np.float32), np.array([3.0, 5.0], np.float32)
    x, y = Tensor(a), Tensor(b)
    for f in (
        lambda p, q: p + q,
        lambda p, q: p - q,
        lambda p, q: p * q,
        lambda p, q: p / q,
        lambda p, q: p < q,
        lambda p, q: p >= q,
        lambda p, q: p == q,
        lambda p, q: -p,
        lambda p, q: p @ q,
    ):
        assert np.array_equal(f(x, y).asnumpy(), f(a, b))


def test_spellings():
    t = Tensor([1.0, 2.0])
    for made in (
        ops.add(t, 1),
        ops.add(input=t, other=1),
        ops.add(t, other=Tensor(1.0)),
        t.add(1),
        t.add(other=1),
    ):
        assert made.asnumpy().tolist() == [2, 3]
    assert t.reshape(2, 1).shape == t.reshape((2, 1)).shape == t.reshape([2, 1]).shape == (2, 1)
    assert t.view(-1, 1).shape == (2, 1)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda t: ops.add(t), "add: missing argument: got none for 'other', need add"),
        (lambda t: ops.add(t, 1, 2), "add: too many positional arguments: got 3, need at most 2"),
        (lambda t: ops.add(t, other=1, input=2), "argument given twice: got 'input'"),
        (lambda t: ops.add(t, 1, foo=2), "unexpected keyword argument: got 'foo'"),
        (
            lambda t: ops.add(t, "x"),
            "add: argument 'other' has the wrong type: got str, need a Tensor or a number",
        ),
        (lambda t: ops.relu(3), "relu: argument 'input' has the wrong type: got int, need a Tensor"),
        (lambda t: ops.cast(t, "x"), "argument 'dtype' has the wrong type: got str"),
    ],
)
def test_wrong_arguments_are_type_errors(call, text):
    with pytest.raises(TypeError, match=text):
        call(Tensor([1.0, 2.0]))


def test_library_errors_keep_their_kind():
    t = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="shapes do not broadcast"):
        t + Tensor([1, 2, 3])
    with pytest.raises(ValueError, match="reshape"):
        t.reshape(3)


def test_functions_pickle_by_name():
    assert pickle.loads(pickle.dumps(ops.relu)) is ops.relu
    assert ops.relu.__name__ == "relu"
    assert "relu(input, inplace=False)" in ops.relu.__doc__
