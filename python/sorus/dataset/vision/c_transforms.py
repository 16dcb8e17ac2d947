"""An older path of the transforms."""

from .random_transforms import *  # noqa: F403
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403
