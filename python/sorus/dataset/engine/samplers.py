"""An older path of names of `dataset`."""

from ..samplers import *  # noqa: F403
