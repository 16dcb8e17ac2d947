#!/usr/bin/env python3
"""Times Sorus beside PyTorch in one run, interleaved, with the ratios in bench/RESULTS.md.

usage: run.py [--rounds N] [--only NAME[,NAME]] [--write]        (`memory` stands for the copies)

Each side is a process of its own that stays alive: a worker reads the name of a case, runs it for about a
tenth of a second and answers with nanoseconds an iteration. The sides take turns, `rounds` times, so that
whatever else the machine does falls on both; medians are compared. PyTorch is Debian's python3-torch with two
threads, AVX-512 and OpenBLAS on OpenMP (bench/peers/setup_torch.sh). Absolute times of a shared machine say
little; the ratios are the result.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from results import processor, write_section
from worker import Unsupported

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
PEER = BENCH / "peers" / "torch-python"  # runs a script with PyTorch
SORUS_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
} | {"SORUS_NUM_THREADS": "2", "SORUS_TUNING_DATABASE": "off", "PYTHONPATH": str(ROOT / "python")}

# name, what it is, largest ratio of Sorus' time to PyTorch's that we want
CASES = [
    ("lenet_step_eager", "LeNet-5 training step, batch 32, eager", 0.6),
    ("lenet_step_graph", "LeNet-5 training step, batch 32, graph mode", 0.5),
    ("add_1", "eager add of one element, from Python", 1.0),
    ("softmax", "softmax of 1,024 x 768", 0.5),
    ("layer_norm", "layer norm of 1,024 x 768", 0.5),
    ("gelu", "GELU of 1,024 x 768", 0.5),
    ("exp", "exp of 1,024 x 768", 0.5),
    ("tanh", "tanh of 1,024 x 768", 0.5),
    ("sigmoid", "sigmoid of 1,024 x 768", 0.5),
    ("gelu_tanh", "GELU by tanh of 1,024 x 768", 0.5),
    ("softmax_grad", "gradient of softmax of 1,024 x 768", 1.0),
    ("log_softmax_grad", "gradient of log-softmax of 1,024 x 768", 1.0),
    ("layer_norm_grad", "gradients of layer norm of 1,024 x 768", 1.0),
    ("gelu_grad", "gradient of GELU of 1,024 x 768", 1.0),
    ("matmul_512", "matmul 512 x 512 x 512", 1.0),
    ("matmul_1024", "matmul 1,024 x 1,024 x 1,024", 1.0),
    ("conv3x3", "3x3 convolution, 16 x 64 x 56 x 56 to 64 channels", 1.0),
    ("conv3x3_grad", "its gradients", 1.0),
    ("norm_chain_eager", "x*a+b, gelu, layer norm of 1,024 x 768, eager", 1.0),
    ("norm_chain_graph", "the same, graph mode", 0.5),
    ("norm_chain_32mb_eager", "x*a+b, gelu, layer norm of 8,192 x 1,024, eager", 1.0),
    ("norm_chain_32mb_graph", "the same, graph mode", 0.3),
    ("chain_1mb_eager", "8 elementwise ops on 262,144 numbers, eager", 1.0),
    ("chain_1mb_graph", "the same, graph mode", 0.5),
    ("chain_128mb_eager", "8 elementwise ops on 33,554,432 numbers, eager", 1.0),
    ("chain_128mb_graph", "the same, graph mode", 0.2),
    ("add_128mb", "add of two tensors of 128 MB", 0.8),
]

# name, what it is, bytes moved: ops on tensors that no cache holds, beside a plain copy by as many threads
COPY_BYTES = 2 << 27
MEMORY_CASES = [
    ("relu_128mb", "ReLU of 128 MB", 2 << 27),
    ("add_128mb", "add of two tensors of 128 MB", 3 << 27),
    ("mul_128mb", "product of two tensors of 128 MB", 3 << 27),
]
WANTED_OF_COPY = 0.9


class Worker:
    """A process that answers names of cases with times (bench/worker.py)."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path | None = None):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment, cwd=folder
        )
        self.read = b""

    def line(self, limit: float | None) -> str:
        """The next line of its output. Raises Unsupported after a limit of seconds."""
        assert self.process.stdout
        end = None if limit is None else time.monotonic() + limit
        while b"\n" not in self.read:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                raise Unsupported(f"over {limit:.0f} s")
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                raise RuntimeError(f"bench: {self.process.args} ended, need an answer")
            self.read += more
        line, self.read = self.read.split(b"\n", 1)
        return line.decode()

    def ask(self, case: str) -> None:
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):  # then there is no answer, either
            self.process.stdin.write(f"{case}\n".encode())

    def answer(self, case: str, limit: float | None = None) -> float:
        """What comes back for a case that was asked for. Raises Unsupported where it cannot run or takes more
        than a limit of seconds."""
        answer: list[str] = []
        while len(answer) < 2 or answer[0] != case.split()[-1]:  # frameworks may print, too
            answer = self.line(limit).split()
        if answer[1] == "-":
            raise Unsupported(" ".join(answer[2:]))
        return float(answer[1])

    def time(self, case: str, limit: float | None = None) -> float:
        """Nanoseconds an iteration of the case, or another wish's number (bench/worker.py)."""
        self.ask(case)
        return self.answer(case, limit)

    def stand_still(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=30)


def workers() -> tuple[Worker, Worker]:
    ours = Worker([sys.executable, str(BENCH / "sorus_cases.py")], SORUS_ENVIRONMENT)
    theirs = Worker([str(PEER), str(BENCH / "torch_cases.py")], SORUS_ENVIRONMENT)
    return ours, theirs


def measure(names: list[str], rounds: int) -> dict[str, tuple[float, float]]:
    """Median nanoseconds of both sides for each case."""
    ours, theirs = workers()
    try:
        for name in names:
            ours.time(name), theirs.time(name)  # warm caches, recordings and the processor
        times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
        for _ in range(rounds):
            for name in names:
                times[name][0].append(ours.time(name))
                times[name][1].append(theirs.time(name))
    finally:
        ours.close()
        theirs.close()
    return {name: (statistics.median(a), statistics.median(b)) for name, (a, b) in times.items()}


def measure_memory(rounds: int) -> dict[str, tuple[float, float]]:
    """Median bytes a nanosecond of each memory case and of the copies made between its runs."""
    ours, theirs = workers()
    theirs.close()
    try:
        rates: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name, _, _ in MEMORY_CASES}
        for round_ in range(rounds + 1):
            for name, _, moved in MEMORY_CASES:
                rate, copied = moved / ours.time(name), COPY_BYTES / ours.time("copy_128mb")
                if round_ > 0:  # the first one brings the memory
                    rates[name][0].append(rate)
                    rates[name][1].append(copied)
    finally:
        ours.close()
    return {name: (statistics.median(a), statistics.median(b)) for name, (a, b) in rates.items()}


def report_memory(rates: dict[str, tuple[float, float]]) -> str:
    """The part of the page on bytes a second."""
    lines = [
        "Bytes read and written in a second by ops on tensors that no cache holds, beside a copy of 128",
        "MB by two threads (numpy.copyto, half each) measured between their runs.",
        "",
        "| case | GB/s | copy GB/s | ratio | wanted |",
        "|---|---|---|---|---|",
    ]
    for name, what, _ in MEMORY_CASES:
        rate, copied = rates[name]
        lines.append(f"| {what} | {rate:.1f} | {copied:.1f} | {rate / copied:.2f} | {WANTED_OF_COPY:.2f} |")
    return "\n".join(lines) + "\n"


def report(results: dict[str, tuple[float, float]], rounds: int) -> str:
    """The table of the results."""
    lines = [
        f"{processor()}, {os.cpu_count()} processors; PyTorch of Debian with two threads at its best.",
        f"Both sides in one run, taking turns; medians of {rounds} rounds.",
        "",
        "| case | Sorus (us) | PyTorch (us) | ratio | wanted |",
        "|---|---|---|---|---|",
    ]
    for name, what, wanted in CASES:
        if name in results:
            ours, theirs = results[name]
            times = f"{ours / 1e3:.2f} | {theirs / 1e3:.2f} | {ours / theirs:.2f}"
            lines.append(f"| {what} | {times} | {wanted:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true", help="write the tables into bench/RESULTS.md")
    arguments = parser.parse_args()
    only = set(filter(None, arguments.only.split(",")))
    names = [name for name, _, _ in CASES if not only or name in only]
    sections = {}
    if not Path("/usr/lib/python3/dist-packages/torch").is_dir():
        subprocess.run([str(BENCH / "peers" / "setup_torch.sh")], check=True)
    if names:
        sections["Operations beside PyTorch"] = report(measure(names, arguments.rounds), arguments.rounds)
    if not only or "memory" in only:
        sections["Operations beside copies of memory"] = report_memory(measure_memory(arguments.rounds))
    for title, text in sections.items():
        print(text)
        if arguments.write:
            write_section(title, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
