"""Declared types of inputs: what `Cell.set_inputs` and `jit(input_signature=...)` say, checked at calls."""

from . import _core


def _text(tensor):
    return f"{tensor.dtype} {tuple(tensor.shape)}"


def _fits(declared, given):
    if not isinstance(given, _core.Tensor) or given.dtype != declared.dtype:
        return False
    shapes = declared.shape, given.shape
    return len(shapes[0]) == len(shapes[1]) and all(d in (-1, g) for d, g in zip(*shapes))


def check_one(what, declared, given):
    """Refuses `given` unless it has the declared dtype, rank and known extents. Tuples and lists are checked
    item by item; what is declared as None or as no tensor may be anything.
    """
    if isinstance(declared, (tuple, list)):
        if not isinstance(given, (tuple, list)) or len(given) != len(declared):
            raise ValueError(f"{what}: another structure than was declared: need {len(declared)} items")
        for i, pair in enumerate(zip(declared, given)):
            check_one(f"{what}[{i}]", *pair)
    elif isinstance(declared, _core.Tensor) and not _fits(declared, given):
        got = _text(given) if isinstance(given, _core.Tensor) else type(given).__name__
        raise ValueError(
            f"{what}: not as declared: got {got}, need {_text(declared)}, where -1 is any extent"
        )


def check(name, declared, args, kwargs):
    """Refuses a call of `name` whose inputs are not as declared: a tuple by position, or a dictionary."""
    if isinstance(declared, dict):
        for key, one in declared.items():
            if key not in kwargs:
                raise ValueError(f"{name}: input '{key}' was declared and is missing: need it by name")
            check_one(f"{name}: input '{key}'", one, kwargs[key])
        return
    if len(args) != len(declared):
        raise ValueError(
            f"{name}: number of inputs differs from what was declared: got {len(args)}, need {len(declared)}"
        )
    for i, pair in enumerate(zip(declared, args)):
        check_one(f"{name}: input {i}", *pair)


def as_declared(name, inputs):
    """What is declared, checked: tensors (`Tensor(shape=[None, 3], dtype=...)` leaves an extent open), None,
    and tuples and lists of them.
    """
    for one in inputs.values() if isinstance(inputs, dict) else inputs:
        if isinstance(one, (tuple, list)):
            as_declared(name, one)
        elif one is not None and not isinstance(one, (_core.Tensor, bool, int, float, str)):
            raise TypeError(
                f"{name}: wrong type: got {type(one).__name__}, need a Tensor, None, or a tuple or list of "
                "them"
            )
    return inputs
