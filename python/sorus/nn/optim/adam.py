"""Adam and its relatives."""

import inspect

from ... import _functions as F
from ._checks import check_bool, check_open_unit, check_positive
from .optimizer import Optimizer, refuse_unknown, state_parameter, update


class _AdamBase(Optimizer):
    """Hyperparameters of the family."""

    def __init__(self, params, learning_rate, beta1, beta2, eps, weight_decay, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        what = type(self).__name__
        check_open_unit(what, beta1=beta1, beta2=beta2)
        check_positive(what, eps=eps)
        self.beta1, self.beta2, self.eps = float(beta1), float(beta2), float(eps)

    def _corrected(self, rates):
        """Rates with the bias corrections of the step that begins."""
        self.beta1_power._set_value(self.beta1_power * self.beta1)
        self.beta2_power._set_value(self.beta2_power * self.beta2)
        powers = self.beta1_power.reshape(()), self.beta2_power.reshape(())
        made = {}
        for rate in rates:
            if id(rate) not in made:
                made[id(rate)] = F.rule_adam_rate(rate, *powers)
        return [made[id(rate)] for rate in rates]

    def rates(self):
        """One corrected rate for each parameter, in its dtype."""
        rates = self.get_lr()
        rates = self._corrected(rates if self.is_group_lr else (rates,) * self.param_length)
        return [self.beside(rate, p) for rate, p in zip(rates, self.parameters)]


class Adam(_AdamBase):
    """m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p = p - lr * sqrt(1 - beta2^t) / (1 -
    beta1^t) * m / (sqrt(v) + eps). `use_amsgrad` divides by the largest v so far.
    """

    _power_shape = ()

    def __init__(
        self,
        params,
        learning_rate=1e-3,
        beta1=0.9,
        beta2=0.999,
        eps=1e-8,
        use_locking=False,
        use_nesterov=False,
        weight_decay=0.0,
        loss_scale=1.0,
        use_amsgrad=False,
        **kwargs,
    ):
        known = [*inspect.signature(Adam.__init__).parameters][1:-1]
        refuse_unknown(type(self).__name__, kwargs, [*known, "use_lazy", "use_offload"])
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay, loss_scale)
        what = type(self).__name__
        check_bool(what, use_locking=use_locking, use_nesterov=use_nesterov, use_amsgrad=use_amsgrad)
        if use_nesterov and use_amsgrad:
            raise ValueError(f"{what}: 'use_nesterov' and 'use_amsgrad' exclude each other: got both")
        self.use_nesterov, self.use_amsgrad = use_nesterov, use_amsgrad
        self.beta1_power = state_parameter(1.0, "beta1_power", self._power_shape)
        self.beta2_power = state_parameter(1.0, "beta2_power", self._power_shape)
        self.moment1 = self.make_state("moment1")
        self.moment2 = self.make_state("moment2")
        if use_amsgrad:
            self.vhat = self.make_state("vhat")

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        rows = enumerate(zip(self.parameters, self.moment1, self.moment2, gradients, self.rates()))
        for i, (p, m, v, g, rate) in rows:
            if self.use_amsgrad:
                values = F.rule_amsgrad(p, m, v, self.vhat[i], g, rate, self.beta1, self.beta2, self.eps)
                update((p, m, v, self.vhat[i]), values)
            else:
                values = F.rule_adam(p, m, v, g, rate, self.beta1, self.beta2, self.eps, self.use_nesterov)
                update((p, m, v), values)
        return True


class LazyAdam(Adam):
    """Adam, which for dense gradients is what lazy updates are."""

    _power_shape = (1,)

    def __init__(
        self,
        params,
        learning_rate=1e-3,
        beta1=0.9,
        beta2=0.999,
        eps=1e-8,
        use_locking=False,
        use_nesterov=False,
        weight_decay=0.0,
        loss_scale=1.0,
    ):
        super().__init__(
            params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale
        )


class AdamOffload(LazyAdam):
    """Adam: on a CPU everything is where offloading would put it."""

    _power_shape = ()


class AdamWeightDecay(_AdamBase):
    """Adam without bias correction whose decay acts on the parameter: p = p - lr * (m / (sqrt(v) + eps) +
    decay * p).
    """

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay)
        self.moments1 = self.make_state("adam_m")
        self.moments2 = self.make_state("adam_v")

    def construct(self, gradients):
        gradients = self.prepared(gradients, decay=False)
        rates = Optimizer.rates(self)
        rows = zip(self.parameters, self.moments1, self.moments2, gradients, rates, self.decays())
        for p, m, v, g, rate, decay in rows:
            decay = float(decay)
            values = F.rule_adam_weight_decay(p, m, v, g, rate, decay, self.beta1, self.beta2, self.eps)
            update((p, m, v), values)
        return True


class AdaMax(_AdamBase):
    """Adam with the largest |g| so far, decaying, in place of the root of v."""

    def __init__(
        self, params, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0, loss_scale=1.0
    ):
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay, loss_scale)
        self.beta1_power = state_parameter(1.0, "beta1_power", (1,))
        self.moment1 = self.make_state("moment1")
        self.moment2 = self.make_state("moment2")

    def _corrected(self, rates):
        self.beta1_power._set_value(self.beta1_power * self.beta1)
        correction = 1.0 - self.beta1_power.reshape(())
        return [rate / correction for rate in rates]

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        for p, m, v, g, rate in zip(self.parameters, self.moment1, self.moment2, gradients, self.rates()):
            update((p, m, v), F.rule_ada_max(p, m, v, g, rate, self.beta1, self.beta2, self.eps))
        return True


class Lamb(_AdamBase):
    """Adam whose step on each parameter is scaled by the ratio of the norms of parameter and step."""

    def __init__(self, params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay)
        self.moments1 = self.make_state("lamb_m")
        self.moments2 = self.make_state("lamb_v")

    def construct(self, gradients):
        gradients = self.prepared(gradients, decay=False)
        step = int(self.global_step) + 1
        powers = (
            state_parameter(self.beta1**step, "beta1_power"),
            state_parameter(self.beta2**step, "beta2_power"),
        )
        rates = Optimizer.rates(self)
        rows = zip(self.parameters, self.moments1, self.moments2, gradients, rates, self.decays())
        for p, m, v, g, rate, decay in rows:
            decay = float(decay)
            values = F.rule_lamb(p, m, v, g, rate, *powers, decay, self.beta1, self.beta2, self.eps)
            update((p, m, v), values)
        return True
