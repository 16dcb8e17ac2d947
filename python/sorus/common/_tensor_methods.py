"""Methods and properties of Tensor that need more than a row."""

from __future__ import annotations

from .. import _core
from .._core import Tensor

MEMBERS = (
    "T",
    "copy",
    "dim",
    "element_size",
    "flush_from_cache",
    "from_numpy",
    "has_init",
    "init_data",
    "is_contiguous",
    "mT",
    "ndimension",
    "nelement",
    "numel",
    "numpy",
    "stub_sync",
    "tolist",
    "value",
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
