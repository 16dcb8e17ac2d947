"""Composites of rows: primitives."""

from __future__ import annotations

import math

from .. import _functions as F, _numpy as np
from .._core import Tensor
from ._common import _as_tensor, _d, _float32, _int32, _int64, _is_int, _numbers, _spatial, _write
from .elementwise import logit
from .matrices import qr
from .nn import max_pool_by
from .random import multinomial, randint
from .reductions_algebra import cross_by, median_by, moments_and_mean, nanmedian


def matmul_by(a: Tensor, b: Tensor, transpose_a, transpose_b):
    """Matrix product of operands or their transposes."""
    return F.matmul(F.swap_last(a) if transpose_a else a, F.swap_last(b) if transpose_b else b)


def pool_by(x: Tensor, kernel_size, strides, pad_mode: str, kind):
    """Pooling with MindSpore's pad_mode."""

    def pair(value):
        return (value, value) if _is_int(value) else tuple(value)[-2:]

    kernel, stride = pair(kernel_size), pair(strides)
    mode = pad_mode.lower()
    if mode not in ("same", "valid"):
        raise ValueError(f"pool: unknown pad_mode: got {pad_mode!r}, need 'same' or 'valid'")
    padding = F.same_padding(x.shape[-2:], kernel, stride) if mode == "same" else ()
    if kind == "max":
        return F.max_pool(x, kernel, stride, padding)
    return F.avg_pool(x, kernel, stride, padding, False, False)


def conv_transpose_primitive(
    gradient, weight: Tensor, input_size, pad_mode, padding, stride, dilation, groups
):
    """The transpose of Conv2D as a linear map: its gradient for an input of that size."""
    size = tuple(_numbers(input_size))[-2:]
    stride, dilation = _spatial(stride, 2, "stride"), _spatial(dilation, 2, "dilation")
    if pad_mode == "same":
        padding = F.same_padding(size, weight.shape[2:], stride, dilation)
    elif pad_mode == "valid":
        padding = ()
    elif pad_mode != "pad":
        raise ValueError(
            f"Conv2DTranspose: unknown pad_mode: got {pad_mode!r}, need 'same', 'valid' or 'pad'"
        )
    return F.conv_backward_input(gradient, weight, size, stride, padding, dilation, groups)


def max_pool_with_argmax(x, kernel_size, strides, pads, dilation, ceil_mode, dtype):
    """Largest element of each window and its place in its plane."""
    values, places = max_pool_by(2, x, kernel_size, strides, pads, dilation, True, ceil_mode)
    return values, F.cast(places, dtype)


def cast_any(x, dtype):
    """Converted; a number becomes a tensor."""
    return F.cast(x, dtype) if isinstance(x, Tensor) else Tensor(x, dtype)


def div_no_nan(x, y):
    """x / y, zero where y is."""
    zero = F.equal(y, 0)
    return F.where(zero, 0, F.div(x, F.where(zero, 1, y)))


def dropout_primitive(x: Tensor, keep_prob: float):
    """Dropped-out elements and the mask of those kept."""
    mask = F.less(F.random_uniform(x.shape, _float32), keep_prob)
    return F.div(F.mul(x, F.cast(mask, x.dtype)), keep_prob), mask


def mirror_pad(x: Tensor, paddings, mode):
    """Pairs of widths for each axis, mirrored without ("REFLECT") or with the edge ("SYMMETRIC")."""
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"MirrorPad: unknown mode: got {mode!r}, need 'REFLECT' or 'SYMMETRIC'")
    pairs = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    return F.pad(x, [p[0] for p in pairs], [p[1] for p in pairs], mode.lower())


def pad_pairs(x: Tensor, paddings):
    """Zeros around, a pair of widths for each axis."""
    return F.pad(x, [p[0] for p in paddings], [p[1] for p in paddings])


def reduce_sum(x: Tensor, axis, keep_dims, skip_mode):
    """Sum over axes; with skip_mode no axes means none."""
    if skip_mode and not isinstance(axis, int) and len(axis) == 0:
        return x
    return F.sum(x, axis, keep_dims)


def shape_tensor(x: Tensor):
    """The shape as an int64 tensor."""
    return Tensor(list(x.shape), _int64)


def split_into(x: Tensor, axis: int, count: int):
    """Equal pieces."""
    if x.shape[axis] % count:
        raise ValueError(
            f"Split: axis does not divide: got extent {x.shape[axis]}, need a multiple of {count}"
        )
    return F.split(x, x.shape[axis] // count, axis)


def soft_cross_entropy_pair(logits: Tensor, labels):
    """Cross entropy of each row with distributions, and softmax(logits) - labels."""
    logs = F.log_softmax(logits, -1)
    return F.neg(F.sum(F.mul(logs, labels), -1)), F.sub(F.softmax(logits, -1), labels)


def sparse_cross_entropy_mean(logits: Tensor, labels: Tensor, is_grad):
    """Mean cross entropy with class numbers, or its gradient."""
    if not is_grad:
        return F.mean(F.softmax_cross_entropy(logits, labels))
    hot = F.one_hot(labels, logits.shape[-1], Tensor(1, logits.dtype), Tensor(0, logits.dtype))
    return F.div(F.sub(F.softmax(logits, -1), hot), logits.shape[0])


def square_sums(x: Tensor, y: Tensor):
    """Sums of squares of both."""
    return F.sum(F.square(x)), F.sum(F.square(y))


def nll_pair(logits: Tensor, labels: Tensor, weight: Tensor, ignore_index, reduction):
    """nll_loss and the sum of the weights it is over."""
    chosen = F.where(
        F.equal(labels, ignore_index), 0.0, F.gather(weight, F.clip(labels, 0, weight.size - 1), 0)
    )
    return F.nll_loss(logits, labels, weight, ignore_index, reduction), F.sum(chosen)


def interpolate_by(x: Tensor, size, scale_factor, mode, align_corners, recompute_scale_factor):
    """Resized to a size or by factors."""
    if (size is None) == (scale_factor is None):
        both = "none" if size is None else "both"
        raise ValueError(f"interpolate: sizes do not fit: got {both}, need either 'size' or 'scale_factor'")
    size = () if size is None else (size,) * (x.ndim - 2) if _is_int(size) else size
    factors = () if scale_factor is None else scale_factor
    return F.interpolate(x, mode, size, factors, bool(align_corners), bool(recompute_scale_factor))


def cosine_similarity(x: Tensor, other: Tensor, axis: int, eps):
    """Cosine of the angle between slices along an axis."""
    product = F.sum(F.mul(x, other), axis)
    sizes = F.mul(F.maximum(F.norm(x, 2.0, axis), eps), F.maximum(F.norm(other, 2.0, axis), eps))
    return F.div(product, sizes)


def channel_dropout(x: Tensor, p: float, training) -> Tensor:
    """Zeros whole channels with probability p and scales the rest, in training."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout: 'p' is out of range: got {p}, need at least 0, less than 1")
    if not training or p == 0:
        return x
    kept = F.dropout(F.full((*x.shape[:2], *(1,) * (x.ndim - 2)), 1, x.dtype), p)
    return F.mul(x, kept)


def gumbel_softmax(logits: Tensor, tau: float, hard, axis: int):
    """Softmax of logits with Gumbel noise; with `hard` one-hot in value, soft in gradient."""
    drawn = F.clip(F.random_uniform(logits.shape, _float32), 1e-20, 1.0)
    soft = F.softmax(F.div(F.sub(logits, F.log(F.neg(F.log(drawn)))), tau), axis)
    if not hard:
        return soft
    places = F.argmax(soft, axis)
    hot = F.one_hot(places, soft.shape[axis], Tensor(1, soft.dtype), Tensor(0, soft.dtype), axis)
    return F.add(F.sub(hot, F.stop_gradient(soft)), soft)


def unique_sorted(x: Tensor, return_inverse):
    """Distinct elements in order, with the place of each element when asked for."""
    values, inverse, _ = F.unique(x)
    return (values, inverse) if return_inverse else values


def resize(x: Tensor, size, mode, align_corners, half_pixel_centers):
    """An image of another size. Without half_pixel_centers or align_corners element i lies at i * scale."""
    size = tuple(_numbers(size))
    if not all(n >= 1 for n in size) or math.prod((*x.shape[:2], *size)) >= 2**59:
        raise ValueError(
            f"resize: 'size' is out of range: got {size}, need numbers of at least 1 and an image of fewer "
            "than 2^59 elements"
        )
    if align_corners and half_pixel_centers:
        raise ValueError("resize: 'half_pixel_centers' excludes 'align_corners': got both, need at most one")
    if mode == "nearest":
        if not align_corners:
            return F.interpolate(x, "nearest-exact" if half_pixel_centers else "nearest", size)
        for axis, count in zip((2, 3), size, strict=True):
            step = (x.shape[axis] - 1) / max(count - 1, 1)
            x = F.gather(x, Tensor((np.arange(count) * step + 0.5).astype(np.int64)), axis)
        return x
    if align_corners or half_pixel_centers:
        return F.interpolate(x, mode, size, (), align_corners)
    for axis, count in zip((2, 3), size, strict=True):
        x = _lerp_from_corner(x, axis, count)
    return x


def _lerp_from_corner(x: Tensor, axis, count):
    """x with `count` elements along an axis, element i between those beside i * scale."""
    extent = x.shape[axis]
    places = np.arange(count) * extent / count
    low = places.astype(np.int64)
    share = Tensor(places - low, x.dtype)
    share = F.reshape(share, (count,) + (1,) * (x.ndim - 1 - axis))
    before = F.gather(x, Tensor(low), axis)
    after = F.gather(x, Tensor(np.minimum(low + 1, extent - 1)), axis)
    return F.add(before, F.mul(F.sub(after, before), share))


def depth_to_space(x: Tensor, block: int, back):
    """Channels moved into space in blocks, or back."""
    n, c, h, w = x.shape
    if back:
        x = F.reshape(x, (n, c, h // block, block, w // block, block))
        return F.reshape(F.transpose(x, (0, 3, 5, 1, 2, 4)), (n, c * block**2, h // block, w // block))
    x = F.reshape(x, (n, block, block, c // block**2, h, w))
    return F.reshape(F.transpose(x, (0, 3, 4, 1, 5, 2)), (n, c // block**2, h * block, w * block))


def uniform_int(shape, minval, maxval):
    """int32 numbers from minval up to but without maxval."""
    return randint(int(minval), int(maxval), shape, None, _int32)


def pool3d_by(x: Tensor, kernel_size, strides, pad_mode: str, pad, ceil_mode, include, divisor, kind):
    """Pooling of volumes by the names of borders that primitives use; six numbers of `pad` are pairs."""
    kernel, strides = _last_three(kernel_size, "kernel_size"), _last_three(strides, "strides")
    mode = pad_mode.lower()
    if mode == "same":
        pad = F.same_padding(x.shape[2:], kernel, strides)
    elif mode == "valid":
        pad = 0
    elif mode != "pad":
        raise ValueError(f"pool: unknown pad_mode: got {pad_mode!r}, need 'same', 'valid' or 'pad'")
    ceil_mode = bool(ceil_mode)
    if kind == "max":
        return F.max_pool(x, kernel, strides, pad, (1, 1, 1), ceil_mode)
    # What a border that makes up for the stride adds is no part of a mean.
    return F.avg_pool(x, kernel, strides, pad, ceil_mode, include and mode != "same", divisor or 0)


def _last_three(value, name):
    if not _is_int(value) and len(value) == 5:  # of all five axes
        value = tuple(value)[2:]
    return _spatial(value, 3, name)


def bincount_sized(x: Tensor, size, weights: Tensor):
    """Sums of weights, or counts where there are none, of the numbers below a size; others are left out."""
    size = int(size)
    inside = F.masked_select(x, F.less(x, size))
    chosen = F.masked_select(weights, F.less(x, size)) if weights.size else None
    counts = F.bincount(inside, chosen, size)
    return counts if chosen is not None else F.cast(counts, weights.dtype)


def cross_primitive(x: Tensor, other: Tensor, axis: int):
    """cross along an axis, or the first of extent 3."""
    return cross_by(x, other, None if axis == -65530 else axis)


def diag_part(x: Tensor):
    """The elements of (D1 .. Dk, D1 .. Dk) whose two halves of the index are the same."""
    half = x.ndim // 2
    if x.ndim < 2 or x.ndim % 2 or x.shape[:half] != x.shape[half:]:
        raise ValueError(
            f"DiagPart: axes do not come in pairs: got shape {x.shape}, need (D1 .. Dk, D1 .. Dk)"
        )
    count = 1
    for n in x.shape[:half]:
        count *= n
    return F.reshape(F.diagonal(F.reshape(x, (count, count))), x.shape[:half])


def channel_dropout_primitive(x: Tensor, keep_prob: float):
    """Whole channels kept with a probability and scaled by its inverse, and a mask of what is kept."""
    if not 0 <= keep_prob <= 1:
        raise ValueError(f"Dropout: 'keep_prob' is out of range: got {keep_prob}, need 0 to 1")
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2))
    kept = F.less(F.random_uniform(shape, _float32, None), float(keep_prob))
    mask = F.broadcast_to(kept, x.shape)
    scaled = F.div(x, keep_prob) if keep_prob else x
    return F.where(mask, scaled, Tensor(0, x.dtype)), mask


def logit_primitive(x: Tensor, eps: float):
    """logit, of x within [eps, 1 - eps] unless eps is negative."""
    return logit(x, None if eps < 0 else eps)


def lp_norm(x: Tensor, axis, p: float, keepdims):
    """Norm of order p along axes."""
    return F.norm(x, float(p), axis, keepdims)


def median_primitive(x: Tensor, everything, axis: int, keepdims, ignore_nan):
    """The lower median of all elements and 0, or those along an axis and their places."""
    find = nanmedian if ignore_nan else median_by
    if everything:
        found = find(F.reshape(x, -1), 0, False)
        return found[0], F.full((), 0, _int64)
    return find(x, axis, keepdims)


def qr_primitive(x: Tensor, full_matrices):
    """qr with as many rows as x has, or only as many as needed."""
    return qr(x, "complete" if full_matrices else "reduced")


def random_categorical(logits: Tensor, count: int, dtype):
    """Class numbers (N, count) drawn with the logarithms (N, C) of weights."""
    return F.cast(multinomial(F.softmax(F.cast(logits, _d["float64"]), -1), count, True, None), dtype)


def reduce_std(x: Tensor, axis, unbiased, keepdims):
    """Standard deviation and mean."""
    return moments_and_mean(x, axis, 1 if unbiased else 0, keepdims, "std")


def unravel_index(indices: Tensor, dims):
    """(rank, count): the index in an array of these dimensions at each row-major position."""
    sizes = _numbers(dims)
    parts, rest = [], indices
    for n in reversed(sizes):
        parts.append(F.mod(rest, Tensor(n, indices.dtype)))
        rest = F.floor_div(rest, Tensor(n, indices.dtype))
    return F.stack(list(reversed(parts)), 0)


def apply_momentum(variable: Tensor, accumulation: Tensor, rate, gradient: Tensor, momentum, nesterov, scale):
    """One step of Momentum: writes the accumulation and the variable, and gives the variable's new value."""
    rate, momentum = (F.cast(_as_tensor(v), _float32) for v in (rate, momentum))
    gradient = gradient if scale == 1 else F.mul(gradient, float(scale))
    made = F.rule_momentum(variable, accumulation, gradient, rate, momentum, bool(nesterov))
    _write(accumulation, made[1])
    return _write(variable, made[0])


def invert_permutation(x):
    """Of a permutation that sends i to x[i] the one that sends x[i] to i, a tuple for a tuple."""
    places = _numbers(x)
    if sorted(places) != list(range(len(places))):
        raise ValueError(
            f"InvertPermutation: no permutation: got {places}, need each of 0 to {len(places) - 1}"
        )
    found = [0] * len(places)
    for i, place in enumerate(places):
        found[place] = i
    return Tensor(found, x.dtype) if isinstance(x, Tensor) else tuple(found)
