"""Initial values of parameters: `initializer(XavierUniform(), shape, dtype)` and the classes it takes."""

import math

from .. import _core, _random
from .tensor import Tensor

_INITIALIZERS = {}


def _register(*names):
    def add(cls):
        for name in (cls.__name__, *names):
            _INITIALIZERS[name.lower()] = cls
        return cls

    return add


class Initializer:
    """The base of all initializers; subclasses give the values in `_initialize(shape)` as a float32 array."""

    def __init__(self, **kwargs):
        self._kwargs = kwargs

    def _initialize(self, arr):
        raise NotImplementedError(f"{type(self).__name__}: '_initialize' is missing: fill the array given")

    def __call__(self, arr):
        """Fills a NumPy array in place."""
        return self._initialize(arr)


def _fans(shape):
    """Numbers of inputs and outputs of one unit."""
    if len(shape) < 2:
        raise ValueError(
            f"initializer: too few axes for fan-in and fan-out: got shape {tuple(shape)}, need 2 or more"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _correct_fan(shape, mode):
    fan_in, fan_out = _fans(shape)
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"initializer: unknown mode: got {mode!r}, need 'fan_in' or 'fan_out'")
    return fan_in if mode == "fan_in" else fan_out


def calculate_gain(nonlinearity, param=None):
    """The factor by which a nonlinearity shrinks a standard deviation."""
    if nonlinearity in ("linear", "sigmoid", "conv1d", "conv2d", "conv3d") or nonlinearity.startswith("conv"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"initializer: unknown nonlinearity: got {nonlinearity!r}, need one such as 'relu'")


_calculate_gain = calculate_gain


def _calculate_fan_in_and_fan_out(arr):
    return _fans(getattr(arr, "shape", arr))


def _calculate_in_and_out(arr):
    return _fans(arr.shape)


_calculate_correct_fan = _correct_fan


def _assignment(arr, num):
    """Writes the number or array into a NumPy array and gives that."""
    arr[...] = num
    return arr


@_register("zeros")
class Zero(Initializer):
    """All zeros."""

    def _initialize(self, arr):
        arr[...] = 0


@_register("ones")
class One(Initializer):
    """All ones."""

    def _initialize(self, arr):
        arr[...] = 1


@_register()
class Constant(Initializer):
    """One number, or an array of the shape."""

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr):
        arr[...] = self.value


@_register()
class Identity(Initializer):
    """The identity matrix."""

    def _initialize(self, arr):
        if arr.ndim != 2:
            raise ValueError(f"Identity: wrong number of axes: got shape {arr.shape}, need 2")
        arr[...] = 0
        for i in range(min(arr.shape)):
            arr[i, i] = 1


@_register()
class Sparse(Initializer):
    """Normal values with a share `sparsity` of each column zero."""

    def __init__(self, sparsity, sigma=0.01):
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def _initialize(self, arr):
        if arr.ndim != 2:
            raise ValueError(f"Sparse: wrong number of axes: got shape {arr.shape}, need 2")
        rows = arr.shape[0]
        arr[...] = _random.normal(arr.shape, self.sigma)
        order = _random.uniform(arr.shape, 1.0).argsort(axis=0, kind="stable")
        for column in range(arr.shape[1]):
            arr[order[: math.ceil(self.sparsity * rows), column], column] = 0


@_register()
class Dirac(Initializer):
    """Convolution weights that pass channels through, in `groups` parts."""

    def __init__(self, groups=1):
        super().__init__(groups=groups)
        self.groups = groups

    def _initialize(self, arr):
        if arr.ndim not in (3, 4, 5):
            raise ValueError(f"Dirac: wrong number of axes: got shape {arr.shape}, need 3 to 5")
        arr[...] = 0
        middle = tuple(s // 2 for s in arr.shape[2:])
        per_group = arr.shape[0] // self.groups
        for group in range(self.groups):
            for channel in range(min(per_group, arr.shape[1])):
                arr[(group * per_group + channel, channel, *middle)] = 1


@_register()
class Uniform(Initializer):
    """Uniform between -scale and scale."""

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _initialize(self, arr):
        arr[...] = _random.uniform(arr.shape, self.scale)


@_register()
class Normal(Initializer):
    """Normal with that standard deviation and mean."""

    def __init__(self, sigma=0.01, mean=0.0):
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def _initialize(self, arr):
        arr[...] = _random.normal(arr.shape, self.sigma, self.mean)


@_register()
class TruncatedNormal(Initializer):
    """Normal, drawn again where it is below `a` or above `b`."""

    def __init__(self, sigma=0.01, mean=0.0, a=-2.0, b=2.0):
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def _initialize(self, arr):
        arr[...] = self.mean + self.sigma * _random.truncated_normal(
            arr.shape, (self.a - self.mean) / self.sigma, (self.b - self.mean) / self.sigma
        )


@_register("xavier_uniform")
class XavierUniform(Initializer):
    """Uniform with variance 2 / (fan_in + fan_out) times gain squared."""

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        bound = self.gain * math.sqrt(6.0 / sum(_fans(arr.shape)))
        arr[...] = _random.uniform(arr.shape, bound)


@_register("xavier_normal")
class XavierNormal(Initializer):
    """Normal with variance 2 / (fan_in + fan_out) times gain squared."""

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        sigma = self.gain * math.sqrt(2.0 / sum(_fans(arr.shape)))
        arr[...] = _random.normal(arr.shape, sigma)


class _He(Initializer):
    def __init__(self, negative_slope=0, mode="fan_in", nonlinearity="leaky_relu"):
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _sigma(self, shape):
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(
            _correct_fan(shape, self.mode)
        )


@_register("he_uniform")
class HeUniform(_He):
    """Uniform with variance gain squared / fan."""

    def _initialize(self, arr):
        bound = math.sqrt(3.0) * self._sigma(arr.shape)
        arr[...] = _random.uniform(arr.shape, bound)


@_register("he_normal")
class HeNormal(_He):
    """Normal with variance gain squared / fan."""

    def _initialize(self, arr):
        arr[...] = _random.normal(arr.shape, self._sigma(arr.shape))


@_register()
class VarianceScaling(Initializer):
    """Variance scale / fan, of the distribution named."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal"):
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0:
            raise ValueError(f"VarianceScaling: 'scale' is out of range: got {scale}, need more than 0")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(
                f"VarianceScaling: unknown mode: got {mode!r}, need 'fan_in', 'fan_out' or 'fan_avg'"
            )
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                f"VarianceScaling: unknown distribution: got {distribution!r}, need 'uniform', "
                "'truncated_normal' or 'untruncated_normal'"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def _initialize(self, arr):
        fan_in, fan_out = _fans(arr.shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        sigma = math.sqrt(self.scale / max(1.0, fan))
        if self.distribution == "uniform":
            arr[...] = _random.uniform(arr.shape, math.sqrt(3) * sigma)
        elif self.distribution == "untruncated_normal":
            arr[...] = _random.normal(arr.shape, sigma)
        else:
            # 0.87962566103423978 is the standard deviation of a normal cut at two.
            arr[...] = sigma / 0.87962566103423978 * _random.truncated_normal(arr.shape, -2, 2)


@_register()
class Orthogonal(Initializer):
    """A (half) orthogonal matrix times gain; further axes are folded into the second."""

    def __init__(self, gain=1.0):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        import numpy as np

        if arr.ndim < 2:
            raise ValueError(f"Orthogonal: too few axes: got shape {arr.shape}, need 2 or more")
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        drawn = _random.normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(drawn)
        q = q * np.sign(np.diag(r))
        arr[...] = self.gain * (q if rows >= columns else q.T).reshape(arr.shape)


def initializer(init, shape=None, dtype=_core.dtypes["float32"]):
    """A Tensor of that shape and dtype with the initial values that `init` (an Initializer, the name of
    one, a
    number or a Tensor) says.

    >>> from sorus.common.initializer import initializer
    >>> initializer("ones", (2, 3)).sum().item()
    6.0
    >>> initializer(0.5, (2,)).tolist()
    [0.5, 0.5]
    """
    import numpy as np

    if isinstance(init, Tensor):
        if shape is not None and tuple(_shape(shape)) != init.shape:
            raise ValueError(f"initializer: shape differs from the tensor's: got {shape}, need {init.shape}")
        return init.astype(dtype)
    if not isinstance(init, (Initializer, str, int, float)) or isinstance(init, bool):
        raise TypeError(
            f"initializer: 'init' has the wrong type: got {type(init).__name__}, need an Initializer, "
            "a name, a number or a Tensor"
        )
    shape = _shape(shape)
    if isinstance(init, str):
        if init.lower() not in _INITIALIZERS:
            raise ValueError(f"initializer: unknown name: got '{init}', need one of {sorted(_INITIALIZERS)}")
        init = _INITIALIZERS[init.lower()]()
    elif not isinstance(init, Initializer):
        init = Constant(init)
    array = np.zeros(shape, np.float32)
    filled = init(array)
    return Tensor(array if filled is None else filled, dtype)


def _shape(shape):
    if shape is None:
        raise ValueError("initializer: 'shape' is missing: got None, need one")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for s in shape:
        if not isinstance(s, int) or isinstance(s, bool) or s < 0:
            raise ValueError(f"initializer: 'shape' is no shape: got {shape}, need non-negative ints")
    return shape


_core.set_initializer_hook(initializer)
__all__ = [
    "Initializer",
    "initializer",
    "Zero",
    "One",
    "Constant",
    "Identity",
    "Sparse",
    "Dirac",
    "Uniform",
    "Normal",
    "TruncatedNormal",
    "XavierUniform",
    "XavierNormal",
    "HeUniform",
    "HeNormal",
    "VarianceScaling",
    "Orthogonal",
]
