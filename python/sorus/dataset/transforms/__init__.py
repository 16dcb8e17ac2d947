"""Transforms of any data."""

from . import c_transforms, py_transforms, transforms
from .transforms import Compose, OneHot, TypeCast

__all__ = ["Compose", "OneHot", "TypeCast", "c_transforms", "py_transforms", "transforms"]
