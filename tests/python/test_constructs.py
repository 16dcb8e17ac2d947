"""A hundred small `construct` methods, which between them use the whole of Python: in graph mode each gives,
call by call, what it gives as plain Python: results to the bit, errors, output, and what it leaves behind.

They are source text, so that this file also shows that graph mode needs no source file.
"""

import re
import textwrap

import pytest
from modes import check_equal, vector

import sorus as ms
from sorus import nn

# Each begins with its name. The parameters are (self, x); `self.w` is a parameter, `self.seen` a list,
# `self.n` the number of the call, `self.layer` a Dense(3, 3).
CONSTRUCTS = r'''
# if_on_a_value
if x.sum() > 0:
    return x * 2
return -x
# elif_chain
s = float(x[0])
if s < 0: y = x - 1
elif s < 2: y = x + 1
else: y = x * x
return y
# nested_if
if x.max() > 0:
    if x.min() < 0:
        return x.abs()
    return x + 1
return x - 1
# conditional_expression
return x + 1 if x.mean() > 0 else x - 1
# conditional_on_none
bias = None if self.n % 2 else x
return x if bias is None else x + bias
# boolean_and_or
return x * 2 if x[0] > 0 and x[1] > 0 or self.n == 2 else x
# not_a_value
return x if not x.any() else x * 3
# chained_comparison
return x * 5 if 0 < float(x.sum()) < 10 else x
# truth_of_a_number
return x * self.n if self.n else x
# walrus
if (s := x.sum()) > 1:
    return x / s
return x
# match_on_a_number
match self.n:
    case 0: return x
    case 1 | 2: return x * 2
    case _: return x * 3
# match_on_structure
match (x, [self.n, 1]):
    case (a, [0, _]): return a
    case (a, [k, *rest]): return a * k + len(rest)
# match_on_a_class
match x:
    case ms.Tensor(): return x + 1
    case _: return None
# for_over_range
for i in range(3): x = x + i
return x
# for_over_a_tensor
y = 0
for row in x: y = y + row * row
return y
# for_over_rows
y = ops.stack([x, x + 1])
return sum(row.max() for row in y)
# for_else
for i in range(self.n):
    if i == 2: break
else:
    x = x * 10
return x
# for_with_continue
y = x
for i in range(5):
    if i % 2: continue
    y = y + i
return y
# while_on_a_value
while x.max() < 50: x = x * 2 + 1
return x
# while_on_a_number
i = 0
while i < self.n: x, i = ops.tanh(x), i + 1
return x
# while_else
i = 3
while i: i -= 1
else: x = x - 1
return x
# while_true_break
while True:
    x = x + 1
    if x.min() > 3: break
return x
# nested_loops
for i in range(2):
    for j in range(i + 1): x = x + i * j
return x
# loop_over_a_dictionary
scales = {"a": 1.5, "b": 2}
for name, k in scales.items(): x = x * k + len(name)
return x
# enumerate_and_zip
y = x
for i, (a, b) in enumerate(zip([1, 2], [x, x + 1])): y = y + b * a * i
return y
# reversed_and_sorted
y = x * 0
for k in sorted(reversed([3, 1, 2])): y = y * 2 + k * x
return y
# list_comprehension
return ops.stack([x * i for i in range(3) if i != 1])
# nested_comprehension
return ops.concat([x[i] + y for i in range(2) for y in [x, -x]])
# dictionary_comprehension
parts = {k: x * k for k in (1, 2)}
return parts[1] + parts[2]
# set_comprehension
return x * len({i % 2 for i in range(4)})
# generator_expression
return sum((x * i for i in range(4)), x)
# generator_function
def pieces(y):
    for i in range(3):
        y = y * 2
        yield y
return sum(pieces(x))
# generator_with_send
def running():
    total = x
    while True:
        got = yield total
        total = total + got
g = running()
next(g)
g.send(x * 2)
return g.send(x * 3)
# yield_from
def inner(): yield x; yield x + 1
def outer(): yield from inner(); yield x + 2
return ops.stack(list(outer()))
# closure
k = x.sum()
def scaled(y): return y * k
return scaled(x) + scaled(x * 2)
# nonlocal_variable
count = 0
def step(y):
    nonlocal count
    count += 1
    return y + count
return step(step(x))
# lambda_function
f = lambda y, k=3: y * k
return f(x) + f(x, 2)
# map_and_filter
return sum(map(lambda y: y * y, filter(lambda y: y is not None, [x, None, x + 1])))
# functools_reduce
import functools
return functools.reduce(lambda a, b: a * 2 + b, [x, x + 1, x + 2])
# functools_partial
import functools
return functools.partial(ops.clamp, max=2.0)(x)
# recursion
def power(y, k): return y if k == 0 else y * power(y, k - 1)
return power(x, self.n)
# decorator
def twice(f): return lambda y: f(f(y))
@twice
def g(y): return y * 3
return g(x)
# positional_and_keyword_arguments
def f(a, /, b, *, c): return a + b * c
return f(x, b=x * 2, c=3)
# star_arguments
def f(*args, **kwargs): return sum(args) * kwargs["k"]
return f(x, x + 1, *[x, x], **{"k": 2})
# default_arguments_are_made_once
def f(y, kept=[]):
    kept.append(1)
    return y * len(kept)
return f(x) + f(x)
# tuple_unpacking
a, (b, *c) = x, (x + 1, x + 2, x + 3)
return a + b * len(c) + c[-1]
# swap
a, b = x, x * 2
a, b = b, a
return a - b
# star_in_a_list
rest = [x, x + 1]
return ops.stack([*rest, x + 2])
# dictionaries_merged
d = {"a": x} | {"b": x * 2}
d.update(c=x * 3)
return d
# nested_results
return {"a": [x, (x + 1, {"b": x.sum()})], "n": self.n, "none": None, "text": "t"}
# several_results
return x, x + 1, self.n
# no_result
x + 1
# result_of_an_argument
return x
# the_same_result_twice
y = x * 2
return y, y
# namedtuple
import collections
Pair = collections.namedtuple("Pair", "low high")
p = Pair(x.min(), x.max())
return p.high - p.low, p._replace(low=x).low
# dataclass
import dataclasses
@dataclasses.dataclass
class State:
    total: object
    steps: int = 0
s = State(x)
s.total, s.steps = s.total + 1, s.steps + 1
return s.total * s.steps
# class_with_operators
class Scaled:
    def __init__(self, y): self.y = y
    def __add__(self, other): return Scaled(self.y + other.y)
    def __getitem__(self, i): return self.y[i]
    def __call__(self): return self.y
    def __len__(self): return 7
s = Scaled(x) + Scaled(x * 2)
return s(), s[0], len(s)
# class_with_inheritance
class A:
    def f(self, y): return y + 1
class B(A):
    def f(self, y): return super().f(y) * 2
return B().f(x)
# property_and_static_method
class A:
    k = 3
    @property
    def twice(self): return self.k * 2
    @staticmethod
    def f(y): return y - 1
    @classmethod
    def g(cls, y): return y * cls.k
return A.f(A.g(x)) * A().twice
# context_manager
class Noted:
    def __init__(self, to): self.to = to
    def __enter__(self): self.to.append("in"); return 2
    def __exit__(self, *error): self.to.append("out")
with Noted(self.seen) as k:
    y = x * k
return y
# context_manager_that_swallows
import contextlib
with contextlib.suppress(ValueError):
    y = x + 1
    ops.reshape(y, (7, 7))
    y = x * 100
return y
# contextlib_generator
import contextlib
@contextlib.contextmanager
def note(to):
    to.append("begin")
    yield x * 2
    to.append("end")
with note(self.seen) as y:
    y = y + 1
return y
# try_except
try: return ops.matmul(x, ops.ones((5,), ms.float32))
except ValueError: return x - 1
# try_finally
try: y = x * 2
finally: self.seen.append("finally")
return y
# try_else
try: y = x * 2
except ValueError: y = x
else: y = y + 1
return y
# return_in_finally_order
def f():
    try: return x * 1
    finally: self.seen.append(x.shape)
return f()
# raise_on_a_value
if x.sum() > 3: raise ValueError("too much")
return x
# raise_from
try:
    {}["missing"]
except KeyError as e:
    raise RuntimeError("no such key") from e
# custom_exception
class Stop(Exception): pass
try:
    for i in range(5):
        x = x + i
        if i == 2: raise Stop(i)
except Stop as stop: return x * stop.args[0]
# exception_in_an_op
return ops.reshape(x, (2, 2)) if self.n == 3 else x
# exception_after_an_update
self.w += x
if self.n == 2: raise RuntimeError("after the update")
return self.w * 1
# assert_on_a_value
assert x.max() < 4, "too large"
return x
# print_a_value
print("sum", float(x.sum()))
return x
# print_a_tensor
print(x)
return x * 2
# formatted_text
self.seen.append(f"{float(x[0]):.3f} {x.shape} {x.dtype}")
return x
# attribute_that_grows
self.seen.append(self.n)
return x * len(self.seen)
# attribute_that_is_replaced
self.k = getattr(self, "k", 0) + 1
return x + self.k
# attribute_that_keeps_a_tensor
self.last = x if self.n == 0 else self.last * 0.5 + x
return self.last
# global_like_counter
self.seen[:] = self.seen + [0]
return x * len(self.seen)
# update_a_parameter
self.w += x * 0.1
return self.w + 0
# update_a_parameter_twice
self.w *= 2
y = self.w + x
self.w -= x
return y, self.w + 0
# update_in_a_branch
if x[0] > 0: self.w += 1
return self.w * x
# assign_an_item
y = x * 1
y[1] = 7.0
y[-1] += 2
return y
# assign_a_slice
y = ops.zeros((2, 3), ms.float32)
y[0] = x
y[:, 1:] = 5
return y
# slices
return x[1:], x[::2], x[-2:], x[::-1]
# ellipsis_and_new_axis
return x[..., None] + x[None]
# index_by_a_tensor
return x[ms.Tensor([2, 0])], x[x > 1]
# index_by_a_value
return x[int(x.argmax())]
# shape_as_numbers
n = x.shape[0]
return x.reshape(n, 1) * n + x.ndim + x.size
# shape_that_varies
return ops.ones((1 + self.n,), ms.float32) * x.sum()
# numbers_from_values
k = int(x.sum()) % 3
return ops.roll(x, k)
# numpy_in_the_middle
y = np.sort(x.asnumpy())[::-1].copy()
return ms.Tensor(y) + x
# numpy_functions_of_numbers
return x * np.sqrt(2.0).astype(np.float32) + np.pi
# python_math
import math
return x * math.pi + math.floor(2.5)
# random_numbers_of_python
import random
return x * random.Random(self.n).random()
# random_numbers
return x + ops.rand(3), ops.dropout(x, 0.5, training=True)
# dtypes
return x.astype(ms.int32) // 2, x.astype(ms.float16) * 2, (x > 1) & (x < 3)
# in_place_operators
y = x * 1
y += 1; y *= 2; y -= x; y /= 3; y **= 2
return y
# matrix_operator
return x @ x, ops.outer(x, x) @ x
# comparison_results
return x == x[0], x != 2, x >= 1
# is_and_in
return x * (1 if self.w is self.w else 2) * (3 if self.n in (1, 2) else 4)
# delete_a_name
y = x + 1
del x
return y
# string_keyed_dispatch
table = {"even": lambda y: y * 2, "odd": lambda y: y + 100}
return table["odd" if self.n % 2 else "even"](x)
# exec_and_eval
scope = {"x": x}
exec("y = x * 3", scope)
return eval("y + 1", scope)
# getattr_of_a_method
return getattr(x, "sum" if self.n % 2 else "mean")()
# iterators
it = iter([x, x + 1, x + 2])
next(it)
return next(it) + len(list(it))
# itertools
import itertools
return sum(a * b for a, b in itertools.combinations([x, x + 1, x + 2], 2))
# cache_between_calls
cache = self.__dict__.setdefault("cache", {})
if self.n not in cache: cache[self.n % 2] = x * 1
return cache[self.n % 2] + x
# layer
return self.layer(x.reshape(1, 3))
# layer_in_a_loop
y = x.reshape(1, 3)
for _ in range(self.n): y = ops.tanh(self.layer(y))
return y
# gradient_inside
return ms.grad(lambda y: (y * y * self.w).sum())(x)
# gradient_with_a_branch
def f(y): return (y * y).sum() if y.sum() > 0 else y.sum()
return ms.grad(f)(x)
# jit_inside
@ms.jit
def f(y): return ops.exp(y) * 0.5
return f(x) + f(x)
# stop_gradient
return ms.grad(lambda y: (y * ops.stop_gradient(y)).sum())(x)
# hash_and_identity
return x * (1 if {x: 1}[x] == 1 else 0)
# thread_inside
import threading
found = []
t = threading.Thread(target=lambda: found.append(float((x * 2).sum())))
t.start(); t.join()
return x * found[0]
# asynchronous_function
import asyncio
async def f(y): return y * 2
async def g(): return await f(x) + await f(x + 1)
return asyncio.new_event_loop().run_until_complete(g())
'''

NAMES = re.findall(r"^# (\w+)$", CONSTRUCTS, re.MULTILINE)
BODIES = dict(zip(NAMES, re.split(r"^# \w+\n", CONSTRUCTS, flags=re.MULTILINE)[1:], strict=True))
ROWS = [(1, 2, 3), (1, 2, 3), (-4, 0.5, 2), (0, 0, 0), (1, 2, 3), (-9, 1, 1)]
INPUTS = [vector(*row) for row in ROWS]


def cell_of(body):
    """A new cell whose `construct` has this body; the source lies in no file."""
    scope = {"ms": ms, "nn": nn}
    exec("import numpy as np\nfrom sorus import ops", scope)
    exec("def construct(self, x):\n" + textwrap.indent(body, "    "), scope)

    class Network(nn.Cell):
        construct = scope["construct"]

        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(vector(1, -2, 0.5), name="w")
            self.layer = nn.Dense(3, 3, weight_init="ones")
            self.seen = []

    return Network()


def test_there_are_a_hundred():
    assert len(set(NAMES)) == len(NAMES) >= 100


@pytest.mark.parametrize("name", NAMES)
def test_graph_mode_does_what_python_does(name):
    def program(wrap):
        cell = cell_of(BODIES[name])
        construct = cell.construct
        wrapped = wrap(construct)
        call = cell if wrapped is construct else wrapped
        for n, x in enumerate(INPUTS * 2):

            def once(n=n, x=x):
                cell.n = n % 4
                return call(x), cell.w + 0, list(cell.seen)

            yield once

    check_equal(program)
