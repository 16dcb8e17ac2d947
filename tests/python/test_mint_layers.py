"""Layers, losses, optimizers and functions of `sorus.mint` against NumPy, eager and compiled."""

import math

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, mint

R = np.random.RandomState(3)
X = R.randn(2, 4, 6, 6).astype(np.float32)
ROWS = R.randn(3, 8).astype(np.float32)


def both_modes(function, *arguments):
    """The result, the same to the bit when compiled."""
    eager = function(*arguments)
    compiled = ms.jit(function)
    for _ in range(3):
        again = compiled(*arguments)
        for a, b in zip(parts(eager), parts(again)):
            assert a.dtype == b.dtype and np.array_equal(a.asnumpy(), b.asnumpy(), equal_nan=True)
    return eager


def parts(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def close(got, want, rtol=2e-5):
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got.asnumpy(), want, rtol, 2e-6)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def windows(x, kernel, stride, dilation=1):
    """(N, C, rows, columns, kernel, kernel)"""
    span = (kernel - 1) * dilation + 1
    view = np.lib.stride_tricks.sliding_window_view(x, (span, span), (2, 3))
    return view[:, :, ::stride, ::stride, ::dilation, ::dilation]


GELU = np.vectorize(lambda v: v * 0.5 * math.erfc(-v / math.sqrt(2)))
ELEMENTWISE = [
    ("ReLU", (), lambda x: np.maximum(x, 0)),
    ("ReLU6", (), lambda x: np.clip(x, 0, 6)),
    ("Sigmoid", (), sigmoid),
    ("Tanh", (), np.tanh),
    ("SiLU", (), lambda x: x * sigmoid(x)),
    ("Mish", (), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    ("SELU", (), lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    ("ELU", (0.7,), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    ("GELU", (), GELU),
    ("GELU", ("tanh",), lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    ("GLU", (), lambda x: x[..., : x.shape[-1] // 2] * sigmoid(x[..., x.shape[-1] // 2 :])),
    ("LogSigmoid", (), lambda x: -np.log1p(np.exp(-x))),
    ("Hardshrink", (0.3,), lambda x: np.where(np.abs(x) > 0.3, x, 0)),
    ("Hardsigmoid", (), lambda x: np.clip(x + 3, 0, 6) / 6),
    ("Hardswish", (), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    ("Softshrink", (0.3,), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.3, 0)),
    ("Softmax", (1,), lambda x: softmax(x, 1)),
    ("LogSoftmax", (1,), lambda x: np.log(softmax(x, 1))),
    ("Threshold", (0.1, 20), lambda x: np.where(x > 0.1, x, 20)),
    ("Identity", (), lambda x: x),
    ("Flatten", (), lambda x: x.reshape(x.shape[0], -1)),
    ("Flatten", (1, 2), lambda x: x.reshape(x.shape[0], -1, x.shape[3])),
    ("PReLU", (), lambda x: np.where(x > 0, x, 0.25 * x)),
    ("Dropout", (), lambda x: x),
    ("Dropout2d", (), lambda x: x),
    (
        "PixelShuffle",
        (2,),
        lambda x: x.reshape(2, 1, 2, 2, 6, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 12, 12),
    ),
    ("ConstantPad1d", ((1, 2), 5.0), lambda x: np.pad(x, ((0, 0),) * 3 + ((1, 2),), constant_values=5)),
    ("ConstantPad2d", (1, 5.0), lambda x: np.pad(x, ((0, 0),) * 2 + ((1, 1),) * 2, constant_values=5)),
    ("ZeroPad2d", ((1, 0, 2, 3),), lambda x: np.pad(x, ((0, 0), (0, 0), (2, 3), (1, 0)))),
    ("ReflectionPad2d", (2,), lambda x: np.pad(x, ((0, 0),) * 2 + ((2, 2),) * 2, "reflect")),
    ("ReplicationPad2d", (2,), lambda x: np.pad(x, ((0, 0),) * 2 + ((2, 2),) * 2, "edge")),
    ("AdaptiveAvgPool2d", (3,), lambda x: windows(x, 2, 2).mean((4, 5))),
    ("AdaptiveMaxPool2d", (3,), lambda x: windows(x, 2, 2).max((4, 5))),
    ("AvgPool2d", (3, 1), lambda x: windows(x, 3, 1).mean((4, 5))),
    ("AvgPool2d", (2,), lambda x: windows(x, 2, 2).mean((4, 5))),
    ("Unfold", (6,), lambda x: x.reshape(2, -1, 1)),
    ("Upsample", (None, 2.0), lambda x: x.repeat(2, 2).repeat(2, 3)),
    ("UpsamplingNearest2d", (12,), lambda x: x.repeat(2, 2).repeat(2, 3)),
    ("GroupNorm", (2, 4), lambda x: normalized(x.reshape(2, 2, -1), 2).reshape(x.shape)),
    ("LayerNorm", ((6, 6),), lambda x: normalized(x.reshape(2, 4, -1), 2).reshape(x.shape)),
    ("BatchNorm2d", (4,), lambda x: x / math.sqrt(1 + 1e-5)),
]


def normalized(x, axis, eps=1e-5):
    x = x.astype(np.float64)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


@pytest.mark.parametrize(("name", "arguments", "truth"), ELEMENTWISE)
def test_layers_without_weights_of_their_own(name, arguments, truth):
    layer = getattr(mint.nn, name)(*arguments)
    close(both_modes(layer, Tensor(X)), truth(X.astype(np.float64)))


def test_three_axes():
    x = Tensor(R.randn(1, 2, 4, 4, 4).astype(np.float32))
    blocks = x.asnumpy().reshape(1, 2, 2, 2, 2, 2, 2, 2)
    means = blocks.mean((3, 5, 7))
    close(both_modes(mint.nn.AvgPool3d(2), x), means)
    close(both_modes(mint.nn.AdaptiveAvgPool3d(2), x), means)
    for name, how in (
        ("ConstantPad3d", "constant"),
        ("ReflectionPad3d", "reflect"),
        ("ReplicationPad3d", "edge"),
    ):
        layer = getattr(mint.nn, name)(*((1, 0.0) if how == "constant" else (1,)))
        close(both_modes(layer, x), np.pad(x.asnumpy(), ((0, 0),) * 2 + ((1, 1),) * 3, how))


def test_one_axis():
    x = Tensor(ROWS[:, None])
    pairs = ROWS.reshape(3, 1, 4, 2)
    close(both_modes(mint.nn.AdaptiveAvgPool1d(4), x), pairs.mean(-1))
    values, places = both_modes(mint.nn.AdaptiveMaxPool1d(4, True), x)
    close(values, pairs.max(-1))
    assert np.array_equal(places.asnumpy(), pairs.argmax(-1) + 2 * np.arange(4))
    close(both_modes(lambda v: mint.nn.functional.avg_pool1d(v, 2), x), pairs.mean(-1))
    close(both_modes(mint.nn.ZeroPad1d(2), x), np.pad(ROWS[:, None], ((0, 0), (0, 0), (2, 2))))


def test_linear_and_embedding():
    layer = mint.nn.Linear(8, 5)
    weight, bias = layer.weight.asnumpy(), layer.bias.asnumpy()
    assert [p.name for p in layer.get_parameters()] == ["weight", "bias"]
    assert np.abs(weight).max() <= 1 / math.sqrt(8) and np.abs(bias).max() <= 1 / math.sqrt(8)
    close(both_modes(layer, Tensor(ROWS)), ROWS @ weight.T + bias)
    assert mint.nn.Linear(8, 5, bias=False).bias is None
    table = mint.nn.Embedding(7, 3, padding_idx=-2)
    assert not table.weight.asnumpy()[5].any()
    ids = np.array([[0, 5], [6, 1]])
    close(both_modes(table, Tensor(ids)), table.weight.asnumpy()[ids])
    gradient = ms.grad(lambda: mint.sum(table(Tensor(ids)) * 2), None, [table.weight])()[0].asnumpy()
    assert gradient[0].tolist() == [2, 2, 2] and not gradient[5].any()
    given = mint.nn.Embedding(2, 2, _weight=Tensor([[1.0, 2.0], [3.0, 4.0]]), _freeze=True)
    assert given.weight.tolist() == [[1, 2], [3, 4]] and not given.weight.requires_grad
    with pytest.raises(ValueError, match="'_weight' has the wrong shape"):
        mint.nn.Embedding(3, 2, _weight=Tensor([[1.0, 2.0]]))


@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
def test_convolution(mode):
    layer = mint.nn.Conv2d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, padding_mode=mode)
    weight = layer.weight.asnumpy().astype(np.float64)
    how = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    padded = np.pad(X.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)), how)
    view = windows(padded, 3, 2, 2)
    halves = [
        np.einsum("nchwij,ocij->nohw", view[:, 2 * g : 2 * g + 2], weight[3 * g : 3 * g + 3]) for g in (0, 1)
    ]
    want = np.concatenate(halves, 1) + layer.bias.asnumpy()[:, None, None]
    close(both_modes(layer, Tensor(X)), want, 1e-4)


def test_convolutions_of_other_axes():
    line = mint.nn.Conv1d(1, 2, 3, padding="same", bias=False)
    rows = np.pad(ROWS, ((0, 0), (1, 1)))
    view = np.lib.stride_tricks.sliding_window_view(rows, 3, 1)
    close(
        both_modes(line, Tensor(ROWS[:, None])),
        np.einsum("nwk,ok->now", view, line.weight.asnumpy()[:, 0]),
        1e-4,
    )
    x = Tensor(R.randn(1, 2, 3, 3, 3).astype(np.float32))
    space = mint.nn.Conv3d(2, 4, 3)
    want = np.einsum("ncxyz,ocxyz->no", x.asnumpy(), space.weight.asnumpy()) + space.bias.asnumpy()
    close(both_modes(space, x), want.reshape(1, 4, 1, 1, 1), 1e-4)
    up = mint.nn.ConvTranspose2d(4, 3, 2, stride=2, bias=False)
    spread = np.einsum("nchw,coij->nohiwj", X, up.weight.asnumpy()).reshape(2, 3, 12, 12)
    close(both_modes(up, Tensor(X)), spread, 1e-4)
    with pytest.raises(ValueError, match="padding 'same' needs stride 1"):
        mint.nn.Conv2d(1, 1, 3, stride=2, padding="same")
    with pytest.raises(ValueError, match="channels do not fall into groups"):
        mint.nn.Conv2d(3, 4, 3, groups=2)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_batch_norm_keeps_statistics(momentum):
    layer = mint.nn.BatchNorm2d(4, momentum=momentum)
    layer.set_train()
    double = X.astype(np.float64)
    close(layer(Tensor(X)), normalized(double, (0, 2, 3)), 1e-4)
    compiled = ms.jit(layer)
    for _ in range(2):
        close(compiled(Tensor(X)), normalized(double, (0, 2, 3)), 1e-4)
    assert int(layer.num_batches_tracked) == 3
    kept = 0.9**3 if momentum else 0
    close(layer.running_mean, (1 - kept) * double.mean((0, 2, 3)), 1e-4)
    close(layer.running_var, kept + (1 - kept) * double.var((0, 2, 3), ddof=1), 1e-4)
    layer.set_train(False)
    shown = layer(Tensor(X)).asnumpy()
    scale = np.sqrt(layer.running_var.asnumpy() + 1e-5)[:, None, None]
    np.testing.assert_allclose(shown, (X - layer.running_mean.asnumpy()[:, None, None]) / scale, 1e-4, 1e-5)


def test_batch_norm_without_statistics():
    layer = mint.nn.BatchNorm1d(8, affine=False, track_running_stats=False)
    close(both_modes(layer, Tensor(ROWS)), normalized(ROWS, 0), 1e-4)
    assert list(layer.get_parameters()) == []
    with pytest.raises(ValueError, match="wrong number of axes"):
        layer(Tensor(X))


def test_maxima_go_back_to_their_places():
    values, places = mint.nn.functional.max_pool2d(Tensor(X), 2, return_indices=True)
    back = both_modes(mint.nn.MaxUnpool2d(2), values, places).asnumpy()
    kept = X.reshape(2, 4, 3, 2, 3, 2) == values.asnumpy()[:, :, :, None, :, None]
    assert np.array_equal(back, np.where(kept.reshape(X.shape), X, 0))
    wide = mint.nn.MaxUnpool2d(2)(values, places, (7, 7))
    assert wide.shape == (2, 4, 7, 7)
    with pytest.raises(ValueError, match="'output_size' is out of range"):
        mint.nn.MaxUnpool2d(2)(values, places, (9, 9))


P = sigmoid(ROWS)
T = (R.rand(3, 8) > 0.5).astype(np.float32)
CLASSES = np.array([1, 0, 7])
PICKED = -np.log(softmax(ROWS.astype(np.float64), 1))[np.arange(3), CLASSES]
LOSSES = [
    ("L1Loss", {}, ROWS, T, np.abs(ROWS - T)),
    ("MSELoss", {}, ROWS, T, (ROWS - T) ** 2),
    (
        "SmoothL1Loss",
        {"beta": 0.5},
        ROWS,
        T,
        np.where(np.abs(ROWS - T) < 0.5, (ROWS - T) ** 2, np.abs(ROWS - T) - 0.25),
    ),
    ("SoftMarginLoss", {}, ROWS, 2 * T - 1, np.log1p(np.exp(-(2 * T - 1) * ROWS))),
    ("KLDivLoss", {}, np.log(P), P[::-1].copy(), P[::-1] * (np.log(P[::-1]) - np.log(P))),
    ("KLDivLoss", {"log_target": True}, np.log(P), np.log(P[::-1]), P[::-1] * (np.log(P[::-1]) - np.log(P))),
    ("BCELoss", {}, P, T, -(T * np.log(P) + (1 - T) * np.log(1 - P))),
    ("BCEWithLogitsLoss", {}, ROWS, T, -(T * np.log(P) + (1 - T) * np.log(1 - P))),
    ("CrossEntropyLoss", {}, ROWS, CLASSES, PICKED),
    ("NLLLoss", {}, np.log(softmax(ROWS, 1)), CLASSES, PICKED),
]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("name", "arguments", "x", "target", "truth"), LOSSES)
def test_losses(name, arguments, x, target, truth, reduction):
    loss = getattr(mint.nn, name)(reduction=reduction, **arguments)
    want = {"mean": truth.mean(), "sum": truth.sum(), "none": truth}[reduction]
    close(both_modes(loss, Tensor(x), Tensor(target)), want, 1e-4)


def test_losses_refuse_unknown_reductions():
    with pytest.raises(ValueError, match="MSELoss: unknown reduction: got 'all', need one of"):
        mint.nn.MSELoss("all")
    close(
        mint.nn.KLDivLoss("batchmean")(Tensor(np.log(P)), Tensor(T)),
        (T * (np.log(np.where(T, T, 1)) - np.log(P))).sum() / 3,
        1e-4,
    )


# ------------------------------------------------------------------------------------------------- optimizers


def adam_truth(p, gradients, lr, beta1, beta2, eps, decay, decoupled, amsgrad):
    m, v, largest = 0.0, 0.0, 0.0
    for t, g in enumerate(gradients, 1):
        p, g = (p * (1 - lr * decay), g) if decoupled else (p, g + decay * p)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        largest = np.maximum(largest, v) if amsgrad else v
        p = p - lr * (m / (1 - beta1**t)) / (np.sqrt(largest / (1 - beta2**t)) + eps)
    return p


GRADIENTS = R.randn(5, 4)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_adam(name, amsgrad, mode):
    p = ms.Parameter(Tensor(np.arange(4.0), ms.float32), name="p")
    ms.set_context(mode=mode)
    try:
        optimizer = getattr(mint.optim, name)([p], lr=0.1, weight_decay=0.2, amsgrad=amsgrad)
        for g in GRADIENTS:
            optimizer((Tensor(g, ms.float32),))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    close(
        p, adam_truth(np.arange(4.0), GRADIENTS, 0.1, 0.9, 0.999, 1e-8, 0.2, name == "AdamW", amsgrad), 1e-5
    )


@pytest.mark.parametrize("nesterov", [False, True])
def test_sgd(nesterov):
    p = ms.Parameter(Tensor(np.arange(4.0), ms.float32), name="p")
    optimizer = mint.optim.SGD([p], 0.1, momentum=0.9, weight_decay=0.2, nesterov=nesterov, maximize=True)
    want, v = np.arange(4.0), None
    for g in GRADIENTS:
        optimizer((Tensor(g, ms.float32),))
        g = -g + 0.2 * want
        v = g if v is None else 0.9 * v + g
        want = want - 0.1 * (g + 0.9 * v if nesterov else v)
    close(p, want, 1e-5)


def test_groups_and_changing_rates():
    a, b = (ms.Parameter(Tensor([1.0, 2.0]), name=name) for name in "ab")
    optimizer = mint.optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b]}], lr=0.1)
    g = (Tensor([1.0, 1.0]), Tensor([1.0, 1.0]))
    optimizer(g)
    assert a.tolist() == [0.5, 1.5] and np.allclose(b.asnumpy(), [0.9, 1.9])
    ms.ops.assign(optimizer.param_groups[0]["lr"], 1.0)
    optimizer(g)
    assert a.tolist() == [-0.5, 0.5]
    with pytest.raises(ValueError, match="number of gradients differs: got 1, need 2"):
        optimizer(g[:1])
    with pytest.raises(ValueError, match="a parameter stands in several places"):
        mint.optim.SGD([a, a], lr=0.1)
    with pytest.raises(ValueError, match="'betas' is out of range: got 1.5"):
        mint.optim.Adam([a], betas=(0.9, 1.5))


# -------------------------------------------------------------------------------------------------- functions


def test_unique():
    x = np.array([[3, 1, 3], [2, 1, 2], [3, 1, 3]], np.int32)
    got = mint.unique(Tensor(x), return_inverse=True, return_counts=True)
    want = np.unique(x, return_inverse=True, return_counts=True)
    for a, b in zip(got, want):
        assert np.array_equal(a.asnumpy(), b.reshape(a.shape))
    for axis in (0, 1, -1):
        got = mint.unique(Tensor(x), return_inverse=True, return_counts=True, dim=axis)
        want = np.unique(x, return_inverse=True, return_counts=True, axis=axis)
        for a, b in zip(got, want):
            assert np.array_equal(a.asnumpy(), b.reshape(a.shape))
    values, counts = mint.unique_consecutive(Tensor([1, 1, 2, 1]), return_counts=True)
    assert values.tolist() == [1, 2, 1] and counts.tolist() == [2, 1, 1]


def test_statistics_and_places():
    x = Tensor(ROWS)
    for got, want in zip(both_modes(lambda v: mint.std_mean(v, 1), x), (ROWS.std(1, ddof=1), ROWS.mean(1))):
        close(got, want)
    for got, want in zip(mint.var_mean(x, correction=0, keepdim=True), (ROWS.var(), ROWS.mean())):
        close(got, np.reshape(want, (1, 1)))
    values, places = both_modes(lambda v: mint.kthvalue(v, 3, 1, True), x)
    assert np.array_equal(places.asnumpy(), ROWS.argsort(1)[:, 2:3])
    close(values, np.sort(ROWS, 1)[:, 2:3])
    with pytest.raises(ValueError, match="'k' is out of range: got 9, need 1 to 8"):
        mint.kthvalue(x, 9)
    assert np.array_equal(mint.take(x, Tensor([0, 9, -1])).asnumpy(), ROWS.ravel()[[0, 9, -1]])
    assert mint.isneginf(Tensor([1.0, -np.inf, np.inf, np.nan])).tolist() == [False, True, False, False]
    assert mint.isneginf(Tensor([1])).tolist() == [False]


def test_products_and_drawing():
    a, x = Tensor(ROWS), Tensor(ROWS[0])
    close(both_modes(mint.mv, a, x), ROWS @ ROWS[0], 1e-4)
    close(mint.addmv(Tensor(np.ones(3, np.float32)), a, x, beta=2, alpha=3), 2 + 3 * (ROWS @ ROWS[0]), 1e-4)
    close(mint.addcmul(a, a, a, value=2), ROWS + 2 * ROWS * ROWS)
    drawn = mint.multinomial(Tensor([0.0, 3.0, 0.0, 1.0]), 2)
    assert drawn.dtype == ms.int64 and sorted(drawn.tolist()) == [1, 3]
    assert 0 <= int(mint.randint_like(a, 3).asnumpy().min()) and mint.randint_like(a, 3).shape == (3, 8)
    assert mint.empty_like(a, dtype=ms.int32).dtype == ms.int32
    assert mint.empty(2, 3, dtype=ms.int8, device="CPU").shape == (2, 3)
    assert mint.empty((4,)).dtype == ms.float32
    assert mint.fix(Tensor([-1.5, 1.5])).tolist() == [-1, 1]
    copy = mint.clone(a)
    copy[0] = 0
    assert np.array_equal(a.asnumpy(), ROWS)


def test_linear_algebra_and_special():
    square = ROWS[:, :3].astype(np.float64)
    close(mint.linalg.inv(Tensor(square)), np.linalg.inv(square))
    close(mint.linalg.norm(Tensor(square)), np.linalg.norm(square))
    close(mint.linalg.matrix_norm(Tensor(square), "nuc"), np.linalg.norm(square, "nuc"))
    close(mint.linalg.vector_norm(Tensor(square), 3, 1), np.linalg.norm(square, 3, 1))
    q, r = mint.linalg.qr(Tensor(square))
    close(mint.matmul(q, r), square)
    nothing, only = mint.linalg.qr(Tensor(square), mode="r")
    assert nothing.shape == (0,) and np.allclose(only.asnumpy(), r.asnumpy())
    close(mint.special.expm1(Tensor(square)), np.expm1(square))
    close(mint.special.round(Tensor(square), decimals=1), np.round(square, 1))
    close(mint.special.log_softmax(Tensor(square), 1), np.log(softmax(square, 1)))


def test_in_place_functions():
    for function, arguments, want in (
        (mint.nn.functional.relu_, (), np.maximum(ROWS, 0)),
        (mint.nn.functional.elu_, (0.5,), np.where(ROWS > 0, ROWS, 0.5 * np.expm1(ROWS))),
        (mint.nn.functional.threshold_, (0.1, 2), np.where(ROWS > 0.1, ROWS, 2)),
    ):
        x = Tensor(ROWS)
        function(x, *arguments)
        close(x, want)
