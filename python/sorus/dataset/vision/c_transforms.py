"""An older path of the transforms."""

from .transforms import *  # noqa: F403
from .utils import Border, Inter  # noqa: F401
