"""Cells, parameters, layers and losses in Python."""

import copy
import pickle

import numpy as np
import pytest

import sorus as ms
from sorus import Parameter, ParameterTuple, Tensor, nn, ops


class Net(nn.Cell):
    """A small network with every way of holding parameters."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 4, activation="relu")
        self.blocks = nn.SequentialCell(nn.Dense(4, 4), nn.BatchNorm1d(4))
        self.scale = Parameter(Tensor([2.0]), name="scale")
        self.free = Parameter(Tensor([1.0]))

    def construct(self, x):
        return self.blocks(self.dense(x)) * self.scale + self.free


def sample():
    return Tensor(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))


def test_names_and_order():
    names = [name for name, _ in Net().parameters_and_names()]
    assert names == [
        "scale",
        "free",
        "dense.weight",
        "dense.bias",
        "blocks.0.weight",
        "blocks.0.bias",
        "blocks.1.moving_mean",
        "blocks.1.moving_variance",
        "blocks.1.gamma",
        "blocks.1.beta",
    ]
    assert list(Net().parameters_dict()) == names
    trainable = [p.name for p in Net().trainable_params()]
    assert trainable == [n for n in names if "moving" not in n]
    assert [n for n, _ in Net().cells_and_names()] == [
        "",
        "dense",
        "dense.activation",
        "blocks",
        "blocks.0",
        "blocks.1",
    ]


def test_modes():
    net = Net()
    assert not net.training
    assert net.set_train() is net
    assert net.blocks[1].training
    net.set_train(False)
    assert not net.blocks[1].training
    with pytest.raises(TypeError, match="set_train"):
        net.set_train(1)


def test_batch_norm_learns_its_statistics_in_training_alone():
    layer = nn.BatchNorm1d(3)
    x = sample() * 3 + 1
    before = layer.moving_mean.asnumpy()
    layer(x)
    assert np.array_equal(layer.moving_mean.asnumpy(), before)
    layer.set_train()
    layer(x)
    assert not np.array_equal(layer.moving_mean.asnumpy(), before)


def test_copies_and_pickles():
    net = Net()
    expected = net(sample()).asnumpy()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert np.array_equal(other(sample()).asnumpy(), expected)
        assert other.scale is not net.scale and other.scale.name == "scale"
        other.scale.set_data(Tensor([5.0]))
        assert net.scale.item() == 2.0


def test_attributes():
    net = Net()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        net.nothing
    with pytest.raises(TypeError, match="holds a cell"):
        net.dense = 3
    net.scale = Tensor([7.0])
    assert isinstance(net.scale, Parameter) and net.scale.item() == 7.0
    del net.scale
    assert not hasattr(net, "scale")

    class Early(nn.Cell):
        def __init__(self):
            self.w = Parameter(Tensor([1.0]))

    with pytest.raises(AttributeError, match="super"):
        Early()


def test_parameter():
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    assert repr(p) == "Parameter (name=p, shape=(2,), dtype=Float32, requires_grad=True)"
    value = p.value()
    p.set_data(Tensor([3, 4]))
    assert p.dtype is ms.float32 and p.asnumpy().tolist() == [3, 4]
    assert value.asnumpy().tolist() == [1, 2]
    clone = ParameterTuple([p]).clone("moment", init="zeros")[0]
    assert clone.name == "moment.p" and clone.asnumpy().tolist() == [0, 0]
    assert type(p * 2) is Tensor
    with pytest.raises(TypeError):
        ParameterTuple([Tensor([1.0])])


def test_containers():
    cells = nn.CellList([nn.ReLU(), nn.Sigmoid()])
    cells.append(nn.Tanh())
    assert [type(c).__name__ for c in cells] == ["ReLU", "Sigmoid", "Tanh"]
    assert type(cells[-1]).__name__ == "Tanh" and len(cells[:2]) == 2
    cells.insert(0, nn.GELU())
    assert type(cells[0]).__name__ == "GELU"
    with pytest.raises(IndexError):
        cells[9]
    with pytest.raises(TypeError):
        nn.CellList([3])
    sequence = nn.SequentialCell([nn.Dense(3, 2), nn.ReLU()])
    assert sequence(sample()).shape == (2, 2)


def test_hooks():
    seen = []
    net = nn.SequentialCell(nn.Dense(3, 2))
    handle = net.register_forward_hook(lambda cell, inputs, output: seen.append("forward"))
    net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] * 0,))
    out = net(sample())
    assert seen == ["forward"]
    assert np.array_equal(out.asnumpy()[0], net[0].bias.asnumpy())
    handle.remove()
    net(sample())
    assert seen == ["forward"]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_backward_hooks_of_a_first_layer(mode):
    """Inputs that need no gradient are (None,), and what a hook returns for them goes nowhere."""
    net = nn.SequentialCell(nn.Dense(3, 2, weight_init="ones"), nn.Dense(2, 2, weight_init="ones"))
    seen = []

    def hook(cell, grad_input, grad_output):
        seen.append((grad_input, grad_output[0].asnumpy().tolist()))
        return (sample() * 100,)

    net[0].register_backward_pre_hook(lambda cell, grad_output: (grad_output[0] * 3,))
    handle = net[0].register_backward_hook(hook)
    ms.set_context(mode=mode)
    try:
        gradient = ms.grad(lambda x: net(x).sum(), None, weights=net.trainable_params())
        for calls in range(1, 4):
            weights = gradient(sample())
            assert seen == [((None,), [[6.0, 6.0], [6.0, 6.0]])] * calls
            assert weights[1].tolist() == [12.0, 12.0]
        for parameter in net[0].trainable_params():
            parameter.requires_grad = False
        ms.grad(lambda x: net(x).sum(), None, weights=net[1].trainable_params())(sample())
        assert len(seen) == 3
        handle.remove()
        ms.grad(lambda x: net(x).sum())(sample())
        assert len(seen) == 3
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_gradients(mode):
    ms.set_context(mode=mode)
    try:
        for _ in range(3):
            assert ms.grad(lambda x: x * x * x)(Tensor(3.0)).item() == 27.0
            assert ms.grad(ms.grad(lambda x: x * x * x))(Tensor(3.0)).item() == 18.0
            value, pair = ms.value_and_grad(lambda a, b: a * b, (0, 1))(Tensor(2.0), Tensor(5.0))
            assert value.item() == 10.0 and [g.item() for g in pair] == [5.0, 2.0]
            both = ops.GradOperation(get_all=True, sens_param=True)(lambda a, b: a * b)
            assert [g.item() for g in both(Tensor(2.0), Tensor(5.0), Tensor(10.0))] == [50.0, 20.0]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_vjp_and_jvp():
    value, pull = ms.vjp(lambda x: x * x, Tensor(3.0))
    assert value.item() == 9.0 and pull(Tensor(1.0)).item() == 6.0
    value, tangent = ms.jvp(lambda x: x * x, Tensor(3.0), Tensor(2.0))
    assert value.item() == 9.0 and tangent.item() == 12.0


def test_own_gradient_and_recompute():
    class Own(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (dout * 100,)

    class Cube(nn.Cell):
        def construct(self, x):
            return x * x * x

    assert ms.grad(Own())(Tensor(3.0)).item() == 100.0
    assert ms.grad(Cube().recompute())(Tensor(2.0)).item() == 12.0


def train(mode, steps=6):
    """Parameters after a few steps, and the loss."""
    ms.set_context(mode=mode)
    try:
        ms.set_seed(3)
        net = Net()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.05))
        step.set_train()
        target = Tensor(np.ones((2, 4), np.float32))
        losses = [step(sample(), target).item() for _ in range(steps)]
        return losses, [p.asnumpy() for p in net.get_parameters()]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_training_has_the_same_bits_in_both_modes():
    eager_losses, eager = train(ms.PYNATIVE_MODE)
    graph_losses, graph = train(ms.GRAPH_MODE)
    assert eager_losses == graph_losses
    assert all(np.array_equal(a, b) for a, b in zip(eager, graph))
    assert eager_losses[-1] < eager_losses[0]


def test_jit_runs_python_each_time():
    calls = []

    @ms.jit
    def f(x):
        calls.append(1)
        return x * 2 if x.sum() > 0 else x - 1

    for value in (1.0, -1.0, 2.0, -2.0):
        expected = value * 2 if value > 0 else value - 1
        assert f(Tensor([value])).item() == expected
    assert len(calls) == 4


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.Dense(0, 1), ValueError),
        (lambda: nn.Dense(1.5, 1), TypeError),
        (lambda: nn.Dense(1, 1, weight_init=Tensor([1.0])), ValueError),
        (lambda: nn.Conv2d(3, 4, 3, pad_mode="odd"), ValueError),
        (lambda: nn.Conv2d(3, 4, 3, group=2), ValueError),
        (lambda: nn.MaxPool2d("a"), TypeError),
        (lambda: nn.Dropout(p=1.0), ValueError),
        (lambda: nn.MSELoss("other"), ValueError),
        (lambda: nn.get_activation("other"), KeyError),
        (lambda: nn.Momentum([], 0.1, 0.9), ValueError),
        (lambda: nn.Adam([Parameter(Tensor([1.0]), name="w")], -1.0), ValueError),
    ],
)
def test_wrong_arguments(make, error):
    with pytest.raises(error):
        make()


def test_parameter_groups():
    a, b = Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([1.0]), name="b")
    optimizer = nn.SGD([{"params": [a], "lr": 1.0, "weight_decay": 1.0}, {"params": [b]}], learning_rate=0.5)
    optimizer((Tensor([1.0]), Tensor([1.0])))
    assert a.item() == -1.0
    assert b.item() == 0.5


def test_encoder_layer_normalizes_before_or_after():
    """With norm_first the residual stream stays as it is; otherwise each result is normalized."""
    x = Tensor(np.linspace(-2, 3, 24).reshape(3, 2, 4).astype(np.float32))
    before, after = (nn.TransformerEncoderLayer(4, 2, 8, 0.0, norm_first=first) for first in (True, False))
    for net in (before, after):
        for dense in (net.self_attn.out_proj, net.dense2):
            dense.weight.set_data(dense.weight * 0)
            dense.bias.set_data(dense.bias * 0)
    np.testing.assert_array_equal(before(x).asnumpy(), x.asnumpy())
    np.testing.assert_allclose(after(x).asnumpy().mean(-1), np.zeros((3, 2)), atol=1e-6)


def test_multinomial_draws_what_has_weight():
    """A class without weight is not drawn, and without replacement none twice."""
    weights = Tensor([[0.0, 1.0, 0.0, 3.0], [2.0, 0.0, 1.0, 0.0]])
    drawn = ops.multinomial(weights, 200).asnumpy()
    assert [set(row) for row in drawn] == [{1, 3}, {0, 2}]
    assert [set(row) for row in ops.multinomial(weights, 2, False).asnumpy()] == [{1, 3}, {0, 2}]
    with pytest.raises(ValueError, match="multinomial: 'num_samples' is out of range: got 5"):
        ops.multinomial(weights, 5, False)


def test_pixels_of_resized_images():
    """Without aligned corners or half-pixel centers element i lies at i * scale."""
    image = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    resized = nn.ResizeBilinear()(image, (2, 8)).asnumpy()[0, 0]
    columns = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3]
    np.testing.assert_array_equal(resized, np.array([columns, columns]) + [[0], [8]])
    corners = ops.ResizeNearestNeighbor((2, 2), align_corners=True)(image).asnumpy()
    np.testing.assert_array_equal(corners[0, 0], [[0, 3], [12, 15]])
    centers = ops.ResizeNearestNeighbor((2, 2), half_pixel_centers=True)(image).asnumpy()
    np.testing.assert_array_equal(centers[0, 0], [[5, 7], [13, 15]])


def test_negative_bases_leave_the_gradient_of_the_exponent():
    """A negative base adds nothing to the exponent's gradient instead of NaN."""
    base, exponent = Tensor([-2.0, 2.0]), Tensor([3.0])
    gradient = ms.grad(lambda v: ops.pow(base, v).sum())(exponent)
    np.testing.assert_allclose(gradient.asnumpy(), [8 * np.log(2)], rtol=1e-6)


class Masked(nn.Cell):
    """A layer with a buffer that is saved and one that is not."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 1)
        self.register_buffer("mask", Tensor([1.0, 0.0]))
        self.register_buffer("cache", Tensor([0.0]), persistent=False)

    def construct(self, x):
        return self.fc(x * self.mask)


def test_the_state_of_a_cell_goes_into_another():
    nets = [nn.SequentialCell(Masked(), nn.ReLU()) for _ in range(2)]
    state = nets[0].state_dict()
    assert list(state) == ["0.mask", "0.fc.weight", "0.fc.bias"]
    assert list(nets[0].state_dict(prefix="net.")) == ["net.0.mask", "net.0.fc.weight", "net.0.fc.bias"]
    nets[0][0].mask.assign_value(Tensor([0.0, 1.0]))
    loaded = nets[1].load_state_dict(state)
    assert repr(loaded) == "<All keys matched successfully>" and loaded.missing_keys == []
    x = Tensor([[2.0, 3.0]])
    assert (nets[0](x).asnumpy() == nets[1](x).asnumpy()).all()
    state["0.fc.bias"].set_data(Tensor([9.0]))
    assert float(nets[0][0].fc.bias) == 9.0 and float(nets[1][0].fc.bias) != 9.0


def test_a_state_that_does_not_fit_is_refused_whole():
    net = Masked()
    before = net.fc.bias.asnumpy()
    with pytest.raises(RuntimeError, match="missing mask; missing fc.weight; unexpected other"):
        net.load_state_dict({"fc.bias": Tensor([5.0]), "other": Tensor([1.0])})
    assert (net.fc.bias.asnumpy() == before).all()
    found = net.load_state_dict({"fc.bias": Tensor([5.0]), "other": Tensor([1.0])}, strict=False)
    assert found == (["mask", "fc.weight"], ["other"]) and float(net.fc.bias) == 5.0
    with pytest.raises(RuntimeError, match=r"fc.bias: got shape \(2,\), need \(1,\)"):
        net.load_state_dict({"fc.bias": Tensor([5.0, 6.0])}, strict=False)


def test_buffers_and_cells_are_found_by_path():
    net = nn.SequentialCell(Masked(), nn.ReLU())
    assert [name for name, _ in net.named_buffers()] == ["0.mask", "0.cache"]
    assert not list(net.buffers(recurse=False)) and len(list(net.buffers())) == 2
    assert net.get_buffer("0.mask").tolist() == [1.0, 0.0]
    assert net.get_sub_cell("0.fc") is net[0].fc and net.get_sub_cell("") is net
    for path in ("0.bias", "2"):
        with pytest.raises(AttributeError, match="get_sub_cell: no cell"):
            net.get_sub_cell(path)
    with pytest.raises(KeyError, match="taken"):
        net[0].register_buffer("fc", Tensor([1.0]))


def test_primitives_that_look_at_gradients():
    seen = []
    watch = ops.HookBackward(lambda grads: seen.append([float(g) for g in grads]))
    triple = ops.InsertGradientOf(lambda g: 3 * g)
    replace = ops.HookBackward(lambda grads: (grads[0] * 0,))
    x = Tensor(2.0)
    assert float(ops.grad(lambda v: watch(v * v) * 5)(x)) == 20.0 and seen == [[5.0]]
    assert float(ops.grad(lambda v: triple(v) * 5)(x)) == 15.0
    assert float(ops.grad(lambda v: replace(v) * 5)(x)) == 0.0
    assert ops.InvertPermutation()((2, 0, 1)) == (1, 2, 0)
    assert ms.is_tensor(x) and not ms.is_tensor(2.0)


def test_assignments_give_the_value_then():
    """As the wheel, whose results are tensors that print their values."""
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    first = ops.assign(p, Tensor([3.0, 4.0]))
    made = [ops.assign_add(p, Tensor([3.0, 4.0])), ops.assign_sub(p, Tensor([1.0, 1.0]))]
    made += [ops.ScatterUpdate()(p, Tensor([0]), Tensor([9.0])), ops.Assign()(p, Tensor([7.0, 7.0]))]
    assert [str(t) for t in (first, *made)] == ["[3. 4.]", "[6. 8.]", "[5. 7.]", "[9. 7.]", "[7. 7.]"]
    assert all(type(t) is Tensor for t in (first, *made)) and p.tolist() == [7.0, 7.0]
