"""Transforms of images: arrays of shape (H, W, C) or (H, W)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..._core import data as _data
from .._arguments import flag, integer
from ..transforms.transforms import TensorOperation, TypeCast
from .utils import Border, ConvertMode, Inter

__all__ = [
    "HWC2CHW",
    "AdjustBrightness",
    "AdjustContrast",
    "AdjustSaturation",
    "AutoContrast",
    "CenterCrop",
    "ConvertColor",
    "Crop",
    "Equalize",
    "GaussianBlur",
    "Grayscale",
    "HorizontalFlip",
    "Invert",
    "Normalize",
    "Pad",
    "Posterize",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "Rescale",
    "Resize",
    "Rotate",
    "Solarize",
    "ToNumpy",
    "ToPIL",
    "ToTensor",
    "ToType",
    "VerticalFlip",
]

_FILTERS = {Inter.NEAREST: 0, Inter.LINEAR: 1, Inter.CUBIC: 2, Inter.AREA: 3}
_BORDERS = {Border.CONSTANT: 0, Border.EDGE: 1, Border.REFLECT: 2, Border.SYMMETRIC: 3}


def _sizes(op: str, size: int | Sequence[int]) -> list[int]:
    """One size or (height, width)."""
    sizes = [size] if isinstance(size, (int, numpy.integer)) else list(size)
    if len(sizes) not in (1, 2):
        raise ValueError(f"{op}: size has the wrong length: got {len(sizes)}, need 1 or (height, width)")
    return [integer(op, "size", s, 1) for s in sizes]


def _square(op: str, size: int | Sequence[int]) -> list[int]:
    """(height, width) from one size or both."""
    sizes = _sizes(op, size)
    return sizes * 2 if len(sizes) == 1 else sizes


def _padding(op: str, padding: int | Sequence[int] | None) -> list[int]:
    """Left, top, right, bottom from one number, (left and right, top and bottom), or all four."""
    if padding is None:
        return [0, 0, 0, 0]
    values = [padding] if isinstance(padding, (int, numpy.integer)) else list(padding)
    if len(values) not in (1, 2, 4):
        raise ValueError(f"{op}: padding has the wrong length: got {len(values)}, need 1, 2 or 4")
    values = [integer(op, "padding", v, 0) for v in values]
    return values * (4 // len(values))


def _fill(op: str, fill_value: Any) -> list[float]:
    """One value, or one for each channel."""
    values = [fill_value] if isinstance(fill_value, (int, float, numpy.number)) else list(fill_value)
    for value in values:
        if not 0 <= value <= 255:
            raise ValueError(f"{op}: fill_value is out of range: got {value}, need 0 to 255")
    return [float(value) for value in values]


def _border(op: str, padding_mode: Any) -> int:
    if not isinstance(padding_mode, Border):
        raise TypeError(
            f"{op}: padding_mode has the wrong type: got {type(padding_mode).__name__}, need a Border"
        )
    return _BORDERS[padding_mode]


def _channels(op: str, argument: str, values: Any) -> list[float]:
    if isinstance(values, (int, float, numpy.number)):
        return [float(values)]
    return [float(value) for value in values]


class Resize(TensorOperation):
    """To (height, width); one size is that of the shorter side."""

    def __init__(self, size: int | Sequence[int], interpolation: Inter = Inter.LINEAR):
        if not isinstance(interpolation, Inter):
            raise TypeError(
                f"Resize: interpolation has the wrong type: got {type(interpolation).__name__}, need an Inter"
            )
        if interpolation not in _FILTERS:
            raise NotImplementedError(
                f"Resize: interpolation is not supported: got {interpolation.name}, need NEAREST, LINEAR, "
                "CUBIC or AREA"
            )
        self.size = _sizes("Resize", size)
        self.interpolation = interpolation

    def build(self) -> Any:
        return _data.resize(self.size, _FILTERS[self.interpolation])


class Rescale(TensorOperation):
    """image * rescale + shift, as float32."""

    def __init__(self, rescale: float, shift: float):
        self.rescale, self.shift = float(rescale), float(shift)

    def build(self) -> Any:
        return _data.rescale(self.rescale, self.shift)


class Normalize(TensorOperation):
    """(image - mean) / std for each channel, as float32."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True):
        self.mean = _channels("Normalize", "mean", mean)
        self.std = _channels("Normalize", "std", std)
        self.is_hwc = flag("Normalize", "is_hwc", is_hwc)
        self.build()

    def build(self) -> Any:
        return _data.normalize(self.mean, self.std, self.is_hwc)


class HWC2CHW(TensorOperation):
    """(H, W, C) to (C, H, W)."""

    def build(self) -> Any:
        return _data.hwc_to_chw()


class ToTensor(TensorOperation):
    """uint8 (H, W, C) to (C, H, W) in [0, 1]."""

    def __init__(self, output_type: Any = numpy.float32):
        self.output_type = output_type
        self.build()

    def build(self) -> Any:
        return _data.to_tensor(self.output_type)


class ToType(TypeCast):
    """To another element type."""


class HorizontalFlip(TensorOperation):
    """Left and right exchanged."""

    def build(self) -> Any:
        return _data.flip(True)


class VerticalFlip(TensorOperation):
    """Top and bottom exchanged."""

    def build(self) -> Any:
        return _data.flip(False)


class RandomHorizontalFlip(TensorOperation):
    """Left and right exchanged, with this probability."""

    def __init__(self, prob: float = 0.5):
        self.prob = float(prob)
        self.build()

    def build(self) -> Any:
        return _data.random_flip(True, self.prob)


class RandomVerticalFlip(RandomHorizontalFlip):
    """Top and bottom exchanged, with this probability."""

    def build(self) -> Any:
        return _data.random_flip(False, self.prob)


class CenterCrop(TensorOperation):
    """The middle."""

    def __init__(self, size: int | Sequence[int]):
        self.size = _square("CenterCrop", size)

    def build(self) -> Any:
        return _data.center_crop(*self.size)


class Crop(TensorOperation):
    """The part of that size whose first pixel is (row, column)."""

    def __init__(self, coordinates: Sequence[int], size: int | Sequence[int]):
        self.coordinates = [integer("Crop", "coordinates", c, 0) for c in coordinates]
        self.size = _square("Crop", size)

    def build(self) -> Any:
        return _data.crop(*self.coordinates, *self.size)


class Pad(TensorOperation):
    """More pixels at the borders."""

    def __init__(
        self, padding: int | Sequence[int], fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ):
        self.padding = _padding("Pad", padding)
        self.fill_value = _fill("Pad", fill_value)
        self.border = _border("Pad", padding_mode)

    def build(self) -> Any:
        return _data.pad(self.padding, self.fill_value, self.border)


class RandomCrop(TensorOperation):
    """A part of that size at a random place of the padded image."""

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ):
        self.size = _square("RandomCrop", size)
        self.padding = _padding("RandomCrop", padding)
        self.pad_if_needed = flag("RandomCrop", "pad_if_needed", pad_if_needed)
        self.fill_value = _fill("RandomCrop", fill_value)
        self.border = _border("RandomCrop", padding_mode)

    def build(self) -> Any:
        return _data.random_crop(*self.size, self.padding, self.pad_if_needed, self.fill_value, self.border)


class Invert(TensorOperation):
    """255 - image, for uint8."""

    def build(self) -> Any:
        return _data.invert()


class Posterize(TensorOperation):
    """The upper bits of each value."""

    def __init__(self, bits: int):
        self.bits = integer("Posterize", "bits", bits, 0)
        self.build()

    def build(self) -> Any:
        return _data.posterize(self.bits)


class Solarize(TensorOperation):
    """255 - image where it lies between the thresholds, or above the only one."""

    def __init__(self, threshold: float | Sequence[float]):
        given = [threshold, 255] if isinstance(threshold, (int, float)) else list(threshold)
        self.low, self.high = (int(value) for value in given)
        self.build()

    def build(self) -> Any:
        return _data.solarize(self.low, self.high)


class AdjustBrightness(TensorOperation):
    """image * brightness_factor."""

    def __init__(self, brightness_factor: float):
        self.factor = float(brightness_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_brightness(self.factor)


class AdjustContrast(TensorOperation):
    """A blend of the image with the mean of its luma."""

    def __init__(self, contrast_factor: float):
        self.factor = float(contrast_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_contrast(self.factor)


class AdjustSaturation(TensorOperation):
    """A blend of each pixel with its luma."""

    def __init__(self, saturation_factor: float):
        self.factor = float(saturation_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_saturation(self.factor)


class Rotate(TensorOperation):
    """Turned counter-clockwise about the middle."""

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill_value: Any = 0,
    ):
        if resample != Inter.NEAREST or expand or center is not None:
            raise NotImplementedError(
                f"Rotate: arguments are not supported: got resample={resample!r}, expand={expand}, "
                f"center={center}, need Inter.NEAREST, False and None"
            )
        self.degrees = float(degrees)
        self.fill_value = _fill("Rotate", fill_value)

    def build(self) -> Any:
        return _data.rotate(self.degrees, self.fill_value)


class GaussianBlur(TensorOperation):
    """A blur whose extents are odd; sigmas that are not given follow from them."""

    def __init__(self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None):
        self.width, self.height = _square("GaussianBlur", kernel_size)
        given = [0.0] if sigma is None else [sigma] if isinstance(sigma, (int, float)) else list(sigma)
        self.sigmas = [float(value) for value in (given * 2)[:2]]
        self.build()

    def build(self) -> Any:
        return _data.gaussian_blur(self.width, self.height, *self.sigmas)


class Equalize(TensorOperation):
    """Levels spread so that each is about as frequent."""

    def build(self) -> Any:
        return _data.equalize()


class AutoContrast(TensorOperation):
    """Levels stretched to the whole range, without `cutoff` percent at both ends."""

    def __init__(self, cutoff: float = 0.0, ignore: int | Sequence[int] | None = None):
        self.cutoff = float(cutoff)
        self.ignore = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)
        self.build()

    def build(self) -> Any:
        return _data.auto_contrast(self.cutoff, self.ignore)


class ConvertColor(TensorOperation):
    """Another order of colors, or gray."""

    def __init__(self, convert_mode: ConvertMode):
        if not isinstance(convert_mode, ConvertMode):
            raise TypeError(
                f"ConvertColor: convert_mode has the wrong type: got {type(convert_mode).__name__}, "
                "need a ConvertMode"
            )
        self.convert_mode = convert_mode

    def build(self) -> Any:
        if self.convert_mode in (ConvertMode.COLOR_RGB2BGR, ConvertMode.COLOR_BGR2RGB):
            return _data.reverse_channels()
        return _data.to_gray(self.convert_mode == ConvertMode.COLOR_BGR2GRAY, 0)


class Grayscale(TensorOperation):
    """Luma, in one channel or in three equal ones."""

    def __init__(self, num_output_channels: int = 1):
        self.channels = integer("Grayscale", "num_output_channels", num_output_channels, 1)
        self.build()

    def build(self) -> Any:
        return _data.to_gray(False, self.channels)


class ToPIL:
    """To an image of the Python Imaging Library."""

    def __call__(self, image: Any) -> Any:
        try:
            from PIL import Image
        except ImportError as error:
            raise ImportError(
                "ToPIL: the Python Imaging Library is missing: need the package pillow (pip install pillow)"
            ) from error

        array = numpy.asarray(image)
        return Image.fromarray(array[..., 0] if array.ndim == 3 and array.shape[-1] == 1 else array)


class ToNumpy:
    """From an image of the Python Imaging Library to an array."""

    def __call__(self, image: Any) -> numpy.ndarray:
        return numpy.asarray(image)
