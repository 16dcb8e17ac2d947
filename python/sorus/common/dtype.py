"""Element types: `float32`, `int64`, `bool_` ... and the names that stand for kinds of values."""

from .. import _core

Type = _core.Type
globals().update(_core.dtypes)
_d = _core.dtypes
bool_ = _d["bool_"]
byte = int8 = _d["int8"]
short = int16 = _d["int16"]
intc = int32 = _d["int32"]
intp = int64 = _d["int64"]
ubyte = uint8 = _d["uint8"]
ushort = uint16 = _d["uint16"]
uintc = uint32 = _d["uint32"]
uintp = uint64 = _d["uint64"]
half = float16 = _d["float16"]
single = float32 = _d["float32"]
double = float64 = _d["float64"]
complex_ = _d["complex"]
func = _d["function"]
tensor = _d["tensor_type"]  # not in __all__: elsewhere `tensor` makes one
TensorType = type(float32)
number_type = (
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64,
    _d["bfloat16"],
)
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, _d["bfloat16"])
all_types = [bool_, *number_type]

__all__ = [
    *_core.dtypes,
    "byte",
    "short",
    "intc",
    "intp",
    "ubyte",
    "ushort",
    "uintc",
    "uintp",
    "half",
    "single",
    "double",
    "func",
    "dtype_to_nptype",
    "dtype_to_pytype",
    "pytype_to_dtype",
    "get_py_obj_dtype",
    "TensorType",
]


def _checked(what, type_):
    if not isinstance(type_, _core.Type):
        raise TypeError(f"{what}: 'type_' has the wrong type: got {type(type_).__name__}, need a dtype")
    return type_


def dtype_to_nptype(type_):
    """The NumPy scalar type of an element type. bfloat16 has one only when ml_dtypes is installed."""
    return _core.numpy_dtype(_checked("dtype_to_nptype", type_)).type


def dtype_to_pytype(type_):
    """bool, int or float."""
    name = _checked("dtype_to_pytype", type_).name
    return bool if name.startswith("bool") else int if "int" in name else float


def pytype_to_dtype(obj):
    """The element type of a Python or NumPy type, or of a dtype object."""
    found = _core.dtype_of(obj)
    if found is None:
        raise NotImplementedError(
            f"pytype_to_dtype: unsupported type: got {obj}, need bool, int, float or a NumPy type"
        )
    return found


def get_py_obj_dtype(obj):
    """The element type of a value: a tensor's own, or that of its Python type."""
    return obj.dtype if hasattr(obj, "dtype") else pytype_to_dtype(type(obj))


def np_dtype_to_dtype(obj):
    """The element type of a NumPy dtype."""
    return pytype_to_dtype(obj)
