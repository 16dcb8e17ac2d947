"""Composites of rows: connectionist temporal classification."""

from __future__ import annotations

from .. import _core, _functions as F, _numpy as np
from .._core import Tensor
from ._common import _as_tensor, _int64

_NEVER = -1e30  # log of a chance of 0 that is finite, so that gradients are
_REACHED = -1e29


def _log_sum(terms):
    """log of the sum of exp, of tensors of one shape."""
    terms = F.stack(terms, 0)
    top = F.stop_gradient(F.amax(terms, (0,)))
    return F.add(F.log(F.sum(F.exp(F.sub(terms, top)), (0,))), top)


def _moved(x, count):
    """Columns moved to the right, with what is never reached before them."""
    size = x.shape[1] - count
    if size <= 0:
        return F.full(x.shape, _NEVER, x.dtype)
    return F.concat([F.full((x.shape[0], count), _NEVER, x.dtype), F.narrow(x, 1, 0, size)], 1)


def _paths(logs, labels, label_lengths, blank, merge=True):
    """Logs of the chances of all beginnings: for each step (N, 2 S + 1), by the place among the labels with
    blanks between and around them. Without `merge` a label that is repeated counts as two.
    """
    steps, batch, classes = logs.shape
    size = labels.shape[1]
    width = 2 * size + 1
    place = F.arange(0, width, 1, _int64)
    is_label = F.equal(F.mod(place, 2), 1)
    there = F.less(F.arange(0, size, 1, _int64), F.expand_dims(label_lengths, 1))
    labels = F.where(there, labels, blank)
    blanks = F.full((batch, size), blank, _int64)
    pairs = F.reshape(F.stack([blanks, labels], 2), (batch, 2 * size))
    spelled = F.concat([pairs, F.full((batch, 1), blank, _int64)], 1)
    index = F.broadcast_to(F.expand_dims(spelled, 0), (steps, batch, width))
    emitted = F.gather_elements(logs, index, 2)
    inside = F.less_equal(place, F.mul(F.expand_dims(label_lengths, 1), 2))
    earlier = F.concat([F.full((batch, min(2, width)), blank, _int64), spelled[:, : width - 2]], 1)
    may_skip = F.logical_and(is_label, F.greater_equal(place, 2))
    may_skip = F.logical_and(may_skip, F.not_equal(spelled, earlier)) if merge else may_skip
    start = F.logical_and(inside, F.less(place, 2))
    paths = [F.where(start, emitted[0], _NEVER)]
    for step in range(1, steps):
        last = paths[-1]
        stay = last if merge else F.where(is_label, _NEVER, last)
        skip = F.where(may_skip, _moved(last, 2), _NEVER)
        reached = _log_sum([stay, _moved(last, 1), skip])
        paths.append(F.where(inside, F.add(reached, emitted[step]), _NEVER))
    return F.stack(paths, 0)


def _losses(paths, lengths, label_lengths):
    """-log of the chance of all labels; the last of paths that cannot be is beyond any."""
    steps, batch, width = paths.shape
    index = F.broadcast_to(F.reshape(F.sub(lengths, 1), (1, batch, 1)), (1, batch, width))
    last = F.gather_elements(paths, index, 0)[0]
    end = F.expand_dims(F.mul(label_lengths, 2), 1)
    at_blank = F.gather_elements(last, end, 1)
    at_label = F.gather_elements(last, F.clip(F.sub(end, 1), 0, width), 1)
    at_label = F.where(F.greater(end, 0), at_label, _NEVER)
    return F.neg(F.reshape(_log_sum([at_blank, at_label]), (batch,)))


def ctc_loss(logs: Tensor, labels, lengths, label_lengths, blank: int, reduction: str, zero_infinity):
    """(-log of the chance of the labels, logs of the chances of beginnings): see the function's row."""
    labels, lengths, label_lengths = (F.cast(_as_tensor(v), _int64) for v in (labels, lengths, label_lengths))
    single = logs.ndim == 2
    if single:
        logs, labels = F.expand_dims(logs, 1), F.reshape(labels, (1, -1))
        lengths, label_lengths = F.reshape(lengths, (1,)), F.reshape(label_lengths, (1,))
    _check_ctc("ctc_loss", logs, labels, lengths, label_lengths)
    classes = logs.shape[2]
    if not 0 <= blank < classes:
        raise ValueError(f"ctc_loss: 'blank' is out of range: got {blank}, need 0 to {classes - 1}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"ctc_loss: unknown reduction: got {reduction!r}, need 'none', 'mean' or 'sum'")
    paths = _paths(logs, labels, label_lengths, blank)
    losses = _losses(paths, lengths, label_lengths)
    beyond = F.greater(losses, -_REACHED)
    losses = F.where(beyond, Tensor(0.0 if zero_infinity else float("inf"), logs.dtype), losses)
    steps = F.reshape(F.arange(0, logs.shape[0], 1, _int64), (-1, 1, 1))
    kept = F.logical_and(F.less(steps, F.reshape(lengths, (1, -1, 1))), F.greater(paths, _REACHED))
    shown = F.swapaxes(F.where(kept, paths, Tensor(float("-inf"), logs.dtype)), 0, 1)
    if single:
        losses, shown = F.squeeze(losses, (0,)), F.squeeze(shown, (0,))
    if reduction == "mean":
        losses = F.mean(F.div(losses, F.cast(F.maximum(label_lengths, 1), logs.dtype)))
    return (F.sum(losses) if reduction == "sum" else losses), shown


def _check_ctc(what, logs, labels, lengths, label_lengths):
    if not logs.dtype.is_floating_point:
        raise TypeError(f"{what}: 'log_probs' has the wrong dtype: got {logs.dtype}, need a floating one")
    batch = (logs.shape[1],) if logs.ndim == 3 else None
    if batch is None or labels.ndim != 2 or not labels.shape[0] == batch[0] or not logs.shape[0]:
        raise ValueError(
            f"{what}: shapes do not fit: got {logs.shape}, labels {labels.shape}, need (T, N, C) and (N, S)"
        )
    if lengths.shape != batch or label_lengths.shape != batch:
        raise ValueError(
            f"{what}: lengths do not fit: got shapes {lengths.shape} and {label_lengths.shape}, need {batch}"
        )


def ctc_loss_of_logits(
    x: Tensor, places: Tensor, values: Tensor, lengths: Tensor, collapse, merge, ignore
) -> tuple[Tensor, Tensor]:
    """The losses of labels at the places of (N, S), the last class being the blank, and their gradient."""
    if x.ndim != 3 or lengths.shape != (x.shape[1],):
        raise ValueError(
            f"CTCLoss: shapes do not fit: got {x.shape} and {lengths.shape}, need (T, N, C) and (N,)"
        )
    if places.ndim != 2 or places.shape[1] != 2 or values.shape != (places.shape[0],):
        raise ValueError(
            f"CTCLoss: labels do not fit: got shapes {places.shape} and {values.shape}, need (K, 2) and (K,)"
        )
    batch, blank = x.shape[1], x.shape[2] - 1
    labels = [[] for _ in range(batch)]
    for (row, _), value in sorted(zip(places.tolist(), values.tolist())):
        if not 0 <= row < batch or not 0 <= value < blank:
            raise ValueError(f"CTCLoss: label is out of range: got {value} in row {row} of {x.shape}")
        if not (collapse and labels[row] and labels[row][-1] == value):
            labels[row].append(value)
    counts = np.array([len(row) for row in labels])
    fits = counts <= np.array(lengths.tolist())
    if not (fits.all() or ignore):
        raise ValueError(
            f"CTCLoss: labels are longer than their sequences: got {counts} for {lengths.tolist()}"
        )
    padded = [row + [blank] * (max(counts) - len(row)) for row in labels]
    padded = Tensor(np.array(padded, np.int64).reshape(batch, -1))
    counted, lengths, fits = Tensor(counts), F.cast(lengths, _int64), Tensor(fits)

    def loss():
        paths = _paths(F.log_softmax(x, -1), padded, counted, blank, merge)
        found = _losses(paths, F.maximum(lengths, 1), counted)
        possible = F.logical_and(fits, F.less(found, -_REACHED))
        return [F.where(possible, found, Tensor(float("inf"), x.dtype))]

    (losses,), pull = _core.vjp(loss, [x])
    return losses, F.stop_gradient(pull([F.full(losses.shape, 1, losses.dtype)])[0])


def ctc_greedy_decoder(x: Tensor, lengths: Tensor, merge) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The likeliest class of each step, as a sparse matrix of what is no blank, the last class: places,
    values and shape; and minus the sum of what the classes have.
    """
    if x.ndim != 3 or lengths.shape != (x.shape[1],):
        raise ValueError(
            f"ctc_greedy_decoder: shapes do not fit: got {x.shape}, {lengths.shape}, need (T, N, C) and (N,)"
        )
    best, most = F.argmax(x, 2).asnumpy(), F.amax(x, (2,))
    steps, batch, classes = x.shape
    places, values, longest = [], [], 0
    for row, length in enumerate(lengths.tolist()):
        if not 0 <= length <= steps:
            raise ValueError(f"ctc_greedy_decoder: length is out of range: got {length}, need 0 to {steps}")
        line = best[:length, row]
        keep = line != classes - 1
        if merge:
            keep[1:] &= line[1:] != line[:-1]
        found = line[keep]
        places += [(row, i) for i in range(len(found))]
        values += found.tolist()
        longest = max(longest, len(found))
    inside = F.less(F.expand_dims(F.arange(0, steps, 1, _int64), 1), F.cast(lengths, _int64))
    total = F.neg(F.sum(F.where(inside, most, 0.0), (0,)))
    return (
        Tensor(np.array(places, np.int64).reshape(-1, 2)),
        Tensor(np.array(values, np.int64)),
        Tensor(np.array([batch, longest], np.int64)),
        F.expand_dims(total, 1),
    )
