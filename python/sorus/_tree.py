"""Nested results (tuples, lists, dictionaries) as flat lists of tensors, and back."""

from ._core import Tensor


def flatten(value, out):
    """Appends the tensors in `value` to `out` in order."""
    if isinstance(value, Tensor):
        out.append(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            flatten(item, out)
    elif isinstance(value, dict):
        for item in value.values():
            flatten(item, out)
    return out


def tensors(value):
    """The tensors in `value` in order."""
    return flatten(value, [])


def rebuild(value, replacements):
    """`value` with its tensors replaced by the next ones of the iterator; everything else stays."""
    if isinstance(value, Tensor):
        return next(replacements)
    if isinstance(value, (tuple, list)):
        made = [rebuild(item, replacements) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {key: rebuild(item, replacements) for key, item in value.items()}
    return value
