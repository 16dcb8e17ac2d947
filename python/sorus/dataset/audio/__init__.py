"""Transforms of sound, and the banks of filters that they use."""

from . import transforms, utils
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403

__all__ = [*transforms.__all__, *utils.__all__, "transforms", "utils"]
