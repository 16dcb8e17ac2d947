#!/usr/bin/env python3
"""Proves that the rooms of src/sorus depend on each other one way only.

usage: check_layers.py [ROOT]

Reads the `#include` lines of every C++ file under src/sorus and prints each violation as `file:line: rule`:

* A room includes itself and the rooms below it: the transitive closure of `BELOW`.
* Exceptions that a closure cannot state are in `allowed_by_exception`: kernels read the typed attributes of
  ops, and rewrite rules of the compiler name ops.
* Headers of the project are included by their full path, "sorus/room/file.h". A folder's detail/ is private.
* `sorus/sorus.h` is the umbrella: it includes everything and nothing in src/sorus includes it.
* Some libraries belong to one room (`OWNED_LIBRARIES`).
* No two attribute structs have one name: a program would take either for the other without a word.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from source_files import CPP_SUFFIXES, checkout_files

# room -> the rooms directly below it. insight, armour and federated are products like serving and lite: they
# may stand on anything but another product, and nothing stands on them.
BELOW: dict[str, tuple[str, ...]] = {
    "base": (),
    "core": ("base",),
    "dispatch": ("core",),
    "math": ("base",),
    "ops": ("dispatch", "math"),
    "autograd": ("dispatch",),
    "ir": ("dispatch", "core"),
    "kernels": ("dispatch", "ir", "math"),
    "engine": ("ir", "dispatch"),
    "compiler": ("ir", "dispatch", "formats", "engine"),
    "tuning": ("compiler", "formats"),
    "nn": ("ops", "autograd"),
    "optim": ("nn",),
    "data": ("core", "formats", "math"),
    "formats": ("core", "ir"),
    "train": ("optim", "compiler", "data", "formats"),
    "parallel": ("dispatch", "ir"),
    "serving": ("compiler", "formats"),
    "lite": ("compiler", "formats"),
    "insight": ("train", "parallel"),
    "armour": ("train", "parallel"),
    "federated": ("train", "parallel"),
}

UMBRELLA = PurePosixPath("sorus.h")
ATTRIBUTES = re.compile(r"^struct (\w+Attrs) \{", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')

# library header (pattern over the included path) -> (rooms that may include it, rule in words)
OWNED_LIBRARIES: tuple[tuple[re.Pattern[str], tuple[str, ...], str], ...] = (
    (re.compile(r"hwy/"), ("kernels",), "only kernels may use Highway"),
    (re.compile(r"([a-z]mm|imm|x86)intrin\.h|arm_neon\.h"), ("kernels",), "only kernels may use intrinsics"),
    (re.compile(r"Eigen/"), ("kernels",), "only kernels may use Eigen"),
    (re.compile(r"(oneapi/)?dnnl"), ("kernels",), "only kernels may use oneDNN"),
    (re.compile(r"sqlite3"), ("data",), "only data may use SQLite"),
    (re.compile(r"(jpeglib|jerror)\.h"), ("data", "formats"), "only data and formats may use libjpeg"),
    (re.compile(r"png\.h"), ("data", "formats"), "only data and formats may use libpng"),
    (re.compile(r"(unicode/|sentencepiece_)"), ("data",), "only data may use ICU and SentencePiece"),
    (re.compile(r"(Python\.h$|nanobind/|pybind11/)"), (), "nothing in src/sorus may use Python"),
)


@dataclass(frozen=True)
class Include:
    """One include line: the file, relative to src/sorus, and the path as it is written."""

    source: PurePosixPath
    line: int
    target: str


def closure(below: dict[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """For each room all rooms it may include, itself excepted. Raises ValueError if the table has a cycle."""
    done: dict[str, frozenset[str]] = {}

    def visit(room: str, path: tuple[str, ...]) -> frozenset[str]:
        if room in path:
            raise ValueError("cycle in the table of rooms: " + " < ".join((*path, room)))
        if room not in done:
            reached = {lower for lower in below[room]}
            for lower in below[room]:
                reached |= visit(lower, (*path, room))
            done[room] = frozenset(reached)
        return done[room]

    for room in below:
        visit(room, ())
    return done


def allowed_by_exception(source: PurePosixPath, target: PurePosixPath) -> bool:
    """Edges between files that the table of rooms does not grant."""
    attributes = len(target.parts) == 3 and target.parts[0] == "ops" and target.name == "attributes.h"
    if source.parts[0] == "kernels" and attributes:
        return True
    return source.parts[:2] == ("compiler", "passes") and target.parts[0] == "ops"


def explain_edge(source_room: str, target_room: str) -> str:
    """The rule that an include of `target_room` from `source_room` breaks, in words."""
    if target_room == "python":
        return "nothing includes python"
    if source_room == "ops" and target_room == "kernels":
        return "ops never includes kernels: they meet in the op table"
    if source_room == "autograd" and target_room == "ops":
        return "autograd never names an op"
    if source_room == "kernels" and target_room == "ops":
        return "kernels may include of ops only ops/<family>/attributes.h"
    if source_room == "compiler" and target_room == "ops":
        return "the compiler names ops only in compiler/passes"
    return f"{source_room} may not include {target_room}"


def violation(include: Include, reach: dict[str, frozenset[str]], is_beside: bool) -> str | None:
    """The rule that an include breaks, or None. `is_beside`: the path names a file beside the includer."""
    room = include.source.parts[0]
    if not include.target.startswith("sorus/"):
        if is_beside or include.target.startswith("."):
            return f'headers are included by full path, "sorus/room/file.h": got "{include.target}"'
        for pattern, owners, rule in OWNED_LIBRARIES:
            if pattern.match(include.target) and room not in owners and include.source != UMBRELLA:
                return f"{rule}: got {include.target}"
        return None
    target = PurePosixPath(include.target).relative_to("sorus")
    if include.source == UMBRELLA:
        return None
    if target == UMBRELLA:
        return "only users include the umbrella sorus/sorus.h"
    if len(target.parts) < 2 or (target.parts[0] not in reach and target.parts[0] != "python"):
        return f"unknown room: got {include.target}"
    if "detail" in target.parts:
        owner = target.parts[: target.parts.index("detail")]
        if include.source.parts[: len(owner)] != owner:
            return f"detail/ is private to {'/'.join(owner)}: got {include.target}"
    lower = target.parts[0]
    if lower == room or lower in reach[room] or allowed_by_exception(include.source, target):
        return None
    return f"{explain_edge(room, lower)}: got {include.target}"


def includes_of(text: str, source: PurePosixPath) -> Iterator[Include]:
    """The include lines of a file."""
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield Include(source, number, match.group(1) or match.group(2))


def check_tree(root: Path) -> list[str]:
    """All violations under root/src/sorus, as `file:line: rule`."""
    base = root / "src" / "sorus"
    reach = closure(BELOW)
    problems = []
    attributes: dict[str, Path] = {}
    for name in checkout_files(root):
        if name.suffix not in CPP_SUFFIXES or name.parts[:2] != ("src", "sorus"):
            continue
        source = PurePosixPath(*name.parts[2:])
        if source != UMBRELLA and (len(source.parts) < 2 or source.parts[0] not in reach):
            problems.append(f"{name}:1: unknown room: add it to the table in scripts/check_layers.py")
            continue
        text = (root / name).read_text(encoding="utf-8")
        for struct in ATTRIBUTES.findall(text):
            if attributes.setdefault(struct, name) != name:
                problems.append(f"{name}:1: {struct} is also in {attributes[struct]}: give it its own name")
        for include in includes_of(text, source):
            beside = (base / source.parent / include.target).is_file()
            rule = violation(include, reach, beside)
            if rule:
                problems.append(f"{name}:{include.line}: {rule}")
    return problems


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    problems = check_tree(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
