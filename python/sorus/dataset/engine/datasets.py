"""An older path of names of `dataset`."""

from ..annotation_sources import *  # noqa: F403
from ..datasets import *  # noqa: F403
from ..file_sources import *  # noqa: F403
from ..image_sources import *  # noqa: F403
from ..schema import *  # noqa: F403
from ..text_sources import *  # noqa: F403
from ..user_sources import *  # noqa: F403
