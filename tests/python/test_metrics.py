"""ROC, BLEU, measures of counts, distances of surfaces and occlusion against values by hand."""

import math

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, train

R = np.random.RandomState(2)


def evaluated(metric, *batches):
    for batch in batches:
        metric.update(*batch)
    return metric.eval()


def rates(scores, positive, threshold):
    """Shares of negatives and of positives whose score reaches the threshold."""
    reached = scores >= threshold
    return (reached & ~positive).sum() / (~positive).sum(), (reached & positive).sum() / positive.sum()


def check_curve(curve, scores, positive):
    false_rates, true_rates, thresholds = curve
    want = sorted(set(scores.tolist()), reverse=True)
    assert thresholds.tolist() == [np.float32(scores.max() + 1), *want]
    for f, t, threshold in zip(false_rates, true_rates, thresholds):
        assert (f, t) == rates(scores, positive, threshold)


def test_roc_of_two_classes():
    scores = np.round(R.rand(40), 1).astype(np.float32)
    labels = R.randint(0, 2, 40)
    whole = evaluated(train.ROC(), (Tensor(scores), Tensor(labels)))
    check_curve(whole, scores, labels == 1)
    parts = evaluated(train.ROC(), (scores[:25], labels[:25]), (Tensor(scores[25:]), Tensor(labels[25:])))
    for a, b in zip(whole, parts):
        np.testing.assert_array_equal(a, b)
    check_curve(evaluated(train.ROC(pos_label=0), (scores, labels)), scores, labels == 0)
    # The area is the chance that a positive one has the larger score, ties counting half.
    pairs = scores[labels == 1][:, None] - scores[labels == 0][None]
    assert math.isclose(train.auc(*whole[:2]), ((pairs > 0) + 0.5 * (pairs == 0)).mean())


def test_roc_of_several_classes():
    scores, labels = R.rand(30, 4, 2).astype(np.float32), R.randint(0, 4, (30, 2))
    curves = evaluated(train.ROC(class_num=4), (Tensor(scores), Tensor(labels)))
    assert all(isinstance(part, list) and len(part) == 4 for part in curves)
    for c in range(4):
        check_curve([part[c] for part in curves], scores[:, c].reshape(-1), labels.reshape(-1) == c)


def test_roc_refuses():
    scores, labels = Tensor([0.1, 0.2]), Tensor([0, 1])
    with pytest.raises(RuntimeError, match="need an update"):
        train.ROC().eval()
    roc = train.ROC()
    roc.update(scores, labels)
    roc.clear()
    with pytest.raises(RuntimeError, match="need an update"):
        roc.eval()
    for metric, batch, text in (
        (train.ROC(), (scores,), "number of inputs"),
        (train.ROC(), (scores, Tensor([1, 2, 3])), "shapes do not fit"),
        (train.ROC(3), (scores, labels), "'class_num' does not fit"),
        (train.ROC(3), (Tensor(np.ones((2, 4))), labels), "need 4"),
        (train.ROC(), (scores, Tensor([1, 1])), "no negative one"),
        (train.ROC(), (scores, Tensor([0, 0])), "no positive one"),
    ):
        with pytest.raises(ValueError, match=text):
            evaluated(metric, batch)
    for bad in ({"class_num": "a"}, {"pos_label": 1.5}):
        with pytest.raises(TypeError, match="need an int"):
            train.ROC(**bad)


def test_auc():
    up = np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])
    assert train.auc(*up) == 0.75
    assert train.auc(up[0][::-1], up[1][::-1]) == 0.75
    assert train.auc(up[0][:, None], up[1][:, None]) == 0.75
    mixed = np.array([1.0, 0.0, 2.0]), np.array([0.0, 1.0, 1.0])
    assert train.auc(*mixed, reorder=True) == 1.0
    for x, y, text in (
        (*mixed, "does not go one way"),
        (up[0], up[1][:2], "do not fit"),
        (up[0][:1], up[1][:1], "2 or more"),
        (np.ones((2, 2)), np.ones((2, 2)), "wrong shape"),
    ):
        with pytest.raises(ValueError, match=text):
            train.auc(x, y)
    with pytest.raises(TypeError, match="need arrays"):
        train.auc([0, 1], [0, 1])


CANDIDATES = [["i", "have", "a", "pen", "on", "my", "desk"], ["the", "the", "the", "cat"]]
REFERENCES = [
    [["i", "have", "a", "pen", "in", "my", "desk"], ["there", "is", "a", "pen", "on", "the", "desk"]],
    [["the", "cat", "sat"], ["a", "cat", "is", "here", "now"]],
]


def test_bleu():
    """Found of given n-grams, by hand: 7/7, 5/6, 3/5, 1/4 and 2/4, 1/3, 0/2, 0/1."""
    first = CANDIDATES[:1], REFERENCES[:1]
    score = evaluated(train.BleuScore(), first)
    assert math.isclose(score, (7 / 7 * 5 / 6 * 3 / 5 * 1 / 4) ** 0.25)
    assert math.isclose(evaluated(train.BleuScore(2), first), math.sqrt(5 / 6))
    both = math.sqrt(9 / 11 * 6 / 9)
    assert math.isclose(evaluated(train.BleuScore(2), (CANDIDATES, REFERENCES)), both)
    parts = [(CANDIDATES[i : i + 1], REFERENCES[i : i + 1]) for i in (0, 1)]
    assert math.isclose(evaluated(train.BleuScore(2), *parts), both)
    smooth = evaluated(train.BleuScore(smooth=True), first)
    assert math.isclose(smooth, (8 / 8 * 6 / 7 * 4 / 6 * 2 / 5) ** 0.25)
    # Shorter than the nearest reference: exp(1 - 4 / 2).
    short = evaluated(train.BleuScore(1), ([["the", "cat"]], [[["the", "cat", "sat", "on"]]]))
    assert math.isclose(short, math.exp(-1))
    tie = evaluated(train.BleuScore(1), ([["a", "b", "c"]], [[["a", "b", "c", "d"], ["a", "b"]]]))
    assert tie == 1.0
    assert evaluated(train.BleuScore(), ([["a", "b"]], [[["c", "d"]]])) == 0.0


def test_bleu_refuses():
    with pytest.raises(RuntimeError, match="need an update"):
        train.BleuScore().eval()
    for bad in (lambda: train.BleuScore(5), lambda: train.BleuScore(0)):
        with pytest.raises(ValueError, match="need 1 to 4"):
            bad()
    for bad in (lambda: train.BleuScore("a"), lambda: train.BleuScore(4, 1)):
        with pytest.raises(TypeError, match="wrong type"):
            bad()
    for batch in ((CANDIDATES,), (CANDIDATES, REFERENCES[:1]), (CANDIDATES[:1], [[]])):
        with pytest.raises(ValueError, match="got"):
            train.BleuScore().update(*batch)


def test_measures_of_counts():
    """3 true positives, 1 false positive, 4 true negatives, 2 false negatives."""
    predicted = np.array([[1, 1, 1, 1, 0, 0, 0, 0, 0, 0]])
    true = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 1, 1]])
    tp, fp, tn, fn = 3, 1, 4, 2
    tpr, tnr, ppv, npv = tp / 5, tn / 5, tp / 4, tn / 6
    want = {
        "sensitivity": tpr,
        "specificity": tnr,
        "precision": ppv,
        "negative_predictive_value": npv,
        "miss_rate": fn / 5,
        "fall_out": fp / 5,
        "false_discovery_rate": fp / 4,
        "false_omission_rate": fn / 6,
        "prevalence_threshold": (math.sqrt(tpr * (1 - tnr)) + tnr - 1) / (tpr + tnr - 1),
        "threat_score": tp / 6,
        "accuracy": 7 / 10,
        "balanced_accuracy": (tpr + tnr) / 2,
        "f1_score": 6 / 9,
        "matthews_correlation_coefficient": (tp * tn - fp * fn) / math.sqrt(4 * 5 * 5 * 6),
        "fowlkes_mallows_index": math.sqrt(ppv * tpr),
        "informedness": tpr + tnr - 1,
        "markedness": ppv + npv - 1,
        "recall": tpr,
        "mcc": (tp * tn - fp * fn) / math.sqrt(4 * 5 * 5 * 6),
        "hit rate": tpr,
        "FPR": fp / 5,
    }
    for name, value in want.items():
        metric = train.ConfusionMatrixMetric(False, name)
        half = evaluated(
            metric, (Tensor(predicted[:, :4]), Tensor(true[:, :4])), (predicted[:, 4:], true[:, 4:])
        )
        assert half.shape == (1,) and math.isclose(half[0], value), name
        places = Tensor(predicted[:, None]), Tensor(true[:, None])
        assert math.isclose(evaluated(train.ConfusionMatrixMetric(True, name, True), places), value), name


def test_confusion_by_item_and_channel():
    predicted, true = R.randint(0, 2, (2, 5, 3, 4)), R.randint(0, 2, (2, 5, 3, 4))
    true[1, 2, 1] = 0  # no positives: undefined there
    hits = (predicted & true).sum(-1) / np.maximum(true.sum(-1), 1)
    hits[true.sum(-1) == 0] = np.nan
    hits = hits.reshape(10, 3)
    assert np.isnan(hits).sum() >= 1
    for skip in (True, False):
        kept = hits[:, 1:] if skip else hits
        for decrease, want in (
            ("none", kept),
            ("mean", np.nanmean(kept)),
            ("sum", np.nansum(kept)),
            ("mean_batch", np.nanmean(kept, 0)),
            ("sum_batch", np.nansum(kept, 0)),
            ("mean_channel", np.ma.masked_invalid(kept).mean(1).filled(np.nan)),
            ("sum_channel", np.nansum(kept, 1)),
        ):
            metric = train.ConfusionMatrixMetric(skip, "tpr", True, decrease)
            got = evaluated(metric, *((Tensor(p), Tensor(t)) for p, t in zip(predicted, true)))
            np.testing.assert_allclose(got, want)
    zeros = Tensor(np.zeros((1, 2), np.int32))
    assert np.isnan(evaluated(train.ConfusionMatrixMetric(), (zeros, zeros))[0])


def test_confusion_refuses():
    y = Tensor([[0, 1], [1, 0]])
    with pytest.raises(RuntimeError, match="need an update"):
        train.ConfusionMatrixMetric().eval()
    for bad in (
        lambda: train.ConfusionMatrixMetric(metric_name="zz"),
        lambda: train.ConfusionMatrixMetric(decrease="zz"),
        lambda: train.ConfusionMatrixMetric().update(y),
        lambda: train.ConfusionMatrixMetric().update(y, y[:1]),
        lambda: train.ConfusionMatrixMetric().update(y + 3, y),
    ):
        with pytest.raises(ValueError, match="got"):
            bad()
    for bad in ({"skip_channel": 1}, {"calculation_method": 1}, {"metric_name": 3}):
        with pytest.raises(TypeError, match="need"):
            train.ConfusionMatrixMetric(**bad)


def edge_places(region):
    """Places of the region with a neighbour outside, by looking at each one."""
    found = []
    for place in np.argwhere(region):
        for axis in range(region.ndim):
            for step in (1, -1):
                other = place.copy()
                other[axis] += step
                inside = 0 <= other[axis] < region.shape[axis] and region[tuple(other)]
                if not inside and tuple(place) not in found:
                    found.append(tuple(place))
    return np.array(found)


NORMS = {"euclidean": 2, "chessboard": np.inf, "taxicab": 1}


@pytest.mark.parametrize("distance", list(NORMS))
def test_distances_of_surfaces(distance):
    first, second = np.zeros((9, 8), int), np.zeros((9, 8), int)
    first[1:6, 2:6], second[4:9, 3:8] = 1, 1
    first[8, 0] = 1
    a, b = edge_places(first == 1), edge_places(second == 1)
    apart = np.linalg.norm(a[:, None] - b[None], NORMS[distance], -1)
    there, back = apart.min(1), apart.min(0)
    batch = Tensor(first), Tensor(second), 1

    def of(kind, **kwargs):
        return evaluated(kind(distance_metric=distance, **kwargs), batch)

    assert math.isclose(of(train.HausdorffDistance), max(there.max(), back.max()))
    assert math.isclose(of(train.HausdorffDistance, directed=True), there.max())
    share = max(np.percentile(there, 80), np.percentile(back, 80))
    assert math.isclose(of(train.HausdorffDistance, percentile=80), share)
    assert math.isclose(of(train.MeanSurfaceDistance), there.mean())
    whole = np.concatenate([there, back])
    assert math.isclose(of(train.MeanSurfaceDistance, symmetric=True), whole.mean())
    assert math.isclose(of(train.RootMeanSquareDistance), math.sqrt((there**2).mean()))
    assert math.isclose(of(train.RootMeanSquareDistance, symmetric=True), math.sqrt((whole**2).mean()))


def test_distances_without_a_region():
    here, nowhere = Tensor([[1, 0]]), Tensor([[0, 0]])
    for kind in (train.HausdorffDistance, train.MeanSurfaceDistance, train.RootMeanSquareDistance):
        assert evaluated(kind(), (here, nowhere, 1)) == math.inf
        assert math.isnan(evaluated(kind(), (nowhere, nowhere, 1)))
        assert evaluated(kind(), (here, here, 1)) == 0.0
        with pytest.raises(RuntimeError, match="need an update"):
            kind().eval()
        for bad in ((here, nowhere), (here, Tensor([[1]]), 1)):
            with pytest.raises(ValueError, match="got"):
                kind().update(*bad)
        with pytest.raises(TypeError, match="need a number"):
            kind().update(here, here, "1")
        with pytest.raises(ValueError, match="unknown 'distance_metric'"):
            kind(distance_metric="far")
    with pytest.raises(ValueError, match="need 0 to 100"):
        train.HausdorffDistance(percentile=101)
    with pytest.raises(TypeError, match="need a bool"):
        train.MeanSurfaceDistance(symmetric=1)


class Scores(nn.Cell):
    """Two classes: the sums of the image's left and right halves."""

    def construct(self, x):
        middle = x.shape[-1] // 2
        parts = [x[..., :middle].sum((1, 2, 3)), x[..., middle:].sum((1, 2, 3))]
        return ms.ops.stack(parts, 1)


def test_occlusion():
    image = R.rand(1, 2, 4, 6).astype(np.float32)
    for margin, n_batch, pad in ((0, 128, 0.0), (1, 5, 0.25), ((1, 0), 7, 0.0)):
        metric = train.OcclusionSensitivity(pad_val=pad, margin=margin, n_batch=n_batch)
        got = evaluated(metric, (Scores(), Tensor(image), 1))
        down, across = margin if isinstance(margin, tuple) else (margin, margin)
        for i in range(4):
            for j in range(6):
                covered = image.astype(np.float64)
                covered[:, :, max(i - down, 0) : i + down + 1, max(j - across, 0) : j + across + 1] = pad
                want = (image - covered)[..., 3:].sum()
                np.testing.assert_allclose(got[i, j], want, 1e-4, 1e-5)
    box = [1, 2, 0, -1]
    part = evaluated(train.OcclusionSensitivity(0.0, (1, 0), 7, box), (Scores(), Tensor(image), Tensor([1])))
    np.testing.assert_array_equal(part, got[1:3])
    for bad in ({"margin": -1}, {"n_batch": 0}):
        with pytest.raises(ValueError, match="out of range"):
            train.OcclusionSensitivity(**bad)
    for bad in ({"pad_val": "a"}, {"margin": 1.5}, {"n_batch": 1.5}):
        with pytest.raises(TypeError, match="need a number"):
            train.OcclusionSensitivity(**bad)
    with pytest.raises(RuntimeError, match="need an update"):
        train.OcclusionSensitivity().eval()
    with pytest.raises(ValueError, match="'b_box' is out of range"):
        evaluated(train.OcclusionSensitivity(b_box=[0, 9, 0, 1]), (Scores(), Tensor(image), 1))


def test_by_name_and_old_place():
    for name, kind in (
        ("roc", train.ROC),
        ("bleu_score", train.BleuScore),
        ("confusion_matrix_metric", train.ConfusionMatrixMetric),
        ("hausdorff_distance", train.HausdorffDistance),
        ("mean_surface_distance", train.MeanSurfaceDistance),
        ("root_mean_square_distance", train.RootMeanSquareDistance),
        ("occlusion_sensitivity", train.OcclusionSensitivity),
    ):
        assert name in train.names()
        assert type(train.get_metric_fn(name)) is kind is getattr(nn, kind.__name__)
    assert nn.auc is train.auc
    metric = train.ROC().set_indexes([2, 0])
    metric.update(Tensor([0, 1]), Tensor([5.0]), Tensor([0.3, 0.4]))
    assert metric.eval()[1].tolist() == [0.0, 1.0, 1.0]
