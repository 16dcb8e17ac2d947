"""A learning rate that a function of the user decides."""

import math

from ..._core import Tensor
from ...nn.optim.optimizer import Optimizer
from ._callback import Callback


class LearningRateScheduler(Callback):
    """Sets the optimizer's rate after each step to `learning_rate_function(rate, step)`."""

    def __init__(self, learning_rate_function):
        if not callable(learning_rate_function):
            raise TypeError(
                "LearningRateScheduler: 'learning_rate_function' has the wrong type: got "
                f"{type(learning_rate_function).__name__}, need a function"
            )
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context):
        state = run_context.original_args()
        optimizer = state.get("optimizer") or getattr(state.get("train_network"), "optimizer", None)
        rate = getattr(optimizer, "learning_rate", None)
        if not isinstance(optimizer, Optimizer) or not isinstance(rate, Tensor):
            raise ValueError(
                "LearningRateScheduler: the optimizer's rate cannot be set: got "
                f"{type(optimizer).__name__}, need an optimizer with one fixed rate"
            )
        old = float(rate)
        new = float(self.learning_rate_function(old, state["cur_step_num"]))
        if not math.isclose(old, new, rel_tol=1e-10):
            rate.set_data(Tensor(new, rate.dtype))
