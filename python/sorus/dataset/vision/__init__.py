"""Transforms of images."""

from . import c_transforms, policies, py_transforms, python_transforms, random_transforms, transforms, utils
from .policies import *  # noqa: F403
from .python_transforms import *  # noqa: F403
from .random_transforms import *  # noqa: F403
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403

__all__ = [
    *transforms.__all__,
    *random_transforms.__all__,
    *policies.__all__,
    *python_transforms.__all__,
    *utils.__all__,
    "c_transforms",
    "py_transforms",
    "transforms",
    "utils",
]
