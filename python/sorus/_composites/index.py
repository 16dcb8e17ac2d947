"""Composites of rows: index."""

from __future__ import annotations

from .. import _core
from .. import _functions as F
from .._core import Tensor
from ._common import _as_tensor, _d, _float32, _int32, _is_int, _write


def take_by(x: Tensor, indices, axis, mode):
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


def select_index(x: Tensor, axis: int, index: int):
    """The slice at an index of an axis."""
    return F.squeeze(F.narrow(x, axis, index, 1), axis)


def index_fill_by(x, axis: int, index, value) -> Tensor:
    """x with the slices at `index` filled."""
    return F.index_fill(x, axis, Tensor([index]) if isinstance(index, int) else F.reshape(index, -1), value)


def index_put_any(x, indices, values, accumulate):
    """x with the elements at the index tensors replaced or added to."""
    return F.index_put(x, list(indices), values, bool(accumulate))


def masked_fill_any(x: Tensor, mask, value):
    """x with `value` where the mask is true."""
    if isinstance(mask, Tensor) and mask.dtype is not _d["bool_"]:
        raise TypeError(f"masked_fill: 'mask' has the wrong dtype: got {mask.dtype}, need Bool")
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError(f"masked_fill: 'value' has the wrong shape: got {value.shape}, need a scalar")
    return F.masked_fill(x, mask, F.cast(value, x.dtype) if isinstance(value, Tensor) else value)


def nonzero_by(x: Tensor, as_tuple):
    """Indices of the elements that are not zero, as rows or as a tensor for each axis."""
    return F.nonzero_tuple(x) if as_tuple else F.nonzero(x)


def scatter_by(x: Tensor, axis: int, index: Tensor, src):
    """x with `src` written at the elements that `index` names on the axis."""
    if not isinstance(src, Tensor):
        src = F.full_like(index, src, x.dtype)
    return F.scatter_elements(x, index, F.cast(src, x.dtype), axis)


def tensor_scatter_elements(x, indices: Tensor, updates, axis, reduction):
    """scatter with a reduction "none" or "add"."""
    if reduction not in ("none", "add"):
        raise ValueError(
            f"tensor_scatter_elements: unknown reduction: got {reduction!r}, need 'none' or 'add'"
        )
    return F.scatter_elements(x, indices, updates, axis, "update" if reduction == "none" else "add")


def scatter_into(variable: Tensor, indices: Tensor, updates: Tensor, mode) -> Tensor:
    """Writes the result of a scatter into the variable."""
    return _write(variable, F.scatter(variable, indices, updates, mode))


def scatter_nd_into(variable: Tensor, indices: Tensor, updates: Tensor, mode) -> Tensor:
    """Writes the result of a scatter by coordinates into the variable."""
    return _write(variable, F.tensor_scatter(variable, indices, updates, mode))


def assign(variable: Tensor, value) -> Tensor:
    """Gives the variable another value."""
    value = value if isinstance(value, Tensor) else Tensor(value, variable.dtype)
    if value.shape != variable.shape:
        raise ValueError(f"assign: value has another shape: got {value.shape}, need {variable.shape}")
    return _write(variable, F.cast(value, variable.dtype))


def assign_add(variable: Tensor, value) -> Tensor:
    """Adds to the variable, in one step."""
    return variable._accumulate(value, False).value()


def assign_sub(variable: Tensor, value) -> Tensor:
    """Subtracts from the variable, in one step."""
    return variable._accumulate(value, True).value()


def assigned(variable: Tensor, value: Tensor) -> Tensor:
    """Gives the variable another value, whatever its type."""
    return variable._set_value(value)


def in_place(variable: Tensor, value: Tensor) -> Tensor:
    """Gives the variable another value of its shape, in its dtype."""
    if value.shape != variable.shape:
        raise ValueError(f"in-place: result has another shape: got {value.shape}, need {variable.shape}")
    return variable._set_value(F.cast(value, variable.dtype))


def add_in_place(variable: Tensor, other, alpha, subtract) -> Tensor:
    """Adds alpha * other to the variable, or subtracts it, in one step."""
    other = other if _is_int(alpha) and alpha == 1 else F.mul(_as_tensor(other), alpha)
    return variable._accumulate(other, subtract)


def with_item(x: Tensor, arguments) -> Tensor:
    """A tensor with one element replaced: (value), or (index, value)."""
    if len(arguments) not in (1, 2):
        raise TypeError(
            f"itemset: wrong number of arguments: got {len(arguments)}, need value or index, value"
        )
    *index, value = arguments
    made = x.copy()
    if not index:
        made[(0,) * x.ndim] = value
        return made
    flat = F.reshape(made, -1) if isinstance(index[0], int) else made
    flat[index[0]] = value
    return F.reshape(flat, x.shape)


def stride_of(x: Tensor, axis: int) -> int | list[int]:
    """Distance in elements between neighbours along each axis, or along one."""
    strides = [s // x.itemsize for s in x.strides]
    if axis is None:
        return strides
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"stride: axis is out of range: got {axis}, need {-x.ndim} to {x.ndim - 1}")
    return strides[axis]


def embedding_by(
    x: Tensor, weight: Tensor, padding_idx, max_norm, norm_type: float, scale_grad_by_freq
) -> Tensor:
    """Rows of the weight by number. With max_norm the rows looked up are scaled down to that norm in the
    weight itself; with scale_grad_by_freq each row's gradient is divided by how often it is looked up.
    """
    if max_norm is not None:
        used = F.greater(F.bincount(F.reshape(x, -1), None, weight.shape[0]), 0)
        sizes = F.norm(weight, float(norm_type), (-1,), True)
        long = F.logical_and(F.expand_dims(used, -1), F.greater(sizes, max_norm))
        scale = F.where(long, F.div(max_norm, F.add(sizes, 1e-7)), 1.0)
        _write(weight, F.mul(weight, F.stop_gradient(F.cast(scale, weight.dtype))))
    rows = F.embedding(x, weight, padding_idx)
    if not scale_grad_by_freq:
        return rows
    counts = F.gather(F.bincount(F.reshape(x, -1), None, weight.shape[0]), x, 0)
    share = F.cast(F.expand_dims(F.reciprocal(F.cast(counts, _float32)), -1), weight.dtype)
    still = F.stop_gradient(rows)
    return F.add(still, F.mul(F.sub(rows, still), share))


def slice_scatter(x: Tensor, src: Tensor, axis: int, start, end, step) -> Tensor:
    """x with a slice of an axis replaced by `src` of its shape."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"slice_scatter: axis is out of range: got {axis}, need {-x.ndim} to {x.ndim - 1}")
    made = x.copy()
    place = (slice(None),) * (axis % x.ndim) + (slice(start, end, step),)
    if x[place].shape != src.shape:
        raise ValueError(f"slice_scatter: shape does not fit: got {src.shape}, need {x[place].shape}")
    made[place] = src
    return made


def one_hot_any(indices: Tensor, depth, on_value, off_value, axis):
    """`on_value` at the index, `off_value` elsewhere, in their common dtype."""
    on = _as_tensor(on_value)
    off = _as_tensor(off_value)
    common = _core.promote_types(on.dtype, off.dtype)
    return F.one_hot(indices, int(depth), F.cast(on, common), F.cast(off, common), axis)


def searchsorted_by(sequence: Tensor, values, out_int32, right, side, sorter):
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
