"""Transforms of any data."""

from __future__ import annotations

import enum
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..._core import data as _data
from ..._errors import told_by_constructor
from .._arguments import integer
from .._draws import draws

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "Relational",
    "Slice",
    "TypeCast",
    "Unique",
]


class TensorOperation:
    """Base of transforms of the engine: callable on one value, and a step of `map`.

    Subclasses keep their arguments and make the engine's operation from them in `build`, so they can be
    copied and pickled.
    """

    _operation: Any = None
    makes_pictures = False
    ends_pictures = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        told_by_constructor(cls)

    def build(self) -> Any:
        """A new operation of the engine."""
        raise NotImplementedError(f"{type(self).__name__}: this transform has no operation")

    @property
    def operation(self) -> Any:
        """The operation of the engine, made once."""
        if self._operation is None:
            self._operation = self.build()
        return self._operation

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_operation"}

    def on_picture(self, picture: Any) -> Any:
        """What it makes of a picture of the Python Imaging Library: here, of the array of its pixels."""
        return self.operation(numpy.asarray(picture))

    def __call__(self, *inputs: Any) -> Any:
        results = tuple(
            self.on_picture(value) if is_picture(value) else self.operation(value) for value in inputs
        )
        return results[0] if len(results) == 1 else results


def is_picture(value: Any) -> bool:
    """True for an image of the Python Imaging Library."""
    return hasattr(value, "tobytes") and hasattr(value, "getbands")


def as_value(value: Any) -> Any:
    """An image of the Python Imaging Library as an array; anything else as it is."""
    return numpy.asarray(value) if is_picture(value) else value


class PictureSteps:
    """Steps that hand pictures of the Python Imaging Library on to each other, as one Python callable."""

    draws_by_row = True  # the engine then calls at_row

    def __init__(self, steps: list[Callable]):
        self.steps = steps

    def at_row(self, key: int, *values: Any) -> Any:
        """What they make of a row whose random numbers follow from `key` alone."""
        before, draws.generator = draws.generator, random.Random(key)
        try:
            return self(*values)
        finally:
            draws.generator = before

    def __call__(self, *values: Any) -> Any:
        for step in self.steps:
            result = step(*values)
            values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values


def _listed(operations: Any) -> list[Any]:
    """Single operations, in order; compositions are taken apart."""
    if isinstance(operations, Compose):
        operations = operations.transforms
    if not isinstance(operations, (list, tuple)):
        return [operations]
    return [single for operation in operations for single in _listed(operation)]


def flatten_operations(operations: Any) -> list[Any]:
    """Operations for the engine: its own, and Python callables.

    From an operation that makes pictures to one that makes arrays of them, all run in Python.
    """
    flat: list[Any] = []
    pictures: list[Callable] | None = None
    for operation in _listed(operations):
        if not callable(operation):
            raise TypeError(
                f"map: operation has the wrong type: got {type(operation).__name__}, need a transform or a "
                "callable"
            )
        if pictures is None and getattr(operation, "makes_pictures", False):
            pictures = []
            flat.append(PictureSteps(pictures))
        if pictures is not None:
            pictures.append(operation)
            if getattr(operation, "ends_pictures", False):
                pictures = None
        else:
            flat.append(operation.operation if isinstance(operation, TensorOperation) else operation)
    if not flat:
        raise ValueError("map: operations are missing: need one or more")
    return flat


def one_operation(op: str, operation: Any) -> Any:
    """An operation for the engine, of those that take several."""
    if isinstance(operation, TensorOperation) and not operation.makes_pictures:
        return operation.operation
    if isinstance(operation, Compose):
        return _data.compose(flatten_operations(operation))
    if callable(operation):
        return operation
    raise TypeError(
        f"{op}: an operation has the wrong type: got {type(operation).__name__}, need a transform"
    )


class Compose:
    """Several transforms or callables as one."""

    def __init__(self, transforms: Sequence[Callable]):
        flatten_operations(transforms)
        if not isinstance(transforms, (list, tuple)):
            raise TypeError(
                f"Compose: 'transforms' have the wrong type: got {type(transforms).__name__}, need a list"
            )
        self.transforms = list(transforms)

    def __call__(self, *values: Any) -> Any:
        for transform in self.transforms:
            result = transform(*values)
            values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values


class TypeCast(TensorOperation):
    """To another element type."""

    def __init__(self, data_type: Any):
        self.data_type = data_type
        self.build()

    def build(self) -> Any:
        return _data.type_cast(self.data_type)


class OneHot(TensorOperation):
    """A label to a vector with the rest of `smoothing_rate` on the label and that spread over all."""

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0):
        self.num_classes = integer("OneHot", "num_classes", num_classes, 1)
        self.smoothing_rate = float(smoothing_rate)
        self.build()

    def build(self) -> Any:
        return _data.one_hot(self.num_classes, self.smoothing_rate)


class PadEnd(TensorOperation):
    """To another shape: ends are filled or cut off; None keeps the extent of an axis."""

    def __init__(self, pad_shape: Sequence[int | None], pad_value: float | None = None):
        if not isinstance(pad_shape, (list, tuple)):
            raise TypeError(
                f"PadEnd: pad_shape has the wrong type: got {type(pad_shape).__name__}, need a list of int"
            )
        self.pad_shape = [-1 if n is None else integer("PadEnd", "pad_shape", n, 1) for n in pad_shape]
        self.pad_value = 0.0 if pad_value is None else _number("PadEnd", "pad_value", pad_value)

    def build(self) -> Any:
        return _data.pad_end(self.pad_shape, self.pad_value)


class Fill(TensorOperation):
    """Every element becomes `fill_value`; type and shape stay."""

    def __init__(self, fill_value: float):
        self.fill_value = _number("Fill", "fill_value", fill_value)

    def build(self) -> Any:
        return _data.fill(self.fill_value)


class Relational(enum.IntEnum):
    """Comparisons of Mask."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARISONS = {
    Relational.EQ: 0,
    Relational.NE: 1,
    Relational.LT: 2,
    Relational.LE: 3,
    Relational.GT: 4,
    Relational.GE: 5,
}


class Mask(TensorOperation):
    """True where an element compares so with `constant`."""

    def __init__(self, operator: Relational, constant: float, dtype: Any = numpy.bool_):
        if not isinstance(operator, Relational):
            raise TypeError(
                f"Mask: operator has the wrong type: got {type(operator).__name__}, need a Relational"
            )
        self.operator = operator
        self.constant = _number("Mask", "constant", constant)
        self.dtype = dtype
        self.build()

    def build(self) -> Any:
        return _data.mask(_COMPARISONS[self.operator], self.constant, self.dtype)


class Slice(TensorOperation):
    """Parts of an array, an argument for each axis: a slice, places, one place, or ... or None for all."""

    def __init__(self, *slices: Any):
        for part in slices:
            several = isinstance(part, (list, tuple))
            if not several and part is not None and not isinstance(part, (slice, int, type(...))):
                raise TypeError(
                    f"Slice: a slice has the wrong type: got {type(part).__name__}, need a slice, int or list"
                )
            for place in part if several else ():
                integer("Slice", "slices", place)
        self.slices = list(slices)

    def build(self) -> Any:
        return _data.slice(self.slices)

    def __getstate__(self) -> dict[str, Any]:
        parts = [("slice", s.start, s.stop, s.step) if isinstance(s, slice) else s for s in self.slices]
        return {"parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = state["parts"]
        self.slices = [slice(*p[1:]) if isinstance(p, tuple) and p[:1] == ("slice",) else p for p in parts]


class Concatenate(TensorOperation):
    """All values joined to one, with an array before and one behind; arrays of rank 1."""

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None):
        if integer("Concatenate", "axis", axis) not in (0, -1):
            raise ValueError(f"Concatenate: axis is out of range: got {axis}, need 0 or -1")
        self.prepend, self.append = prepend, append
        self.build()

    def build(self) -> Any:
        return _data.concatenate(self.prepend, self.append)

    def __call__(self, *inputs: Any) -> Any:
        return self.operation(*inputs)


class Duplicate(TensorOperation):
    """A value twice."""

    def build(self) -> Any:
        return _data.duplicate()


class Unique(TensorOperation):
    """The different numbers, sorted; for each element its place among them; and how often each comes."""

    def build(self) -> Any:
        return _data.unique()


class _Several(TensorOperation):
    """Base of what chooses among transforms."""

    def __init__(self, transforms: Sequence[Callable]):
        op = type(self).__name__
        if not isinstance(transforms, (list, tuple)):
            raise TypeError(
                f"{op}: transforms have the wrong type: got {type(transforms).__name__}, need a list"
            )
        self.transforms = list(transforms)
        self.build()

    def operations(self) -> list[Any]:
        """What the engine runs."""
        return [one_operation(type(self).__name__, transform) for transform in self.transforms]

    def __call__(self, *inputs: Any) -> Any:
        return self.operation(*(as_value(value) for value in inputs))


class RandomApply(_Several):
    """All of the transforms with this probability, else none."""

    def __init__(self, transforms: Sequence[Callable], prob: float = 0.5):
        self.prob = _number("RandomApply", "prob", prob)
        super().__init__(transforms)

    def build(self) -> Any:
        return _data.random_apply(self.operations(), self.prob)


class RandomChoice(_Several):
    """One of the transforms, each equally likely."""

    def build(self) -> Any:
        return _data.random_choice(self.operations())


class RandomOrder(_Several):
    """All of the transforms, in random order."""

    def build(self) -> Any:
        return _data.random_order(self.operations())


def _number(op: str, argument: str, value: Any) -> float:
    if not isinstance(value, (bool, int, float, numpy.number, numpy.bool_)):
        raise TypeError(f"{op}: {argument} has the wrong type: got {type(value).__name__}, need a number")
    return float(value)
