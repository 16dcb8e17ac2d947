"""Functions with the names and arguments of torch."""

from .. import _composites
from .._rows import Table as _Table, lazy as _lazy
from . import linalg, nn, optim, special
from ..ops import _functions as _ops_functions
from ._rows import FUNCTIONS as _FUNCTIONS, SHARED as _SHARED

_functions = _Table(_FUNCTIONS, __name__, _composites, _SHARED, _ops_functions)

__getattr__, __dir__ = _lazy(globals(), _functions)
