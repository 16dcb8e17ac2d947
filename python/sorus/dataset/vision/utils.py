"""Names of filters and borders."""

import enum

__all__ = ["Border", "ConvertMode", "Inter"]


class Inter(enum.IntEnum):
    """Filters of resizing."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class ConvertMode(enum.IntEnum):
    """Conversions of colors."""

    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7


class Border(str, enum.Enum):
    """How an image goes on outside its border."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"
