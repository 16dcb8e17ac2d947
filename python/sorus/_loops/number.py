"""Python numbers inside a loop that is part of the program: what they will be is not known while its body is
recorded.
"""

from .. import _core
from .flow import NotShown

Tensor = _core.Tensor
_WIDE = {"int": "int64", "float": "float64", "bool": "bool_"}


def kind_of(value):
    """ "int", "float" or "bool" for Python's own numbers and for a `Number`, else None."""
    if isinstance(value, Number):
        return value.kind
    kind = type(value)
    return "bool" if kind is bool else "int" if kind is int else "float" if kind is float else None


def dtype_of(kind):
    """The dtype in which numbers of a kind are carried."""
    return _core.dtypes[_WIDE[kind]]


def tensor_of(value):
    """The tensor that carries a number."""
    return value.tensor if isinstance(value, Number) else Tensor(value, dtype_of(kind_of(value)))


def truth_of(value):
    """A tensor of one bool that says whether a tensor or number is true."""
    t = value.tensor if isinstance(value, Number) else value
    if t.size != 1:
        raise NotShown("a test has more than one element")
    return t.reshape(()) if t.dtype is dtype_of("bool") else (t != 0).reshape(())


class Number:
    """An int, float or bool that varies from step to step. It computes as Python's number does where a tensor
    can say so bit for bit, and refuses everything else.
    """

    __slots__ = ("kind", "tensor")
    __hash__ = None

    def __init__(self, kind, tensor):
        self.kind, self.tensor = kind, tensor

    def beside(self, other):
        """This number as a tensor that promotes weakly beside another."""
        dtype = other.dtype
        exact = dtype.name in ("float32", "float64") if self.kind == "float" else dtype.name != "bool_"
        if not exact or dtype.name.startswith(("uint", "complex")):
            raise NotShown(f"a number that varies meets {dtype}")
        tensor = self.tensor
        if self.kind == "int" and dtype.name.startswith(("float", "bfloat")):
            tensor = tensor.astype(dtype_of("float"))  # as Python's ints are converted
        if dtype.name in ("float16", "bfloat16"):
            tensor = tensor.astype(_core.dtypes["float32"])
        return tensor.astype(dtype)

    def _with(self, other, compute, swapped):
        if isinstance(other, Tensor):
            mine = self.beside(other)
            return compute(other, mine) if swapped else compute(mine, other)
        kind = kind_of(other)
        if kind is None or "bool" in (kind, self.kind):
            return NotImplemented
        wide = "float" if "float" in (kind, self.kind) else "int"
        a, b = (tensor_of(v).astype(dtype_of(wide)) for v in (self, other))
        return Number(wide, compute(b, a) if swapped else compute(a, b))

    def _compared(self, other, compute):
        made = self._with(other, compute, False)
        return Number("bool", made.tensor) if isinstance(made, Number) else made

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b, False)

    def __radd__(self, other):
        return self._with(other, lambda a, b: a + b, True)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b, False)

    def __rsub__(self, other):
        return self._with(other, lambda a, b: a - b, True)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b, False)

    def __rmul__(self, other):
        return self._with(other, lambda a, b: a * b, True)

    def __truediv__(self, other):
        if isinstance(other, Tensor):
            return self._with(other, lambda a, b: a / b, False)
        if kind_of(other) not in ("int", "float") or isinstance(other, Number) or other == 0:
            raise NotShown("a number that varies is divided by what may be zero")
        double = dtype_of("float")
        return Number("float", self.tensor.astype(double) / Tensor(float(other), double))

    def __rtruediv__(self, other):
        if isinstance(other, Tensor):
            return self._with(other, lambda a, b: a / b, True)
        raise NotShown("a number is divided by one that varies, which may be zero")

    def _beside_tensor(self, other, compute):
        if not isinstance(other, Tensor):
            raise NotShown("a number that varies is in an operation that no tensor can repeat")
        return compute(other, self.beside(other))

    def __rmod__(self, other):
        return self._beside_tensor(other, lambda a, b: a % b)

    def __rfloordiv__(self, other):
        return self._beside_tensor(other, lambda a, b: a // b)

    def __rpow__(self, other):
        return self._beside_tensor(other, lambda a, b: a**b)

    def __mod__(self, other):
        return self._beside_tensor(other, lambda a, b: b % a)

    def __floordiv__(self, other):
        return self._beside_tensor(other, lambda a, b: b // a)

    def __pow__(self, other):
        return self._beside_tensor(other, lambda a, b: b**a)

    def __neg__(self):
        if self.kind == "bool":
            raise NotShown("a bool that varies is negated")
        return Number(self.kind, -self.tensor)

    def __lt__(self, other):
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compared(other, lambda a, b: a >= b)

    def __eq__(self, other):
        return self._compared(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._compared(other, lambda a, b: a != b)

    def _unknown(self):
        raise NotShown("Python needs a number that varies from step to step")

    __bool__ = __int__ = __float__ = __index__ = __len__ = __iter__ = _unknown
