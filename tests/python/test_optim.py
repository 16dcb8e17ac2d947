"""Optimizers and learning rates from Python: groups, changing rates, both modes."""

import inspect

import numpy as np
import pytest

import sorus as ms
from sorus import Parameter, Tensor, nn


pytestmark = pytest.mark.usefixtures("mode")


def weights(*names):
    """Parameters of one element, 1.0 each."""
    return [Parameter(Tensor([1.0], ms.float32), name=name) for name in names]


def ones(count):
    """A gradient of 1 for each parameter."""
    return tuple(Tensor([1.0], ms.float32) for _ in range(count))


def values(parameters):
    """The parameters' elements."""
    return [round(float(p), 6) for p in parameters]


def test_groups_have_their_own_rates_and_decays():
    a, b, c = weights("a", "b", "c")
    groups = [{"params": [a], "lr": 0.1}, {"params": [b], "weight_decay": 1.0}, {"params": [c]}]
    optimizer = nn.SGD(groups, 0.5, weight_decay=0.0)
    optimizer(ones(3))
    assert values([a, b, c]) == [0.9, 0.0, 0.5]


def test_order_params_says_the_order_of_gradients():
    a, b = weights("a", "b")
    optimizer = nn.SGD([{"params": [a], "lr": 0.1}, {"params": [b]}, {"order_params": [b, a]}], 1.0)
    optimizer((Tensor([0.5], ms.float32), Tensor([1.0], ms.float32)))
    assert values([a, b]) == [0.9, 0.5]


def test_groups_may_mix_fixed_and_changing_rates():
    a, b = weights("a", "b")
    optimizer = nn.SGD([{"params": [a], "lr": [0.5, 0.25]}, {"params": [b]}], 0.125)
    for _ in range(3):  # the last rate of a list goes on
        optimizer(ones(2))
    assert values([a, b]) == [0.0, 0.625]


def test_the_rate_can_be_changed_while_training():
    (a,) = weights("a")
    optimizer = nn.SGD([a], 0.5)
    for _ in range(3):
        optimizer(ones(1))
    optimizer.learning_rate.set_data(Tensor(0.125, ms.float32))
    optimizer(ones(1))
    assert values([a]) == [-0.625]
    assert optimizer.get_lr_parameter(a) is optimizer.learning_rate
    assert int(optimizer.global_step) == 4


def test_rates_follow_a_schedule_of_the_users_own():
    class Halving(nn.learning_rate_schedule.LearningRateSchedule):
        """1, 1/2, 1/4 ..."""

        def construct(self, global_step):
            return Tensor(1.0, ms.float32) / (2.0 ** global_step.astype(ms.float32))

    (a,) = weights("a")
    optimizer = nn.SGD([a], Halving())
    for _ in range(4):
        optimizer(ones(1))
    assert values([a]) == [1 - 1.875]


def test_schedules_give_the_same_steps_as_their_lists():
    schedule = nn.PolynomialDecayLR(0.1, 0.01, 5, 0.5)
    listed = [float(schedule(Tensor(step, ms.int32))) for step in range(6)]
    (a,), (b,) = weights("a"), weights("b")
    first, second = nn.Adam([a], schedule), nn.Adam([b], listed)
    for step in range(6):
        first((Tensor([np.sin(step)], ms.float32),))
        second((Tensor([np.sin(step)], ms.float32),))
    assert a.asnumpy() == b.asnumpy()


def test_weight_decay_leaves_out_beta_and_gamma_and_follows_loss_scale():
    a, gamma = weights("a", "norm.gamma")
    optimizer = nn.Momentum([a, gamma], 1.0, 0.0, weight_decay=0.5, loss_scale=4.0)
    optimizer(tuple(g * 4.0 for g in ones(2)))
    assert values([a, gamma]) == [-0.5, 0.0]


def test_weight_decay_may_change_with_the_step():
    class Decay(nn.Cell):
        """Only in the first step."""

        def construct(self, global_step):
            return Tensor(0.5 if int(global_step) == 0 else 0.0, ms.float32)

    (a,) = weights("a")
    optimizer = nn.SGD([a], 1.0, weight_decay=Decay())
    optimizer((Tensor([0.0], ms.float32),))
    optimizer((Tensor([0.0], ms.float32),))
    assert values([a]) == [0.5]


def test_gradients_are_centralized_where_a_group_asks_for_it():
    a = Parameter(Tensor(np.zeros((2, 2)), ms.float32), name="a")
    optimizer = nn.SGD([{"params": [a], "grad_centralization": True}], 1.0)
    optimizer((Tensor([[1.0, 3.0], [2.0, 2.0]], ms.float32),))
    assert a.asnumpy().tolist() == [[1.0, -1.0], [0.0, 0.0]]


def test_an_optimizer_can_be_written_over_the_base():
    class Plain(nn.Optimizer):
        """p - lr * g."""

        def construct(self, gradients):
            gradients = self.scale_grad(self.decay_weight(gradients))
            rate = self.get_lr()
            for p, g in zip(self.parameters, gradients, strict=True):
                p.set_data(p - rate * g)
            return True

    a, b = weights("a", "b")
    Plain(0.25, [a, b])(ones(2))
    assert values([a, b]) == [0.75, 0.75]


def test_lars_scales_and_lamb_trusts():
    p = Parameter(Tensor([3.0, 4.0], ms.float32), name="p")
    nn.LARS(nn.SGD([p], 1.0), epsilon=1e-30, coefficient=0.5)((Tensor([0.0, 2.0], ms.float32),))
    np.testing.assert_allclose(p.asnumpy(), [3.0, 4.0 - 0.5 * 5 / 2 * 2.0], rtol=1e-6)
    q = Parameter(Tensor([3.0, 4.0], ms.float32), name="q")
    nn.Lamb([q], 0.1, eps=1e-12)((Tensor([1.0, -1.0], ms.float32),))
    np.testing.assert_allclose(q.asnumpy(), [3 - 0.1 * 5 / 2**0.5, 4 + 0.1 * 5 / 2**0.5], rtol=1e-5)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.SGD([], 0.1), ValueError),
        (lambda: nn.SGD(weights("a") + weights("a"), 0.1), RuntimeError),
        (lambda: nn.SGD(weights("a"), -0.1), ValueError),
        (lambda: nn.SGD(weights("a"), "0.1"), (TypeError, ValueError)),
        (lambda: nn.SGD(weights("a"), 0.1, nesterov=True), ValueError),
        (lambda: nn.Adam(weights("a"), beta1=1.0), ValueError),
        (lambda: nn.Adam(weights("a"), 0.1, unknown=1), TypeError),
        (lambda: nn.Momentum(weights("a"), 0.1, -1.0), ValueError),
        (lambda: nn.SGD([{"params": weights("a"), "rate": 1}], 0.1), KeyError),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 0), ValueError),
        (lambda: nn.cosine_decay_lr(0.1, 0.01, 4, 2, 2), ValueError),
        (lambda: nn.piecewise_constant_lr([2, 1], [0.1, 0.2]), ValueError),
    ],
)
def test_mistakes_are_refused(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("kind", [nn.Adam, nn.SGD, nn.AdamWeightDecay])
def test_an_unknown_argument_is_refused_with_the_near_one(kind):
    p = Parameter(Tensor([1.0]), name="w")
    with pytest.raises(TypeError, match="got 'lr', did you mean 'learning_rate'.*params, learning_rate"):
        kind([p], lr=0.1)
    assert list(inspect.signature(kind).parameters)[:2] == ["params", "learning_rate"]
    with pytest.raises(TypeError, match="got 'weight_deccay', did you mean 'weight_decay'"):
        kind([p], weight_deccay=0.1)


def test_an_optimizer_of_a_program_hands_arguments_on():
    class Mine(nn.Adam):
        def __init__(self, params, **kwargs):
            super().__init__(params, **kwargs)

    p = Parameter(Tensor([1.0]), name="w")
    assert Mine([p], eps=1e-6).eps == 1e-6
    with pytest.raises(TypeError, match="learning_rate"):
        Mine([p], lr=0.1)
