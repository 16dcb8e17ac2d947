"""Sources of rows that Python objects hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .._core import data as _data
from ._arguments import check_workers, flag, names_of, refuse_unsupported, row_options
from ._processes import InProcesses, ProcessPool
from .datasets import Dataset, MappableDataset

__all__ = ["GeneratorDataset", "NumpySlicesDataset", "PaddedDataset"]


def _rows(column: Any) -> Any:
    """A column whose rows have one shape: the list or array itself, an array of anything else."""
    if isinstance(column, numpy.ndarray):
        return column
    try:
        made = numpy.asarray(column)
    except ValueError:
        lengths = sorted({len(row) for row in column if hasattr(row, "__len__")})
        raise ValueError(
            "NumpySlicesDataset: rows of a column make no array: "
            f"got rows of length {' and '.join(map(str, lengths[:4]))}, need rows of one shape"
        ) from None
    return column if isinstance(column, list) else made


class NumpySlicesDataset(MappableDataset):
    """Rows from arrays or lists in memory: their first axis.

    A tuple holds a column each, a dict named columns, a list or an array one column.

    >>> import sorus.dataset as ds
    >>> data = ds.NumpySlicesDataset([1, 2, 3, 4], "x", shuffle=False).batch(2)
    >>> [row["x"].tolist() for row in data.create_dict_iterator(output_numpy=True)]
    [[1, 2], [3, 4]]
    """

    def __init__(
        self,
        data: Any,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ):
        check_workers("NumpySlicesDataset", num_parallel_workers)
        columns, names = self._columns(data)
        if column_names is not None:
            names = names_of("NumpySlicesDataset", "column_names", column_names)
        if len(names) != len(columns):
            raise ValueError(
                f"NumpySlicesDataset: column_names do not fit: got {len(names)}, need {len(columns)} as the "
                "data have"
            )
        super().__init__(
            lambda chosen: _data.from_arrays(names, columns, chosen),
            row_options("NumpySlicesDataset", num_samples, shuffle, sampler, num_shards, shard_id),
            len(columns[0]),
        )

    @staticmethod
    def _columns(data: Any) -> tuple[list[Any], list[str]]:
        """Columns and their default names."""
        if isinstance(data, dict):
            columns, names = list(data.values()), [str(name) for name in data]
        elif hasattr(data, "columns") and hasattr(data, "to_numpy"):  # a pandas.DataFrame
            columns, names = (
                [data[name].to_numpy() for name in data.columns],
                [str(name) for name in data.columns],
            )
        else:
            columns = list(data) if isinstance(data, tuple) else [data]
            names = [f"column_{i}" for i in range(len(columns))]
        if not columns:
            raise ValueError("NumpySlicesDataset: data are empty: need a column or more")
        for column in columns:
            if not isinstance(column, (list, tuple, numpy.ndarray)) and not hasattr(column, "__array__"):
                raise TypeError(
                    f"NumpySlicesDataset: data have the wrong type: got {type(column).__name__}, "
                    "need arrays, lists, tuples or dicts of them"
                )
            if numpy.ndim(column) == 0 if isinstance(column, numpy.ndarray) else len(column) == 0:
                raise ValueError("NumpySlicesDataset: a column is empty: need a row or more")
        return [_rows(column) for column in columns], names


class GeneratorDataset(MappableDataset):
    """Rows from a Python object: with `__getitem__` and `__len__`, an iterable, or a callable that gives one.

    Each row is a tuple with a value for each column, or the value of the only column. Rows are read one at a
    time on one lane in this process; with python_multiprocessing and more than one of num_parallel_workers, a
    source with `__getitem__` is read in that many processes, but no more than cores, in the same order.

    To go on where an iterator stood (see `load_state_dict` of iterators), an iterable source, or the iterator
    that it gives, may have `state_dict()`, which tells how far it is after the last row that it gave, and
    `load_state_dict(state)`, called before the first row. Others are read again from the beginning of the
    epoch.
    """

    def __init__(
        self,
        source: Any,
        column_names: Any = None,
        column_types: Sequence[Any] | None = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: Any = None,
        batch_sampler: Any = None,
        collate_fn: Any = None,
    ):
        refuse_unsupported(
            "GeneratorDataset", schema=schema, batch_sampler=batch_sampler, collate_fn=collate_fn
        )
        check_workers("GeneratorDataset", num_parallel_workers)
        flag("GeneratorDataset", "python_multiprocessing", python_multiprocessing)
        names = names_of("GeneratorDataset", "column_names", column_names)
        if not names:
            raise ValueError("GeneratorDataset: column_names are missing: need a name for each column")
        self.source = source
        options = row_options("GeneratorDataset", num_samples, shuffle, sampler, num_shards, shard_id)

        def cast(pipeline: Any) -> Any:
            for name, dtype in zip(names, column_types or ()):
                pipeline = pipeline.map([_data.type_cast(dtype)], [name], [])
            return pipeline

        if hasattr(source, "__getitem__") and hasattr(source, "__len__"):
            reader = None
            if python_multiprocessing and (num_parallel_workers or 1) > 1:
                self.pool = ProcessPool("GeneratorDataset", [source.__getitem__], num_parallel_workers)
                reader = InProcesses(self.pool, 0)
            super().__init__(
                lambda chosen: cast(_data.from_random_access(source, names, reader, chosen)),
                options,
                len(source),
            )
            return
        if not (hasattr(source, "__iter__") or hasattr(source, "__getitem__") or callable(source)):
            raise TypeError(
                f"GeneratorDataset: source has the wrong type: got {type(source).__name__}, need an object "
                "with __getitem__ and __len__, an iterable or a callable that gives one"
            )
        if shuffle or sampler is not None or num_shards is not None:
            raise ValueError(
                "GeneratorDataset: shuffle, sampler and num_shards need a source that can be read in any "
                f"order: got {type(source).__name__}, need one with __getitem__ and __len__; "
                "shuffle() works on any dataset"
            )
        pipeline = cast(_data.from_iterable(source, names))
        if num_samples:
            pipeline = pipeline.take(num_samples)
        Dataset.__init__(self, pipeline)
        self._make = None

    def use_sampler(self, new_sampler: Any) -> None:
        """Reads the rows that another sampler chooses; needs a source that can be read in any order."""
        if self._make is None:
            raise ValueError(
                "GeneratorDataset: a sampler needs a source that can be read in any order: "
                f"got {type(self.source).__name__}"
            )
        super().use_sampler(new_sampler)

    def split(self, sizes: Sequence[int | float], randomize: bool = True) -> list[Dataset]:
        """Parts without common rows, by counts or by shares; the same rows in every epoch."""
        return (
            Dataset.split(self, sizes, randomize) if self._make is None else super().split(sizes, randomize)
        )


class PaddedDataset(GeneratorDataset):
    """Samples, a dict of values by column each, to be added to another dataset: `data + padded`.

    concat() with a dataset whose sampler shards it, and use_sampler() of the result, spread all rows evenly.
    """

    def __init__(self, padded_samples: list[dict[str, Any]]):
        if not isinstance(padded_samples, list):
            raise TypeError(
                f"PaddedDataset: padded_samples have the wrong type: got {type(padded_samples).__name__}, "
                "need a list of dicts"
            )
        if not padded_samples:
            raise ValueError("PaddedDataset: padded_samples are missing: got none, need one or more")
        for sample in padded_samples:
            if not isinstance(sample, dict):
                raise TypeError(
                    f"PaddedDataset: padded_samples have the wrong type: got {type(sample).__name__}, "
                    "need dicts"
                )
            if set(sample) != set(padded_samples[0]):
                raise ValueError(
                    "PaddedDataset: samples have different columns: "
                    f"got {sorted(sample)}, need {sorted(padded_samples[0])}"
                )
        names = list(padded_samples[0])
        rows = [tuple(sample[name] for name in names) for sample in padded_samples]
        super().__init__(rows, names, shuffle=False)
        self.padded_samples = padded_samples
