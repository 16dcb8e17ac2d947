"""Distances between the edges of regions: HausdorffDistance, MeanSurfaceDistance and others."""

import numpy as np

from .metric import Metric, rearrange_inputs

_DISTANCES = ("euclidean", "chessboard", "taxicab")


def _check_bool(value, name, what):
    if not isinstance(value, bool):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a bool")
    return value


def edge_of(region):
    """Places of a region that have a neighbour outside of it, or lie at the border of the array."""
    inside = np.pad(region, 1)
    kept = region.copy()
    for axis in range(region.ndim):
        for step in (1, -1):
            moved = np.roll(inside, step, axis)
            kept &= moved[(slice(1, -1),) * region.ndim]
    return region & ~kept


def distances_between(places, others, distance):
    """For each place the distance to the nearest of the others."""
    nearest = np.empty(len(places))
    rows = max(1, 4_000_000 // max(len(others), 1))
    for begin in range(0, len(places), rows):
        apart = np.abs(places[begin : begin + rows, None] - others[None]).astype(float)
        if distance == "euclidean":
            far = np.sqrt(np.square(apart).sum(-1))
        else:
            far = apart.max(-1) if distance == "chessboard" else apart.sum(-1)
        nearest[begin : begin + rows] = far.min(1)
    return nearest


class _SurfaceMetric(Metric):
    """What measures of edges share: `update(prediction, labels, label)` with one pair of label maps."""

    def __init__(self, distance_metric):
        super().__init__()
        if distance_metric not in _DISTANCES:
            raise ValueError(
                f"{type(self).__name__}: unknown 'distance_metric': got {distance_metric!r}, need one of "
                f"{_DISTANCES}"
            )
        self.distance_metric = distance_metric
        self.clear()

    def clear(self):
        """Forgets the pair."""
        self._edges = None

    @rearrange_inputs
    def update(self, *inputs):
        """Takes a pair of label maps, prediction first, and the label whose regions are compared."""
        what = type(self).__name__
        if len(inputs) != 3:
            raise ValueError(
                f"{what}: number of inputs differs: got {len(inputs)}, need prediction, labels and a label"
            )
        label = inputs[2]
        if not isinstance(label, (int, float)):
            raise TypeError(f"{what}: label has the wrong type: got {type(label).__name__}, need a number")
        first, second = (self._convert_data(v) for v in inputs[:2])
        if first.shape != second.shape or not first.ndim:
            raise ValueError(
                f"{what}: shapes differ: got {first.shape} and {second.shape}, need the same, 1 axis or more"
            )
        self._edges = [np.argwhere(edge_of(v == label)) for v in (first, second)]

    def _distances(self, both):
        """From the first edge to the second, and back; an empty edge is infinitely far away."""
        if self._edges is None:
            raise RuntimeError(f"{type(self).__name__}: nothing to evaluate: got no pair, need an update")
        first, second = self._edges
        pairs = ((first, second), (second, first)) if both else ((first, second),)
        return [
            distances_between(a, b, self.distance_metric) if len(b) else np.full(len(a), np.inf)
            for a, b in pairs
        ]


class HausdorffDistance(_SurfaceMetric):
    """The largest distance from an edge of one region to the nearest edge of the other.

    `update(prediction, labels, label)` takes two maps of one shape; the regions are where they have the
    label. `distance_metric` is "euclidean", "chessboard" or "taxicab" in places; `percentile`, 0 to 100,
    takes that percentile instead of the largest; `directed` measures from the prediction alone, else the
    larger of both ways counts. `crop` changes nothing but the time. `eval()` gives a float, infinity where
    the label is missing in one map and NaN where in both.

    Raises TypeError and ValueError for arguments that do not fit, RuntimeError for `eval` before `update`.

    >>> from sorus import Tensor, train
    >>> distance = train.HausdorffDistance()
    >>> distance.update(Tensor([[1, 1, 0, 0]]), Tensor([[0, 1, 1, 1]]), 1)
    >>> distance.eval()
    2.0
    """

    def __init__(self, distance_metric="euclidean", percentile=None, directed=False, crop=True):
        super().__init__(distance_metric)
        if percentile is not None:
            if isinstance(percentile, bool) or not isinstance(percentile, (int, float)):
                raise TypeError(
                    "HausdorffDistance: 'percentile' has the wrong type: got "
                    f"{type(percentile).__name__}, need a number"
                )
            if not 0 <= percentile <= 100:
                raise ValueError(
                    f"HausdorffDistance: 'percentile' is out of range: got {percentile}, need 0 to 100"
                )
        self.percentile = percentile
        self.directed = _check_bool(directed, "directed", "HausdorffDistance")
        self.crop = _check_bool(crop, "crop", "HausdorffDistance")

    def eval(self):
        """The distance of the last pair."""
        share = 100 if self.percentile is None else self.percentile
        found = self._distances(not self.directed)
        values = [
            np.percentile(d, share) if d.size and np.isfinite(d).all() else d.max(initial=0) for d in found
        ]
        if not all(d.size for d in found):
            return float("nan") if not any(d.size for d in found) else float("inf")
        return float(max(values))


class MeanSurfaceDistance(_SurfaceMetric):
    """The mean distance from the edge of the predicted region to that of the other.

    With `symmetric` the distances of both ways are averaged together. Arguments of `update`,
    `distance_metric` and errors are those of HausdorffDistance. `eval()` gives a float, infinity where the
    label is missing in the other map and NaN where in the prediction.

    >>> from sorus import Tensor, train
    >>> distance = train.MeanSurfaceDistance()
    >>> distance.update(Tensor([[1, 0, 0, 0]]), Tensor([[0, 1, 1, 1]]), 1)
    >>> distance.eval()
    1.0
    """

    def __init__(self, symmetric=False, distance_metric="euclidean"):
        super().__init__(distance_metric)
        self.symmetric = _check_bool(symmetric, "symmetric", type(self).__name__)

    def eval(self):
        """The mean of the last pair."""
        found = np.concatenate(self._distances(self.symmetric))
        return float(found.mean()) if found.size else float("nan")


class RootMeanSquareDistance(MeanSurfaceDistance):
    """The root of the mean of squares of the distances that MeanSurfaceDistance averages; release 2.7 of
    MindSpore leaves the root out.

    >>> from sorus import Tensor, train
    >>> distance = train.RootMeanSquareDistance()
    >>> distance.update(Tensor([[1, 0, 0, 0]]), Tensor([[0, 0, 1, 1]]), 1)
    >>> distance.eval()
    2.0
    """

    def eval(self):
        """The root of the mean of squares of the last pair."""
        found = np.concatenate(self._distances(self.symmetric))
        return float(np.sqrt(np.square(found).mean())) if found.size else float("nan")
