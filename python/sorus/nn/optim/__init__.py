"""Optimizers."""

from .adam import AdaMax, Adam, AdamOffload, AdamWeightDecay, Lamb, LazyAdam
from .adaptive import FTRL, Adadelta, Adagrad, ProximalAdagrad, Rprop
from .asgd import ASGD
from .lars import LARS
from .momentum import Momentum
from .optimizer import Optimizer
from .rmsprop import RMSProp
from .sgd import SGD

__all__ = [
    "ASGD",
    "Adadelta",
    "Adagrad",
    "AdaMax",
    "Adam",
    "AdamOffload",
    "AdamWeightDecay",
    "FTRL",
    "LARS",
    "Lamb",
    "LazyAdam",
    "Momentum",
    "Optimizer",
    "ProximalAdagrad",
    "RMSProp",
    "Rprop",
    "SGD",
]
