"""Special functions, with the names of torch."""

from .. import _composites
from .._rows import Table, lazy as _lazy
from ..ops import _functions as _ops_functions
from ._rows import SHARED_SPECIAL, SPECIAL

_functions = Table(SPECIAL, __name__, _composites, SHARED_SPECIAL, _ops_functions)

__getattr__, __dir__ = _lazy(globals(), _functions)
