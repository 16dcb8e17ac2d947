"""Which rows of a source are read, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy

from .._core import data as _data
from .._errors import told_by_constructor
from ._arguments import flag, integer, optional_integer, text

__all__ = [
    "BuiltinSampler",
    "DistributedSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
]


class BuiltinSampler:
    """Base of the samplers of the engine. Samplers form a chain: a child chooses first."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        told_by_constructor(cls)

    def __init__(self, num_samples: int | None = None):
        self.child_sampler = None
        self.num_samples = optional_integer(type(self).__name__, "num_samples", num_samples, 1)

    def build(self) -> Any:
        """The sampler of the engine, with its children."""
        own = self._make()
        return _data.chained_sampler(own, build_sampler(self.child_sampler)) if self.child_sampler else own

    def _make(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: this sampler has no rule of its own")

    def add_child(self, sampler: BuiltinSampler | None) -> None:
        """Chooses among the rows that `sampler` gives."""
        if self.child_sampler is not None and sampler is not None:
            raise RuntimeError(f"{type(self).__name__}: there is a child already: need at most one")
        self.child_sampler = sampler

    def get_child(self) -> BuiltinSampler | None:
        """The sampler that chooses first."""
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        """Rows of an epoch as far as they are given."""
        child = self.child_sampler.get_num_samples() if self.child_sampler else None
        if self.num_samples is None or child is None:
            return child if self.num_samples is None else self.num_samples
        return min(child, self.num_samples)


class Sampler(BuiltinSampler):
    """Base of samplers of the user: `__iter__` gives row numbers. `dataset_size` is set before."""

    def __init__(self, num_samples: int | None = None):
        super().__init__(num_samples)
        self.dataset_size = 0

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError(
            f"{type(self).__name__}: __iter__ is missing: need one that gives row numbers"
        )

    def _make(self) -> Any:
        sampler = _data.python_sampler(self)
        if self.num_samples is None:
            return sampler
        return _data.chained_sampler(_data.sequential_sampler(0, self.num_samples), sampler)


class SequentialSampler(BuiltinSampler):
    """Rows in order, from `start_index` on."""

    def __init__(self, start_index: int | None = None, num_samples: int | None = None):
        super().__init__(num_samples)
        self.start_index = integer(
            "SequentialSampler", "start_index", 0 if start_index is None else start_index, 0
        )

    def _make(self) -> Any:
        return _data.sequential_sampler(self.start_index, self.num_samples)


class RandomSampler(BuiltinSampler):
    """Rows in random order."""

    def __init__(self, replacement: bool = False, num_samples: int | None = None, shuffle: Any = None):
        super().__init__(num_samples)
        self.replacement = flag("RandomSampler", "replacement", replacement)

    def _make(self) -> Any:
        return _data.random_sampler(self.replacement, self.num_samples)


class DistributedSampler(BuiltinSampler):
    """The rows of one of several shards."""

    def __init__(
        self,
        num_shards: int,
        shard_id: int,
        shuffle: bool = True,
        num_samples: int | None = None,
        offset: int = -1,
    ):
        super().__init__(num_samples)
        self.num_shards = integer("DistributedSampler", "num_shards", num_shards)
        self.shard_id = integer("DistributedSampler", "shard_id", shard_id)
        self.shuffle = flag("DistributedSampler", "shuffle", shuffle)
        self.offset = integer("DistributedSampler", "offset", offset)
        self._make()

    def _make(self) -> Any:
        return _data.distributed_sampler(
            self.num_shards, self.shard_id, self.shuffle, self.num_samples, self.offset
        )


class PKSampler(BuiltinSampler):
    """`num_val` rows of each class, drawn with repetition; classes in order of their labels unless shuffled.

    `class_column` is the index field with the labels, for MindDataset. A random order of classes stays the
    same in all epochs. `num_class` is not supported.

    >>> import sorus.dataset as ds
    >>> ds.PKSampler(2, shuffle=True, num_samples=5).get_num_samples()
    5
    """

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ):
        self.num_val = integer("PKSampler", "num_val", num_val)
        if num_class is not None:
            raise NotImplementedError(f"PKSampler: num_class is not supported: got {num_class!r}, need None")
        self.shuffle = flag("PKSampler", "shuffle", shuffle)
        self.class_column = text("PKSampler", "class_column", class_column)
        super().__init__(optional_integer("PKSampler", "num_samples", num_samples, 0) or None)
        self._make()

    def _make(self) -> Any:
        return _data.class_sampler(self.num_val, self.shuffle, self.num_samples, self.class_column)


class SubsetSampler(BuiltinSampler):
    """The rows named, in that order."""

    def __init__(self, indices: Iterable[int], num_samples: int | None = None):
        super().__init__(num_samples)
        self.indices = [
            integer(type(self).__name__, "indices", i)
            for i in ([indices] if isinstance(indices, (int, numpy.integer)) else indices)
        ]

    def _make(self) -> Any:
        return _data.subset_sampler(self.indices, self.num_samples)


class SubsetRandomSampler(SubsetSampler):
    """The rows named, in random order."""

    def _make(self) -> Any:
        return _data.subset_random_sampler(self.indices, self.num_samples)


class WeightedRandomSampler(BuiltinSampler):
    """Rows drawn with the weights given."""

    def __init__(self, weights: Iterable[float], num_samples: int | None = None, replacement: bool = True):
        super().__init__(num_samples)
        self.weights = [float(weight) for weight in weights]
        self.replacement = flag("WeightedRandomSampler", "replacement", replacement)
        self._make()

    def _make(self) -> Any:
        return _data.weighted_sampler(self.weights, self.num_samples, self.replacement)


def build_sampler(sampler: Any, rows: int | None = None) -> Any:
    """The engine's sampler for a sampler object or any iterable of row numbers; None stays None."""
    if sampler is None:
        return None
    if isinstance(sampler, Sampler) and rows is not None:
        sampler.dataset_size = rows
    if isinstance(sampler, BuiltinSampler):
        return sampler.build()
    if not hasattr(sampler, "__iter__"):
        raise TypeError(
            f"sampler: wrong type: got {type(sampler).__name__}, need a sampler or an iterable of numbers"
        )
    return _data.python_sampler(sampler)
