"""Jacobians: all derivatives of a function's results for its arguments."""

from . import _autograd, _core, _functions as F, _tree
from ._core import Tensor


def jacrev(fn, grad_position=0, has_aux=False):
    """A function of the arguments of `fn` that gives its Jacobian, row by row in reverse mode: one backward
    pass for each element of the results. Suits functions with fewer results than arguments.

    The Jacobian of a result of shape S for an argument of shape A has shape S + A and the argument's dtype.
    `grad_position` names the argument, or several as a tuple; several results give a tuple of Jacobians,
    several positions a tuple for each result. With `has_aux` only the first result of `fn` is
    differentiated, and (Jacobian, further results) is given; one further result stands alone.

    Raises TypeError when `grad_position` or `has_aux` has the wrong type or an argument is no floating
    Tensor; ValueError when a position is out of range or given twice, or when `has_aux` finds only one
    result.

    >>> from sorus import Tensor, jacrev
    >>> jacrev(lambda x, y: x * y, (0, 1))(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))[0].tolist()
    [[3.0, 0.0], [0.0, 4.0]]
    >>> jacrev(jacrev(lambda x: (x**3).sum()))(Tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return _jacobian_of(fn, grad_position, has_aux, "jacrev", _by_rows)


def jacfwd(fn, grad_position=0, has_aux=False):
    """As `jacrev`, but column by column in forward mode: one pass for each element of the arguments. Suits
    functions with fewer arguments than results.

    >>> from sorus import Tensor, jacfwd
    >>> jacfwd(lambda x: x * x)(Tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    return _jacobian_of(fn, grad_position, has_aux, "jacfwd", _by_columns)


def _jacobian_of(fn, grad_position, has_aux, what, compute):
    _autograd._check_function(fn, what)
    if not isinstance(has_aux, bool):
        raise TypeError(f"{what}: 'has_aux' has the wrong type: got {type(has_aux).__name__}, need a bool")
    if not isinstance(grad_position, (int, tuple, list)):
        raise TypeError(
            f"{what}: 'grad_position' has the wrong type: got {type(grad_position).__name__}, "
            "need an int or a tuple of ints"
        )

    def jacobian(*args):
        positions = _autograd._positions(grad_position, len(args), what)
        if not positions or len(set(positions)) < len(positions):
            raise ValueError(
                f"{what}: 'grad_position' is not usable: got {grad_position}, need different positions"
            )
        args = _autograd._told_apart(args, positions)
        given = [args[p] for p in positions]
        for p, x in zip(positions, given):
            if not isinstance(x, Tensor) or not x.dtype.is_floating_point:
                kind = x.dtype if isinstance(x, Tensor) else type(x).__name__
                raise TypeError(
                    f"{what}: argument {p} has the wrong type: got {kind}, need a Tensor of floating numbers"
                )
        seen = None

        def call():
            nonlocal seen
            seen = _split(fn(*args), has_aux, what)
            return seen[0]

        _, pull = _core.vjp(call, given)
        outputs, aux = seen
        rows = tuple(tuple(row) if len(row) > 1 else row[0] for row in compute(outputs, given, pull))
        rows = rows if len(rows) > 1 else rows[0]
        return (rows, aux) if has_aux else rows

    return _autograd._as_boundary(jacobian)


def _split(result, has_aux, what):
    """The results to differentiate, and those to hand on."""
    aux = None
    if has_aux:
        if not isinstance(result, (tuple, list)) or len(result) < 2:
            raise ValueError(f"{what}: results are too few: got one with 'has_aux', need two or more")
        result, *rest = result
        aux = rest[0] if len(rest) == 1 else tuple(rest)
    outputs = _tree.tensors(result)
    if not outputs:
        raise TypeError(f"{what}: function gives no tensor: got {type(result).__name__}, need a Tensor")
    return outputs, aux


def _unit(like, place):
    """Zeros of that shape with a one at a place of the flat tensor."""
    flat = F.cast(F.equal(F.arange(0, like.size, 1, _core.dtypes["int64"]), place), like.dtype)
    return F.reshape(flat, like.shape)


def _zeros(tensors):
    return [F.full(t.shape, 0, t.dtype) for t in tensors]


def _by_rows(outputs, given, pull):
    """For each result, the Jacobian for each argument."""
    for i, y in enumerate(outputs):
        seeds = _zeros(outputs)
        rows = []
        for place in range(y.size):
            seeds[i] = _unit(y, place)
            rows.append(pull(seeds))
        yield [
            F.reshape(F.stack([row[k] for row in rows], 0), y.shape + x.shape)
            if rows
            else F.full(y.shape + x.shape, 0, x.dtype)
            for k, x in enumerate(given)
        ]


def _by_columns(outputs, given, pull):
    """The same from columns: the pullback is linear, and its own pullback maps tangents forward."""
    seeds = _zeros(outputs)
    _, push = _core.vjp(lambda: pull(seeds), seeds)
    columns = []
    for k, x in enumerate(given):
        tangents = _zeros(given)
        columns.append([])
        for place in range(x.size):
            tangents[k] = _unit(x, place)
            columns[k].append(push(tangents))
    for i, y in enumerate(outputs):
        yield [
            F.reshape(F.stack([column[i] for column in columns[k]], -1), y.shape + x.shape)
            if columns[k]
            else F.full(y.shape + x.shape, 0, y.dtype)
            for k, x in enumerate(given)
        ]
