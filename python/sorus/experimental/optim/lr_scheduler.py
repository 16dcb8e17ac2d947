"""Schedulers: after each epoch, or each batch, `scheduler.step()` gives an optimizer's groups new rates."""

import bisect
import math

from ..._core import Tensor, dtypes
from ...mint.optim import Optimizer

_float32 = dtypes["float32"]


def _whole(what, name, value, low):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need an int")
    if value < low:
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need {low} or more")
    return value


def _number(what, name, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a number")
    return float(value)


def _for_groups(what, name, value, count):
    """A list with a value for each group."""
    listed = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(listed) != count:
        raise ValueError(f"{what}: '{name}' does not fit: got {len(listed)}, need one for {count} groups")
    return listed


def _set_rate(group, value):
    """Gives a group a rate; the parameter that holds it stays."""
    value = value if isinstance(value, Tensor) else Tensor(float(value), _float32)
    if hasattr(group["lr"], "set_data"):
        group["lr"].set_data(value)
    else:
        group["lr"] = value


class LRScheduler:
    """The base of schedulers: subclasses give the rates of all groups in `get_lr()`, from `last_epoch`, the
    number of steps so far, `base_lrs`, the rates in the beginning, and those of `optimizer.param_groups`.

    `last_epoch` other than -1 goes on from there; groups must have "initial_lr" then. Raises TypeError when
    `optimizer` is none of `experimental.optim` or `mint.optim`, KeyError for a missing "initial_lr".

    >>> from sorus import Parameter, Tensor
    >>> from sorus.experimental import optim
    >>> class Half(optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [rate / 2**self.last_epoch for rate in self.base_lrs]
    >>> scheduler = Half(optim.SGD([Parameter(Tensor([1.0]), name="w")], lr=1.0))
    >>> scheduler.step()
    >>> float(scheduler.get_last_lr()[0])
    0.5
    """

    def __init__(self, optimizer, last_epoch=-1):
        what = type(self).__name__
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"{what}: 'optimizer' has the wrong type: got {type(optimizer).__name__}, need an Optimizer"
            )
        _whole(what, "last_epoch", last_epoch, -1)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", float(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"{what}: 'initial_lr' is missing: got none in group {i}, need it to go on")
        self.optimizer, self.groups_num = optimizer, len(optimizer.param_groups)
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._remember()
        self.step()

    def _remember(self):
        self._last_lr = [Tensor(float(group["lr"]), _float32) for group in self.optimizer.param_groups]

    def get_lr(self):
        """The rates of the groups after this step."""
        raise NotImplementedError(f"{type(self).__name__}: 'get_lr' is missing: define the rates")

    def get_last_lr(self):
        """The rates of the groups, as tensors."""
        return self._last_lr

    def step(self, epoch=None):
        """Goes on by one step, or to the number given."""
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self._rates_at() if hasattr(self, "_rates_at") else self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            _set_rate(group, rate)
        self._remember()


class _Factor(LRScheduler):
    """Rates that a factor changes from step to step, whatever else changes them."""

    def _factor(self, epoch):
        raise NotImplementedError

    def get_lr(self):
        now, before = self._factor(self.last_epoch), 1.0
        if self.last_epoch > 0:
            before = self._factor(self.last_epoch - 1)
        change = now / before if before else 0.0
        return [float(group["lr"]) * change for group in self.optimizer.param_groups]

    def _rates_at(self):
        return [rate * self._factor(self.last_epoch) for rate in self.base_lrs]


class StepLR(_Factor):
    """Rates times `gamma` after every `step_size` steps.

    >>> from sorus import Parameter, Tensor
    >>> from sorus.experimental import optim
    >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="w")], lr=1.0)
    >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(float(optimizer.param_groups[0]["lr"]))
    ...     scheduler.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5]
    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = _whole("StepLR", "step_size", step_size, 1)
        self.gamma = _number("StepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(_Factor):
    """Rates times `gamma` at each of the steps in the list `milestones`."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        if not isinstance(milestones, (list, tuple)):
            raise TypeError(
                f"MultiStepLR: 'milestones' has the wrong type: got {type(milestones).__name__}, need a list"
            )
        self.milestones = sorted(_whole("MultiStepLR", "milestones", m, 0) for m in milestones)
        self.gamma = _number("MultiStepLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.gamma ** bisect.bisect_right(self.milestones, epoch)


class ExponentialLR(_Factor):
    """Rates times `gamma` at each step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = _number("ExponentialLR", "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.gamma**epoch


class ConstantLR(_Factor):
    """Rates times `factor` during the first `total_iters` steps."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        self.factor = _number("ConstantLR", "factor", factor)
        if not 0 <= self.factor <= 1:
            raise ValueError(f"ConstantLR: 'factor' is out of range: got {factor}, need 0 to 1")
        self.total_iters = _whole("ConstantLR", "total_iters", total_iters, 0)
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.factor if epoch < self.total_iters else 1.0

    def get_lr(self):
        if self.factor == 0 and self.last_epoch == self.total_iters:
            return self._rates_at()
        return super().get_lr()


class LinearLR(_Factor):
    """Rates times a factor that goes in a line from `start_factor` to `end_factor` in `total_iters` steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        self.start_factor = _number("LinearLR", "start_factor", start_factor)
        self.end_factor = _number("LinearLR", "end_factor", end_factor)
        if not 0 < self.start_factor <= 1 or not 0 <= self.end_factor <= 1:
            raise ValueError(
                f"LinearLR: factors are out of range: got {start_factor} and {end_factor}, need above 0 to 1 "
                "and 0 to 1"
            )
        self.total_iters = _whole("LinearLR", "total_iters", total_iters, 1)
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        share = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * share


class PolynomialLR(_Factor):
    """Rates times (1 - step / total_iters)^power, 0 from there on."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = _whole("PolynomialLR", "total_iters", total_iters, 1)
        self.power = _number("PolynomialLR", "power", power)
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return (1 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class LambdaLR(LRScheduler):
    """The first rates times `lr_lambda(step)`, a function for all groups or a list with one for each."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _functions_of("LambdaLR", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [rate * f(self.last_epoch) for rate, f in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(LRScheduler):
    """At each step rates times `lr_lambda(step)`, a function for all groups or a list with one for each."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _functions_of("MultiplicativeLR", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        groups = self.optimizer.param_groups
        if self.last_epoch <= 0:
            return [group["lr"] for group in groups]
        return [float(group["lr"]) * f(self.last_epoch) for group, f in zip(groups, self.lr_lambdas)]


def _functions_of(what, optimizer, functions):
    count = len(getattr(optimizer, "param_groups", ())) or 1
    listed = _for_groups(what, "lr_lambda", functions, count)
    for function in listed:
        if not callable(function):
            raise TypeError(
                f"{what}: 'lr_lambda' has the wrong type: got {type(function).__name__}, need a function"
            )
    return listed


class CosineAnnealingLR(LRScheduler):
    """Rates along half a wave of a cosine, down to `eta_min` in `T_max` steps and up again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = _whole("CosineAnnealingLR", "T_max", T_max, 1)
        self.eta_min = _number("CosineAnnealingLR", "eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch):
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self):
        now, before = self._share(self.last_epoch), 1.0
        if self.last_epoch > 0:
            before = self._share(self.last_epoch - 1)
        rates = [float(group["lr"]) for group in self.optimizer.param_groups]
        if before < 1e-12:
            return [rate + (base - self.eta_min) * now for rate, base in zip(rates, self.base_lrs)]
        return [self.eta_min + (rate - self.eta_min) * now / before for rate in rates]

    def _rates_at(self):
        share = self._share(self.last_epoch)
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Rates along half a wave of a cosine down to `eta_min`, then from above again: the first in `T_0` steps,
    each further one in `T_mult` times as many. `step(epoch)` may be given fractions.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0, last_epoch=-1):
        what = "CosineAnnealingWarmRestarts"
        self.T_0, self.T_mult = _whole(what, "T_0", T_0, 1), _whole(what, "T_mult", T_mult, 1)
        self.eta_min = _number(what, "eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def step(self, epoch=None):
        """Goes on by one step, or to the number given, which may be a fraction."""
        if epoch is not None and epoch < 0:
            raise ValueError(
                f"CosineAnnealingWarmRestarts: 'epoch' is out of range: got {epoch}, need 0 or more"
            )
        super().step(epoch)

    def get_lr(self):
        at, length = self.last_epoch, self.T_0
        if self.T_mult == 1:
            at %= length
        while at >= length:
            at, length = at - length, length * self.T_mult
        share = (1 + math.cos(math.pi * at / length)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class CyclicLR(LRScheduler):
    """Rates that go in lines from `base_lr` up to `max_lr` in `step_size_up` steps and down again in
    `step_size_down`, as many by default.

    The height of cycles stays with `mode` "triangular", halves from cycle to cycle with "triangular2" and
    is times gamma^step with "exp_range"; `scale_fn` gives it instead, a function of the number of the cycle,
    beginning with 1, or of the step, as `scale_mode` says: "cycle" or "iterations". Bounds are numbers or
    lists with one for each group.
    """

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        last_epoch=-1,
    ):
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(
                f"CyclicLR: unknown 'mode': got {mode!r}, need 'triangular', 'triangular2' or 'exp_range'"
            )
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(
                f"CyclicLR: unknown 'scale_mode': got {scale_mode!r}, need 'cycle' or 'iterations'"
            )
        self._up = _whole("CyclicLR", "step_size_up", step_size_up, 1)
        down = step_size_up if step_size_down is None else step_size_down
        self._down = _whole("CyclicLR", "step_size_down", down, 1)
        self.mode, self.gamma, self.scale_fn, self.scale_mode = mode, gamma, scale_fn, scale_mode
        count = len(getattr(optimizer, "param_groups", ())) or 1
        self._low = [float(v) for v in _for_groups("CyclicLR", "base_lr", base_lr, count)]
        self.max_lrs = [float(v) for v in _for_groups("CyclicLR", "max_lr", max_lr, count)]
        if last_epoch == -1:
            for group, rate in zip(getattr(optimizer, "param_groups", ()), self._low):
                _set_rate(group, rate)
        super().__init__(optimizer, last_epoch)

    def _height(self, cycle):
        if self.scale_fn is not None:
            return self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.mode == "exp_range":
            return self.gamma**self.last_epoch
        return 1.0 if self.mode == "triangular" else 0.5 ** (cycle - 1)

    def get_lr(self):
        before, at = divmod(self.last_epoch, self._up + self._down)
        share = at / self._up if at <= self._up else 1 - (at - self._up) / self._down
        share *= self._height(before + 1)
        return [low + (high - low) * share for low, high in zip(self._low, self.max_lrs)]


class SequentialLR(LRScheduler):
    """One scheduler after the other: each takes over at a step of `milestones`, which are one fewer, and
    begins there with its first rate.
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if not isinstance(schedulers, (list, tuple)) or not schedulers:
            raise ValueError(f"SequentialLR: 'schedulers' is not usable: got {schedulers!r}, need a list")
        for i, scheduler in enumerate(schedulers):
            if getattr(scheduler, "optimizer", None) is not optimizer:
                raise ValueError(f"SequentialLR: optimizers differ: got another in scheduler {i}, need one")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: 'milestones' does not fit: got {len(milestones)} for {len(schedulers)} "
                "schedulers, need one fewer"
            )
        self.optimizer, self._schedulers, self._milestones = optimizer, list(schedulers), list(milestones)
        self.groups_num, self.last_epoch = len(optimizer.param_groups), last_epoch + 1
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        for group, rate in zip(optimizer.param_groups, self.base_lrs):
            _set_rate(group, rate)
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0].step()
        self._remember()

    def step(self, epoch=None):  # noqa: ARG002
        """Goes on by one step."""
        self.last_epoch += 1
        number = bisect.bisect_right(self._milestones, self.last_epoch)
        begins = number and self._milestones[number - 1] == self.last_epoch
        self._schedulers[number].step(*([0] if begins else []))
        self._remember()


class ReduceLROnPlateau:
    """Rates times `factor` where a measure, given to `step(metrics)`, has not got better for more than
    `patience` steps.

    Better is less with `mode` "min" and more with "max", by more than `threshold`, a share of the best one
    for `threshold_mode` "rel" or an amount for "abs". After a reduction `cooldown` steps do not count. Rates
    do not fall below `min_lr`, a number or a list with one for each group, nor change by `eps` or less.
    """

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        what = "ReduceLROnPlateau"
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"{what}: 'optimizer' has the wrong type: got {type(optimizer).__name__}, need an Optimizer"
            )
        if _number(what, "factor", factor) >= 1:
            raise ValueError(f"{what}: 'factor' is out of range: got {factor}, need less than 1")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"{what}: unknown mode: got {mode!r} and {threshold_mode!r}, need 'min' or 'max' and "
                "'rel' or 'abs'"
            )
        self.optimizer, self.mode, self.factor = optimizer, mode, factor
        self.patience = _whole(what, "patience", patience, 0)
        self.cooldown = _whole(what, "cooldown", cooldown, 0)
        self.threshold, self.threshold_mode, self.eps = threshold, threshold_mode, eps
        self.min_lrs = _for_groups(what, "min_lr", min_lr, len(optimizer.param_groups))
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._remember()

    _remember = LRScheduler._remember
    get_last_lr = LRScheduler.get_last_lr

    def _is_better(self, value):
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            bound = self.best * (1 - sign * self.threshold) if math.isfinite(self.best) else self.best
        else:
            bound = self.best - sign * self.threshold
        return sign * value < sign * bound

    def step(self, metrics):
        """Takes a measure."""
        value = float(metrics)
        self.last_epoch += 1
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, low in zip(self.optimizer.param_groups, self.min_lrs):
                old = float(group["lr"])
                new = max(old * self.factor, low)
                if old - new > self.eps:
                    _set_rate(group, new)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._remember()

    def in_cooldown(self):
        """Whether steps do not count now."""
        return self.cooldown_counter > 0
