"""Tensors, parameters, dtypes, initializers and seeds."""

import importlib as _importlib

from . import dtype
from .dtype import *  # noqa: F403
from .mutable import mutable
from .parameter import Parameter, ParameterTuple
from .seed import get_rng_state, get_seed, set_rng_state, set_seed
from .tensor import Tensor, tensor

__all__ = [
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "dtype",
    "get_rng_state",
    "get_seed",
    "mutable",
    "set_rng_state",
    "set_seed",
    "tensor",
    *dtype.__all__,
]


def __getattr__(name):
    if name in ("api", "initializer", "sparse_tensor"):
        return _importlib.import_module("." + name, __name__)
    if name in ("COOTensor", "CSRTensor", "RowTensor", "SparseTensor"):
        return getattr(_importlib.import_module(".sparse_tensor", __name__), name)
    if name in ("jit", "jit_class", "ms_class", "ms_function"):
        return getattr(_importlib.import_module(".api", __name__), name)
    from .._near import unknown_name

    raise unknown_name(__name__, name, globals())
