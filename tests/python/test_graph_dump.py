"""`save_graphs` writes what graph mode compiles, and `sorus opt` reads it."""

import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import sorus as ms
from sorus import ops

PROGRAM = Path(__file__).resolve().parents[2] / "build/release/bin/sorus"


@pytest.fixture
def folder(tmp_path):
    ms.set_context(save_graphs_path=str(tmp_path / "graphs"), save_graphs=2)
    yield tmp_path / "graphs"
    ms.set_context(save_graphs=0, save_graphs_path=".")


def run_one(x):
    function = ms.jit(lambda x: ops.tanh(ops.exp(x) * x).sum() + ops.tanh(ops.exp(x) * x).sum())
    for _ in range(3):
        result = function(ms.Tensor(x))
    return float(result)


def test_every_step_is_written_as_text_and_picture(folder):
    run_one(np.ones(3, np.float32))
    steps = sorted(p.name for p in folder.glob("*.txt"))
    assert any("recorded" in s for s in steps) and any("cse" in s for s in steps)
    recorded = next(folder.glob("*recorded.txt")).read_text(encoding="utf-8")
    assert "test_graph_dump.py" in recorded, "the text says where a call stands"
    for picture in folder.glob("*.svg"):
        boxes = [g for g in ElementTree.parse(picture).iter() if g.get("class") == "call"]
        assert boxes
    assert "kernel calls" in next(folder.glob("*report.txt")).read_text(encoding="utf-8")


def opt(*arguments):
    run = subprocess.run([PROGRAM, "opt", *arguments], check=True, capture_output=True, text=True)
    return run.stdout


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the release build is not there")
def test_opt_repeats_what_the_compiler_did(folder):
    run_one(np.ones(3, np.float32))
    steps = sorted(folder.glob("*_0[0-9]_*.txt"))
    optimized = opt(steps[0])
    assert optimized == opt(steps[-1], "--none"), "values are numbered anew where text is read"
    assert optimized.count("tanh") == 1
    assert opt(steps[0], "--none").count("tanh") == 2
    assert "call(" in optimized and "call(" not in opt(steps[0], "--passes", "cse", "--passes", "dce")
    assert "call(" in opt(steps[0], "--passes", "fuse")


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the release build is not there")
def test_opt_says_what_is_wrong(tmp_path):
    (tmp_path / "g.txt").write_text("graph @g(%0: float32(2,)) {\n  %1 = nonsense(%0) : float32(2,)\n}\n")
    run = subprocess.run([PROGRAM, "opt", tmp_path / "g.txt"], capture_output=True, text=True)
    assert run.returncode == 1 and "line 2" in run.stderr and "nonsense" in run.stderr
    run = subprocess.run([PROGRAM, "opt", tmp_path / "absent.txt"], capture_output=True, text=True)
    assert run.returncode == 1 and "absent.txt" in run.stderr
    run = subprocess.run(
        [PROGRAM, "opt", tmp_path / "g.txt", "--passes", "x"], capture_output=True, text=True
    )
    assert run.returncode == 1


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="save_graphs"):
        ms.set_context(save_graphs=1, save_graphs_path=str(tmp_path / "file"))
    assert ms.get_context("save_graphs") == 0 and ms.get_context("save_graphs_path") == "."
    with pytest.raises(TypeError, match="save_graphs_path"):
        ms.set_context(save_graphs_path=5)
    with pytest.raises(ValueError, match="save_graphs"):
        ms.set_context(save_graphs=7)
