"""Checks of arguments that several classes of the package take."""

from __future__ import annotations

import glob
import numbers
import os
from collections.abc import Sequence
from typing import Any

from .._warn import warn

_LIMIT = 2**63


def names_of(op: str, argument: str, value: Any) -> list[str]:
    """Column names as a list: one name, several, or none."""
    if value is None:
        return []
    if not isinstance(value, (str, list, tuple)) and not hasattr(value, "__iter__"):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need names")
    names = [value] if isinstance(value, str) else list(value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{op}: {argument} has the wrong type: got {type(name).__name__}, need names")
    if len(set(names)) != len(names):
        raise ValueError(f"{op}: {argument} names a column twice: got {names}, need each once")
    return names


def integer(op: str, argument: str, value: Any, low: int | None = None) -> int:
    """An integer, at least `low`; bool is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need int")
    if low is not None and value < low:
        raise ValueError(f"{op}: {argument} is out of range: got {value}, need {low} or more")
    if not -_LIMIT <= value < _LIMIT:
        raise ValueError(f"{op}: {argument} is out of range: got {value}, need an int of 64 bits")
    return int(value)


def optional_integer(op: str, argument: str, value: Any, low: int | None = None) -> int | None:
    """None, or an integer, at least `low`."""
    return None if value is None else integer(op, argument, value, low)


def flag(op: str, argument: str, value: Any) -> bool:
    """A bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need bool")
    return value


def text(op: str, argument: str, value: Any) -> str:
    """A str."""
    if not isinstance(value, str):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need str")
    return value


def folder_of(source: str, dataset_dir: Any) -> str:
    """A folder's path as str."""
    if not isinstance(dataset_dir, (str, os.PathLike)):
        raise TypeError(
            f"{source}: dataset_dir has the wrong type: got {type(dataset_dir).__name__}, need a path"
        )
    return os.fspath(dataset_dir)


def check_workers(op: str, workers: Any) -> None:
    """num_parallel_workers: any positive number is fine, since the engine has one budget of workers."""
    optional_integer(op, "num_parallel_workers", workers, 1)


def row_options(
    source: str, num_samples: Any, shuffle: Any, sampler: Any, num_shards: Any, shard_id: Any
) -> dict:
    """The arguments that choose rows, checked."""
    return {
        "num_samples": optional_integer(source, "num_samples", num_samples, 0),
        "shuffle": shuffle,
        "sampler": sampler,
        "num_shards": optional_integer(source, "num_shards", num_shards, 1),
        "shard_id": optional_integer(source, "shard_id", shard_id, 0),
    }


def files_of(source: str, dataset_files: Any) -> list[str]:
    """The files that names and patterns stand for."""
    listed = [dataset_files] if isinstance(dataset_files, (str, os.PathLike)) else dataset_files
    if not isinstance(listed, list):
        raise TypeError(
            f"{source}: dataset_files have the wrong type: got {type(listed).__name__}, need a path or a list"
        )
    found: list[str] = []
    for pattern in listed:
        if not isinstance(pattern, (str, os.PathLike)):
            raise TypeError(
                f"{source}: dataset_files have the wrong type: got {type(pattern).__name__}, need paths"
            )
        name = os.fspath(pattern)
        names = [name] if os.path.isfile(name) else glob.glob(name, recursive=True)
        names = [name for name in names if os.path.isfile(name)]
        if not names:
            raise ValueError(f"{source}: dataset_files name no file: got {name!r}, need a file that is there")
        found += names
    if not found:
        raise ValueError(f"{source}: dataset_files are missing: got none, need one or more")
    return found


def choice(op: str, argument: str, value: Any, known: Sequence[str]) -> str:
    """One of the words that are known."""
    if value not in known:
        raise ValueError(
            f"{op}: {argument} is unknown: got {value!r}, need " + ", ".join(repr(word) for word in known)
        )
    return value


def check_shards(source: str, num_shards: Any, shard_id: Any) -> None:
    """num_shards and shard_id, which go together."""
    optional_integer(source, "num_shards", num_shards, 1)
    optional_integer(source, "shard_id", shard_id, 0)
    if (num_shards is None) != (shard_id is None):
        raise RuntimeError(
            f"{source}: num_shards and shard_id belong together: got one of them, need both or none"
        )


def file_options(
    source: str, num_samples: Any, workers: Any, shuffle: Any, num_shards: Any, shard_id: Any, cache: Any
) -> tuple:
    """The arguments of sources that read files from beginning to end, as the engine takes them."""
    from . import config

    refuse_unsupported(source, cache=cache)
    check_workers(source, workers)
    check_shards(source, num_shards, shard_id)
    word = getattr(shuffle, "value", shuffle)
    kinds = {None: 2, True: 2, "global": 2, "files": 1, False: 0}
    if not isinstance(word, (bool, str, type(None))):
        raise TypeError(
            f"{source}: shuffle has the wrong type: got {type(shuffle).__name__}, need bool or Shuffle"
        )
    if word not in kinds:
        raise ValueError(
            f"{source}: shuffle is not supported: got {shuffle}, need bool, Shuffle.GLOBAL or Shuffle.FILES"
        )
    samples = optional_integer(source, "num_samples", num_samples, 0) or 0
    lanes = workers or config.get_num_parallel_workers()  # type: ignore[attr-defined]
    return samples, kinds[word], num_shards, shard_id, lanes, True


def endings(source: str, extensions: Any) -> list[str]:
    """Endings of files that count; none: all."""
    if extensions is None:
        return []
    if not isinstance(extensions, (list, tuple)):
        raise TypeError(
            f"{source}: extensions have the wrong type: got {type(extensions).__name__}, need a list of str"
        )
    return [text(source, "extensions", ending) for ending in extensions]


def class_numbers(source: str, class_indexing: Any) -> dict[str, int]:
    """Names of classes and the labels that they are to have."""
    if class_indexing is None:
        return {}
    if not isinstance(class_indexing, dict):
        raise TypeError(
            f"{source}: class_indexing has the wrong type: got {type(class_indexing).__name__}, need a dict"
        )
    for name, label in class_indexing.items():
        text(source, "class_indexing", name)
        if not -(2**31) <= integer(source, "class_indexing", label) < 2**31:
            raise ValueError(
                f"{source}: class_indexing is out of range: got {label}, need labels that int32 holds"
            )
    return dict(class_indexing)


_told: set[str] = set()


def tell_once(what: str, text: str) -> None:
    """Warns of something the first time."""
    if what not in _told:
        _told.add(what)
        warn(text)


def refuse_unsupported(op: str, **arguments: Any) -> None:
    """Raises NotImplementedError for an argument that is given and not supported."""
    for name, value in arguments.items():
        if value is not None:
            raise NotImplementedError(f"{op}: {name} is not supported: got {value!r}, need None")
