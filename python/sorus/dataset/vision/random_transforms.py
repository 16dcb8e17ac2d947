"""Transforms of images that draw at random what they do to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._core import data as _data
from .._arguments import flag, integer
from ..transforms.transforms import one_operation
from .transforms import VisionOperation, pair, real, warp_options
from .utils import Inter

__all__ = [
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutoContrast",
    "RandomColor",
    "RandomColorAdjust",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPosterize",
    "RandomRotation",
    "RandomSelectSubpolicy",
    "RandomSharpness",
    "RandomSolarize",
]


def _around(op: str, argument: str, value: Any, middle: float, low: float) -> tuple[float, float]:
    """A range, or one number for how far it goes to both sides of `middle`, not below `low`."""
    if isinstance(value, (list, tuple)):
        return pair(op, argument, value)
    reach = real(op, argument, value)
    if reach < 0:
        raise ValueError(f"{op}: {argument} is out of range: got {value}, need 0 or more")
    return max(middle - reach, low), middle + reach


class RandomColorAdjust(VisionOperation):
    """Brightness, contrast, saturation and hue changed by factors drawn from ranges, in random order.

    One number stands for the range around 1, or for hue around 0, that reaches so far to both sides.
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = (1, 1),
        contrast: float | Sequence[float] = (1, 1),
        saturation: float | Sequence[float] = (1, 1),
        hue: float | Sequence[float] = (0, 0),
    ):
        op = "RandomColorAdjust"
        self.brightness = _around(op, "brightness", brightness, 1, 0)
        self.contrast = _around(op, "contrast", contrast, 1, 0)
        self.saturation = _around(op, "saturation", saturation, 1, 0)
        self.hue = _around(op, "hue", hue, 0, float("-inf"))
        self.build()

    def build(self) -> Any:
        return _data.random_color_adjust(self.brightness, self.contrast, self.saturation, self.hue)


class RandomColor(VisionOperation):
    """A blend of each pixel with its luma, by a factor drawn from `degrees`."""

    def __init__(self, degrees: Sequence[float] = (0.1, 1.9)):
        self.degrees = pair("RandomColor", "degrees", degrees)
        self.build()

    def build(self) -> Any:
        return _data.random_color(self.degrees)


class RandomSharpness(VisionOperation):
    """AdjustSharpness by a factor drawn from `degrees`."""

    def __init__(self, degrees: Sequence[float] = (0.1, 1.9)):
        self.degrees = pair("RandomSharpness", "degrees", degrees)
        self.build()

    def build(self) -> Any:
        return _data.random_sharpness(self.degrees)


class RandomPosterize(VisionOperation):
    """Posterize to a number of bits drawn from (low, high)."""

    def __init__(self, bits: int | Sequence[int] = (8, 8)):
        given = bits if isinstance(bits, (list, tuple)) else (bits, bits)
        if len(given) != 2:
            raise ValueError(f"RandomPosterize: bits have the wrong length: got {len(given)}, need 2")
        self.bits = [integer("RandomPosterize", "bits", b, 1) for b in given]
        self.build()

    def build(self) -> Any:
        return _data.random_posterize(*self.bits)


class RandomSolarize(VisionOperation):
    """Solarize between two thresholds drawn from (low, high)."""

    def __init__(self, threshold: Sequence[int] = (0, 255)):
        low, high = pair("RandomSolarize", "threshold", threshold)
        self.threshold = [int(low), int(high)]
        self.build()

    def build(self) -> Any:
        return _data.random_solarize(*self.threshold)


class _Perhaps(VisionOperation):
    """A transform with a probability."""

    def __init__(self, prob: float = 0.5):
        self.prob = real(type(self).__name__, "prob", prob)
        self.build()

    def transform(self) -> Any:
        """The engine's transform."""
        raise NotImplementedError

    def build(self) -> Any:
        return _data.with_probability(type(self).__name__, self.transform(), self.prob)


class RandomGrayscale(_Perhaps):
    """Luma in three equal channels, with this probability."""

    def __init__(self, prob: float = 0.1):
        super().__init__(prob)

    def transform(self) -> Any:
        return _data.to_gray(False, 3)


class RandomInvert(_Perhaps):
    """Invert, with this probability."""

    def transform(self) -> Any:
        return _data.invert()


class RandomEqualize(_Perhaps):
    """Equalize, with this probability."""

    def transform(self) -> Any:
        return _data.equalize()


class RandomAutoContrast(_Perhaps):
    """AutoContrast, with this probability."""

    def __init__(self, cutoff: float = 0.0, ignore: int | Sequence[int] | None = None, prob: float = 0.5):
        self.cutoff = real("RandomAutoContrast", "cutoff", cutoff)
        self.ignore = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)
        super().__init__(prob)

    def transform(self) -> Any:
        return _data.auto_contrast(self.cutoff, self.ignore)


class RandomAdjustSharpness(_Perhaps):
    """AdjustSharpness by `degree`, with this probability."""

    def __init__(self, degree: float, prob: float = 0.5):
        self.degree = real("RandomAdjustSharpness", "degree", degree)
        super().__init__(prob)

    def transform(self) -> Any:
        return _data.adjust_sharpness(self.degree)


class RandomRotation(VisionOperation):
    """Rotate by degrees drawn from (low, high), or from both sides of 0."""

    def __init__(
        self,
        degrees: float | Sequence[float],
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill_value: Any = 0,
    ):
        self.degrees = _around("RandomRotation", "degrees", degrees, 0, float("-inf"))
        self.warp = warp_options("RandomRotation", resample, fill_value, center, expand)
        self.build()

    def build(self) -> Any:
        return _data.random_rotation(self.degrees, _data.WarpOptions(*self.warp))


class RandomAffine(VisionOperation):
    """Affine with degrees, translation, scale and shear drawn from ranges.

    `translate` holds the ranges of shares of width and height, (low, high) for the first alone or both;
    `shear` holds those of degrees, in the same way.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        op = "RandomAffine"
        self.degrees = _around(op, "degrees", degrees, 0, float("-inf"))
        self.translate = self._ranges("translate", translate)
        self.scale = (1.0, 1.0) if scale is None else pair(op, "scale", scale)
        if shear is not None and not isinstance(shear, (list, tuple)):
            shear = _around(op, "shear", shear, 0, float("-inf"))
        self.shear = self._ranges("shear", shear)
        self.warp = warp_options(op, resample, fill_value)
        self.build()

    @staticmethod
    def _ranges(argument: str, values: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ranges of both axes."""
        if values is None:
            return (0.0, 0.0), (0.0, 0.0)
        if not isinstance(values, (list, tuple)):
            raise TypeError(
                f"RandomAffine: {argument} has the wrong type: got {type(values).__name__}, need numbers"
            )
        if len(values) not in (2, 4):
            raise ValueError(f"RandomAffine: {argument} has the wrong length: got {len(values)}, need 2 or 4")
        first = pair("RandomAffine", argument, values[:2])
        return first, pair("RandomAffine", argument, values[2:]) if len(values) == 4 else (0.0, 0.0)

    def build(self) -> Any:
        return _data.random_affine(
            self.degrees, *self.translate, self.scale, *self.shear, _data.WarpOptions(*self.warp)
        )


class RandomErasing(VisionOperation):
    """A rectangle of a (C, H, W) image erased, with a probability: `value` "random" stands for noise."""

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: int | str | Sequence[int] = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ):
        op = "RandomErasing"
        self.prob = real(op, "prob", prob)
        self.scale, self.ratio = pair(op, "scale", scale), pair(op, "ratio", ratio)
        flag(op, "inplace", inplace)
        if isinstance(value, str):
            if value != "random":
                raise ValueError(f"{op}: value is unknown: got '{value}', need a number, numbers or 'random'")
            self.value: list[float] = []
        else:
            given = list(value) if isinstance(value, (list, tuple)) else [value]
            self.value = [real(op, "value", v) for v in given]
            if not self.value:
                raise ValueError(f"{op}: value is empty: need a number, numbers or 'random'")
        self.max_attempts = integer(op, "max_attempts", max_attempts, 1)
        self.build()

    def build(self) -> Any:
        return _data.random_erasing(self.prob, self.scale, self.ratio, self.value, self.max_attempts)


class RandomSelectSubpolicy(VisionOperation):
    """One of the subpolicies for each image; each is a list of (transform, probability)."""

    def __init__(self, policy: Sequence[Sequence[tuple[Any, float]]]):
        op = "RandomSelectSubpolicy"
        if not isinstance(policy, (list, tuple)):
            raise TypeError(f"{op}: policy has the wrong type: got {type(policy).__name__}, need a list")
        for steps in policy:
            if not isinstance(steps, (list, tuple)):
                raise TypeError(f"{op}: policy has the wrong type: got {type(steps).__name__}, need lists")
            for step in steps:
                if not isinstance(step, (list, tuple)) or len(step) != 2:
                    raise TypeError(
                        f"{op}: policy has the wrong type: got {step!r}, need (transform, probability)"
                    )
        self.policy = policy
        self.build()

    def build(self) -> Any:
        op = "RandomSelectSubpolicy"
        policy = [
            [(one_operation(op, step), real(op, "prob", prob)) for step, prob in steps]
            for steps in self.policy
        ]
        return _data.random_subpolicy(policy)
