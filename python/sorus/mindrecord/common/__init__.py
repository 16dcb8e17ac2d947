"""What the modules of MindRecord have in common."""

from . import exceptions

__all__ = ["exceptions"]
