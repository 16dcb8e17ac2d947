"""Layers with parameters or a structure of their own."""

import math

from ... import _core
from ..._core import Tensor
from ...common.initializer import HeUniform, Normal, Uniform, initializer
from ...common.parameter import Parameter
from ...nn.cell import Cell
from ...nn.layer import padding as _padding
from ...nn.layer.basic import Identity as _Identity, check_groups, check_positive_int, given
from . import functional

_float32, _int32 = _core.dtypes["float32"], _core.dtypes["int32"]


def _made(init, shape, dtype, name, **options):
    return Parameter(initializer(init, shape, _float32 if dtype is None else dtype), name=name, **options)


class Linear(Cell):
    """y = x W^T + b with W of shape (out_features, in_features).

    >>> from sorus import Tensor, mint
    >>> mint.nn.Linear(2, 3, weight_init="ones", bias=False)(Tensor([[1.0, 2.0]])).tolist()
    [[3.0, 3.0, 3.0]]
    """

    def __init__(self, in_features, out_features, bias=True, weight_init=None, bias_init=None, dtype=None):
        super().__init__()
        self.in_features = check_positive_int(in_features, "in_features", "Linear")
        self.out_features = check_positive_int(out_features, "out_features", "Linear")
        weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = _made(weight_init, (out_features, in_features), dtype, "weight")
        self.bias = None
        if bias:
            bias_init = Uniform(1 / math.sqrt(in_features)) if bias_init is None else bias_init
            self.bias = _made(bias_init, (out_features,), dtype, "bias")

    def construct(self, input):
        return functional.linear(input, self.weight, self.bias)

    def extend_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Embedding(Cell):
    """Rows of a table by number; the row `padding_idx` starts as zeros and gets no gradient. With `max_norm`
    rows are scaled down to that norm when they are looked up.
    """

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        dtype=None,
    ):
        super().__init__()
        if sparse:
            raise NotImplementedError("Embedding: sparse gradients are not there: got True, need False")
        self.num_embeddings = check_positive_int(num_embeddings, "num_embeddings", "Embedding")
        self.embedding_dim = check_positive_int(embedding_dim, "embedding_dim", "Embedding")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"Embedding: 'padding_idx' is out of range: got {padding_idx}, "
                f"need {-num_embeddings} <= padding_idx < {num_embeddings}"
            )
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            table = initializer(Normal(1.0), shape, _float32 if dtype is None else dtype).init_data()
            if padding_idx is not None:
                table[padding_idx] = 0
        elif tuple(_weight.shape) != shape:
            raise ValueError(
                f"Embedding: '_weight' has the wrong shape: got {tuple(_weight.shape)}, need {shape}"
            )
        else:
            table = _weight if isinstance(_weight, Tensor) else Tensor(_weight)
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def construct(self, input):
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )

    def extend_repr(self):
        return f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}"


class Identity(_Identity):
    """Gives its input back."""


class PReLU(Cell):
    """x, or a learned multiple of it below zero, of one number or one for each channel."""

    def __init__(self, num_parameters=1, init=0.25, dtype=None):
        super().__init__()
        self.num_parameters = check_positive_int(num_parameters, "num_parameters", "PReLU")
        self.weight = _made(init, (num_parameters,), dtype, "weight")

    def construct(self, input):
        return functional.prelu(input, self.weight)


class Flatten(Cell):
    """The axes from start_dim to end_dim as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, input):
        return input.flatten(start_dim=self.start_dim, end_dim=self.end_dim)


class MaxUnpool2d(Cell):
    """Puts maxima back to the places that pooling has told; all else is 0."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, input, indices, output_size=None):
        return functional.max_unpool2d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class UpsamplingNearest2d(Cell):
    """Images resized by the nearest pixel."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input):
        return functional.interpolate(input, self.size, self.scale_factor, mode="nearest")


class UpsamplingBilinear2d(Cell):
    """Images resized linearly between corners that stay."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input):
        return functional.interpolate(
            input, self.size, self.scale_factor, mode="bilinear", align_corners=True
        )


# ----------------------------------------------------------------------------------------------- convolution


def _each(value, count, name, what):
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise ValueError(f"{what}: '{name}' does not fit: got {value!r}, need an int or {count} ints")
    return values


class _Conv(Cell):
    """What convolutions share. Tensors are (N, C, spatial...) or (C, spatial...)."""

    _axes = 2
    _transposed = False

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        dilation,
        groups,
        bias,
        padding_mode,
        dtype,
    ):
        super().__init__()
        what, axes = type(self).__name__, self._axes
        for name, value in (
            ("in_channels", in_channels),
            ("out_channels", out_channels),
            ("groups", groups),
        ):
            check_positive_int(value, name, what)
        check_groups(groups, what, in_channels, out_channels)
        modes = ("zeros",) if self._transposed else ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ValueError(f"{what}: unknown padding_mode: got {padding_mode!r}, need one of {modes}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = _each(kernel_size, axes, "kernel_size", what)
        self.stride = _each(stride, axes, "stride", what)
        self.dilation = _each(dilation, axes, "dilation", what)
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"{what}: unknown padding: got {padding!r}, need 'same', 'valid' or numbers")
            if padding == "same" and self.stride != (1,) * axes:
                raise ValueError(f"{what}: padding 'same' needs stride 1: got {stride}, need 1")
            self.padding = padding
        else:
            self.padding = _each(padding, axes, "padding", what)
        outer, inner = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        shape = (outer, inner // groups, *self.kernel_size)
        self.weight = _made(HeUniform(math.sqrt(5)), shape, dtype, "weight")
        self.bias = None
        if bias:
            bound = 1 / math.sqrt(math.prod(shape[1:]))
            self.bias = _made(Uniform(bound), (out_channels,), dtype, "bias")

    def _bordered(self, x):
        """x with its border made, for the modes that the function does not know."""
        spans = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
        pairs = [(p, p) for p in self.padding] if self.padding != "same" else []
        pairs = pairs or [(s // 2, s - s // 2) for s in spans]
        widths = [width for pair in reversed(pairs) for width in pair]
        return functional.pad(x, tuple(widths), mode=self.padding_mode)

    def extend_repr(self):
        return (
            f"in_channels={self.in_channels}, out_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}, "
            f"padding_mode={self.padding_mode!r}"
        )


class _ForwardConv(_Conv):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        dtype=None,
    ):
        super().__init__(**given(locals()))

    def construct(self, input):
        padding = self.padding
        if self.padding_mode != "zeros" and padding != "valid":
            input, padding = self._bordered(input), 0
        function = getattr(functional, f"conv{self._axes}d")
        return function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_ForwardConv):
    """Cross-correlation over one axis."""

    _axes = 1


class Conv2d(_ForwardConv):
    """Cross-correlation over height and width.

    >>> from sorus import mint
    >>> mint.nn.Conv2d(3, 8, 3, stride=2)(mint.ones((1, 3, 32, 32))).shape
    (1, 8, 15, 15)
    """


class Conv3d(_ForwardConv):
    """Cross-correlation over depth, height and width."""

    _axes = 3


class ConvTranspose2d(_Conv):
    """The transpose of Conv2d."""

    _transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        dtype=None,
    ):
        super().__init__(**given(locals(), "output_padding"))
        self.output_padding = _each(output_padding, 2, "output_padding", "ConvTranspose2d")

    def construct(self, input):
        return functional.conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )


# --------------------------------------------------------------------------------------------- normalization


class _BatchNorm(Cell):
    """Normalization over all axes but the channels; running statistics are for inference."""

    _ranks = (2, 3, 4, 5)

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, dtype=None
    ):
        super().__init__()
        self.num_features = check_positive_int(num_features, "num_features", type(self).__name__)
        self.eps, self.momentum, self.affine = eps, momentum, affine
        self.track_running_stats = track_running_stats
        shape, constant = (num_features,), {"requires_grad": False}
        self.weight = _made("ones", shape, dtype, "weight") if affine else None
        self.bias = _made("zeros", shape, dtype, "bias") if affine else None
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = _made("zeros", shape, dtype, "running_mean", **constant)
            self.running_var = _made("ones", shape, dtype, "running_var", **constant)
            self.num_batches_tracked = Parameter(Tensor(0, _int32), name="num_batches_tracked", **constant)

    def construct(self, input):
        if input.ndim not in self._ranks:
            raise ValueError(
                f"{type(self).__name__}: wrong number of axes: got shape {input.shape}, "
                f"need one of {self._ranks}"
            )
        tracked = self.track_running_stats
        batch = self.training or not tracked
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and tracked:
            self.num_batches_tracked.set_data(self.num_batches_tracked + 1)
            if self.momentum is None:  # the mean over all batches so far
                share = 1.0 / self.num_batches_tracked
        # Without statistics to keep, those of the batch serve, in inference as well.
        mean, variance = (self.running_mean, self.running_var) if self.training or not batch else (None, None)
        return functional.batch_norm(input, mean, variance, self.weight, self.bias, batch, share, self.eps)

    def extend_repr(self):
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Of (N, C) or (N, C, L)."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Of (N, C, H, W)."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Of (N, C, D, H, W)."""

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization; one process sees the whole batch."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        dtype=None,
    ):
        super().__init__(**given(locals(), "process_group"))
        self.process_group = process_group


class GroupNorm(Cell):
    """Normalization of groups of channels."""

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, dtype=None):
        super().__init__()
        self.num_groups = check_positive_int(num_groups, "num_groups", "GroupNorm")
        self.num_channels = check_positive_int(num_channels, "num_channels", "GroupNorm")
        check_groups(num_groups, "GroupNorm", num_channels)
        self.eps, self.affine = eps, affine
        self.weight = _made("ones", (num_channels,), dtype, "weight") if affine else None
        self.bias = _made("zeros", (num_channels,), dtype, "bias") if affine else None

    def construct(self, input):
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class LayerNorm(Cell):
    """Normalization over the last axes, which have the shape given."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.weight = _made("ones", shape, dtype, "weight") if elementwise_affine else None
        self.bias = _made("zeros", shape, dtype, "bias") if elementwise_affine and bias else None

    def construct(self, input):
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


# --------------------------------------------------------------------------------------------------- borders


def _border(name, of, takes_value=False):
    """A padding layer of `sorus.nn` under a name of this module, with or without a value to fill in."""
    if takes_value:

        def __init__(self, padding, value):
            of.__init__(self, padding, value)
    else:

        def __init__(self, padding):
            of.__init__(self, padding)

    return type(name, (of,), {"__init__": __init__, "__doc__": of.__doc__, "__module__": __name__})


ConstantPad1d = _border("ConstantPad1d", _padding.ConstantPad1d, True)
ConstantPad2d = _border("ConstantPad2d", _padding.ConstantPad2d, True)
ConstantPad3d = _border("ConstantPad3d", _padding.ConstantPad3d, True)
ReflectionPad1d = _border("ReflectionPad1d", _padding.ReflectionPad1d)
ReflectionPad2d = _border("ReflectionPad2d", _padding.ReflectionPad2d)
ReflectionPad3d = _border("ReflectionPad3d", _padding.ReflectionPad3d)
ReplicationPad1d = _border("ReplicationPad1d", _padding.ReplicationPad1d)
ReplicationPad2d = _border("ReplicationPad2d", _padding.ReplicationPad2d)
ReplicationPad3d = _border("ReplicationPad3d", _padding.ReplicationPad3d)
ZeroPad1d = _border("ZeroPad1d", _padding.ConstantPad1d)
ZeroPad2d = _border("ZeroPad2d", _padding.ConstantPad2d)
ZeroPad3d = _border("ZeroPad3d", _padding.ConstantPad3d)
