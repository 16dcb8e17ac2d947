"""Streams, events and memory under MindSpore's names. There is one device, the CPU, and one stream: calls
are computed in their order, and what is asked for is there when a call outside compiled functions returns.

>>> from sorus import ops, runtime
>>> x = ops.ones((256, 256))
>>> runtime.memory_allocated() >= 256 * 256 * 4
True
"""

import time

from . import _context, _core

__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "dispatch_threads_num",
    "empty_cache",
    "launch_blocking",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "set_cpu_affinity",
    "set_cur_stream",
    "set_kernel_launch_group",
    "set_memory",
    "synchronize",
]


class Event:
    """A moment in a stream: `record()` takes it, `elapsed_time(end)` gives milliseconds between two.

    `enable_timing` allows elapsed_time; `blocking` changes nothing.

    >>> from sorus import runtime
    >>> begin, end = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    >>> begin.record()
    >>> end.record()
    >>> begin.elapsed_time(end) >= 0
    True
    """

    def __init__(self, enable_timing=False, blocking=False):
        for name, value in (("enable_timing", enable_timing), ("blocking", blocking)):
            if not isinstance(value, bool):
                raise TypeError(
                    f"Event: '{name}' has the wrong type: got {type(value).__name__}, need a bool"
                )
        self._timed, self._moment = enable_timing, None

    def record(self, stream=None):
        """Takes the moment."""
        _check_stream(stream, "Event.record")
        self._moment = time.perf_counter()

    def elapsed_time(self, end_event):
        """Milliseconds from this event to the other. Raises RuntimeError where one was not recorded, or made
        without timing.
        """
        for event in (self, end_event):
            if not event._timed or event._moment is None:
                raise RuntimeError(
                    "Event: time is not known: got an event without, need both timed and recorded"
                )
        return (end_event._moment - self._moment) * 1000.0

    def query(self):
        """Whether what was called before is computed: True."""
        return True

    def synchronize(self):
        """Waits for what was called before; nothing is left to wait for."""

    def wait(self, stream=None):
        """Lets a stream wait; nothing is left to wait for."""
        _check_stream(stream, "Event.wait")


class Stream:
    """The order in which calls are computed; all streams are one. `priority` and others change nothing."""

    def __init__(self, priority=0, **kwargs):  # noqa: ARG002
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(
                f"Stream: 'priority' has the wrong type: got {type(priority).__name__}, need an int"
            )
        self.device_name, self.device_id, self.id = "CPU", 0, 0

    def query(self):
        """Whether what was called before is computed: True."""
        return True

    def record_event(self, event=None):
        """Takes the moment in the event, or in a new one, which it gives back."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def synchronize(self):
        """Waits for what was called before; nothing is left to wait for."""

    def wait_event(self, event):
        """Waits for an event; nothing is left to wait for."""
        event.wait(self)

    def wait_stream(self, stream):
        """Waits for a stream; nothing is left to wait for."""
        _check_stream(stream, "Stream.wait_stream")

    def __eq__(self, other):
        return isinstance(other, Stream) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})"


def _check_stream(stream, what):
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"{what}: 'stream' has the wrong type: got {type(stream).__name__}, need a Stream")


class StreamCtx:
    """`with StreamCtx(stream):` computes in a stream, or where it is None as ever."""

    def __init__(self, ctx_stream):
        _check_stream(ctx_stream, "StreamCtx")
        self.stream = ctx_stream

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


_stream = Stream()


def current_stream():
    """The stream in which calls are computed."""
    return _stream


def default_stream():
    """The same stream."""
    return _stream


def communication_stream():
    """The same stream."""
    return _stream


def set_cur_stream(stream):
    """Accepted for compatibility: all streams are one."""
    _check_stream(stream, "set_cur_stream")


def synchronize():
    """Waits for what was called before; nothing is left to wait for."""


def launch_blocking():
    """Accepted for compatibility: calls return when they are computed."""


def memory_allocated():
    """Bytes that tensors and what computes them hold now."""
    return _core.memory_stats()["live"]


def max_memory_allocated():
    """The most bytes that they held at once since the start or `reset_max_memory_allocated`."""
    return _core.memory_stats()["peak"]


def memory_reserved():
    """Bytes obtained from the system: those held and those kept for reuse."""
    return _core.memory_stats()["reserved"]


def reset_max_memory_allocated():
    """Begins the largest number anew with what is held now."""
    _core.reset_peak_memory()


def reset_peak_memory_stats():
    """The same."""
    _core.reset_peak_memory()


def empty_cache():
    """Gives memory that is kept for reuse back to the system."""
    _core.release_cached_memory()


def ms_memory_recycle():
    """The same, under the name that stands in `sorus` itself."""
    _core.release_cached_memory()


def memory_stats():
    """Numbers of bytes by name."""
    found = _core.memory_stats()
    return {
        "total_reserved_memory": found["reserved"],
        "total_allocated_memory": found["live"],
        "total_idle_memory": found["cached"],
        "max_allocated_memory": found["peak"],
    }


def memory_summary():
    """The same numbers as a text."""
    lines = [f"{name.replace('_', ' ')}: {value} bytes" for name, value in memory_stats().items()]
    return "\n".join(["memory of the CPU", *lines])


def set_memory(
    init_size="2GB",  # noqa: ARG001
    increase_size="2GB",  # noqa: ARG001
    max_size="1024GB",
    optimize_level="O0",
    huge_page_reserve_size="0GB",  # noqa: ARG001
):
    """Limits memory to `max_size`, as "8GB", like `set_context(max_device_memory=...)`. Other sizes are
    accepted for compatibility.
    """
    if optimize_level not in ("O0", "O1"):
        raise ValueError(f"set_memory: unknown 'optimize_level': got {optimize_level!r}, need 'O0' or 'O1'")
    _context.set_context(max_device_memory=max_size)


def dispatch_threads_num(threads_num):
    """Accepted for compatibility: threads are counted by `set_context(runtime_num_threads=...)`."""
    if isinstance(threads_num, bool) or not isinstance(threads_num, int) or threads_num < 1:
        raise ValueError(
            f"dispatch_threads_num: 'threads_num' is out of range: got {threads_num!r}, need an int above 0"
        )


def set_cpu_affinity(enable_affinity, affinity_cpu_list=None, module_to_cpu_dict=None):  # noqa: ARG001
    """Accepted for compatibility: threads stay where the system puts them."""


def set_kernel_launch_group(thread_num=2, kernel_group_num=8):
    """Accepted for compatibility: the order of calls is the library's own."""
