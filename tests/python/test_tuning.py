"""Tuning from Python and from the command line."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import sorus as ms
from sorus import nn, ops

RUNNER = Path(__file__).resolve().parents[2] / "build/release/bin/sorus"
needs_runner = pytest.mark.skipif(not RUNNER.exists(), reason="the program is not built")


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "tuning.db"
    ms.set_context(tuning_database=path)
    yield path
    ms.set_context(tuning_database=None)


def traced():
    dense = nn.Dense(48, 64)
    x = ms.Tensor(np.linspace(-1, 1, 96 * 48, dtype=np.float32).reshape(96, 48))
    return ms.trace_program(lambda x: ops.softmax(ops.relu(dense(x)) * 2.0, -1), x), x


def run(*args, **variables):
    environment = {**os.environ, "SORUS_TUNING_DATABASE": "off", **variables}
    return subprocess.run([RUNNER, "tune", *map(str, args)], capture_output=True, text=True, env=environment)


def test_a_program_is_tuned_and_keeps_its_bits(database):
    program, x = traced()
    wanted = program(x).asnumpy()
    report = ms.tune_program(program, x, budget=0.3)
    assert report["before"] > 0 and report["after"] > 0 and report["candidates"] > 0
    assert [len(step) for step in report["steps"]] == [4] * len(report["steps"])
    names = {p["name"] for p in ms.tuning_parameters() if p["bit_neutral"]}
    for found in report["found"]:
        assert set(found["values"]) <= names
        assert found["before"] > found["after"]
    assert database.exists()
    again = ms.Program.from_bytes(program.to_bytes())
    assert (again(x).asnumpy() == wanted).all()
    ms.tune_program(program, budget=0.05)  # inputs are made up


def test_mistakes_are_told():
    program, x = traced()
    with pytest.raises(TypeError, match="tune_program: wrong type: got function"):
        ms.tune_program(lambda x: x, x)
    with pytest.raises(ValueError, match="number of inputs differs: got 2, need none or 1"):
        ms.tune_program(program, x, x)
    with pytest.raises(ValueError, match="time is not positive"):
        ms.tune_program(program, x, budget=0)
    with pytest.raises(TypeError, match="tuning_database has the wrong type: got 3"):
        ms.set_context(tuning_database=3)


def test_the_database_is_a_setting(tmp_path):
    from sorus import _core

    usual = _core.tuning_database()
    ms.set_context(tuning_database=str(tmp_path / "other.db"))
    assert _core.tuning_database() == str(tmp_path / "other.db")
    ms.set_context(tuning_database="")
    assert _core.tuning_database() == ""
    ms.set_context(tuning_database=None)
    assert _core.tuning_database() == usual
    assert ms.get_context("tuning_database") is None


def test_parameters_are_listed():
    parameters = {p["name"]: p for p in ms.tuning_parameters()}
    assert len(parameters) >= 8
    assert {p["part"] for p in parameters.values()} == {"call", "region", "program"}
    assert parameters["tile.bytes"]["bit_neutral"] and not parameters["gemm.part_depth"]["bit_neutral"]
    for p in parameters.values():
        assert p["least"] <= p["default"] <= p["most"] and p["doc"]


@needs_runner
def test_the_command_tunes_programs_graphs_and_ops(tmp_path):
    program, x = traced()
    program.save(tmp_path / "network.program")
    database = tmp_path / "tuning.db"
    ms.save_checkpoint([{"name": "x", "data": x}], str(tmp_path / "in.ckpt"))
    done = run(
        tmp_path / "network.program",
        "--budget",
        0.3,
        "--database",
        database,
        "--inputs",
        tmp_path / "in.ckpt",
    )
    assert done.returncode == 0, done.stderr
    assert "candidates; a run took" in done.stdout
    assert database.exists()
    graph = tmp_path / "graph.txt"
    graph.write_text(
        "graph @g(%0: float32(200, 300)) {\n  %1 = exp(%0) : float32(200, 300)\n  return %1\n}\n"
    )
    assert run(graph, "--budget", 0.1, "--dry-run", "--quiet").returncode == 0
    done = run("--op", "matmul", "--shapes", "64x48,48x32", "--budget", 0.1, "--dry-run")
    assert done.returncode == 0 and "matmul(float32(64, 48), float32(48, 32))" in done.stdout
    assert run("--show", "--database", database).stdout.startswith(str(database))


@needs_runner
def test_the_command_lists_parameters_and_tells_mistakes(tmp_path):
    listed = run("--list").stdout.splitlines()
    assert len(listed) == 1 + len(ms.tuning_parameters())
    for arguments, text in [
        ((), "nothing to tune, or two things"),
        (("--op", "no_such_op"), "op is unknown: got 'no_such_op'"),
        (("--op", "exp", "--shapes", "3y4"), "text is no shape: got '3y4'"),
        (("--op", "matmul", "--shapes", "2x3,4x5"), "matmul"),
        ((tmp_path / "nothing",), "file cannot be read"),
    ]:
        done = run(*arguments)
        assert done.returncode == 1 and text in done.stderr, done.stderr


@needs_runner
def test_a_damaged_database_is_told_once_and_made_anew(tmp_path):
    database = tmp_path / "tuning.db"
    database.write_bytes(b"not a database")
    arguments = ("--op", "exp", "--shapes", "1000", "--budget", 0.05, "--database", database)
    done = run(*arguments)
    assert done.returncode == 0 and done.stderr.count("nothing is taken from a file") == 1, done.stderr
    assert "nothing is taken" not in run(*arguments).stderr


@needs_runner
def test_settings_of_the_environment_keep_bits_and_are_checked(tmp_path):
    program, _ = traced()
    program.save(tmp_path / "network.program")
    results = []
    for i, tuning in enumerate(["", "gemm.depth=128, tile.piece_elements=4096, softmax.piece_elements=2048"]):
        out = tmp_path / f"{i}.ckpt"
        ms.save_checkpoint([{"name": "x", "data": traced()[1]}], str(tmp_path / "in.ckpt"))
        done = subprocess.run(
            [RUNNER, "run", tmp_path / "network.program", "--inputs", tmp_path / "in.ckpt", "--outputs", out],
            capture_output=True,
            text=True,
            env={**os.environ, "SORUS_TUNING": tuning},
        )
        assert done.returncode == 0 and "SORUS_TUNING" not in done.stderr, done.stderr
        results.append(ms.load_checkpoint(str(out))["output0"].asnumpy().tobytes())
    assert results[0] == results[1]
    done = run("--op", "exp", "--shapes", "10", "--budget", 0.05, "--dry-run", SORUS_TUNING="no.such=1")
    assert done.returncode == 0 and "SORUS_TUNING: nothing is set" in done.stderr
