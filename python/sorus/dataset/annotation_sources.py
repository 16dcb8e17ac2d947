"""Sources of images about which other files say something."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .._core import data as _data
from ._arguments import (
    check_workers,
    choice,
    class_numbers,
    endings,
    flag,
    folder_of,
    refuse_unsupported,
    row_options,
    text,
)
from .datasets import MappableDataset

__all__ = ["CelebADataset", "CocoDataset", "ManifestDataset", "VOCDataset"]

_COCO_TASKS = ("Detection", "Stuff", "Panoptic", "Keypoint", "Captioning")


def _file(source: str, argument: str, path: Any) -> str:
    """A file that is there."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{source}: {argument} has the wrong type: got {type(path).__name__}, need a path")
    if not os.path.isfile(path):
        raise ValueError(f"{source}: {argument} cannot be read: got {os.fspath(path)!r}, need a file")
    return os.fspath(path)


class CocoDataset(MappableDataset):
    """Images of a folder with annotations of COCO; images without them do not count.

    Columns: image, uint8, and those of the task. Detection: bbox, float32 (n, 4), category_id and iscrowd,
    uint32 (n, 1); Stuff: segmentation, float32, a line for each polygon, filled up with -1, and iscrowd;
    Keypoint: keypoints, float32, and num_keypoints, uint32; Panoptic: as Detection, and area, uint32;
    Captioning: captions, strings (n, 1).
    """

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        annotation_file: str | os.PathLike,
        task: str = "Detection",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Callable | None = None,
    ):
        source = "CocoDataset"
        check_workers(source, num_parallel_workers)
        refuse_unsupported(source, cache=cache, extra_metadata=extra_metadata or None, decrypt=decrypt)
        self.task = choice(source, "task", task, _COCO_TASKS)
        folder, self._annotations = (
            folder_of(source, dataset_dir),
            _file(source, "annotation_file", annotation_file),
        )
        decoded = flag(source, "decode", decode or False)
        super().__init__(
            lambda chosen: _data.coco(folder, self._annotations, self.task, decoded, chosen),
            row_options(source, num_samples, shuffle, sampler, num_shards, shard_id),
        )

    def get_class_indexing(self) -> dict[str, list[int]]:
        """Names of the categories and their ids, in Panoptic also whether they are things."""
        if self.task not in ("Detection", "Panoptic"):
            raise NotImplementedError(
                f"CocoDataset: this task has no classes: got {self.task!r}, need 'Detection' or 'Panoptic'"
            )
        return dict(_data.coco_classes(self._annotations, self.task))


class CelebADataset(MappableDataset):
    """Faces and their attributes: usage "train", "valid", "test" or "all".

    Columns: image, uint8, and attr, uint32: 1 or 0 for each attribute of list_attr_celeba.txt.
    """

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        usage: str = "all",
        sampler: Any = None,
        decode: bool = False,
        extensions: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable | None = None,
    ):
        source = "CelebADataset"
        check_workers(source, num_parallel_workers)
        refuse_unsupported(source, cache=cache, decrypt=decrypt)
        folder, part = folder_of(source, dataset_dir), "all" if usage is None else usage
        choice(source, "usage", part, ("train", "valid", "test", "all"))
        decoded, ends = flag(source, "decode", decode or False), endings(source, extensions)
        super().__init__(
            lambda chosen: _data.celeba(folder, part, ends, decoded, chosen),
            row_options(source, num_samples, shuffle, sampler, num_shards, shard_id),
        )


class ManifestDataset(MappableDataset):
    """Images that a manifest lists, a JSON object in each line: usage "train", "eval" or "inference".

    Columns: image, uint8, and label, int32: a number, or several where an image has several.
    """

    def __init__(
        self,
        dataset_file: str | os.PathLike,
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ):
        source = "ManifestDataset"
        check_workers(source, num_parallel_workers)
        refuse_unsupported(source, cache=cache)
        self._file = _file(source, "dataset_file", dataset_file)
        self._usage = "train" if usage is None else usage
        choice(source, "usage", self._usage, ("train", "eval", "inference"))
        self._given = class_numbers(source, class_indexing)
        decoded = flag(source, "decode", decode or False)
        super().__init__(
            lambda chosen: _data.manifest(self._file, self._usage, self._given, decoded, chosen),
            row_options(source, num_samples, shuffle, sampler, num_shards, shard_id),
        )

    def get_class_indexing(self) -> dict[str, int]:
        """Names of the classes and their labels."""
        return dict(self._given) if self._given else _data.manifest_classes(self._file, self._usage)

    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.get_class_indexing())


class VOCDataset(MappableDataset):
    """Pascal VOC: the images that a list in ImageSets names, such as "train".

    Columns for the task Segmentation: image and target, uint8. For Detection: image, bbox, float32 (n, 4):
    left, top, width and height, and label, difficult and truncate, uint32 (n, 1).
    """

    def __init__(
        self,
        dataset_dir: str | os.PathLike,
        task: str = "Segmentation",
        usage: str = "train",
        class_indexing: dict[str, int] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Callable | None = None,
    ):
        source = "VOCDataset"
        check_workers(source, num_parallel_workers)
        refuse_unsupported(source, cache=cache, extra_metadata=extra_metadata or None, decrypt=decrypt)
        self.task = choice(source, "task", task, ("Segmentation", "Detection"))
        self._folder, self._usage = folder_of(source, dataset_dir), text(source, "usage", usage)
        self._given = class_numbers(source, class_indexing)
        decoded = flag(source, "decode", decode or False)
        super().__init__(
            lambda chosen: _data.voc(self._folder, self.task, self._usage, self._given, decoded, chosen),
            row_options(source, num_samples, shuffle, sampler, num_shards, shard_id),
        )

    def get_class_indexing(self) -> dict[str, int]:
        """Names of the classes and their labels."""
        if self.task != "Detection":
            raise NotImplementedError(
                f"VOCDataset: this task has no classes: got {self.task!r}, need 'Detection'"
            )
        return dict(self._given) if self._given else _data.voc_classes(self._folder, self._usage)
