"""The cases of bench/run.py in Sorus."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import sorus as ms
from models.in_sorus import NETWORKS, example, train_step
from models.in_sorus import numbers as random
from sorus import ops
from worker import serve


def lenet_step(mode: int):
    def make():
        train = train_step(NETWORKS["lenet"](), *example("lenet", 32), adam=False)

        def step():
            ms.set_context(mode=mode)
            train()

        return step

    return make


def unary(function):
    def make():
        x = random(1024, 768)
        return lambda: function(x)

    return make


def layer_norm():
    x = random(1024, 768)
    gamma, beta = ms.Tensor(np.ones(768, np.float32)), ms.Tensor(np.zeros(768, np.float32))
    return lambda: ops.layer_norm(x, (768,), gamma, beta)


def gradient(function, *parameters):
    """The pullback of a function of (1024, 768) and of further parameters."""

    def make():
        values, pull = ms.vjp(function, random(1024, 768), *parameters)
        seed = random(1024, 768)
        return lambda: pull(seed)

    return make


def layer_norm_grad():
    gamma, beta = ms.Tensor(np.ones(768, np.float32)), ms.Tensor(np.zeros(768, np.float32))
    return gradient(lambda x, g, b: ops.layer_norm(x, (768,), g, b), gamma, beta)()


def in_mode(mode: int, function):
    """The function, called eagerly or as a compiled one."""
    if mode == ms.GRAPH_MODE:
        return ms.jit(function)

    def step():
        ms.set_context(mode=ms.PYNATIVE_MODE)
        function()

    return step


def norm_chain(mode: int, rows: int, n: int):
    def make():
        x, b, gamma, beta = random(rows, n), random(n), random(n), random(n)
        a = ms.Tensor(0.5, ms.float32)

        def step():
            return ops.layer_norm(ops.gelu(x * a + b, approximate="none"), (n,), gamma, beta)

        return in_mode(mode, step)

    return make


def chain(mode: int, n: int):
    def make():
        x = random(n)
        a, b = ms.Tensor(0.5, ms.float32), ms.Tensor(0.25, ms.float32)

        def step():
            return ops.relu(ops.sigmoid(x * a + b) * x + x) * a - b

        return in_mode(mode, step)

    return make


def matmul(n: int):
    def make():
        a, b = random(n, n), random(n, n)
        return lambda: ops.matmul(a, b)

    return make


def channels_last(*shape: int) -> ms.Tensor:
    """(N, C, H, W) with C innermost in memory, as convolutions leave their results."""
    n, c, h, w = shape
    return random(n, h, w, c).transpose(0, 3, 1, 2)


def conv():
    x, w = channels_last(16, 64, 56, 56), random(64, 64, 3, 3)
    return lambda: ops.conv2d(x, w, padding=1, pad_mode="pad")


def conv_grad():
    x, w = channels_last(16, 64, 56, 56), random(64, 64, 3, 3)
    values, pull = ms.vjp(lambda a, b: ops.conv2d(a, b, padding=1, pad_mode="pad"), x, w)
    return lambda: pull(values)


def large(function):
    def make():
        a, b = random(1 << 25), random(1 << 25)
        return lambda: function(a, b)

    return make


def copy_128mb():
    """Two threads copy 128 MB, half each, without Sorus."""
    source, target = np.ones(1 << 25, np.float32), np.zeros(1 << 25, np.float32)
    halves = [slice(0, 1 << 24), slice(1 << 24, None)]
    pool = ThreadPoolExecutor(2)
    return lambda: list(pool.map(lambda half: np.copyto(target[half], source[half]), halves))


def add_1():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    a, b = ms.Tensor(np.ones(1, np.float32)), ms.Tensor(np.ones(1, np.float32))
    return lambda: a + b


if __name__ == "__main__":
    serve(
        {
            "lenet_step_eager": lenet_step(ms.PYNATIVE_MODE),
            "lenet_step_graph": lenet_step(ms.GRAPH_MODE),
            "add_1": add_1,
            "softmax": unary(lambda x: ops.softmax(x, -1)),
            "layer_norm": layer_norm,
            "gelu": unary(lambda x: ops.gelu(x, approximate="none")),
            "exp": unary(ops.exp),
            "tanh": unary(ops.tanh),
            "sigmoid": unary(ops.sigmoid),
            "gelu_tanh": unary(lambda x: ops.gelu(x, approximate="tanh")),
            "softmax_grad": gradient(lambda x: ops.softmax(x, -1)),
            "log_softmax_grad": gradient(lambda x: ops.log_softmax(x, -1)),
            "layer_norm_grad": layer_norm_grad,
            "gelu_grad": gradient(lambda x: ops.gelu(x, approximate="none")),
            "norm_chain_eager": norm_chain(ms.PYNATIVE_MODE, 1024, 768),
            "norm_chain_graph": norm_chain(ms.GRAPH_MODE, 1024, 768),
            "norm_chain_32mb_eager": norm_chain(ms.PYNATIVE_MODE, 8192, 1024),
            "norm_chain_32mb_graph": norm_chain(ms.GRAPH_MODE, 8192, 1024),
            "chain_1mb_eager": chain(ms.PYNATIVE_MODE, 1 << 18),
            "chain_1mb_graph": chain(ms.GRAPH_MODE, 1 << 18),
            "chain_128mb_eager": chain(ms.PYNATIVE_MODE, 1 << 25),
            "chain_128mb_graph": chain(ms.GRAPH_MODE, 1 << 25),
            "matmul_512": matmul(512),
            "matmul_1024": matmul(1024),
            "conv3x3": conv,
            "conv3x3_grad": conv_grad,
            "add_128mb": large(lambda a, b: a + b),
            "mul_128mb": large(lambda a, b: a * b),
            "relu_128mb": large(lambda a, _: ops.relu(a)),
            "copy_128mb": copy_128mb,
        }
    )
