"""What a row cannot say in one call: functions whose arguments decide which function of the library is
meant.
"""

from . import _core
from . import _functions as F
from ._core import Tensor

_d = _core.dtypes
_float32, _int32, _int64 = _d["float32"], _d["int32"], _d["int64"]


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


# ----------------------------------------------------------------------------------------------- elementwise


def same(x):
    """The tensor itself."""
    return x


def first_of(value, _expression):
    """The first argument: order of execution is the program's order."""
    return value


def add_scaled(x, other, alpha):
    """x + alpha * other."""
    return F.add(x, other if _is_int(alpha) and alpha == 1 else F.mul(_as_tensor(other), alpha))


def sub_scaled(x, other, alpha):
    """x - alpha * other."""
    return F.sub(x, other if _is_int(alpha) and alpha == 1 else F.mul(_as_tensor(other), alpha))


def _as_tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def div_rounded(x, other, mode):
    """x / other, rounded to minus infinity ("floor") or zero ("trunc")."""
    if mode is None:
        return F.div(x, other)
    if mode == "floor":
        return F.floor_div(x, other)
    if mode == "trunc":
        return truncate_div(x, other)
    raise ValueError(f"div: unknown rounding_mode: got {mode!r}, need None, 'floor' or 'trunc'")


def truncate_div(x, y):
    """x / y rounded towards zero, in the common dtype."""
    common = F.add(x, y).dtype
    if common.is_floating_point:
        return F.trunc(F.div(x, y))
    remainder = F.fmod(x, y)
    return F.floor_div(F.sub(x, remainder), y)


def float_power(x, exponent):
    """x ** exponent in float64."""
    x = x.astype(_d["float64"]) if isinstance(x, Tensor) else Tensor(x, _d["float64"])
    return F.pow(x, exponent.astype(_d["float64"]) if isinstance(exponent, Tensor) else exponent)


def round_to(x, decimals):
    """Rounded half to even at that decimal place."""
    if decimals == 0:
        return F.round(x)
    scale = 10.0 ** abs(decimals)
    if not x.dtype.is_floating_point:
        return x if decimals > 0 else F.cast(F.mul(F.round(F.div(x, scale)), scale), x.dtype)
    return F.div(F.round(F.mul(x, scale)), scale) if decimals > 0 else F.mul(F.round(F.div(x, scale)), scale)


def where_any(condition, x, y):
    """condition ? x : y; a condition that is not bool is tested against zero."""
    if isinstance(condition, Tensor) and condition.dtype is not _d["bool_"]:
        condition = F.not_equal(condition, 0)
    return F.where(condition, x, y)


def clip_each(x, low, high):
    """Clamped, for one tensor or each of a list."""
    if isinstance(x, (tuple, list)):
        return type(x)(F.clip(t, low, high) for t in x)
    if low is None and high is None:
        raise ValueError("clamp: no bound: got neither 'min' nor 'max', need one")
    return F.clip(x, low, high)


def gelu_by(x, approximate):
    """Exact ("none") or by tanh ("tanh")."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: unknown approximate: got {approximate!r}, need 'none' or 'tanh'")
    return F.gelu(x) if approximate == "none" else F.gelu_tanh(x)


def fast_gelu(x):
    """x / (1 + exp(-1.702 abs(x))) * exp(0.851 (x - abs(x)))."""
    size = F.abs(x)
    return x / (1 + F.exp(-1.702 * size)) * F.exp(0.851 * (x - size))


def prelu_channels(x, weight):
    """x, or weight * x below zero, with one weight or one for each channel."""
    if weight.size > 1 and x.ndim > 2:
        weight = F.reshape(weight, (-1,) + (1,) * (x.ndim - 2))
    return F.prelu(x, weight)


def glu(x, axis):
    """First half times the sigmoid of the second."""
    if x.shape[axis] % 2:
        raise ValueError(f"glu: axis has an odd extent: got {x.shape[axis]}, need an even one")
    a, b = F.chunk(x, 2, axis)
    return a * F.sigmoid(b)


def isclose(x, other, rtol, atol, equal_nan):
    """abs(x - other) <= atol + rtol * abs(other), infinities equal to themselves."""
    if rtol < 0 or atol < 0:
        raise ValueError(
            f"isclose: tolerance is out of range: got rtol {rtol} and atol {atol}, need 0 or more"
        )
    near = F.less_equal(F.abs(F.sub(x, other)), F.add(F.mul(F.abs(other), rtol), atol))
    near = F.logical_or(F.logical_and(near, F.isfinite(other)), F.equal(x, other))
    return F.logical_or(near, F.logical_and(F.isnan(x), F.isnan(other))) if equal_nan else near


_LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


def nan_to_num(x, nan, posinf, neginf):
    """NaN and infinities replaced; by default with zero and the largest numbers."""
    if not x.dtype.is_floating_point:
        return x
    largest = _LARGEST[x.dtype.name]
    infinite = F.isinf(x)
    x = F.where(F.logical_and(infinite, F.greater(x, 0)), largest if posinf is None else posinf, x)
    x = F.where(F.logical_and(infinite, F.less(x, 0)), -largest if neginf is None else neginf, x)
    return F.where(F.isnan(x), 0.0 if nan is None else nan, x)


def xdivy(x, y):
    """x / y, zero where x is."""
    quotient = F.div(x, y)
    return F.where(F.equal(x, 0), F.full_like(quotient, 0), quotient)


def logit(x, eps):
    """log(x / (1 - x)), x clamped to [eps, 1 - eps]."""
    if eps is not None and eps >= 0:
        x = F.clip(x, eps, 1 - eps)
    return F.log(F.div(x, F.sub(1, x)))


def sinc(x):
    """sin(pi x) / (pi x)."""
    scaled = F.mul(x if x.dtype.is_floating_point else x.float(), 3.141592653589793)
    safe = F.where(F.equal(scaled, 0), 1.0, scaled)
    return F.where(F.equal(scaled, 0), 1.0, F.div(F.sin(safe), safe))


def heaviside(x, values):
    """0 below zero, `values` at it, 1 above."""
    above = F.cast(F.greater(x, 0), F.add(x, values).dtype)
    return F.where(F.equal(x, 0), values, above)


def copysign(x, other):
    """abs(x) with the sign of other, that of a zero included."""
    _tensor(x, "copysign")
    size = F.abs(x if x.dtype.is_floating_point else x.float())
    if not isinstance(other, Tensor):
        other = Tensor(float(other))
    # The reciprocal of minus zero is minus infinity.
    negative = F.logical_or(F.less(other, 0), F.less(F.div(1.0, other), 0))
    return F.where(negative, F.neg(size), size)


def cast_named(x, dtype):
    """Converted; the dtype may be a name such as "float32"."""
    if isinstance(dtype, str):
        name = "bool_" if dtype == "bool" else dtype
        if name not in _d:
            raise TypeError(f"astype: unknown dtype: got '{dtype}', need one such as float32")
        dtype = _d[name]
    return F.cast(x, dtype)


def cast_like(x, other):
    """Converted to the dtype of other."""
    return F.cast(x, other.dtype)


def type_by(x, dtype):
    """Converted, or the dtype when none is given."""
    return x.dtype if dtype is None else cast_named(x, dtype)


# ----------------------------------------------------------------------------------------------------- shape


def reshape_as(x, other):
    """In the shape of other."""
    return F.reshape(x, other.shape)


def flatten_by(x, order, start_dim, end_dim):
    """Row-major ("C") or column-major ("F"); a vector or scalar as a vector."""
    if order not in ("C", "F"):
        raise ValueError(f"flatten: unknown order: got {order!r}, need 'C' or 'F'")
    if x.ndim < 2:
        return F.reshape(x, -1)
    return F.flatten(x if order == "C" else F.transpose(x), start_dim, end_dim)


def squeeze_ones(x, axes):
    """Without the axes of extent 1 among those given, or among all."""
    if axes is None or axes == ():
        return F.squeeze(x)
    axes = _numbers(axes)
    for axis in axes:
        if not -max(x.ndim, 1) <= axis < max(x.ndim, 1):
            raise ValueError(f"squeeze: axis is out of range: got {axis}, need -{x.ndim} to {x.ndim - 1}")
    chosen = [a for a in axes if x.ndim and x.shape[a] == 1]
    return F.squeeze(x, chosen) if chosen else x


def diag_of(x):
    """The elements on the diagonal of a tensor of twice as many axes."""
    return F.reshape(F.diag(F.reshape(x, -1)), (*x.shape, *x.shape))


def bincount_of(x, weights, minlength):
    """How often each number occurs, or sums of weights, as float32."""
    return F.cast(F.bincount(x, weights, minlength), _float32)


def transpose_method(x, axes):
    """All axes in that order; two of a tensor of more axes are exchanged."""
    if len(axes) == 2 and x.ndim != 2 and _is_int(axes[0]):
        return F.swapaxes(x, *axes)
    return F.transpose(x, axes)


def t(x):
    """The transpose of a matrix."""
    if x.ndim > 2:
        raise ValueError(f"t: too many axes: got shape {x.shape}, need at most 2")
    return F.transpose(x)


def expand_as(x, other):
    """Broadcast to the shape of other."""
    return F.broadcast_to(x, other.shape)


def hstack(tensors):
    """Along the second axis, or the first of vectors."""
    made = atleast_1d(tensors)
    return F.concat(made, 0 if made[0].ndim == 1 else 1)


def vstack(tensors):
    """Along the first axis."""
    return F.concat(atleast_2d(tensors), 0)


def dstack(tensors):
    """Along the third axis."""
    return F.concat(atleast_3d(tensors), 2)


def column_stack(tensors):
    """Vectors as columns, matrices side by side."""
    return F.concat([F.expand_dims(t, 1) if t.ndim == 1 else t for t in atleast_1d(tensors)], 1)


def _each(value, function):
    return tuple(function(t) for t in value) if isinstance(value, (tuple, list)) else function(value)


def atleast_1d(value):
    """With one axis or more."""
    return _each(value, lambda t: F.reshape(t, 1) if t.ndim == 0 else t)


def atleast_2d(value):
    """With two axes or more."""
    return _each(value, lambda t: F.reshape(t, (1, -1)) if t.ndim < 2 else t)


def _to_3d(t):
    if t.ndim >= 3:
        return t
    return F.expand_dims(t, 2) if t.ndim == 2 else F.reshape(t, (1, -1, 1))


def atleast_3d(value):
    """With three axes or more."""
    return _each(value, _to_3d)


def split_any(x, sections, axis):
    """Pieces of one extent, or of the extents listed."""
    if _is_int(sections):
        if sections <= 0:
            raise ValueError(f"split: piece is out of range: got {sections}, need more than 0")
        return F.split(x, sections, axis)
    if not isinstance(sections, (tuple, list)):
        raise TypeError(
            f"split: sections have the wrong type: got {type(sections).__name__}, need an int or ints"
        )
    return F.split_sizes(x, sections, axis)


def tensor_split(x, sections, axis):
    """As many nearly equal pieces, or pieces between the indices listed."""
    extent = x.shape[axis]
    if _is_int(sections):
        if sections <= 0:
            raise ValueError(
                f"tensor_split: number of pieces is out of range: got {sections}, need more than 0"
            )
        sizes = [extent // sections + (i < extent % sections) for i in range(sections)]
        return F.split_sizes(x, sizes, axis)
    bounds = [0, *[min(max(i + extent if i < 0 else i, 0), extent) for i in sections], extent]
    pieces = [
        F.narrow(x, axis, a, max(b - a, 0)) if a < extent or b > a else F.narrow(x, axis, 0, 0)
        for a, b in zip(bounds, bounds[1:])
    ]
    return tuple(pieces)


def hsplit(x, sections):
    """tensor_split along the second axis, or the first of a vector."""
    return tensor_split(x, sections, 0 if x.ndim == 1 else 1)


def vsplit(x, sections):
    """tensor_split along the first axis."""
    return tensor_split(x, sections, 0)


def dsplit(x, sections):
    """tensor_split along the third axis."""
    return tensor_split(x, sections, 2)


def slice_of(x, begin, size):
    """`size` elements from `begin` on along each axis; -1 means all that follow."""
    begin, size = tuple(_numbers(begin)), tuple(_numbers(size))
    size = tuple(x.shape[i] - b if s == -1 else s for i, (b, s) in enumerate(zip(begin, size)))
    return F.slice(x, begin, size, (1,) * len(begin))


def _numbers(value):
    if isinstance(value, Tensor):
        return [int(v) for v in value.tolist()] if value.ndim else [int(value)]
    return [value] if _is_int(value) else list(value)


def strided_slice_masked(
    x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
):
    """Slices with TensorFlow's masks, one bit for each item."""
    items = []
    for i, (b, e, s) in enumerate(zip(_numbers(begin), _numbers(end), _numbers(strides))):
        bit = 1 << i
        if ellipsis_mask & bit:
            items.append(Ellipsis)
        elif new_axis_mask & bit:
            items.append(None)
        elif shrink_axis_mask & bit:
            items.append(b)
        else:
            items.append(slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return x[tuple(items)]


def rot90(x, k, dims):
    """Turned k times by a quarter in the plane of two axes."""
    a, b = dims
    k %= 4
    if k == 1:
        return F.flip(F.swapaxes(x, a, b), a)
    if k == 2:
        return F.flip(x, (a, b))
    return F.flip(F.swapaxes(x, a, b), b) if k == 3 else x


def repeat_interleave_any(x, repeats, axis):
    """Each element repeated, the same number of times or each its own; without an axis the flattened
    tensor.
    """
    if axis is None:
        x, axis = F.reshape(x, -1), 0
    if isinstance(repeats, Tensor):
        repeats = _numbers(repeats)
    if isinstance(repeats, (tuple, list)):
        repeats = repeats * x.shape[axis] if len(repeats) == 1 else repeats
        return F.repeat_each(x, repeats, axis)
    return F.repeat_interleave(x, repeats, axis)


def pad_last(x, padding, mode, value):
    """Pairs of widths for the last axis first, as torch has them."""
    if mode not in ("constant", "reflect", "replicate", "circular", "symmetric"):
        raise ValueError(
            f"pad: unknown mode: got {mode!r}, need 'constant', 'reflect', 'replicate' or 'circular'"
        )
    widths = _numbers(padding)
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(
            f"pad: 'padding' has the wrong length: got {len(widths)} for {x.ndim} axes, need pairs"
        )
    free = x.ndim - len(widths) // 2
    before = [0] * free + widths[0::2][::-1]
    after = [0] * free + widths[1::2][::-1]
    return F.pad(x, before, after, mode, 0 if value is None else value)


def tril_indices(row, col, offset, dtype):
    """Coordinates of the lower triangle."""
    return F.cast(F.transpose(F.nonzero(F.tril(F.full((row, col), 1), offset))), dtype)


def triu_indices(row, col, offset, dtype):
    """Coordinates of the upper triangle."""
    return F.cast(F.transpose(F.nonzero(F.triu(F.full((row, col), 1), offset))), dtype)


def meshgrid_by(tensors, indexing):
    """Grids with matrix ("ij") or Cartesian ("xy") indexing."""
    if indexing not in ("ij", "xy"):
        raise ValueError(f"meshgrid: unknown indexing: got {indexing!r}, need 'xy' or 'ij'")
    return F.meshgrid(tensors, indexing == "ij")


def _dtype_of_number(value):
    if isinstance(value, Tensor):
        return value.dtype
    return _d["bool_"] if isinstance(value, bool) else _int64 if isinstance(value, int) else _float32


def full_any(size, value, dtype):
    """Filled with a number of any kind."""
    dtype = _dtype_of_number(value) if dtype is None else dtype
    return F.full(size, float(value), dtype)


def zeros_of(size, dtype):
    """Zeros."""
    return F.full(size, 0, dtype)


def ones_of(size, dtype):
    """Ones."""
    return F.full(size, 1, dtype)


def new_full(x, size, value, dtype):
    """Filled with a number, of x's dtype unless another is given."""
    return F.full(size, value, x.dtype if dtype is None else dtype)


def eye_of(n, m, dtype):
    """Ones on the diagonal of an n by m matrix."""
    return F.eye(n, n if m is None else m, dtype)


def _host_number(value):
    return value.item() if isinstance(value, Tensor) else value


def arange_any(start, end, step, dtype):
    """start, start + step ... below end; one number alone is the end."""
    start, end, step = _host_number(start), _host_number(end), _host_number(step)
    if end is None:
        start, end = 0, start
    if step == 0:
        raise ValueError("arange: 'step' is out of range: got 0, need another number")
    if dtype is None:
        dtype = _float32 if any(isinstance(v, float) for v in (start, end, step)) else _int64
    return F.arange(start, end, step, dtype)


def range_of(start, end, step):
    """arange of the tensors' dtype."""
    dtype = next((v.dtype for v in (start, end, step) if isinstance(v, Tensor)), None)
    return arange_any(start, end, step, dtype)


def linspace(start, end, steps):
    """`steps` numbers from start to end, evenly."""
    if not _is_int(steps):
        raise TypeError(f"linspace: 'steps' has the wrong type: got {type(steps).__name__}, need an int")
    if steps < 1:
        raise ValueError(f"linspace: 'steps' is out of range: got {steps}, need 1 or more")
    start, end = _host_number(start), _host_number(end)
    import numpy as np

    return Tensor(np.linspace(start, end, steps, dtype=np.float32))


def logspace(start, end, steps, base, dtype):
    """base ** linspace(start, end, steps)."""
    import numpy as np

    return Tensor(np.logspace(_host_number(start), _host_number(end), steps, base=base), dtype)


# ----------------------------------------------------------------------------------------------------- index


def take_by(x, indices, axis, mode):
    """Elements by index, indices clipped, wrapped or checked."""
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"take: unknown mode: got {mode!r}, need 'clip', 'wrap' or 'raise'")
    if not isinstance(indices, Tensor):
        indices = Tensor(indices)
    extent = x.size if axis is None else x.shape[axis]
    if mode == "clip":
        indices = F.clip(indices, 0, extent - 1)
    elif mode == "wrap":
        indices = F.mod(indices, extent)
    return F.take(x, indices, axis)


def select_index(x, axis, index):
    """The slice at an index of an axis."""
    return F.squeeze(F.narrow(x, axis, index, 1), axis)


def index_fill(x, axis, index, value):
    """x with the slices at `index` filled."""
    index = Tensor([index]) if isinstance(index, int) else F.reshape(index, -1)
    axis += x.ndim if axis < 0 else 0
    items = (slice(None),) * axis + (index,)
    made = x.copy()
    made[items] = value
    return made


def index_put_any(x, indices, values, accumulate):
    """x with the elements at the index tensors replaced or added to."""
    return F.index_put(x, list(indices), values, bool(accumulate))


def masked_fill_any(x, mask, value):
    """x with `value` where the mask is true."""
    if isinstance(mask, Tensor) and mask.dtype is not _d["bool_"]:
        raise TypeError(f"masked_fill: 'mask' has the wrong dtype: got {mask.dtype}, need Bool")
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError(f"masked_fill: 'value' has the wrong shape: got {value.shape}, need a scalar")
    return F.masked_fill(x, mask, F.cast(value, x.dtype) if isinstance(value, Tensor) else value)


def masked_scatter(x, mask, source):
    """x with the elements where the mask is true replaced by those of `source` in order."""
    mask = F.broadcast_to(mask, x.shape)
    made = x.copy()
    count = int(F.sum(F.cast(mask, _int64)))
    if source.size < count:
        raise ValueError(f"masked_scatter: too few elements: got {source.size}, need {count}")
    made[mask] = F.narrow(F.reshape(source, -1), 0, 0, count)
    return made


def nonzero_by(x, as_tuple):
    """Indices of the elements that are not zero, as rows or as a tensor for each axis."""
    return F.nonzero_tuple(x) if as_tuple else F.nonzero(x)


def scatter_by(x, axis, index, src):
    """x with `src` written at the elements that `index` names on the axis."""
    if not isinstance(src, Tensor):
        src = F.full_like(index, src, x.dtype)
    return F.scatter_elements(x, index, F.cast(src, x.dtype), axis)


def tensor_scatter_elements(x, indices, updates, axis, reduction):
    """scatter with a reduction "none" or "add"."""
    if reduction not in ("none", "add"):
        raise ValueError(
            f"tensor_scatter_elements: unknown reduction: got {reduction!r}, need 'none' or 'add'"
        )
    return F.scatter_elements(x, indices, updates, axis, "update" if reduction == "none" else "add")


def _write(variable, value):
    variable.set_data(value) if hasattr(variable, "set_data") else variable.assign_value(value)
    return variable


def scatter_into(variable, indices, updates, mode):
    """Writes the result of a scatter into the variable."""
    return _write(variable, F.scatter(variable, indices, updates, mode))


def scatter_nd_into(variable, indices, updates, mode):
    """Writes the result of a scatter by coordinates into the variable."""
    return _write(variable, F.tensor_scatter(variable, indices, updates, mode))


def assign(variable, value):
    """Gives the variable another value."""
    value = value if isinstance(value, Tensor) else Tensor(value, variable.dtype)
    if value.shape != variable.shape:
        raise ValueError(f"assign: value has another shape: got {value.shape}, need {variable.shape}")
    return _write(variable, F.cast(value, variable.dtype))


def assign_add(variable, value):
    """Adds to the variable."""
    return _write(variable, F.cast(F.add(variable, value), variable.dtype))


def assign_sub(variable, value):
    """Subtracts from the variable."""
    return _write(variable, F.cast(F.sub(variable, value), variable.dtype))


def select_scatter(x, src, axis, index):
    """x with the slice at an index of an axis replaced."""
    made = x.copy()
    axis += x.ndim if axis < 0 else 0
    made[(slice(None),) * axis + (index,)] = src
    return made


def slice_scatter(x, src, axis, start, end, step):
    """x with a slice of an axis replaced."""
    made = x.copy()
    axis += x.ndim if axis < 0 else 0
    made[(slice(None),) * axis + (slice(start, end, step),)] = src
    return made


def one_hot_any(indices, depth, on_value, off_value, axis):
    """`on_value` at the index, `off_value` elsewhere, in their common dtype."""
    on = _as_tensor(on_value)
    off = _as_tensor(off_value)
    common = _core.promote_types(on.dtype, off.dtype)
    return F.one_hot(indices, int(depth), F.cast(on, common), F.cast(off, common), axis)


def searchsorted_by(sequence, values, out_int32, right, side, sorter):
    """Places at which values go into a sorted sequence."""
    if side not in (None, "left", "right"):
        raise ValueError(f"searchsorted: unknown side: got {side!r}, need 'left' or 'right'")
    if sorter is not None:
        sequence = F.gather_elements(sequence, sorter, -1)
    values = values if isinstance(values, Tensor) else Tensor(values, sequence.dtype)
    found = F.searchsorted(sequence, values, right if side is None else side == "right")
    return F.cast(found, _int32) if out_int32 else found


def bucketize(x, boundaries, right):
    """Number of the interval between boundaries in which each element lies."""
    edges = boundaries if isinstance(boundaries, Tensor) else Tensor(boundaries, _float32)
    return F.cast(F.searchsorted(edges, x if isinstance(x, Tensor) else Tensor(x), right), _int32)


def segment_sum(x, segment_ids, count):
    """Sums of the slices of each segment."""
    return F.scatter_nd(
        F.expand_dims(segment_ids, segment_ids.ndim), x, (int(count), *x.shape[segment_ids.ndim :])
    )


# ------------------------------------------------------------------------------------- reductions, algebra


def sum_as(x, axes, keepdims, dtype):
    """Sum, converted first when a dtype is given; integers and bools add up in int64."""
    if dtype is None and not x.dtype.is_floating_point:
        dtype = _int64
    return F.sum(F.cast_if(x, dtype), axes, keepdims)


def sum_initial(x, axis, dtype, keepdims, initial):
    """Sum plus a starting value."""
    total = sum_as(x, axis, keepdims, dtype)
    return total if initial is None else F.add(total, initial)


def gather_batch(x, indices, axis, batch_dims):
    """Slices by index; the first batch_dims axes of both run together."""
    axis = int(axis) if isinstance(axis, Tensor) else axis
    return F.gather(x, Tensor(indices) if isinstance(indices, int) else indices, axis, batch_dims)


def unique_pair(x):
    """Distinct elements in order of first occurrence and the place of each element among them."""
    values, inverse, _ = F.unique(x, "first")
    return values, F.cast(inverse, _int32)


def unique_runs(x, return_inverse, return_counts, dim):
    """Distinct neighbours, with the place of each element and the lengths of runs when asked for."""
    if dim is not None and x.ndim > 1:
        raise ValueError(
            f"unique_consecutive: 'dim' is not supported for {x.ndim} axes: got {dim}, need None"
        )
    values, inverse, counts = F.unique(x, "runs")
    found = [values] + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
    return found[0] if len(found) == 1 else tuple(found)


def dot_nd(x, other):
    """Product of sums over the last axis of x and the second to last of other."""
    if x.ndim == 0 or other.ndim == 0:
        return F.mul(x, other)
    return tensor_dot(x, other, ([x.ndim - 1], [max(other.ndim - 2, 0)]))


def tensor_dot(x, other, axes):
    """Product of sums over pairs of axes."""
    if _is_int(axes):
        return F.tensordot(x, other, list(range(x.ndim - axes, x.ndim)), list(range(axes)))
    first, second = (_numbers(a) for a in axes)
    return F.tensordot(x, other, first, second)


def einsum(equation, operands):
    """Sums of products by Einstein's notation."""
    listed = len(operands) == 1 and isinstance(operands[0], (tuple, list))
    return F.einsum(equation, operands[0] if listed else operands)


def outer_flat(x, other):
    """All products of two vectors."""
    return F.outer(F.reshape(x, -1), F.reshape(other, -1))


def extreme(x, axis, keepdims, initial, where, kind):
    """Largest ("max") or smallest element along an axis and where it is."""
    if where is not None:
        x = F.where(where, x, initial)
    found = F.max_with_index if kind == "max" else F.min_with_index
    if axis is None:
        values, places = (F.amax if kind == "max" else F.amin)(x), Tensor(0, _int64)
    else:
        values, places = found(x, axis, keepdims)
    if initial is not None:
        values = (F.maximum if kind == "max" else F.minimum)(values, initial)
    return values, places


def extreme_method(x, axis, keepdims, initial, where, return_indices, kind):
    """Largest or smallest element over axes, with its place when asked for."""
    if return_indices:
        return extreme(x, axis, keepdims, initial, None if where is True else where, kind)
    keepdims = keepdims and axis is not None  # as MindSpore's methods do, unlike its functions
    return extreme_over(x, axis, keepdims, initial, None if where is True else where, kind)


def extreme_over(x, axes, keepdims, initial, where, kind):
    """Largest or smallest element over axes."""
    if where is not None:
        if initial is None:
            raise ValueError(f"{kind}: 'where' needs 'initial': got None, need a number")
        x = F.where(where, x, initial)
    values = (F.amax if kind == "max" else F.amin)(x, axes, keepdims)
    if initial is not None:
        values = F.cast((F.maximum if kind == "max" else F.minimum)(values, initial), x.dtype)
    return values


def extreme_pair(x, axis, keepdims, kind):
    """Index and value of the largest or smallest element, as ArgMaxWithValue gives them."""
    values, places = (F.max_with_index if kind == "max" else F.min_with_index)(x, axis, keepdims)
    return places, values


def arg_extreme(x, axis, keepdims, kind):
    """Index of the largest or smallest element along an axis, or of the flattened tensor."""
    find = F.argmax if kind == "max" else F.argmin
    return find(F.reshape(x, -1), 0) if axis is None else find(x, axis, keepdims)


def argmin_int(x, axis, keepdims):
    """arg_extreme of the smallest, as int32."""
    return F.cast(arg_extreme(x, axis, keepdims, "min"), _int32)


def aminmax(x, axis, keepdims):
    """Smallest and largest elements."""
    if axis is None:
        return F.amin(x, (), keepdims), F.amax(x, (), keepdims)
    return F.amin(x, axis, keepdims), F.amax(x, axis, keepdims)


def count_nonzero(x, axis, keepdims, dtype):
    """Number of elements that are not zero."""
    return F.sum(F.cast(F.not_equal(x, 0), _int32 if dtype is None else dtype), axis, keepdims)


def moments(x, axis, ddof, keepdims, kind):
    """Standard deviation or variance with n - ddof for n."""
    return (F.std if kind == "std" else F.var)(x, axis, float(ddof), keepdims)


def moments_and_mean(x, axis, ddof, keepdims, kind):
    """The same and the mean."""
    return moments(x, axis, ddof, keepdims, kind), F.mean(x, axis, keepdims)


def norm_by(x, order, axes, keepdims, dtype):
    """Vector norm of that order, or a matrix norm by name."""
    if order == "nuc" and _is_int(axes):
        raise TypeError(f"norm: order 'nuc' is of matrices: got one axis {axes}, need two")
    x = F.cast_if(x, dtype)
    if order in (None, "fro", "nuc") and not isinstance(order, (int, float)):
        if order == "nuc":
            raise NotImplementedError("norm: order 'nuc' is not supported: got 'nuc', need 'fro' or a number")
        return F.norm(x, 2.0, axes, keepdims)
    if axes is None:
        axes = ()
    elif not _is_int(axes) and len(axes) == 2:
        return matrix_norm(x, order, axes, keepdims)
    if axes == () and x.ndim == 2 and not isinstance(order, str):
        return matrix_norm(x, order, (-2, -1), keepdims)
    return F.norm(x, float(order), axes, keepdims)


def matrix_norm(x, order, axes, keepdims):
    """Frobenius norm, or the largest (smallest for a negative order) sum of rows or columns."""
    if order == "fro":
        return F.norm(x, 2.0, axes, keepdims)
    rows, columns = (a % x.ndim for a in axes)
    if order not in (1, -1, float("inf"), float("-inf")):
        raise NotImplementedError(
            f"matrix_norm: unsupported order: got {order}, need 'fro', 1, -1, inf or -inf"
        )
    first, second = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = F.sum(F.abs(x), first, True)
    found = (F.amax if order > 0 else F.amin)(sums, second, True)
    return found if keepdims else F.squeeze(found, (rows, columns))


def cumulative(x, axis, dtype, kind):
    """Running sum or product."""
    x = F.cast_if(x, dtype)
    return (F.cumsum if kind == "sum" else F.cumprod)(x, axis)


def cumsum_method(x, axis, dtype):
    """Running sum, of the flattened tensor without an axis."""
    if axis is None:
        x, axis = F.reshape(x, -1), 0
    if dtype is None and (x.dtype is _d["bool_"] or x.dtype.name in ("int8", "int16", "uint8", "uint16")):
        dtype = _int32
    return F.cumsum(F.cast_if(x, dtype), axis)


def cumulative_extreme(x, axis, kind):
    """Largest or smallest element so far and where it is."""
    return (F.cummax if kind == "max" else F.cummin)(x, axis)


def sort_pair(x, axis, descending):
    """Elements in order and where they were."""
    values, places = F.sort(x, axis, descending)
    return values, F.cast(places, _int32)


def cummin_pair(x, axis):
    """Smallest element so far and where it is, as int32."""
    values, places = F.cummin(x, axis)
    return values, F.cast(places, _int32)


def argsort_int(x, axis, descending):
    """Where the elements in order were."""
    return F.cast(F.argsort(x, axis, descending), _int32)


def topk_by(x, k, axis, largest, _sorted):
    """The k largest or smallest elements in order and where they were."""
    values, places = F.topk(x, k, -1 if axis is None else axis, largest)
    return values, F.cast(places, _int32)


def median_by(x, axis, keepdims):
    """Middle element and where it is; of all elements without an axis."""
    if axis is None:
        return F.median(F.reshape(x, -1), 0)[0]
    if x.ndim == 0:
        return x, Tensor(0, _int64)
    return F.median(x, axis, keepdims)


def nansum(x, axis, keepdims, dtype):
    """Sum without NaN."""
    if x.dtype.is_floating_point:
        x = F.where(F.isnan(x), 0.0, x)
    return sum_as(x, axis, keepdims, dtype)


def prod_as(x, axis, keepdims, dtype):
    """Product, converted first when a dtype is given; integers and bools multiply in int64."""
    if dtype is None and not x.dtype.is_floating_point:
        dtype = _int64
    return F.prod(F.cast_if(x, dtype), axis, keepdims)


def logsumexp_by(x, axis, keepdims):
    """log(sum(exp(x)))."""
    return F.logsumexp(x, axis, keepdims)


def allclose(x, other, rtol, atol, equal_nan):
    """True when all elements are close."""
    return bool(F.all(isclose(x, other, rtol, atol, equal_nan)))


def ptp(x, axis, keepdims):
    """Largest minus smallest element."""
    return F.sub(F.amax(x, axis, keepdims), F.amin(x, axis, keepdims))


def trace_by(x, offset, axis1, axis2, dtype):
    """Sum of a diagonal."""
    return F.sum(F.cast_if(F.diagonal(x, offset, axis1, axis2), dtype), -1)


def diff(x, n, axis, prepend, append):
    """Differences of neighbours, n times."""
    parts = [t for t in (prepend, x, append) if t is not None]
    x = F.concat(parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        extent = x.shape[axis]
        x = F.sub(F.narrow(x, axis, 1, extent - 1), F.narrow(x, axis, 0, extent - 1))
    return x


def recompute_norms(x, p, axis, maxnorm):
    """Slices along an axis scaled down to a largest norm."""
    axis %= x.ndim
    others = tuple(a for a in range(x.ndim) if a != axis)
    sizes = F.norm(x, float(p), others, True)
    return F.where(F.greater(sizes, maxnorm), F.mul(x, F.div(maxnorm, F.add(sizes, 1e-7))), x)


def clip_by_norm(x, max_norm, norm_type, error_if_nonfinite):
    """Scaled down so that the norm of all tensors together is at most max_norm."""
    single = isinstance(x, Tensor)
    tensors = [x] if single else list(x)
    total = F.norm(F.stack([F.norm(F.reshape(t, -1), float(norm_type)) for t in tensors]), float(norm_type))
    if error_if_nonfinite and not bool(F.isfinite(total)):
        raise RuntimeError("clip_by_norm: norm is not finite: got nan or inf, need a finite one")
    factor = F.clip(F.div(max_norm, F.add(total, 1e-6)), None, 1.0)
    made = [F.mul(t, F.cast(factor, t.dtype)) for t in tensors]
    return made[0] if single else type(x)(made)


def cross_by(x, other, axis):
    """Cross product along an axis, the first of extent 3 by default."""
    if axis is None:
        axis = next((i for i, extent in enumerate(x.shape) if extent == 3), -1)
    return F.cross(x, other, axis)


def addn(tensors):
    """The sum of a list of tensors."""
    if isinstance(tensors, Tensor):
        return tensors
    total = tensors[0]
    for t in tensors[1:]:
        total = F.add(total, t)
    return total


# -------------------------------------------------------------------------------------------------------- nn


def bias_add(x, bias):
    """x plus a bias for each channel."""
    return F.add(x, F.reshape(bias, (1, -1) + (1,) * (x.ndim - 2)))


def _spatial(value, count, name):
    if _is_int(value):
        return (value,) * count
    value = tuple(value)
    if len(value) not in (1, count, 2 * count):
        raise ValueError(f"'{name}' has the wrong length: got {value}, need an int or {count} ints")
    return value * count if len(value) == 1 else value


def conv_by(axes, x, weight, bias, stride, pad_mode, padding, dilation, groups):
    """Convolution with MindSpore's pad_mode."""
    if x.ndim not in (axes + 1, axes + 2):
        raise ValueError(f"conv{axes}d: wrong number of axes: got shape {x.shape}, need {axes + 2}")
    stride, dilation = _spatial(stride, axes, "stride"), _spatial(dilation, axes, "dilation")
    if pad_mode == "same":
        padding = F.same_padding(x.shape[-axes:], weight.shape[2:], stride, dilation)
    elif pad_mode == "valid":
        padding = ()
    elif pad_mode != "pad":
        raise ValueError(f"conv{axes}d: unknown pad_mode: got {pad_mode!r}, need 'same', 'valid' or 'pad'")
    return F.conv(x, weight, bias, stride, padding, dilation, groups)


def torch_conv(axes, x, weight, bias, stride, padding, dilation, groups):
    """Convolution with padding as a number, numbers, "same" or "valid"."""
    if isinstance(padding, str):
        return conv_by(axes, x, weight, bias, stride, padding, 0, dilation, groups)
    return conv_by(axes, x, weight, bias, stride, "pad", padding, dilation, groups)


def one_hot_classes(x, count):
    """One-hot rows of as many classes, or as the largest index needs."""
    count = int(x.asnumpy().max()) + 1 if count == -1 else count
    return F.one_hot(x, count, Tensor(1), Tensor(0))


def max_pool_by(axes, x, kernel_size, stride, padding, dilation, return_indices, ceil_mode):
    """Largest element of each window, with its place when asked for."""
    kernel = _spatial(kernel_size, axes, "kernel_size")
    stride = kernel if stride is None else _spatial(stride, axes, "stride")
    pool = F.max_pool_with_indices if return_indices else F.max_pool
    return pool(x, kernel, stride, padding, dilation, ceil_mode)


def avg_pool_by(axes, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor):
    """Mean of each window."""
    kernel = _spatial(kernel_size, axes, "kernel_size")
    stride = kernel if stride is None else _spatial(stride, axes, "stride")
    return F.avg_pool(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor or 0)


def _output_size(axes, size):
    size = (size,) * axes if size is None or _is_int(size) else tuple(size)
    return tuple(-1 if s is None else s for s in size)


def adaptive_pool(axes, x, output_size, kind):
    """Windows that give the output size."""
    size = _output_size(axes, output_size)
    return F.adaptive_avg_pool(x, size) if kind == "avg" else F.adaptive_max_pool(x, size)


def adaptive_max_pool_by(axes, x, output_size, return_indices):
    """Largest element of windows that give the output size, with its place when asked for."""
    size = _output_size(axes, output_size)
    return F.adaptive_max_pool_with_indices(x, size) if return_indices else F.adaptive_max_pool(x, size)


def batch_norm(x, mean, variance, weight, bias, training, momentum, eps):
    """Batch normalization by batch statistics in training, by the given ones otherwise."""
    if not training:
        return F.batch_norm_inference(x, mean, variance, weight, bias, eps)
    y, batch_mean, batch_variance = F.batch_norm_train(x, weight, bias, eps)
    count = x.size // x.shape[1]
    unbiased = batch_variance * (count / max(count - 1, 1))
    for variable, new in ((mean, batch_mean), (variance, unbiased)):
        if hasattr(variable, "set_data"):
            variable.set_data(F.stop_gradient(variable * (1 - momentum) + new * momentum))
    return y


def nll_smoothed(x, target, weight, ignore_index, reduction, smoothing):
    """nll_loss, with a share of the target spread over all classes."""
    if smoothing:
        raise ValueError(
            f"nll_loss: 'label_smoothing' is out of range: got {smoothing}, need 0; see cross_entropy"
        )
    return F.nll_loss(x, target, weight, ignore_index, reduction)


def pixel_shuffle(x, factor):
    """Channels moved into space."""
    *batch, channels, height, width = x.shape
    if factor <= 0 or channels % factor**2:
        raise ValueError(
            f"pixel_shuffle: channels do not divide: got {channels}, need a multiple of {factor}**2"
        )
    n = len(batch)
    x = F.reshape(x, (*batch, channels // factor**2, factor, factor, height, width))
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return F.reshape(F.transpose(x, order), (*batch, channels // factor**2, height * factor, width * factor))


def pixel_unshuffle(x, factor):
    """Space moved into channels."""
    *batch, channels, height, width = x.shape
    if factor <= 0 or height % factor or width % factor:
        raise ValueError(
            f"pixel_unshuffle: size does not divide: got {height} by {width}, need multiples of {factor}"
        )
    n = len(batch)
    x = F.reshape(x, (*batch, channels, height // factor, factor, width // factor, factor))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return F.reshape(F.transpose(x, order), (*batch, channels * factor**2, height // factor, width // factor))


def channel_shuffle(x, groups):
    """Channels of the groups taken in turn."""
    n, channels = x.shape[:2]
    if groups <= 0 or channels % groups:
        raise ValueError(
            f"channel_shuffle: channels do not divide: got {channels}, need a multiple of {groups}"
        )
    x = F.reshape(x, (n, groups, channels // groups, *x.shape[2:]))
    return F.reshape(F.swapaxes(x, 1, 2), (n, channels, *x.shape[3:]))


def clip_by_global_norm(tensors, clip_norm, use_norm):
    """All tensors scaled by the same number so that their joint norm is at most clip_norm."""
    if use_norm is not None:
        raise ValueError(f"clip_by_global_norm: 'use_norm' is not supported: got {use_norm}, need None")
    if clip_norm <= 0:
        raise ValueError(
            f"clip_by_global_norm: 'clip_norm' is out of range: got {clip_norm}, need more than 0"
        )
    total = addn([F.sum(F.square(F.cast(t, _float32))) for t in tensors])
    norm = F.maximum(F.sqrt(total), clip_norm)
    return tuple(F.cast(F.div(F.mul(t, clip_norm), norm), t.dtype) for t in tensors)


# ---------------------------------------------------------------------------------------------------- random


def rand_by(size, dtype, seed):
    """Uniform on [0, 1)."""
    size = (size,) if _is_int(size) else tuple(size)
    dtype = _float32 if dtype is None else dtype
    return F.random_uniform(size, dtype, seed)


def randn_by(size, dtype, seed):
    """Standard normal."""
    size = (size,) if _is_int(size) else tuple(size)
    dtype = _float32 if dtype is None else dtype
    return F.random_normal(size, dtype, seed)


def rand_like(x, seed, dtype):
    """Uniform on [0, 1), in the shape of x."""
    return rand_by(x.shape, x.dtype if dtype is None else dtype, seed)


def randn_like(x, seed, dtype):
    """Standard normal, in the shape of x."""
    return randn_by(x.shape, x.dtype if dtype is None else dtype, seed)


def randint(low, high, size, seed, dtype):
    """Integers from low up to but without high."""
    if high <= low:
        raise ValueError(f"randint: range is empty: got {low} to {high}, need high above low")
    drawn = F.random_uniform((size,) if _is_int(size) else tuple(size), _d["float64"], seed)
    return F.cast(
        F.floor(F.add(F.mul(drawn, float(high - low)), float(low))), _int64 if dtype is None else dtype
    )


def randint_like(x, low, high, seed, dtype):
    """randint in the shape of x."""
    return randint(low, high, x.shape, seed, x.dtype if dtype is None else dtype)


def randperm(n, seed, dtype):
    """A random order of the numbers below n."""
    order = F.random_uniform((n,), _d["float64"], seed or None).asnumpy().argsort(kind="stable")
    return Tensor(order, dtype)


def uniform(shape, minval, maxval, seed, dtype):
    """Uniform between bounds; integers when the dtype is one."""
    if dtype is _int32:
        return randint(int(minval), int(maxval), shape, seed, dtype)
    drawn = rand_by(shape, _float32, seed)
    return F.add(F.mul(drawn, F.sub(_as_tensor(maxval), minval)), minval)


def normal(shape, mean, stddev, seed):
    """Normal with that mean and standard deviation."""
    return F.add(F.mul(randn_by(shape, _float32, seed), stddev), mean)


def bernoulli(x, p, seed):
    """1 with probability p, else 0."""
    drawn = F.random_uniform(x.shape, _float32, seed)
    return F.cast(F.less(drawn, p), x.dtype)


def dropout_by(x, p, training, seed):
    """Zeros with probability p and the rest scaled, in training."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout: 'p' is out of range: got {p}, need at least 0, less than 1")
    return F.dropout(x, p, seed) if training and p else x


# ------------------------------------------------------------------------------------- Python values


def _tensor(x, what):
    if not isinstance(x, Tensor):
        raise TypeError(f"{what}: argument has the wrong type: got {type(x).__name__}, need a Tensor")
    return x


def shape_of(x):
    """The shape as a tuple."""
    return _tensor(x, "shape").shape


def size_of(x):
    """Number of elements."""
    return _tensor(x, "size").size


def rank_of(x):
    """Number of axes."""
    return _tensor(x, "rank").ndim


def dtype_of(x):
    """The element type."""
    return _tensor(x, "dtype").dtype


def is_tensor(value):
    """True for a Tensor."""
    return isinstance(value, Tensor)


def is_floating_point(x):
    """True when the elements are floating."""
    return x.dtype.is_floating_point


def is_nonzero(x):
    """Truth of a tensor of one element."""
    if _tensor(x, "is_nonzero").size != 1:
        raise ValueError(f"is_nonzero: not one element: got shape {x.shape}, need one element")
    return bool(x)


def tuple_to_array(values):
    """A tensor of a tuple of numbers."""
    return Tensor(
        list(values) if isinstance(values, (tuple, list)) else values,
        _int32 if all(_is_int(v) for v in _listed(values)) else None,
    )


def _listed(values):
    return values if isinstance(values, (tuple, list)) else (values,)


def scalar_to_tensor(value, dtype):
    """A tensor of a number."""
    return Tensor(value, dtype)


def scalar_cast(value, dtype):
    """A number converted to a kind."""
    name = dtype.name
    return bool(value) if name.startswith("bool") else int(value) if "int" in name else float(value)


def print_(values):
    """Prints values."""
    print(*values)
    return values[0] if values else None


# ------------------------------------------------------------------------------------------------ primitives


def matmul_by(a, b, transpose_a, transpose_b):
    """Matrix product of operands or their transposes."""
    return F.matmul(F.swap_last(a) if transpose_a else a, F.swap_last(b) if transpose_b else b)


def pool_by(x, kernel_size, strides, pad_mode, kind):
    """Pooling with MindSpore's pad_mode."""

    def pair(value):
        return (value, value) if _is_int(value) else tuple(value)[-2:]

    kernel, stride = pair(kernel_size), pair(strides)
    mode = pad_mode.lower()
    if mode not in ("same", "valid"):
        raise ValueError(f"pool: unknown pad_mode: got {pad_mode!r}, need 'same' or 'valid'")
    padding = F.same_padding(x.shape[-2:], kernel, stride) if mode == "same" else ()
    if kind == "max":
        return F.max_pool(x, kernel, stride, padding)
    return F.avg_pool(x, kernel, stride, padding, False, False)


def cast_any(x, dtype):
    """Converted; a number becomes a tensor."""
    return F.cast(x, dtype) if isinstance(x, Tensor) else Tensor(x, dtype)


def div_no_nan(x, y):
    """x / y, zero where y is."""
    zero = F.equal(y, 0)
    return F.where(zero, 0, F.div(x, F.where(zero, 1, y)))


def dropout_primitive(x, keep_prob):
    """Dropped-out elements and the mask of those kept."""
    mask = F.less(F.random_uniform(x.shape, _float32), keep_prob)
    return F.div(F.mul(x, F.cast(mask, x.dtype)), keep_prob), mask


def mirror_pad(x, paddings, mode):
    """Pairs of widths for each axis, mirrored without ("REFLECT") or with the edge ("SYMMETRIC")."""
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"MirrorPad: unknown mode: got {mode!r}, need 'REFLECT' or 'SYMMETRIC'")
    pairs = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    return F.pad(x, [p[0] for p in pairs], [p[1] for p in pairs], mode.lower())


def pad_pairs(x, paddings):
    """Zeros around, a pair of widths for each axis."""
    return F.pad(x, [p[0] for p in paddings], [p[1] for p in paddings])


def reduce_sum(x, axis, keep_dims, skip_mode):
    """Sum over axes; with skip_mode no axes means none."""
    if skip_mode and not isinstance(axis, int) and len(axis) == 0:
        return x
    return F.sum(x, axis, keep_dims)


def shape_tensor(x):
    """The shape as an int64 tensor."""
    return Tensor(list(x.shape), _int64)


def split_into(x, axis, count):
    """Equal pieces."""
    if x.shape[axis] % count:
        raise ValueError(
            f"Split: axis does not divide: got extent {x.shape[axis]}, need a multiple of {count}"
        )
    return F.split(x, x.shape[axis] // count, axis)


def soft_cross_entropy_pair(logits, labels):
    """Cross entropy of each row with distributions, and softmax(logits) - labels."""
    logs = F.log_softmax(logits, -1)
    return F.neg(F.sum(F.mul(logs, labels), -1)), F.sub(F.softmax(logits, -1), labels)


def sparse_cross_entropy_mean(logits, labels, is_grad):
    """Mean cross entropy with class numbers, or its gradient."""
    if not is_grad:
        return F.mean(F.softmax_cross_entropy(logits, labels))
    hot = F.one_hot(labels, logits.shape[-1], Tensor(1, logits.dtype), Tensor(0, logits.dtype))
    return F.div(F.sub(F.softmax(logits, -1), hot), logits.shape[0])


def square_sums(x, y):
    """Sums of squares of both."""
    return F.sum(F.square(x)), F.sum(F.square(y))


def nll_pair(logits, labels, weight, ignore_index, reduction):
    """nll_loss and the sum of the weights it is over."""
    chosen = F.where(
        F.equal(labels, ignore_index), 0.0, F.gather(weight, F.clip(labels, 0, weight.size - 1), 0)
    )
    return F.nll_loss(logits, labels, weight, ignore_index, reduction), F.sum(chosen)


def interpolate_by(x, size, scale_factor, mode, align_corners, recompute_scale_factor):
    """Resized to a size or by factors."""
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: need either 'size' or 'scale_factor': got both or none")
    size = () if size is None else (size,) * (x.ndim - 2) if _is_int(size) else size
    factors = () if scale_factor is None else scale_factor
    return F.interpolate(x, mode, size, factors, bool(align_corners), bool(recompute_scale_factor))


def cosine_similarity(x, other, axis, eps):
    """Cosine of the angle between slices along an axis."""
    product = F.sum(F.mul(x, other), axis)
    sizes = F.mul(F.maximum(F.norm(x, 2.0, axis), eps), F.maximum(F.norm(other, 2.0, axis), eps))
    return F.div(product, sizes)


def channel_dropout(x, p, training):
    """Zeros whole channels with probability p and scales the rest, in training."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout: 'p' is out of range: got {p}, need at least 0, less than 1")
    if not training or p == 0:
        return x
    kept = F.dropout(F.full((*x.shape[:2], *(1,) * (x.ndim - 2)), 1, x.dtype), p)
    return F.mul(x, kept)


def gumbel_softmax(logits, tau, hard, axis):
    """Softmax of logits with Gumbel noise; with `hard` one-hot in value, soft in gradient."""
    drawn = F.clip(F.random_uniform(logits.shape, _float32), 1e-20, 1.0)
    soft = F.softmax(F.div(F.sub(logits, F.log(F.neg(F.log(drawn)))), tau), axis)
    if not hard:
        return soft
    places = F.argmax(soft, axis)
    hot = F.one_hot(places, soft.shape[axis], Tensor(1, soft.dtype), Tensor(0, soft.dtype), axis)
    return F.add(F.sub(hot, F.stop_gradient(soft)), soft)
