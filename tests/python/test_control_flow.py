"""`cond`, `while_loop`, `fori_loop` and `scan`: against plain Python loops, in every mode, with gradients."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from modes import bits, check_equal, vector

import sorus as ms
from sorus import Parameter, Tensor, nn, ops

X = vector(1, -2, 3)


def number(value, dtype=np.float32):
    return Tensor(np.array(value, dtype))


def test_cond_chooses_and_calls_both_once():
    called = []

    def double(x):
        called.append("double")
        return x * 2

    def negate(x):
        called.append("negate")
        return -x

    assert ops.cond(X.sum() > 0, double, negate, X).asnumpy().tolist() == [2, -4, 6]
    assert ops.cond(False, double, negate, X).asnumpy().tolist() == [-1, 2, -3]
    assert sorted(called) == ["double", "double", "negate", "negate"]


def test_cond_of_a_matrix_is_its_condition_number():
    a = np.array([[1.0, 0, -1], [0, 1, 0], [1, 0, 1]])
    for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"):
        expected = np.linalg.cond(a, p)
        assert ops.cond(Tensor(a), p).item() == pytest.approx(expected, rel=1e-12), p


def test_loops_equal_plain_loops():
    steps = 7

    def body(i, value):
        return ops.tanh(value * 0.9) + i

    plain = X
    for i in range(2, 2 + steps):
        plain = body(Tensor(i), plain)
    assert bits(ops.fori_loop(2, 2 + steps, body, X)) == bits(plain)
    looped, count = ops.while_loop(
        lambda state: state[1] < 2 + steps, lambda state: (body(state[1], state[0]), state[1] + 1), (X, 2)
    )
    assert bits(looped) == bits(plain)
    assert count.item() == 2 + steps
    carry, seen = ops.scan(lambda c, i: (body(i, c), c), X, ops.arange(2, 2 + steps))
    assert bits(carry) == bits(plain)
    assert seen.shape == (steps, 3)
    assert seen[0].asnumpy().tolist() == X.asnumpy().tolist()


def test_nested_structures_keep_their_shape():
    init = {"x": X, "counts": [0, (1.5, Tensor(2))]}

    def body(state):
        count, (number, other) = state["counts"]
        return {"x": state["x"] + 1, "counts": [count + 1, (number * 2, other)]}

    final = ops.while_loop(lambda state: state["counts"][0] < 3, body, init)
    assert final["x"].asnumpy().tolist() == [4, 1, 6]
    assert final["counts"][0].item() == 3
    assert final["counts"][1][0].item() == 12
    carry, ys = ops.scan(
        lambda c, x: (c, {"sum": x[0] + x[1], "c": (c,)}), 1, (vector(1, 2), vector(3, 4)), reverse=True
    )
    assert carry.item() == 1
    assert ys["sum"].asnumpy().tolist() == [4, 6]
    assert ys["c"][0].asnumpy().tolist() == [1, 1]


def test_without_rows_the_length_counts():
    carry, ys = ops.scan(lambda c, x: (c * 2, None), number(1), length=10)
    assert carry.item() == 1024
    assert ys is None


LOOPS = {
    "cond": lambda x, w: ops.cond(x.sum() > 0, lambda v: ops.sin(v) * w, lambda v: v * v, x),
    "cond_other": lambda x, w: ops.cond(x.sum() < 0, lambda v: ops.sin(v) * w, lambda v: v * v * w, x),
    "while": lambda x, w: ops.while_loop(lambda v: (v * v).sum() < 1000, lambda v: v * w + x, x),
    "fori": lambda x, w: ops.fori_loop(0, 4, lambda i, v: ops.tanh(v * w) + i, x),
    "scan": lambda x, w: ops.scan(lambda c, r: (c * w + r, ops.exp(-c)), x[0], ops.stack((x, x * 2)))[1],
    "nested": lambda x, w: ops.fori_loop(
        0, 3, lambda i, v: ops.cond(v.sum() > 4, lambda u: u * 0.5, lambda u: u * w + i, v), x
    ),
}
PLAIN = {
    "cond": lambda x, w: ops.sin(x) * w if x.sum() > 0 else x * x,
    "cond_other": lambda x, w: ops.sin(x) * w if x.sum() < 0 else x * x * w,
}


@pytest.mark.parametrize("name", LOOPS)
def test_programs_are_equal_in_every_mode(name):
    def program(wrap):
        f = wrap(LOOPS[name])
        gradient = wrap(ms.grad(lambda x, w: LOOPS[name](x, w).sum(), (0, 1)))
        for scale in (1, 2, 1, 3):
            yield lambda scale=scale: f(X * scale, number(1.5))
            yield lambda scale=scale: gradient(X * scale, number(1.5))

    check_equal(program)


def plain_scan(x, w):
    c, ys = x[0], []
    for row in (x, x * 2):
        ys.append(ops.exp(-c))
        c = c * w + row
    return ops.stack(ys)


def test_gradients_equal_those_of_plain_loops():
    def plain_fori(x, w):
        for i in range(4):
            x = ops.tanh(x * w) + Tensor(i)
        return x

    def plain_while(x, w):
        v = x
        while (v * v).sum() < 1000:
            v = v * w + x
        return v

    plain = {"fori": plain_fori, "while": plain_while, **PLAIN}
    for name, f in plain.items():
        found = [
            ms.grad(lambda x, w, g=g: g(x, w).sum(), (0, 1))(X, number(1.5)) for g in (f, LOOPS[name])
        ]
        assert bits(found[0]) == bits(found[1]), name


def test_second_gradients_and_jvp():
    f = LOOPS["fori"]
    gradient = ms.grad(lambda x: f(x, number(0.5)).sum())
    second = ms.grad(lambda x: gradient(x).sum())(X).asnumpy()
    step = 1e-3
    up, down = gradient(X + step).asnumpy(), gradient(X - step).asnumpy()
    np.testing.assert_allclose(second, (up - down) / (2 * step), rtol=2e-2, atol=1e-3)
    _, along = ms.jvp(lambda x: f(x, number(0.5)), X, ops.ones_like(X))
    up, down = f(X + step, number(0.5)).asnumpy(), f(X - step, number(0.5)).asnumpy()
    np.testing.assert_allclose(along.asnumpy(), (up - down) / (2 * step), rtol=2e-2, atol=1e-3)


def test_a_pure_function_replays_its_loops():
    calls = []

    @ms.jit(pure=True)
    def f(x, limit):
        calls.append(1)
        return ops.while_loop(lambda v: v.sum() < limit, lambda v: v * 2, x)

    for limit in (10, 100, 1000, 5):
        x, expected = np.array([1, 2, 3], np.float32), None
        expected = x
        while expected.sum() < limit:
            expected = expected * 2
        assert f(Tensor(x), number(limit)).asnumpy().tolist() == expected.tolist()
    assert len(calls) == 1


def test_each_step_draws_its_own_numbers():
    def body(c, _):
        kept = ops.dropout(ops.ones((50,), ms.float32), p=0.5, training=True)
        return c, kept

    def program(wrap):
        f = wrap(lambda: ops.scan(body, 0, length=6)[1])
        for _ in range(4):
            yield f

    check_equal(program)
    ms.set_seed(9)
    masks = ops.scan(body, 0, length=6)[1].asnumpy()
    ms.set_seed(9)
    plain = [body(0, None)[1].asnumpy() for _ in range(6)]
    assert masks.tolist() == np.stack(plain).tolist()
    assert len({row.tobytes() for row in masks}) == 6


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.linspace(-1, 1, 9).reshape(3, 3).astype(np.float32)), name="w")
        self.dense = nn.Dense(3, 2)

    def construct(self, xs):
        carry, ys = ops.scan(self.step, ops.zeros((2, 3), ms.float32), xs)
        return self.dense(carry).sum() + ys.mean()

    def step(self, h, x):
        h = ops.tanh(ops.matmul(h, self.w) + x)
        return h, h * h


def test_a_network_with_a_scan_trains_alike_in_both_modes():
    rows = Tensor(np.random.default_rng(0).standard_normal((5, 2, 3)).astype(np.float32))

    def losses(mode):
        ms.set_context(mode=mode)
        ms.set_seed(2)
        try:
            net = Recurrent()
            optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
            step = ms.value_and_grad(net, None, optimizer.parameters)
            seen = []
            for _ in range(5):
                loss, gradients = step(rows)
                optimizer(gradients)
                seen.append(bits(loss))
            return seen, [bits(p) for p in net.trainable_params()]
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)

    assert losses(ms.PYNATIVE_MODE) == losses(ms.GRAPH_MODE)


def test_an_index_out_of_range_comes_at_the_call_in_every_mode():
    def program(wrap):
        p = Parameter(vector(0), name="p")

        @wrap
        def f(x, at):
            p.set_data(p + 1)
            try:
                y = ops.fori_loop(0, 3, lambda i, v: v + ops.gather(x, at + i, 0), number(0))
            except IndexError as error:
                return str(error), p.asnumpy().tolist()
            return y, p.asnumpy().tolist()

        for at in (0, 0, 1, 0, 2):
            yield lambda at=at: f(X, number(at, np.int64))

    check_equal(program)


def test_what_a_body_must_not_do():
    outside = Parameter(vector(1, 2), name="outside")
    leaked = []

    def writes(i, v):
        outside.set_data(v)
        return v

    def reads(i, v):
        return v * 2 if v.sum() > 0 else v

    with pytest.raises(NotImplementedError, match="fori_loop: the body updates a tensor or parameter"):
        ops.fori_loop(0, 3, writes, vector(5, 6))
    assert outside.asnumpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="the body reads a value while it is recorded"):
        ops.fori_loop(0, 3, reads, vector(5, 6))
    with pytest.raises(TypeError, match="the body returns another structure: got Tensor, need"):
        ops.while_loop(lambda s: s[0] < 3, lambda s: s[0] + 1, (0, 1))
    with pytest.raises(TypeError, match="carried value 0: got float32.*, need int64"):
        ops.while_loop(lambda s: s < 3, lambda s: s + 0.5, 0)
    with pytest.raises(TypeError, match="'f' returns no pair: got Tensor"):
        ops.scan(lambda c, x: c, 0, vector(1))
    with pytest.raises(TypeError, match="the branches differ in the type of result 0"):
        ops.cond(True, lambda: number(1), lambda: Tensor(1))
    with pytest.raises(TypeError, match="'true_fn' has the wrong type: got int"):
        ops.cond(True, 3, 4)
    with pytest.raises(TypeError, match="cond: 'pred' has the wrong type: got str"):
        ops.cond("x", lambda: 1, lambda: 2)
    with pytest.raises(ValueError, match="scan: 'length' is out of range"):
        ops.scan(lambda c, x: (c, x), 0, length=2**70)
    with pytest.raises(ZeroDivisionError):
        ops.fori_loop(0, 3, lambda i, v: v / (1 // 0), X)
    ops.fori_loop(0, 3, lambda i, v: leaked.append(v) or v, X)
    with pytest.raises(ValueError, match="read after the body has been recorded"):
        leaked[0].asnumpy()
    with pytest.raises(ValueError, match="read after the body has been recorded"):
        (leaked[0] + 1).asnumpy()


def test_a_body_may_update_what_it_made():
    def body(i, v):
        made = ops.zeros((3,), ms.float32)
        made += v
        made[0] = 7
        v += 1
        return made + v

    plain = X
    for i in range(3):
        plain = body(i, plain.copy())
    assert ops.fori_loop(0, 3, body, X).asnumpy().tolist() == plain.asnumpy().tolist()
    assert X.asnumpy().tolist() == [1, -2, 3]


def test_primitives_of_the_field():
    assert ops.WhileLoop()(lambda x: x < 10, lambda x: x + 3, 1).item() == 10
    for unroll in (True, False):
        assert int(ops.ForiLoop()(1, 4, lambda i, x: x * i, 1, unroll)) == 6
        carry, seen = ops.Scan()(lambda c, x: (c + x, c + x), 0, [1, 2, 3, 4], unroll=unroll)
        assert int(carry) == 10
        assert [int(s) for s in seen] == [1, 3, 6, 10]
        carry, seen = ops.Scan()(lambda c, x: (c + 1, c), 0, None, 3, unroll)
        assert int(carry) == 3
        assert [int(s) for s in seen] == [0, 1, 2]
    with pytest.raises(ValueError, match="Scan: 'length' differs"):
        ops.Scan()(lambda c, x: (c, x), 0, [1, 2], 3)


def test_several_threads_run_one_loop():
    results = []

    def run():
        results.extend(bits(LOOPS["nested"](X, number(1.5))) for _ in range(20))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(results)) == 1
    assert len(results) == 120


def test_an_endless_loop_can_be_interrupted():
    # Shells start programs in the background with the signal ignored, and children inherit that.
    program = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sorus as ms\nfrom sorus import ops\n"
        "try:\n    print('ready', flush=True)\n"
        "    ops.while_loop(lambda x: x < 1, lambda x: x * 1, ms.Tensor(0.0))\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    path = os.pathsep.join(sys.path)
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": path}
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert out == "stopped\n"
    assert child.returncode == 0


def test_a_loop_is_compiled_once():
    from sorus import _core

    def f(x):
        return ops.fori_loop(0, 1000, lambda i, v: v * 0.5 + i, x)

    f(X)
    before = _core.follow_stats()
    first = bits(f(X))
    assert bits(f(X)) == first
    assert _core.follow_stats() == before  # nothing was recorded or compiled again
