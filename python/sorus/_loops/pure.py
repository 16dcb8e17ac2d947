"""What a region may touch: functions that are known to compute and do nothing else, and attributes whose
reading runs no code of the user's.
"""

import builtins
import functools
import types

from .. import _core
from .flow import NotShown
from .number import Number

Tensor = _core.Tensor
_Op = type(Tensor.sum)
_DType = type(_core.dtypes["int64"])

_BUILTINS = {
    getattr(builtins, name)
    for name in "abs all any bool divmod enumerate float int isinstance len list max min pow range reversed "
    "round slice sum tuple zip".split()
}
_PACKAGES = ("sorus.ops", "sorus.mint", "sorus.numpy", "sorus._composites", "sorus.common._tensor_methods")
# Functions there that have effects beside what they compute.
_EFFECTS = {
    "Print",
    "PyFunc",
    "HookBackward",
    "InsertGradientOf",
    "TensorDump",
    "TensorSummary",
    "ScalarSummary",
    "ImageSummary",
    "HistogramSummary",
    "Custom",
    "print_",
    "tensor_dump",
    "set_seed",
    "manual_seed",
    "register_hook",
    "_set_value",
    "_accumulate",
}
# Functions that call what they are given.
_CALLERS = ("sorus._control", "sorus._autograd", "sorus.ops.functional", "sorus.ops.composite")


def _of_sorus(module, packages=_PACKAGES):
    return isinstance(module, str) and any(module == p or module.startswith(p + ".") for p in packages)


def is_data(value):
    """True for values whose operators run no code of the user's."""
    if isinstance(value, (Tensor, Number, _DType, types.EllipsisType, slice, range)) or value is None:
        return True
    if type(value) in (int, float, bool, complex, str, bytes):
        return True
    return isinstance(value, (tuple, list)) and all(map(is_data, value))


def is_builtin(function):
    """True for the builtin functions and types that compute."""
    return isinstance(function, (types.BuiltinFunctionType, type)) and function in _BUILTINS


def is_leaf(function):
    """True for what computes by itself, and reads nothing that may change."""
    if isinstance(function, _Op):
        return function.__name__ not in _EFFECTS
    if isinstance(function, types.MethodType):
        held = function.__self__
        return isinstance(held, Tensor) and is_leaf(function.__func__)
    if isinstance(function, types.FunctionType):
        module = function.__module__
        return _of_sorus(module) and not _of_sorus(module, _CALLERS) and function.__name__ not in _EFFECTS
    if isinstance(function, types.BuiltinFunctionType):
        held = getattr(function, "__self__", None)
        is_math = isinstance(held, types.ModuleType) and held.__name__ == "math"
        return is_math or function in _BUILTINS or type(held) in (str, tuple, int, float)
    if isinstance(function, type):
        return function is Tensor or function in _BUILTINS
    if type(function).__module__ == "nanobind" and isinstance(getattr(function, "__self__", None), Tensor):
        return function.__name__ not in _EFFECTS
    return False


def is_primitive(function):
    """True for a primitive of the library, which is known to compute."""
    from ..ops.primitive import Primitive

    kind = type(function)
    return isinstance(function, Primitive) and _of_sorus(kind.__module__) and kind.__name__ not in _EFFECTS


@functools.lru_cache(4096)
def _runs_code(kind, name):
    """True when reading an attribute of an object of this class may run code of the user's."""
    for base in kind.__mro__:
        mine = base.__module__ == "builtins" or base.__module__.startswith("sorus")
        if not mine and any(n in base.__dict__ for n in ("__getattr__", "__getattribute__")):
            return True
        if name in base.__dict__:
            member = base.__dict__[name]
            plain = isinstance(
                member, (types.FunctionType, classmethod, staticmethod, types.MemberDescriptorType)
            )
            return not (mine or plain or not hasattr(type(member), "__get__"))
    return False


def attribute(value, name):
    """`value.name`, where reading it is known to do no more."""
    if isinstance(value, types.ModuleType):
        return getattr(value, name)
    if isinstance(value, type):
        if type(value).__module__ not in ("builtins", "abc", "enum"):
            raise NotShown(f"it reads '{name}' of a class with a metaclass")
        return getattr(value, name)
    if _runs_code(type(value), name):
        raise NotShown(f"reading '{name}' of {type(value).__name__} may run code")
    return getattr(value, name)


def is_cell(value):
    """True for cells."""
    from ..nn.cell import Cell

    return isinstance(value, Cell)


def is_plain_cell(cell):
    """True for a layer of the library, all of whose parts are layers of the library without hooks."""
    from ..nn.cell import Cell

    for _, part in cell.cells_and_names():
        state = part.__dict__
        if state["_hooks"] is not None or not type(part).__module__.startswith(("sorus.nn.", "sorus.mint.")):
            return False
        if type(part).__call__ is not Cell.__call__:
            return False
    return True
