"""Derivatives of cells as cells: Jvp, Vjp."""

from .. import _autograd
from .cell import Cell


class Jvp(Cell):
    """Results of a network and their derivatives along a direction: `Jvp(network)(*inputs, v)` is
    (results, directional derivatives).

    `v` has the shape of the input, or is a tuple with one tensor for each input. Shapes and dtypes of the
    derivatives are those of the results. Raises TypeError when the network cannot be called or there is no
    input beside v.

    >>> from sorus import Tensor, nn
    >>> class Square(nn.Cell):
    ...     def construct(self, x):
    ...         return x * x
    >>> nn.Jvp(Square())(Tensor([1.0, 2.0]), Tensor([1.0, 10.0]))[1].tolist()
    [2.0, 40.0]
    """

    def __init__(self, fn):
        super().__init__()
        _autograd._check_function(fn, "Jvp")
        self.fn = fn

    def construct(self, *args):
        inputs, v = _split("Jvp", args)
        return _autograd.jvp(self.fn, inputs, v)


class Vjp(Cell):
    """Results of a network and gradients of its inputs: `Vjp(network)(*inputs, v)` is (results, gradients),
    where v is the gradient of the results, a tuple for several. One input gives a tensor, several a tuple.
    Errors are those of Jvp.

    >>> from sorus import Tensor, nn
    >>> class Square(nn.Cell):
    ...     def construct(self, x):
    ...         return x * x
    >>> nn.Vjp(Square())(Tensor([1.0, 2.0]), Tensor([1.0, 10.0]))[1].tolist()
    [2.0, 40.0]
    """

    def __init__(self, fn):
        super().__init__()
        _autograd._check_function(fn, "Vjp")
        self.fn = fn

    def construct(self, *args):
        inputs, v = _split("Vjp", args)
        results, pull = _autograd.vjp(self.fn, *inputs)
        return results, pull(v)


def _split(what, args):
    if len(args) < 2:
        raise TypeError(f"{what}: too few arguments: got {len(args)}, need inputs and v")
    return args[:-1], args[-1]
