"""Random functions with loops: plain Python and a compiled function agree bit for bit, call after call."""

import importlib.util

import numpy as np
import pytest
import random_loops
from modes import bits

import sorus as ms
from sorus import Tensor


def loaded(path, seed):
    path.write_text(random_loops.source(seed))
    spec = importlib.util.spec_from_file_location(f"random_loop_{seed}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def attempt(function, arguments):
    try:
        return bits(function(*arguments))
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("seed", range(80))
def test_random_loops_are_equal(seed, tmp_path):
    plain = loaded(tmp_path / "loop.py", seed)
    compiled = ms.jit(plain)
    numbers = np.random.default_rng(seed)

    def uniform(*shape):
        return Tensor(numbers.uniform(-2, 2, shape).astype(np.float32))

    calls = [(uniform(3), uniform(3), Tensor(int(numbers.integers(0, 13))), uniform(9, 3)) for _ in range(3)]
    calls.append((uniform(3), uniform(3), Tensor(5), uniform(11, 3)))
    for arguments in calls * 2:
        assert attempt(compiled, arguments) == attempt(plain, arguments), random_loops.source(seed)
