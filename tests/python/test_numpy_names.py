"""The modules `sorus.numpy` and `sorus.mint` against NumPy itself."""

import numpy as np
import pytest

import sorus.numpy as mnp
from sorus import Tensor, mint, ops

A = np.array([[1.5, -2.0, 0.5], [4.0, 1.0, -3.0]], np.float32)
B = np.array([[2.0, 1.0, -1.0], [0.5, 3.0, 2.0]], np.float32)


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "remainder",
        "maximum",
        "minimum",
        "less",
        "equal",
    ],
)
def test_two_operands(name):
    expected = getattr(np, name)(A, B)
    assert np.allclose(getattr(mnp, name)(Tensor(A), Tensor(B)).asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "name", ["abs", "square", "exp", "floor", "ceil", "sign", "tanh", "negative", "isnan"]
)
def test_one_operand(name):
    assert np.allclose(getattr(mnp, name)(Tensor(A)).asnumpy(), getattr(np, name)(A), rtol=1e-5)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "std", "var", "prod", "argmax", "cumsum"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_along_an_axis(name, axis):
    expected = getattr(np, name)(A, axis=axis)
    assert np.allclose(getattr(mnp, name)(Tensor(A), axis=axis).asnumpy(), expected, rtol=1e-5)


def test_creation_and_shape():
    assert mnp.arange(1, 7, 2).asnumpy().tolist() == [1, 3, 5]
    assert mnp.linspace(0, 1, 3).asnumpy().tolist() == [0, 0.5, 1]
    assert mnp.full((2,), 3).asnumpy().tolist() == [3, 3]
    assert mnp.array([1, 2], ndmin=2).shape == (1, 2)
    assert mnp.concatenate((Tensor(A), Tensor(B)), axis=1).shape == (2, 6)
    assert mnp.stack((Tensor(A), Tensor(B))).shape == (2, 2, 3)
    assert np.array_equal(mnp.tile(Tensor(A), (2, 1)).asnumpy(), np.tile(A, (2, 1)))
    assert np.array_equal(mnp.where(Tensor(A > 0), Tensor(A), Tensor(B)).asnumpy(), np.where(A > 0, A, B))
    assert mnp.pi == np.pi
    assert not hasattr(mnp, "nothing")


def test_mint_tells_an_axis_from_another_operand():
    values, places = mint.max(Tensor(A), 1)
    assert values.asnumpy().tolist() == [1.5, 4.0]
    assert places.asnumpy().tolist() == [0, 0]
    assert mint.min(Tensor(A), 0)[1].asnumpy().tolist() == [0, 0, 1]
    assert np.array_equal(mint.max(Tensor(A), Tensor(B)).asnumpy(), np.maximum(A, B))
    assert np.array_equal(mint.min(Tensor(A), Tensor(0.5)).asnumpy(), np.minimum(A, 0.5))


def test_functions_say_how_they_are_called_and_what_they_do():
    assert ops.relu.__doc__.startswith("relu(input, inplace=False)\n\nx, and 0 where x < 0")
    assert "pieces" in ops.tensor_split.__doc__
    assert ops.softmin.__doc__ == "softmin(x, axis=-1, *, dtype=None)"
