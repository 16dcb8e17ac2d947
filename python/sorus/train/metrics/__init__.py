"""Metrics, by class and by name."""

from .bleu import BleuScore
from .confusion import ConfusionMatrixMetric
from .library import (
    F1,
    MAE,
    MSE,
    Accuracy,
    ConfusionMatrix,
    CosineSimilarity,
    Dice,
    Fbeta,
    Loss,
    Perplexity,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from .metric import EvaluationBase, Metric, rearrange_inputs
from .occlusion import OcclusionSensitivity
from .roc import ROC, auc
from .surface import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance

_FACTORIES = {
    "accuracy": Accuracy,
    "acc": Accuracy,
    "precision": Precision,
    "recall": Recall,
    "F1": F1,
    "dice": Dice,
    "mae": MAE,
    "mse": MSE,
    "topk": TopKCategoricalAccuracy,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "loss": Loss,
    "confusion_matrix": ConfusionMatrix,
    "cosine_similarity": CosineSimilarity,
    "perplexity": Perplexity,
    "roc": ROC,
    "bleu_score": BleuScore,
    "confusion_matrix_metric": ConfusionMatrixMetric,
    "hausdorff_distance": HausdorffDistance,
    "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance,
    "occlusion_sensitivity": OcclusionSensitivity,
}


def names():
    """Names by which metrics are known."""
    return list(_FACTORIES)


def get_metric_fn(name, *args, **kwargs):
    """The metric of that name."""
    if name not in _FACTORIES:
        raise KeyError(f"get_metric_fn: unknown metric: got {name!r}, need one of {sorted(_FACTORIES)}")
    return _FACTORIES[name](*args, **kwargs)


def get_metrics(metrics):
    """Metrics by name, from a dict, or from names."""
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(
                    f"get_metrics: entry has the wrong type: got {name!r}: {type(metric).__name__}"
                )
        return metrics
    if isinstance(metrics, (set, list, tuple)):
        return {name: get_metric_fn(name) for name in metrics}
    raise TypeError(f"get_metrics: wrong type: got {type(metrics).__name__}, need a dict or a set of names")


__all__ = [
    "F1",
    "MAE",
    "MSE",
    "ROC",
    "Accuracy",
    "BleuScore",
    "ConfusionMatrix",
    "ConfusionMatrixMetric",
    "CosineSimilarity",
    "Dice",
    "EvaluationBase",
    "Fbeta",
    "HausdorffDistance",
    "Loss",
    "MeanSurfaceDistance",
    "Metric",
    "OcclusionSensitivity",
    "Perplexity",
    "Precision",
    "Recall",
    "RootMeanSquareDistance",
    "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy",
    "auc",
    "get_metric_fn",
    "names",
    "rearrange_inputs",
]
