"""Python's loops over tensors that become part of the program: equal to plain Python in every mode."""

import copy
import gc
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import weakref

import loop_functions
import loop_traps  # noqa: F401: adds to LOOPS
import pytest
from loop_functions import IN_PROGRAM, LOOPS, Derived, Net, Stepwise, V, X, uniform, zeros
from modes import bits, check_equal, vector

import sorus as ms
from sorus import Tensor, _core, ops


def tensors_of(value):
    if isinstance(value, Tensor):
        return [value]
    return [t for item in value for t in tensors_of(item)] if isinstance(value, tuple) else []


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_equal_in_every_mode(name):
    function, arguments = LOOPS[name]

    def program(wrap):
        f = wrap(function)
        for _ in range(4):
            yield lambda: f(*arguments)

    check_equal(program)


@pytest.mark.parametrize("name", LOOPS)
def test_gradients_are_equal_in_every_mode(name):
    function, arguments = LOOPS[name]
    places = tuple(i for i, a in enumerate(arguments) if a.dtype.is_floating_point)
    if not places:
        places = (0,)

    def loss(f):
        return lambda *given: sum((t.astype(ms.float32).sum() for t in tensors_of(f(*given))), Tensor(0.0))

    def program(wrap):
        outside = wrap(ms.grad(loss(function), places))
        inside = ms.grad(loss(wrap(function)), places)
        for _ in range(3):
            yield lambda: outside(*arguments)
            yield lambda: inside(*arguments)

    check_equal(program)


@pytest.mark.parametrize("name", sorted(IN_PROGRAM))
def test_these_loops_run_without_python(name):
    function, arguments = LOOPS[name]
    f = ms.jit(function)
    for _ in range(3):
        f(*arguments)
    before = _core.follow_stats()
    f(*arguments)
    after = _core.follow_stats()
    assert after["recorded"] == before["recorded"]
    assert after["followed"] - before["followed"] < 25


def test_there_are_many():
    assert len(LOOPS) >= 60
    assert len(IN_PROGRAM) >= 35


def compiled_by(call):
    before = ms.compile_stats()["programs"]
    call()
    return ms.compile_stats()["programs"] - before


def test_other_numbers_of_steps_compile_nothing():
    newton = ms.jit(LOOPS["newton"][0])
    bounded = ms.jit(LOOPS["a_tensor_bounds_it"][0])
    for _ in range(2):
        newton(vector(2.0, 3.0))
        bounded(Tensor(5), V)

    def others():
        for a in range(3, 30):
            newton(vector(a * 7.0, a))
            bounded(Tensor(a), V)

    assert compiled_by(others) == 0


def test_other_lengths_compile_one_body():
    rnn = ms.jit(LOOPS["rnn"][0])
    for n in (9, 10, 11, 12):
        rnn(uniform(n, 4))
    assert compiled_by(lambda: [rnn(uniform(n, 4)) for n in range(13, 60) for _ in range(2)]) == 0


def test_a_number_from_outside_that_varies_compiles_nothing():
    @ms.jit
    def f(x, k):
        while x.sum() < 1000:
            x = x * k + 1
        return x

    for k in (1.5, 2.5):
        f(V, k)

    def others():
        for k in range(3, 20):
            wanted = V
            while wanted.sum() < 1000:
                wanted = wanted * k + 1
            assert bits(f(V, k)) == bits(wanted)

    assert compiled_by(others) <= 1


# -------------------------------------------------------------------------------------------------- programs


EXPORTED = [
    "newton",
    "while_true_with_breaks",
    "two_values_swap",
    "rnn",
    "zipped",
    "a_tensor_bounds_it",
    "continues",
    "nested_loops",
    "nested_ifs",
    "a_function_is_called",
    "closure",
]


@pytest.mark.parametrize("name", EXPORTED)
def test_a_saved_program_has_the_loop(name, tmp_path):
    function, arguments = LOOPS[name]

    def tensors_only(*given):
        return tensors_of(function(*given))

    if name == "while_true_with_breaks":  # its count is Python's
        with pytest.raises(ValueError, match="reads a value"):
            ms.save_program(function, tmp_path / "p", *arguments)
        return
    ms.save_program(function, tmp_path / "p", *arguments)
    program = ms.load_program(tmp_path / "p")
    for scale in (1, 3, 2):
        given = [a * scale if a.ndim else a + scale for a in arguments]
        if name == "newton":
            given = [a + 1 for a in given]
        found = program(*given)
        assert bits(tensors_of(found if isinstance(found, tuple) else (found,))) == bits(tensors_only(*given))


def test_a_saved_program_has_branches(tmp_path):
    def f(x):
        if x.sum() > 0:
            y = x * 2
            if y.max() > 10:
                y = y + 1
        else:
            y = -x
        return y

    ms.save_program(f, tmp_path / "p", V)
    program = ms.load_program(tmp_path / "p")
    for scale in (1, -1, 20):
        assert bits(program(V * scale)) == bits(f(V * scale))


def test_a_saved_cell_has_its_loop(tmp_path):
    net = Derived()
    ms.save_program(net, tmp_path / "p", X)
    program = ms.load_program(tmp_path / "p")
    for scale in (1, 2, 0.5):
        assert bits(program(X * scale)) == bits(net(X * scale))


# --------------------------------------------------------------------------------------- cells and objects


@pytest.mark.parametrize("kind", [Net, Derived])
def test_cells(kind):
    ms.set_seed(1)
    net = kind()

    def program(wrap):
        f = wrap(net)
        for scale in (1, 2, 1, 3, 1):
            yield lambda scale=scale: f(X * scale)
        net.scale = 0.25
        yield lambda: f(X)
        net.w.set_data(net.w * 0.5)
        yield lambda: f(X)
        net.w.set_data(net.w * 2)
        net.scale = 0.5

    check_equal(program)


def test_methods_of_cells_have_loops():
    net = Stepwise()

    def program(wrap):
        f = wrap(net)
        for scale in (1, 2, 1, 3):
            yield lambda scale=scale: f(V * scale)

    check_equal(program)
    f = ms.jit(net)
    f(V), f(V)
    before = _core.follow_stats()["followed"]
    f(V)
    assert _core.follow_stats()["followed"] - before < 40


def test_what_a_loop_may_ask_about_its_values():
    parameter = ms.Parameter(V, name="p")

    def f(x):
        for i in range(10):
            if isinstance(i, int) and isinstance(x, Tensor):
                x = x + parameter
            if isinstance(parameter, ms.Parameter):
                x = x * 1.5
        return x

    assert bits(ms.jit(f)(V)) == bits(f(V))


def test_another_construct_of_the_class_is_used():
    class Other(Net):
        def construct(self, x):
            while x.abs().sum() < 100:
                x = x * 2
            return x

    def halved(self, x):
        return x / 2

    net = Other()
    run = ms.jit(lambda x: net(x))
    assert run(X).abs().sum() >= 100
    Other.construct = halved
    assert bits(run(X)) == bits(X / 2)


def test_classes_with_loops_may_go():
    from sorus import nn
    from sorus._loops import pure

    def used():
        class Halves(nn.Cell):
            """A class of its own at each call."""

            def small(self, x):
                while x.abs().sum() > 1:
                    x = x * 0.5
                return x

            def construct(self, x):
                for _i in range(10):
                    x = self.small(x) + 1
                return x

        net = Halves()
        net(V), net(V)
        assert Halves._with_loops is not None
        return weakref.ref(Halves)

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        kind = used()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    pure._runs_code.cache_clear()  # keeps the last few thousand
    gc.collect()
    assert kind() is None


def test_functions_keep_what_they_are():
    @ms.jit
    def f(x: Tensor, k: int = 2, *, j=1) -> Tensor:
        """Words."""
        while x.sum() < 100:
            x = x * k + j
        return x

    f(V)
    made = f._runs
    assert made is not f._function
    assert made.__doc__ == "Words."
    assert made.__name__ == "f"
    assert made.__qualname__ == f.__qualname__
    assert made.__annotations__ == {"x": Tensor, "k": int, "return": Tensor}
    assert (made.__defaults__, made.__kwdefaults__) == ((2,), {"j": 1})
    assert made.__globals__ is globals()
    assert made.__code__.co_filename == __file__
    assert made.__code__.co_firstlineno == f.__wrapped__.__code__.co_firstlineno


compiled_here = ms.jit(LOOPS["newton"][0])


def test_pickles_and_copies():
    compiled_here(vector(2.0, 3.0))
    net = Net()
    ms.jit(net)(X)
    again = pickle.loads(pickle.dumps(net))
    assert bits(copy.deepcopy(net)(X)) == bits(again(X)) == bits(net(X))


def test_a_closure_sees_what_is_bound_later():
    weight = V

    @ms.jit
    def f(x):
        for _ in range(9):
            x = x + weight
        return x

    f(V), f(V)
    first = bits(f(V))
    weight = V * 2
    wanted = V
    for _ in range(9):
        wanted = wanted + weight
    assert bits(f(V)) == bits(wanted) != first


def test_an_error_shows_the_users_line():
    @ms.jit
    def f(x):
        for _i in range(10):
            x = x + 1
        while x.sum() < 1e9:
            x = x @ zeros(3, 3)  # here
        return x

    for _ in range(3):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            f(V)
        frames = [e for e in traceback.extract_tb(caught.value.__traceback__) if e.filename == __file__]
        assert frames[-1].line.endswith("# here")
        assert frames[-1].name == "f"


def test_functions_without_source_run_by_steps():
    text = "def f(x):\n    while x.sum() < 100:\n        x = x * 2\n    return x\n"
    space = {}
    exec(text, space)
    f = ms.jit(space["f"])
    assert bits(f(V)) == bits(f(V)) == bits(space["f"](V))
    assert f._runs is space["f"]


def test_a_file_that_changed_is_not_believed(tmp_path):
    (tmp_path / "changes.py").write_text(
        "def f(x):\n    while x.sum() < 100:\n        x = x * 2\n    return x\n"
    )
    code = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import changes
        import sorus as ms
        path = {str(tmp_path / "changes.py")!r}
        open(path, "w").write("def f(x):\\n    while x.sum() < 100:\\n        x = x * 7\\n    return x\\n")
        f = ms.jit(changes.f)
        print([f(ms.Tensor(3.0)).item() for _ in range(3)])
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        check=True,
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert said.stdout == "[192.0, 192.0, 192.0]\n"


def environment():
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_importing_brings_nothing_for_loops():
    code = "import sys, sorus, sorus.nn, sorus.ops\nprint([m for m in sys.modules if 'sorus._loops.' in m])"
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment()
    )
    assert said.stdout == "[]\n"


def test_functions_without_loops_stay_what_they_are():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x * 2
        return [x + i for i in (1, 2)][0]

    f(V)
    assert f._runs is f._function


# ------------------------------------------------------------------------------------------------ loops=...


def test_loops_can_be_followed():
    f = ms.jit(LOOPS["newton"][0], loops="follow")
    f(vector(2.0, 3.0))
    assert f._runs is f._function


def test_unknown_ways_are_refused():
    with pytest.raises(ValueError, match="jit: 'loops' is unknown: got 'unroll'"):
        ms.jit(LOOPS["newton"][0], loops="unroll")


class Trusted:
    """Something that nobody knows."""

    def __call__(self, x):
        return x * 1.5


def test_what_is_trusted_becomes_part_of_the_program():
    trusted = Trusted()

    @ms.jit(loops="rewrite")
    def f(x):
        while x.abs().sum() < 100:
            x = trusted(x)
        return x

    wanted = V
    while wanted.abs().sum() < 100:
        wanted = trusted(wanted)
    assert bits(f(V)) == bits(f(V)) == bits(wanted)
    before = _core.follow_stats()["followed"]
    f(V)
    assert _core.follow_stats()["followed"] - before < 6


def test_trust_that_is_broken_is_an_error():
    parameter = ms.Parameter(V, name="p")

    def updates(x):
        parameter.set_data(x)
        return x * 2

    def reads(x):
        return x * 2 if x.sum().item() > 0 else x

    def draws(x):
        return ops.dropout(x, p=0.5, training=True)

    for function, text in ((updates, "in place"), (reads, "reads a value"), (draws, "random")):
        holder = functools_partial(function)

        @ms.jit(loops="rewrite")
        def f(x, holder=holder):
            while x.abs().sum() < 100:
                x = holder(x)
            return x

        ms.set_seed(3)
        state = bits(ops.rand(3))
        ms.set_seed(3)
        with pytest.raises(TypeError, match=f"jit: a loop cannot become part of the program: .*{text}"):
            f(V)
        assert bits(parameter) == bits(V)
        assert bits(ops.rand(3)) == state


def functools_partial(function):
    """A callable that is not looked into."""

    class Holder:
        def __call__(self, x):
            return function(x)

    return Holder()


def test_what_the_text_shows_is_an_error_at_once():
    @ms.jit(loops="rewrite")
    def f(x):
        while x.abs().sum() < 100:
            f.count = 1
            x = x * 2
        return x

    with pytest.raises(TypeError, match=r"it sets an attribute.*test_loops.py:\d+ in f"):
        f(V)


# ---------------------------------------------------------------------------------------------------- threads


def test_several_threads_run_loops():
    names = ["newton", "rnn", "nested_ifs", "breaks_when_it_converges", "a_flag_of_pythons", "zipped"]
    functions = {n: ms.jit(LOOPS[n][0]) for n in names}
    wanted = {n: bits(LOOPS[n][0](*LOOPS[n][1])) for n in names}
    wrong = []

    def run():
        for _ in range(15):
            for n in names:
                if bits(functions[n](*LOOPS[n][1])) != wanted[n]:
                    wrong.append(n)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_effects_happen_once_and_in_order():
    seen = []

    @ms.jit
    def f(x):
        seen.append("before")
        while x.abs().sum() < 100:
            x = x * 2
        seen.append("after")
        for i in range(10):
            seen.append(i)
            x = x + 1
        return x

    for _ in range(3):
        f(V)
    assert seen == ["before", "after", *range(10)] * 3


def test_module_of_functions_is_complete():
    assert loop_functions.LOOPS is LOOPS


def test_others_may_wait_for_a_long_loop():
    made = []

    @ms.jit
    def f(x):
        y = x + 1
        made.append(y)
        for _i in range(60000):
            y = y * 0.999 + 0.001
        return y

    wanted = bits(f(V)), bits(V + 1)
    for of_this_thread in (True, False):
        made.clear()
        results = []
        reader = threading.Thread(
            target=lambda: [results.append(bits(made[0])) for _ in range(200) if made] or results.append(None)
        )
        runner = threading.Thread(target=lambda: results.append(bits(f(V))))
        first, second = (reader, runner) if of_this_thread else (runner, reader)
        first.start()
        second.start()
        found = bits(f(V)) if of_this_thread else wanted[0]
        for t in (first, second):
            t.join(60)
            assert not t.is_alive()
        assert found == wanted[0]
        assert set(results) <= {*wanted, None}


def test_an_endless_loop_of_pythons_can_be_interrupted(tmp_path):
    (tmp_path / "endless.py").write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sorus as ms\n\n@ms.jit\n"
        "def f(x):\n    while x.sum() < 1:\n        x = x * 1\n    return x\n\n"
        "try:\n    print('ready', flush=True)\n    f(ms.Tensor([0.0])).asnumpy()\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    child = subprocess.Popen(
        [sys.executable, tmp_path / "endless.py"], stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert out == "stopped\n"
