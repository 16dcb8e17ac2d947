"""The Python package as its tables and sources describe it: what public names are, what they accept and give.

`load` imports the package, with a compiled part that may lie elsewhere; the rest reads rows and syntax trees.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from python_types import Inference, optional

# Modules whose names are built from rows when first asked for, in their table `_functions`.
ROW_MODULES = ("ops", "mint", "mint.nn.functional", "numpy")


@dataclass
class Parameter:
    """A parameter: `mark` is "", "*" or "**"; `default` is text, None when it is required."""

    name: str
    annotation: str
    default: str | None = None
    mark: str = ""
    keyword_only: bool = False


@dataclass
class Signature:
    """One way to call a name; `constructor` holds the parameters of a primitive's constructor."""

    parameters: list[Parameter]
    result: str
    constructor: list[Parameter] = field(default_factory=list)


@dataclass
class RowName:
    """A public name that rows define, its overloads and what it does."""

    name: str
    signatures: list[Signature]
    doc: str


def load(package: Path, core: Path | None = None):  # noqa: ANN201: the module object
    """Imports `sorus` from the folder `package`, its compiled part from the file `core` if given."""
    if core is not None:
        spec = importlib.util.spec_from_file_location("sorus._core", core)
        module = importlib.util.module_from_spec(spec)
        sys.modules["sorus._core"] = module
        spec.loader.exec_module(module)
    sys.path.insert(0, str(package.parent))
    return importlib.import_module("sorus")


def show(parameters: list[Parameter], types: bool = True) -> str:
    """Text of a list of parameters."""
    parts = []
    star = any(p.mark == "*" for p in parameters)
    for p in parameters:
        if p.keyword_only and not star:
            parts.append("*")
            star = True
        text = p.mark + p.name + (f": {p.annotation}" if types else "")
        if p.default is not None:
            text += f" = {p.default}" if types else f"={p.default}"
        parts.append(text)
    return ", ".join(parts)


def parameters_of(arguments: ast.arguments, annotate) -> list[Parameter]:  # noqa: ANN001
    """Parameters of a Python function; `annotate(argument, default)` gives the annotations."""
    made = []
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    for argument, default in zip(positional, [*defaults, *arguments.defaults]):
        made.append(_parameter(argument, default, annotate))
    if arguments.vararg:
        made.append(Parameter(arguments.vararg.arg, annotate(arguments.vararg, None), mark="*"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        made.append(_parameter(argument, default, annotate, keyword_only=True))
    if arguments.kwarg:
        made.append(Parameter(arguments.kwarg.arg, annotate(arguments.kwarg, None), mark="**"))
    return made


def _parameter(
    argument: ast.arg, default: ast.expr | None, annotate, keyword_only: bool = False
) -> Parameter:  # noqa: ANN001
    text = None if default is None else ast.unparse(default)
    return Parameter(argument.arg, annotate(argument, default), text, keyword_only=keyword_only)


class Api:
    """Rows of the package, with types. `contracts` are texts about library functions that are no ops."""

    def __init__(self, package: Path, core: Path | None = None, contracts: dict[str, str] | None = None):
        self._package = package
        self._core = getattr(load(package, core), "_core", None) or sys.modules["sorus._core"]
        self._contracts = contracts or {}
        self._helpers = Inference.helpers_of(package / "_composites")
        self.inference = Inference(self._library, self._helpers)

    def _library(self, name: str) -> tuple[list[str], str] | None:
        return self._core.types_of(name)

    def functions(self, module: str) -> list[RowName]:
        """The functions of a module of ROW_MODULES."""
        return self._row_names(importlib.import_module("sorus." + module)._functions)

    def methods(self) -> list[RowName]:
        """The methods of Tensor."""
        return self._row_names(importlib.import_module("sorus.common.tensor")._methods)

    def primitives(self) -> list[RowName]:
        """The primitives of `sorus.ops`."""
        return self._row_names(importlib.import_module("sorus.ops.primitive").table)

    def _row_names(self, table) -> list[RowName]:  # noqa: ANN001: the package's class
        return [self._row_name(name, table.lines(name)) for name in sorted(table.names())]

    def _row_name(self, name: str, rows: list[str]) -> RowName:
        docs = [self._doc(ast.parse(row.split(" -> ")[1], mode="eval").body) for row in rows]
        return RowName(name, [self._signature(row) for row in rows], next(filter(None, docs), ""))

    def _signature(self, row: str) -> Signature:
        left, right = row.split(" -> ")
        body = self._marked(ast.parse(right, mode="eval").body)
        inner = left[left.index("(") + 1 : left.rindex(")")]
        constructor, _, call = inner.partition(")(") if ")(" in left else ("", "", inner)

        def annotate(argument: ast.arg, default: ast.expr | None) -> str:
            if isinstance(default, ast.Name):
                return "DTypeLike"
            found = self.inference.parameter([body], argument.arg, default, ("bool", "float", "str"))
            # None, and what is not given, take the function's own default.
            return optional(found) if default is not None and found == "Tensor" else found

        lists = [
            parameters_of(ast.parse(f"lambda {text}: 0", mode="eval").body.args, annotate)
            for text in (call, constructor)
        ]
        names = {p.name: p.annotation for p in [*lists[0], *lists[1]]}
        return Signature(lists[0], self.inference.expression(body, names), lists[1])

    def _marked(self, node: ast.expr) -> ast.expr:
        """A row's call with the library's functions as `F.name`: they go before Python helpers."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                if self._core.types_of(call.func.id) is not None:
                    call.func = ast.Attribute(ast.Name("F", ast.Load()), call.func.id, ast.Load())
        return node

    def _doc(self, node: ast.expr) -> str:
        """What a row's call does: the words of its function, or the formula where calls are nested."""
        while isinstance(node, ast.Subscript):
            node = node.value
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return ""
        # Conversion to a dtype around or before a call changes nothing of what it does, nor where it is kept.
        if node.func.id in ("cast_if", "in_place", "written"):
            inner = next((a for a in node.args if isinstance(a, ast.Call)), None)
            if inner is not None:
                return self._doc(inner)
        nested = [a for a in node.args if isinstance(a, ast.Call) and a.func.id != "cast_if"]
        if nested:
            return f"`{ast.unparse(node)}`"
        return self.doc_of(node.func.id)

    def doc_of(self, name: str) -> str:
        """What a function of the library or a Python helper does, in words."""
        if self._core.types_of(name) is not None:
            return self._core.op_doc(name) or self._contracts.get(name, "")
        function = self._helpers.get(name)
        return re.sub(r"\s*\n\s*", " ", ast.get_docstring(function) or "") if function else ""
