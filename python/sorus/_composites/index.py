"""Composites of rows: index."""

from __future__ import annotations

from .. import _core
from .. import _functions as F
from .._core import Tensor
from ._common import _as_tensor, _d, _float32, _int32, _write


def take_by(x, indices, axis, mode):
    """Elements by index, indices clipped, wrapped or checked."""
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"take: unknown mode: got {mode!r}, need 'clip', 'wrap' or 'raise'")
    if not isinstance(indices, Tensor):
        indices = Tensor(indices)
    extent = x.size if axis is None else x.shape[axis]
    if mode == "clip":
        indices = F.clip(indices, 0, extent - 1)
    elif mode == "wrap":
        indices = F.mod(indices, extent)
    return F.take(x, indices, axis)


def select_index(x, axis, index):
    """The slice at an index of an axis."""
    return F.squeeze(F.narrow(x, axis, index, 1), axis)


def index_fill_by(x, axis, index, value) -> Tensor:
    """x with the slices at `index` filled."""
    return F.index_fill(x, axis, Tensor([index]) if isinstance(index, int) else F.reshape(index, -1), value)


def index_put_any(x, indices, values, accumulate):
    """x with the elements at the index tensors replaced or added to."""
    return F.index_put(x, list(indices), values, bool(accumulate))


def masked_fill_any(x, mask, value):
    """x with `value` where the mask is true."""
    if isinstance(mask, Tensor) and mask.dtype is not _d["bool_"]:
        raise TypeError(f"masked_fill: 'mask' has the wrong dtype: got {mask.dtype}, need Bool")
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError(f"masked_fill: 'value' has the wrong shape: got {value.shape}, need a scalar")
    return F.masked_fill(x, mask, F.cast(value, x.dtype) if isinstance(value, Tensor) else value)


def nonzero_by(x, as_tuple):
    """Indices of the elements that are not zero, as rows or as a tensor for each axis."""
    return F.nonzero_tuple(x) if as_tuple else F.nonzero(x)


def scatter_by(x, axis, index, src):
    """x with `src` written at the elements that `index` names on the axis."""
    if not isinstance(src, Tensor):
        src = F.full_like(index, src, x.dtype)
    return F.scatter_elements(x, index, F.cast(src, x.dtype), axis)


def tensor_scatter_elements(x, indices, updates, axis, reduction):
    """scatter with a reduction "none" or "add"."""
    if reduction not in ("none", "add"):
        raise ValueError(
            f"tensor_scatter_elements: unknown reduction: got {reduction!r}, need 'none' or 'add'"
        )
    return F.scatter_elements(x, indices, updates, axis, "update" if reduction == "none" else "add")


def scatter_into(variable, indices, updates, mode) -> Tensor:
    """Writes the result of a scatter into the variable."""
    return _write(variable, F.scatter(variable, indices, updates, mode))


def scatter_nd_into(variable, indices, updates, mode) -> Tensor:
    """Writes the result of a scatter by coordinates into the variable."""
    return _write(variable, F.tensor_scatter(variable, indices, updates, mode))


def assign(variable, value) -> Tensor:
    """Gives the variable another value."""
    value = value if isinstance(value, Tensor) else Tensor(value, variable.dtype)
    if value.shape != variable.shape:
        raise ValueError(f"assign: value has another shape: got {value.shape}, need {variable.shape}")
    return _write(variable, F.cast(value, variable.dtype))


def assign_add(variable, value) -> Tensor:
    """Adds to the variable."""
    return _write(variable, F.cast(F.add(variable, value), variable.dtype))


def assign_sub(variable, value) -> Tensor:
    """Subtracts from the variable."""
    return _write(variable, F.cast(F.sub(variable, value), variable.dtype))


def slice_scatter(x, src, axis, start, end, step) -> Tensor:
    """x with a slice of an axis replaced by `src` of its shape."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"slice_scatter: axis is out of range: got {axis}, need {-x.ndim} to {x.ndim - 1}")
    made = x.copy()
    place = (slice(None),) * (axis % x.ndim) + (slice(start, end, step),)
    if x[place].shape != src.shape:
        raise ValueError(f"slice_scatter: shape does not fit: got {src.shape}, need {x[place].shape}")
    made[place] = src
    return made


def one_hot_any(indices, depth, on_value, off_value, axis):
    """`on_value` at the index, `off_value` elsewhere, in their common dtype."""
    on = _as_tensor(on_value)
    off = _as_tensor(off_value)
    common = _core.promote_types(on.dtype, off.dtype)
    return F.one_hot(indices, int(depth), F.cast(on, common), F.cast(off, common), axis)


def searchsorted_by(sequence, values, out_int32, right, side, sorter):
    """Places at which values go into a sorted sequence."""
    if side not in (None, "left", "right"):
        raise ValueError(f"searchsorted: unknown side: got {side!r}, need 'left' or 'right'")
    if sorter is not None:
        sequence = F.gather_elements(sequence, sorter, -1)
    values = values if isinstance(values, Tensor) else Tensor(values, sequence.dtype)
    found = F.searchsorted(sequence, values, right if side is None else side == "right")
    return F.cast(found, _int32) if out_int32 else found


def bucketize(x, boundaries, right):
    """Number of the interval between boundaries in which each element lies."""
    edges = boundaries if isinstance(boundaries, Tensor) else Tensor(boundaries, _float32)
    return F.cast(F.searchsorted(edges, x if isinstance(x, Tensor) else Tensor(x), right), _int32)


def segment_sum(x, segment_ids, count):
    """Sums of the slices of each segment."""
    return F.scatter_nd(
        F.expand_dims(segment_ids, segment_ids.ndim), x, (int(count), *x.shape[segment_ids.ndim :])
    )
