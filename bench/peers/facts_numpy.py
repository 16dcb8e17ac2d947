"""The section of record_facts.py about mindspore.numpy: dtypes and values of what it makes; run that one."""

from typing import Any

import mindspore.numpy as mnp
import numpy as np
from facts_data import attempt
from mindspore import Tensor

import mindspore as ms

CASES = """\
zeros((2,)); zeros((2,), "int32"); zeros((2,), "float16"); zeros((2,), ms.int32); zeros((2,), "bool")
zeros((2,), np.int32); zeros((2,), int); zeros((2,), float); zeros(3); zeros([2, 1]); zeros((2,), "uint8")
zeros((2,), "int"); zeros((2,), "float"); zeros((2,), np.float16)
ones((2,)); ones((2,), "int32")
ones((2,), "float16"); ones((2,), int); ones(2); full((2,), 3); full((2,), 3.5); full((2,), True)
full((2,), 3, "float16"); full((2,), 3.0, "int32"); full((2,), [1, 2]); full(2, 3)
full((2, 2), Tensor([1, 2]))
full_like(x, 3); full_like(i, 2.5); full_like(x, 1, "int32"); full_like([1, 2], 3); zeros_like(x)
zeros_like(i); zeros_like(x, "int32"); zeros_like([1, 2]); zeros_like([1.5]); ones_like(x)
ones_like(i, "float16"); ones_like([[1, 2]]); zeros_like(x, shape=(3,)); arange(4); arange(4.0); arange(0, 4)
arange(0, 4, 2); arange(0, 1, 0.25); arange(4, dtype="float32"); arange(4, dtype="float16")
arange(4, dtype="int64"); arange(4, dtype=ms.int64); arange(5, 0, -1); arange(start=1, stop=3); eye(2)
eye(2, dtype="int32"); eye(2, 3); eye(2, 3, 1, "float16"); identity(2); identity(2, "int32")
eye(2, dtype=int)
array([1, 2]); array([1.5]); array(3); array(2.5); array(True); array([True, False]); array([1, 2], "float16")
array([1.5], "int32"); array((1, 2)); array([[1, 2], [3, 4]]); array([1, 2.5]); array([True, 2]); array(x)
array(i); array([x, x]); array([1, 2], ndmin=2); array([1], dtype=ms.int8); array(l); array([np.int64(3)])
array([np.float64(3)]); asarray([1, 2]); asarray([1.5]); asarray([1, 2], "float16"); asarray(3); asarray(x)
asarray(True); asarray((1, 2)); asarray(x, "int32"); asfarray([1, 2]); asfarray([1, 2], "float16")
asfarray(i); asfarray([1.5], "int32"); linspace(0, 1, 3); linspace(0, 10, 3, dtype="int32")
linspace(0, 1, 3, dtype="float16"); linspace(0, 1, 3, endpoint=False); linspace(0, 1, 3, dtype=ms.float64)
linspace(0.0, 1.0, 3, retstep=True); logspace(0, 2, 3); logspace(0, 2, 3, dtype="int32")
logspace(0, 1, 3, base=2); geomspace(1, 8, 4); geomspace(1, 8, 4, dtype="float16")
geomspace(1.0, 1000.0, 4, dtype="int32"); tri(2); tri(2, 3, 1); tril(x); triu(i); tril_indices(2)
triu_indices(2); diag_indices(2); indices((2, 2)); indices((2, 2), "float32"); indices((2, 2), sparse=True)
vander(i); vander([1, 2, 3], 2); meshgrid(i, i); bartlett(3); hamming(3); hanning(3); blackman(3)
copy(i); copy([1, 2]); mean(i); mean(l); mean(x); mean(i, dtype="float16"); mean(i8); mean([1, 2]); average(i)
sum(i); sum(l); sum(i8); sum([1, 2]); argmax(i); argmin(x); count_nonzero(i); unique(i, return_inverse=True)
digitize(i, [1, 2]); add([1], [2]); minimum(1, 2); where(i > 1, 1, 0); arange(0, 4, dtype=float)
arange(np.int64(4))"""


def numpy_creation() -> dict[str, Any]:
    """What functions of mindspore.numpy make of numbers, lists and tensors."""
    names = {
        "x": Tensor(np.array([1.5, 2, 3], np.float32)),
        "i": Tensor(np.array([1, 2, 3], np.int32)),
        "l": Tensor(np.array([1, 2, 3], np.int64)),
        "i8": Tensor(np.array([1, 2, 3], np.int8)),
        "ms": ms,
        "np": np,
        "Tensor": Tensor,
    }
    cases = [case for line in CASES.splitlines() for case in line.split("; ")]
    return {
        case: attempt(lambda case=case: eval("mnp." + case, {**names, "mnp": mnp}))  # noqa: S307
        for case in cases
    }
