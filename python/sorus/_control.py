"""Control flow that is part of the program: `cond`, `while_loop`, `fori_loop`, `scan` and their primitives.

Each function given is called once, with values that have shapes and dtypes and no numbers. It must not
read values (`if x > 0`, `float(x)`, `print(x)`), and side effects of its Python happen once a call, not once
a step.
"""

import numbers

import numpy as np

from . import _core, _tree
from ._core import Tensor
from .ops.primitive import Primitive


def _is_number(value):
    return isinstance(value, (numbers.Number, np.number, np.bool_))


def _with_tensors(value):
    """`value` with its numbers and arrays as tensors, which a body can carry."""
    if _is_number(value) or isinstance(value, np.ndarray):
        return Tensor(value)
    if isinstance(value, (tuple, list)):
        made = [_with_tensors(item) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {key: _with_tensors(item) for key, item in value.items()}
    return value


def _structure(value):
    """The structure of nested tensors in words, to be compared and shown."""
    if isinstance(value, Tensor):
        return "Tensor"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(_structure, value))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_structure(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _callable(what, name, function):
    if not callable(function):
        got = type(function).__name__
        raise TypeError(f"{what}: '{name}' has the wrong type: got {got}, need a function")


class _Body:
    """A function of nested values as one of flat tensors. Remembers what its results looked like."""

    def __init__(self, what, function, arguments, spread=False):
        self._what = what
        self._function = function
        self._arguments = arguments
        self._spread = spread
        self.result = None

    def __call__(self, *tensors):
        given = _tree.rebuild(self._arguments, iter(tensors))
        result = _with_tensors(self._function(*given) if self._spread else self._function(given))
        self.result = _without_values(result)
        return _tree.tensors(result)

    def must_give(self, value, results):
        """Raises TypeError unless `results` look like `value`."""
        got, need = _structure(results), _structure(value)
        if got != need:
            raise TypeError(f"{self._what}: the body returns another structure: got {got}, need {need}")


def _without_values(value):
    """The structure of `value` with a small tensor in place of each."""
    small = Tensor(0)
    return _tree.rebuild(value, iter([small] * len(_tree.tensors(value))))


def _as_bound(what, name, value):
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {value!r}, need an int")
    if not -(2**62) <= value < 2**62:
        raise ValueError(f"{what}: '{name}' is out of range: got {value}, need -2^62 <= {name} < 2^62")
    return int(value)


def cond(pred, true_fn=None, false_fn=None, *operands):
    """`true_fn(*operands)` if `pred`, which has one element, is not zero, else `false_fn(*operands)`.

    Both functions are called once, with values that have no numbers, and must return the same structure,
    shapes and dtypes; what was chosen runs compiled. With a gradient, the one that was chosen is
    differentiated.

    Given a matrix and no functions, `cond(A, p=None)` is the condition number of the matrix, norm(A) times
    norm(inverse of A), in the norm `p` (None and 2: the ratio of the largest to the smallest singular value).

    >>> import sorus as ms
    >>> from sorus import ops
    >>> x = ms.Tensor([3.0, 4.0])
    >>> print(ops.cond(x.sum() > 5, lambda v: v * 2, lambda v: v - 1, x))
    [6. 8.]
    """
    if not callable(true_fn):
        if false_fn is not None or operands:
            raise TypeError(
                f"cond: 'true_fn' has the wrong type: got {type(true_fn).__name__}, need a function"
            )
        return _condition_number(pred, true_fn)
    _callable("cond", "false_fn", false_fn)
    given = _with_tensors(tuple(operands))
    if _is_number(pred):
        pred = Tensor(pred)
    elif not isinstance(pred, Tensor):
        got = type(pred).__name__
        raise TypeError(f"cond: 'pred' has the wrong type: got {got}, need a Tensor or a number")
    branches = [_Body("cond", f, given, spread=True) for f in (true_fn, false_fn)]
    out = _core.cond(pred, *branches, _tree.tensors(given))
    branches[0].must_give(branches[1].result, branches[0].result)
    return _tree.rebuild(branches[0].result, iter(out))


def _condition_number(matrix, p):
    from . import ops

    if not isinstance(matrix, Tensor):
        raise TypeError(f"cond: 'A' has the wrong type: got {type(matrix).__name__}, need a Tensor")
    if p is None or p in (2, -2):
        values = ops.svd(matrix, full_matrices=False, compute_uv=False)
        largest, smallest = values.max(axis=-1), values.min(axis=-1)
        return smallest / largest if p == -2 else largest / smallest
    return ops.matrix_norm(matrix, p) * ops.matrix_norm(ops.inverse(matrix), p)


def while_loop(cond_fun, body_fun, init_val):
    """`body_fun` applied to `init_val`, then to its own results, while `cond_fun` of them is not zero.

    `init_val` is a tensor, a number, or tuples, lists and dictionaries of them; the body must return the same
    structure, shapes and dtypes. Neither function may draw random numbers. With a gradient, the steps that
    were taken are differentiated.

    >>> import sorus as ms
    >>> from sorus import ops
    >>> print(ops.while_loop(lambda x: x < 100, lambda x: x * x, ms.Tensor(3)))
    6561
    """
    _callable("while_loop", "cond_fun", cond_fun)
    _callable("while_loop", "body_fun", body_fun)
    init = _with_tensors(init_val)
    step = _Body("while_loop", body_fun, init)
    checked = _must_keep(step, init)
    out = _core.while_loop(_Body("while_loop", cond_fun, init), checked, _tree.tensors(init))
    return _tree.rebuild(init, iter(out))


def _must_keep(body, carry):
    """The body, which must return what it is given."""

    def call(*tensors):
        flat = body(*tensors)
        body.must_give(carry, body.result)
        return flat

    return call


def fori_loop(lower, upper, body_fun, init_val):
    """`val = body_fun(i, val)` for i = lower, ..., upper - 1 (int64 scalars), from `init_val` on.

    >>> import sorus as ms
    >>> from sorus import ops
    >>> print(ops.fori_loop(0, 5, lambda i, x: x + i, ms.Tensor(0)))
    10
    """
    _callable("fori_loop", "body_fun", body_fun)
    lower, upper = _as_bound("fori_loop", "lower", lower), _as_bound("fori_loop", "upper", upper)
    init = _with_tensors(init_val)
    step = _Body("fori_loop", body_fun, (Tensor(0), init), spread=True)
    out = _core.fori_loop(lower, upper, _must_keep(step, init), _tree.tensors(init))
    return _tree.rebuild(init, iter(out))


def scan(f, init, xs=None, length=None, reverse=False):
    """`carry, y = f(carry, x)` for each row `x` of `xs` along the first axis; returns the last carry and the
    `y` of all steps, stacked along a new first axis.

    `init` and `xs` are tensors or tuples, lists and dictionaries of them. Without `xs`, `length` says how
    many steps there are, and `f` is given None. `reverse` goes from the last row to the first. The carry
    keeps its structure, shapes and dtypes. Each step that draws random numbers draws its own.

    >>> import sorus as ms
    >>> from sorus import ops
    >>> carry, sums = ops.scan(lambda c, x: (c + x, c + x), ms.Tensor(0.0), ms.Tensor([1.0, 2.0, 3.0]))
    >>> print(carry, sums)
    6.0 [1. 3. 6.]
    """
    _callable("scan", "f", f)
    init, xs = _with_tensors(init), _with_tensors(xs)

    def step(carry, x):
        result = f(carry, x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"scan: 'f' returns no pair: got {type(result).__name__}, need (carry, y)")
        return result

    body = _Body("scan", step, (init, xs), spread=True)

    def checked(*tensors):
        flat = body(*tensors)
        body.must_give(init, body.result[0])
        return flat

    steps = -1 if length is None else _as_bound("scan", "length", length)
    carry, ys = _core.scan(checked, _tree.tensors(init), _tree.tensors(xs), steps, bool(reverse))
    return _tree.rebuild(init, iter(carry)), _tree.rebuild(body.result[1], iter(ys))


class WhileLoop(Primitive):
    """`WhileLoop()(cond_func, loop_func, init_val)`: see `ops.while_loop`."""

    def __call__(self, cond_func, loop_func, init_val):
        return while_loop(cond_func, loop_func, init_val)


class ForiLoop(Primitive):
    """`ForiLoop()(lower, upper, loop_func, init_val, unroll=True)`: see `ops.fori_loop`. With `unroll` it is
    a plain Python loop, and `loop_func` is given ints.
    """

    def __call__(self, lower, upper, loop_func, init_val, unroll=True):
        if not unroll:
            return fori_loop(lower, upper, loop_func, init_val)
        _callable("ForiLoop", "loop_func", loop_func)
        for i in range(_as_bound("ForiLoop", "lower", lower), _as_bound("ForiLoop", "upper", upper)):
            init_val = loop_func(i, init_val)
        return init_val


class Scan(Primitive):
    """`Scan()(loop_func, init, xs, length=None, unroll=True)`: the last carry and the list of what each step
    returned beside it. `xs` is a tuple or list with an element for each step, or None. With `unroll` it is a
    plain Python loop; without, see `ops.scan`.
    """

    def __call__(self, loop_func, init, xs, length=None, unroll=True):
        _callable("Scan", "loop_func", loop_func)
        if xs is not None and not isinstance(xs, (tuple, list)):
            got = type(xs).__name__
            raise TypeError(f"Scan: 'xs' has the wrong type: got {got}, need a tuple, list or None")
        if xs is None and length is None:
            raise ValueError("Scan: 'length' is missing: got None, need an int where there are no xs")
        steps = len(xs) if xs is not None else _as_bound("Scan", "length", length)
        if length is not None and steps != _as_bound("Scan", "length", length):
            raise ValueError(f"Scan: 'length' differs from that of xs: got {length}, need {steps}")
        if unroll or steps == 0:
            results = []
            for x in xs if xs is not None else [None] * steps:
                init, y = loop_func(init, x)
                results.append(y)
            return init, results
        rows = None if xs is None else _stacked(xs)
        carry, ys = scan(loop_func, init, rows, steps)
        return carry, [_row(ys, i) for i in range(steps)]


def _stacked(items):
    """Equal nested values as one whose tensors have a row for each."""
    from . import ops

    items = [_with_tensors(item) for item in items]
    columns = zip(*map(_tree.tensors, items), strict=True)
    return _tree.rebuild(items[0], iter([ops.stack(column) for column in columns]))


def _row(value, index):
    return _tree.rebuild(value, iter([t[index] for t in _tree.tensors(value)]))
