"""The class Tensor: the compiled class with the methods that rows and this file give it.

Methods that are rows are built when they are first used.
"""

from .. import _composites, _core, _printing
from .._rows import Table
from . import _tensor_methods
from ..ops import _functions as _ops_functions
from ._tensor_rows import METHODS, SHARED

Tensor = _core.Tensor
_methods = Table(METHODS, "sorus.Tensor", _composites, SHARED, _ops_functions, "self")


def tensor(input_data=None, dtype=None, shape=None, init=None, const_arg=False):
    """Makes a Tensor; the same as calling the class."""
    return Tensor(input_data, dtype, shape, init, const_arg)


class _Row:
    """A method that is built when it is first used, and then stands in the class by itself."""

    def __init__(self, name):
        self._name = name

    def __get__(self, instance, owner=None):
        built = _methods.build(self._name)
        setattr(Tensor, self._name, built)
        return built if instance is None else built.__get__(instance, owner)


def _rebuild(name, data):
    return Tensor(data, _core.dtypes[name])


def _reduce(self):
    name = self.dtype.name
    value = self if name != "bfloat16" else self.astype(_core.dtypes["float32"])
    return _rebuild, (name, value.asnumpy())


def _prepare():
    special = {
        "__reduce__": _reduce,
        "__str__": _printing.tensor_str,
        "__repr__": _printing.tensor_repr,
    }
    for name in _methods.names():
        setattr(Tensor, name, _Row(name))
    for name, function in special.items():
        setattr(Tensor, name, function)
    for name, member in vars(_tensor_methods).items():
        if name in _tensor_methods.MEMBERS:
            setattr(Tensor, name, member)
    Tensor.__module__ = "sorus"
    Tensor.__array_priority__ = 200


_prepare()
