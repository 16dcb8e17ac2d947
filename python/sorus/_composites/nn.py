"""Composites of rows: nn."""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ._common import _float32, _output_size, _spatial
from .reductions_algebra import addn


def bias_add(x: Tensor, bias: Tensor):
    """x plus a bias for each channel."""
    return F.add(x, F.reshape(bias, (1, -1) + (1,) * (x.ndim - 2)))


def bidense(x, y, weight, bias):
    """x W y + b for each matrix W (in1, in2) of weight (out, in1, in2)."""
    result = F.einsum("...i,oij,...j->...o", (x, weight, y))
    return result if bias is None else F.add(result, bias)


def conv_by(axes, x: Tensor, weight: Tensor, bias, stride, pad_mode, padding, dilation, groups):
    """Convolution with MindSpore's pad_mode."""
    if x.ndim not in (axes + 1, axes + 2):
        raise ValueError(f"conv{axes}d: wrong number of axes: got shape {x.shape}, need {axes + 2}")
    stride, dilation = _spatial(stride, axes, "stride"), _spatial(dilation, axes, "dilation")
    if pad_mode != "pad" and any((padding,) if isinstance(padding, int) else padding):
        raise ValueError(
            f"conv{axes}d: padding does not fit pad_mode: got {padding} and {pad_mode!r}, need pad_mode 'pad'"
            " or no padding"
        )
    if pad_mode == "same":
        padding = F.same_padding(x.shape[-axes:], weight.shape[2:], stride, dilation)
    elif pad_mode == "valid":
        padding = ()
    elif pad_mode != "pad":
        raise ValueError(f"conv{axes}d: unknown pad_mode: got {pad_mode!r}, need 'same', 'valid' or 'pad'")
    return F.conv(x, weight, bias, stride, padding, dilation, groups)


def torch_conv(axes, x: Tensor, weight: Tensor, bias, stride, padding, dilation, groups):
    """Convolution with padding as a number, numbers, "same" or "valid"."""
    if isinstance(padding, str):
        return conv_by(axes, x, weight, bias, stride, padding, 0, dilation, groups)
    return conv_by(axes, x, weight, bias, stride, "pad", padding, dilation, groups)


def max_unpool(axes, x: Tensor, indices: Tensor, kernel_size, stride, padding, output_size) -> Tensor:
    """Zeros with the elements of x at the places `indices` in each channel."""
    what = "max_unpool"
    if x.shape != indices.shape or x.ndim not in (axes + 1, axes + 2):
        raise ValueError(
            f"{what}: shapes do not fit: got {x.shape} and indices {indices.shape}, need equal ones of "
            f"{axes + 1} or {axes + 2} axes"
        )
    kernel = _spatial(kernel_size, axes, "kernel_size")
    stride = kernel if stride is None else _spatial(stride, axes, "stride")
    padding = _spatial(padding, axes, "padding")
    lead, extents = x.shape[:-axes], x.shape[-axes:]
    plain = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(extents, stride, padding, kernel))
    size = plain if output_size is None else tuple(output_size)[-axes:]
    if len(size) != axes or any(not n - s < m < n + s for n, m, s in zip(plain, size, stride)):
        raise ValueError(f"{what}: 'output_size' is out of range: got {output_size}, need about {plain}")
    count = 1
    for n in size:
        count *= n
    empty = F.full((*lead, count), 0, x.dtype)
    flat = F.scatter_elements(empty, F.reshape(indices, (*lead, -1)), F.reshape(x, (*lead, -1)), -1)
    return F.reshape(flat, (*lead, *size))


def kl_div_by(x: Tensor, target: Tensor, reduction, log_target) -> Tensor:
    """kl_div, also of targets that are logarithms."""
    if not log_target:
        return F.kl_div(x, target, reduction)
    if reduction not in ("mean", "sum", "none", "batchmean"):
        raise ValueError(
            f"kl_div: unknown reduction: got {reduction!r}, need 'mean', 'sum', 'none' or 'batchmean'"
        )
    loss = F.mul(F.exp(target), F.sub(target, x))
    if reduction == "none":
        return loss
    if reduction == "mean":
        return F.mean(loss)
    return F.sum(loss) if reduction == "sum" else F.div(F.sum(loss), x.shape[0])


def one_hot_classes(x: Tensor, count: int):
    """One-hot rows of as many classes, or as the largest index needs."""
    count = int(x.asnumpy().max()) + 1 if count == -1 else count
    return F.one_hot(x, count, Tensor(1), Tensor(0))


def max_pool_by(axes, x, kernel_size, stride, padding, dilation, return_indices, ceil_mode):
    """Largest element of each window, with its place when asked for."""
    kernel = _spatial(kernel_size, axes, "kernel_size")
    stride = kernel if stride is None else _spatial(stride, axes, "stride")
    pool = F.max_pool_with_indices if return_indices else F.max_pool
    return pool(x, kernel, stride, padding, dilation, ceil_mode)


def avg_pool_by(axes, x: Tensor, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor):
    """Mean of each window."""
    kernel = _spatial(kernel_size, axes, "kernel_size")
    stride = kernel if stride is None else _spatial(stride, axes, "stride")
    return F.avg_pool(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor or 0)


def adaptive_pool(axes, x: Tensor, output_size, kind):
    """Windows that give the output size."""
    size = _output_size(axes, output_size)
    return F.adaptive_avg_pool(x, size) if kind == "avg" else F.adaptive_max_pool(x, size)


def adaptive_max_pool_by(axes, x: Tensor, output_size, return_indices):
    """Largest element of windows that give the output size, with its place when asked for."""
    size = _output_size(axes, output_size)
    return F.adaptive_max_pool_with_indices(x, size) if return_indices else F.adaptive_max_pool(x, size)


def batch_norm(x: Tensor, mean, variance, weight, bias, training, momentum, eps):
    """Batch normalization by batch statistics in training, by the given ones otherwise."""
    if not training:
        return F.batch_norm_inference(x, mean, variance, weight, bias, eps)
    return _batch_norm_train(x, mean, variance, weight, bias, momentum, eps)[0]


def _batch_norm_train(x, mean, variance, weight, bias, momentum, eps):
    """The result, mean and variance of the batch; running statistics that are parameters follow them."""
    y, batch_mean, batch_variance = F.batch_norm_train(x, weight, bias, eps)
    count = x.size // x.shape[1]
    unbiased = batch_variance * (count / max(count - 1, 1))
    for variable, new in ((mean, batch_mean), (variance, unbiased)):
        if hasattr(variable, "set_data"):
            variable.set_data(F.stop_gradient(variable * (1 - momentum) + new * momentum))
    return y, batch_mean, batch_variance


def batch_norm_primitive(
    x: Tensor, weight: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, training, eps, momentum, layout
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The result, then mean and variance that it was normalized by, twice: those of the batch in training,
    when running statistics that are parameters follow them, the given ones otherwise.
    """
    if layout not in ("NCHW", "NHWC", "NCDHW"):
        raise ValueError(f"BatchNorm: unknown 'data_format': got {layout!r}, need 'NCHW', 'NHWC' or 'NCDHW'")
    last = layout == "NHWC" and x.ndim > 2
    x = F.movedim(x, (x.ndim - 1,), (1,)) if last else x
    if training:
        y, mean, variance = _batch_norm_train(x, mean, variance, weight, bias, momentum, eps)
    else:
        mean, variance = (v.value() if hasattr(v, "set_data") else v for v in (mean, variance))
        y = F.batch_norm_inference(x, mean, variance, weight, bias, eps)
    y = F.movedim(y, (1,), (x.ndim - 1,)) if last else y
    return y, mean, variance, mean, variance


def nll_smoothed(x: Tensor, target: Tensor, weight, ignore_index, reduction, smoothing: float):
    """nll_loss, with a share of the target spread over all classes."""
    if not 0 <= smoothing <= 1:
        raise ValueError(f"nll_loss: 'label_smoothing' is out of range: got {smoothing}, need 0 to 1")
    loss = F.nll_loss(x, target, weight, ignore_index, reduction)
    if not smoothing:
        return loss
    axis = 1 if x.ndim > 1 else 0
    shares = F.where(F.equal(target, ignore_index), Tensor(0, x.dtype), F.neg(F.sum(x, axis)))
    if reduction != "none":
        shares = F.sum(shares) if reduction == "sum" else F.mean(shares)
    return F.add(F.mul(loss, 1 - smoothing), F.mul(shares, smoothing / x.shape[axis]))


def pixel_shuffle(x: Tensor, factor: int):
    """Channels moved into space."""
    *batch, channels, height, width = x.shape
    if factor <= 0 or channels % factor**2:
        raise ValueError(
            f"pixel_shuffle: channels do not divide: got {channels}, need a multiple of {factor}**2"
        )
    n = len(batch)
    x = F.reshape(x, (*batch, channels // factor**2, factor, factor, height, width))
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return F.reshape(F.transpose(x, order), (*batch, channels // factor**2, height * factor, width * factor))


def pixel_unshuffle(x: Tensor, factor: int):
    """Space moved into channels."""
    *batch, channels, height, width = x.shape
    if factor <= 0 or height % factor or width % factor:
        raise ValueError(
            f"pixel_unshuffle: size does not divide: got {height} by {width}, need multiples of {factor}"
        )
    n = len(batch)
    x = F.reshape(x, (*batch, channels, height // factor, factor, width // factor, factor))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return F.reshape(F.transpose(x, order), (*batch, channels * factor**2, height // factor, width // factor))


def channel_shuffle(x: Tensor, groups: int):
    """Channels of the groups taken in turn."""
    n, channels = x.shape[:2]
    if groups <= 0 or channels % groups:
        raise ValueError(
            f"channel_shuffle: channels do not divide: got {channels}, need a multiple of {groups}"
        )
    x = F.reshape(x, (n, groups, channels // groups, *x.shape[2:]))
    return F.reshape(F.swapaxes(x, 1, 2), (n, channels, *x.shape[3:]))


def clip_by_global_norm(tensors, clip_norm: float, use_norm):
    """All tensors scaled by the same number so that their joint norm is at most clip_norm."""
    if use_norm is not None:
        raise ValueError(f"clip_by_global_norm: 'use_norm' is not supported: got {use_norm}, need None")
    if clip_norm <= 0:
        raise ValueError(
            f"clip_by_global_norm: 'clip_norm' is out of range: got {clip_norm}, need more than 0"
        )
    total = addn([F.sum(F.square(F.cast(t, _float32))) for t in tensors])
    norm = F.maximum(F.sqrt(total), clip_norm)
    return tuple(F.cast(F.div(F.mul(t, clip_norm), norm), t.dtype) for t in tensors)


def lp_pool_by(axes, x: Tensor, norm_type: float, kernel_size, stride, ceil_mode):
    """Norms of order norm_type over windows."""
    kernel = _spatial(kernel_size, axes, "kernel_size")
    return F.lp_pool(x, float(norm_type), kernel, () if stride is None else stride, ceil_mode)


def lrn(x: Tensor, depth_radius: int, bias, alpha, beta, norm_region):
    """x divided by (bias + alpha * sum of squares of the nearest channels) ** beta."""
    if norm_region != "ACROSS_CHANNELS":
        raise ValueError(f"lrn: unknown norm_region: got {norm_region!r}, need 'ACROSS_CHANNELS'")
    if x.ndim != 4:
        raise ValueError(f"lrn: number of axes does not fit: got shape {x.shape}, need 4 axes")
    channels = x.shape[1]
    squares = F.pad(F.square(x), [0, depth_radius, 0, 0], [0, depth_radius, 0, 0])
    total = F.narrow(squares, 1, 0, channels)
    for k in range(1, 2 * depth_radius + 1):
        total = F.add(total, F.narrow(squares, 1, k, channels))
    return F.div(x, F.pow(F.add(F.mul(total, alpha), bias), beta))
