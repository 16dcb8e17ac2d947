"""Normalization layers."""

from ... import _core, _functions, ops
from ...common.initializer import initializer
from ...common.parameter import Parameter
from ..cell import Cell
from .basic import check_groups, check_positive_int, given

_float32 = _core.dtypes["float32"]


class _BatchNorm(Cell):
    """Normalization over all axes but the channels, with running statistics for inference."""

    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
        data_format="NCHW",
        dtype=_float32,
    ):
        super().__init__()
        what = type(self).__name__
        check_positive_int(num_features, "num_features", what)
        if not 0 <= momentum <= 1:
            raise ValueError(f"{what}: 'momentum' is out of range: got {momentum}, need 0 to 1")
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            raise ValueError(
                f"{what}: 'use_batch_statistics' is out of range: got {use_batch_statistics}, need a bool"
            )
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.use_batch_statistics, self.data_format, self.affine = use_batch_statistics, data_format, affine
        shape = (num_features,)
        statistics = {"requires_grad": False}
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), "mean", **statistics)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), "variance", **statistics)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x):
        if x.ndim not in self._ranks:
            raise ValueError(
                f"{type(self).__name__}: wrong number of axes: got shape {x.shape}, need one of {self._ranks}"
            )
        if self.data_format == "NHWC":
            return ops.transpose(self._normalize(ops.transpose(x, (0, 3, 1, 2))), (0, 2, 3, 1))
        return self._normalize(x)

    def _normalize(self, x):
        train = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if not train:
            return _functions.batch_norm_inference(
                x, self.moving_mean, self.moving_variance, self.gamma, self.beta, self.eps
            )
        y, mean, variance = _functions.batch_norm_train(x, self.gamma, self.beta, self.eps)
        count = x.size // x.shape[1]
        keep = self.momentum
        unbiased = variance * (count / max(count - 1, 1))
        self.moving_mean.set_data(ops.stop_gradient(self.moving_mean * keep + mean * (1 - keep)))
        self.moving_variance.set_data(ops.stop_gradient(self.moving_variance * keep + unbiased * (1 - keep)))
        return y

    def extend_repr(self):
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


class BatchNorm1d(_BatchNorm):
    """Of (N, C) or (N, C, L)."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Of (N, C, H, W)."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Of (N, C, D, H, W)."""

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization; one process sees the whole batch."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
        process_groups=None,
        dtype=_float32,
    ):  # noqa: ARG002
        super().__init__(**given(locals(), "process_groups"))


def _layer_norm(layer):
    return ops.LayerNorm(layer.begin_norm_axis, layer.begin_params_axis, layer.epsilon)


class LayerNorm(Cell):
    """Normalization over the axes from begin_norm_axis on."""

    _on_demand = {"layer_norm": _layer_norm}

    def __init__(
        self,
        normalized_shape,
        begin_norm_axis=-1,
        begin_params_axis=-1,
        gamma_init="ones",
        beta_init="zeros",
        epsilon=1e-7,
        dtype=_float32,
    ):
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(
                f"LayerNorm: 'normalized_shape' has the wrong type: got {type(normalized_shape).__name__}, "
                "need a tuple or list of ints"
            )
        if not normalized_shape:
            raise ValueError("LayerNorm: 'normalized_shape' is empty: got (), need one axis or more")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis, self.epsilon = (
            begin_norm_axis,
            begin_params_axis,
            epsilon,
        )
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), "gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), "beta")

    def construct(self, input_x):
        return _functions.layer_norm_axes(input_x, self.begin_norm_axis, self.gamma, self.beta, self.epsilon)

    def extend_repr(self):
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"
        )


class GroupNorm(Cell):
    """Normalization over groups of channels."""

    def __init__(
        self,
        num_groups,
        num_channels,
        eps=1e-05,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        dtype=_float32,
    ):
        super().__init__()
        check_positive_int(num_groups, "num_groups", "GroupNorm")
        check_positive_int(num_channels, "num_channels", "GroupNorm")
        check_groups(num_groups, "GroupNorm", num_channels)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), "beta", requires_grad=affine)

    def construct(self, x):
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self):
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Normalization of each channel of each sample, with running statistics for inference."""

    _ranks = ()

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        dtype=_float32,
    ):
        super().__init__()
        check_positive_int(num_features, "num_features", type(self).__name__)
        if not 0 <= momentum <= 1:
            raise ValueError(
                f"{type(self).__name__}: 'momentum' is out of range: got {momentum}, need 0 to 1"
            )
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        shape = (num_features,)
        self.moving_mean = Parameter(initializer("zeros", shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", shape, dtype), "var", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x):
        if x.ndim not in self._ranks:
            raise ValueError(
                f"{type(self).__name__}: wrong number of axes: got shape {x.shape}, need one of {self._ranks}"
            )
        if not self.training:
            return _functions.batch_norm_inference(
                x, self.moving_mean, self.moving_variance, self.gamma, self.beta, self.eps
            )
        y, mean, variance = _functions.instance_norm_train(x, self.gamma, self.beta, self.eps)
        take = self.momentum
        count = x.size // (x.shape[0] * x.shape[1])
        unbiased = variance * (count / max(count - 1, 1))
        mean, unbiased = ops.mean(mean, 0), ops.mean(unbiased, 0)
        self.moving_mean.set_data(ops.stop_gradient(self.moving_mean * (1 - take) + mean * take))
        self.moving_variance.set_data(ops.stop_gradient(self.moving_variance * (1 - take) + unbiased * take))
        return y

    extend_repr = _BatchNorm.extend_repr


class InstanceNorm1d(_InstanceNorm):
    """Of (N, C, L)."""

    _ranks = (3,)


class InstanceNorm2d(_InstanceNorm):
    """Of (N, C, H, W)."""

    _ranks = (4,)


class InstanceNorm3d(_InstanceNorm):
    """Of (N, C, D, H, W)."""

    _ranks = (5,)


class LRN(Cell):
    """Local response normalization over the nearest channels."""

    def __init__(self, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"):
        super().__init__()
        self.settings = (depth_radius, bias, alpha, beta, norm_region)

    def construct(self, input_x):
        return ops.lrn(input_x, *self.settings)
