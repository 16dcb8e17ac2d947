"""An older path of the transforms, where images to normalize have their channels first."""

from __future__ import annotations

from collections.abc import Sequence

from . import transforms as _transforms
from .python_transforms import *  # noqa: F403
from .random_transforms import *  # noqa: F403
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403


class Normalize(_transforms.Normalize):
    """(image - mean) / std for each channel of a (C, H, W) image."""

    def __init__(self, mean: Sequence[float], std: Sequence[float]):
        super().__init__(mean, std, is_hwc=False)
