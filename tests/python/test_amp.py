"""Mixed precision: which layers compute in 16 bits, and scales of the loss."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, amp, nn, ops

X = np.random.RandomState(1).randn(4, 3, 6, 6).astype(np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Dense(4, 2)
        self.seen = []

    def construct(self, x):
        a = self.conv(x)
        b = self.norm(a)
        c = self.head(ops.mean(ops.relu(b), (2, 3)))
        self.seen = [a.dtype, b.dtype, c.dtype]
        return c


H, F = ms.float16, ms.float32


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize(
    ("level", "low"), [("O0", ""), ("O1", ""), ("O2", "a c"), ("O3", "abc"), ("auto", "")]
)
def test_levels(level, low, dtype):
    ms.set_seed(1)
    net = Net()
    want = net(Tensor(X))
    lowered = amp.auto_mixed_precision(net, level, dtype)
    got = lowered(Tensor(X))
    assert got.dtype == F
    # At O1 layers give float32; what they compute is rounded all the same.
    assert [t == dtype for t in net.seen] == [name in low for name in "abc"]
    assert np.array_equal(got.asnumpy(), want.asnumpy()) == (level == "O0")
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), 0.05, 0.05)
    compiled = ms.jit(lowered)
    for _ in range(3):
        assert np.array_equal(compiled(Tensor(X)).asnumpy(), got.asnumpy())


def test_lists_of_ones_own():
    net = amp.custom_mixed_precision(Net(), black_list=[nn.Dense])
    assert net(Tensor(X)).dtype == F and net.seen == [H, H, F]
    net = amp.custom_mixed_precision(Net(), white_list=amp.get_white_list())
    net(Tensor(X))
    assert net.seen == [F, F, F]
    assert nn.Dense in amp.get_white_list() and nn.LayerNorm in amp.get_black_list()
    for wrong, text in (
        ({}, "need either 'white_list' or 'black_list'"),
        ({"white_list": [nn.Dense], "dtype": ms.float64}, "unsupported 'dtype': got Float64"),
    ):
        with pytest.raises(ValueError, match=text):
            amp.custom_mixed_precision(Net(), **wrong)
    with pytest.raises(TypeError, match="need classes of cells"):
        amp.custom_mixed_precision(Net(), white_list=["Dense"])
    with pytest.raises(ValueError, match="unknown 'amp_level': got 'O4'"):
        amp.auto_mixed_precision(Net(), "O4")


def test_a_training_step():
    ms.set_seed(2)
    y = Tensor(np.array([0, 1, 1, 0], np.int32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    for level in ("O0", "O2"):
        for manager in (None, amp.FixedLossScaleManager(64.0, False), amp.DynamicLossScaleManager(2**10)):
            net = Net()
            # A fixed scale is taken out again by the optimizer, a dynamic one by the step.
            scale = 64.0 if isinstance(manager, amp.FixedLossScaleManager) else 1.0
            optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=scale)
            step = amp.build_train_network(net, optimizer, loss, level, loss_scale_manager=manager)
            losses = []
            for _ in range(8):
                out = step(Tensor(X), y)
                losses.append(float(out[0] if isinstance(out, tuple) else out))
            assert losses[-1] < losses[0]
            assert net.conv.weight.dtype == F
    with pytest.raises(ValueError, match="unknown argument: got \\['scale'\\]"):
        amp.build_train_network(net, nn.SGD(net.trainable_params()), loss, scale=1)


def test_all_finite():
    one, inf = Tensor([1.0, 2.0]), Tensor([1.0, float("inf")])
    nan = Tensor(np.array([np.nan], np.float16))
    for inputs, want in (((one,), True), (one, True), ((one, inf), False), ([nan], False)):
        assert bool(amp.all_finite(inputs)) is want
        assert (
            bool(
                ms.jit(lambda *t: amp.all_finite(t))(
                    *(inputs if isinstance(inputs, (tuple, list)) else [inputs])
                )
            )
            is want
        )
    with pytest.raises(ValueError, match="'inputs' is empty"):
        amp.all_finite([])


def test_a_static_scale():
    scaler = amp.StaticLossScaler(8)
    assert scaler.scale(Tensor([1.0, 2.0])).tolist() == [8, 16]
    a, b = scaler.unscale((Tensor([8.0]), Tensor(np.array([4.0], np.float16))))
    assert a.tolist() == [1] and b.tolist() == [0.5] and b.dtype == H
    scaler.adjust(False)
    assert float(scaler.scale_value) == 8
    with pytest.raises(ValueError, match="'scale_value' is out of range: got 0"):
        amp.StaticLossScaler(0)


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit])
def test_a_dynamic_scale(wrap):
    scaler = amp.DynamicLossScaler(4, 2, 3)
    adjust = wrap(lambda finite: scaler.adjust(finite))
    seen = []
    for finite in (True, True, True, True, False, False, False, False, True, True, True):
        adjust(Tensor(finite))
        seen.append((float(scaler.scale_value), int(scaler.counter)))
    assert seen[:4] == [(4, 1), (4, 2), (8, 0), (8, 1)]
    assert seen[4:8] == [(4, 0), (2, 0), (1, 0), (1, 0)]
    assert seen[8:] == [(1, 1), (1, 2), (2, 0)]
