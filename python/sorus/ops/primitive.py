"""Primitives: functions as classes, `ReduceSum(keep_dims=True)(x, axis)`.

A row has two parameter lists, of the constructor and of the call: `ReduceSum(keep_dims=False)(x, axis=())
-> ...`.
"""

from .. import _composites
from .._rows import Table, make
from ._primitive_rows import PRIMITIVES

table = Table(PRIMITIVES, __name__, _composites)


class Primitive:
    """The base of primitives; subclasses of users define `__call__` (or `construct`)."""

    def __init__(self, name=None):
        self.name = name or type(self).__name__
        self.attrs = {}
        self.instance_name = self.name

    def add_prim_attr(self, name, value):
        """Keeps an attribute."""
        self.attrs[name] = value
        self.__dict__[name] = value
        return self

    def del_prim_attr(self, name):
        """Forgets an attribute."""
        self.attrs.pop(name, None)
        self.__dict__.pop(name, None)
        return self

    def init_prim_io_names(self, inputs, outputs):
        """Keeps the names of inputs and outputs."""
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)

    def set_prim_instance_name(self, name):
        """Keeps the name of the instance."""
        self.instance_name = name
        return self

    def set_device(self, device_target):
        """Accepted for compatibility: there is one device."""
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage):
        """Accepted for compatibility: there is one stage."""
        return self.add_prim_attr("stage", stage)

    def shard(self, in_strategy=None, out_strategy=None):  # noqa: ARG002
        """One process computes everything, so that a strategy changes nothing."""
        return self

    def recompute(self, mode=True):  # noqa: ARG002
        """Accepted for compatibility."""
        return self

    def __call__(self, *args):
        raise NotImplementedError(f"{self.name}: '__call__' is missing: define what the primitive computes")

    def __repr__(self):
        shown = ", ".join(f"{key}={value}" for key, value in self.attrs.items())
        return f"Prim[{self.name}]<{shown}>"


class PrimitiveWithInfer(Primitive):
    """A primitive that says its result's shape and dtype; they follow from the computation here."""


class PrimitiveWithCheck(Primitive):
    """A primitive that checks its operands."""


def __getattr__(name):
    if name not in ("constexpr", "_constexpr", "_primexpr"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from . import composite

    return getattr(composite, name)


def prim_attr_register(function):
    """Keeps the constructor's arguments as attributes, as MindSpore's decorator does."""
    import functools
    import inspect

    @functools.wraps(function)
    def wrapped(self, *args, **kwargs):
        if not hasattr(self, "attrs"):
            Primitive.__init__(self)
        bound = inspect.signature(function).bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            self.add_prim_attr(name, value)
        return function(self, *args, **kwargs)

    return wrapped


class _RowPrimitive(Primitive):
    """A primitive that a row defines: its constructor's arguments come first in the call of the function."""

    _function = None
    _names = ()

    def __call__(self, *args, **kwargs):
        return type(self)._function(*self._values, *args, **kwargs)

    def __reduce__(self):
        return type(self), self._values


def build(name):
    """The class of that name."""
    lines = table.lines(name)
    constructor, calls = None, []
    for line in lines:
        left, right = line.split(" -> ")
        first = left[left.index("(") + 1 : left.index(")(")] if ")(" in left else ""
        second = left[left.index(")(") + 2 : left.rindex(")")]
        constructor = first if constructor is None else constructor
        names = [p.split("=")[0].strip() for p in _parts(first)]
        # Constructor arguments are always given, so their defaults belong to the constructor alone.
        calls.append(f"{name}({', '.join(filter(None, [*names, second]))}) -> {right}")
    function = make(name, calls, __name__, _composites)
    names = [p.split("=")[0].strip() for p in _parts(constructor)]
    scope = {"Primitive": Primitive}
    from ..common import dtype

    scope.update({key: getattr(dtype, key) for key in dtype.__all__})
    text = [
        f"def __init__(self{', ' if constructor else ''}{constructor}):",
        f"    Primitive.__init__(self, {name!r})",
    ]
    text += [f"    self.add_prim_attr({n!r}, {n})" for n in names]
    text += [f"    self._values = ({''.join(n + ', ' for n in names)})"]
    exec("\n".join(text), scope)  # noqa: S102: our own rows
    doc = "\n".join(line.split(" -> ")[0] for line in lines)
    members = {
        "__init__": scope["__init__"],
        "_function": staticmethod(function),
        "_names": tuple(names),
        "__doc__": doc,
        "__module__": "sorus.ops",
    }
    return type(name, (_RowPrimitive,), members)


def _parts(text):
    """Parameters of a list, split at the commas outside brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p for p in [*parts, part] if p.strip()]
