"""The page bench/RESULTS.md: each program of this folder writes a section of it."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "RESULTS.md"


def processor() -> str:
    """Name of the processor, as Linux tells it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def clock_of(threads: int) -> str:
    """What is measured: with one thread, processor time, which other load moves little."""
    return "processor time of one thread" if threads == 1 else f"{threads} threads"


def rows_of(title: str, page: Path = PAGE) -> dict[str, str]:
    """The lines of a section's table, without its head, by their first cells."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return {line.split("|")[1].strip(): line for line in lines}


def write_rows(title: str, head: str, rows: dict[str, str], order: list[str], page: Path = PAGE) -> None:
    """Writes a section of a table whose head ends `head`: rows by first cells, and the older ones of the rest
    of `order`."""
    rows = rows_of(title, page) | rows
    write_section(title, "\n".join([head, *(rows[name] for name in order if name in rows)]), page)


def write_section(title: str, text: str, page: Path = PAGE) -> None:
    """Puts a section in the place of the one of the same title, or at the end."""
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    sections = re.split(r"^(?=## )", old, flags=re.MULTILINE)
    head = sections[0].strip() if sections and not sections[0].startswith("## ") else "# Results"
    new = f"## {title}\n\nMeasured {datetime.date.today()}.\n\n{text.strip()}\n"
    kept = [section.strip() + "\n" for section in sections if section.startswith("## ")]
    places = [i for i, section in enumerate(kept) if section.startswith(f"## {title}\n")]
    if places:
        kept[places[0]] = new
    else:
        kept.append(new)
    page.write_text("\n".join([head + "\n", *kept]), encoding="utf-8")
