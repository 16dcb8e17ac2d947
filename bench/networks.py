#!/usr/bin/env python3
"""Times networks in Sorus, eager and in graph mode, beside PyTorch, JAX, ONNX Runtime and MindSpore.

usage: networks.py [--rounds N] [--seconds N] [--only NAME[,NAME]] [--peers NAME[,NAME]] [--skip SIDE[,SIDE]]
                   [--threads N] [--wait] [--write]

--only takes names of cases or their beginnings (resnet50, bert_forward), --peers some of torch, jax,
onnxruntime, mindspore, --skip variants of them (torch:plain); bench/peers/setup_*.sh make their environments
when they are missing. Every case has a process of its own per side and variant, so that peak resident memory
(VmHWM, all of the process: interpreter, framework, data, weights, activations; counted after compilation) is
that network's alone. The processes of a case live at the same time and take turns, and stand still when it is
not their turn; medians are compared. A framework that has several ways to run a case (layouts, modes,
compilers) counts with the best of each figure. The arithmetic peak is measured in the same turns
(bench/kernels/peak.cpp). With one thread, processor time is compared. --seconds ends the rounds of a case
early; --wait waits for a line of input before they begin, so that the machine can be made quiet meanwhile.
--write puts the rows into bench/RESULTS.md and leaves those of other cases alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from models.cases import CASES, LARGE, SMALL, Case, torch_variants
from results import clock_of, processor, write_rows
from run import PEER, ROOT, SORUS_ENVIRONMENT, Unsupported, Worker

BENCH = ROOT / "bench"
PEAK = ROOT / "build/release/bin/bench_peak"
ENVIRONMENTS = ROOT / "build" / "peers"
PEERS = {"torch": "PyTorch", "jax": "JAX", "onnxruntime": "ONNX Runtime", "mindspore": "MindSpore"}
OURS = ("eager", "graph", "own f32")
PREPARE_LIMIT, STEP_LIMIT = 120.0, 15.0  # seconds until a side counts as unable
HEAD = (
    ["case", "eager (ms)", "graph (ms)"]
    + [f"{name} (ms)" for name in PEERS.values()]
    + ["eager / best", "graph / best", "of peak", "f32 / bf16", "eager (MB)", "graph (MB)", "best peer (MB)"]
)

Command = tuple[list[str], dict[str, str]]  # and its environment


def interpreter(peer: str) -> Path:
    return PEER if peer == "torch" else ENVIRONMENTS / peer / "bin" / "python"


def set_up(peers: list[str]) -> None:
    for peer in peers:
        there = Path("/usr/lib/python3/dist-packages/torch") if peer == "torch" else interpreter(peer)
        if not there.exists():
            subprocess.run([str(BENCH / "peers" / f"setup_{peer}.sh")], check=True)


def sides_of(case: Case, peers: list[str], skipped: list[str], threads: int) -> dict[str, Command]:
    """Command and environment of each side: "eager", "graph", "own f32", or a peer and its variant."""
    environment = SORUS_ENVIRONMENT | {"SORUS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    worker = str(BENCH / "network_worker.py")
    sides = {mode: ([sys.executable, worker, "in_sorus", mode], environment) for mode in ("eager", "graph")}
    if case.dtype == "bf16":
        sides["own f32"] = sides["graph"]
    variants = {"torch": torch_variants(case), "mindspore": ["eager", "graph"]}
    for peer in peers:
        module = "in_sorus" if peer == "mindspore" else "in_onnx" if peer == "onnxruntime" else f"in_{peer}"
        theirs = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
        theirs |= {"BENCH_FRAMEWORK": "mindspore", "GLOG_v": "3"} if peer == "mindspore" else {}
        for variant in variants.get(peer, ["only"]):
            if f"{peer}:{variant}" not in skipped:
                sides[f"{peer} {variant}"] = ([str(interpreter(peer)), worker, module, variant], theirs)
    return sides


class Sides:
    """The workers of a case. One that fails is closed; `reasons` says why."""

    def __init__(self, case: Case, peers: list[str], skipped: list[str], threads: int):
        self.workers: dict[str, Worker] = {}
        self.names: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        for side, (command, environment) in sides_of(case, peers, skipped, threads).items():
            self.workers[side] = Worker(command, environment, ROOT / "build")  # MindSpore leaves files
            self.names[side] = Case(case.model, case.how, case.batch).name if side == "own f32" else case.name

    def wish(self, side: str, what: str) -> str:
        return what if what in ("peak_memory", "forget_peak") else f"{what} {self.names[side]}".strip()

    def answer(self, side: str, what: str, limit: float) -> float | None:
        """Of a side that was asked; it stands still then. None if it fails."""
        worker = self.workers[side]
        try:
            answer = worker.answer(self.wish(side, what), None if side in OURS else limit)
            worker.stand_still()
            return answer
        except (Unsupported, RuntimeError) as error:
            if side in OURS:
                raise
            self.reasons[side] = str(error) if isinstance(error, Unsupported) else "fails"
            worker.kill()
            del self.workers[side]
            return None

    def prepare(self) -> None:
        """All at once; not to be timed."""
        for side, worker in self.workers.items():
            worker.ask(self.wish(side, "prepare"))
        for side in list(self.workers):
            self.answer(side, "prepare", PREPARE_LIMIT)

    def in_turns(self, what: str = "") -> dict[str, float]:
        """Answers of those that do not fail; "" is the time of the case."""
        answers = {}
        for side, worker in list(self.workers.items()):
            worker.go_on()
            worker.ask(self.wish(side, what))
            answers[side] = self.answer(side, what, STEP_LIMIT)
        return {side: answer for side, answer in answers.items() if answer is not None}

    def close(self) -> None:
        for worker in self.workers.values():
            worker.kill()


def measure(case: Case, arguments: argparse.Namespace, peers: list[str]) -> dict:
    """Median milliseconds and peak bytes of each side, why others fail, and the peak in GFLOP/s."""
    sides = Sides(case, peers, arguments.skip.split(","), arguments.threads)
    peak = Worker([str(PEAK), str(arguments.threads)], dict(os.environ))
    try:
        sides.prepare()
        if arguments.wait:
            print(f"{case.name} is prepared; a line of input begins", flush=True)
            sys.stdin.readline()
        begin = time.monotonic()
        sides.in_turns("warm")  # caches, recordings and the processor
        sides.in_turns("forget_peak")
        times: dict[str, list[float]] = {side: [] for side in sides.workers}
        peaks = []
        for _ in range(arguments.rounds):
            peaks.append(1e9 / peak.time("peak"))
            for side, answer in sides.in_turns().items():
                times[side].append(answer / 1e6)
            if time.monotonic() - begin > arguments.seconds:
                break
        memory = sides.in_turns("peak_memory")
    finally:
        sides.close()
        peak.kill()
    medians = {side: statistics.median(found) for side, found in times.items() if side in sides.workers}
    shown = {side: round(found, 2) for side, found in medians.items()}
    print(case.name, shown, sides.reasons, file=sys.stderr)
    return {"times": medians, "memory": memory, "reasons": sides.reasons, "peak": statistics.median(peaks)}


def best(figures: dict[str, float], peer: str = "") -> float | None:
    """The least figure of a peer, or of all."""
    theirs = [side for side in figures if side not in OURS and side.startswith(peer)]
    return min((figures[side] for side in theirs), default=None)


def row(case: Case, found: dict, peers: list[str]) -> str:
    times, memory = found["times"], found["memory"]
    cells = [case.title, f"{times['eager']:.2f}", f"{times['graph']:.2f}"]
    for peer in PEERS:
        least = best(times, peer)
        why = [reason for side, reason in found["reasons"].items() if side.startswith(peer)]
        cells.append(f"{least:.2f}" if least else f"- ({why[0] if peer in peers and why else 'not run'})")
    least = best(times)
    cells += [f"{times[mode] / least:.2f}" if least else "-" for mode in ("eager", "graph")]
    rate = 2 * case.multiply_adds / times["graph"] / 1e6
    cells.append(f"{100 * rate / found['peak']:.0f} %" if case.dtype == "f32" else "-")
    cells.append(f"{times['own f32'] / times['graph']:.2f}" if "own f32" in times else "-")
    if case.how in ("train", "gradient"):
        sizes = (memory["eager"], memory["graph"], best(memory))
        cells += [f"{size / 1e6:.0f}" if size else "-" for size in sizes]
    else:
        cells += ["-"] * 3
    return f"| {' | '.join(cells)} |"


def head(arguments: argparse.Namespace, peak: float) -> str:
    rounds = f"medians of up to {arguments.rounds} rounds, taking turns"
    lines = [
        f"{processor()}; {clock_of(arguments.threads)}; {rounds}.",
        f"The arithmetic peak (f32), measured in the same turns, was {peak:.0f} GFLOP/s lately. Each peer is",
        "at its best: PyTorch of Debian in two layouts, eager or traced and optimized for inference; JAX",
        "compiled by XLA; ONNX Runtime on what PyTorch exports; MindSpore in both modes. A dash says why a",
        "peer cannot run a case. Inference in graph mode is a pure function, replayed without Python.",
        "`of peak` counts multiply-adds of products and convolutions, graph mode.",
        "Memory is the whole process', peak after compilation. Wanted: below 1 beside the best peer.",
        "",
        f"| {' | '.join(HEAD)} |",
        "|" + "---|" * len(HEAD),
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=120, help="no further round of a case after that")
    parser.add_argument("--only", default="")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--skip", default="", help="variants of peers to leave out, such as torch:plain")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--wait", action="store_true", help="wait for a line of input before rounds")
    parser.add_argument("--write", action="store_true", help="write the rows into bench/RESULTS.md")
    arguments = parser.parse_args()
    wanted = tuple(arguments.only.split(","))
    cases = [case for name, case in CASES.items() if name.startswith(wanted)]
    peers = [peer for peer in PEERS if peer in arguments.peers.split(",")]
    if not cases:
        return 0
    set_up(peers)
    for title, group in (("Small networks beside their peers", SMALL), ("Models beside their peers", LARGE)):
        for case in group:
            if case not in cases:
                continue
            found = measure(case, arguments, peers)
            line, text = row(case, found, peers), head(arguments, found["peak"])
            print(line, flush=True)
            if arguments.write:
                write_rows(title, text, {case.title: line}, [case.title for case in group])
    return 0


if __name__ == "__main__":
    sys.exit(main())
