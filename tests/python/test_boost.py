"""Gradient accumulation against one step with the mean of the gradients."""

import numpy as np
import pytest

from sorus import Parameter, Tensor, nn
from sorus.boost import GradientAccumulation


def test_the_optimizer_gets_the_mean_of_the_gradients(mode):  # noqa: ARG001
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    cell = GradientAccumulation(3, nn.SGD([w], 0.5))
    r = np.random.RandomState(0)
    for _ in range(2):
        before, grads = w.asnumpy(), r.randn(3, 2).astype(np.float32)
        for i, g in enumerate(grads):
            np.testing.assert_array_equal(w.asnumpy(), before)
            assert cell(Tensor(float(i)), (Tensor(g),)).asnumpy() == i
        np.testing.assert_allclose(w.asnumpy(), before - 0.5 * grads.mean(0), 1e-6)


@pytest.mark.parametrize(("steps", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_the_number_of_steps_is_checked(steps, error):
    with pytest.raises(error, match="GradientAccumulation: 'max_accumulation_step'"):
        GradientAccumulation(steps, nn.SGD([Parameter(Tensor([1.0]), name="w")], 0.5))
