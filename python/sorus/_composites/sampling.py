"""Composites of rows: windows of images, sampling at points, blocks."""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _float32, _is_int, _numbers

_int64 = _d["int64"]


def _pair(value, name):
    values = _numbers(value)
    if len(values) not in (1, 2):
        raise ValueError(f"'{name}' has the wrong length: got {value}, need an int or 2 ints")
    return values * 2 if len(values) == 1 else values


def _offsets(size, kernel, dilation, stride):
    """How many windows there are along each axis, and the slices that hold their k-th elements."""
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, d, s in zip(size, kernel, dilation, stride)]
    if min(counts) < 1:
        raise ValueError(
            f"unfold: kernel does not fit: got {tuple(kernel)} for {tuple(size)}, need it smaller"
        )
    places = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            starts = (i * dilation[0], j * dilation[1])
            places.append(tuple(slice(a, a + s * (c - 1) + 1, s) for a, s, c in zip(starts, stride, counts)))
    return counts, places


def unfold(x: Tensor, kernel_size, dilation, padding, stride):
    """Windows of images (N, C, H, W) as columns: (N, C * elements of the kernel, windows)."""
    if x.ndim != 4:
        raise ValueError(f"unfold: number of axes does not fit: got shape {x.shape}, need 4 axes")
    kernel, dilation = _pair(kernel_size, "kernel_size"), _pair(dilation, "dilation")
    padding, stride = _pair(padding, "padding"), _pair(stride, "stride")
    x = F.pad(x, [0, 0, *padding], [0, 0, *padding]) if any(padding) else x
    _, places = _offsets(x.shape[2:], kernel, dilation, stride)
    return F.reshape(
        F.stack([x[(slice(None), slice(None), *p)] for p in places], 2),
        (x.shape[0], x.shape[1] * len(places), -1),
    )


def fold(x: Tensor, output_size, kernel_size, dilation, padding, stride):
    """Images of the sums of the windows that unfold gives, of any layout with C * kernel columns."""
    size, kernel = _pair(output_size, "output_size"), _pair(kernel_size, "kernel_size")
    dilation, padding, stride = (
        _pair(dilation, "dilation"),
        _pair(padding, "padding"),
        _pair(stride, "stride"),
    )
    elements = kernel[0] * kernel[1]
    if x.ndim != 3 or x.shape[1] % elements:
        raise ValueError(
            f"fold: shape does not fit: got {x.shape}, need (N, C * {elements}, windows) for the kernel"
        )
    padded = [n + 2 * p for n, p in zip(size, padding)]
    counts, places = _offsets(padded, kernel, dilation, stride)
    if counts[0] * counts[1] != x.shape[2]:
        raise ValueError(
            f"fold: number of windows does not fit: got {x.shape[2]}, need {counts[0] * counts[1]}"
        )
    channels = x.shape[1] // elements
    pieces = F.reshape(x, (x.shape[0], channels, elements, *counts))
    image = F.full((x.shape[0], channels, *padded), 0, x.dtype)
    for k, place in enumerate(places):
        index = (slice(None), slice(None), *place)
        image[index] = F.add(image[index], pieces[:, :, k])
    return image[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


def space_to_batch(x: Tensor, block_size, paddings):
    """Each place within blocks of the axes after the channels becomes a batch of its own."""
    block = list(block_size) if not _is_int(block_size) else [block_size] * (x.ndim - 2)
    paddings = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    x = F.pad(x, [0, 0, *(p[0] for p in paddings)], [0, 0, *(p[1] for p in paddings)])
    if any(n % b for n, b in zip(x.shape[2:], block)):
        raise ValueError(f"space_to_batch_nd: blocks do not fit: got {block} for {x.shape}, need divisors")
    split = [part for n, b in zip(x.shape[2:], block) for part in (n // b, b)]
    count = len(block)
    inner = [3 + 2 * i for i in range(count)]
    outer = [2 + 2 * i for i in range(count)]
    moved = F.transpose(F.reshape(x, (*x.shape[:2], *split)), (*inner, 0, 1, *outer))
    return F.reshape(moved, (-1, x.shape[1], *split[0::2]))


def batch_to_space(x: Tensor, block_size, crops):
    """The inverse of space_to_batch, with borders cut off."""
    block = list(block_size) if not _is_int(block_size) else [block_size] * (x.ndim - 2)
    total = 1
    for b in block:
        total *= b
    if x.shape[0] % total:
        raise ValueError(
            f"batch_to_space_nd: batch does not divide: got {x.shape[0]}, need a multiple of {total}"
        )
    crops = crops.tolist() if isinstance(crops, Tensor) else crops
    count = len(block)
    split = F.reshape(x, (*block, x.shape[0] // total, *x.shape[1:]))
    order = [count, count + 1, *(a for i in range(count) for a in (count + 2 + i, i))]
    size = [n * b for n, b in zip(x.shape[2:], block)]
    joined = F.reshape(F.transpose(split, order), (x.shape[0] // total, x.shape[1], *size))
    cuts = (slice(a, n - b) for n, (a, b) in zip(size, crops))
    return joined[(slice(None), slice(None), *cuts)]


def affine_grid(theta: Tensor, size, align_corners):
    """Points (N, H, W, 2) (or (N, D, H, W, 3)) of the affine maps theta of the corners -1 to 1."""
    size = _numbers(size)
    lines = []
    for n in size[2:]:
        steps = F.arange(0, n, 1, _float32)
        if align_corners:
            lines.append(
                F.sub(F.mul(steps, 2.0 / max(n - 1, 1)), 1.0) if n > 1 else F.full((1,), 0.0, _float32)
            )
        else:
            lines.append(F.sub(F.div(F.add(F.mul(steps, 2.0), 1.0), n), 1.0))
    grids = F.meshgrid(lines, True)
    points = F.stack([*reversed(grids), F.full_like(grids[0], 1.0)], -1)
    flat = F.matmul(F.reshape(F.cast(points, theta.dtype), (-1, len(size) - 1)), F.swapaxes(theta, -1, -2))
    return F.reshape(flat, (size[0], *size[2:], len(size) - 2))


def _reflected(place: Tensor, low, high):
    span = high - low
    if span <= 0:
        return F.full_like(place, 0.0)
    distance = F.abs(F.sub(place, low))
    turns, rest = F.floor(F.div(distance, span)), F.fmod(distance, span)
    even = F.equal(F.fmod(turns, 2.0), 0)
    return F.where(even, F.add(rest, low), F.sub(high, rest))


def grid_sample(x: Tensor, grid: Tensor, mode, padding_mode, align_corners) -> Tensor:
    """x (N, C, H, W) at the points (N, h, w, 2) whose x and y go from -1 to 1."""
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f"grid_sample: unknown mode: got {mode!r}, need 'bilinear' or 'nearest'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"grid_sample: unknown padding_mode: got {padding_mode!r}, need 'zeros', 'border' or 'reflection'"
        )
    if x.ndim != 4 or grid.ndim != 4 or grid.shape[-1] != 2 or grid.shape[0] != x.shape[0]:
        raise ValueError(
            f"grid_sample: shapes do not fit: got {x.shape} and {grid.shape}, need (N, C, H, W), (N, h, w, 2)"
        )
    places = []
    for axis, extent in ((1, x.shape[2]), (0, x.shape[3])):
        place = F.add(grid[..., axis], 1.0)
        place = F.mul(place, (extent - 1) / 2) if align_corners else F.sub(F.mul(place, extent / 2), 0.5)
        if padding_mode == "reflection":
            place = _reflected(place, *((0, extent - 1) if align_corners else (-0.5, extent - 0.5)))
        places.append(place if padding_mode == "zeros" else F.clip(place, 0, extent - 1))
    if mode == "nearest":
        return _points(x, F.round(places[0]), F.round(places[1]))
    return bilinear(x, *places)


def _points(x: Tensor, row: Tensor, column):
    """x at whole places (N, h, w), zero outside."""
    height, width = x.shape[2:]
    inside = F.logical_and(
        F.logical_and(F.greater_equal(row, 0), F.less(row, height)),
        F.logical_and(F.greater_equal(column, 0), F.less(column, width)),
    )
    flat = F.add(F.mul(F.clip(row, 0, height - 1), width), F.clip(column, 0, width - 1))
    index = F.reshape(F.cast(flat, _int64), (row.shape[0], 1, -1))
    index = F.broadcast_to(index, (*x.shape[:2], index.shape[-1]))
    values = F.gather_elements(F.reshape(x, (*x.shape[:2], -1)), index, -1)
    values = F.reshape(values, (*x.shape[:2], *row.shape[1:]))
    return F.where(F.expand_dims(inside, 1), values, 0)


def bilinear(x: Tensor, row: Tensor, column: Tensor):
    """x (N, C, H, W) between the places (N, h, w), linearly."""
    top, left = F.floor(row), F.floor(column)
    down, right = F.sub(row, top), F.sub(column, left)
    total = None
    for i, vertical in ((0, F.sub(1.0, down)), (1, down)):
        for j, horizontal in ((0, F.sub(1.0, right)), (1, right)):
            weight = F.expand_dims(F.mul(vertical, horizontal), 1)
            part = F.mul(_points(x, F.add(top, i), F.add(left, j)), weight)
            total = part if total is None else F.add(total, part)
    return total
