"""Reading MindRecord files by category."""

from __future__ import annotations

import json
from typing import Any

from .._core import mindrecord as _core
from ._checks import RuntimeErrors, check_consumers, check_files
from .common.exceptions import MRMDefineCategoryError, ParamTypeError, ParamValueError

__all__ = ["MindPage"]


class MindPage:
    """Reads rows that have one value of an index field, a page of them at a time."""

    def __init__(self, file_name: str | list[str], num_consumer: int = 4):
        files = check_files(file_name)
        check_consumers(num_consumer)
        with RuntimeErrors():
            self._reader = _core.Reader(files, [])
        self._field: str | None = None

    @property
    def candidate_fields(self) -> list[str]:
        """The index fields."""
        return self._reader.index_fields()

    @property
    def category_field(self) -> str | None:
        """The index field by whose values rows are read."""
        return self._field

    @category_field.setter
    def category_field(self, category_field: str) -> None:
        if not category_field or not isinstance(category_field, str):
            raise ParamTypeError("category_fields", "str")
        if category_field not in self.candidate_fields:
            raise MRMDefineCategoryError(f"Field '{category_field}' is not a candidate category field.")
        self._field = category_field

    def get_category_fields(self) -> list[str]:
        """The index fields."""
        return self.candidate_fields

    def set_category_field(self, category_field: str) -> None:
        """Chooses the index field by whose values rows are read."""
        self.category_field = category_field

    def read_category_info(self) -> str:
        """The values of the field, ordered by their texts, as JSON: each with its count and its id."""
        categories = [
            {"count": count, "id": i, "name": name} for i, (name, count) in enumerate(self._categories())
        ]
        info = {"categories": categories, "key": f"{self._field}_0"}
        return json.dumps(info, ensure_ascii=False, separators=(",", ":"))

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict[str, Any]]:
        """Page number `page` of `num_row` rows each, of the value with this id in read_category_info()."""
        _check_int("Category id", category_id)
        _check_page(page, num_row)
        names = [name for name, _ in self._categories()]
        if category_id >= len(names):
            raise RuntimeError(
                "read_at_page_by_id: category_id is out of range: "
                f"got {category_id}, need 0 to {len(names) - 1}"
            )
        return self._page("read_at_page_by_id", names[category_id], page, num_row)

    def read_at_page_by_name(self, category_name: str, page: int, num_row: int) -> list[dict[str, Any]]:
        """Page number `page` of `num_row` rows each, of a value."""
        if not isinstance(category_name, str):
            raise ParamValueError("Category name should be str.")
        _check_page(page, num_row)
        if category_name not in (name for name, _ in self._categories()):
            raise RuntimeError(
                f"read_at_page_by_name: category is not there: got {category_name!r}, need a name that "
                "read_category_info gives"
            )
        return self._page("read_at_page_by_name", category_name, page, num_row)

    def _categories(self) -> list[tuple[str, int]]:
        if self._field is None:
            raise RuntimeError("MindPage: there is no category field: got None, need one of candidate_fields")
        with RuntimeErrors():
            return self._reader.categories(self._field)

    def _page(self, op: str, name: str, page: int, num_row: int) -> list[dict[str, Any]]:
        with RuntimeErrors():
            rows = self._reader.rows_of_category(self._field, name)
            if page * num_row >= len(rows):
                raise RuntimeError(
                    f"{op}: page is out of range: got page {page} of {num_row} rows, "
                    f"need one of the {len(rows)} rows"
                )
            return [self._reader.read(row) for row in rows[page * num_row : (page + 1) * num_row]]


def _check_int(what: str, value: Any) -> None:
    if not isinstance(value, int) or value < 0:
        raise ParamValueError(f"{what} should be int and greater than or equal to 0.")


def _check_page(page: Any, num_row: Any) -> None:
    _check_int("Page", page)
    if not isinstance(num_row, int) or num_row <= 0:
        raise ParamValueError("num_row should be int and greater than 0.")
