"""Sorus: a deep-learning framework. Names and behaviour are those of MindSpore 2.x."""

import importlib as _importlib
from importlib.util import find_spec as _find_module

from ._context import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    ParallelMode,
    get_auto_parallel_context,
    get_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
    set_context,
    set_device,
)
from ._core import __version__, from_dlpack, set_package_folder
from ._random import get_seed, set_seed
from .common import *
from .common import Tensor, dtype, tensor
from .common.parameter import Parameter, ParameterTuple

set_package_folder(__file__.rsplit("/", 1)[0] + "/")
del set_package_folder

_LAZY_MODULES = ("amp", "common", "context", "dataset", "mint", "nn", "numpy", "ops", "train")
_LAZY_NAMES = {
    "grad": "_autograd",
    "value_and_grad": "_autograd",
    "vjp": "_autograd",
    "jvp": "_autograd",
    "jit": "_jit",
    "ms_function": "_jit",
    "jit_class": "_jit",
    "run_check": "_check",
}
_LAZY_NAMES.update(
    dict.fromkeys(
        "Callback CheckpointConfig DynamicLossScaleManager EarlyStopping FixedLossScaleManager History "
        "LambdaCallback LossMonitor LossScaleManager Model ModelCheckpoint ReduceLROnPlateau RunContext "
        "TimeMonitor load_checkpoint load_checkpoint_async load_param_into_net save_checkpoint".split(),
        "train",
    )
)


def __getattr__(name):
    if name in _LAZY_MODULES and _find_module(f"{__name__}.{name}"):
        return _importlib.import_module("." + name, __name__)
    if name in _LAZY_NAMES:
        found = getattr(_importlib.import_module("." + _LAZY_NAMES[name], __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_NAMES})
