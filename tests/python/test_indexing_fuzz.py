"""Random indexing and assignment against NumPy: every kind of index, alone and mixed."""

import random

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, ops

CASES_PER_SEED = 120
SEEDS = range(25)
DTYPES = ("float32", "int32", "float16", "int8", "uint8", "int64", "bool", "float64")


class Source:
    """Random shapes and indices of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)

    def array(self):
        """An array of up to four axes, some of them empty."""
        rank = self.random.randint(0, 4)
        shape = tuple(self.random.choice((0, 1, 2, 3, 4, 5, 5)) for _ in range(rank))
        return self.filled(shape, self.random.choice(DTYPES))

    def filled(self, shape, dtype):
        """Random small numbers."""
        return self.numpy.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)

    def bound(self, extent):
        """An end of a slice, often absent, sometimes outside."""
        return None if self.random.random() < 0.35 else self.random.randint(-extent - 2, extent + 2)

    def slice(self, extent):
        """A slice with any step."""
        step = self.random.choice((None, None, 1, 2, 3, -1, -2, -3, 7))
        return slice(self.bound(extent), self.bound(extent), step)

    def places(self, extent, shape):
        """An array of valid places, some counted from the end."""
        dtype = self.random.choice((np.int64, np.int32))
        return self.numpy.integers(-extent, extent, shape).astype(dtype)

    def mask(self, shape):
        """An array of truths, sometimes all or none."""
        return self.numpy.random(shape) < self.random.choice((0.0, 0.3, 0.5, 1.0))

    def index(self, shape):
        """A random index of an array of that shape, as a tuple of NumPy's kinds."""
        items, axis, spread = [], 0, False
        joint = self.random.choice(((), (1,), (3,), (2, 1), (2, 3), (0,)))
        while axis < len(shape) and self.random.random() < 0.85:
            kind = self.random.choice(("int", "slice", "slice", "array", "mask", "new", "rest", "list"))
            extent = shape[axis]
            if kind == "new":
                items.append(None)
            elif kind == "rest":
                if not spread:
                    spread = True
                    items.append(Ellipsis)
                    axis = len(shape) - self.random.randint(0, len(shape) - axis)
            elif kind == "slice":
                items.append(self.slice(extent))
                axis += 1
            elif kind == "mask" and not any(isinstance(i, np.ndarray) and i.dtype == bool for i in items):
                count = self.random.randint(1, min(2, len(shape) - axis))
                items.append(self.mask(shape[axis : axis + count]))
                axis += count
            elif extent == 0:
                items.append(slice(None))
                axis += 1
            elif kind == "int":
                items.append(self.random.randint(-extent, extent - 1))
                axis += 1
            else:
                found = self.places(extent, joint)
                items.append(found.tolist() if kind == "list" and found.ndim == 1 and found.size else found)
                axis += 1
        return tuple(items)


def as_index(source, index):
    """The same index for a tensor: arrays become tensors or stay arrays; one item may stand alone."""

    def item(value):
        if isinstance(value, np.ndarray) and source.random.random() < 0.7:
            return Tensor(value)
        return value

    made = tuple(item(value) for value in index)
    return made[0] if len(made) == 1 and source.random.random() < 0.5 else made


def attempt(function):
    """The result, or the exception."""
    try:
        return function()
    except (IndexError, ValueError, TypeError) as error:
        return error


@pytest.mark.parametrize("seed", SEEDS)
def test_getting(seed):
    """x[index] is NumPy's, with its type, or both refuse."""
    source = Source(seed)
    for _ in range(CASES_PER_SEED):
        array = source.array()
        index = source.index(array.shape)
        want = attempt(lambda a=array, i=index: np.asarray(a[i]))
        got = attempt(lambda a=array, i=as_index(source, index): Tensor(a)[i])
        text = f"shape {array.shape} {array.dtype}, index {index!r}"
        if isinstance(want, Exception):
            assert isinstance(got, Exception), f"{text}: NumPy refuses: {want}; got shape {got.shape}"
            continue
        assert not isinstance(got, Exception), f"{text}: {got!r}, need shape {want.shape}"
        assert got.asnumpy().dtype == want.dtype, text
        np.testing.assert_array_equal(got.asnumpy(), want, err_msg=text, strict=True)


def value_for(source, shape, dtype):
    """A number, or an array that broadcasts to the shape."""
    if source.random.random() < 0.3:
        return source.random.choice((0, 1))
    kept = list(shape[source.random.randint(0, len(shape)) :])
    kept = [1 if source.random.random() < 0.2 else extent for extent in kept]
    return source.filled(tuple(kept), dtype)


@pytest.mark.parametrize("seed", SEEDS)
def test_setting(seed):
    """x[index] = value is NumPy's; of places named twice the last value stays."""
    source = Source(1000 + seed)
    for _ in range(CASES_PER_SEED):
        array = source.array()
        index = source.index(array.shape)
        picked = attempt(lambda a=array, i=index: np.asarray(a[i]))
        if isinstance(picked, Exception):
            continue
        value = value_for(source, picked.shape, array.dtype)
        want = array.copy()
        want[index] = value
        tensor = Tensor(array)
        given = Tensor(value) if isinstance(value, np.ndarray) else value
        text = f"shape {array.shape} {array.dtype}, index {index!r}, value {np.shape(value)}"
        try:
            tensor[as_index(source, index)] = given
        except (IndexError, ValueError, TypeError) as error:
            raise AssertionError(f"{text}: {error!r}") from error
        np.testing.assert_array_equal(tensor.asnumpy(), want, err_msg=text, strict=True)


@pytest.mark.parametrize("seed", range(6))
def test_gradients(seed):
    """The gradient of x[index] adds up in the places that it was taken from."""
    source = Source(2000 + seed)
    for _ in range(40):
        array = source.array().astype(np.float32)
        index = source.index(array.shape)
        picked = attempt(lambda a=array, i=index: np.asarray(a[i]))
        if isinstance(picked, Exception):
            continue
        weights = source.filled(picked.shape, "float32")
        want = np.zeros_like(array)
        np.add.at(want, index, weights)
        made = as_index(source, index)
        got = ms.grad(lambda t, i=made, w=Tensor(weights): ops.sum(t[i] * w))(Tensor(array))
        text = f"shape {array.shape}, index {index!r}"
        np.testing.assert_array_equal(got.asnumpy(), want, err_msg=text)


@pytest.mark.parametrize("seed", range(3))
def test_compiled(seed):
    """A compiled function picks and places the same."""
    source = Source(3000 + seed)
    for _ in range(25):
        array = source.array()
        index = source.index(array.shape)
        picked = attempt(lambda a=array, i=index: np.asarray(a[i]))
        if isinstance(picked, Exception):
            continue
        made = as_index(source, index)

        @ms.jit
        def both(t, made=made):
            taken = t[made]
            t = t + 0 if t.dtype != ms.bool_ else ops.logical_or(t, t)
            t[made] = 1
            return taken, t

        want = array.copy()
        want[index] = 1
        text = f"shape {array.shape} {array.dtype}, index {index!r}"
        for _ in range(3):
            taken, placed = both(Tensor(array))
            np.testing.assert_array_equal(taken.asnumpy(), picked, err_msg=text)
            np.testing.assert_array_equal(placed.asnumpy(), want, err_msg=text)


def test_an_update_in_place_changes_no_other_tensor():
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    view, same, copy = x[1:], x, x + 0
    x[1, 2] = -1
    assert same.asnumpy()[1, 2] == -1
    assert view.asnumpy()[0, 2] == 6
    assert copy.asnumpy()[1, 2] == 6
    array = np.asarray(copy)
    copy[0] = copy[1]
    copy[1] = copy[2]
    copy[2] = copy[0] + copy[1]
    assert array[0, 0] == 0
    expected = array.copy()
    expected[0] = expected[1]
    expected[1] = expected[2]
    expected[2] = expected[0] + expected[1]
    assert (copy.asnumpy() == expected).all()
    copy[:] = copy
    copy += copy
    assert (copy.asnumpy() == 2 * expected).all()
    row = copy[0]
    copy[1] = row
    copy[0] = row * 2
    assert (row.asnumpy() == 2 * expected[0]).all()
