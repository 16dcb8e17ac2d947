"""Sparse tensors against dense ones of NumPy, eager and in graph mode, with gradients."""

import numpy as np
import pytest

import sorus as ms
from sorus import COOTensor, CSRTensor, RowTensor, Tensor, ops

R = np.random.RandomState(4)


def sparse(rows, columns, kept=0.4):
    dense = R.randn(rows, columns).astype(np.float32)
    return np.where(R.rand(rows, columns) < kept, dense, 0).astype(np.float32)


def coo(dense, dtype=np.int32):
    places = np.argwhere(dense).astype(dtype)
    return COOTensor(Tensor(places), Tensor(dense[tuple(places.T)]), dense.shape)


def csr(dense, dtype=np.int32):
    indptr = np.concatenate(([0], np.cumsum((dense != 0).sum(1)))).astype(dtype)
    rows, columns = np.nonzero(dense)
    return CSRTensor(
        Tensor(indptr), Tensor(columns.astype(dtype)), Tensor(dense[rows, columns]), dense.shape
    )


A, B, C = sparse(5, 7), sparse(5, 7), sparse(7, 4)


def in_mode(f, *args):
    """Runs it three times: eagerly or recorded, compiled, from the cache."""
    f = ms.jit(f) if ms.get_context("mode") == ms.GRAPH_MODE else f
    for _ in range(3):
        got = f(*args)
    return got


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_conversions_keep_every_element(mode, dtype):  # noqa: ARG001
    x, y = coo(A, dtype), csr(A, dtype)
    copies = COOTensor(coo_tensor=x), CSRTensor(csr_tensor=y)
    for made in (x, y, x.to_csr(), y.to_coo(), x.coalesce(), *copies):
        np.testing.assert_array_equal(made.to_dense().asnumpy(), A)
        assert made.shape == (5, 7) and made.ndim == 2 and made.dtype == ms.float32
        assert made.size == np.count_nonzero(A) and made.itemsize == 4
    np.testing.assert_array_equal(x.to_csr().indptr.asnumpy(), y.indptr.asnumpy())
    np.testing.assert_array_equal(y.to_coo().indices.asnumpy(), x.indices.asnumpy())
    assert x.to_csr().indices.dtype == x.indices.dtype
    np.testing.assert_array_equal(y.abs().to_dense().asnumpy(), np.abs(A))
    assert x.astype(ms.float64).to_dense().dtype == ms.float64


def test_indices_that_occur_twice_add_up(mode):  # noqa: ARG001
    places, values = np.array([[2, 1], [0, 3], [2, 1], [0, 0]]), np.array([1, 2, 4, 8], np.float32)
    x = COOTensor(Tensor(places), Tensor(values), (3, 4)).coalesce()
    assert x.indices.tolist() == [[0, 0], [0, 3], [2, 1]] and x.values.tolist() == [8, 2, 5]


def test_sums_and_products(mode):  # noqa: ARG001
    v = R.randn(7, 1).astype(np.float32)
    x, y = csr(A), csr(B)
    np.testing.assert_allclose(in_mode(lambda v: x.mv(v), Tensor(v)).asnumpy(), A @ v, 1e-5, 1e-6)
    np.testing.assert_allclose(in_mode(lambda c: x.mm(c), Tensor(C)).asnumpy(), A @ C, 1e-5, 1e-6)
    np.testing.assert_allclose(x.mm(csr(C)).to_dense().asnumpy(), A @ C, 1e-5, 1e-6)
    np.testing.assert_allclose(x.sum(1).asnumpy(), A.sum(1, keepdims=True), 1e-5, 1e-6)
    total = x.add(y, Tensor(2.0), Tensor(-3.0))
    np.testing.assert_allclose(total.to_dense().asnumpy(), 2 * A - 3 * B, 1e-5, 1e-6)
    some = coo(A).add(coo(B), Tensor(0.5)).to_dense().asnumpy()
    np.testing.assert_array_equal(some, np.where(np.abs(A + B) >= 0.5, A + B, 0))


def test_gradients_reach_the_values(mode):  # noqa: ARG001
    x, w = csr(A), Tensor(R.randn(5, 4).astype(np.float32))

    def loss(values, c):
        return (CSRTensor(x.indptr, x.indices, values, x.shape).mm(c) * w).sum()

    got = in_mode(ms.grad(loss, (0, 1)), x.values, Tensor(C))
    rows, columns = np.nonzero(A)
    np.testing.assert_allclose(got[0].asnumpy(), (w.asnumpy() @ C.T)[rows, columns], 1e-5, 1e-5)
    np.testing.assert_allclose(got[1].asnumpy(), A.T @ w.asnumpy(), 1e-5, 1e-5)


def test_empty_ones():
    nothing = np.zeros((3, 4), np.float32)
    for made in (coo(nothing), csr(nothing), coo(nothing).to_csr(), csr(nothing).to_coo()):
        np.testing.assert_array_equal(made.to_dense().asnumpy(), nothing)
    product = csr(nothing).mm(Tensor(np.ones((4, 2), np.float32)))
    np.testing.assert_array_equal(product.asnumpy(), np.zeros((3, 2)))


def test_rows():
    x = RowTensor(Tensor([2, 0, 2]), Tensor(np.float32([[1, 2], [3, 4], [5, 6]])), (4, 2))
    assert x.to_dense().tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]] and x.dense_shape == (4, 2)
    grad_scale = ops.MultitypeFuncGraph("grad_scale")
    grad_scale.register("Tensor", "RowTensor")(lambda s, g: RowTensor(g.indices, g.values * s, g.dense_shape))
    assert grad_scale(Tensor(2.0), x).to_dense().tolist() == [[6, 8], [0, 0], [12, 16], [0, 0]]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: COOTensor([[0]], Tensor([1.0]), (1,)), TypeError, "COOTensor: 'indices'.*got list"),
        (lambda: COOTensor(Tensor([[0, 3]]), Tensor([1.0]), (2, 3)), ValueError, "out of range: got 3 to 3"),
        (lambda: COOTensor(Tensor([[0, 1]]), Tensor([1.0, 2.0]), (2, 3)), ValueError, "need \\(2, 2\\)"),
        (lambda: COOTensor(Tensor([[0.0]]), Tensor([1.0]), (2,)), TypeError, "wrong dtype: got Float32"),
        (lambda: CSRTensor(Tensor([0, 1]), Tensor([0]), Tensor([1.0]), (2, 2)), ValueError, "'indptr'"),
        (lambda: CSRTensor(Tensor([0, 2, 1]), Tensor([0]), Tensor([1.0]), (2, 2)), ValueError, "falls"),
        (lambda: csr(A).mm(Tensor(A)), ValueError, "need 7 rows"),
        (lambda: csr(A).sum(0), ValueError, "got 0, need 1"),
        (lambda: csr(A).add(coo(A), 1.0, 1.0), TypeError, "need a CSRTensor"),
        (lambda: RowTensor(Tensor([4]), Tensor([[1.0]]), (4, 1)), ValueError, "out of range: got 4"),
    ],
)
def test_what_does_not_fit_is_named(make, error, text):
    with pytest.raises(error, match=text):
        make()
