"""Schemas: what columns the rows of a source have."""

from __future__ import annotations

import json
import os
from typing import Any

from .. import common as _common
from .._core import data as _data
from ._arguments import integer, text

__all__ = ["Schema"]


class Schema:
    """Columns with their types and shapes, made by hand or read from a JSON file.

    >>> import sorus as ms
    >>> import sorus.dataset as ds
    >>> schema = ds.Schema()
    >>> schema.add_column("image", ms.uint8, [28, 28])
    >>> print(schema.to_json().split()[0])
    {
    """

    def __init__(self, schema_file: str | os.PathLike | None = None):
        self.columns = _data.RecordSchema()
        if schema_file is None:
            return
        if not isinstance(schema_file, (str, os.PathLike)):
            raise TypeError(
                f"Schema: schema_file has the wrong type: got {type(schema_file).__name__}, need a path"
            )
        if not os.path.isfile(schema_file):
            raise ValueError(
                f"Schema: schema_file cannot be read: got {os.fspath(schema_file)!r}, need a file"
            )
        with open(schema_file, "rb") as file:
            content = file.read()
        try:
            self.columns.read(content.decode())
        except (ValueError, TypeError) as error:
            raise RuntimeError(f"Schema: file {os.fspath(schema_file)!r} is no schema: {error}") from None

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """One more column; without `shape` rank 1 of any length."""
        if not text("Schema", "name", name):
            raise TypeError("Schema: name is missing: got an empty str, need one")
        kind = "string" if de_type in (_common.dtype.string, "string") else _name_of(de_type)
        if shape is not None and not isinstance(shape, list):
            raise TypeError(
                f"Schema: shape has the wrong type: got {type(shape).__name__}, need a list of int"
            )
        extents = None if shape is None else [integer("Schema", "shape", extent) for extent in shape]
        self.columns.add_column(name, kind, extents)

    def parse_columns(self, columns: Any) -> None:
        """More columns, from a list of dicts with name, type and shape or a dict of dicts by name."""
        if not isinstance(columns, (dict, list, tuple)):
            raise RuntimeError(
                f"Schema: columns have the wrong type: got {type(columns).__name__}, need a dict or a list"
            )
        self._run(self.columns.add_columns, columns)

    def from_json(self, json_obj: Any) -> None:
        """What a schema file says, from its parsed JSON."""
        self._run(self.columns.read, json_obj)

    def to_json(self) -> str:
        """The content of a schema file that says the same."""
        return self.columns.to_json()

    def __str__(self) -> str:
        return self.to_json()

    @staticmethod
    def get_num_rows(schema: Any) -> int:
        """How many rows a schema, or its file, names; 0: none."""
        return (schema if isinstance(schema, Schema) else Schema(schema)).columns.num_rows

    @staticmethod
    def _run(read: Any, content: Any) -> None:
        try:
            read(json.dumps(content))
        except (ValueError, TypeError) as error:
            raise RuntimeError(str(error)) from None


def _name_of(de_type: Any) -> str:
    """The name of a dtype."""
    try:
        return (
            str(_common.dtype.dtype_to_nptype(de_type).__name__) if not isinstance(de_type, str) else de_type
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise TypeError(f"Schema: de_type is no dtype: got {de_type!r}, need one") from None
