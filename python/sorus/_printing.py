"""Text of tensors, as MindSpore prints them: `str` is NumPy's, `repr` gives shape, dtype and scientific
values.
"""

_DIGITS = {"float16": 4, "float32": 8, "float64": 8}
_THRESHOLD = 1000


def tensor_str(tensor):
    """The elements, as NumPy prints them."""
    if -1 in tensor.shape:
        return tensor_repr(tensor)
    if tensor.dtype.name == "bfloat16":
        return _bfloat16_text(tensor)
    if 0 in tensor.shape:
        return "[]"
    return str(tensor.asnumpy())


def tensor_repr(tensor):
    """`Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])`."""
    value = _value_text(tensor)
    gap = "\n" if tensor.ndim > 1 else " "
    return f"Tensor(shape={list(tensor.shape)}, dtype={tensor.dtype}, value={gap}{value})"


def _value_text(tensor):
    import numpy as np

    if -1 in tensor.shape:
        return "<declared only>"
    if 0 in tensor.shape:
        return ""
    array = np.asarray(tensor)
    name = tensor.dtype.name
    if name == "bfloat16":
        array = array.astype(np.float32)
    if not tensor.ndim:
        return f"{array.item():g}" if array.dtype.kind == "f" else str(array.item())
    if name in _DIGITS:
        digits = _DIGITS[name]
        width = digits + 7

        def show(x):
            return f"{x: .{digits}e}" if np.isfinite(x) else f"{x!s:>{width}}"

        text = _array_text(array, formatter={"float_kind": show})
    elif name == "bfloat16":
        width = max(len(f"{x:g}") for x in array.reshape(-1).tolist())
        text = _array_text(array, formatter={"float_kind": lambda x: f"{x:>{width}g}"})
    else:
        text = _array_text(array)
        if tensor.ndim == 1 and text[1] != " " and name != "bool_" and array.min() < 0:
            text = "[ " + text[1:]
    return text.replace(", ...,", " ...").replace("...,\n", "...\n").replace("\n\n", "\n")


def _array_text(array, **options):
    import numpy as np

    return np.array2string(array, separator=", ", threshold=_THRESHOLD, max_line_width=10**6, **options)


def _bfloat16_text(tensor):
    import numpy as np

    array = np.asarray(tensor).astype(np.float32)
    if not tensor.ndim:
        return f"{array.item():.6f}"
    return np.array2string(array, formatter={"float_kind": lambda x: f"{x:.6f}"}, threshold=_THRESHOLD)
