"""Functions of layers, with the names and arguments of torch."""

from ... import _composites
from ..._rows import Table as _Table, lazy as _lazy
from ...ops import _functions as _ops_functions
from .._rows import FUNCTIONAL, SHARED_FUNCTIONAL

_functions = _Table(FUNCTIONAL, __name__, _composites, SHARED_FUNCTIONAL, _ops_functions)

__getattr__, __dir__ = _lazy(globals(), _functions)
