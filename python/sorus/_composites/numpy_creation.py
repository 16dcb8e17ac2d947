"""Composites of rows: tensors made in the manner of NumPy, with dtypes by name and ints of 32 bits."""

from __future__ import annotations

from .. import _functions as F, _numpy as np
from .._core import Tensor
from ._common import _d, _float32, _host_number, _int32, _int64, _is_int, _unique_places
from .shape import numpy_linspace as _linspace

_NAMES = {
    name: _d[name]
    for name in (
        "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64".split()
    )
} | {
    "bool": _d["bool_"],
    "int": _int32,
    "uint": _d["uint32"],
    "float": _float32,
    "half": _d["float16"],
    "double": _d["float64"],
}
_OF_PYTHON = {int: _int32, bool: _d["bool_"], float: _float32}


def named_dtype(dtype):
    """A dtype that may be given by its name, as "float16", or as a type of Python: int is int32."""
    if isinstance(dtype, str):
        if dtype not in _NAMES:
            raise TypeError(f"'dtype' is unknown: got {dtype!r}, need a name such as 'float32' or 'int32'")
        return _NAMES[dtype]
    return _OF_PYTHON.get(dtype, dtype) if isinstance(dtype, type) else dtype


def array_like(value, dtype=None) -> Tensor:
    """A tensor as it is; ints of Python and lists of them are int32 where they fit, floats float32; arrays as
    they are.
    """
    if isinstance(value, Tensor):
        return value if dtype is None else F.cast(value, dtype)
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        made = Tensor(value)
        kinds = {_int64: _int32, _d["float64"]: _float32}
        kept = _holds_tensors(value) or _is_wide(made)
        return made if kept else F.cast(made, kinds.get(made.dtype, made.dtype))
    return Tensor(value) if dtype is None else F.cast(Tensor(value), dtype)


def numpy_array(value, dtype, ndmin: int) -> Tensor:
    """array_like, with axes of one element before the others up to ndmin axes."""
    made = array_like(value, dtype)
    return F.reshape(made, (1,) * max(ndmin - made.ndim, 0) + made.shape)


def _is_wide(made):
    """Whether ints do not fit into 32 bits."""
    return made.dtype is _int64 and made.size and np.abs(made.asnumpy()).max() > 2**31 - 1


def _holds_tensors(value):
    if isinstance(value, (tuple, list)):
        return any(_holds_tensors(v) for v in value)
    return isinstance(value, (Tensor, np.ndarray))


def numpy_full(size, value, dtype) -> Tensor:
    """Filled with a number, or with what broadcasts to the shape."""
    if isinstance(value, str):
        raise TypeError(f"full: 'fill_value' has the wrong type: got {value!r}, need a number or a tensor")
    size = (size,) if _is_int(size) else tuple(size)
    return F.expand(array_like(value, dtype), size)


def numpy_like(x, value, dtype, size) -> Tensor:
    """Filled, in the shape of x or another one."""
    x = array_like(x)
    dtype = x.dtype if dtype is None else dtype
    return numpy_full(x.shape if size is None else size, value, dtype)


def numpy_arange(start, stop, step, dtype) -> Tensor:
    """start, start + step ... below stop; one number alone is the end."""
    start, stop, step = (_host_number(v) for v in (start, stop, step))
    start, stop = (0, start) if stop is None else (start, stop)
    step = 1 if step is None else step
    if step == 0:
        raise ValueError("arange: 'step' is out of range: got 0, need another number")
    if dtype is None:
        dtype = _float32 if any(isinstance(v, float) for v in (start, stop, step)) else _int32
    return F.arange(start, stop, step, dtype)


def numpy_mean(x, axis, keepdims, dtype) -> Tensor:
    """Means, which of ints are ints, rounded towards zero, unless a dtype is asked for."""
    x = array_like(x)
    whole = dtype is None and not x.dtype.is_floating_point and x.dtype is not _d["bool_"]
    made = F.mean(F.cast(x, _d["float64"]) if whole else F.cast_if(x, dtype), axis, keepdims)
    return F.cast(made, x.dtype) if whole else made


def numpy_triangle(x, k: int, upper) -> Tensor:
    """Zeros on one side of a diagonal; a vector stands for a matrix of rows like it."""
    x = array_like(x)
    if x.ndim == 1:
        x = F.expand(x, (x.shape[0], x.shape[0]))
    return F.triu(x, k) if upper else F.tril(x, k)


def numpy_linspace_of(start, stop, num, endpoint, retstep, dtype, axis):
    """linspace, whose step is float32."""
    made = _linspace(start, stop, num, endpoint, retstep, dtype, axis)
    return (made[0], F.cast(made[1], _float32)) if retstep else made


def int32_places(made):
    """Indices as int32."""
    return tuple(F.cast(m, _int32) for m in made) if isinstance(made, tuple) else F.cast(made, _int32)


def numpy_unique(x, return_inverse):
    """Distinct elements in order, with the place of each element, int64 for int64 elements and int32 for
    others, when asked for.
    """
    values, inverse, _ = F.unique(array_like(x))
    return (values, _unique_places(inverse, values)) if return_inverse else values
