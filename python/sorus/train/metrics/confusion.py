"""Measures that come from counts of true and false positives and negatives."""

import numpy as np

from .metric import Metric, rearrange_inputs


def _share(part, whole):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole != 0, part / whole, np.nan)


def _sensitivity(tp, fp, tn, fn):
    return _share(tp, tp + fn)


def _specificity(tp, fp, tn, fn):
    return _share(tn, tn + fp)


def _precision(tp, fp, tn, fn):
    return _share(tp, tp + fp)


def _negative_predictive_value(tp, fp, tn, fn):
    return _share(tn, tn + fn)


def _prevalence_threshold(*counts):
    hits, false_alarms = _sensitivity(*counts), 1 - _specificity(*counts)
    return _share(np.sqrt(hits * false_alarms) - false_alarms, hits - false_alarms)


def _matthews(tp, fp, tn, fn):
    return _share(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


# Each measure, from arrays of (true positives, false positives, true negatives, false negatives).
_MEASURES = {
    "sensitivity": _sensitivity,
    "specificity": _specificity,
    "precision": _precision,
    "negative predictive value": _negative_predictive_value,
    "miss rate": lambda *c: 1 - _sensitivity(*c),
    "fall out": lambda *c: 1 - _specificity(*c),
    "false discovery rate": lambda *c: 1 - _precision(*c),
    "false omission rate": lambda *c: 1 - _negative_predictive_value(*c),
    "prevalence threshold": _prevalence_threshold,
    "threat score": lambda tp, fp, tn, fn: _share(tp, tp + fn + fp),
    "accuracy": lambda tp, fp, tn, fn: _share(tp + tn, tp + fp + tn + fn),
    "balanced accuracy": lambda *c: (_sensitivity(*c) + _specificity(*c)) / 2,
    "f1 score": lambda tp, fp, tn, fn: _share(2 * tp, 2 * tp + fn + fp),
    "matthews correlation coefficient": _matthews,
    "fowlkes mallows index": lambda *c: np.sqrt(_precision(*c) * _sensitivity(*c)),
    "informedness": lambda *c: _sensitivity(*c) + _specificity(*c) - 1,
    "markedness": lambda *c: _precision(*c) + _negative_predictive_value(*c) - 1,
}
_SHORT = {
    "sensitivity": "recall hit_rate true_positive_rate tpr",
    "specificity": "selectivity true_negative_rate tnr",
    "precision": "positive_predictive_value ppv",
    "negative predictive value": "npv",
    "miss rate": "false_negative_rate fnr",
    "fall out": "false_positive_rate fpr",
    "false discovery rate": "fdr",
    "false omission rate": "for",
    "prevalence threshold": "pt",
    "threat score": "critical_success_index ts csi",
    "accuracy": "acc",
    "balanced accuracy": "ba",
    "f1 score": "f1",
    "matthews correlation coefficient": "mcc",
    "fowlkes mallows index": "fm",
    "informedness": "bookmaker_informedness bm",
    "markedness": "deltap mk",
}
_NAMES = {name: name for name in _MEASURES}
_NAMES |= {short.replace("_", " "): name for name, all_short in _SHORT.items() for short in all_short.split()}
_DECREASES = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


class ConfusionMatrixMetric(Metric):
    """A measure of binary predictions, by its name: "sensitivity", "specificity", "precision", "miss_rate",
    "fall_out", "accuracy", "f1_score", "matthews_correlation_coefficient" and others, or a short one such as
    "recall", "tpr", "ppv" or "mcc".

    `update(predictions, labels)` takes tensors of 0 and 1 of one shape, (N, C) or (N, C, ...): items of a
    batch, channels and places. `skip_channel` leaves the first channel, the background, out where there are
    more, as MindSpore documents it; its release 2.7 does so where it is False. With
    `calculation_method` the measure is that of each item and channel over its places, and
    `decrease` says what `eval` makes of them: "none" gives an array of shape (N, C) for all batches, "mean"
    and "sum" one number, "mean_batch" and "sum_batch" shape (C,), "mean_channel" and "sum_channel" shape
    (N,); NaN, where a measure is not defined, is left out. Otherwise places of all items and channels are
    counted together, `decrease` changes nothing, and `eval` gives shape (1,).

    Raises TypeError for arguments of the wrong type; ValueError for unknown names, shapes that do not fit
    and other numbers than 0 and 1; RuntimeError for `eval` before `update`.

    >>> from sorus import Tensor, train
    >>> recall = train.ConfusionMatrixMetric(metric_name="recall")
    >>> recall.update(Tensor([[0, 1], [1, 0]]), Tensor([[0, 1], [0, 1]]))
    >>> recall.eval().tolist()
    [0.5]
    """

    def __init__(
        self, skip_channel=True, metric_name="sensitivity", calculation_method=False, decrease="mean"
    ):
        super().__init__()
        for name, value in (("skip_channel", skip_channel), ("calculation_method", calculation_method)):
            if not isinstance(value, bool):
                raise TypeError(
                    f"ConfusionMatrixMetric: '{name}' has the wrong type: got {type(value).__name__}, "
                    "need a bool"
                )
        if not isinstance(metric_name, str):
            raise TypeError(
                f"ConfusionMatrixMetric: 'metric_name' has the wrong type: got {type(metric_name).__name__}, "
                "need a name"
            )
        if metric_name.lower().replace("_", " ") not in _NAMES:
            raise ValueError(
                f"ConfusionMatrixMetric: unknown 'metric_name': got {metric_name!r}, need one of "
                f"{[name.replace(' ', '_') for name in _MEASURES]}"
            )
        if decrease not in _DECREASES:
            raise ValueError(
                f"ConfusionMatrixMetric: unknown 'decrease': got {decrease!r}, need one of {_DECREASES}"
            )
        self.skip_channel, self.metric_name = skip_channel, metric_name
        self.calculation_method, self.decrease = calculation_method, decrease
        self._measure = _MEASURES[_NAMES[metric_name.lower().replace("_", " ")]]
        self.clear()

    def clear(self):
        """Forgets all batches."""
        self._counts = []

    @rearrange_inputs
    def update(self, *inputs):
        """Takes a batch: predictions, then labels."""
        what = "ConfusionMatrixMetric"
        if len(inputs) != 2:
            raise ValueError(
                f"{what}: number of inputs differs: got {len(inputs)}, need predictions and labels"
            )
        predicted, true = (self._convert_data(v) for v in inputs)
        if predicted.shape != true.shape or predicted.ndim < 2:
            raise ValueError(
                f"{what}: shapes do not fit: got {predicted.shape} and {true.shape}, need one (N, C, ...)"
            )
        for values in (predicted, true):
            if not np.isin(values, (0, 1)).all():
                raise ValueError(f"{what}: values are out of range: got others than 0 and 1, need these")
        if self.skip_channel and predicted.shape[1] > 1:
            predicted, true = predicted[:, 1:], true[:, 1:]
        shape = (*predicted.shape[:2], -1)
        predicted, true = predicted.reshape(shape) == 1, true.reshape(shape) == 1
        pairs = ((predicted, true), (predicted, ~true), (~predicted, ~true), (~predicted, true))
        self._counts.append(np.stack([(a & b).sum(-1).astype(float) for a, b in pairs]))

    def eval(self):
        """The measure so far."""
        if not self._counts:
            raise RuntimeError("ConfusionMatrixMetric: nothing to evaluate: got no batch, need an update")
        if not self.calculation_method:
            return np.atleast_1d(self._measure(*sum(counts.sum((1, 2)) for counts in self._counts)))
        values = self._measure(*np.concatenate(self._counts, 1))
        if self.decrease == "none":
            return values
        how, _, axis = self.decrease.partition("_")
        axis = {"": None, "batch": 0, "channel": 1}[axis]
        there = ~np.isnan(values)
        total, count = np.where(there, values, 0).sum(axis), there.sum(axis)
        found = total if how == "sum" else _share(total, count)
        return float(found) if axis is None else found
