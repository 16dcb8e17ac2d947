"""The programs of examples/: each runs, gives equal results in both modes, and reaches what its page says
(--full).
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# Options for a run of a few steps.
SHORT = {
    "burgers_pinn": ["--steps", "20"],
    "gpt2": ["--steps", "4", "--batch", "2", "--context", "32", "--write", "8"],
    "gradient_penalty_gan": ["--steps", "8"],
    "lstm_crf": ["--epochs", "1", "--steps", "4"],
    "resnet18": ["--epochs", "1", "--digits", "32", "--batch", "8"],
    "se_resnext": ["--epochs", "1", "--steps", "3"],
    "transformer": ["--steps", "4", "--tests", "4", "--batch", "8"],
}

# What the pages promise: a pattern of the last lines with one number, and its bounds.
PROMISED = {
    "burgers_pinn": (r"^relative error (\S+)$", 0, 0.1),
    "gpt2": (r"^test loss (\S+) nats", 0, 2.3),
    "gradient_penalty_gan": (r"good points (\S+)$", 0.8, 1),
    "lstm_crf": (r"^test accuracy (\S+)$", 0.93, 1),
    "resnet18": (r"^test accuracy (\S+)$", 0.97, 1),
    "se_resnext": (r"^test accuracy (\S+)$", 0.97, 1),
    "transformer": (r"^characters right (\S+)$", 0.8, 1),
}


def output(name, *options):
    """What an example prints, without what times change."""
    program = EXAMPLES / name / f"{name}.py"
    run = subprocess.run([sys.executable, program, *options], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return re.sub(r", \d+(\.\d+)? (ms|s)\b", "", run.stdout)


def test_all_examples_are_listed():
    programs = {path.parent.name for path in EXAMPLES.glob("*/*.py")}
    assert programs - {"lenet", "image_folder"} == set(SHORT) == set(PROMISED)


@pytest.mark.parametrize("name", SHORT)
def test_modes_print_the_same(name):
    graph = output(name, *SHORT[name])
    assert len(graph) > 20
    assert output(name, *SHORT[name], "--mode", "pynative") == graph


@pytest.mark.full
@pytest.mark.parametrize("name", PROMISED)
def test_reaches_what_is_promised(name):
    pattern, least, most = PROMISED[name]
    found = re.search(pattern, output(name), re.MULTILINE)
    assert found and least <= float(found[1]) <= most, found
