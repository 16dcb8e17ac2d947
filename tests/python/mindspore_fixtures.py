"""What records and replays the fixtures of tests/fixtures/mindspore/ops have in common.

A case is an expression such as `ops.sum(f234, dim=1, keepdim=True)` or statements that end in one, such as
`x = f23; x[0] = 1; x`. It names modules (ms, ops, mint, nn, np), Tensor and the inputs of inputs.json, and is
evaluated the same way for the genuine MindSpore (bench/peers/record_ops.py) and for Sorus
(test_mindspore_fixtures.py).

An outcome is what the case gave, as JSON: {"tensor": [dtype, shape, flat values]}, {"tuple": [outcomes]},
{"list": [outcomes]}, {"array": [dtype, shape, flat values]} for NumPy, {"dtype": name}, {"value": plain
Python value}, {"object": class name} for anything else, or {"error": exception class, "text": first telling
line}. Floats that JSON lacks are the strings "nan", "inf" and "-inf".
"""

import ast
import json
import math
import pathlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/mindspore"
MODULES = ("ms", "ops", "mint", "nn")
_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "bool",
    ast.In: "contains",
}


def load_families() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and content of each recorded family of cases."""
    for path in sorted((FIXTURES / "ops").glob("*.json")):
        if path.name != "inputs.json":
            yield path.stem, json.loads(path.read_text())


def _load_reasons(name: str) -> dict[str, str]:
    lines = (FIXTURES / name).read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def load_deviations() -> dict[str, str]:
    """The reasons of deviations.txt by case."""
    return _load_reasons("deviations.txt")


def load_missing_names() -> dict[str, str]:
    """The reasons of missing_names.txt by name."""
    return _load_reasons("missing_names.txt")


def load_inputs() -> dict[str, list]:
    """The named inputs as [dtype, shape, flat values]."""
    return json.loads((FIXTURES / "ops/inputs.json").read_text())


def array_of(spec: list) -> np.ndarray:
    """The NumPy array of [dtype, shape, flat values]; bfloat16, which NumPy lacks, becomes float32."""
    dtype, shape, values = spec
    numpy_dtype = np.dtype("float32" if dtype == "bfloat16" else dtype)
    if numpy_dtype.kind == "f":
        values = [float(value) for value in values]
    return np.array(values, numpy_dtype).reshape(shape)


def _plain(value: Any) -> Any:
    """A number as JSON can hold it; floats in as few digits as give their own bits back."""
    if isinstance(value, np.floating):
        value = float(str(value))
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex) or isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def spec_of(array: np.ndarray, dtype: str | None = None) -> list:
    """The inverse of array_of."""
    return [dtype or str(array.dtype), list(array.shape), [_plain(value) for value in array.ravel()]]


class Evaluator:
    """Evaluates cases with one framework: the module `mindspore`, or one that has its names."""

    def __init__(self, framework: ModuleType, inputs: dict[str, list]):
        self.framework = framework
        self.inputs = inputs
        self.modules = {name: getattr(framework, name, None) for name in ("ops", "mint", "nn", "Tensor")}
        self.modules |= {"ms": framework, "np": np}

    def dtype(self, name: str) -> Any:
        """The framework's dtype object with this name."""
        return getattr(self.framework, "bool_" if name == "bool" else name)

    def run(self, case: str) -> dict[str, Any]:
        """The outcome of a case. Whatever it raises is its outcome."""
        tree = ast.parse(case)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        space = dict(self.modules, __name__="__main__")
        for name in names & self.inputs.keys():
            space[name] = self.framework.Tensor(array_of(self.inputs[name]), self.dtype(self.inputs[name][0]))
        *statements, last = tree.body
        try:
            exec(compile(ast.Module(statements, []), case, "exec"), space)  # noqa: S102
            return self.encode(eval(compile(ast.Expression(last.value), case, "eval"), space))  # noqa: S307
        except Exception as error:  # noqa: BLE001
            lines = (
                line for line in str(error).splitlines() if line.strip(" -") and not line.startswith("- ")
            )
            return {"error": type(error).__name__, "text": next(lines, "")[:160]}

    def encode(self, value: Any) -> dict[str, Any]:
        """A result as an outcome."""
        if isinstance(value, self.framework.Tensor):
            dtype = str(value.dtype).lower()
            array = (value.astype(self.framework.float32) if dtype == "bfloat16" else value).asnumpy()
            return {"tensor": spec_of(array, dtype)}
        if isinstance(value, (tuple, list)):
            return {"list" if isinstance(value, list) else "tuple": [self.encode(item) for item in value]}
        if isinstance(value, np.ndarray):
            return {"array": spec_of(value)}
        if isinstance(value, (bool, int, float, str, np.generic)) or value is None:
            return {"value": _plain(value)}
        if isinstance(
            value, tuple(type(self.dtype(name)) for name in ("bool", "int32", "uint8", "float32", "bfloat16"))
        ):
            return {"dtype": str(value).lower()}
        return {"object": type(value).__name__}

    def spelling(self, case: str) -> str:
        """The public name that a case is about: `mindspore.ops.sum`, `Tensor.sum`, `Tensor.__add__`."""
        *statements, last = ast.parse(case).body
        return _spelling(statements[-1] if statements else last.value)

    def has(self, spelling: str) -> bool:
        """Whether the framework has this name."""
        head, *rest = spelling.split(".")
        if head == "Tensor":
            return hasattr(self.framework.Tensor, rest[0]) or hasattr(self.framework.Parameter, rest[0])
        place = self.framework
        for name in rest:
            if not hasattr(place, name):
                return False
            place = getattr(place, name)
        return True


def _spelling(node: ast.AST) -> str:
    """The public name that a node of a case uses first."""
    if isinstance(node, ast.Assign):
        if isinstance(node.targets[0], ast.Subscript):
            return "Tensor.__setitem__"
        return _spelling(node.value)
    if isinstance(node, ast.AugAssign):
        return f"Tensor.__i{_OPERATORS[type(node.op)]}__"
    if isinstance(node, ast.Expr):
        return _spelling(node.value)
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return f"Tensor.__{_OPERATORS[type(node.op)]}__"
    if isinstance(node, ast.Compare):
        return f"Tensor.__{_OPERATORS[type(node.ops[0])]}__"
    if isinstance(node, ast.Subscript):
        return _spelling(node.value) if isinstance(node.value, ast.Call) else "Tensor.__getitem__"
    if isinstance(node, ast.Call):
        return _spelling(node.func)
    if isinstance(node, ast.Attribute):
        names = [node.attr]
        while isinstance(node.value, ast.Attribute):
            node = node.value
            names.insert(0, node.attr)
        root = node.value.id if isinstance(node.value, ast.Name) else ""
        if root in MODULES:
            return ".".join(["mindspore"] + ([] if root == "ms" else [root]) + names)
        return (
            _spelling(node.value)
            if isinstance(node.value, ast.Call) and names != ["dtype"]
            else f"Tensor.{names[0]}"
        )
    if isinstance(node, ast.BoolOp):
        return "Tensor.__bool__"
    if isinstance(node, ast.Name):
        return {
            "abs": "Tensor.__abs__",
            "bool": "Tensor.__bool__",
            "int": "Tensor.__int__",
            "float": "Tensor.__float__",
            "len": "Tensor.__len__",
        }.get(node.id, "mindspore.Tensor")
    return "mindspore.Tensor"
