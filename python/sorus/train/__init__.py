"""Training: Model, callbacks, metrics, checkpoints."""

from .._context import ParallelMode
from . import callback, metrics
from .callback import (
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    ModelCheckpoint,
    OnRequestExit,
    ProgressBar,
    ReduceLROnPlateau,
    RunContext,
    SummaryCollector,
    TerminateOnNan,
    TimeMonitor,
)
from .dataset_helper import DatasetHelper, connect_network_with_dataset
from .loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from .metrics import (
    F1,
    MAE,
    MSE,
    ROC,
    Accuracy,
    BleuScore,
    ConfusionMatrix,
    ConfusionMatrixMetric,
    CosineSimilarity,
    Dice,
    Fbeta,
    HausdorffDistance,
    Loss,
    MeanSurfaceDistance,
    Metric,
    OcclusionSensitivity,
    Perplexity,
    Precision,
    Recall,
    RootMeanSquareDistance,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
    auc,
    get_metric_fn,
    names,
    rearrange_inputs,
)
from .model import Model
from .serialization import (
    checksum,
    load_checkpoint,
    load_checkpoint_async,
    load_param_into_net,
    save_checkpoint,
)
from .sink import data_sink
from .summary import SummaryRecord


def __getattr__(name):
    from .._near import unknown_name

    raise unknown_name(__name__, name, globals())
