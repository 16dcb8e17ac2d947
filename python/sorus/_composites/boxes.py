"""Composites of rows: boxes (x0, y0, x1, y1) of images.

As in MindSpore, the boxes of iou, encode and decode hold their last pixels, so that they are x1 - x0 + 1
pixels wide; those of nms_with_mask and of crops are of points.
"""

from __future__ import annotations

import math

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _float32, _int32
from .sampling import bilinear

_int64 = _d["int64"]


def _corners(boxes: Tensor):
    return [F.narrow(boxes, -1, i, 1) for i in range(4)]


def _overlaps(first: Tensor, second: Tensor, pixel):
    """Shared areas (rows of second, rows of first), areas of first as a row, of second as a column."""
    a = [F.swapaxes(c, -1, -2) for c in _corners(first)]
    b = _corners(second)
    width = F.sub(F.add(F.minimum(a[2], b[2]), pixel), F.maximum(a[0], b[0]))
    height = F.sub(F.add(F.minimum(a[3], b[3]), pixel), F.maximum(a[1], b[1]))
    shared = F.mul(F.clip(width, 0, None), F.clip(height, 0, None))
    area_a, area_b = (F.mul(F.sub(F.add(c[2], pixel), c[0]), F.sub(F.add(c[3], pixel), c[1])) for c in (a, b))
    return shared, area_a, area_b


def iou(anchors: Tensor, truths: Tensor, mode):
    """Overlap of all pairs of boxes, over the union ("iou") or the truth's area ("iof")."""
    if mode not in ("iou", "iof"):
        raise ValueError(f"iou: unknown mode: got {mode!r}, need 'iou' or 'iof'")
    shared, area_a, area_b = _overlaps(anchors, truths, 1)
    return F.div(shared, area_b if mode == "iof" else F.sub(F.add(area_a, area_b), shared))


def _centres(boxes: Tensor):
    """Centres x and y, widths and heights."""
    x0, y0, x1, y1 = _corners(boxes)
    return (
        F.mul(F.add(x0, x1), 0.5),
        F.mul(F.add(y0, y1), 0.5),
        F.add(F.sub(x1, x0), 1),
        F.add(F.sub(y1, y0), 1),
    )


def box_encode(anchors: Tensor, truths: Tensor, means, stds):
    """Shifts of the centres in anchors' sizes and logarithms of the ratios of sizes, normalized."""
    ax, ay, aw, ah = _centres(anchors)
    tx, ty, tw, th = _centres(truths)
    deltas = [F.div(F.sub(tx, ax), aw), F.div(F.sub(ty, ay), ah), F.log(F.div(tw, aw)), F.log(F.div(th, ah))]
    deltas = F.concat(deltas, -1)
    return F.div(F.sub(deltas, Tensor(list(means), deltas.dtype)), Tensor(list(stds), deltas.dtype))


def box_decode(anchors: Tensor, deltas: Tensor, max_shape, means, stds, ratio_clip):
    """Boxes of encoded ones, within an image of height and width max_shape."""
    scaled = F.add(F.mul(deltas, Tensor(list(stds), deltas.dtype)), Tensor(list(means), deltas.dtype))
    dx, dy, dw, dh = _corners(scaled)
    limit = abs(math.log(ratio_clip))
    ax, ay, aw, ah = _centres(anchors)
    x, y = F.add(ax, F.mul(aw, dx)), F.add(ay, F.mul(ah, dy))
    half_w = F.mul(F.mul(aw, F.exp(F.clip(dw, -limit, limit))), 0.5)
    half_h = F.mul(F.mul(ah, F.exp(F.clip(dh, -limit, limit))), 0.5)
    height, width = max_shape
    return F.concat(
        [
            F.clip(F.add(F.sub(x, half_w), 0.5), 0, width),
            F.clip(F.add(F.sub(y, half_h), 0.5), 0, height),
            F.clip(F.sub(F.add(x, half_w), 0.5), 0, width),
            F.clip(F.sub(F.add(y, half_h), 0.5), 0, height),
        ],
        -1,
    )


def nms_with_mask(boxes: Tensor, threshold):
    """Boxes (N, 5) in descending order of their scores, their places in it, and which to keep: those that
    overlap none kept before them by more than the threshold.
    """
    if boxes.ndim != 2 or boxes.shape[1] != 5:
        raise ValueError(f"NMSWithMask: shape does not fit: got {boxes.shape}, need (N, 5)")
    order = F.argsort(boxes[:, 4], 0, True)
    ranked = F.gather(boxes, order, 0)
    shared, areas, column = _overlaps(ranked, ranked, 0)
    above = F.greater(F.div(shared, F.sub(F.add(areas, column), shared)), threshold).asnumpy()
    count = boxes.shape[0]
    kept = [True] * count
    for i in range(count):
        if kept[i]:
            for j in above[i, i + 1 :].nonzero()[0]:
                kept[i + 1 + int(j)] = False
    return ranked, F.arange(0, count, 1, _int32), Tensor(kept, _d["bool_"])


def _sample(images: Tensor, index: Tensor, rows, columns, outside, margin):
    """images[index] at the places (R, h, w), clamped to the image; `outside` beyond the margin around it."""
    height, width = images.shape[2:]
    inside = F.logical_and(
        F.logical_and(F.greater_equal(rows, -margin), F.less_equal(rows, height - 1 + margin)),
        F.logical_and(F.greater_equal(columns, -margin), F.less_equal(columns, width - 1 + margin)),
    )
    chosen = F.gather(images, F.cast(index, _int64), 0)
    values = bilinear(chosen, F.clip(rows, 0, height - 1), F.clip(columns, 0, width - 1))
    return F.where(F.expand_dims(inside, 1), values, outside)


def _grid(rows: Tensor, columns: Tensor):
    """All pairs of the places (R, h) and (R, w)."""
    shape = (rows.shape[0], rows.shape[1], columns.shape[1])
    return F.broadcast_to(F.expand_dims(rows, 2), shape), F.broadcast_to(F.expand_dims(columns, 1), shape)


def roi_align(features: Tensor, rois: Tensor, height, width, scale, samples, end_mode):
    """Means of samples * samples bilinear samples in each of height * width bins of regions (image, box)."""
    if samples < 1:
        raise ValueError(f"ROIAlign: 'sample_num' is out of range: got {samples}, need 1 or more")
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise ValueError(f"ROIAlign: shape of 'rois' does not fit: got {rois.shape}, need (N, 5)")
    places = []
    for axis, bins in ((1, height), (0, width)):
        start = F.mul(rois[:, 1 + axis], scale)
        end = F.mul(F.add(rois[:, 3 + axis], end_mode), scale)
        extent = F.maximum(F.sub(end, start), 1.0)
        steps = F.div(F.add(F.arange(0, bins * samples, 1, _float32), 0.5), bins * samples)
        places.append(F.add(F.expand_dims(start, 1), F.mul(F.expand_dims(extent, 1), steps)))
    values = _sample(features, rois[:, 0], *_grid(*places), 0, 1.0)
    return F.avg_pool(values, (samples, samples), (samples, samples))


def crop_and_resize(image: Tensor, boxes, index: Tensor, size, method, outside):
    """Crops (y0, x0, y1, x1 from 0 to 1) of images (N, H, W, C), resized by linear interpolation."""
    if method != "bilinear":
        raise ValueError(f"CropAndResize: unsupported method: got {method!r}, need 'bilinear'")
    images = F.transpose(image, (0, 3, 1, 2))
    places = []
    for axis, bins in ((0, size[0]), (1, size[1])):
        first, last = boxes[:, axis], boxes[:, 2 + axis]
        steps = (
            F.div(F.arange(0, bins, 1, _float32), max(bins - 1, 1)) if bins > 1 else Tensor([0.5], _float32)
        )
        line = F.add(F.expand_dims(first, 1), F.mul(F.expand_dims(F.sub(last, first), 1), steps))
        places.append(F.mul(line, images.shape[2 + axis] - 1))
    return F.transpose(_sample(images, index, *_grid(*places), outside, 0.0), (0, 2, 3, 1))
