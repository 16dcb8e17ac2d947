"""Primitives that say what a network wants recorded, and what they have said since the last record.

Values are kept while a SummaryRecord is open: the newest of each kind and name, as handles, so that a value
of graph mode is computed with its segment and read when it is recorded.
"""

import threading

from .. import _core, _functions as F
from .._core import Tensor
from .primitive import Primitive

_lock = threading.Lock()
_said = None  # values by (plugin, name); None while nobody records


def check(what, plugin, value):
    """Throws TypeError or ValueError unless `value` can be recorded by that plugin."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{what}: 'value' has the wrong type: got {type(value).__name__}, need a Tensor")
    if plugin == "scalar":
        if value.size != 1:
            raise ValueError(f"{what}: 'value' is no scalar: got {value.size} elements, need 1")
    elif plugin == "image":
        if value.ndim != 4:
            raise ValueError(f"{what}: 'value' is no image: got the shape {value.shape}, need (N, C, H, W)")
    elif value.ndim == 0:
        raise ValueError(f"{what}: 'value' has the wrong rank: got a scalar, need a rank of 1 or more")


def held(value):
    """The value as it is now, without its gradient: whatever becomes of the handle."""
    return F.stop_gradient(value)


def listen(on):
    """Begins to keep values, with none, or ends."""
    global _said
    with _lock:
        _said = {} if on else None


def take():
    """The values kept, by (plugin, name), which are kept no longer."""
    global _said
    with _lock:
        taken, _said = _said or {}, None if _said is None else {}
    return taken


class _Summary(Primitive):
    """Has a value recorded under a name, at the step at which the open SummaryRecord records next."""

    _plugin = ""

    def __init__(self):
        super().__init__(type(self).__name__)

    def __call__(self, name, value):
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"{self.name}: 'name' has the wrong type: got {name!r}, need a str that is not empty"
            )
        check(self.name, self._plugin, value)
        if _said is None:
            return
        if _core.is_abstract():
            raise NotImplementedError(
                f"{self.name}: '{name}' cannot be recorded here: got a call in a function that is traced "
                "without values (cond, scan, while_loop), need it outside"
            )
        value = held(value)
        with _lock:
            if _said is not None:
                _said[self._plugin, name] = value


class ScalarSummary(_Summary):
    """Has a tensor of one element recorded: `ScalarSummary()("loss", loss)`.

    Of several values under one name the last before the record counts.
    """

    _plugin = "scalar"


class ImageSummary(_Summary):
    """Has images (N, C, H, W) recorded, C being 1 or 3: `ImageSummary()("input", x)`."""

    _plugin = "image"


class TensorSummary(_Summary):
    """Has a tensor of rank 1 or more recorded: `TensorSummary()("weight", w)`."""

    _plugin = "tensor"


class HistogramSummary(_Summary):
    """Has the distribution of a tensor of rank 1 or more recorded: `HistogramSummary()("weight", w)`."""

    _plugin = "histogram"
