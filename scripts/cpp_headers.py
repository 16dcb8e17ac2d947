"""Reads declarations and their `///` contracts from C++ headers; no compiler needed.

A contract belongs to the declarations that follow it without a blank line or another contract between: a
group. `///<` after a declaration belongs to that one alone. Private members, `detail` namespaces, friends,
deleted functions, forward declarations, specializations, macros, and what has a contract that begins with
`Internal:` are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from cpp_functions import blank

UMBRELLA = "sorus/sorus.h"
_INCLUDE = re.compile(r'^#include "(sorus/[^"]+)"', re.MULTILINE)
_TYPE = re.compile(
    r"^(?:template\s*<.*?>\s*(?:requires\b.*?)?)?(class|struct|enum class|enum)\s+(?:SORUS_API\s+)?(\w+)",
    re.DOTALL,
)
_NAME = re.compile(r"(operator\s*(?:\(\)|\[\]|[^\s\w(]+|[\w:&* ]+?)|~?\w+)\s*\(")
_ALIAS = re.compile(r"^(?:template\s*<.*?>\s*)?using\s+(\w+)\s*=", re.DOTALL)
_MEMBER = re.compile(r"(\w+)\s*(?:=.*|\{.*\})?;$", re.DOTALL)
_NOISE = re.compile(r"\b(?:SORUS_API|SORUS_NOINLINE)\s+|\[\[[^\]]*\]\]\s*")


@dataclass
class Declaration:
    """A declaration without its body; `kind` is "function", "type", "alias" or "value"."""

    kind: str
    name: str
    text: str
    line: int
    note: str = ""
    members: list[Group] = field(default_factory=list)


@dataclass
class Group:
    """Declarations under one contract, which may be empty; `protected` for members that subclasses use."""

    contract: str
    protected: bool = False
    declarations: list[Declaration] = field(default_factory=list)

    @property
    def internal(self) -> bool:
        """Whether the contract says that programs have no business with it."""
        return self.contract.startswith("Internal:")


@dataclass
class Header:
    """A header: what it says of itself before its namespace, and its groups."""

    path: str
    about: str
    groups: list[Group]


def public_headers(root: Path) -> list[str]:
    """The headers that programs see: those of the umbrella, and of umbrellas in it."""
    source = root / "src"
    found: list[str] = []
    for path in included_headers(root, UMBRELLA):
        text = (source / path).read_text(encoding="utf-8")
        inner = _INCLUDE.findall(text)
        found += inner if "namespace" not in text else [path]
    return list(dict.fromkeys(found))


def included_headers(root: Path, path: str) -> list[str]:
    """The headers of the project that a header includes itself."""
    return _INCLUDE.findall((root / "src" / path).read_text(encoding="utf-8"))


def read_header(root: Path, path: str) -> Header:
    """The public declarations of a header."""
    text = (root / "src" / path).read_text(encoding="utf-8")
    reader = _Reader(text)
    groups = reader.scope(0, len(text), access="public")
    return Header(path, reader.about, groups)


def function_contracts(root: Path) -> dict[str, str]:
    """The contract of every function of namespace scope that public headers declare, or the Python binding
    adds, as one paragraph.
    """
    found: dict[str, str] = {}
    binding = [f"../{p.relative_to(root)}" for p in sorted((root / "python/binding").glob("functions_*.cpp"))]
    for path in [*public_headers(root), *binding]:
        for group in read_header(root, path).groups:
            for declaration in group.declarations:
                text = declaration.note or re.sub(r"\s*\n\s*", " ", group.contract)
                if declaration.kind == "function" and text:
                    found.setdefault(declaration.name, text)
    return found


class _Reader:
    """Walks through the text of a header; `_plain` is the text with comments and literals blanked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = blank(text)
        self.about = ""

    def scope(self, begin: int, end: int, access: str) -> list[Group]:
        """The groups between two places of the text, at namespace or class scope; `access` holds at first."""
        groups: list[Group] = []
        contract: list[str] = []
        group: Group | None = None
        place = begin
        while place < end:
            stop = self._text.find("\n", place)
            stop = end if stop < 0 or stop > end else stop
            line = self._text[place:stop].strip()
            following = min(stop + 1, end)
            if not line:
                group, contract = None, []
            elif line.startswith("///") and not line.startswith("///<"):
                if group is not None:
                    group, contract = None, []
                contract.append(line[3:].removeprefix(" "))
            elif label := re.match(r"(public|protected|private):$", line):
                access, group, contract = label[1], None, []
            elif line.startswith(("//", "#")) or not self._plain[place:stop].strip(" ;"):
                pass
            else:
                following = self._declaration_end(place, end)
                inner = self._namespace(place, following)
                if inner is not None:
                    if contract:
                        self.about = "\n".join(contract)
                    name, first, last = inner
                    groups += self.scope(first, last, "public") if name != "detail" else []
                    group, contract = None, []
                elif access != "private" and (made := self._declaration(place, following)):
                    if group is None:
                        group = Group("\n".join(contract), access == "protected")
                        groups += [] if group.internal else [group]
                    group.declarations.append(made)
            place = following
        return groups

    def _declaration_end(self, place: int, end: int) -> int:
        """The place after a declaration and after a comment that follows on its line."""
        depth = 0
        while place < end:
            c = self._plain[place]
            depth += (c in "({[") - (c in ")}]")
            place += 1
            if depth == 0 and c == ";":
                break
            if depth == 0 and c == "}":
                rest = self._plain[place:end].lstrip()[:1]
                if rest not in (";", ",", "{", "(", ")"):
                    break
        newline = self._text.find("\n", place)
        return end if newline < 0 or newline > end else newline + 1

    def _namespace(self, begin: int, end: int) -> tuple[str, int, int] | None:
        """(name, begin, end) of what a namespace holds."""
        head = re.match(r"\s*namespace\s*([\w:]*)\s*\{", self._plain[begin:end])
        if head is None:
            return None
        return head[1], begin + head.end(), begin + self._plain[begin:end].rindex("}")

    def _declaration(self, begin: int, end: int) -> Declaration | None:
        """The public declaration between two places, with the note behind it."""
        made = self._bare_declaration(begin, end)
        note = re.search(r"[;}]\s*///<\s*(.*)\s*$", self._text[begin:end])
        if made is not None and note:
            made.note = note[1].strip()
        return made

    def _bare_declaration(self, begin: int, end: int) -> Declaration | None:
        plain = self._plain[begin:end].strip()
        line = self._text.count("\n", 0, begin) + 1
        if plain.startswith(("friend", "static_assert", "extern template")) or plain.endswith("= delete;"):
            return None
        if alias := _ALIAS.match(plain):
            return Declaration("alias", alias[1], self._cleaned(begin, end), line)
        if kind := _TYPE.match(plain):
            return self._type(kind[1], kind[2], begin, end, line)
        if plain.startswith("using"):
            return None
        depth_zero = self._head(begin, end)
        name = _NAME.search(blank(depth_zero))
        if name and not re.match(r"[^(]*[^=!<>]=[^=]", depth_zero[: name.end()]):
            return Declaration("function", name[1], depth_zero, line)
        text = self._cleaned(begin, end)
        member = _MEMBER.search(text)
        return Declaration("value", member[1], text, line) if member else None

    def _type(self, kind: str, name: str, begin: int, end: int, line: int) -> Declaration | None:
        opening = self._plain.find("{", begin, end)
        if opening < 0 or re.search(rf"\b{name}(?:<|::)", self._plain[begin:opening]):
            return None  # a forward declaration or a specialization
        closing = self._plain.rindex("}", begin, end)
        head = _NOISE.sub("", " ".join(self._text[begin:opening].split()))
        if kind.startswith("enum"):
            body = " ".join(re.sub(r"//.*", "", self._text[opening + 1 : closing]).split())
            return Declaration("type", name, f"{head} {{ {body} }};", line)
        made = Declaration("type", name, head + ";", line)
        made.members = self.scope(opening + 1, closing, "public" if kind == "struct" else "private")
        return made

    def _head(self, begin: int, end: int) -> str:
        """A function without its body and initializers."""
        depth, stop = 0, end
        for place in range(begin, end):
            c = self._plain[place]
            if depth == 0 and (c in ";{" or self._is_initializer(begin, place)):
                stop = place
                break
            depth += (c in "([") - (c in ")]")
        text = re.sub(r"//.*", "", self._text[begin:stop])
        return _NOISE.sub("", " ".join(text.split())).removesuffix("override").strip() + ";"

    def _is_initializer(self, begin: int, place: int) -> bool:
        around = self._plain[max(begin, place - 1) : place + 2]
        return self._plain[place] == ":" and "::" not in around and ")" in self._plain[begin:place]

    def _cleaned(self, begin: int, end: int) -> str:
        """A declaration on one line, without comments."""
        return _NOISE.sub("", " ".join(re.sub(r"//.*", "", self._text[begin:end]).split()))
