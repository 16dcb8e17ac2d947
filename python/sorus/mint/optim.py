"""Optimizers with the names and arguments of torch, called with the gradients: `optimizer(gradients)`."""

import math
from collections.abc import Iterable

import numpy as np

from .. import _core, _functions as F, ops
from .._core import Tensor
from ..common.parameter import Parameter, ParameterTuple
from ..nn.cell import Cell
from ..nn.layer.basic import given
from ..nn.optim._checks import check_gradients

_float32 = _core.dtypes["float32"]


def _rate(value, what):
    """A rate as a Parameter, so that it may change from step to step without a new compilation."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what}: 'lr' has the wrong type: got {value!r}, need a number or a Tensor")
    if not value >= 0:
        raise ValueError(f"{what}: 'lr' is out of range: got {value}, need 0 or more")
    return Parameter(Tensor(float(value), _float32), name="lr", requires_grad=False)


class Optimizer(Cell):
    """The base: `param_groups` is a list of dicts with "params" and what else a group says; what it does not
    say is taken from the arguments.
    """

    def __init__(self, params, defaults):
        super().__init__(auto_prefix=False)
        what = type(self).__name__
        if isinstance(params, (Parameter, str, dict)) or not isinstance(params, Iterable):
            raise TypeError(f"{what}: 'params' has the wrong type: got {type(params).__name__}, need a list")
        groups = list(params)
        if not groups:
            raise ValueError(f"{what}: 'params' is empty: got no parameter, need at least one")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.defaults, self.param_groups = defaults, []
        for group in groups:
            if not isinstance(group, dict) or "params" not in group:
                raise TypeError(
                    f"{what}: 'params' mixes kinds: need all Parameters or all dicts with 'params'"
                )
            unknown = [key for key in group if key != "params" and key not in defaults]
            if unknown:
                raise ValueError(
                    f"{what}: group has unknown keys: got {unknown}, need some of {list(defaults)}"
                )
            made = {**defaults, **group}
            members = [made["params"]] if isinstance(made["params"], Parameter) else list(made["params"])
            for p in members:
                if not isinstance(p, Parameter):
                    raise TypeError(
                        f"{what}: 'params' has the wrong type: got {type(p).__name__}, need Parameters"
                    )
            made["params"], made["lr"] = members, _rate(made["lr"], what)
            self._check(made)
            self.param_groups.append(made)
        self.parameters = ParameterTuple([p for group in self.param_groups for p in group["params"]])
        if len({id(p) for p in self.parameters}) != len(self.parameters):
            raise ValueError(f"{what}: a parameter stands in several places: need each once")

    def _check(self, group):
        """Refuses what a group must not say."""

    def _state(self, kind):
        made = []
        for p in self.parameters:
            value = Tensor(np.zeros(p.shape, np.float32), p.dtype)
            made.append(Parameter(value, name=f"{kind}.{p.name}", requires_grad=False))
        return ParameterTuple(made)

    def _rows(self, gradients):
        """(number, parameter, gradient, group, its rate) one after the other."""
        gradients = tuple(gradients)
        check_gradients(type(self).__name__, self.parameters, gradients)
        number = 0
        for group in self.param_groups:
            for p in group["params"]:
                g = -gradients[number] if group["maximize"] else gradients[number]
                rate = group["lr"]
                yield number, p, g, group, rate.astype(p.dtype) if isinstance(rate, Tensor) else rate
                number += 1


def _check_range(what, name, value, low, high=math.inf):
    if not low <= value < high:
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need {low} <= {name} < {high}")


class SGD(Optimizer):
    """p = p - lr * g, or with momentum of the velocity, which starts as the first gradient.

    >>> from sorus import Parameter, Tensor, mint
    >>> p = Parameter(Tensor([1.0, 2.0]), name="p")
    >>> _ = mint.optim.SGD([p], lr=0.5)((Tensor([1.0, 2.0]),))
    >>> p.tolist()
    [0.5, 1.0]
    """

    def __init__(
        self, params, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False
    ):
        super().__init__(params, given(locals(), "params"))
        self.accum = self._state("accum")
        self.stat = ParameterTuple(
            [
                Parameter(s + 1, name=f"stat.{p.name}", requires_grad=False)
                for s, p in zip(self.accum, self.parameters)
            ]
        )

    def _check(self, group):
        _check_range("SGD", "momentum", group["momentum"], 0)
        _check_range("SGD", "weight_decay", group["weight_decay"], 0)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError(
                f"SGD: 'nesterov' does not fit: got momentum {group['momentum']} and dampening "
                f"{group['dampening']}, need momentum above 0 and no dampening"
            )

    def construct(self, gradients):
        for i, p, g, group, rate in self._rows(gradients):
            if group["weight_decay"]:
                g = g + p * group["weight_decay"]
            if not group["momentum"]:
                p._set_value(p - rate * g)
                continue
            v, first = self.accum[i], self.stat[i]
            values = F.rule_sgd(
                p,
                v,
                first,
                g,
                rate,
                Tensor(float(group["momentum"]), p.dtype),
                float(group["dampening"]),
                bool(group["nesterov"]),
            )
            for variable, value in zip((p, v, first), values):
                variable._set_value(value)
        return True


class Adam(Optimizer):
    """m and v are means of g and g^2 over about 1 / (1 - beta) steps; p = p - lr * m' / (sqrt(v') + eps) with
    m' and v' corrected for their start at 0. `amsgrad` takes the largest v so far.
    """

    _decays_gradient = True

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        amsgrad=False,
        *,
        maximize=False,
    ):
        super().__init__(params, given(locals(), "params"))
        self.exp_avg = self._state("exp_avg")
        self.exp_avg_sq = self._state("exp_avg_sq")
        self.max_exp_avg_sq = None
        if any(group["amsgrad"] for group in self.param_groups):
            self.max_exp_avg_sq = self._state("max_exp_avg_sq")
        self.state_step = Parameter(Tensor(0.0, _float32), name="state_step", requires_grad=False)

    def _check(self, group):
        what = type(self).__name__
        if len(group["betas"]) != 2:
            raise ValueError(f"{what}: 'betas' has the wrong length: got {group['betas']}, need two numbers")
        for beta in group["betas"]:
            _check_range(what, "betas", beta, 0, 1)
        _check_range(what, "eps", group["eps"], 0)
        _check_range(what, "weight_decay", group["weight_decay"], 0)

    def construct(self, gradients):
        self.state_step._set_value(self.state_step + 1)
        made = {}

        def remainder(beta):
            """1 - beta^step, without the loss of a difference of near numbers."""
            if beta == 0:
                return 1.0
            if beta not in made:
                made[beta] = -ops.expm1(self.state_step * math.log(beta))
            return made[beta]

        for i, p, g, group, rate in self._rows(gradients):
            decay, (beta1, beta2) = group["weight_decay"], group["betas"]
            value = p.value()
            if decay and self._decays_gradient:
                g = g + value * decay
            elif decay:
                value = value * (1 - rate * decay)
            m, v = self.exp_avg[i], self.exp_avg_sq[i]
            m._set_value(m * beta1 + g * (1 - beta1))
            v._set_value(v * beta2 + g * g * (1 - beta2))
            largest = v
            if group["amsgrad"]:
                largest = self.max_exp_avg_sq[i]
                largest._set_value(ops.maximum(largest, v))
            root = ops.sqrt(largest / remainder(beta2)) + group["eps"]
            p._set_value((value - rate * (m / remainder(beta1)) / root).astype(p.dtype))
        return True


class AdamW(Adam):
    """Adam whose decay acts on the parameter: p = p - lr * weight_decay * p first."""

    _decays_gradient = False

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
    ):
        super().__init__(**given(locals()))
