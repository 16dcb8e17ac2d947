"""Names of windows, borders and the like, and banks of filters."""

from __future__ import annotations

import enum
import math
from typing import Any, NamedTuple

import numpy

from ..._core import data as _data
from .._arguments import integer

__all__ = [
    "BorderType",
    "DensityFunction",
    "FadeShape",
    "GainType",
    "Interpolation",
    "MelType",
    "Modulation",
    "NormMode",
    "NormType",
    "ResampleMethod",
    "ScaleType",
    "WindowType",
    "create_dct",
    "linear_fbanks",
    "melscale_fbanks",
]

_LARGEST = 3.4028234663852886e38  # of float32
_LARGEST_INT = 2**31 - 1


class BorderType(str, enum.Enum):
    """How a signal goes on outside its ends: zeros, the last sample, mirrored without it, or with it."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(str, enum.Enum):
    """Noise of `Dither`: triangular, rectangular or Gaussian."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(str, enum.Enum):
    """How `Fade` goes on over time."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(str, enum.Enum):
    """What the gain of `Vol` is."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(str, enum.Enum):
    """How `Flanger` reads between samples."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(str, enum.Enum):
    """Which mel scale."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(str, enum.Enum):
    """The wave that drives `Flanger`."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(str, enum.Enum):
    """Whether the cosine transform is orthonormal."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(str, enum.Enum):
    """Whether filters are divided by their widths."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(str, enum.Enum):
    """The window of `Resample`."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(str, enum.Enum):
    """What is made decibels: powers or magnitudes."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(str, enum.Enum):
    """What frames of a spectrogram are multiplied with."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"


# ---------------------------------------------------------------------------------- arguments


def number(
    op: str,
    argument: str,
    value: Any,
    low: float = -_LARGEST,
    high: float = _LARGEST,
    above: float | None = None,
) -> float:
    """An int or float that float32 holds, in [low, high] and above `above`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, numpy.integer, numpy.floating)):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need a number")
    if not low <= value <= high or above is not None and value <= above or math.isnan(value):
        lowest = f"{low}" if above is None else f"more than {above}"
        raise ValueError(f"{op}: {argument} is out of range: got {value}, need {lowest} to {high}")
    return float(value)


def whole(op: str, argument: str, value: Any, low: int = -_LARGEST_INT - 1) -> int:
    """An int of 32 bits, at least `low`."""
    result = integer(op, argument, value, low)
    if result > _LARGEST_INT:
        raise ValueError(f"{op}: {argument} is out of range: got {value}, need at most {_LARGEST_INT}")
    return result


def maybe_whole(op: str, argument: str, value: Any, low: int = -_LARGEST_INT - 1) -> int | None:
    """None, or an int of 32 bits."""
    return None if value is None else whole(op, argument, value, low)


def rate(op: str, value: Any) -> int:
    """A sampling rate, of any sign."""
    if whole(op, "sample_rate", value) == 0:
        raise ValueError(f"{op}: sample_rate is out of range: got 0, need another number")
    return int(value)


def member(op: str, argument: str, value: Any, kind: type[enum.Enum]) -> int:
    """The number of a member of an enumeration, in the order of its members."""
    if not isinstance(value, kind):
        raise TypeError(
            f"{op}: {argument} has the wrong type: got {type(value).__name__}, need {kind.__name__}"
        )
    return list(kind).index(value)


class Bank(NamedTuple):
    """Filters on the mel scale, as the engine takes them."""

    mels: int
    sample_rate: int
    f_min: float
    f_max: float | None
    norm: int
    type: int

    def make(self) -> Any:
        """The engine's own."""
        return _data.AudioMelBank(*self)


def bank_of(op: str, n_mels: Any, sample_rate: Any, f_min: Any, f_max: Any, norm: Any, mel_type: Any) -> Bank:
    """The arguments of a bank of mel filters, checked."""
    bank = Bank(
        whole(op, "n_mels", n_mels, 1),
        whole(op, "sample_rate", sample_rate, 1),
        number(op, "f_min", f_min),
        None if f_max is None else number(op, "f_max", f_max, above=0),
        1 - member(op, "norm", norm, NormType),
        member(op, "mel_type", mel_type, MelType),
    )
    highest = bank.sample_rate // 2 if bank.f_max is None else bank.f_max
    if bank.f_min >= highest:
        raise ValueError(f"{op}: f_min is out of range: got {f_min}, need less than {highest}")
    return bank


class Frames(NamedTuple):
    """How a spectrogram is made, as the engine takes it."""

    n_fft: int
    win_length: int | None
    hop_length: int | None
    pad: int
    window: int
    normalized: bool
    center: bool
    border: int
    onesided: bool

    def make(self) -> Any:
        """The engine's own."""
        return _data.AudioFrames(*self)


def frames_of(
    op: str,
    n_fft: Any,
    win_length: Any = None,
    hop_length: Any = None,
    pad: Any = 0,
    window: Any = WindowType.HANN,
    normalized: Any = False,
    center: Any = True,
    pad_mode: Any = BorderType.REFLECT,
    onesided: Any = True,
) -> Frames:
    """The arguments of a spectrogram, checked."""
    for name, value in (("normalized", normalized), ("center", center), ("onesided", onesided)):
        if not isinstance(value, bool):
            raise TypeError(f"{op}: {name} has the wrong type: got {type(value).__name__}, need bool")
    frames = Frames(
        whole(op, "n_fft", n_fft, 1),
        maybe_whole(op, "win_length", win_length, 1),
        maybe_whole(op, "hop_length", hop_length, 1),
        whole(op, "pad", pad, 0),
        member(op, "window", window, WindowType),
        normalized,
        center,
        member(op, "pad_mode", pad_mode, BorderType),
        onesided,
    )
    if frames.win_length is not None and frames.win_length > frames.n_fft:
        raise ValueError(
            f"{op}: win_length is out of range: got {win_length}, need at most n_fft, {frames.n_fft}"
        )
    return frames


# ---------------------------------------------------------------------------------- functions


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> numpy.ndarray:
    """The matrix (n_mels, n_mfcc) of the discrete cosine transform of type 2, float32.

    >>> from sorus.dataset import audio
    >>> audio.create_dct(2, 2, audio.NormMode.ORTHO).round(3).tolist()
    [[0.7070000171661377, 0.7070000171661377], [0.7070000171661377, -0.7070000171661377]]
    """
    ortho = member("create_dct", "norm", norm, NormMode) == 0
    return _data.audio_create_dct(
        whole("create_dct", "n_mfcc", n_mfcc, 1), whole("create_dct", "n_mels", n_mels, 1), ortho
    )


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> numpy.ndarray:
    """Triangles evenly spread on the mel scale: (n_freqs, n_mels), float32.

    >>> from sorus.dataset import audio
    >>> audio.melscale_fbanks(5, 0.0, 4000.0, 2, 8000).astype(float).round(2).tolist()
    [[0.0, 0.0], [0.68, 0.32], [0.0, 0.91], [0.0, 0.45], [0.0, 0.0]]
    """
    op = "melscale_fbanks"
    bank = bank_of(op, n_mels, sample_rate, f_min, f_max, norm, mel_type)
    return _data.audio_melscale_fbanks(whole(op, "n_freqs", n_freqs, 0), bank.make())


def linear_fbanks(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> numpy.ndarray:
    """Triangles evenly spread over frequencies: (n_freqs, n_filter), float32.

    >>> from sorus.dataset import audio
    >>> audio.linear_fbanks(5, 0.0, 4000.0, 1, 8000).tolist()
    [[0.0], [0.5], [1.0], [0.5], [0.0]]
    """
    op = "linear_fbanks"
    return _data.audio_linear_fbanks(
        whole(op, "n_freqs", n_freqs, 0),
        number(op, "f_min", f_min),
        number(op, "f_max", f_max),
        whole(op, "n_filter", n_filter, 1),
        whole(op, "sample_rate", sample_rate, 1),
    )
