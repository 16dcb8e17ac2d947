"""Transforms of images."""

from . import c_transforms, py_transforms, transforms, utils
from .transforms import (
    HWC2CHW,
    CenterCrop,
    Crop,
    HorizontalFlip,
    Invert,
    Normalize,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    Rescale,
    Resize,
    ToNumpy,
    ToPIL,
    ToTensor,
    ToType,
    VerticalFlip,
)
from .utils import Border, Inter

__all__ = [*transforms.__all__, *utils.__all__, "c_transforms", "py_transforms", "transforms", "utils"]
