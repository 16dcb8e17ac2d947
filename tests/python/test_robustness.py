"""Wrong and odd uses end in an error that says what was got and what is needed, never in a crash."""

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, mint, ops


@pytest.mark.parametrize(
    "use",
    [
        lambda: Tensor.asnumpy(3),
        lambda: Tensor.item(np.zeros(3)),
        lambda: Tensor.shape.__get__(3),
        lambda: Tensor.dtype.__get__("a"),
        lambda: Tensor.__float__(None),
        lambda: Tensor.__array__(object()),
        lambda: Tensor.__dlpack__([1]),
        lambda: Tensor.__copy__(1),
        lambda: Tensor.__hash__(1),
    ],
)
def test_methods_refuse_what_is_no_tensor(use):
    with pytest.raises(TypeError):
        use()


def test_unfinished_tensors_are_refused():
    for use in (repr, lambda t: t + 1, lambda t: t.shape, lambda t: t.asnumpy()):
        with pytest.raises(ValueError, match="no value"):
            use(Tensor.__new__(Tensor))


@pytest.mark.parametrize(
    "use",
    [
        lambda: mint.normal(0.0, 1.0, (2**62,)),
        lambda: ops.ones((2**62,)),
        lambda: ops.full((2**60,), 1),
        lambda: Tensor(shape=(2**61,), dtype=ms.float32),
        lambda: Tensor([1.0]).broadcast_to((2**62,)),
        lambda: ops.tile(Tensor([1.0]), (2**62,)),
        lambda: ops.arange(2**62),
        lambda: ops.arange(0, 1e300, 1),
        lambda: ops.eye(2**31, 2**31),
        lambda: ops.repeat_interleave(Tensor([1.0]), 2**62, 0),
        lambda: ops.bincount(Tensor([2**62])),
        lambda: ops.zeros((-1,)),
        lambda: mint.randn(-(2**63), -(2**63)),
        lambda: mint.diag(Tensor([1.0, 2.0]), -(2**63)),
        lambda: ops.tensor_split(Tensor([1.0]), 2**62),
        lambda: ops.slice_scatter(Tensor([1.0]), Tensor([1.0]), 2**62),
        lambda: ops.select_scatter(Tensor([1.0]), Tensor(1.0), 5, 0),
        lambda: ops.zeros((1,) * 9),
        lambda: Tensor(np.zeros((1,) * 9)),
        lambda: Tensor([1.0]).reshape((1,) * 9),
    ],
)
def test_sizes_beyond_all_bounds_are_refused(use):
    with pytest.raises((ValueError, MemoryError), match="got"):
        use()


def test_lists_name_the_wrong_element():
    with pytest.raises(TypeError, match="element 1 has the wrong type: got NoneType"):
        ops.concat([Tensor([1.0]), None])


def test_arrays_of_all_layouts_are_copied():
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    layouts = [
        array[:, ::-1],
        array[::-1, ::2, ::-1],
        array.T,
        np.asfortranarray(array),
        array[..., 1],
        array.astype(">f4"),
        array.astype(">f8")[::2],
        array.astype(">i2"),
        array.astype(np.float16)[::-1],
        np.broadcast_to(array, (2, 2, 3, 4)),
        np.array(3.5),
        np.array(3, ">i8"),
        array[0:0],
        np.array([True, False])[::-1],
    ]
    for layout in layouts:
        read_only = layout.copy()
        read_only.flags.writeable = False
        for given in (layout, read_only):
            made = Tensor(given).asnumpy()
            assert made.shape == layout.shape and np.array_equal(made, layout)


@pytest.mark.parametrize(
    "array",
    [
        np.array([object()]),
        np.zeros(2, [("a", "i4")]),
        np.array(["a"]),
        np.array([b"a"]),
        np.array(["2020"], "M8[D]"),
        np.zeros(2, "V8"),
        np.zeros(2, np.longdouble),
    ],
)
def test_arrays_of_no_numbers_are_refused(array):
    with pytest.raises(TypeError, match="got"):
        Tensor(array)


class Producer:
    """An object of another library that shares its memory."""

    def __init__(self, give):
        self.give = give

    def __dlpack__(self, **options):  # noqa: ARG002
        return self.give()

    def __dlpack_device__(self):
        return (1, 0)


def test_dlpack():
    array = np.arange(6, dtype=np.float32)
    shared = ms.from_dlpack(array)
    del array
    gc.collect()
    assert shared.asnumpy().sum() == 15
    back = np.from_dlpack(shared)
    del shared
    gc.collect()
    assert back.sum() == 15

    class Old(Producer):
        def __dlpack__(self):
            return self.give()

    assert ms.from_dlpack(Old(np.arange(3.0).__dlpack__)).asnumpy().sum() == 3


def test_dlpack_refuses_what_shares_no_memory():
    capsule = np.arange(3.0).__dlpack__()
    assert ms.from_dlpack(Producer(lambda: capsule)).asnumpy().sum() == 3
    gc.collect()
    for source in (Producer(lambda: capsule), capsule, Producer(lambda: 5), Producer(lambda: None), 3, "a"):
        with pytest.raises(TypeError, match="from_dlpack: object gives no usable memory"):
            ms.from_dlpack(source)

    def fail():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ms.from_dlpack(Producer(fail))
    with pytest.raises(ValueError, match="from_numpy: memory runs backwards"):
        Tensor.from_numpy(np.arange(3.0)[::-1])


def test_deep_recursion():
    def descend(x, n):
        return descend(x * 1, n - 1) if n else x

    with pytest.raises(RecursionError):
        ms.grad(lambda x: descend(x, 100000).sum())(Tensor([1.0]))
    compiled = ms.jit(lambda x, n: compiled(x, n - 1) if n else x)
    with pytest.raises(RecursionError):
        compiled(Tensor([1.0]), 100000)
    assert compiled(Tensor([1.0]), 5).item() == 1
    nested = [1]
    nested.append(nested)
    with pytest.raises((TypeError, ValueError, RecursionError)):
        Tensor(nested)
    with pytest.raises(RecursionError):
        ms.jit(lambda x: x)(nested)


def test_long_tapes():
    def grow(x):
        for _ in range(20000):
            x = x * 1.0001
        return x.sum()

    plain = ms.grad(grow)(Tensor([1.0])).item()
    compiled = ms.jit(ms.grad(grow))
    assert compiled(Tensor([1.0])).item() == compiled(Tensor([1.0])).item() == plain


@ms.jit
def doubled(x):
    """Doubles."""
    return x * 2


def test_compiled_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert copy.deepcopy(doubled) is doubled


def run_python(code, **options):
    """A program in a process of its own, which must end well and soon."""
    package = os.path.dirname(os.path.dirname(ms.__file__))
    head = "import numpy as np, sorus as ms\nfrom sorus import Tensor, ops\n"
    return subprocess.run(
        [sys.executable, "-c", head + code],
        env={**os.environ, "PYTHONPATH": package},
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


def test_fork_while_threads_compute():
    code = """
import os, threading, time
x = Tensor(np.ones((512, 512), np.float32))
function = ms.jit(lambda a: a * 2 + a - 3)
def work():
    while True:
        function(x)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
end = time.monotonic() + 20
for turn in range(150):
    if turn > 10 and time.monotonic() > end:  # a slow machine
        break
    child = os.fork()
    if child == 0:
        other = ms.jit(lambda a: (a * 2).sum())
        os._exit(0 if float(other(x)) == float(other(x)) == 2 * 512 * 512 else 3)
    deadline = time.monotonic() + 30
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os._exit(4)
        time.sleep(0.001)
    if status:
        os._exit(5)
os._exit(0)
"""
    assert run_python(code).returncode == 0


FORK_CHILD = """
import os, threading, time
image = Tensor(np.ones((2, 8, 20, 20), np.float32))
kernel = Tensor(np.full((16, 8, 3, 3), 0.5, np.float32))
matrix = Tensor(np.ones((128, 128), np.float32))
compiled = ms.jit(lambda a, b: ops.relu(ops.matmul(a, b) * 2 + 1).sum())
gradient = ms.grad(lambda w: ops.conv2d(image, w).sum())
turn = 0

def everything(salt):
    # Other shapes at each turn, so that plans and programs are made and not only found.
    side = 24 + salt % 40
    x = Tensor(np.ones((side, side), np.float32))
    assert float(ops.matmul(x, x).sum()) == float(side) ** 3
    assert float(compiled(x, x)) == (2.0 * side + 1) * side * side
    taken = ops.conv2d(Tensor(np.ones((1, 8, side, side), np.float32)), kernel)
    assert float(taken[0, 0, 0, 0]) == 36
    assert gradient(kernel).shape == kernel.shape
    assert ops.rand((1000, 40)).shape == (1000, 40)
    assert float(ops.softmax(matrix).sum()) > 127
    assert ops.svd(x, False, False).shape == (side,)
    try:
        ops.matmul(x, Tensor(np.ones((3, 3), np.float32)))
    except ValueError:
        pass

def work(salt):
    while True:
        salt += 1
        everything(salt)
"""


def test_everything_computes_in_a_child_that_is_forked_while_threads_compute():
    code = (
        FORK_CHILD
        + """
everything(0)
for i in range(2):
    threading.Thread(target=work, args=(7 * i,), daemon=True).start()
end = time.monotonic() + 20
for turn in range(50):
    if turn > 5 and time.monotonic() > end:  # a slow machine
        break
    child = os.fork()
    if child == 0:
        try:
            everything(turn)
            everything(turn)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    deadline = time.monotonic() + 60
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os._exit(4)
        time.sleep(0.001)
    if status:
        os._exit(5)
everything(1)
os._exit(0)
"""
    )
    result = run_python(code)
    assert result.returncode == 0, result.stderr


def test_exit_with_everything_alive():
    code = """
import threading
from sorus import dataset as ds, nn
data = ds.GeneratorDataset(lambda: iter([(np.ones(3, np.float32),)] * 1000), ["x"]).batch(2)
rows = iter(data.create_dict_iterator())
next(rows)
function = ms.jit(lambda x: x * 2)
kept = function(Tensor([1.0])), function(Tensor([1.0])), ms.vjp(lambda x: x * 2, Tensor([1.0]))
shared = Tensor.from_numpy(np.ones(3))
def work():
    while True:
        function(Tensor(np.ones((300, 300), np.float32)))
threading.Thread(target=work, daemon=True).start()
print("end")
"""
    result = run_python(code)
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "end", "")


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_an_interrupt_stops_a_loop_of_ops(compiled):
    def multiply(x):
        return ops.matmul(x, x)

    function = ms.jit(multiply) if compiled else multiply
    x = Tensor(np.ones((256, 256), np.float32))

    def interrupt():
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    # A runner in the background may have been started with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            end = time.monotonic() + 60
            while time.monotonic() < end:
                function(x)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert function(x).asnumpy()[0, 0] == 256
