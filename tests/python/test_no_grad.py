"""Gradients with parts that are not recorded, against stop_gradient."""

import threading

import pytest

import sorus as ms
from sorus import Parameter, Tensor, nn, ops


def in_mode(f, mode):
    return ms.jit(f) if mode == ms.GRAPH_MODE else f


def test_as_stop_gradient(mode):
    def paused(x):
        with ms.no_grad():
            a = ops.exp(x) * 2
        return (a * x * x).sum()

    def stopped(x):
        return (ops.stop_gradient(ops.exp(x) * 2) * x * x).sum()

    x = Tensor([0.5, -1.0])
    for _ in range(3):
        got = in_mode(lambda x: ms.grad(paused)(x), mode)(x)
        assert got.tolist() == ms.grad(stopped)(x).tolist()


def test_it_nests_decorates_and_ends(mode):  # noqa: ARG001
    @ms.no_grad()
    def twice(x, depth):
        return x * 2 if depth == 0 else twice(x, depth - 1) + 0

    def f(x):
        with ms.no_grad():
            with ms.common.api._no_grad():
                y = x * 3
            y = y * x
        return twice(x, 2) * x + y + x

    x = Tensor(5.0)
    for _ in range(3):
        assert ms.grad(f)(x).item() == 2 * 5 + 1


def test_an_exception_ends_it():
    def f(x):
        with pytest.raises(ZeroDivisionError), ms.no_grad():
            1 / 0
        return x * x

    assert ms.grad(f)(Tensor(3.0)).item() == 6


def test_gradients_inside_of_it(mode):  # noqa: ARG001
    with ms.no_grad():
        assert ms.grad(lambda x: x * x)(Tensor(3.0)).item() == 6
    assert ms.grad(ms.no_grad()(lambda x: x * x))(Tensor(3.0)).item() == 0


def test_weights(mode):  # noqa: ARG001
    net = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
    w = Parameter(Tensor([2.0]), name="w")

    def loss(x):
        with ms.no_grad():
            y = net(x)
        return (y * w).sum()

    weights = [*net.trainable_params(), w]
    for _ in range(3):
        gradients = ms.value_and_grad(loss, None, weights)(Tensor([[1.0, 2.0]]))[1]
        assert [g.asnumpy().sum() for g in gradients] == [0, 0, 6]


def test_threads_are_apart():
    inside, seen = threading.Barrier(2, timeout=60), []

    def other():
        inside.wait()
        seen.append(ms.grad(lambda x: x * x)(Tensor(2.0)).item())
        inside.wait()

    t = threading.Thread(target=other, daemon=True)
    t.start()
    with ms.no_grad():
        inside.wait()
        inside.wait()
    t.join()
    assert seen == [4]


def test_an_exit_without_an_entry_is_told():
    with pytest.raises(ValueError, match="no_grad: was not entered"):
        ms.no_grad().__exit__(None, None, None)
