"""An older path of names of `dataset`."""

from ..file_sources import *  # noqa: F403
