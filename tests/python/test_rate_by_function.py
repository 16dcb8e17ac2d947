"""The rate by a function, older places of optimizers, and settings that change nothing."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn


def data():
    x = np.random.RandomState(0).randn(12, 3).astype(np.float32)
    return ms.dataset.NumpySlicesDataset((x, x[:, :1]), ["x", "y"], shuffle=False).batch(4)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_function_sets_the_rate_of_each_step(mode):
    ms.set_context(mode=mode)
    try:
        net = nn.Dense(3, 1)
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
        model = ms.train.Model(net, nn.MSELoss(), optimizer)
        seen = []

        def halve(rate, step):
            seen.append((round(rate, 6), step))
            return rate / 2 if step % 2 == 0 else rate

        model.train(2, data(), callbacks=[ms.train.LearningRateScheduler(halve)], dataset_sink_mode=False)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert [step for _, step in seen] == [1, 2, 3, 4, 5, 6]
    assert np.allclose([rate for rate, _ in seen], [0.1, 0.1, 0.05, 0.05, 0.025, 0.025])
    assert np.isclose(float(optimizer.learning_rate), 0.0125)


def test_what_has_no_rate_to_set():
    net = nn.Dense(3, 1)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=[0.1, 0.2])
    model = ms.train.Model(net, nn.MSELoss(), optimizer)
    with pytest.raises(ValueError, match="the optimizer's rate cannot be set: got SGD"):
        model.train(1, data(), callbacks=[ms.train.LearningRateScheduler(lambda rate, step: rate)])
    with pytest.raises(TypeError, match="'learning_rate_function' has the wrong type: got float"):
        ms.train.LearningRateScheduler(0.1)


def test_names_that_change_nothing():
    class Net(nn.Cell):
        @ms.lazy_inline
        def __init__(self):
            super().__init__()

        @ms.lazy_inline(policy="front")
        def construct(self, x):
            return x

    assert Net()(Tensor([1.0])).tolist() == [1]
    ms.set_deterministic(False)
    assert ms.get_context("deterministic") == "OFF"
    ms.set_deterministic(True)
    assert ms.get_context("deterministic") == "ON"
    with pytest.raises(TypeError, match="'deterministic' has the wrong type: got 'ON'"):
        ms.set_deterministic("ON")
    assert ms.experimental.optim.AdamW is ms.mint.optim.AdamW
