"""Infers the types of the Python package's functions: from what the binding says of the C++ functions behind
them, from the bodies of Python functions over those, and from defaults.

Annotations are text. `Tensor` is the class; `TensorLike` a tensor or what promotes to one; `Ints` an int or
several; `Number`, `DTypeLike` likewise. What cannot be inferred is `Any`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Union

KINDS = {
    "tensor": "Tensor",
    "weak tensor": "TensorLike",
    "tensors": "Tensors",
    "weak tensors": "Tensors",
    "number": "Number",
    "bool": "bool",
    "int": "int",
    "float": "float",
    "ints": "Ints",
    "dtype": "DTypeLike",
    "string": "str",
    "any": "Any",
}
TENSOR_ATTRIBUTES = ("shape", "ndim", "dtype", "astype", "reshape", "asnumpy", "size")
TESTS = ("isinstance", "callable", "hasattr", "type")

# library function -> (kinds of its parameters, type of its result), None for an unknown name
Library = Callable[[str], "tuple[list[str], str] | None"]
Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


def union(types: Iterable[str]) -> str:
    """One annotation for several: themselves joined, or Any when one is."""
    found = list(dict.fromkeys(types))
    if not found or "Any" in found:
        return "Any"
    if {"Tensor", "TensorLike"} <= set(found):
        found.remove("Tensor")
    return " | ".join(found)


def optional(annotation: str) -> str:
    """The annotation with None."""
    return annotation if annotation in ("Any", "None") or "None" in annotation else f"{annotation} | None"


def type_of_constant(node: ast.expr) -> str | None:
    """The type that a default suggests; None when it says nothing."""
    if isinstance(node, ast.UnaryOp):
        return type_of_constant(node.operand)
    if isinstance(node, ast.Constant) and node.value is not None and node.value is not Ellipsis:
        return type(node.value).__name__
    if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        parts = {type_of_constant(e) for e in node.elts}
        if parts == {"int"}:
            return "Ints"
        return "Sequence[float]" if parts <= {"int", "float"} else None
    return None


class Inference:
    """Types of expressions over a library and Python helpers known by name."""

    def __init__(self, library: Library, helpers: dict[str, Function]) -> None:
        self._library = library
        self._helpers = helpers
        self._busy: set[str] = set()

    @staticmethod
    def helpers_of(folder: Path) -> dict[str, Function]:
        """The functions that the modules of a folder define."""
        found: dict[str, Function] = {}
        for path in sorted(folder.glob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef):
                    found[node.name] = node
        return found

    # ------------------------------------------------------------------------------------------- parameters

    def parameter(
        self, body: list[ast.AST], name: str, default: ast.expr | None, trusted: tuple[str, ...] = ("bool",)
    ) -> str:
        """What a parameter of that name accepts, by its uses in `body` and by a default of a trusted type."""
        evidence = list(self._uses(body, name))
        none = isinstance(default, ast.Constant) and default.value is None
        annotation = union(evidence)
        if default is not None and not evidence and type_of_constant(default) in trusted:
            annotation = type_of_constant(default) or "Any"
        if annotation == "int" and default is not None and type_of_constant(default) == "float":
            annotation = "float"
        return optional(annotation) if none else annotation

    def _uses(self, body: list[ast.AST], name: str) -> Iterable[str]:
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Call):
                    yield from self._uses_in_call(node, name)
                elif isinstance(node, ast.Attribute) and node.attr in TENSOR_ATTRIBUTES:
                    if isinstance(node.value, ast.Name) and node.value.id == name:
                        yield "Tensor"

    def _uses_in_call(self, call: ast.Call, name: str) -> Iterable[str]:
        own, target = self._target(call)
        for place, argument in enumerate(call.args):
            if not isinstance(argument, ast.Name) or argument.id != name:
                continue
            if target in TESTS:
                yield "Any"
            elif target == "_is_int":
                yield "Ints"
            elif own:
                yield from self._accepted_by_helper(target, place)
            elif (known := self._library(target)) and place < len(known[0]):
                yield KINDS[known[0][place]]

    def _accepted_by_helper(self, target: str, place: int) -> Iterable[str]:
        """What parameter `place` of a Python helper accepts, if anything is known of it."""
        if target in self._helpers and target not in self._busy:
            function = self._helpers[target]
            arguments = [*function.args.posonlyargs, *function.args.args]
            if place < len(arguments) and (said := arguments[place].annotation) is not None:
                yield ast.unparse(said)
            elif place < len(arguments):
                self._busy.add(target)
                found = self.parameter(list(function.body), arguments[place].arg, None)
                self._busy.discard(target)
                if found != "Any" or self._tested(function, arguments[place].arg):
                    yield found

    @staticmethod
    def _tested(function: Function, name: str) -> bool:
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        return any(
            isinstance(c.func, ast.Name) and c.func.id in TESTS and c.args and ast.unparse(c.args[0]) == name
            for c in calls
        )

    @staticmethod
    def _target(call: ast.Call) -> tuple[bool, str]:
        """What is called: `f(...)` gives (True, "f"), a library function `F.f(...)` (False, "f")."""
        function = call.func.body if isinstance(call.func, ast.IfExp) else call.func
        if isinstance(function, ast.Name):
            return True, function.id
        if isinstance(function, ast.Attribute) and ast.unparse(function.value) == "F":
            return False, function.attr
        return True, ""

    # ---------------------------------------------------------------------------------------------- results

    def result(self, function: Function, parameters: dict[str, str]) -> str:
        """The type of what a function returns."""
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own_nodes(function)):
            return "Iterator[Any]"
        returns = [n for n in _own_nodes(function) if isinstance(n, ast.Return)]
        values = [r.value for r in returns if r.value is not None]
        if not values:
            return "None" if not _only_raises(function) else "Any"
        names = dict(parameters)
        for node in _own_nodes(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                for name, found in self._assigned(node.targets[0], node.value, names):
                    known = names.get(name, found)
                    names[name] = found if found == known else "Any"
        return union(self.expression(value, names) for value in values)

    def _assigned(
        self, target: ast.expr, value: ast.expr, names: dict[str, str]
    ) -> Iterable[tuple[str, str]]:
        """(name, type) of what an assignment binds."""
        if isinstance(target, ast.Name):
            yield target.id, self.expression(value, names)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for part, item in zip(target.elts, value.elts):
                yield from self._assigned(part, item, names)
        elif isinstance(target, ast.Tuple):
            part = "Tensor" if _all_tensors(self.expression(value, names)) else "Any"
            yield from ((item.id, part) for item in target.elts if isinstance(item, ast.Name))

    def expression(self, node: ast.expr, names: dict[str, str]) -> str:
        """The type of an expression in which some names have types."""
        if isinstance(node, ast.Name):
            return {"Tensor": "Tensor"}.get(names.get(node.id, ""), "Any")
        if isinstance(node, ast.Constant):
            return "None" if node.value is None else type_of_constant(node) or "Any"
        if isinstance(node, ast.IfExp):
            return union([self.expression(node.body, names), self.expression(node.orelse, names)])
        if isinstance(node, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
            parts = [self.expression(e, names) for e in node.elts]
            return f"tuple[{', '.join(parts)}]" if parts else "tuple[()]"
        if isinstance(node, ast.BinOp):
            sides = [self.expression(node.left, names), self.expression(node.right, names)]
            return "Tensor" if "Tensor" in sides else "Any"
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return "Tensor" if self.expression(node.operand, names) == "Tensor" else "Any"
        if isinstance(node, ast.Subscript):
            inner = self.expression(node.value, names)
            return "Tensor" if inner == "Tensor" or _all_tensors(inner) else "Any"
        if isinstance(node, ast.Call):
            return self._called(node, names)
        return "Any"

    def _called(self, call: ast.Call, names: dict[str, str]) -> str:
        own, target = self._target(call)
        if own and target in ("Tensor", "Parameter", "bool", "int", "float", "str"):
            return target
        if own and target in self._helpers:
            return self.helper_result(target)
        known = None if own else self._library(target)
        if known is not None:
            return known[1]
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("astype", "reshape"):
            return "Tensor" if self.expression(call.func.value, names) == "Tensor" else "Any"
        return "Any"

    def helper_result(self, name: str) -> str:
        """The type of what a Python helper returns."""
        if name in self._busy:
            return "Any"
        function = self._helpers[name]
        if function.returns is not None:
            return ast.unparse(function.returns)
        self._busy.add(name)
        parameters = {
            a.arg: ast.unparse(a.annotation)
            if a.annotation is not None
            else self.parameter(list(function.body), a.arg, None)
            for a in [*function.args.posonlyargs, *function.args.args]
        }
        found = self.result(function, parameters)
        self._busy.discard(name)
        return found


def _all_tensors(annotation: str) -> bool:
    inside = annotation.removeprefix("tuple[").removesuffix("]")
    return annotation.startswith("tuple[") and set(inside.split(", ")) <= {"Tensor", "..."}


def _own_nodes(function: Function) -> Iterable[ast.AST]:
    """Nodes of a function without those of functions inside, in order of the text."""
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def _only_raises(function: Function) -> bool:
    """True when all that a function does, beside its docstring, is to raise."""
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return bool(body) and isinstance(body[-1], ast.Raise)
