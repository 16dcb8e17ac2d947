"""Engines: who runs parts of compiled graphs beside the host."""

import os

from . import _core


def load_engine(path) -> str:
    """Loads an engine from a shared library and gives its name.

    From then on compiled calls may run on it: without being asked where it promises the bits of the host,
    else where `set_context(engine=...)` or `set_context(op_engines=...)` says so. The library is a file that
    implements `sorus/engine/c_engine.h`; it runs in this process with all rights of it, and stays loaded. A
    library that is loaded already gives its name again.

    Raises OSError for a file that is missing or no library, NotImplementedError for one that is no engine or
    of another version, and ValueError for an engine that is not whole or whose name is taken.
    """
    return _core.load_engine(os.fspath(path))


def engine_names() -> "list[str]":
    """The names of all engines; the first is the host's.

    >>> import sorus
    >>> sorus.engine_names()[:2]
    ['cpu', 'cpu_reference']
    """
    return _core.engine_names()
