"""Transforms that work in Python, a row at a time: parts of a picture, mixed batches, color models."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy

from .._arguments import flag, integer
from ..transforms.transforms import is_picture
from ._pictures import center_part, corner_parts, flipped, in_perspective
from .transforms import real, square
from .utils import Inter

__all__ = [
    "FiveCrop",
    "HsvToRgb",
    "LinearTransformation",
    "MixUp",
    "RandomPerspective",
    "RgbToHsv",
    "TenCrop",
]


def _picture(op: str, image: Any) -> Any:
    """A picture of the Python Imaging Library, as it is."""
    if not is_picture(image):
        raise TypeError(
            f"{op}: image has the wrong type: got {type(image).__name__}, need a picture, as "
            "Decode(to_pil=True) and ToPIL make it"
        )
    return image


def _array(op: str, argument: str, value: Any) -> numpy.ndarray:
    """An array, as it is."""
    if not isinstance(value, numpy.ndarray):
        raise TypeError(
            f"{op}: {argument} has the wrong type: got {type(value).__name__}, need a numpy.ndarray"
        )
    return value


class FiveCrop:
    """The four corners and the middle of a picture, as five pictures in a tuple.

    >>> from PIL import Image
    >>> from sorus.dataset import vision
    >>> [part.size for part in vision.FiveCrop((4, 6))(Image.new("RGB", (20, 10)))]
    [(6, 4), (6, 4), (6, 4), (6, 4), (6, 4)]
    """

    def __init__(self, size: int | Sequence[int]):
        self.size = square("FiveCrop", size)

    def __call__(self, image: Any) -> tuple[Any, ...]:
        return self.parts("FiveCrop", image)

    def parts(self, op: str, image: Any) -> tuple[Any, ...]:
        """Top left, top right, bottom left, bottom right and the middle."""
        width, height = _picture(op, image).size
        tall, wide = self.size
        if tall > height or wide > width:
            raise ValueError(
                f"{op}: size is larger than the picture: got ({tall}, {wide}) for ({height}, {width}), "
                "need at most its size"
            )
        return (*corner_parts(image, tall, wide), center_part(image, tall, wide))


class TenCrop:
    """The parts of FiveCrop, and those of the picture with its sides exchanged, or its top and bottom.

    >>> from PIL import Image
    >>> from sorus.dataset import vision
    >>> len(vision.TenCrop(4, use_vertical_flip=True)(Image.new("L", (20, 10))))
    10
    """

    def __init__(self, size: int | Sequence[int], use_vertical_flip: bool = False):
        self.size = square("TenCrop", size)
        self.use_vertical_flip = flag("TenCrop", "use_vertical_flip", use_vertical_flip)

    def __call__(self, image: Any) -> tuple[Any, ...]:
        five = FiveCrop(self.size)
        parts = five.parts("TenCrop", image)
        return parts + five.parts("TenCrop", flipped(image, not self.use_vertical_flip))


class LinearTransformation:
    """The values of an image as a row, less `mean_vector`, times the square `transformation_matrix`.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> whiten = vision.LinearTransformation(2 * np.eye(3), np.ones(3))
    >>> whiten(np.array([[[1.0]], [[2.0]], [[3.0]]])).ravel().tolist()
    [0.0, 2.0, 4.0]
    """

    def __init__(self, transformation_matrix: numpy.ndarray, mean_vector: numpy.ndarray):
        op = "LinearTransformation"
        self.matrix = _array(op, "transformation_matrix", transformation_matrix)
        self.mean = _array(op, "mean_vector", mean_vector)
        shape = self.matrix.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"{op}: transformation_matrix has the wrong shape: got {shape}, need a square")
        if self.mean.shape[:1] != shape[:1] or self.mean.size != shape[0]:
            raise ValueError(
                f"{op}: mean_vector has the wrong shape: got {self.mean.shape}, need ({shape[0]},) "
                f"for a matrix {shape}"
            )

    def __call__(self, image: numpy.ndarray) -> numpy.ndarray:
        op = "LinearTransformation"
        if _array(op, "image", image).size != self.mean.size:
            raise ValueError(
                f"{op}: image has the wrong shape: got {image.shape}, need {self.mean.size} values "
                f"for a matrix {self.matrix.shape}"
            )
        row = image.reshape(1, -1) - self.mean.reshape(1, -1)
        return (row @ self.matrix).reshape(image.shape)


class MixUp:
    """Blends of the images of a batch, and of their labels, by shares drawn from a beta distribution.

    Each is blended with the next of its batch, or, with `is_single=False`, with what the batch before became.
    Labels are one-hot. Shares come from NumPy's `random`, one for each image.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> images, labels = vision.MixUp(2, 0.5)(np.ones((2, 4, 4, 3)), np.eye(2))
    >>> images.shape, labels.sum(1).tolist()
    ((2, 4, 4, 3), [1.0, 1.0])
    """

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True):
        self.batch_size = integer("MixUp", "batch_size", batch_size, 1)
        self.alpha = real("MixUp", "alpha", alpha)
        if self.alpha <= 0:
            raise ValueError(f"MixUp: alpha is out of range: got {alpha}, need more than 0")
        self.is_single = flag("MixUp", "is_single", is_single)
        self._before: tuple[numpy.ndarray, numpy.ndarray] | None = None

    def __call__(self, image: numpy.ndarray, label: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        for argument, value in (("image", image), ("label", label)):
            shape = _array("MixUp", argument, value).shape
            if shape[:1] != (self.batch_size,):
                raise ValueError(
                    f"MixUp: {argument} has the wrong shape: got {shape}, need a batch of {self.batch_size}"
                )
        share = numpy.random.beta(self.alpha, self.alpha, self.batch_size)
        if self.is_single:
            return _blend(share, (image, label), (numpy.roll(image, -1, 0), numpy.roll(label, -1, 0)))
        # The first batch has none before it.
        self._before = _blend(share, (image, label), self._before or (image, label))
        return self._before


def _blend(share: numpy.ndarray, batch: tuple, other: tuple) -> tuple[numpy.ndarray, numpy.ndarray]:
    """share * batch + (1 - share) * other, for images and labels."""
    blends = []
    for first, second in zip(batch, other, strict=True):
        if first.shape != second.shape:
            raise ValueError(
                f"MixUp: batch differs in shape from the one before: got {first.shape}, need {second.shape}"
            )
        part = share.reshape(-1, *[1] * (first.ndim - 1))
        blends.append(part * first + (1 - part) * second)
    return blends[0], blends[1]


class RandomPerspective:
    """A picture seen aslant, with this probability: its corners move inwards by random shares of its sides.

    `distortion_scale`: from 0, where all stays, to 1, where corners move as far as the middle. Draws are
    those of Python's `random`, and the pixels Pillow's; a filter is NEAREST, LINEAR or CUBIC.

    >>> from PIL import Image
    >>> from sorus.dataset import vision
    >>> vision.RandomPerspective(0.3, prob=1.0)(Image.new("RGB", (20, 10))).size
    (20, 10)
    """

    def __init__(
        self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC
    ):
        op = "RandomPerspective"
        self.distortion_scale = real(op, "distortion_scale", distortion_scale)
        self.prob = real(op, "prob", prob)
        for argument, value in (("distortion_scale", self.distortion_scale), ("prob", self.prob)):
            if not 0 <= value <= 1:
                raise ValueError(f"{op}: {argument} is out of range: got {value}, need 0 to 1")
        if not isinstance(interpolation, Inter):
            raise TypeError(
                f"{op}: interpolation has the wrong type: got {type(interpolation).__name__}, need an Inter"
            )
        if interpolation not in (Inter.NEAREST, Inter.LINEAR, Inter.CUBIC):
            raise NotImplementedError(
                f"{op}: interpolation is not supported: got {interpolation.name}, need NEAREST, "
                "LINEAR or CUBIC"
            )
        self.interpolation = interpolation

    def __call__(self, image: Any) -> Any:
        _picture("RandomPerspective", image)
        if random.random() >= self.prob:
            return image
        start, end = self._corners(*image.size)
        return in_perspective(image, start, end, self.interpolation)

    def _corners(self, width: int, height: int) -> tuple[list, list]:
        """The corners, from top left clockwise, and where they come to lie."""
        across = int(self.distortion_scale * width / 2)
        down = int(self.distortion_scale * height / 2)
        left, right = (0, across), (width - across - 1, width - 1)
        top, bottom = (0, down), (height - down - 1, height - 1)
        start = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        ranges = [(left, top), (right, top), (right, bottom), (left, bottom)]
        return start, [(random.randint(*x), random.randint(*y)) for x, y in ranges]


class _ColorModel:
    """A conversion of three channels: the last axis of an image or a batch, or the one before two."""

    def __init__(self, is_hwc: bool = False):
        self.is_hwc = flag(type(self).__name__, "is_hwc", is_hwc)

    def convert(self, a: numpy.ndarray, b: numpy.ndarray, c: numpy.ndarray) -> list[numpy.ndarray]:
        """Three channels from three, in float64."""
        raise NotImplementedError

    def __call__(self, image: numpy.ndarray) -> numpy.ndarray:
        op = type(self).__name__
        axis = -1 if self.is_hwc else -3
        if _array(op, "image", image).ndim not in (3, 4) or image.shape[axis] != 3:
            form = "(H, W, 3) or (N, H, W, 3)" if self.is_hwc else "(3, H, W) or (N, 3, H, W)"
            raise TypeError(f"{op}: image has the wrong shape: got {image.shape}, need {form}")
        channels = numpy.moveaxis(image, axis, 0).astype(numpy.float64)
        return numpy.stack(self.convert(*channels), axis)


class RgbToHsv(_ColorModel):
    """Red, green and blue to hue and saturation in [0, 1] and value, as float64; channels first or last.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> vision.RgbToHsv(is_hwc=True)(np.array([[[0.0, 0.5, 0.25]]])).round(4).tolist()
    [[[0.4167, 1.0, 0.5]]]
    """

    def convert(self, a: numpy.ndarray, b: numpy.ndarray, c: numpy.ndarray) -> list[numpy.ndarray]:
        """By the largest of the channels."""
        value = numpy.maximum(numpy.maximum(a, b), c)
        spread = value - numpy.minimum(numpy.minimum(a, b), c)
        # Gray has neither hue nor saturation.
        some = numpy.where(spread == 0, 1.0, spread)
        hue = numpy.where(
            value == a, (b - c) / some, numpy.where(value == b, 2 + (c - a) / some, 4 + (a - b) / some)
        )
        hue = numpy.where(spread == 0, 0.0, hue / 6 % 1)
        return [hue, spread / numpy.where(spread == 0, 1.0, value), value]


class HsvToRgb(_ColorModel):
    """Hue and saturation in [0, 1] and value to red, green and blue, as float64; channels first or last.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> vision.HsvToRgb(is_hwc=True)(np.array([[[0.5, 1.0, 0.25]]])).tolist()
    [[[0.0, 0.25, 0.25]]]
    """

    def convert(self, a: numpy.ndarray, b: numpy.ndarray, c: numpy.ndarray) -> list[numpy.ndarray]:
        """By the sextant in which the hue lies."""
        sextant = numpy.floor(a * 6)
        within = a * 6 - sextant
        low, falling, rising = c * (1 - b), c * (1 - b * within), c * (1 - b * (1 - within))
        kind = sextant.astype(numpy.int64) % 6
        ways = [
            (c, falling, low, low, rising, c),
            (rising, c, c, falling, low, low),
            (low, low, rising, c, c, falling),
        ]
        return [numpy.choose(kind, channel) for channel in ways]
