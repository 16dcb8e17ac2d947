"""`jit`: functions whose outermost calls are recorded once and run compiled, with the results of plain
calls.
"""

import functools
import itertools

from . import _calls, _core, _declared, _loops, _tree
from ._near import near_names

# What `jit` takes and does not need.
_OPTIONS = (
    "fn",
    "mode",
    "capture_mode",
    "hash_args",
    "jit_config",
    "jit_level",
    "jit_syntax_level",
    "compile_once",
    "dynamic",
    "fullgraph",
    "backend",
    "debug_level",
    "disable_format_transform",
    "exec_order",
    "ge_options",
    "infer_boost",
)


class _Compiled:
    """A function that runs as a boundary; as a method it is bound like one."""

    def __init__(self, function, loops="auto"):
        functools.update_wrapper(self, function)
        self._function = function
        self._loops = loops
        self._runs = function if loops == "follow" else None

    def __call__(self, *args, **kwargs):
        return _calls.run_boundary(self, self._runs or self._offered(args), args, kwargs)

    def _offered(self, args):
        """The function with its loops offered, made at the first call."""
        self._runs = _loops.offering(self._function, self._loops == "rewrite")
        _loops.prepare_reached(self._function, args)
        return self._runs

    def __reduce__(self):
        # As a plain function, it is pickled and copied by name.
        return getattr(self, "__qualname__", None) or super().__reduce__()

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        method = (self._runs or self._offered((instance,))).__get__(instance, owner)
        # Classes and objects with slots cannot keep what belongs to a boundary; the function can.
        keeper = instance if isinstance(getattr(instance, "__dict__", None), dict) else self

        def call(*args, **kwargs):
            return _calls.run_boundary(keeper, method, args, kwargs)

        return functools.wraps(self._function)(call)


class _Pure:
    """A function declared pure: after the first call of a signature its Python runs no more."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = _loops.offering(function)
        self._programs = {}

    def __call__(self, *args, **kwargs):
        given = (args, kwargs)
        tensors = _tree.tensors(given)
        key = (_shape_of(given), tuple((t.dtype, t.shape) for t in tensors))
        if key not in self._programs:
            self._programs[key] = self._program(given)
        program, results = self._programs[key]
        out = program(tensors)
        return _tree.rebuild(results[0], iter(out))

    def _program(self, given):
        """The function over flat lists of tensors, and a place for the structure of its results. Neither
        keeps a tensor of the first call alive.
        """
        arguments, results = _without_values(given), [None]

        def over_lists(tensors):
            args, kwargs = _tree.rebuild(arguments, iter(tensors))
            made = self._function(*args, **kwargs)
            results[0] = _without_values(made)
            return _tree.tensors(made)

        return _core.PureFunction(over_lists), results


def _without_values(value):
    """The structure of `value` with one and the same small tensor in place of all."""
    return _tree.rebuild(value, itertools.repeat(_core.Tensor(0)))


def _shape_of(value):
    """What a call is given beside tensors, as something that can be compared: for a pure function it is
    fixed.
    """
    if isinstance(value, _core.Tensor):
        return _core.Tensor
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_shape_of, value))
    if isinstance(value, dict):
        return (dict, *((key, _shape_of(item)) for key, item in value.items()))
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"jit: argument of a pure function cannot be told apart: got a {type(value).__name__}, need "
            "tensors, numbers, strings, or tuples, lists and dictionaries of them"
        ) from None
    return (type(value), value)


def _checked(function, signature):
    """The function, which refuses inputs that are not as declared."""
    given = signature if isinstance(signature, (tuple, list)) else (signature,)
    signature = _declared.as_declared("jit", given)

    @functools.wraps(function)
    def call(*args, **kwargs):
        _declared.check(getattr(function, "__name__", "jit"), signature, args, kwargs)
        return function(*args, **kwargs)

    return call


def jit(function=None, *, pure=False, input_signature=None, loops="auto", **options):
    """Makes a function (or a Cell) run compiled; its Python still runs at every call.

    With `pure` the function is declared to do the same operations whenever it is given the same types and
    plain values: it runs once for each signature, and later calls replay the compiled program without
    Python. What it reads and writes of parameters, and the random numbers it draws, are part of the program.
    It must not look at values. With the environment variable `SORUS_JIT=audit` it runs beside every replay,
    and a difference raises RuntimeError.

    `loops` says what becomes of Python's loops over tensors. "auto": those that only compute, as far as can
    be shown, become part of the program (docs/control_flow.md), others run by steps. "follow": all run by
    steps. "rewrite": all must become part of the program, and what they call is trusted to compute and do
    nothing else; where that fails, TypeError says why.

    `input_signature`, a Tensor or a tuple of them, declares the types of the inputs, where extents may be
    unknown: `Tensor(shape=[None, 3], dtype=ms.float32)`; a call with others raises ValueError. Options such
    as `mode`, `jit_level` and `backend` are accepted; none is needed. Throws TypeError for one that is not
    known, and for a class.

    >>> from sorus import Tensor, jit
    >>> @jit
    ... def root(x):
    ...     return (x * x).sum().sqrt()
    >>> root(Tensor([3.0, 4.0])).item()
    5.0
    """
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        near = near_names(unknown[0], ("pure", "input_signature", "loops", *_OPTIONS), 1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise TypeError(
            f"jit: unknown argument: got '{unknown[0]}', {hint}need one of pure, input_signature, loops, "
            f"{', '.join(_OPTIONS)}"
        )
    if loops not in ("auto", "follow", "rewrite"):
        raise ValueError(f"jit: 'loops' is unknown: got {loops!r}, need 'auto', 'follow' or 'rewrite'")
    function = options.pop("fn", function)
    if function is None:
        return functools.partial(jit, pure=pure, input_signature=input_signature, loops=loops, **options)
    if isinstance(function, type):
        raise TypeError(
            f"jit: wrong type: got the class {function.__name__}, need a function or a Cell; decorate the "
            "method 'construct', or give it an object of the class"
        )
    if input_signature is not None:
        return _checked(jit(function, pure=pure, loops=loops, **options), input_signature)
    if pure:
        return _Pure(function)
    if hasattr(function, "construct"):
        cell = function
        return functools.wraps(cell.construct)(
            lambda *args, **kwargs: _calls.run_boundary(cell, cell._run, args, kwargs)
        )
    if not callable(function):
        raise TypeError(f"jit: wrong type: got {type(function).__name__}, need a function or a Cell")
    return _Compiled(function, loops)


ms_function = jit


def jit_class(cls):
    """The class itself: any Python works in compiled functions."""
    if not isinstance(cls, type):
        raise TypeError(f"jit_class: wrong type: got {type(cls).__name__}, need a class")
    return cls


ms_class = jit_class


def lazy_inline(fn=None, attrs=None, policy=None):  # noqa: ARG001
    """Accepted for compatibility, as `@lazy_inline` and `@lazy_inline(...)` of a constructor: cells are
    compiled with what surrounds them either way.
    """
    return (lambda function: function) if fn is None else fn
