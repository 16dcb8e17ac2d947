"""Primitives that give their operand as it is and look at its gradient: InsertGradientOf, HookBackward."""

from .. import _calls
from .primitive import Primitive


def _checked(what, name, function):
    if not callable(function):
        raise TypeError(
            f"{what}: '{name}' has the wrong type: got {type(function).__name__}, need a function"
        )
    return function


class InsertGradientOf(Primitive):
    """The operand as it is, whose gradient is `f(gradient)` in its place.

    >>> from sorus import Tensor, ops
    >>> double = ops.InsertGradientOf(lambda g: 2 * g)
    >>> ops.grad(lambda x: double(x) * 3)(Tensor(1.0)).tolist()
    6.0
    """

    def __init__(self, f):
        super().__init__("InsertGradientOf")
        self.f = _checked("InsertGradientOf", "f", f)

    def __call__(self, x):
        return _calls.observed(x, lambda gradients: tuple(self.f(g) for g in gradients))


class HookBackward(Primitive):
    """The operands as they are; `hook_fn` gets their gradients as a tuple, and what it returns, unless it is
    None, stands in their place.
    """

    def __init__(self, hook_fn, cell_id=""):
        super().__init__("HookBackward")
        self.hook_fn, self.cell_id = _checked("HookBackward", "hook_fn", hook_fn), cell_id

    def __call__(self, *inputs):
        made = _calls.observed(inputs, self._hooked)
        return made[0] if len(made) == 1 else made

    def _hooked(self, gradients):
        changed = self.hook_fn(gradients)
        if changed is None:
            return gradients
        return changed if isinstance(changed, tuple) else (changed,)
