"""Reads the project's Markdown pages: which there are, their links and headings, and their code examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_INLINE_CODE = re.compile(r"(`+)(?:(?!\1).)*\1")
_LINK = re.compile(r"\[[^\[\]]*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\))?)>?(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_EXAMPLE = re.compile(r"^\s*//\s*example:\s*(\w+)(?P<more>,\s*continued)?\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced code block: the words after the fence, the fence's line (from 1), the code without indent."""

    info: tuple[str, ...]
    line: int
    code: str


def pages(root: Path) -> list[Path]:
    """README.md and every Markdown page under docs/, sorted."""
    found = sorted((root / "docs").rglob("*.md"))
    readme = root / "README.md"
    return [readme, *found] if readme.is_file() else found


def split(text: str) -> tuple[list[tuple[int, str]], list[Block]]:
    """The lines of prose with their numbers, and the fenced blocks, of a page."""
    prose: list[tuple[int, str]] = []
    blocks: list[Block] = []
    opening: re.Match[str] | None = None
    begin = 0
    code: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if opening is None:
            if fence:
                opening, begin, code = fence, number, []
            else:
                prose.append((number, line))
        elif fence and fence["mark"].startswith(opening["mark"]) and not fence["info"]:
            blocks.append(Block(tuple(opening["info"].split()), begin, "\n".join(code) + "\n"))
            opening = None
        else:
            indent = len(opening["indent"])
            code.append(line[indent:] if not line[:indent].strip() else line)
    if opening is not None:
        blocks.append(Block(tuple(opening["info"].split()), begin, "\n".join(code) + "\n"))
    return prose, blocks


def links(text: str) -> Iterator[tuple[int, str]]:
    """(line, target) of every link and reference in a page's prose."""
    for number, line in split(text)[0]:
        plain = _INLINE_CODE.sub("", line)
        for match in _LINK.finditer(plain):
            yield number, match.group(1)
        reference = _REFERENCE.match(plain)
        if reference:
            yield number, reference.group(1)


def anchors(text: str) -> set[str]:
    """The names that `#name` can point to: headings in lower case, punctuation dropped, spaces as hyphens."""
    names: set[str] = set()
    for _, line in split(text)[0]:
        heading = _HEADING.match(line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            base = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            name, count = base, 0
            while name in names:
                count += 1
                name = f"{base}-{count}"
            names.add(name)
    return names


def python_script(text: str) -> str:
    """A page's ```python blocks as one script; other lines are blank, so that line numbers are the page's."""
    lines = [""] * (text.count("\n") + 1)
    for block in split(text)[1]:
        if block.info[:1] == ("python",) and "notest" not in block.info:
            for offset, line in enumerate(block.code.splitlines()):
                lines[block.line + offset] = line
    return "\n".join(lines).rstrip("\n") + "\n"


def cpp_examples(root: Path) -> dict[str, tuple[Path, Block]]:
    """The ```cpp and ```c blocks that begin with `// example: name`, by name, each with those of its page
    behind it that begin with `// example: name, continued`. Raises ValueError for a double name, or one that
    is continued and has no beginning.
    """
    found: dict[str, tuple[Path, Block]] = {}
    for page in pages(root):
        for block in split(page.read_text(encoding="utf-8"))[1]:
            marked = _EXAMPLE.match(block.code.split("\n", 1)[0])
            if block.info[:1] not in (("cpp",), ("c",)) or not marked:
                continue
            name = marked.group(1)
            if marked["more"]:
                if name not in found or found[name][0] != page:
                    raise ValueError(f"{page}:{block.line}: example {name} is continued without a beginning")
                first = found[name][1]
                code = f'{first.code}#line {block.line + 1} "{page.as_posix()}"\n{block.code}'
                found[name] = (page, Block(first.info, first.line, code))
                continue
            if name in found:
                raise ValueError(f"{page}:{block.line}: example {name} is also in {found[name][0]}")
            found[name] = (page, block)
    return found
