#!/usr/bin/env python3
"""What graph mode costs before it runs: recording, passes and binding of two large training steps.

usage: compile_cost.py [NETWORK]

ResNet-50 and BERT-base, of full depth and width on small inputs, since compiling does not depend on those.
Each line is a process of its own with one thread, and its processor time: without the compile cache, filling
it, and finding everything in it. "first call" is recorded, and makes the providers' kernels; "second call"
compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import sorus as ms
from models.in_sorus import Bert, resnet50, train_step


def training_step(name: str):
    random = np.random.default_rng(0)
    y = ms.Tensor(np.array([0, 1], np.int32))
    if name == "ResNet-50":
        x = ms.Tensor(random.standard_normal((2, 3, 64, 64)).astype(np.float32))
        return train_step(resnet50(), x, y, adam=False)
    return train_step(Bert(), ms.Tensor(random.integers(0, 1000, (2, 16)).astype(np.int32)), y, adam=True)


def milliseconds(call) -> float:
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def measure(name: str) -> dict[str, float]:
    """All in this process: figures in milliseconds."""
    ms.set_seed(0)
    step = training_step(name)
    ms.set_context(mode=ms.GRAPH_MODE)
    first, second = milliseconds(step), milliseconds(step)
    warm = min(milliseconds(step) for _ in range(3))
    stats = ms.compile_stats()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    eager = min(milliseconds(step) for _ in range(3))
    ms.set_context(mode=ms.GRAPH_MODE)
    ms._core.clear_recordings()
    recording = milliseconds(step)
    return {
        "first call": first,
        "second call": second,
        "warm call": warm,
        "eager call": eager,
        "recording call": recording,
        "passes": stats["pass_seconds"] * 1e3,
        "binding": stats["bind_seconds"] * 1e3,
    }


def main() -> int:
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[2])))
        return 0
    for name in sys.argv[1:] or ("ResNet-50", "BERT-base"):
        with tempfile.TemporaryDirectory() as folder:
            for cache, enabled in (("off", "0"), ("empty", "1"), ("filled", "1")):
                environment = os.environ | {
                    "SORUS_NUM_THREADS": "1",
                    "OMP_NUM_THREADS": "1",
                    "MS_COMPILER_CACHE_ENABLE": enabled,
                    "MS_COMPILER_CACHE_PATH": folder,
                }
                command = [sys.executable, __file__, "measure", name]
                done = subprocess.run(command, env=environment, check=True, capture_output=True)
                figures = json.loads(done.stdout)
                print(f"{name}, cache {cache}:", *(f"{k} {v:.1f}" for k, v in figures.items()), "(ms)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
