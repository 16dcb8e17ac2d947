"""The cases of bench/run.py in PyTorch. Runs in the peer's environment."""

from __future__ import annotations

import torch
from models.cases import CASES
from models.in_torch import prepare
from torch.nn import functional
from worker import serve


def lenet_step():
    return prepare(CASES["lenet_train_32"], "plain")


def unary(function):
    def make():
        x = torch.randn(1024, 768)

        def step():
            with torch.no_grad():
                function(x)

        return step

    return make


def gradient(function, *shapes):
    """The gradients of a function of (1024, 768) and of further parameters."""

    def make():
        inputs = [torch.randn(shape, requires_grad=True) for shape in ((1024, 768), *shapes)]
        y, seed = function(*inputs), torch.randn(1024, 768)
        return lambda: torch.autograd.grad(y, inputs, seed, retain_graph=True)

    return make


def norm_chain(rows: int, n: int):
    def make():
        x, b, gamma, beta = torch.randn(rows, n), torch.randn(n), torch.randn(n), torch.randn(n)
        a = torch.tensor(0.5)

        def step():
            with torch.no_grad():
                functional.layer_norm(functional.gelu(x * a + b), (n,), gamma, beta)

        return step

    return make


def chain(n: int):
    def make():
        x = torch.randn(n)
        a, b = torch.tensor(0.5), torch.tensor(0.25)

        def step():
            with torch.no_grad():
                torch.relu(torch.sigmoid(x * a + b) * x + x) * a - b

        return step

    return make


def matmul(n: int):
    def make():
        a, b = torch.randn(n, n), torch.randn(n, n)
        return lambda: torch.mm(a, b)

    return make


def conv(gradients: bool):
    def make():
        x = torch.randn(16, 64, 56, 56).to(memory_format=torch.channels_last).requires_grad_(gradients)
        w = torch.randn(64, 64, 3, 3).to(memory_format=torch.channels_last).requires_grad_(gradients)
        if not gradients:
            return lambda: functional.conv2d(x, w, padding=1)
        y = functional.conv2d(x, w, padding=1)
        seed = torch.ones_like(y)
        return lambda: torch.autograd.grad(y, (x, w), seed, retain_graph=True)

    return make


def add_128mb():
    a, b = torch.randn(1 << 25), torch.randn(1 << 25)
    return lambda: torch.add(a, b)


def add_1():
    a, b = torch.ones(1), torch.ones(1)
    return lambda: a + b


if __name__ == "__main__":
    serve(
        {
            "lenet_step_eager": lenet_step,
            "lenet_step_graph": lenet_step,
            "add_1": add_1,
            "softmax": unary(lambda x: torch.softmax(x, -1)),
            "layer_norm": unary(lambda x: functional.layer_norm(x, (768,))),
            "gelu": unary(functional.gelu),
            "exp": unary(torch.exp),
            "tanh": unary(torch.tanh),
            "sigmoid": unary(torch.sigmoid),
            "gelu_tanh": unary(lambda x: functional.gelu(x, approximate="tanh")),
            "softmax_grad": gradient(lambda x: torch.softmax(x, -1)),
            "log_softmax_grad": gradient(lambda x: torch.log_softmax(x, -1)),
            "layer_norm_grad": gradient(lambda x, g, b: functional.layer_norm(x, (768,), g, b), 768, 768),
            "gelu_grad": gradient(functional.gelu),
            "norm_chain_eager": norm_chain(1024, 768),
            "norm_chain_graph": norm_chain(1024, 768),
            "norm_chain_32mb_eager": norm_chain(8192, 1024),
            "norm_chain_32mb_graph": norm_chain(8192, 1024),
            "chain_1mb_eager": chain(1 << 18),
            "chain_1mb_graph": chain(1 << 18),
            "chain_128mb_eager": chain(1 << 25),
            "chain_128mb_graph": chain(1 << 25),
            "matmul_512": matmul(512),
            "matmul_1024": matmul(1024),
            "conv3x3": conv(False),
            "conv3x3_grad": conv(True),
            "add_128mb": add_128mb,
        }
    )
