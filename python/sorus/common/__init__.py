"""Tensors, parameters, dtypes, initializers and seeds."""

from . import dtype
from .dtype import *  # noqa: F403
from .tensor import Tensor, tensor

__all__ = ["Tensor", "tensor", "dtype", *dtype.__all__]
