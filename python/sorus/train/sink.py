"""A function fed by a dataset."""

from .dataset_helper import Feed, check_sink_size, size_of


def data_sink(fn, dataset, sink_size=1, jit_config=None, input_signature=None):
    """A function without arguments that calls `fn` with the next `sink_size` rows of the dataset, one after
    the other, -1 for as many as there are, and gives the last result. After the last row the first comes
    again. With `jit_config` the function is compiled as `jit` does it, and rows must be of the types that
    `input_signature` declares, if any.

    Raises TypeError for arguments of the wrong type, ValueError for a `sink_size` out of range and for rows
    of other types.

    >>> import numpy as np
    >>> from sorus import data_sink, dataset
    >>> data = dataset.NumpySlicesDataset(np.arange(4), shuffle=False).batch(2)
    >>> step = data_sink(lambda x: x.sum(), data)
    >>> step().item(), step().item(), step().item()
    (1, 5, 1)
    """
    if not callable(fn):
        raise TypeError(f"data_sink: 'fn' has the wrong type: got {type(fn).__name__}, need a function")
    count = check_sink_size(sink_size, "data_sink")
    if jit_config is not None:
        from .._jit import jit

        fn = jit(fn, jit_config=jit_config, input_signature=input_signature)
    feed = Feed(dataset, "data_sink")
    count = size_of(dataset) if count == -1 else count

    def step():
        result = None
        for _ in range(count):
            result = fn(*feed.next())
        return result

    return step
