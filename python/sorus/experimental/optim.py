"""Optimizers with the arguments of torch, at their older place."""

from ..mint.optim import SGD, Adam, AdamW, Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
