"""Layers of MindSpore 1.x that compute without parameters: Moments, Range, MatrixDiag and others."""

from ... import _composites, _core, ops
from ... import _functions as F
from ..cell import Cell
from .basic import check_bool

_float32 = _core.dtypes["float32"]


class Moments(Cell):
    """Mean and variance over axes, the variance divided by the number of elements.

    `axis` is an int, a tuple of ints or None for all axes; `keep_dims` keeps them with one place. The input
    is floating; results have its dtype, float16 is computed as float32 and converted back. Raises TypeError
    for arguments of the wrong type, ValueError for axes that are out of range or twice there.

    >>> from sorus import Tensor, nn
    >>> mean, variance = nn.Moments(axis=1)(Tensor([[1.0, 3.0], [2.0, 6.0]]))
    >>> mean.tolist(), variance.tolist()
    ([2.0, 4.0], [1.0, 4.0])
    """

    def __init__(self, axis=None, keep_dims=None):
        super().__init__()
        axis = () if axis is None else axis
        for place in axis if isinstance(axis, (tuple, list)) else (axis,):
            if isinstance(place, bool) or not isinstance(place, int):
                raise TypeError(f"Moments: 'axis' has the wrong type: got {axis!r}, need ints")
        if isinstance(axis, (tuple, list)) and len(set(axis)) < len(axis):
            raise ValueError(f"Moments: 'axis' is twice there: got {axis}, need different axes")
        self.axis = axis
        self.keep_dims = check_bool(False if keep_dims is None else keep_dims, "keep_dims", "Moments")

    def construct(self, x):
        if not x.dtype.is_floating_point:
            raise TypeError(f"Moments: input has the wrong dtype: got {x.dtype}, need a floating one")
        wide = F.cast(x, _float32) if x.itemsize < 4 else x
        mean = ops.reduce_mean(wide, self.axis, True)
        variance = ops.reduce_mean(F.square(wide - mean), self.axis, self.keep_dims)
        mean = mean if self.keep_dims else ops.reduce_mean(mean, self.axis)
        return F.cast(mean, x.dtype), F.cast(variance, x.dtype)


class Range(Cell):
    """start, start + delta ... below limit, as a tensor that calling the cell without inputs gives.

    With one number alone that is the limit, and start is 0. Ints give int32, a float among the arguments
    float32. Raises TypeError when an argument is no number, ValueError when delta is 0 or leads nowhere.

    >>> from sorus import nn
    >>> nn.Range(1, 8, 2)().tolist()
    [1, 3, 5, 7]
    """

    def __init__(self, start, limit=None, delta=1):
        super().__init__()
        start, limit = (0, start) if limit is None else (start, limit)
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(
                    f"Range: '{name}' has the wrong type: got {type(value).__name__}, need an int or float"
                )
        if delta == 0 or (limit - start) * delta < 0:
            raise ValueError(
                f"Range: 'delta' does not fit: got {delta} from {start} to {limit}, need a step to the end"
            )
        self.start, self.limit, self.delta = start, limit, delta

    def construct(self):
        return _composites.numpy_arange(self.start, self.limit, self.delta, None)


class MatrixDiag(Cell):
    """Diagonal matrices of vectors: (..., K) becomes (..., K, K) of the same dtype, with zeros elsewhere.

    >>> from sorus import Tensor, nn
    >>> nn.MatrixDiag()(Tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """

    def construct(self, x):
        if x.ndim < 1:
            raise ValueError(f"MatrixDiag: input has no axis: got shape {x.shape}, need (..., K)")
        return ops.diag_embed(x)


class MatrixDiagPart(Cell):
    """The diagonals of matrices: (..., M, N) becomes (..., min(M, N)).

    >>> from sorus import Tensor, nn
    >>> nn.MatrixDiagPart()(Tensor([[1, 2, 3], [4, 5, 6]])).tolist()
    [1, 5]
    """

    def construct(self, x):
        if x.ndim < 2:
            raise ValueError(f"MatrixDiagPart: input is no matrix: got shape {x.shape}, need (..., M, N)")
        return F.diagonal(x, 0, -2, -1)


class MatrixSetDiag(Cell):
    """Matrices with other diagonals: x of shape (..., M, N), diagonal of shape (..., min(M, N)) and x's
    dtype.

    >>> from sorus import Tensor, nn
    >>> nn.MatrixSetDiag()(Tensor([[1, 2], [3, 4]]), Tensor([8, 9])).tolist()
    [[8, 2], [3, 9]]
    """

    def construct(self, x, diagonal):
        if x.ndim < 2 or diagonal.shape != (*x.shape[:-2], min(x.shape[-2:])):
            raise ValueError(
                f"MatrixSetDiag: shapes do not fit: got {x.shape} and {diagonal.shape}, need (..., M, N) and "
                "(..., min(M, N))"
            )
        rows, columns = x.shape[-2:]
        padding = [0] * (diagonal.ndim - 1)
        along_columns = F.pad(diagonal, [*padding, 0], [*padding, columns - diagonal.shape[-1]])
        here = F.equal(F.expand_dims(ops.arange(rows), 1), ops.arange(columns))
        return F.where(here, F.expand_dims(along_columns, -2), x)


class ReduceLogSumExp(Cell):
    """log of the sum of exp over axes, without overflow.

    `axis` is an int, a tuple of ints, or () for all axes; `keep_dims` keeps them with one place.

    >>> from sorus import Tensor, nn
    >>> nn.ReduceLogSumExp(0)(Tensor([1000.0])).item()
    1000.0
    """

    def __init__(self, axis, keep_dims=False):
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool(keep_dims, "keep_dims", "ReduceLogSumExp")

    def construct(self, x):
        axis = tuple(range(x.ndim)) if self.axis in ((), []) else self.axis
        return ops.logsumexp(x, axis, self.keep_dims)
