"""Learning rates as cells of the step."""

import math

from .. import _core
from .._core import Tensor
from .cell import Cell

_float32 = _core.dtypes["float32"]


class LearningRateSchedule(Cell):
    """The base of schedules: `construct(global_step)` gives the rate as a tensor."""

    def construct(self, global_step):
        raise NotImplementedError(f"{type(self).__name__}: 'construct' is missing: give the rate of the step")


class _Schedule(LearningRateSchedule):
    """A schedule that Python computes from the number of the step."""

    def construct(self, global_step):
        step = global_step.item() if isinstance(global_step, Tensor) else global_step
        return Tensor(self._rate(step), _float32)


class _Decay(_Schedule):
    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        _positive(learning_rate, "learning_rate", type(self).__name__)
        _positive(decay_rate, "decay_rate", type(self).__name__)
        _positive(decay_steps, "decay_steps", type(self).__name__)
        self.learning_rate, self.decay_rate = learning_rate, decay_rate
        self.decay_steps, self.is_stair = decay_steps, is_stair

    def _part(self, step):
        part = step / self.decay_steps
        return math.floor(part) if self.is_stair else part


class ExponentialDecayLR(_Decay):
    """rate * decay_rate ** (step / decay_steps)."""

    def _rate(self, step):
        return self.learning_rate * self.decay_rate ** self._part(step)


class NaturalExpDecayLR(_Decay):
    """rate * exp(-decay_rate * step / decay_steps)."""

    def _rate(self, step):
        # A stair counts steps, not parts of decay_steps, as MindSpore's does.
        part = self._part(step) * self.decay_steps if self.is_stair else self._part(step)
        return self.learning_rate * math.exp(-self.decay_rate * part)


class InverseDecayLR(_Decay):
    """rate / (1 + decay_rate * step / decay_steps)."""

    def _rate(self, step):
        return self.learning_rate / (1 + self.decay_rate * self._part(step))


class CosineDecayLR(_Schedule):
    """From max_lr to min_lr along half a cosine."""

    def __init__(self, min_lr, max_lr, decay_steps):
        super().__init__()
        if min_lr < 0 or max_lr <= min_lr:
            raise ValueError(
                f"CosineDecayLR: rates are out of range: got {min_lr} to {max_lr}, need 0 <= min < max"
            )
        _positive(decay_steps, "decay_steps", "CosineDecayLR")
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, decay_steps

    def _rate(self, step):
        part = min(step, self.decay_steps) / self.decay_steps
        return self.min_lr + (self.max_lr - self.min_lr) * (1 + math.cos(math.pi * part)) / 2


class PolynomialDecayLR(_Schedule):
    """From learning_rate to end_learning_rate along a power."""

    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False):
        super().__init__()
        _positive(learning_rate, "learning_rate", "PolynomialDecayLR")
        _positive(decay_steps, "decay_steps", "PolynomialDecayLR")
        _positive(power, "power", "PolynomialDecayLR")
        self.learning_rate, self.end_learning_rate = learning_rate, end_learning_rate
        self.decay_steps, self.power, self.update_decay_steps = decay_steps, power, update_decay_steps

    def _rate(self, step):
        steps = self.decay_steps
        if self.update_decay_steps:
            steps *= max(math.ceil(step / steps), 1)
        part = min(step, steps) / steps
        return (self.learning_rate - self.end_learning_rate) * (
            1 - part
        ) ** self.power + self.end_learning_rate


class WarmUpLR(_Schedule):
    """From 0 to learning_rate in warmup_steps."""

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        _positive(learning_rate, "learning_rate", "WarmUpLR")
        _positive(warmup_steps, "warmup_steps", "WarmUpLR")
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps

    def _rate(self, step):
        return self.learning_rate * min(step, self.warmup_steps) / self.warmup_steps


def _positive(value, name, what):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a number")
    if value <= 0:
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need more than 0")
