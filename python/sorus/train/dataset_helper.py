"""Batches of a dataset for training loops of one's own: DatasetHelper, connect_network_with_dataset."""

from .. import _core
from ..nn.cell import Cell


def rows_of(dataset, what):
    """An iterator over the rows of a dataset, or of anything else that gives rows, as tuples."""
    if hasattr(dataset, "create_tuple_iterator"):
        rows = dataset.create_tuple_iterator(num_epochs=1)
    elif hasattr(dataset, "__iter__"):
        rows = dataset
    else:
        raise TypeError(
            f"{what}: 'dataset' has the wrong type: got {type(dataset).__name__}, need a dataset of rows"
        )
    for row in rows:
        yield tuple(row) if isinstance(row, (tuple, list)) else (row,)


def size_of(dataset):
    """The number of rows of a dataset."""
    return dataset.get_dataset_size() if hasattr(dataset, "get_dataset_size") else len(dataset)


def check_sink_size(value, what):
    """The number of rows of a step, -1 for all."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what}: 'sink_size' has the wrong type: got {type(value).__name__}, need an int")
    if value != -1 and value < 1:
        raise ValueError(f"{what}: 'sink_size' is out of range: got {value}, need -1 or 1 or more")
    return value


class Feed:
    """The rows of a dataset one by one, beginning again after the last."""

    def __init__(self, dataset, what):
        self._dataset, self._what = dataset, what
        self._rows = rows_of(dataset, what)
        self._count = 0

    def next(self):
        """The next row."""
        for row in self._rows:
            self._count += 1
            return row
        if not self._count:
            raise ValueError(f"{self._what}: dataset is empty: got no rows, need one or more")
        self._rows, self._count = rows_of(self._dataset, self._what), 0
        return self.next()


class DatasetHelper:
    """The rows of a dataset, to be iterated over once for each epoch.

    `for row in helper: network(*row)` takes the rows themselves without `dataset_sink_mode`. With it, rows
    are fetched by a network that `connect_network_with_dataset` made, and iterating gives an empty tuple for
    each of `sink_size` rows, or of the whole dataset for -1. `epoch_num` changes nothing.

    Raises TypeError for arguments of the wrong type, ValueError for a `sink_size` out of range.

    >>> import numpy as np
    >>> from sorus import dataset, train
    >>> data = dataset.NumpySlicesDataset(np.arange(4), shuffle=False).batch(2)
    >>> [row[0].tolist() for row in train.DatasetHelper(data, dataset_sink_mode=False)]
    [[0, 1], [2, 3]]
    """

    def __init__(self, dataset, dataset_sink_mode=True, sink_size=-1, epoch_num=1):
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(
                "DatasetHelper: 'dataset_sink_mode' has the wrong type: got "
                f"{type(dataset_sink_mode).__name__}, need a bool"
            )
        if not hasattr(dataset, "__iter__") and not hasattr(dataset, "create_tuple_iterator"):
            raise TypeError(
                f"DatasetHelper: 'dataset' has the wrong type: got {type(dataset).__name__}, need a dataset"
            )
        self.dataset, self.dataset_sink_mode = dataset, dataset_sink_mode
        self._sink_size = check_sink_size(sink_size, "DatasetHelper")
        self._feed = None
        self.epoch_num = epoch_num

    def __iter__(self):
        if not self.dataset_sink_mode:
            return rows_of(self.dataset, "DatasetHelper")
        return iter([()] * self.sink_size())

    def sink_size(self):
        """The number of rows of one iteration."""
        return size_of(self.dataset) if self._sink_size == -1 else self._sink_size

    def next_row(self):
        """The next row, of which a connected network asks; the first comes after the last."""
        if self._feed is None:
            self._feed = Feed(self.dataset, "DatasetHelper")
        return self._feed.next()

    def types_shapes(self):
        """The dtypes and the shapes of a row's tensors, as two lists."""
        row = next(rows_of(self.dataset, "DatasetHelper"))
        row = [_core.Tensor(v) if not isinstance(v, _core.Tensor) else v for v in row]
        return [t.dtype for t in row], [t.shape for t in row]

    def stop_send(self):
        """A connected network begins with the first row again."""
        self._feed = None

    def release(self):
        """The same."""
        self._feed = None

    def continue_send(self):
        """Accepted for compatibility: rows are there when they are asked for."""


class _Connected(Cell):
    """A network that fetches its inputs."""

    def __init__(self, network, helper):
        super().__init__(auto_prefix=False)
        self.network = network
        self.__dict__["_helper"] = helper

    def __call__(self):
        """The network's results for the next row."""
        return self.network(*self._helper.next_row())


def connect_network_with_dataset(network, dataset_helper):
    """The network as one that is called without inputs and takes the next row of the helper's dataset; the
    network itself where the helper is not in sink mode, since its loop hands rows over.

    Raises TypeError when the second argument is no DatasetHelper.

    >>> import numpy as np
    >>> from sorus import dataset, nn, train
    >>> data = dataset.NumpySlicesDataset(np.arange(2.0, dtype=np.float32), shuffle=False).batch(1)
    >>> helper = train.DatasetHelper(data)
    >>> network = train.connect_network_with_dataset(nn.Identity(), helper)
    >>> [network(*row).tolist() for row in helper]
    [[0.0], [1.0]]
    """
    if not isinstance(dataset_helper, DatasetHelper):
        raise TypeError(
            "connect_network_with_dataset: 'dataset_helper' has the wrong type: got "
            f"{type(dataset_helper).__name__}, need a DatasetHelper"
        )
    return _Connected(network, dataset_helper) if dataset_helper.dataset_sink_mode else network
