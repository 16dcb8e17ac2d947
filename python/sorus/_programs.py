"""Compiled programs: what compiling has cost."""

from . import _core


def compile_stats():
    """What this process has spent on compiling so far, as a dictionary: `programs` compiled; of them
    `cache_hits`, whose passes the compile cache spared, and `cache_misses`; entries of the cache that were
    stored (`cache_stored`) or found damaged and made anew (`cache_damaged`); `pass_seconds`; `bindings` of
    programs to the strides of their inputs and `bind_seconds`.

    >>> from sorus import Tensor, compile_stats, jit
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> before = compile_stats()["programs"]
    >>> for _ in range(2):  # the first call records, the second compiles
    ...     y = double(Tensor([1.0, 2.0]))
    >>> compile_stats()["programs"] - before
    1
    """
    return _core.compile_stats()
