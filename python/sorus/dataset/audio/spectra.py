"""Spectrograms, what is told of sound over time, other speeds and sampling rates."""

from __future__ import annotations

from typing import Any

import numpy

from .._arguments import flag
from ._operation import AudioTensorOperation
from .utils import (
    BorderType,
    Frames,
    MelType,
    NormMode,
    NormType,
    ResampleMethod,
    WindowType,
    bank_of,
    frames_of,
    maybe_whole,
    member,
    number,
    rate,
    whole,
)

__all__ = [
    "ComputeDeltas",
    "DetectPitchFrequency",
    "GriffinLim",
    "InverseMelScale",
    "InverseSpectrogram",
    "LFCC",
    "MFCC",
    "MelScale",
    "MelSpectrogram",
    "PhaseVocoder",
    "PitchShift",
    "Resample",
    "SlidingWindowCmn",
    "SpectralCentroid",
    "Spectrogram",
    "TimeStretch",
    "Vad",
]


class Spectrogram(AudioTensorOperation):
    """Magnitudes to a power of each frequency over time, or with power 0 complex numbers.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Spectrogram(n_fft=16)(np.ones(64, np.float32)).shape
    (9, 9)
    """

    _maker = "audio_spectrogram"

    def __init__(
        self,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ):
        op = "Spectrogram"
        frames = frames_of(
            op, n_fft, win_length, hop_length, pad, window, normalized, center, pad_mode, onesided
        )
        self.keep(frames, number(op, "power", power, 0))


class InverseSpectrogram(AudioTensorOperation):
    """The waveform of a complex spectrogram.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> spectrum = audio.Spectrogram(n_fft=16, power=0)(np.ones(64, np.float32))
    >>> audio.InverseSpectrogram(n_fft=16)(spectrum)[:3].round(3).tolist()
    [1.0, 1.0, 1.0]
    """

    _maker = "audio_inverse_spectrogram"

    def __init__(
        self,
        length: int | None = None,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ):
        op = "InverseSpectrogram"
        frames = frames_of(
            op, n_fft, win_length, hop_length, pad, window, normalized, center, pad_mode, onesided
        )
        self.keep(frames, maybe_whole(op, "length", length, 0))


class SpectralCentroid(AudioTensorOperation):
    """The middle of each frame's magnitudes, in Hz.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> tone = np.sin(np.arange(4000) * 2 * np.pi * 1000 / 8000).astype(np.float32)
    >>> int(audio.SpectralCentroid(8000)(tone)[0, 5].round())
    1000
    """

    _maker = "audio_spectral_centroid"

    def __init__(
        self,
        sample_rate: int,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
    ):
        op = "SpectralCentroid"
        frames = frames_of(op, n_fft, win_length, hop_length, pad, window)
        self.keep(whole(op, "sample_rate", sample_rate, 0), frames)


class GriffinLim(AudioTensorOperation):
    """A waveform whose magnitudes are these.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.GriffinLim(n_fft=16)(np.ones((9, 9), np.float32)).shape
    (64,)
    """

    _maker = "audio_griffin_lim"

    def __init__(
        self,
        n_fft: int = 400,
        n_iter: int = 32,
        win_length: int | None = None,
        hop_length: int | None = None,
        window_type: WindowType = WindowType.HANN,
        power: float = 2.0,
        momentum: float = 0.99,
        length: int | None = None,
        rand_init: bool = True,
    ):
        op = "GriffinLim"
        self.keep(
            frames_of(op, n_fft, win_length, hop_length, 0, window_type),
            whole(op, "n_iter", n_iter, 1),
            number(op, "power", power, above=0),
            number(op, "momentum", momentum, 0),
            maybe_whole(op, "length", length, 0),
            flag(op, "rand_init", rand_init),
        )


class MelScale(AudioTensorOperation):
    """Frequencies of a spectrogram to bands on the mel scale.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.MelScale(n_mels=4, n_stft=9)(np.ones((9, 3), np.float32)).shape
    (4, 3)
    """

    _maker = "audio_mel_scale"

    def __init__(
        self,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        n_stft: int = 201,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ):
        op = "MelScale"
        bank = bank_of(op, n_mels, sample_rate, f_min, f_max, norm, mel_type)
        self.keep(bank, whole(op, "n_stft", n_stft, 1))


class InverseMelScale(AudioTensorOperation):
    """A spectrogram whose bands on the mel scale are these, by gradient descent: (channels, n_stft, time).

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.InverseMelScale(n_stft=9, n_mels=4, max_iter=10)(np.ones((4, 3), np.float32)).shape
    (1, 9, 3)
    """

    _maker = "audio_inverse_mel_scale"

    def __init__(
        self,
        n_stft: int,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        max_iter: int = 100000,
        tolerance_loss: float = 1e-5,
        tolerance_change: float = 1e-8,
        sgdargs: dict | None = None,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ):
        op = "InverseMelScale"
        bank = bank_of(op, n_mels, sample_rate, f_min, f_max, norm, mel_type)
        descent = _settings(op, "sgdargs", sgdargs, {"sgd_lr": 0.1, "sgd_momentum": 0.9})
        self.keep(
            whole(op, "n_stft", n_stft, 1),
            bank,
            whole(op, "max_iter", max_iter, 1),
            number(op, "tolerance_loss", tolerance_loss, above=0),
            number(op, "tolerance_change", tolerance_change, above=0),
            number(op, "sgd_lr", descent["sgd_lr"], 0),
            number(op, "sgd_momentum", descent["sgd_momentum"], 0),
        )


class MelSpectrogram(AudioTensorOperation):
    """A spectrogram with bands on the mel scale.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.MelSpectrogram(n_fft=16, n_mels=4)(np.ones(64, np.float32)).shape
    (4, 9)
    """

    _maker = "audio_mel_spectrogram"

    def __init__(
        self,
        sample_rate: int = 16000,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        f_min: float = 0.0,
        f_max: float | None = None,
        pad: int = 0,
        n_mels: int = 128,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
        norm: NormType = NormType.NONE,
        mel_scale: MelType = MelType.HTK,
    ):
        op = "MelSpectrogram"
        frames = frames_of(
            op, n_fft, win_length, hop_length, pad, window, normalized, center, pad_mode, onesided
        )
        bank = bank_of(op, n_mels, sample_rate, f_min, f_max, norm, mel_scale)
        self.keep(frames, number(op, "power", power, above=0), bank)


_FRAMES: dict[str, Any] = {
    "n_fft": 400,
    "win_length": None,
    "hop_length": None,
    "pad": 0,
    "window": WindowType.HANN,
    "power": 2.0,
    "normalized": False,
    "center": True,
    "pad_mode": BorderType.REFLECT,
    "onesided": True,
}
_MELS: dict[str, Any] = {
    "f_min": 0.0,
    "f_max": None,
    "n_mels": 128,
    "norm": NormType.NONE,
    "mel_scale": MelType.HTK,
}


def _settings(op: str, argument: str, given: Any, usual: dict[str, Any]) -> dict[str, Any]:
    """Settings in a dict, with usual ones where it has none."""
    if not isinstance(given, (dict, type(None))):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(given).__name__}, need a dict")
    unknown = set(given or ()) - set(usual)
    if unknown:
        raise ValueError(
            f"{op}: {argument} has an unknown key: got {min(unknown)!r}, need {', '.join(usual)}"
        )
    return {**usual, **(given or {})}


def _frames(op: str, settings: dict[str, Any]) -> Frames:
    return frames_of(op, **{name: settings[name] for name in _FRAMES if name != "power"})


def _second_kind(op: str, dct_type: Any) -> None:
    if dct_type != 2:
        raise ValueError(f"{op}: dct_type is not supported: got {dct_type}, need 2")


class MFCC(AudioTensorOperation):
    """Cepstral coefficients on the mel scale; `melkwargs` are arguments of `MelSpectrogram`.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.MFCC(n_mfcc=13)(np.ones(1600, np.float32)).shape
    (13, 9)
    """

    _maker = "audio_mfcc"

    def __init__(
        self,
        sample_rate: int = 16000,
        n_mfcc: int = 40,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_mels: bool = False,
        melkwargs: dict | None = None,
    ):
        op = "MFCC"
        _second_kind(op, dct_type)
        mel = _settings(op, "melkwargs", melkwargs, {**_FRAMES, **_MELS})
        bank = bank_of(
            op, mel["n_mels"], sample_rate, mel["f_min"], mel["f_max"], mel["norm"], mel["mel_scale"]
        )
        self.keep(
            whole(op, "n_mfcc", n_mfcc, 1),
            _frames(op, mel),
            number(op, "power", mel["power"], above=0),
            bank,
            member(op, "norm", norm, NormMode) == 0,
            flag(op, "log_mels", log_mels),
        )


class LFCC(AudioTensorOperation):
    """Cepstral coefficients of evenly spread bands; `speckwargs` are arguments of `Spectrogram`.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.LFCC(n_lfcc=13)(np.ones(1600, np.float32)).shape
    (13, 9)
    """

    _maker = "audio_lfcc"

    def __init__(
        self,
        sample_rate: int = 16000,
        n_filter: int = 128,
        n_lfcc: int = 40,
        f_min: float = 0.0,
        f_max: float | None = None,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_lf: bool = False,
        speckwargs: dict | None = None,
    ):
        op = "LFCC"
        _second_kind(op, dct_type)
        frames = _settings(op, "speckwargs", speckwargs, _FRAMES)
        self.keep(
            whole(op, "n_lfcc", n_lfcc, 1),
            _frames(op, frames),
            number(op, "power", frames["power"], above=0),
            whole(op, "n_filter", n_filter, 1),
            whole(op, "sample_rate", sample_rate, 0),
            number(op, "f_min", f_min, 0),
            None if f_max is None else number(op, "f_max", f_max, 0),
            member(op, "norm", norm, NormMode) == 0,
            flag(op, "log_lf", log_lf),
        )


class PhaseVocoder(AudioTensorOperation):
    """A complex spectrogram `rate` times as fast; `phase_advance`: (frequency, 1), from frame to frame.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> advance = np.linspace(0, np.pi * 8, 9, dtype=np.float32)[:, None]
    >>> audio.PhaseVocoder(2.0, advance)(np.ones((9, 6, 2), np.float32)).shape
    (9, 3, 2)
    """

    _maker = "audio_phase_vocoder"

    def __init__(self, rate: float, phase_advance: numpy.ndarray):
        op = "PhaseVocoder"
        if not isinstance(phase_advance, numpy.ndarray):
            raise TypeError(
                f"{op}: phase_advance has the wrong type: got {type(phase_advance).__name__}, need an array"
            )
        if phase_advance.ndim != 2 or phase_advance.shape[1] != 1:
            raise ValueError(
                f"{op}: phase_advance has the wrong shape: got {phase_advance.shape}, need (frequency, 1)"
            )
        self.keep(number(op, "rate", rate, above=0), phase_advance.reshape(-1).astype(float).tolist())


class TimeStretch(AudioTensorOperation):
    """A complex spectrogram `fixed_rate` times as fast, at the same pitch.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.TimeStretch(8, 9, 2.0)(np.ones((9, 6, 2), np.float32)).shape
    (9, 3, 2)
    """

    _maker = "audio_time_stretch"

    def __init__(self, hop_length: int | None = None, n_freq: int = 201, fixed_rate: float | None = None):
        op = "TimeStretch"
        frequencies = whole(op, "n_freq", n_freq, 1)
        hop = maybe_whole(op, "hop_length", hop_length, 1)
        speed = 1.0 if fixed_rate is None else number(op, "fixed_rate", fixed_rate, above=0)
        self.keep(frequencies - 1 if hop is None else hop, speed)


class PitchShift(AudioTensorOperation):
    """Higher by so many steps of an octave, as long as before.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.PitchShift(16000, 4)(np.ones(1000, np.float32)).shape
    (1000,)
    """

    _maker = "audio_pitch_shift"

    def __init__(
        self,
        sample_rate: int,
        n_steps: int,
        bins_per_octave: int = 12,
        n_fft: int = 512,
        win_length: int | None = None,
        hop_length: int | None = None,
        window: WindowType = WindowType.HANN,
    ):
        op = "PitchShift"
        frames = frames_of(op, n_fft, win_length, hop_length, 0, window)
        hop = frames.hop_length or max((frames.win_length or frames.n_fft) // 4, 1)
        self.keep(
            whole(op, "sample_rate", sample_rate, 1),
            whole(op, "n_steps", n_steps),
            whole(op, "bins_per_octave", bins_per_octave),
            frames._replace(hop_length=hop),
        )


class Resample(AudioTensorOperation):
    """To another sampling rate.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Resample(48000, 16000)(np.ones(90, np.float32)).shape
    (30,)
    """

    _maker = "audio_resample"

    def __init__(
        self,
        orig_freq: float = 16000,
        new_freq: float = 16000,
        resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
        lowpass_filter_width: int = 6,
        rolloff: float = 0.99,
        beta: float | None = None,
    ):
        op = "Resample"
        self.keep(
            number(op, "orig_freq", orig_freq, above=0),
            number(op, "new_freq", new_freq, above=0),
            member(op, "resample_method", resample_method, ResampleMethod) == 1,
            whole(op, "lowpass_filter_width", lowpass_filter_width, 1),
            number(op, "rolloff", rolloff, high=1, above=0),
            None if beta is None else number(op, "beta", beta),
        )


class SlidingWindowCmn(AudioTensorOperation):
    """(..., time, features) less the mean of the frames around, and with `norm_vars` by their deviation.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.SlidingWindowCmn()(np.array([[1.0], [3.0]], np.float32)).tolist()
    [[-1.0], [1.0]]
    """

    _maker = "audio_sliding_window_cmn"

    def __init__(
        self,
        cmn_window: int = 600,
        min_cmn_window: int = 100,
        center: bool = False,
        norm_vars: bool = False,
    ):
        op = "SlidingWindowCmn"
        self.keep(
            whole(op, "cmn_window", cmn_window, 0),
            whole(op, "min_cmn_window", min_cmn_window, 0),
            flag(op, "center", center),
            flag(op, "norm_vars", norm_vars),
        )


class ComputeDeltas(AudioTensorOperation):
    """The slope of each feature over time.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.ComputeDeltas(3)(np.array([[1.0, 2.0, 3.0]], np.float32)).tolist()
    [[0.5, 1.0, 0.5]]
    """

    _maker = "audio_compute_deltas"

    def __init__(self, win_length: int = 5, pad_mode: BorderType = BorderType.EDGE):
        op = "ComputeDeltas"
        self.keep(whole(op, "win_length", win_length, 3), member(op, "pad_mode", pad_mode, BorderType))


class DetectPitchFrequency(AudioTensorOperation):
    """The pitch of each frame in Hz.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> tone = np.sin(np.arange(4000) * 2 * np.pi * 400 / 8000).astype(np.float32)
    >>> audio.DetectPitchFrequency(8000)(tone)[:2].tolist()
    [400.0, 400.0]
    """

    _maker = "audio_detect_pitch_frequency"

    def __init__(
        self,
        sample_rate: int,
        frame_time: float = 0.01,
        win_length: int = 30,
        freq_low: float = 85,
        freq_high: float = 3400,
    ):
        op = "DetectPitchFrequency"
        self.keep(
            rate(op, sample_rate),
            number(op, "frame_time", frame_time, above=0),
            whole(op, "win_length", win_length, 1),
            number(op, "freq_low", freq_low, above=0),
            number(op, "freq_high", freq_high, above=0),
        )


class Vad(AudioTensorOperation):
    """What stands before the first voice cut off.

    >>> import numpy as np
    >>> from sorus.dataset import audio
    >>> audio.Vad(8000)(np.zeros(3000, np.float32)).shape
    (3000,)
    """

    _maker = "audio_voice_activity"

    def __init__(
        self,
        sample_rate: int,
        trigger_level: float = 7.0,
        trigger_time: float = 0.25,
        search_time: float = 1.0,
        allowed_gap: float = 0.25,
        pre_trigger_time: float = 0.0,
        boot_time: float = 0.35,
        noise_up_time: float = 0.1,
        noise_down_time: float = 0.01,
        noise_reduction_amount: float = 1.35,
        measure_freq: float = 20.0,
        measure_duration: float | None = None,
        measure_smooth_time: float = 0.4,
        hp_filter_freq: float = 50.0,
        lp_filter_freq: float = 6000.0,
        hp_lifter_freq: float = 150.0,
        lp_lifter_freq: float = 2000.0,
    ):
        op = "Vad"
        settings = [
            number(op, "trigger_level", trigger_level),
            number(op, "trigger_time", trigger_time, 0),
            number(op, "search_time", search_time, 0),
            number(op, "allowed_gap", allowed_gap, 0),
            number(op, "pre_trigger_time", pre_trigger_time, 0),
            number(op, "boot_time", boot_time, 0),
            number(op, "noise_up_time", noise_up_time, 0),
            number(op, "noise_down_time", noise_down_time, 0),
            number(op, "noise_reduction_amount", noise_reduction_amount, 0),
            number(op, "measure_freq", measure_freq, above=0),
            number(op, "measure_smooth_time", measure_smooth_time, 0),
            number(op, "hp_filter_freq", hp_filter_freq, above=0),
            number(op, "lp_filter_freq", lp_filter_freq, above=0),
            number(op, "hp_lifter_freq", hp_lifter_freq, above=0),
            number(op, "lp_lifter_freq", lp_lifter_freq, above=0),
        ]
        duration = number(op, "measure_duration", measure_duration, 0) if measure_duration else None
        self.keep(whole(op, "sample_rate", sample_rate, 1), settings, duration)
