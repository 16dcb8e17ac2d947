"""Layers that hold other layers: Conv2dBnAct, DenseBnAct, TimeDistributed."""

from ... import ops
from ..cell import Cell
from .activation import LeakyReLU, get_activation
from .basic import Dense, check_bool, given
from .conv import Conv2d
from .normalization import BatchNorm1d, BatchNorm2d


class _Combined(Cell):
    """A layer, then batch normalization and an activation, where they are asked for."""

    def _add(self, has_bn, normalization, activation, alpha):
        what = type(self).__name__
        self.has_bn = check_bool(has_bn, "has_bn", what)
        if has_bn:
            self.batchnorm = normalization()
        if activation == "leakyrelu":
            self.activation = LeakyReLU(alpha)
        else:
            self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if self.activation is not None and not isinstance(self.activation, Cell):
            raise TypeError(
                f"{what}: 'activation' has the wrong type: got {type(activation).__name__}, need a Cell"
            )
        self.has_act = self.activation is not None

    def _finish(self, x):
        x = self.batchnorm(x) if self.has_bn else x
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_Combined):
    """A Conv2d, then with `has_bn` a BatchNorm2d, then the activation if one is given, by name or as a cell.

    The children are called conv, batchnorm and activation. `alpha` is that of the activation "leakyrelu";
    `after_fake` changes nothing. Other arguments, shapes and errors are those of Conv2d.

    >>> from sorus import nn, ops
    >>> layer = nn.Conv2dBnAct(3, 8, 3, has_bn=True, activation="relu")
    >>> layer(ops.ones((1, 3, 6, 6))).shape
    (1, 8, 6, 6)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init="normal",
        bias_init="zeros",
        has_bn=False,
        momentum=0.997,
        eps=1e-5,
        activation=None,
        alpha=0.2,
        after_fake=True,
    ):  # noqa: ARG002
        convolution = given(locals(), "has_bn", "momentum", "eps", "activation", "alpha", "after_fake")
        super().__init__()
        self.conv = Conv2d(**convolution)
        self._add(has_bn, lambda: BatchNorm2d(out_channels, eps, momentum), activation, alpha)

    def construct(self, x):
        return self._finish(self.conv(x))


class DenseBnAct(_Combined):
    """A Dense layer, then with `has_bn` a BatchNorm1d, then the activation if one is given, by name or as a
    cell.

    The children are called dense, batchnorm and activation. `alpha` is that of the activation "leakyrelu";
    `after_fake` changes nothing. Other arguments, shapes and errors are those of Dense.

    >>> from sorus import nn, ops
    >>> nn.DenseBnAct(4, 2, has_bn=True, activation="relu")(ops.ones((3, 4))).shape
    (3, 2)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        weight_init="normal",
        bias_init="zeros",
        has_bias=True,
        has_bn=False,
        momentum=0.9,
        eps=1e-5,
        activation=None,
        alpha=0.2,
        after_fake=True,  # noqa: ARG002
    ):
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._add(has_bn, lambda: BatchNorm1d(out_channels, eps, momentum), activation, alpha)

    def construct(self, x):
        return self._finish(self.dense(x))


class TimeDistributed(Cell):
    """A layer applied at each place of an axis, all with the same weights.

    `layer` is a cell or function of one tensor without the axis `time_axis`; the results are stacked along
    it. With `reshape_with_axis`, an axis beside it that the layer treats item by item, such as the batch, it
    is called once instead, on both axes in one. Raises TypeError for arguments of the wrong type, ValueError
    for axes that do not fit.

    >>> from sorus import nn, ops
    >>> nn.TimeDistributed(nn.Dense(3, 2), time_axis=1, reshape_with_axis=0)(ops.ones((4, 5, 3))).shape
    (4, 5, 2)
    """

    def __init__(self, layer, time_axis, reshape_with_axis=None):
        super().__init__()
        if not callable(layer):
            raise TypeError(
                f"TimeDistributed: 'layer' has the wrong type: got {type(layer).__name__}, need a Cell"
            )
        for name, value in (("time_axis", time_axis), ("reshape_with_axis", reshape_with_axis or 0)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(
                    f"TimeDistributed: '{name}' has the wrong type: got {type(value).__name__}, need an int"
                )
        self.layer, self.time_axis, self.reshape_with_axis = layer, time_axis, reshape_with_axis

    def _axis(self, axis, rank):
        if not -rank <= axis < rank:
            raise ValueError(f"TimeDistributed: axis is out of range: got {axis}, need {-rank} to {rank - 1}")
        return axis % rank

    def construct(self, inputs):
        axis = self._axis(self.time_axis, inputs.ndim)
        if self.reshape_with_axis is None:
            places = [self.layer(x) for x in ops.unbind(inputs, axis)]
            return ops.stack(places, axis)
        other = self._axis(self.reshape_with_axis, inputs.ndim)
        first = min(axis, other)
        if abs(axis - other) != 1:
            raise ValueError(
                f"TimeDistributed: axes are no neighbours: got {self.time_axis}, {self.reshape_with_axis}, "
                "need one beside the other"
            )
        shape = inputs.shape
        both = shape[first : first + 2]
        made = self.layer(inputs.reshape(*shape[:first], both[0] * both[1], *shape[first + 2 :]))
        return made.reshape(*made.shape[:first], *both, *made.shape[first + 1 :])
