"""TimeMonitor under its own place."""

from ._monitors import TimeMonitor

__all__ = ["TimeMonitor"]
