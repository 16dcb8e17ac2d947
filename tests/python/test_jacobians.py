"""jacrev, jacfwd, get_grad and recompute against derivatives written out, eager and in graph mode."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops

from modes import check_equal

X = np.array([1.0, 2.0], np.float32)
Y = np.array([3.0, 4.0, 5.0], np.float32)


def both(x, y):
    """Two results: x^2, and the sum of x times y."""
    return x * x, x.sum() * y


OF_FIRST = (np.diag(2 * X), np.zeros((2, 3)))
OF_SECOND = (np.stack([Y, Y], 1), X.sum() * np.eye(3))


def close(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want):
            close(g, w)
    else:
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got.asnumpy(), want, 1e-6)


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_results_and_positions(jacobian, mode):  # noqa: ARG001
    x, y = Tensor(X), Tensor(Y)
    for _ in range(3):
        close(jacobian(lambda x, y: both(x, y)[0])(x, y), OF_FIRST[0])
        close(jacobian(both)(x, y), (OF_FIRST[0], OF_SECOND[0]))
        close(jacobian(both, (1,))(x, y), (OF_FIRST[1], OF_SECOND[1]))
        close(jacobian(both, (1, 0))(x, y), (OF_FIRST[::-1], OF_SECOND[::-1]))
        close(jacobian(lambda x: (x * x).sum())(x), 2 * X)
        close(jacobian(lambda x: x * x)(Tensor(3.0)), 6.0)
        close(jacobian(lambda x: ops.ones((2,)) * 2)(x), np.zeros((2, 2)))
    matrix = Tensor(np.arange(6, dtype=np.float64).reshape(2, 3))
    found = jacobian(lambda m: m.T * 2)(matrix)
    assert found.dtype == ms.float64 and found.shape == (3, 2, 2, 3)
    want = 2 * np.einsum("ac,bd->abdc", np.eye(3), np.eye(2))
    np.testing.assert_array_equal(found.asnumpy(), want)
    assert jacobian(lambda x: x * 2)(Tensor(np.zeros(0, np.float32))).shape == (0, 0)


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_further_results(jacobian, mode):  # noqa: ARG001
    x, y = Tensor(X), Tensor(Y)
    found, aux = jacobian(lambda x, y: (x * x, y + 1), 0, True)(x, y)
    close(found, OF_FIRST[0])
    close(aux, Y + 1)
    found, aux = jacobian(lambda x, y: (x * x, y + 1, x + 5), (0, 1), True)(x, y)
    close(found, OF_FIRST)
    close(aux, (Y + 1, X + 5))


@pytest.mark.parametrize("outer", [ms.jacrev, ms.jacfwd, None])
@pytest.mark.parametrize("inner", [ms.jacrev, ms.jacfwd, ms.grad])
def test_hessians(outer, inner, mode):  # noqa: ARG001
    def f(x):
        return x[0] ** 3 * x[1] ** 2 + ops.sin(x[1])

    a, b = 1.0, 2.0
    want = [[6 * a * b**2, 6 * a**2 * b], [6 * a**2 * b, 2 * a**3 - np.sin(b)]]
    if outer is None:  # the gradient of a sum of the Jacobian sums its rows
        close(ms.grad(lambda x: inner(f)(x).sum())(Tensor(X)), np.sum(want, 0))
    else:
        close(outer(inner(f))(Tensor(X)), np.array(want))


def test_of_cells_and_one_tensor_twice():
    net = nn.Dense(2, 3)
    close(ms.jacrev(net)(Tensor(X)), net.weight.asnumpy())
    close(ms.jacfwd(net)(Tensor(X)), net.weight.asnumpy())
    x = Tensor(X)
    close(ms.jacrev(lambda a, b: a * a * b, (0, 1))(x, x), (np.diag(2 * X * X), np.diag(X * X)))


def test_forward_calls_the_function_once():
    """So that all columns are those of one draw."""
    calls = []

    def noisy(x):
        calls.append(1)
        return ops.dropout(x, 0.5, True) * x

    found = ms.jacfwd(noisy)(Tensor(np.ones(64, np.float32))).asnumpy()
    assert len(calls) == 1
    assert set(np.diag(found)) == {0.0, 4.0} and np.count_nonzero(found - np.diag(np.diag(found))) == 0


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_refusals(jacobian):
    x, y = Tensor(X), Tensor(Y)
    for make in (lambda: jacobian(3), lambda: jacobian(both, "a"), lambda: jacobian(both, 0, 1)):
        with pytest.raises(TypeError, match="has the wrong type"):
            make()
    for position in (2, -1, (0, 2)):
        with pytest.raises(ValueError, match="out of range"):
            jacobian(both, position)(x, y)
    for position in ((), (0, 0)):
        with pytest.raises(ValueError, match="need different positions"):
            jacobian(both, position)(x, y)
    with pytest.raises(ValueError, match="results are too few"):
        jacobian(lambda x: x, 0, True)(x)
    for wrong in (Tensor([1, 2]), 3.0):
        with pytest.raises(TypeError, match="need a Tensor of floating numbers"):
            jacobian(lambda x: x)(wrong)
    with pytest.raises(TypeError, match="gives no tensor"):
        jacobian(lambda x: 3)(x)


def test_modes_agree():
    def program(wrap):
        call = wrap(lambda x: (ms.jacrev(both, (0, 1))(x, Tensor(Y)), ms.jacfwd(both)(x, Tensor(Y))))
        return [lambda k=k: call(Tensor(X * k)) for k in (1, 1, 2, 3)]

    check_equal(program)


def test_get_grad():
    x, y = Tensor(X), Tensor(Y)
    pair = ms.grad(lambda a, b: a.sum() * b.sum(), (0, 1), return_ids=True)(x, y)
    close(ms.get_grad(pair, 0), [12.0, 12.0])
    close(ms.get_grad(pair, 1), [3.0, 3.0, 3.0])
    close(ms.get_grad(ms.grad(lambda a: (a * a).sum(), return_ids=True)(x), 0), 2 * X)
    net = nn.Dense(2, 1)
    for position in (0, None):
        found = ms.grad(net, position, net.trainable_params(), return_ids=True)(x)
        close(ms.get_grad(found, net.weight), X[None])
        close(ms.get_grad(found, net.bias), [1.0])
    close(ms.get_grad(found, net.weight), X[None])
    close(ms.get_grad(ms.grad(net, None, net.bias, return_ids=True)(x), net.bias), [1.0])
    with pytest.raises(RuntimeError, match="got none for 2"):
        ms.get_grad(pair, 2)
    with pytest.raises(RuntimeError, match="got none for 'weight'"):
        ms.get_grad(pair, net.weight)
    with pytest.raises(TypeError, match="need a position or a Parameter"):
        ms.get_grad(pair, "weight")


def test_recompute(mode):  # noqa: ARG001
    ms.set_seed(1)
    block = nn.SequentialCell(nn.Dense(2, 3), nn.Tanh(), nn.Dropout(p=0.5)).set_train()
    calls = []

    def counted(x, scale=1.0):
        calls.append(1)
        return block(x) * scale

    x = Tensor(np.array([[0.3, -0.2]], np.float32))
    weights = block.trainable_params()
    state = ms.get_rng_state()
    plain = ms.grad(lambda x: counted(x, scale=2.0).sum(), 0, weights)(x)
    count = len(calls)
    ms.set_rng_state(state)
    again = ms.grad(lambda x: ms.recompute(counted, x, scale=2.0).sum(), 0, weights)(x)
    assert len(calls) == 3 * count == 3
    for a, b in zip((plain[0], *plain[1]), (again[0], *again[1])):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    assert ms.recompute(nn.ReLU(), x).asnumpy().tolist() == [[np.float32(0.3), 0.0]]
    with pytest.raises(TypeError, match="need a Cell or function"):
        ms.recompute(3, x)


def test_state_of_the_generator(mode):  # noqa: ARG001
    ms.set_seed(5)
    first = ms.get_rng_state()
    assert first.dtype == ms.uint8 and first.shape == (16,)
    drop = nn.Dropout(p=0.5).set_train()
    x = ops.ones((8, 8))

    def draw():
        return [t.asnumpy() for t in (ops.rand(3), drop(x), ops.randn(2))]

    drawn = draw()
    later = ms.get_rng_state()
    assert not np.array_equal(draw()[0], drawn[0])
    for state, want in ((first, drawn), (later, None), (Tensor(first.asnumpy()), drawn)):
        ms.set_rng_state(state)
        got = draw()
        if want is not None:
            assert all(np.array_equal(a, b) for a, b in zip(got, want))
    ms.set_seed(5)
    assert np.array_equal(ms.get_rng_state().asnumpy(), first.asnumpy())
    with pytest.raises(TypeError, match="need a Tensor"):
        ms.set_rng_state(3)
    with pytest.raises(TypeError, match="need uint8"):
        ms.set_rng_state(Tensor([1, 2]))
    with pytest.raises(ValueError, match="wrong shape"):
        ms.set_rng_state(Tensor(np.zeros(3, np.uint8)))


def test_recursion_limit():
    import sys

    before = sys.getrecursionlimit()
    try:
        ms.set_recursion_limit(before + 500)
        assert sys.getrecursionlimit() == before + 500
        ms.set_recursion_limit(10)
        assert sys.getrecursionlimit() == before + 500
    finally:
        sys.setrecursionlimit(before)
    for bad in (0, -1):
        with pytest.raises(ValueError, match="out of range"):
            ms.set_recursion_limit(bad)
    for bad in (1.5, True, "a"):
        with pytest.raises(TypeError, match="need an int"):
            ms.set_recursion_limit(bad)
