"""RMSProp."""

from ... import _functions as F
from ._checks import check_bool, check_not_negative, check_positive
from .optimizer import Optimizer, update


class RMSProp(Optimizer):
    """s = decay s + (1 - decay) g^2; u = momentum u + lr g / sqrt(s + epsilon); p = p - u. `centered`
    subtracts the square of the mean gradient from s.
    """

    def __init__(
        self,
        params,
        learning_rate=0.1,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        loss_scale=1.0,
        weight_decay=0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_not_negative("RMSProp", decay=decay, momentum=momentum)
        check_positive("RMSProp", epsilon=epsilon)
        check_bool("RMSProp", use_locking=use_locking, centered=centered)
        self.decay, self.momentum, self.epsilon = float(decay), float(momentum), float(epsilon)
        self.centered = centered
        if centered:
            self.mg = self.make_state("mean_grad")
        self.ms = self.make_state("mean_square", 1.0)
        self.moment = self.make_state("moment")

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        for i, (p, g, rate) in enumerate(zip(self.parameters, gradients, self.rates())):
            mean = self.mg[i] if self.centered else p  # taken only when centered
            values = F.rule_rms_prop(
                p,
                self.ms[i],
                self.moment[i],
                mean,
                g,
                rate,
                self.decay,
                self.momentum,
                self.epsilon,
                self.centered,
            )
            handles = (p, self.ms[i], self.moment[i])
            update((*handles, mean) if self.centered else handles, values)
        return True
