"""Composites of rows: matrices and distances.

Elimination works column by column on whole batches of matrices, in float64; results have the operand's
dtype.
"""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _is_int

_float64 = _d["float64"]


def _square(x: Tensor, op):
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{op}: not square: got shape {x.shape}, need square matrices")
    if not x.dtype.is_floating_point:
        raise TypeError(f"{op}: dtype is not supported: got {x.dtype}, need a floating one")
    return F.cast(x, _float64)


def _column(x: Tensor, k):
    return F.narrow(x, -1, k, 1)


def _row(x: Tensor, k):
    return F.narrow(x, -2, k, 1)


def _swapped(x: Tensor, k, place, rows):
    """x with its rows k and `place` (shape (..., 1, 1)) exchanged."""
    at_k, at_place = F.equal(rows, k), F.equal(rows, place)
    source = F.where(at_place, k, F.where(at_k, place, rows))
    index = F.broadcast_to(source, (*source.shape[:-1], x.shape[-1]))
    return F.gather_elements(x, index, -2)


def _eliminated(x: Tensor, right, reduce):
    """Pivots (..., n) and the sign of the permutation of Gaussian elimination with partial pivoting, and
    `right` solved for when the rows above a pivot are eliminated, too (`reduce`).
    """
    n = x.shape[-1]
    rows = F.reshape(F.arange(0, n, 1, _d["int64"]), (*(1,) * (x.ndim - 2), n, 1))
    rows = F.broadcast_to(rows, (*x.shape[:-1], 1))
    work = F.concat([x, right], -1) if right is not None else x
    pivots, sign = [], F.full(x.shape[:-2], 1.0, _float64)
    for k in range(n):
        sizes = F.where(F.less(rows, k), -1.0, F.abs(_column(work, k)))
        place = F.argmax(sizes, -2, True)
        sign = F.where(F.equal(F.reshape(place, sign.shape), k), sign, F.neg(sign))
        work = _swapped(work, k, place, rows)
        pivot_row = _row(work, k)
        pivot = _column(pivot_row, k)
        pivots.append(F.reshape(pivot, (*x.shape[:-2], 1)))
        if not reduce:
            pivot = F.where(F.equal(pivot, 0), 1.0, pivot)  # the rest of such a column is zero
        factors = F.div(_column(work, k), pivot)
        touched = F.not_equal(rows, k) if reduce else F.greater(rows, k)
        work = F.sub(work, F.mul(F.where(touched, factors, 0.0), pivot_row))
    diagonal = F.concat(pivots, -1) if pivots else F.full((*x.shape[:-2], 0), 1.0, _float64)
    if right is None:
        return diagonal, sign, None
    solved = F.narrow(work, -1, n, right.shape[-1])
    return diagonal, sign, F.div(solved, F.expand_dims(diagonal, -1))


def solved(x: Tensor, right: Tensor):
    """Matrices whose products with x from the left are `right`; not finite where x is singular."""
    a = _square(x, "matrix_solve")
    if right.ndim != x.ndim or right.shape[:-1] != x.shape[:-1]:
        raise ValueError(f"matrix_solve: shapes do not fit: got {x.shape} and {right.shape}, need equal rows")
    return F.cast(_eliminated(a, F.cast(right, _float64), True)[2], x.dtype)


def inverse(x: Tensor):
    """Inverse matrices; not finite for singular ones."""
    a = _square(x, "inverse")
    unit = F.broadcast_to(F.eye(a.shape[-1], a.shape[-1], _float64), a.shape)
    return F.cast(_eliminated(a, unit, True)[2], x.dtype)


def inverse_adjoint(x: Tensor, adjoint):
    """Inverse matrices, transposed for an adjoint."""
    return F.swapaxes(inverse(x), -1, -2) if adjoint else inverse(x)


def det(x: Tensor):
    """Determinants."""
    pivots, sign, _ = _eliminated(_square(x, "det"), None, False)
    return F.cast(F.mul(sign, F.prod(pivots, (-1,))), x.dtype)


def slogdet(x: Tensor):
    """Sign and logarithm of the absolute value of determinants."""
    pivots, sign, _ = _eliminated(_square(x, "slogdet"), None, False)
    sign = F.mul(sign, F.prod(F.sign(pivots), (-1,)))
    return F.cast(sign, x.dtype), F.cast(F.sum(F.log(F.abs(pivots)), (-1,)), x.dtype)


def logdet(x: Tensor):
    """Logarithm of determinants, NaN of negative ones."""
    sign, size = slogdet(x)
    return F.where(F.less(sign, 0), float("nan"), size)


def matrix_power_of(x: Tensor, n: int):
    """x multiplied with itself, or its inverse for a negative n."""
    return F.matrix_power(inverse(x), -n) if n < 0 else F.matrix_power(x, n)


def cholesky(x: Tensor, upper):
    """Lower (or upper) triangular factors of symmetric positive definite matrices."""
    rest, columns = _square(x, "cholesky"), []
    n = rest.shape[-1]
    for k in range(n):
        column = F.div(_column(rest, k), F.sqrt(_column(_row(rest, k), k)))
        columns.append(column)
        rest = F.sub(rest, F.mul(column, F.swapaxes(column, -1, -2)))
    factor = F.tril(F.concat(columns, -1)) if columns else rest
    if not bool(F.all(F.isfinite(factor))):
        raise RuntimeError(
            "cholesky: matrix is not positive definite: got a pivot that is not positive, need positive ones"
        )
    return F.cast(F.swapaxes(factor, -1, -2) if upper else factor, x.dtype)


def cholesky_inverse(x: Tensor, upper):
    """The inverse of the matrix whose lower (or upper) triangular factor is x."""
    factor = F.swapaxes(F.triu(x), -1, -2) if upper else F.tril(x)
    factor = F.cast(factor, _float64)
    return F.cast(inverse(F.matmul(factor, F.swapaxes(factor, -1, -2))), x.dtype)


def _reflections(x: Tensor, op):
    """Householder's reflections that make x upper triangular: the triangle, and (vector, factor) of each."""
    if x.ndim < 2:
        raise ValueError(f"{op}: number of axes does not fit: got shape {x.shape}, need 2 or more")
    work = F.cast(x, _float64)
    m, n = x.shape[-2:]
    rows = F.reshape(F.arange(0, m, 1, _d["int64"]), (m, 1))
    steps = []
    for k in range(min(m - 1, n)):
        column = F.where(F.less(rows, k), 0.0, _column(work, k))
        head = _row(column, k)
        tail = F.sum(F.square(F.where(F.equal(rows, k), 0.0, column)), (-2,), True)
        idle = F.equal(tail, 0)  # already zero below the diagonal
        size = F.sqrt(F.where(idle, 1.0, F.add(tail, F.square(head))))
        target = F.where(F.less(head, 0), size, F.neg(size))
        lead = F.where(idle, 1.0, F.sub(head, target))
        vector = F.where(F.equal(rows, k), 1.0, F.div(column, lead))
        factor = F.where(idle, 0.0, F.div(F.sub(target, head), target))
        work = F.sub(work, F.mul(factor, F.mul(vector, F.matmul(F.swapaxes(vector, -1, -2), work))))
        steps.append((vector, factor))
    return work, steps


def qr(x: Tensor, mode):
    """Orthogonal matrices and upper triangles whose products are x."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: unknown mode: got {mode!r}, need 'reduced' or 'complete'")
    triangle, steps = _reflections(x, "qr")
    m = x.shape[-2]
    q = F.broadcast_to(F.eye(m, m, _float64), (*x.shape[:-2], m, m))
    for vector, factor in steps:
        q = F.sub(q, F.mul(factor, F.mul(F.matmul(q, vector), F.swapaxes(vector, -1, -2))))
    kept = min(x.shape[-2:]) if mode == "reduced" else m
    r = F.triu(F.narrow(triangle, -2, 0, kept))
    return F.cast(F.narrow(q, -1, 0, kept), x.dtype), F.cast(r, x.dtype)


def qr_by(x: Tensor, mode):
    """qr, whose mode 'r' leaves out the orthogonal matrices."""
    if mode != "r":
        return qr(x, mode)
    return F.full((0,), 0, x.dtype), qr(x, "reduced")[1]


def geqrf(x: Tensor):
    """The triangle of qr over the reflections' vectors below their leading ones, and the factors."""
    triangle, steps = _reflections(x, "geqrf")
    m, n = x.shape[-2:]
    packed, factors = F.triu(triangle), []
    places = F.arange(0, n, 1, _d["int64"])
    rows = F.reshape(F.arange(0, m, 1, _d["int64"]), (m, 1))
    for k, (vector, factor) in enumerate(steps):
        below = F.logical_and(F.equal(places, k), F.greater(rows, k))
        packed = F.where(below, F.mul(vector, F.where(F.equal(factor, 0), 0.0, 1.0)), packed)
        factors.append(F.reshape(factor, (*x.shape[:-2], 1)))
    missing = min(m, n) - len(factors)
    factors += [F.full((*x.shape[:-2], missing), 0.0, _float64)] * bool(missing)
    return F.cast(packed, x.dtype), F.cast(F.concat(factors, -1), x.dtype)


def svd_by(x, full_matrices, compute_uv):
    """Singular values, and the columns on both sides when asked for."""
    return F.svd(x, full_matrices) if compute_uv else F.singular_values(x)


def pinv_by(x, atol, rtol):
    """Pseudo-inverses; small singular values count as zero."""
    atol, rtol = (None if t is None else float(t) for t in (atol, rtol))
    return F.pinv(x, atol, rtol)


def cdist(x: Tensor, y: Tensor, p: float):
    """p-norms of the differences of all pairs of rows."""
    return F.norm(F.sub(F.expand_dims(x, -2), F.expand_dims(y, -3)), float(p), (-1,))


def cdist_by(x: Tensor, y: Tensor, p: float, mode):
    """cdist; every mode gives the distances of the differences themselves."""
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if mode not in modes:
        raise ValueError(f"cdist: unknown 'compute_mode': got {mode!r}, need one of {modes}")
    return cdist(x, y, p)


def pdist(x: Tensor, p: float):
    """p-norms of the differences of rows i < j, in that order."""
    n = x.shape[-2]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    first = F.gather(x, Tensor([i for i, _ in pairs], _d["int64"]), -2)
    second = F.gather(x, Tensor([j for _, j in pairs], _d["int64"]), -2)
    return F.norm(F.sub(first, second), float(p), (-1,))


def batch_dot(x: Tensor, y: Tensor, axes):
    """Sums of products over an axis of each, element by element of the first axis."""
    if axes is None:
        axes = (x.ndim - 1, max(y.ndim - 2, 1))
    first, second = (axes, axes) if _is_int(axes) else axes
    first, second = first % x.ndim, second % y.ndim
    if not first or not second:
        raise ValueError(f"batch_dot: 'axes' hold the batch: got {axes}, need axes other than 0")
    letters = iter("bcdefghijklmnopqrstuvw")
    left = ["z" if i == first else "a" if i == 0 else next(letters) for i in range(x.ndim)]
    right = ["z" if i == second else "a" if i == 0 else next(letters) for i in range(y.ndim)]
    kept = ["a", *(c for c in left + right if c not in "az")]
    return F.einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", [x, y])


def trapz(y: Tensor, x, dx, axis: int):
    """Integrals along an axis by the trapezoidal rule."""
    extent = y.shape[axis]
    sums = F.add(F.narrow(y, axis, 1, extent - 1), F.narrow(y, axis, 0, extent - 1))
    if x is not None:
        at = 0 if x.ndim == 1 else axis
        dx = F.sub(F.narrow(x, at, 1, extent - 1), F.narrow(x, at, 0, extent - 1))
        if x.ndim == 1 and axis % y.ndim != y.ndim - 1:
            dx = F.reshape(dx, (-1, *(1,) * (y.ndim - 1 - axis % y.ndim)))
    return F.sum(F.div(F.mul(sums, dx), 2), (axis,))


def vander(x: Tensor, n: int):
    """Powers of a vector as columns, the highest first."""
    if x.ndim != 1:
        raise ValueError(f"vander: not a vector: got shape {x.shape}, need one axis")
    n = x.size if n is None else n
    if n < 0:
        raise ValueError(f"vander: 'N' is out of range: got {n!r}, need an int of 0 or more")
    return F.pow(F.expand_dims(x, -1), F.cast(F.arange(n - 1, -1, -1, _d["int64"]), x.dtype))


def cov(x: Tensor, correction, fweights, aweights):
    """Covariances of rows, each column an observation, with counts and weights of observations."""
    x = F.reshape(x, (1, -1)) if x.ndim < 2 else x
    if x.ndim > 2:
        raise ValueError(f"cov: too many axes: got shape {x.shape}, need at most 2")
    weights = None
    for w in (fweights, aweights):
        if w is not None:
            w = F.cast(w, x.dtype)
            weights = w if weights is None else F.mul(weights, w)
    if weights is None:
        weights = F.full((x.shape[1],), 1, x.dtype)
    total = F.sum(weights)
    centred = F.sub(x, F.div(F.sum(F.mul(x, weights), (1,), True), total))
    lost = correction
    if aweights is not None:
        lost = F.mul(correction, F.div(F.sum(F.mul(weights, F.cast(aweights, x.dtype))), total))
    return F.div(F.matmul(F.mul(centred, weights), F.transpose(centred)), F.sub(total, lost))
