"""What the functions of this folder share."""

from .. import _core
from .. import _functions as _F
from .._core import Tensor

_d = _core.dtypes
_float32, _int32, _int64 = _d["float32"], _d["int32"], _d["int64"]


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _as_tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


_LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


def _each(value, function):
    return tuple(function(t) for t in value) if isinstance(value, (tuple, list)) else function(value)


def _numbers(value):
    if isinstance(value, Tensor):
        return [int(v) for v in value.tolist()] if value.ndim else [int(value)]
    return [value] if _is_int(value) else list(value)


def _unique_places(inverse: Tensor, x: Tensor) -> Tensor:
    """Places among distinct elements as MindSpore's Unique has them: int64 for int64 elements, else int32."""
    return inverse if x.dtype == _int64 else _F.cast(inverse, _int32)


def _dtype_of_number(value):
    if isinstance(value, Tensor):
        return value.dtype
    return _d["bool_"] if isinstance(value, bool) else _int64 if isinstance(value, int) else _float32


def _host_number(value):
    return value.item() if isinstance(value, Tensor) else value


def _write(variable, value):
    """Gives the variable the value; the value that it has then, as a Tensor that later writes leave alone."""
    variable.set_data(value) if hasattr(variable, "set_data") else variable.assign_value(value)
    return variable.value()


def _spatial(value, count, name):
    if _is_int(value):
        return (value,) * count
    value = tuple(value)
    if len(value) not in (1, count, 2 * count):
        raise ValueError(f"'{name}' has the wrong length: got {value}, need an int or {count} ints")
    return value * count if len(value) == 1 else value


def _output_size(axes, size):
    size = (size,) * axes if size is None or _is_int(size) else tuple(size)
    return tuple(-1 if s is None else s for s in size)


def _tensor(x, what):
    if not isinstance(x, Tensor):
        raise TypeError(f"{what}: argument has the wrong type: got {type(x).__name__}, need a Tensor")
    return x


def _listed(values):
    return values if isinstance(values, (tuple, list)) else (values,)
