"""Checks of hyperparameters and gradients, with the words of an optimizer's name."""

from ..._core import Tensor


def is_number(value):
    """True for ints and floats but not for bools."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_open_unit(what, **values):
    """Each value lies in (0, 1)."""
    for name, value in values.items():
        if not is_number(value):
            raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a float")
        if not 0 < value < 1:
            raise ValueError(
                f"{what}: '{name}' is out of range: got {value}, need more than 0 and less than 1"
            )


def check_positive(what, **values):
    """Each value is above 0."""
    for name, value in values.items():
        if not is_number(value):
            raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a float")
        if not value > 0:
            raise ValueError(f"{what}: '{name}' is out of range: got {value}, need more than 0")


def check_not_negative(what, **values):
    """Each value is 0 or more."""
    for name, value in values.items():
        if not is_number(value):
            raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a float")
        if not value >= 0:
            raise ValueError(f"{what}: '{name}' is out of range: got {value}, need 0 or more")


def check_bool(what, **values):
    """Each value is a bool."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeError(f"{what}: '{name}' has the wrong type: got {type(value).__name__}, need a bool")


def check_gradients(what, parameters, gradients):
    """There is a tensor of its shape for each parameter."""
    if len(gradients) != len(parameters):
        raise ValueError(
            f"{what}: number of gradients differs: got {len(gradients)}, need {len(parameters)}"
        )
    for p, g in zip(parameters, gradients):
        if not isinstance(g, Tensor):
            got = "None" if g is None else type(g).__name__
            raise TypeError(f"{what}: gradient of '{p.name}' has the wrong type: got {got}, need a Tensor")
        if g.shape != p.shape:
            raise ValueError(
                f"{what}: gradient of '{p.name}' has another shape: got {g.shape}, need {p.shape}"
            )
