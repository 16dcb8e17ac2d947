"""Composites of rows: python and values."""

from __future__ import annotations

from .._core import Tensor
from ._common import _int32, _is_int, _listed, _tensor


def shape_of(x) -> tuple[int, ...]:
    """The shape as a tuple."""
    return _tensor(x, "shape").shape


def size_of(x) -> int:
    """Number of elements."""
    return _tensor(x, "size").size


def rank_of(x) -> int:
    """Number of axes."""
    return _tensor(x, "rank").ndim


def dtype_of(x):
    """The element type."""
    return _tensor(x, "dtype").dtype


def is_tensor(value) -> bool:
    """True for a Tensor."""
    return isinstance(value, Tensor)


def is_floating_point(x: Tensor) -> bool:
    """True when the elements are floating."""
    return x.dtype.is_floating_point


def is_nonzero(x: Tensor):
    """Truth of a tensor of one element."""
    if _tensor(x, "is_nonzero").size != 1:
        raise ValueError(f"is_nonzero: not one element: got shape {x.shape}, need one element")
    return bool(x)


def tuple_to_array(values):
    """A tensor of a tuple of numbers."""
    return Tensor(
        list(values) if isinstance(values, (tuple, list)) else values,
        _int32 if all(_is_int(v) for v in _listed(values)) else None,
    )


def scalar_to_tensor(value, dtype):
    """A tensor of a number."""
    return Tensor(value, dtype)


def scalar_cast(value, dtype):
    """A number converted to a kind."""
    name = dtype.name
    return bool(value) if name.startswith("bool") else int(value) if "int" in name else float(value)


def print_(values):
    """Prints values."""
    print(*values)
    return values[0] if values else None
