"""Errors in the words of what the user called.

A public function is composed of others, whose errors name themselves, and of Python code, whose errors name
nothing. When a call fails, the outermost function of rows, or the layer that computed without one, tells the
error anew, and each Cell on the way adds itself. Only what goes wrong inside the package is told anew, never
an error of a user's own code.
"""

_TOLD = (
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
    ZeroDivisionError,
)
# What an error of Python's own becomes. TypeError and ValueError stay what they are.
_BECOMES = {
    AttributeError: TypeError,
    IndexError: ValueError,
    KeyError: ValueError,
    OverflowError: ValueError,
    ZeroDivisionError: ValueError,
}
_KEPT = ("memory", "internal error", "recursion")  # errors that are no function's
_LONGEST = 60
_LAYERS = ("sorus.nn.layer.", "sorus.nn.loss.")


def restated(error, function, arguments, keywords):
    """The error to raise instead of `error`, which a call of a function of rows has raised."""
    from ._rows import spellings_of

    told = _retold(error, function.__name__, lambda: " or ".join(spellings_of(function)), arguments, keywords)
    if told is error and type(error) is TypeError and "_told" in error.__dict__:
        error.args = (_in_names_of(function, str(error), arguments, keywords),)
    return told


_OF_WRONG_TYPE = r"(.*\bargument ')(\w+)(' has the wrong type: got (\w+), .*)"


def _in_names_of(function, text, arguments, keywords):
    """The text of an error with the user's argument for one of what the function is composed of: the argument
    of the type that the error is about, when there is one such alone.
    """
    import re

    from ._rows import signatures_of

    found = re.fullmatch(_OF_WRONG_TYPE, text, re.DOTALL)
    signatures = signatures_of(function) if found else []
    if not found or any(found[2] in s.parameters for s in signatures):
        return text
    for signature in signatures:
        try:
            given = signature.bind(*arguments, **keywords).arguments
        except TypeError:
            continue
        names = [name for name, value in given.items() if type(value).__name__ == found[4]]
        return found[1] + names[0] + found[3] if len(names) == 1 else text
    return text


def told_in(error, cell, arguments, keywords):
    """The error to raise instead of one that a call of a cell has raised. A layer of the library tells it as
    its own. A note says where: "in Dense 'head.fc1' of Net"; each cell on the way out completes the name.
    """
    kind, name, last, told = error.__dict__.get("_in_cell", (type(cell).__name__, "", None, None))
    if last is None and type(cell).__module__.startswith(_LAYERS) and "_told" not in error.__dict__:
        error = _retold(error, kind, lambda: _call_of(cell), arguments, keywords)
    notes = error.__dict__.setdefault("__notes__", [])
    if told in notes:
        notes.remove(told)
    name = _name_within(cell, last, name)
    told = _place(kind, name, cell if last else None)
    error.__dict__["_in_cell"] = (kind, name, id(cell), told)
    notes.append(told)
    return error


def place_in_cells(cells):
    """Where an op is called, from the cells whose calls are under way, innermost first: "in Dense 'head.fc1'
    of Net".
    """
    name, last = "", None
    for cell in cells:
        name, last = _name_within(cell, last, name), id(cell)
    return _place(type(cells[0]).__name__, name, cells[-1] if len(cells) > 1 else None)


def _name_within(cell, last, name):
    """`name`, which is one within the cell with the id `last`, as a name within `cell`."""
    step = ""
    if last:
        step = next((n for n, child in cell._cells.items() if id(child) == last), "")
        step = step or next((n for n, child in cell.cells_and_names() if id(child) == last), "")
    return ".".join(filter(None, (step, name)))


def _place(kind, name, outermost):
    of = f" of {type(outermost).__name__}" if outermost is not None else ""
    return f"in {kind}" + (f" '{name}'" if name else "") + of


def told_by_constructor(cls):
    """Makes the constructor of a class of the package say which arguments it got where Python code inside
    only stumbles. Errors with a text of their own stay.
    """
    if not cls.__module__.startswith("sorus.") or "__init__" not in vars(cls):
        return
    import functools
    import inspect

    inner = cls.__init__

    @functools.wraps(inner)
    def __init__(self, *args, **kwargs):
        try:
            inner(self, *args, **kwargs)
        except Exception as error:
            told = error
            if "_told" not in error.__dict__:
                told = _retold(
                    error, type(self).__name__, lambda: _construction_of(self), args, kwargs, False
                )
            if told is error:
                raise
            raise told from error

    __init__.__signature__ = inspect.signature(inner)
    cls.__init__ = __init__


def _construction_of(made):
    import inspect

    return f"{type(made).__name__}{inspect.signature(type(made))}"


def _call_of(cell):
    import inspect

    return f"{type(cell).__name__}(...){inspect.signature(cell.construct)}"


def _retold(error, who, needs, arguments, keywords, renames=True):
    """The error as one of `who`; `needs()` says how that is called. Without `renames` a text that names
    something else stays.
    """
    if type(error) not in _TOLD or not _is_ours(error.__traceback__):
        return error
    text = str(error) if type(error) is not KeyError else str(error.args[0]) if error.args else ""
    name, colon, rest = text.partition(": ")
    named = bool(colon) and not name.startswith("'") and " " not in name.strip()
    if named and name in _KEPT:
        return error
    if named and (": got" in rest or "need" in rest):
        if not renames:
            return error
        error.args = (f"{who}: {rest}",)
    elif text.startswith("'") and ": got" in text:  # helpers that know the argument only
        error.args = (f"{who}: {text}",)
    elif not isinstance(error, (RuntimeError, NotImplementedError)):
        error = _of_python(error, text, who, needs(), arguments, keywords)
    error.__dict__["_told"] = True
    return error


def _of_python(error, text, who, need, arguments, keywords):
    """An error that says what it is about, made of one that says nothing but what Python stumbled over."""
    what = "arguments do not fit"
    if isinstance(error, MemoryError):
        what = "memory does not suffice"
    elif isinstance(error, (AttributeError, TypeError)):
        what = "arguments of the wrong type"
    given = [*map(shown, arguments), *(f"{key}={shown(value)}" for key, value in keywords.items())]
    reason = f" ({text})" if text else ""
    kind = _BECOMES.get(type(error), type(error))
    made = kind(f"{who}: {what}{reason}: got ({', '.join(given)}), need {need}")
    made.__cause__ = error
    return made


def shown(value):
    """A value in an error: short ones as they are, tensors by their shapes and dtypes."""
    from ._core import Tensor

    if isinstance(value, Tensor):
        return f"Tensor{list(value.shape)} of {value.dtype}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(shown(v) for v in value[:8]) + (", ..." if len(value) > 8 else "")
        text = f"[{inner}]" if isinstance(value, list) else f"({inner})"
    elif value is None or isinstance(value, (bool, int, float, complex, str, slice)):
        text = repr(value)
    else:
        text = type(value).__name__
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _is_ours(trace):
    """True when the innermost Python code of a traceback is of the package or of NumPy, called by it."""
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] in ("sorus", "numpy")
