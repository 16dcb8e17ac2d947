"""`enable_compile_cache` keeps compiled graphs in files for the next run of a program."""

import os
import subprocess
import sys

import numpy as np
import pytest

import sorus as ms

PROGRAM = """
import numpy as np
import sorus as ms
from sorus import nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 3))
loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
step.set_train()
x, y = ms.Tensor(np.ones((5, 4), np.float32)), ms.Tensor(np.array([0, 1, 2, 0, 1], np.int32))
losses = [step(x, y).asnumpy().tobytes().hex() for _ in range(4)]
stats = ms.compile_stats()
print(*losses)
print(stats["programs"], stats["cache_hits"], stats["cache_misses"], stats["cache_damaged"])
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    losses, counts = done.stdout.splitlines()
    return losses, [int(n) for n in counts.split()], done.stderr


def test_the_next_process_finds_what_this_one_compiled(tmp_path):
    cached = {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": str(tmp_path)}
    plain, counts, _ = run(MS_COMPILER_CACHE_ENABLE="0")
    programs = counts[0]
    assert programs > 0 and counts == [programs, 0, 0, 0]
    assert run(**cached)[:2] == (plain, [programs, 0, programs, 0])
    assert run(**cached)[:2] == (plain, [programs, programs, 0, 0])
    for entry in (tmp_path / "sorus_graphs").iterdir():
        entry.write_bytes(entry.read_bytes()[:-5])
    assert run(**cached)[:2] == (plain, [programs, 0, programs, programs])
    assert run(**cached)[:2] == (plain, [programs, programs, 0, 0])


def test_a_folder_that_cannot_be_warns_once(tmp_path):
    (tmp_path / "file").write_text("", encoding="ascii")
    plain, counts, _ = run(MS_COMPILER_CACHE_ENABLE="0")
    where = str(tmp_path / "file")
    losses, found, said = run(MS_COMPILER_CACHE_ENABLE="1", MS_COMPILER_CACHE_PATH=where)
    assert (losses, found) == (plain, [counts[0], 0, counts[0], 0])
    assert said.count("compile cache") == 1 and where in said


def test_settings_turn_it_on_and_off(tmp_path):
    assert ms.get_context("enable_compile_cache") is False
    x = ms.Tensor(np.ones(3, np.float32))

    def compile_one():
        before = ms.compile_stats()
        function = ms.jit(lambda x: (x * 2.0 + 1.0).sum())
        results = [float(function(x)) for _ in range(3)]
        assert results == [9.0] * 3
        after = ms.compile_stats()
        return [after[name] - before[name] for name in ("cache_hits", "cache_misses")]

    assert compile_one() == [0, 0]
    ms.set_context(enable_compile_cache=True, compile_cache_path=str(tmp_path))
    try:
        assert compile_one() == [0, 1]
        assert compile_one() == [1, 0]
    finally:
        ms.set_context(enable_compile_cache=False, compile_cache_path=".")
    assert compile_one() == [0, 0]


def test_settings_are_checked():
    with pytest.raises(TypeError, match="enable_compile_cache"):
        ms.set_context(enable_compile_cache="yes")
    with pytest.raises(TypeError, match="compile_cache_path"):
        ms.set_context(compile_cache_path="")
