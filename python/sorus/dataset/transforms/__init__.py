"""Transforms of any data."""

from . import c_transforms, py_transforms, transforms
from .transforms import *  # noqa: F403

__all__ = [*transforms.__all__, "c_transforms", "py_transforms", "transforms"]
