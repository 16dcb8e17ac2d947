"""Training steps that scale the loss, so that gradients of 16-bit floats do not vanish."""

import numpy as np

from ... import _functions as F, ops
from ..._core import Tensor, dtypes
from ...common.parameter import Parameter
from ..cell import Cell
from .cell_wrapper import TrainOneStepCell, scaled_value_and_grad

_float32, _int32 = dtypes["float32"], dtypes["int32"]


class DynamicLossScaleUpdateCell(Cell):
    """Halves (by `scale_factor`) the scale after an overflow and doubles it after `scale_window` steps
    without one.
    """

    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        if not isinstance(scale_window, int) or scale_window < 1:
            raise ValueError(
                f"DynamicLossScaleUpdateCell: 'scale_window' is out of range: got {scale_window!r}"
            )
        if loss_scale_value <= 0 or scale_factor <= 0:
            raise ValueError(
                f"DynamicLossScaleUpdateCell: scale is out of range: got {loss_scale_value!r} and factor "
                f"{scale_factor!r}, need both above 0"
            )
        self.scale_window = scale_window
        self.scale_factor = float(scale_factor)
        self.loss_scale_value = loss_scale_value
        self.cur_iter = Parameter(Tensor(1, _int32), name="current_iterator_step", requires_grad=False)
        self.last_overflow_iter = Parameter(
            Tensor(0, _int32), name="last_overflow_iterator_step", requires_grad=False
        )

    def get_loss_scale(self):
        """The scale to begin with."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        step, last = int(self.cur_iter), int(self.last_overflow_iter)
        scale = loss_scale
        if overflow:
            scale = max(float(loss_scale) / self.scale_factor, 1.0)
            last = step
        elif step - last >= self.scale_window:
            scale = float(loss_scale) * self.scale_factor
            last = step
        if not isinstance(scale, Tensor):
            loss_scale._set_value(Tensor(np.full(loss_scale.shape, scale, np.float32)))
        self.last_overflow_iter._set_value(Tensor(last, _int32))
        self.cur_iter._set_value(Tensor(step + 1, _int32))
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Keeps the scale as it is."""

    def __init__(self, loss_scale_value):
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self):
        """The scale."""
        return self.loss_scale_value

    def construct(self, _, overflow):
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A training step whose loss is scaled; a step whose gradients overflow changes nothing but the scale.

    `scale_sense` is a Tensor (fixed) or an update cell. Gives (loss, overflow, scale). Subclasses find the
    parts that a step of their own is made of: `grad`, `weights`, `hyper_map`, `grad_reducer`, the
    primitives `reduce_sum`, `less_equal`, `equal`, `logic_not` and `allreduce`, the numbers `base` (1.0) and
    `base0` (0).
    """

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer)
        self.hyper_map = ops.HyperMap()
        self.base, self.base0 = Tensor(1, _float32), Tensor(0, _int32)
        self.reduce_sum, self.reduce_all = ops.ReduceSum(), ops.ReduceAll()
        self.less_equal, self.equal, self.logic_not = ops.LessEqual(), ops.Equal(), ops.LogicalNot()
        self.allreduce = ops.AllReduce()
        self.is_distributed = False
        self.gpu_target = self.ascend_910a_target = self.ascend_910b_target = False
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            first = float(scale_sense.get_loss_scale())
        elif isinstance(scale_sense, Tensor) and scale_sense.size == 1:
            first = float(scale_sense)
        else:
            raise TypeError(
                "TrainOneStepWithLossScaleCell: 'scale_sense' has the wrong type: "
                f"got {type(scale_sense).__name__}, "
                "need a Cell or a Tensor of one element"
            )
        self.scale_sense = Parameter(Tensor(first, _float32), name="scale_sense", requires_grad=False)

    def set_sense_scale(self, sens):
        """Gives the scale another value."""
        self.scale_sense.set_data(sens, slice_shape=True)

    def get_overflow_status(self, status, compute_output):  # noqa: ARG002
        """Whether any of the gradients is not finite, as a Tensor of bool."""
        return Tensor(any(not bool(F.all(F.isfinite(g))) for g in compute_output))

    def start_overflow_check(self, pre_cond, compute_input):
        """Nothing has to begin: gradients are looked at."""
        return pre_cond, compute_input

    def process_loss_scale(self, overflow):
        """Updates the scale; gives whether the step is to be left out."""
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow

    def construct(self, *inputs):
        scale = self.scale_sense.value()
        loss, gradients = scaled_value_and_grad(self.network, inputs, self.weights, scale)
        gradients = tuple(g * (1.0 / scale.astype(g.dtype)) for g in gradients)
        overflow = self.process_loss_scale(self.get_overflow_status(None, gradients))
        if not overflow:
            self.optimizer(gradients)
        return loss, Tensor(bool(overflow)), scale
