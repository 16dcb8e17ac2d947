"""Composites of rows: attention that stores no scores."""

from __future__ import annotations

from itertools import zip_longest

from .. import _functions as F
from .._core import Tensor


def attend(query, key, value, mask=None, causal=False, scale=None, dropout=0.0):
    """softmax(query key^T scale + mask) value for (..., L, E), (..., S, E) and (..., S, V); memory grows with
    L and S, not with their product. A mask is bool (true: attends) or floating (added). A scale of None is
    1 / sqrt(E). The weights that a dropout drops are those that `dropout` would drop of all weights.
    """
    random = F.random_key(_score_count(query, key, value, mask)) if dropout else None
    if scale == 0:  # stands for the default below
        query, scale = F.mul(query, 0.0), 1.0
    return F.attention(query, key, value, mask, causal, 0.0 if scale is None else scale, dropout, random)


def _score_count(query, key, value, mask):
    """How many weights there are, each of which takes a random number."""
    if query.ndim < 2 or key.ndim < 2:
        return 0  # refused by the function itself
    count = query.shape[-2] * key.shape[-2]
    batches = [t.shape[-3::-1] for t in (query, key, value, mask) if t is not None and t.ndim > 2]
    for extents in zip_longest(*batches, fillvalue=1):
        count *= next((n for n in extents if n != 1), 1)
    return count


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask, dropout_p: float, is_causal, scale
):
    """softmax(query key^T scale + attn_mask) value.

    query (..., L, E), key (..., S, E), value (..., S, V), all of one floating dtype; the result is
    (..., L, V) of that dtype. Leading axes broadcast. attn_mask broadcasts to (..., L, S) and is bool (true:
    attends) or floating (added to the scores); is_causal lets position i attend to the positions up to i, and
    stands beside no mask. Weights are dropped with probability dropout_p (0 <= dropout_p < 1), whatever the
    mode: pass 0 outside of training. A scale of None is 1 / sqrt(E). A row that attends to nothing is NaN.

    The scores are not stored, neither here nor for the gradient. Throws ValueError for shapes or options that
    do not fit, TypeError for dtypes. Source: Vaswani et al., Attention Is All You Need, 2017; Rabe and
    Staats, Self-attention Does Not Need O(n^2) Memory, 2021.

    >>> from sorus import Tensor, ops
    >>> query, key, value = Tensor([[1.0, 0.0]]), Tensor([[9.0, 9.0], [9.0, 9.0]]), Tensor([[2.0], [4.0]])
    >>> ops.scaled_dot_product_attention(query, key, value).tolist()
    [[3.0]]
    >>> ops.scaled_dot_product_attention(query, key, value, attn_mask=Tensor([True, False])).tolist()
    [[2.0]]
    """
    return attend(query, key, value, attn_mask, bool(is_causal), scale, dropout_p)
