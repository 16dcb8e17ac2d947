"""Composites of rows: names of older releases, and primitives that few programs use."""

from __future__ import annotations

import math

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _int64, _numbers


def make_range(bounds) -> tuple:
    """range(...) as a tuple."""
    return tuple(range(*(int(b) for b in bounds)))


def make_tuple(values) -> tuple:
    """Its arguments."""
    return tuple(values)


def make_list(values) -> list:
    """Its arguments as a list."""
    return list(values)


def item_of(values, place: int):
    """The item at a place."""
    return values[place]


def count_of(values) -> int:
    """The number of items."""
    return len(values)


def product_of(values) -> int:
    """The product of ints, as of the extents of a shape."""
    if not isinstance(values, (tuple, list)) or not all(isinstance(v, int) for v in values):
        raise TypeError(f"shape_mul: 'shape' has the wrong type: got {values!r}, need ints")
    return math.prod(values)


def sum_of_scalars(x, y):
    """x + y of numbers of Python."""
    return x + y


def mixed_precision_cast(dtype, value):
    """Floating tensors, alone or in tuples and lists, converted to the dtype; anything else as it is."""

    def cast(x):
        if isinstance(x, (tuple, list)):
            return type(x)(cast(item) for item in x)
        return F.cast(x, dtype) if isinstance(x, Tensor) and x.dtype.is_floating_point else x

    return cast(value)


def check_valid(boxes: Tensor, image: Tensor) -> Tensor:
    """Whether boxes (N, 4) of corners x0, y0, x1, y1 lie within an image of (height, width, ratio)."""
    if boxes.ndim != 2 or boxes.shape[1] != 4 or image.shape != (3,):
        raise ValueError(
            f"CheckValid: shapes do not fit: got {boxes.shape} and {image.shape}, need (N, 4) and (3,)"
        )
    height, width = F.mul(image[0], image[2]), F.mul(image[1], image[2])
    low = F.all(F.greater_equal(boxes, 0), 1)
    right = F.less_equal(F.maximum(boxes[:, 0], boxes[:, 2]), F.sub(width, 1))
    lower = F.less_equal(F.maximum(boxes[:, 1], boxes[:, 3]), F.sub(height, 1))
    return F.logical_and(low, F.logical_and(right, lower))


def pad_by_pairs(x: Tensor, paddings, value, mode, contiguous) -> Tensor:
    """Borders by pairs of widths, the last axis first; or all that come before, then all that come after."""
    widths = _numbers(paddings)
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(
            f"PadV3: 'paddings' does not fit: got {widths} for shape {x.shape}, need pairs for its axes"
        )
    count = len(widths) // 2
    if not contiguous:
        widths = [w for i in range(count) for w in (widths[i], widths[count + i])]
    before, after = [0] * x.ndim, [0] * x.ndim
    for i in range(count):
        before[x.ndim - 1 - i], after[x.ndim - 1 - i] = widths[2 * i], widths[2 * i + 1]
    if mode not in ("constant", "reflect", "edge", "circular"):
        raise ValueError(
            f"PadV3: unknown mode: got {mode!r}, need 'constant', 'reflect', 'edge' or 'circular'"
        )
    if mode == "constant":
        filler = 0 if value is None else value
        filler = filler.item() if isinstance(filler, Tensor) else filler
        return F.pad(x, before, after, "constant", filler)
    return F.pad(x, before, after, {"edge": "replicate"}.get(mode, mode))


def random_permutation(n: Tensor, longest: int, pad: int, dtype) -> Tensor:
    """The ints below n in a random order, filled up to the longest length."""
    count = n.item() if isinstance(n, Tensor) else int(n)
    if not 0 <= count <= longest:
        raise ValueError(f"Randperm: 'n' is out of range: got {count}, need 0 to {longest}, the 'max_length'")
    order = F.argsort(F.random_uniform((count,), _d["float64"], None), 0)
    filler = F.full((longest - count,), pad, _int64)
    return F.cast(F.concat([F.cast(order, _int64), filler], 0), dtype)


def multilabel_margin_loss(x: Tensor, target: Tensor, reduction: str) -> Tensor:
    """For each row the mean over classes of what each label, up to the first -1, lacks of a margin of 1 to
    each class that is none.
    """
    return _multilabel_margin(x, target, reduction)[0]


def multilabel_margin_pair(x: Tensor, target: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    """The same, and 1 for classes that are labels."""
    return _multilabel_margin(x, target, reduction)


def _multilabel_margin(x, target, reduction):
    what = "multilabel_margin_loss"
    if x.shape != target.shape or x.ndim not in (1, 2):
        raise ValueError(
            f"{what}: shapes do not fit: got {x.shape} and {target.shape}, need (C,) or (N, C)"
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{what}: unknown reduction: got {reduction!r}, need 'none', 'mean' or 'sum'")
    classes, kind = x.shape[-1], target.dtype
    target = F.cast(target, _int64)
    there = F.equal(F.cumsum(F.cast(F.less(target, 0), _int64), target.ndim - 1), 0)
    # label[..., j, c]: the j-th label is class c
    label = F.equal(F.expand_dims(target, -1), F.arange(0, classes, 1, _int64))
    label = F.logical_and(label, F.expand_dims(there, -1))
    is_label = F.any(label, -2)
    own = F.sum(F.where(label, F.expand_dims(x, -2), Tensor(0, x.dtype)), -1)
    lack = F.relu(F.sub(F.add(F.expand_dims(x, -2), 1.0), F.expand_dims(own, -1)))
    counts = F.logical_and(F.expand_dims(there, -1), F.logical_not(F.expand_dims(is_label, -2)))
    loss = F.div(F.sum(F.where(counts, lack, Tensor(0, x.dtype)), (-2, -1)), float(classes))
    if reduction != "none":
        loss = F.mean(loss) if reduction == "mean" else F.sum(loss)
    return loss, F.cast(is_label, kind)
