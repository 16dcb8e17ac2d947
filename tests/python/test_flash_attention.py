"""MindSpore's flash functions, against NumPy written out (attention_truth.py), in both modes."""

import numpy as np
import pytest
from attention_truth import attention, numeric_gradient
from modes import bits
from test_attention import agreed, near, normal

import sorus as ms
from sorus import Tensor, ops
from sorus.ops.operations.nn_ops import FlashAttentionScore

NUMBERS = np.random.default_rng(1)
TO_LAYOUT = {
    "BNSD": lambda x: x,
    "BSND": lambda x: x.transpose(0, 2, 1, 3),
    "BSH": lambda x: x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1),
    "SBH": lambda x: x.transpose(2, 0, 1, 3).reshape(x.shape[2], x.shape[0], -1),
}
UPPER = np.triu(np.ones((2048, 2048), bool), 1)


def repeated(x, count):
    """Each head of keys as often as queries share it."""
    return x.repeat(count // x.shape[1], 1)


def truth(q, k, v, allowed=None, shift=None, scale=1.0):
    """Attention of heads (B, N, S, D); rows that attend to nothing are 0."""
    result = attention(q, repeated(k, q.shape[1]), repeated(v, q.shape[1]), allowed, shift, scale)
    return result if allowed is None else np.where(allowed.any(-1, keepdims=True), result, 0)


def band(rows, columns, before, after, corner="left"):
    distance = np.arange(columns) - np.arange(rows)[:, None] - (columns - rows if corner == "right" else 0)
    return (distance <= after) & (distance >= -before)


@pytest.mark.parametrize("layout", TO_LAYOUT)
@pytest.mark.parametrize("shared", [1, 2, 4])
def test_layouts_and_shared_heads(layout, shared):
    q, k, v = normal(2, 4, 5, 8), normal(2, shared, 7, 8), normal(2, shared, 7, 8)
    put = TO_LAYOUT[layout]
    result = agreed(
        lambda q, k, v: ops.flash_attention_score(q, k, v, 4, input_layout=layout, scalar_value=0.3),
        *map(put, (q, k, v)),
    )
    near(result, put(truth(q, k, v, scale=0.3)))


@pytest.mark.parametrize("shape", [(5, 7), (2, 1, 5, 7), (2, 4, 5, 7)])
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("dtype", [bool, np.uint8])
@pytest.mark.parametrize("shared", [2, 4])
def test_masks_say_what_is_not_attended_to(shape, mode, dtype, shared):
    q, k, v = normal(2, 4, 5, 8), normal(2, shared, 7, 8), normal(2, shared, 7, 8)
    blocked = NUMBERS.random(shape) < 0.4
    blocked[..., 2, :] = True
    result = agreed(
        lambda q, k, v, m: ops.flash_attention_score(
            q, k, v, 4, attn_mask=m, input_layout="BNSD", sparse_mode=mode
        ),
        *(q, k, v, blocked.astype(dtype)),
    )
    assert (result.asnumpy()[:, :, 2] == 0).all()
    near(result, truth(q, k, v, ~blocked))


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (4, 7), (7, 4)])
@pytest.mark.parametrize("given", [False, True])
def test_sparse_modes(rows, columns, given):
    q, k, v = normal(2, 4, rows, 8), normal(2, 2, columns, 8), normal(2, 2, columns, 8)
    expected = {
        2: band(rows, columns, 99, 0),
        3: band(rows, columns, 99, 0, "right"),
        4: band(rows, columns, 2, 1, "right"),
    }
    for mode, allowed in expected.items():
        options = {"sparse_mode": mode, "input_layout": "BNSD", "pre_tokens": 2, "next_tokens": 1}

        def call(q, k, v, options=options):
            mask = Tensor(UPPER) if given else None
            return ops.flash_attention_score(q, k, v, 4, attn_mask=mask, **options)

        near(agreed(call, q, k, v), truth(q, k, v, allowed))


def test_a_band_without_bounds_is_everything():
    q, k, v = normal(1, 2, 6, 8), normal(1, 2, 8, 8), normal(1, 2, 8, 8)
    call = ops.flash_attention_score
    near(agreed(lambda *x: call(*x, 2, input_layout="BNSD", sparse_mode=4), q, k, v), truth(q, k, v))


def test_a_band_beside_a_mask():
    q, k, v = normal(1, 2, 6, 8), normal(1, 2, 8, 8), normal(1, 2, 8, 8)
    blocked = NUMBERS.random((6, 8)) < 0.3
    options = {"input_layout": "BNSD", "pre_tokens": 3, "next_tokens": 2}

    def call(q, k, v, mask=None):
        return ops.flash_attention_score(q, k, v, 2, attn_mask=mask, **options)

    near(agreed(call, q, k, v, blocked), truth(q, k, v, ~blocked & band(6, 8, 3, 2)))
    near(agreed(call, q, k, v), truth(q, k, v))  # no mask: the band does not count
    options.update(pre_tokens=-1, next_tokens=4)
    near(agreed(call, q, k, v, blocked), truth(q, k, v, ~blocked & band(6, 8, -1, 4)))


def test_prefixes():
    q, k, v = normal(2, 2, 4, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 8)
    seen = np.arange(6) < np.array([5, 2])[:, None, None, None]
    allowed = band(4, 6, 99, 0, "right") | seen
    for prefix in ([5, 2], Tensor([5, 2])):

        def call(q, k, v, prefix=prefix):
            return ops.flash_attention_score(q, k, v, 2, prefix=prefix, sparse_mode=5, input_layout="BNSD")

        near(agreed(call, q, k, v), truth(q, k, v, allowed))


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("mode", [0, 2, 3])
@pytest.mark.parametrize("shared", [2, 4])
def test_shifts_are_added(batch, mode, shared):
    q, k, v = normal(2, 4, 5, 8), normal(2, shared, 5, 8), normal(2, shared, 5, 8)
    shift = normal(batch, 4, 5, 5)
    result = agreed(
        lambda q, k, v, s: ops.flash_attention_score(
            q, k, v, 4, real_shift=s, scalar_value=0.5, sparse_mode=mode, input_layout="BNSD"
        ),
        *(q, k, v, shift),
    )
    near(result, truth(q, k, v, band(5, 5, 99, 0) if mode else None, shift, 0.5))


def test_dropout_is_that_of_attention():
    q, k, v = (Tensor(normal(2, 4, 5, 8)) for _ in range(3))
    result = agreed(
        lambda q, k, v: ops.flash_attention_score(q, k, v, 4, keep_prob=0.75, input_layout="BNSD"), q, k, v
    )
    ms.set_seed(7)
    assert bits(ops.scaled_dot_product_attention(q, k, v, dropout_p=0.25, scale=1.0)) == bits(result)


@pytest.mark.parametrize("mode", [0, 3])
@pytest.mark.parametrize("shared", [1, 2])
def test_sequences_one_after_the_other(mode, shared):
    lengths, lengths_kv = [3, 1, 4], [3, 5, 2]
    q, k, v = normal(8, 2, 8), normal(10, shared, 8), normal(10, shared, 8)
    ends, ends_kv = np.cumsum(lengths).tolist(), np.cumsum(lengths_kv).tolist()

    def call(q, k, v, tensors=False):
        given = [Tensor(e) if tensors else e for e in (ends, ends_kv)]
        return ops.flash_attention_score(
            *(q, k, v, 2),
            actual_seq_qlen=given[0],
            actual_seq_kvlen=given[1],
            input_layout="TND",
            sparse_mode=mode,
        )

    result = agreed(call, q, k, v)
    expected = []
    for end, n, end_kv, n_kv in zip(ends, lengths, ends_kv, lengths_kv):
        part = q[None, end - n : end], *(t[None, end_kv - n_kv : end_kv] for t in (k, v))
        allowed = band(n, n_kv, 99, 0, "right") if mode else None
        expected.append(truth(*(t.transpose(0, 2, 1, 3) for t in part), allowed)[0].transpose(1, 0, 2))
    near(result, np.concatenate(expected))
    assert bits(call(*map(Tensor, (q, k, v)), tensors=True)) == bits(result)


@pytest.mark.parametrize("case", ["shared heads", "mask", "band"])
def test_gradients_are_those_of_finite_differences(case):
    q, k, v = (normal(*s, dtype=np.float64) for s in ((1, 4, 4, 2), (1, 2, 3, 2), (1, 2, 3, 2)))
    blocked = NUMBERS.random((4, 3)) < 0.4
    blocked[1] = True
    options = {
        "shared heads": {},
        "mask": {"attn_mask": Tensor(blocked)},
        "band": {"sparse_mode": 3},
    }[case]
    weight = Tensor(normal(1, 4, 4, 2, dtype=np.float64))

    def loss(q, k, v):
        return (ops.flash_attention_score(q, k, v, 4, input_layout="BNSD", **options) * weight).sum()

    operands = [q, k, v]
    for i, gradient in enumerate(ms.grad(loss, (0, 1, 2))(*map(Tensor, operands))):

        def at(x, i=i):
            return float(loss(*(Tensor(x if j == i else a) for j, a in enumerate(operands))))

        np.testing.assert_allclose(gradient.asnumpy(), numeric_gradient(at, operands[i]), atol=1e-8)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_half_types(dtype):
    q, k, v = (Tensor(normal(2, 5, 32)).astype(dtype) for _ in range(3))
    result = agreed(lambda q, k, v: ops.flash_attention_score(q, k, v, 4, sparse_mode=3), q, k, v)
    assert result.dtype == dtype
    parts = (t.astype(ms.float32).asnumpy().reshape(2, 5, 4, 8).transpose(0, 2, 1, 3) for t in (q, k, v))
    expected = TO_LAYOUT["BSH"](truth(*parts, band(5, 5, 99, 0)))
    near(result.astype(ms.float32), expected, {ms.float16: 2e-3, ms.bfloat16: 2e-2}[dtype])


@pytest.mark.parametrize("layout", ["BSH", "BNSD", "BSND", "BNSD_BSND"])
@pytest.mark.parametrize("mode", [0, 2, 3, 4])
def test_prompts_with_lengths(layout, mode):
    q, k, v = normal(2, 4, 5, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 8)
    lengths, lengths_kv = np.array([3, 5]), np.array([6, 4])
    given, wanted = (layout.split("_") * 2)[:2]
    row, column = np.arange(5)[:, None], np.arange(6)
    more = (lengths_kv - lengths)[:, None, None, None]
    distance = column - row - (more if mode > 2 else 0)
    allowed = (row < lengths[:, None, None, None]) & (column < lengths_kv[:, None, None, None])
    if mode:
        allowed = allowed & (distance <= 0) & (distance >= (-2 if mode == 4 else -99))

    def call(q, k, v):
        return ops.prompt_flash_attention(
            *(q, k, v),
            actual_seq_lengths=Tensor(lengths),
            actual_seq_lengths_kv=lengths_kv.tolist(),
            num_heads=4,
            num_key_value_heads=2,
            scale_value=0.4,
            pre_tokens=2,
            input_layout=layout,
            sparse_mode=mode,
        )

    result = agreed(call, *map(TO_LAYOUT[given], (q, k, v)))
    near(result, TO_LAYOUT[wanted](truth(q, k, v, allowed, scale=0.4)))


@pytest.mark.parametrize("shape", [(5, 6), (1, 5, 6), (2, 5, 6), (2, 1, 5, 6)])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16])
def test_masks_of_prompts(shape, dtype):
    q, k, v = normal(2, 2, 5, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 8)
    shift, blocked = normal(1, 2, 5, 6), NUMBERS.random(shape) < 0.3
    four = blocked[:, None] if blocked.ndim == 3 else blocked
    result = agreed(
        lambda q, k, v, m, s: ops.prompt_flash_attention(
            q, k, v, m, pse_shift=s, num_heads=2, input_layout="BNSD", next_tokens=3
        ),
        *(q, k, v, blocked.astype(dtype), shift),
    )
    near(result, truth(q, k, v, ~four & band(5, 6, 99, 3), shift))


@pytest.mark.parametrize("layout", ["BSH", "BNSD", "BSND"])
def test_one_query_more(layout):
    q, k, v = normal(2, 4, 1, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 8)
    put, lengths = TO_LAYOUT[layout], np.array([4, 6])
    options = {"num_heads": 4, "num_key_value_heads": 2, "input_layout": layout, "scale_value": 0.4}
    allowed = np.arange(6) < lengths[:, None, None, None]

    def call(q, k, v):
        return ops.incre_flash_attention(q, k, v, actual_seq_lengths=lengths.tolist(), **options)

    operands = [put(t) for t in (q, k, v)]
    result = agreed(call, *operands)
    near(result, put(truth(q, k, v, allowed, scale=0.4)))
    lists = [[Tensor(t[:1]), Tensor(t[1:])] for t in operands[1:]]
    assert bits(call(Tensor(operands[0]), *lists)) == bits(result)
    blocked = NUMBERS.random((2, 6)) < 0.4
    for mask in (blocked, blocked[:, None], blocked[:, None, None]):
        result = ops.incre_flash_attention(*map(Tensor, operands), Tensor(mask), **options)
        near(result, put(truth(q, k, v, ~blocked[:, None, None], scale=0.4)))


def test_primitives_are_the_functions():
    x = Tensor(normal(2, 3, 8))
    attend = FlashAttentionScore(2, scale_value=0.5, sparse_mode=3)
    *others, result = attend(x, x, x, None, None, None, Tensor(UPPER))
    assert others == [None] * 3
    assert bits(result) == bits(ops.flash_attention_score(x, x, x, 2, scalar_value=0.5, sparse_mode=3))
    options = {"num_heads": 2, "scale_value": 0.5}
    assert bits(ops.PromptFlashAttention(**options)(x, x, x)) == bits(
        ops.prompt_flash_attention(x, x, x, **options)
    )
    assert bits(ops.IncreFlashAttention(**options)(x[:, :1], x, x)) == bits(
        ops.incre_flash_attention(x[:, :1], x, x, **options)
    )


X, HEADS = Tensor(normal(2, 3, 8)), Tensor(normal(2, 4, 3, 8))


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"input_layout": "BSD"}, ValueError, "unknown input_layout: got 'BSD'"),
        ({"input_layout": "BNSD"}, ValueError, "number of axes does not fit: got query .2, 3, 8."),
        ({"head_num": 3}, ValueError, "heads do not divide: got 8 in 3 heads"),
        ({"head_num": 0}, ValueError, "number of heads is out of range: got 0"),
        ({"key": X[:, :, :6], "value": X[:, :, :6]}, ValueError, "shapes do not fit"),
        ({"value": X[:, :2]}, ValueError, "shapes do not fit"),
        ({"key": X[:1], "value": X[:1]}, ValueError, "shapes do not fit"),
        ({"sparse_mode": 6}, ValueError, "unknown sparse_mode: got 6"),
        ({"sparse_mode": 1}, ValueError, "'attn_mask' is missing"),
        ({"sparse_mode": 5}, ValueError, "'prefix' is missing"),
        ({"sparse_mode": 5, "prefix": [[1]]}, ValueError, "shape of 'prefix' does not fit"),
        ({"attn_mask": ops.ones((3, 3))}, TypeError, "dtype of 'attn_mask' does not fit: got Float32"),
        ({"attn_mask": ops.ones((3, 4), ms.bool_)}, ValueError, "shape of 'attn_mask' does not fit"),
        ({"attn_mask": ops.ones((3, 3), ms.bool_), "sparse_mode": 2}, ValueError, "need .2048, 2048."),
        ({"real_shift": ops.ones((2, 2, 3, 4))}, ValueError, "shape of the shift does not fit"),
        ({"real_shift": ops.ones((2, 2, 3, 3), ms.float16)}, TypeError, "dtype of 'real_shift'"),
        ({"real_shift": ops.ones((1, 2, 1024, 3))}, NotImplementedError, "last 1024 rows"),
        ({"drop_mask": X}, NotImplementedError, "'drop_mask' is not supported"),
        ({"padding_mask": X}, NotImplementedError, "'padding_mask' is not supported"),
        ({"keep_prob": 0.0}, ValueError, "'keep_prob' is out of range: got 0"),
        ({"keep_prob": 1.5}, ValueError, "'keep_prob' is out of range: got 1.5"),
        ({"pre_tokens": -3, "next_tokens": 2}, ValueError, "the band is empty"),
        ({"actual_seq_qlen": [3]}, ValueError, "lengths belong to layout 'TND'"),
        ({"input_layout": "TND"}, ValueError, "lengths are missing"),
        (
            {"input_layout": "TND", "actual_seq_qlen": [1, 2], "actual_seq_kvlen": [2]},
            ValueError,
            "lengths do not fit",
        ),
        (
            {"input_layout": "TND", "actual_seq_qlen": [1, 2], "actual_seq_kvlen": [2, 2]},
            ValueError,
            "lengths do not grow",
        ),
        (
            {"input_layout": "TND", "sparse_mode": 2, "attn_mask": ops.ones((3, 3), ms.bool_)},
            ValueError,
            "shape of 'attn_mask' does not fit: got .3, 3., need .2048, 2048.",
        ),
        (
            {"input_layout": "TND", "attn_mask": ops.ones((3, 3), ms.bool_)},
            ValueError,
            "sparse_mode does not fit",
        ),
        ({"input_layout": "TND", "sparse_mode": 1}, ValueError, "sparse_mode does not fit layout 'TND'"),
    ],
)
def test_errors(options, kind, text):
    given = {"query": X, "key": X, "value": X, "head_num": 2, **options}
    with pytest.raises(kind, match=text) as caught:
        ops.flash_attention_score(**given)
    assert str(caught.value).startswith("flash_attention_score: ")


@pytest.mark.parametrize(
    "name", ["deq_scale1", "quant_scale1", "deq_scale2", "quant_scale2", "quant_offset2"]
)
def test_prompts_of_int8_are_refused(name):
    with pytest.raises(NotImplementedError, match=f"prompt_flash_attention: '{name}' is not supported"):
        ops.prompt_flash_attention(X, X, X, num_heads=2, **{name: X})


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"block_table": X}, NotImplementedError, "'block_table' is not supported"),
        ({"block_size": 16}, NotImplementedError, "'block_size' is not supported"),
        ({"antiquant_scale": X}, NotImplementedError, "'antiquant_scale' is not supported"),
        ({}, ValueError, "number of queries does not fit: got 3, need 1"),
        ({"num_heads": 3}, ValueError, "heads do not divide"),
        ({"input_layout": "SBH"}, ValueError, "unknown input_layout"),
    ],
)
def test_errors_of_one_query_more(options, kind, text):
    with pytest.raises(kind, match=text) as caught:
        ops.incre_flash_attention(X, X, X, **{"num_heads": 2, **options})
    assert str(caught.value).startswith("incre_flash_attention: ")


def test_heads_of_keys_divide_those_of_queries():
    with pytest.raises(ValueError, match="numbers of heads do not fit: got 4 of queries and 3 of keys"):
        ops.flash_attention_score(HEADS, HEADS[:, :3], HEADS[:, :3], 4, input_layout="BNSD")
    with pytest.raises(ValueError, match="numbers of heads do not fit: got 4 of queries and 2 of keys"):
        ops.prompt_flash_attention(HEADS, HEADS[:, :2], HEADS[:, :2], num_heads=4, input_layout="BNSD")
