"""Transforms of images: arrays of shape (H, W, C) or (H, W)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy

from ..._core import data as _data
from .._arguments import choice, flag, integer, text
from ..transforms.transforms import TensorOperation, TypeCast
from ._pictures import ON_PICTURES, pillow
from .utils import Border, ConvertMode, Inter

__all__ = [
    "HWC2CHW",
    "Affine",
    "AdjustBrightness",
    "AdjustContrast",
    "AdjustHue",
    "AdjustSaturation",
    "AdjustSharpness",
    "AutoContrast",
    "CenterCrop",
    "ConvertColor",
    "Crop",
    "CutOut",
    "Decode",
    "Equalize",
    "GaussianBlur",
    "Grayscale",
    "HorizontalFlip",
    "Invert",
    "Normalize",
    "Pad",
    "Posterize",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Rescale",
    "Resize",
    "ResizedCrop",
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


def square(op: str, size: int | Sequence[int]) -> list[int]:
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


def _filter(op: str, interpolation: Any) -> Inter:
    """An Inter."""
    if not isinstance(interpolation, Inter):
        raise TypeError(
            f"{op}: interpolation has the wrong type: got {type(interpolation).__name__}, need an Inter"
        )
    return interpolation


def _engine_filter(op: str, interpolation: Inter) -> int:
    """The engine's number of a filter, for arrays."""
    if interpolation not in _FILTERS:
        raise NotImplementedError(
            f"{op}: interpolation is not supported for arrays: got {interpolation.name}, need NEAREST, "
            "LINEAR, CUBIC or AREA"
        )
    return _FILTERS[interpolation]


def real(op: str, argument: str, value: Any) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, numpy.number)):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need a number")
    return float(value)


def pair(op: str, argument: str, values: Any) -> tuple[float, float]:
    """Two numbers, such as (low, high)."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(values).__name__}, need two numbers")
    if len(values) != 2:
        raise ValueError(f"{op}: {argument} has the wrong length: got {len(values)}, need 2")
    return real(op, argument, values[0]), real(op, argument, values[1])


def warp_options(
    op: str, resample: Any, fill_value: Any, center: Any = None, expand: bool = False
) -> tuple[list[float], bool, tuple[float, float] | None]:
    """The arguments of the engine's WarpOptions."""
    if not isinstance(resample, Inter):
        raise TypeError(f"{op}: resample has the wrong type: got {type(resample).__name__}, need an Inter")
    if resample not in (Inter.NEAREST, Inter.LINEAR):
        raise NotImplementedError(
            f"{op}: resample is not supported: got {resample.name}, need NEAREST or LINEAR"
        )
    if flag(op, "expand", expand):
        raise NotImplementedError(f"{op}: expand is not supported: got True, need False")
    about = None if center is None else pair(op, "center", center)
    return _fill(op, fill_value), resample == Inter.LINEAR, about


class VisionOperation(TensorOperation):
    """Base of transforms of images, which do with pictures what Pillow does, where it has the like."""

    def on_picture(self, picture: Any) -> Any:
        """What Pillow makes of a picture; else what the engine makes of its pixels."""
        change = ON_PICTURES.get(type(self).__name__)
        return super().on_picture(picture) if change is None else change(self, picture)


class PlacedOperation(VisionOperation):
    """Base of transforms that can be told where to run."""

    def device(self, device_target: str = "CPU") -> PlacedOperation:
        """Where it is to run: on the "CPU", there is nothing else.

        >>> from sorus.dataset import vision
        >>> flip = vision.HorizontalFlip().device("CPU")
        """
        op = type(self).__name__
        target = choice(op, "device_target", text(op, "device_target", device_target), ("CPU", "Ascend"))
        if target != "CPU":
            raise NotImplementedError(f"{op}: device_target is not supported: got {target!r}, need 'CPU'")
        return self


class Resize(PlacedOperation):
    """To (height, width); one size is that of the shorter side."""

    def __init__(self, size: int | Sequence[int], interpolation: Inter = Inter.LINEAR):
        self.size = _sizes("Resize", size)
        self.interpolation = _filter("Resize", interpolation)

    def build(self) -> Any:
        return _data.resize(self.size, _engine_filter("Resize", self.interpolation))


class Rescale(VisionOperation):
    """image * rescale + shift, as float32."""

    def __init__(self, rescale: float, shift: float):
        self.rescale, self.shift = float(rescale), float(shift)

    def build(self) -> Any:
        return _data.rescale(self.rescale, self.shift)


class Normalize(PlacedOperation):
    """(image - mean) / std for each channel, as float32."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True):
        self.mean = _channels("Normalize", "mean", mean)
        self.std = _channels("Normalize", "std", std)
        self.is_hwc = flag("Normalize", "is_hwc", is_hwc)
        self.build()

    def build(self) -> Any:
        return _data.normalize(self.mean, self.std, self.is_hwc)


class HWC2CHW(VisionOperation):
    """(H, W, C) to (C, H, W)."""

    def build(self) -> Any:
        return _data.hwc_to_chw()


class ToTensor(VisionOperation):
    """uint8 (H, W, C) to (C, H, W) in [0, 1]."""

    ends_pictures = True

    def __init__(self, output_type: Any = numpy.float32):
        self.output_type = output_type
        self.build()

    def build(self) -> Any:
        return _data.to_tensor(self.output_type)


class ToType(TypeCast):
    """To another element type."""


class HorizontalFlip(PlacedOperation):
    """Left and right exchanged."""

    def build(self) -> Any:
        return _data.flip(True)


class VerticalFlip(PlacedOperation):
    """Top and bottom exchanged."""

    def build(self) -> Any:
        return _data.flip(False)


class RandomHorizontalFlip(VisionOperation):
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


class CenterCrop(VisionOperation):
    """The middle."""

    def __init__(self, size: int | Sequence[int]):
        self.size = square("CenterCrop", size)

    def build(self) -> Any:
        return _data.center_crop(*self.size)


class Decode(PlacedOperation):
    """The bytes of a JPEG or PNG file to RGB pixels (H, W, 3).

    With `to_pil`, to a picture of the Python Imaging Library: one row at a time, in Python.
    """

    def __init__(self, to_pil: bool = False):
        self.to_pil = self.makes_pictures = flag("Decode", "to_pil", to_pil)

    def build(self) -> Any:
        return _data.decode()

    def __call__(self, *inputs: Any) -> Any:
        if not self.to_pil:
            return super().__call__(*inputs)
        pictures = tuple(self._picture(value) for value in inputs)
        return pictures[0] if len(pictures) == 1 else pictures

    @staticmethod
    def _picture(value: Any) -> Any:
        if not isinstance(value, bytes):
            array = numpy.asarray(value)
            if array.dtype != numpy.uint8 or array.ndim != 1:
                raise TypeError(
                    f"Decode: image has the wrong type: got {array.dtype} {array.shape}, need bytes of rank 1"
                )
            value = array.tobytes()
        image = pillow("Decode")
        try:
            return image.open(io.BytesIO(value)).convert("RGB")
        except image.UnidentifiedImageError as error:
            raise OSError(f"Decode: the bytes hold no image: got {len(value)} bytes, need a file") from error


class RandomResizedCrop(VisionOperation):
    """A random part, resized: `scale` bounds its share of the area, `ratio` its width / height."""

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ):
        op = type(self).__name__
        self.size = square(op, size)
        self.scale, self.ratio = pair(op, "scale", scale), pair(op, "ratio", ratio)
        self.interpolation = _filter(op, interpolation)
        self.max_attempts = integer(op, "max_attempts", max_attempts, 1)
        if interpolation in _FILTERS:
            self.build()

    _maker = staticmethod(_data.random_resized_crop)

    def build(self) -> Any:
        kind = _engine_filter(type(self).__name__, self.interpolation)
        return self._maker(*self.size, self.scale, self.ratio, self.max_attempts, kind)


class RandomCropDecodeResize(RandomResizedCrop):
    """Decode and RandomResizedCrop in one: only the part is decoded."""

    _maker = staticmethod(_data.random_crop_decode_resize)


class Crop(PlacedOperation):
    """The part of that size whose first pixel is (row, column)."""

    def __init__(self, coordinates: Sequence[int], size: int | Sequence[int]):
        self.coordinates = [integer("Crop", "coordinates", c, 0) for c in coordinates]
        self.size = square("Crop", size)

    def build(self) -> Any:
        return _data.crop(*self.coordinates, *self.size)


class ResizedCrop(PlacedOperation):
    """The part (top, left, height, width), resized to (height, width), or to a square of that side.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> vision.ResizedCrop(1, 2, 5, 6, (8, 9))(np.zeros((10, 10, 3), np.uint8)).shape
    (8, 9, 3)
    """

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: int | Sequence[int],
        interpolation: Inter = Inter.BILINEAR,
    ):
        op = "ResizedCrop"
        self.coordinates = [integer(op, "top", top, 0), integer(op, "left", left, 0)]
        self.part = [integer(op, "height", height, 1), integer(op, "width", width, 1)]
        self.size = square(op, size)
        self.interpolation = _filter(op, interpolation)

    def build(self) -> Any:
        crop = _data.crop(*self.coordinates, *self.part)
        return _data.compose(
            [crop, _data.resize(self.size, _engine_filter("ResizedCrop", self.interpolation))]
        )


class Pad(PlacedOperation):
    """More pixels at the borders."""

    def __init__(
        self, padding: int | Sequence[int], fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ):
        self.padding = _padding("Pad", padding)
        self.fill_value = _fill("Pad", fill_value)
        self.border = _border("Pad", padding_mode)
        self.padding_mode = padding_mode

    def build(self) -> Any:
        return _data.pad(self.padding, self.fill_value, self.border)


class RandomCrop(VisionOperation):
    """A part of that size at a random place of the padded image."""

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ):
        self.size = square("RandomCrop", size)
        self.padding = _padding("RandomCrop", padding)
        self.pad_if_needed = flag("RandomCrop", "pad_if_needed", pad_if_needed)
        self.fill_value = _fill("RandomCrop", fill_value)
        self.border = _border("RandomCrop", padding_mode)
        self.padding_mode = padding_mode

    def build(self) -> Any:
        return _data.random_crop(*self.size, self.padding, self.pad_if_needed, self.fill_value, self.border)


class Invert(PlacedOperation):
    """255 - image, for uint8."""

    def build(self) -> Any:
        return _data.invert()


class Posterize(PlacedOperation):
    """The upper bits of each value."""

    def __init__(self, bits: int):
        self.bits = integer("Posterize", "bits", bits, 0)
        self.build()

    def build(self) -> Any:
        return _data.posterize(self.bits)


class Solarize(PlacedOperation):
    """255 - image where it lies between the thresholds, or above the only one."""

    def __init__(self, threshold: float | Sequence[float]):
        given = [threshold, 255] if isinstance(threshold, (int, float)) else list(threshold)
        self.low, self.high = (int(value) for value in given)
        self.build()

    def build(self) -> Any:
        return _data.solarize(self.low, self.high)


class AdjustBrightness(PlacedOperation):
    """image * brightness_factor."""

    def __init__(self, brightness_factor: float):
        self.factor = float(brightness_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_brightness(self.factor)


class AdjustContrast(PlacedOperation):
    """A blend of the image with the mean of its luma."""

    def __init__(self, contrast_factor: float):
        self.factor = float(contrast_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_contrast(self.factor)


class AdjustSaturation(PlacedOperation):
    """A blend of each pixel with its luma."""

    def __init__(self, saturation_factor: float):
        self.factor = float(saturation_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_saturation(self.factor)


class Rotate(PlacedOperation):
    """Turned counter-clockwise about a center (x, y), or the middle."""

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill_value: Any = 0,
    ):
        self.degrees = real("Rotate", "degrees", degrees)
        self.warp = warp_options("Rotate", resample, fill_value, center, expand)
        self.build()

    def build(self) -> Any:
        return _data.rotate(self.degrees, _data.WarpOptions(*self.warp))


class Affine(PlacedOperation):
    """Sheared, scaled, turned clockwise about the middle and moved by shares of width and height."""

    def __init__(
        self,
        degrees: float,
        translate: Sequence[float],
        scale: float,
        shear: float | Sequence[float],
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        self.degrees = real("Affine", "degrees", degrees)
        self.translate = pair("Affine", "translate", translate)
        self.scale = real("Affine", "scale", scale)
        both = isinstance(shear, (list, tuple))
        self.shear = pair("Affine", "shear", shear) if both else (real("Affine", "shear", shear), 0.0)
        self.warp = warp_options("Affine", resample, fill_value)
        self.build()

    def build(self) -> Any:
        return _data.affine(
            self.degrees, self.translate, self.scale, self.shear, _data.WarpOptions(*self.warp)
        )


class GaussianBlur(PlacedOperation):
    """A blur whose extents are odd; sigmas that are not given follow from them."""

    def __init__(self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None):
        self.width, self.height = square("GaussianBlur", kernel_size)
        given = [0.0] if sigma is None else [sigma] if isinstance(sigma, (int, float)) else list(sigma)
        self.sigmas = [float(value) for value in (given * 2)[:2]]
        self.build()

    def build(self) -> Any:
        return _data.gaussian_blur(self.width, self.height, *self.sigmas)


class AdjustHue(PlacedOperation):
    """Hues turned by `hue_factor` of the circle, -0.5 to 0.5."""

    def __init__(self, hue_factor: float):
        self.factor = real("AdjustHue", "hue_factor", hue_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_hue(self.factor)


class AdjustSharpness(PlacedOperation):
    """A blend of the image with a smoothed one."""

    def __init__(self, sharpness_factor: float):
        self.factor = real("AdjustSharpness", "sharpness_factor", sharpness_factor)
        self.build()

    def build(self) -> Any:
        return _data.adjust_sharpness(self.factor)


class CutOut(VisionOperation):
    """Squares of zeros at random places."""

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True):
        self.length = integer("CutOut", "length", length, 1)
        self.num_patches = integer("CutOut", "num_patches", num_patches, 1)
        self.is_hwc = flag("CutOut", "is_hwc", is_hwc)

    def build(self) -> Any:
        return _data.cut_out(self.length, self.num_patches, self.is_hwc)


class Equalize(PlacedOperation):
    """Levels spread so that each is about as frequent."""

    def build(self) -> Any:
        return _data.equalize()


class AutoContrast(PlacedOperation):
    """Levels stretched to the whole range, without `cutoff` percent at both ends."""

    def __init__(self, cutoff: float = 0.0, ignore: int | Sequence[int] | None = None):
        self.cutoff = float(cutoff)
        self.ignore = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)
        self.build()

    def build(self) -> Any:
        return _data.auto_contrast(self.cutoff, self.ignore)


class ConvertColor(PlacedOperation):
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


class Grayscale(VisionOperation):
    """Luma, in one channel or in three equal ones."""

    def __init__(self, num_output_channels: int = 1):
        self.channels = integer("Grayscale", "num_output_channels", num_output_channels, 1)
        self.build()

    def build(self) -> Any:
        return _data.to_gray(False, self.channels)


class ToPIL:
    """To an image of the Python Imaging Library."""

    makes_pictures = True

    def __call__(self, image: Any) -> Any:
        array = numpy.asarray(image)
        return pillow("ToPIL").fromarray(array[..., 0] if array.ndim == 3 and array.shape[-1] == 1 else array)


class ToNumpy:
    """From an image of the Python Imaging Library to an array."""

    ends_pictures = True

    def __call__(self, image: Any) -> numpy.ndarray:
        return numpy.asarray(image)
