"""An older path of names of `dataset`."""

from ..image_sources import *  # noqa: F403
