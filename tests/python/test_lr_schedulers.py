"""Schedulers of rates against their formulas, and rates that MindSpore 2.7 gives, recorded."""

import math

import numpy as np
import pytest

import sorus as ms
from sorus import Parameter, Tensor, mint
from sorus.experimental import optim
from sorus.experimental.optim import lr_scheduler as schedulers


def optimizer_of(rates=(0.1,)):
    groups = [
        {"params": [Parameter(Tensor(np.ones(2, np.float32)), name=f"p{i}")], "lr": rate}
        for i, rate in enumerate(rates)
    ]
    return optim.SGD(groups, lr=0.1)


def rates_of(make, steps, rates=(0.1,)):
    """The rates before each step and after the last, a list for each group."""
    optimizer = optimizer_of(rates)
    scheduler = make(optimizer)
    seen = []
    for _ in range(steps):
        seen.append([float(group["lr"]) for group in optimizer.param_groups])
        scheduler.step()
        last = [float(rate) for rate in scheduler.get_last_lr()]
        assert last == [float(group["lr"]) for group in optimizer.param_groups]
    return np.array(seen).T


E = np.arange(9)


@pytest.mark.parametrize(
    ("make", "factor"),
    [
        (lambda o: schedulers.StepLR(o, 2, 0.5), 0.5 ** (E // 2)),
        (lambda o: schedulers.MultiStepLR(o, [5, 2]), np.where(E < 2, 1, np.where(E < 5, 0.1, 0.01))),
        (lambda o: schedulers.MultiStepLR(o, [2, 2], 0.5), np.where(E < 2, 1, 0.25)),
        (lambda o: schedulers.ExponentialLR(o, 0.5), 0.5**E),
        (lambda o: schedulers.PolynomialLR(o, 4, 2.0), np.maximum(1 - E / 4, 0) ** 2),
        (lambda o: schedulers.ConstantLR(o, 0.5, 3), np.where(E < 3, 0.5, 1)),
        (lambda o: schedulers.ConstantLR(o, 0, 3), np.where(E < 3, 0, 1)),
        (lambda o: schedulers.LinearLR(o, 0.5, 1.0, 3), 0.5 + 0.5 * np.minimum(E, 3) / 3),
        (lambda o: schedulers.LinearLR(o, 1.0, 0.0, 4), 1 - np.minimum(E, 4) / 4),
        (lambda o: schedulers.LambdaLR(o, lambda e: 0.9**e), 0.9**E),
        (
            lambda o: schedulers.MultiplicativeLR(o, lambda e: 1 / (e + 1)),
            [1 / math.factorial(e + 1) for e in E],
        ),
        (lambda o: schedulers.CosineAnnealingLR(o, 3), (1 + np.cos(np.pi * E / 3)) / 2),
    ],
)
def test_factors(make, factor):
    first, second = rates_of(make, 9, (0.1, 0.4))
    np.testing.assert_allclose(first, 0.1 * np.array(factor), 1e-5, 1e-8)
    np.testing.assert_allclose(second, 0.4 * np.array(factor), 1e-5, 1e-8)


RECORDED = [
    (
        lambda o: schedulers.CosineAnnealingLR(o, 3, 0.01),
        [0.1, 0.0775, 0.0325, 0.01, 0.0325, 0.0775, 0.1, 0.0775],
    ),
    (
        lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
        [0.1, 0.055, 0.1, 0.0868198, 0.055, 0.0231802, 0.1, 0.0965746],
    ),
    (lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 2), [0.01, 0.055, 0.1, 0.055, 0.01, 0.055, 0.1, 0.055]),
    (
        lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 2, 3, "triangular2"),
        [0.01, 0.055, 0.1, 0.07, 0.04, 0.01, 0.0325, 0.055],
    ),
    (
        lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 2, mode="exp_range", gamma=0.9),
        [0.01, 0.0505, 0.0829, 0.042805, 0.01, 0.036572, 0.0578297, 0.0315234],
    ),
    (
        lambda o: schedulers.SequentialLR(
            o, [schedulers.ConstantLR(o, 0.1, 2), schedulers.ExponentialLR(o, 0.9)], [3]
        ),
        [0.01, 0.01, 0.1, 0.1, 0.09, 0.081, 0.0729],
    ),
]


@pytest.mark.parametrize(("make", "want"), RECORDED)
def test_as_recorded(make, want):
    np.testing.assert_allclose(rates_of(make, len(want))[0], want, 1e-5)


def test_lists_and_scales():
    pair = rates_of(
        lambda o: schedulers.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (e + 1)]), 3, (0.1, 0.2)
    )
    np.testing.assert_allclose(pair, [[0.1, 0.09, 0.081], [0.2, 0.1, 0.2 / 3]], 1e-6)
    pair = rates_of(lambda o: schedulers.CyclicLR(o, [0.0, 0.1], [1.0, 0.2], 1), 3, (0.1, 0.2))
    np.testing.assert_allclose(pair, [[0, 1, 0], [0.1, 0.2, 0.1]], 1e-6)
    for scale_mode, want in (("cycle", [0, 1, 0, 2, 0, 3]), ("iterations", [0, 1, 0, 3, 0, 5])):
        got = rates_of(
            lambda o, mode=scale_mode: schedulers.CyclicLR(o, 0.0, 1.0, 1, scale_fn=float, scale_mode=mode), 6
        )
        np.testing.assert_allclose(got[0], want, 1e-6)


def test_two_at_once():
    """Factors of schedulers of one optimizer multiply."""
    optimizer = optimizer_of()
    both = schedulers.StepLR(optimizer, 2, 0.5), schedulers.ExponentialLR(optimizer, 0.9)
    for e in range(5):
        np.testing.assert_allclose(
            float(optimizer.param_groups[0]["lr"]), 0.1 * 0.5 ** (e // 2) * 0.9**e, 1e-6
        )
        for scheduler in both:
            scheduler.step()


def test_going_on_and_jumping():
    optimizer = optimizer_of()
    scheduler = schedulers.StepLR(optimizer, 2, 0.5)
    for _ in range(3):
        scheduler.step()
    again = schedulers.StepLR(optimizer, 2, 0.5, last_epoch=2)
    assert again.last_epoch == 3 and again.base_lrs == [pytest.approx(0.1)]
    again.step()
    assert float(again.get_last_lr()[0]) == pytest.approx(0.025)
    again.step(0)
    assert float(again.get_last_lr()[0]) == pytest.approx(0.1)
    warm = schedulers.CosineAnnealingWarmRestarts(optimizer_of(), 2)
    warm.step(2.5)
    assert float(warm.get_last_lr()[0]) == pytest.approx(0.1 * (1 + math.cos(math.pi / 4)) / 2)
    with pytest.raises(ValueError, match="'epoch' is out of range"):
        warm.step(-1)
    with pytest.raises(KeyError, match="'initial_lr' is missing"):
        schedulers.StepLR(optimizer_of(), 2, last_epoch=3)


def test_plateau():
    """As recorded: patience 1, then a step that does not count."""
    optimizer = optimizer_of()
    scheduler = schedulers.ReduceLROnPlateau(optimizer, patience=1, cooldown=1)
    seen = []
    for metric in (1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5):
        scheduler.step(Tensor(float(metric)))
        seen.append((round(float(optimizer.param_groups[0]["lr"]), 7), scheduler.in_cooldown()))
    tenth, hundredth, least = 0.1, 0.01, 0.001
    assert seen == [
        (tenth, False),
        (tenth, False),
        (hundredth, True),
        (hundredth, False),
        (hundredth, False),
        (hundredth, False),
        (hundredth, False),
        (least, True),
        (least, False),
    ]
    optimizer = optimizer_of((0.1, 0.2))
    scheduler = schedulers.ReduceLROnPlateau(optimizer, "max", 0.5, 0, 0.5, "abs", min_lr=[0.06, 0.0])
    for metric in (1.0, 1.6, 2.0, 2.0):
        scheduler.step(metric)
    np.testing.assert_allclose([float(r) for r in scheduler.get_last_lr()], [0.06, 0.05], 1e-6)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_optimizers_follow(mode):
    ms.set_context(mode=mode)
    try:
        weight = Parameter(Tensor(np.zeros(1, np.float32)), name="w")
        optimizer = mint.optim.SGD([weight], lr=1.0)
        scheduler = schedulers.ExponentialLR(optimizer, 0.5)
        for _ in range(4):
            optimizer((Tensor([1.0]),))
            scheduler.step()
        np.testing.assert_allclose(weight.asnumpy(), [-1.875])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_of_users():
    class Half(schedulers.LRScheduler):
        def get_lr(self):
            return [rate * 0.5 for rate in self._last_lr]

    np.testing.assert_allclose(rates_of(Half, 3)[0], [0.05, 0.025, 0.0125])
    with pytest.raises(NotImplementedError, match="'get_lr' is missing"):
        schedulers.LRScheduler(optimizer_of())


def test_refusals():
    o = optimizer_of((0.1, 0.2))
    for bad in (
        lambda: schedulers.StepLR(3, 2),
        lambda: schedulers.StepLR(o, 2.5),
        lambda: schedulers.MultiStepLR(o, 3),
        lambda: schedulers.ExponentialLR(o, "a"),
        lambda: schedulers.LambdaLR(o, 3),
        lambda: schedulers.ReduceLROnPlateau(3),
    ):
        with pytest.raises(TypeError, match="has the wrong type"):
            bad()
    for bad in (
        lambda: schedulers.StepLR(o, 0),
        lambda: schedulers.CosineAnnealingLR(o, 0),
        lambda: schedulers.ConstantLR(o, 2.0),
        lambda: schedulers.LinearLR(o, 0.0),
        lambda: schedulers.LambdaLR(o, [lambda e: 1.0]),
        lambda: schedulers.CyclicLR(o, 0.1, 0.2, mode="square"),
        lambda: schedulers.CyclicLR(o, 0.1, 0.2, scale_mode="steps"),
        lambda: schedulers.SequentialLR(o, [], []),
        lambda: schedulers.SequentialLR(o, [schedulers.StepLR(o, 1)], [1]),
        lambda: schedulers.SequentialLR(optimizer_of(), [schedulers.StepLR(o, 1)], []),
        lambda: schedulers.ReduceLROnPlateau(o, "most"),
        lambda: schedulers.ReduceLROnPlateau(o, factor=1.0),
        lambda: schedulers.ReduceLROnPlateau(o, min_lr=[0.1]),
    ):
        with pytest.raises(ValueError, match="got"):
            bad()
