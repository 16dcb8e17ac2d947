#!/usr/bin/env python3
"""Sums the test counts of a folder of JUnit files written by ctest and pytest.

usage: test_summary.py FOLDER

Prints a line per file, the name of each failed test with the end of its report, and, last, the plain line
`N passed, N failed`. Exits with 1 when a test failed, when a file cannot be read, or when no test ran at all.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

# ctest also writes <skipped> for a test whose program it could not start; only these are skips by intent.
INTENDED_CTEST_SKIPS = ("SKIP_REGULAR_EXPRESSION", "SKIP_RETURN_CODE", "Disabled")

# A reader of the closing lines alone, at the end of a long log, should see why a test failed.
REPORT_LINES = 12
NAMED_FAILURES = 20


@dataclass
class Counts:
    """How many test cases ended in each way, and what is known of those that failed."""

    passed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return len(self.failures)

    def add(self, other: Counts) -> None:
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures


def describe(case: ElementTree.Element, report: str) -> str:
    """The name of a failed case, and the last lines of its report below it."""
    # ctest gives both names the same value.
    name = "::".join(filter(None, dict.fromkeys((case.get("classname"), case.get("name")))))
    lines = [f"    {line}" for line in report.rstrip().splitlines()[-REPORT_LINES:]]
    return "\n".join([name, *lines])


def report_of_failure(case: ElementTree.Element) -> str | None:
    """What a failed case says of itself, or None of a case that did not fail."""
    for kind in ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            # ctest leaves the failure empty and writes what the program printed beside it.
            return found.text or case.findtext("system-out") or found.get("message") or ""
    skipped = case.find("skipped")
    if skipped is None or case.get("status") != "notrun":
        return None
    reason = skipped.get("message", "")
    return None if any(known in reason for known in INTENDED_CTEST_SKIPS) else reason


def count_file(path: Path) -> Counts:
    """Counts the cases of one JUnit file; a file that is no XML counts as one failure."""
    counts = Counts()
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        return Counts(failures=[f"{path.name}: unreadable: {error}"])
    for case in root.iter("testcase"):
        report = report_of_failure(case)
        if report is not None:
            counts.failures.append(describe(case, report))
        elif case.find("skipped") is None:
            counts.passed += 1
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
    for failure in total.failures[:NAMED_FAILURES]:
        print(f"failed: {failure}")
    if total.failed > NAMED_FAILURES:
        print(f"failed: {total.failed - NAMED_FAILURES} more")
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
