"""What scripts import from `mindspore._extends`: cell_attr_register."""

import functools


def cell_attr_register(fn=None, attrs=None):
    """A decorator of a cell's `__init__` that changes nothing: a program is made of what a cell computes, so
    that its arguments need not be registered. Takes `attrs`, or none, as MindSpore's does.
    """
    if fn is None:
        return functools.partial(cell_attr_register, attrs=attrs)
    return fn
