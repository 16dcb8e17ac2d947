"""LossMonitor under its own place."""

from ._monitors import LossMonitor

__all__ = ["LossMonitor"]
