"""Pictures of the Python Imaging Library: transforms do with them what Pillow does, in Python.

`ON_PICTURES` has a function of (transform, picture) for each class of transform that Pillow has too. Random
ones draw from Python's `random`, in a pipeline from a generator for each row. Pillow is imported at the first
use.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy

from .._draws import draws
from .utils import Border, Inter

_FILTERS = {Inter.NEAREST: 0, Inter.ANTIALIAS: 1, Inter.LINEAR: 2, Inter.CUBIC: 3, Inter.PILCUBIC: 3}


def pillow(op: str, module: str = "Image") -> Any:
    """A module of Pillow."""
    try:
        importlib.import_module("PIL")
        return importlib.import_module(f"PIL.{module}")
    except ImportError as error:
        raise ImportError(
            f"{op}: the Python Imaging Library is missing: need the package pillow (pip install pillow)"
        ) from error


def _filter(op: str, interpolation: Inter) -> int:
    """Pillow's number of a filter."""
    if interpolation not in _FILTERS:
        raise NotImplementedError(
            f"{op}: interpolation is not supported for pictures: got {interpolation.name}, need NEAREST, "
            "ANTIALIAS, LINEAR or CUBIC"
        )
    return _FILTERS[interpolation]


def _fill(picture: Any, values: list[float]) -> Any:
    """A color for the picture from one value or one for each channel."""
    numbers = [int(value) for value in values]
    bands = len(picture.getbands())
    if bands == 1:
        return numbers[0]
    return tuple(numbers * bands if len(numbers) == 1 else numbers)


def _resize(t: Any, picture: Any) -> Any:
    width, height = picture.size
    kind = _filter("Resize", t.interpolation)
    if len(t.size) == 2:
        return picture.resize((t.size[1], t.size[0]), kind)
    (side,) = t.size
    if width <= height:
        return picture.resize((side, int(side * height / width)), kind)
    return picture.resize((int(side * width / height), side), kind)


def _crop(picture: Any, top: int, left: int, height: int, width: int) -> Any:
    return picture.crop((left, top, left + width, top + height))


def center_part(picture: Any, tall: int, wide: int) -> Any:
    """The middle."""
    width, height = picture.size
    return _crop(picture, round((height - tall) / 2.0), round((width - wide) / 2.0), tall, wide)


def corner_parts(picture: Any, tall: int, wide: int) -> list[Any]:
    """The corners: top left, top right, bottom left, bottom right."""
    width, height = picture.size
    places = [(top, left) for top in (0, height - tall) for left in (0, width - wide)]
    return [_crop(picture, top, left, tall, wide) for top, left in places]


def flipped(picture: Any, horizontal: bool) -> Any:
    """Left and right exchanged, or top and bottom."""
    return _MIRROR(picture) if horizontal else _FLIP(picture)


def in_perspective(picture: Any, start: list, end: list, interpolation: Inter) -> Any:
    """The picture with its four points `start` at `end`, by least squares as Pillow's users solve it."""
    rows, places = [], []
    for (x, y), (source_x, source_y) in zip(end, start, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -source_x * x, -source_x * y])
        rows.append([0, 0, 0, x, y, 1, -source_y * x, -source_y * y])
        places += [source_x, source_y]
    matrix = numpy.array(rows, numpy.float64)
    numbers = numpy.linalg.lstsq(matrix, numpy.array(places, numpy.float64), rcond=-1)[0]
    return picture.transform(picture.size, 2, numbers.tolist(), _filter("RandomPerspective", interpolation))


def _padded(picture: Any, padding: list[int], values: list[float], border: Border) -> Any:
    """A picture with (left, top, right, bottom) more pixels."""
    if border == Border.CONSTANT:
        expand = pillow("Pad", "ImageOps").expand
        return expand(picture, border=tuple(padding), fill=_fill(picture, values))
    left, top, right, bottom = padding
    array = numpy.asarray(picture)
    widths = [(top, bottom), (left, right), (0, 0)][: array.ndim]
    return pillow("Pad").fromarray(numpy.pad(array, widths, border.value))


def _random_crop(t: Any, picture: Any) -> Any:
    tall, wide = t.size
    if any(t.padding):
        picture = _padded(picture, t.padding, t.fill_value, t.padding_mode)
    if t.pad_if_needed:
        lacks_x, lacks_y = max(wide - picture.size[0], 0), max(tall - picture.size[1], 0)
        if lacks_x or lacks_y:
            picture = _padded(picture, [lacks_x, lacks_y] * 2, t.fill_value, t.padding_mode)
    width, height = picture.size
    if wide > width or tall > height:
        raise ValueError(
            f"RandomCrop: window is larger than the padded image: got ({tall}, {wide}) for an image "
            f"({height}, {width}), need at most its size, or pad_if_needed"
        )
    return _crop(
        picture,
        draws.generator.randint(0, height - tall),
        draws.generator.randint(0, width - wide),
        tall,
        wide,
    )


def _random_part(t: Any, width: int, height: int) -> tuple[int, int, int, int]:
    """Top, left, height and width of a part."""
    low, high = (math.log(ratio) for ratio in t.ratio)
    for _ in range(t.max_attempts):
        area = draws.generator.uniform(*t.scale) * width * height
        ratio = math.exp(draws.generator.uniform(low, high))
        wide, tall = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < wide <= width and 0 < tall <= height:
            return (
                draws.generator.randint(0, height - tall),
                draws.generator.randint(0, width - wide),
                tall,
                wide,
            )
    tall, wide = height, width
    if width / height < t.ratio[0]:
        tall = round(width / t.ratio[0])
    elif width / height > t.ratio[1]:
        wide = round(height * t.ratio[1])
    return (height - tall) // 2, (width - wide) // 2, tall, wide


def _random_resized_crop(t: Any, picture: Any) -> Any:
    kind = _filter("RandomResizedCrop", t.interpolation)
    return _crop(picture, *_random_part(t, *picture.size)).resize((t.size[1], t.size[0]), kind)


def _gray(picture: Any, channels: int) -> Any:
    gray = picture.convert("L")
    return gray if channels == 1 else pillow("Grayscale").merge("RGB", [gray] * 3)


def _enhanced(kind: str) -> Callable[[Any, float], Any]:
    """(picture, factor) to the picture that an enhancement of Pillow gives."""
    return lambda picture, factor: getattr(pillow(kind, "ImageEnhance"), kind)(picture).enhance(factor)


_BRIGHTER, _STARKER, _MORE_COLOR, _SHARPER = map(_enhanced, ("Brightness", "Contrast", "Color", "Sharpness"))


def _turn_hue(picture: Any, factor: float) -> Any:
    if picture.mode in ("L", "1", "I", "F"):
        return picture
    hue, saturation, value = picture.convert("HSV").split()
    turned = (numpy.asarray(hue).astype(int) + int(factor * 255)) % 256
    hue = pillow("AdjustHue").fromarray(turned.astype(numpy.uint8), "L")
    return pillow("AdjustHue").merge("HSV", (hue, saturation, value)).convert(picture.mode)


def _color_adjust(t: Any, picture: Any) -> Any:
    steps = [
        (_BRIGHTER, t.brightness, 1),
        (_STARKER, t.contrast, 1),
        (_MORE_COLOR, t.saturation, 1),
        (_turn_hue, t.hue, 0),
    ]
    steps = [step for step in steps if step[1] != (step[2], step[2])]
    draws.generator.shuffle(steps)
    for change, span, _ in steps:
        picture = change(picture, draws.generator.uniform(*span))
    return picture


def _rotated(t: Any, picture: Any, degrees: float) -> Any:
    values, linear, center = t.warp
    return picture.rotate(degrees, 2 if linear else 0, False, center, fillcolor=_fill(picture, values))


def _perhaps(change: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A change with the probability of its transform."""
    return lambda t, picture: change(t, picture) if draws.generator.random() < t.prob else picture


def _operation(name: str) -> Callable[[Any], Any]:
    """A function of Pillow's ImageOps on a picture."""
    return lambda picture, *rest: getattr(pillow(name, "ImageOps"), name)(picture, *rest)


_MIRROR, _FLIP, _INVERT, _EQUALIZE, _AUTO = map(
    _operation, ("mirror", "flip", "invert", "equalize", "autocontrast")
)


def _auto_contrast(t: Any, picture: Any) -> Any:
    return _AUTO(picture, t.cutoff, t.ignore or None)


ON_PICTURES: dict[str, Callable[[Any, Any], Any]] = {
    "AdjustBrightness": lambda t, picture: _BRIGHTER(picture, t.factor),
    "AdjustContrast": lambda t, picture: _STARKER(picture, t.factor),
    "AdjustHue": lambda t, picture: _turn_hue(picture, t.factor),
    "AdjustSaturation": lambda t, picture: _MORE_COLOR(picture, t.factor),
    "AdjustSharpness": lambda t, picture: _SHARPER(picture, t.factor),
    "AutoContrast": _auto_contrast,
    "CenterCrop": lambda t, picture: center_part(picture, *t.size),
    "Crop": lambda t, picture: _crop(picture, *t.coordinates, *t.size),
    "Equalize": lambda t, picture: _EQUALIZE(picture),
    "Grayscale": lambda t, picture: _gray(picture, t.channels),
    "HorizontalFlip": lambda t, picture: _MIRROR(picture),
    "Invert": lambda t, picture: _INVERT(picture),
    "Pad": lambda t, picture: _padded(picture, t.padding, t.fill_value, t.padding_mode),
    "RandomAdjustSharpness": _perhaps(lambda t, picture: _SHARPER(picture, t.degree)),
    "RandomAutoContrast": _perhaps(_auto_contrast),
    "RandomColor": lambda t, picture: _MORE_COLOR(picture, draws.generator.uniform(*t.degrees)),
    "RandomColorAdjust": _color_adjust,
    "RandomCrop": _random_crop,
    "RandomEqualize": _perhaps(lambda t, picture: _EQUALIZE(picture)),
    "RandomGrayscale": _perhaps(lambda t, picture: _gray(picture, len(picture.getbands()))),
    "RandomHorizontalFlip": _perhaps(lambda t, picture: _MIRROR(picture)),
    "RandomInvert": _perhaps(lambda t, picture: _INVERT(picture)),
    "RandomResizedCrop": _random_resized_crop,
    "RandomRotation": lambda t, picture: _rotated(t, picture, draws.generator.uniform(*t.degrees)),
    "RandomSharpness": lambda t, picture: _SHARPER(picture, draws.generator.uniform(*t.degrees)),
    "RandomVerticalFlip": _perhaps(lambda t, picture: _FLIP(picture)),
    "Resize": _resize,
    "Rotate": lambda t, picture: _rotated(t, picture, t.degrees),
    "VerticalFlip": lambda t, picture: _FLIP(picture),
}
