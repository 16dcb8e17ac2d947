"""The base of metrics."""

import functools

import numpy as np

from ..._core import Tensor


class Metric:
    """A measure taken over batches: `clear()`, `update(*inputs)` with each batch, `eval()`.

    >>> from sorus import Tensor, train
    >>> accuracy = train.Accuracy()
    >>> accuracy.update(Tensor([[0.1, 0.9], [0.8, 0.2]]), Tensor([1, 1]))
    >>> accuracy.eval()
    0.5
    """

    def __init__(self):
        self._indexes = None

    @property
    def indexes(self):
        """Which of the inputs of `update` count, in order; None for all."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes):
        """Chooses the inputs of `update` that count. `update` must be decorated with `rearrange_inputs`."""
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"Metric: 'indexes' is not usable: got {indexes!r}, need a list of ints")
        self._indexes = indexes
        return self

    def _convert_data(self, data):
        """An array of the data."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, (list, tuple, np.ndarray)):
            return np.asarray(data)
        raise TypeError(
            f"Metric: input has the wrong type: got {type(data).__name__}, need a Tensor, list or array"
        )

    def clear(self):
        """Forgets all batches."""
        raise NotImplementedError(f"{type(self).__name__}: 'clear' is missing")

    def eval(self):
        """The measure."""
        raise NotImplementedError(f"{type(self).__name__}: 'eval' is missing")

    def update(self, *inputs):
        """Takes a batch."""
        raise NotImplementedError(f"{type(self).__name__}: 'update' is missing")


def rearrange_inputs(func):
    """An `update` that takes only the inputs chosen by `set_indexes`."""

    @functools.wraps(func)
    def chosen(self, *inputs):
        indexes = self.indexes
        return func(self, *(inputs if indexes is None else [inputs[i] for i in indexes]))

    return chosen


def as_tensor(data):
    """The data as a Tensor."""
    return data if isinstance(data, Tensor) else Tensor(np.asarray(data))


class LibraryMetric(Metric):
    """A metric of the library."""

    def __init__(self, metric):
        super().__init__()
        self._metric = metric

    def clear(self):
        """Forgets all batches."""
        self._metric.clear()

    @rearrange_inputs
    def update(self, *inputs):
        """Takes a batch: predictions, then labels."""
        self._metric.update(*(as_tensor(data) for data in inputs))

    def eval(self):
        """The measure so far."""
        return self._metric.eval()


def kind_is_multilabel(eval_type, what):
    """Whether predictions are sets of labels."""
    if eval_type not in ("classification", "multilabel"):
        raise TypeError(
            f"{what}: unknown 'eval_type': got {eval_type!r}, need 'classification' or 'multilabel'"
        )
    return eval_type == "multilabel"


class EvaluationBase(Metric):
    """The base of metrics of a kind of labels."""

    def __init__(self, eval_type):
        super().__init__()
        kind_is_multilabel(eval_type, type(self).__name__)
        self._type = eval_type
