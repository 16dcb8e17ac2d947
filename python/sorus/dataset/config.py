"""Settings of the data engine.

`set_seed` fixes the order of rows and the draws of random transforms, and seeds Python's and NumPy's
generators.
`set_prefetch_size` bounds how many rows wait for the reader. `set_callback_timeout` bounds how long the
reader waits for a closed `sync_wait`, which is an error then; with `set_opens_late_gates` the gate opens.
`set_multiprocessing_start_method` tells how processes for Python functions begin, and `set_debug_mode` keeps
such functions in this process. The other settings are kept and given back: they
steer workers, watchdogs and memory in a way that this engine has no use for.
"""

from __future__ import annotations

import enum
import inspect
import json
import random
from typing import Any

import numpy

from .. import _core
from ._arguments import flag, integer

__all__ = ["set_seed", "get_seed", "set_prefetch_size", "get_prefetch_size", "load", "ErrorSamplesMode"]

_LARGEST_SEED = 2**32 - 1


class ErrorSamplesMode(enum.IntEnum):
    """What to do with rows that fail."""

    RETURN = 0
    REPLACE = 1
    SKIP = 2


def set_seed(seed: int) -> None:
    """Fixes the random choices of pipelines made from now on, and seeds `random` and `numpy.random`."""
    seed = integer("set_seed", "seed", seed, 0)
    if seed > _LARGEST_SEED:
        raise ValueError(f"set_seed: seed is out of range: got {seed}, need at most {_LARGEST_SEED}")
    _core.data.set_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


def get_seed() -> int:
    """The seed; 5489 stands for none."""
    return _core.data.seed()


def set_prefetch_size(size: int) -> None:
    """How many rows of the last step wait for the reader at most."""
    _core.data.set_prefetch_size(integer("set_prefetch_size", "size", size, 1))


def get_prefetch_size() -> int:
    """How many rows of the last step wait for the reader at most."""
    return _core.data.prefetch_size()


# What settings with an effect are for.
_EFFECTS = {"num_parallel_workers": "how many files of rows are read side by side"}
# name -> (value at the start, accepted type, parameter of the setter)
_KEPT: dict[str, tuple[Any, type, str]] = {
    "num_parallel_workers": (8, int, "num"),
    "auto_num_workers": (False, bool, "enable"),
    "auto_offload": (False, bool, "offload"),
    "autotune_interval": (0, int, "interval"),
    "enable_shared_mem": (True, bool, "enable"),
    "enable_watchdog": (True, bool, "enable"),
    "error_samples_mode": (ErrorSamplesMode.RETURN, ErrorSamplesMode, "error_samples_mode"),
    "fast_recovery": (True, bool, "fast_recovery"),
    "monitor_sampling_interval": (1000, int, "interval"),
    "multiprocessing_timeout_interval": (300, int, "interval"),
    "numa_enable": (False, bool, "numa_enable"),
    "sending_batches": (0, int, "batch_num"),
    "video_backend": (None, str, "backend"),
    "iterator_mode": (None, dict, "mode"),
}
_values = {name: start for name, (start, _, _) in _KEPT.items()}


def _make_pair(name: str, start: Any, kind: type, argument: str) -> None:
    """Defines get_NAME and set_NAME."""
    parameter = inspect.Parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([parameter])

    def get() -> Any:
        return _values[name]

    def set_(*args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"set_{name}: {error}: need '{argument}' alone") from None
        bound.apply_defaults()
        value = bound.arguments[argument]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise TypeError(
                f"set_{name}: {argument} has the wrong type: got {type(value).__name__}, need {kind.__name__}"
            )
        least = 1 if name == "num_parallel_workers" else 0
        if kind is int and value < least:
            raise ValueError(f"set_{name}: {argument} is out of range: got {value}, need {least} or more")
        _values[name] = value

    get.__name__, get.__doc__ = f"get_{name}", f"The setting {name}."
    effect = _EFFECTS.get(name, "which has no effect here")
    set_.__name__, set_.__doc__ = f"set_{name}", f"Keeps the setting {name}, {effect}."
    set_.__signature__ = signature  # type: ignore[attr-defined]
    globals()[get.__name__], globals()[set_.__name__] = get, set_
    __all__.extend([get.__name__, set_.__name__])


for _name, _row in _KEPT.items():
    _make_pair(_name, *_row)

_start_method = "fork"


def set_multiprocessing_start_method(start_method: str = "fork") -> None:
    """How processes for Python functions begin: "fork", or "spawn", which starts the program anew in each, so
    that functions must be importable.
    """
    global _start_method
    if not isinstance(start_method, str):
        raise TypeError(
            "set_multiprocessing_start_method: start_method has the wrong type: "
            f"got {type(start_method).__name__}, need str"
        )
    if start_method not in ("fork", "spawn"):
        raise ValueError(
            "set_multiprocessing_start_method: start_method is unknown: "
            f"got {start_method!r}, need 'fork' or 'spawn'"
        )
    _start_method = start_method


def get_multiprocessing_start_method() -> str:
    """How processes for Python functions begin."""
    return _start_method


_callback_timeout = 60
_opens_late_gates = False


def set_callback_timeout(timeout: int) -> None:
    """How many seconds a reader waits for a row that sync_wait holds back, before that is an error."""
    global _callback_timeout
    timeout = integer("set_callback_timeout", "timeout", timeout, 1)
    _core.data.set_gate_timeout(timeout, _opens_late_gates)
    _callback_timeout = timeout


def get_callback_timeout() -> int:
    """How many seconds a reader waits for a row that sync_wait holds back."""
    return _callback_timeout


def set_opens_late_gates(enable: bool) -> None:
    """Whether a sync_wait that is late opens for good, as in MindSpore, instead of an error."""
    global _opens_late_gates
    enable = flag("set_opens_late_gates", "enable", enable)
    _core.data.set_gate_timeout(_callback_timeout, enable)
    _opens_late_gates = enable


def get_opens_late_gates() -> bool:
    """Whether a sync_wait that is late opens."""
    return _opens_late_gates


_autotune = False
_debug = False


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Keeps the setting, which has no effect here: the engine takes the workers there are."""
    global _autotune
    _autotune = bool(enable)


def get_enable_autotune() -> bool:
    """What set_enable_autotune kept."""
    return _autotune


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: list | None = None) -> None:
    """Python functions of pipelines made from now on run in this process, whatever they ask for."""
    global _debug
    if not isinstance(debug_mode_flag, bool):
        raise TypeError(
            f"set_debug_mode: debug_mode_flag has the wrong type: got {type(debug_mode_flag).__name__}, "
            "need bool"
        )
    _debug = debug_mode_flag


def get_debug_mode() -> bool:
    """What set_debug_mode kept."""
    return _debug


def load(file: str) -> None:
    """Takes settings from a JSON file: {"seed": 1, "prefetchSize": 2, ...}; prefetch_size works too."""
    with open(file, encoding="utf-8") as stream:
        settings = json.load(stream)
    for key, value in settings.items():
        name = "".join("_" + c.lower() if c.isupper() else c for c in key)
        setter = globals().get(f"set_{name}")
        if setter is not None:
            setter(value)


__all__ += ["set_multiprocessing_start_method", "get_multiprocessing_start_method"]
__all__ += ["set_callback_timeout", "get_callback_timeout", "set_opens_late_gates", "get_opens_late_gates"]
__all__ += ["set_enable_autotune", "get_enable_autotune", "set_debug_mode", "get_debug_mode"]
