"""Attention, and the encoder layer around it."""

import math

from ... import _core, _functions, ops
from ...common.initializer import XavierUniform, initializer
from ...common.parameter import Parameter
from ..cell import Cell
from .activation import get_activation
from .basic import Dense, Dropout
from .normalization import LayerNorm

_float32 = _core.dtypes["float32"]


class MultiheadAttention(Cell):
    """Attention of several heads: softmax(Q K^T / sqrt(d)) V of projected queries, keys and values.

    Tensors are (L, N, E), or (N, L, E) with batch_first. A mask is bool (true: does not attend) or floating
    (added to the scores).
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        has_bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        dtype=_float32,
    ):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(
                f"MultiheadAttention: heads do not divide: got {embed_dim} in {num_heads}, need a multiple"
            )
        if add_bias_kv or add_zero_attn or kdim not in (None, embed_dim) or vdim not in (None, embed_dim):
            raise NotImplementedError(
                "MultiheadAttention: keys and values must be of embed_dim, without extra rows"
            )
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.head_dim, self.batch_first = embed_dim // num_heads, batch_first
        weight = initializer(XavierUniform(), (3 * embed_dim, embed_dim), dtype)
        self.in_proj_weight = Parameter(weight, "in_proj_weight")
        self.in_proj_bias = None
        if has_bias:
            self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), "in_proj_bias")
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, dtype=dtype)

    def _heads(self, x, part):
        """Projected and divided: (N, heads, L, head_dim)."""
        rows = slice(part * self.embed_dim, (part + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        x = _functions.linear(x, self.in_proj_weight[rows], bias)
        return ops.transpose(ops.reshape(x, (*x.shape[:2], self.num_heads, self.head_dim)), (0, 2, 1, 3))

    def construct(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
    ):
        batched = query.ndim == 3
        if not batched:
            query, key, value = (ops.expand_dims(t, 0) for t in (query, key, value))
        elif not self.batch_first:
            query, key, value = (ops.swapaxes(t, 0, 1) for t in (query, key, value))
        q, k, v = self._heads(query, 0), self._heads(key, 1), self._heads(value, 2)
        scores = ops.matmul(q / math.sqrt(self.head_dim), ops.swapaxes(k, -1, -2))
        if attn_mask is not None:
            if attn_mask.ndim == 3:
                attn_mask = ops.reshape(attn_mask, (-1, self.num_heads, *attn_mask.shape[1:]))
            scores = _masked(scores, attn_mask)
        if key_padding_mask is not None:
            scores = _masked(scores, ops.expand_dims(ops.expand_dims(key_padding_mask, 1), 1))
        weights = ops.softmax(scores, -1)
        if self.training and self.dropout:
            weights = ops.dropout(weights, self.dropout)
        mixed = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
        result = self.out_proj(ops.reshape(mixed, (*mixed.shape[:2], self.embed_dim)))
        if not batched:
            result = ops.squeeze(result, 0)
        elif not self.batch_first:
            result = ops.swapaxes(result, 0, 1)
        if not need_weights:
            return result, None
        weights = ops.mean(weights, 1) if average_attn_weights else weights
        return result, weights if batched else ops.squeeze(weights, 0)


class TransformerEncoderLayer(Cell):
    """Self-attention and two dense layers, each added to its input and normalized (Vaswani et al. 2017).

    With norm_first the inputs of the two are normalized instead. Masks are those of MultiheadAttention.
    """

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        dtype=_float32,
    ):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout, self.dropout1, self.dropout2 = (Dropout(p=dropout) for _ in range(3))
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def _attend(self, x, mask, padding):
        mixed = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
        return self.dropout1(mixed)

    def _feed_forward(self, x):
        return self.dropout2(self.dense2(self.dropout(self.activation(self.dense1(x)))))

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        if self.norm_first:
            x = src + self._attend(self.norm1(src), src_mask, src_key_padding_mask)
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(src + self._attend(src, src_mask, src_key_padding_mask))
        return self.norm2(x + self._feed_forward(x))


def _masked(scores, mask):
    """Scores where the mask lets them be: bool masks hide, floating ones are added."""
    if mask.dtype is _core.dtypes["bool_"]:
        return ops.where(mask, float("-inf"), scores)
    return scores + mask
