"""Sources of images in files, as the well-known data sets are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .._core import data as _data
from ._arguments import (
    check_workers,
    class_numbers,
    endings,
    flag,
    folder_of,
    refuse_unsupported,
    row_options,
    text,
)
from .datasets import MappableDataset

__all__ = [
    "Cifar100Dataset",
    "Cifar10Dataset",
    "EMnistDataset",
    "FashionMnistDataset",
    "ImageFolderDataset",
    "KMnistDataset",
    "MnistDataset",
    "QMnistDataset",
]


class _LabelledImages(MappableDataset):
    """What data sets with parts for training and testing have in common."""

    _reader: Callable[..., Any]
    _classes: int | None = None

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        self._read(
            (dataset_dir, usage),
            (),
            (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache),
        )

    def _read(self, place: tuple, further: tuple, rows: tuple) -> None:
        """Opens (folder, usage), with what else the reader takes, for the rows that are asked for."""
        source = type(self).__name__
        samples, workers, shuffle, sampler, shards, shard, cache = rows
        check_workers(source, workers)
        refuse_unsupported(source, cache=cache)
        folder = folder_of(source, place[0])
        usage = "all" if place[1] is None else text(source, "usage", place[1])
        read = type(self)._reader
        MappableDataset.__init__(
            self,
            lambda chosen: read(folder, usage, *further, chosen),
            row_options(source, samples, shuffle, sampler, shards, shard),
        )

    def num_classes(self) -> int | None:
        """Number of classes."""
        return self._classes


class MnistDataset(_LabelledImages):
    """Images of handwritten digits and their labels, from a folder with the four files, compressed or not.

    Columns: image, uint8 (28, 28, 1), and label, uint32.
    """

    _reader = staticmethod(_data.mnist)
    _classes = 10


class FashionMnistDataset(_LabelledImages):
    """Images of clothes, in files as MNIST's.

    Columns: image, uint8 (28, 28, 1), and label, uint32.
    """

    _reader = staticmethod(_data.fashion_mnist)
    _classes = 10


class KMnistDataset(_LabelledImages):
    """Images of Japanese characters, in files as MNIST's.

    Columns: image, uint8 (28, 28, 1), and label, uint32.
    """

    _reader = staticmethod(_data.kmnist)
    _classes = 10


class EMnistDataset(_LabelledImages):
    """Images of handwritten digits and letters: a part of EMNIST by its name, such as "letters".

    Columns: image, uint8 (28, 28, 1), which lies transposed as in the files, and label, uint32.
    """

    _reader = staticmethod(lambda folder, usage, name, chosen: _data.emnist(folder, name, usage, chosen))
    _names = {"byclass": 62, "bymerge": 47, "balanced": 47, "letters": 26, "digits": 10, "mnist": 10}

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        name: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        self._classes = self._names.get(text("EMnistDataset", "name", name))
        self._read(
            (dataset_dir, usage),
            (name,),
            (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache),
        )


class QMnistDataset(_LabelledImages):
    """MNIST's images rebuilt: usage "train", "test", "test10k", "test50k", "nist" or all.

    Columns: image, uint8 (28, 28, 1), and label, uint32: the digit, or without `compat` all eight numbers.
    """

    _reader = staticmethod(_data.qmnist)
    _classes = 10

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        usage: str | None = None,
        compat: bool = True,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        self._read(
            (dataset_dir, usage),
            (flag("QMnistDataset", "compat", compat),),
            (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache),
        )


class Cifar10Dataset(_LabelledImages):
    """Small photographs of ten classes, from the files of CIFAR-10's binary version.

    Columns: image, uint8 (32, 32, 3), and label, uint32.
    """

    _reader = staticmethod(_data.cifar10)
    _classes = 10


class Cifar100Dataset(_LabelledImages):
    """Small photographs of a hundred classes, from the files of CIFAR-100's binary version.

    Columns: image, uint8 (32, 32, 3), coarse_label and fine_label, uint32.
    """

    _reader = staticmethod(_data.cifar100)
    _classes = 100


class ImageFolderDataset(MappableDataset):
    """Images in a folder that has a subfolder for each class; labels number these in order of their names.

    Columns: image, uint8: the bytes of the file, or with `decode` RGB pixels (H, W, 3); and label, int32.
    """

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        extensions: Sequence[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable | None = None,
    ):
        source = "ImageFolderDataset"
        check_workers(source, num_parallel_workers)
        refuse_unsupported(source, cache=cache, decrypt=decrypt)
        folder, decoded = folder_of(source, dataset_dir), flag(source, "decode", decode)
        ends = endings(source, extensions)
        self._given = class_numbers(source, class_indexing)
        self._directory = folder
        super().__init__(
            lambda chosen: _data.image_folder(folder, ends, self._given, decoded, chosen),
            row_options(source, num_samples, shuffle, sampler, num_shards, shard_id),
        )

    def get_class_indexing(self) -> dict[str, int]:
        """Names of the classes and their labels."""
        return dict(self._given) if self._given else _data.image_folder_classes(self._directory)

    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.get_class_indexing())
