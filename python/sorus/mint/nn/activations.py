"""Layers that call one function with the arguments of their constructors."""

from ...nn.cell import Cell
from . import functional


def layer(name, function, doc, *parameters, training=False):
    """A layer class that calls `functional.<function>` with its constructor's arguments after the input, by
    name; with `training` also whether it trains.
    """
    names = [p.split("=")[0] for p in parameters]

    def init(self, *values):
        Cell.__init__(self)
        self._arguments = dict(zip(names, values))
        for n, v in self._arguments.items():
            setattr(self, n, v)

    def construct(self, input):
        if training:
            return getattr(functional, function)(input, training=self.training, **self._arguments)
        return getattr(functional, function)(input, **self._arguments)

    # The constructor's own parameter list gives it names, defaults and errors.
    scope = {"init": init, "__builtins__": {}}
    listed = ", ".join(("self", *parameters))
    exec(f"def __init__({listed}): init({', '.join(('self', *names))})", scope)  # noqa: S102: text above
    members = {
        "__init__": scope["__init__"],
        "construct": construct,
        "__doc__": doc,
        "__module__": __name__,
        "extend_repr": lambda self: ", ".join(f"{n}={v}" for n, v in self._arguments.items()),
    }
    return type(name, (Cell,), members)


ReLU = layer("ReLU", "relu", "max(x, 0).")
ReLU6 = layer("ReLU6", "relu6", "min(max(x, 0), 6).", "inplace=False")
Sigmoid = layer("Sigmoid", "sigmoid", "1 / (1 + exp(-x)).")
Tanh = layer("Tanh", "tanh", "Hyperbolic tangent.")
SiLU = layer("SiLU", "silu", "x * sigmoid(x).", "inplace=False")
Mish = layer("Mish", "mish", "x * tanh(softplus(x)).")
SELU = layer("SELU", "selu", "Scaled exponential linear unit.")
ELU = layer("ELU", "elu", "x, or alpha * (exp(x) - 1) below zero.", "alpha=1.0", "inplace=False")
GELU = layer("GELU", "gelu", "x times the normal distribution at x, or 'tanh' of it.", "approximate='none'")
GLU = layer("GLU", "glu", "First half times sigmoid of the second along an axis.", "dim=-1")
LogSigmoid = layer("LogSigmoid", "logsigmoid", "log(sigmoid(x)).")
Hardshrink = layer("Hardshrink", "hardshrink", "Zero within lambd of zero.", "lambd=0.5")
Hardsigmoid = layer("Hardsigmoid", "hardsigmoid", "relu6(x + 3) / 6.")
Hardswish = layer("Hardswish", "hardswish", "x * relu6(x + 3) / 6.")
Softshrink = layer("Softshrink", "softshrink", "Moved by lambd towards zero.", "lambd=0.5")
Softmax = layer("Softmax", "softmax", "Softmax over one axis.", "dim=None")
LogSoftmax = layer("LogSoftmax", "log_softmax", "Logarithm of softmax over one axis.", "dim=None")
Threshold = layer(
    "Threshold", "threshold", "x above the threshold, else value.", "threshold", "value", "inplace=False"
)
Dropout = layer(
    "Dropout",
    "dropout",
    "In training, zeros with probability p and the rest scaled by 1 / (1 - p).",
    "p=0.5",
    "inplace=False",
    training=True,
)
Dropout2d = layer("Dropout2d", "dropout2d", "In training, zeros in whole channels.", "p=0.5", training=True)

AdaptiveAvgPool1d = layer("AdaptiveAvgPool1d", "adaptive_avg_pool1d", "Means of windows.", "output_size")
AdaptiveAvgPool2d = layer("AdaptiveAvgPool2d", "adaptive_avg_pool2d", "Means of windows.", "output_size")
AdaptiveAvgPool3d = layer("AdaptiveAvgPool3d", "adaptive_avg_pool3d", "Means of windows.", "output_size")
AdaptiveMaxPool1d = layer(
    "AdaptiveMaxPool1d", "adaptive_max_pool1d", "Maxima of windows.", "output_size", "return_indices=False"
)
AdaptiveMaxPool2d = layer(
    "AdaptiveMaxPool2d", "adaptive_max_pool2d", "Maxima of windows.", "output_size", "return_indices=False"
)
_AVERAGE = (
    "kernel_size",
    "stride=None",
    "padding=0",
    "ceil_mode=False",
    "count_include_pad=True",
    "divisor_override=None",
)
AvgPool2d = layer("AvgPool2d", "avg_pool2d", "Means of windows.", *_AVERAGE)
AvgPool3d = layer("AvgPool3d", "avg_pool3d", "Means of windows.", *_AVERAGE)

_BLOCKS = ("kernel_size", "dilation=1", "padding=0", "stride=1")
Unfold = layer("Unfold", "unfold", "Blocks of an image as columns.", *_BLOCKS)
Fold = layer("Fold", "fold", "Columns of blocks summed into an image.", "output_size", *_BLOCKS)
PixelShuffle = layer("PixelShuffle", "pixel_shuffle", "Channels become finer pixels.", "upscale_factor")
Upsample = layer(
    "Upsample",
    "interpolate",
    "Resized to a size or by factors.",
    "size=None",
    "scale_factor=None",
    "mode='nearest'",
    "align_corners=None",
    "recompute_scale_factor=None",
)
