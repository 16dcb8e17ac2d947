"""The name `mindspore`: programs run with Sorus as they were written, in processes of their own."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        timeout=300,
    )


def printed(code, *arguments):
    """What code prints under the alias; it must not fail."""
    done = run("-m", "sorus.mindspore", "-c", code, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def last_error(code):
    done = run("-m", "sorus.mindspore", "-c", code)
    assert done.returncode == 1, done.stdout
    return done.stderr.rstrip().splitlines()[-1]


PROGRAM = """
import argparse
import numpy as np
import mindspore
import mindspore as ms
import mindspore.nn as nn
import mindspore.common.dtype as mstype
import mindspore.dataset.vision.c_transforms as CV
import mindspore.dataset.transforms.c_transforms as C
from mindspore import Tensor, context, dtype, Model
from mindspore.common.initializer import Normal
from mindspore.nn.metrics import Accuracy
from mindspore.ops import composite, functional as F, operations as P
from mindspore.ops.function.nn_func import relu
from mindspore.ops.operations._inner_ops import MatMul
from mindspore.parallel._utils import _get_device_num, _get_gradients_mean, _get_parallel_mode
from mindspore.train.callback import LossMonitor
from mindspore.train.serialization import load_checkpoint

context.set_context(mode=context.GRAPH_MODE, device_target="CPU")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        self.mul = P.Mul()

    def construct(self, x):
        return relu(self.mul(self.fc(x), F.ones_like(x)[:, :1]))


assert mstype.float32 is dtype.float32 is mindspore.float32
assert (_get_device_num(), _get_gradients_mean(), _get_parallel_mode()) == (1, False, "stand_alone")
parser = argparse.ArgumentParser()
parser.add_argument("--value", type=float)
print(Net()(Tensor([[1.0, parser.parse_args().value]])).tolist(), ms.__version__, __name__)
"""


def test_a_program_runs_unchanged(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("from helper import there\n" + PROGRAM)
    (tmp_path / "helper.py").write_text("import mindspore\nthere = mindspore.Tensor")
    done = run("-m", "sorus.mindspore", script, "--value", "2")
    assert done.stdout == "[[3.0]] 2.7.0 __main__\n", done.stderr
    done = run("-m", "sorus.mindspore", "-m", "train", "--value", "3", cwd=tmp_path)
    assert done.stdout == "[[4.0]] 2.7.0 __main__\n", done.stderr


def test_names_are_those_of_sorus():
    assert printed(
        "import sys, sorus, mindspore as ms, mindspore.nn\n"
        "from mindspore import *\n"
        "assert Tensor is sorus.Tensor and ms.nn.Conv2d is sorus.nn.Conv2d\n"
        "assert ms.ops.operations.Add is sorus.ops.operations.Add is ms.ops.auto_generate.Add\n"
        "assert isinstance(ms.nn.Dense(1, 1), sorus.nn.Cell)\n"
        "assert not hasattr(ms, 'nonsense') and not hasattr(ms.nn, 'nonsense')\n"
        "assert 'Conv2d' in dir(ms.nn) and 'nn' in dir(ms)\n"
        "import importlib.util\n"
        "print(sys.argv, importlib.util.find_spec('mindspore.nn').name)",
        "a",
    ) == "['-c', 'a'] mindspore.nn\n"


def test_every_path_of_the_table_is_there():
    printed(
        "import importlib\n"
        "from sorus.mindspore._paths import MODULES\n"
        "assert len(MODULES) > 100\n"
        "for path in MODULES:\n"
        "    module = importlib.import_module(f'mindspore.{path}'.rstrip('.'))\n"
        "    assert dir(module), path"
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (
            "from mindspore.nn import Con2d",
            "ModuleNotFoundError: Sorus does not have 'mindspore.nn.Con2d': near it are "
            "'Conv2d', 'Conv3d', 'Conv1d'",
        ),
        (
            "from mindspore.common.dtype import flot32",
            "ModuleNotFoundError: Sorus does not have 'mindspore.common.dtype.flot32': "
            "near it are 'float32'",
        ),
        ("import mindspore.nonsense", "ModuleNotFoundError: Sorus does not have 'mindspore.nonsense'"),
        (
            "import mindspore.ops.operations._nonsense.more",
            "ModuleNotFoundError: Sorus does not have 'mindspore.ops.operations._nonsense'",
        ),
        (
            "import mindspore as ms; ms.nn.Relu",
            "AttributeError: Sorus does not have 'mindspore.nn.Relu': near it are 'ReLU', 'RReLU', 'ReLU6'",
        ),
        (
            "import mindspore; mindspore.mindspore",
            "AttributeError: Sorus does not have 'mindspore.mindspore'",
        ),
    ],
)
def test_a_name_that_is_missing_is_told(code, error):
    assert last_error(code) == error


def test_importing_the_alias_first_is_enough():
    code = "import sorus.mindspore, mindspore; import sorus; print(mindspore.Tensor is sorus.Tensor)"
    done = run("-c", code)
    assert done.stdout == "True\n", done.stderr


def test_another_mindspore_is_not_mixed_in(tmp_path):
    (tmp_path / "mindspore.py").write_text("there = 1")
    done = run("-c", "import mindspore, sorus.mindspore", cwd=tmp_path)
    assert "sorus.mindspore: mindspore was imported before from" in done.stderr
    done = run("-c", "import sorus.mindspore, mindspore; mindspore.Tensor", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_tracebacks_begin_with_the_program(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("import mindspore as ms\nms.ops.add(ms.Tensor([1.0]), 'a')\n")
    done = run("-m", "sorus.mindspore", script)
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Traceback") and f'"{script}", line 2' in lines[1], done.stderr
    assert "runpy" not in done.stderr


def test_the_runner_says_how_it_is_used():
    done = run("-m", "sorus.mindspore")
    assert done.returncode == 2 and done.stderr.startswith("usage: python -m sorus.mindspore SCRIPT")
    assert run("-m", "sorus.mindspore", "--help").stdout.startswith("usage:")
    assert "-c: got no argument, need one" in run("-m", "sorus.mindspore", "-c").stderr
    assert "No such file" in run("-m", "sorus.mindspore", "nowhere.py").stderr
