"""Callbacks."""

from ._callback import Callback, CallbackManager, InternalCallbackParam, RunContext, _InternalCallbackParam
from ._checkpoint import CheckpointConfig, ModelCheckpoint
from ._monitors import History, LambdaCallback, LossMonitor, ProgressBar, TerminateOnNan, TimeMonitor
from ._stopping import EarlyStopping, ReduceLROnPlateau

_CallbackManager = CallbackManager

__all__ = [
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LossMonitor",
    "ModelCheckpoint",
    "ProgressBar",
    "ReduceLROnPlateau",
    "RunContext",
    "TerminateOnNan",
    "TimeMonitor",
]
