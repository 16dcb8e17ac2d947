"""What a classifier looks at: OcclusionSensitivity."""

import numpy as np

from ..._core import Tensor
from .metric import Metric, rearrange_inputs


def _number(value, name, kinds, low):
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise TypeError(
            f"OcclusionSensitivity: '{name}' has the wrong type: got {type(value).__name__}, need a number"
        )
    if low is not None and value < low:
        raise ValueError(f"OcclusionSensitivity: '{name}' is out of range: got {value}, need {low} or more")
    return value


class OcclusionSensitivity(Metric):
    """How much a network's score of a class falls where a part of the image is covered.

    `update(model, image, label)` takes a function from images (N, C, H, W) or (N, C, D, H, W) to scores
    (N, classes), one image with N 1, and the class. For each place the score is taken with `pad_val`
    written over all channels from `margin` places before it to `margin` places after it, an int or one for
    each axis; `n_batch` such images are computed at once. `b_box` bounds the places that are looked at:
    (first, last) for each axis of space, or for the channels too, whose pair is left alone; -1 stands for
    the end. `eval()` gives an array of shape (H, W) or (D, H, W) with the score of the whole image minus
    that with the part covered; the larger, the more the part matters.

    Raises TypeError for arguments of the wrong type, ValueError for numbers out of range and shapes that do
    not fit, RuntimeError for `eval` before `update`.

    >>> from sorus import ops, train
    >>> sensitivity = train.OcclusionSensitivity(margin=0)
    >>> sensitivity.update(lambda x: x[:, 0, :, 0], ops.ones((1, 1, 2, 2)), 1)
    >>> sensitivity.eval().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """

    def __init__(self, pad_val=0.0, margin=2, n_batch=128, b_box=None):
        super().__init__()
        self.pad_val = _number(pad_val, "pad_val", (int, float), None)
        for side in margin if isinstance(margin, (tuple, list)) else (margin,):
            _number(side, "margin", int, 0)
        self.margin, self.b_box = margin, b_box
        self.n_batch = _number(n_batch, "n_batch", int, 1)
        self.clear()

    def clear(self):
        """Forgets the image."""
        self._found = None

    @rearrange_inputs
    def update(self, *inputs):
        """Takes a model, an image and a class."""
        what = "OcclusionSensitivity"
        if len(inputs) != 3:
            raise ValueError(
                f"{what}: number of inputs differs: got {len(inputs)}, need model, image and label"
            )
        model, image, label = inputs
        if not callable(model):
            raise TypeError(f"{what}: model has the wrong type: got {type(model).__name__}, need a function")
        image, label = self._convert_data(image), int(np.asarray(self._as_label(label)).reshape(-1)[0])
        if image.ndim not in (4, 5) or image.shape[0] != 1:
            raise ValueError(
                f"{what}: image has the wrong shape: got {image.shape}, need (1, C, H, W) or (1, C, D, H, W)"
            )
        space = image.shape[2:]
        margins = self.margin if isinstance(self.margin, (tuple, list)) else (self.margin,) * len(space)
        if len(margins) != len(space):
            raise ValueError(f"{what}: 'margin' does not fit: got {margins}, need one or {len(space)}")
        ranges = self._ranges(space)
        places = np.stack(np.meshgrid(*ranges, indexing="ij"), -1).reshape(-1, len(space))
        whole = _scores(model, image)[0, label]
        covered = []
        for begin in range(0, len(places), self.n_batch):
            some = places[begin : begin + self.n_batch]
            batch = np.repeat(image, len(some), 0)
            for item, place in zip(batch, some):
                parts = tuple(slice(max(p - m, 0), p + m + 1) for p, m in zip(place, margins))
                item[(slice(None), *parts)] = self.pad_val
            covered.append(_scores(model, batch)[:, label])
        self._found = (whole - np.concatenate(covered)).reshape([len(r) for r in ranges])

    @staticmethod
    def _as_label(label):
        return label.asnumpy() if isinstance(label, Tensor) else label

    def _ranges(self, space):
        if self.b_box is None:
            return [np.arange(n) for n in space]
        pairs = np.asarray(self.b_box).reshape(-1, 2)[-len(space) :].tolist()
        if len(pairs) != len(space):
            raise ValueError(
                f"OcclusionSensitivity: 'b_box' does not fit: got {self.b_box}, need {len(space)} pairs"
            )
        found = []
        for (first, last), n in zip(pairs, space):
            first, last = max(first, 0), n - 1 if last == -1 else last
            if not first <= last < n:
                raise ValueError(
                    f"OcclusionSensitivity: 'b_box' is out of range: got {self.b_box} for {space}, need "
                    "places of the image"
                )
            found.append(np.arange(first, last + 1))
        return found

    def eval(self):
        """The sensitivities of the last image."""
        if self._found is None:
            raise RuntimeError("OcclusionSensitivity: nothing to evaluate: got no image, need an update")
        return self._found


def _scores(model, images):
    return model(Tensor(images)).asnumpy()
