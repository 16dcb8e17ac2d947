"""Gradient functions over the library's tape."""

import contextlib

from . import _calls, _core, _tree
from ._core import Tensor
from .common.parameter import Parameter


def _check_function(fn, what):
    if not callable(fn):
        raise TypeError(f"{what}: 'fn' has the wrong type: got {type(fn).__name__}, need a function or Cell")


def _check_positions(grad_position, what):
    if not isinstance(grad_position, (int, tuple, list)) and grad_position is not None:
        raise TypeError(
            f"{what}: 'grad_position' has the wrong type: got {type(grad_position).__name__}, "
            "need an int or a tuple of ints"
        )


def _positions(grad_position, count, what):
    wanted = (grad_position,) if isinstance(grad_position, int) else tuple(grad_position)
    for p in wanted:
        if not isinstance(p, int) or isinstance(p, bool):
            raise TypeError(
                f"{what}: 'grad_position' has the wrong type: got {p!r}, need an int or a tuple of ints"
            )
        if not 0 <= p < count:
            raise ValueError(f"{what}: 'grad_position' is out of range: got {p}, need 0 to {count - 1}")
    return wanted


def _weights(weights, what):
    if weights is None:
        return [], True
    if isinstance(weights, Tensor):
        return [weights], True
    listed = list(weights) if hasattr(weights, "__iter__") else [None]
    if not all(isinstance(w, Tensor) for w in listed):
        raise TypeError(
            f"{what}: 'weights' have the wrong type: got {type(weights).__name__}, "
            "need a Parameter or a list or tuple of them"
        )
    return listed, False


def _told_apart(args, positions):
    """The arguments with a tensor that is given twice replaced by an equal one of its own, so that each place
    has a gradient of its own.
    """
    seen = set()

    def once(t):
        if id(t) in seen:
            return t.reshape(t.shape)
        seen.add(id(t))
        return t

    given = list(args)
    for p in positions:
        tensors = _tree.tensors(args[p])
        if any(id(t) in seen for t in tensors) or len({id(t) for t in tensors}) < len(tensors):
            given[p] = _tree.rebuild(args[p], iter([once(t) for t in tensors]))
        else:
            seen.update(id(t) for t in tensors)
    return given


def _differentiate(fn, args, kwargs, positions, weights, has_aux, sens):
    """Results of fn, and gradients with the structure of the arguments at `positions` and of `weights`."""
    result = None
    args = _told_apart(args, positions)

    def call():
        nonlocal result
        result = fn(*args, **kwargs)
        found = _tree.tensors(result)
        if not found and isinstance(result, (int, float)):
            return [Tensor(float(result))]  # a constant, whose gradient is zero
        if not found:
            raise TypeError(f"grad: function gives no tensor: got {type(result).__name__}, need a Tensor")
        return found

    sources = [args[p] for p in positions]
    _, inputs, parameters = _core.value_and_grad(call, _tree.tensors(sources), weights, has_aux, sens)
    stream = iter(inputs)
    return result, tuple(_tree.rebuild(s, stream) for s in sources), parameters


def _arrange(inputs, single_input, parameters, single_weight, grad_position, weights):
    inputs = inputs[0] if single_input else inputs
    parameters = parameters[0] if single_weight and parameters else parameters
    if grad_position is None:
        return parameters
    return inputs if weights is None else (inputs, parameters)


def _as_boundary(function):
    """In graph mode each outermost call is a boundary."""

    def call(*args, **kwargs):
        if _calls.boundaries:
            return _calls.boundaries(call, function, args, kwargs)
        return function(*args, **kwargs)

    return call


def value_and_grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False):
    """A function that gives the results of `fn` and its gradient for the arguments at `grad_position` and for
    `weights`.

    The first result must be the loss; with `has_aux` further results are given back but not
    differentiated. One
    position or one weight gives a tensor, several a tuple; both kinds give a pair. With `return_ids` each
    gradient
    comes with the position or the parameter's name.

    >>> from sorus import Tensor, value_and_grad
    >>> value, gradient = value_and_grad(lambda x: (x * x).sum())(Tensor([1.0, 2.0]))
    >>> float(value), gradient.tolist()
    (5.0, [2.0, 4.0])
    """
    if grad_position is None and weights is None:
        raise ValueError(
            "value_and_grad: nothing to differentiate for: got no 'grad_position' and no 'weights', need one "
            "of them"
        )
    _check_function(fn, "value_and_grad")
    _check_positions(grad_position, "value_and_grad")
    chosen, single_weight = _weights(weights, "value_and_grad")

    def differentiated(*args, **kwargs):
        positions = () if grad_position is None else _positions(grad_position, len(args), "value_and_grad")
        result, inputs, parameters = _differentiate(fn, args, kwargs, positions, chosen, has_aux, ())
        if return_ids:
            inputs = tuple(zip(positions, inputs))
            parameters = tuple((p.name, g) for p, g in zip(chosen, parameters))
        single = len(positions) == 1
        return result, _arrange(inputs, single, parameters, single_weight, grad_position, weights)

    return _as_boundary(differentiated)


def grad(fn, grad_position=0, weights=None, has_aux=False, return_ids=False):
    """As `value_and_grad`, giving the gradients alone, or (gradients, further results) with `has_aux`.

    >>> from sorus import Tensor, grad
    >>> grad(lambda x, y: x * y, (0, 1))(Tensor(2.0), Tensor(3.0))[0].item()
    3.0
    >>> grad(grad(lambda x: x**3))(Tensor(2.0)).item()
    12.0
    """
    both = value_and_grad(fn, grad_position, weights, has_aux, return_ids)

    def gradient(*args, **kwargs):
        result, gradients = both(*args, **kwargs)
        return (gradients, result[1:]) if has_aux else gradients

    return gradient


class GradOperation:
    """Makes gradient functions: `GradOperation(get_all, get_by_list, sens_param)(net, weights)(*inputs)`.

    `get_all` differentiates for every tensor argument instead of the first, `get_by_list` for `weights`
    (of a Cell:
    its trainable parameters by default), and with `sens_param` the last argument is the gradient of the
    result.
    """

    def __init__(self, get_all=False, get_by_list=False, sens_param=False):
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(
                    f"GradOperation: '{name}' has the wrong type: got {type(value).__name__}, need bool"
                )
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    def __call__(self, fn, weights=None):
        if self.get_by_list and weights is None and hasattr(fn, "trainable_params"):
            weights = fn.trainable_params()
        _check_function(fn, "GradOperation")
        chosen, single_weight = _weights(weights if self.get_by_list else None, "GradOperation")

        def gradient(*args, **kwargs):
            sens = ()
            if self.sens_param:
                *args, last = args
                sens = _tree.tensors(last)
            positions = [i for i, a in enumerate(args) if _tree.tensors(a)]
            if not self.get_all:
                positions = [] if self.get_by_list else positions[:1]
            floating = [
                p for p in positions if all(t.dtype.is_floating_point for t in _tree.tensors(args[p]))
            ]
            _, inputs, parameters = _differentiate(fn, tuple(args), kwargs, floating, chosen, False, sens)
            parameters = parameters[0] if single_weight and parameters else parameters
            if self.get_by_list:
                return (inputs, parameters) if self.get_all else parameters
            return inputs if self.get_all else (inputs[0] if inputs else ())

        return _as_boundary(gradient)


def vjp(fn, *inputs, weights=None, has_aux=False):
    """Results of `fn(*inputs)` and a function from gradients of the results to gradients of the inputs.

    Without inputs the function is returned that takes them. With `weights` the pullback gives
    (gradients of inputs, gradients of weights); with `has_aux` the auxiliary results come third.

    >>> from sorus import Tensor, vjp
    >>> result, pullback = vjp(lambda x: x * x, Tensor([1.0, 2.0]))
    >>> pullback(Tensor([1.0, 10.0])).tolist()
    [2.0, 40.0]
    """
    _check_function(fn, "vjp")
    chosen, _ = _weights(weights, "vjp")
    if not inputs:
        raise TypeError("vjp: no inputs: got none, need the arguments of the function")
    result = None

    def call():
        nonlocal result
        result = fn(*inputs)
        return _tree.tensors(result[0] if has_aux else result)

    sources = _tree.tensors(inputs)
    _, pull = _core.vjp(call, [*sources, *chosen])

    def pullback(*gradients):
        found = pull(_tree.tensors(gradients))
        of_inputs = _tree.rebuild(inputs, iter(found))
        of_inputs = of_inputs[0] if len(of_inputs) == 1 and not chosen else of_inputs
        return of_inputs if weights is None else (of_inputs, found[len(sources) :])

    if has_aux:
        return result[0], pullback, result[1] if len(result) == 2 else result[1:]
    return result, pullback


def jvp(fn, inputs, v, has_aux=False):
    """Results of `fn` at `inputs` and their directional derivatives along `v`.

    >>> from sorus import Tensor, jvp
    >>> result, tangent = jvp(lambda x: x * x, Tensor([1.0, 2.0]), Tensor([1.0, 10.0]))
    >>> tangent.tolist()
    [2.0, 40.0]
    """
    _check_function(fn, "jvp")
    args = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    result = None

    def call():
        nonlocal result
        result = fn(*args)
        return _tree.tensors(result[0] if has_aux else result)

    _, tangents = _core.jvp(call, _tree.tensors(args), _tree.tensors(v))
    primal = result[0] if has_aux else result
    tangent = _tree.rebuild(primal, iter(tangents))
    return (primal, tangent, result[1] if len(result) == 2 else result[1:]) if has_aux else (primal, tangent)


def custom_bprop(construct, bprop, args):
    """`construct(*args)` whose gradient is `bprop(*args, out, dout)`, as a Cell's `bprop` says it."""
    sources = _tree.tensors(args)
    shape = None

    def call(*tensors):
        nonlocal shape
        shape = construct(*_tree.rebuild(args, iter(tensors)))
        return _tree.tensors(shape)

    def rule(operands, results, gradients):
        whole = _tree.rebuild(args, iter(operands))
        zeros = [g if g is not None else r * 0 for g, r in zip(gradients, results)]
        found = bprop(*whole, _tree.rebuild(shape, iter(results)), _tree.rebuild(shape, iter(zeros)))
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) > len(args):
            raise ValueError(
                f"{bprop.__qualname__}: too many gradients: got {len(found)}, need {len(args)}, one for each "
                "argument of construct"
            )
        flat = []
        for argument, gradient in zip(args, found):
            flat += _tree.tensors(gradient)[: len(_tree.tensors(argument))]
        return flat

    results = _core.custom_gradient(call, sources, rule)
    return _tree.rebuild(shape, iter(results))


def recompute(block, *args, **kwargs):
    """`block(*args, **kwargs)`, which keeps nothing of its inside for the backward pass: that computes it
    again. Results and gradients are the same to the bit, random masks too; it takes less memory and more
    time.

    `block` is a Cell or a function. Other values raise TypeError.

    >>> from sorus import Tensor, nn, ops, recompute
    >>> act = nn.SequentialCell(nn.Sigmoid(), nn.Tanh())
    >>> x = Tensor([0.5, -1.0])
    >>> slope = ops.grad(lambda x: recompute(act, x).sum())(x)
    >>> bool((slope == ops.grad(lambda x: act(x).sum())(x)).all())
    True
    """
    if not callable(block):
        raise TypeError(
            f"recompute: 'block' has the wrong type: got {type(block).__name__}, need a Cell or function"
        )
    return recomputed(block, args, kwargs) if _core.in_gradient_scope() else block(*args, **kwargs)


def get_grad(gradients, identifier):
    """One gradient of those that `grad(..., return_ids=True)` gave.

    `identifier` is the position of an argument, or a Parameter, which is known by its name. Raises
    RuntimeError when there is no such gradient, TypeError when the identifier is something else.

    >>> from sorus import Tensor, get_grad, grad
    >>> both = grad(lambda x, y: x * x * y, (0, 1), return_ids=True)(Tensor(2.0), Tensor(3.0))
    >>> get_grad(both, 1).item()
    4.0
    """
    if isinstance(identifier, Parameter):
        wanted = identifier.name
    elif isinstance(identifier, int):
        wanted = int(identifier)
    else:
        raise TypeError(
            f"get_grad: 'identifier' has the wrong type: got {type(identifier).__name__}, "
            "need a position or a Parameter"
        )
    found = _find_grad(gradients, wanted)
    if found is None:
        raise RuntimeError(f"get_grad: gradient is not there: got none for {wanted!r}, need one with its id")
    return found


def _find_grad(gradients, wanted):
    """The tensor of the pair that begins with the id, among pairs, tuples of them or pairs of those."""
    if not isinstance(gradients, (tuple, list)):
        return None
    if len(gradients) == 2 and isinstance(gradients[1], Tensor):
        same = type(gradients[0]) is type(wanted) and gradients[0] == wanted
        return gradients[1] if same else None
    for part in gradients:
        found = _find_grad(part, wanted)
        if found is not None:
            return found
    return None


def recomputed(fn, args, kwargs=None):
    """`fn(*args, **kwargs)`, whose inside is computed again in the backward pass instead of being kept."""
    sources = _tree.tensors(args)
    shape = None

    def call(*tensors):
        nonlocal shape
        shape = fn(*_tree.rebuild(args, iter(tensors)), **(kwargs or {}))
        return _tree.tensors(shape)

    results = _core.recompute(call, sources)
    return _tree.rebuild(shape, iter(results))


class no_grad(contextlib.ContextDecorator):
    """Within it nothing is recorded for gradients, as if each result went through `stop_gradient`. It is for
    `with` statements and decorates functions.

    >>> import sorus as ms
    >>> def f(x):
    ...     with ms.no_grad():
    ...         scale = x * 2
    ...     return scale * x
    >>> ms.grad(f)(ms.Tensor(3.0)).item()
    6.0
    """

    def __init__(self):
        self._pauses = _core.GradientPauses()

    def _recreate_cm(self):
        """Each call of a decorated function has its own: they may come from several threads."""
        return no_grad()

    def __enter__(self):
        self._pauses.begin()

    def __exit__(self, *raised):
        self._pauses.end()


_no_grad = no_grad
