"""Names of filters and borders."""

import enum

__all__ = ["Border", "Inter"]


class Inter(enum.IntEnum):
    """Filters of resizing."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(str, enum.Enum):
    """How an image goes on outside its border."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"
