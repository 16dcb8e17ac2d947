"""Transforms of text, and the tables that they look into."""

from . import transforms, utils
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403

__all__ = [*transforms.__all__, *utils.__all__, "transforms", "utils"]
