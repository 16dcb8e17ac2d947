"""Losses as layers."""

import math

from ... import _functions, ops
from ..cell import Cell
from ..layer.activation import get_activation


class LossBase(Cell):
    """The base of losses; `reduction` is "mean", "sum" or "none"."""

    def __init__(self, reduction="mean"):
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(
                f"{type(self).__name__}: unknown reduction: got {reduction!r}, need 'mean', 'sum' or 'none'"
            )
        self.reduction = reduction
        self.average = reduction == "mean"
        self.reduce = reduction != "none"

    def get_axis(self, x):
        """All axes of x."""
        return tuple(range(x.ndim))

    def get_loss(self, x, weights=1.0):
        """x times weights, reduced, in x's dtype."""
        dtype = x.dtype
        x = x.float()
        if not (isinstance(weights, float) and weights == 1.0):
            x = x * weights
        if self.reduce and self.average:
            x = ops.mean(x)
        elif self.reduce:
            x = ops.reduce_sum(x)
        return x.astype(dtype)

    def construct(self, logits, labels):
        raise NotImplementedError(f"{type(self).__name__}: 'construct' is missing: define the loss")


_Loss = LossBase


class L1Loss(LossBase):
    """Mean absolute difference."""

    def construct(self, logits, labels):
        return ops.l1_loss(logits, labels, self.reduction)


class MSELoss(LossBase):
    """Mean squared difference."""

    def construct(self, logits, labels):
        return ops.mse_loss(logits, labels, self.reduction)


class RMSELoss(LossBase):
    """Root of the mean squared difference."""

    def __init__(self):
        super().__init__()

    def construct(self, logits, label):
        return ops.sqrt(ops.mse_loss(logits, label))


class MAELoss(LossBase):
    """Mean absolute difference."""

    def construct(self, logits, label):
        return self.get_loss(ops.abs(logits - label))


class SmoothL1Loss(LossBase):
    """Squared below beta, absolute above."""

    def __init__(self, beta=1.0, reduction="none"):
        super().__init__(reduction)
        self.beta = beta

    def construct(self, logits, labels):
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class HuberLoss(LossBase):
    """Squared below delta, linear above."""

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction)
        self.delta = delta

    def construct(self, logits, labels):
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-y x))."""

    def construct(self, logits, labels):
        return ops.soft_margin_loss(logits, labels, self.reduction)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of softmax(logits) with class numbers (sparse) or distributions, one loss for each
    row.
    """

    def __init__(self, sparse=False, reduction="none"):
        super().__init__(reduction)
        if not isinstance(sparse, bool):
            raise TypeError(
                f"SoftmaxCrossEntropyWithLogits: 'sparse' has the wrong type: got {type(sparse).__name__}, "
                "need a bool"
            )
        self.sparse = sparse

    def construct(self, logits, labels):
        if self.sparse:
            return self.get_loss(_functions.softmax_cross_entropy(logits, labels))
        return self.get_loss(_functions.softmax_cross_entropy_with_logits(logits, labels))


class CrossEntropyLoss(LossBase):
    """Cross entropy of softmax(inputs) with class numbers or distributions over axis 1."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def construct(self, logits, labels):
        return ops.cross_entropy(
            logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )


class NLLLoss(LossBase):
    """Minus the log-probability of the class numbers over axis 1."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def construct(self, logits, labels):
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class BCELoss(LossBase):
    """Binary cross entropy of probabilities."""

    def __init__(self, weight=None, reduction="mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits, labels):
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of sigmoid(logits)."""

    def __init__(self, reduction="mean", weight=None, pos_weight=None):
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits, labels):
        return ops.binary_cross_entropy_with_logits(
            logits, labels, self.weight, self.pos_weight, self.reduction
        )


class KLDivLoss(LossBase):
    """Kullback-Leibler divergence of log-probabilities from probabilities."""

    def construct(self, logits, labels):
        return ops.kl_div(logits, labels, self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cos for label 1, max(0, cos - margin) for -1."""

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits_x1, logits_x2, labels):
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class DiceLoss(LossBase):
    """1 - 2 * intersection / (sum of squares)."""

    def __init__(self, smooth=1e-5):
        super().__init__()
        self.smooth = smooth

    def construct(self, logits, label):
        intersection = ops.reduce_sum(logits * label)
        union = ops.reduce_sum(logits * logits) + ops.reduce_sum(label * label)
        return 1 - 2 * intersection / (union + self.smooth)


class GaussianNLLLoss(LossBase):
    """Minus the log-likelihood of normal distributions with the given means and variances."""

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction)
        self.full, self.eps = full, eps

    def construct(self, logits, labels, var):
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """Distances where the label is 1, what they lack to the margin where it is -1."""

    def __init__(self, margin=1.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits, labels):
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target (x1 - x2) + margin)."""

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1, input2, target):
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """Mean over classes of the cross entropy of sigmoid(x) with each label on its own."""

    def __init__(self, weight=None, reduction="mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x, target):
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class PoissonNLLLoss(LossBase):
    """Minus the log-likelihood of Poisson distributions of the given (logarithms of) rates."""

    def __init__(self, log_input=True, full=False, eps=1e-08, reduction="mean"):
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def construct(self, input, target):
        if self.log_input:
            loss = ops.exp(input) - target * input
        else:
            loss = input - target * ops.log(input + self.eps)
        if self.full:  # Stirling's approximation of log(target!)
            safe = ops.where(target > 1, target, ops.ones_like(target))
            stirling = safe * ops.log(safe) - safe + 0.5 * ops.log(2 * math.pi * safe)
            loss = loss + ops.where(target > 1, stirling, ops.zeros_like(target))
        return self.get_loss(loss)


class FocalLoss(LossBase):
    """Cross entropy of softmax(logits) times (1 - probability) ** gamma; the axis of classes is 1."""

    def __init__(self, weight=None, gamma=2.0, reduction="mean"):
        super().__init__(reduction)
        self.weight, self.gamma = weight, gamma

    def construct(self, logits, labels):
        if logits.ndim != labels.ndim:
            raise ValueError(
                f"FocalLoss: ranks differ: got shapes {logits.shape} and {labels.shape}, need equal ranks"
            )
        logs = ops.log_softmax(logits, 1)
        weight = None if self.weight is None else self.weight.reshape(1, -1, *(1,) * (logits.ndim - 2))
        factors = (1 - ops.exp(logs)) ** self.gamma
        losses = -logs * factors if weight is None else -logs * factors * weight
        if labels.shape[1] == 1:
            return self.get_loss(ops.gather_elements(losses, 1, labels.long()))
        return self.get_loss((losses * labels).sum(1))


class MultiClassDiceLoss(LossBase):
    """Mean of the dice losses of the classes, which are axis 1, weighted when weights are given."""

    def __init__(self, weights=None, ignore_indiex=None, activation="softmax"):
        super().__init__()
        self.dice = DiceLoss()
        self.weights, self.ignore_indiex = weights, ignore_indiex
        self.activation = get_activation(activation) if activation is not None else None

    def construct(self, logits, label):
        if logits.shape != label.shape:
            raise ValueError(
                f"MultiClassDiceLoss: shapes differ: got {logits.shape} and {label.shape}, need equal ones"
            )
        values = logits if self.activation is None else self.activation(logits)
        total = 0
        for i in range(label.shape[1]):
            if i != self.ignore_indiex:
                loss = self.dice(values[:, i], label[:, i])
                total = total + (loss if self.weights is None else loss * self.weights[:, i].mean())
        return total / label.shape[1]


class TripletMarginLoss(LossBase):
    """How far the distance to the positive exceeds that to the negative less a margin."""

    def __init__(self, p=2, swap=False, eps=1e-06, reduction="mean", margin=1.0):
        super().__init__(reduction)
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin

    def construct(self, x, positive, negative, margin=None):
        margin = self.margin if margin is None else margin
        return ops.triplet_margin_loss(
            x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction
        )


class MultiMarginLoss(LossBase):
    """How far the scores of other classes come within a margin of that of the target class."""

    def __init__(self, p=1, margin=1.0, reduction="mean", weight=None):
        super().__init__(reduction)
        self.p, self.margin, self.weight = p, margin, weight

    def construct(self, x, target, weight=None):
        weight = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultilabelMarginLoss(LossBase):
    """How far classes that are no labels come within a margin of 1 of those that are: for each row the sum
    over labels j and other classes i of max(0, 1 - x[j] + x[i]), divided by the number of classes.

    Takes scores and targets of shape (C,) or (N, C), where a row of targets has its labels first and -1
    after them, and gives shape () or (N,), or their mean or sum. Raises ValueError for shapes that do not
    fit.

    >>> from sorus import Tensor, nn
    >>> nn.MultilabelMarginLoss()(Tensor([0.5, 0.25]), Tensor([1, -1])).item()
    0.625
    """

    def construct(self, x, target):
        return ops.multilabel_margin_loss(x, target, self.reduction)


class CTCLoss(LossBase):
    """-log of the chance that steps spell labels, where steps repeat labels and have blanks between them:
    connectionist temporal classification.

    Takes logs of chances of shape (T, N, C), or (T, C), labels of shape (N, S), lengths of the steps of
    shape (N,) and of the labels of shape (N,); `blank` is the class of blanks. The result has shape (N,)
    with `reduction` "none"; "sum" is their sum and "mean" the mean of losses divided by the numbers of
    labels. Labels that the steps cannot spell give infinity, or 0 with `zero_infinity`, and no gradient.
    Raises TypeError for dtypes and ValueError for shapes and a `blank` that do not fit.

    >>> from sorus import Tensor, nn, ops
    >>> logs = ops.log_softmax(ops.zeros((2, 1, 2)), -1)
    >>> loss = nn.CTCLoss()(logs, Tensor([[1]]), Tensor([2]), Tensor([1]))
    >>> round(ops.exp(-loss).item(), 3)
    0.75
    """

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction)
        if isinstance(blank, bool) or not isinstance(blank, int):
            raise TypeError(f"CTCLoss: 'blank' has the wrong type: got {type(blank).__name__}, need an int")
        if not isinstance(zero_infinity, bool):
            raise TypeError(
                f"CTCLoss: 'zero_infinity' has the wrong type: got {type(zero_infinity).__name__}, "
                "need a bool"
            )
        self.blank, self.zero_infinity = blank, zero_infinity

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        loss, _ = ops.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
        return loss
