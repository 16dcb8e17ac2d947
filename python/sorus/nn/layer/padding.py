"""Layers that add borders."""

from ... import ops
from ..cell import Cell


class _Pad(Cell):
    """Widths (left, right, top, bottom, ...) of the last axes, or one for all."""

    _axes = 2
    _mode = "constant"

    def __init__(self, padding, value=0):
        super().__init__()
        if isinstance(padding, bool) or not isinstance(padding, (int, tuple)):
            raise TypeError(
                f"{type(self).__name__}: 'padding' has the wrong type: got {padding!r}, "
                "need an int or a tuple of ints"
            )
        self.padding = (padding,) * (2 * self._axes) if isinstance(padding, int) else padding
        if len(self.padding) % 2 or len(self.padding) > 2 * self._axes:
            raise ValueError(
                f"{type(self).__name__}: 'padding' has the wrong length: got {padding}, need pairs"
            )
        self.value = value

    def construct(self, x):
        return ops.pad(x, self.padding, self._mode, self.value if self._mode == "constant" else None)


def _make(name, axes, mode):
    return type(
        name, (_Pad,), {"_axes": axes, "_mode": mode, "__doc__": _Pad.__doc__, "__module__": __name__}
    )


ConstantPad1d = _make("ConstantPad1d", 1, "constant")
ConstantPad2d = _make("ConstantPad2d", 2, "constant")
ConstantPad3d = _make("ConstantPad3d", 3, "constant")
ReflectionPad1d = _make("ReflectionPad1d", 1, "reflect")
ReflectionPad2d = _make("ReflectionPad2d", 2, "reflect")
ReflectionPad3d = _make("ReflectionPad3d", 3, "reflect")
ReplicationPad1d = _make("ReplicationPad1d", 1, "replicate")
ReplicationPad2d = _make("ReplicationPad2d", 2, "replicate")
ReplicationPad3d = _make("ReplicationPad3d", 3, "replicate")


class ZeroPad2d(ConstantPad2d):
    """Zeros around an image."""

    def __init__(self, padding):
        super().__init__(padding, 0)
