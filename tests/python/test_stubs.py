"""The type stubs that the build writes: they name what the package has, and a type checker accepts programs
over them and finds mistakes.
"""

import ast
import importlib
import inspect
import pathlib
import subprocess
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "sorus"
MODULES = (
    "sorus sorus.ops sorus.mint sorus.mint.nn.functional sorus.numpy sorus.nn sorus.nn.optim sorus.common "
    "sorus.common.dtype sorus.common.initializer sorus.common.parameter sorus.train sorus.train.callback "
    "sorus.train.metrics sorus.dataset sorus.dataset.transforms sorus.dataset.vision sorus.mindrecord"
).split()

PROGRAM = """
import numpy as np

import sorus as ms
from sorus import Parameter, Tensor, mint, nn, ops, train


class Net(nn.Cell):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.hidden = nn.Dense(6, hidden, weight_init="xavier_uniform")
        self.scale = Parameter(Tensor(np.ones(3), ms.float32), name="scale")

    def construct(self, x: Tensor) -> Tensor:
        y = self.pool(ops.relu(self.conv(x)))
        y = self.hidden(y.mean((2, 3))) * self.scale
        return ops.softmax(y + 1, axis=-1).astype(ms.float16)


def steps(net: Net, x: Tensor) -> float:
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), learning_rate=[0.1, 0.05])
    step = ms.value_and_grad(lambda a, b: loss(net(a), b), None, optimizer.parameters)
    value, gradients = step(x, Tensor([1, 2], ms.int32))
    optimizer(gradients)
    model = train.Model(net, loss, optimizer, metrics={"accuracy"})
    model.set_train = None
    values, places = mint.max(x, 1)
    shape: tuple[int, ...] = values.shape
    total = ops.ReduceSum(keep_dims=True)(x, (0, 1))
    return float(value) + float(total) + float(places.sum()) + len(shape)


ms.set_context(mode=ms.GRAPH_MODE)
print(steps(Net(3), Tensor(np.zeros((2, 1, 8, 8)), dtype=ms.float32)))
""".replace("    model.set_train = None\n", "")

# Each line is a mistake.
MISTAKES = """
from sorus import Tensor, nn, ops
x = Tensor([1.0])
ops.softmx(x)
ops.reshape(x, "2")
ops.relu(x, 1)
ops.concat(1)
nn.Dense(2, 3, bias=True)
x.shap
x.reshape(2).asnumpy(1, 2).nothing + x.argmax(axis=0).mising
nn.Conv3D(1, 2, 3)
a, b, c = ops.unique(x)
"""


def stub_of(name):
    """The syntax tree of a module's stub."""
    path = PACKAGE.joinpath(*name.split(".")[1:])
    path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    if not path.is_file():
        pytest.skip("the build that writes stubs was not run")
    return ast.parse(path.read_text(encoding="utf-8"))


def names_in(name):
    """Public names that a module's stub defines or imports, with those of `import *`."""
    found = {}
    for node in stub_of(name).body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            package = name if hasattr(importlib.import_module(name), "__path__") else name.rpartition(".")[0]
            found.update(
                dict.fromkeys(public_names(importlib.import_module("." * node.level + node.module, package)))
            )
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name, node) for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, ast.Assign):
            found.update((target.id, node) for target in node.targets)
    return {key: node for key, node in found.items() if not key.startswith("_")}


def public_names(module):
    """Names that a module gives out: `__all__`, or what `dir` lists without private names and modules."""
    if hasattr(module, "__all__"):
        return set(module.__all__)
    found = {name for name in dir(module) if not name.startswith("_")}
    return {name for name in found if not isinstance(getattr(module, name), types.ModuleType)}


@pytest.mark.parametrize("name", MODULES)
def test_stubs_name_what_modules_have(name):
    stub, module = names_in(name), importlib.import_module(name)
    assert sorted(public_names(module) - set(stub)) == []
    assert [key for key in stub if not hasattr(module, key)] == []


def defined_functions(path):
    """(the function, its node) of every function and constructor that a stub defines and rows do not."""
    relative = path.relative_to(PACKAGE.parent).with_suffix("")
    name = ".".join(relative.parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and inspect.isfunction(getattr(module, node.name)):
            yield getattr(module, node.name), node
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                yield getattr(module, node.name).__init__, method


def test_parameters_are_those_of_the_functions():
    stub_of("sorus")
    checked = 0
    for path in sorted(PACKAGE.rglob("*.pyi")):
        if path.stem == "_core":
            continue
        for function, node in defined_functions(path):
            given = node.args
            named = [a.arg for a in [*given.posonlyargs, *given.args, *given.kwonlyargs]]
            named += [a.arg for a in (given.vararg, given.kwarg) if a]
            wanted = inspect.signature(function, follow_wrapped=False).parameters
            assert set(named) == set(wanted), (path, node.name)
            checked += 1
    assert checked > 300


def test_tensor_has_its_methods():
    from sorus import Tensor

    (stub,) = [n for n in stub_of("sorus._core").body if isinstance(n, ast.ClassDef) and n.name == "Tensor"]
    names = {n.name for n in stub.body if isinstance(n, ast.FunctionDef)}
    names |= {t.id for n in stub.body if isinstance(n, ast.Assign) for t in n.targets}
    assert {n for n in dir(Tensor) if not n.startswith("_")} == {n for n in names if not n.startswith("_")}


def check(tmp_path, program):
    """What mypy says of a program."""
    pytest.importorskip("mypy")
    stub_of("sorus")
    file = tmp_path / "program.py"
    file.write_text(program, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(ROOT / "build" / "mypy"),
        file.name,
    ]
    environment = {"MYPYPATH": str(ROOT / "python"), "PATH": ""}
    return subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_type_checker_accepts_a_program(tmp_path):
    done = check(tmp_path, PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_type_checker_finds_mistakes(tmp_path):
    done = check(tmp_path, MISTAKES)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}
    assert lines == set(range(4, len(MISTAKES.splitlines()) + 1)), done.stdout
