"""What devices there are, under MindSpore's older names: one, the CPU. Memory and streams are those of
`sorus.runtime`; a `device_target` that is given must be one that MindSpore knows.

>>> from sorus import hal
>>> hal.device_count("CPU"), hal.is_available("GPU")
(1, False)
"""

from . import _core, runtime
from .runtime import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    set_cur_stream,
    synchronize,
)

_TARGETS = ("CPU", "GPU", "Ascend")


def _target(device_target, what):
    if device_target is not None and device_target not in _TARGETS:
        raise ValueError(f"{what}: unknown 'device_target': got {device_target!r}, need one of {_TARGETS}")
    return "CPU" if device_target is None else device_target


def is_available(device_target):
    """Whether there are devices of that kind: of "CPU" alone."""
    return _target(device_target, "is_available") == "CPU"


def is_initialized(device_target):
    """The same."""
    return _target(device_target, "is_initialized") == "CPU"


def device_count(device_target=None):
    """The number of devices of that kind."""
    return int(_target(device_target, "device_count") == "CPU")


def get_device_name(device_id, device_target=None):
    """The name of a device. Raises ValueError where there is none."""
    if device_id != 0 or not device_count(device_target):
        raise ValueError(
            f"get_device_name: no such device: got {device_id} of {device_target}, need 0 of CPU"
        )
    return "CPU"


def get_device_properties(device_id, device_target=None):
    """What the processor offers, as a text."""
    get_device_name(device_id, device_target)
    return _core.describe_cpu()


def _of_memory(name):
    function = getattr(runtime, name)

    def told(device_target=None):
        _target(device_target, name)
        return function()

    told.__name__ = told.__qualname__ = name
    told.__doc__ = function.__doc__
    return told


empty_cache = runtime.empty_cache
memory_allocated = _of_memory("memory_allocated")
max_memory_allocated = _of_memory("max_memory_allocated")
memory_reserved = _of_memory("memory_reserved")
memory_stats = _of_memory("memory_stats")
memory_summary = _of_memory("memory_summary")
reset_max_memory_allocated = _of_memory("reset_max_memory_allocated")
reset_peak_memory_stats = _of_memory("reset_peak_memory_stats")

__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "set_cur_stream",
    "synchronize",
]
