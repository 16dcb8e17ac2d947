#!/usr/bin/env python3
"""Sums the test counts of a folder of JUnit files written by ctest and pytest.

usage: test_summary.py FOLDER

Prints a line per file and, last, the plain line `N passed, N failed`. Exits with 1 when a test failed, when a
file cannot be read, or when no test ran at all.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

# ctest also writes <skipped> for a test whose program it could not start; only these are skips by intent.
INTENDED_CTEST_SKIPS = ("SKIP_REGULAR_EXPRESSION", "SKIP_RETURN_CODE", "Disabled")


@dataclass
class Counts:
    """How many test cases ended in each way."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: Counts) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def count_file(path: Path) -> Counts:
    """Counts the cases of one JUnit file; a file that is no XML counts as one failure."""
    counts = Counts()
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        print(f"{path}: unreadable: {error}")
        return Counts(failed=1)
    for case in root.iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed += 1
        elif skipped is None:
            counts.passed += 1
        elif case.get("status") == "notrun" and not any(
            reason in skipped.get("message", "") for reason in INTENDED_CTEST_SKIPS
        ):
            counts.failed += 1
        else:
            counts.skipped += 1
    return counts


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    total = Counts()
    for path in sorted(Path(arguments[0]).glob("*.xml")):
        counts = count_file(path)
        print(f"{path.stem}: {counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
        total.add(counts)
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
