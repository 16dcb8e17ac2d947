"""Random programs give the same bits, errors and output plainly, compiled and in graph mode."""

import threading

import numpy as np
import pytest
from modes import trace
from random_programs import SHAPE, schedule, write

import sorus as ms
from sorus import Parameter, Tensor, nn, ops

CALLS = 9
PROGRAMS = 60


def elsewhere(function):
    """Calls the function on another thread and waits for its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def calls_of(seed, source, wrap):
    """Makes the world of a program anew and gives its calls."""
    numbers = np.random.default_rng(seed)

    def noise(*shape):
        return Tensor(numbers.standard_normal(shape).astype(np.float32))

    net = nn.SequentialCell(nn.Dense(4, 4), nn.BatchNorm1d(4), nn.Dropout(p=0.3))
    for p in net.get_parameters():
        p.set_data(Tensor(numbers.random(p.shape).astype(np.float32)))
    names = {
        "ms": ms,
        "ops": ops,
        "np": np,
        "Tensor": Tensor,
        "w": Parameter(noise(*SHAPE), name="w"),
        "net": net,
        "k": [1, 2],
        "kept": [],
        "notes": [],
        "square": noise(4, 4),
        "elsewhere": elsewhere,
        "rows": Tensor(np.array([0, 2], np.int32)),
        "rows3": Tensor(np.array([0, 1, 1], np.int32)),
        "labels": Tensor(np.array([1, 3, 0], np.int32)),
        "inner": wrap(lambda t, n: ops.tanh(t) * n),
        "helper": lambda t: t * 0.5,
    }
    exec(compile(source, f"program_{seed}.py", "exec"), names)
    f = wrap(names["f"])
    x = noise(*SHAPE)

    def step(change, value):
        if change == "k0":
            names["k"][0] = value
        elif change == "k1":
            names["k"][1] = value
        elif change == "train":
            net.set_train(value != 2)
        elif change == "seed":
            ms.set_seed(value)
        elif change == "forget":
            names["kept"].clear()
        elif change == "helper":
            names["helper"] = (lambda t: t * 0.5, lambda t: ops.sin(t), lambda t: t + names["w"])[value - 1]
        given = x * (value if change == "scale" else 1)
        names["notes"].clear()
        try:
            return f(given), given
        finally:
            print(names["notes"], names["k"])

    for change, value in schedule(seed, CALLS):
        yield lambda change=change, value=value: step(change, value)
        yield lambda: (names["w"], list(net.get_parameters()), names["kept"])


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_programs_agree(seed):
    source = write(seed)

    def program(wrap):
        return calls_of(seed, source, wrap)

    plain = trace(program, lambda function: function)
    compiled = trace(program, ms.jit)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        graph = trace(program, lambda function: function)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    for i, expected in enumerate(plain):
        assert compiled[i] == expected, f"call {i} compiled\n{source}"
        assert graph[i] == expected, f"call {i} in graph mode\n{source}"


# Ops that have one result in all kernels.
EXACT_OPS = "abs add broadcast_to concat div exp maximum mul neg reshape sub tanh transpose where".split()
CHOICES = [{"engine": "cpu_reference"}, {"op_engines": dict.fromkeys(EXACT_OPS, "cpu_reference")}]


@pytest.mark.parametrize("choice", CHOICES, ids=["reference", "some ops"])
@pytest.mark.parametrize("seed", range(PROGRAMS // 3))
def test_random_programs_agree_on_other_engines(seed, choice):
    source = write(seed)

    def program(wrap):
        return calls_of(seed, source, wrap)

    ms.set_context(**choice)
    try:
        plain = trace(program, lambda function: function)
        compiled = trace(program, ms.jit)
    finally:
        ms.set_context(engine="", op_engines={})
    for i, expected in enumerate(plain):
        assert compiled[i] == expected, f"call {i} compiled\n{source}"


def test_most_programs_compute_something():
    finished = 0
    for seed in range(PROGRAMS):
        results = trace(lambda wrap: calls_of(seed, write(seed), wrap), lambda function: function)
        finished += sum("Error" not in str(result[0])[:20] for result, _ in results[::2])
    assert finished > PROGRAMS * CALLS / 2
