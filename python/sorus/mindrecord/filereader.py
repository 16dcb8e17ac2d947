"""Reading MindRecord files row by row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .._core import mindrecord as _core
from ._checks import RuntimeErrors, check_consumers, check_files
from .common.exceptions import ParamTypeError

__all__ = ["FileReader"]


class FileReader:
    """Reads the rows of the set that a file belongs to, or of just the files listed, in order.

    `columns` are the fields to read; without them all.
    """

    def __init__(
        self,
        file_name: str | list[str],
        num_consumer: int = 4,
        columns: list[str] | None = None,
        operator: Any = None,
    ):
        files = check_files(file_name)
        check_consumers(num_consumer)
        if columns and not isinstance(columns, list):
            raise ParamTypeError("columns", "list")
        with RuntimeErrors():
            self._reader = _core.Reader(files, columns or [])
        self._next = 0

    def get_next(self) -> Iterator[dict[str, Any]]:
        """The rows that have not been read yet, as dicts: numbers, strings, bytes, and arrays of NumPy."""
        reader = self._opened()
        while self._next < reader.rows():
            self._next += 1
            with RuntimeErrors():
                row = reader.read(self._next - 1)
            yield row

    def schema(self) -> dict[str, dict]:
        """The fields and their types."""
        return json.loads(self._opened().schema())

    def len(self) -> int:
        """The number of rows."""
        return self._opened().rows()

    def close(self) -> None:
        """Closes the files; nothing can be read any more."""
        self._reader = None

    def _opened(self) -> Any:
        if self._reader is None:
            raise RuntimeError(
                "FileReader: the files are closed: got a call after close(), need a new FileReader"
            )
        return self._reader
