"""What transforms of sound have in common."""

from __future__ import annotations

from typing import Any

from ..._core import data as _data
from ..transforms.transforms import TensorOperation
from .utils import Bank, Frames


class AudioTensorOperation(TensorOperation):
    """Base of transforms of sound: the name of what makes the engine's operation, and its arguments."""

    _maker = ""
    _arguments: tuple = ()

    def keep(self, *arguments: Any) -> None:
        """Keeps the arguments and makes the operation, so that what is wrong with them is told at once."""
        self._arguments = arguments
        self._operation = self.build()

    def build(self) -> Any:
        arguments = [a.make() if isinstance(a, (Bank, Frames)) else a for a in self._arguments]
        return getattr(_data, self._maker)(*arguments)
