"""Programs of plain functions whose results, errors and output must not depend on the mode: Python runs at
every call, so that everything about its state may change between calls.
"""

import collections

import numpy as np
import pytest
from modes import X, check_equal, vector

import sorus as ms
from sorus import Tensor, ops

PROGRAMS = {}


def program(function):
    """A generator of calls, given `jit` or nothing to wrap functions with."""
    PROGRAMS[function.__name__] = function
    return function


@program
def branches(wrap):
    @wrap
    def f(x):
        if x.sum() > 0:
            return x * 2
        elif float(x[0]) < -5:
            return x - 100
        return ops.exp(x)

    for i in range(4):
        for s in (1, -1, -9):
            yield lambda s=s: f(X * s)


@program
def shared_memory_written_in_the_middle(wrap):
    memory = np.zeros(4, np.float32)

    @wrap
    def f(shared):
        before = shared + 1
        memory[0] += 10
        flat = shared.reshape(2, 2)
        between = flat * 2
        memory[1] -= 1
        return before, between, shared + flat.sum()

    def call():
        memory[:] = 0
        return f(ms.from_numpy(memory))

    for _ in range(4):
        yield call


@program
def loops(wrap):
    @wrap
    def f(x, n):
        y = x
        for i in range(int(n)):
            y = y * x + i
        while y.sum() > 1:
            y = y / 3
        return y

    for n in (1, 2, 3, 1, 2, 3, 0, 5, 5):
        yield lambda n=n: f(X, Tensor(n))


@program
def wide_call(wrap):
    st = {"go": False}
    ts = [vector(i) for i in range(40)]

    @wrap
    def f():
        if st["go"]:
            return ops.concat(ts) * 2
        return ts[0] + 1

    def setgo(v):
        st["go"] = v
        return f()

    for v in (False, False, True, True, True, False, True):
        yield lambda v=v: setgo(v)


@program
def refused_wide_call(wrap):
    st = {"go": 0}
    ts = [vector(i) for i in range(40)]
    bad = [*ts, Tensor(np.zeros((2, 2), np.float32))]

    @wrap
    def f():
        if st["go"] == 1:
            try:
                ops.concat(bad)
            except ValueError as e:
                print(e)
        return ops.concat([t + 1 for t in ts]) + ops.concat(ts)

    def setgo(v):
        st["go"] = v
        return f()

    for v in (0, 0, 1, 1, 1, 0, 1):
        yield lambda v=v: setgo(v)


@program
def try_except(wrap):
    @wrap
    def f(x, k):
        try:
            y = x.reshape(k)
        except ValueError as e:
            print("caught", e)
            y = x
        return y * 2

    for k in ((3, 1), (3, 1), (4,), (4,), (1, 3), (3, 1), (4,)):
        yield lambda k=k: f(X, k)


@program
def closures(wrap):
    k = [1.0]
    g = {"b": 2}

    @wrap
    def f(x):
        def h(y):
            return y * k[0] + g["b"]

        return h(h(x))

    def s(a, b):
        k[0] = a
        g["b"] = b
        return f(X)

    for a, b in ((1.0, 2), (1.0, 2), (3.0, 2), (3.0, 4), (3, 4.5), (vector(5), 1), (1.0, 2), (True, 2)):
        yield lambda a=a, b=b: s(a, b)


@program
def generators(wrap):
    @wrap
    def f(x):
        def gen():
            y = x
            while True:
                y = y * 1.5
                yield y

        g = gen()
        return [next(g) for _ in range(3)]

    @wrap
    def gf(x):
        for i in range(3):
            yield x * i

    for i in range(4):
        yield lambda: f(X)
    for i in range(3):
        yield lambda: list(gf(X))


@program
def variable_arguments(wrap):
    @wrap
    def f(*a, **k):
        r = sum(a)
        for n in k:
            r = r + k[n]
            print(n)
        return r, dict(k), a

    for i in range(3):
        yield lambda: f(X, X)
        yield lambda: f(X, 2, y=X)
        yield lambda: f(X, 2, z=X, y=3)
        yield lambda: f(X, 2, y=3, z=X)


@program
def printing(wrap):
    @wrap
    def f(x):
        y = x * 3
        print(y, y.shape, y + 1)
        print(repr(x), str(y.dtype), f"{float(y.sum()):.3f}")
        return y.asnumpy() + np.asarray(y * 2)

    for s in (1, 1, 2, 2):
        yield lambda s=s: f(X * s)


@program
def numpy_in_the_middle(wrap):
    @wrap
    def f(x):
        a = (x * 2).asnumpy()
        a[0] = 7
        y = Tensor(a) * x
        b = np.sin(y.asnumpy())
        return y + Tensor(b) + b

    for s in (1, 1, 2, 2):
        yield lambda s=s: f(X * s)


@program
def returns_arguments(wrap):
    c = vector(4)

    @wrap
    def f(x, y):
        return x

    @wrap
    def g():
        return c

    @wrap
    def h():
        return 5, None, "a", [c, {"k": c * 2}], c

    @wrap
    def z():
        return ops.zeros((2,), ms.float32)

    for i in range(4):
        yield lambda: f(X, c)
        yield g
        yield h
        yield z


@program
def views(wrap):
    @wrap
    def f(x):
        a = x.reshape(1, 3)
        b = ops.transpose(a, (1, 0))
        return a, b, x[1:], x[::2], ops.broadcast_to(x, (2, 3)), x[None], x.expand_dims(0)

    @wrap
    def g(x):
        v = x[1:]
        x[0] = 9.0
        return v, x

    for i in range(4):
        yield lambda: f(X)
    for i in range(4):
        yield lambda: g(X * 1)


@program
def empty_tensors(wrap):
    @wrap
    def f(x):
        return x * 2, x.sum(), ops.concat([x, x]), x.reshape(0, 3) if x.size == 0 else x

    e = Tensor(np.zeros((0,), np.float32))
    for i in range(3):
        yield lambda: f(e)
    for i in range(3):
        yield lambda: f(X)


@program
def changing_scalars(wrap):
    @wrap
    def f(x, s):
        return x * s + s - 1, ops.clamp(x, s, s + 1), x**s

    for s in (
        1,
        2,
        3,
        1.5,
        2.5,
        True,
        1,
        -1.0,
        np.float32(3),
        np.int64(2),
        float("nan"),
        float("inf"),
        0.0,
        -0.0,
    ):
        yield lambda s=s: f(X, s)


@program
def changing_shapes(wrap):
    @wrap
    def f(x):
        return x.sum(), ops.softmax(x), x.reshape(-1), x.shape, x @ ops.transpose(x, (1, 0))

    for n in (1, 2, 3, 4, 5, 1, 2, 3, 4, 5):
        yield lambda n=n: f(Tensor(np.arange(n * 4, dtype=np.float32).reshape(n, 4)))
    for d in (np.float16, np.float64, np.int32, np.float16):
        yield lambda d=d: f(Tensor(np.arange(8, dtype=d).reshape(2, 4)))


@program
def recursion(wrap):
    @wrap
    def f(x, n):
        return x if n == 0 else f(x * 1.1, n - 1) + n

    for n in (0, 1, 2, 3, 3, 3, 10, 10, 40, 40):
        yield lambda n=n: f(X, n)


@program
def nested_containers(wrap):
    P = collections.namedtuple("P", "a b")

    @wrap
    def f(d):
        return {"o": P(d["x"] * 2, [d["y"][0] + d["y"][1]]), "n": None}

    for i in range(3):
        yield lambda: f({"x": X, "y": (X, X * 2)})
    for i in range(3):
        yield lambda: f({"x": X, "y": (X, 3)})
    for i in range(3):
        yield lambda: f({"x": X * 2, "y": [X, vector(1)]})


@program
def alias(wrap):
    @wrap
    def f(a, b):
        return a * b + a - b

    for i in range(3):
        yield lambda: f(X, X)
    for i in range(3):
        yield lambda: f(X, X * 2)
    for i in range(3):
        yield lambda: f(X, X)


@program
def donated(wrap):
    @wrap
    def f(p):
        y = p * 1
        y += 1
        z = y
        y *= 2
        return y, z

    k = vector(5, 6, 7)
    for i in range(4):
        yield lambda: f(k)
        yield lambda: k


@program
def readings(wrap):
    @wrap
    def f(x):
        y = x * 2
        a = float(y[0])
        z = y + a
        if z[1] > 5:
            z = z * 2
        b = z.tolist()
        l = len(z)
        t = bool((z > 0).all())
        i = int(z[0])
        h = list(z)
        return z, a, b, l, t, i, h, x[int(i) % 3]

    for s in (1, 2, 1, 2, 3, 3, 0.5):
        yield lambda s=s: f(X * s)


@program
def not_finite(wrap):
    @wrap
    def f(x):
        return ops.sqrt(x), ops.log(x), x / 0, x.max(), x.argmax(), ops.softmax(x), ops.isnan(x), x == x

    n = vector(float("nan"), -1, float("inf"))
    for i in range(3):
        yield lambda: f(n)
    for i in range(3):
        yield lambda: f(X)


@program
def exceptions_in_a_loop(wrap):
    @wrap
    def f(x, n):
        tot = x * 0
        for i in range(n):
            try:
                if i % 2:
                    raise ValueError(i)
                tot = tot + x
            except ValueError:
                tot = tot * 2
            finally:
                tot = tot + 1
        return tot

    for n in (1, 2, 3, 3, 4, 4):
        yield lambda n=n: f(X, n)


@program
def random_numbers(wrap):
    @wrap
    def f(n):
        out = []
        for i in range(n):
            out.append(ops.rand(2))
        if float(out[-1][0]) > 0.5:
            out.append(ops.randint(0, 9, (3,)))
        return out

    for n in (1, 2, 2, 1, 3, 3, 2, 1):
        yield lambda n=n: f(n)


@program
def order_of_a_dictionary(wrap):
    @wrap
    def f(d):
        r = X
        for k, v in d.items():
            r = r * v + len(k)
        return r

    for i in range(2):
        yield lambda: f({"a": X, "bb": X * 2})
        yield lambda: f({"bb": X * 2, "a": X})


@program
def refused_values(wrap):
    st = {"at": 1, "where": "inside"}
    labels = [Tensor(np.array([0, i], np.int32)) for i in range(9)]

    @wrap
    def f(x):
        logits = ops.stack([x, x * 2])
        y = x * 3
        if st["where"] == "inside":
            try:
                y = y + ops.cross_entropy(logits, labels[st["at"]])
            except IndexError as e:
                print("caught", e)
                y = y - 1
        else:
            y = y + ops.cross_entropy(logits, labels[st["at"]])
        picked = ops.gather(y, (x * st["at"]).astype(ms.int32) - 1, 0)
        return y, picked

    def s(where, at):
        st.update(where=where, at=at)
        return f(X)

    for where, at in (
        ("inside", 1),
        ("inside", 1),
        ("inside", 7),
        ("inside", 7),
        ("outside", 1),
        ("outside", 8),
        ("outside", 8),
        ("inside", 1),
        ("outside", 1),
    ):
        yield lambda where=where, at=at: s(where, at)


@pytest.mark.parametrize("name", PROGRAMS)
def test_modes_agree(name):
    check_equal(PROGRAMS[name])
