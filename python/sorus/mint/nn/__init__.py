"""Layers with the names and arguments of torch."""

from . import functional
