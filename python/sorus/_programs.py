"""Compiled programs: files of them, sessions that run them, and what compiling has cost."""

import inspect
import os

from . import _core, _loops, _tree


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


class Program:
    """A function of tensors that was saved: `load_program(path)`, `trace_program(function, ...)` or
    `Program.from_bytes(data)`. It is called with tensors, by position or by name, and gives a tensor, or a
    tuple where there are several results. `inputs` and `outputs` list (name, dtype, shape).
    """

    def __init__(self, core):
        self._core = core

    @property
    def inputs(self):
        """Name, dtype and shape of each input."""
        return self._core.inputs

    @property
    def outputs(self):
        """Name, dtype and shape of each result."""
        return self._core.outputs

    def compile(self):
        """Compiles now what the first call would."""
        self._core.compile()

    def to_bytes(self):
        """The program as `bytes`, for another process; a file of it holds the same."""
        return self._core.to_bytes()

    @staticmethod
    def from_bytes(data):
        """The program that `to_bytes` gave. Raises an OSError for bytes that are damaged or no program."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"program: wrong type: got {type(data).__name__}, need bytes")
        return Program(_core.Program.from_bytes(bytes(data)))

    def save(self, path):
        """Writes the program to a file, under another name until it is whole."""
        self._core.save(os.fspath(path))

    def __call__(self, *args, **kwargs):
        given = list(args)
        for name, _, _ in self.inputs[len(args) :]:
            if name not in kwargs:
                raise TypeError(f"program: an input is missing: got none for '{name}', need a Tensor")
            given.append(kwargs.pop(name))
        if kwargs:
            names = ", ".join(name for name, _, _ in self.inputs)
            raise TypeError(f"program: an input is unknown or given twice: got {list(kwargs)}, need {names}")
        results = self._core(given)
        return results[0] if len(results) == 1 else results


def trace_program(function, *inputs, outputs=None):
    """A function as a `Program`, which runs without the function's code, also in another process.

    `function` is a Cell, a function or a `jit` function; it is called once with tensors that have the
    types of `inputs` and no values. What it uses beside them, parameters above all, becomes part of the
    program with the values of now. Inputs are named as the function's arguments; tensors inside of
    tuples, lists and dictionaries get a number (`x.0`), and arguments that hold no tensor are fixed.
    Results are flat, and called as `outputs` says, or `output0` and so on. Shapes are fixed.

    Raises ValueError when the function looks at values, and NotImplementedError when it updates a
    parameter in place (as batch norm does in training) or draws random numbers.

    >>> from sorus import Tensor, trace_program
    >>> weight = Tensor([2.0, 3.0])
    >>> program = trace_program(lambda x: x * weight, Tensor([0.0, 0.0]))
    >>> program.inputs
    [('x', sorus.float32, (2,))]
    >>> program(Tensor([1.0, 10.0])).asnumpy().tolist()
    [2.0, 30.0]
    """
    if not callable(function):
        raise TypeError(
            f"trace_program: wrong type: got {type(function).__name__}, need a function or a Cell"
        )

    names = _names(function, inputs)
    called = _offered(function)

    def over_tensors(*tensors):
        return _tree.tensors(called(*_tree.rebuild(inputs, iter(tensors))))

    return Program(_core.Program.trace(over_tensors, _tree.tensors(inputs), names, list(outputs or ())))


def _offered(function):
    """The function with its loops and branches offered, as its values will have no numbers."""
    compiled = type(function).__module__ == "sorus._jit"
    plain = getattr(function, "_function", function) if compiled else function
    if hasattr(type(plain), "cells_and_names"):
        _loops.prepare(plain, True)
        return function
    _loops.prepare_reached(plain, (), True)
    made = _loops.offering(plain, False, True)
    return function if made is plain else made


def save_program(function, path, *inputs, outputs=None):
    """Writes a function to a file, from which C++ and Python programs run it without its code: what
    `trace_program(function, *inputs, outputs=outputs)` gives.

    >>> import os, tempfile
    >>> from sorus import Tensor, load_program, save_program
    >>> path = os.path.join(tempfile.mkdtemp(), "scale.program")
    >>> weight = Tensor([2.0, 3.0])
    >>> save_program(lambda x: x * weight, path, Tensor([0.0, 0.0]))
    >>> load_program(path)(Tensor([1.0, 10.0])).asnumpy().tolist()
    [2.0, 30.0]
    """
    trace_program(function, *inputs, outputs=outputs).save(path)


def _names(function, inputs):
    """A name for each tensor in `inputs`: that of the argument."""
    target = getattr(function, "construct", function)
    try:
        bound = inspect.signature(target).bind(*inputs)
    except (TypeError, ValueError):
        arguments = [(f"input{i}", value) for i, value in enumerate(inputs)]
    else:
        arguments = []
        for name, value in bound.arguments.items():
            variadic = bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            arguments += [(f"{name}.{i}", v) for i, v in enumerate(value)] if variadic else [(name, value)]
    names = []
    for name, value in arguments:
        single = isinstance(value, _core.Tensor)
        found = _tree.tensors(value)
        names += [name] if single else [f"{name}.{i}" for i in range(len(found))]
    return names


def load_program(path):
    """The program that `save_program` wrote.

    Raises an OSError for a file that is missing, damaged or of another kind.
    """
    return Program(_core.Program.load(os.fspath(path)))


def tune_program(program, *inputs, budget=30.0):
    """Looks for tile sizes, grains of parallel loops and limits of passes with which a `Program` is faster
    on this machine, for about `budget` seconds, and keeps what it finds in the tuning database
    (`set_context(tuning_database=...)`), from which later runs of any program take it. `inputs` are
    tensors as the program takes them; without them they are made up. With exact numerics only parameters
    are tuned that move no bit of any result.

    Gives a dictionary: seconds of a run with the defaults (`before`) and with what was found (`after`),
    whether that is `faster` by more than the noise (otherwise nothing is kept), the number of `candidates`
    that were measured, what was `found` for which call, region or program, and the `steps` of the program
    as (what, kernel, seconds before, seconds after).

    >>> from sorus import Tensor, set_context, trace_program, tune_program
    >>> set_context(tuning_database="")  # keep nothing in files
    >>> program = trace_program(lambda x: x * x + x, Tensor([1.0, 2.0]))
    >>> report = tune_program(program, Tensor([1.0, 2.0]), budget=0.05)
    >>> len(report["steps"]), report["before"] > 0
    (1, True)
    """
    if not isinstance(program, Program):
        raise TypeError(f"tune_program: wrong type: got {type(program).__name__}, need a Program")
    if inputs and len(inputs) != len(program.inputs):
        raise ValueError(
            f"tune_program: number of inputs differs: got {len(inputs)}, need none or {len(program.inputs)}"
        )
    return _core.tune_program(program._core, list(inputs), float(budget))


def tuning_parameters():
    """The parameters that are tuned, as a list of dictionaries: `name`, `default`, `least` and `most` (values
    are doublings of the least), the `part` that it belongs to (call, region or program), whether it is
    `bit_neutral`, and what it is (`doc`).

    >>> from sorus import tuning_parameters
    >>> [p["default"] for p in tuning_parameters() if p["name"] == "tile.bytes"]
    [24576]
    """
    return _core.tuning_parameters()


class Session:
    """Programs by number, for an engine that is handed them: it adds, compiles, runs and removes programs,
    also from several threads at once. A number that is not in use raises KeyError.

    >>> from sorus import Session, Tensor, trace_program
    >>> data = trace_program(lambda x: x + x, Tensor([0.0])).to_bytes()
    >>> session = Session()  # in another process, perhaps
    >>> number = session.add(data)
    >>> session.compile(number)
    >>> session.run(number, Tensor([4.0])).asnumpy().tolist()
    [8.0]
    >>> session.remove(number)
    >>> session.ids()
    []
    """

    def __init__(self):
        self._core = _core.Session()

    def add(self, program):
        """Takes a `Program`, or its bytes, and gives its number. Numbers are never given twice."""
        program = program if isinstance(program, Program) else Program.from_bytes(program)
        return self._core.add(program._core)

    def compile(self, number):
        """Compiles now what the first run would."""
        self.find(number).compile()

    def run(self, number, *args, **kwargs):
        """Calls the program, with tensors by position or by name."""
        return self.find(number)(*args, **kwargs)

    def remove(self, number):
        """Forgets a program. Runs of it that are under way end as usual."""
        self._core.remove(number)

    def find(self, number):
        """The `Program` of a number."""
        return Program(self._core.find(number))

    def ids(self):
        """All numbers in use."""
        return self._core.ids()
