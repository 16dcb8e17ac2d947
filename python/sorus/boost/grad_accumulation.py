"""Gradients of several batches for one step of the optimizer."""

from .. import ops
from ..common import Parameter, Tensor
from ..common import dtype as mstype
from ..nn.cell import Cell

gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Int64", "Tensor", "Tensor")
def _accumulate(accumulation_step, cumulative_grad, grad):
    """Adds a part of the mean over `accumulation_step` batches."""
    return ops.assign_add(cumulative_grad, grad / accumulation_step)


@gradient_clear_op.register("Tensor")
def _clear(cumulative_grad):
    return ops.assign(cumulative_grad, ops.zeros_like(cumulative_grad))


class GradientAccumulation(Cell):
    """Hands the mean of the gradients of `max_accumulation_step` calls to the optimizer, at the last of them.

    A call takes the loss and the gradients, in the order of `optimizer.parameters`, and gives the loss.
    """

    def __init__(self, max_accumulation_step, optimizer):
        super().__init__()
        if isinstance(max_accumulation_step, bool) or not isinstance(max_accumulation_step, int):
            raise TypeError(
                "GradientAccumulation: 'max_accumulation_step': "
                f"got {type(max_accumulation_step).__name__}, need int"
            )
        if max_accumulation_step < 1:
            raise ValueError(
                f"GradientAccumulation: 'max_accumulation_step': got {max_accumulation_step}, need 1 or more"
            )
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = ops.HyperMap()
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, dtype=mstype.int32), name="accumulation_step")

    def construct(self, loss, grads):
        accumulate = ops.partial(gradient_accumulation_op, self._max_accumulation_step)
        self.hyper_map(accumulate, self._grad_accumulation, grads)
        self._accumulation_step += 1
        if self._accumulation_step >= self._max_accumulation_step:
            self.optimizer(self._grad_accumulation)
            self.hyper_map(gradient_clear_op, self._grad_accumulation)
            self._accumulation_step = 0
        return loss
