"""What acts on samples one by one, or nearly so, and effects."""

from __future__ import annotations

from typing import Any

from .._arguments import flag
from ._operation import AudioTensorOperation
from .utils import (
    DensityFunction,
    FadeShape,
    GainType,
    Interpolation,
    Modulation,
    ScaleType,
    member,
    number,
    rate,
    whole,
)

__all__ = [
    "AmplitudeToDB",
    "Angle",
    "ComplexNorm",
    "Contrast",
    "DBToAmplitude",
    "DCShift",
    "Dither",
    "Fade",
    "Flanger",
    "FrequencyMasking",
    "Gain",
    "Magphase",
    "MaskAlongAxis",
    "MaskAlongAxisIID",
    "MuLawDecoding",
    "MuLawEncoding",
    "Overdrive",
    "Phaser",
    "TimeMasking",
    "Vol",
]


class AmplitudeToDB(AudioTensorOperation):
    """Powers or magnitudes to decibels, at most `top_db` below the largest.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.AmplitudeToDB()(np.array([[1.0, 100.0]], np.float32)).tolist()
    [[0.0, 20.0]]
    """

    _maker = "audio_amplitude_to_db"

    def __init__(
        self,
        stype: ScaleType = ScaleType.POWER,
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float = 80.0,
    ):
        op = "AmplitudeToDB"
        self.keep(
            member(op, "stype", stype, ScaleType) == 0,
            number(op, "ref_value", ref_value, above=0),
            number(op, "amin", amin, above=0),
            number(op, "top_db", top_db, above=0),
        )


class DBToAmplitude(AudioTensorOperation):
    """Decibels to `ref` times a power of what they stand for: 1 for powers, 0.5 for magnitudes.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.DBToAmplitude(1.0, 1.0)(np.array([0.0, 20.0], np.float32)).tolist()
    [1.0, 100.0]
    """

    _maker = "audio_db_to_amplitude"

    def __init__(self, ref: float, power: float):
        self.keep(number("DBToAmplitude", "ref", ref), number("DBToAmplitude", "power", power))


class Contrast(AudioTensorOperation):
    """More of what is soft, without clipping.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Contrast()(np.array([0.0, 1.0], np.float32)).tolist()
    [0.0, 1.0]
    """

    _maker = "audio_contrast"

    def __init__(self, enhancement_amount: float = 75.0):
        self.keep(number("Contrast", "enhancement_amount", enhancement_amount, 0, 100))


class DCShift(AudioTensorOperation):
    """Adds a number; with `limiter_gain` peaks on that side are pressed together before.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.DCShift(0.5)(np.array([0.25, 0.75], np.float32)).tolist()
    [0.75, 1.0]
    """

    _maker = "audio_dc_shift"

    def __init__(self, shift: float, limiter_gain: float | None = None):
        limiter = None if limiter_gain is None else number("DCShift", "limiter_gain", limiter_gain)
        self.keep(number("DCShift", "shift", shift, -2, 2), limiter)


class Gain(AudioTensorOperation):
    """Louder by so many decibels.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Gain(20)(np.array([0.25], np.float32)).tolist()
    [2.5]
    """

    _maker = "audio_gain"

    def __init__(self, gain_db: float = 1.0):
        self.keep(number("Gain", "gain_db", gain_db))


class Vol(AudioTensorOperation):
    """Louder or softer, cut off to [-1, 1].

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Vol(2.0)(np.array([0.25, 0.75], np.float32)).tolist()
    [0.5, 1.0]
    """

    _maker = "audio_volume"

    def __init__(self, gain: float, gain_type: GainType = GainType.AMPLITUDE):
        kind = member("Vol", "gain_type", gain_type, GainType)
        limits: dict[GainType, dict[str, float]] = {
            GainType.AMPLITUDE: {"low": 0},
            GainType.POWER: {"above": 0},
        }
        self.keep(number("Vol", "gain", gain, **limits.get(gain_type, {})), kind)


class Fade(AudioTensorOperation):
    """From silence at the beginning, and to silence at the end.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Fade(3, 2)(np.ones(6, np.float32)).tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0, 0.0]
    """

    _maker = "audio_fade"

    def __init__(self, fade_in_len: int = 0, fade_out_len: int = 0, fade_shape: FadeShape = FadeShape.LINEAR):
        self.keep(
            whole("Fade", "fade_in_len", fade_in_len, 0),
            whole("Fade", "fade_out_len", fade_out_len, 0),
            member("Fade", "fade_shape", fade_shape, FadeShape),
        )


class Overdrive(AudioTensorOperation):
    """Distortion as of an amplifier beyond its range.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Overdrive()(np.array([0.5, -0.5], np.float32)).shape
    (2,)
    """

    _maker = "audio_overdrive"

    def __init__(self, gain: float = 20.0, color: float = 20.0):
        self.keep(number("Overdrive", "gain", gain, 0, 100), number("Overdrive", "color", color, 0, 100))


class Dither(AudioTensorOperation):
    """Noise of the size of a step of 16 bits, and rounding to such steps.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> bool(abs(audio.Dither()(np.array([0.5, -0.5], np.float32))[0] - 0.5) < 1e-4)
    True
    """

    _maker = "audio_dither"

    def __init__(self, density_function: DensityFunction = DensityFunction.TPDF, noise_shaping: bool = False):
        self.keep(
            member("Dither", "density_function", density_function, DensityFunction),
            flag("Dither", "noise_shaping", noise_shaping),
        )


class MuLawEncoding(AudioTensorOperation):
    """[-1, 1] to so many levels, int32.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.MuLawEncoding()(np.array([-1.0, 0.0, 0.1, 1.0], np.float32)).tolist()
    [0, 128, 203, 255]
    """

    _maker = "audio_mu_law_encoding"

    def __init__(self, quantization_channels: int = 256):
        self.keep(whole(type(self).__name__, "quantization_channels", quantization_channels, 1))


class MuLawDecoding(MuLawEncoding):
    """Levels to [-1, 1].

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.MuLawDecoding()(np.array([0, 255])).tolist()
    [-1.0, 1.0]
    """

    _maker = "audio_mu_law_decoding"


class Magphase(AudioTensorOperation):
    """Complex numbers (..., 2) to their magnitudes, to a power, and their angles: two columns.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> [part.tolist() for part in audio.Magphase()(np.array([[3.0, 4.0], [2.0, 0.0]], np.float32))]
    [[5.0, 2.0], [0.9272952079772949, 0.0]]
    """

    _maker = "audio_magphase"

    def __init__(self, power: float = 1.0):
        self.keep(number("Magphase", "power", power, 0))

    def __call__(self, *inputs: Any) -> Any:
        return self.operation(*inputs)


class Angle(AudioTensorOperation):
    """Complex numbers (..., 2) to their angles.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Angle()(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)).tolist()
    [0.0, 1.5707963705062866]
    """

    _maker = "audio_angle"

    def __init__(self) -> None:
        self.keep()


class ComplexNorm(AudioTensorOperation):
    """Complex numbers (..., 2) to their magnitudes, to a power.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.ComplexNorm(2.0)(np.array([[3.0, 4.0]], np.float32)).tolist()
    [25.0]
    """

    _maker = "audio_complex_norm"

    def __init__(self, power: float = 1.0):
        self.keep(number("ComplexNorm", "power", power, 0))


class Phaser(AudioTensorOperation):
    """Sweeping notches.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Phaser(44100)(np.array([0.5, -0.5])).round(3).tolist()
    [0.148, -0.089]
    """

    _maker = "audio_phaser"

    def __init__(
        self,
        sample_rate: int,
        gain_in: float = 0.4,
        gain_out: float = 0.74,
        delay_ms: float = 3.0,
        decay: float = 0.4,
        mod_speed: float = 0.5,
        sinusoidal: bool = True,
    ):
        op = "Phaser"
        self.keep(
            whole(op, "sample_rate", sample_rate),
            number(op, "gain_in", gain_in, 0, 1),
            number(op, "gain_out", gain_out, 0, 1e9),
            number(op, "delay_ms", delay_ms, 0, 5),
            number(op, "decay", decay, 0, 0.99),
            number(op, "mod_speed", mod_speed, 0.1, 2),
            flag(op, "sinusoidal", sinusoidal),
        )


class Flanger(AudioTensorOperation):
    """A delayed copy on top, whose delay sweeps; for (..., channel, time).

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Flanger(44100)(np.array([[0.5, -0.5]], np.float32)).round(3).tolist()
    [[0.5, -0.5]]
    """

    _maker = "audio_flanger"

    def __init__(
        self,
        sample_rate: int,
        delay: float = 0.0,
        depth: float = 2.0,
        regen: float = 0.0,
        width: float = 71.0,
        speed: float = 0.5,
        phase: float = 25.0,
        modulation: Modulation = Modulation.SINUSOIDAL,
        interpolation: Interpolation = Interpolation.LINEAR,
    ):
        op = "Flanger"
        self.keep(
            rate(op, sample_rate),
            number(op, "delay", delay, 0, 30),
            number(op, "depth", depth, 0, 10),
            number(op, "regen", regen, -95, 95),
            number(op, "width", width, 0, 100),
            number(op, "speed", speed, 0.1, 10),
            number(op, "phase", phase, 0, 100),
            member(op, "modulation", modulation, Modulation) == 0,
            member(op, "interpolation", interpolation, Interpolation) == 0,
        )


def _axis(op: str, value: Any) -> int:
    if whole(op, "axis", value) not in (1, 2):
        raise ValueError(f"{op}: axis is out of range: got {value}, need 1 or 2")
    return int(value)


class MaskAlongAxis(AudioTensorOperation):
    """`mask_width` frequencies (axis 1) or times (axis 2) of a spectrogram become `mask_value`.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.MaskAlongAxis(0, 1, 9.0, 2)(np.ones((1, 2, 2), np.float32)).tolist()
    [[[9.0, 1.0], [9.0, 1.0]]]
    """

    _maker = "audio_mask_along_axis"

    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int):
        op = "MaskAlongAxis"
        self.keep(
            whole(op, "mask_start", mask_start, 0),
            whole(op, "mask_width", mask_width, 1),
            number(op, "mask_value", mask_value),
            _axis(op, axis),
        )


class MaskAlongAxisIID(AudioTensorOperation):
    """For each channel a mask of its own, at a random place and at most `mask_param` wide.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.MaskAlongAxisIID(2, 9.0, 2)(np.ones((1, 2, 4), np.float32)).shape
    (1, 2, 4)
    """

    _maker = "audio_mask_along_axis_iid"

    def __init__(self, mask_param: int, mask_value: float, axis: int):
        op = "MaskAlongAxisIID"
        self.keep(
            whole(op, "mask_param", mask_param, 0), number(op, "mask_value", mask_value), _axis(op, axis)
        )


class _Masking(AudioTensorOperation):
    """One mask for all channels, or for each one of its own."""

    def take(
        self, axis: int, iid_masks: Any, name: str, width: Any, mask_start: Any, mask_value: Any
    ) -> None:
        op = type(self).__name__
        wide = whole(op, name, width, 0)
        start = whole(op, "mask_start", mask_start, 0)
        value = number(op, "mask_value", mask_value, 0)
        if flag(op, "iid_masks", iid_masks):
            self._maker = "audio_mask_along_axis_iid"
            self.keep(wide, value, axis)
        else:
            self._maker = "audio_mask_along_axis"
            self.keep(start, wide, value, axis)


class FrequencyMasking(_Masking):
    """Masks frequencies: `freq_mask_param` from `mask_start` on, or with `iid_masks` at most so many.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.FrequencyMasking(False, 1, 1, 9.0)(np.ones((2, 2), np.float32)).tolist()
    [[1.0, 1.0], [9.0, 9.0]]
    """

    def __init__(
        self,
        iid_masks: bool = False,
        freq_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ):
        self.take(1, iid_masks, "freq_mask_param", freq_mask_param, mask_start, mask_value)


class TimeMasking(_Masking):
    """Masks times: `time_mask_param` from `mask_start` on, or with `iid_masks` at most so many.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.TimeMasking(False, 1, 1, 9.0)(np.ones((2, 2), np.float32)).tolist()
    [[1.0, 9.0], [1.0, 9.0]]
    """

    def __init__(
        self,
        iid_masks: bool = False,
        time_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ):
        self.take(2, iid_masks, "time_mask_param", time_mask_param, mask_start, mask_value)
