"""Memory stays flat: what a thousand steps take is given back."""

import gc
import re
from pathlib import Path

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops

STATM = Path("/proc/self/statm")
PAGE = 4096
ALLOWED_MIB = 1.5  # in a part of the steps


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
        # What leaks grows in every part; an allocator or a thread that takes its first memory does so in one.
        grown, before = [], resident()
        for part in range(4):
            for i in range(250 * part, 250 * (part + 1)):
                step(i)
            now = resident()
            grown.append(now - before)
            before = now
        assert min(grown) < ALLOWED_MIB, grown
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.skipif(not STATM.exists(), reason="reads the resident size from /proc")
def test_memory_of_recordings_is_bounded():
    """A network that does more calls for longer inputs is recorded for each length."""
    cell = nn.LSTMCell(8, 8)
    optimizer = nn.Momentum(cell.trainable_params(), 1e-3, 0.9)

    def forward(x):
        state = ops.zeros(x.shape[1:]), ops.zeros(x.shape[1:])
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

    def grown(rows):
        before = resident()
        for length in range(20, 110):
            for _ in range(2):
                train(Tensor(numbers.standard_normal((length, rows, 8), dtype=np.float32)))
        return resident() - before

    first = grown(2)  # reaches the bound
    assert grown(3) < first / 2  # kept without bound, they take as much again


def trained_within(limit, folder):
    """Weights after three compiled steps of a deep network, and the most bytes that a program planned."""
    ms.set_context(max_device_memory=limit, save_graphs=1, save_graphs_path=str(folder), mode=ms.GRAPH_MODE)
    try:
        ms.set_seed(1)
        net = nn.SequentialCell(*[layer for _ in range(8) for layer in (nn.Dense(64, 64), nn.GELU())])
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        step.set_train()
        x = Tensor(np.random.default_rng(0).standard_normal((1024, 64), dtype=np.float32))
        for _ in range(3):
            step(x, x).asnumpy()
    finally:
        ms.set_context(max_device_memory="1024GB", save_graphs=0, mode=ms.PYNATIVE_MODE)
    reports = "".join(path.read_text() for path in folder.glob("**/*report*"))
    planned = [int(bytes_) for bytes_ in re.findall(r"planned bytes (\d+)", reports)]
    return [p.asnumpy().tobytes() for p in net.trainable_params()], max(planned)


def test_a_limit_of_memory_costs_no_bit(tmp_path):
    free, limited = tmp_path / "free", tmp_path / "limited"
    wanted, most = trained_within("1024GB", free)
    found, planned = trained_within("0.0025GB", limited)
    assert found == wanted
    assert planned < 0.8 * most


@pytest.mark.parametrize("value", ["2", "2MB", "-1GB", "0GB", "GB", 2, None, "1e3GB"])
def test_a_limit_of_memory_has_a_form(value):
    with pytest.raises(ValueError, match="max_device_memory"):
        ms.set_context(max_device_memory=value)
