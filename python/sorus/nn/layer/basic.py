"""Dense, Dropout, Flatten, Embedding, Pad and other basic layers."""

import math

from ... import _core, _functions, ops
from ..._core import Tensor
from ...common.initializer import HeUniform, Uniform, initializer
from ...common.parameter import Parameter
from ..cell import Cell
from .activation import get_activation

_float32 = _core.dtypes["float32"]


def check_positive_int(value, name, what):
    """The value, which must be a positive int."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need an int")
    if value <= 0:
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need more than 0")
    return value


def check_groups(groups, what, *channels):
    """Refuses channels that do not fall into groups."""
    if any(count % groups for count in channels):
        raise ValueError(
            f"{what}: channels do not fall into groups: got {' and '.join(map(str, channels))} channels in "
            f"{groups} groups, need multiples"
        )


def given(scope, *dropped):
    """The arguments of a constructor by name, from its `locals()`, without those dropped."""
    left_out = ("self", "__class__", *dropped)
    return {name: value for name, value in scope.items() if name not in left_out}


def check_bool(value, name, what):
    """The value, which must be a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a bool")
    return value


class Dense(Cell):
    """y = activation(x W^T + b) with W of shape (out_channels, in_channels).

    >>> from sorus import Tensor, nn
    >>> nn.Dense(2, 3, weight_init="ones")(Tensor([[1.0, 2.0]])).shape
    (1, 3)
    """

    _on_demand = {"matmul": lambda _: ops.MatMul(transpose_b=True), "bias_add": lambda _: ops.BiasAdd()}

    def __init__(
        self,
        in_channels,
        out_channels,
        weight_init=None,
        bias_init=None,
        has_bias=True,
        activation=None,
        dtype=_float32,
    ):
        super().__init__()
        self.in_channels = check_positive_int(in_channels, "in_channels", "Dense")
        self.out_channels = check_positive_int(out_channels, "out_channels", "Dense")
        self.has_bias = check_bool(has_bias, "has_bias", "Dense")
        shape = (out_channels, in_channels)
        if isinstance(weight_init, Tensor) and weight_init.shape != shape:
            raise ValueError(
                f"Dense: 'weight_init' has the wrong shape: got {weight_init.shape}, need {shape}"
            )
        if weight_init is None:
            weight_init = HeUniform(math.sqrt(5))
        self.weight = Parameter(initializer(weight_init, shape, dtype), name="weight")
        self.bias = None
        if has_bias:
            if isinstance(bias_init, Tensor) and bias_init.shape != (out_channels,):
                raise ValueError(
                    f"Dense: 'bias_init' has the wrong shape: got {bias_init.shape}, need ({out_channels},)"
                )
            if bias_init is None:
                bias_init = Uniform(1 / math.sqrt(in_channels))
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype), name="bias")
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if self.activation is not None and not callable(self.activation):
            raise TypeError(
                f"Dense: 'activation' has the wrong type: got {type(activation).__name__}, need a Cell "
                f"or name"
            )
        self.activation_flag = self.activation is not None

    def construct(self, x):
        x = _functions.linear(x, self.weight, self.bias)
        return self.activation(x) if self.activation_flag else x

    def extend_repr(self):
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        text += ", has_bias=True" if self.has_bias else ""
        return text + (f", activation={self.activation}" if self.activation_flag else "")


class BiDense(Cell):
    """y = x1 W x2 + b for each matrix of W, of shape (out_channels, in1_channels, in2_channels)."""

    def __init__(
        self,
        in1_channels,
        in2_channels,
        out_channels,
        weight_init=None,
        bias_init=None,
        has_bias=True,
        dtype=_float32,
    ):
        super().__init__()
        self.in1_channels = check_positive_int(in1_channels, "in1_channels", "BiDense")
        self.in2_channels = check_positive_int(in2_channels, "in2_channels", "BiDense")
        self.out_channels = check_positive_int(out_channels, "out_channels", "BiDense")
        self.has_bias = check_bool(has_bias, "has_bias", "BiDense")
        bound = 1 / math.sqrt(in1_channels)
        self.weight = _parameter(
            "weight", weight_init, (out_channels, in1_channels, in2_channels), bound, dtype
        )
        self.bias = _parameter("bias", bias_init, (out_channels,), bound, dtype) if has_bias else None

    def construct(self, input1, input2):
        return ops.bidense(input1, input2, self.weight, self.bias)

    def extend_repr(self):
        text = f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}"
        return f"{text}, out_channels={self.out_channels}, has_bias={self.has_bias}"


def _parameter(name, init, shape, bound, dtype):
    """A parameter of BiDense, uniform within the bound unless `init` says otherwise."""
    if isinstance(init, Tensor) and init.shape != shape:
        raise ValueError(f"BiDense: '{name}_init' has the wrong shape: got {init.shape}, need {shape}")
    return Parameter(initializer(Uniform(bound) if init is None else init, shape, dtype), name=name)


class Identity(Cell):
    """Gives its input back."""

    def __init__(self, *args, **kwargs):  # noqa: ARG002
        super().__init__()

    def construct(self, x):
        return x


class Flatten(Cell):
    """Axes from start_dim to end_dim folded into one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x):
        return ops.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Dropout(Cell):
    """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""

    def __init__(self, keep_prob=0.5, p=None, dtype=_float32):
        super().__init__()
        if p is None:
            if not 0 < keep_prob <= 1:
                raise ValueError(
                    f"Dropout: 'keep_prob' is out of range: got {keep_prob}, need more than 0, at most 1"
                )
            probability = 1 - keep_prob
        else:
            if isinstance(p, bool) or not isinstance(p, (int, float)):
                raise TypeError(f"Dropout: 'p' has the wrong type: got {type(p).__name__}, need a number")
            if not 0 <= p < 1:
                raise ValueError(f"Dropout: 'p' is out of range: got {p}, need at least 0, less than 1")
            probability = p
        self.keep_prob, self.p, self.dtype = keep_prob, p, dtype
        self._probability = probability

    def construct(self, x):
        if not self.training or self._probability == 0:
            return x
        return ops.dropout(x, p=self._probability, training=True)

    def extend_repr(self):
        return f"p={self.p}" if self.p is not None else f"keep_prob={self.keep_prob}"


class _ChannelDropout(Cell):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def extend_repr(self):
        return f"p={self.p}"


class Dropout1d(_ChannelDropout):
    """In training, whole channels are zeroed with probability p."""

    def construct(self, x):
        return ops.dropout1d(x, self.p) if self.training and self.p else x


class Dropout2d(_ChannelDropout):
    """In training, whole channels are zeroed with probability p."""

    def construct(self, x):
        return ops.dropout2d(x, self.p) if self.training and self.p else x


class Dropout3d(_ChannelDropout):
    """In training, whole channels are zeroed with probability p."""

    def construct(self, x):
        return ops.dropout3d(x, self.p) if self.training and self.p else x


class Embedding(Cell):
    """Rows of a table by index; the row `padding_idx` starts as zeros."""

    def __init__(
        self,
        vocab_size,
        embedding_size,
        use_one_hot=False,
        embedding_table="normal",
        dtype=_float32,
        padding_idx=None,
    ):
        super().__init__()
        self.vocab_size = check_positive_int(vocab_size, "vocab_size", "Embedding")
        self.embedding_size = check_positive_int(embedding_size, "embedding_size", "Embedding")
        self.use_one_hot = check_bool(use_one_hot, "use_one_hot", "Embedding")
        self.dtype = dtype
        self.padding_idx = padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(
                    f"Embedding: 'padding_idx' is out of range: got {padding_idx}, need 0 to {vocab_size - 1}"
                )
            table[padding_idx] = 0
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, ids):
        return _functions.embedding(ids, self.embedding_table)

    def extend_repr(self):
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, "
            f"use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


class EmbeddingLookup(Cell):
    """Rows of a table by index."""

    def __init__(
        self,
        vocab_size,
        embedding_size,
        param_init="normal",
        target="CPU",
        slice_mode="batch_slice",
        manual_shapes=None,
        max_norm=None,
        sparse=True,
        vocab_cache_size=0,
        dtype=_float32,
    ):  # noqa: ARG002
        super().__init__()
        self.vocab_size, self.embedding_size, self.max_norm = vocab_size, embedding_size, max_norm
        self.embedding_table = Parameter(
            initializer(param_init, (vocab_size, embedding_size), dtype), name="embedding_table"
        )

    def construct(self, indices):
        rows = _functions.embedding(indices, self.embedding_table)
        return rows if self.max_norm is None else ops.clip_by_norm(rows, self.max_norm)


class OneHot(Cell):
    """`on_value` at the index along the new axis, `off_value` elsewhere."""

    def __init__(self, axis=-1, depth=1, on_value=1.0, off_value=0.0, dtype=_float32):
        super().__init__()
        self.axis, self.depth, self.dtype = axis, depth, dtype
        self.on_value, self.off_value = on_value, off_value

    def construct(self, indices):
        return ops.one_hot(
            indices,
            self.depth,
            Tensor(self.on_value, self.dtype),
            Tensor(self.off_value, self.dtype),
            self.axis,
        )


class Pad(Cell):
    """Pairs (before, after) of added elements for each axis, as constants or mirrored."""

    def __init__(self, paddings, mode="CONSTANT"):
        super().__init__()
        if not isinstance(paddings, tuple):
            raise TypeError(
                f"Pad: 'paddings' has the wrong type: got {type(paddings).__name__}, need a tuple"
            )
        if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            raise ValueError(f"Pad: unknown mode: got {mode!r}, need 'CONSTANT', 'REFLECT' or 'SYMMETRIC'")
        for pair in paddings:
            if len(pair) != 2:
                raise ValueError(
                    f"Pad: 'paddings' holds no pairs: got {paddings}, need (before, after) for each axis"
                )
        self.paddings, self.mode = paddings, mode

    def construct(self, x):
        return _functions.pad(
            x, [p[0] for p in self.paddings], [p[1] for p in self.paddings], self.mode.lower()
        )


class Unfold(Cell):
    """Patches of an image as channels.

    `ksizes`, `strides` and `rates` are [1, rows, columns, 1]: size, step and dilation of patches. With
    `padding` "same" zeros are added so that patches begin at every step, with "valid" none. The input is
    (N, C, H, W); the result has the channels of a patch's first element, then those of its second, row by
    row: (N, rows * columns * C, H', W').

    >>> from sorus import nn, ops
    >>> nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1])(ops.ones((2, 3, 6, 6))).shape
    (2, 12, 2, 2)
    """

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        for name, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if not isinstance(value, (tuple, list)):
                raise TypeError(
                    f"Unfold: '{name}' has the wrong type: got {type(value).__name__}, need a tuple or a list"
                )
            ints = len(value) == 4 and all(isinstance(v, int) and not isinstance(v, bool) for v in value)
            if not ints or value[0] != 1 or value[3] != 1 or min(value) < 1:
                raise ValueError(
                    f"Unfold: '{name}' is not usable: got {value}, need [1, rows, columns, 1], ints above 0"
                )
        if not isinstance(padding, str) or padding.lower() not in ("same", "valid"):
            raise ValueError(f"Unfold: unknown 'padding': got {padding!r}, need 'same' or 'valid'")
        self.ksizes, self.strides, self.rates, self.padding = ksizes, strides, rates, padding

    def construct(self, x):
        if x.ndim != 4:
            raise ValueError(f"Unfold: input has the wrong rank: got shape {x.shape}, need (N, C, H, W)")
        sizes, steps, rates = (tuple(v[1:3]) for v in (self.ksizes, self.strides, self.rates))
        spans = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates)]
        if self.padding.lower() == "same":
            lacks = [
                max((-(-extent // step) - 1) * step + span - extent, 0)
                for extent, step, span in zip(x.shape[2:], steps, spans)
            ]
            before = [lack // 2 for lack in lacks]
            x = _functions.pad(x, (0, 0, *before), (0, 0, *(lack - b for lack, b in zip(lacks, before))))
        if any(span > extent for span, extent in zip(spans, x.shape[2:])):
            raise ValueError(
                f"Unfold: input is smaller than a patch: got shape {x.shape}, need {spans} or more"
            )
        counts = [(extent - span) // step + 1 for extent, span, step in zip(x.shape[2:], spans, steps)]
        columns = ops.unfold(x, sizes, rates, 0, steps)
        patches = sizes[0] * sizes[1]
        columns = columns.reshape(x.shape[0], x.shape[1], patches, *counts).swapaxes(1, 2)
        return columns.reshape(x.shape[0], patches * x.shape[1], *counts)


class Norm(Cell):
    """Euclidean norm over axes."""

    def __init__(self, axis=(), keep_dims=False):
        super().__init__()
        self.axis, self.keep_dims = axis, keep_dims

    def construct(self, x):
        return ops.sqrt(ops.reduce_sum(ops.square(x), self.axis, self.keep_dims))

    def extend_repr(self):
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class ClipByNorm(Cell):
    """Scales the input down so that its norm is at most the one given."""

    def __init__(self, axis=None):
        super().__init__()
        self.axis = axis

    def construct(self, x, clip_norm):
        axes = () if self.axis is None else self.axis
        norm = ops.sqrt(ops.reduce_sum(ops.square(x), axes, True))
        return x * clip_norm / ops.maximum(norm, clip_norm)


class Tril(Cell):
    """Zeros above diagonal k."""

    def construct(self, x, k=0):
        return ops.tril(x, k)


class Triu(Cell):
    """Zeros below diagonal k."""

    def construct(self, x, k=0):
        return ops.triu(x, k)


class Roll(Cell):
    """Elements moved along axes."""

    def __init__(self, shift, axis):
        super().__init__()
        self.shift, self.axis = shift, axis

    def construct(self, input_x):
        return ops.roll(input_x, self.shift, self.axis)


class Upsample(Cell):
    """A larger image by interpolation."""

    def __init__(
        self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None
    ):
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x):
        return ops.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )


class ResizeBilinear(Cell):
    """An image of another size by bilinear interpolation."""

    def __init__(self, half_pixel_centers=False):
        super().__init__()
        self.half_pixel_centers = half_pixel_centers

    def construct(self, x, size=None, scale_factor=None, align_corners=False):
        if size is None:
            size = tuple(s * scale_factor for s in x.shape[2:])
        return ops.ResizeBilinearV2(align_corners, self.half_pixel_centers)(x, size)


class L1Regularizer(Cell):
    """scale * sum(abs(weights))."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def construct(self, weights):
        return ops.reduce_sum(ops.abs(weights)) * self.scale


class PixelShuffle(Cell):
    """Channels moved into space by a factor."""

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, x):
        return ops.pixel_shuffle(x, self.upscale_factor)


class ChannelShuffle(Cell):
    """Channels of groups taken by turns."""

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def construct(self, x):
        return ops.channel_shuffle(x, self.groups)


class Unflatten(Cell):
    """One axis as several."""

    def __init__(self, axis, unflattened_size):
        super().__init__()
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise TypeError(f"Unflatten: 'axis' has the wrong type: got {axis!r}, need an int")
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"Unflatten: 'unflattened_size' has the wrong type: got {unflattened_size!r}, need ints"
            )
        self.axis, self.unflattened_size = axis, tuple(unflattened_size)

    def construct(self, input_x):
        axis = self.axis
        if not -input_x.ndim <= axis < input_x.ndim:
            raise ValueError(
                f"Unflatten: 'axis' is out of range: got {axis} for shape {input_x.shape}, need an axis of it"
            )
        axis %= input_x.ndim
        return ops.reshape(
            input_x, (*input_x.shape[:axis], *self.unflattened_size, *input_x.shape[axis + 1 :])
        )


class PixelUnshuffle(Cell):
    """Space moved into channels by a factor."""

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, x):
        return ops.pixel_unshuffle(x, self.downscale_factor)
