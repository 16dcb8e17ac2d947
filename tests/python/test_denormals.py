"""Flushing of denormal numbers: off by default, the same in both modes, of the thread that asks."""

import threading

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops

SMALL = np.float32(2.0**-126) * np.arange(1, 9, dtype=np.float32).repeat(20000) / 4


@pytest.fixture
def flushing():
    ms.set_context(flush_denormal=True)
    yield
    ms.set_context(flush_denormal=False)


def product(x):
    return ops.mul(x, Tensor(np.float32(0.5)))


def expected_flushed(x):
    normal = np.where(np.abs(x) < 2.0**-126, np.float32(0), x)
    half = normal * np.float32(0.5)
    return np.where(np.abs(half) < 2.0**-126, np.float32(0), half)


def test_denormal_numbers_are_kept_by_default():
    assert ms.get_context("flush_denormal") is False
    assert np.array_equal(product(Tensor(SMALL)).asnumpy(), SMALL * np.float32(0.5))


@pytest.mark.parametrize("call", [product, ms.jit(product), ms.jit(product, pure=True)])
def test_they_are_flushed_in_every_mode(flushing, call):
    for _ in range(3):
        assert np.array_equal(call(Tensor(SMALL)).asnumpy(), expected_flushed(SMALL))


def test_a_compiled_function_follows_the_setting():
    f = ms.jit(lambda x: ops.exp(product(x) * 1.0) - 1 + product(x))
    kept = [f(Tensor(SMALL)).asnumpy() for _ in range(3)]
    ms.set_context(flush_denormal=True)
    try:
        flushed = [f(Tensor(SMALL)).asnumpy() for _ in range(3)]
    finally:
        ms.set_context(flush_denormal=False)
    again = f(Tensor(SMALL)).asnumpy()
    for value in kept:
        assert np.array_equal(value, again) and np.array_equal(value, SMALL * np.float32(0.5))
    for value in flushed:
        assert np.array_equal(value, expected_flushed(SMALL))


def test_the_rest_of_the_program_keeps_them(flushing):
    product(Tensor(SMALL))
    assert (np.float32(2.0**-126) * np.float32(0.5)) != 0


def test_other_threads_are_not_concerned(flushing):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(product(Tensor(SMALL)).asnumpy()))
    thread.start()
    thread.join()
    assert np.array_equal(seen[0], SMALL * np.float32(0.5))


def test_it_is_set_outside_of_compiled_calls():
    class Net(nn.Cell):
        def construct(self, x):
            ms.set_context(flush_denormal=True)
            return x

    with pytest.raises(RuntimeError, match="flush_denormal cannot change in a compiled call"):
        ms.jit(Net())(Tensor(1.0))
    assert ms.get_context("flush_denormal") is False


def test_it_takes_a_bool():
    with pytest.raises(TypeError, match="flush_denormal has the wrong type: got 1, need a bool"):
        ms.set_context(flush_denormal=1)
