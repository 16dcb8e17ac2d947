"""What calls of MindRecord return."""

import enum

__all__ = ["FAILED", "SUCCESS"]


class _Status(enum.IntEnum):
    SUCCESS = 0
    FAILED = 1


SUCCESS = _Status.SUCCESS
FAILED = _Status.FAILED
