"""Runs one program in several modes and compares everything that it shows: bits, texts, errors, output."""

import contextlib
import io

import numpy as np

import sorus as ms
from sorus import Tensor


def vector(*numbers):
    """A float32 tensor."""
    return Tensor(np.array(numbers, np.float32))


X = vector(1, 2, 3)


def bits(value):
    """What a program's result is, down to the last bit."""
    if isinstance(value, Tensor):
        array = value.asnumpy()
        return str(value.dtype), array.shape, array.tobytes()
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return tuple(bits(item) for item in value)
    if isinstance(value, dict):
        return tuple((key, bits(item)) for key, item in value.items())
    return repr(value)


def trace(program, wrap):
    """Results, errors and output of each call that `program(wrap)` gives, in order."""
    ms.set_seed(3)
    seen = []
    for call in program(wrap):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                result = bits(call())
            except Exception as error:
                result = type(error).__name__, str(error)
        seen.append((result, output.getvalue()))
    return seen


def check_equal(program):
    """The program gives the same plainly, with its functions compiled, and in graph mode."""
    plain = trace(program, lambda function: function)
    assert len(plain) > 2
    compiled = trace(program, ms.jit)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        graph = trace(program, lambda function: function)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    for i, expected in enumerate(plain):
        assert compiled[i] == expected, f"call {i} compiled"
        assert graph[i] == expected, f"call {i} in graph mode"
