"""Warnings that point at the line of the program that called the package."""

import sys
import warnings


def warn(text, category=UserWarning):
    """Issues a warning for the innermost line outside the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _is_ours(frame):
    return frame.f_globals.get("__name__", "").partition(".")[0] == __package__
