"""Functions, primitives and what composes them."""

from .._rows import Table
from ._function_rows import FUNCTIONS

_functions = Table(FUNCTIONS, __name__)


def __getattr__(name):
    if name in _functions:
        found = _functions.build(name)
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = found
    return found


def __dir__():
    return sorted({*globals(), *_functions.names()})
