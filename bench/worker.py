"""What the workers of bench/run.py and bench/networks.py share: they read names of cases from standard input
and answer with times."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

SECONDS = 0.1
# With one thread, processor time is the time of a step, and other load moves it little.
clock = time.process_time_ns if os.environ.get("SORUS_NUM_THREADS") == "1" else time.perf_counter_ns


class Unsupported(Exception):
    """This side cannot run the case; says why in few words."""


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
    """Most bytes that this process had resident since forget_peak(), or ever."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("bench: /proc/self/status has no VmHWM")


def forget_peak() -> int:
    """Lets peak_memory() count from what is resident now, so that compilers do not count."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return 0


class Cases:
    """Cases by name. One is prepared once, when it is first asked for."""

    def __init__(self, makers: dict[str, Callable[[], Callable[[], None]]]):
        self.makers, self.prepared, self.warmed = makers, {}, set()

    def prepare(self, name: str) -> int:
        if name not in self.prepared:
            self.prepared[name] = self.makers[name]()
        return 0

    def warm(self, name: str) -> int:
        """Runs a case three times, so that all is recorded, compiled and in memory; a slow one twice."""
        self.prepare(name)
        start = time.perf_counter()
        for _ in range(0 if name in self.warmed else 3):
            self.prepared[name]()
            if name in self.warmed and time.perf_counter() - start > 1:
                break
            self.warmed.add(name)
        return 0

    def time(self, name: str) -> float:
        self.warm(name)
        return nanoseconds(self.prepared[name])


def serve(makers: dict[str, Callable[[], Callable[[], None]]]) -> None:
    """Answers until standard input ends. A line is the name of a case, `prepare NAME`, `warm NAME`,
    `peak_memory` or `forget_peak`; the answer is the name and a number, or a dash and words if the case is
    Unsupported."""
    cases = Cases(makers)
    wishes = {"peak_memory": peak_memory, "forget_peak": forget_peak}
    for line in sys.stdin:
        wish, name = line.strip(), line.split()[-1]
        try:
            if wish.startswith("prepare "):
                answer = cases.prepare(name)
            elif wish.startswith("warm "):
                answer = cases.warm(name)
            else:
                answer = wishes[name]() if name in wishes else cases.time(name)
        except Unsupported as error:
            answer = f"- {error}"
        print(name, answer, flush=True)
