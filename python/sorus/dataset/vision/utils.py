"""Names of filters and borders, and images as files."""

from __future__ import annotations

import enum
import os
from typing import Any

import numpy

from ..._core import Tensor
from ..._core import data as _data
from .._arguments import integer

__all__ = [
    "Border",
    "ConvertMode",
    "Inter",
    "encode_jpeg",
    "encode_png",
    "get_image_num_channels",
    "get_image_size",
    "read_file",
    "write_file",
    "write_jpeg",
    "write_png",
]


class Inter(enum.IntEnum):
    """Filters of resizing."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class ConvertMode(enum.IntEnum):
    """Conversions of colors."""

    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7


class Border(str, enum.Enum):
    """How an image goes on outside its border."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


def _path(op: str, filename: Any) -> str:
    """A file's path as str."""
    if not isinstance(filename, (str, os.PathLike)):
        raise TypeError(f"{op}: filename has the wrong type: got {type(filename).__name__}, need a path")
    return os.fspath(filename)


def _array(op: str, argument: str, value: Any) -> Any:
    """An array or a Tensor, as it is."""
    if not isinstance(value, (numpy.ndarray, Tensor)):
        raise TypeError(
            f"{op}: {argument} has the wrong type: got {type(value).__name__}, need an ndarray or a Tensor"
        )
    return value


def _image_shape(op: str, image: Any) -> list[int]:
    """(height, width, channels) of an array or a picture of the Python Imaging Library."""
    if hasattr(image, "getbands"):
        width, height = image.size
        return [height, width, len(image.getbands())]
    if not isinstance(image, numpy.ndarray):
        raise TypeError(
            f"{op}: image has the wrong type: got {type(image).__name__}, need an ndarray or a picture"
        )
    if image.ndim < 2:
        raise ValueError(f"{op}: image has the wrong shape: got {image.shape}, need 2 axes or more")
    return [*image.shape, 1] if image.ndim == 2 else list(image.shape[-3:])


def encode_png(image: Any, compression_level: int = 6) -> numpy.ndarray:
    """The bytes of a PNG file, as uint8 of rank 1, of a uint8 image: (H, W), (H, W, 1) or (H, W, 3).

    `compression_level`: from 0, which stores the bytes, to 9, which takes longest.
    """
    level = integer("encode_png", "compression_level", compression_level)
    return _data.encode_png(_array("encode_png", "image", image), level)


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Writes what `encode_png` gives; the file is there as a whole or not at all."""
    level = integer("write_png", "compression_level", compression_level)
    _data.write_png(_path("write_png", filename), _array("write_png", "image", image), level)


def encode_jpeg(image: Any, quality: int = 75) -> numpy.ndarray:
    """The bytes of a JPEG file, as uint8 of rank 1, of a uint8 image: (H, W), (H, W, 1) or (H, W, 3).

    `quality`: from 1 to 100.
    """
    return _data.encode_jpeg(
        _array("encode_jpeg", "image", image), integer("encode_jpeg", "quality", quality)
    )


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Writes what `encode_jpeg` gives; the file is there as a whole or not at all."""
    percent = integer("write_jpeg", "quality", quality)
    _data.write_jpeg(_path("write_jpeg", filename), _array("write_jpeg", "image", image), percent)


def read_file(filename: str) -> numpy.ndarray:
    """The bytes of a file, as uint8 of rank 1."""
    return _data.read_file(_path("read_file", filename))


def write_file(filename: str, data: Any) -> None:
    """Writes bytes, uint8 of rank 1; the file is there as a whole or not at all."""
    _data.write_file(_path("write_file", filename), _array("write_file", "data", data))


def get_image_num_channels(image: Any) -> int:
    """How many channels an array (..., H, W, C) or (H, W), or a picture, has."""
    return _image_shape("get_image_num_channels", image)[2]


def get_image_size(image: Any) -> list[int]:
    """[height, width] of an array (..., H, W, C) or (H, W), or of a picture."""
    return _image_shape("get_image_size", image)[:2]
