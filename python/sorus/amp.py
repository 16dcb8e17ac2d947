"""Mixed precision: networks that compute in 16-bit floats where that is safe, and scales of the loss."""

from . import _calls, _core, nn, ops
from ._core import Tensor
from .common.parameter import Parameter
from .train.loss_scale_manager import (
    DynamicLossScaleManager,
    FixedLossScaleManager,
    LossScaleManager,
)

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]

_float16, _bfloat16 = _core.dtypes["float16"], _core.dtypes["bfloat16"]
_float32, _int32 = _core.dtypes["float32"], _core.dtypes["int32"]
_WHITE = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.Conv1dTranspose,
    nn.Conv2dTranspose,
    nn.Conv3dTranspose,
    nn.Dense,
    nn.LSTMCell,
    nn.RNNCell,
    nn.GRUCell,
)
_BLACK = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm)


def get_white_list():
    """The classes of layers that compute in 16-bit floats at level O1."""
    return list(_WHITE)


def get_black_list():
    """The classes of layers that compute in float32 at level O2."""
    return list(_BLACK)


def _gives_float32(cell):
    """Makes a cell give what it computes as float32."""
    if not cell.__dict__.get("_gives_float32"):
        cell._gives_float32 = True
        cell.register_forward_hook(lambda _cell, _inputs, output: _calls.cast_floats(output, _float32))


def _lower_listed(network, white, dtype):
    for _, cell in network.cells_and_names():
        if isinstance(cell, white):
            cell.to_float(dtype)
            _gives_float32(cell)


def _lower_all_but(network, black, dtype):
    network.to_float(dtype)
    for _, cell in network.cells_and_names():
        if isinstance(cell, black):
            cell.to_float(_float32)


def _checked(what, network, dtype):
    if not isinstance(network, nn.Cell):
        raise TypeError(f"{what}: 'network' has the wrong type: got {type(network).__name__}, need a Cell")
    if dtype not in (_float16, _bfloat16):
        raise ValueError(f"{what}: unsupported 'dtype': got {dtype}, need float16 or bfloat16")


def auto_mixed_precision(network, amp_level="O0", dtype=_float16):
    """The network, computing in `dtype` at a level: O0 nowhere; O1 in the layers of the white list; O2 in all
    but those of the black list; O3 everywhere; "auto" as O1. At O2 and O3 results are float32 all the same.

    >>> from sorus import Tensor, amp, nn
    >>> net = amp.auto_mixed_precision(nn.Dense(2, 3), "O2")
    >>> net(Tensor([[1.0, 2.0]])).dtype
    sorus.float32
    """
    _checked("auto_mixed_precision", network, dtype)
    if amp_level not in ("O0", "O1", "O2", "O3", "auto"):
        raise ValueError(
            f"auto_mixed_precision: unknown 'amp_level': got {amp_level!r}, "
            "need 'O0', 'O1', 'O2', 'O3' or 'auto'"
        )
    if amp_level in ("O1", "auto"):
        _lower_listed(network, _WHITE, dtype)
    elif amp_level == "O2":
        _lower_all_but(network, _BLACK, dtype)
    elif amp_level == "O3":
        network.to_float(dtype)
    if amp_level in ("O2", "O3"):
        _gives_float32(network)
    return network


def custom_mixed_precision(network, *, white_list=None, black_list=None, dtype=_float16):
    """The network, computing in `dtype` in the layers of these classes, or in all but those of these."""
    what = "custom_mixed_precision"
    _checked(what, network, dtype)
    if (white_list is None) == (black_list is None):
        raise ValueError(f"{what}: need either 'white_list' or 'black_list': got both or none")
    listed = tuple(black_list if white_list is None else white_list)
    for kind in listed:
        if not isinstance(kind, type) or not issubclass(kind, nn.Cell):
            raise TypeError(f"{what}: a list has the wrong type: got {kind!r}, need classes of cells")
    if white_list is not None:
        _lower_listed(network, listed, dtype)
    else:
        _lower_all_but(network, listed, dtype)
        _gives_float32(network)
    return network


class _LossInFloat32(nn.Cell):
    """A network with its loss, which is computed in float32."""

    def __init__(self, network, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone, self._loss_fn = network, loss_fn

    def construct(self, data, label):
        out = self._backbone(data)
        return self._loss_fn(_calls.cast_floats(out, _float32), _calls.cast_floats(label, _float32))


def build_train_network(network, optimizer, loss_fn=None, level="O0", boost_level="O0", **kwargs):  # noqa: ARG001
    """The cell of a training step: network, loss, gradients and optimizer in mixed precision. It also takes
    `keep_batchnorm_fp32` and `loss_scale_manager`.
    """
    what = "build_train_network"
    known = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")
    unknown = sorted(set(kwargs) - set(known))
    if unknown:
        raise ValueError(f"{what}: unknown argument: got {unknown}, need some of {list(known)}")
    if not isinstance(network, nn.Cell) or not isinstance(optimizer, nn.Optimizer):
        raise TypeError(
            f"{what}: arguments of the wrong type: got {type(network).__name__} and "
            f"{type(optimizer).__name__}, need a Cell and an Optimizer"
        )
    if level == "O2" and kwargs.get("keep_batchnorm_fp32") is False:
        level = "O3"
    elif level == "O3" and kwargs.get("keep_batchnorm_fp32"):
        level = "O2"
    network = auto_mixed_precision(network, level)
    if loss_fn is not None:
        network = (nn.WithLossCell if level == "O0" else _LossInFloat32)(network, loss_fn)
    manager = kwargs.get("loss_scale_manager")
    if manager is None:
        return nn.TrainOneStepCell(network, optimizer).set_train()
    update = manager.get_update_cell()
    if update is None:
        return nn.TrainOneStepCell(network, optimizer, manager.get_loss_scale()).set_train()
    return nn.TrainOneStepWithLossScaleCell(network, optimizer, update).set_train()


def all_finite(inputs):
    """Whether all elements of one or several tensors are numbers, no infinities: a bool tensor.

    >>> from sorus import Tensor, amp
    >>> bool(amp.all_finite((Tensor([1.0, 2.0]), Tensor([float("inf")]))))
    False
    """
    tensors = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not tensors:
        raise ValueError("all_finite: 'inputs' is empty: got no tensor, need at least one")
    found = None
    for t in tensors:
        finite = ops.all(ops.isfinite(t))
        found = finite if found is None else ops.logical_and(found, finite)
    return found


class LossScaler:
    """The base of scales of the loss: `scale` a loss, `unscale` gradients, `adjust` to their being finite."""

    def scale(self, inputs):
        """The inputs times the scale."""
        raise NotImplementedError

    def unscale(self, inputs):
        """The inputs divided by the scale."""
        raise NotImplementedError

    def adjust(self, grads_finite):
        """Learns whether gradients were finite."""
        raise NotImplementedError


def _each(inputs, function):
    if isinstance(inputs, Tensor):
        return function(inputs)
    return tuple(function(t) for t in inputs)


def _positive(what, **values):
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{what}: '{name}' has the wrong type: got {value!r}, need a number")
        if value <= 0:
            raise ValueError(f"{what}: '{name}' is out of range: got {value}, need more than 0")


class StaticLossScaler(LossScaler):
    """A scale that stays."""

    def __init__(self, scale_value):
        _positive("StaticLossScaler", scale_value=scale_value)
        self.scale_value = Parameter(
            Tensor(float(scale_value), _float32), name="scale_value", requires_grad=False
        )

    def scale(self, inputs):
        return _each(inputs, lambda t: t * self.scale_value.astype(t.dtype))

    def unscale(self, inputs):
        return _each(inputs, lambda t: t / self.scale_value.astype(t.dtype))

    def adjust(self, grads_finite):
        """The scale stays."""


class DynamicLossScaler(StaticLossScaler):
    """A scale that is divided by a factor after gradients that are not finite, down to 1, and multiplied by
    it after `scale_window` times of finite ones.
    """

    def __init__(self, scale_value, scale_factor, scale_window):
        _positive("DynamicLossScaler", scale_factor=scale_factor, scale_window=scale_window)
        super().__init__(scale_value)
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.counter = Parameter(Tensor(0, _int32), name="counter", requires_grad=False)

    def adjust(self, grads_finite):
        """Learns whether gradients were finite."""
        scale, counter = self.scale_value, self.counter
        finite = grads_finite if isinstance(grads_finite, Tensor) else Tensor(bool(grads_finite))
        larger = scale * self.scale_factor
        grows = ops.logical_and(counter == self.scale_window - 1, ops.isfinite(larger))
        smaller = ops.maximum(scale / self.scale_factor, Tensor(1.0, _float32))
        scale.set_data(ops.where(finite, ops.where(grows, larger, scale), smaller))
        next_count = ops.where(counter == self.scale_window - 1, Tensor(0, _int32), counter + 1)
        counter.set_data(ops.where(finite, next_count, Tensor(0, _int32)))
        return True
