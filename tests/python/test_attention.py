"""Attention as a function, against NumPy written out (attention_truth.py), in both modes."""

import numpy as np
import pytest
from attention_truth import attention, numeric_gradient, weights
from modes import bits

import sorus as ms
from sorus import Tensor, _core, mint, nn, ops

NUMBERS = np.random.default_rng(0)


def normal(*shape, dtype=np.float32):
    return NUMBERS.standard_normal(shape).astype(dtype)


def agreed(function, *arrays):
    """What a function gives, the same bits eagerly and compiled, from the same seed on."""
    operands = [Tensor(a) if isinstance(a, np.ndarray) else a for a in arrays]

    def run(call):
        ms.set_seed(7)
        return [call(*operands) for _ in range(3)]

    plain, compiled = run(function), run(ms.jit(function))
    assert [bits(y) for y in compiled] == [bits(y) for y in plain]
    return plain[0]


def near(result, expected, tolerance=2e-6):
    np.testing.assert_allclose(result.asnumpy().astype(np.float64), expected, atol=tolerance, rtol=1e-5)


SHAPES = [
    ((5, 8), (7, 8), (7, 3)),
    ((2, 5, 8), (2, 7, 8), (2, 7, 8)),
    ((2, 4, 33, 16), (2, 4, 65, 16), (2, 4, 65, 24)),
    ((2, 4, 5, 8), (1, 4, 7, 8), (4, 7, 8)),
    ((3, 1, 1, 4, 8), (3, 2, 1, 6, 8), (6, 8)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("scale", [None, 0.3, 0.0])
def test_shapes_and_scales(shapes, scale):
    q, k, v = (normal(*s) for s in shapes)
    result = agreed(lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, scale=scale), q, k, v)
    near(result, attention(q, k, v, scale=scale))


@pytest.mark.parametrize("shape", [(7,), (5, 7), (1, 5, 7), (2, 1, 5, 7), (2, 4, 1, 7), (3, 1, 1, 5, 7)])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_masks(shape, kind):
    q, k, v = normal(2, 4, 5, 8), normal(2, 4, 7, 8), normal(2, 4, 7, 8)
    allowed, shift = NUMBERS.random(shape) < 0.7, normal(*shape)
    allowed[..., 0] = True
    if kind == "bool":
        given, expected = allowed, attention(q, k, v, allowed=allowed)
    else:
        given, expected = np.where(allowed, shift, -np.inf).astype(np.float32), None
        expected = attention(q, k, v, shift=given)
    near(agreed(ops.scaled_dot_product_attention, q, k, v, given), expected)


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (4, 7), (7, 4), (130, 130)])
def test_causal(rows, columns):
    q, k, v = normal(2, rows, 8), normal(2, columns, 8), normal(2, columns, 8)
    result = agreed(lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v)
    near(result, attention(q, k, v, allowed=np.tri(rows, columns, dtype=bool)))


def test_a_row_that_attends_to_nothing_is_nan_and_no_other():
    q, k, v = normal(2, 5, 8), normal(2, 7, 8), normal(2, 7, 8)
    allowed = np.ones((5, 7), bool)
    allowed[3] = False
    for mask in (allowed, np.where(allowed, 0, -np.inf).astype(np.float32)):
        result = agreed(ops.scaled_dot_product_attention, q, k, v, mask).asnumpy()
        assert np.isnan(result[:, 3]).all()
        rest = [0, 1, 2, 4]
        np.testing.assert_allclose(result[:, rest], attention(q, k, v)[:, rest], atol=2e-6)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_half_types_are_rounded_once(dtype):
    q, k, v = (Tensor(normal(2, 3, 9, 16)).astype(dtype) for _ in range(3))
    result = agreed(ops.scaled_dot_product_attention, q, k, v)
    assert result.dtype == dtype
    exact = attention(*(t.astype(ms.float32).asnumpy() for t in (q, k, v)))
    nearest = Tensor(exact.astype(np.float32)).astype(dtype).astype(ms.float32).asnumpy()
    spacing = {ms.float16: 2**-10, ms.bfloat16: 2**-7}[dtype]
    got = result.astype(ms.float32).asnumpy()
    assert (np.abs(got - nearest) <= spacing * np.abs(nearest) + 1e-6).all()
    assert (got == nearest).mean() > 0.98


def dropped_as_written_out(q, k, v, p):
    kept = ops.dropout(ops.softmax(q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5, -1), p)
    return kept @ v


@pytest.mark.parametrize("shapes", [SHAPES[1], SHAPES[2], SHAPES[3], SHAPES[4]], ids=str)
def test_dropout_drops_what_dropout_of_all_weights_drops(shapes):
    q, k, v = (Tensor(normal(*s)) for s in shapes)
    result = agreed(lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, dropout_p=0.4), q, k, v)
    batch = np.broadcast_shapes(*(s[:-2] for s in shapes))
    wide_q = ops.broadcast_to(q, (*batch, *q.shape[-2:]))
    ms.set_seed(7)
    near(result, dropped_as_written_out(wide_q, k, v, 0.4).asnumpy())
    after = ops.rand(5)
    ms.set_seed(7)
    ops.scaled_dot_product_attention(q, k, v, dropout_p=0.4)
    assert bits(ops.rand(5)) == bits(after)


def test_dropout_keeps_the_mean():
    zeros, ones = ops.zeros((8, 64, 4)), ops.ones((8, 64, 4))
    ms.set_seed(0)
    result = ops.scaled_dot_product_attention(zeros, zeros, ones, dropout_p=0.25).asnumpy()[..., 0]
    kept = result * 64 * 0.75  # how many of the 64 weights stay
    np.testing.assert_allclose(kept, kept.round(), atol=1e-3)
    assert abs(kept.mean() - 48) < 5 * (64 * 0.25 * 0.75 / kept.size) ** 0.5
    assert len(np.unique(kept.round())) > 5


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"dropout_p": 0.3}, {"attn_mask": True}])
def test_gradients_are_those_of_finite_differences(options):
    q, k, v, mask = (normal(*s, dtype=np.float64) for s in ((2, 3, 4), (2, 5, 4), (2, 5, 2), (3, 5)))
    weight = Tensor(normal(2, 3, 2, dtype=np.float64))
    options = dict(options)
    masked = options.pop("attn_mask", False)

    def loss(q, k, v, mask):
        ms.set_seed(11)
        given = {"attn_mask": mask} if masked else {}
        return (ops.scaled_dot_product_attention(q, k, v, **given, **options) * weight).sum()

    operands = [q, k, v, mask]
    gradients = ms.grad(loss, (0, 1, 2, 3) if masked else (0, 1, 2))(*map(Tensor, operands))
    for i, gradient in enumerate(gradients):

        def at(x, i=i):
            return float(loss(*(Tensor(x if j == i else a) for j, a in enumerate(operands))))

        np.testing.assert_allclose(gradient.asnumpy(), numeric_gradient(at, operands[i]), atol=1e-8)


def test_lengths_that_vary_drop_the_same_in_both_modes():
    inputs = [Tensor(normal(2, length, 8)) for length in (3, 5, 7, 4, 9, 6, 3, 8)]

    def loss(x):
        return (ops.scaled_dot_product_attention(x, x, x, dropout_p=0.3) ** 2).sum()

    def run(call):
        ms.set_seed(7)
        return [bits(call(x)) for _ in range(2) for x in inputs]

    gradient = ms.value_and_grad(loss)
    assert run(ms.jit(gradient)) == run(gradient)


def test_gradients_are_the_same_in_both_modes():
    q, k, v = normal(2, 9, 8), normal(2, 9, 8), normal(2, 9, 8)

    def gradients(q, k, v):
        def loss(q, k, v):
            return (ops.scaled_dot_product_attention(q, k, v, dropout_p=0.2) ** 2).sum()

        return ms.grad(loss, (0, 1, 2))(q, k, v)

    assert all(np.abs(g.asnumpy()).max() > 0 for g in agreed(gradients, q, k, v))


def peak_bytes(function):
    """How many bytes a call takes beside what lives already, once it has run often enough to be compiled. On
    one thread: how much of others' memory is there at once depends on their number and on when they run.
    """
    threads = _core.num_threads()
    _core.set_num_threads(1)
    try:
        for _ in range(3):
            function()
        before = _core.memory_stats()["live"]
        _core.reset_peak_memory()
        function()
        return _core.memory_stats()["peak"] - before
    finally:
        _core.set_num_threads(threads)


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_memory_grows_with_the_length(wrap):
    def taken(length, forward):
        q, k, v = (Tensor(normal(1, 4, length, 16)) for _ in range(3))
        call = ops.scaled_dot_product_attention
        function = call if forward else ms.grad(lambda *x: call(*x).sum(), (0, 1, 2))
        function = wrap(function)
        return peak_bytes(lambda: function(q, k, v))

    for forward in (True, False):
        short, long = taken(1024, forward), taken(4096, forward)
        assert 4 * 4096 * 16 * 4 <= long < 4.5 * short


@pytest.mark.parametrize(
    ("shapes", "options", "kind", "text"),
    [
        (((5, 8), (7, 6), (7, 8)), {}, ValueError, "shapes do not fit: got query .5, 8."),
        (((5, 8), (7, 8), (6, 8)), {}, ValueError, "shapes do not fit"),
        (((8,), (7, 8), (7, 8)), {}, ValueError, "shapes do not fit"),
        (((2, 5, 8), (3, 7, 8), (3, 7, 8)), {}, ValueError, "scaled_dot_product_attention: "),
        (((5, 8), (7, 8), (7, 8)), {"dropout_p": 1.0}, ValueError, "dropout is out of range: got 1"),
        (((5, 8), (7, 8), (7, 8)), {"dropout_p": -0.1}, ValueError, "dropout is out of range: got -0.1"),
        (((5, 8), (7, 8), (7, 8)), {"attn_mask": ops.ones((5, 6))}, ValueError, "need"),
        (
            ((5, 8), (7, 8), (7, 8)),
            {"attn_mask": ops.ones((5, 7)), "is_causal": True},
            ValueError,
            "a causal call has no mask",
        ),
    ],
)
def test_errors(shapes, options, kind, text):
    with pytest.raises(kind, match=text) as caught:
        ops.scaled_dot_product_attention(*(Tensor(normal(*s)) for s in shapes), **options)
    assert str(caught.value).startswith("scaled_dot_product_attention: ")


def test_dtypes_that_differ_are_refused():
    x = Tensor(normal(5, 8))
    with pytest.raises(TypeError, match="scaled_dot_product_attention: "):
        ops.scaled_dot_product_attention(x, x.astype(ms.float64), x)
    with pytest.raises(TypeError, match="scaled_dot_product_attention: "):
        ops.scaled_dot_product_attention(Tensor([[1, 2]]), Tensor([[1, 2]]), Tensor([[1, 2]]))


def test_it_is_where_programs_look_for_it():
    x = Tensor(normal(5, 8))
    expected = bits(ops.scaled_dot_product_attention(x, x, x))
    from sorus.nn import functional

    assert bits(functional.scaled_dot_product_attention(x, x, x)) == expected
    assert bits(nn.functional.softmax(x, dim=0)) == bits(mint.nn.functional.softmax(x, dim=0))
    with pytest.raises(AttributeError, match="scaled_dot_product"):
        _ = nn.functional.scaled_dot_product


def test_weights_of_the_truth_sum_to_one():
    np.testing.assert_allclose(weights(normal(5, 8), normal(7, 8)).sum(-1), 1)
