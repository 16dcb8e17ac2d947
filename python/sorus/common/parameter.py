"""Parameters: named tensors that a network owns and an optimizer updates."""

import itertools

from .. import _core
from .tensor import Tensor

_DEFAULT_NAME = "Parameter"
_numbers = itertools.count()
# Dtypes in the order in which one is converted to a later one without being asked.
_WIDTHS = {
    name: place
    for place, name in enumerate(
        "bool_ int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64".split()
    )
}


def _set_requires_grad(self, value):
    if not isinstance(value, bool):
        raise TypeError(
            f"Parameter: 'requires_grad' has the wrong type: got {type(value).__name__}, need a bool"
        )
    _core.ParameterBase.requires_grad.fset(self, value)


class Parameter(_core.ParameterBase):
    """A tensor with a name that gradients are computed for and optimizers update.

    `default_input` is a Tensor, an array, a list or a number; it is copied by value. The name of a
    parameter that
    is given none is that of the Cell's attribute that holds it.

    >>> from sorus import Parameter, Tensor
    >>> p = Parameter(Tensor([1.0, 2.0]), name="weight")
    >>> p.set_data(p * 2).tolist(), p.name, p.requires_grad
    ([2.0, 4.0], 'weight', True)
    """

    def __init__(
        self,
        default_input,
        name=None,
        requires_grad=True,
        layerwise_parallel=False,
        parallel_optimizer=True,
        storage_format="",
        device=None,
    ):
        if isinstance(default_input, bool):
            raise TypeError(
                "Parameter: 'default_input' has the wrong type: got bool, need a Tensor or a number"
            )
        if isinstance(default_input, int):
            default_input = Tensor(default_input, _core.dtypes["int32"])
        elif not isinstance(default_input, Tensor):
            default_input = Tensor(default_input)
        if name is not None and not isinstance(name, str):
            raise ValueError(f"Parameter: 'name' has the wrong type: got {type(name).__name__}, need a str")
        super().__init__(default_input, name or f"{_DEFAULT_NAME}#{next(_numbers)}", bool(requires_grad))
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer
        self.storage_format = storage_format

    requires_grad = property(
        _core.ParameterBase.requires_grad.fget,
        _set_requires_grad,
        doc="Whether gradients are computed for it where parameters are asked for that train.",
    )
    sliced = False
    unique = False
    is_init = False
    inited_param = None
    has_init = False
    init_mode = None
    comm_fusion = 1
    parallel_optimizer_comm_recompute = False
    cache_enable = False
    key = -1

    @property
    def name(self):
        """The parameter's name, unique within a network."""
        return self._name

    @name.setter
    def name(self, value):
        if value is None:
            value = _DEFAULT_NAME
        if not isinstance(value, str):
            raise ValueError(f"Parameter: 'name' has the wrong type: got {type(value).__name__}, need a str")
        self._name = value.strip()

    @property
    def has_default_name(self):
        """True when no name was given and no Cell holds it yet."""
        return self._name.startswith(_DEFAULT_NAME + "#")

    @property
    def data(self):
        """The parameter itself."""
        return self

    @property
    def param_info(self):
        """The parameter itself, which holds its own information."""
        return self

    def value(self):
        """The current value, as a Tensor that later updates do not change."""
        return _core.Tensor.__copy__(self)

    def set_data(self, data, slice_shape=False):
        """Gives the parameter another value of its shape, converted to its dtype.

        Throws ValueError for another shape unless `slice_shape` is True, and TypeError for a Tensor whose
        dtype holds more than the parameter's (floats for integers, float64 for float32).
        """
        given = isinstance(data, Tensor)
        if not given:
            data = Tensor(data)
        if data.shape != self.shape and not slice_shape:
            raise ValueError(
                f"Parameter.set_data: '{self.name}' has another shape: got {data.shape}, need {self.shape} "
                "or slice_shape=True"
            )
        if data.dtype is self.dtype:
            return self._set_value(data)
        if given and _WIDTHS[data.dtype.name] > _WIDTHS[self.dtype.name]:
            raise TypeError(
                f"Parameter.set_data: '{self.name}' cannot hold the dtype: got {data.dtype}, "
                f"need {self.dtype} or less; set_dtype changes it"
            )
        return self._set_value(data.astype(self.dtype))

    def assign_value(self, value):
        """`set_data` of a value of the parameter's shape."""
        return self.set_data(value)

    def init_data(self, layout=None, set_sliced=False):  # noqa: ARG002
        """The parameter itself: its data is always there."""
        return self

    def set_dtype(self, dtype):
        """Converts the parameter in place."""
        return self._set_value(self.value().astype(dtype))

    def clone(self, init="same"):
        """A parameter of the same name and type with a value of its own, or one initialized by `init`."""
        value = self.value()
        if init != "same":
            from .initializer import initializer

            value = initializer(init, self.shape, self.dtype)
        made = type(self)(
            value, self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer
        )
        made.__dict__.update(self.__dict__)
        return made

    copy = clone

    def add_pipeline_stage(self, stage):  # noqa: ARG002
        """Accepted for compatibility; one process has one stage."""

    def set_param_fl(self, push_to_server=False, pull_from_server=False, requires_aggr=True):  # noqa: ARG002
        """Accepted for compatibility with federated scripts."""

    def __repr__(self):
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, "
            f"requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        made = memo[id(self)] = self.clone()
        return made

    def __reduce__(self):
        return _rebuild, (type(self), self.value(), self.name, self.requires_grad, self.__dict__)


def _rebuild(kind, value, name, requires_grad, attributes):
    made = kind(value, name, requires_grad)
    made.__dict__.update(attributes)
    return made


class ParameterTuple(tuple):
    """A tuple of parameters. Throws ValueError when two of them have one name."""

    __slots__ = ()

    def __new__(cls, iterable):
        parameters = tuple(iterable)
        for p in parameters:
            if not isinstance(p, Parameter):
                raise TypeError(
                    f"ParameterTuple: element has the wrong type: got {type(p).__name__}, need a Parameter"
                )
        seen = {}
        for p in parameters:
            if seen.setdefault(p.name, p) is not p:
                raise ValueError(
                    f"ParameterTuple: two parameters have one name: got '{p.name}' again, need distinct names"
                )
        return super().__new__(cls, parameters)

    def clone(self, prefix, init="same"):
        """Clones of all parameters, named `prefix.name`."""
        if not isinstance(prefix, str):
            raise TypeError(
                f"ParameterTuple: 'prefix' has the wrong type: got {type(prefix).__name__}, need a str"
            )
        made = []
        for p in self:
            clone = p.clone(init)
            clone.name = f"{prefix}.{p.name}"
            made.append(clone)
        return ParameterTuple(made)
