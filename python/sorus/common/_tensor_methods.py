"""Methods and properties of Tensor that need more than a row."""

from .. import _core

MEMBERS = (
    "T",
    "asnumpy",
    "numpy",
    "tolist",
    "from_numpy",
    "copy",
    "assign_value",
    "set_dtype",
    "is_contiguous",
    "element_size",
    "dim",
    "nelement",
    "numel",
    "value",
    "init_data",
    "flush_from_cache",
    "stub_sync",
    "stride",
)


def _property(function):
    return property(function)


@_property
def T(self):
    """Axes in reverse order."""
    return self.transpose()


def numpy(self):
    """A writable NumPy copy."""
    return self.asnumpy()


def tolist(self):
    """Nested Python lists, or a Python number for rank 0."""
    return self.asnumpy().tolist()


@staticmethod
def from_numpy(array):
    """A tensor that shares the array's memory; read-only arrays are copied."""
    return _core.from_numpy(array)


def copy(self):
    """Another handle to the same value; values never change, so nothing is copied."""
    return self.__copy__()


def assign_value(self, value):
    """Gives this tensor another value."""
    return self._set_value(value)


def set_dtype(self, dtype):
    """Converts this tensor in place."""
    return self._set_value(self.astype(dtype))


def is_contiguous(self):
    """True when elements lie densely in row-major order."""
    return self._is_contiguous()


def element_size(self):
    """Bytes of an element."""
    return self.itemsize


def dim(self):
    """Number of axes."""
    return self.ndim


def nelement(self):
    """Number of elements."""
    return self.size


numel = nelement


def value(self):
    """The tensor itself."""
    return self


def init_data(self, slice_index=None, shape=None, opt_shard_group=None):  # noqa: ARG001
    """The tensor itself: data is always there."""
    return self


def flush_from_cache(self):
    """Does nothing: there is no cache."""


def stub_sync(self):
    """The tensor itself: nothing is asynchronous."""
    return self


def stride(self, dim=None):
    """Distance in elements between neighbours along each axis, or along one."""
    strides = [s // self.itemsize for s in self.strides]
    return strides if dim is None else strides[dim]
