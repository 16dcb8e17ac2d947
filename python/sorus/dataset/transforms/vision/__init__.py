"""An older path of the transforms of images."""

from . import c_transforms, py_transforms

__all__ = ["c_transforms", "py_transforms"]
