"""sorus.dataset.audio: what the genuine MindSpore gives (recorded), pipelines, pickles, refusals."""

import json
import pickle

import numpy as np
import pytest
from audio_cases import CASES, FIXTURE, run, silence_then_tone, tone, wave

from sorus import dataset as ds
from sorus.dataset import audio

RECORDED = json.loads(FIXTURE.read_text())
# How far results may be from MindSpore's, which computes in the type of the row, as a part of the largest.
TOLERANCE = {"float32": 1e-5, "float64": 1e-6, "int32": 0}
# Cases that need more: MindSpore rounds what goes on from sample to sample, or through many sums, to float32.
LOOSER = {"all_of(audio.B": 3e-5, "all_of([audio.Riaa": 2e-5, "audio.PitchShift": 3e-5, "audio.Griffin": 1e-4}
# Cases where Sorus gives something else on purpose, and what.
_REFUSED = "refused by the constructor"
_DOUBLE = "float64 is computed and kept; MindSpore reads other bits"
_WHOLE = "the row's shape stays"
_VOICE = "the voice is found; MindSpore finds none in any signal"
DEVIATIONS_BY_BEGINNING = {
    "audio.LFilter([], [])": _REFUSED,
    "audio.MFCC(n_mfcc=200)": _REFUSED,
    "all_of(audio.Fade(), WAVES)": "integers become float32, also without fades",
    "audio.Spectrogram(n_fft=16, power=0.0, onesided=False)": "the other half are the conjugates",
    "audio.InverseSpectrogram(n_fft=16, pad=3": "`pad` is taken off",
    "audio.MelSpectrogram(sample_rate=8000, n_fft=16, n_mels=6, win_length=12": _DOUBLE,
    "audio.MFCC(4000, 5, 2, audio.NormMode.NONE": _DOUBLE,
    "audio.LFCC(4000, 8, 5, 100.0": _DOUBLE,
    "audio.GriffinLim(n_fft=16, n_iter=8, length=40": "`length` is filled with zeros, not NaN",
    "audio.PhaseVocoder(1.0": _WHOLE,
    "audio.TimeStretch(8, 9)(": _WHOLE,
    "audio.PhaseVocoder(1.3, np.linspace(0, 8, 9).reshape(9, 1))": "phases and rows may differ in type",
    "audio.Vad(8000, boot_time=0.01": _VOICE,
    "audio.Vad(8000)(silence": _VOICE,
    "audio.Vad(8000, trigger_level": _VOICE,
}
DEVIATIONS = {
    case: why for case in CASES for name, why in DEVIATIONS_BY_BEGINNING.items() if case.startswith(name)
}


def _differ(ours, theirs, case):
    """Where two outcomes differ, or None."""
    if isinstance(theirs, dict):
        return None if isinstance(ours, dict) else f"no {theirs}"
    is_array = isinstance(theirs, list) and len(theirs) == 3 and isinstance(theirs[0], str)
    if not is_array:
        if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
            return next(filter(None, (_differ(a, b, case) for a, b in zip(ours, theirs))), None)
        return None if ours == theirs else f"{ours} instead of {theirs}"
    if not isinstance(ours, list) or ours[:2] != theirs[:2]:
        return f"{str(ours)[:60]} instead of {theirs[:2]}"
    a, b = np.array(ours[2], np.float64), np.array(theirs[2], np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return "numbers that are none"
    far = np.abs(a - b).max(initial=0) / max(np.abs(b).max(initial=0), 1e-30)
    allowed = next((t for name, t in LOOSER.items() if case.startswith(name)), TOLERANCE[theirs[0]])
    return f"off by {far:.2g}" if far > allowed else None


@pytest.mark.parametrize("case", [case for case in CASES if case not in DEVIATIONS])
def test_as_recorded(case):
    assert _differ(run(audio, case), RECORDED[case], case) is None


@pytest.mark.parametrize("case", DEVIATIONS)
def test_deviations_are_needed(case):
    assert _differ(run(audio, case), RECORDED[case], case) is not None


def test_every_case_is_recorded():
    assert set(CASES) == set(RECORDED)


_COMPLEX = wave(2 * 9 * 10 * 2).reshape(2, 9, 10, 2)
_MEL = np.abs(wave(6 * 4)).reshape(6, 4)
# Each class once, with a row that it takes.
EVERY = [
    (audio.AllpassBiquad(44100, 200.0), wave(40, 2)),
    (audio.AmplitudeToDB(), _MEL),
    (audio.Angle(), _COMPLEX),
    (audio.BandBiquad(44100, 200.0), wave(40, 2)),
    (audio.BandpassBiquad(44100, 200.0), wave(40, 2)),
    (audio.BandrejectBiquad(44100, 200.0), wave(40, 2)),
    (audio.BassBiquad(44100, 10.0), wave(40, 2)),
    (audio.Biquad(0.01, 0.02, 0.13, 1, 0.12, 0.3), wave(40, 2)),
    (audio.ComplexNorm(), _COMPLEX),
    (audio.ComputeDeltas(), _MEL),
    (audio.Contrast(), wave(40, 2)),
    (audio.DBToAmplitude(1.0, 1.0), wave(40, 2)),
    (audio.DCShift(0.5, 0.02), wave(40, 2)),
    (audio.DeemphBiquad(44100), wave(40, 2)),
    (audio.DetectPitchFrequency(8000), tone(2000, 440.0, 8000)),
    (audio.Dither(), wave(40, 2)),
    (audio.EqualizerBiquad(44100, 1500.0, 5.5), wave(40, 2)),
    (audio.Fade(5, 5), wave(40, 2)),
    (audio.Filtfilt([1.0, 0.1], [0.1, 0.2]), wave(40, 2)),
    (audio.Flanger(44100), wave(40, 2)),
    (audio.FrequencyMasking(False, 2, 1), _MEL),
    (audio.Gain(), wave(40, 2)),
    (audio.GriffinLim(n_fft=16, n_iter=2, rand_init=False), np.abs(wave(9 * 8)).reshape(9, 8)),
    (audio.HighpassBiquad(44100, 1500.0), wave(40, 2)),
    (audio.InverseSpectrogram(n_fft=16), _COMPLEX),
    (audio.LFCC(8000, 16, 5), wave(1200)),
    (audio.LFilter([1.0, 0.1], [0.1, 0.2]), wave(40, 2)),
    (audio.LowpassBiquad(44100, 1500.0), wave(40, 2)),
    (audio.MFCC(16000, 40), wave(1200)),
    (audio.Magphase(), _COMPLEX),
    (audio.MaskAlongAxis(1, 2, 9.0, 1), _MEL),
    (audio.MelScale(6, 8000, n_stft=6), _MEL),
    (audio.MelSpectrogram(n_fft=16, n_mels=4), wave(60)),
    (audio.MuLawDecoding(), np.arange(6, dtype=np.int32)),
    (audio.MuLawEncoding(), wave(40)),
    (audio.Overdrive(), wave(40)),
    (audio.PhaseVocoder(1.3, np.linspace(0, 25, 9)[:, None]), _COMPLEX),
    (audio.Phaser(44100), wave(40)),
    (audio.PitchShift(8000, 4, n_fft=32), wave(200)),
    (audio.Resample(48000, 16000), wave(90, 2)),
    (audio.RiaaBiquad(44100), wave(40)),
    (audio.SlidingWindowCmn(), _MEL),
    (audio.SpectralCentroid(8000, 16), wave(60)),
    (audio.Spectrogram(16), wave(60)),
    (audio.TimeMasking(False, 2, 1), _MEL),
    (audio.TimeStretch(8, 9, 1.2), _COMPLEX),
    (audio.TrebleBiquad(44100, 10.0), wave(40)),
    (audio.Vad(8000), silence_then_tone(6000, 300.0, 8000)),
    (audio.Vol(0.5), wave(40)),
]
# Those that draw.
RANDOM = [
    (audio.Dither(audio.DensityFunction.RPDF), wave(40)),
    (audio.Dither(audio.DensityFunction.GPDF), wave(40)),
    (audio.FrequencyMasking(True, 5, 0, 9.0), _MEL),
    (audio.GriffinLim(n_fft=16, n_iter=2), np.abs(wave(9 * 8)).reshape(9, 8)),
    (audio.InverseMelScale(9, 6, 8000, max_iter=5), _MEL),
    (audio.MaskAlongAxisIID(5, 9.0, 1), _MEL),
    (audio.TimeMasking(True, 4, 0, 9.0), _MEL),
]


def _name(value):
    return type(value).__name__ if isinstance(value, audio.AudioTensorOperation) else ""


def _mapped(transform, rows):
    outputs = ["a", "b"] if isinstance(transform, audio.Magphase) else ["a"]
    data = ds.NumpySlicesDataset(rows, ["x"], shuffle=False).map(transform, "x", outputs)
    return [list(row) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_every_class_is_tried():
    classes = {type(transform) for transform, _ in [*EVERY, *RANDOM]}
    assert {c.__name__ for c in classes} == {
        name
        for name, value in vars(audio).items()
        if isinstance(value, type)
        and issubclass(value, audio.AudioTensorOperation)
        and value is not audio.AudioTensorOperation
    }


@pytest.mark.parametrize(("transform", "row"), EVERY, ids=_name)
def test_pipelines_and_copies_give_what_calls_give(transform, row):
    copy = pickle.loads(pickle.dumps(transform))
    several = _mapped(copy, np.stack([row, row[..., ::-1] if row.dtype.kind == "f" else row]))
    called = transform(row)
    for mapped, direct in zip(several[0], called if isinstance(called, tuple) else [called]):
        assert mapped.dtype == direct.dtype and np.array_equal(mapped, direct)
    assert len(several) == 2


@pytest.mark.parametrize(("transform", "row"), [*EVERY, *RANDOM], ids=_name)
def test_types_go_on(transform, row):
    wide = transform(row.astype(np.float64))
    narrow = transform(row.astype(np.float32))
    kept = {np.dtype(np.int32), np.dtype(np.float32)} if _name(transform)[0] in "MD" else set()
    for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (wide, narrow))):
        assert (a.dtype == np.float64 or a.dtype in kept) and b.dtype in (np.float32, np.int32)


@pytest.mark.parametrize(("transform", "row"), RANDOM, ids=_name)
def test_draws_are_keyed_by_row(transform, row):
    before = ds.config.get_seed()
    ds.config.set_seed(5)
    rows = np.stack([row] * 12)
    first, second = _mapped(transform, rows), _mapped(transform, rows)
    ds.config.set_seed(before)
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(first, second))
    assert any(not np.array_equal(first[0][0], other[0]) for other in first[1:])


def test_vad_keeps_the_voice():
    sound = silence_then_tone(20000, 300.0, 8000)
    left = audio.Vad(8000, pre_trigger_time=0.5)(sound)
    assert 10000 <= len(left) < 18000 and np.array_equal(left, sound[-len(left) :])
    several = audio.Vad(8000)(np.stack([sound, 0 * sound]))
    assert several.shape[0] == 2 and several.shape[1] < 20000


def test_pitch_shift_moves_a_tone():
    sound = tone(8000, 400.0, 8000)
    shifted = audio.PitchShift(8000, 12)(sound)
    peaks = [int(np.abs(np.fft.rfft(x)).argmax()) for x in (sound, shifted)]
    assert peaks[0] == 400 and abs(peaks[1] - 800) <= 4


def test_spectrogram_is_that_of_numpy():
    sound = wave(500, dtype="float64")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(50) / 50)
    padded = np.pad(sound, 25, mode="reflect")
    frames = np.stack([padded[i : i + 50] * window for i in range(0, 501, 20)])
    truth = np.abs(np.fft.rfft(frames)).T ** 2
    assert np.allclose(audio.Spectrogram(50, hop_length=20)(sound), truth, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: audio.Gain("a"), TypeError, "Gain: gain_db has the wrong type: got str, need a number"),
        (lambda: audio.Vol(-1.0), ValueError, "Vol: gain is out of range: got -1.0, need 0 to"),
        (
            lambda: audio.Spectrogram(0),
            ValueError,
            "Spectrogram: n_fft is out of range: got 0, need 1 or more",
        ),
        (
            lambda: audio.Spectrogram(window="hann"),
            TypeError,
            "Spectrogram: window has the wrong type: got str, need WindowType",
        ),
        (
            lambda: audio.MFCC(melkwargs={"hop": 3}),
            ValueError,
            "MFCC: melkwargs has an unknown key: got 'hop', need n_fft",
        ),
        (
            lambda: audio.Angle()(wave(9)),
            ValueError,
            "Angle: rows have the wrong shape: got (9,), need (..., 2)",
        ),
        (
            lambda: audio.LFilter([1.0], [1.0])(np.arange(3)),
            TypeError,
            "LFilter: rows have the wrong type: got int64(3,), need float16, float32 or float64",
        ),
        (
            lambda: audio.Gain()("a"),
            TypeError,
            "Gain: rows have the wrong type: got string(), need numbers",
        ),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error) as told:
        make()
    assert str(told.value).startswith(message)
