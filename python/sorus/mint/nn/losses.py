"""Losses with the names and arguments of torch."""

from ...nn.cell import Cell
from . import functional


class _Loss(Cell):
    """A loss of two operands; `reduction` is "mean", "sum" or "none"."""

    _reductions = ("mean", "sum", "none")

    def __init__(self, reduction):
        super().__init__()
        if reduction not in self._reductions:
            raise ValueError(
                f"{type(self).__name__}: unknown reduction: got {reduction!r}, need one of {self._reductions}"
            )
        self.reduction = reduction

    def extend_repr(self):
        return f"reduction={self.reduction!r}"


class L1Loss(_Loss):
    """Absolute differences."""

    def __init__(self, reduction="mean"):
        super().__init__(reduction)

    def construct(self, input, target):
        return functional.l1_loss(input, target, self.reduction)


class MSELoss(_Loss):
    """Squared differences."""

    def __init__(self, reduction="mean"):
        super().__init__(reduction)

    def construct(self, input, target):
        return functional.mse_loss(input, target, self.reduction)


class SmoothL1Loss(_Loss):
    """Squared below beta, absolute above."""

    def __init__(self, reduction="mean", beta=1.0):
        super().__init__(reduction)
        self.beta = beta

    def construct(self, input, target):
        return functional.smooth_l1_loss(input, target, self.reduction, self.beta)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input))."""

    def __init__(self, reduction="mean"):
        super().__init__(reduction)

    def construct(self, input, target):
        return functional.soft_margin_loss(input, target, self.reduction)


class KLDivLoss(_Loss):
    """target * (log(target) - input); targets are logarithms with `log_target`."""

    _reductions = ("mean", "sum", "none", "batchmean")

    def __init__(self, reduction="mean", log_target=False):
        super().__init__(reduction)
        self.log_target = log_target

    def construct(self, input, target):
        return functional.kl_div(input, target, self.reduction, self.log_target)


class BCELoss(_Loss):
    """Cross-entropy of probabilities of two classes."""

    def __init__(self, weight=None, reduction="mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, input, target):
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross-entropy of two classes, of what the sigmoid is to be taken of."""

    def __init__(self, weight=None, reduction="mean", pos_weight=None):
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, input, target):
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, self.reduction, self.pos_weight
        )


class NLLLoss(_Loss):
    """Minus the logarithm of the probability of the target class."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def construct(self, input, target):
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_Loss):
    """Cross-entropy of logits and class numbers or probabilities."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def construct(self, input, target):
        return functional.cross_entropy(
            input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )
