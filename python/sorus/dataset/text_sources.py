"""Sources of texts in files."""

from __future__ import annotations

from typing import Any

from .._core import data as _data
from ._arguments import choice, file_options, files_of
from .datasets import Dataset, Shuffle

__all__ = ["CLUEDataset", "TextFileDataset"]

_CLUE_TASKS = ("AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC", "CSL")


class TextFileDataset(Dataset):
    """Lines of text files, in order of the files' names; empty lines do not count. Column: text.

    `num_parallel_workers` files, or as many as the configuration says, give a line in turn.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        source = "TextFileDataset"
        options = file_options(
            source, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        self.dataset_files = files_of(source, dataset_files)
        super().__init__(_data.text_files(self.dataset_files, options))


class CLUEDataset(Dataset):
    """A task of the CLUE benchmark, from files of JSON lines: usage "train", "test" or "eval".

    Columns are those of the task in order of their names: strings, and numbers as uint32.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        task: str = "AFQMC",
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        source = "CLUEDataset"
        options = file_options(
            source, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        choice(source, "task", task, _CLUE_TASKS)
        choice(source, "usage", usage, ("train", "test", "eval"))
        self.dataset_files = files_of(source, dataset_files)
        super().__init__(_data.clue_files(self.dataset_files, task, usage, options))
