#!/usr/bin/env python3
"""Writes the C++ examples of the documentation as sources to compile.

usage: write_examples.py ROOT FOLDER

Each ```cpp block of README.md and docs/ whose first line is `// example: name` becomes FOLDER/name.cpp, each
```c block FOLDER/name.c, their lines numbered as in the page. Files are touched only when they change; those
of examples that are gone are deleted.
"""

from __future__ import annotations

import sys
from pathlib import Path

from doc_pages import cpp_examples


def write_examples(root: Path, folder: Path) -> None:
    """Brings the files of the folder up to date with the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {}
    for name, (page, block) in cpp_examples(root).items():
        path = folder / f"{name}.{block.info[0]}"
        wanted[path] = f'#line {block.line + 1} "{page.as_posix()}"\n{block.code}'
    for stale in {*folder.glob("*.cpp"), *folder.glob("*.c")} - set(wanted):
        stale.unlink()
    for path, text in wanted.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    write_examples(Path(arguments[0]), Path(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
