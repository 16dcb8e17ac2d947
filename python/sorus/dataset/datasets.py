"""Datasets and the operations on them. A dataset never changes: each operation gives a new one."""

from __future__ import annotations

import builtins
import copy
import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .._core import data as _data
from .._errors import told_by_constructor
from . import config
from ._arguments import check_workers, flag, integer, names_of, refuse_unsupported
from ._processes import InProcesses, ProcessPool
from .iterators import DictIterator, TupleIterator
from .samplers import DistributedSampler, build_sampler
from .transforms.transforms import flatten_operations

__all__ = [
    "BatchDataset",
    "ConcatDataset",
    "Dataset",
    "FilterDataset",
    "MapDataset",
    "MappableDataset",
    "PaddedBatchDataset",
    "ProjectDataset",
    "RenameDataset",
    "RepeatDataset",
    "Shuffle",
    "ShuffleDataset",
    "SkipDataset",
    "SyncWaitDataset",
    "TakeDataset",
    "ZipDataset",
    "zip",
]


class Shuffle(str, enum.Enum):
    """How far rows are shuffled."""

    GLOBAL = "global"
    FILES = "files"
    INFILE = "infile"
    ADAPTIVE = "adaptive"
    PARTIAL = "partial"


class Dataset:
    """A pipeline: what to read and what to do with each row. Iterating over it takes one epoch."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        told_by_constructor(cls)

    def __init__(self, pipeline: Any, children: Sequence[Dataset] = ()):
        self.pipeline = pipeline
        self.children = list(children)
        self._size: int | None = None

    def __iter__(self) -> TupleIterator:
        return self.create_tuple_iterator(num_epochs=1)

    def __len__(self) -> int:
        return self.get_dataset_size()

    def __add__(self, other: Dataset) -> ConcatDataset:
        return self.concat(other)

    def __deepcopy__(self, memo: dict) -> Dataset:
        return copy.copy(self)

    def create_tuple_iterator(
        self,
        columns: Sequence[str] | None = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> TupleIterator:
        """Rows as lists of Tensors, or of arrays with `output_numpy`; -1 epochs: as many as are asked for."""
        source = self if columns is None else self.project(columns)
        return TupleIterator(source, *_iterator_arguments("create_tuple_iterator", num_epochs, output_numpy))

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """Rows as dicts by column name; otherwise as create_tuple_iterator."""
        return DictIterator(self, *_iterator_arguments("create_dict_iterator", num_epochs, output_numpy))

    def map(
        self,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        column_order: Any = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Operations on columns, one after the other: transforms or Python callables.

        Transforms of this package run on several threads. Python callables run one at a time on one lane in
        this process; with python_multiprocessing in num_parallel_workers processes, but no more than cores,
        that are forked when an iterator is made. Rows come in order and are the same either way.
        """
        _check_keywords(
            "map", kwargs, ("python_multiprocessing", "cache", "callbacks", "max_rowsize", "offload")
        )
        refuse_unsupported("map", callbacks=kwargs.get("callbacks"))
        check_workers("map", num_parallel_workers)
        processes = flag("map", "python_multiprocessing", kwargs.get("python_multiprocessing") or False)
        mapped = MapDataset(self, operations, input_columns, output_columns, num_parallel_workers, processes)
        return mapped if column_order is None else mapped.project(column_order)

    def batch(
        self,
        batch_size: int | Callable,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Each `batch_size` rows as one. `per_batch_map` works on the rows of a batch before."""
        _check_keywords(
            "batch",
            kwargs,
            (
                "per_batch_map",
                "input_columns",
                "output_columns",
                "column_order",
                "pad_info",
                "python_multiprocessing",
                "max_rowsize",
            ),
        )
        check_workers("batch", num_parallel_workers)
        order = kwargs.pop("column_order", None)
        batched = BatchDataset(
            self, batch_size, drop_remainder, num_parallel_workers=num_parallel_workers, **kwargs
        )
        return batched if order is None else batched.project(order)

    def padded_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict | None = None,
    ) -> Dataset:
        """As batch(), rows padded: {column: (shape or None, value)}; None pads all to the largest with 0."""
        check_workers("padded_batch", num_parallel_workers)
        return PaddedBatchDataset(self, batch_size, drop_remainder, pad_info=pad_info or {})

    def bucket_batch_by_length(
        self,
        column_names: Any,
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        element_length_function: Callable | None = None,
        pad_info: dict | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Batches of rows of like lengths. Bucket i takes lengths from the boundary before it on and below
        its own; it is handed on when it has as many rows as its batch size, of which there is one more than
        of boundaries. The length is what the function gives for the columns named, or the extent of the first
        axis of the one column. `pad_info` is padded_batch's; None pads nothing. With pad_to_bucket_boundary
        its extents of None become the greatest length of the bucket.
        """
        return BucketBatchByLengthDataset(
            self,
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def sync_wait(
        self, condition_name: str, num_batch: int = 1, callback: Callable | None = None
    ) -> SyncWaitDataset:
        """Lets `num_batch` rows (batches, when batch() follows) pass, then as many more for each
        sync_update() of that condition. Rows behind it are made one by one and none ahead of an update.

        >>> import sorus.dataset as ds
        >>> class Scale:
        ...     factor = 1
        ...     def update(self, data):
        ...         self.factor = data
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> scale, seen = Scale(), []
        >>> data = ds.NumpySlicesDataset([1, 1, 1, 1], "x", shuffle=False)
        >>> data = data.sync_wait("factor", callback=scale.update).map(scale, "x").batch(2)
        >>> for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        ...     seen.append(x.tolist())
        ...     data.sync_update("factor", data=10)
        >>> seen
        [[1, 1], [10, 10]]
        """
        return SyncWaitDataset(self, condition_name, num_batch, callback)

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Calls the callback of a sync_wait() with `data`, then lets `num_batch` more rows pass; None: as
        many as sync_wait() says. Waits until the rows that may pass already have been made, so that exactly
        the next one sees what the callback did.
        """
        whole = isinstance(num_batch, int) and not isinstance(num_batch, bool)
        if num_batch is not None and not (whole and num_batch > 0):
            raise RuntimeError(
                f"sync_update: num_batch is out of range: got {num_batch!r}, need 1 or more, or None"
            )
        condition = _text("sync_update", "condition_name", condition_name)
        self.pipeline.sync_update(condition, num_batch, data)

    def disable_sync(self) -> None:
        """Opens all sync_wait() of this pipeline for good."""
        self.pipeline.disable_sync()

    def is_sync(self) -> bool:
        """Whether there is a sync_wait()."""
        return self.pipeline.is_sync()

    def shuffle(self, buffer_size: int) -> Dataset:
        """Rows drawn at random from a buffer of that many."""
        return ShuffleDataset(self, buffer_size)

    def repeat(self, count: int | None = None) -> Dataset:
        """`count` epochs as one; None or -1: without end."""
        return RepeatDataset(self, -1 if count is None else count)

    def skip(self, count: int) -> Dataset:
        """Without the first `count` rows."""
        return SkipDataset(self, count)

    def take(self, count: int = -1) -> Dataset:
        """The first `count` rows; -1: all."""
        return TakeDataset(self, count)

    def filter(
        self, predicate: Callable, input_columns: Any = None, num_parallel_workers: int | None = None
    ) -> Dataset:
        """The rows for which `predicate` of the columns is true."""
        check_workers("filter", num_parallel_workers)
        return FilterDataset(self, predicate, input_columns)

    def rename(self, input_columns: Any, output_columns: Any) -> Dataset:
        """Other names for columns."""
        return RenameDataset(self, input_columns, output_columns)

    def project(self, columns: Any) -> Dataset:
        """The columns named, in that order."""
        return ProjectDataset(self, columns)

    def concat(self, datasets: Dataset | Sequence[Dataset]) -> ConcatDataset:
        """Rows of this one, then of the others."""
        return ConcatDataset([self, *_listed("concat", datasets)])

    def zip(self, datasets: Dataset | Sequence[Dataset]) -> ZipDataset:
        """Columns of this one and of the others side by side."""
        return ZipDataset([self, *_listed("zip", datasets)])

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What `apply_func` makes of this dataset."""
        _check_callable("apply", "apply_func", apply_func)
        result = apply_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(
                f"apply: the function gave the wrong type: got {type(result).__name__}, need a Dataset"
            )
        return result

    def flat_map(self, func: Callable[..., Dataset]) -> Dataset:
        """The datasets that `func` makes of each row, one after the other. Reads this one now."""
        _check_callable("flat_map", "func", func)
        parts = [func(*row) for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        if not parts:
            raise ValueError("flat_map: there are no rows: need one or more")
        return parts[0] if len(parts) == 1 else parts[0].concat(parts[1:])

    def split(self, sizes: Sequence[int | float], randomize: bool = True) -> list[Dataset]:
        """Parts without common rows, by counts or by shares; the same rows in every epoch."""
        flag("split", "randomize", randomize)
        pipeline = self.pipeline
        if randomize:
            pipeline = pipeline.shuffle(max(self.get_dataset_size(), 2))
        base = Dataset(pipeline.fix_order(_fixed_seed()), [self])
        parts, first = [], 0
        for count in _split_counts(sizes, self.get_dataset_size()):
            parts.append(base.skip(first).take(count) if first else base.take(count))
            first += count
        return parts

    def get_col_names(self) -> list[str]:
        """Names of the columns."""
        return self.pipeline.names()

    def get_dataset_size(self) -> int:
        """Rows of an epoch; reads one when nothing else tells."""
        if self._size is None:
            self._size = self.pipeline.size()
        return self._size

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """Shapes of the columns, found by reading one row; with `estimate` all, None where they differ."""
        flag("output_shapes", "estimate", estimate)
        if not estimate:
            return [shape for _, shape in self.pipeline.types()]
        shapes: list[list] | None = None
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            found = [list(numpy.shape(value)) for value in row]
            shapes = (
                found if shapes is None else [_common_shape(a, b) for a, b in builtins.zip(shapes, found)]
            )
        return shapes or []

    def output_types(self) -> list[numpy.dtype]:
        """NumPy dtypes of the columns, found by reading one row."""
        names = [name for name, _ in self.pipeline.types()]
        return [numpy.dtype({"string": "str", "bytes": "S"}.get(name, name)) for name in names]

    def get_batch_size(self) -> int:
        """Rows of a batch; 1 when there are no batches."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """How often the rows are repeated."""
        return self.children[0].get_repeat_count() if self.children else 1

    def get_class_indexing(self) -> dict[str, int]:
        """Names of classes and their numbers, of sources that have them."""
        return self.children[0].get_class_indexing() if self.children else {}

    def num_classes(self) -> int | None:
        """Number of classes, of sources that know it."""
        return self.children[0].num_classes() if self.children else None

    def reset(self) -> None:
        """Datasets have no state: each iterator begins anew."""

    def close_pool(self) -> None:
        """There is no pool of the dataset's own to close."""


class MappableDataset(Dataset):
    """A source whose rows can be read in any order."""

    def __init__(self, make: Callable[[Any], Any], options: dict[str, Any], rows: int | None = None):
        self._make = make
        self._options = options
        self._rows = rows
        super().__init__(make(_choose_sampler(type(self).__name__, options, rows)))

    def use_sampler(self, new_sampler: Any) -> None:
        """Reads the rows that another sampler chooses."""
        if new_sampler is None:
            raise TypeError("use_sampler: sampler is missing: got None, need a sampler")
        self._options = {"num_samples": None, "sampler": new_sampler}
        self.pipeline = self._make(_choose_sampler(type(self).__name__, self._options, self._rows))
        self._size = None

    def add_sampler(self, new_sampler: Any) -> None:
        """Reads what another sampler chooses among the rows that are read now."""
        own = self._options.get("sampler")
        if own is not None:
            new_sampler.add_child(own)
        self.use_sampler(new_sampler)

    def split(self, sizes: Sequence[int | float], randomize: bool = True) -> list[Dataset]:
        """Parts without common rows, by counts or by shares; the same rows in every epoch."""
        flag("split", "randomize", randomize)
        size = self.get_dataset_size()
        order = numpy.arange(size)
        if randomize:
            order = numpy.random.RandomState(_fixed_seed()).permutation(size)
        kept = build_sampler(self._options.get("sampler"), self._rows)
        parts, first = [], 0
        for count in _split_counts(sizes, size):
            part = copy.copy(self)
            sampler = _data.subset_sampler(order[first : first + count].tolist(), None)
            if kept is not None:
                sampler = _data.chained_sampler(sampler, kept)
            elif self._options.get("num_shards") is not None:
                shard = (self._options["num_shards"], self._options["shard_id"])
                sampler = _data.chained_sampler(sampler, _data.distributed_sampler(*shard, False, None, -1))
            part.pipeline = self._make(sampler)
            part._size = None
            parts.append(part)
            first += count
        return parts


class MapDataset(Dataset):
    """The result of map()."""

    def __init__(
        self,
        dataset: Dataset,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
    ):
        flat = flatten_operations(operations)
        self.pool = None
        functions = [operation for operation in flat if callable(operation) and not _is_native(operation)]
        if python_multiprocessing and functions:
            self.pool = ProcessPool("map", functions, num_parallel_workers)
            numbers = iter(range(len(functions)))
            flat = [
                o if _is_native(o) else InProcesses(self.pool, next(numbers), hasattr(o, "draws_by_row"))
                for o in flat
            ]
        inputs = names_of("map", "input_columns", input_columns)
        outputs = names_of("map", "output_columns", output_columns)
        super().__init__(dataset.pipeline.map(flat, inputs, outputs), [dataset])


class BatchDataset(Dataset):
    """The result of batch()."""

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | Callable,
        drop_remainder: bool = False,
        per_batch_map: Callable | None = None,
        input_columns: Any = None,
        output_columns: Any = None,
        pad_info: dict | None = None,
        python_multiprocessing: bool = False,
        max_rowsize: Any = None,
        num_parallel_workers: int | None = None,
    ):
        self.pool = None
        if flag("batch", "python_multiprocessing", python_multiprocessing) and per_batch_map is not None:
            self.pool = ProcessPool("batch", [per_batch_map], num_parallel_workers)
            per_batch_map = InProcesses(self.pool, 0)
        if not callable(batch_size):
            batch_size = integer("batch", "batch_size", batch_size, 1)
        pipeline = dataset.pipeline.batch(
            batch_size,
            flag("batch", "drop_remainder", drop_remainder),
            per_batch_map,
            names_of("batch", "input_columns", input_columns),
            names_of("batch", "output_columns", output_columns),
            pad_info,
        )
        super().__init__(pipeline, [dataset])
        self.batch_size = batch_size

    def get_batch_size(self) -> int:
        """Rows of a batch; of the first one when a function tells."""
        if callable(self.batch_size):
            return self.output_shapes()[0][0]
        return self.batch_size


class PaddedBatchDataset(BatchDataset):
    """The result of padded_batch()."""


class BucketBatchByLengthDataset(Dataset):
    """The result of bucket_batch_by_length()."""

    def __init__(
        self,
        dataset: Dataset,
        column_names: Any,
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        element_length_function: Callable | None,
        pad_info: dict | None,
        pad_to_bucket_boundary: bool,
        drop_remainder: bool,
    ):
        op = "bucket_batch_by_length"
        if element_length_function is not None:
            _check_callable(op, "element_length_function", element_length_function)
        pipeline = dataset.pipeline.bucket(
            names_of(op, "column_names", column_names),
            _integers(op, "bucket_boundaries", bucket_boundaries),
            _integers(op, "bucket_batch_sizes", bucket_batch_sizes),
            element_length_function,
            pad_info,
            flag(op, "pad_to_bucket_boundary", pad_to_bucket_boundary),
            flag(op, "drop_remainder", drop_remainder),
        )
        super().__init__(pipeline, [dataset])


class SyncWaitDataset(Dataset):
    """The result of sync_wait()."""

    def __init__(self, dataset: Dataset, condition_name: str, num_batch: int, callback: Callable | None):
        if callback is not None:
            _check_callable("sync_wait", "callback", callback)
        condition = _text("sync_wait", "condition_name", condition_name)
        number = integer("sync_wait", "num_batch", num_batch, 1)
        super().__init__(dataset.pipeline.sync_wait(condition, number, callback), [dataset])


class ShuffleDataset(Dataset):
    """The result of shuffle()."""

    def __init__(self, dataset: Dataset, buffer_size: int):
        super().__init__(
            dataset.pipeline.shuffle(integer("shuffle", "buffer_size", buffer_size, 2)), [dataset]
        )


class RepeatDataset(Dataset):
    """The result of repeat()."""

    def __init__(self, dataset: Dataset, count: int):
        self.count = integer("repeat", "count", count, -1)
        super().__init__(dataset.pipeline.repeat(self.count), [dataset])

    def get_repeat_count(self) -> int:
        """How often the rows are repeated; -1: without end."""
        return self.count


class SkipDataset(Dataset):
    """The result of skip()."""

    def __init__(self, dataset: Dataset, count: int):
        super().__init__(dataset.pipeline.skip(integer("skip", "count", count, 0)), [dataset])


class TakeDataset(Dataset):
    """The result of take()."""

    def __init__(self, dataset: Dataset, count: int):
        super().__init__(dataset.pipeline.take(integer("take", "count", count, -1)), [dataset])


class FilterDataset(Dataset):
    """The result of filter()."""

    def __init__(self, dataset: Dataset, predicate: Callable, input_columns: Any):
        if not callable(predicate):
            raise TypeError(
                f"filter: predicate has the wrong type: got {type(predicate).__name__}, need a callable"
            )
        names = names_of("filter", "input_columns", input_columns)
        super().__init__(dataset.pipeline.filter(predicate, names), [dataset])


class RenameDataset(Dataset):
    """The result of rename()."""

    def __init__(self, dataset: Dataset, input_columns: Any, output_columns: Any):
        inputs = names_of("rename", "input_columns", input_columns)
        outputs = names_of("rename", "output_columns", output_columns)
        super().__init__(dataset.pipeline.rename(inputs, outputs), [dataset])


class ProjectDataset(Dataset):
    """The result of project()."""

    def __init__(self, dataset: Dataset, columns: Any):
        super().__init__(dataset.pipeline.project(names_of("project", "columns", columns)), [dataset])


class ConcatDataset(Dataset):
    """The result of concat()."""

    def __init__(self, datasets: Sequence[Dataset]):
        _check_datasets("concat", datasets)
        super().__init__(self._joined(datasets), datasets)

    @staticmethod
    def _joined(datasets: Sequence[Dataset]) -> Any:
        first, *rest = datasets
        return first.pipeline.concat([d.pipeline for d in rest])

    def use_sampler(self, sampler: Any) -> None:
        """One shard of all rows together: a DistributedSampler without shuffle and num_samples.

        Row i of the whole goes to shard i modulo their number, so that samples of a PaddedDataset behind the
        others make shards equally long.
        """
        if not isinstance(sampler, DistributedSampler):
            raise TypeError(
                f"concat: sampler has the wrong type: got {type(sampler).__name__}, need DistributedSampler"
            )
        if sampler.shuffle or sampler.num_samples is not None:
            raise ValueError(
                "concat: sampler must neither shuffle nor limit: "
                f"got shuffle={sampler.shuffle} and num_samples={sampler.num_samples}, need False and None"
            )
        shards, rows, parts = sampler.num_shards, 0, []
        for child in self.children:
            if not isinstance(child, MappableDataset) or child._make is None:
                raise TypeError(
                    f"concat: a dataset cannot be sharded: got {type(child).__name__}, "
                    "need sources that can be read in any order"
                )
            part = copy.copy(child)
            size = child.get_dataset_size()
            part.use_sampler(
                DistributedSampler(shards, sampler.shard_id, shuffle=False, offset=rows % shards)
            )
            rows += size
            if part.get_dataset_size() > 0:
                parts.append(part)
        if not parts:
            raise ValueError(f"concat: a shard is empty: got {rows} rows, need one for each shard")
        self.pipeline, self._size = self._joined(parts), None


class ZipDataset(Dataset):
    """The result of zip()."""

    def __init__(self, datasets: Sequence[Dataset]):
        _check_datasets("zip", datasets)
        super().__init__(_data.zip([d.pipeline for d in datasets]), datasets)


def zip(datasets: Sequence[Dataset]) -> ZipDataset:
    """Columns of several datasets side by side; as long as the shortest."""
    return ZipDataset(tuple(datasets))


def _listed(op: str, datasets: Any) -> list[Any]:
    """One dataset or several, as a list."""
    if isinstance(datasets, Dataset):
        return [datasets]
    if not isinstance(datasets, (list, tuple)):
        raise TypeError(
            f"{op}: datasets have the wrong type: got {type(datasets).__name__}, need a list of them"
        )
    return list(datasets)


def _integers(op: str, name: str, values: Any) -> list[int]:
    """A list or tuple of ints of 1 or more, and not empty."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{op}: {name} has the wrong type: got {type(values).__name__}, need a list of ints")
    if not values:
        raise ValueError(f"{op}: {name} is empty: got [], need a number or more")
    return [integer(op, name, value, 1) for value in values]


def _is_native(operation: Any) -> bool:
    return isinstance(operation, _data.Operation)


def _text(op: str, name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{op}: {name} has the wrong type: got {type(value).__name__}, need str")
    return value


def _check_callable(op: str, argument: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need a callable")


def _check_datasets(op: str, datasets: Sequence[Any]) -> None:
    for dataset in datasets:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"{op}: wrong type: got {type(dataset).__name__}, need datasets")


def _check_keywords(op: str, given: dict[str, Any], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise TypeError(f"{op}: unknown argument: got '{name}', need one of {', '.join(known)}")


def _iterator_arguments(op: str, num_epochs: int, output_numpy: bool) -> tuple[int, bool]:
    epochs = integer(op, "num_epochs", num_epochs, -1)
    if epochs == 0:
        raise ValueError(f"{op}: num_epochs is out of range: got 0, need -1 or more than 0")
    return epochs, flag(op, "output_numpy", output_numpy)


def _common_shape(a: list, b: list) -> list:
    """Equal extents, None where they differ."""
    if len(a) != len(b):
        raise ValueError(f"output_shapes: rows differ in rank: got {a} and {b}, need equal ranks")
    return [x if x == y else None for x, y in builtins.zip(a, b)]


def _choose_sampler(source: str, options: dict[str, Any], rows: int | None) -> Any:
    """The sampler that a source's arguments stand for."""
    shuffle = options.get("shuffle")
    if shuffle is not None and not isinstance(shuffle, bool):
        shuffle = flag(source, "shuffle", shuffle)
    return _data.choose_sampler(
        source,
        options.get("num_samples"),
        shuffle,
        build_sampler(options.get("sampler"), rows),
        options.get("num_shards"),
        options.get("shard_id"),
    )


def _fixed_seed() -> int:
    """The seed of the settings, or one by chance when there is none."""
    no_seed = 5489
    seed = config.get_seed()
    return int(numpy.random.SeedSequence().generate_state(1)[0]) if seed == no_seed else seed


def _split_counts(sizes: Sequence[int | float], rows: int) -> list[int]:
    """Rows of each part. Shares must sum to 1; what rounding leaves over goes to the first parts."""
    if not isinstance(sizes, (list, tuple)):
        raise TypeError(f"split: sizes have the wrong type: got {type(sizes).__name__}, need a list or tuple")
    if not sizes:
        raise ValueError("split: sizes are missing: got none, need one or more")
    if all(isinstance(size, float) for size in sizes):
        if any(not 0 < size <= 1 for size in sizes) or abs(sum(sizes) - 1) > 1e-6:
            raise ValueError(f"split: sizes are out of range: got {list(sizes)}, need shares that sum to 1")
        counts = [round(rows * size) for size in sizes]
        step = 1 if sum(counts) < rows else -1
        place = 0
        while sum(counts) != rows:
            counts[place % len(counts)] += step
            place += 1
    else:
        counts = [integer("split", "sizes", size, 1) for size in sizes]
    if sum(counts) != rows or any(count < 1 for count in counts):
        raise ValueError(f"split: sizes do not fit: got {counts}, need parts of {rows} rows in sum")
    return counts
