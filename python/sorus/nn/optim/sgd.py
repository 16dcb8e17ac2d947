"""Stochastic gradient descent."""

from ... import _functions as F
from ._checks import check_bool, check_not_negative
from .optimizer import Optimizer, state_parameter, update


class SGD(Optimizer):
    """p = p - lr * g, or with momentum as `Momentum`, the velocity starting as the first gradient.

    >>> from sorus import Parameter, Tensor, nn
    >>> p = Parameter(Tensor([1.0, 2.0]), name="p")
    >>> nn.SGD([p], learning_rate=0.5)((Tensor([1.0, 2.0]),))
    True
    >>> p.tolist()
    [0.5, 1.0]
    """

    def __init__(
        self,
        params,
        learning_rate=0.1,
        momentum=0.0,
        dampening=0.0,
        weight_decay=0.0,
        nesterov=False,
        loss_scale=1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_not_negative("SGD", momentum=momentum, dampening=dampening)
        check_bool("SGD", nesterov=nesterov)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"SGD: 'nesterov' does not fit: got momentum {momentum} and dampening {dampening}, "
                "need momentum above "
                "0 and no dampening"
            )
        self.dampening = float(dampening)
        self.nesterov = nesterov
        self._plain = momentum == 0
        self.momentum = state_parameter(momentum, "momentum")
        self.accum = self.make_state("accum")
        self.stat = self.make_state("stat", 1.0)

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        rows = zip(self.parameters, self.accum, self.stat, gradients, self.rates())
        for p, v, first, g, rate in rows:
            if self._plain:
                p._set_value(F.rule_gradient_descent(p, g, rate))
            else:
                update(
                    (p, v, first),
                    F.rule_sgd(p, v, first, g, rate, self.momentum, self.dampening, self.nesterov),
                )
        return True
