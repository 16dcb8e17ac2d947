#!/usr/bin/env python3
"""Trains small networks in Sorus, eager and in graph mode, and in PyTorch: time of a step and peak memory.

usage: networks.py [--rounds N] [--only NAME[,NAME]] [--threads N] [--write]

Every network has a process of its own per side, so that peak resident memory (VmHWM, all of the process:
interpreter, framework, data, weights, activations) is that network's alone. The processes of a network live
at the same time and take turns, one step at a time; medians are compared. PyTorch is set up as for run.py; it
runs convolutional networks twice, in its usual layout and in channels-last, and the better of each figure is
what Sorus is held to. With one thread, processor time is compared. --write puts the table into
bench/RESULTS.md.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from results import clock_of, processor, write_section
from run import PEER, SORUS_ENVIRONMENT, Worker

BENCH = Path(__file__).resolve().parent
LAYOUTS = ("nchw", "channels_last")
CONVOLUTIONAL = {"resnet18", "lenet"}
NETWORKS = {
    "resnet18": "ResNet-18, batch 32, 3 x 224 x 224",
    "lenet": "LeNet-5, batch 32, 32 x 32",
    "mlp": "perceptron 784-512-512-10, batch 128",
    "transformer": "transformer block, width 256, 8 x 64 positions",
    "lstm": "LSTM written as a loop, 20 steps, hidden 128, batch 32",
}


def sides_of(network: str, threads: int) -> dict[str, Worker]:
    """The workers of a network by name of their side."""
    environment = SORUS_ENVIRONMENT | {"SORUS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    ours = {
        mode: Worker([sys.executable, str(BENCH / "networks_sorus.py"), mode], environment)
        for mode in ("eager", "graph")
    }
    layouts = LAYOUTS if network in CONVOLUTIONAL else LAYOUTS[:1]
    peers = {
        layout: Worker([str(PEER), str(BENCH / "networks_torch.py"), layout], environment)
        for layout in layouts
    }
    return ours | peers


def measure(network: str, rounds: int, threads: int) -> dict[str, tuple[float, float]]:
    """Median nanoseconds of a step and peak bytes of each side; "peer" is the better of PyTorch's."""
    workers = sides_of(network, threads)
    times: dict[str, list[float]] = {side: [] for side in workers}
    try:
        for worker in workers.values():
            worker.time(network)  # warm caches, recordings and the processor
        for _ in range(rounds):
            for side, worker in workers.items():
                times[side].append(worker.time(network))
        found = {
            side: (statistics.median(times[side]), worker.time("peak_memory"))
            for side, worker in workers.items()
        }
    finally:
        for worker in workers.values():
            worker.close()
    peers = [found[side] for side in LAYOUTS if side in found]
    found["peer"] = (min(time for time, _ in peers), min(memory for _, memory in peers))
    return found


def report(results: dict[str, dict[str, tuple[float, float]]], rounds: int, threads: int) -> str:
    lines = [
        f"Training steps with momentum; {processor()}; {clock_of(threads)};",
        f"medians of {rounds} rounds, taking turns.",
        "Peak memory is the whole process'. PyTorch is the better of its two layouts. Wanted: no more",
        "memory than PyTorch in both modes, and a step of graph mode no slower than one of eager mode.",
        "",
        "| network | eager (ms) | graph (ms) | PyTorch (ms) | eager / PyTorch | graph / PyTorch "
        "| graph / eager | eager (MB) | graph (MB) | PyTorch (MB) |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for network, found in results.items():
        (eager, eager_bytes), (graph, graph_bytes), (peer, peer_bytes) = (
            found[side] for side in ("eager", "graph", "peer")
        )
        cells = [NETWORKS[network], *(f"{t / 1e6:.2f}" for t in (eager, graph, peer))]
        cells += [f"{eager / peer:.2f}", f"{graph / peer:.2f}", f"{graph / eager:.2f}"]
        cells += [f"{size / 1e6:.0f}" for size in (eager_bytes, graph_bytes, peer_bytes)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write the table into bench/RESULTS.md")
    arguments = parser.parse_args()
    names = [name for name in NETWORKS if not arguments.only or name in arguments.only.split(",")]
    if not names:
        return 0
    if not Path("/usr/lib/python3/dist-packages/torch").is_dir():
        subprocess.run([str(BENCH / "peers" / "setup_torch.sh")], check=True)
    results = {name: measure(name, arguments.rounds, arguments.threads) for name in names}
    text = report(results, arguments.rounds, arguments.threads)
    print(text)
    if arguments.write:
        write_section("Networks beside PyTorch", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
