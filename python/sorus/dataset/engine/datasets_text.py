"""An older path of names of `dataset`."""

from ..text_sources import *  # noqa: F403
