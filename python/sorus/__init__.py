"""Sorus: a deep-learning framework. Names and behaviour are those of MindSpore 2.x."""

import importlib as _importlib
from importlib.util import find_spec as _find_module

from ._context import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    ParallelMode,
    get_auto_parallel_context,
    get_context,
    get_current_device,
    get_ps_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_context,
    set_deterministic,
    set_device,
    set_ps_context,
    set_recursion_limit,
)
from ._core import __version__, from_dlpack, set_package_folder
from .common import *
from .common import (
    Parameter,
    ParameterTuple,
    Tensor,
    dtype,
    get_rng_state,
    get_seed,
    mutable,
    set_rng_state,
    set_seed,
    tensor,
)

set_package_folder(__file__.rsplit("/", 1)[0] + "/")
del set_package_folder

_LAZY_MODULES = (
    "amp",
    "boost",
    "common",
    "communication",
    "context",
    "dataset",
    "experimental",
    "hal",
    "log",
    "mindrecord",
    "mint",
    "nn",
    "numpy",
    "ops",
    "parallel",
    "runtime",
    "train",
)
_LAZY_NAMES = {
    "grad": "_autograd",
    "value_and_grad": "_autograd",
    "vjp": "_autograd",
    "jvp": "_autograd",
    "get_grad": "_autograd",
    "recompute": "_autograd",
    "no_grad": "_autograd",
    "_no_grad": "_autograd",
    "jacrev": "_jacobians",
    "jacfwd": "_jacobians",
    "DatasetHelper": "train.dataset_helper",
    "connect_network_with_dataset": "train.dataset_helper",
    "data_sink": "train.sink",
    "jit": "_jit",
    "ms_function": "_jit",
    "jit_class": "_jit",
    "ms_class": "_jit",
    "lazy_inline": "_jit",
    "compile_stats": "_programs",
    "engine_names": "_engines",
    "load_engine": "_engines",
    "Program": "_programs",
    "Session": "_programs",
    "load_program": "_programs",
    "tune_program": "_programs",
    "tuning_parameters": "_programs",
    "save_program": "_programs",
    "trace_program": "_programs",
    "run_check": "_check",
    "is_tensor": "ops",
    "constexpr": "ops.composite",
    "ms_memory_recycle": "runtime",
}
_LAZY_NAMES.update(
    dict.fromkeys(
        "Callback CheckpointConfig DynamicLossScaleManager EarlyStopping FixedLossScaleManager History "
        "LambdaCallback LossMonitor LossScaleManager Model ModelCheckpoint ReduceLROnPlateau RunContext "
        "SummaryCollector SummaryRecord TimeMonitor load_checkpoint load_checkpoint_async "
        "load_param_into_net save_checkpoint".split(),
        "train",
    )
)
_LAZY_NAMES.update(
    dict.fromkeys("COOTensor CSRTensor RowTensor SparseTensor".split(), "common.sparse_tensor")
)
_LAZY_NAMES.update(
    dict.fromkeys("Generator default_generator initial_seed manual_seed seed".split(), "common.generator")
)


def from_numpy(array):
    """A tensor that shares the array's memory."""
    return Tensor.from_numpy(array)


class JitConfig:
    """Options of compilation, kept; none is needed."""

    def __init__(
        self, jit_level="", exc_mode="auto", jit_syntax_level="", debug_level="", infer_boost="off", **kwargs
    ):
        self.jit_config_dict = dict(kwargs, jit_level=jit_level, exc_mode=exc_mode, debug_level=debug_level)


def __getattr__(name):
    if name in _LAZY_MODULES and _find_module(f"{__name__}.{name}"):
        return _importlib.import_module("." + name, __name__)
    if name in _LAZY_NAMES:
        found = getattr(_importlib.import_module("." + _LAZY_NAMES[name], __name__), name)
        globals()[name] = found
        return found
    from ._near import unknown_name

    raise unknown_name(__name__, name, __dir__())


def __dir__():
    modules = [name for name in _LAZY_MODULES if _find_module(f"{__name__}.{name}")]
    return sorted({*globals(), *modules, *_LAZY_NAMES})
