"""Older paths of the names of `dataset`."""

from ..annotation_sources import *  # noqa: F403
from ..datasets import *  # noqa: F403
from ..file_sources import *  # noqa: F403
from ..image_sources import *  # noqa: F403
from ..iterators import *  # noqa: F403
from ..samplers import *  # noqa: F403
from ..schema import *  # noqa: F403
from ..text_sources import *  # noqa: F403
from ..user_sources import *  # noqa: F403
from . import (
    datasets,
    datasets_standard_format,
    datasets_text,
    datasets_user_defined,
    datasets_vision,
    iterators,
    samplers,
)
