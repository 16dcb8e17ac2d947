"""Learning rates as lists, one float for each step. Schedules count epochs here."""

from .. import _functions as F
from .learning_rate_schedule import _check_bool, _check_positive, _check_rate


def _by_epoch(rate, total_step, step_per_epoch, what):
    _check_positive(total_step, "total_step", what)
    _check_positive(step_per_epoch, "step_per_epoch", what)
    rates = [rate(epoch) for epoch in range((total_step - 1) // step_per_epoch + 1)]
    return [rates[step // step_per_epoch] for step in range(total_step)]


def _decay(kind, learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair):
    what, function = kind + "_lr", getattr(F, kind + "_rate")
    _check_rate(learning_rate, "learning_rate", what)
    _check_rate(decay_rate, "decay_rate", what)
    _check_positive(decay_epoch, "decay_epoch", what)
    _check_bool(is_stair, "is_stair", what)

    def rate(epoch):
        return function(learning_rate, decay_rate, decay_epoch, is_stair, epoch)

    return _by_epoch(rate, total_step, step_per_epoch, what)


def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """learning_rate * decay_rate ** (epoch / decay_epoch) for each step."""
    return _decay("exponential_decay", **locals())


def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """learning_rate * e ** (-decay_rate * epoch) for each step; epochs count in decay_epoch's multiples if
    asked.
    """
    return _decay("natural_exp_decay", **locals())


def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """learning_rate / (1 + decay_rate * epoch / decay_epoch) for each step."""
    return _decay("inverse_decay", **locals())


def cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch):
    """From max_lr to min_lr along half a cosine over decay_epoch epochs, for each step."""
    _check_rate(min_lr, "min_lr", "cosine_decay_lr", zero=True)
    _check_rate(max_lr, "max_lr", "cosine_decay_lr")
    _check_positive(decay_epoch, "decay_epoch", "cosine_decay_lr")
    return _by_epoch(
        lambda epoch: F.cosine_decay_rate(min_lr, max_lr, decay_epoch, epoch),
        total_step,
        step_per_epoch,
        "cosine_decay_lr",
    )


def polynomial_decay_lr(
    learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power, update_decay_epoch=False
):
    """(learning_rate - end) * (1 - epoch / decay_epoch) ** power + end for each step."""
    _check_rate(learning_rate, "learning_rate", "polynomial_decay_lr")
    _check_rate(end_learning_rate, "end_learning_rate", "polynomial_decay_lr", zero=True)
    _check_positive(decay_epoch, "decay_epoch", "polynomial_decay_lr")
    _check_rate(power, "power", "polynomial_decay_lr")
    _check_bool(update_decay_epoch, "update_decay_epoch", "polynomial_decay_lr")

    def rate(epoch):
        return F.polynomial_decay_rate(
            learning_rate, end_learning_rate, decay_epoch, power, update_decay_epoch, epoch
        )

    return _by_epoch(rate, total_step, step_per_epoch, "polynomial_decay_lr")


def warmup_lr(learning_rate, total_step, step_per_epoch, warmup_epoch):
    """learning_rate * min(epoch, warmup_epoch) / warmup_epoch for each step."""
    _check_rate(learning_rate, "learning_rate", "warmup_lr")
    _check_positive(warmup_epoch, "warmup_epoch", "warmup_lr")
    return _by_epoch(
        lambda epoch: F.warm_up_rate(learning_rate, warmup_epoch, epoch),
        total_step,
        step_per_epoch,
        "warmup_lr",
    )


def piecewise_constant_lr(milestone, learning_rates):
    """learning_rates[i] from milestone[i - 1] to before milestone[i]; as long as the last milestone."""
    for name, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"piecewise_constant_lr: '{name}' has the wrong type: got {type(value).__name__}, need a list"
            )
    if len(milestone) != len(learning_rates):
        raise ValueError(
            f"piecewise_constant_lr: lists differ in length: got {len(milestone)} milestones and "
            f"{len(learning_rates)} learning_rates, need as many"
        )
    rates, before = [], 0
    for end, rate in zip(milestone, learning_rates):
        _check_positive(end, "milestone", "piecewise_constant_lr")
        _check_rate(rate, "learning_rates", "piecewise_constant_lr", zero=True)
        if end < before:
            raise ValueError(f"piecewise_constant_lr: milestones do not rise: got {end} after {before}")
        rates += [rate] * (end - before)
        before = end
    return rates
