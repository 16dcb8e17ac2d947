"""Tensors most of whose elements are zero, as the values and the places of the others.

They are Python objects made of tensors; what they compute is composed of the functions of `ops`, runs in
every mode and has gradients. How many elements a sum or a product has depends on places, which are read then.
"""

import operator

from .. import ops
from .._core import Tensor
from . import dtype as mstype

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "SparseTensor"]


def _need_tensor(what, name, value, ndim=None):
    if not isinstance(value, Tensor):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a Tensor")
    if ndim is not None and value.ndim != ndim:
        raise ValueError(f"{what}: '{name}' has the wrong shape: got {value.shape}, need {ndim} axes")
    return value


def _need_places(what, name, value, ndim):
    _need_tensor(what, name, value, ndim)
    if value.dtype not in (mstype.int16, mstype.int32, mstype.int64):
        raise TypeError(f"{what}: '{name}' has the wrong dtype: got {value.dtype}, need int32 or int64")
    return value


def _need_shape(what, shape, ndim=None):
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"{what}: 'shape' has the wrong type: got {type(shape).__name__}, need a tuple")
    shape = tuple(operator.index(n) for n in shape)
    if not shape or min(shape) < 1 or (ndim is not None and len(shape) != ndim):
        need = "extents of 1 or more" if ndim is None else f"{ndim} extents of 1 or more"
        raise ValueError(f"{what}: 'shape' does not fit: got {shape}, need {need}")
    return shape


def _need_within(what, places, extent):
    """Reads places, once, when a tensor is made of them."""
    if places.size and not (0 <= int(places.min()) and int(places.max()) < extent):
        raise ValueError(
            f"{what}: 'indices' are out of range: got {int(places.min())} to {int(places.max())}, "
            f"need 0 to {extent - 1}"
        )


class _Sparse:
    """What all of them share: values, and a shape as if they were dense."""

    @property
    def values(self):
        """The elements that are kept."""
        return self._values

    @property
    def indices(self):
        """Where they stand."""
        return self._indices

    @property
    def shape(self):
        """The shape of the dense tensor."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._values.dtype

    @property
    def ndim(self):
        """The number of axes of the dense tensor."""
        return len(self._shape)

    @property
    def size(self):
        """The number of values that are kept."""
        return self._values.size

    @property
    def itemsize(self):
        """Bytes of a value."""
        return self._values.itemsize

    def astype(self, dtype):
        """The same with values of another dtype."""
        return self._with(self._values.astype(dtype))

    def abs(self):
        """The same with absolute values."""
        return self._with(ops.abs(self._values))

    def __neg__(self):
        return self._with(-self._values)

    def __repr__(self):
        return f"{type(self).__name__}(shape={self._shape}, dtype={self.dtype}, values={self.size})"


def _merged(keys, values):
    """Values with the same key added up, keys ascending."""
    keys, order = ops.sort(keys)
    if keys.size == 0:
        return keys, values
    begins = ops.concat((Tensor([True]), keys[1:] != keys[:-1]))
    segment = ops.cumsum(begins.astype(mstype.int32), 0) - 1
    count = int(segment[-1]) + 1
    return keys[begins], ops.unsorted_segment_sum(ops.gather(values, order, 0), segment, count)


class COOTensor(_Sparse):
    """Values, and a row of indices (values, axes) for each. Indices that occur twice add up.

    >>> from sorus import COOTensor, Tensor
    >>> x = COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3))
    >>> x.to_dense().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """

    def __init__(self, indices=None, values=None, shape=None, coo_tensor=None):
        if coo_tensor is not None:
            if not isinstance(coo_tensor, COOTensor):
                raise TypeError(
                    f"COOTensor: 'coo_tensor' has the wrong type: got {type(coo_tensor).__name__}, "
                    "need a COOTensor"
                )
            indices, values, shape = coo_tensor.to_tuple()
        self._indices = _need_places("COOTensor", "indices", indices, 2)
        self._values = _need_tensor("COOTensor", "values", values, 1)
        self._shape = _need_shape("COOTensor", shape)
        if indices.shape != (values.shape[0], len(self._shape)):
            raise ValueError(
                f"COOTensor: 'indices' has the wrong shape: got {indices.shape}, "
                f"need {(values.shape[0], len(self._shape))}"
            )
        for axis, extent in enumerate(self._shape):
            _need_within("COOTensor", indices[:, axis], extent)

    def _with(self, values):
        return COOTensor(self._indices, values, self._shape)

    def _keys(self):
        """The place of each value in row-major order."""
        keys = ops.zeros((self._values.shape[0],), mstype.int64)
        for axis, extent in enumerate(self._shape):
            keys = keys * extent + self._indices[:, axis].astype(mstype.int64)
        return keys

    def _of_keys(self, keys, values):
        columns = []
        for extent in reversed(self._shape):
            columns.insert(0, keys % extent)
            keys = keys // extent
        return COOTensor(ops.stack(columns, 1).astype(self._indices.dtype), values, self._shape)

    def coalesce(self):
        """The same with ascending indices, none of them twice."""
        return self._of_keys(*_merged(self._keys(), self._values))

    def to_dense(self):
        """The dense tensor."""
        return ops.tensor_scatter_add(ops.zeros(self._shape, self.dtype), self._indices, self._values)

    def to_csr(self):
        """The CSRTensor of a matrix."""
        if self.ndim != 2:
            raise ValueError(f"COOTensor.to_csr: is no matrix: got shape {self._shape}, need 2 axes")
        keys, values = _merged(self._keys(), self._values)
        rows, columns = keys // self._shape[1], keys % self._shape[1]
        counts = ops.bincount(rows, minlength=self._shape[0])
        places = self._indices.dtype
        indptr = ops.concat((ops.zeros((1,), places), ops.cumsum(counts, 0).astype(places)))
        return CSRTensor(indptr, columns.astype(places), values, self._shape)

    def to_tuple(self):
        """(indices, values, shape)."""
        return self._indices, self._values, self._shape

    def add(self, other, thresh):
        """The sum with another COOTensor, without elements whose magnitude is below `thresh`."""
        if not isinstance(other, COOTensor):
            raise TypeError(
                f"COOTensor.add: 'other' has the wrong type: got {type(other).__name__}, need a COOTensor"
            )
        if other.shape != self._shape:
            raise ValueError(
                f"COOTensor.add: shapes differ: got {self._shape} and {other.shape}, need equal ones"
            )
        keys, values = _merged(
            ops.concat((self._keys(), other._keys())), ops.concat((self._values, other.values))
        )
        kept = ops.abs(values) >= thresh
        return self._of_keys(keys[kept], values[kept])


class SparseTensor(COOTensor):
    """The old name of COOTensor, with `dense_shape`."""

    def __init__(self, indices, values, dense_shape):
        super().__init__(indices, values, dense_shape)

    def _with(self, values):
        return SparseTensor(self._indices, values, self._shape)

    @property
    def dense_shape(self):
        """The shape of the dense tensor."""
        return self._shape


class CSRTensor(_Sparse):
    """Values of a matrix row by row, the column of each, and where each row begins (`indptr`, rows + 1).

    >>> from sorus import CSRTensor, Tensor
    >>> x = CSRTensor(Tensor([0, 1, 2]), Tensor([1, 2]), Tensor([1.0, 2.0]), (2, 3))
    >>> x.mv(Tensor([[1.0], [2.0], [3.0]])).tolist()
    [[2.0], [6.0]]
    """

    def __init__(self, indptr=None, indices=None, values=None, shape=None, csr_tensor=None):
        if csr_tensor is not None:
            if not isinstance(csr_tensor, CSRTensor):
                raise TypeError(
                    f"CSRTensor: 'csr_tensor' has the wrong type: got {type(csr_tensor).__name__}, "
                    "need a CSRTensor"
                )
            indptr, indices, values, shape = csr_tensor.to_tuple()
        self._indptr = _need_places("CSRTensor", "indptr", indptr, 1)
        self._indices = _need_places("CSRTensor", "indices", indices, 1)
        self._values = _need_tensor("CSRTensor", "values", values, 1)
        self._shape = _need_shape("CSRTensor", shape, 2)
        if indices.shape != values.shape:
            raise ValueError(
                f"CSRTensor: 'indices' has the wrong shape: got {indices.shape}, need {values.shape}"
            )
        begins = indptr.tolist()
        if len(begins) != self._shape[0] + 1 or begins[0] != 0 or begins[-1] != values.shape[0]:
            raise ValueError(
                f"CSRTensor: 'indptr' does not fit: got {len(begins)} numbers from {begins[:1]} to "
                f"{begins[-1:]}, need {self._shape[0] + 1} from 0 to {values.shape[0]}"
            )
        if any(a > b for a, b in zip(begins, begins[1:])):
            raise ValueError("CSRTensor: 'indptr' falls: got a smaller number after a greater, need none")
        _need_within("CSRTensor", indices, self._shape[1])

    @property
    def indptr(self):
        """Where each row begins in `values`, and where the last one ends."""
        return self._indptr

    def _with(self, values):
        return CSRTensor(self._indptr, self._indices, values, self._shape)

    def _counts(self):
        return self._indptr[1:] - self._indptr[:-1]

    def _rows(self):
        """The row of each value."""
        rows = ops.arange(self._shape[0], dtype=self._indices.dtype)
        return ops.repeat_interleave(rows, self._counts(), 0)

    def to_coo(self):
        """The same as a COOTensor."""
        return COOTensor(ops.stack((self._rows(), self._indices), 1), self._values, self._shape)

    def to_dense(self):
        """The dense matrix."""
        return self.to_coo().to_dense()

    def to_tuple(self):
        """(indptr, indices, values, shape)."""
        return self._indptr, self._indices, self._values, self._shape

    def _sum_of_rows(self, values):
        return ops.unsorted_segment_sum(values, self._rows().astype(mstype.int32), self._shape[0])

    def sum(self, axis):
        """Sums of rows (axis 1), of shape (rows, 1)."""
        if axis not in (1, -1):
            raise ValueError(f"CSRTensor.sum: axis is out of range: got {axis}, need 1")
        return self._sum_of_rows(self._values).reshape(-1, 1)

    def mv(self, dense_vector):
        """The product with a vector of shape (columns, 1)."""
        _need_tensor("CSRTensor.mv", "dense_vector", dense_vector, 2)
        if dense_vector.shape != (self._shape[1], 1):
            raise ValueError(
                f"CSRTensor.mv: 'dense_vector' has the wrong shape: got {dense_vector.shape}, "
                f"need {(self._shape[1], 1)}"
            )
        return self.mm(dense_vector)

    def mm(self, matrix):
        """The product with a matrix: dense with a dense one, a CSRTensor with a CSRTensor."""
        if matrix.ndim != 2 or matrix.shape[0] != self._shape[1]:
            raise ValueError(
                f"CSRTensor.mm: 'matrix' has the wrong shape: got {matrix.shape}, "
                f"need {self._shape[1]} rows"
            )
        if isinstance(matrix, CSRTensor):
            return self._times_sparse(matrix)
        _need_tensor("CSRTensor.mm", "matrix", matrix)
        rows = ops.gather(matrix, self._indices, 0)
        return self._sum_of_rows(self._values.reshape(-1, 1) * rows)

    def _times_sparse(self, other):
        """Each value times the row of `other` that its column names."""
        counts = ops.gather(other._counts(), self._indices, 0)
        which = ops.repeat_interleave(ops.arange(self.size), counts, 0)
        begins = ops.cumsum(counts, 0) - counts
        within = ops.arange(which.size) - ops.gather(begins, which, 0)
        place = ops.gather(ops.gather(other.indptr, self._indices, 0), which, 0) + within
        values = ops.gather(self._values, which, 0) * ops.gather(other.values, place, 0)
        rows, columns = ops.gather(self._rows(), which, 0), ops.gather(other.indices, place, 0)
        shape = (self._shape[0], other.shape[1])
        return COOTensor(ops.stack((rows, columns), 1).astype(self._indices.dtype), values, shape).to_csr()

    def add(self, b, alpha, beta):
        """alpha * self + beta * b, of two CSRTensors."""
        if not isinstance(b, CSRTensor):
            raise TypeError(
                f"CSRTensor.add: 'b' has the wrong type: got {type(b).__name__}, need a CSRTensor"
            )
        if b.shape != self._shape:
            raise ValueError(
                f"CSRTensor.add: shapes differ: got {self._shape} and {b.shape}, need equal ones"
            )
        indices = ops.concat((self.to_coo().indices, b.to_coo().indices.astype(self._indices.dtype)))
        values = ops.concat((self._values * alpha, b.values * beta))
        return COOTensor(indices, values, self._shape).to_csr()


class RowTensor(_Sparse):
    """Some rows of a tensor whose other rows are zero: `values[i]` is row `indices[i]`."""

    def __init__(self, indices=None, values=None, shape=None, row_tensor=None):
        if row_tensor is not None:
            if not isinstance(row_tensor, RowTensor):
                raise TypeError(
                    f"RowTensor: 'row_tensor' has the wrong type: got {type(row_tensor).__name__}, "
                    "need a RowTensor"
                )
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.shape
        self._indices = _need_places("RowTensor", "indices", indices, 1)
        self._values = _need_tensor("RowTensor", "values", values)
        self._shape = _need_shape("RowTensor", shape)
        if values.shape != (indices.shape[0], *self._shape[1:]):
            raise ValueError(
                f"RowTensor: 'values' has the wrong shape: got {values.shape}, "
                f"need {(indices.shape[0], *self._shape[1:])}"
            )
        _need_within("RowTensor", indices, self._shape[0])

    def _with(self, values):
        return RowTensor(self._indices, values, self._shape)

    @property
    def dense_shape(self):
        """The shape of the dense tensor."""
        return self._shape

    def to_dense(self):
        """The dense tensor; rows that occur twice add up."""
        zeros = ops.zeros(self._shape, self.dtype)
        return ops.tensor_scatter_add(zeros, self._indices.reshape(-1, 1), self._values)
