"""What a loop iterates over, as the runtime sees it: tensors, ranges, and `zip` and `enumerate` of them."""

import numpy as np

from .. import _core
from .flow import NotShown
from .number import Number, dtype_of

Tensor = _core.Tensor


class Range:
    """`range(start, stop, step)`; where a bound is a tensor, Python's range is made when it is needed."""

    def __init__(self, bounds):
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.start, self.stop, self.step = start, stop, step
        self.lazy = any(isinstance(b, Tensor) for b in bounds)
        self.range = None if self.lazy else range(start, stop, step)

    def __len__(self):
        return len(self.plain())

    def plain(self):
        """Python's range."""
        if self.range is None:
            self.range = range(self.start, self.stop, self.step)
        return self.range

    def at(self, index):
        """The element of a step, or IndexError."""
        return self.plain()[index]

    def rest(self, index):
        """The elements from a step on."""
        return self.plain()[index:]

    def key(self):
        """What a plan depends on."""
        return "range", self.step

    def leaf(self):
        """The type of what a step is given."""
        return dtype_of("int"), ()

    def operand(self, start, count):
        """The elements of `count` steps as a tensor."""
        r = self.plain()[start : start + count]
        return Tensor(np.arange(r.start, r.stop, r.step, dtype=np.int64))

    @staticmethod
    def element(tensor):
        """What stands for an element in a region."""
        return Number("int", tensor)


class Slices:
    """The rows of a tensor along its first axis."""

    lazy = False

    def __init__(self, tensor):
        self.tensor = tensor
        self.count = tensor.shape[0]

    def __len__(self):
        return self.count

    def at(self, index):
        """The row of a step, as iterating gives it."""
        if index >= self.count:
            raise IndexError
        return self.tensor[index]

    def rest(self, index):
        """The rows from a step on."""
        return (self.tensor[i] for i in range(index, self.count))

    def key(self):
        """What a plan depends on."""
        return "rows", self.tensor.dtype, tuple(self.tensor.shape[1:])

    def leaf(self):
        """The type of what a step is given."""
        return self.tensor.dtype, tuple(self.tensor.shape[1:])

    def operand(self, start, count):
        """The rows of `count` steps."""
        whole = start == 0 and count == self.count
        return self.tensor if whole else self.tensor[start : start + count]

    @staticmethod
    def element(tensor):
        """What stands for an element in a region."""
        return tensor


class Together:
    """Several at once, as `zip` gives them, until the shortest ends."""

    lazy = False

    def __init__(self, parts):
        self.parts = parts

    def __len__(self):
        return min(map(len, self.parts))

    def at(self, index):
        """The elements of a step."""
        return tuple(part.at(index) for part in self.parts)

    def rest(self, index):
        """The elements from a step on."""
        return zip(*(part.rest(index) for part in self.parts))

    def key(self):
        """What a plan depends on."""
        return tuple(part.key() for part in self.parts)


class Endless(Range):
    """The numbers that `enumerate` gives."""

    def __init__(self, start):
        super().__init__((start, start + 2**62, 1))


def leaves(part):
    """The tensors and ranges in it, in order."""
    if isinstance(part, Together):
        return [leaf for inner in part.parts for leaf in leaves(inner)]
    return [part]


def built(part, values):
    """An element of the part from what its leaves give."""
    if isinstance(part, Together):
        return tuple(built(inner, values) for inner in part.parts)
    return part.element(next(values))


class Rows:
    """What a loop iterates over once. At its first two steps it knows where it stands, so that its rest can
    become a loop of the program; after them it costs what Python's own iterator costs.
    """

    def __init__(self, part):
        self.part = part
        self.index = 0

    def __iter__(self):
        for index in range(2):
            try:
                found = self.part.at(index)
            except IndexError:
                return
            self.index = index + 1
            yield found
        yield from self.part.rest(2)

    @property
    def lazy(self):
        """True when nobody knows yet how many steps there are."""
        return self.part.lazy

    def left(self, current):
        """Steps to come, the current one included."""
        return len(self.part) - self.index + current


def part_of(value):
    """The part for something that is iterated over, or None."""
    if isinstance(value, Rows):
        return value.part if value.index == 0 and not value.lazy else None
    if isinstance(value, Tensor):
        return Slices(value) if value.ndim > 0 else None
    if isinstance(value, range):
        return Range((value.start, value.stop, value.step))
    return None


def offered(name, function, values):
    """`function(*values)`, or `values[0]` without a function, as Rows where that is possible."""
    if name == "range" and function is range and 0 < len(values) <= 3:
        if all(type(v) is int for v in values):
            return Rows(Range(values)) if len(values) < 3 or values[2] else function(*values)
        if any(isinstance(v, Tensor) for v in values) and all(_is_bound(v) for v in values):
            step = values[2] if len(values) == 3 else 1
            if type(step) is int and step:
                return Rows(Range(values))
    elif name == "zip" and function is zip and values:
        parts = [part_of(v) for v in values]
        if None not in parts:
            return Rows(Together(parts))
    elif name == "enumerate" and function is enumerate and len(values) in (1, 2):
        start, inner = values[1] if len(values) == 2 else 0, part_of(values[0])
        if inner is not None and type(start) is int:
            return Rows(Together([Endless(start), inner]))
    elif name is None:
        value = values[0]
        part = None if isinstance(value, (Rows, range)) else part_of(value)
        return value if part is None else Rows(part)
    return function(*values) if function is not None else values[0]


def _is_bound(value):
    if type(value) is int:
        return True
    return isinstance(value, Tensor) and value.ndim == 0 and value.dtype.name in ("int32", "int64")


def counted(rows, current):
    """(start, stop, step) of what is left of a range, for a loop that nobody knows the end of."""
    part = rows.part
    if not isinstance(part, Range):
        raise NotShown("it leaves a loop over rows of a tensor")
    if part.lazy:
        if rows.index - current > 0:
            raise NotShown("a loop with a tensor as its bound has begun")
        return part.start, part.stop, part.step
    r = part.plain()
    return r.start + (rows.index - current) * r.step, r.stop, r.step
