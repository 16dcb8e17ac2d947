"""ROC curves and areas under curves."""

import numpy as np

from .metric import Metric, rearrange_inputs


def _number(value, name):
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"ROC: '{name}' has the wrong type: got {type(value).__name__}, need an int")
    return value


class ROC(Metric):
    """The receiver operating characteristic: rates of false and of true positives by threshold.

    `update(predictions, labels)` takes scores and labels of one shape, where `pos_label` (1 by default) is
    the positive class; or scores of shape (N, C) and class numbers of shape (N,), with `class_num` C, or
    (N, C, ...) and (N, ...). `eval()` gives (rates of false positives, rates of true positives,
    thresholds) of all batches as arrays: the point of no positives, whose threshold is the largest score
    plus 1, then one for each different score, the largest first. For classes each of the three is a list
    with an array for each class against all others.

    Raises TypeError for arguments of the wrong type; ValueError for shapes that do not fit and where there
    are no positive or no negative labels; RuntimeError for `eval` before `update`.

    >>> from sorus import Tensor, train
    >>> roc = train.ROC(pos_label=1)
    >>> roc.update(Tensor([3, 1, 4, 2]), Tensor([0, 1, 0, 0]))
    >>> false_positives, true_positives, thresholds = roc.eval()
    >>> true_positives.tolist(), thresholds.tolist()
    ([0.0, 0.0, 0.0, 0.0, 1.0], [5, 4, 3, 2, 1])
    """

    def __init__(self, class_num=None, pos_label=None):
        super().__init__()
        self.class_num, self.pos_label = _number(class_num, "class_num"), _number(pos_label, "pos_label")
        self.clear()

    def clear(self):
        """Forgets all batches."""
        self._scores, self._labels = [], []

    @rearrange_inputs
    def update(self, *inputs):
        """Takes a batch: scores, then labels."""
        if len(inputs) != 2:
            raise ValueError(f"ROC: number of inputs differs: got {len(inputs)}, need scores and labels")
        scores, labels = (self._convert_data(v) for v in inputs)
        if scores.shape == labels.shape:
            if self.class_num not in (None, 1):
                raise ValueError(
                    f"ROC: 'class_num' does not fit: got {self.class_num} for scores {scores.shape}, "
                    "need scores of every class"
                )
            scores, labels = scores.reshape(-1), labels.reshape(-1)
        elif scores.ndim == labels.ndim + 1 and scores.shape[:1] + scores.shape[2:] == labels.shape:
            count = scores.shape[1]
            if self.class_num != count:
                raise ValueError(
                    f"ROC: 'class_num' does not fit: got {self.class_num} for scores {scores.shape}, "
                    f"need {count}"
                )
            scores, labels = np.moveaxis(scores, 1, -1).reshape(-1, count), labels.reshape(-1)
        else:
            raise ValueError(
                f"ROC: shapes do not fit: got {scores.shape} and {labels.shape}, need the same, or "
                "(N, C, ...) and (N, ...)"
            )
        self._scores.append(scores)
        self._labels.append(labels)

    def eval(self):
        """The curve so far."""
        if not self._scores:
            raise RuntimeError("ROC: nothing to evaluate: got no batch, need an update")
        scores, labels = np.concatenate(self._scores), np.concatenate(self._labels)
        if scores.ndim == 1:
            return _curve(scores, labels == (1 if self.pos_label is None else self.pos_label))
        curves = [_curve(scores[:, c], labels == c) for c in range(scores.shape[1])]
        return tuple(list(part) for part in zip(*curves))


def _curve(scores, positive):
    """Rates of false and true positives and thresholds."""
    total = np.count_nonzero(positive)
    for count, what in ((total, "positive"), (positive.size - total, "negative")):
        if not count:
            raise ValueError(f"ROC: labels are all of one kind: got no {what} one, need both kinds")
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)  # of each different score
    hits = np.cumsum(positive)[last]
    misses = last + 1 - hits
    true_rates = np.append(0.0, hits / total)
    false_rates = np.append(0.0, misses / (positive.size - total))
    return false_rates, true_rates, np.append(scores[:1] + 1, scores[last])


def auc(x, y, reorder=False):
    """The area under the curve through points, by trapezoids: `auc(false_positives, true_positives)` of a
    ROC.

    `x` and `y` are arrays of shape (N,) or (N, 1) with two points or more; x goes up or down, or with
    `reorder` is brought into order with y. Raises TypeError when they are no arrays, ValueError for shapes
    that do not fit and an x that goes up and down.

    >>> import numpy as np
    >>> from sorus import train
    >>> train.auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    0.75
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(
            f"auc: points have the wrong type: got {type(x).__name__} and {type(y).__name__}, need arrays"
        )
    for points in (x, y):
        if points.ndim != 1 and not (points.ndim == 2 and points.shape[1] == 1):
            raise ValueError(f"auc: points have the wrong shape: got {points.shape}, need (N,) or (N, 1)")
    x, y = x.reshape(-1), y.reshape(-1)
    if x.size != y.size or x.size < 2:
        raise ValueError(f"auc: points do not fit: got {x.size} x and {y.size} y, need as many, 2 or more")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and not (steps <= 0).all():
        raise ValueError("auc: 'x' does not go one way: got it going up and down, need one way or 'reorder'")
    return float(abs(np.sum(steps * (y[1:] + y[:-1]) / 2)))
