"""Sources of rows that Python objects and MindRecord files hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy

from .._core import data as _data
from .._core import mindrecord as _mindrecord
from ._arguments import (
    check_workers,
    integer,
    names_of,
    refuse_unsupported,
    row_options,
    tell_of_one_lane,
)
from .datasets import Dataset, MappableDataset, Shuffle
from .samplers import (
    BuiltinSampler,
    DistributedSampler,
    RandomSampler,
    SequentialSampler,
    SubsetSampler,
    build_sampler,
)

__all__ = ["GeneratorDataset", "MindDataset", "NumpySlicesDataset"]


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
    time on one lane in this process, whatever num_parallel_workers and python_multiprocessing ask for.
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
        tell_of_one_lane("GeneratorDataset", num_parallel_workers, python_multiprocessing)
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
            super().__init__(
                lambda chosen: cast(_data.from_random_access(source, names, chosen)), options, len(source)
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


# Where files or the rows within them are shuffled, as the engine numbers it.
_FILE_SHUFFLES = {Shuffle.FILES: 0, Shuffle.INFILE: 1}


class MindDataset(MappableDataset):
    """Rows of MindRecord files: the set that one file belongs to, or just the files of a list.

    Columns are the fields, in the order of their names or of `columns_list`. Numbers have shape (), arrays
    that of the schema with -1 resolved for each row, strings shape () and bytes shape (1,). The row
    `padded_sample` comes `num_padded` times after those of the files. PARTIAL shuffles all rows.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        columns_list: list[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Any = None,
        padded_sample: dict[str, Any] | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
    ):
        refuse_unsupported("MindDataset", cache=cache)
        check_workers("MindDataset", num_parallel_workers)
        files = _files_of(dataset_files)
        columns = [] if columns_list is None else names_of("MindDataset", "columns_list", columns_list)
        padded, num_padded = _padding_of(padded_sample, num_padded, columns)
        _check_choice(shuffle, sampler, num_shards, shard_id)
        file_shuffle = _FILE_SHUFFLES.get(shuffle) if isinstance(shuffle, Shuffle) else None
        if file_shuffle is not None and num_samples:
            raise ValueError(
                "MindDataset: shuffle and num_samples exclude each other: "
                f"got {shuffle} and {num_samples}, need one"
            )
        whole = None if shuffle is None else isinstance(shuffle, Shuffle) or shuffle
        options = row_options("MindDataset", num_samples, whole, sampler, num_shards, shard_id)
        self.dataset_files = dataset_files

        def read(chosen: dict[str, Any]) -> Any:
            return _mindrecord.dataset(
                files,
                columns,
                chosen.get("file_shuffle"),
                padded,
                num_padded,
                chosen.get("num_samples"),
                chosen.get("shuffle"),
                chosen.get("sampler"),
                chosen.get("num_shards"),
                chosen.get("shard_id"),
            )

        self._make, self._options, self._rows = lambda chosen: read({"sampler": chosen}), options, None
        try:
            # Which sampler the arguments stand for, the engine says: the orders of these files are their own.
            pipeline = read({**options, "sampler": build_sampler(sampler), "file_shuffle": file_shuffle})
        except (OSError, KeyError) as error:
            raise RuntimeError(error.args[0] if isinstance(error, KeyError) else str(error)) from None
        Dataset.__init__(self, pipeline)


def _files_of(dataset_files: Any) -> str | list[str]:
    """Names of files that are there."""
    listed = isinstance(dataset_files, list)
    names = []
    for name in dataset_files if listed else [dataset_files]:
        if not isinstance(name, (str, os.PathLike)):
            raise TypeError(
                f"MindDataset: dataset_files has the wrong type: got {type(name).__name__}, "
                "need a path or a list of paths"
            )
        names.append(os.fspath(name))
    for name in names:
        if not os.path.isfile(name) or not os.access(name, os.R_OK):
            raise ValueError(
                f"MindDataset: a file cannot be read: got {name!r}, need a data file that is there"
            )
    if not names:
        raise ValueError("MindDataset: dataset_files are missing: got none, need one or more")
    return names if listed else names[0]


def _padding_of(sample: Any, count: int | None, columns: list[str]) -> tuple[list[Any], int]:
    """The padded row's values in the order of the columns, and how often it comes."""
    if (sample is None) != (count is None):
        raise RuntimeError(
            "MindDataset: padded_sample and num_padded belong together: got one of them, need both or none"
        )
    if sample is None:
        return [], 0
    if not isinstance(sample, dict):
        raise TypeError(
            f"MindDataset: padded_sample has the wrong type: got {type(sample).__name__}, need dict"
        )
    if not columns:
        raise RuntimeError(
            "MindDataset: padded_sample needs columns_list: got no columns, need those of the sample"
        )
    if set(sample) != set(columns):
        raise ValueError(
            "MindDataset: padded_sample does not fit columns_list: "
            f"got {sorted(sample)}, need {sorted(columns)}"
        )
    return [sample[name] for name in columns], integer("MindDataset", "num_padded", count, 0)


def _check_choice(shuffle: Any, sampler: Any, num_shards: Any, shard_id: Any) -> None:
    """Which rows are read may be said in one way only."""
    if shuffle is not None and not isinstance(shuffle, (bool, Shuffle)):
        raise TypeError(f"MindDataset: shuffle has the wrong type: got {shuffle!r}, need bool or Shuffle")
    if (num_shards is None) != (shard_id is None):
        raise RuntimeError(
            "MindDataset: num_shards and shard_id belong together: got one of them, need both or none"
        )
    if sampler is None:
        return
    if shuffle is not None or num_shards is not None:
        raise RuntimeError(
            "MindDataset: sampler excludes shuffle, num_shards and shard_id: got both, need one way"
        )
    known = (SubsetSampler, DistributedSampler, RandomSampler, SequentialSampler)
    if isinstance(sampler, BuiltinSampler) and not isinstance(sampler, known):
        raise ValueError(
            f"MindDataset: sampler is not supported: got {type(sampler).__name__}, need one of "
            + ", ".join(kind.__name__ for kind in known)
        )
