"""Sources of rows in files of a standard format: MindRecord, TFRecord and CSV."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .._core import data as _data
from .._core import mindrecord as _mindrecord
from ._arguments import (
    check_workers,
    choice,
    file_options,
    files_of,
    flag,
    integer,
    names_of,
    refuse_unsupported,
    row_options,
    text,
)
from .datasets import Dataset, MappableDataset, Shuffle
from .samplers import (
    BuiltinSampler,
    DistributedSampler,
    PKSampler,
    RandomSampler,
    SequentialSampler,
    SubsetSampler,
    build_sampler,
)
from .schema import Schema

__all__ = ["CSVDataset", "MindDataset", "TFRecordDataset"]

_COMPRESSIONS = ("", "GZIP", "ZLIB")  # as the engine numbers them


class TFRecordDataset(Dataset):
    """Rows of TFRecord files, each a message tf.Example, in order of the files' names.

    Columns are the features of the first row in order of their names: int64, float32 or, for bytes, uint8, of
    shape (n,); or those of a `schema`, an object or a file, with its types and shapes. Shards are whole files
    unless `shard_equal_rows`. `num_parallel_workers` files, or as many as the configuration says, give a row
    in turn.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        schema: str | Schema | None = None,
        columns_list: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ):
        source = "TFRecordDataset"
        options = file_options(
            source, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        packed = choice(source, "compression_type", compression_type or "", _COMPRESSIONS)
        if schema is not None and not isinstance(schema, Schema):
            schema = Schema(schema)
        self.dataset_files = files_of(source, dataset_files)
        super().__init__(
            _data.tfrecord_files(
                self.dataset_files,
                None if schema is None else schema.columns,
                names_of(source, "columns_list", columns_list),
                flag(source, "shard_equal_rows", shard_equal_rows or False),
                _COMPRESSIONS.index(packed),
                options,
            )
        )


class CSVDataset(Dataset):
    """Rows of CSV files, in order of the files' names.

    `column_names` absent, the first row of each file has them. Columns are strings, or of the types of
    `column_defaults`: int32, float32 or strings; a default takes the place of an empty number.
    `num_parallel_workers` files, or as many as the configuration says, give a row in turn.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        field_delim: str = ",",
        column_defaults: Sequence[int | float | str] | None = None,
        column_names: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        source = "CSVDataset"
        options = file_options(
            source, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        delimiter = "," if field_delim is None else text(source, "field_delim", field_delim)
        if len(delimiter.encode()) != 1 or delimiter in '"\r\n':
            raise ValueError(
                f"{source}: field_delim is wrong: got {delimiter!r}, need one ASCII character, "
                "neither a quote nor an end of a line"
            )
        self.dataset_files = files_of(source, dataset_files)
        super().__init__(
            _data.csv_files(
                self.dataset_files,
                delimiter,
                _csv_defaults(source, column_defaults),
                names_of(source, "column_names", column_names),
                options,
            )
        )


def _csv_defaults(source: str, defaults: Any) -> list[Any]:
    if defaults is None:
        return []
    if not isinstance(defaults, (list, tuple)):
        raise TypeError(
            f"{source}: column_defaults have the wrong type: got {type(defaults).__name__}, need a list"
        )
    for value in defaults:
        if not isinstance(value, (str, int, float)):
            raise TypeError(
                f"{source}: column_defaults have the wrong type: got {type(value).__name__}, "
                "need int, float or str"
            )
        if isinstance(value, int) and not -(2**31) <= value < 2**31:
            raise ValueError(
                f"{source}: column_defaults are out of range: got {value}, need ints that int32 holds"
            )
    return list(defaults)


# Where files or the rows within them are shuffled, as the engine numbers it.
_FILE_SHUFFLES = {Shuffle.FILES: 0, Shuffle.INFILE: 1, Shuffle.PARTIAL: 2}


class MindDataset(MappableDataset):
    """Rows of MindRecord files: the set that one file belongs to, or just the files of a list.

    Columns are the fields, in the order of their names or of `columns_list`. Numbers have shape (), arrays
    that of the schema with -1 resolved for each row, strings shape () and bytes shape (1,). The row
    `padded_sample` comes `num_padded` times after those of the files. PARTIAL shuffles the files and then the
    rows, a million at a time; a single row is to be had by its place in the order of the first epoch.
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
        if file_shuffle in (0, 1) and num_samples:
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
        self._single: tuple[Any, Any] | None = None

    def __getitem__(self, index: int) -> list[Any]:
        """The row at a place in the first epoch's order, as arrays; its seed is that of the first call."""
        place = integer("MindDataset", "index", index, 0)
        if self._single is None or self._single[0] is not self.pipeline:
            self._single = (self.pipeline, self.pipeline.row_reader())
        try:
            return self._single[1].at(place)
        except IndexError as error:
            raise RuntimeError(str(error)) from None


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
    known = (SubsetSampler, PKSampler, DistributedSampler, RandomSampler, SequentialSampler)
    if isinstance(sampler, BuiltinSampler) and not isinstance(sampler, known):
        raise ValueError(
            f"MindDataset: sampler is not supported: got {type(sampler).__name__}, need one of "
            + ", ".join(kind.__name__ for kind in known)
        )
