"""Optimizers that divide by what gradients have summed up to: Adagrad, Adadelta, FTRL, ProximalAdagrad."""

from ... import _functions as F
from ._checks import check_bool, check_not_negative, check_positive, is_number
from .optimizer import Optimizer, update


class Adagrad(Optimizer):
    """s = s + g^2; p = p - lr * g / sqrt(s), where s begins as `accum`."""

    def __init__(
        self, params, accum=0.1, learning_rate=0.001, update_slots=True, loss_scale=1.0, weight_decay=0.0
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_not_negative("Adagrad", accum=accum)
        check_bool("Adagrad", update_slots=update_slots)
        self.update_slots = update_slots
        self.accum = self.make_state("accum", accum)

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        for p, s, g, rate in zip(self.parameters, self.accum, gradients, self.rates()):
            update((p, s), F.rule_adagrad(p, s, g, rate, self.update_slots))
        return True


class ProximalAdagrad(Optimizer):
    """Adagrad followed by the soft thresholds of the penalties `l1` and `l2`."""

    def __init__(
        self,
        params,
        accum=0.1,
        learning_rate=0.001,
        l1=0.0,
        l2=0.0,
        use_locking=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_not_negative("ProximalAdagrad", accum=accum, l1=l1, l2=l2)
        check_bool("ProximalAdagrad", use_locking=use_locking)
        self.l1, self.l2 = float(l1), float(l2)
        self.accum = self.make_state("accum", accum)

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        for p, s, g, rate in zip(self.parameters, self.accum, gradients, self.rates()):
            update((p, s), F.rule_proximal_adagrad(p, s, g, rate, self.l1, self.l2))
        return True


class Adadelta(Optimizer):
    """Steps as large as the root mean square of earlier steps, divided by that of gradients."""

    def __init__(self, params, learning_rate=1.0, rho=0.9, epsilon=1e-6, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_not_negative("Adadelta", epsilon=epsilon, rho=rho)
        if rho > 1:
            raise ValueError(f"Adadelta: 'rho' is out of range: got {rho}, need 0 to 1")
        self.rho, self.epsilon = float(rho), float(epsilon)
        self.accum = self.make_state("accum")
        self.accum_update = self.make_state("accum_update")

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        for p, s, u, g, rate in zip(self.parameters, self.accum, self.accum_update, gradients, self.rates()):
            update((p, s, u), F.rule_adadelta(p, s, u, g, rate, self.rho, self.epsilon))
        return True


class FTRL(Optimizer):
    """Follow the regularized leader, with penalties `l1` and `l2`."""

    def __init__(
        self,
        params,
        initial_accum=0.1,
        learning_rate=0.001,
        lr_power=-0.5,
        l1=0.0,
        l2=0.0,
        use_locking=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_not_negative("FTRL", initial_accum=initial_accum, l1=l1, l2=l2)
        check_bool("FTRL", use_locking=use_locking)
        if not is_number(lr_power) or lr_power > 0:
            raise ValueError(f"FTRL: 'lr_power' is out of range: got {lr_power!r}, need 0 or less")
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("FTRL: 'learning_rate' must be one fixed number: got rates by step or group")
        self.lr_power, self.l1, self.l2 = float(lr_power), float(l1), float(l2)
        self.moments = self.make_state("moments", initial_accum)
        self.linear = self.make_state("linear")

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        for p, s, z, g, rate in zip(self.parameters, self.moments, self.linear, gradients, self.rates()):
            update((p, s, z), F.rule_ftrl(p, s, z, g, rate, self.lr_power, self.l1, self.l2))
        return True


def _check_steps(what, etas, step_sizes):
    for name, pair in (("etas", etas), ("step_sizes", step_sizes)):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{what}: '{name}' has the wrong type: got {pair!r}, need a tuple of two floats")
    check_positive(what, etas=etas[0], step_sizes=step_sizes[0])
    if not etas[0] < 1 < etas[1]:
        raise ValueError(f"{what}: 'etas' are out of range: got {etas}, need below 1 and above 1")
    if step_sizes[0] > step_sizes[1]:
        raise ValueError(
            f"{what}: 'step_sizes' are in the wrong order: got {step_sizes}, need (smallest, largest)"
        )


class Rprop(Optimizer):
    """Resilient propagation: each element's step grows while its gradient keeps its sign and shrinks when
    it turns.
    """

    def __init__(self, params, learning_rate=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 50.0), weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        _check_steps("Rprop", etas, step_sizes)
        self.etas, self.step_sizes = etas, step_sizes
        self.prev = self.make_state("prev")
        first = self._rates[0]
        first = first(self.global_step) if self.dynamic_lr else first
        self.step_size = self.make_state("step_size", float(first))

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        self.get_lr()
        for p, before, step, g in zip(self.parameters, self.prev, self.step_size, gradients):
            update((p, before, step), F.rule_rprop(p, before, step, g, *self.etas, *self.step_sizes))
        return True
