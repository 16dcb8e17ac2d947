"""The functions of the library under their own names and signatures, for layers and what else the package
computes.
"""

from . import _core
from ._rows import make

_REQUIRED = object()


def __getattr__(name):
    signature = _core.signature_of(name, _REQUIRED)
    if signature is None:
        raise AttributeError(f"the library has no function '{name}'")
    names, _, text = signature
    made = globals()[name] = make(name, [f"{name}({text}) -> {name}({', '.join(names)})"], __name__)
    return made
