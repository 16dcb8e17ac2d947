"""Programs with parameters, gradients and state whose results must not depend on the mode, and training."""

import copy
import functools
import gc
import pickle
import types

import numpy as np
import pytest
from modes import X, bits, check_equal, vector

import sorus as ms
from sorus import Parameter, Tensor, dataset, nn, ops

PROGRAMS = {}


def program(function):
    """A generator of calls, given `jit` or nothing to wrap functions with."""
    PROGRAMS[function.__name__] = function
    return function


@program
def kept_values(wrap):
    keep = []

    @wrap
    def f(x):
        y = x * 2 + len(keep)
        keep.append(y)
        if len(keep) > 1:
            return keep[-2] + y, keep[0]
        return y

    for s in (1, 1, 2, 2, 3, 1):
        yield lambda s=s: f(X * s)
    yield lambda: keep


@program
def in_place(wrap):
    p = Parameter(vector(1, 2, 3), name="p")

    @wrap
    def f(x, i):
        x[i] = p[0] * 2
        p[1] = x.sum()
        p[0:2] += 1
        x += p
        return x, p

    @wrap
    def g():
        p.set_data(p * 2)
        ops.assign_add(p, p)
        return p

    for i in (0, 0, 1, 1, 2):
        yield lambda i=i: f(X * 1, i)
    for i in range(4):
        yield g
    for i in (0, 0, 1, 1, 2):
        yield lambda i=i: f(p * 1, i)
    for i in range(3):
        yield lambda i=i: f(p, i)
    yield lambda: p


@program
def exception_in_the_middle(wrap):
    p = Parameter(vector(1, 2, 3), name="p")
    st = [0]

    @wrap
    def f(x):
        p.set_data(p + x)
        q = p * 2
        if st[0]:
            raise KeyError("boom")
        p.set_data(q)
        return p

    def s(v):
        st[0] = v
        return f(X)

    for v in (0, 0, 1, 0, 1, 1, 0, 0, 1):
        yield lambda v=v: s(v)
        yield lambda: p


@program
def refused_value_in_the_middle(wrap):
    p = Parameter(vector(1, 2, 3), name="p")

    @wrap
    def f(i):
        p.set_data(p * 2)
        q = ops.gather(p, i, 0)
        p.set_data(p + q)
        return p

    for i in (0, 0, 5, 1, 5, 5, 2, 0):
        yield lambda i=i: f(Tensor(i, ms.int32))
        yield lambda: p


@program
def gradients(wrap):
    def loss(x, y):
        return (x * x * ops.sin(y)).sum()

    @wrap
    def inner(x):
        return x * x * x

    g1 = wrap(ms.grad(loss, (0, 1)))
    g2 = ms.grad(wrap(loss), (0, 1))
    g3 = wrap(ms.grad(lambda x: ms.grad(lambda z: inner(z).sum())(x).sum()))
    vg = wrap(ms.value_and_grad(loss, 0))
    jv = wrap(lambda x: ms.jvp(inner, x, vector(1, 1, 1)))
    vj = wrap(lambda x: ms.vjp(inner, x)[1](vector(1, 2, 1)))
    for i in range(4):
        yield lambda: g1(X, X * 2)
        yield lambda: g2(X, X * 2)
        yield lambda: g3(X * 1)
        yield lambda: vg(X, X)
        yield lambda: jv(X)
        yield lambda: vj(X)


@program
def seeds(wrap):
    @wrap
    def f(x):
        return ops.dropout(x, 0.5, True), ops.randn((3,))

    def s(k):
        if k is not None:
            ms.set_seed(k)
        return f(X)

    for k in (1, None, None, 1, None, 2, None, 1):
        yield lambda k=k: s(k)


@program
def changing_state(wrap):
    ns = types.SimpleNamespace(k=2, net=nn.Dense(3, 2), act=ops.relu)

    @wrap
    def f(x):
        return ns.act(ns.net(x[None])) * ns.k

    def s(n, v):
        setattr(ns, n, v)
        return f(X)

    for n, v in (
        ("k", 2),
        ("k", 2),
        ("k", 3),
        ("act", ops.tanh),
        ("act", ops.tanh),
        ("net", nn.Dense(3, 4)),
        ("net", nn.Dense(3, 4)),
        ("k", 2.5),
    ):
        yield lambda n=n, v=v: s(n, v)


@program
def many_ways(wrap):
    st = [0]

    @wrap
    def f(x):
        for b in range(7):
            if st[0] >> b & 1:
                x = x * 2
            else:
                x = x + 1
        return x

    def s(v):
        st[0] = v
        return f(X)

    for v in list(range(128)) + list(range(0, 128, 7)):
        yield lambda v=v: s(v)


@program
def tied_weights(wrap):
    class Tied(nn.Cell):
        def __init__(s):
            super().__init__()
            s.e = Parameter(
                Tensor(np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)), name="e"
            )
            s.d = nn.Dense(4, 5, has_bias=False)
            s.d.weight = s.e

        def construct(s, i):
            return s.d(ops.tanh(s.e[i]))

    net = Tied()
    o = nn.Adam(net.trainable_params(), 0.1)
    vg = wrap(ms.value_and_grad(lambda i, y: ops.cross_entropy(net(i), y), None, net.trainable_params()))
    i = Tensor(np.array([0, 1, 1, 4], np.int32))

    def st():
        l, g = vg(i, i)
        o(g)
        return l, g, net.e

    for _ in range(5):
        yield st


@program
def training_step(wrap):
    net = nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(p=0.5), nn.Dense(4, 2))
    net.set_train()
    o = nn.Momentum(net.trainable_params(), nn.PolynomialDecayLR(0.1, 0.01, 5, 2.0), 0.9)
    vg = ms.value_and_grad(lambda x, y: nn.MSELoss()(net(x), y), None, o.parameters)

    @wrap
    def step(x, y):
        l, g = vg(x, y)
        o(g)
        return l

    r = np.random.default_rng(0)
    for i in range(8):
        n = 4 if i != 5 else 6
        x = Tensor(r.standard_normal((n, 3)).astype(np.float32))
        y = Tensor(r.standard_normal((n, 2)).astype(np.float32))
        yield lambda x=x, y=y: step(x, y)
        yield lambda: [p for p in net.get_parameters()]
        if i == 3:
            net.set_train(False)
        if i == 4:
            net.set_train(True)
            net[0].weight.set_data(net[0].weight * 2)
        if i == 6:
            net[1] = nn.BatchNorm1d(4)


@program
def slots_class(wrap):
    class S:
        __slots__ = ("a",)

        @wrap
        def m(self, x):
            return x * self.a

    s = S()
    s.a = 2
    for i in range(3):
        yield lambda: s.m(X)


@program
def methods(wrap):
    class A:
        k = 2

        def __init__(s):
            s.a = 1.5

        @wrap
        def m(s, x):
            return x * s.a + s.k

        @wrap
        def n(s, x):
            return x * s.a - s.k

        @classmethod
        @wrap
        def c(cls, x):
            return x * cls.k

        @staticmethod
        @wrap
        def st(x):
            return x * 5

        @property
        @wrap
        def pr(s):
            return X * s.a

    a = A()
    b = A()
    b.a = 7
    for i in range(3):
        yield lambda: (a.m(X), b.m(X), a.n(X), A.c(X), a.c(X), A.st(X), a.st(X), a.pr, A.m(a, X))

    def ch():
        a.a = 9
        A.k = 11
        return a.m(X), b.m(X), a.n(X)

    yield ch
    yield ch


@program
def any_callable(wrap):
    f = wrap(lambda x: x * 2)
    g = wrap(ops.relu)
    k = wrap(functools.partial(ops.add, X))
    for i in range(3):
        yield lambda: f(X)
        yield lambda: g(-X)
        yield lambda: k(X)


@program
def tensor_attrs(wrap):
    @wrap
    def f(x):
        y = x + 1
        y.foo = 3
        z = y
        y += 1
        return getattr(z, "foo", None), y, x is x, (y is z), hash(y) == hash(z)

    for i in range(3):
        yield lambda: f(X * 1)


@program
def changing_type_of_a_parameter(wrap):
    p = Parameter(vector(1, 2), name="p")

    @wrap
    def f(x):
        p.set_data(x)
        return p * 2, p.shape

    for x in (vector(1, 2), vector(1, 2), vector(3, 4), vector(1, 2)):
        yield lambda x=x: f(x)
    yield lambda: p


@program
def swap(wrap):
    a = Parameter(vector(1, 2), name="a")
    b = Parameter(vector(3, 4), name="b")

    @wrap
    def f():
        t = a * 1
        a.set_data(b)
        b.set_data(t)
        return a + b * 2

    @wrap
    def g():
        a.set_data(b)
        b.set_data(b + 1)
        return a, b

    for i in range(4):
        yield f
    for i in range(4):
        yield g
    for i in range(2):
        yield f
    yield lambda: (a, b)


@program
def assign_views(wrap):
    p = Parameter(Tensor(np.arange(12, dtype=np.float32).reshape(3, 4)), name="p")

    @wrap
    def f():
        v = p[1]
        w_ = p.T
        p[1] = v * 2
        p[:, 0] = w_[0] + 1
        p[p > 8] = 0.5
        return v, w_, p

    for i in range(5):
        yield f


@program
def toggled_mode(wrap):
    @wrap
    def f(x):
        return ops.exp(x) * 2

    def s(m):
        ms.set_context(mode=m)
        try:
            return f(X), nn.ReLU()(X)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)

    for m in (0, 1, 0, 1, 0, 0):
        yield lambda m=m: s(m)


@program
def hooks(wrap):
    net = nn.Dense(3, 2)
    log = []
    h = net.register_forward_hook(lambda c, i, o: (log.append(1), o * 2)[1])
    net.register_backward_hook(lambda c, gi, go: log.append(2))
    g = wrap(ms.grad(lambda x: net(x).sum()))
    for i in range(3):
        yield lambda: (g(X[None]), tuple(log))

    def rm():
        h.remove()
        return g(X[None]), tuple(log)

    yield rm
    for i in range(3):
        yield lambda: (g(X[None]), tuple(log))


@program
def own_bprop(wrap):
    class C(nn.Cell):
        k = 2

        def construct(s, x):
            return x * s.k

        def bprop(s, x, out, dout):
            return (dout * 100 + x,)

    c = C()
    g = wrap(ms.grad(lambda x: c(x).sum()))

    def ch(k):
        c.k = k
        return g(X)

    for k in (2, 2, 3, 3):
        yield lambda k=k: ch(k)


@program
def recomputation(wrap):
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Dropout(p=0.4), nn.Tanh(), nn.Dense(4, 1))
    net.set_train()
    net.recompute()
    g = wrap(ms.value_and_grad(lambda x: net(x).sum(), 0, net.trainable_params()))
    for i in range(4):
        yield lambda: g(X[None])


@program
def stopped_gradient(wrap):
    st = [0]

    def loss(x):
        y = x * x
        if st[0]:
            y = ops.stop_gradient(y)
        return (y * x).sum()

    g = wrap(ms.grad(loss))

    def s(v):
        st[0] = v
        return g(X)

    for v in (0, 0, 1, 1, 0, 1):
        yield lambda v=v: s(v)


@program
def toggled_requires_grad(wrap):
    a = Parameter(vector(1, 2), name="a")
    g = wrap(ms.grad(lambda x: (a * x * a).sum(), 0, [a]))

    def s(v):
        a.requires_grad = v
        return g(vector(3, 4))

    for v in (True, True, False, False, True):
        yield lambda v=v: s(v)


@program
def changing_array(wrap):
    buf = np.ones(3, np.float32)

    @wrap
    def f(x):
        t = Tensor(buf)
        r = x * t
        buf[:] += 1
        return r, x + buf, Tensor.from_numpy(buf) * x

    for i in range(4):
        yield lambda: f(X)


@program
def shared_memory(wrap):
    buf = np.ones(3, np.float32)
    t = Tensor.from_numpy(buf)

    @wrap
    def f(x):
        return x * t + t

    def s():
        buf[1] += 1
        return f(X), t

    for i in range(4):
        yield s


@program
def errors(wrap):
    st = [0]

    @wrap
    def f(x):
        y = x * 2
        if st[0] == 1:
            y = y @ X[None, None]
        if st[0] == 2:
            y = ops.relu("a")
        if st[0] == 3:
            y = y.nosuch
        if st[0] == 4:
            y = ops.concat([y, None])
        if st[0] == 5:
            y = y + object()
        if st[0] == 6:
            y = y[9]
        if st[0] == 7:
            y = y[0, 0]
        if st[0] == 8:
            y = y.reshape(7)
        return y + 1

    def s(v):
        st[0] = v
        return f(X)

    for v in (0, 0, 1, 0, 2, 2, 3, 0, 4, 4, 5, 6, 6, 0, 7, 8, 0):
        yield lambda v=v: s(v)


@program
def garbage_collection(wrap):
    @wrap
    def f(x):
        y = x * 2
        l = [y]
        l.append(l)
        del l, y
        gc.collect()
        z = x * 3
        return z

    for i in range(4):
        yield lambda: f(X)


@program
def copies(wrap):
    net = nn.Dense(3, 2)

    @wrap
    def f(x):
        n2 = copy.deepcopy(net)
        n2.weight.set_data(n2.weight * 2)
        t = copy.copy(x * 2)
        u = copy.deepcopy(x * 3)
        v = pickle.loads(pickle.dumps(x * 4))
        return n2(x[None]) + net(x[None]), t, u, v

    for i in range(4):
        yield lambda: f(X)


@pytest.mark.parametrize("name", PROGRAMS)
def test_modes_agree(name):
    check_equal(PROGRAMS[name])


class LeNet(nn.Cell):
    """LeNet-5 with batch normalization and dropout."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.norm = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.dense1 = nn.Dense(256, 120)
        self.dropout = nn.Dropout(p=0.3)
        self.dense2 = nn.Dense(120, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.norm(self.conv1(x))))
        x = self.pool(ops.relu(self.conv2(x)))
        return self.dense2(self.dropout(ops.relu(self.dense1(self.flatten(x)))))


def grouped(parameters):
    biases = [p for p in parameters if "bias" in p.name]
    others = [p for p in parameters if "bias" not in p.name]
    return [{"params": biases, "lr": 0.01}, {"params": others, "weight_decay": 0.01}]


OPTIMIZERS = {
    "momentum": lambda p: nn.Momentum(p, 0.05, 0.9),
    "momentum with a list": lambda p: nn.Momentum(p, [0.1, 0.05, 0.01], 0.9, 1e-3, use_nesterov=True),
    "sgd with a schedule": lambda p: nn.SGD(p, nn.ExponentialDecayLR(0.1, 0.9, 2), momentum=0.9),
    "adam with a schedule": lambda p: nn.Adam(p, nn.CosineDecayLR(0.001, 0.01, 4)),
    "adam with groups": lambda p: nn.Adam(grouped(p), 0.001),
    "adam with weight decay": lambda p: nn.AdamWeightDecay(p, 0.001),
}


def train(mode, make_optimizer):
    """Losses and all parameters after steps between which the state of everything changes."""
    ms.set_context(mode=mode)
    try:
        ms.set_seed(5)
        net = LeNet()
        net.set_train()
        optimizer = make_optimizer(net.trainable_params())
        loss = nn.CrossEntropyLoss()
        step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
        numbers = np.random.default_rng(0)
        seen = []
        for i in range(8):
            if i == 4:
                net.set_train(False)
            if i == 5:
                net.set_train(True)
                ms.set_seed(9)
            if i == 6:
                net.dense2.weight.set_data(net.dense2.weight * 0.5)
            size = 5 if i == 3 else 8
            x = Tensor(numbers.standard_normal((size, 1, 28, 28), dtype=np.float32))
            y = Tensor(numbers.integers(0, 10, size).astype(np.int32))
            value, gradients = step(x, y)
            optimizer(gradients)
            seen.append(bits(value))
        return seen, [(p.name, bits(p)) for p in [*net.get_parameters(), *optimizer.get_parameters()]]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_has_equal_bits(name):
    assert train(ms.PYNATIVE_MODE, OPTIMIZERS[name]) == train(ms.GRAPH_MODE, OPTIMIZERS[name])


def test_a_refused_label_leaves_parameters_alone():
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            net = nn.Dense(4, 3)
            optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
            loss = nn.CrossEntropyLoss()
            step = ms.jit(nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train())
            x = Tensor(np.ones((2, 4), np.float32))
            for _ in range(3):
                step(x, Tensor(np.array([0, 2], np.int32)))
            before = [bits(p) for p in [*net.get_parameters(), *optimizer.get_parameters()]]
            with pytest.raises(Exception, match="got 7"):
                step(x, Tensor(np.array([0, 7], np.int32)))
            assert [bits(p) for p in [*net.get_parameters(), *optimizer.get_parameters()]] == before
            step(x, Tensor(np.array([0, 2], np.int32)))
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)


def test_the_seed_fixes_the_order_of_rows():
    def order():
        ms.set_seed(4)
        rows = dataset.NumpySlicesDataset(np.arange(50), ["x"], shuffle=True)
        return [int(row[0]) for row in rows.create_tuple_iterator(output_numpy=True)]

    assert order() == order() != list(range(50))
