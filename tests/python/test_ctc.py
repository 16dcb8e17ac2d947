"""Connectionist temporal classification against sums over all paths, eager and in graph mode."""

import itertools

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops

R = np.random.RandomState(8)
STEPS, BATCH, CLASSES = 5, 3, 4
LOGITS = R.randn(STEPS, BATCH, CLASSES)
LENGTHS = np.array([5, 4, 5], np.int32)


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


LOGS = log_softmax(LOGITS)


def spelled(path, blank, merge=True):
    """What a path spells: repeats count once, blanks do not."""
    found = []
    for i, c in enumerate(path):
        if c != blank and not (merge and i and path[i - 1] == c):
            found.append(c)
    return found


def chance(logs, labels, blank, merge=True):
    """The chance of labels, path by path."""
    steps, classes = logs.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        if spelled(path, blank, merge) == list(labels):
            total += np.exp(sum(logs[t, c] for t, c in enumerate(path)))
    return total


LABELS = np.array([[1, 2], [3, 3], [2, -7]], np.int32)
COUNTS = np.array([2, 2, 1], np.int32)


def wanted(blank=0, labels=LABELS, counts=COUNTS):
    chances = [chance(LOGS[: LENGTHS[i], i], labels[i, : counts[i]], blank) for i in range(BATCH)]
    with np.errstate(divide="ignore"):
        return -np.log(chances)


def test_losses(mode):  # noqa: ARG001
    given = [Tensor(v) for v in (LOGS, LABELS, LENGTHS, COUNTS)]
    want = wanted()
    for _ in range(3):
        losses, paths = ops.ctc_loss(*given, reduction="none")
        np.testing.assert_allclose(losses.asnumpy(), want, 1e-10)
        assert paths.shape == (BATCH, STEPS, 5)
        np.testing.assert_allclose(ops.ctc_loss(*given)[0].item(), (want / COUNTS).mean(), 1e-10)
        np.testing.assert_allclose(ops.ctc_loss(*given, reduction="sum")[0].item(), want.sum(), 1e-10)
        np.testing.assert_allclose(nn.CTCLoss(reduction="none")(*given).asnumpy(), want, 1e-10)
        np.testing.assert_allclose(ops.CTCLossV2()(*given)[0].asnumpy(), want, 1e-10)
    labels = np.array([[1, 2], [0, 0], [2, 0]], np.int64)
    got = ops.ctc_loss(Tensor(LOGS), Tensor(labels), Tensor(LENGTHS), Tensor(COUNTS), 3, "none")[0]
    np.testing.assert_allclose(got.asnumpy(), wanted(3, labels), 1e-10)


def test_beginnings_of_paths():
    """The chance of a beginning ends at its place: all paths of t steps that end at it, summed."""
    _, paths = ops.ctc_loss(*map(Tensor, (LOGS, LABELS, LENGTHS, COUNTS)))
    got = paths.asnumpy()
    spelling = [0, 1, 0, 2, 0]
    for steps in range(1, STEPS + 1):
        for place in range(5):
            total = 0.0
            for path in itertools.product(range(CLASSES), repeat=steps):
                at = spelled(path, 0)
                ends = path[-1] == spelling[place] and at == [c for c in spelling[: place + 1] if c]
                total += np.exp(sum(LOGS[t, 0, c] for t, c in enumerate(path))) if ends else 0.0
            with np.errstate(divide="ignore"):
                np.testing.assert_allclose(got[0, steps - 1, place], np.log(total), 1e-10)
    assert np.isneginf(got[1, 4]).all() and np.isneginf(got[2, :, 3:]).all()


def test_empty_impossible_and_single(mode):  # noqa: ARG001
    counts = np.array([0, 2, 1], np.int32)
    got = ops.ctc_loss(*map(Tensor, (LOGS, LABELS, LENGTHS, counts)), reduction="none")[0]
    np.testing.assert_allclose(got.asnumpy(), wanted(counts=counts), 1e-10)
    np.testing.assert_allclose(got[0].item(), -LOGS[:, 0, 0].sum(), 1e-10)
    labels = np.array([[1, 1, 1, 1], [1, 2, 3, 1], [1, 1, 2, 2]], np.int32)
    counts = np.full(3, 4, np.int32)
    given = [Tensor(v) for v in (LOGS, labels, LENGTHS, counts)]
    want = wanted(labels=labels, counts=counts)
    assert np.isinf(want[[0, 2]]).all()
    np.testing.assert_allclose(ops.ctc_loss(*given, reduction="none")[0].asnumpy(), want, 1e-10)
    zeroed = ops.ctc_loss(*given, reduction="none", zero_infinity=True)[0].asnumpy()
    np.testing.assert_allclose(zeroed, np.where(np.isinf(want), 0, want), 1e-10)
    slope = ms.grad(lambda x: ops.ctc_loss(x, *given[1:], reduction="sum")[0])(given[0])
    assert np.isfinite(slope.asnumpy()).all() and not slope.asnumpy()[:, [0, 2]].any()
    single = ops.ctc_loss(Tensor(LOGS[:, 0]), Tensor([1, 2]), Tensor(5), Tensor(2), reduction="none")
    np.testing.assert_allclose(single[0].item(), wanted()[0], 1e-10)
    assert single[0].shape == () and single[1].shape == (STEPS, 5)


def test_gradients(mode):  # noqa: ARG001
    labels, lengths, counts = map(Tensor, (LABELS, LENGTHS, COUNTS))
    slope = ms.grad(lambda x: ops.ctc_loss(x, labels, lengths, counts)[0])(Tensor(LOGS))

    def loss(logs):
        total = 0.0
        for i in range(BATCH):
            total -= np.log(chance(logs[: LENGTHS[i], i], LABELS[i, : COUNTS[i]], 0)) / COUNTS[i]
        return total / BATCH

    places = [(0, 0, 1), (2, 1, 3), (4, 1, 0), (3, 2, 2), (1, 2, 0)]
    for place in places:
        step = np.zeros_like(LOGS)
        step[place] = 1e-6
        want = (loss(LOGS + step) - loss(LOGS - step)) / 2e-6
        np.testing.assert_allclose(slope[place].item(), want, 1e-5, 1e-9)


INDICES = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], np.int64)
VALUES = np.array([1, 2, 1, 1, 0], np.int32)
ROWS = [[1, 2], [1, 1], [0]]


@pytest.mark.parametrize(("collapse", "merge"), [(False, True), (True, True), (False, False)])
def test_primitive_of_logits(mode, collapse, merge):  # noqa: ARG001
    """The last class is the blank; the second result is the gradient."""
    rows = [[1, 2], [1] if collapse else [1, 1], [0]]
    primitive = ops.CTCLoss(collapse, merge)
    given = [Tensor(v) for v in (INDICES, VALUES, LENGTHS)]

    def losses(x):
        logs = log_softmax(x)
        return np.array([-np.log(chance(logs[: LENGTHS[i], i], rows[i], 3, merge)) for i in range(BATCH)])

    for _ in range(3):
        got, gradient = primitive(Tensor(LOGITS), *given)
        np.testing.assert_allclose(got.asnumpy(), losses(LOGITS), 1e-9)
    for place in ((0, 0, 1), (2, 1, 3), (4, 1, 0), (3, 2, 2)):
        step = np.zeros_like(LOGITS)
        step[place] = 1e-6
        want = (losses(LOGITS + step).sum() - losses(LOGITS - step).sum()) / 2e-6
        np.testing.assert_allclose(gradient[place].item(), want, 1e-5, 1e-9)
    slope = ms.grad(lambda x: (primitive(x, *given)[0] * 2).sum())(Tensor(LOGITS))
    np.testing.assert_allclose(slope.asnumpy(), 2 * gradient.asnumpy(), 1e-9, 1e-12)


def test_primitive_of_longer_labels():
    given = [Tensor(v) for v in (LOGITS, INDICES, VALUES, np.array([1, 4, 0], np.int32))]
    with pytest.raises(ValueError, match="longer than their sequences"):
        ops.CTCLoss()(*given)
    losses, gradient = ops.CTCLoss(ignore_longer_outputs_than_inputs=True)(*given)
    assert np.isinf(losses.asnumpy()[[0, 2]]).all() and np.isfinite(losses.asnumpy()[1])
    assert not gradient.asnumpy()[:, [0, 2]].any() and np.isfinite(gradient.asnumpy()).all()


@pytest.mark.parametrize("merge", [True, False])
def test_greedy_decoder(merge):
    x = np.zeros((5, 2, 3), np.float32)
    for row, line in enumerate(([0, 0, 2, 0, 1], [2, 1, 1, 0, 0])):
        for step, best in enumerate(line):
            x[step, row, best] = step + 1
    lengths = Tensor(np.array([5, 3], np.int32))
    want = [[0, 0, 1], [1]] if merge else [[0, 0, 0, 1], [1, 1]]
    for decoded in (
        ops.ctc_greedy_decoder(Tensor(x), lengths, merge),
        ops.CTCGreedyDecoder(merge)(Tensor(x), lengths),
    ):
        places, values, shape, total = (t.asnumpy() for t in decoded)
        assert values.tolist() == sum(want, [])
        assert places.tolist() == [[i, j] for i, line in enumerate(want) for j in range(len(line))]
        assert shape.tolist() == [2, len(want[0])]
        assert total.tolist() == [[-15.0], [-6.0]]


def test_refusals():
    logs, labels, lengths, counts = map(Tensor, (LOGS, LABELS, LENGTHS, COUNTS))
    for bad in (
        lambda: ops.ctc_loss(logs, labels[0], lengths, counts),
        lambda: ops.ctc_loss(logs, labels, lengths[:2], counts),
        lambda: ops.ctc_loss(logs, labels, lengths, counts, blank=4),
        lambda: ops.ctc_loss(logs, labels, lengths, counts, reduction="most"),
        lambda: nn.CTCLoss(reduction="most"),
        lambda: ops.CTCLoss()(logs, labels, lengths, lengths),
        lambda: ops.CTCLoss()(logs, Tensor([[0, 0]]), Tensor([3]), lengths),
        lambda: ops.ctc_greedy_decoder(logs, lengths + 9),
        lambda: ops.ctc_greedy_decoder(logs, lengths[:1]),
    ):
        with pytest.raises(ValueError, match="got"):
            bad()
    for bad in (
        lambda: ops.ctc_loss(logs.astype(ms.int32), labels, lengths, counts),
        lambda: nn.CTCLoss(blank="0"),
        lambda: nn.CTCLoss(zero_infinity=1),
    ):
        with pytest.raises(TypeError, match="got"):
            bad()
