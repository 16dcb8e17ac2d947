"""The optimizers: each keeps its state and applies an update rule of the library."""

from ... import _core
from ... import _functions as F
from ..._core import Tensor
from ...common.parameter import Parameter
from .optimizer import Optimizer, update

_float32 = _core.dtypes["float32"]


def _scalar(value, name):
    return Parameter(Tensor(value, _float32), name=name, requires_grad=False)


def _unit(value, name, what, high=True):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a number")
    if value < 0 or (high and value >= 1):
        raise ValueError(
            f"{what}: '{name}' is out of range: got {value}, need at least 0{', less than 1' * high}"
        )
    return float(value)


class SGD(Optimizer):
    """Stochastic gradient descent with momentum, dampening and Nesterov's step."""

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
        momentum = _unit(momentum, "momentum", "SGD", high=False)
        self.dampening = _unit(dampening, "dampening", "SGD", high=False)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"SGD: 'nesterov' needs momentum and no dampening: got {momentum} and {dampening}"
            )
        self.nesterov = nesterov
        self.momentum = _scalar(momentum, "momentum")
        self.accum = self.make_state("accum")
        self.stat = self.make_state("stat", "ones")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            g = self.decayed(i, g, step)
            new, v, stat = F.rule_sgd(
                p,
                self.accum[i],
                self.stat[i],
                g,
                self.rate_of(i, step),
                self.momentum,
                self.dampening,
                self.nesterov,
            )
            update(p, new, self.accum[i], v, self.stat[i], stat)
        return True


class Momentum(Optimizer):
    """Gradient descent with momentum."""

    def __init__(self, params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0, use_nesterov=False):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum = _unit(momentum, "momentum", "Momentum", high=False)
        self.momentum = _scalar(momentum, "momentum")
        self.use_nesterov = use_nesterov
        self.moments = self.make_state("moments")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            g = self.decayed(i, g, step)
            new, v = F.rule_momentum(
                p, self.moments[i], g, self.rate_of(i, step), self.momentum, self.use_nesterov
            )
            update(p, new, self.moments[i], v)
        return True


class Adam(Optimizer):
    """Adam, with Nesterov's step or AMSGrad when asked for."""

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
    ):  # noqa: ARG002
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2 = _unit(beta1, "beta1", "Adam"), _unit(beta2, "beta2", "Adam")
        self.eps, self.use_nesterov, self.use_amsgrad = float(eps), use_nesterov, use_amsgrad
        self.beta1_power, self.beta2_power = _scalar(1.0, "beta1_power"), _scalar(1.0, "beta2_power")
        self.moment1, self.moment2 = self.make_state("moment1"), self.make_state("moment2")
        if use_amsgrad:
            self.vhat = self.make_state("vhat")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        self.beta1_power.set_data(self.beta1_power * self.beta1)
        self.beta2_power.set_data(self.beta2_power * self.beta2)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            g = self.decayed(i, g, step)
            rate = F.rule_adam_rate(self.rate_of(i, step), self.beta1_power, self.beta2_power)
            m, v = self.moment1[i], self.moment2[i]
            if self.use_amsgrad:
                made = F.rule_amsgrad(p, m, v, self.vhat[i], g, rate, self.beta1, self.beta2, self.eps)
                update(p, made[0], m, made[1], v, made[2], self.vhat[i], made[3])
            else:
                made = F.rule_adam(p, m, v, g, rate, self.beta1, self.beta2, self.eps, self.use_nesterov)
                update(p, made[0], m, made[1], v, made[2])
        return True


class AdamWeightDecay(Optimizer):
    """Adam without bias correction, the decay applied to the parameter."""

    def __init__(self, params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2 = (
            _unit(beta1, "beta1", "AdamWeightDecay"),
            _unit(beta2, "beta2", "AdamWeightDecay"),
        )
        self.eps = float(eps)
        self.moments1, self.moments2 = self.make_state("adam_m"), self.make_state("adam_v")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            m, v = self.moments1[i], self.moments2[i]
            made = F.rule_adam_weight_decay(
                p,
                m,
                v,
                g,
                self.rate_of(i, step),
                float(self.decay_of(i, step)),
                self.beta1,
                self.beta2,
                self.eps,
            )
            update(p, made[0], m, made[1], v, made[2])
        return True


class AdaMax(Optimizer):
    """Adam with the infinity norm."""

    def __init__(
        self, params, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0, loss_scale=1.0
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2 = _unit(beta1, "beta1", "AdaMax"), _unit(beta2, "beta2", "AdaMax")
        self.eps = float(eps)
        self.beta1_power = _scalar(1.0, "beta1_power")
        self.moment1, self.moment2 = self.make_state("moment1"), self.make_state("moment2")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        self.beta1_power.set_data(self.beta1_power * self.beta1)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            g = self.decayed(i, g, step)
            rate = self.rate_of(i, step) / (1 - self.beta1_power)
            m, v = self.moment1[i], self.moment2[i]
            made = F.rule_ada_max(p, m, v, g, rate, self.beta1, self.beta2, self.eps)
            update(p, made[0], m, made[1], v, made[2])
        return True


class Lamb(Optimizer):
    """Adam whose step is scaled layer by layer."""

    def __init__(self, params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2 = _unit(beta1, "beta1", "Lamb"), _unit(beta2, "beta2", "Lamb")
        self.eps = float(eps)
        self.beta1_power, self.beta2_power = _scalar(1.0, "beta1_power"), _scalar(1.0, "beta2_power")
        self.moments1, self.moments2 = self.make_state("lamb_m"), self.make_state("lamb_v")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        self.beta1_power.set_data(self.beta1_power * self.beta1)
        self.beta2_power.set_data(self.beta2_power * self.beta2)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            m, v = self.moments1[i], self.moments2[i]
            made = F.rule_lamb(
                p,
                m,
                v,
                g,
                self.rate_of(i, step),
                self.beta1_power,
                self.beta2_power,
                float(self.decay_of(i, step)),
                self.beta1,
                self.beta2,
                self.eps,
            )
            update(p, made[0], m, made[1], v, made[2])
        return True


class RMSProp(Optimizer):
    """Gradients divided by a running root mean square."""

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
    ):  # noqa: ARG002
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay, self.momentum = _unit(decay, "decay", "RMSProp", high=False), float(momentum)
        self.epsilon, self.centered = float(epsilon), centered
        if centered:
            self.mg = self.make_state("mean_grad")
        self.ms, self.moment = self.make_state("mean_square", "ones"), self.make_state("moment")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            g = self.decayed(i, g, step)
            s, u = self.ms[i], self.moment[i]
            a = self.mg[i] if self.centered else s
            made = F.rule_rms_prop(
                p, s, u, a, g, self.rate_of(i, step), self.decay, self.momentum, self.epsilon, self.centered
            )
            update(p, made[0], s, made[1], u, made[2])
            if self.centered:
                a.set_data(made[3])
        return True


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares."""

    def __init__(
        self, params, accum=0.1, learning_rate=0.001, update_slots=True, loss_scale=1.0, weight_decay=0.0
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.update_slots = update_slots
        self.accum = self.make_state("accum", accum)

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            g = self.decayed(i, g, step)
            made = F.rule_adagrad(p, self.accum[i], g, self.rate_of(i, step), self.update_slots)
            update(p, made[0], self.accum[i], made[1])
        return True


class Adadelta(Optimizer):
    """Steps from running means of squared gradients and squared steps."""

    def __init__(self, params, learning_rate=1.0, rho=0.9, epsilon=1e-6, loss_scale=1.0, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho, self.epsilon = _unit(rho, "rho", "Adadelta", high=False), float(epsilon)
        self.accum, self.accum_update = self.make_state("accum"), self.make_state("accum_update")

    def construct(self, gradients):
        gradients, step = self.begin(gradients)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            g = self.decayed(i, g, step)
            s, u = self.accum[i], self.accum_update[i]
            made = F.rule_adadelta(p, s, u, g, self.rate_of(i, step), self.rho, self.epsilon)
            update(p, made[0], s, made[1], u, made[2])
        return True
