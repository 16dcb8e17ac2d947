"""Recursive filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arguments import flag
from ._operation import AudioTensorOperation
from .utils import number, rate

__all__ = [
    "AllpassBiquad",
    "BandBiquad",
    "BandpassBiquad",
    "BandrejectBiquad",
    "BassBiquad",
    "Biquad",
    "DeemphBiquad",
    "EqualizerBiquad",
    "Filtfilt",
    "HighpassBiquad",
    "LFilter",
    "LowpassBiquad",
    "RiaaBiquad",
    "TrebleBiquad",
]


def _quality(op: str, value: Any) -> float:
    return number(op, "Q", value, high=1, above=0)


def _coefficients(op: str, name: str, values: Any) -> list[float]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{op}: {name} has the wrong type: got {type(values).__name__}, need a list")
    return [number(op, f"{name}[{i}]", value) for i, value in enumerate(values)]


class LFilter(AudioTensorOperation):
    """A filter by its coefficients: `a_coeffs` of the result's past, `b_coeffs` of the signal.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.LFilter([1.0, -0.5], [1.0, 0.0])(np.array([1.0, 0.0, 0.0], np.float32)).tolist()
    [1.0, 0.5, 0.25]
    """

    _maker = "audio_lfilter"

    def __init__(self, a_coeffs: Sequence[float], b_coeffs: Sequence[float], clamp: bool = True):
        op = type(self).__name__
        self.a_coeffs = _coefficients(op, "a_coeffs", a_coeffs)
        self.b_coeffs = _coefficients(op, "b_coeffs", b_coeffs)
        self.clamp = flag(op, "clamp", clamp)
        self.keep(self.a_coeffs, self.b_coeffs, self.clamp)


class Filtfilt(LFilter):
    """The filter forward and backward, so that nothing is late.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Filtfilt([1.0, 0.0], [0.5, 0.5])(np.array([0.0, 1.0, 0.0], np.float32)).tolist()
    [0.25, 0.5, 0.25]
    """

    _maker = "audio_filtfilt"


class Biquad(AudioTensorOperation):
    """A filter of two poles by its coefficients; the result is cut off to [-1, 1].

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Biquad(0.5, 0.5, 0.0, 1.0, 0.0, 0.0)(np.array([1.0, 0.0, 0.0], np.float32)).tolist()
    [0.5, 0.5, 0.0]
    """

    _maker = "audio_biquad"

    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float):
        names = ("b0", "b1", "b2", "a0", "a1", "a2")
        self.keep(*(number("Biquad", name, v) for name, v in zip(names, (b0, b1, b2, a0, a1, a2))))


class _AtFrequency(AudioTensorOperation):
    """Filters by sampling rate, frequency and how narrow they are."""

    def take(self, sample_rate: Any, name: str, frequency: Any, q: Any, *more: Any) -> None:
        op = type(self).__name__
        self.keep(rate(op, sample_rate), number(op, name, frequency), _quality(op, q), *more)


class AllpassBiquad(_AtFrequency):
    """Changes phases and keeps amplitudes.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.AllpassBiquad(44100, 200.0)(np.array([[1.0, 0.5]], np.float32)).shape
    (1, 2)
    """

    _maker = "audio_allpass_biquad"

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        self.take(sample_rate, "central_freq", central_freq, Q)


class BandBiquad(_AtFrequency):
    """Passes a band; `noise` for sound without a pitch.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.BandBiquad(44100, 200.0)(np.array([1.0, 0.5], np.float32)).shape
    (2,)
    """

    _maker = "audio_band_biquad"

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False):
        self.take(sample_rate, "central_freq", central_freq, Q, flag("BandBiquad", "noise", noise))


class BandpassBiquad(_AtFrequency):
    """Passes a band; `const_skirt_gain` for a peak as high as it is narrow, else of height 1.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.BandpassBiquad(44100, 200.0)(np.array([1.0, 0.5], np.float32)).shape
    (2,)
    """

    _maker = "audio_bandpass_biquad"

    def __init__(
        self, sample_rate: int, central_freq: float, Q: float = 0.707, const_skirt_gain: bool = False
    ):
        skirt = flag("BandpassBiquad", "const_skirt_gain", const_skirt_gain)
        self.take(sample_rate, "central_freq", central_freq, Q, skirt)


class BandrejectBiquad(_AtFrequency):
    """Takes a band away.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.BandrejectBiquad(44100, 200.0)(np.array([1.0, 0.5], np.float32)).shape
    (2,)
    """

    _maker = "audio_bandreject_biquad"

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        self.take(sample_rate, "central_freq", central_freq, Q)


class HighpassBiquad(_AtFrequency):
    """Passes what is above a frequency.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> bool(abs(audio.HighpassBiquad(44100, 1500.0)(np.array([0.5] * 1000))[-1]) < 1e-3)
    True
    """

    _maker = "audio_highpass_biquad"

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        self.take(sample_rate, "cutoff_freq", cutoff_freq, Q)


class LowpassBiquad(_AtFrequency):
    """Passes what is below a frequency.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.LowpassBiquad(44100, 1500.0)(np.array([0.5] * 1000, np.float32))[-1:].round(3).tolist()
    [0.5]
    """

    _maker = "audio_lowpass_biquad"

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        self.take(sample_rate, "cutoff_freq", cutoff_freq, Q)


class _Shelf(AudioTensorOperation):
    """Filters with a gain, in decibels."""

    def take(self, sample_rate: Any, gain: Any, central_freq: Any, q: Any) -> None:
        op = type(self).__name__
        self.keep(
            rate(op, sample_rate),
            number(op, "gain", gain),
            number(op, "central_freq", central_freq),
            _quality(op, q),
        )


class BassBiquad(_Shelf):
    """More of what is below a frequency.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.BassBiquad(44100, 10.0)(np.array([0.1, 0.05], np.float32)).shape
    (2,)
    """

    _maker = "audio_bass_biquad"

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707):
        self.take(sample_rate, gain, central_freq, Q)


class TrebleBiquad(_Shelf):
    """More of what is above a frequency.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.TrebleBiquad(44100, 10.0)(np.array([0.1, 0.05], np.float32)).shape
    (2,)
    """

    _maker = "audio_treble_biquad"

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707):
        self.take(sample_rate, gain, central_freq, Q)


class EqualizerBiquad(AudioTensorOperation):
    """More, or less, of what is near a frequency.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.EqualizerBiquad(44100, 1500.0, 5.5)(np.array([0.1, 0.05], np.float32)).shape
    (2,)
    """

    _maker = "audio_equalizer_biquad"

    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707):
        op = "EqualizerBiquad"
        self.keep(
            rate(op, sample_rate),
            number(op, "center_freq", center_freq),
            number(op, "gain", gain),
            _quality(op, Q),
        )


class DeemphBiquad(AudioTensorOperation):
    """Undoes the emphasis of compact discs, sampled at 44100 or 48000 Hz.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.DeemphBiquad(44100)(np.array([0.5, 0.25], np.float32)).shape
    (2,)
    """

    _maker = "audio_deemph_biquad"

    def __init__(self, sample_rate: int):
        self.keep(rate("DeemphBiquad", sample_rate))


class RiaaBiquad(AudioTensorOperation):
    """Playback of vinyl records, sampled at 44100, 48000, 88200 or 96000 Hz.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.RiaaBiquad(44100)(np.array([0.5, 0.25], np.float32)).shape
    (2,)
    """

    _maker = "audio_riaa_biquad"

    def __init__(self, sample_rate: int):
        self.keep(rate("RiaaBiquad", sample_rate))
