"""What regions use from outside: names of their function's module and chains of attributes, looked up when
a loop is offered.
"""

import types

from .. import _core
from . import pure
from .flow import NotShown

Tensor = _core.Tensor


class Shared:
    """What one recording has found so far."""

    def __init__(self, trusting):
        self.trusting = trusting
        self.cacheable = True


class Unit:
    """A function whose code was written anew: its sites, and the functions of its regions."""

    def __init__(self, offered, original):
        self.sites = offered.sites
        self.regions = {name: offered.region(name, original) for name in offered.regions}
        self.globals = original.__globals__

    def from_outside(self, name):
        """The value of a global name or a builtin."""
        if name in self.globals:
            return self.globals[name]
        built_in = self.globals.get("__builtins__", {})
        built_in = built_in if isinstance(built_in, dict) else built_in.__dict__
        if name not in built_in:
            raise NotShown(f"'{name}' has no value")
        return built_in[name]


def fetch(value, attributes):
    """The value of a chain of attributes, or the first tensor on the way and what is left of the chain."""
    for at, name in enumerate(attributes):
        if isinstance(value, Tensor):
            return value, attributes[at:]
        value = pure.attribute(value, name)
    return value, ()


def checked(value, called):
    """A value from outside, which a region may hold."""
    functions = (types.FunctionType, types.MethodType, types.ModuleType, types.BuiltinFunctionType, type)
    held = called or pure.is_data(value) or isinstance(value, (dict, list, *functions)) or pure.is_cell(value)
    if not held and not pure.is_leaf(value) and not pure.is_primitive(value):
        raise NotShown(f"it uses a {type(value).__name__}")
    return value


class Roots:
    """What a region uses from outside. Tensors are handed to its recording as values without numbers."""

    def __init__(self, unit, site, bases):
        self.called = [called for *_, called in site.roots]
        self.found = [self._find(unit, bases, base, names) for base, names, _ in site.roots]
        self.rows = [(*self._find(unit, bases, base, names), axis) for base, names, axis in site.indexed]
        self.tensors = [value for value, _ in self.found if isinstance(value, Tensor)]

    @staticmethod
    def _find(unit, bases, base, names):
        return fetch(bases[base] if isinstance(base, int) else unit.from_outside(base), names)

    def check(self):
        """Raises NotShown for a value that a region must not hold."""
        for (value, _), called in zip(self.found, self.called):
            checked(value, called)

    def inside(self, tensors):
        """The roots in a recording, where `tensors` stand for those outside."""
        out = []
        for value, names in self.found:
            value = next(tensors) if isinstance(value, Tensor) and tensors is not None else value
            for name in names:
                value = getattr(value, name)
            out.append(value)
        return tuple(out)

    def key(self):
        """What a plan depends on, and whether that is all."""
        keys, complete = [], True
        for value, _ in self.found:
            key, whole = key_of(value)
            keys.append(key)
            complete = complete and whole
        for value, _, axis in self.rows:
            keys.append((axis, *key_of(value)))
        return tuple(keys), complete


def key_of(value):
    if isinstance(value, Tensor):
        return (value.dtype, tuple(value.shape)), True
    if value is None or type(value) in (int, float, bool, str):
        return (type(value), repr(value)), True
    if type(value) is tuple and all(type(item) in (int, float, bool, str) for item in value):
        return (tuple, repr(value)), True
    if pure.is_leaf(value) or isinstance(value, types.ModuleType) or isinstance(value, pure._DType):
        return value, True
    return (id(value), getattr(value, "training", None) if pure.is_cell(value) else None), False
