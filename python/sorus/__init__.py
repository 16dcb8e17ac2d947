"""Sorus: a deep-learning framework. Names and behaviour are those of MindSpore 2.x."""

from ._core import __version__
from .common import *  # noqa: F403
from ._core import from_dlpack
from .common import Tensor, dtype, tensor

from . import ops
