"""Pooling layers."""

from ... import _functions, ops
from ..cell import Cell


class _Pool(Cell):
    """What pooling layers share. pad_mode "same" pads so that ceil(size / stride) windows fit."""

    _axes = 2

    def __init__(self, kernel_size, stride, pad_mode, padding, ceil_mode, data_format="NCHW"):
        super().__init__()
        what = type(self).__name__
        for name, value in (("kernel_size", kernel_size), ("stride", stride)):
            numbers = (value,) if isinstance(value, int) else value
            if isinstance(value, bool) or not isinstance(numbers, (tuple, list)):
                raise TypeError(
                    f"{what}: '{name}' has the wrong type: got {value!r}, need an int or a tuple of ints"
                )
            if any(isinstance(n, bool) or not isinstance(n, int) for n in numbers):
                raise TypeError(
                    f"{what}: '{name}' has the wrong type: got {value!r}, need an int or a tuple of ints"
                )
            if any(n < 1 for n in numbers):
                raise ValueError(f"{what}: '{name}' is out of range: got {value}, need 1 or more")
        if not isinstance(pad_mode, str):
            raise TypeError(
                f"{what}: 'pad_mode' has the wrong type: got {type(pad_mode).__name__}, need a str"
            )
        if pad_mode.lower() not in ("same", "valid", "pad"):
            raise ValueError(f"{what}: unknown pad_mode: got {pad_mode!r}, need 'same', 'valid' or 'pad'")
        if pad_mode.lower() != "pad" and padding not in (0, (0,) * self._axes):
            raise ValueError(
                f"{what}: 'padding' needs pad_mode 'pad': got {padding} with {pad_mode!r}, need 0"
            )
        self.kernel_size, self.stride = kernel_size, stride
        self.pad_mode, self.padding, self.ceil_mode, self.format = (
            pad_mode.upper(),
            padding,
            ceil_mode,
            data_format,
        )

    def _geometry(self, x):
        kernel = self._list(self.kernel_size)
        stride = self._list(self.stride)
        if self.pad_mode == "SAME":
            return kernel, stride, _functions.same_padding(x.shape[-self._axes :], kernel, stride)
        return kernel, stride, self._list(self.padding)

    def _list(self, value):
        return (value,) * self._axes if isinstance(value, int) else tuple(value)

    def construct(self, x):
        if x.ndim not in (self._axes + 1, self._axes + 2):
            raise ValueError(
                f"{type(self).__name__}: wrong number of axes: got shape {x.shape}, need {self._axes + 2}"
            )
        if self.format == "NHWC":
            return ops.transpose(self._pool(ops.transpose(x, (0, 3, 1, 2))), (0, 2, 3, 1))
        return self._pool(x)

    def extend_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    def __init__(
        self,
        kernel_size=1,
        stride=1,
        pad_mode="valid",
        padding=0,
        dilation=1,
        return_indices=False,
        ceil_mode=False,
        data_format="NCHW",
    ):
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        self.dilation, self.return_indices = dilation, return_indices

    def _pool(self, x):
        kernel, stride, padding = self._geometry(x)
        pool = _functions.max_pool_with_indices if self.return_indices else _functions.max_pool
        return pool(x, kernel, stride, padding, self.dilation, self.ceil_mode)


class MaxPool1d(_MaxPool):
    """Largest element of each window."""

    _axes = 1


class MaxPool2d(_MaxPool):
    """Largest element of each window."""


class MaxPool3d(_MaxPool):
    """Largest element of each window."""

    _axes = 3


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size=1,
        stride=1,
        pad_mode="valid",
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
        data_format="NCHW",
    ):
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def _pool(self, x):
        kernel, stride, padding = self._geometry(x)
        counts = self.count_include_pad and self.pad_mode != "SAME"
        return _functions.avg_pool(
            x, kernel, stride, padding, self.ceil_mode, counts, self.divisor_override or 0
        )


class AvgPool1d(_AvgPool):
    """Mean of each window."""

    _axes = 1


class AvgPool2d(_AvgPool):
    """Mean of each window."""


class AvgPool3d(_AvgPool):
    """Mean of each window."""

    _axes = 3


class _Adaptive(Cell):
    _axes = 2

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def _size(self):
        size = self.output_size
        size = (size,) * self._axes if isinstance(size, int) or size is None else tuple(size)
        return tuple(-1 if s is None else s for s in size)


class _AdaptiveAvg(_Adaptive):
    def __init__(self, output_size):
        super().__init__(output_size)

    def construct(self, x):
        return _functions.adaptive_avg_pool(x, self._size())


class _AdaptiveMax(_Adaptive):
    def construct(self, x):
        if self.return_indices:
            return _functions.adaptive_max_pool_with_indices(x, self._size())
        return _functions.adaptive_max_pool(x, self._size())


class AdaptiveAvgPool1d(_AdaptiveAvg):
    """Means over windows that give the output size."""

    _axes = 1


class AdaptiveAvgPool2d(_AdaptiveAvg):
    """Means over windows that give the output size."""


class AdaptiveAvgPool3d(_AdaptiveAvg):
    """Means over windows that give the output size."""

    _axes = 3


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Maxima over windows that give the output size."""

    _axes = 1


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima over windows that give the output size."""


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Maxima over windows that give the output size."""

    _axes = 3


class _Unpool(Cell):
    """Puts maxima back to the places that pooling has told; all else is 0."""

    _axes = 2

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, x, indices, output_size=None):
        unpool = getattr(ops, f"max_unpool{self._axes}d")
        return unpool(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_Unpool):
    """The maxima of a line at their places."""

    _axes = 1


class MaxUnpool2d(_Unpool):
    """The maxima of an image at their places."""


class MaxUnpool3d(_Unpool):
    """The maxima of a volume at their places."""

    _axes = 3


class _LPPool(Cell):
    _axes = 2

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def construct(self, x):
        pool = getattr(ops, f"lp_pool{self._axes}d")
        return pool(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """Norms of windows of a line."""

    _axes = 1


class LPPool2d(_LPPool):
    """Norms of windows of an image."""
