"""Methods and properties of Tensor that need more than a row."""

from __future__ import annotations

from .. import _core
from .._core import Tensor

MEMBERS = (
    "T",
    "add_",
    "assign_value",
    "copy",
    "copy_",
    "dim",
    "div_",
    "element_size",
    "exp_",
    "fill_",
    "floor_divide_",
    "flush_from_cache",
    "from_numpy",
    "has_init",
    "init_data",
    "is_contiguous",
    "itemset",
    "mT",
    "mul_",
    "ndimension",
    "nelement",
    "numel",
    "numpy",
    "set_data",
    "set_dtype",
    "stride",
    "stub_sync",
    "sub_",
    "tolist",
    "value",
    "zero_",
)


def _property(function):
    return property(function)


@_property
def T(self) -> Tensor:
    """Axes in reverse order."""
    return self.transpose()


def numpy(self):
    """A writable NumPy copy."""
    return self.asnumpy()


def tolist(self):
    """Nested Python lists, or a Python number for rank 0."""
    return self.asnumpy().tolist()


@staticmethod
def from_numpy(array) -> Tensor:
    """A tensor that shares the array's memory; read-only arrays are copied."""
    return _core.from_numpy(array)


def copy(self) -> Tensor:
    """Another handle to the same value; values never change, so nothing is copied."""
    return self.__copy__()


def assign_value(self, value) -> Tensor:
    """Gives this tensor another value."""
    return self._set_value(value)


def set_dtype(self, dtype) -> Tensor:
    """Converts this tensor in place."""
    return self._set_value(self.astype(dtype))


def is_contiguous(self) -> bool:
    """True when elements lie densely in row-major order."""
    return self._is_contiguous()


def element_size(self) -> int:
    """Bytes of an element."""
    return self.itemsize


def dim(self) -> int:
    """Number of axes."""
    return self.ndim


def nelement(self) -> int:
    """Number of elements."""
    return self.size


numel = nelement


def value(self) -> Tensor:
    """The tensor itself."""
    return self


def init_data(self, slice_index=None, shape=None, opt_shard_group=None) -> Tensor:  # noqa: ARG001
    """The tensor itself: data is always there."""
    return self


def flush_from_cache(self):
    """Does nothing: there is no cache."""


def stub_sync(self) -> Tensor:
    """The tensor itself: nothing is asynchronous."""
    return self


def stride(self, dim=None) -> int | list[int]:
    """Distance in elements between neighbours along each axis, or along one."""
    strides = [s // self.itemsize for s in self.strides]
    return strides if dim is None else strides[dim]


@_property
def has_init(self) -> bool:  # noqa: ARG001
    """False: values are there from the start."""
    return False


@_property
def mT(self) -> Tensor:
    """The last two axes exchanged."""
    return self.swapaxes(-1, -2)


def ndimension(self) -> int:
    """Number of axes."""
    return self.ndim


def itemset(self, *args) -> Tensor:
    """A tensor with one element replaced: `itemset(value)` or `itemset(index, value)`."""
    *index, value = args
    made = self.copy()
    if not index:
        made[(0,) * self.ndim] = value
        return made
    place = index[0]
    flat = made.reshape(-1) if isinstance(place, int) else made
    flat[place] = value
    return flat.reshape(self.shape)


def set_data(self, data, slice_shape=False) -> Tensor:  # noqa: ARG001
    """Gives this tensor another value."""
    return self._set_value(data)


def _in_place(self, value):
    if value.shape != self.shape:
        raise ValueError(f"in-place: result has another shape: got {value.shape}, need {self.shape}")
    return self._set_value(value.astype(self.dtype))


def add_(self, other, *, alpha=1) -> Tensor:
    """Adds in place."""
    return _in_place(self, self.add(other, alpha=alpha))


def sub_(self, other, *, alpha=1) -> Tensor:
    """Subtracts in place."""
    return _in_place(self, self.sub(other, alpha=alpha))


def mul_(self, other) -> Tensor:
    """Multiplies in place."""
    return _in_place(self, self.mul(other))


def div_(self, other, *, rounding_mode=None) -> Tensor:
    """Divides in place."""
    return _in_place(self, self.div(other, rounding_mode=rounding_mode))


def floor_divide_(self, other) -> Tensor:
    """Divides and rounds down in place."""
    return _in_place(self, self.floor_divide(other))


def exp_(self) -> Tensor:
    """Exponential in place."""
    return _in_place(self, self.exp())


def copy_(self, src, non_blocking=False) -> Tensor:  # noqa: ARG001
    """Takes the elements of another tensor, broadcast."""
    return _in_place(self, src.astype(self.dtype).expand(self.shape))


def fill_(self, value) -> Tensor:
    """Fills in place."""
    return _in_place(self, self.fill(value))


def zero_(self) -> Tensor:
    """Zeros in place."""
    return _in_place(self, self.fill(0))
