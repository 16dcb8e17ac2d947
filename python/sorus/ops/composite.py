"""Functions of functions: HyperMap, MultitypeFuncGraph, partial.

It is also an old place of functions of `ops`, such as `composite.clip_by_value`.
"""

import functools

from .._autograd import GradOperation, grad, jvp, value_and_grad, vjp  # noqa: F401
from .._core import Tensor


def partial(fn, *args):
    """The function with its first arguments given."""
    return functools.partial(fn, *args)


Partial = partial


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from .. import ops

    return getattr(ops, name)  # clip_by_value and others


def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):  # noqa: ARG001
    """The function itself: Python runs as Python in every mode."""
    return (lambda f: f) if fn is None else fn


_constexpr = _primexpr = constexpr


# A Python int is an Int64 to MindSpore, a float a Float32.
_NUMBERS = {"Number": (int, float), "Bool": bool}
_NUMBERS.update({name: int for name in ("Int", "Int32", "Int64")})
_NUMBERS.update({name: float for name in ("Float", "Float32", "Float64")})


def _matches(kind, value):
    if kind == "Tensor":
        return isinstance(value, Tensor)
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind])
    if kind in ("Tuple", "List", "Tuple[Tensor]", "List[Tensor]"):
        return isinstance(value, tuple if kind.startswith("Tuple") else list)
    if kind == "String":
        return isinstance(value, str)
    if kind == "None":
        return value is None
    if kind in ("Function", "Func"):
        return callable(value)
    return kind in ("Any", "AnyType") or type(value).__name__ == kind


class MultitypeFuncGraph:
    """A function with several bodies, chosen by the kinds of its arguments: `@graph.register("Tensor",
    "Number")`.
    """

    def __init__(self, name, read_value=False, doc_url=""):  # noqa: ARG002
        self.name = name
        self.entries = []

    def register(self, *kinds):
        """Adds a body for arguments of those kinds."""
        names = [str(k) if not isinstance(k, type) else k.__name__ for k in kinds]

        def add(fn):
            self.entries.append((names, fn))
            return fn

        return add

    def __call__(self, *args):
        for names, fn in self.entries:
            if len(names) == len(args) and all(_matches(n, a) for n, a in zip(names, args)):
                return fn(*args)
        given = ", ".join(type(a).__name__ for a in args)
        known = ", ".join(f"({', '.join(names)})" for names, _ in self.entries)
        raise TypeError(f"{self.name}: no function for these arguments: got ({given}), need one of {known}")

    def __repr__(self):
        return self.name


class HyperMap:
    """Applies a function to corresponding items of sequences, into nested ones."""

    def __init__(self, ops=None, reverse=False):
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args):
        ops = self.ops
        if ops is None:
            ops, *args = args
        return self._apply(ops, args)

    def _apply(self, ops, args):
        if not isinstance(args[0], (tuple, list)):
            return ops(*args)
        if any(not isinstance(a, (tuple, list)) or len(a) != len(args[0]) for a in args):
            raise ValueError(
                f"HyperMap: sequences differ: got lengths {[len(a) for a in args if hasattr(a, '__len__')]}, "
                "need equal ones"
            )
        rows = list(zip(*args))
        made = [self._apply(ops, row) for row in (reversed(rows) if self.reverse else rows)]
        return _sequence_as(args[0], reversed(made) if self.reverse else made)


class Map(HyperMap):
    """Applies a function to corresponding items of sequences, one level deep."""

    def _apply(self, ops, args):
        if not isinstance(args[0], (tuple, list)):
            return ops(*args)
        return _sequence_as(args[0], (ops(*row) for row in zip(*args)))


def _sequence_as(like, items):
    """A list for a list and a tuple for any tuple: what is made of parameters need not be parameters."""
    return list(items) if isinstance(like, list) else tuple(items)
