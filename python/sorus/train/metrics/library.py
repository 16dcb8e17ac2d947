"""The metrics of the library, by their public names."""

import numpy as np

from ... import _core
from .metric import LibraryMetric, Metric, kind_is_multilabel, rearrange_inputs


class Accuracy(LibraryMetric):
    """Share of predictions that are right; labels are class numbers or one-hot."""

    def __init__(self, eval_type="classification"):
        self._type = eval_type
        super().__init__(_core.accuracy(kind_is_multilabel(eval_type, "Accuracy")))


class _ByClass(LibraryMetric):
    _make = None

    def __init__(self, eval_type="classification"):
        self._type = eval_type
        self._multilabel = kind_is_multilabel(eval_type, type(self).__name__)
        super().__init__(type(self)._make(self._multilabel, False))

    def eval(self, average=False):
        """One number for each class, or their mean."""
        values = self._metric.eval()
        return float(np.mean(values)) if average else values


class Precision(_ByClass):
    """For each class, the share of those predicted as it that are it."""

    _make = staticmethod(_core.precision)


class Recall(_ByClass):
    """For each class, the share of it that is found."""

    _make = staticmethod(_core.recall)


class Fbeta(LibraryMetric):
    """(1 + beta^2) p r / (beta^2 p + r) of precision and recall, for each class."""

    def __init__(self, beta):
        super().__init__(_core.f_beta(float(beta), False))

    def eval(self, average=False):
        """One number for each class, or their mean."""
        values = self._metric.eval()
        return float(np.mean(values)) if average else values


class F1(Fbeta):
    """The harmonic mean of precision and recall, for each class."""

    def __init__(self):
        super().__init__(1.0)


class Loss(LibraryMetric):
    """Mean of the losses."""

    def __init__(self):
        super().__init__(_core.loss_metric())


class MAE(LibraryMetric):
    """Absolute differences, summed over a row and averaged over rows."""

    def __init__(self):
        super().__init__(_core.mean_absolute_error())


class MSE(LibraryMetric):
    """Squared differences, summed over a row and averaged over rows."""

    def __init__(self):
        super().__init__(_core.mean_squared_error())


class TopKCategoricalAccuracy(LibraryMetric):
    """Share of rows whose label is among the k largest predictions."""

    def __init__(self, k):
        if isinstance(k, bool) or not isinstance(k, int):
            raise TypeError(
                f"TopKCategoricalAccuracy: 'k' has the wrong type: got {type(k).__name__}, need an int"
            )
        self.k = k
        super().__init__(_core.top_k_accuracy(k))


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """Share of rows whose label has the largest prediction."""

    def __init__(self):
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """Share of rows whose label is among the 5 largest predictions."""

    def __init__(self):
        super().__init__(5)


class ConfusionMatrix(LibraryMetric):
    """Counts by label (row) and prediction (column)."""

    def __init__(self, num_classes, normalize="no_norm", threshold=0.5):
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        super().__init__(_core.confusion_matrix(num_classes, normalize, float(threshold)))


class Perplexity(LibraryMetric):
    """exp of the mean of -log of what is predicted for the label."""

    def __init__(self, ignore_label=None):
        if ignore_label is not None and not isinstance(ignore_label, int):
            raise ValueError(
                f"Perplexity: 'ignore_label' has the wrong type: got {ignore_label!r}, need an int"
            )
        super().__init__(_core.perplexity(-1 if ignore_label is None else ignore_label))


class Dice(LibraryMetric):
    """Twice the overlap of prediction and label, divided by the sum of their sizes."""

    def __init__(self, smooth=1e-5):
        super().__init__(_core.dice(float(smooth)))


class CosineSimilarity(Metric):
    """Similarities of all pairs of rows of a matrix."""

    def __init__(self, similarity="cosine", reduction="none", zero_diagonal=True):
        super().__init__()
        if similarity not in ("cosine", "dot") or reduction not in ("none", "sum", "mean"):
            raise ValueError(f"CosineSimilarity: unknown choice: got {similarity!r} and {reduction!r}")
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, zero_diagonal
        self.clear()

    def clear(self):
        """Forgets the matrix."""
        self._matrix = None

    @rearrange_inputs
    def update(self, inputs):
        """Takes a matrix of rows."""
        rows = self._convert_data(inputs)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        matrix = rows @ rows.T
        if self.zero_diagonal:
            np.fill_diagonal(matrix, 0)
        self._matrix = matrix if self.reduction == "none" else getattr(matrix, self.reduction)(axis=-1)

    def eval(self):
        """The similarities of the last matrix."""
        if self._matrix is None:
            raise RuntimeError("CosineSimilarity: nothing to evaluate: got no matrix, need an update")
        return self._matrix
