"""All transforms of sound."""

from . import amplitudes, filters, spectra
from ._operation import AudioTensorOperation
from .amplitudes import *  # noqa: F403
from .filters import *  # noqa: F403
from .spectra import *  # noqa: F403

__all__ = ["AudioTensorOperation", *amplitudes.__all__, *filters.__all__, *spectra.__all__]
