"""Checks of arguments, and errors of files as MindSpore raises them."""

from __future__ import annotations

import os
from typing import Any

from .common.exceptions import ParamValueError

_FORBIDDEN = set("\\/:*?\"<>|`&';")
_MOST_CONSUMERS = 128


def check_filename(path: Any) -> str:
    """A name that a data file may have."""
    if not path:
        raise ParamValueError("File path is not allowed None or empty!")
    if not isinstance(path, str):
        raise ParamValueError(f"File path: {path} is not string.")
    if path.endswith("/"):
        raise ParamValueError("File path can not end with '/'")
    name = os.path.basename(path)
    if set(name) & _FORBIDDEN:
        raise ParamValueError("File name should not contains \\/:*?\"<>|`&;'")
    if name.startswith(" ") or name.endswith(" "):
        raise ParamValueError("File name should not start/end with space.")
    return path


def check_files(file_name: Any) -> str | list[str]:
    """One name or a list of names."""
    if isinstance(file_name, list):
        return [check_filename(name) for name in file_name]
    return check_filename(file_name)


def check_consumers(num_consumer: Any) -> None:
    """A number of threads; reading uses those of the process."""
    if num_consumer is None:
        raise ParamValueError("Parameter num_consumer is None.")
    if not isinstance(num_consumer, int):
        raise ParamValueError("Parameter num_consumer is not int.")
    most = min(_MOST_CONSUMERS, os.cpu_count() or 1)
    # More threads than this machine has are no mistake of a program written for another.
    if not 1 <= num_consumer <= max(most, _MOST_CONSUMERS):
        raise ParamValueError(
            f"Parameter num_consumer: {num_consumer} should between 1 and {_MOST_CONSUMERS}."
        )


class RuntimeErrors:
    """While it is entered, what is wrong with a file, a value or a name becomes a RuntimeError."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (OSError, ValueError, KeyError)):
            raise RuntimeError(error.args[0] if isinstance(error, KeyError) else str(error)) from None
