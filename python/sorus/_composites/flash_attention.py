"""Composites of rows: attention with the layouts, masks and lengths of MindSpore's flash functions."""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _int64, _is_int, _numbers
from .attention import attend

_UNLIMITED = 2147483647
_COMPRESSED = (2048, 2048)
_LAYOUTS = ("BSH", "SBH", "BNSD", "BSND", "TND")


def flash_attention_score(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: int,
    real_shift,
    drop_mask,
    padding_mask,
    attn_mask,
    prefix,
    actual_seq_qlen,
    actual_seq_kvlen,
    keep_prob: float,
    scalar_value: float,
    pre_tokens: int,
    next_tokens: int,
    inner_precise: int,  # noqa: ARG001: one precision, that of float32 inside
    input_layout: str,
    sparse_mode: int,
) -> Tensor:
    """dropout(softmax(scalar_value * query key^T + real_shift, where the mask lets it be)) value, in heads.

    Layouts: BSH (B, S, N D), SBH (S, B, N D), BNSD (B, N, S, D), BSND (B, S, N, D) and TND (T, N, D), the
    sequences of a batch one after the other, which end at the places that actual_seq_qlen and
    actual_seq_kvlen list. query has head_num heads, key and value a divisor of that; all have one floating
    dtype. The result has query's layout and dtype.

    attn_mask is bool or uint8, and 1 means: does NOT attend. What it covers is said by sparse_mode: 0 the
    mask (S1, S2), (B, 1, S1, S2) or (B, N, S1, S2), and positions beyond pre_tokens before and next_tokens
    after the query's own from the upper left corner, which count beside a mask only; 1 the mask alone; 2 no
    position after the query's own, from the upper left corner; 3 the same from the lower right one; 4
    positions between pre_tokens before and next_tokens after, from the lower right corner; 5 as 3, but the
    first `prefix` (B,) positions too. 2, 3 and 4 take None or the mask (2048, 2048) whose upper triangle is
    1, which is not read. A row that attends to nothing is 0.

    real_shift is (B, N, S1, S2) or (1, N, S1, S2), of query's dtype. keep_prob is the probability with which
    a weight stays (0 < keep_prob <= 1). inner_precise changes nothing. No scores are stored. Throws
    ValueError for shapes, layouts and numbers that do not fit, TypeError for dtypes, NotImplementedError for
    drop_mask, padding_mask and a real_shift of the last 1024 rows alone. Source: Dao et al., FlashAttention,
    2022; Shazeer, Fast Transformer Decoding, 2019, for shared heads of keys.

    >>> from sorus import Tensor, ops
    >>> query, key, value = ops.ones((1, 2, 8)), ops.ones((1, 2, 4)), Tensor([[[1.0] * 4, [3.0] * 4]])
    >>> result = ops.flash_attention_score(query, key, value, head_num=4, scalar_value=0.7, sparse_mode=3)
    >>> result[0, :, 0].tolist()
    [1.0, 2.0]
    """
    what = "flash_attention_score"
    _refuse(what, drop_mask=drop_mask, padding_mask=padding_mask)
    if not 0 < keep_prob <= 1:
        raise ValueError(f"{what}: 'keep_prob' is out of range: got {keep_prob}, need above 0, at most 1")
    _check_sparse_mode(what, sparse_mode, range(6))
    _check_layout(what, input_layout, _LAYOUTS)
    _check_mask_dtype(what, attn_mask, ("bool", "uint8"))
    if real_shift is not None and real_shift.dtype != query.dtype:
        raise TypeError(
            f"{what}: dtype of 'real_shift' does not fit: got {real_shift.dtype}, need {query.dtype}"
        )
    attn_mask = _uncompressed(what, attn_mask, sparse_mode)
    rules = _Rules(what, sparse_mode, pre_tokens, next_tokens, scalar_value, 1.0 - keep_prob)
    if input_layout == "TND":
        _refuse_beside_tnd(what, real_shift, attn_mask, prefix, sparse_mode)
        return _attend_packed(query, key, value, head_num, actual_seq_qlen, actual_seq_kvlen, rules)
    if actual_seq_qlen is not None or actual_seq_kvlen is not None:
        raise ValueError(
            f"{what}: lengths belong to layout 'TND': got 'actual_seq_qlen' or 'actual_seq_kvlen' beside "
            f"{input_layout!r}, need None"
        )
    q, k, v = _in_heads(what, (query, key, value), input_layout, head_num)
    mask = rules.mask(q, k, attn_mask, prefix=prefix)
    return _in_layout(_attend_heads(rules, q, k, v, mask, real_shift), input_layout)


def flash_attention_results(*arguments):
    """What flash_attention_score gives, as the last of four results: of the others, which MindSpore hands to
    its gradient, there is no need here, and they are None.
    """
    return None, None, None, flash_attention_score(*arguments)


def prompt_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask,
    actual_seq_lengths,
    actual_seq_lengths_kv,
    pse_shift,
    deq_scale1,
    quant_scale1,
    deq_scale2,
    quant_scale2,
    quant_offset2,
    num_heads: int,
    scale_value: float,
    pre_tokens: int,
    next_tokens: int,
    input_layout: str,
    num_key_value_heads: int,
    sparse_mode: int,
    inner_precise: int,  # noqa: ARG001: one precision, that of float32 inside
) -> Tensor:
    """softmax(scale_value * query key^T + pse_shift, where the mask lets it be) value of whole sequences.

    Layouts BSH (B, S, N D), BNSD (B, N, S, D) and BSND (B, S, N, D), of one floating dtype; BNSD_BSND takes
    the second and gives the third. key and value have num_key_value_heads heads, a divisor of num_heads; 0
    stands for num_heads. attn_mask is bool, int8, uint8 or float16 (1: does NOT attend), of shape (S1, S2),
    (B, S1, S2) or (B, 1, S1, S2) with 1 for a B; sparse_mode 0 to 4, pre_tokens and next_tokens are those of
    flash_attention_score. Of each sequence the first actual_seq_lengths (B,) queries and the first
    actual_seq_lengths_kv (B,) keys count; the other rows, and rows that attend to nothing, are 0. Throws
    ValueError for shapes, layouts and numbers that do not fit, TypeError for dtypes, NotImplementedError for
    what belongs to int8 (deq_scale1, quant_scale1, deq_scale2, quant_scale2, quant_offset2).
    """
    what = "prompt_flash_attention"
    _refuse(
        what,
        deq_scale1=deq_scale1,
        quant_scale1=quant_scale1,
        deq_scale2=deq_scale2,
        quant_scale2=quant_scale2,
        quant_offset2=quant_offset2,
    )
    _check_sparse_mode(what, sparse_mode, range(5))
    _check_layout(what, input_layout, ("BSH", "BNSD", "BSND", "BNSD_BSND"))
    _check_mask_dtype(what, attn_mask, ("bool", "int8", "uint8", "float16"))
    attn_mask = _uncompressed(what, attn_mask, sparse_mode)
    rules = _Rules(what, sparse_mode, pre_tokens, next_tokens, scale_value, 0.0)
    given, wanted = (input_layout.split("_") * 2)[:2]
    q, k, v = _in_heads(what, (query, key, value), given, num_heads, num_key_value_heads or num_heads)
    if attn_mask is not None and attn_mask.ndim == 3:
        attn_mask = F.expand_dims(attn_mask, 1)
    lengths = _lengths(what, actual_seq_lengths, q.shape[0], "actual_seq_lengths")
    lengths_kv = _lengths(what, actual_seq_lengths_kv, q.shape[0], "actual_seq_lengths_kv")
    mask = rules.mask(q, k, attn_mask, lengths, lengths_kv)
    return _in_layout(_attend_heads(rules, q, k, v, mask, pse_shift), wanted)


def incre_flash_attention(
    query: Tensor,
    key,
    value,
    attn_mask,
    actual_seq_lengths,
    pse_shift,
    dequant_scale1,
    quant_scale1,
    dequant_scale2,
    quant_scale2,
    quant_offset2,
    antiquant_scale,
    antiquant_offset,
    block_table,
    num_heads: int,
    input_layout: str,
    scale_value: float,
    num_key_value_heads: int,
    block_size: int,
    inner_precise: int,  # noqa: ARG001: one precision, that of float32 inside
    kv_padding_size,
) -> Tensor:
    """softmax(scale_value * query key^T + pse_shift, where the mask lets it be) value of one query each.

    query is (B, 1, N D) in layout BSH, (B, N, 1, D) in BNSD, (B, 1, N, D) in BSND, and the result has its
    shape; key and value are tensors of that layout with S positions and num_key_value_heads heads, a divisor
    of num_heads (0: num_heads), or lists of such tensors, which follow each other along B. attn_mask is bool,
    int8 or uint8 (1: does NOT attend), of shape (B, S), (B, 1, S) or (B, 1, 1, S). Of each sequence the first
    actual_seq_lengths (B,) or (1,) keys count; a row that attends to nothing is 0. Throws ValueError for
    shapes, layouts and numbers that do not fit, TypeError for dtypes, NotImplementedError for what belongs to
    int8 or to keys in blocks (the scales and offsets, block_table, block_size, kv_padding_size).
    """
    what = "incre_flash_attention"
    _refuse(
        what,
        dequant_scale1=dequant_scale1,
        quant_scale1=quant_scale1,
        dequant_scale2=dequant_scale2,
        quant_scale2=quant_scale2,
        quant_offset2=quant_offset2,
        antiquant_scale=antiquant_scale,
        antiquant_offset=antiquant_offset,
        block_table=block_table,
        block_size=block_size or None,
        kv_padding_size=kv_padding_size,
    )
    _check_layout(what, input_layout, ("BSH", "BNSD", "BSND"))
    _check_mask_dtype(what, attn_mask, ("bool", "int8", "uint8"))
    key, value = _joined(key), _joined(value)
    rules = _Rules(what, 0, _UNLIMITED, _UNLIMITED, scale_value, 0.0)
    q, k, v = _in_heads(what, (query, key, value), input_layout, num_heads, num_key_value_heads or num_heads)
    if q.shape[2] != 1:
        raise ValueError(f"{what}: number of queries does not fit: got {q.shape[2]}, need 1")
    if attn_mask is not None:
        attn_mask = F.reshape(attn_mask, (-1, 1, 1, attn_mask.shape[-1]))
    lengths_kv = _lengths(what, actual_seq_lengths, q.shape[0], "actual_seq_lengths")
    mask = rules.mask(q, k, attn_mask, None, lengths_kv)
    return _in_layout(_attend_heads(rules, q, k, v, mask, pse_shift), input_layout)


class _Mask:
    """Positions that are not attended to, as bool that broadcasts to (B, N, S1, S2), or None: all are.
    `causal` stands for the upper triangle of it. `has_empty_rows`: some row may attend to nothing.
    """

    def __init__(self, blocked=None, causal=False, has_empty_rows=False):
        self.blocked, self.causal, self.has_empty_rows = blocked, causal, has_empty_rows


class _Rules:
    """Which positions attend to which, and what happens to their scores."""

    def __init__(self, what, sparse_mode, before, after, scale, dropout):
        self.what, self.sparse_mode, self.before, self.after = what, sparse_mode, before, after
        self.scale, self.dropout = scale, dropout
        if sparse_mode in (0, 4) and before + after < 0:
            raise ValueError(
                f"{what}: the band is empty: got pre_tokens {before} and next_tokens {after}, need a sum of "
                f"0 or more"
            )

    def mask(self, q, k, given=None, lengths=None, lengths_kv=None, prefix=None):
        """The mask for heads (B, N, S, D) of queries and keys."""
        (batch, heads, rows, _), columns = q.shape, k.shape[2]
        shapes = ((rows, columns), *((b, n, rows, columns) for b in {batch, 1} for n in {1, heads}))
        if given is not None and given.shape not in shapes:
            raise ValueError(
                f"{self.what}: shape of 'attn_mask' does not fit: got {given.shape}, need {(rows, columns)}, "
                f"{(batch, 1, rows, columns)} or {(batch, heads, rows, columns)}"
            )
        if self.sparse_mode == 1 and given is None:
            raise ValueError(f"{self.what}: 'attn_mask' is missing: got None, need it for sparse_mode 1")
        plain = lengths is None and lengths_kv is None
        if plain and self.sparse_mode == 0 and given is None:
            return _Mask()
        if plain and (self.sparse_mode == 2 or self.sparse_mode == 3 and rows == columns):
            return _Mask(causal=True)
        row, column = _places(rows, columns)
        parts = [] if given is None else [_as_bool(given)]
        if lengths_kv is not None:
            parts.append(F.greater_equal(column, lengths_kv))
        if lengths is not None:
            parts.append(F.greater_equal(row, lengths))
        if self.sparse_mode in (3, 4, 5):  # from the lower right corner
            row = F.add(row, columns - rows if plain else _difference(lengths_kv, columns, lengths, rows))
        parts += self._outside(row, column, given, prefix)
        if not parts:  # a band without bounds
            return _Mask()
        blocked = parts[0]
        for part in parts[1:]:
            blocked = F.logical_or(blocked, part)
        all_attend = plain and given is None and self.sparse_mode in (3, 5) and rows <= columns
        return _Mask(blocked, has_empty_rows=not all_attend)

    def _outside(self, row, column, given, prefix):
        """What the mode alone blocks."""
        mode = self.sparse_mode
        if mode == 1 or mode == 0 and given is None:
            return []
        if mode in (2, 3):
            return [F.greater(column, row)]
        if mode == 5:
            return [F.logical_and(F.greater(column, row), F.greater_equal(column, self._prefix(prefix)))]
        band = []
        if self.after < _UNLIMITED:
            band.append(F.greater(column, F.add(row, self.after)))
        if self.before < _UNLIMITED:
            band.append(F.less(column, F.sub(row, self.before)))
        return band

    def _prefix(self, prefix):
        if prefix is None:
            raise ValueError(f"{self.what}: 'prefix' is missing: got None, need it for sparse_mode 5")
        return _lengths(self.what, prefix, None, "prefix")


def _places(rows, columns):
    """Numbers of rows (S1, 1) and columns (1, S2)."""
    return F.reshape(F.arange(0, rows), (rows, 1)), F.reshape(F.arange(0, columns), (1, columns))


def _difference(lengths_kv, columns, lengths, rows):
    """How many more keys than queries, of each sequence."""
    return F.sub(columns if lengths_kv is None else lengths_kv, rows if lengths is None else lengths)


def _as_bool(mask):
    return mask if mask.dtype == _d["bool_"] else F.not_equal(mask, 0)


def _attend_heads(rules, q, k, v, mask, shift):
    """Attention in heads (B, N, S, D), of which k and v may have fewer."""
    batch, heads, rows, _ = q.shape
    shared = k.shape[1]
    if shift is not None:
        _check_shift(rules.what, shift, q.shape, k.shape[2])
    blocked = mask.blocked
    if mask.causal and shift is not None:
        row, column = _places(rows, k.shape[2])
        blocked = F.greater(column, row)
    if shared != heads:  # the heads that share keys become an axis of their own
        q = F.reshape(q, (batch, shared, heads // shared, *q.shape[2:]))
        k, v = F.expand_dims(k, 2), F.expand_dims(v, 2)
        blocked, shift = (_by_shared_heads(t, shared) for t in (blocked, shift))
    empty = None
    if mask.has_empty_rows:
        # These rows attend to everything, so that neither they nor their gradients are NaN, and become 0.
        empty = F.all(blocked, -1, True)
        blocked = F.logical_and(blocked, F.logical_not(empty))
    if shift is not None:
        allowed = shift if blocked is None else F.where(blocked, float("-inf"), shift)
    else:
        allowed = None if blocked is None else F.logical_not(blocked)
    result = attend(q, k, v, allowed, mask.causal and shift is None, rules.scale, rules.dropout)
    if empty is not None:
        result = F.where(empty, 0.0, result)
    return F.reshape(result, (batch, heads, rows, v.shape[-1])) if shared != heads else result


def _by_shared_heads(x, shared):
    """(B, N, S1, S2) as (B, shared, N / shared, S1, S2)."""
    if x is None or x.ndim == 2:
        return x
    if x.shape[1] == 1:
        return F.expand_dims(x, 1)
    return F.reshape(x, (x.shape[0], shared, x.shape[1] // shared, *x.shape[2:]))


def _attend_packed(query, key, value, heads, ends, ends_kv, rules):
    """Attention of the sequences of (T, N, D) one by one."""
    what = rules.what
    if ends is None or ends_kv is None:
        raise ValueError(
            f"{what}: lengths are missing: got layout 'TND' without, need 'actual_seq_qlen' and "
            f"'actual_seq_kvlen'"
        )
    ends, ends_kv = _numbers(ends), _numbers(ends_kv)
    fit = query.ndim == key.ndim == value.ndim == 3 and key.shape[0] == value.shape[0]
    fit = fit and len(ends) == len(ends_kv) > 0 and ends[-1] == query.shape[0] and ends_kv[-1] == key.shape[0]
    if not fit:
        raise ValueError(
            f"{what}: lengths do not fit: got {ends} and {ends_kv} for query {query.shape}, key {key.shape} "
            f"and value {value.shape}, need as many of both, which end with the numbers of positions"
        )
    sizes, sizes_kv = _steps(ends), _steps(ends_kv)
    if min(sizes) < 0 or min(sizes_kv) <= 0:
        raise ValueError(
            f"{what}: lengths do not grow: got {ends} and {ends_kv}, need sums of the lengths so far, with a "
            f"key or more in each sequence"
        )
    results = []
    for end, size, end_kv, size_kv in zip(ends, sizes, ends_kv, sizes_kv):
        parts = [F.narrow(query, 0, end - size, size)]
        parts += [F.narrow(t, 0, end_kv - size_kv, size_kv) for t in (key, value)]
        q, k, v = _in_heads(what, [F.expand_dims(t, 0) for t in parts], "BSND", heads)
        result = _in_layout(_attend_heads(rules, q, k, v, rules.mask(q, k), None), "BSND")
        results.append(F.squeeze(result, 0))
    return F.concat(results, 0)


def _steps(ends):
    return [end - before for before, end in zip([0, *ends], ends)]


def _in_heads(what, tensors, layout, heads, heads_kv=None):
    """query, key and value as (B, N, S, D); the number of heads of keys is `heads_kv` or follows."""
    query, key, value = tensors
    axes = 3 if layout in ("BSH", "SBH") else 4
    if heads <= 0:
        raise ValueError(f"{what}: number of heads is out of range: got {heads}, need more than 0")
    if any(t.ndim != axes for t in tensors):
        raise ValueError(
            f"{what}: number of axes does not fit: got query {query.shape}, key {key.shape} and value "
            f"{value.shape}, need {axes} for layout {layout!r}"
        )
    if axes == 3 and heads_kv is None:
        depth = query.shape[2] // heads
        heads_kv = key.shape[2] // depth if depth else 0
    made = []
    for t, count in zip(tensors, (heads, heads_kv, heads_kv)):
        if axes == 3:
            if not count or t.shape[2] % count:
                raise ValueError(
                    f"{what}: heads do not divide: got {t.shape[2]} in {count} heads, need a multiple"
                )
            t = F.reshape(t, (*t.shape[:2], count, t.shape[2] // count))
            t = F.transpose(t, (0, 2, 1, 3) if layout == "BSH" else (1, 2, 0, 3))
        elif layout == "BSND":
            t = F.transpose(t, (0, 2, 1, 3))
        made.append(t)
    q, k, v = made
    if q.shape[1] != heads or heads_kv not in (None, k.shape[1]) or not k.shape[1] or heads % k.shape[1]:
        raise ValueError(
            f"{what}: numbers of heads do not fit: got {q.shape[1]} of queries and {k.shape[1]} of keys, "
            f"need {heads} and {heads_kv or 'a divisor'}"
        )
    if k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
        raise ValueError(
            f"{what}: shapes do not fit: got query {query.shape}, key {key.shape} and value {value.shape} in "
            f"layout {layout!r}, need equal batches and head sizes, and as many keys as values"
        )
    return q, k, v


def _in_layout(x, layout):
    """(B, N, S, D) in a layout."""
    if layout == "BNSD":
        return x
    if layout == "SBH":
        x = F.transpose(x, (2, 0, 1, 3))
    else:
        x = F.transpose(x, (0, 2, 1, 3))
    return x if layout == "BSND" else F.reshape(x, (*x.shape[:2], x.shape[2] * x.shape[3]))


def _lengths(what, given, batch, name):
    """Numbers (B,) as a tensor (B, 1, 1, 1); a batch of None takes as many as there are."""
    if given is None:
        return None
    lengths = F.cast(given, _int64) if isinstance(given, Tensor) else Tensor(list(given), _int64)
    if lengths.ndim != 1 or batch is not None and lengths.shape[0] not in (1, batch):
        raise ValueError(f"{what}: shape of '{name}' does not fit: got {lengths.shape}, need ({batch},)")
    return F.reshape(lengths, (-1, 1, 1, 1))


def _joined(given):
    return given if isinstance(given, Tensor) else F.concat(list(given), 0)


def _refuse(what, **reserved):
    for name, value in reserved.items():
        if value is not None:
            raise NotImplementedError(f"{what}: '{name}' is not supported: got a value, need None")


def _refuse_beside_tnd(what, real_shift, attn_mask, prefix, sparse_mode):
    _refuse(what, real_shift=real_shift, prefix=prefix)
    if attn_mask is not None or sparse_mode in (1, 5):
        raise ValueError(
            f"{what}: sparse_mode does not fit layout 'TND': got {sparse_mode} "
            f"{'without' if attn_mask is None else 'beside'} 'attn_mask', need 2, 3 or 4, or 0 without a mask"
        )


def _check_layout(what, layout, layouts):
    if layout not in layouts:
        raise ValueError(f"{what}: unknown input_layout: got {layout!r}, need one of {', '.join(layouts)}")


def _check_sparse_mode(what, mode, modes):
    if not _is_int(mode) or mode not in modes:
        raise ValueError(f"{what}: unknown sparse_mode: got {mode}, need one of {', '.join(map(str, modes))}")


def _check_mask_dtype(what, mask, dtypes):
    if mask is not None and not (isinstance(mask, Tensor) and any(mask.dtype == _dtype(n) for n in dtypes)):
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{what}: dtype of 'attn_mask' does not fit: got {got}, need {' or '.join(dtypes)}")


def _uncompressed(what, mask, mode):
    """The mask, unless the mode says what is in it."""
    if mask is None or mode not in (2, 3, 4):
        return mask
    if mask.shape[-2:] != _COMPRESSED:
        raise ValueError(
            f"{what}: shape of 'attn_mask' does not fit: got {mask.shape}, need {_COMPRESSED} for "
            f"sparse_mode {mode}"
        )
    return None


def _dtype(name):
    return _d["bool_" if name == "bool" else name]


def _check_shift(what, shift, query_shape, columns):
    batch, heads, rows, _ = query_shape
    need = (batch, heads, rows, columns)
    if shift.ndim == 4 and shift.shape[2] == 1024 != rows:
        raise NotImplementedError(
            f"{what}: a shift of the last 1024 rows is not supported: got {shift.shape}, need {need}"
        )
    if shift.ndim != 4 or shift.shape[1:] != need[1:] or shift.shape[0] not in (1, batch):
        raise ValueError(f"{what}: shape of the shift does not fit: got {shift.shape}, need {need}")
