"""Checks of hyperparameters, with the words of an optimizer's name."""


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
