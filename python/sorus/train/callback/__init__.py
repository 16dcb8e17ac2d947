"""Callbacks."""

from ._callback import Callback, CallbackManager, InternalCallbackParam, RunContext, _InternalCallbackParam
from ._checkpoint import CheckpointConfig, ModelCheckpoint
from ._learning_rate import LearningRateScheduler
from ._monitors import History, LambdaCallback, LossMonitor, ProgressBar, TerminateOnNan, TimeMonitor
from ._request_exit import OnRequestExit
from ._stopping import EarlyStopping, ReduceLROnPlateau
from ._summary_collector import SummaryCollector

_CallbackManager = CallbackManager

__all__ = [
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ModelCheckpoint",
    "OnRequestExit",
    "ProgressBar",
    "ReduceLROnPlateau",
    "RunContext",
    "SummaryCollector",
    "TerminateOnNan",
    "TimeMonitor",
]
