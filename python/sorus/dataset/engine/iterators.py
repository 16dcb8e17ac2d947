"""An older path of names of `dataset`."""

from ..iterators import *  # noqa: F403
