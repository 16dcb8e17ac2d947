"""Errors tell what the user called and what is wrong: `function: what was wrong: got ..., need ...`.

Every public function gets values that are none of its business, one after the other in each place.
"""

import inspect
import math
import re
import signal

import numpy as np
import pytest
from sorus import Parameter, Tensor, mint, nn, ops
from sorus import numpy as snp
from sorus._rows import signature_of
from sorus.mint.nn import functional

_FORM = re.compile(r"^[\w.\- ]+: .*: got .*need", re.S)
_SKIPPED = {"print_", "partial"}
_FOREIGN = (None, "text", object(), ["a", "b"], {"k": 1}, 2**70, math.nan, (), lambda: 0)


def _functions():
    for module in (ops, mint, functional, snp):
        for name in dir(module):
            if not name.startswith("_") and name[0].islower() and name not in _SKIPPED:
                found = getattr(module, name)
                if callable(found) and not isinstance(found, type):
                    yield f"{module.__name__}.{name}", found
    for name in dir(Tensor):
        found = getattr(Tensor, name)
        if not name.startswith("_") and callable(found):
            yield f"Tensor.{name}", found


_ALL = dict(_functions())


def _fails_badly(function, arguments):
    """What is wrong with the error of a call; None when it succeeds or the error has the form."""
    try:
        function(*arguments)
    except (TypeError, ValueError, IndexError, NotImplementedError, MemoryError, RuntimeError) as error:
        text = str(error)
        plain = inspect.isfunction(function) and re.match(r"[\w<>]+\(\) (missing|takes)", text)
        plain = plain or text.startswith("asnumpy(): incompatible function arguments")
        return None if plain or _FORM.match(text) else f"{type(error).__name__}: {text}"
    except Exception as error:  # noqa: BLE001: any other type is what the test looks for
        return f"{type(error).__name__}: {error}"
    return None


def _calls(method):
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    start = () if not method else (x,)
    for value in _FOREIGN:
        yield (*start, value)
        yield (*start, value, value)
        yield (*start, value, value, value)
        for place in range(1, 4):
            fine = (x,) * place
            yield (*fine, value)
            yield (*fine, value, value)


@pytest.mark.parametrize("name", sorted(_ALL))
def test_foreign_values(name):
    bad = {}
    for arguments in _calls(name.startswith("Tensor.")):
        said = _fails_badly(_ALL[name], arguments)
        if said is not None:
            bad.setdefault(said, [type(a).__name__ for a in arguments])
    assert not bad


def test_names_the_public_function():
    x = Tensor(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match=r"^dense: "):
        ops.dense(x, Tensor(np.ones((4, 5), np.float32)))
    with pytest.raises(ValueError, match=r"^conv2d: "):
        ops.conv2d(Tensor(np.ones((1, 2, 4, 4), np.float32)), Tensor(np.ones((1, 3, 2, 2), np.float32)))
    with pytest.raises(IndexError, match=r"^gather_d: "):
        ops.gather_d(x, 1, Tensor([[7]]))
    with pytest.raises(IndexError, match=r"^tensor_scatter_add: "):
        ops.tensor_scatter_add(x, Tensor([[9]]), x[:1])
    with pytest.raises(ValueError, match=r"^Conv2D: "):
        ops.Conv2D(1, 2)(Tensor(np.ones((1, 2, 4, 4), np.float32)), Tensor(np.ones((1, 3, 2, 2), np.float32)))


def test_names_the_argument():
    x = Tensor(np.ones((2, 3), np.float32))
    with pytest.raises(
        TypeError, match=r"^reshape_as: argument 'other' has the wrong type: got str, need a Tensor"
    ):
        x.reshape_as("text")
    with pytest.raises(
        TypeError, match=r"^acos: argument 'input' has the wrong type: got str, need a Tensor$"
    ):
        ops.acos("text")
    with pytest.raises(
        ValueError,
        match=r"^flip: argument 'dims' is out of range: got \[1180591620717411303424\]|"
        r"^flip: argument 'dims' is out of range: got 1180591620717411303424, need 64 bits",
    ):
        ops.flip(x, 2**70)


def test_errors_of_user_code_stay():
    class Odd:
        def __index__(self):
            raise AttributeError("mine")

    with pytest.raises((AttributeError, TypeError)):
        ops.flip(Tensor([1.0]), Odd())


class _Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 2)

    def construct(self, x):
        return self.fc(x)


class _Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.SequentialCell([_Block(), nn.ReLU(), _Block()])

    def construct(self, x):
        return self.blocks(x)


def test_errors_name_the_layer():
    with pytest.raises(ValueError, match="got") as caught:
        _Net()(Tensor(np.ones((1, 4), np.float32)))
    assert caught.value.__notes__ == ["in Dense 'blocks.2.fc' of _Net"]


def test_errors_name_a_lonely_layer():
    with pytest.raises(ValueError, match="^Dense: shapes do not fit: got"):
        nn.Dense(3, 4)(Tensor(np.ones((2, 5), np.float32)))
    with pytest.raises(TypeError, match=r"^Conv2d: .*: got \('text'\), need Conv2d"):
        nn.Conv2d(3, 4, 3)("text")
    with pytest.raises(ValueError, match="^Conv2d: .*got") as caught:
        nn.Conv2d(3, 4, 3)(Tensor(np.ones((1, 2, 8, 8), np.float32)))
    assert caught.value.__notes__ == ["in Conv2d"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.vander(Tensor([1.0, 2.0]), 2**50),
        lambda: ops.repeat_interleave(Tensor([1.0, 2.0]), 2**50),
    ],
)
def test_too_large(call):
    with pytest.raises((MemoryError, ValueError), match=": .*(got|need)"):
        call()


def test_in_place_sums_are_one_step():
    variable = Parameter(Tensor(np.zeros(3, np.float32)))
    ops.assign_add(variable, Tensor(np.ones(3, np.float32)))
    ops.assign_sub(variable, 3)
    assert variable.asnumpy().tolist() == [-2.0, -2.0, -2.0]
    with pytest.raises(ValueError, match="assign_add: value has another shape: got"):
        ops.assign_add(variable, Tensor(np.ones((2, 3), np.float32)))


def test_sums_in_signal_handlers_are_not_lost():
    variable, handled = Tensor(np.zeros(1, np.int64)), 0

    def handler(*_):
        nonlocal handled
        handled += 1
        ops.assign_add(variable, 1)

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        for _ in range(20_000):
            ops.assign_add(variable, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert variable.asnumpy().tolist() == [20_000 + handled]


@pytest.mark.parametrize("name", ops._functions.names())
def test_a_wrong_type_is_told_with_the_argument_of_the_user(name):
    """Whatever the function is composed of."""
    signature = signature_of(getattr(ops, name))
    named = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    x = Tensor(np.ones((2, 3), np.float32))
    for parameter in named:
        given = {p.name: x for p in named if p.default is p.empty}
        given[parameter.name] = _Strange()
        try:
            getattr(ops, name)(**given)
        except Exception as error:  # noqa: BLE001 - of any kind; what it says counts
            said = re.search(r"argument '(\w+)' has the wrong type: got _Strange", str(error))
            assert said is None or said[1] == parameter.name


class _Strange:
    """Of no type that any function takes."""
