"""Old place of what compiles functions: `common.api.jit`."""

from .._autograd import _no_grad  # noqa: F401
from .._jit import jit, jit_class, ms_class, ms_function

__all__ = ["jit", "jit_class", "ms_class", "ms_function"]
