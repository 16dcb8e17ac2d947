"""Attention of several heads, and the encoders and decoders around it."""

import copy
import math

from ... import _core, _functions as F, ops
from ..._composites.attention import attend
from ..._core import Tensor
from ...common.initializer import XavierNormal, XavierUniform, initializer
from ...common.parameter import Parameter
from ..cell import Cell
from .basic import Dense, Dropout, check_bool, check_positive_int
from .container import CellList
from .normalization import LayerNorm

_float32, _bool = _core.dtypes["float32"], _core.dtypes["bool_"]


class MultiheadAttention(Cell):
    """Attention of several heads: softmax(Q K^T / sqrt(d) + mask) V of projected queries, keys and values,
    d = embed_dim / num_heads, whose heads are joined and projected again.

    `query` is (L, N, embed_dim), `key` (S, N, kdim) and `value` (S, N, vdim), or (N, L, ...) with
    batch_first, or without N. Masks are bool (true: does NOT attend) or floating (added to the scores):
    `attn_mask` (L, S) or (N num_heads, L, S), `key_padding_mask` (N, S) or (S,). The result is the tuple
    (output,) with an output as the query, or with need_weights (output, weights): weights (N, L, S), the mean
    of the heads, or (N, num_heads, L, S) unless average_attn_weights. Weights are dropped with probability
    `dropout` in training. A query that attends to nothing gives NaN. Without need_weights no scores are
    stored, so that memory grows with the sequence and not with its square.

    kdim and vdim are embed_dim unless given. Parameters: `in_proj_weight` (3 embed_dim, embed_dim), or where
    kdim or vdim differ `q_proj_weight`, `k_proj_weight` and `v_proj_weight` (embed_dim, their width), all
    Xavier uniform; with has_bias `in_proj_bias` (3 embed_dim,), zeros; `out_proj`; with add_bias_kv `bias_k`
    and `bias_v` (1, 1, embed_dim), Xavier normal, a key and a value after all others. add_zero_attn adds a
    key and a value of zeros.

    Throws ValueError for sizes and shapes that do not fit, TypeError for masks of other dtypes. Source:
    Vaswani et al., Attention Is All You Need, 2017.

    >>> from sorus import nn, ops
    >>> attention = nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True)
    >>> x = ops.ones((3, 5, 8))
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    ((3, 5, 8), (3, 5, 5))
    >>> (output,) = attention(x, x, x, need_weights=False)
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
        what = "MultiheadAttention"
        self.embed_dim = check_positive_int(embed_dim, "embed_dim", what)
        self.num_heads = check_positive_int(num_heads, "num_heads", what)
        if embed_dim % num_heads:
            raise ValueError(f"{what}: heads do not divide: got {embed_dim} in {num_heads}, need a multiple")
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)):
            raise TypeError(
                f"{what}: 'dropout' has the wrong type: got {type(dropout).__name__}, need a number"
            )
        if not 0 <= dropout < 1:
            raise ValueError(
                f"{what}: 'dropout' is out of range: got {dropout}, need at least 0, less than 1"
            )
        self.kdim = embed_dim if kdim is None else check_positive_int(kdim, "kdim", what)
        self.vdim = embed_dim if vdim is None else check_positive_int(vdim, "vdim", what)
        self.dropout, self.head_dim = dropout, embed_dim // num_heads
        self.batch_first = check_bool(batch_first, "batch_first", what)
        self.add_zero_attn = check_bool(add_zero_attn, "add_zero_attn", what)
        self.dtype = dtype = _float32 if dtype is None else dtype
        widths = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        self._packed = set(widths.values()) == {embed_dim}
        if self._packed:
            self.in_proj_weight = _xavier("in_proj_weight", (3 * embed_dim, embed_dim), dtype)
            for part in widths:
                setattr(self, f"{part}_proj_weight", None)
        else:
            for part, width in widths.items():
                name = f"{part}_proj_weight"
                setattr(self, name, _xavier(name, (embed_dim, width), dtype))
            self.in_proj_weight = None
        self.in_proj_bias = self.bias_k = self.bias_v = None
        if check_bool(has_bias, "has_bias", what):
            self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), "in_proj_bias")
        if check_bool(add_bias_kv, "add_bias_kv", what):
            for name in ("bias_k", "bias_v"):
                setattr(self, name, Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), name))
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, dtype=dtype)

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
        self._check_operands(query, key, value)
        batched = query.ndim == 3
        q, k, v = self._projected(query, key, value)
        if not batched:
            q, k, v = (F.expand_dims(t, 0) for t in (q, k, v))
        batch_axis = 0 if self.batch_first or not batched else 1
        if self.bias_k is not None:
            k, v = (_with_position(t, b, 1 - batch_axis) for t, b in ((k, self.bias_k), (v, self.bias_v)))
        q, k, v = (self._heads(t, batch_axis) for t in (q, k, v))
        if self.add_zero_attn:
            k, v = (_with_position(t, F.full((1, 1, 1, self.head_dim), 0, t.dtype), 2) for t in (k, v))
        added = (self.bias_k is not None) + self.add_zero_attn
        mask = self._mask(attn_mask, key_padding_mask, q, k.shape[2], added, batched)
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            mixed, weights = _written_out(q, k, v, mask, dropout)
        else:
            mixed = attend(q, k, v, mask, dropout=dropout)
        mixed = F.transpose(mixed, (0, 2, 1, 3) if batch_axis == 0 else (2, 0, 1, 3))
        result = self.out_proj(F.reshape(mixed, (*mixed.shape[:2], self.embed_dim)))
        result = result if batched else F.squeeze(result, 0)
        if weights is None:
            return (result,)
        weights = F.mean(weights, 1) if average_attn_weights else weights
        return result, weights if batched else F.squeeze(weights, 0)

    def _check_operands(self, query, key, value):
        need = (self.embed_dim, self.kdim, self.vdim)
        operands = (query, key, value)
        fit = query.ndim in (2, 3) and all(
            t.ndim == query.ndim and t.shape[-1] == width for t, width in zip(operands, need)
        )
        if fit and key.shape[:-1] == value.shape[:-1]:
            batch_axis = 0 if self.batch_first else 1
            if query.ndim == 2 or query.shape[batch_axis] == key.shape[batch_axis]:
                return
        raise ValueError(
            f"MultiheadAttention: shapes do not fit: got query {query.shape}, key {key.shape} and value "
            f"{value.shape}, need 2 or 3 axes, the last of {need}, and equal batches"
        )

    def _projected(self, query, key, value):
        """Queries, keys and values of embed_dim each, by as few products as the operands allow."""
        e, bias = self.embed_dim, self.in_proj_bias
        if not self._packed:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
            biases = (None,) * 3 if bias is None else F.split(bias, e)
            return [F.linear(*parts) for parts in zip((query, key, value), weights, biases)]

        def product(x, first, count):
            weight, part = self.in_proj_weight, bias
            if count < 3:
                weight = F.narrow(weight, 0, first * e, count * e)
                part = None if bias is None else F.narrow(bias, 0, first * e, count * e)
            y = F.linear(x, weight, part)
            return F.split(y, e, -1) if count > 1 else [y]

        if query is key and key is value:
            return product(query, 0, 3)
        if key is value:
            return [*product(query, 0, 1), *product(key, 1, 2)]
        return [*product(query, 0, 1), *product(key, 1, 1), *product(value, 2, 1)]

    def _heads(self, x, batch_axis):
        """(N, heads, L, head_dim)."""
        x = F.reshape(x, (*x.shape[:2], self.num_heads, self.head_dim))
        return F.transpose(x, (0, 2, 1, 3) if batch_axis == 0 else (1, 2, 0, 3))

    def _mask(self, attn_mask, padding, q, columns, added, batched):
        """Both masks as one that broadcasts to (N, heads, L, S): bool (true: attends) or floating, or None.
        Everything attends to the `added` last keys.
        """
        batch, heads, rows, _ = q.shape
        given = columns - added
        masks = []
        if attn_mask is not None:
            need = (rows, given), (batch * heads, rows, given)
            _check_mask(attn_mask, "attn_mask", need)
            whole = attn_mask.ndim == 3
            masks.append(F.reshape(attn_mask, (batch, heads, rows, given)) if whole else attn_mask)
        if padding is not None:
            _check_mask(padding, "key_padding_mask", [(batch, given) if batched else (given,)])
            masks.append(F.reshape(padding, (batch, 1, 1, given)))
        if not masks:
            return None
        if added:
            masks = [F.concat((m, F.full((*m.shape[:-1], added), 0, m.dtype)), -1) for m in masks]
        if all(m.dtype == _bool for m in masks):
            return F.logical_not(masks[0] if len(masks) == 1 else F.logical_or(*masks))
        return _sum_of_masks([m if m.dtype == _bool else F.cast(m, q.dtype) for m in masks])

    def extend_repr(self):
        text = f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}"
        return f"{text}, batch_first={self.batch_first}"


class TransformerEncoderLayer(Cell):
    """Self-attention and two dense layers, each added to its input and normalized; with norm_first the inputs
    of the two are normalized instead.

    `src` is (S, N, d_model), or (N, S, d_model) with batch_first, or (S, d_model), and so is the result.
    `src_mask` and `src_key_padding_mask` are the masks of MultiheadAttention. `activation` between the dense
    layers is "relu", "gelu" or something callable. `dropout` acts on the weights of attention, between the
    dense layers and on what is added, in training alone. Throws ValueError for another activation and for
    shapes that do not fit. Source: Vaswani et al., Attention Is All You Need, 2017; Xiong et al., On Layer
    Normalization in the Transformer Architecture, 2020, for norm_first.

    >>> from sorus import nn, ops
    >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(ops.ones((5, 3, 8))).shape
    (5, 3, 8)
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
        _keep_arguments(self, locals())
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        _add_feed_forward(self, norms=2)

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        def attended(x):
            return self.dropout1(_self_attended(self, x, src_mask, src_key_padding_mask))

        x = _added(self, src, attended, self.norm1)
        return _added(self, x, lambda x: self.dropout2(_fed_forward(self, x)), self.norm2)


class TransformerDecoderLayer(Cell):
    """Self-attention, attention to `memory` and two dense layers, each added to its input and normalized;
    with norm_first the inputs of the three are normalized instead.

    `tgt` is (T, N, d_model) and `memory` (S, N, d_model), or (N, T, ...) with batch_first, or without N; the
    result is as `tgt`. `tgt_mask` and `tgt_key_padding_mask` belong to self-attention, `memory_mask` and
    `memory_key_padding_mask` to attention to the memory: masks of MultiheadAttention. Arguments and errors
    are those of TransformerEncoderLayer. Source: Vaswani et al., Attention Is All You Need, 2017.

    >>> from sorus import nn, ops
    >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(ops.ones((5, 3, 8)), ops.ones((7, 3, 8))).shape
    (5, 3, 8)
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
        _keep_arguments(self, locals())
        self.self_attn, self.multihead_attn = (
            MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
            for _ in range(2)
        )
        _add_feed_forward(self, norms=3)

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ):
        def attended(x):
            return self.dropout1(_self_attended(self, x, tgt_mask, tgt_key_padding_mask))

        def attended_to_memory(x):
            return self.dropout2(
                self.multihead_attn(
                    x,
                    memory,
                    memory,
                    attn_mask=memory_mask,
                    key_padding_mask=memory_key_padding_mask,
                    need_weights=False,
                )[0]
            )

        x = _added(self, tgt, attended, self.norm1)
        x = _added(self, x, attended_to_memory, self.norm2)
        return _added(self, x, lambda x: self.dropout3(_fed_forward(self, x)), self.norm3)


class TransformerEncoder(Cell):
    """`num_layers` copies of an encoder layer one after the other, and a norm after them if there is one.

    The copies, `layers.0` and so on, start with the values of the layer given and are trained apart.
    Operands and result are those of TransformerEncoderLayer.

    >>> from sorus import nn, ops
    >>> encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), num_layers=2)
    >>> encoder(ops.ones((5, 3, 8))).shape
    (5, 3, 8)
    """

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers, "TransformerEncoder")
        self.num_layers, self.norm = num_layers, norm

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        for layer in self.layers:
            src = layer(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """`num_layers` copies of a decoder layer one after the other, and a norm after them if there is one.

    The copies, `layers.0` and so on, start with the values of the layer given and are trained apart.
    Operands and result are those of TransformerDecoderLayer.

    >>> from sorus import nn, ops
    >>> decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), num_layers=2)
    >>> decoder(ops.ones((5, 3, 8)), ops.ones((7, 3, 8))).shape
    (5, 3, 8)
    """

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers, "TransformerDecoder")
        self.num_layers, self.norm = num_layers, norm

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ):
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """An encoder of `src` and a decoder of `tgt` that attends to what the encoder gives, both with a norm at
    the end.

    `src` is (S, N, d_model) and `tgt` (T, N, d_model), or (N, S, ...) with batch_first, or without N; the
    result is as `tgt`. Masks are those of the layers. custom_encoder and custom_decoder stand for those that
    the other arguments would make. All parameters of two axes or more start Xavier uniform. Throws ValueError
    for features other than d_model and for batches that differ. Source: Vaswani et al., Attention Is All You
    Need, 2017.

    >>> from sorus import nn, ops
    >>> net = nn.Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
    >>> net(ops.ones((7, 3, 8)), ops.ones((5, 3, 8))).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        dtype=_float32,
    ):
        super().__init__()
        arguments = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first)

        def stack(kind, layer, count):
            norm = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
            return kind(layer(*arguments, norm_first, dtype=dtype), count, norm)

        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            self.encoder = stack(TransformerEncoder, TransformerEncoderLayer, num_encoder_layers)
        if custom_decoder is None:
            self.decoder = stack(TransformerDecoder, TransformerDecoderLayer, num_decoder_layers)
        for parameter in self.get_parameters():
            if parameter.ndim > 1:
                parameter.set_data(initializer("xavier_uniform", parameter.shape, parameter.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ):
        batch_axis = 0 if self.batch_first else 1
        fit = src.ndim == tgt.ndim and src.shape[-1] == tgt.shape[-1] == self.d_model
        if not fit or src.ndim == 3 and src.shape[batch_axis] != tgt.shape[batch_axis]:
            raise ValueError(
                f"Transformer: shapes do not fit: got src {src.shape} and tgt {tgt.shape}, need "
                f"{self.d_model} features and equal batches"
            )
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )


def _xavier(name, shape, dtype):
    return Parameter(initializer(XavierUniform(), shape, dtype), name)


def _with_position(x, row, axis):
    """x with the row after its last one along an axis, in every batch."""
    shape = list(x.shape)
    shape[axis] = 1
    return F.concat((x, F.broadcast_to(F.cast(row, x.dtype), shape)), axis)


def _written_out(q, k, v, mask, dropout):
    """Attention that gives its weights too: (N, heads, L, head_dim) and (N, heads, L, S)."""
    scores = F.matmul(F.mul(q, 1 / math.sqrt(q.shape[-1])), F.swap_last(k))
    if mask is not None:
        scores = F.where(mask, scores, float("-inf")) if mask.dtype == _bool else F.add(scores, mask)
    weights = F.softmax(scores, -1)
    if dropout:
        weights = F.dropout(weights, dropout)
    return F.matmul(weights, v), weights


def _check_mask(mask, name, shapes):
    floating = isinstance(mask, Tensor) and mask.dtype.is_floating_point
    if not floating and not (isinstance(mask, Tensor) and mask.dtype == _bool):
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"MultiheadAttention: '{name}' has the wrong dtype: got {got}, need bool or a floating one"
        )
    if mask.shape not in shapes:
        raise ValueError(
            f"MultiheadAttention: '{name}' has the wrong shape: got {mask.shape}, need "
            f"{' or '.join(map(str, shapes))}"
        )


def _sum_of_masks(masks):
    """One or two masks, one of them floating, as a floating one; a bool one blocks where it is true."""
    if len(masks) == 1:
        return masks[0]
    a, b = masks
    if _bool in (a.dtype, b.dtype):
        blocked, shift = (a, b) if a.dtype == _bool else (b, a)
        return F.where(blocked, float("-inf"), shift)
    return F.add(a, b)


def _keep_arguments(layer, scope):
    """The constructor's arguments as attributes, under the names that MindSpore gives them."""
    layer.d_model, layer.nhead = scope["d_model"], scope["nhead"]
    layer.dim_feedforward, layer.dropout_num = scope["dim_feedforward"], scope["dropout"]
    layer.layernorm_eps, layer.batch_first = scope["layer_norm_eps"], scope["batch_first"]
    layer.norm_first = check_bool(scope["norm_first"], "norm_first", type(layer).__name__)
    layer.dtype = _float32 if scope["dtype"] is None else scope["dtype"]
    layer.activation = _activation(scope["activation"], type(layer).__name__)


def _activation(given, what):
    named = {"relu": ops.relu, "gelu": ops.gelu}
    if isinstance(given, str) and given in named:
        return named[given]
    if isinstance(given, str) or not callable(given):
        raise ValueError(f"{what}: unknown activation: got {given!r}, need 'relu', 'gelu' or a function")
    return given


def _add_feed_forward(layer, norms):
    """Dense layers, norms and dropouts of a layer whose arguments are kept."""
    width, inner, dtype = layer.d_model, layer.dim_feedforward, layer.dtype
    layer.dense1 = Dense(width, inner, dtype=dtype)
    layer.dropout = Dropout(p=layer.dropout_num)
    layer.dense2 = Dense(inner, width, dtype=dtype)
    for i in range(1, norms + 1):
        setattr(layer, f"norm{i}", LayerNorm((width,), epsilon=layer.layernorm_eps, dtype=dtype))
    for i in range(1, norms + 1):
        setattr(layer, f"dropout{i}", Dropout(p=layer.dropout_num))


def _added(layer, x, function, norm):
    """x plus a function of it, normalized before or after."""
    return x + function(norm(x)) if layer.norm_first else norm(x + function(x))


def _self_attended(layer, x, mask, padding):
    return layer.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]


def _fed_forward(layer, x):
    return layer.dense2(layer.dropout(layer.activation(layer.dense1(x))))


def _copies(layer, count, what):
    if not isinstance(layer, Cell):
        raise TypeError(f"{what}: the layer has the wrong type: got {type(layer).__name__}, need a Cell")
    return CellList([copy.deepcopy(layer) for _ in range(check_positive_int(count, "num_layers", what))])
