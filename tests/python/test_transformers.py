"""Attention of several heads and the layers around it, against NumPy written out (attention_truth.py)."""

import math

import numpy as np
import pytest
from attention_truth import decoder_layer, encoder_layer, layer_norm, multihead, numeric_gradient
from modes import bits
from test_attention import near, normal, peak_bytes

import sorus as ms
from sorus import Tensor, nn, ops

NUMBERS = np.random.default_rng(2)


def filled(cell):
    """The cell with normal parameters, and these as arrays by name."""
    ms.set_seed(1)
    for p in cell.get_parameters():
        p.set_data(Tensor((NUMBERS.standard_normal(p.shape) * 0.5).astype(np.float32)).astype(p.dtype))
    return cell, {p.name: p.astype(ms.float64).asnumpy() for p in cell.get_parameters()}


def agreed(cell, *operands, train=False, **options):
    """What a cell gives, the same bits eagerly, compiled and in graph mode, from the same seed on."""
    cell.set_train(train)

    def run(call):
        ms.set_seed(7)
        return [call(*operands, **options) for _ in range(3)]

    plain = run(cell)
    assert [bits(y) for y in run(ms.jit(lambda *a, **k: cell(*a, **k)))] == [bits(y) for y in plain]
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert [bits(y) for y in run(cell)] == [bits(y) for y in plain]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    return plain[0]


def by_batch(x, batch_first):
    return x if batch_first else x.transpose(1, 0, 2)


def masks(kind, n, count, rows, columns):
    """(mask of MultiheadAttention, blocked, shift) as arrays; the first column is always free."""
    if kind is None:
        return None, None, None
    shape = {"2": (rows, columns), "3": (n * count, rows, columns), "p": (n, columns)}[kind[0]]
    four = {"2": shape, "3": (n, count, rows, columns), "p": (n, 1, 1, columns)}[kind[0]]
    if kind[1:] == "float":
        shift = NUMBERS.standard_normal(shape).astype(np.float32)
        return shift, None, shift.reshape(four)
    blocked = NUMBERS.random(shape) < 0.4
    blocked[..., 0] = False
    return blocked, blocked.reshape(four), None


VARIANTS = [
    {},
    {"has_bias": False},
    {"kdim": 6},
    {"kdim": 6, "vdim": 5},
    {"kdim": 6, "vdim": 5, "has_bias": False, "add_bias_kv": True},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"add_bias_kv": True, "add_zero_attn": True},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("batch_first", [False, True])
def test_variants(variant, batch_first):
    net, p = filled(nn.MultiheadAttention(8, 2, batch_first=batch_first, **variant))
    q, k, v = normal(3, 4, 8), normal(3, 5, variant.get("kdim", 8)), normal(3, 5, variant.get("vdim", 8))
    operands = [Tensor(by_batch(t, batch_first)) for t in (q, k, v)]
    output, weights = agreed(net, *operands)
    expected, heads = multihead(p, 2, q, k, v, zero_attn=variant.get("add_zero_attn", False))
    near(output, by_batch(expected, batch_first), 1e-5)
    near(weights, heads.mean(1))
    near(agreed(net, *operands, average_attn_weights=False)[1], heads)
    (alone,) = agreed(net, *operands, need_weights=False)
    near(alone, by_batch(expected, batch_first), 1e-5)


@pytest.mark.parametrize("attn", [None, "2bool", "2float", "3bool", "3float"])
@pytest.mark.parametrize("padding", [None, "pbool", "pfloat"])
@pytest.mark.parametrize("added", [False, True])
def test_masks(attn, padding, added):
    net, p = filled(nn.MultiheadAttention(8, 2, batch_first=True, add_bias_kv=added, add_zero_attn=added))
    q, k = normal(3, 4, 8), normal(3, 5, 8)
    attn_mask, blocked, shift = masks(attn, 3, 2, 4, 5)
    padding_mask, padding_blocked, padding_shift = masks(padding, 3, 2, 4, 5)
    both = [b for b in (blocked, padding_blocked) if b is not None]
    blocked = np.logical_or.reduce(np.broadcast_arrays(*both)) if both else None
    both = [s for s in (shift, padding_shift) if s is not None]
    shift = sum(both) if both else None
    expected, heads = multihead(p, 2, q, k, k, blocked, shift, zero_attn=added)
    given = {"attn_mask": attn_mask, "key_padding_mask": padding_mask}
    given = {name: Tensor(m) for name, m in given.items() if m is not None}
    q, k = Tensor(q), Tensor(k)
    output, weights = agreed(net, q, k, k, **given)
    near(output, expected, 1e-5)
    near(weights, heads.mean(1))
    near(agreed(net, q, k, k, need_weights=False, **given)[0], expected, 1e-5)


@pytest.mark.parametrize("batch_first", [False, True])
def test_without_a_batch(batch_first):
    net, p = filled(nn.MultiheadAttention(8, 2, batch_first=batch_first))
    q, k = normal(4, 8), normal(5, 8)
    attn_mask, blocked, _ = masks("3bool", 1, 2, 4, 5)
    padding = np.array([False, False, True, False, True])
    expected, heads = multihead(p, 2, q[None], k[None], k[None], blocked | padding)
    options = {"attn_mask": Tensor(attn_mask), "key_padding_mask": Tensor(padding)}
    output, weights = agreed(net, Tensor(q), Tensor(k), Tensor(k), **options)
    near(output, expected[0], 1e-5)
    near(weights, heads[0].mean(0))
    weights = agreed(net, Tensor(q), Tensor(k), Tensor(k), average_attn_weights=False, **options)[1]
    near(weights, heads[0])
    (alone,) = agreed(net, Tensor(q), Tensor(k), Tensor(k), need_weights=False, **options)
    near(alone, expected[0], 1e-5)


def test_the_same_operand_thrice_is_projected_once():
    net, p = filled(nn.MultiheadAttention(8, 2, batch_first=True))
    x = normal(3, 4, 8)
    y = Tensor(x)
    near(agreed(net, y, y, y)[0], multihead(p, 2, x, x, x)[0], 1e-5)
    near(net(y, Tensor(x), Tensor(x))[0], multihead(p, 2, x, x, x)[0], 1e-5)


def test_converted_operands_are_projected_once_as_well():
    net, p = filled(nn.MultiheadAttention(8, 2, batch_first=True))
    net.to_float(ms.float16)
    x = Tensor(normal(3, 4, 8))
    seen = []
    projected = net._projected

    def noted(query, key, value):
        seen.append(query is key is value)
        return projected(query, key, value)

    object.__setattr__(net, "_projected", noted)
    result = net(x, x, x, need_weights=False)[0]
    assert seen == [True]
    assert result.dtype == ms.float16
    exact = x.asnumpy().astype(np.float64)
    near(result.astype(ms.float32), multihead(p, 2, exact, exact, exact)[0], 2e-2)


def test_recomputed_layers_drop_the_same():
    x = Tensor(normal(3, 4, 8))
    net, _ = filled(nn.TransformerEncoderLayer(8, 2, 12, 0.4))
    net.set_train()

    def gradients():
        ms.set_seed(5)
        return bits(ms.value_and_grad(lambda x: (net(x) ** 2).sum(), 0, net.trainable_params())(x))

    kept = gradients()
    net.recompute()
    assert gradients() == kept


def test_parameters():
    def shapes(**options):
        net = nn.MultiheadAttention(8, 2, **options)
        return {p.name: p.shape for p in net.get_parameters()}

    out = {"out_proj.weight": (8, 8), "out_proj.bias": (8,)}
    assert shapes() == {"in_proj_weight": (24, 8), "in_proj_bias": (24,), **out}
    assert shapes(has_bias=False) == {"in_proj_weight": (24, 8), "out_proj.weight": (8, 8)}
    assert list(shapes(kdim=6, vdim=5, add_bias_kv=True).items()) == [
        ("q_proj_weight", (8, 8)),
        ("k_proj_weight", (8, 6)),
        ("v_proj_weight", (8, 5)),
        ("in_proj_bias", (24,)),
        ("bias_k", (1, 1, 8)),
        ("bias_v", (1, 1, 8)),
        *out.items(),
    ]
    net = nn.MultiheadAttention(64, 4, add_bias_kv=True)
    assert (net.in_proj_bias.asnumpy() == 0).all()
    bound = (6 / (64 + 3 * 64)) ** 0.5
    assert 0.95 * bound < np.abs(net.in_proj_weight.asnumpy()).max() <= bound
    assert net.bias_k.asnumpy().std() > 0
    assert nn.MultiheadAttention(8, 2, dtype=ms.float16).in_proj_weight.dtype == ms.float16
    assert nn.MultiheadAttention(8, 2, dtype=None).in_proj_weight.dtype == ms.float32


def test_a_query_that_attends_to_nothing_is_nan_and_no_other():
    net, p = filled(nn.MultiheadAttention(8, 2, batch_first=True))
    x = normal(2, 4, 8)
    blocked = np.zeros((4, 4), bool)
    blocked[1] = True
    rest = [0, 2, 3]
    for need_weights in (True, False):
        output = agreed(net, *[Tensor(x)] * 3, attn_mask=Tensor(blocked), need_weights=need_weights)[0]
        assert np.isnan(output.asnumpy()[:, 1]).all()
        np.testing.assert_allclose(output.asnumpy()[:, rest], multihead(p, 2, x, x, x)[0][:, rest], atol=1e-5)


@pytest.mark.parametrize("batch_first", [False, True])
def test_dropout_in_training(batch_first):
    net, _ = filled(nn.MultiheadAttention(8, 2, dropout=0.4, batch_first=batch_first))
    x = Tensor(normal(3, 6, 8))
    still = agreed(net, x, x, x)
    assert (still[1].asnumpy() > 0).all()
    output, weights = agreed(net, x, x, x, train=True, average_attn_weights=False)
    dropped = (weights.asnumpy() == 0).mean()
    assert 0.2 < dropped < 0.6
    alone = agreed(net, x, x, x, train=True, need_weights=False)[0]
    near(alone, output.asnumpy(), 1e-5)  # the same weights are dropped
    assert np.abs(output.asnumpy() - still[0].asnumpy()).max() > 0.01


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize("need_weights", [False, True])
def test_half_types(dtype, need_weights):
    net, p = filled(nn.MultiheadAttention(16, 2, batch_first=True, dtype=dtype))
    x = Tensor(normal(2, 5, 16)).astype(dtype)
    padding = np.array([[False] * 5, [False, True, True, False, False]])
    result = agreed(net, x, x, x, key_padding_mask=Tensor(padding), need_weights=need_weights)
    assert all(t.dtype == dtype for t in result)
    exact = x.astype(ms.float64).asnumpy()
    expected, _ = multihead(p, 2, exact, exact, exact, padding[:, None, None])
    spacing = {ms.float16: 2**-10, ms.bfloat16: 2**-7}[dtype]
    difference = result[0].astype(ms.float32).asnumpy() - expected
    assert np.abs(difference).max() < 8 * spacing * np.abs(expected).max()


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_gradients_are_those_of_finite_differences(need_weights, dropout):
    options = {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True, "dtype": ms.float64}
    net, p = filled(nn.MultiheadAttention(4, 2, dropout=dropout, **options))
    net.set_train()
    x, mask = normal(2, 3, 4, dtype=np.float64), normal(3, 3, dtype=np.float64)
    weight = Tensor(normal(2, 3, 4, dtype=np.float64))

    def loss(x, mask):
        ms.set_seed(5)
        return (net(x, x, x, attn_mask=mask, need_weights=need_weights)[0] * weight).sum()

    inner, outer = ms.grad(loss, (0, 1), net.trainable_params())(Tensor(x), Tensor(mask))
    np.testing.assert_allclose(
        inner[0].asnumpy(), numeric_gradient(lambda a: float(loss(Tensor(a), Tensor(mask))), x), atol=1e-7
    )
    np.testing.assert_allclose(
        inner[1].asnumpy(), numeric_gradient(lambda a: float(loss(Tensor(x), Tensor(a))), mask), atol=1e-7
    )
    for parameter, gradient in zip(net.trainable_params(), outer):

        def at(a, parameter=parameter):
            parameter.set_data(Tensor(a))
            return float(loss(Tensor(x), Tensor(mask)))

        np.testing.assert_allclose(gradient.asnumpy(), numeric_gradient(at, p[parameter.name]), atol=1e-7)
        parameter.set_data(Tensor(p[parameter.name]))


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_memory_grows_with_the_sequence(train, wrap):
    net = nn.MultiheadAttention(32, 4, dropout=0.1, batch_first=True)
    net.set_train(train)

    def taken(length, need_weights=False):
        x = Tensor(normal(1, length, 32))

        def loss(x):
            return net(x, x, x, need_weights=need_weights)[0].sum()

        call = wrap(ms.grad(loss, None, net.trainable_params()) if train else loss)
        return peak_bytes(lambda: call(x))

    scores = 4 * 2048 * 2048 * 4
    assert taken(2048) < 2.5 * taken(1024)
    assert taken(2048) < scores / 4
    assert taken(2048, need_weights=True) >= scores


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"num_heads": 3}, ValueError, "heads do not divide: got 8 in 3"),
        ({"embed_dim": 0}, ValueError, "'embed_dim' is out of range: got 0"),
        ({"num_heads": 2.0}, TypeError, "'num_heads' has the wrong type: got float"),
        ({"dropout": 1.0}, ValueError, "'dropout' is out of range: got 1.0"),
        ({"dropout": "much"}, TypeError, "'dropout' has the wrong type: got str"),
        ({"kdim": -1}, ValueError, "'kdim' is out of range: got -1"),
        ({"batch_first": 1}, TypeError, "'batch_first' has the wrong type: got int"),
    ],
)
def test_errors_of_construction(options, kind, text):
    with pytest.raises(kind, match="MultiheadAttention: " + text):
        nn.MultiheadAttention(**{"embed_dim": 8, "num_heads": 2, **options})


X = Tensor(normal(3, 4, 8))
BOOLS = {shape: Tensor(np.zeros(shape, bool)) for shape in [(4, 5), (2, 4, 4), (3,), (4, 3), (4, 4, 4, 4)]}


@pytest.mark.parametrize(
    ("operands", "options", "kind", "text"),
    [
        ((X, X[:, :3], X), {}, ValueError, "shapes do not fit: got query .3, 4, 8., key .3, 3, 8."),
        ((X, X[:, :, :6], X), {}, ValueError, "shapes do not fit"),
        ((X, X[0], X[0]), {}, ValueError, "shapes do not fit"),
        ((X, X[:2], X[:2]), {}, ValueError, "shapes do not fit"),
        ((X[None], X[None], X[None]), {}, ValueError, "shapes do not fit"),
        ((X, X, X), {"attn_mask": BOOLS[4, 5]}, ValueError, "'attn_mask' has the wrong shape: got .4, 5."),
        ((X, X, X), {"attn_mask": BOOLS[2, 4, 4]}, ValueError, "need .4, 4. or .6, 4, 4."),
        ((X, X, X), {"attn_mask": BOOLS[4, 4, 4, 4]}, ValueError, "'attn_mask' has the wrong shape"),
        ((X, X, X), {"key_padding_mask": BOOLS[(3,)]}, ValueError, "'key_padding_mask' has the wrong shape"),
        ((X, X, X), {"key_padding_mask": BOOLS[4, 3]}, ValueError, "need .3, 4."),
        ((X, X, X), {"key_padding_mask": ops.ones((3, 4), ms.int32)}, TypeError, "wrong dtype: got Int32"),
        ((X, X, X), {"attn_mask": [[True]]}, TypeError, "'attn_mask' has the wrong dtype: got list"),
    ],
)
def test_errors_of_calls(operands, options, kind, text):
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    with pytest.raises(kind, match=text) as caught:
        net(*operands, **options)
    assert str(caught.value).startswith("MultiheadAttention: ")


def gelu(x):
    """x times the normal distribution function."""
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / 2**0.5))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize(
    "activation", ["relu", "gelu", ops.tanh, nn.ReLU()], ids=["relu", "gelu", "tanh", "cell"]
)
def test_encoder_layers(norm_first, batch_first, activation):
    options = {"norm_first": norm_first, "batch_first": batch_first, "layer_norm_eps": 1e-5}
    net, p = filled(nn.TransformerEncoderLayer(8, 2, 12, 0.3, activation, **options))
    x = normal(3, 4, 8)
    function = {"gelu": gelu, ops.tanh: np.tanh}.get(activation)
    mask, blocked, _ = masks("2bool", 3, 2, 4, 4)
    padding, padding_blocked, _ = masks("pbool", 3, 2, 4, 4)
    y = Tensor(by_batch(x, batch_first))
    near(agreed(net, y), by_batch(encoder_layer(p, 2, x, None, function, norm_first), batch_first), 3e-5)
    result = agreed(net, y, Tensor(mask), Tensor(padding))
    expected = encoder_layer(p, 2, x, blocked | padding_blocked, function, norm_first)
    near(result, by_batch(expected, batch_first), 3e-5)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_decoder_layers(norm_first, batch_first):
    net, p = filled(nn.TransformerDecoderLayer(8, 2, 12, norm_first=norm_first, batch_first=batch_first))
    x, memory = normal(3, 4, 8), normal(3, 5, 8)
    given, operands = {}, [Tensor(by_batch(t, batch_first)) for t in (x, memory)]
    blocked = {}
    for name, kind, columns in (("tgt", "2bool", 4), ("memory", "3bool", 5)):
        given[f"{name}_mask"], mask, _ = masks(kind, 3, 2, 4, columns)
        given[f"{name}_key_padding_mask"], padding, _ = masks("pbool", 3, 2, 4, columns)
        blocked[name] = mask | padding
    result = agreed(net, *operands, **{name: Tensor(m) for name, m in given.items()})
    expected = decoder_layer(p, 2, x, memory, blocked["tgt"], blocked["memory"], None, norm_first)
    near(result, by_batch(expected, batch_first), 3e-5)


def test_layers_without_a_batch():
    x, memory = normal(4, 8), normal(5, 8)
    net, p = filled(nn.TransformerEncoderLayer(8, 2, 12))
    near(agreed(net, Tensor(x)), encoder_layer(p, 2, x[None])[0], 3e-5)
    net, p = filled(nn.TransformerDecoderLayer(8, 2, 12))
    near(agreed(net, Tensor(x), Tensor(memory)), decoder_layer(p, 2, x[None], memory[None])[0], 3e-5)


def test_layers_drop_in_training():
    x = Tensor(normal(3, 4, 8))
    for net, operands in (
        (nn.TransformerEncoderLayer(8, 2, 12, 0.5), (x,)),
        (nn.TransformerDecoderLayer(8, 2, 12, 0.5), (x, x)),
    ):
        net, _ = filled(net)
        still, trained = agreed(net, *operands), agreed(net, *operands, train=True)
        assert np.abs(still.asnumpy() - trained.asnumpy()).max() > 0.1


@pytest.mark.parametrize("kind", [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer])
def test_errors_of_layers(kind):
    for activation in ("swish", 3, None):
        with pytest.raises(ValueError, match=f"{kind.__name__}: unknown activation: got"):
            kind(8, 2, activation=activation)
    with pytest.raises(ValueError, match="heads do not divide"):
        kind(8, 3)
    with pytest.raises(TypeError, match="'norm_first' has the wrong type"):
        kind(8, 2, norm_first=1)


@pytest.mark.parametrize("norm", [False, True])
def test_stacks_of_layers(norm):
    x, memory = normal(3, 4, 8), normal(3, 5, 8)
    causal = np.triu(np.ones((4, 4), bool), 1)

    def part(p, i):
        start = f"layers.{i}."
        return {name[len(start) :]: value for name, value in p.items() if name.startswith(start)}

    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
    net, p = filled(nn.TransformerEncoder(layer, 3, nn.LayerNorm((8,)) if norm else None))
    expected = x
    for i in range(3):
        expected = encoder_layer(part(p, i), 2, expected, causal)
    expected = layer_norm(expected, p["norm.gamma"], p["norm.beta"]) if norm else expected
    near(agreed(net, Tensor(x), src_mask=Tensor(causal)), expected, 1e-4)

    layer = nn.TransformerDecoderLayer(8, 2, 12, batch_first=True)
    net, p = filled(nn.TransformerDecoder(layer, 2, nn.LayerNorm((8,)) if norm else None))
    expected = x
    for i in range(2):
        expected = decoder_layer(part(p, i), 2, expected, memory, causal)
    expected = layer_norm(expected, p["norm.gamma"], p["norm.beta"]) if norm else expected
    near(agreed(net, Tensor(x), Tensor(memory), tgt_mask=Tensor(causal)), expected, 1e-4)


def test_copies_start_equal_and_are_apart():
    layer = nn.TransformerEncoderLayer(8, 2, 12)
    net = nn.TransformerEncoder(layer, 2)
    names = [p.name for p in layer.get_parameters()]
    parameters = {p.name: p for p in net.get_parameters()}
    assert list(parameters) == [f"layers.{i}.{name}" for i in range(2) for name in names]
    assert all(not name.startswith("layers") for name in names)
    for name, p in zip(names, layer.get_parameters()):
        assert bits(parameters[f"layers.0.{name}"]) == bits(parameters[f"layers.1.{name}"]) == bits(p)
    parameters["layers.0.dense1.bias"].set_data(ops.ones(12))
    assert (layer.dense1.bias.asnumpy() != 1).all()
    assert (parameters["layers.1.dense1.bias"].asnumpy() != 1).all()
    with pytest.raises(ValueError, match="TransformerEncoder: 'num_layers' is out of range: got 0"):
        nn.TransformerEncoder(layer, 0)
    with pytest.raises(TypeError, match="TransformerDecoder: the layer has the wrong type: got str"):
        nn.TransformerDecoder("layer", 2)


@pytest.mark.parametrize("batch_first", [False, True])
def test_transformers(batch_first):
    options = {"dim_feedforward": 12, "batch_first": batch_first}
    net, p = filled(nn.Transformer(8, 2, 1, 1, **options))
    src, tgt = normal(3, 5, 8), normal(3, 4, 8)
    causal = np.triu(np.ones((4, 4), bool), 1)
    padding = np.array([[False] * 5, [False] * 3 + [True] * 2, [False] * 4 + [True]])

    def part(start):
        return {name[len(start) :]: value for name, value in p.items() if name.startswith(start)}

    blocked = padding[:, None, None]
    memory = encoder_layer(part("encoder.layers.0."), 2, src, blocked)
    memory = layer_norm(memory, p["encoder.norm.gamma"], p["encoder.norm.beta"])
    expected = decoder_layer(part("decoder.layers.0."), 2, tgt, memory, causal, blocked)
    expected = layer_norm(expected, p["decoder.norm.gamma"], p["decoder.norm.beta"])
    result = agreed(
        net,
        *(Tensor(by_batch(t, batch_first)) for t in (src, tgt)),
        tgt_mask=Tensor(causal),
        src_key_padding_mask=Tensor(padding),
        memory_key_padding_mask=Tensor(padding),
    )
    near(result, by_batch(expected, batch_first), 1e-4)


def test_transformers_of_own_parts():
    class Double(nn.Cell):
        def construct(self, src, src_mask=None, src_key_padding_mask=None):
            return src * 2

    class Sum(nn.Cell):
        def construct(self, tgt, memory, **masks):
            assert sorted(masks) == [
                "memory_key_padding_mask",
                "memory_mask",
                "tgt_key_padding_mask",
                "tgt_mask",
            ]
            return tgt + memory

    net = nn.Transformer(8, 2, custom_encoder=Double(), custom_decoder=Sum())
    near(net(X, X), 3 * X.asnumpy())


def test_parameters_of_transformers_start_uniform():
    net = nn.Transformer(64, 2, 1, 1, 128)
    parameters = {p.name: p.asnumpy() for p in net.get_parameters()}
    for name, shape in (
        ("encoder.layers.0.dense1.weight", (128, 64)),
        ("decoder.layers.0.dense2.weight", (64, 128)),
    ):
        bound = (6 / 192) ** 0.5
        assert parameters[name].shape == shape
        assert 0.95 * bound < np.abs(parameters[name]).max() <= bound
    assert (parameters["encoder.norm.gamma"] == 1).all()


def test_errors_of_transformers():
    net = nn.Transformer(8, 2, 1, 1, 12, batch_first=True)
    for src, tgt in ((X, X[:, :, :6]), (X[:, :, :6], X), (X, X[:2]), (X, X[0])):
        with pytest.raises(ValueError, match="Transformer: shapes do not fit: got src"):
            net(src, tgt)


def test_training_gives_the_same_bits_in_both_modes():
    x, y = Tensor(normal(6, 2, 8)), Tensor(normal(5, 2, 8))
    target = Tensor(normal(5, 2, 8))

    def losses(compiled):
        ms.set_seed(3)
        net = nn.Transformer(8, 2, 1, 1, 16)
        net.set_train()
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        gradient = ms.value_and_grad(lambda: ((net(x, y) - target) ** 2).mean(), None, optimizer.parameters)

        def step():
            value, gradients = gradient()
            optimizer(gradients)
            return value

        step = ms.jit(step) if compiled else step
        return [step() for _ in range(12)], [bits(p) for p in net.get_parameters()]

    plain, parameters = losses(False)
    compiled, compiled_parameters = losses(True)
    assert [bits(v) for v in compiled] == [bits(v) for v in plain]
    assert compiled_parameters == parameters
    assert float(plain[-1]) < 0.8 * float(plain[0])
