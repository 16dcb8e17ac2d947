"""Records the type promotion of the genuine MindSpore wheel into tests/fixtures/mindspore/promotion.json.

For every operator, every pair of dtypes and every kind of operand (tensor, 0-d tensor, Python scalar) the
fixture holds the dtype of the result, or `ErrorType:reason`, where the reason is

* `promotion`: no common dtype ("Type implicit conversion between X and Y is not supported");
* `kernel`: the operator does not take these dtypes, or has no CPU kernel for them, which says nothing about
  promotion.

A table is {operator: {dtype of the left operand: one word per right operand}}; the words' order is `dtypes`
or `scalars`. In `scalar_tensor` the row is the tensor's dtype too. Run it with the Python of
setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_promotion.py
"""

import json
import operator
import pathlib
from collections.abc import Callable

import numpy as np

import mindspore as ms
from mindspore import Tensor

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]
SCALARS = {"bool": True, "int": 2, "int_beyond_int32": 2**40, "float": 2.5}
OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_div": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/mindspore/promotion.json"


def ms_dtype(name: str) -> ms.dtype:
    """The dtype object with this name."""
    return ms.bool_ if name == "bool" else getattr(ms, name)


def ones(name: str, shape: tuple[int, ...]) -> Tensor:
    """A tensor of ones."""
    return Tensor(np.ones(shape, np.float32), ms_dtype(name))


def outcome(function: Callable, left: object, right: object) -> str:
    """The dtype of function(left, right), or its error's type and reason."""
    try:
        result = function(left, right)
        return str(result.dtype).lower() if isinstance(result, Tensor) else type(result).__name__
    except Exception as error:  # noqa: BLE001 - whatever the wheel raises is what is recorded
        reason = "promotion" if "implicit conversion" in str(error) else "kernel"
        return f"{type(error).__name__}:{reason}"


def table(left_of: Callable, right_of: Callable, columns: list[str]) -> dict[str, dict[str, str]]:
    """Outcomes of each operator on left_of(row, column) and right_of(row, column)."""
    return {
        name: {
            row: " ".join(
                outcome(function, left_of(row, column), right_of(row, column)) for column in columns
            )
            for row in DTYPES
        }
        for name, function in OPERATORS.items()
    }


def main() -> None:
    """Records all tables."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.runtime.launch_blocking()  # otherwise the error of a kernel is raised by a later call
    scalars = list(SCALARS)
    record = {
        "mindspore": ms.__version__,
        "dtypes": DTYPES,
        "scalars": scalars,
        "tensor_tensor": table(lambda a, b: ones(a, (2,)), lambda a, b: ones(b, (2,)), DTYPES),
        "tensor_0d": table(lambda a, b: ones(a, (2,)), lambda a, b: ones(b, ()), DTYPES),
        "0d_tensor": table(lambda a, b: ones(a, ()), lambda a, b: ones(b, (2,)), DTYPES),
        "0d_0d": table(lambda a, b: ones(a, ()), lambda a, b: ones(b, ()), DTYPES),
        "tensor_scalar": table(lambda a, b: ones(a, (2,)), lambda a, b: SCALARS[b], scalars),
        "scalar_tensor": table(lambda a, b: SCALARS[b], lambda a, b: ones(a, (2,)), scalars),
    }
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{OUTPUT.name}: mindspore {ms.__version__}, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
