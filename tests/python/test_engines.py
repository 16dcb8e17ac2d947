"""Engines from shared libraries, and the choice among engines."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sorus as ms
from sorus import nn, ops

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from doc_pages import cpp_examples  # noqa: E402

HALF = """
#include <sorus/engine/c_engine.h>
static const SorusEngine engine = {.version = SORUS_ENGINE_VERSION, .name = "half", .revision = "1"};
const SorusEngine* sorus_engine(uint32_t version) { (void)version; return &engine; }
"""


def library(folder, name, source):
    path = folder / f"{name}.c"
    path.write_text(source, encoding="utf-8")
    compiler = os.environ.get("CC", "cc")
    built = folder / f"{name}.so"
    command = [compiler, "-shared", "-fPIC", "-std=c11", "-I", ROOT / "src", path, "-o", built]
    subprocess.run(command, check=True)
    return built


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The engine of docs/writing_an_engine.md, which negates float32."""
    _, block = cpp_examples(ROOT)["plain_engine"]
    return library(tmp_path_factory.mktemp("engines"), "plain_engine", block.code)


@pytest.fixture
def context():
    yield ms.set_context
    ms.set_context(engine="", op_engines={}, forbidden_engines=[], save_graphs=False)


def report_of(folder):
    return "".join(path.read_text() for path in sorted(folder.glob("*_report.txt")))


def bits(tensor):
    return tensor.asnumpy().tobytes()


def test_a_loaded_engine_runs_parts(plain, context, tmp_path):
    x = ms.Tensor(np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4))
    f = ms.jit(lambda x: ops.neg(ops.exp(ops.neg(x))))
    wanted = bits(f(x))
    assert ms.load_engine(plain) == "plain"
    assert ms.load_engine(plain) == "plain"
    assert ms.engine_names() == ["cpu", "cpu_reference", "plain"]
    context(save_graphs=True, save_graphs_path=str(tmp_path))
    for _ in range(3):
        assert bits(f(x)) == wanted
    assert "part 0 on plain: neg\npart 1 on plain: neg\n" in report_of(tmp_path)
    context(forbidden_engines=["plain"], save_graphs_path=str(tmp_path / "without"))
    for _ in range(3):
        assert bits(f(x)) == wanted
    assert " on plain" not in report_of(tmp_path / "without")


def train(steps=4):
    ms.set_seed(5)
    net = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)

    def loss(x):
        return ops.exp(ops.neg(net(x))).mean()

    step = ms.value_and_grad(loss, None, optimizer.parameters)

    @ms.jit
    def run(x):
        value, gradients = step(x)
        optimizer(gradients)
        return value

    x = ms.Tensor(np.random.default_rng(1).standard_normal((5, 6)).astype(np.float32))
    return [bits(run(x)) for _ in range(steps)] + [bits(p) for p in net.trainable_params()]


def test_training_on_engines_keeps_its_bits(plain, context):
    context(engine="cpu")
    wanted = train()
    ms.load_engine(plain)
    context(engine="plain")
    assert train() == wanted
    context(engine="", op_engines={"neg": "plain"})
    assert train() == wanted


def test_the_reference_engine_makes_both_modes_agree(context):
    f = ms.jit(lambda x: ops.softmax(x @ x.T, -1))
    x = ms.Tensor(np.random.default_rng(0).standard_normal((33, 65)).astype(np.float32))
    usual = f(x).asnumpy()
    context(engine="cpu_reference")
    eager = ops.softmax(x @ x.T, -1)
    for _ in range(3):
        assert bits(f(x)) == bits(eager)
    assert np.allclose(eager.asnumpy(), usual, atol=1e-4)
    context(engine="")
    assert bits(f(x)) == usual.tobytes()


def test_choices_are_checked(context):
    for bad, kind in (
        ({"engine": "nobody"}, ValueError),
        ({"engine": 3}, TypeError),
        ({"op_engines": {"no_such_op": "cpu"}}, ValueError),
        ({"op_engines": ["add"]}, TypeError),
        ({"forbidden_engines": ["cpu"]}, ValueError),
        ({"forbidden_engines": "cpu"}, TypeError),
    ):
        with pytest.raises(kind, match="engine|op"):
            context(**bad)
    assert ms.get_context("engine") == ""

    @ms.jit
    def changes(x):
        ms.set_context(engine="cpu_reference")
        return x + 1

    with pytest.raises(RuntimeError, match="cannot change in a compiled call"):
        changes(ms.Tensor([1.0]))
    assert ms.get_context("engine") == ""


def test_libraries_that_are_no_engines_are_refused(tmp_path):
    with pytest.raises(OSError, match="library cannot be loaded"):
        ms.load_engine(tmp_path / "missing.so")
    empty = library(tmp_path, "empty", "int answer(void) { return 42; }")
    with pytest.raises(NotImplementedError, match="got no function 'sorus_engine'"):
        ms.load_engine(empty)
    half = library(tmp_path, "half", HALF)
    with pytest.raises(ValueError, match="engine is not whole: got no 'numerics'"):
        ms.load_engine(half)
    later = library(tmp_path, "later", HALF.replace("= SORUS_ENGINE_VERSION", "= 1000"))
    with pytest.raises(NotImplementedError, match="of another version: got 1000"):
        ms.load_engine(later)


FAILS = """
#include <stdio.h>
#include <sorus/engine/c_engine.h>
static double cost(void* c, const SorusCall* call) { (void)c; (void)call; return 1; }
static int compile(void* c, const char* g, size_t n, void** p, char* m) {
  (void)c; (void)g; (void)n; (void)p; (void)m;
  return SORUS_OK;
}
static int run(void* c, void* p, const SorusTensor* in, size_t n, SorusTensor* out, size_t k, char* message) {
  (void)c; (void)p; (void)in; (void)n; (void)out; (void)k;
  snprintf(message, SORUS_MESSAGE_SIZE, "no coolant left");
  return SORUS_MEMORY_ERROR;
}
static void destroy(void* c, void* p) { (void)c; (void)p; }
static const SorusEngine engine = {.version = SORUS_ENGINE_VERSION, .name = "fails", .revision = "1",
  .numerics = "fails", .cost = cost, .compile = compile, .run = run, .destroy = destroy};
const SorusEngine* sorus_engine(uint32_t version) { (void)version; return &engine; }
"""


def test_errors_of_an_engine_are_pythons_and_leave_parameters_whole(tmp_path, context):
    ms.load_engine(library(tmp_path, "fails", FAILS))
    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")

    @ms.jit
    def step(x):
        weight.set_data(weight * 2.0)
        weight.set_data(ops.tanh(weight + x))
        return weight.sum()

    x = ms.Tensor([0.5, -0.5])
    step(x)
    step(x)
    before = bits(weight)
    context(op_engines={"tanh": "fails"})
    step(x)  # recorded anew
    recorded = bits(weight)
    assert recorded != before
    with pytest.raises(MemoryError, match="engine fails: run failed: got 'no coolant left'.*test_engines.py"):
        float(step(x))
    assert bits(weight) == recorded
    context(op_engines={})
    step(x)
    assert bits(weight) != recorded
