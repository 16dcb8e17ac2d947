"""Training steps and optimizers that users derive, in the style of published networks."""

import numpy as np
import pytest

ms = pytest.importorskip("sorus")
from sorus import nn, ops  # noqa: E402

grad_scale = ops.MultitypeFuncGraph("grad_scale")
momentum_opt = ops.MultitypeFuncGraph("momentum_opt")
MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


@grad_scale.register("Tensor", "Tensor")
def scaled(scale, grad):
    """A gradient by the reciprocal of the scale."""
    return grad * ops.cast(ops.Reciprocal()(scale), ops.dtype(grad))


@momentum_opt.register("Function", "Tensor", "Number", "Tensor", "Tensor", "Tensor")
def momentum_update(opt, rate, momentum, gradient, weight, moment):
    """One parameter's update."""
    opt(weight, moment, rate, gradient, momentum)
    return True


class BertStep(nn.TrainOneStepWithLossScaleCell):
    """The training step of BERT's published program, with every part that it takes from its base."""

    def construct(self, x, y, sens=None):
        """Loss, overflow, scale."""
        loss = self.network(x, y)
        scale = self.scale_sense if sens is None else sens
        status, scale = self.start_overflow_check(loss, scale)
        grads = self.grad(self.network, self.weights)(x, y, ops.cast(scale, ms.float32))
        degree = 1
        if self.reducer_flag:
            degree = self.degree
        grads = self.hyper_map(ops.partial(grad_scale, scale * degree), self.grad_reducer(grads))
        flag = self.base0
        for g in grads:
            flag = flag + self.reduce_sum(ops.cast(self.logic_not(ops.isfinite(g)), ms.int32))
        if self.is_distributed:
            flag = self.allreduce(flag)
        mine = self.less_equal(self.base, ops.cast(flag, ms.float32))
        overflow = self.get_overflow_status(status, grads)
        assert bool(mine) == bool(overflow)
        if sens is None:
            overflow = self.loss_scaling_manager(self.scale_sense, overflow)
        if not overflow:
            self.optimizer(grads)
        return loss, overflow, scale


class MapMomentum(nn.Optimizer):
    """Momentum that maps over its parameters."""

    def __init__(self, params, learning_rate, momentum=0.9):
        super().__init__(learning_rate, params)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.momentum = momentum
        self.opt = ops.ApplyMomentum()

    def construct(self, gradients):
        """One step."""
        rate = self.get_lr()
        gradients = self.scale_grad(self.decay_weight(self.flatten_gradients(gradients)))
        return self.hyper_map(
            ops.partial(momentum_opt, self.opt, rate, self.momentum),
            gradients,
            self.parameters,
            self.moments,
        )


def _data():
    x = np.sin(np.arange(12, dtype=np.float32)).reshape(4, 3)
    return ms.Tensor(x), ms.Tensor(x.sum(1, keepdims=True))


@pytest.mark.parametrize("mode", MODES)
def test_a_step_in_the_style_of_bert_gives_what_its_base_gives(mode):
    ms.set_context(mode=mode)
    try:
        weights = []
        for step_class in (nn.TrainOneStepWithLossScaleCell, BertStep):
            net = nn.Dense(3, 1, weight_init="ones", bias_init="zeros")
            step = step_class(
                nn.WithLossCell(net, nn.MSELoss()),
                nn.Momentum(net.trainable_params(), 0.05, 0.9),
                nn.DynamicLossScaleUpdateCell(64.0, 2, 4),
            ).set_train()
            x, y = _data()
            for _ in range(5):
                step(x, y)
            _, overflow, _ = step(x * 1e30, y)
            assert bool(overflow)
            weights.append([net.weight.asnumpy(), float(step.scale_sense)])
        np.testing.assert_allclose(weights[0][0], weights[1][0], rtol=1e-6)
        assert weights[0][1] == weights[1][1] == 64.0  # doubled after four steps, halved by the last
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", MODES)
def test_an_optimizer_that_maps_is_momentum(mode):
    ms.set_context(mode=mode)
    try:
        weights = []
        for make in (lambda p: nn.Momentum(p, 0.05, 0.9), lambda p: MapMomentum(p, 0.05)):
            net = nn.Dense(3, 1, weight_init="ones", bias_init="zeros")
            step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), make(net.trainable_params()))
            for _ in range(4):
                step(*_data())
            weights.append(net.weight.asnumpy())
        assert (weights[0] == weights[1]).all()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_an_optimizer_has_what_subclasses_map_and_count_with():
    optimizer = MapMomentum(nn.Dense(2, 1).trainable_params(), 0.1)
    optimizer.assignadd(optimizer.global_step, ms.Tensor([3], ms.int32))
    assert optimizer.global_step.asnumpy().tolist() == [3]
    double = optimizer.map_(lambda p: p * 2, optimizer.parameters)
    assert type(double) is tuple and [t.shape for t in double] == [(1, 2), (1,)]
    assert optimizer.hyper_map_reverse(lambda v: v + 1, [1, [2]]) == [2, [3]]


@pytest.mark.parametrize("mode, pad", [("valid", (0, 0, 0, 0)), ("same", (1, 1, 1, 1))])
def test_unfold_gives_patches_with_channels_innermost(mode, pad):
    x = np.arange(2 * 3 * 7 * 6, dtype=np.float32).reshape(2, 3, 7, 6)
    got = nn.Unfold([1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], mode)(ms.Tensor(x)).asnumpy()
    wide = np.pad(x, ((0, 0), (0, 0), pad[:2], pad[2:]))
    rows, columns = (wide.shape[2] - 3) // 2 + 1, wide.shape[3] - 2
    expected = np.zeros((2, 18, rows, columns), np.float32)
    for i in range(3):
        for j in range(2):
            part = wide[:, :, i : i + 2 * rows - 1 : 2, 2 * j : 2 * j + columns]
            expected[:, 3 * (2 * i + j) : 3 * (2 * i + j) + 3] = part
    assert got.shape == expected.shape and (got == expected).all()


def test_unfold_refuses_what_it_cannot_do():
    for sizes in ([2, 2], [1, 0, 2, 1], [1, 2, 2, 3]):
        with pytest.raises(ValueError, match="ksizes"):
            nn.Unfold(sizes, [1, 1, 1, 1], [1, 1, 1, 1])
    with pytest.raises(ValueError, match="padding"):
        nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "full")
    with pytest.raises(ValueError, match="smaller than a patch"):
        nn.Unfold([1, 9, 9, 1], [1, 1, 1, 1], [1, 1, 1, 1])(ops.ones((1, 1, 4, 4)))
