"""Optimizers with the arguments of torch, at their older place, and schedulers of their rates."""

from ...mint.optim import SGD, Adam, AdamW, Optimizer
from . import lr_scheduler

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
