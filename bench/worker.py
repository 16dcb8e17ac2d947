"""What both workers of bench/run.py share: reads names of cases from standard input, answers with times."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

SECONDS = 0.1


def nanoseconds(step: Callable[[], None]) -> float:
    """Time of one step, from as many as fit a tenth of a second (at least three)."""
    start = time.perf_counter_ns()
    step()
    once = max(time.perf_counter_ns() - start, 1)
    count = max(3, min(20000, int(SECONDS * 1e9 / once)))
    start = time.perf_counter_ns()
    for _ in range(count):
        step()
    return (time.perf_counter_ns() - start) / count


def serve(cases: dict[str, Callable[[], Callable[[], None]]]) -> None:
    """Answers until standard input ends. A case is prepared once, when it is first asked for."""
    prepared: dict[str, Callable[[], None]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in prepared:
            prepared[name] = cases[name]()
            for _ in range(3):
                prepared[name]()
        print(name, nanoseconds(prepared[name]), flush=True)
