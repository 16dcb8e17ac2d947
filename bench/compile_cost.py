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
from sorus import nn, ops


class Bottleneck(nn.Cell):
    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        outputs = 4 * width
        self.conv1, self.conv3 = nn.Conv2d(inputs, width, 1), nn.Conv2d(width, outputs, 1)
        self.conv2 = nn.Conv2d(width, width, 3, stride, pad_mode="pad", padding=1)
        self.norm1, self.norm2, self.norm3 = (nn.BatchNorm2d(n) for n in (width, width, outputs))
        self.relu = nn.ReLU()
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.SequentialCell(nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def construct(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.norm3(self.conv3(self.relu(self.norm2(self.conv2(y)))))
        return self.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet50(nn.Cell):
    def __init__(self):
        super().__init__()
        stem = [nn.Conv2d(3, 64, 7, 2, pad_mode="pad", padding=3), nn.BatchNorm2d(64), nn.ReLU()]
        self.stem = nn.SequentialCell(*stem, nn.MaxPool2d(3, 2, pad_mode="pad", padding=1))
        blocks, inputs = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Bottleneck(inputs, width, stride if i == 0 else 1))
                inputs = 4 * width
        self.body, self.head = nn.SequentialCell(*blocks), nn.Dense(inputs, 1000)

    def construct(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


class EncoderLayer(nn.Cell):
    """Attention and a perceptron, each followed by a norm."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.gelu = nn.GELU(approximate=False)

    def split(self, x):
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def construct(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) * q.shape[-1] ** -0.5, -1)
        x = self.norm1(x + self.out(ops.matmul(weights, v).transpose(0, 2, 1, 3).reshape(x.shape)))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


class Bert(nn.Cell):
    def __init__(self, width: int = 768, heads: int = 12, layers: int = 12):
        super().__init__()
        self.words = nn.Embedding(1000, width)
        self.places = ms.Parameter(ms.Tensor(np.zeros((1, 128, width), np.float32)), name="places")
        self.norm = nn.LayerNorm((width,))
        self.layers = nn.CellList([EncoderLayer(width, heads) for _ in range(layers)])
        self.head = nn.Dense(width, 2)

    def construct(self, ids):
        x = self.norm(self.words(ids) + self.places[:, : ids.shape[1]])
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0])


def training_step(name: str):
    random = np.random.default_rng(0)
    if name == "ResNet-50":
        network, x = ResNet50(), ms.Tensor(random.standard_normal((2, 3, 64, 64)).astype(np.float32))
        optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    else:
        network, x = Bert(), ms.Tensor(random.integers(0, 1000, (2, 16)).astype(np.int32))
        optimizer = nn.AdamWeightDecay(network.trainable_params(), 1e-4)
    y = ms.Tensor(np.array([0, 1], np.int32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    return lambda: step(x, y).asnumpy()


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
