"""Measures and parts of images: SSIM, MSSSIM, PSNR, ImageGradients, CentralCrop."""

import math

from ... import _core, _functions as F
from ..cell import Cell
from .basic import check_positive_int

_float32 = _core.dtypes["float32"]


def _check_positive(value, name, what):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a float")
    if not 0 < value < math.inf:
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need more than 0")
    return float(value)


def _check_images(what, first, second):
    for x in (first, second):
        if x.ndim != 4:
            raise ValueError(f"{what}: images have the wrong rank: got shape {x.shape}, need (N, C, H, W)")
    if first.shape != second.shape:
        raise ValueError(f"{what}: shapes differ: got {first.shape} and {second.shape}, need the same")
    if first.dtype != second.dtype:
        raise TypeError(f"{what}: dtypes differ: got {first.dtype} and {second.dtype}, need the same")


class _Similarity(Cell):
    """What SSIM and MSSSIM share: means, variances and covariances under a Gaussian window."""

    def __init__(self, max_val, filter_size, filter_sigma, k1, k2):
        super().__init__()
        what = type(self).__name__
        self.max_val = _check_positive(max_val, "max_val", what)
        self.filter_size = check_positive_int(filter_size, "filter_size", what)
        self.filter_sigma = _check_positive(filter_sigma, "filter_sigma", what)
        self.k1, self.k2 = _check_positive(k1, "k1", what), _check_positive(k2, "k2", what)

    def _check(self, first, second, scale=1):
        what = type(self).__name__
        _check_images(what, first, second)
        if min(first.shape[2:]) < self.filter_size * scale:
            raise ValueError(
                f"{what}: images are smaller than the window: got shape {first.shape}, need a height and "
                f"width of {self.filter_size * scale} or more"
            )

    def _window(self, channels, dtype):
        places = F.sub(F.cast(F.arange(0, self.filter_size, 1, _core.dtypes["int64"]), dtype), self._middle())
        line = F.softmax(F.mul(F.square(places), -0.5 / self.filter_sigma**2), -1)
        window = F.mul(F.expand_dims(line, 0), F.expand_dims(line, 1))
        return F.broadcast_to(window, (channels, 1, self.filter_size, self.filter_size))

    def _middle(self):
        return (self.filter_size - 1) / 2

    def _measures(self, x, y):
        """Per image and channel the mean of the whole measure, and that of contrast and structure alone."""
        channels = x.shape[1]
        window = self._window(channels, x.dtype)

        def blurred(image):
            return F.conv(image, window, groups=channels)

        mean_x, mean_y = blurred(x), blurred(y)
        c1, c2 = (self.k1 * self.max_val) ** 2, (self.k2 * self.max_val) ** 2
        product = mean_x * mean_y
        squares = F.square(mean_x) + F.square(mean_y)
        luminance = (product * 2 + c1) / (squares + c1)
        both, each = blurred(x * y), blurred(F.square(x) + F.square(y))
        rest = ((both - product) * 2 + c2) / (each - squares + c2)
        return F.mean(luminance * rest, (2, 3)), F.mean(rest, (2, 3))


class SSIM(_Similarity):
    """Structural similarity of images: the mean over places and channels of
    (2 mx my + c1) (2 sxy + c2) / ((mx^2 + my^2 + c1) (sx + sy + c2)), where means m, variances s and the
    covariance sxy are those under a Gaussian window, c1 = (k1 max_val)^2 and c2 = (k2 max_val)^2.

    Takes two images of shape (N, C, H, W) and one dtype, whose largest value is `max_val`, and gives shape
    (N,): 1 where they are equal. Height and width must be `filter_size` or more; no border is added. Integer
    images are converted to float32. Raises TypeError for arguments of the wrong type and dtypes that differ,
    ValueError for numbers that are not positive and shapes that do not fit.

    >>> from sorus import nn, ops
    >>> image = ops.ones((1, 3, 16, 16))
    >>> nn.SSIM()(image, image).tolist()
    [1.0]
    """

    def __init__(self, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)

    def construct(self, img1, img2):
        self._check(img1, img2)
        whole, _ = self._measures(_floats(img1), _floats(img2))
        return F.mean(whole, -1)


class MSSSIM(_Similarity):
    """Structural similarity at several scales: the product of contrast and structure at each scale and of
    the whole measure at the last one, each to its power, averaged over channels. Images are halved by
    average pooling from scale to scale; measures below 0 count as 0.

    `power_factors` has a power for each scale. Arguments, shapes and errors are those of SSIM; height and
    width must be filter_size * 2^(scales - 1) or more.

    >>> from sorus import nn, ops
    >>> image = ops.ones((1, 1, 32, 32))
    >>> nn.MSSSIM(power_factors=(0.5, 0.5))(image, image).tolist()
    [1.0]
    """

    def __init__(
        self,
        max_val=1.0,
        power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size=11,
        filter_sigma=1.5,
        k1=0.01,
        k2=0.03,
    ):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        if not isinstance(power_factors, (tuple, list)):
            raise TypeError(
                f"MSSSIM: 'power_factors' has the wrong type: got {type(power_factors).__name__}, "
                "need a tuple or list"
            )
        if not power_factors:
            raise ValueError("MSSSIM: 'power_factors' is empty: got none, need one for each scale")
        self.power_factors = tuple(_check_positive(p, "power_factors", "MSSSIM") for p in power_factors)

    def construct(self, img1, img2):
        scales = len(self.power_factors)
        self._check(img1, img2, 2 ** (scales - 1))
        x, y = _floats(img1), _floats(img2)
        result = 1.0
        for scale, power in enumerate(self.power_factors):
            whole, rest = self._measures(x, y)
            result = F.pow(F.relu(whole if scale == scales - 1 else rest), power) * result
            if scale < scales - 1:
                x, y = (F.avg_pool(image, (2, 2), (2, 2)) for image in (x, y))
        return F.mean(result, -1)


class PSNR(Cell):
    """Peak signal-to-noise ratio of images in decibels: 10 log10(max_val^2 / mean of squared differences).

    Takes two images of shape (N, C, H, W) and one dtype and gives shape (N,); equal images give infinity.
    Integer images are converted to float32. Raises TypeError for a `max_val` of the wrong type and dtypes
    that differ, ValueError for one that is not positive and shapes that do not fit.

    >>> from sorus import nn, ops
    >>> round(nn.PSNR()(ops.zeros((1, 1, 2, 2)), ops.full((1, 1, 2, 2), 0.1)).item(), 3)
    20.0
    """

    def __init__(self, max_val=1.0):
        super().__init__()
        self.max_val = _check_positive(max_val, "max_val", "PSNR")

    def construct(self, img1, img2):
        _check_images("PSNR", img1, img2)
        error = F.mean(F.square(_floats(img1) - _floats(img2)), (1, 2, 3))
        return F.log10(self.max_val**2 / error) * 10


def _floats(image):
    return image if image.dtype.is_floating_point else F.cast(image, _float32)


class ImageGradients(Cell):
    """Differences of each pixel and the next one down and to the right: (dy, dx), each with the shape and
    dtype of the image, (N, C, H, W). The last row of dy and the last column of dx are 0. Another rank raises
    ValueError.

    >>> from sorus import Tensor, nn
    >>> dy, dx = nn.ImageGradients()(Tensor([[[[1, 2], [3, 5]]]]))
    >>> dy.tolist(), dx.tolist()
    ([[[[2, 3], [0, 0]]]], [[[[1, 0], [2, 0]]]])
    """

    def construct(self, images):
        if images.ndim != 4:
            raise ValueError(
                f"ImageGradients: images have the wrong rank: got shape {images.shape}, need (N, C, H, W)"
            )
        return _forward_difference(images, 2), _forward_difference(images, 3)


def _forward_difference(x, axis):
    n = x.shape[axis]
    if n < 2:
        return F.full(x.shape, 0, x.dtype)
    step = F.narrow(x, axis, 1, n - 1) - F.narrow(x, axis, 0, n - 1)
    last = list(x.shape)
    last[axis] = 1
    return F.concat([step, F.full(tuple(last), 0, x.dtype)], axis)


class CentralCrop(Cell):
    """The middle of images: a share `central_fraction` of height and width, from above 0 to 1.

    Takes (C, H, W) or (N, C, H, W). (H - H f) / 2 rows, rounded down, go above and as many below, columns
    likewise. Raises TypeError when the share is no number, ValueError when it is out of range or the rank is
    another.

    >>> from sorus import nn, ops
    >>> nn.CentralCrop(0.5)(ops.ones((2, 3, 8, 6))).shape
    (2, 3, 4, 4)
    """

    def __init__(self, central_fraction):
        super().__init__()
        self.central_fraction = _check_positive(central_fraction, "central_fraction", "CentralCrop")
        if central_fraction > 1:
            raise ValueError(
                f"CentralCrop: 'central_fraction' is out of range: got {central_fraction}, need at most 1"
            )

    def construct(self, image):
        if image.ndim not in (3, 4):
            raise ValueError(
                f"CentralCrop: image has the wrong rank: got shape {image.shape}, need (C, H, W) or "
                "(N, C, H, W)"
            )
        for axis in (image.ndim - 2, image.ndim - 1):
            extent = image.shape[axis]
            border = int((extent - extent * self.central_fraction) / 2)
            image = F.narrow(image, axis, border, extent - 2 * border)
        return image
