"""Writing MindRecord files."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from .._core import mindrecord as _core
from .._warn import warn
from ._checks import RuntimeErrors, check_filename
from .common.exceptions import (
    MRMAddSchemaError,
    MRMBuildSchemaError,
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidSchemaError,
    ParamTypeError,
    ParamValueError,
)
from .status import SUCCESS

__all__ = ["FileWriter"]

_MOST_SHARDS = 1000
_NUMBERS = ("int32", "int64", "float32", "float64")
_TYPES = (*_NUMBERS, "string", "bytes")
# Python's types by name, and the types of fields that they fit.
_FITS = {
    "int": ("int32", "int64"),
    "float": ("float32", "float64"),
    "str": ("string",),
    "bytes": ("bytes",),
    "ndarray": _NUMBERS,
    **{name: (name,) for name in _NUMBERS},
}


class FileWriter:
    """Writes rows into one or several files, each with an index beside it, that MindSpore reads too.

    Files have temporary names until commit(); a program that ends before leaves nothing.

    >>> import os, tempfile
    >>> from sorus.mindrecord import FileReader, FileWriter
    >>> name = os.path.join(tempfile.mkdtemp(), "numbers.mindrecord")
    >>> writer = FileWriter(name)
    >>> writer.add_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}}, "example")
    >>> writer.write_raw_data([{"label": i, "data": b"x" * i} for i in range(3)])
    >>> writer.commit()
    >>> [row["label"] for row in FileReader(name).get_next()]
    [0, 1, 2]
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False):
        self._file = check_filename(file_name)
        if not isinstance(shard_num, int) or isinstance(shard_num, bool):
            raise ParamValueError("Parameter shard_num's type is not int.")
        if not 1 <= shard_num <= _MOST_SHARDS:
            raise ParamValueError(
                f"Parameter shard_num's value: {shard_num} should between 1 and {_MOST_SHARDS}."
            )
        if not isinstance(overwrite, bool):
            raise ParamValueError("Parameter overwrite's type is not bool.")
        self._shards = shard_num
        self._overwrite = overwrite
        self._schema: dict[str, dict] | None = None
        self._description = ""
        self._index: list[str] | None = None
        self._header_size = 1 << 24
        self._page_size = 1 << 25
        self._writers: list[Any] = []
        self._parallel: bool | None = None
        self._batches = 0
        self._committed = False

    @classmethod
    def open_for_append(cls, file_name: str) -> FileWriter:
        """Goes on with the files that `file_name` is one of; they stay as they are until commit()."""
        writer = cls(file_name)
        with RuntimeErrors():
            writer._writers = [_core.Writer.append(file_name)]
        writer._schema = json.loads(writer._writers[0].schema())
        writer._parallel = False
        return writer

    def add_schema(self, content: dict[str, dict], desc: str | None = None) -> None:
        """The fields of a row: {name: {"type": ...}}, arrays with a "shape" of which one extent may be -1.

        Types are int32, int64, float32, float64, string and bytes; the first four may have a shape.
        """
        _check_schema(content)
        if self._schema is not None:
            raise MRMAddSchemaError
        try:
            self._schema = json.loads(_core.check_schema(json.dumps(content)))
        except ValueError as error:
            raise MRMBuildSchemaError(str(error)) from None
        self._description = desc or ""

    def add_index(self, index_fields: list[str]) -> None:
        """The fields that can be categories; without a call all numbers and strings."""
        if not index_fields or not isinstance(index_fields, list):
            raise ParamTypeError("index_fields", "list")
        if self._schema is None:
            raise MRMGetMetaError
        for field in index_fields:
            if not isinstance(field, str):
                raise ParamTypeError("index field", "str")
            if field not in self._schema:
                raise RuntimeError(
                    f"add_index: a field is not there: got {field!r}, need one of {', '.join(self._schema)}"
                )
            if self._schema[field]["type"] == "bytes" or "shape" in self._schema[field]:
                raise MRMDefineIndexError(f"Failed to set field {field} since it's not primitive type.")
            if field[0].isdigit():
                raise RuntimeError(
                    "add_index: the name of a field is wrong: "
                    f"got {field!r}, need one that begins with no digit"
                )
        self._index = [*(self._index or []), *(f for f in index_fields if f not in (self._index or []))]

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> None:
        """Writes rows: a value for each field. Rows that do not fit the schema are left out, with a warning.

        Several files get equal parts of the rows. With `parallel_writer` each call's rows go to one file, the
        next after that of the call before, and each file is a set of its own, to be read by a list of files.
        """
        if not isinstance(parallel_writer, bool):
            raise TypeError(
                f"write_raw_data: parallel_writer has the wrong type: got {type(parallel_writer).__name__}, "
                "need bool"
            )
        if not isinstance(raw_data, list):
            raise ParamTypeError("raw_data", "list")
        for row in raw_data:
            if not isinstance(row, dict):
                raise ParamTypeError("raw_data item", "dict")
        if self._committed:
            raise RuntimeError(
                "write_raw_data: the files are committed: got more rows, need open_for_append first"
            )
        if self._parallel not in (None, parallel_writer):
            raise RuntimeError(
                "write_raw_data: parallel_writer has changed: "
                f"got {parallel_writer}, need {self._parallel} as before"
            )
        self._parallel = parallel_writer
        writers = self._open()
        rows = self._fitting(raw_data)
        if not rows:
            raise RuntimeError(
                "write_raw_data: there is nothing to write: got no row that fits the schema, need one or more"
            )
        with RuntimeErrors():
            writers[self._batches % len(writers)].write(rows)
        self._batches += 1

    def set_header_size(self, header_size: int) -> int:
        """Bytes for what the files say of themselves, 16 KiB to 128 MiB: more for more pages."""
        self._header_size = _size("set_header_size", header_size, _core.check_header_size)
        return SUCCESS

    def set_page_size(self, page_size: int) -> int:
        """Bytes of a page, 32 KiB to 256 MiB; the largest row must fit in one."""
        self._page_size = _size("set_page_size", page_size, _core.check_page_size)
        return SUCCESS

    def open_and_set_header(self) -> None:
        """Makes the files now, with what is set so far, instead of at the first rows."""
        self._open()

    def commit(self) -> None:
        """Completes the files and their indexes and gives them their names."""
        writers = self._open()
        with RuntimeErrors():
            for writer in writers:
                writer.commit()
        self._committed = True

    def _open(self) -> list[Any]:
        """The writers of all sets: one, or with `parallel_writer` one for each file."""
        if self._writers:
            return self._writers
        if self._schema is None:
            raise RuntimeError("FileWriter: there is no schema: got no call of add_schema, need one before")
        sets = [(self._file, self._shards)]
        if self._parallel and self._shards > 1:
            width = len(str(self._shards - 1))
            sets = [(f"{self._file}{i:0{width}}", 1) for i in range(self._shards)]
        with RuntimeErrors():
            self._writers = [
                _core.Writer.open(
                    name,
                    json.dumps(self._schema),
                    self._description,
                    self._index,
                    files,
                    self._header_size,
                    self._page_size,
                    self._overwrite,
                )
                for name, files in sets
            ]
        return self._writers

    def _fitting(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows that fit the schema."""
        fitting = []
        for number, row in enumerate(rows):
            wrong = next(
                filter(None, (_misfit(row, name, field) for name, field in self._schema.items())), None
            )
            if wrong is None:
                fitting.append(row)
            else:
                warn(f"write_raw_data: row {number} is left out: {wrong}")
        return fitting


def _size(op: str, size: Any, check: Any) -> int:
    if not isinstance(size, int) or isinstance(size, bool):
        raise TypeError(f"{op}: size has the wrong type: got {type(size).__name__}, need int")
    with RuntimeErrors():
        check(min(size, 2**62))
    return size


def _check_schema(content: Any) -> None:
    """Raises MRMInvalidSchemaError for what is no schema; shapes are looked at later."""
    if not content:
        raise MRMInvalidSchemaError("Schema content is empty.")
    if not isinstance(content, dict):
        raise MRMInvalidSchemaError("Schema content should be dict.")
    for name, field in content.items():
        if not isinstance(name, str) or not re.fullmatch(r"[0-9a-zA-Z_]+", name):
            raise MRMInvalidSchemaError(
                f"Field '{name}' should be composed of '0-9' or 'a-z' or 'A-Z' or '_'."
            )
        if not field or not isinstance(field, dict):
            raise MRMInvalidSchemaError(f"Field '{name}' should be dict.")
        if "type" not in field or set(field) - {"type", "shape"}:
            raise MRMInvalidSchemaError(f"Field '{field}' contains illegal attributes.")
        if field["type"] not in (_NUMBERS if "shape" in field else _TYPES):
            raise MRMInvalidSchemaError(f"Field '{name}' contain illegal attribute '{field['type']}'.")
        if "shape" in field and not isinstance(field["shape"], list):
            raise MRMInvalidSchemaError(f"Field '{name}' contain illegal attribute '{field['shape']}'.")


def _misfit(row: dict[str, Any], name: str, field: dict) -> str | None:
    """Why the value of a row for a field does not fit; None when it does."""
    if name not in row:
        return f"got no field '{name}', need one of type {field['type']}"
    value = row[name]
    kind = type(value).__name__
    if field["type"] not in _FITS.get(kind, ()):
        return f"got {kind} for field '{name}', need {field['type']}"
    if (kind == "ndarray") != ("shape" in field):
        return f"got {kind} for field '{name}', need {'an array' if 'shape' in field else field['type']}"
    if kind != "ndarray":
        return None
    if str(value.dtype) != field["type"]:
        return f"got an array of {value.dtype} for field '{name}', need {field['type']}"
    try:
        np.reshape(value, field["shape"])
    except ValueError:
        return f"got an array of shape {value.shape} for field '{name}', need {field['shape']}"
    return None
