"""The base of optimizers: parameter groups, learning rates, weight decay."""

from ... import _core, ops
from ... import _functions as F
from ..._core import Tensor
from ...common.parameter import Parameter, ParameterTuple
from ..cell import Cell
from ..learning_rate_schedule import LearningRateSchedule

_float32, _int32 = _core.dtypes["float32"], _core.dtypes["int32"]


class _IteratorLearningRate(Cell):
    """Rates by step, kept as a parameter so that a checkpoint holds them."""

    def __init__(self, rates, name):
        super().__init__(auto_prefix=False)
        self.values = rates
        self.learning_rate = Parameter(Tensor(rates, _float32), name=name, requires_grad=False)

    def construct(self, step):
        """The rate of a step; the last one goes on."""
        return Tensor(self.values[min(step, len(self.values) - 1)], _float32)


class Optimizer(Cell):
    """Updates parameters by their gradients: `optimizer(gradients)`.

    `parameters` is a list of parameters or of groups `{"params": [...], "lr": ..., "weight_decay": ...,
    "grad_centralization": ...}`, with an optional last `{"order_params": [...]}`.
    `learning_rate` is a number, a list
    or tensor with one rate for each step, or a LearningRateSchedule.
    """

    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        parameters = list(parameters)
        if not parameters:
            raise ValueError(
                f"{type(self).__name__}: no parameters: got an empty list, need parameters or groups"
            )
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)):
            raise TypeError(
                f"{type(self).__name__}: 'loss_scale' has the wrong type: got {loss_scale!r}, need a number"
            )
        if loss_scale <= 0:
            raise ValueError(
                f"{type(self).__name__}: 'loss_scale' is out of range: got {loss_scale}, need more than 0"
            )
        self.loss_scale = float(loss_scale)
        self.is_group = isinstance(parameters[0], dict)
        flat, rates, decays = self._read_groups(parameters, learning_rate, weight_decay)
        self.dynamic_lr = any(not isinstance(r, float) for r in rates)
        self.is_group_lr = self.is_group and any("lr" in g for g in parameters)
        self._rates, self._decays = rates, decays
        self.global_step = Parameter(Tensor([0], _int32), name="global_step", requires_grad=False)
        self._make_rate_parameter(rates)
        self.parameters = ParameterTuple(flat)
        self._parameters = self.parameters
        self.weight_decay = weight_decay
        self.exec_weight_decay = any(d != 0 for d in decays)
        self.param_length = len(flat)
        self._step_count = 0

    def _read_groups(self, parameters, learning_rate, weight_decay):
        what = type(self).__name__
        if not self.is_group:
            _check_parameters(parameters, what)
            rate, decay = _read_rate(learning_rate, what), _read_decay(weight_decay, what)
            # Biases and norms decay like the rest; groups tell them apart.
            return parameters, [rate] * len(parameters), [decay] * len(parameters)
        found = {}
        order = None
        for group in parameters:
            if "order_params" in group:
                order = list(group["order_params"])
                continue
            rate = _read_rate(group.get("lr", learning_rate), what)
            decay = _read_decay(group.get("weight_decay", weight_decay), what)
            members = list(group["params"])
            _check_parameters(members, what)
            for p in members:
                if id(p) in found:
                    raise RuntimeError(
                        f"{what}: parameter is in two groups: got '{p.name}' again, need it once"
                    )
                found[id(p)] = (p, rate, decay)
        if order is not None:
            if {id(p) for p in order} != set(found):
                raise ValueError(f"{what}: 'order_params' differs from the groups: need the same parameters")
            found = {id(p): found[id(p)] for p in order}
        rows = list(found.values())
        return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]

    def _make_rate_parameter(self, rates):
        """Rates that are no schedules are parameters: changed between steps, held by checkpoints."""
        self.learning_rate = None
        made = {}
        for n, rate in enumerate(rates):
            name = f"learning_rate_group_{len(made)}" if self.is_group_lr else "learning_rate"
            key = id(rate) if not isinstance(rate, float) else rate
            if key not in made:
                if isinstance(rate, float):
                    made[key] = Parameter(Tensor(rate, _float32), name=name, requires_grad=False)
                    attribute = name if self.is_group_lr else "learning_rate"
                    setattr(self, attribute, made[key])
                elif isinstance(rate, list):
                    made[key] = _IteratorLearningRate(rate, name)
                    setattr(self, f"rates_{len(made)}", made[key])
                else:
                    made[key] = rate
                    setattr(self, f"rates_{len(made)}", rate)
            rates[n] = made[key]

    # ------------------------------------------------------------------------------------- for subclasses

    def make_state(self, prefix, init="zeros"):
        """A parameter beside each parameter, named `prefix.<name>`."""
        return self.parameters.clone(prefix=prefix, init=init)

    def begin(self, gradients):
        """Gradients without the loss scale, checked, and counts the step."""
        gradients = tuple(gradients)
        if len(gradients) != self.param_length:
            raise ValueError(
                f"{type(self).__name__}: number of gradients differs: got {len(gradients)}, need "
                f"{self.param_length}"
            )
        step = self._step_count
        self._step_count += 1
        self.global_step.set_data(self.global_step + 1)
        if self.loss_scale != 1.0:
            gradients = tuple(F.mul(g, 1.0 / self.loss_scale) for g in gradients)
        return gradients, step

    def rate_of(self, i, step):
        """The rate of parameter i at a step, as a float32 tensor of rank 0."""
        rate = self._rates[i]
        if isinstance(rate, Parameter):
            return rate
        if isinstance(rate, LearningRateSchedule):
            return rate(Tensor(step, _int32))
        return rate.construct(step)

    def decayed(self, i, gradient, step):
        """The gradient plus weight decay times the parameter."""
        decay = self.decay_of(i, step)
        return F.add(gradient, F.mul(self.parameters[i], decay)) if decay else gradient

    def decay_of(self, i, step):
        """Weight decay of parameter i at a step."""
        decay = self._decays[i]
        return decay(Tensor(step, _int32)) if isinstance(decay, Cell) else decay

    def get_lr(self):
        """The rate of the coming step, or one for each parameter."""
        rates = [self.rate_of(i, self._step_count) for i in range(self.param_length)]
        return tuple(rates) if self.is_group_lr else rates[0]

    def get_weight_decay(self):
        """Weight decay, or one for each parameter."""
        decays = [self.decay_of(i, self._step_count) for i in range(self.param_length)]
        return tuple(decays) if self.is_group else decays[0]

    def get_lr_parameter(self, param):
        """The rate of a parameter."""
        for i, p in enumerate(self.parameters):
            if p is param:
                return self._rates[i]
        raise ValueError(f"get_lr_parameter: parameter is not here: got {param}, need one of the optimizer")

    @property
    def unique(self):
        """Accepted for compatibility."""
        return True

    @unique.setter
    def unique(self, value):
        pass

    def broadcast_params(self, optim_result):
        """One process has all parameters."""
        return optim_result

    def decay_weight(self, gradients):
        """Gradients plus weight decay times the parameters."""
        return tuple(self.decayed(i, g, self._step_count) for i, g in enumerate(gradients))

    def scale_grad(self, gradients):
        """Gradients without the loss scale."""
        if self.loss_scale == 1.0:
            return gradients
        return tuple(F.mul(g, 1.0 / self.loss_scale) for g in gradients)

    def extend_repr(self):
        return ""


def update(parameter, *pairs):
    """Gives parameters their new values: `update(p, new, m, new_m)`."""
    values = (parameter, *pairs)
    for target, value in zip(values[0::2], values[1::2]):
        target.set_data(value)


def _check_parameters(parameters, what):
    for p in parameters:
        if not isinstance(p, Parameter):
            raise TypeError(f"{what}: parameter has the wrong type: got {type(p).__name__}, need a Parameter")
    names = [p.name for p in parameters]
    for name in names:
        if names.count(name) > 1:
            raise RuntimeError(f"{what}: two parameters share a name: got '{name}', need distinct names")


def _read_rate(rate, what):
    if isinstance(rate, LearningRateSchedule):
        return rate
    if isinstance(rate, bool):
        raise TypeError(
            f"{what}: 'learning_rate' has the wrong type: got bool, need a number, list or schedule"
        )
    if isinstance(rate, (int, float)):
        if rate < 0:
            raise ValueError(f"{what}: 'learning_rate' is out of range: got {rate}, need 0 or more")
        return float(rate)
    if isinstance(rate, Tensor):
        values = rate.asnumpy().reshape(-1).tolist()
        return float(values[0]) if rate.ndim == 0 or len(values) == 1 else values
    if hasattr(rate, "__iter__"):
        values = [float(v) for v in rate]
        if not values:
            raise ValueError(f"{what}: 'learning_rate' is empty: got no rates, need one or more")
        return values
    raise TypeError(
        f"{what}: 'learning_rate' has the wrong type: got {type(rate).__name__}, need a number, list or "
        f"schedule"
    )


def _read_decay(decay, what):
    if isinstance(decay, Cell):
        return decay
    if isinstance(decay, bool) or not isinstance(decay, (int, float)):
        raise TypeError(
            f"{what}: 'weight_decay' has the wrong type: got {type(decay).__name__}, need a number"
        )
    if decay < 0:
        raise ValueError(f"{what}: 'weight_decay' is out of range: got {decay}, need 0 or more")
    return float(decay)


def opt_init_args_register(function):
    """The constructor itself."""
    return function


def centralize(gradient):
    """The gradient with the mean over all axes but the first taken away."""
    return (
        gradient - ops.mean(gradient, tuple(range(1, gradient.ndim)), True) if gradient.ndim > 1 else gradient
    )
