"""Functions called with many shapes give the bits of plain calls, and are recorded few times."""

import random

import numpy as np
import pytest
from modes import check_equal, vector

import sorus as ms
from sorus import Parameter, Tensor, _core, nn, ops

# Expressions over float32 tensors of shape (n, m); `n` and `m` are numbers of the program.
ONE = [
    "ops.tanh({a})",
    "ops.relu({a}) + 1",
    "ops.softmax({a}, {axis})",
    "ops.layer_norm({a}, (m,))",
    "{a} - {a}.mean({axis}, keep_dims=True)",
    "{a} / (1 + abs({a}).max())",
    "{a}.reshape(m, n).T",
    "{a}.reshape(n * m).reshape(n, m)",
    "ops.transpose({a}, (1, 0)).reshape(n, m)",
    "ops.broadcast_to({a}.sum({axis}, keepdims=True), (n, m))",
    "ops.cumsum({a}, {axis})",
    "ops.sort({a}, {axis})[0]",
    "ops.flip({a}, ({axis},))",
    "ops.concat([{a}[:, 1:], {a}[:, :1]], 1)",
    "ops.concat([{a}, {a}], 0)[:n]",
    "ops.pad({a}, (0, 0, 1, 0))[1:]",
    "ops.stack([{a}, {a} * 2])[1]",
    "ops.tril({a}) + ops.triu({a}, 1)",
    "{a} + ops.arange(n).reshape(n, 1)",
    "{a} * ops.ones((n, m)) + ops.zeros((1, m))",
    "ops.gather({a}, ops.arange(n), 0)",
    "ops.dropout({a}, 0.4, True)",
    "{a} + ops.randn((n, m))",
    "net({a}.reshape(n * m, 1)).reshape(n, m)",
    "ms.grad(lambda t: (t * ops.tanh(t)).sum())({a})",
    "ops.where({a} > 0, {a}, {a} * 0.1)",
    "sum(part for part in ops.split({a}, n, 0))",
    "{a} * n + m",
    "{a}[[i % n for i in range(n)]]",
]
TWO = [
    "{a} + {b}",
    "{a} * {b}",
    "{a} @ {b}.T @ {a} * 0.1",
    "ops.einsum('ij,kj->ik', {a}, {b}) @ {a} * 0.1",
    "{a} + w * {b}",
    "ops.maximum({a}, {b})",
    "{a} + {b}[:, :1]",
]
SHAPES = [
    (3, 4), (5, 4), (6, 4), (3, 4), (5, 4), (7, 4), (8, 4),
    (4, 4), (2, 6), (6, 4), (1, 4), (9, 4), (9, 5), (5, 9),
]


def write(seed):
    """The source of a random function of a tensor of two axes."""
    rng = random.Random(seed)
    names = ["x"]
    lines = ["def f(x):", "    n, m = x.shape"]
    for i in range(rng.randint(3, 9)):
        form = rng.choice(ONE if rng.random() < 0.7 else TWO)
        a, b = rng.choice(names[-3:]), rng.choice(names)
        lines.append(f"    a{i} = " + form.format(a=a, b=b, axis=rng.choice([0, 1])))
        if rng.random() < 0.1:
            lines.append(f"    if a{i}.sum() > 0:\n        a{i} = a{i} * 0.5")
        if rng.random() < 0.1:
            lines.append("    w.set_data(w * 0.5 + 0.1)")
        names.append(f"a{i}")
    lines.append(f"    return {', '.join(names[-2:])}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(60))
def test_random_functions_of_many_shapes(seed):
    source = write(seed)

    def program(wrap):
        numbers = np.random.default_rng(seed)
        names = {"ms": ms, "ops": ops, "w": Parameter(vector(0.7), name="w"), "net": nn.Dense(1, 1)}
        for p in names["net"].get_parameters():
            p.set_data(Tensor(numbers.random(p.shape).astype(np.float32)))
        exec(compile(source, f"shapes_{seed}.py", "exec"), names)
        f = wrap(names["f"])
        shapes = SHAPES + [tuple(numbers.integers(1, 12, 2)) for _ in range(6)]
        for shape in shapes:
            x = Tensor(numbers.standard_normal(shape).astype(np.float32))
            yield lambda x=x: f(x)

    check_equal(program)


def count(calls):
    """What the counters say of the calls."""
    before = _core.follow_stats()
    calls()
    return {name: n - before[name] for name, n in _core.follow_stats().items()}


def test_training_with_batches_of_many_lengths_is_recorded_twice():
    layers = nn.Embedding(50, 16), nn.Dense(16, 32), nn.GELU(), nn.LayerNorm((32,)), nn.Dense(32, 50)
    net = nn.SequentialCell(*layers)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    loss = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss(net(x).reshape(-1, 50), y.reshape(-1))

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    numbers = np.random.default_rng(0)

    @ms.jit
    def train(x, y):
        value, gradients = step(x, y)
        optimizer(gradients)
        return value

    def calls():
        for length in [7, 9, 5, 7, 9, 12, 14, 3, 8]:
            tokens = numbers.integers(0, 50, (4, length + 1)).astype(np.int32)
            assert np.isfinite(float(train(Tensor(tokens[:, :-1]), Tensor(tokens[:, 1:]))))

    stats = count(calls)
    assert stats["signatures"] == 2
    assert stats["specialized"] == 5
    assert stats["instances"] > 0


def test_errors_of_further_shapes_are_those_of_plain_calls():
    weight = Tensor(np.ones((4, 2), np.float32))

    def program(wrap):
        f = wrap(lambda x: ops.tanh(x) @ weight)
        for shape in [(2, 4), (3, 4), (5, 4), (5, 3), (6, 4), (6, 5)]:
            yield lambda shape=shape: f(Tensor(np.ones(shape, np.float32)))

    check_equal(program)


class Affine(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)

    def construct(self, x, scale=None):
        return self.fc(x) if scale is None else self.fc(x) * scale


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_declared_inputs_are_checked(mode):
    ms.set_context(mode=mode)
    try:
        net = Affine()
        net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
        assert net.get_inputs()[0].shape == (-1, 3)
        for n in (1, 4, 2, 7):
            assert net(Tensor(np.ones((n, 3), np.float32))).shape == (n, 2)
        refused = r"input 0: not as declared: got Float32 \(2, 4\), need Float32 \(-1, 3\)"
        with pytest.raises(ValueError, match=refused):
            net(Tensor(np.ones((2, 4), np.float32)))
        with pytest.raises(ValueError, match="need Float32"):
            net(Tensor(np.ones((2, 3), np.float16)))
        with pytest.raises(ValueError, match="got 2, need 1"):
            net(Tensor(np.ones((2, 3), np.float32)), 2.0)
        net.set_inputs(x=Tensor(shape=[None, None], dtype=ms.float32), scale=None)
        assert net(x=Tensor(np.ones((2, 3), np.float32)), scale=2.0).shape == (2, 2)
        with pytest.raises(ValueError, match="'scale' was declared"):
            net(x=Tensor(np.ones((2, 3), np.float32)))
        with pytest.raises(TypeError, match="need a Tensor"):
            net.set_inputs(np.ones(3))
        net.set_inputs()
        assert net.get_inputs() is None
        assert net(Tensor(np.ones((2, 3), np.float32))).shape == (2, 2)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_signature_of_inputs_is_checked():
    @ms.jit(input_signature=(Tensor(shape=[None, 4], dtype=ms.float32), [None, Tensor(shape=[None])]))
    def f(x, pair):
        return x * pair[0] + pair[1]

    ones = Tensor(np.ones((3, 4), np.float32))
    assert f(ones, [2, vector(1, 2, 3, 4)]).shape == (3, 4)
    with pytest.raises(ValueError, match=r"f: input 1\[1\]: not as declared"):
        f(ones, [2, ones])
    with pytest.raises(ValueError, match="need 2 items"):
        f(ones, [2])


def test_a_declared_type_has_no_value():
    declared = Tensor(shape=[None, 3], dtype=ms.float16)
    assert repr(declared) == "Tensor(shape=[-1, 3], dtype=Float16, value=\n<declared only>)"
    assert str(declared) == repr(declared)
    with pytest.raises(ValueError, match="has no value"):
        declared.asnumpy()
    with pytest.raises(ValueError, match="tanh: a count is needed here: got the symbol any"):
        ops.tanh(declared)
