"""Sources of texts in files."""

from __future__ import annotations

import os
from typing import Any

from .._core import data as _data
from ._arguments import choice, file_options, files_of, folder_of
from .datasets import Dataset, Shuffle

__all__ = [
    "AGNewsDataset",
    "AmazonReviewDataset",
    "CLUEDataset",
    "DBpediaDataset",
    "PennTreebankDataset",
    "SogouNewsDataset",
    "TextFileDataset",
    "WikiTextDataset",
    "YahooAnswersDataset",
    "YelpReviewDataset",
]

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


class _Parts(Dataset):
    """What data sets with a file for each part have in common."""

    _files: dict[str, str]
    _columns: tuple[str, ...]
    _sorted = True  # with usage "all", parts stand in order of the names of their files

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        source = type(self).__name__
        options = file_options(
            source, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        folder, part = folder_of(source, dataset_dir), "all" if usage is None else usage
        choice(source, "usage", part, (*self._files, "all"))
        names = self._files.values() if part == "all" else [self._files[part]]
        self.dataset_files = files_of(source, [os.path.join(folder, name) for name in names])
        super().__init__(self._read((*options[:-1], self._sorted)))

    def _read(self, options: tuple) -> Any:
        return _data.csv_files(self.dataset_files, ",", [], list(self._columns), options)


_CSV_PARTS = {"train": "train.csv", "test": "test.csv"}


class AGNewsDataset(_Parts):
    """News in four classes: usage "train", "test" or all. Columns: index, title and description, strings."""

    _files, _columns = _CSV_PARTS, ("index", "title", "description")


class AmazonReviewDataset(_Parts):
    """Reviews of products: usage "train", "test" or all. Columns: label, title and content, strings."""

    _files, _columns = _CSV_PARTS, ("label", "title", "content")


class DBpediaDataset(_Parts):
    """Articles in 14 classes: usage "train", "test" or all. Columns: class, title and content, strings."""

    _files, _columns = _CSV_PARTS, ("class", "title", "content")


class YahooAnswersDataset(_Parts):
    """Questions in ten classes: usage "train", "test" or all.

    Columns: class, title, content and answer, strings.
    """

    _files, _columns = _CSV_PARTS, ("class", "title", "content", "answer")


class _UnsortedParts(_Parts):
    """The same, with other places of the arguments; the part for training comes first."""

    _files, _sorted = _CSV_PARTS, False

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        usage: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ):
        super().__init__(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )


class SogouNewsDataset(_UnsortedParts):
    """News in Chinese: usage "train", "test" or all. Columns: index, title and content, strings."""

    _columns = ("index", "title", "content")


class YelpReviewDataset(_UnsortedParts):
    """Reviews of businesses: usage "train", "test" or all. Columns: label and text, strings."""

    _columns = ("label", "text")


class _LineParts(_Parts):
    """Parts that hold a text in each line."""

    def _read(self, options: tuple) -> Any:
        return _data.text_files(self.dataset_files, options)


class PennTreebankDataset(_LineParts):
    """Sentences of the Penn Treebank: usage "train", "test", "valid" or all. Column: text."""

    _files = {"train": "ptb.train.txt", "test": "ptb.test.txt", "valid": "ptb.valid.txt"}


class WikiTextDataset(_LineParts):
    """Articles of Wikipedia, a line each row: usage "train", "test", "valid" or all. Column: text."""

    _files = {"train": "wiki.train.tokens", "test": "wiki.test.tokens", "valid": "wiki.valid.tokens"}
