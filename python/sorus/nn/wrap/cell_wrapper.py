"""A network with its loss, with its gradients, with a whole training step."""

from ... import _autograd
from ..._context import ParallelMode
from ..._core import Tensor, dtypes
from ...common.parameter import Parameter, ParameterTuple
from ..cell import Cell
from ..layer.basic import Identity


class WithLossCell(Cell):
    """loss_fn(backbone(data), label)."""

    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data, label):
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self):
        """The network without its loss."""
        return self._backbone


class WithEvalCell(Cell):
    """(loss, network's result, label): what metrics take."""

    def __init__(self, network, loss_fn, add_cast_fp32=False):
        super().__init__(auto_prefix=False)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data, label):
        outputs = self._network(data)
        if self.add_cast_fp32:
            label, outputs = (t.astype(dtypes["float32"]) if _is_floating(t) else t for t in (label, outputs))
        return self._loss_fn(outputs, label), outputs, label


def _is_floating(value):
    return isinstance(value, Tensor) and value.dtype.is_floating_point


class WithGradCell(Cell):
    """Gradients of the network's weights, for a loss function or a network that gives the loss."""

    def __init__(self, network, loss_fn=None, sens=None):
        super().__init__(auto_prefix=False)
        self.network = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.weights = ParameterTuple(network.trainable_params())
        self.sens = sens

    def construct(self, *inputs):
        return scaled_value_and_grad(self.network, inputs, self.weights, self.sens)[1]


def scaled_value_and_grad(network, inputs, weights, sens=None):
    """The network's result, and the gradients of `weights` for the result times `sens`."""
    if sens is None or (isinstance(sens, (int, float)) and sens == 1):
        return _autograd.value_and_grad(network, None, weights)(*inputs)

    def scaled(*args):
        result = network(*args)
        first = result[0] if isinstance(result, (tuple, list)) else result
        return first * sens, result

    (_, result), gradients = _autograd.value_and_grad(scaled, None, weights, has_aux=True)(*inputs)
    return result, gradients


class TrainOneStepCell(Cell):
    """One training step: forward, backward, update. Gives the loss.

    `sens` multiplies gradients, for optimizers with a loss scale. With `return_grad` the result is (loss,
    gradients by parameter name).
    """

    def __init__(self, network, optimizer, sens=None, return_grad=False):
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise TypeError(
                f"TrainOneStepCell: 'network' has the wrong type: got {type(network).__name__}, need a Cell"
            )
        if not callable(optimizer) or not hasattr(optimizer, "parameters"):
            raise TypeError(
                f"TrainOneStepCell: 'optimizer' has the wrong type: got {type(optimizer).__name__}, "
                "need an Optimizer"
            )
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = _autograd.GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = _autograd.GradOperation(get_by_list=True)
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad
        self.sense_flag = sens is not None and sens != 1.0
        self.parallel_mode = ParallelMode.STAND_ALONE
        self.reducer_flag = False
        self.grad_reducer = Identity()
        if return_grad:
            self.weights_name = [p.name for p in optimizer.parameters]

    def construct(self, *inputs):
        loss, gradients = scaled_value_and_grad(self.network, inputs, self.weights, self.sens)
        gradients = self.grad_reducer(gradients)
        self.optimizer(gradients)
        return (loss, dict(zip(self.weights_name, gradients))) if self.return_grad else loss


class ForwardValueAndGrad(Cell):
    """The network's result with gradients of inputs (`get_all`), weights (`get_by_list`) or both."""

    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        self.network = network
        if isinstance(network, Cell):
            network.set_grad()
        self.weights = weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def construct(self, *inputs):
        inputs, sens = (inputs[:-1], inputs[-1]) if self.sens_param else (inputs, 1.0)
        weights = self.weights if self.get_by_list else None
        positions = tuple(range(len(inputs))) if self.get_all else 0
        if weights is not None and not self.get_all:
            positions = None

        def scaled(*args):
            result = self.network(*args)
            first = result[0] if isinstance(result, (tuple, list)) else result
            return (first * sens if self.sens_param else first), result

        (_, result), gradients = _autograd.value_and_grad(scaled, positions, weights, has_aux=True)(*inputs)
        return result, gradients


class ParameterUpdate(Cell):
    """Gives a parameter the value it is called with."""

    def __init__(self, param):
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise TypeError(f"ParameterUpdate: wrong type: got {type(param).__name__}, need a Parameter")
        self._param = param

    def construct(self, x):
        self._param.set_data(x)
        return x
