"""The class Tensor: construction, properties, conversion, printing, pickling."""

import copy
import pickle

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor


@pytest.mark.parametrize(
    "data, dtype, shape",
    [
        (1, ms.int64, ()),
        (1.5, ms.float32, ()),
        (True, ms.bool_, ()),
        ([1, 2], ms.int64, (2,)),
        ([1.5], ms.float32, (1,)),
        ([True], ms.bool_, (1,)),
        ((1, 2.5), ms.float32, (2,)),
        (np.float64(3), ms.float64, ()),
        (np.array([1.5]), ms.float64, (1,)),
        (np.int32(4), ms.int32, ()),
        ([np.float64(1)], ms.float32, (1,)),
        ([np.int32(3)], ms.int64, (1,)),
        ([True, 1], ms.int64, (2,)),
        ([], ms.float32, (0,)),
        (2**40, ms.int64, ()),
    ],
)
def test_construction_dtype(data, dtype, shape):
    t = Tensor(data)
    assert t.dtype is dtype
    assert t.shape == shape


def test_construction_converts():
    assert Tensor(1.7, ms.int32).item() == 1
    assert Tensor(300, ms.uint8).item() == 44
    assert Tensor([1, 2], ms.float16).asnumpy().tolist() == [1.0, 2.0]
    assert Tensor(np.arange(3), ms.float32).asnumpy().dtype == np.float32
    assert Tensor(Tensor([1.5]), ms.int32).asnumpy().tolist() == [1]
    assert Tensor([[Tensor(1.0), Tensor(2.0)]]).shape == (1, 2)
    assert Tensor(np.asfortranarray(np.arange(6).reshape(2, 3))).asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert Tensor(np.arange(6)[::-2]).asnumpy().tolist() == [5, 3, 1]
    assert Tensor(np.array([1, 2], dtype=">i4")).asnumpy().tolist() == [1, 2]
    assert Tensor([1.5, 2.5], ms.bfloat16).float().asnumpy().tolist() == [1.5, 2.5]


@pytest.mark.parametrize("data", ["abc", None, [[1, 2], [3]], object(), {"a": 1}, ["a"]])
def test_construction_refuses(data):
    with pytest.raises(TypeError, match="Tensor: "):
        Tensor(data)


@pytest.mark.parametrize("dtype", ["float32", 3, object()])
def test_construction_refuses_dtype(dtype):
    with pytest.raises(TypeError, match="dtype"):
        Tensor([1], dtype)


def test_construction_copies():
    a = np.zeros(3, np.float32)
    t = Tensor(a)
    a[0] = 1
    assert t.asnumpy().tolist() == [0, 0, 0]
    b = t.asnumpy()
    b[1] = 5
    assert t.asnumpy().tolist() == [0, 0, 0]


def test_properties():
    t = Tensor(np.zeros((2, 3), np.float32))
    assert (t.shape, t.ndim, t.size, t.itemsize, t.nbytes, t.strides) == ((2, 3), 2, 6, 4, 24, (12, 4))
    assert t.stride() == [3, 1]
    assert t.device == "CPU"
    assert len(t) == 2
    assert not hasattr(t, "no_such_method")


def test_numbers():
    assert int(Tensor(2.7)) == 2
    assert float(Tensor([2])) == 2.0
    assert [10, 20][Tensor(1)] == 20
    assert bool(Tensor(True)) and not bool(Tensor([0.0]))
    assert isinstance(Tensor(1).item(), int) and isinstance(Tensor(1.0).item(), float)
    for convert in (int, float, bool):
        with pytest.raises(ValueError):
            convert(Tensor([1, 2]))
    with pytest.raises(ValueError):
        Tensor([1, 2]).item()
    with pytest.raises(TypeError):
        [1][Tensor(0.0)]
    with pytest.raises(TypeError):
        len(Tensor(1))
    with pytest.raises(TypeError):
        list(Tensor(1))


def test_iteration_and_identity():
    t = Tensor([[1, 2], [3, 4]])
    assert [row.asnumpy().tolist() for row in t] == [[1, 2], [3, 4]]
    assert len({t, t}) == 1
    assert t in [t]
    assert (t == None) is False  # noqa: E711
    assert (t != "a") is True


@pytest.mark.parametrize(
    "data, text, representation",
    [
        (
            [1.0, 2.5],
            "[1.  2.5]",
            "Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.50000000e+00])",
        ),
        (
            [[1, 2], [3, 4]],
            "[[1 2]\n [3 4]]",
            "Tensor(shape=[2, 2], dtype=Int64, value=\n[[1, 2],\n [3, 4]])",
        ),
        (1.5, "1.5", "Tensor(shape=[], dtype=Float32, value= 1.5)"),
        (3, "3", "Tensor(shape=[], dtype=Int64, value= 3)"),
        ([True, False], "[ True False]", "Tensor(shape=[2], dtype=Bool, value= [ True, False])"),
        (
            np.array([1.5, np.nan, np.inf]),
            "[1.5 nan inf]",
            "Tensor(shape=[3], dtype=Float64, value= [ 1.50000000e+00,             nan,             inf])",
        ),
        (
            np.arange(2, dtype=np.float16),
            "[0. 1.]",
            "Tensor(shape=[2], dtype=Float16, value= [ 0.0000e+00,  1.0000e+00])",
        ),
        ([-1, 200], "[ -1 200]", "Tensor(shape=[2], dtype=Int64, value= [ -1, 200])"),
        (0.1, "0.1", "Tensor(shape=[], dtype=Float32, value= 0.1)"),
        (100000000.0, str(np.float32(1e8)), "Tensor(shape=[], dtype=Float32, value= 1e+08)"),
        (
            np.arange(2000),
            "[   0    1    2 ... 1997 1998 1999]",
            "Tensor(shape=[2000], dtype=Int64, value= [   0,    1,    2 ... 1997, 1998, 1999])",
        ),
    ],
)
def test_printing_is_the_peers(data, text, representation):
    assert str(Tensor(data)) == text
    assert repr(Tensor(data)) == representation


@pytest.mark.parametrize(
    "dtype", [ms.bool_, ms.int8, ms.uint64, ms.float16, ms.bfloat16, ms.float32, ms.float64]
)
def test_pickle_and_copy(dtype):
    t = Tensor([[0, 1], [1, 0]], dtype)
    for other in (pickle.loads(pickle.dumps(t)), copy.copy(t), copy.deepcopy(t)):
        assert other is not t
        assert other.dtype is dtype
        assert other.float().asnumpy().tolist() == [[0, 1], [1, 0]]
    assert pickle.loads(pickle.dumps(dtype)) is dtype


def test_dtypes():
    assert str(ms.float32) == "Float32"
    assert ms.dtype.float32 is ms.float32
    assert ms.dtype.half is ms.float16
    assert ms.float32 != ms.float64 and ms.float32 != 1
    assert ms.dtype_to_nptype(ms.int32) is np.int32
    assert ms.pytype_to_dtype(float) is ms.float32
    assert ms.pytype_to_dtype(np.int8) is ms.int8
    with pytest.raises(NotImplementedError):
        Tensor([1], ms.complex64)
