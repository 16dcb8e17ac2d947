"""Cells around networks: loss, training step, evaluation."""

from .. import _autograd
from .._core import Tensor
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
