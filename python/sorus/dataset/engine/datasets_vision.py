"""An older path of names of `dataset`."""

from ..annotation_sources import *  # noqa: F403
from ..image_sources import *  # noqa: F403
