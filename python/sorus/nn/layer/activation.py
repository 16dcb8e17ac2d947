"""Activations as layers."""

from ... import _core, ops
from ..._core import Tensor
from ...common.initializer import initializer
from ...common.parameter import Parameter
from ..cell import Cell


def _layer(name, function, doc, *parameters, show=False):
    """A layer class that calls `ops.<function>` with its constructor's arguments after the input."""
    names = [p.split("=")[0] for p in parameters]

    def init(self, *values):
        Cell.__init__(self)
        self._arguments = values
        for n, v in zip(names, values):
            setattr(self, n, v)

    def construct(self, x):
        return getattr(ops, function)(x, *self._arguments)

    # The constructor's own parameter list gives it names, defaults and errors.
    scope = {"init": init, "__builtins__": {}}
    listed = ", ".join(("self", *parameters))
    exec(f"def __init__({listed}): init({', '.join(('self', *names))})", scope)  # noqa: S102: text above
    members = {"__init__": scope["__init__"], "construct": construct, "__doc__": doc, "__module__": __name__}
    if show:
        members["extend_repr"] = lambda self: ", ".join(f"{n}={getattr(self, n)}" for n in names)
    return type(name, (Cell,), members)


ReLU = _layer("ReLU", "relu", "max(x, 0).")
ReLU6 = _layer("ReLU6", "relu6", "min(max(x, 0), 6).")
Sigmoid = _layer("Sigmoid", "sigmoid", "1 / (1 + exp(-x)).")
Tanh = _layer("Tanh", "tanh", "Hyperbolic tangent.")
SiLU = _layer("SiLU", "silu", "x * sigmoid(x).")
Mish = _layer("Mish", "mish", "x * tanh(softplus(x)).")
LogSigmoid = _layer("LogSigmoid", "logsigmoid", "log(sigmoid(x)).")
Softsign = _layer("Softsign", "softsign", "x / (1 + abs(x)).")
Tanhshrink = _layer("Tanhshrink", "tanhshrink", "x - tanh(x).")
SeLU = _layer("SeLU", "selu", "Scaled exponential linear unit.")
HSwish = _layer("HSwish", "hardswish", "x * relu6(x + 3) / 6.")
HSigmoid = _layer("HSigmoid", "hardsigmoid", "relu6(x + 3) / 6.")
FastGelu = _layer("FastGelu", "fast_gelu", "x * sigmoid(1.702 * x), as MindSpore writes it.")
Hardtanh = _layer("Hardtanh", "hardtanh", "Clamped to [min_val, max_val].", "min_val=-1.0", "max_val=1.0")
HShrink = _layer("HShrink", "hardshrink", "Zero within lambd of zero.", "lambd=0.5")
SoftShrink = _layer("SoftShrink", "softshrink", "Moved by lambd towards zero.", "lambd=0.5")
Softmax = _layer("Softmax", "softmax", "Softmax over one axis.", "axis=-1")
Softmin = _layer("Softmin", "softmin", "Softmax of -x over one axis.", "axis=-1")
LogSoftmax = _layer("LogSoftmax", "log_softmax", "Logarithm of softmax over one axis.", "axis=-1")
Softmax2d = _layer("Softmax2d", "softmax2d", "Softmax over the channels of an image.")
ELU = _layer("ELU", "elu", "x, or alpha * (exp(x) - 1) below zero.", "alpha=1.0")
CELU = _layer("CELU", "celu", "Continuously differentiable exponential linear unit.", "alpha=1.0")
LeakyReLU = _layer("LeakyReLU", "leaky_relu", "x, or alpha * x below zero.", "alpha=0.2")
Threshold = _layer("Threshold", "threshold", "x above the threshold, else value.", "threshold", "value")
GLU = _layer("GLU", "glu", "First half times sigmoid of the second along an axis.", "axis=-1")


class GELU(Cell):
    """x times the normal distribution function, by tanh unless `approximate` is False."""

    def __init__(self, approximate=True):
        super().__init__()
        if not isinstance(approximate, bool):
            raise TypeError(
                f"GELU: 'approximate' has the wrong type: got {type(approximate).__name__}, need a bool"
            )
        self.approximate = approximate

    def construct(self, x):
        return ops.gelu(x, approximate="tanh" if self.approximate else "none")


class PReLU(Cell):
    """x, or w * x below zero, with learned w for all or for each channel."""

    def __init__(self, channel=1, w=0.25):
        super().__init__()
        if isinstance(channel, bool) or not isinstance(channel, int):
            raise TypeError(f"PReLU: 'channel' has the wrong type: got {type(channel).__name__}, need an int")
        if channel <= 0:
            raise ValueError(f"PReLU: 'channel' is out of range: got {channel}, need more than 0")
        if isinstance(w, (list, tuple)):
            w = Tensor(w, _core.dtypes["float32"])
        elif not isinstance(w, Tensor):
            w = initializer(float(w), (channel,))
        if w.shape != (channel,):
            raise ValueError(f"PReLU: 'w' has the wrong shape: got {w.shape}, need ({channel},)")
        self.w = Parameter(w, name="a")

    def construct(self, x):
        return ops.prelu(x, self.w)


class RReLU(Cell):
    """x, or a * x below zero with a drawn between lower and upper in training, their mean otherwise."""

    def __init__(self, lower=1 / 8, upper=1 / 3):
        super().__init__()
        self.lower, self.upper = lower, upper

    def construct(self, x):
        return ops.rrelu(x, self.lower, self.upper)


_NAMES = {
    "softmax": Softmax,
    "softmin": Softmin,
    "softmax2d": Softmax2d,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "rrelu": RReLU,
    "silu": SiLU,
    "tanh": Tanh,
    "gelu": GELU,
    "fast_gelu": FastGelu,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "softsign": Softsign,
    "prelu": PReLU,
    "leakyrelu": LeakyReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid,
    "softshrink": SoftShrink,
    "hshrink": HShrink,
    "threshold": Threshold,
    "mish": Mish,
}


def get_activation(name, prim_name=None):  # noqa: ARG001
    """The activation layer of that name, None for None."""
    if name is None:
        return None
    if name not in _NAMES:
        raise KeyError(f"get_activation: unknown name: got {name!r}, need one of {sorted(_NAMES)}")
    return _NAMES[name]()
