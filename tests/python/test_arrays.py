"""NumPy and DLPack, both ways."""

import gc

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor


def test_asarray_is_a_read_only_view():
    t = Tensor([1.0, 2.0])
    view = np.asarray(t)
    assert not view.flags.writeable
    assert np.shares_memory(view, np.asarray(t))
    del t
    gc.collect()
    assert view.tolist() == [1.0, 2.0]


def test_asarray_converts():
    assert np.asarray(Tensor([1, 2]), dtype=np.float32).dtype == np.float32
    assert np.add(Tensor([1, 2]), 1).tolist() == [2, 3]


def test_from_numpy_shares():
    a = np.zeros(4, np.float32)
    t = Tensor.from_numpy(a)
    a[1] = 3
    assert t.asnumpy().tolist() == [0, 3, 0, 0]
    del a
    gc.collect()
    assert t.asnumpy().tolist() == [0, 3, 0, 0]


def test_from_numpy_copies_read_only_memory():
    a = np.zeros(2)
    a.flags.writeable = False
    assert Tensor.from_numpy(a).asnumpy().tolist() == [0, 0]


def test_from_numpy_refuses():
    with pytest.raises(TypeError, match="from_numpy"):
        Tensor.from_numpy([1, 2])


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float16", "float32", "float64"])
def test_dlpack_round_trip(dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    t = ms.from_dlpack(a)
    assert t.asnumpy().dtype == a.dtype
    back = np.from_dlpack(t)
    assert back.tolist() == a.tolist()
    assert t.__dlpack_device__() == (1, 0)


def test_dlpack_takes_strided_memory():
    a = np.arange(6).reshape(2, 3).T
    assert ms.from_dlpack(a).asnumpy().tolist() == a.tolist()


def test_dlpack_refuses():
    with pytest.raises(TypeError, match="from_dlpack"):
        ms.from_dlpack(3)
    with pytest.raises(ValueError, match="backwards"):
        ms.from_dlpack(np.arange(3)[::-1])


def test_shared_memory_lives_as_long_as_the_tensor():
    tensors = [Tensor.from_numpy(np.full(1000, i)) for i in range(50)]
    gc.collect()
    assert [t[0].item() for t in tensors] == list(range(50))
