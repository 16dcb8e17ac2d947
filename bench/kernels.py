#!/usr/bin/env python3
"""Times the heavy kernels beside oneDNN called directly with two threads of its own.

usage: kernels.py [--rounds N] [--only TEXT[,TEXT]] [--threads N] [--write]

Two processes of build/release/bin/bench_onednn_turns take turns, case by case; medians of their medians are
compared. The direct side keeps everything in the layouts that oneDNN chooses and counts no copies into or out
of them, except that plain matrix products have their operands as the caller holds them; bench/kernels/
onednn_turns.cpp says what is counted. --only takes parts of cases' names. With one thread,
processor time is compared.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from results import clock_of, processor, write_section
from run import ROOT, SORUS_ENVIRONMENT

WANTED, WANTED_WEIGHTS = 1.05, 1.15  # largest ratios that we want, the second for gradients of weights


class Side:
    """One of the two processes."""

    def __init__(self, program: Path, side: str, threads: int):
        self.process = subprocess.Popen(
            [str(program), side, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=SORUS_ENVIRONMENT,
        )

    def ask(self, line: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"bench: {line}: {self.process.args} gave no answer, need a time")
        return answer

    def names(self) -> list[str]:
        found = [self.ask("list")]
        assert self.process.stdout
        while line := self.process.stdout.readline().strip():
            found.append(line)
        return found

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=30)


def measure(program: Path, only: list[str], rounds: int, threads: int) -> dict[str, tuple[float, float]]:
    """Median nanoseconds of both sides for each case."""
    ours, direct = Side(program, "sorus", threads), Side(program, "direct", threads)
    try:
        results = {}
        for name in ours.names():
            if not any(part in name for part in only):
                continue
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(rounds):
                for side, found in zip((ours, direct), times, strict=True):
                    found.append(float(side.ask(name)))
            results[name] = (statistics.median(times[0]), statistics.median(times[1]))
    finally:
        ours.close()
        direct.close()
    return results


def wanted(name: str) -> float:
    return WANTED_WEIGHTS if name.endswith("gradient of weights") else WANTED


def report(results: dict[str, tuple[float, float]], rounds: int, threads: int) -> str:
    lines = [
        f"{processor()}, {clock_of(threads)} on either side, taking turns; medians of {rounds} rounds.",
        "oneDNN has its own layouts, and copies into them are not counted; ours has plain weights and",
        "channels-last activations, and all packing is counted. Plain matmuls have operands as the caller",
        "holds them on both sides. oneDNN's convolutions are plain sums (convolution_direct), ours of 3x3",
        "taps with stride 1 are Winograd's where tiles are many.",
        "",
        "| case (float32) | Sorus (us) | oneDNN direct (us) | ratio | wanted |",
        "|---|---|---|---|---|",
    ]
    for name, (ours, direct) in results.items():
        lines.append(
            f"| {name} | {ours / 1e3:.1f} | {direct / 1e3:.1f} | {ours / direct:.2f} | {wanted(name):.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bin/bench_onednn_turns")
    parser.add_argument("--write", action="store_true", help="write the table into bench/RESULTS.md")
    arguments = parser.parse_args()
    results = measure(arguments.program, arguments.only.split(","), arguments.rounds, arguments.threads)
    if not results:
        return 0
    text = report(results, arguments.rounds, arguments.threads)
    print(text)
    if arguments.write:
        write_section("Kernels beside oneDNN", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
