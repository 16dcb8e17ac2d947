"""The settings of a process: `set_context(mode=PYNATIVE_MODE)` and what it takes."""

import os
import sys

from ._warn import warn

GRAPH_MODE = 0
PYNATIVE_MODE = 1

_VALUES = {
    "mode": PYNATIVE_MODE,
    "device_target": "CPU",
    "device_id": 0,
    "save_graphs": 0,
    "save_graphs_path": ".",
    "enable_graph_kernel": False,
    "graph_kernel_flags": "",
    "enable_reduce_precision": True,
    "max_call_depth": 1000,
    "max_device_memory": "1024GB",
    "variable_memory_max_size": "0GB",
    "mempool_block_size": "1GB",
    "memory_optimize_level": "O0",
    "memory_offload": "OFF",
    "pynative_synchronize": False,
    "deterministic": "ON",
    "jit_config": {},
    "jit_level": "",
    "jit_syntax_level": 2,
    "exec_order": "bfs",
    "compile_cache_path": os.environ.get("MS_COMPILER_CACHE_PATH") or ".",
    "enable_compile_cache": os.environ.get("MS_COMPILER_CACHE_ENABLE") == "1",
    "tuning_database": None,
    "runtime_num_threads": 30,
    "op_timeout": 900,
    "precompile_only": False,
    "reserve_class_name_in_scope": False,
    "print_file_path": "",
    "env_config_path": "",
    "check_bprop": False,
    "enable_sparse": False,
    "grad_for_scalar": False,
    "support_binary": False,
    "enable_auto_mixed_precision": False,
    "enable_dump": False,
    "save_dump_path": "",
    "enable_profiling": False,
    "profiling_options": "",
    "enable_task_sink": True,
    "enable_loop_sink": False,
    "enable_mem_reuse": True,
    "enable_gpu_summary": True,
    "auto_tune_mode": "NO_TUNE",
    "debug_level": 0,
    "inter_op_parallel_num": 0,
    "disable_format_transform": False,
    "ascend_config": {},
    "gpu_config": {},
    "aoe_tune_mode": "",
    "aoe_config": {},
    "cpu_affinity": False,
    "numerics": "exact",
    "flush_denormal": False,
    "engine": "",
    "op_engines": {},
    "forbidden_engines": [],
}
_SEEN_LATE = {"save_graphs", "save_graphs_path", "engine", "op_engines", "forbidden_engines"}
_warned = set()
_listeners = []
_set = {}  # names in the order of their first change


def _device(value, what="set_context"):
    known = ("CPU", "GPU", "Ascend")
    if value not in (*known, "Davinci"):
        raise ValueError(f"{what}: unknown device_target: got {value!r}, need one of {known}")
    if value != "CPU" and value not in _warned:
        _warned.add(value)
        warn(f"{what}: device_target '{value}' is not here: computing on the CPU")
    return value


def _mode(value):
    if value not in (GRAPH_MODE, PYNATIVE_MODE) or isinstance(value, bool):
        raise ValueError(
            f"set_context: unknown mode: got {value!r}, need GRAPH_MODE (0) or PYNATIVE_MODE (1)"
        )
    return value


def _number_from(low):
    def check(value):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"set_context: value has the wrong type: got {value!r}, need an int")
        if value < low:
            raise ValueError(f"set_context: value is out of range: got {value}, need {low} or more")
        return value

    return check


def _save_graphs(value):
    if value not in (0, 1, 2, 3):  # True and False are 1 and 0
        raise ValueError(
            f"set_context: save_graphs is out of range: got {value!r}, need False, True, 0, 1, 2 or 3"
        )
    return value


def _folder(name):
    def check(value):
        if not isinstance(value, str) or not value:
            raise TypeError(f"set_context: {name} has the wrong type: got {value!r}, need a folder")
        return value

    return check


def _switch(name):
    def check(value):
        if not isinstance(value, bool):
            raise TypeError(f"set_context: {name} has the wrong type: got {value!r}, need a bool")
        return value

    return check


def _numerics(value):
    if value not in ("exact", "relaxed"):
        raise ValueError(f"set_context: unknown numerics: got {value!r}, need 'exact' or 'relaxed'")
    return value


def _flush_denormal(value):
    from . import _core

    if not isinstance(value, bool):
        raise TypeError(f"set_context: flush_denormal has the wrong type: got {value!r}, need a bool")
    if _core.in_boundary():
        raise RuntimeError(
            f"set_context: flush_denormal cannot change in a compiled call: got {value}, need a place outside"
        )
    return value


def memory_bytes(value):
    """Bytes of a text such as "1.5GB"."""
    import re

    match = re.fullmatch(r"(\d+(?:\.\d+)?)GB", value) if isinstance(value, str) else None
    if not match or float(match[1]) <= 0:
        raise ValueError(
            f"set_context: max_device_memory has the wrong form: got {value!r}, need a text such as '2GB' or "
            "'0.5GB'"
        )
    return int(float(match[1]) * 2**30)


def _max_device_memory(value):
    memory_bytes(value)
    return value


def _deterministic(value):
    if value not in ("ON", "OFF"):
        raise ValueError(f"set_context: unknown deterministic: got {value!r}, need 'ON' or 'OFF'")
    return value


def _engine(value):
    if not isinstance(value, str):
        raise TypeError(f"set_context: engine has the wrong type: got {value!r}, need a name")
    return value


def _tuning_database(value):
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise TypeError(
            f"set_context: tuning_database has the wrong type: got {value!r}, need a file name, '' for no "
            "database, or None for the usual one"
        )
    return value if value is None else os.fspath(value)


def _op_engines(value):
    if not isinstance(value, dict) or not all(isinstance(s, str) for pair in value.items() for s in pair):
        raise TypeError(f"set_context: op_engines has the wrong type: got {value!r}, need a dict of names")
    return dict(value)


def _forbidden_engines(value):
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        raise TypeError(
            f"set_context: forbidden_engines has the wrong type: got {value!r}, need a list of names"
        )
    return list(value)


_CHECKS = {
    "engine": _engine,
    "op_engines": _op_engines,
    "forbidden_engines": _forbidden_engines,
    "max_device_memory": _max_device_memory,
    "deterministic": _deterministic,
    "device_target": _device,
    "mode": _mode,
    "device_id": _number_from(0),
    "max_call_depth": _number_from(1),
    "runtime_num_threads": _number_from(1),
    "numerics": _numerics,
    "flush_denormal": _flush_denormal,
    "save_graphs": _save_graphs,
    "save_graphs_path": _folder("save_graphs_path"),
    "compile_cache_path": _folder("compile_cache_path"),
    "enable_compile_cache": _switch("enable_compile_cache"),
    "tuning_database": _tuning_database,
}


def set_context(**kwargs):
    """Changes settings. Those that have no meaning here are kept and given back by `get_context`.

    `mode` GRAPH_MODE compiles the outermost calls of cells; `numerics` is "exact" (results are the same
    to the bit in every mode) or "relaxed"; `flush_denormal` True makes what this thread computes take
    denormal numbers for zeros, as operands and as results, since arithmetic with them is slow; `save_graphs`
    1 writes every graph that is compiled as it was recorded and as it runs, True, 2 or 3 also after each
    pass, as text, as a picture and with a report of kernels and memory, to the folder `save_graphs_path`,
    "." by default; `enable_compile_cache` True keeps compiled graphs in files under `compile_cache_path`,
    "." by default, for the next run of the program; `tuning_database` is the file with values that
    `tune_program` and `sorus tune` have found, "" for none, None for that of the environment or of the
    user; `engine` is the name of an engine (`load_engine`) that
    runs whatever it takes of compiled calls, "cpu_reference" the plain kernels, in eager calls too,
    `op_engines` a dictionary of the same by op, and `forbidden_engines` a list of engines that are never
    used; `max_device_memory`, "2GB" say, is what a compiled call may plan for values between its ops: where
    that is not enough, values are computed anew instead of kept, with equal bits, and a warning tells once
    where it cannot be; an accelerator asked for is replaced by the CPU, with one warning.
    """
    for name, value in kwargs.items():
        _known(name, "set_context")
        if name in _CHECKS:
            kwargs[name] = _CHECKS[name](value)
    before = {name: _VALUES[name] for name in kwargs}
    if not _SEEN_LATE.isdisjoint(kwargs):
        from . import _calls  # noqa: F401  it listens, and refuses what cannot be
    _VALUES.update(kwargs)
    try:
        for name, value in kwargs.items():
            for listener in _listeners:
                listener(name, value)
    except BaseException:
        _VALUES.update(before)
        raise
    _set.update(dict.fromkeys(kwargs))


def get_context(attr_key):
    """The setting of that name."""
    _known(attr_key, "get_context")
    return _VALUES[attr_key]


def _known(name, what):
    if name in _VALUES:
        return
    import difflib

    near = difflib.get_close_matches(name, _VALUES, 3, 0.5)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}" if near else f"need one of {sorted(_VALUES)}"
    raise ValueError(f"{what}: unknown setting: got '{name}', {hint}")


def on_change(listener):
    """Calls `listener(name, value)` for what was set so far, since parts of the package load late, and at
    each change.
    """
    _listeners.append(listener)
    for name in _set:
        listener(name, _VALUES[name])


def set_device(device_target, device_id=None):
    """Chooses the device; accelerators are replaced by the CPU, with one warning."""
    set_context(device_target=_device(device_target, "set_device"))
    if device_id is not None:
        set_context(device_id=device_id)


def set_recursion_limit(recursion_limit=1000):
    """How deeply functions and cells may call each other. Python runs them in every mode, so that this
    raises the interpreter's own limit, `sys.setrecursionlimit`, where that is lower; it never lowers it.

    Raises TypeError when `recursion_limit` is no int, ValueError when it is not above 0.

    >>> import sorus as ms
    >>> ms.set_recursion_limit(2000)
    """
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(
            "set_recursion_limit: 'recursion_limit' has the wrong type: got "
            f"{type(recursion_limit).__name__}, need an int"
        )
    if recursion_limit <= 0:
        raise ValueError(
            f"set_recursion_limit: 'recursion_limit' is out of range: got {recursion_limit}, need 1 or more"
        )
    sys.setrecursionlimit(max(sys.getrecursionlimit(), recursion_limit))


def set_deterministic(deterministic):
    """Accepted for compatibility: results are the same to the bit in every run, whatever is asked for."""
    if not isinstance(deterministic, bool):
        raise TypeError(
            f"set_deterministic: 'deterministic' has the wrong type: got {deterministic!r}, need a bool"
        )
    set_context(deterministic="ON" if deterministic else "OFF")


_PS_SETTINGS = {
    "enable_ps": False,
    "config_file_path": "",
    "scheduler_manage_port": 11202,
    "enable_ssl": False,
    "client_password": "",
    "server_password": "",
}
_ps = dict(_PS_SETTINGS)


def _known_ps(name, what):
    if name not in _PS_SETTINGS:
        raise ValueError(f"{what}: unknown setting: got '{name}', need one of {list(_PS_SETTINGS)}")
    return name


def set_ps_context(**kwargs):
    """Settings of training by parameter servers, which needs several processes: `enable_ps=True` raises
    NotImplementedError, other settings are kept. Unknown ones raise ValueError.
    """
    for name in kwargs:
        _known_ps(name, "set_ps_context")
    if kwargs.get("enable_ps"):
        raise NotImplementedError("set_ps_context: no parameter servers: got enable_ps=True, need False")
    _ps.update(kwargs)


def get_ps_context(attr_key):
    """A setting of set_ps_context. Unknown ones raise ValueError."""
    return _ps[_known_ps(attr_key, "get_ps_context")]


def reset_ps_context():
    """Puts the settings of set_ps_context back."""
    _ps.update(_PS_SETTINGS)


def get_current_device():
    """The kind and the number of the device that computes: ("CPU", 0)."""
    return "CPU", 0


class ParallelMode:
    """Names of parallel modes."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


_PARALLEL_DEFAULTS = {
    "parallel_mode": "stand_alone",
    "device_num": 1,
    "global_rank": 0,
    "gradients_mean": False,
    "gradient_fp32_sync": True,
    "loss_repeated_mean": True,
    "search_mode": "recursive_programming",
    "auto_parallel_search_mode": "recursive_programming",
    "parameter_broadcast": False,
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
    "strategy_ckpt_config": {},
    "full_batch": False,
    "dataset_strategy": "data_parallel",
    "enable_parallel_optimizer": False,
    "parallel_optimizer_config": {},
    "enable_alltoall": False,
    "pipeline_stages": 1,
    "pipeline_config": {},
    "all_reduce_fusion_config": [],
    "grad_accumulation_step": 1,
    "comm_fusion": {},
    "group_ckpt_save_file": "",
    "auto_pipeline": False,
    "optimizer_weight_shard_size": -1,
    "optimizer_weight_shard_aggregated_save": False,
    "communi_parallel_mode": "all_group_parallel",
    "mirror_mean": False,
    "cast_before_mirror": True,
    "sharding_propagation": False,
    "enable_all_gather_only": False,
    "force_fp32_communication": False,
    "use_distributed_optimizer": False,
}
_parallel = dict(_PARALLEL_DEFAULTS)


def set_auto_parallel_context(**kwargs):
    """Changes settings of parallel training."""
    for name, value in kwargs.items():
        if name not in _PARALLEL_DEFAULTS:
            import difflib

            near = difflib.get_close_matches(name, _PARALLEL_DEFAULTS, 3, 0.5)
            raise ValueError(
                f"set_auto_parallel_context: unknown setting: got '{name}', need one such as {near}"
            )
        _parallel[name] = value


def get_auto_parallel_context(attr_key):
    """The setting of that name."""
    if attr_key not in _parallel:
        raise ValueError(
            f"get_auto_parallel_context: unknown setting: got '{attr_key}', need one of {sorted(_parallel)}"
        )
    return _parallel[attr_key]


def reset_auto_parallel_context():
    """Takes all settings of parallel training back."""
    _parallel.clear()
    _parallel.update(_PARALLEL_DEFAULTS)
