"""The base of optimizers: learning rates, weight decay and groups of parameters."""

import inspect
from collections.abc import Iterable

import numpy as np

from ... import _core
from ..._near import near_names
from ..._core import Tensor
from ...common.parameter import Parameter, ParameterTuple
from ...ops import AssignAdd, HyperMap, Map
from ..cell import Cell
from ..layer.container import CellList
from ..learning_rate_schedule import LearningRateSchedule
from ._checks import check_gradients

_float32, _int32 = _core.dtypes["float32"], _core.dtypes["int32"]
# Arguments of other libraries, and what they are called here.
_OTHER_NAMES = {
    "lr": "learning_rate",
    "betas": "beta1",
    "epsilon": "eps",
    "wd": "weight_decay",
    "parameters": "params",
    "nesterov": "use_nesterov",
    "amsgrad": "use_amsgrad",
}
_GROUP_KEYS = ("params", "lr", "weight_decay", "grad_centralization", "order_params")


def state_parameter(value, name, shape=()):
    """A state parameter filled with a number."""
    return Parameter(Tensor(np.full(shape, value, np.float32)), name=name, requires_grad=False)


class _FixedRate(Cell):
    """A fixed rate where others of the optimizer change."""

    def __init__(self, rate, name):
        super().__init__(auto_prefix=False)
        self.learning_rate = Parameter(Tensor(rate, _float32), name=name, requires_grad=False)

    def construct(self, global_step):  # noqa: ARG002
        return self.learning_rate


class _ListedRate(Cell):
    """The rate of a step from a list; the last one goes on."""

    def __init__(self, rates, name):
        super().__init__(auto_prefix=False)
        self.learning_rate = Parameter(Tensor(rates, _float32), name=name, requires_grad=False)

    def construct(self, global_step):
        step = min(int(global_step), self.learning_rate.shape[0] - 1)
        return self.learning_rate[step]


def _rate_of(rate, name):
    """A Parameter for a fixed rate, a Cell of the step for any other."""
    if isinstance(rate, bool):
        raise TypeError(
            "optimizer: 'learning_rate' has the wrong type: got bool, need a float, a list or a schedule"
        )
    if isinstance(rate, (int, float)):
        if not rate >= 0:
            raise ValueError(f"optimizer: 'learning_rate' is out of range: got {rate}, need 0 or more")
        return Parameter(Tensor(float(rate), _float32), name=name, requires_grad=False)
    if isinstance(rate, Tensor):
        if rate.ndim == 0:
            return Parameter(Tensor(float(rate), _float32), name=name, requires_grad=False)
        if rate.ndim > 1:
            raise ValueError(
                f"optimizer: 'learning_rate' has rank {rate.ndim}: need a number or a list of rates"
            )
        return _ListedRate(rate, name)
    if isinstance(rate, (LearningRateSchedule, Cell)):
        return rate
    if isinstance(rate, Iterable) and not isinstance(rate, (str, bytes, dict)):
        rates = list(rate)
        for r in rates:
            if isinstance(r, bool) or not isinstance(r, (int, float, np.number, Tensor)):
                raise TypeError(
                    f"optimizer: 'learning_rate' holds a wrong type: got {type(r).__name__}, need floats"
                )
        rates = [float(r) for r in rates]
        if not rates:
            raise ValueError("optimizer: 'learning_rate' is empty: got no rate, need at least one")
        return _ListedRate(rates, name)
    raise TypeError(
        f"optimizer: 'learning_rate' has the wrong type: got {type(rate).__name__}, "
        "need a float, a list, a Tensor or "
        "a LearningRateSchedule"
    )


def _check_decay(decay):
    if isinstance(decay, Cell):
        return decay
    if isinstance(decay, bool) or not isinstance(decay, (int, float)):
        raise TypeError(
            f"optimizer: 'weight_decay' has the wrong type: got {type(decay).__name__}, "
            "need a float or a Cell"
        )
    if not decay >= 0:
        raise ValueError(f"optimizer: 'weight_decay' is out of range: got {decay}, need 0 or more")
    return float(decay)


def refuse_unknown(what, given, known):
    """Throws TypeError for an argument whose name is none of `known`, with the name that is near."""
    for name in given:
        if name not in known:
            other = _OTHER_NAMES.get(name)
            near = [other] if other in known else near_names(name, known, 1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            raise TypeError(
                f"{what}: unknown argument: got '{name}', {hint}need one of {', '.join(known)}"
            )


class _ConstructorSignature:
    """The signature of a class is that of its `__init__`, also where `__new__` takes anything."""

    def __get__(self, instance, owner):
        if instance is not None:
            raise AttributeError("__signature__")
        signature = inspect.signature(owner.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


class Optimizer(Cell):
    """The base of optimizers. A subclass updates its parameters in `construct(gradients)`.

    `parameters` is a list of Parameters, or of groups: dicts with "params" and optionally "lr",
    "weight_decay" and "grad_centralization", and at most one with "order_params" alone, the order in which
    gradients come. Weight decay leaves out parameters with "beta" or "gamma" in their names unless parameters
    are grouped. `learning_rate` is a number, a list of rates by step, a Tensor or a LearningRateSchedule.
    Subclasses have `parameters`, `map_` and `hyper_map`, and `assignadd` to count with.
    """

    __signature__ = _ConstructorSignature()

    def __new__(cls, *_args, **kwargs):
        """Refuses arguments that the constructor does not name, before Python does with fewer words."""
        parameters = inspect.signature(cls.__init__).parameters.values()
        named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)][1:]
        if not any(p.kind == p.VAR_KEYWORD for p in parameters):
            refuse_unknown(cls.__name__, kwargs, named)
        return super().__new__(cls)

    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        groups, order = self._groups(parameters)
        self.is_group = groups is not None
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)) or not loss_scale > 0:
            raise ValueError(
                f"optimizer: 'loss_scale' is out of range: got {loss_scale!r}, need a float above 0"
            )
        self.loss_scale = float(loss_scale)
        self.need_scale = self.loss_scale != 1.0
        self.reciprocal_scale = 1.0 / self.loss_scale
        self.param_length = len(order)
        self.map_, self.map_reverse = Map(), Map(None, True)
        self.hyper_map, self.hyper_map_reverse = HyperMap(), HyperMap(None, True)
        self.assignadd = AssignAdd()
        self.global_step = Parameter(Tensor([0], _int32), name="global_step", requires_grad=False)
        self._set_decays(groups, order, _check_decay(weight_decay))
        self._set_rates(groups, order, _rate_of(learning_rate, "learning_rate"))
        if not self.dynamic_lr and self.is_group_lr:
            self.learning_rate = ParameterTuple(self._rates)
        elif not self.dynamic_lr:
            self.learning_rate = self._rates[0]
        self.parameters = ParameterTuple(order)
        self.__dict__["_parameters"] = self.parameters
        # What optimizers outside of the library ask for: each parameter is updated here, by nobody else.
        self.global_step_increase_tensor = Tensor([1], _int32)
        self.use_parallel, self.optim_filter = False, (True,) * len(order)
        self.ps_parameters = self.cache_enable = (False,) * len(order)

    @staticmethod
    def _groups(parameters):
        """(groups or None, parameters in the order of gradients)."""
        if isinstance(parameters, (Parameter, dict, str)) or not isinstance(parameters, Iterable):
            raise TypeError(
                f"optimizer: 'params' has the wrong type: got {type(parameters).__name__}, need a list"
            )
        items = list(parameters)
        if not items:
            raise ValueError("optimizer: 'params' is empty: got no parameter, need at least one")
        if all(isinstance(item, Parameter) for item in items):
            groups, order = None, items
        elif all(isinstance(item, dict) for item in items):
            groups = [g for g in items if "order_params" not in g]
            for g in items:
                unknown = [key for key in g if key not in _GROUP_KEYS]
                if unknown or ("params" not in g and "order_params" not in g):
                    raise KeyError(
                        f"optimizer: group is not usable: got keys {list(g)}, "
                        f"need 'params' and of {_GROUP_KEYS}"
                    )
            order = [p for g in groups for p in g["params"]]
            asked = [g["order_params"] for g in items if "order_params" in g]
            if asked:
                asked = list(asked[0])
                if {id(p) for p in asked} != {id(p) for p in order}:
                    raise ValueError(
                        "optimizer: 'order_params' does not hold just the parameters of the groups"
                    )
                order = asked
        else:
            raise TypeError("optimizer: 'params' mixes kinds: need all Parameters or all groups (dicts)")
        for p in order:
            if not isinstance(p, Parameter):
                raise TypeError(
                    f"optimizer: element has the wrong type: got {type(p).__name__}, need a Parameter"
                )
        names = [p.name for p in order]
        if len(set(names)) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise RuntimeError(
                f"optimizer: two parameters have one name: got '{twice}' again, need distinct names"
            )
        return groups, order

    def _set_decays(self, groups, order, weight_decay):
        by_id = {}
        centralized = {}
        for g in groups or []:
            for p in g["params"]:
                by_id[id(p)] = _check_decay(g.get("weight_decay", weight_decay))
                centralized[id(p)] = bool(g.get("grad_centralization", False))
        if groups is None:
            flags = ["beta" not in p.name and "gamma" not in p.name for p in order]
            by_id = {id(p): weight_decay if on else 0.0 for p, on in zip(order, flags)}
        self._decays = [by_id[id(p)] for p in order]
        self.decay_flags = tuple(isinstance(d, Cell) or d > 0 for d in self._decays)
        self.dynamic_weight_decay = any(isinstance(d, Cell) for d in self._decays)
        self.exec_weight_decay = any(self.decay_flags)
        told = [d if isinstance(d, Cell) else Tensor(d, _float32) for d in [*self._decays, weight_decay]]
        self.weight_decay = tuple(told[:-1]) if groups is not None else told[-1]
        self.grad_centralization_flags = tuple(centralized.get(id(p), False) for p in order)
        self.grad_centralization = any(self.grad_centralization_flags)

    def _set_rates(self, groups, order, default):
        by_id = {}
        for n, g in enumerate(groups or []):
            if "lr" in g:
                rate = _rate_of(g["lr"], f"learning_rate_group_{n}")
                by_id.update((id(p), rate) for p in g["params"])
        self.is_group_lr = bool(by_id)
        self._rates = [by_id.get(id(p), default) for p in order]
        self.dynamic_lr = any(isinstance(r, Cell) for r in self._rates)
        if not self.dynamic_lr:
            return
        if not self.is_group_lr:
            self.learning_rate = default
            return
        wrapped = {id(r): r if isinstance(r, Cell) else _FixedRate(float(r), r.name) for r in self._rates}
        self._rates = [wrapped[id(r)] for r in self._rates]
        self.learning_rate = CellList(self._rates, auto_prefix=False)

    # ----------------------------------------------------------------------------------------------- one step

    def _is_dynamic_lr_or_weight_decay(self):
        """Whether steps must be counted. Optimizers outside of the library ask, as for what follows."""
        return self.dynamic_lr or self.dynamic_weight_decay

    def _grad_sparse_indices_deduplicate(self, gradients):
        """The gradients: they are dense."""
        return gradients

    def get_lr(self):
        """The rate of this step (a tuple of one for each parameter when groups have rates of their own);
        counts the step."""
        made = {}

        def now(rate):
            if not isinstance(rate, Cell):
                return rate
            if id(rate) not in made:
                made[id(rate)] = rate(self.global_step).reshape(())
            return made[id(rate)]

        rates = tuple(now(rate) for rate in self._rates)
        self.global_step._set_value(self.global_step + 1)
        return rates if self.is_group_lr else rates[0]

    def get_weight_decay(self):
        """Weight decay of this step, a tuple of one for each parameter when parameters are grouped."""

        def now(decay):
            return decay(self.global_step) if isinstance(decay, Cell) else decay

        return tuple(map(now, self.weight_decay)) if self.is_group else now(self.weight_decay)

    def decays(self):
        """Weight decay of this step for each parameter, as a number where it never changes."""
        return [
            (d(self.global_step) if isinstance(d, Cell) else d) if on else 0.0
            for d, on in zip(self._decays, self.decay_flags)
        ]

    def get_lr_parameter(self, param):
        """The rate (a Parameter or a Cell) of a parameter, or a list of those of several."""
        single = isinstance(param, Parameter)
        found = []
        for p in [param] if single else param:
            places = [i for i, mine in enumerate(self._parameters) if mine is p]
            if not places:
                raise ValueError(f"get_lr_parameter: parameter is not mine: got '{p.name}'")
            found.append(self._rates[places[0]])
        return found[0] if single else found

    def decay_weight(self, gradients):
        """Gradients with weight decay added."""
        if not self.exec_weight_decay:
            return gradients
        decays = self.decays()
        # Scaled gradients need a decay scaled likewise.
        return tuple(
            g + p * (d * self.loss_scale if self.need_scale else d) if on else g
            for g, p, d, on in zip(gradients, self._parameters, decays, self.decay_flags)
        )

    def scale_grad(self, gradients):
        """Gradients without the loss scale."""
        return tuple(g * self.reciprocal_scale for g in gradients) if self.need_scale else gradients

    def gradients_centralization(self, gradients):
        """Gradients less their means over all axes but the first, where groups ask for it."""
        if not self.grad_centralization:
            return gradients
        return tuple(
            g - g.mean(tuple(range(1, g.ndim)), True) if on and g.ndim > 1 else g
            for g, on in zip(gradients, self.grad_centralization_flags)
        )

    def flatten_gradients(self, gradients):
        """The gradients: they stay where they are."""
        return gradients

    def prepared(self, gradients, decay=True):
        """Gradients as rules want them: decayed, centralized, unscaled."""
        gradients = tuple(gradients)
        check_gradients(type(self).__name__, self._parameters, gradients)
        if decay:
            gradients = self.decay_weight(gradients)
        return self.scale_grad(self.gradients_centralization(gradients))

    def rates(self):
        """One rate for each parameter, in its dtype; counts the step."""
        rates = self.get_lr()
        rates = rates if self.is_group_lr else (rates,) * len(self._parameters)
        return [self.beside(rate, p) for rate, p in zip(rates, self._parameters)]

    @staticmethod
    def beside(rate, parameter):
        """A rate in the dtype of a parameter."""
        return rate if rate.dtype is parameter.dtype else rate.astype(parameter.dtype)

    def make_state(self, kind, first=0.0):
        """A state parameter `kind.name` for each parameter, filled with `first` ("zeros" and "ones" too)."""
        first = {"zeros": 0.0, "ones": 1.0}.get(first, first)
        made = []
        for p in self._parameters:
            value = Tensor(np.full(p.shape, first, np.float32), p.dtype)
            made.append(Parameter(value, name=f"{kind}.{p.name}", requires_grad=False))
        return ParameterTuple(made)

    def broadcast_params(self, optim_result):
        """The result: one process has all parameters."""
        return optim_result

    @property
    def unique(self):
        """Whether indices of sparse gradients are made unique first; gradients here are dense."""
        return True

    @unique.setter
    def unique(self, value):
        if not isinstance(value, bool):
            raise TypeError(
                f"optimizer: 'unique' has the wrong type: got {type(value).__name__}, need a bool"
            )

    @property
    def target(self):
        """Where parameters are updated."""
        return "CPU"

    @target.setter
    def target(self, value):
        if value not in ("CPU", "Ascend", "GPU"):
            raise ValueError(f"optimizer: unknown 'target': got {value!r}, need 'CPU', 'Ascend' or 'GPU'")

    def construct(self, gradients):
        raise NotImplementedError(f"{type(self).__name__}: 'construct' is missing: update the parameters")


def update(handles, values):
    """Gives parameters their new values."""
    for handle, value in zip(handles, values):
        handle._set_value(value)


def opt_init_args_register(function):
    """The constructor itself: nothing of it needs registering."""
    return function
