"""Augmentation policies: each image is changed by a few of many operations, which are drawn for it."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy

from ..._core import data as _data
from .._arguments import integer
from ..transforms.transforms import one_operation
from .transforms import VisionOperation, warp_options
from .utils import Inter

__all__ = ["AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide", "UniformAugment"]


class AutoAugmentPolicy(str, enum.Enum):
    """The data on which the pairs of AutoAugment were found."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


# Pairs of an operation, its probability and its magnitude. Source: Cubuk et al. 2019, tables 7 to 9.
_PAIRS = {
    AutoAugmentPolicy.IMAGENET: """
        Posterize .4 8, Rotate .6 9; Solarize .6 5, AutoContrast .6; Equalize .8, Equalize .6;
        Posterize .6 7, Posterize .6 6; Equalize .4, Solarize .2 4; Equalize .4, Rotate .8 8;
        Solarize .6 3, Equalize .6; Posterize .8 5, Equalize 1; Rotate .2 3, Solarize .6 8;
        Equalize .6, Posterize .4 6; Rotate .8 8, Color .4 0; Rotate .4 9, Equalize .6;
        Equalize 0, Equalize .8; Invert .6, Equalize 1; Color .6 4, Contrast 1 8; Rotate .8 8, Color 1 2;
        Color .8 8, Solarize .8 7; Sharpness .4 7, Invert .6; ShearX .6 5, Equalize 1;
        Color .4 0, Equalize .6; Equalize .4, Solarize .2 4; Solarize .6 5, AutoContrast .6;
        Invert .6, Equalize 1; Color .6 4, Contrast 1 8; Equalize .8, Equalize .6""",
    AutoAugmentPolicy.CIFAR10: """
        Invert .1, Contrast .2 6; Rotate .7 2, TranslateX .3 9; Sharpness .8 1, Sharpness .9 3;
        ShearY .5 8, TranslateY .7 9; AutoContrast .5, Equalize .9; ShearY .2 7, Posterize .3 7;
        Color .4 3, Brightness .6 7; Sharpness .3 9, Brightness .7 9; Equalize .6, Equalize .5;
        Contrast .6 7, Sharpness .6 5; Color .7 7, TranslateX .5 8; Equalize .3, AutoContrast .4;
        TranslateY .4 3, Sharpness .2 6; Brightness .9 6, Color .2 8; Solarize .5 2, Invert 0;
        Equalize .2, AutoContrast .6; Equalize .2, Equalize .6; Color .9 9, Equalize .6;
        AutoContrast .8, Solarize .2 8; Brightness .1 3, Color .7 0; Solarize .4 5, AutoContrast .9;
        TranslateY .9 9, TranslateY .7 9; AutoContrast .9, Solarize .8 3; Equalize .8, Invert .1;
        TranslateY .7 9, AutoContrast .9""",
    AutoAugmentPolicy.SVHN: """
        ShearX .9 4, Invert .2; ShearY .9 8, Invert .7; Equalize .6, Solarize .6 6; Invert .9, Equalize .6;
        Equalize .6, Rotate .9 3; ShearX .9 4, AutoContrast .8; ShearY .9 8, Invert .4;
        ShearY .9 5, Solarize .2 6; Invert .9, AutoContrast .8; Equalize .6, Rotate .9 3;
        ShearX .9 4, Solarize .3 3; ShearY .8 8, Invert .7; Equalize .9, TranslateY .6 6;
        Invert .9, Equalize .6; Contrast .3 3, Rotate .8 4; Invert .8, TranslateY 0 2;
        ShearY .7 6, Solarize .4 8; Invert .6, Rotate .8 4; ShearY .3 7, TranslateX .9 3;
        ShearX .1 6, Invert .6; Solarize .7 2, TranslateY .6 7; ShearY .8 4, Invert .8;
        ShearX .7 9, TranslateY .8 3; ShearY .8 5, AutoContrast .7; ShearX .7 2, Invert .1""",
}


def pairs_of(policy: AutoAugmentPolicy) -> list[list[tuple[str, float, int | None]]]:
    """The 25 pairs of (operation, probability, magnitude from 0 to 9 or None)."""
    pairs = []
    for pair in _PAIRS[policy].split(";"):
        steps = [step.split() for step in pair.split(",")]
        pairs.append([(s[0], float(s[1]), int(s[2]) if len(s) > 2 else None) for s in steps])
    return pairs


class _Space:
    """Operations by name, with `bins` magnitudes from nothing to the most.

    The most is a slope for ShearX and ShearY, and for TranslateX and TranslateY a share of the image's size
    or, from 1 on, a number of pixels. Posterize keeps at least `least_bits`; Solarize begins at `white`.
    """

    def __init__(self, bins: int, least_bits: int, most: dict[str, float], warp: tuple, white: int = 255):
        self._bins, self._least_bits, self._most, self._white = bins, least_bits, most, white
        self._warp = _data.WarpOptions(*warp)

    def operation(self, name: str, level: int | None) -> Any:
        """With the magnitude of that number; where that can be negative too, its sign is drawn."""
        if name not in self._most:
            return self._plain(name, level or 0)
        size = self._most[name] * (level or 0) / (self._bins - 1)
        return _data.random_choice([self._signed(name, size), self._signed(name, -size)])

    def _plain(self, name: str, level: int) -> Any:
        if name == "Posterize":
            most = 8 - self._least_bits
            return _data.posterize(8 - math.floor(most * level / (self._bins - 1) + 0.5))
        if name == "Solarize":
            darkest = self._white - self._white * level // (self._bins - 1)
            return _data.solarize(darkest, 255) if darkest <= 255 else _identity()
        if name == "AutoContrast":
            return _data.auto_contrast(0.0, [])
        return {"Equalize": _data.equalize, "Invert": _data.invert}[name]()

    def _signed(self, name: str, size: float) -> Any:
        colors = {
            "Brightness": _data.adjust_brightness,
            "Color": _data.adjust_saturation,
            "Contrast": _data.adjust_contrast,
            "Sharpness": _data.adjust_sharpness,
        }
        if name in colors:
            return colors[name](float(1 + numpy.float32(size)))  # as MindSpore rounds it
        if name == "Rotate":
            return _data.rotate(size, self._warp)
        nothing = (0.0, 0.0)
        along = (size, 0.0) if name.endswith("X") else (0.0, size)
        if name.startswith("Shear"):
            shear = (math.degrees(along[0]), math.degrees(along[1]))
            return _data.affine(0.0, nothing, 1.0, shear, self._warp)
        if self._most[name] < 1:
            return _data.affine(0.0, along, 1.0, nothing, self._warp)
        return _data.affine(0.0, nothing, 1.0, nothing, self._warp, along)


def _most(slope: float, share: float, degrees: float, blend: float) -> dict[str, float]:
    """The greatest magnitudes of the operations that go both ways."""
    return {
        **dict.fromkeys(("ShearX", "ShearY"), slope),
        **dict.fromkeys(("TranslateX", "TranslateY"), share),
        "Rotate": degrees,
        **dict.fromkeys(("Brightness", "Color", "Contrast", "Sharpness"), blend),
    }


_USUAL = _most(0.3, 150 / 331, 30.0, 0.9)
_WIDE = _most(0.99, 32.0, 135.0, 0.99)
_CHOICE = (*_USUAL, "Posterize", "Solarize", "AutoContrast", "Equalize")  # and to leave the image as it is


class AutoAugment(VisionOperation):
    """One of 25 pairs of operations for each image, each with its probability, as learned on a data set.

    uint8 images (H, W, 3). Translations are shares of the image, as in the paper: MindSpore 2.7 multiplies
    them by its size once more. Source: Cubuk et al. 2019, AutoAugment.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> change = vision.AutoAugment(vision.AutoAugmentPolicy.CIFAR10)
    >>> change(np.zeros((32, 32, 3), np.uint8)).shape
    (32, 32, 3)
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        if not isinstance(policy, AutoAugmentPolicy):
            raise TypeError(
                f"AutoAugment: policy has the wrong type: got {type(policy).__name__}, need an "
                "AutoAugmentPolicy"
            )
        self.policy = policy
        self.warp = warp_options("AutoAugment", interpolation, fill_value)
        self.build()

    def build(self) -> Any:
        space = _Space(10, 4, _USUAL, self.warp, white=256)
        return _data.random_subpolicy(
            [
                [(space.operation(name, level), prob) for name, prob, level in pair]
                for pair in pairs_of(self.policy)
            ]
        )


class RandAugment(VisionOperation):
    """`num_ops` operations for each image, one after the other, each one of 14 with the same magnitude.

    uint8 images (H, W, 3). Translations are shares of the image, as in the paper: MindSpore 2.7 multiplies
    them by its size once more. Source: Cubuk et al. 2020, RandAugment.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> vision.RandAugment(3, magnitude=12)(np.zeros((32, 32, 3), np.uint8)).shape
    (32, 32, 3)
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        self.num_ops = integer("RandAugment", "num_ops", num_ops, 0)
        self.bins = integer("RandAugment", "num_magnitude_bins", num_magnitude_bins, 2)
        self.magnitude = integer("RandAugment", "magnitude", magnitude, 0)
        if magnitude >= num_magnitude_bins:
            raise ValueError(
                f"RandAugment: magnitude is out of range: got {magnitude}, need 0 to {num_magnitude_bins - 1}"
            )
        self.warp = warp_options("RandAugment", interpolation, fill_value)
        self.build()

    def build(self) -> Any:
        space = _Space(self.bins, 4, _USUAL, self.warp)
        choice = [_identity(), *(space.operation(name, self.magnitude) for name in _CHOICE)]
        return _data.compose([_identity(), *(_data.random_choice(choice) for _ in range(self.num_ops))])


class TrivialAugmentWide(VisionOperation):
    """One of 14 operations for each image, with a magnitude drawn from `num_magnitude_bins`.

    uint8 images (H, W, 3). Translations reach 32 pixels, as in the paper: MindSpore 2.7 takes these numbers
    for shares of the image. Source: Mueller and Hutter 2021, TrivialAugment.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> vision.TrivialAugmentWide()(np.zeros((32, 32, 3), np.uint8)).shape
    (32, 32, 3)
    """

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0
    ):
        self.bins = integer("TrivialAugmentWide", "num_magnitude_bins", num_magnitude_bins, 2)
        self.warp = warp_options("TrivialAugmentWide", interpolation, fill_value)
        self.build()

    def build(self) -> Any:
        space = _Space(self.bins, 2, _WIDE, self.warp)
        levels = {name: range(self.bins) for name in (*_WIDE, "Posterize", "Solarize")}
        return _data.random_choice(
            [
                _identity(),
                *(
                    _data.random_choice([space.operation(name, level) for level in levels.get(name, (0,))])
                    for name in _CHOICE
                ),
            ]
        )


class UniformAugment(VisionOperation):
    """`num_ops` of the transforms, drawn for each image, in their order, each done with probability 1/2.

    Source: LingChen et al. 2020, UniformAugment.

    >>> import numpy as np
    >>> from sorus.dataset import vision
    >>> change = vision.UniformAugment([vision.HorizontalFlip(), vision.Invert()], num_ops=1)
    >>> change(np.zeros((4, 4, 3), np.uint8)).shape
    (4, 4, 3)
    """

    def __init__(self, transforms: Sequence[Any], num_ops: int = 2):
        op = "UniformAugment"
        if not isinstance(transforms, (list, tuple)):
            raise TypeError(
                f"{op}: transforms has the wrong type: got {type(transforms).__name__}, need a list"
            )
        self.transforms = list(transforms)
        self.num_ops = integer(op, "num_ops", num_ops, 1)
        if self.num_ops > len(self.transforms):
            raise ValueError(
                f"{op}: num_ops is out of range: got {num_ops}, need at most {len(self.transforms)}, the "
                "number of transforms"
            )
        self.build()

    def build(self) -> Any:
        steps = [one_operation("UniformAugment", transform) for transform in self.transforms]
        choices = itertools.combinations(steps, self.num_ops)
        return _data.random_subpolicy([[(step, 0.5) for step in choice] for choice in choices])


def _identity() -> Any:
    """Leaves an image as it is."""
    return _data.random_apply([_data.invert()], 0.0)
