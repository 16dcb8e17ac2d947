#!/usr/bin/env python3
"""Checks the documentation: links resolve, every room with sources has a page docs/rooms/<room>.md, every
function of the public headers has a contract, the pages made of those contracts are fresh, and every type of
an installed header that they name has an entry.

usage: check_docs.py [ROOT]

Looks at README.md and docs/**/*.md and prints each problem as `file:line: what`. Links to other sites are not
followed. The code examples of the pages are run by tests/python/test_docs.py and compiled by tests/docs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote

from cpp_headers import UMBRELLA, public_headers, read_header
from doc_pages import anchors, cpp_examples, links, pages
from source_files import CPP_SUFFIXES, checkout_files
from write_reference import stale_cpp_pages

OTHER_SITES = ("http:", "https:", "mailto:")
# Types of namespace scope begin their lines, in headers and in the reference alike.
_TYPE = re.compile(
    r"^(?:template ?<.*?>\s+)?(?:class|struct|enum class|enum|using) (?:SORUS_API )?(\w+)\b(?!::|<|[^{=;]*;)",
    re.MULTILINE,
)
_PRIVATE = re.compile(r"^namespace detail \{.*?^\}  // namespace detail$", re.DOTALL | re.MULTILINE)
_CONTRACT_ABOVE = re.compile(r"((?:^///.*\n)*)\Z", re.MULTILINE)


def link_problem(root: Path, page: Path, target: str) -> str | None:
    """What is wrong with a link of a page, or None."""
    if target.startswith(OTHER_SITES):
        return None
    path, _, anchor = unquote(target).partition("#")
    file = (page.parent / path) if path else page
    if path.startswith("/") or not file.resolve().is_relative_to(root.resolve()):
        return f"link leaves the project: {target}"
    if not file.exists():
        return f"link to nothing: {target}"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
        return f"link to a heading that is not there: {target}"
    return None


def rooms_with_sources(root: Path) -> set[str]:
    """The folders of src/sorus that hold C++ files."""
    return {
        name.parts[2]
        for name in checkout_files(root)
        if name.parts[:2] == ("src", "sorus") and len(name.parts) > 3 and name.suffix in CPP_SUFFIXES
    }


def functions_without_contracts(root: Path) -> list[str]:
    """Public functions that no `///` speaks of."""
    return [
        f"src/{path}:{declaration.line}: no contract: {declaration.text}"
        for path in public_headers(root)
        for group in read_header(root, path).groups
        for declaration in group.declarations
        if declaration.kind == "function" and not group.contract and not declaration.note
    ]


def types_of_headers(root: Path) -> dict[str, str]:
    """The types that installed headers declare, but for internal ones, as {name: header}."""
    found = {}
    for path in sorted((root / "src/sorus").rglob("*.h")):
        text = _PRIVATE.sub("", path.read_text(encoding="utf-8"))
        for match in _TYPE.finditer(text) if "detail" not in path.parts else ():
            above = _CONTRACT_ABOVE.search(text[: match.start()])
            if above is None or not above[1].startswith("/// Internal:"):
                found[match[1]] = path.relative_to(root).as_posix()
    return found


def types_without_entries(root: Path) -> list[str]:
    """Types of installed headers that the code of the C++ reference names and does not declare."""
    folder = root / "docs/reference/cpp"
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted(folder.glob("*.md")))
    code = re.sub(r"//.*", "", "".join(re.findall(r"^```cpp\n(.*?)^```$", pages, re.DOTALL | re.MULTILINE)))
    entries = set(
        re.findall(r"^(?:template <.*> )?(?:class|struct|enum class|enum|using) (\w+)", code, re.MULTILINE)
    )
    named = set(re.findall(r"\b[A-Za-z_]\w*\b", code))
    return [
        f"{header}:1: the reference names {name} and has no entry for it"
        for name, header in sorted(types_of_headers(root).items())
        if name in named - entries
    ]


def check_tree(root: Path) -> list[str]:
    """All problems of a checkout, as `file:line: what`."""
    problems = []
    for page in pages(root):
        for line, target in links(page.read_text(encoding="utf-8")):
            problem = link_problem(root, page, target)
            if problem:
                problems.append(f"{page.relative_to(root)}:{line}: {problem}")
    for room in sorted(rooms_with_sources(root)):
        if not (root / "docs" / "rooms" / f"{room}.md").is_file():
            problems.append(f"docs/rooms/{room}.md:1: missing: src/sorus/{room} has sources but no page")
    if (root / "src" / UMBRELLA).is_file():
        problems += functions_without_contracts(root)
    if (root / "docs" / "reference" / "cpp").is_dir():
        stale = stale_cpp_pages(root, check=True)
        problems += [f"{page.relative_to(root)}:1: stale: run ./dev docs" for page in stale]
        problems += types_without_entries(root)
    try:
        cpp_examples(root)
    except ValueError as error:
        problems.append(str(error))
    return problems


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    problems = check_tree(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
