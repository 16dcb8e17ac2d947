"""Transforms of any data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..._core import data as _data
from ..._errors import told_by_constructor
from .._arguments import integer

__all__ = ["Compose", "OneHot", "TypeCast"]


class TensorOperation:
    """Base of transforms of the engine: callable on one value, and a step of `map`.

    Subclasses keep their arguments and make the engine's operation from them in `build`, so they can be
    copied and pickled.
    """

    _operation: Any = None

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

    def __call__(self, *inputs: Any) -> Any:
        results = tuple(self.operation(as_value(value)) for value in inputs)
        return results[0] if len(results) == 1 else results


def as_value(value: Any) -> Any:
    """An image of the Python Imaging Library as an array; anything else as it is."""
    is_picture = hasattr(value, "tobytes") and hasattr(value, "getbands")
    return numpy.asarray(value) if is_picture else value


def flatten_operations(operations: Any) -> list[Any]:
    """Operations for the engine: its own, and Python callables."""
    if not isinstance(operations, (list, tuple)):
        operations = [operations]
    flat: list[Any] = []
    for operation in operations:
        if isinstance(operation, Compose):
            flat.extend(flatten_operations(operation.transforms))
        elif isinstance(operation, TensorOperation):
            flat.append(operation.operation)
        elif callable(operation):
            flat.append(operation)
        else:
            raise TypeError(
                f"map: operation has the wrong type: got {type(operation).__name__}, need a transform or a "
                "callable"
            )
    if not flat:
        raise ValueError("map: operations are missing: need one or more")
    return flat


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
