"""Momentum."""

from ... import _functions as F
from ._checks import check_bool, check_not_negative
from .optimizer import Optimizer, state_parameter, update


class Momentum(Optimizer):
    """v = momentum * v + g; p = p - lr * v, or p - lr * (g + momentum * v) with `use_nesterov`."""

    def __init__(self, params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0, use_nesterov=False):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_not_negative("Momentum", momentum=momentum)
        check_bool("Momentum", use_nesterov=use_nesterov)
        self.momentum = state_parameter(momentum, "momentum")
        self.use_nesterov = use_nesterov
        self.params = self.parameters
        self.moments = self.make_state("moments")

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        rows = zip(self.parameters, self.moments, gradients, self.rates())
        for p, v, g, rate in rows:
            update((p, v), F.rule_momentum(p, v, g, rate, self.momentum, self.use_nesterov))
        return True
