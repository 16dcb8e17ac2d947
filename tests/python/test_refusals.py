"""What is wrong is refused at once, by an error that names it."""

import warnings

import numpy as np
import pytest

import sorus as ms
from sorus import Parameter, Tensor, nn, ops

OPTIMIZERS = {
    "SGD": {},
    "Momentum": {"momentum": 0.9},
    "Adam": {},
    "AdamWeightDecay": {},
    "AdaMax": {},
    "Adagrad": {},
    "Adadelta": {},
    "ASGD": {},
    "FTRL": {},
    "Lamb": {},
    "LazyAdam": {},
    "ProximalAdagrad": {},
    "RMSProp": {},
    "Rprop": {},
}


def dense():
    return nn.Dense(2, 2)


@pytest.fixture(params=(ms.PYNATIVE_MODE, ms.GRAPH_MODE))
def each_mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=before)


# ------------------------------------------------------------------------------------- gradients and values


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.usefixtures("each_mode")
def test_optimizers_refuse_gradients_that_do_not_fit(name):
    net = dense()
    before = net.weight.asnumpy().copy()
    optimizer = getattr(nn, name)(net.trainable_params(), learning_rate=0.1, **OPTIMIZERS[name])
    need = rf"{name}: gradient of 'weight' has another shape: got \(3, 2, 2\), need \(2, 2\)"
    with pytest.raises(ValueError, match=need):
        optimizer((ops.ones((3, 2, 2)), ops.ones(2)))
    with pytest.raises(TypeError, match=f"{name}: gradient of 'bias' has the wrong type: got None"):
        optimizer((ops.ones((2, 2)), None))
    assert net.weight.shape == (2, 2)
    assert (net.weight.asnumpy() == before).all()


@pytest.mark.parametrize("name", ("SGD", "Adam", "AdamW"))
def test_mint_optimizers_refuse_gradients_that_do_not_fit(name):
    optimizer = getattr(ms.mint.optim, name)(dense().trainable_params(), lr=0.1)
    with pytest.raises(ValueError, match=f"{name}: gradient of 'weight' has another shape"):
        optimizer((ops.ones((3, 2, 2)), ops.ones(2)))
    with pytest.raises(TypeError, match=f"{name}: gradient of 'bias' has the wrong type: got None"):
        optimizer((ops.ones((2, 2)), None))


def test_lars_refuses_gradients_that_do_not_fit():
    optimizer = nn.LARS(nn.Momentum(dense().trainable_params(), 0.1, 0.9))
    with pytest.raises(ValueError, match="gradient of 'weight' has another shape"):
        optimizer((ops.ones((3, 2, 2)), ops.ones(2)))


@pytest.mark.parametrize(
    ("rate", "kind"), ((float("nan"), ValueError), ("a", TypeError), (["a"], TypeError), (-1, ValueError))
)
def test_optimizers_refuse_rates(rate, kind):
    with pytest.raises(kind, match="optimizer: 'learning_rate'"):
        nn.SGD(dense().trainable_params(), rate)


@pytest.mark.parametrize("name", ("weight_decay", "momentum", "dampening"))
def test_optimizers_refuse_numbers_that_are_none(name):
    with pytest.raises(ValueError, match=f"'{name}' is out of range: got nan"):
        nn.SGD(dense().trainable_params(), 0.1, **{name: float("nan")})


def test_a_parameter_keeps_its_shape():
    p = Parameter(ops.zeros((2, 2)), name="p")
    for set_value in (p.set_data, p.assign_value):
        with pytest.raises(ValueError, match=r"'p' has another shape: got \(3,\), need \(2, 2\)"):
            set_value(ops.ones((3,)))
    assert p.set_data(ops.ones((3,)), slice_shape=True).shape == (3,)


def test_a_parameter_takes_what_its_dtype_holds():
    whole = Parameter(Tensor([1, 2], ms.int32), name="whole")
    for wider in (ms.float32, ms.int64):
        with pytest.raises(TypeError, match="'whole' cannot hold the dtype"):
            whole.set_data(Tensor([1, 2], wider))
    assert whole.set_data(Tensor([3, 4], ms.int8)).tolist() == [3, 4]
    assert whole.set_data([5, 6]).dtype is ms.int32
    assert Parameter(Tensor([1.0]), name="p").set_data(Tensor([2], ms.int64)).tolist() == [2.0]


def test_requires_grad_is_a_bool():
    p = Parameter(Tensor([1.0]), name="p")
    with pytest.raises(TypeError, match="'requires_grad' has the wrong type: got str"):
        p.requires_grad = "a"
    p.requires_grad = False
    assert not p.requires_grad


# ------------------------------------------------------------------------------------------ large integers


@pytest.mark.parametrize("stride", (1000, 2**31, 2**62, 2**63 - 1))
@pytest.mark.parametrize("pad_mode", ("valid", "same"))
def test_a_stride_past_the_end_leaves_one_window(stride, pad_mode):
    image, kernel = ops.ones((1, 3, 8, 8)), ops.ones((4, 3, 3, 3))
    y = ops.conv2d(image, kernel, stride=stride, pad_mode=pad_mode)
    assert y.shape == (1, 4, 1, 1)
    assert y.reshape(4).tolist() == [27.0] * 4


@pytest.mark.parametrize(
    "call",
    (
        lambda x: nn.ZeroPad2d(2**63 - 1)(x),
        lambda x: ops.pad(x, (2**63 - 1,) * 4),
        lambda x: ops.pad(x, (2**62, 2**62)),
        lambda x: ops.pad(x, (2**61, 2**61)),
        lambda x: ops.pad(x, (-(2**63), 0)),
        lambda x: ops.conv2d(x, ops.ones((4, 3, 3, 3)), dilation=2**62),
        lambda x: ops.conv2d(x, ops.ones((4, 3, 3, 3)), padding=2**63 - 1, pad_mode="pad"),
        lambda x: ops.max_pool2d(x, 2**63 - 1),
        lambda x: ops.ResizeBilinearV2()(x, (3, 2**63 - 1)),
        lambda x: ops.ResizeBilinearV2()(x, (2**61, 3)),
        lambda x: ops.ResizeNearestNeighbor((-(2**31), 2**60), align_corners=True)(x),
    ),
)
def test_sizes_past_64_bits_are_refused(call):
    with pytest.raises(ValueError, match="need"):
        call(ops.ones((1, 3, 8, 8)))


# ------------------------------------------------------------------------------------------ jit and context


def test_jit_refuses_what_it_does_not_know():
    with pytest.raises(TypeError, match="jit: unknown argument: got 'jit_lvel', did you mean 'jit_level'"):
        ms.jit(lambda x: x, jit_lvel="O1")
    with pytest.raises(TypeError, match="jit: unknown argument: got 'foo'"):
        ms.jit(foo=1)
    assert ms.jit(mode="PIJit", input_signature=None)(lambda x: x + 1)(Tensor(1)).item() == 2
    assert ms.jit(fn=lambda x: x + 1, jit_level="O1")(Tensor(1)).item() == 2


def test_jit_refuses_classes():
    with pytest.raises(TypeError, match="jit: wrong type: got the class Dense, need a function or a Cell"):
        ms.jit(nn.Dense)


@pytest.mark.parametrize("setting", ({"deterministic": 3}, {"runtime_num_threads": 0}))
def test_settings_without_meaning_are_refused(setting):
    with pytest.raises(ValueError, match="set_context: "):
        ms.set_context(**setting)


def test_helpers_are_no_names_of_the_function_modules():
    from sorus.mint.nn import functional as nn_functional
    from sorus.ops import functional

    assert not any(hasattr(m, "Table") for m in (ops, functional, ms.mint, ms.numpy, nn_functional))


# ------------------------------------------------------------------------------------------------- training


def test_a_bprop_of_too_many_gradients_is_refused():
    class Net(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):  # noqa: ARG002
            return dout, dout

    with pytest.raises(ValueError, match="too many gradients: got 2, need 1"):
        ms.grad(Net())(Tensor([1.0]))


def test_what_trains_is_checked():
    net, data = dense(), [(ops.ones((1, 2)), ops.ones((1, 2)))]
    with pytest.raises(TypeError, match="Model: 'loss_fn' has the wrong type: got str"):
        ms.Model(net, "mse")
    for train in (ms.Model(net, nn.MSELoss()).train, ms.Model(net, nn.MSELoss()).fit):
        with pytest.raises(ValueError, match="no optimizer"):
            train(1, data)
    with pytest.raises(TypeError, match="TrainOneStepCell: 'network' has the wrong type: got int"):
        nn.TrainOneStepCell(3, 0)
    with pytest.raises(TypeError, match="TrainOneStepCell: 'optimizer' has the wrong type: got int"):
        nn.TrainOneStepCell(net, 0)


def test_terminate_on_nan_tells_where():
    class Loss(nn.Cell):
        def construct(self, x, label):  # noqa: ARG002
            return x.sum() * float("nan")

    net = dense()
    model = ms.Model(net, Loss(), nn.SGD(net.trainable_params(), 0.1))
    data = [(ops.ones((1, 2)), ops.ones((1, 2)))] * 3
    need = "TerminateOnNan: training ends in epoch 1 step 1: got loss nan"
    with pytest.warns(RuntimeWarning, match=need) as told:
        model.train(2, data, callbacks=ms.train.TerminateOnNan())
    assert len(told) == 1


def test_warnings_name_the_line_of_the_program():
    net = dense()
    given = {"weight": Parameter(ops.zeros((2, 2)), name="weight")}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ms.load_param_into_net(net, given)
        ms.Model(net)  # says nothing
    assert [w.filename for w in told] == [__file__]


# ----------------------------------------------------------------------------------------------- operations


@pytest.mark.parametrize("label", (-1, 2))
def test_a_label_out_of_range_is_named(label):
    need = f"nll_loss: a label is out of range: got {label} at position 1, need 0 to 1"
    with pytest.raises(IndexError, match=need):
        ops.nll_loss(ops.log_softmax(ops.ones((2, 2))), Tensor([0, label], ms.int32))


BCE = {
    "function": ops.binary_cross_entropy,
    "mint": ms.mint.nn.functional.binary_cross_entropy,
    "layer": nn.BCELoss(),
    "gradient": lambda p, t: ms.value_and_grad(ops.binary_cross_entropy)(p, t)[1],
}


@pytest.mark.parametrize("wrap", (lambda f: f, ms.jit, ms.jit(pure=True)), ids=("eager", "jit", "pure"))
@pytest.mark.parametrize("loss", BCE.values(), ids=BCE)
def test_cross_entropy_refuses_what_is_no_probability(loss, wrap):
    run = wrap(lambda p, t: loss(p * 1, t))
    good, target = Tensor([0.0, 0.5, 1.0, 0.25]), Tensor([0.0, 1.0, 1.0, 0.0])
    wanted = run(good, target).asnumpy()
    for wrong, place in ((1.5, 2), (-0.25, 0), (np.inf, 3)):
        p = good.asnumpy()
        p[place] = wrong
        need = rf"binary_cross_entropy: inputs must lie in \[0, 1\]: got {wrong} at position {place}, need"
        with pytest.raises(ValueError, match=need):
            run(Tensor(p), target).asnumpy()
        assert np.array_equal(run(good, target).asnumpy(), wanted)
    assert np.isnan(run(Tensor([np.nan, 0.5, 1, 0.25], ms.float32), target).asnumpy()).any()


def test_cross_entropy_refuses_in_loops_and_graph_mode():
    def loss(p, t):
        return ops.cond(ops.sum(t) > 0, lambda: ops.binary_cross_entropy(p, t), lambda: ops.sum(t))

    good, bad = Tensor([0.5, 1.0]), Tensor([0.5, 1.5])
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for run in (loss, ms.jit(loss)):
            for _ in range(3):
                assert np.isfinite(run(good, good).item())
                assert run(bad, good * 0).item() == 0  # the loss is not taken
                with pytest.raises(ValueError, match="binary_cross_entropy: inputs must lie"):
                    run(bad, good).asnumpy()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("weights", ([0.0, 0.0], [-1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0], [[1, 2], [0, 0]]))
@pytest.mark.parametrize("replacement", (True, False))
def test_multinomial_refuses_weights(weights, replacement):
    with pytest.raises(ValueError, match="multinomial: weights are not usable"):
        ops.multinomial(Tensor(weights, ms.float32), 1, replacement)


def test_multinomial_draws_in_pure_functions_and_loops():
    pure = ms.jit(lambda x: ops.multinomial(x, 4), pure=True)
    weights = Tensor([0.0, 1.0])
    assert [pure(weights).tolist() for _ in range(3)] == [[1] * 4] * 3
    drawn = ops.scan(lambda c, _: (c, ops.multinomial(weights, 2)), Tensor(0), None, 3)[1]
    assert drawn.tolist() == [[1, 1]] * 3


@pytest.mark.parametrize("replacement", (True, False))
def test_multinomial_refuses_weights_in_loops(replacement):
    def step(count, row):
        return count, ops.multinomial(row, 1, replacement)

    def draw(rows):
        return ops.scan(step, Tensor(0), rows, len(rows))[1]

    for call in (draw, ms.jit(draw), ms.jit(draw, pure=True)):
        for _ in range(3):
            assert call(Tensor([[0.0, 1.0], [2.0, 0.0]])).tolist() == [[1], [0]]
        with pytest.raises(ValueError, match="weights are not usable: got a least of -1"):
            call(Tensor([[0.0, 1.0], [2.0, -1.0]]))


def test_a_file_is_no_folder_of_images():
    with pytest.raises(OSError, match="is not a folder: got a file"):
        ms.dataset.MnistDataset(__file__)
