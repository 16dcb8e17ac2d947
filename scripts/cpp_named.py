"""Finds the types that public declarations name and headers outside the umbrella declare: programs meet them
too, as what a function takes or gives (`TensorList`, say), so the reference lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cpp_headers import Declaration, Group, Header, included_headers, public_headers, read_header

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_FORWARD = re.compile(r"^(?:class|struct) (\w+);", re.MULTILINE)


def other_headers(root: Path) -> list[str]:
    """Installed headers that are neither public themselves nor private to a folder."""
    public = set(public_headers(root))
    found = [path.relative_to(root / "src").as_posix() for path in (root / "src/sorus").rglob("*.h")]
    return sorted(p for p in found if p not in public and "detail" not in p.split("/")[:-1])


def headers_of_named_types(root: Path) -> list[Header]:
    """Headers outside the umbrella, with those groups alone that declare a type which a public declaration
    names, directly or through other such types.
    """
    others = {path: read_header(root, path) for path in other_headers(root)}
    declared: dict[str, list[tuple[str, Group]]] = {}
    for path, header in others.items():
        for group in header.groups:
            for name in _types(group):
                declared.setdefault(name, []).append((path, group))
    means = cache(lambda path: _Reach(root, path))
    taken: dict[str, list[Group]] = {}
    waiting = [(path, group) for path in public_headers(root) for group in read_header(root, path).groups]
    while waiting:
        path, group = waiting.pop()
        for name in _words(group.declarations):
            for place, found in declared.get(name, ()):
                groups = taken.setdefault(place, []) if means(path).has(place, name) else [found]
                if found not in groups:
                    groups.append(found)
                    waiting.append((place, found))
    return [
        Header(path, "", [group for group in header.groups if group in taken[path]])
        for path, header in others.items()
        if path in taken
    ]


class _Reach:
    """A header and all that it includes, directly or not: of types with one name, the ones that it means are
    declared there, in full or forward.
    """

    def __init__(self, root: Path, path: str) -> None:
        self._texts: dict[str, str] = {}
        waiting = [path]
        while waiting:
            place = waiting.pop()
            if place not in self._texts and (root / "src" / place).is_file():
                self._texts[place] = (root / "src" / place).read_text(encoding="utf-8")
                waiting += included_headers(root, place)
        self._forward = {name for text in self._texts.values() for name in _FORWARD.findall(text)}

    def has(self, place: str, name: str) -> bool:
        """Whether `name` means the type of that name in the header `place`."""
        return place in self._texts or name in self._forward


def _types(group: Group) -> Iterator[str]:
    """The types and aliases that a group declares."""
    return (d.name for d in group.declarations if d.kind in ("type", "alias"))


def _words(declarations: list[Declaration]) -> set[str]:
    """All names in declarations and their members."""
    found: set[str] = set()
    for declaration in declarations:
        found.update(_WORD.findall(declaration.text))
        for member in declaration.members:
            found |= _words(member.declarations)
    return found
