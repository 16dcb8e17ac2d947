"""An older path of names of `dataset`."""

from ..user_sources import *  # noqa: F403
