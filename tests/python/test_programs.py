"""Programs that are saved by Python and run without it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sorus as ms
from sorus import nn, ops

RUNNER = Path(__file__).resolve().parents[2] / "build/release/bin/sorus"


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(p=0.5)
        self.head = nn.Dense(4 * 6 * 6, 3)

    def construct(self, images, scale):
        y = ops.relu(self.norm(self.conv(images)))
        logits = self.head(self.drop(y).reshape(images.shape[0], -1)) * scale
        return {"logits": logits, "best": logits.argmax(-1)}


def trained():
    """A network after a few steps, with state of batch norm that is not the initial one."""
    ms.set_seed(3)
    network = Network()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    x, scale, y = inputs(0)[0], ms.Tensor(np.float32(1)), ms.Tensor(np.array([0, 2], np.int32))
    step = ms.value_and_grad(lambda: loss(network(x, scale)["logits"], y), None, optimizer.parameters)
    network.set_train()
    for _ in range(3):
        _, gradients = step()
        optimizer(gradients)
    network.set_train(False)
    return network


def inputs(seed):
    random = np.random.default_rng(seed)
    images = random.standard_normal((2, 1, 6, 6)).astype(np.float32)
    return ms.Tensor(images), ms.Tensor(np.float32(random.random()))


def bits(tensors):
    return [(t.dtype, t.shape, t.asnumpy().tobytes()) for t in tensors]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    network = trained()
    path = tmp_path_factory.mktemp("program") / "network.program"
    ms.save_program(network, path, *inputs(1), outputs=["logits", "best"])
    return network, path


def test_a_loaded_program_gives_the_same_bits(saved):
    network, path = saved
    program = ms.load_program(path)
    assert program.inputs == [("images", ms.float32, (2, 1, 6, 6)), ("scale", ms.float32, ())]
    assert [name for name, _, _ in program.outputs] == ["logits", "best"]
    program.compile()
    for seed in range(5):
        images, scale = inputs(seed)
        wanted = bits(network(images, scale).values())
        assert bits(program(images, scale)) == wanted
        assert bits(program(images, scale=scale)) == wanted


@pytest.mark.skipif(not RUNNER.is_file(), reason="the release build is not there")
def test_it_runs_without_python(saved, tmp_path):
    network, path = saved
    said = subprocess.run([RUNNER, "run", path], check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == [
        "input images float32(2, 1, 6, 6)",
        "input scale float32()",
        "output logits float32(2, 3)",
        "output best " + said.split("output best ")[1].strip(),
    ]
    for seed in range(3):
        images, scale = inputs(seed)
        given, made = str(tmp_path / "in.ckpt"), str(tmp_path / "out.ckpt")
        ms.save_checkpoint([{"name": "images", "data": images}, {"name": "scale", "data": scale}], given)
        subprocess.run([RUNNER, "run", path, "--inputs", given, "--outputs", made], check=True)
        found = ms.load_checkpoint(made)
        wanted = network(images, scale)
        assert {name: t.asnumpy().tobytes() for name, t in found.items()} == {
            name: t.asnumpy().tobytes() for name, t in wanted.items()
        }


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_functions_and_control_flow(tmp_path, mode):
    weight = ms.Parameter(ms.Tensor(np.array([1.5, -2.0], np.float32)), name="weight")

    @ms.jit
    def function(pair, *rest, power=2):
        low, high = pair
        x = ops.while_loop(lambda x: x.sum() < high.sum(), lambda x: x + ops.exp(weight) * rest[0], low)
        return x**power

    tensors = [ms.Tensor(np.array(v, np.float32)) for v in ([0.0, 1.0], [30.0, 20.0], [1.0, 2.0])]
    given = ((tensors[0], tensors[1]), tensors[2])
    ms.set_context(mode=mode)
    try:
        ms.save_program(function, tmp_path / "f", *given)
        program = ms.load_program(tmp_path / "f")
        assert [name for name, _, _ in program.inputs] == ["pair.0", "pair.1", "rest.0"]
        assert bits([program(*tensors)]) == bits([function(*given)])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_loaded_program_has_gradients(tmp_path):
    ms.save_program(lambda x, y: (ops.tanh(x) * y).sum(), tmp_path / "f", *[ms.Tensor([1.0, 2.0])] * 2)
    program = ms.load_program(tmp_path / "f")
    x, y = ms.Tensor([0.3, -0.4]), ms.Tensor([2.0, 5.0])
    wanted = ms.grad(lambda x, y: (ops.tanh(x) * y).sum(), (0, 1))(x, y)
    assert bits(ms.grad(lambda x, y: program(x, y), (0, 1))(x, y)) == bits(wanted)
    assert bits([ms.jit(lambda x: program(x, y))(x)]) == bits([program(x, y)])


def test_what_cannot_be_saved_is_refused(tmp_path):
    network = trained()
    before = bits(network.get_parameters())
    network.set_train()
    with pytest.raises(NotImplementedError, match="in place"):
        ms.save_program(network.norm, tmp_path / "f", ms.Tensor(np.ones((2, 4, 3, 3), np.float32)))
    with pytest.raises(NotImplementedError, match="random numbers"):
        ms.save_program(network.drop, tmp_path / "f", ms.Tensor([1.0]))
    with pytest.raises(ValueError, match="reads a value"):
        ms.save_program(lambda x: x if x > 0 else -x, tmp_path / "f", ms.Tensor(1.0))
    with pytest.raises(TypeError, match="function or a Cell"):
        ms.save_program(3, tmp_path / "f")
    assert bits(network.get_parameters()) == before
    assert not (tmp_path / "f").exists()


def test_wrong_inputs_are_named(tmp_path):
    ms.save_program(lambda x, y: x + y, tmp_path / "f", *[ms.Tensor([1.0, 2.0])] * 2)
    program = ms.load_program(tmp_path / "f")
    x = ms.Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match="'y'"):
        program(x)
    with pytest.raises(TypeError, match="'z'"):
        program(x, x, z=x)
    with pytest.raises(TypeError, match="'y' has another dtype"):
        program(x, ms.Tensor([1, 2]))
    with pytest.raises(ValueError, match="'x' has another shape"):
        program(ms.Tensor([1.0]), x)
    with pytest.raises(OSError, match="no_such"):
        ms.load_program(tmp_path / "no_such")
    (tmp_path / "f").write_bytes((tmp_path / "f").read_bytes()[:-1])
    with pytest.raises(OSError, match="damaged"):
        ms.load_program(tmp_path / "f")


SERVER = """
import sys, threading
import numpy as np
import sorus as ms

session = ms.Session()
data = sys.stdin.buffer.read()
numbers = [session.add(data), session.add(ms.Program.from_bytes(data))]
assert numbers == session.ids()
session.compile(numbers[0])
results = [None] * 8

def work(i):
    for _ in range(20):
        results[i] = session.run(numbers[i % 2], ms.Tensor(np.arange(6, dtype=np.float32)))

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads: t.start()
for t in threads: t.join()
session.remove(numbers[0])
assert session.ids() == numbers[1:]
assert all((r == results[0]).all() for r in results)
sys.stdout.buffer.write(results[0].asnumpy().tobytes())
"""


def test_a_session_of_another_process_runs_a_program_from_several_threads():
    weight = ms.Tensor(np.linspace(-1, 1, 6).astype(np.float32))
    data = ms.trace_program(lambda x: ops.gelu(x * weight), ms.Tensor(np.zeros(6, np.float32))).to_bytes()
    done = subprocess.run([sys.executable, "-c", SERVER], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    x = ms.Tensor(np.arange(6, dtype=np.float32))
    assert done.stdout == ops.gelu(x * weight).asnumpy().tobytes()


def test_a_session_says_which_program_it_lacks():
    session = ms.Session()
    number = session.add(ms.trace_program(lambda x: x + x, ms.Tensor([1.0])))
    session.remove(number)
    for use in (session.remove, session.compile, session.find, lambda n: session.run(n, ms.Tensor([1.0]))):
        with pytest.raises(KeyError, match="program is unknown: got 1"):
            use(number)
    assert session.add(ms.trace_program(lambda x: x, ms.Tensor([1.0]))) == number + 1


def test_bytes_that_are_no_program_are_refused():
    data = ms.trace_program(lambda x: x + x, ms.Tensor([1.0])).to_bytes()
    for damaged in (b"", data[:-1], data[:40], b"x" + data[1:], data[:60] + b"\0" + data[61:]):
        with pytest.raises(OSError, match="program: "):
            ms.Program.from_bytes(damaged)
    with pytest.raises(TypeError, match="program: wrong type: got str, need bytes"):
        ms.Session().add("text")
