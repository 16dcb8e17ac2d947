"""Convolutions and their transposes."""

import math

from ... import _core, _functions, ops
from ...common.initializer import HeUniform, Uniform, initializer
from ...common.parameter import Parameter
from ..cell import Cell
from .basic import check_groups, check_positive_int, given

_float32 = _core.dtypes["float32"]


def _numbers(value, count, name, what):
    """One number for each spatial axis."""
    numbers = (value,) * count if isinstance(value, int) else tuple(value)
    if isinstance(value, bool) or not all(isinstance(n, int) for n in numbers):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {value!r}, need an int or {count} ints")
    if len(numbers) != count:
        raise ValueError(f"{what}: '{name}' has the wrong length: got {value}, need an int or {count} ints")
    if any(n < 1 for n in numbers):
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need 1 or more")
    return numbers


class _Conv(Cell):
    """What all convolution layers share. Tensors are (N, C, spatial...)."""

    _axes = 2
    _transposed = False

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        data_format="NCHW",
        dtype=_float32,
        output_padding=0,
    ):
        super().__init__()
        what = type(self).__name__
        for name, value in (("in_channels", in_channels), ("out_channels", out_channels), ("group", group)):
            check_positive_int(value, name, what)
        check_groups(group, what, in_channels, out_channels)
        if pad_mode not in ("same", "valid", "pad"):
            raise ValueError(f"{what}: unknown pad_mode: got {pad_mode!r}, need 'same', 'valid' or 'pad'")
        self.in_channels, self.out_channels, self.group = in_channels, out_channels, group
        self.kernel_size = _numbers(kernel_size, self._axes, "kernel_size", what)
        self.stride = _numbers(stride, self._axes, "stride", what)
        self.dilation = _numbers(dilation, self._axes, "dilation", what)
        self.pad_mode, self.padding, self.has_bias = pad_mode, padding, has_bias
        self.data_format, self.output_padding = data_format, output_padding
        if pad_mode != "pad" and padding not in (0, (0,) * self._axes, (0,) * (2 * self._axes)):
            raise ValueError(
                f"{what}: 'padding' needs pad_mode 'pad': got {padding} with {pad_mode!r}, need 0"
            )
        outer, inner = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        shape = (outer, inner // group, *self._kernel_shape())
        fan_in = shape[1] * math.prod(shape[2:])
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(self.weight_init, shape, dtype), name="weight")
        self.bias = None
        self.bias_init = bias_init
        if has_bias:
            self.bias_init = Uniform(1 / math.sqrt(fan_in)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(self.bias_init, (out_channels,), dtype), name="bias")

    def _kernel_shape(self):
        return self.kernel_size

    def _kernel(self, x):
        """The weight as functions want it, for an operand with the right number of axes."""
        if x.ndim != self._axes + 2:
            raise ValueError(
                f"{type(self).__name__}: wrong number of axes: got shape {x.shape}, need {self._axes + 2}"
            )
        return self.weight

    def _padding(self, size):
        """(low, high) for each axis."""
        if self.pad_mode == "valid":
            return ()
        if self.pad_mode == "same":
            return _functions.same_padding(size, self.kernel_size, self.stride, self.dilation)
        return self.padding

    def extend_repr(self):
        form = {1: "NCHW", 2: self.data_format, 3: "NCDHW"}[self._axes]
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, "
            f"weight_init={self.weight_init}, bias_init={self.bias_init}, format={form}"
        )


class _ForwardConv(_Conv):
    def construct(self, x):
        weight = self._kernel(x)
        if self.data_format == "NHWC":
            x = ops.transpose(x, (0, 3, 1, 2))
        y = _functions.conv(
            x, weight, self.bias, self.stride, self._padding(x.shape[2:]), self.dilation, self.group
        )
        return ops.transpose(y, (0, 2, 3, 1)) if self.data_format == "NHWC" else y


def _primitive(kind):
    """Makes the convolution of a layer as a primitive: `layer.conv2d(x, weight)`."""

    def make(layer):
        return getattr(ops, kind)(
            layer.out_channels,
            layer.kernel_size,
            pad_mode=layer.pad_mode,
            pad=layer.padding,
            stride=layer.stride,
            dilation=layer.dilation,
            group=layer.group,
            data_format=layer.data_format,
        )

    return make


def _bias_add(layer):
    return ops.BiasAdd(layer.data_format)


class Conv2d(_ForwardConv):
    """Cross-correlation over height and width; weight (out, in / group, height, width).

    >>> from sorus import nn, ops
    >>> nn.Conv2d(3, 8, 3, stride=2)(ops.ones((1, 3, 32, 32))).shape
    (1, 8, 16, 16)
    """

    _on_demand = {"conv2d": _primitive("Conv2D"), "bias_add": _bias_add}


class Conv3d(_ForwardConv):
    """Cross-correlation over depth, height and width."""

    _axes = 3
    _on_demand = {"conv3d": _primitive("Conv3D"), "bias_add": _bias_add}

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        data_format="NCDHW",
        dtype=_float32,
    ):
        super().__init__(**given(locals()))


class _LineConv:
    """One spatial axis; the weight keeps an axis of extent 1 before it, as MindSpore's does."""

    _axes = 1

    def _kernel_shape(self):
        return (1, *self.kernel_size)

    def _kernel(self, x):
        return ops.squeeze(super()._kernel(x), 2)

    def extend_repr(self):
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={(1, *self.kernel_size)}, stride={(1, *self.stride)}, pad_mode={self.pad_mode}, "
            f"padding={(0, 0, self.padding, self.padding)}, dilation={(1, *self.dilation)}, "
            f"group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, bias_init={self.bias_init}, "
            f"format=NCHW"
        )


class Conv1d(_LineConv, _ForwardConv):
    """Cross-correlation over one axis."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        dtype=_float32,
    ):
        super().__init__(**given(locals()))


class _TransposedConv(_Conv):
    _transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        output_padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        dtype=_float32,
    ):
        super().__init__(**given(locals()))
        if output_padding not in (0, (0,) * self._axes) and pad_mode != "pad":
            raise ValueError(
                f"{type(self).__name__}: 'output_padding' needs pad_mode 'pad': got {output_padding} with "
                f"{pad_mode!r}, need 0"
            )

    def construct(self, x):
        weight, padding, extra = self._kernel(x), self.padding, self.output_padding
        if self.pad_mode != "pad":
            # Results as large as the stride allows.
            extra = tuple(
                max(s - d * (k - 1) - 1, 0) for s, k, d in zip(self.stride, self.kernel_size, self.dilation)
            )
            padding = 0
        if self.pad_mode == "same":
            size = tuple(n * s for n, s in zip(x.shape[2:], self.stride))
            padding = _functions.same_padding(size, self.kernel_size, self.stride, self.dilation)
        return _functions.conv_transpose(
            x, weight, self.bias, self.stride, padding, self.dilation, self.group, extra
        )


class Conv2dTranspose(_TransposedConv):
    """The transpose of Conv2d; weight (in, out / group, height, width)."""


class Conv3dTranspose(_TransposedConv):
    """The transpose of Conv3d."""

    _axes = 3

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        output_padding=0,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        data_format="NCDHW",
        dtype=_float32,
    ):  # noqa: ARG002
        super().__init__(**given(locals(), "data_format"))


class Conv1dTranspose(_LineConv, _TransposedConv):
    """The transpose of Conv1d."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        dtype=_float32,
    ):
        super().__init__(**given(locals()))
