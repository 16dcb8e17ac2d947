"""Functions with the names and arguments of torch."""

from .. import _composites
from .._rows import Table
from . import nn
from ._rows import FUNCTIONS

_functions = Table(FUNCTIONS, __name__, _composites)


def __getattr__(name):
    if name not in _functions:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = globals()[name] = _functions.build(name)
    return found


def __dir__():
    return sorted({*globals(), *_functions.names()})
