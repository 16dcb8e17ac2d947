"""What records and replays the fixture tests/fixtures/mindspore/audio.json have in common.

A case is a line of tests/fixtures/audio/cases.txt, an expression over `audio` (the module of the framework),
`np` and the names below. It is evaluated the same way for the genuine MindSpore
(bench/peers/record_audio.py) and for Sorus (test_audio.py). Its outcome is JSON: arrays as [dtype, shape,
flat values], tuples and lists of outcomes, plain values, the class of an object, or {"error": class}.
"""

import pathlib
from types import ModuleType
from typing import Any

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
FIXTURE = TESTS / "fixtures/mindspore/audio.json"
CASES = (TESTS / "fixtures/audio/cases.txt").read_text().splitlines()


def wave(count: int, channels: int = 0, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    """Noise in (-1, 1), (count,) or (channels, count)."""
    shape = (channels, count) if channels else (count,)
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(dtype)


def tone(count: int, frequency: float, rate: int) -> np.ndarray:
    """A sine, float32."""
    return (0.6 * np.sin(2 * np.pi * frequency * np.arange(count) / rate)).astype(np.float32)


def silence_then_tone(count: int, frequency: float, rate: int) -> np.ndarray:
    """Faint noise, and from the middle on several harmonics, as a voice has them."""
    half = sum(tone(count, frequency * k, rate) / k for k in range(1, 6)) * (np.arange(count) >= count // 2)
    return (half * 0.5 + 1e-3 * wave(count, seed=5)).astype(np.float32)


FLOATS = [wave(40), wave(20, 2), wave(20, 2, dtype="float64")]
WAVES = [*FLOATS, np.arange(-3, 9, dtype=np.int32)]
POWERS = [np.abs(wave(6 * 4)).reshape(6, 4), np.abs(wave(48, dtype="float64")).reshape(2, 6, 4) * 100]
SPECTRA = [
    wave(6 * 2).reshape(6, 2),
    wave(24, dtype="float64").reshape(2, 6, 2),
    np.array([[3, 4], [-5, 12]]),
]


def settings(audio: ModuleType) -> tuple[dict, dict]:
    """melkwargs of MFCC, and speckwargs of LFCC."""
    common = {
        "n_fft": 16,
        "win_length": 16,
        "hop_length": 8,
        "pad": 0,
        "window": audio.WindowType.HANN,
        "power": 2.0,
        "normalized": False,
        "center": True,
        "pad_mode": audio.BorderType.REFLECT,
        "onesided": True,
    }
    mel = {"f_min": 0.0, "f_max": 2000.0, "n_mels": 8, "norm": audio.NormType.NONE}
    return {**common, **mel, "mel_scale": audio.MelType.HTK}, common


def all_of(transforms: Any, values: list) -> list:
    """What each transform makes of each value."""
    several = transforms if isinstance(transforms, list) else [transforms]
    return [transform(value) for transform in several for value in values]


def same_kind(transform: Any, value: np.ndarray) -> list:
    """Type and shape of a random result, and whether it is near its argument."""
    result = transform(value)
    return [str(result.dtype), list(result.shape), bool(np.abs(result - value).max() < 1e-3)]


def plain(value: Any) -> Any:
    """An outcome as JSON has it."""
    if isinstance(value, np.ndarray):
        digits = 9 if value.dtype == np.float32 else 15
        if value.dtype.kind == "f":
            flat = [float(f"{v:.{digits}g}") for v in value.reshape(-1).tolist()]
        else:
            flat = value.reshape(-1).tolist()
        return [str(value.dtype), list(value.shape), flat]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float)) else type(value).__name__


def run(audio: ModuleType, case: str) -> Any:
    """The outcome of a case."""
    mel, spec = settings(audio)
    names = {**globals(), "audio": audio, "MEL": mel, "SPEC": spec}
    try:
        return plain(eval(case, names))
    except Exception as error:
        return {"error": type(error).__name__}
