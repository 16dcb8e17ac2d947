"""Learning rates as lists with one number for each step."""

import math


def _check(total_step, step_per_epoch, what):
    for name, value in (("total_step", total_step), ("step_per_epoch", step_per_epoch)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need an int")
        if value <= 0:
            raise ValueError(f"{what}: '{name}' is out of range: got {value}, need more than 0")


def _decays(total_step, step_per_epoch, decay_epoch, is_stair, rate, what):
    _check(total_step, step_per_epoch, what)
    parts = []
    for i in range(total_step):
        epoch = math.floor(i / step_per_epoch)
        parts.append(math.floor(epoch / decay_epoch) if is_stair else epoch / decay_epoch)
    return [rate(p) for p in parts]


def piecewise_constant_lr(milestone, learning_rates):
    """learning_rates[i] up to step milestone[i]."""
    if len(milestone) != len(learning_rates):
        raise ValueError(
            f"piecewise_constant_lr: lengths differ: got {len(milestone)} milestones and "
            f"{len(learning_rates)} rates, need equal"
        )
    rates, last = [], 0
    for step, rate in zip(milestone, learning_rates):
        if step < last:
            raise ValueError(f"piecewise_constant_lr: milestones fall: got {milestone}, need rising ones")
        rates += [rate] * (step - last)
        last = step
    return rates


def exponential_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """rate * decay_rate ** (epoch / decay_epoch)."""
    return _decays(
        total_step,
        step_per_epoch,
        decay_epoch,
        is_stair,
        lambda p: learning_rate * decay_rate**p,
        "exponential_decay_lr",
    )


def natural_exp_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """rate * e ** (-decay_rate * epoch), the epochs in steps of decay_epoch with is_stair."""
    _check(total_step, step_per_epoch, "natural_exp_decay_lr")
    rates = []
    for i in range(total_step):
        epoch = math.floor(i / step_per_epoch)
        part = math.floor(epoch / decay_epoch) * decay_epoch if is_stair else epoch
        rates.append(learning_rate * math.e ** (-decay_rate * part))
    return rates


def inverse_decay_lr(learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair=False):
    """rate / (1 + decay_rate * epoch / decay_epoch)."""
    return _decays(
        total_step,
        step_per_epoch,
        decay_epoch,
        is_stair,
        lambda p: learning_rate / (1 + decay_rate * p),
        "inverse_decay_lr",
    )


def cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch):
    """From max_lr to min_lr along half a cosine."""
    _check(total_step, step_per_epoch, "cosine_decay_lr")
    if min_lr < 0 or max_lr <= min_lr:
        raise ValueError(
            f"cosine_decay_lr: rates are out of range: got {min_lr} to {max_lr}, need 0 <= min < max"
        )
    rates = []
    for i in range(total_step):
        epoch = min(math.floor(i / step_per_epoch), decay_epoch)
        rates.append(min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * epoch / decay_epoch)))
    return rates


def polynomial_decay_lr(
    learning_rate, end_learning_rate, total_step, step_per_epoch, decay_epoch, power, update_decay_epoch=False
):
    """From learning_rate to end_learning_rate along a power."""
    _check(total_step, step_per_epoch, "polynomial_decay_lr")
    rates = []
    for i in range(total_step):
        epoch = math.floor(i / step_per_epoch)
        epochs = decay_epoch
        if update_decay_epoch:
            epochs *= max(math.ceil(epoch / epochs), 1)
        part = min(epoch, epochs) / epochs
        rates.append((learning_rate - end_learning_rate) * (1 - part) ** power + end_learning_rate)
    return rates


def warmup_lr(learning_rate, total_step, step_per_epoch, warmup_epoch):
    """From 0 to learning_rate in warmup_epoch epochs."""
    _check(total_step, step_per_epoch, "warmup_lr")
    return [
        learning_rate / warmup_epoch * min(math.floor(i / step_per_epoch), warmup_epoch)
        for i in range(total_step)
    ]
