"""Memory stays flat: what a thousand steps take is given back."""

import gc
from pathlib import Path

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops

STATM = Path("/proc/self/statm")
PAGE = 4096
ALLOWED_MIB = 6.0


def resident():
    gc.collect()
    return int(STATM.read_text(encoding="ascii").split()[1]) * PAGE / 2**20


def training():
    net = nn.SequentialCell(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(p=0.2),
        nn.Dense(256, 10),
    )
    net.set_train()
    optimizer = nn.Adam(net.trainable_params(), nn.CosineDecayLR(0.0, 0.01, 100))
    loss = nn.CrossEntropyLoss()
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    numbers = np.random.default_rng(0)

    def step(_):
        x = Tensor(numbers.standard_normal((8, 1, 8, 8), dtype=np.float32))
        value, gradients = gradient(x, Tensor(numbers.integers(0, 10, 8).astype(np.int32)))
        optimizer(gradients)
        float(value)

    return step


def varied_shapes():
    function = ms.jit(lambda x, s: (ops.softmax(x * s) + ops.exp(-x)).sum())
    return lambda i: float(function(Tensor(np.ones((1 + i % 97, 8), np.float32)), float(i)))


def new_functions():
    def step(_):
        function = ms.jit(lambda x: (x * 2).sum())
        x = Tensor(np.ones(64, np.float32))
        for _ in range(3):
            float(function(x))

    return step


def errors():
    function = ms.jit(lambda x, i: ops.gather(x, i, 0).sum() * 2)
    x = Tensor(np.ones(100, np.float32))

    def step(i):
        if i % 3 < 2:
            function(x, Tensor([i % 3 * 60]))
            return
        with pytest.raises(IndexError):
            float(function(x, Tensor([200])))
        with pytest.raises(ValueError):
            ops.reshape(x, (7, 7))

    return step


@pytest.mark.skipif(not STATM.exists(), reason="reads the resident size from /proc")
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("make", [training, varied_shapes, new_functions, errors])
def test_memory_is_flat(make, mode):
    ms.set_context(mode=mode)
    try:
        step = make()
        for i in range(20):
            step(i)
        before = resident()
        for i in range(1000):
            step(i)
        assert resident() - before < ALLOWED_MIB
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.skipif(not STATM.exists(), reason="reads the resident size from /proc")
def test_memory_of_recordings_is_bounded():
    """A network that does more calls for longer inputs is recorded for each length."""
    cell = nn.LSTMCell(8, 8)
    optimizer = nn.Momentum(cell.trainable_params(), 1e-3, 0.9)

    def forward(x):
        state = ops.zeros((2, 8)), ops.zeros((2, 8))
        for row in x:
            state = cell(row, state)
        return state[0].sum()

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def train(x):
        value, gradients = gradient(x)
        optimizer(gradients)
        return value

    numbers = np.random.default_rng(0)
    before = resident()
    for i in range(180):
        for _ in range(2):
            train(Tensor(numbers.standard_normal((20 + i % 90, 2, 8), dtype=np.float32)))
    assert resident() - before < 260  # kept without bound, they take more than twice as much
