"""Cells around networks: loss, training step, evaluation."""

from .. import _autograd, ops
from .._core import Tensor
from ..common.parameter import Parameter
from .cell import Cell


class WithLossCell(Cell):
    """The loss of a network: `loss_fn(backbone(data), label)`."""

    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data, label):
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self):
        """The network."""
        return self._backbone


class WithEvalCell(Cell):
    """Loss, outputs and labels of a network."""

    def __init__(self, network, loss_fn, add_cast_fp32=False):
        super().__init__(auto_prefix=False)
        self._network, self._loss_fn, self.add_cast_fp32 = network, loss_fn, add_cast_fp32

    def construct(self, data, label):
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs = outputs.float()
        return self._loss_fn(outputs, label), outputs, label


class TrainOneStepCell(Cell):
    """One step of training: gradients of the network's loss, then the optimizer; gives the loss."""

    def __init__(self, network, optimizer, sens=None, return_grad=False):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad
        self.reducer_flag = False
        self.grad_reducer = None

    def construct(self, *inputs):
        def forward(*args):
            return self.network(*args)

        loss, gradients = _autograd.value_and_grad(forward, None, list(self.weights))(*inputs)
        if self.sens != 1.0:
            gradients = tuple(g * self.sens for g in gradients)
        self.optimizer(gradients)
        if self.return_grad:
            return loss, {p.name: g for p, g in zip(self.weights, gradients)}
        return loss


class ForwardValueAndGrad(Cell):
    """Loss of a network and its gradients."""

    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        self.network, self.weights = network, weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def construct(self, *inputs):
        *inputs, sens = inputs if self.sens_param else (*inputs, None)
        weights = list(self.weights) if self.get_by_list else None
        positions = tuple(range(len(inputs))) if self.get_all else (None if self.get_by_list else 0)
        value, gradients = _autograd.value_and_grad(self.network, positions, weights)(*inputs)
        if isinstance(sens, (int, float, Tensor)):
            gradients = (
                tuple(g * sens for g in gradients) if isinstance(gradients, tuple) else gradients * sens
            )
        return value, gradients


class ParameterUpdate(Cell):
    """Gives a parameter another value."""

    def __init__(self, param):
        super().__init__(auto_prefix=False)
        self._param = param

    def construct(self, x):
        self._param.set_data(x)
        return x


class DistributedGradReducer(Cell):
    """Means of gradients over processes; one process has them already."""

    def __init__(self, parameters, mean=None, degree=None, fusion_type=1, group="hccl_world_group"):  # noqa: ARG002
        super().__init__(auto_prefix=False)

    def construct(self, grads):
        return grads


class FixedLossScaleUpdateCell(Cell):
    """A loss scale that stays as it is."""

    def __init__(self, loss_scale_value):
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self):
        """The scale."""
        return self.loss_scale_value

    def construct(self, _loss_scale, overflow):
        return overflow


class DynamicLossScaleUpdateCell(Cell):
    """A loss scale that shrinks at an overflow and grows after scale_window steps without one."""

    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        self.loss_scale_value, self.scale_factor, self.scale_window = (
            loss_scale_value,
            scale_factor,
        )
        scale_window
        self._good_steps = 0

    def get_loss_scale(self):
        """The scale to start with."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        scale = float(loss_scale)
        if bool(overflow):
            scale, self._good_steps = max(scale / self.scale_factor, 1.0), 0
        else:
            self._good_steps += 1
            if self._good_steps >= self.scale_window:
                scale, self._good_steps = scale * self.scale_factor, 0
        loss_scale.set_data(Tensor(scale, loss_scale.dtype))
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A step of training with a scaled loss; gives loss, overflow and scale, and skips the update at an
    overflow.
    """

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer)
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            scale_sense = Tensor(float(scale_sense.get_loss_scale()))
        if not isinstance(scale_sense, Tensor):
            raise TypeError(
                "TrainOneStepWithLossScaleCell: 'scale_sense' has the wrong type: got "
                f"{type(scale_sense).__name__}, need a Tensor or an update cell"
            )
        self.scale_sense = Parameter(scale_sense.float(), name="scale_sense", requires_grad=False)

    def set_sense_scale(self, sens):
        """Gives the scale another value."""
        self.scale_sense.set_data(sens)

    def construct(self, *inputs):
        scale = self.scale_sense.value()
        loss = None

        def forward(*args):
            nonlocal loss
            loss = self.network(*args)
            return loss * scale.astype(loss.dtype)

        _, gradients = _autograd.value_and_grad(forward, None, list(self.weights))(*inputs)
        gradients = tuple(g / scale.astype(g.dtype) for g in gradients)
        overflow = self.process_loss_scale(self.get_overflow_status(gradients))
        if not bool(overflow):
            self.optimizer(gradients)
        return loss, overflow, scale

    def get_overflow_status(self, gradients):
        """True when a gradient is not finite."""
        finite = ops.stack([ops.all(ops.isfinite(g)) for g in gradients])
        return ops.logical_not(ops.all(finite))

    def process_loss_scale(self, overflow):
        """Lets the update cell follow the overflow."""
        if self.loss_scaling_manager is not None:
            self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow
