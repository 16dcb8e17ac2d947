"""Nested values of loops and branches as flat lists of tensors, and back. A description says what a value is
beside its tensors.
"""

from .. import _core
from .flow import NotShown
from .number import Number, kind_of, tensor_of

Tensor = _core.Tensor


class Undefined:
    """What a name holds that has no value."""


UNDEFINED = Undefined()


def describe(value, tensors):
    """The description of a value; appends its tensors, and its numbers as tensors."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return ("tensor",)
    kind = kind_of(value)
    if kind is not None:
        tensors.append(tensor_of(value))
        return ("number", kind, None if isinstance(value, Number) else repr(value))
    if type(value) is tuple:
        return ("tuple", [describe(item, tensors) for item in value])
    if value is None or isinstance(value, (str, Undefined)):
        return ("fixed", value)
    raise NotShown(f"a {type(value).__name__} goes from step to step")


def varying(description):
    """The same where numbers may vary."""
    if description[0] == "number":
        return ("number", description[1], None)
    if description[0] == "tuple":
        return ("tuple", [varying(d) for d in description[1]])
    return description


def merged(a, b):
    """What both describe; numbers that differ vary. Raises NotShown where there is nothing."""
    if a[0] == b[0] == "number" and a[1] == b[1]:
        return a if a[2] == b[2] else varying(a)
    if a[0] == b[0] == "tuple" and len(a[1]) == len(b[1]):
        return ("tuple", [merged(x, y) for x, y in zip(a[1], b[1])])
    if a == b and a[0] in ("tensor", "fixed"):
        return a
    raise NotShown(f"a name holds {_words(a)} one way and {_words(b)} another")


def _words(description):
    if description[0] == "fixed":
        return "nothing" if isinstance(description[1], Undefined) else repr(description[1])
    if description[0] == "number":
        return {"int": "an int", "float": "a float", "bool": "a bool"}[description[1]]
    return f"a {description[0]}"


def has_number(description):
    """True when there are numbers that vary in it."""
    if description[0] == "tuple":
        return any(map(has_number, description[1]))
    return description[0] == "number" and description[2] is None


def rebuilt(description, tensors, known=False):
    """The value from the next tensors. `known`: numbers become Python's, which reads them."""
    kind = description[0]
    if kind == "tensor":
        return next(tensors)
    if kind == "tuple":
        return tuple(rebuilt(d, tensors, known) for d in description[1])
    if kind == "fixed":
        return description[1]
    tensor = next(tensors)
    if description[2] is not None:
        return {"int": int, "float": float, "bool": lambda text: text == "True"}[description[1]](
            description[2]
        )
    if known:
        return {"int": int, "float": float, "bool": bool}[description[1]](tensor.item())
    return Number(description[1], tensor)


def types_of(tensors):
    """Dtype and shape of each."""
    return [(t.dtype, tuple(t.shape)) for t in tensors]
