#!/usr/bin/env python3
"""Checks the length limits: files 800 lines, functions 80 lines, functions in src/sorus/kernels 120 lines.

usage: check_sizes.py [ROOT]

Prints each excess as `file:line: rule`. scripts/size_exceptions.txt lists exceptions, a line each: the path,
or `path:function`, then the reason; a line that nothing needs any more is an error too. Generated files,
which say so on line one, are exempt. A function's length runs from the first line of its head to its closing
brace; nested functions and lambdas count in the function around them; in Python the docstring does not
count.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from cpp_functions import find_functions
from source_files import CPP_SUFFIXES, checkout_files, is_generated

FILE_LIMIT = 800
FUNCTION_LIMIT = 80
KERNEL_LIMIT = 120
EXCEPTIONS = Path("scripts/size_exceptions.txt")


@dataclass(frozen=True)
class Excess:
    """Something longer than its limit; `key` is what an exception names."""

    key: str
    line: int
    text: str


def python_functions(text: str) -> list[tuple[str, int, int]]:
    """(name, first line, length) of every outermost function or method of a Python file."""
    found: list[tuple[str, int, int]] = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                length = (child.end_lineno or child.lineno) - first + 1
                if ast.get_docstring(child, clean=False) is not None:
                    docstring = child.body[0]
                    length -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
                found.append((child.name, child.lineno, length))
            else:
                visit(child)

    visit(ast.parse(text))
    return found


def excesses_of(name: Path, text: str) -> list[Excess]:
    """What in one file is longer than allowed."""
    found = []
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines > FILE_LIMIT:
        found.append(Excess(name.as_posix(), 1, f"file has {lines} lines, the limit is {FILE_LIMIT}"))
    limit = KERNEL_LIMIT if name.parts[:3] == ("src", "sorus", "kernels") else FUNCTION_LIMIT
    if name.suffix == ".py":
        functions = python_functions(text)
    else:
        functions = [(function.name, function.line, function.length) for function in find_functions(text)]
    for function, line, length in functions:
        if length > limit:
            key = f"{name.as_posix()}:{function}"
            found.append(Excess(key, line, f"function {function} has {length} lines, the limit is {limit}"))
    return found


def read_exceptions(root: Path) -> tuple[dict[str, int], list[str]]:
    """The listed keys with their lines, and complaints about lines without a reason."""
    keys: dict[str, int] = {}
    problems = []
    path = root / EXCEPTIONS
    if path.is_file():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            key, _, reason = line.strip().partition(" ")
            keys[key] = number
            if not re.search(r"\w", reason):
                problems.append(f"{EXCEPTIONS}:{number}: exception without a reason: {key}")
    return keys, problems


def check_tree(root: Path) -> list[str]:
    """All problems of a checkout, as `file:line: rule`."""
    exceptions, problems = read_exceptions(root)
    used = set()
    for name in checkout_files(root):
        if name.suffix != ".py" and name.suffix not in CPP_SUFFIXES:
            continue
        text = (root / name).read_text(encoding="utf-8")
        if is_generated(text):
            continue
        try:
            excesses = excesses_of(name, text)
        except SyntaxError as error:
            problems.append(f"{name}:{error.lineno}: not valid Python: {error.msg}")
            continue
        for excess in excesses:
            if excess.key in exceptions:
                used.add(excess.key)
            else:
                problems.append(f"{name}:{excess.line}: {excess.text}")
    for key, number in exceptions.items():
        if key not in used:
            problems.append(f"{EXCEPTIONS}:{number}: exception that nothing needs: {key}")
    return problems


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    problems = check_tree(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
