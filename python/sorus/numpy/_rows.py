"""Rows of `sorus.numpy`: names and arguments of NumPy."""

_UNARY = (
    "abs absolute=abs exp exp2 expm1 log log2 log10 log1p sqrt square cbrt reciprocal negative=neg "
    "sin cos tan "
    "arcsin=asin arccos=acos arctan=atan sinh cosh tanh arcsinh=asinh arccosh=acosh arctanh=atanh "
    "floor ceil trunc "
    "fix=trunc rint=round sign isnan isinf isfinite logical_not bitwise_not"
)
_BINARY = (
    "add subtract=sub multiply=mul divide=div true_divide=div floor_divide=floor_div remainder=mod "
    "mod power=pow "
    "maximum minimum fmax fmin fmod arctan2=atan2 hypot logaddexp equal not_equal less less_equal greater "
    "greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor float_power"
)


def _simple(names, left, right):
    rows = []
    for item in names.split():
        name, _, target = item.partition("=")
        rows.append(f"{name}({left}, dtype=None) -> cast_if({target or name}({right}), dtype)")
    return "\n".join(rows) + "\n"


FUNCTIONS = (
    _simple(_UNARY, "x", "x")
    + _simple(_BINARY, "x1, x2", "x1, x2")
    + """\
arccos(input, dtype=None) -> cast_if(acos(input), dtype)
logical_not(a, dtype=None) -> cast_if(logical_not(a), dtype)
negative(a, dtype=None) -> cast_if(neg(a), dtype)
zeros(shape, dtype=float32) -> zeros_of(shape, dtype)
ones(shape, dtype=float32) -> ones_of(shape, dtype)
empty(shape, dtype=float32) -> zeros_of(shape, dtype)
full(shape, fill_value, dtype=None) -> full_any(shape, fill_value, dtype)
zeros_like(a, dtype=None, shape=None) -> like_of(a, 0, dtype, shape)
ones_like(a, dtype=None, shape=None) -> like_of(a, 1, dtype, shape)
full_like(a, fill_value, dtype=None, shape=None) -> like_of(a, fill_value, dtype, shape)
arange(start, stop=None, step=1, dtype=None) -> arange_any(start, stop, step, dtype)
eye(N, M=None, k=0, dtype=float32) -> shifted_eye(N, M, k, dtype)
identity(n, dtype=float32) -> eye(n, n, dtype)
reshape(x, new_shape) -> reshape(x, new_shape)
ravel(x) -> reshape(x, -1)
transpose(a, axes=None) -> transpose(a, axes)
swapaxes(x, axis1, axis2) -> swapaxes(x, axis1, axis2)
moveaxis(a, source, destination) -> movedim(a, source, destination)
expand_dims(a, axis) -> expand_dims(a, axis)
squeeze(a, axis=None) -> squeeze_ones(a, axis)
broadcast_to(array, shape) -> expand(array, shape)
concatenate(arrays, axis=0) -> concat(arrays, axis)
stack(arrays, axis=0) -> stack(arrays, axis)
hstack(tup) -> hstack(tup)
vstack(tup) -> vstack(tup)
dstack(tup) -> dstack(tup)
column_stack(tup) -> column_stack(tup)
tile(a, reps) -> tile(a, reps)
repeat(a, repeats, axis=None) -> repeat_interleave_any(a, repeats, axis)
flip(m, axis=None) -> flip(m, axis)
flipud(m) -> flip(m, 0)
fliplr(m) -> flip(m, 1)
roll(a, shift, axis=None) -> roll(a, shift, axis)
rot90(a, k=1, axes=(0, 1)) -> rot90(a, k, axes)
where(condition, x=None, y=None) -> where_any(condition, x, y)
clip(x, xmin, xmax, dtype=None) -> cast_if(clip_each(x, xmin, xmax), dtype)
sum(a, axis=None, dtype=None, keepdims=False, initial=None) -> sum_initial(a, axis, dtype, keepdims, initial)
sum_(a, axis=None, dtype=None, keepdims=False, initial=None) -> sum_initial(a, axis, dtype, keepdims, initial)
mean(a, axis=None, keepdims=False, dtype=None) -> mean(cast_if(a, dtype), axis, keepdims)
max(a, axis=None, keepdims=False, initial=None, where=True)
    -> extreme_method(a, axis, keepdims, initial, where, False, 'max')
min(a, axis=None, keepdims=False, initial=None, where=True)
    -> extreme_method(a, axis, keepdims, initial, where, False, 'min')
amax(a, axis=None, keepdims=False, initial=None, where=True)
    -> extreme_method(a, axis, keepdims, initial, where, False, 'max')
amin(a, axis=None, keepdims=False, initial=None, where=True)
    -> extreme_method(a, axis, keepdims, initial, where, False, 'min')
argmax(a, axis=None) -> arg_extreme(a, axis, False, 'max')
argmin(a, axis=None) -> arg_extreme(a, axis, False, 'min')
std(x, axis=None, ddof=0, keepdims=False) -> moments(x, axis, ddof, keepdims, 'std')
var(x, axis=None, ddof=0, keepdims=False) -> moments(x, axis, ddof, keepdims, 'var')
ptp(x, axis=None, keepdims=False) -> ptp(x, axis, keepdims)
prod(a, axis=None, keepdims=False) -> prod_as(a, axis, keepdims, None)
any(a, axis=None, keepdims=False) -> any(a, axis, keepdims)
all(a, axis=None, keepdims=False) -> all(a, axis, keepdims)
cumsum(a, axis=None, dtype=None) -> cumsum_method(a, axis, dtype)
cumprod(a, axis, dtype=None) -> cumulative(a, axis, dtype, 'prod')
dot(a, b) -> dot_nd(a, b)
matmul(x1, x2, dtype=None) -> cast_if(matmul(x1, x2), dtype)
inner(a, b) -> inner(a, b)
outer(a, b) -> outer_flat(a, b)
tensordot(a, b, axes=2) -> tensor_dot(a, b, axes)
kron(a, b) -> kron(a, b)
cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> cross_axes(a, b, axisa, axisb, axisc, axis)
trace(a, offset=0, axis1=0, axis2=1, dtype=None) -> trace_by(a, offset, axis1, axis2, dtype)
diag(v, k=0) -> diag(v, k)
diagonal(a, offset=0, axis1=0, axis2=1) -> diagonal(a, offset, axis1, axis2)
tril(m, k=0) -> tril(m, k)
triu(m, k=0) -> triu(m, k)
take(a, indices, axis=None, mode='clip') -> take_by(a, indices, axis, mode)
take_along_axis(arr, indices, axis) -> gather_elements(arr, indices, axis)
searchsorted(a, v, side='left', sorter=None) -> searchsorted_by(a, v, True, False, side, sorter)
bincount(x, weights=None, minlength=0, length=None) -> numpy_bincount(x, weights, minlength, length)
linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0)
    -> numpy_linspace(start, stop, num, endpoint, retstep, dtype, axis)
logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0)
    -> numpy_logspace(start, stop, num, endpoint, base, dtype, axis)
isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> isclose(a, b, rtol, atol, equal_nan)
meshgrid(*xi, sparse=False, indexing='xy') -> numpy_meshgrid(xi, sparse, indexing)
norm(x, ord=None, axis=None, keepdims=False) -> norm_by(x, ord, axis, keepdims, None)
rand(*shape, dtype=float32) -> rand_by(shape, dtype, None)
randn(*shape, dtype=float32) -> randn_by(shape, dtype, None)
atleast_1d(arys) -> atleast_each_1d(arys)
atleast_2d(arys) -> atleast_each_2d(arys)
atleast_3d(arys) -> atleast_each_3d(arys)
unique(x, return_inverse=False) -> unique_sorted(x, return_inverse)
split(x, indices_or_sections, axis=0) -> split_evenly(x, indices_or_sections, axis)
array_split(x, indices_or_sections, axis=0) -> split_evenly(x, indices_or_sections, axis)
size(a, axis=None) -> extent_of(a, axis)
shape(a) -> shape_of(a)
ndim(a) -> rank_of(a)
"""
)
