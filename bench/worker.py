"""What both workers of bench/run.py share: reads names of cases from standard input, answers with times."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

SECONDS = 0.1
# With one thread, processor time is the time of a step, and other load moves it little.
clock = time.process_time_ns if os.environ.get("SORUS_NUM_THREADS") == "1" else time.perf_counter_ns


def nanoseconds(step: Callable[[], None]) -> float:
    """Time of one step, from as many as fit a tenth of a second: at least three, but one of a slow case."""
    start = clock()
    step()
    once = max(clock() - start, 1)
    if once > 3 * SECONDS * 1e9:
        return once
    count = max(3, min(20000, int(SECONDS * 1e9 / once)))
    start = clock()
    for _ in range(count):
        step()
    return (clock() - start) / count


def peak_memory() -> int:
    """Most bytes that this process ever had resident."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("bench: /proc/self/status has no VmHWM")


def serve(cases: dict[str, Callable[[], Callable[[], None]]]) -> None:
    """Answers until standard input ends. A case is prepared once, when it is first asked for; the name
    "peak_memory" is answered with peak_memory()."""
    prepared: dict[str, Callable[[], None]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name == "peak_memory":
            print(name, peak_memory(), flush=True)
            continue
        if name not in prepared:
            prepared[name] = cases[name]()
            for _ in range(3):
                prepared[name]()
        print(name, nanoseconds(prepared[name]), flush=True)
