"""Functions with the names and arguments of NumPy."""

from .. import _composites
from .._rows import Table as _Table, lazy as _lazy
from ..common.dtype import *  # noqa: F403
from ..common.tensor import Tensor
from ._rows import FUNCTIONS as _FUNCTIONS

_functions = _Table(_FUNCTIONS, __name__, _composites)

__getattr__, __dir__ = _lazy(globals(), _functions)


def array(obj, dtype=None, copy=True, ndmin=0):  # noqa: ARG001
    """A tensor of an array, list or number."""
    made = asarray(obj, dtype)
    while made.ndim < ndmin:
        made = made.expand_dims(0)
    return made


def asarray(a, dtype=None):
    """A tensor of an array, list or number."""
    return Tensor(a, dtype)


pi = 3.141592653589793
e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
