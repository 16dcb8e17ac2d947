"""Optimizers."""

from .algorithms import *
from .optimizer import Optimizer
