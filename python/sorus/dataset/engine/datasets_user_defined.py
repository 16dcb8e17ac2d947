"""An older path of names of `dataset`."""

from ..sources import *  # noqa: F403
