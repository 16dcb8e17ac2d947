"""Linear algebra, with the names of torch."""

from .. import _composites
from .._rows import Table, lazy as _lazy
from ._rows import LINALG

_functions = Table(LINALG, __name__, _composites)

__getattr__, __dir__ = _lazy(globals(), _functions)
