"""`jit`: functions whose outermost calls are recorded once and run compiled, with the results of plain
calls.
"""

import functools

from . import _calls


class _Compiled:
    """A function that runs as a boundary; as a method it is bound like one."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args, **kwargs):
        return _calls.run_boundary(self, self._function, args, kwargs)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        method = self._function.__get__(instance, owner)

        def call(*args, **kwargs):
            return _calls.run_boundary(instance, method, args, kwargs)

        return functools.wraps(self._function)(call)


def jit(function=None, **options):  # noqa: ARG001
    """Makes a function (or a Cell) run compiled; its Python still runs at every call.

    Options such as `mode`, `input_signature`, `jit_level` and `backend` are accepted; none is needed.
    """
    if function is None:
        return jit
    if hasattr(function, "construct"):
        cell = function
        return functools.wraps(cell.construct)(
            lambda *args, **kwargs: _calls.run_boundary(cell, cell._run, args, kwargs)
        )
    if not callable(function):
        raise TypeError(f"jit: wrong type: got {type(function).__name__}, need a function or a Cell")
    return _Compiled(function)


ms_function = jit


def jit_class(cls):
    """The class itself: any Python works in compiled functions."""
    if not isinstance(cls, type):
        raise TypeError(f"jit_class: wrong type: got {type(cls).__name__}, need a class")
    return cls
