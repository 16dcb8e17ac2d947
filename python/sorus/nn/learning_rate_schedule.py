"""Learning rates as functions of the step, as cells. Rates are computed on the host in double precision."""

from .. import _functions as F
from .._core import Tensor, dtypes
from .cell import Cell


def _check_positive(value, name, what):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need an int")
    if value <= 0:
        raise ValueError(f"{what}: '{name}' is not positive: got {value}, need 1 or more")
    return value


def _check_rate(value, name, what, zero=False):
    if not isinstance(value, float):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a float")
    if value < 0 or (value == 0 and not zero):
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need more than 0")
    return value


def _check_bool(value, name, what):
    if not isinstance(value, bool):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a bool")
    return value


class LearningRateSchedule(Cell):
    """The base of learning rates by step: `construct(global_step)` gives the rate as a Tensor."""

    def construct(self, global_step):
        raise NotImplementedError(f"{type(self).__name__}: 'construct' is missing: give the rate of a step")


class _HostSchedule(LearningRateSchedule):
    """A schedule of the library: `_rate(step)` is a float."""

    def construct(self, global_step):
        return Tensor(self._rate(int(global_step)), dtypes["float32"])


class _Decay(_HostSchedule):
    _function = None

    def __init__(self, learning_rate, decay_rate, decay_steps, is_stair=False):
        super().__init__()
        what = type(self).__name__
        self.learning_rate = _check_rate(learning_rate, "learning_rate", what)
        self.decay_rate = _check_rate(decay_rate, "decay_rate", what)
        self.decay_steps = _check_positive(decay_steps, "decay_steps", what)
        self.is_stair = _check_bool(is_stair, "is_stair", what)

    def _rate(self, step):
        function = getattr(F, self._function)
        return function(self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair, step)


class ExponentialDecayLR(_Decay):
    """learning_rate * decay_rate ** (step / decay_steps); the exponent is rounded down with `is_stair`."""

    _function = "exponential_decay_rate"


class NaturalExpDecayLR(_Decay):
    """learning_rate * e ** (-decay_rate * step); with `is_stair` the step is rounded down to a multiple of
    decay_steps.
    """

    _function = "natural_exp_decay_rate"


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps); step / decay_steps is rounded down with
    `is_stair`.
    """

    _function = "inverse_decay_rate"


class CosineDecayLR(_HostSchedule):
    """From max_lr to min_lr along half a cosine over decay_steps; min_lr afterwards."""

    def __init__(self, min_lr, max_lr, decay_steps):
        super().__init__()
        self.min_lr = _check_rate(min_lr, "min_lr", "CosineDecayLR", zero=True)
        self.max_lr = _check_rate(max_lr, "max_lr", "CosineDecayLR")
        self.decay_steps = _check_positive(decay_steps, "decay_steps", "CosineDecayLR")
        if min_lr >= max_lr:
            raise ValueError(
                f"CosineDecayLR: rates are in the wrong order: got {min_lr} and {max_lr}, "
                "need min_lr < max_lr"
            )

    def _rate(self, step):
        return F.cosine_decay_rate(self.min_lr, self.max_lr, self.decay_steps, step)


class PolynomialDecayLR(_HostSchedule):
    """(learning_rate - end) * (1 - step / decay_steps) ** power + end."""

    def __init__(self, learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False):
        super().__init__()
        self.learning_rate = _check_rate(learning_rate, "learning_rate", "PolynomialDecayLR")
        self.end_learning_rate = _check_rate(
            end_learning_rate, "end_learning_rate", "PolynomialDecayLR", zero=True
        )
        self.decay_steps = _check_positive(decay_steps, "decay_steps", "PolynomialDecayLR")
        self.power = _check_rate(power, "power", "PolynomialDecayLR")
        self.update_decay_steps = _check_bool(update_decay_steps, "update_decay_steps", "PolynomialDecayLR")

    def _rate(self, step):
        return F.polynomial_decay_rate(
            self.learning_rate,
            self.end_learning_rate,
            self.decay_steps,
            self.power,
            self.update_decay_steps,
            step,
        )


class WarmUpLR(_HostSchedule):
    """learning_rate * min(step, warmup_steps) / warmup_steps."""

    def __init__(self, learning_rate, warmup_steps):
        super().__init__()
        self.learning_rate = _check_rate(learning_rate, "learning_rate", "WarmUpLR")
        self.warmup_steps = _check_positive(warmup_steps, "warmup_steps", "WarmUpLR")

    def _rate(self, step):
        return F.warm_up_rate(self.learning_rate, self.warmup_steps, step)
