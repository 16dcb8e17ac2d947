"""An older path of the transforms."""

from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403
