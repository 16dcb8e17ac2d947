"""Functions with the names and arguments of torch."""

from .. import _composites
from .._rows import Table, lazy as _lazy
from . import linalg, nn, optim, special
from ..ops import _functions as _ops_functions
from ._rows import FUNCTIONS, SHARED

_functions = Table(FUNCTIONS, __name__, _composites, SHARED, _ops_functions)

__getattr__, __dir__ = _lazy(globals(), _functions)
