"""Functions with the names and arguments of NumPy."""

from .. import _composites
from .._rows import Table as _Table, lazy as _lazy
from ..common.dtype import *  # noqa: F403
from ..common.tensor import Tensor
from ._grids import mgrid, ogrid
from ._over_axes import apply_along_axis, apply_over_axes, piecewise
from ._rows import FUNCTIONS as _FUNCTIONS

_functions = _Table(_FUNCTIONS, __name__, _composites)

__getattr__, __dir__ = _lazy(globals(), _functions)


pi = 3.141592653589793
e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
