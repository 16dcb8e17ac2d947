"""Functions declared pure replay without Python; errors of graph mode name the user's line."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
import sorus as ms
from sorus import nn, ops


def tensor(*values):
    return ms.Tensor(np.array(values, np.float32))


def test_python_runs_once_for_a_signature():
    calls = []

    @ms.jit(pure=True)
    def f(x, scale, more=()):
        calls.append(scale)
        return {"y": ops.tanh(x) * scale, "more": [m + 1 for m in more]}

    for value in (0.5, 1.0, 2.0):
        out = f(tensor(value), 3.0, more=(tensor(1, 2),))
        np.testing.assert_array_equal(out["y"].asnumpy(), (ops.tanh(tensor(value)) * 3.0).asnumpy())
        assert out["more"][0].asnumpy().tolist() == [2, 3]
    assert calls == [3.0]
    f(tensor(1.0), 4.0)
    f(tensor(1.0, 2.0), 4.0)
    assert calls == [3.0, 4.0, 4.0]


def test_training_steps_have_the_bits_of_plain_ones():
    def weights(pure):
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(8, 2))
        net.set_train()
        loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        gradients_of = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

        def step(x, y):
            loss, gradients = gradients_of(x, y)
            optimizer(gradients)
            return loss

        step = ms.jit(step, pure=True) if pure else step
        x = ms.Tensor(np.random.default_rng(0).standard_normal((16, 4)).astype(np.float32))
        y = ms.Tensor((np.arange(16) % 2).astype(np.int32))
        losses = [step(x, y).asnumpy().tobytes() for _ in range(6)]
        return losses, [p.asnumpy().tobytes() for p in net.get_parameters()]

    assert weights(pure=False) == weights(pure=True)


def test_a_function_that_looks_at_values_is_refused():
    @ms.jit(pure=True)
    def f(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(ValueError, match="a value is read"):
        f(tensor(1.0))


def test_audit_finds_a_function_that_is_not_pure(tmp_path):
    script = tmp_path / "impure.py"
    script.write_text(
        "import numpy as np, sorus as ms\n"
        "state = [1.0]\n"
        "@ms.jit(pure=True)\n"
        "def f(x):\n"
        "    return x * state[0]\n"
        "x = ms.Tensor(np.ones(3, np.float32))\n"
        "f(x); f(x)\n"
        "state[0] = 2.0\n"
        "f(x)\n"
    )
    environment = dict(os.environ, SORUS_JIT="audit", PYTHONPATH=str(Path(ms.__file__).parent.parent))
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "a replay differs from the function" in done.stderr


def lines_of(error):
    """Lines of this file that an exception passed, outermost first."""
    return [entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename == __file__]


def test_an_error_about_values_comes_at_the_line_that_asked_for_it():
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def f(logits, labels):
        loss = loss_fn(logits, labels)
        return loss * 2.0

    here = f.__code__.co_firstlineno + 1
    logits = ms.Tensor(np.zeros((2, 3), np.float32))
    texts = set()
    for function in (f, ms.jit(f)):
        for _ in range(3):
            function(logits, ms.Tensor(np.array([0, 2], np.int32)))
        with pytest.raises(IndexError) as caught:
            function(logits, ms.Tensor(np.array([0, 7], np.int32)))
        assert lines_of(caught.value)[-1] == here
        texts.add(str(caught.value))
    assert len(texts) == 1
    replayed = ms.jit(f, pure=True)
    replayed(logits, ms.Tensor(np.array([0, 2], np.int32)))
    with pytest.raises(IndexError) as caught:
        replayed(logits, ms.Tensor(np.array([0, 7], np.int32)))
    # No Python runs in a replay, so that the op is named, and the layer where it stands.
    what = texts.pop().removeprefix("SoftmaxCrossEntropyWithLogits: ")
    place = f"{__file__}:{here} in f, in SoftmaxCrossEntropyWithLogits"
    assert str(caught.value) == f"softmax_cross_entropy: {what} (at {place})"
    replayed(logits, ms.Tensor(np.array([0, 1], np.int32)))


def test_an_error_of_a_replay_says_in_which_layer():
    class Lookup(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(3, 2)

        def construct(self, ids):
            return self.table(ids) * 2

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell(Lookup(), nn.ReLU())

        def construct(self, ids):
            return self.blocks(ids)

    net = Net()
    with pytest.raises(IndexError) as eager:
        net(ms.Tensor([0, 3], ms.int32))
    assert eager.value.__notes__ == ["in Embedding 'blocks.0.table' of Net"]
    replayed = ms.jit(net, pure=True)
    for _ in range(3):
        replayed(ms.Tensor([0, 1], ms.int32))
    with pytest.raises(IndexError) as caught:
        replayed(ms.Tensor([0, 3], ms.int32))
    line = Lookup.construct.__code__.co_firstlineno + 1
    place = f"{__file__}:{line} in construct, in Embedding 'blocks.0.table' of Net"
    assert str(caught.value).endswith(f"(at {place})"), caught.value


def test_a_replay_that_fails_leaves_parameters_alone():
    p = ms.Parameter(tensor(1, 2, 3), name="p")

    @ms.jit(pure=True)
    def f(i):
        ops.assign_add(p, p)
        ops.gather(p, i * 2, 0)
        return p + 1

    f(ms.Tensor([0, 1], ms.int32))
    f(ms.Tensor([1, 1], ms.int32))
    with pytest.raises(IndexError, match="got 4, need -3 <= index < 3"):
        f(ms.Tensor([1, 2], ms.int32))
    assert p.asnumpy().tolist() == [4, 8, 12]
    assert f(ms.Tensor([0, 0], ms.int32)).asnumpy().tolist() == [9, 17, 25]
