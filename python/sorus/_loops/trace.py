"""The runtime of regions while they are recorded: whatever might do more than compute goes through it."""

import functools
import types

from .. import _core
from . import compile as source
from . import pure, rows as over
from .flow import NotShown
from .number import Number, truth_of
from .plan import FEWEST_STEPS, planned
from .roots import Roots, Unit, checked, fetch
from .values import UNDEFINED, describe, has_number, merged, rebuilt

Tensor = _core.Tensor


class Trace:
    """The runtime of regions while they are recorded."""

    def __init__(self, unit, shared):
        self.unit, self._shared = unit, shared

    # ---- what regions touch

    def call(self, function):
        """The function, or one like it that does nothing unknown."""
        if function is isinstance:
            return _is_instance
        if pure.is_builtin(function):
            return functools.partial(_of_known, function)
        if pure.is_leaf(function):
            return function
        self._shared.cacheable = False
        if pure.is_primitive(function):
            return function
        if isinstance(function, functools.partial):
            return functools.partial(self.call(function.func), *function.args, **function.keywords)
        held = getattr(function, "_function", None)
        if type(function).__module__ == "sorus._jit" and isinstance(held, types.FunctionType):
            function = held
        try:
            if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
                return functools.partial(self._version(function.__func__), function.__self__)
            if isinstance(function, types.FunctionType):
                return self._version(function)
            if pure.is_cell(function):
                return self._cell(function)
            raise NotShown(f"it calls {_name_of(function)}")
        except NotShown:
            if self._shared.trusting and callable(function):
                return function
            raise

    def _version(self, function):
        if (function.__module__ or "").split(".")[0] == "sorus" and not _is_construct(function):
            raise NotShown(f"it calls {_name_of(function)}")
        return _called(function, self._shared)

    def _cell(self, cell):
        if pure.is_plain_cell(cell):
            return cell
        from ..nn.cell import Cell

        state, kind = cell.__dict__, type(cell)
        usual = kind.__call__ is Cell.__call__ and state["_hooks"] is None and state["_cast_to"] is None
        if not usual or "construct" in state or not isinstance(kind.construct, types.FunctionType):
            raise NotShown(f"it calls a {kind.__name__} with hooks or casts")
        return functools.partial(self._version(kind.construct), cell)

    def attr(self, value, name):
        """`value.name`"""
        if isinstance(value, Tensor):
            if name in pure._EFFECTS:
                raise NotShown(f"it uses '{name}'")
            return getattr(value, name)
        if isinstance(value, Number):
            raise NotShown(f"it uses '{name}' of a number that varies")
        return checked(pure.attribute(value, name), True)

    def item(self, value, key):
        """`value[key]`"""
        if isinstance(value, Tensor):
            if isinstance(key, tuple):
                return value[tuple(k.tensor if isinstance(k, Number) else k for k in key)]
            return value[key.tensor if isinstance(key, Number) else key]
        if type(value) in (list, tuple, dict, str, range):
            return checked(value[key], False)
        if pure.is_cell(value) and type(value).__module__.startswith("sorus."):
            return value[key]
        raise NotShown(f"it takes an item of a {type(value).__name__}")

    slice = staticmethod(slice)

    @staticmethod
    def spread(value):
        """What is unpacked, whose items become values of the region."""
        return _known(value)

    @staticmethod
    def updated(value):
        """The value of a name before `name += ...`, which changes a list for everybody who has it."""
        if isinstance(value, list) or not pure.is_data(value):
            raise NotShown(f"it updates a {type(value).__name__} in place")

    def both(self, left, right):
        """`left and right`, as a value"""
        return self._joined(left, right, True)

    def either(self, left, right):
        """`left or right`, as a value"""
        return self._joined(left, right, False)

    def _joined(self, left, right, is_and):
        if not self.is_tensor(left):
            return right() if bool(left) is is_and else left
        other = right()
        kinds = [
            v.kind if isinstance(v, Number) else v.dtype.name if isinstance(v, Tensor) else None
            for v in (left, other)
        ]
        if (
            kinds[0] != kinds[1]
            or kinds[0] not in ("bool", "bool_")
            or any(v.ndim for v in (left, other) if isinstance(v, Tensor))
        ):
            raise NotShown("'and' or 'or' of what varies is used as a value")
        a, b = truth_of(left), truth_of(other)
        made = a.logical_and(b) if is_and else a.logical_or(b)
        return Number("bool", made) if isinstance(left, Number) else made

    def all_true(self, left, right):
        """`left and right` as a test"""
        if not self.is_tensor(left):
            return right() if left else left
        other = right()
        if not self.is_tensor(other):
            return left if other else False
        return Number("bool", truth_of(left).logical_and(truth_of(other)))

    def any_true(self, left, right):
        """`left or right` as a test"""
        if not self.is_tensor(left):
            return left if left else right()
        other = right()
        if not self.is_tensor(other):
            return True if other else left
        return Number("bool", truth_of(left).logical_or(truth_of(other)))

    def negate(self, value):
        """`not value`"""
        return Number("bool", truth_of(value).logical_not()) if self.is_tensor(value) else not value

    @staticmethod
    def maybe(thunk):
        """The value of a name that may have none."""
        try:
            return thunk()
        except NameError:
            return UNDEFINED

    @staticmethod
    def is_tensor(value):
        """True for what has no value while this records."""
        return isinstance(value, (Tensor, Number))

    # ---- branches

    def choose(self, test, yes, no):
        """`yes() if test else no()`"""
        if not self.is_tensor(test):
            return yes() if test else no()
        return self.cond(truth_of(test), yes, no, False)

    def branch(self, number, test, inside, roots):
        """The results of a branch of an `if`."""
        site = self.unit.sites[number]
        yes, no = (self.unit.regions[name] for name in (site.body, site.otherwise))
        if not self.is_tensor(test):
            return (yes if test else no)(self, *inside, roots)
        return self.cond(
            truth_of(test), lambda: yes(self, *inside, roots), lambda: no(self, *inside, roots), False
        )

    def cond(self, test, yes, no, known):
        """The results of one of two functions. `known`: none of them may be a number of Python's."""
        found, made, bodies = [], [], []
        for function in (yes, no):

            def call(function=function):
                tensors = []
                found.append(describe(function(), tensors))
                made.append(tensors)
                return tensors

            bodies.append(_core.trace_body("if", call, ()))
        description = merged(*found)
        if bodies[0].results != bodies[1].results:
            raise NotShown("the branches differ in shapes or dtypes")
        if not bodies[0].results:
            return rebuilt(description, iter(()))
        if known and has_number(description):
            raise NotShown("a number of Python's depends on a branch")
        if not bodies[0].calls and not bodies[1].calls:  # values that are there in any case
            return rebuilt(description, iter([_selected(test, a, b) for a, b in zip(*made)]))
        out = _core.run_cond(test, bodies[0], bodies[0].captured, bodies[1], bodies[1].captured, ())
        return rebuilt(description, iter(out))

    # ---- loops within

    def tries(self, number):
        """How often a loop may be offered."""
        return 2

    def attempts(self, number, rows):
        """How often a loop over these may be offered."""
        if not isinstance(rows, over.Rows):
            return 0
        return 2 if rows.lazy or self.unit.sites[number].broken or rows.left(0) >= FEWEST_STEPS else 0

    def rows(self, number, name, function, *values):
        """What a loop iterates over."""
        if any(isinstance(v, Number) for v in values):
            raise NotShown("a number that varies bounds a loop")
        for value in values:
            _known(value)
        made = over.offered(name, function, values)
        if isinstance(made, (Tensor, over.Rows, range, tuple, list, zip, enumerate)) or pure.is_cell(made):
            return made
        raise NotShown(f"it iterates over a {type(made).__name__}")

    def loop(self, number, state, bases, rows, current):
        """The results of a loop within, as part of the one that is recorded, or None."""
        site = self.unit.sites[number]
        roots = Roots(self.unit, site, bases)
        plan = planned(self, site, state, roots, rows, current, lifted=False)
        return plan.run(state, roots, rows, current, known=False)

    def decline(self, number):
        """A loop that leaves itself cannot run by steps here."""
        raise NotShown(f"a loop within leaves itself (line {self.unit.sites[number].line})")


_MADE_OF_OTHERS = (over.Rows, zip, enumerate, reversed)


def _known(value):
    """A value whose items, and theirs, a region may hold."""
    if not isinstance(value, _MADE_OF_OTHERS):
        waiting, seen = [value], set()
        while waiting:
            item = checked(waiting.pop(), False)
            if isinstance(item, (list, tuple, dict)) and id(item) not in seen:
                seen.add(id(item))
                waiting.extend(item.values() if isinstance(item, dict) else item)
    return value


def _of_known(function, *args, **kwargs):
    """A builtin of known values: it may iterate over them, add and compare them."""
    for value in (*args, *kwargs.values()):
        _known(value)
    return function(*args, **kwargs)


_NUMBERS = {"int": int, "float": float, "bool": bool}


def _is_instance(value, kinds):
    """`isinstance`, where numbers that vary stand for Python's, and tensors for parameters."""
    if isinstance(value, Number):
        return issubclass(_NUMBERS[value.kind], kinds)
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, Tensor) and any(
        isinstance(k, type) and k is not Tensor and issubclass(k, Tensor) for k in listed
    ):
        raise NotShown("it asks whether a tensor is a parameter")
    return isinstance(value, kinds)


def _selected(test, a, b):
    if a is b:
        return a
    from .. import ops

    return ops.where(test, a, b)


def _is_construct(function):
    return function.__name__ == "construct" and (function.__module__ or "").startswith("sorus.nn.")


def _name_of(function):
    return f"'{getattr(function, '__qualname__', None) or type(function).__name__}'"


_called_codes = {}


def _called(function, shared):
    """A function of the user's for a region to call."""
    key = (function.__code__, function.__code__.co_filename, shared.trusting)
    if key not in _called_codes:
        if len(_called_codes) >= 4096:
            _called_codes.clear()
        try:
            _called_codes[key] = source.Called(function, shared.trusting)
        except NotShown as reason:
            _called_codes[key] = f"it calls {_name_of(function)}: {reason}"
    code = _called_codes[key]
    if isinstance(code, str):
        raise NotShown(code)
    unit = Unit(code, function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))

    def run(*args, **kwargs):
        trace = Trace(unit, shared)
        roots = []
        for base, names, called in code.roots:
            value = cells[base].cell_contents if base in cells else unit.from_outside(base)
            value, rest = fetch(value, names)
            for name in rest:
                value = getattr(value, name)
            roots.append(checked(value, called))
        made = types.FunctionType(code.code, function.__globals__, function.__name__, function.__defaults__)
        made.__kwdefaults__ = {
            **(function.__kwdefaults__ or {}),
            "__sorus__": trace,
            "__roots__": tuple(roots),
        }
        return made(*args, **kwargs)

    return run
