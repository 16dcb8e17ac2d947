"""The seed of everything random and what draws initial values."""

from . import _functions as F

_state = {"seed": None}


def set_seed(seed):
    """Makes everything random repeatable: initial values, random functions, shuffling."""
    import numpy as np

    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"set_seed: 'seed' has the wrong type: got {type(seed).__name__}, need an int")
    if seed < 0:
        raise ValueError(f"set_seed: 'seed' is out of range: got {seed}, need 0 or more")
    np.random.seed(seed % 2**32)
    F.set_seeds(seed)
    _state["seed"] = seed


def get_seed():
    """The seed set last, None when there was none."""
    return _state["seed"]


def uniform(shape, bound):
    """An array of numbers between -bound and bound."""
    return F.initial_uniform(shape, bound).asnumpy()


def normal(shape, sigma=1.0, mean=0.0):
    """An array of normal numbers."""
    return F.initial_normal(shape, sigma, mean).asnumpy()


def truncated_normal(shape, low, high):
    """An array of standard normal numbers cut at low and high."""
    import numpy as np

    if (low, high) == (-2.0, 2.0):
        return F.initial_truncated_normal(shape).asnumpy()
    values = normal(shape)
    while True:
        outside = (values < low) | (values > high)
        count = np.count_nonzero(outside)
        if not count:
            return values
        values[outside] = normal((count,))
