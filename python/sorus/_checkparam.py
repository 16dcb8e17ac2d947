"""Checks of arguments that scripts import by MindSpore's name: `from sorus import _checkparam as validator`.

Each gives the value that is good, and raises TypeError or ValueError with the name of the argument and of
what it was given to, `prim_name`, otherwise. MindSpore 1.x has them as methods of `Validator` and the
relations as members of `Rel`; both are here.
"""

import functools
import inspect
import math
import re

EQ, NE, LT, LE, GT, GE = range(1, 7)
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = range(7, 11)
IN, NOT_IN = 11, 12

_RELATIONS = {
    EQ: ("=", lambda a, b: a == b),
    NE: ("!=", lambda a, b: a != b),
    LT: ("<", lambda a, b: a < b),
    LE: ("<=", lambda a, b: a <= b),
    GT: (">", lambda a, b: a > b),
    GE: (">=", lambda a, b: a >= b),
    IN: ("in", lambda a, b: a in b),
    NOT_IN: ("not in", lambda a, b: a not in b),
}
_RANGES = {
    INC_NEITHER: ("({}, {})", lambda v, low, high: low < v < high),
    INC_LEFT: ("[{}, {})", lambda v, low, high: low <= v < high),
    INC_RIGHT: ("({}, {}]", lambda v, low, high: low < v <= high),
    INC_BOTH: ("[{}, {}]", lambda v, low, high: low <= v <= high),
}


def _place(arg_name, prim_name):
    """How errors begin."""
    return (f"{prim_name}: " if prim_name else "") + (f"'{arg_name}'" if arg_name else "value")


def _need_kind(value, kind, arg_name, prim_name):
    if type(value) is not kind and (not isinstance(value, kind) or isinstance(value, bool)):
        raise TypeError(
            f"{_place(arg_name, prim_name)} has the wrong type: got {type(value).__name__}, "
            f"need {kind.__name__}"
        )
    if kind is float and not math.isfinite(value):
        raise ValueError(f"{_place(arg_name, prim_name)} is no number: got {value}, need a finite one")


def _need_relation(given, value, rel, arg_name, prim_name, error=ValueError, value_name=""):
    sign, holds = _RELATIONS[rel]
    if not holds(given, value):
        need = f"{sign} {value_name}: {value}" if value_name else f"{sign} {value}"
        raise error(f"{_place(arg_name, prim_name)} is out of range: got {given}, need {need}")
    return given


def _check_number(arg_value, value, rel, arg_type=int, arg_name=None, prim_name=None):
    _need_kind(arg_value, arg_type, arg_name, prim_name)
    return _need_relation(arg_value, value, rel, arg_name, prim_name)


def check(arg_name, arg_value, value_name, value, rel=EQ, prim_name=None, excp_cls=ValueError):
    """`arg_value` stands in the relation to `value`, which errors call `value_name`."""
    return _need_relation(arg_value, value, rel, arg_name, prim_name, excp_cls, value_name)


def check_is_number(arg_value, arg_type, arg_name=None, prim_name=None):
    """A finite number of that type, no bool."""
    _need_kind(arg_value, arg_type, arg_name, prim_name)
    return arg_value


def check_number(arg_name, arg_value, value, rel, prim_name):
    """A number in the relation to `value`."""
    return _need_relation(arg_value, value, rel, arg_name, prim_name)


def check_number_range(arg_value, lower_limit, upper_limit, rel, value_type, arg_name=None, prim_name=None):
    """A number of that type between limits; INC_BOTH, INC_LEFT, INC_RIGHT or INC_NEITHER."""
    _need_kind(arg_value, value_type, arg_name, prim_name)
    shown, holds = _RANGES[rel]
    if not holds(arg_value, lower_limit, upper_limit):
        raise ValueError(
            f"{_place(arg_name, prim_name)} is out of range: got {arg_value}, "
            f"need {shown.format(lower_limit, upper_limit)}"
        )
    return arg_value


def check_int(arg_value, value, rel, arg_name=None, prim_name=None):
    """An int in the relation to `value`."""
    return _check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_is_int(arg_value, arg_name=None, prim_name=None):
    """An int."""
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_equal_int(arg_value, value, arg_name=None, prim_name=None):
    """An int equal to `value`."""
    return _check_number(arg_value, value, EQ, int, arg_name, prim_name)


def check_positive_int(arg_value, arg_name=None, prim_name=None):
    """An int above 0."""
    return _check_number(arg_value, 0, GT, int, arg_name, prim_name)


def check_negative_int(arg_value, arg_name=None, prim_name=None):
    """An int below 0."""
    return _check_number(arg_value, 0, LT, int, arg_name, prim_name)


def check_non_positive_int(arg_value, arg_name=None, prim_name=None):
    """An int of 0 or less."""
    return _check_number(arg_value, 0, LE, int, arg_name, prim_name)


def check_non_negative_int(arg_value, arg_name=None, prim_name=None):
    """An int of 0 or more."""
    return _check_number(arg_value, 0, GE, int, arg_name, prim_name)


def check_int_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """An int between limits."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float(arg_value, value, rel, arg_name=None, prim_name=None):
    """A float in the relation to `value`."""
    return _check_number(arg_value, value, rel, float, arg_name, prim_name)


def check_is_float(arg_value, arg_name=None, prim_name=None):
    """A float."""
    return check_is_number(arg_value, float, arg_name, prim_name)


def check_positive_float(arg_value, arg_name=None, prim_name=None):
    """A float above 0."""
    return _check_number(arg_value, 0, GT, float, arg_name, prim_name)


def check_negative_float(arg_value, arg_name=None, prim_name=None):
    """A float below 0."""
    return _check_number(arg_value, 0, LT, float, arg_name, prim_name)


def check_non_positive_float(arg_value, arg_name=None, prim_name=None):
    """A float of 0 or less."""
    return _check_number(arg_value, 0, LE, float, arg_name, prim_name)


def check_non_negative_float(arg_value, arg_name=None, prim_name=None):
    """A float of 0 or more."""
    return _check_number(arg_value, 0, GE, float, arg_name, prim_name)


def check_float_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """A float between limits."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def _each(check_one, sequence, arg_name, prim_name):
    for i, item in enumerate(sequence):
        check_one(item, f"{arg_name or 'sequence'}[{i}]", prim_name)
    return sequence


def check_positive_int_sequence(sequence, arg_name=None, prim_name=None):
    """Ints above 0."""
    return _each(check_positive_int, sequence, arg_name, prim_name)


def check_non_negative_int_sequence(sequence, arg_name=None, prim_name=None):
    """Ints of 0 or more."""
    return _each(check_non_negative_int, sequence, arg_name, prim_name)


def check_positive_float_sequence(sequence, arg_name=None, prim_name=None):
    """Floats above 0."""
    return _each(check_positive_float, sequence, arg_name, prim_name)


def check_bool(arg_value, arg_name=None, prim_name=None):
    """A bool."""
    if not isinstance(arg_value, bool):
        raise TypeError(
            f"{_place(arg_name, prim_name)} has the wrong type: got {type(arg_value).__name__}, need bool"
        )
    return arg_value


def check_string(arg_value, valid_values, arg_name=None, prim_name=None):
    """One of the strings."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        raise ValueError(
            f"{_place(arg_name, prim_name)} is unknown: got {arg_value!r}, need one of {list(valid_values)}"
        )
    return arg_value


def check_str_by_regular(target, reg=None, flag=re.ASCII, prim_name=None):
    """A string that the pattern matches: letters, digits, dot, dash and underscore by default."""
    pattern = r"^[0-9a-zA-Z\_\-\.]*$" if reg is None else reg
    if re.match(pattern, target, flag) is None:
        raise ValueError(f"{_place('target', prim_name)} is not usable: got {target!r}, need {pattern}")
    return True


def check_value_type(arg_name, arg_value, valid_types, prim_name=None):
    """An instance of the type or of one of the types; a bool only where bool is among them."""
    types = tuple(valid_types) if isinstance(valid_types, (list, tuple, set)) else (valid_types,)
    refused = isinstance(arg_value, bool) and bool not in types and object not in types
    if refused or not isinstance(arg_value, types):
        raise TypeError(
            f"{_place(arg_name, prim_name)} has the wrong type: got {type(arg_value).__name__}, "
            f"need {' or '.join(t.__name__ for t in types)}"
        )
    return arg_value


def check_isinstance(arg_name, arg_value, classes):
    """An instance of the class or of one of the classes."""
    if not isinstance(arg_value, classes):
        raise ValueError(
            f"{_place(arg_name, None)} has the wrong type: got {type(arg_value).__name__}, need {classes}"
        )
    return arg_value


def _elements(arg_name, values, types, prim_name):
    for value in values:
        check_value_type(f"element of {arg_name}", value, types, prim_name)


def check_element_type_of_iterable(arg_name, arg_value, valid_types, prim_name=None):
    """A list or tuple of instances of the types."""
    check_value_type(arg_name, arg_value, [list, tuple, dict], prim_name)
    _elements(arg_name, arg_value, valid_types, prim_name)


def check_element_type_of_dict(arg_name, arg_value, key_types, value_types, prim_name=None):
    """A dict of keys and values of the types."""
    check_value_type(arg_name, arg_value, [dict], prim_name)
    _elements(f"{arg_name}.keys()", arg_value, key_types, prim_name)
    _elements(f"{arg_name}.values()", arg_value.values(), value_types, prim_name)


def check_type_name(arg_name, arg_type, valid_types, prim_name):
    """One of the dtypes."""
    types = list(valid_types) if isinstance(valid_types, (list, tuple, set)) else [valid_types]
    if arg_type not in types:
        raise TypeError(
            f"{_place(arg_name, prim_name)} has the wrong dtype: got {arg_type}, need one of {types}"
        )
    return arg_type


def check_types_same_and_valid(args, valid_values, prim_name):
    """Dtypes by argument, which are all the same and one of those."""
    first_name, first = next(iter(args.items()))
    for name, dtype in args.items():
        check_type_name(name, dtype, valid_values, prim_name)
        if dtype != first:
            raise TypeError(
                f"{_place(name, prim_name)} has another dtype than '{first_name}': got {dtype} and {first}, "
                "need the same"
            )


check_tensor_dtype_valid = check_type_name
check_tensors_dtypes_same_and_valid = check_types_same_and_valid


def check_subclass(arg_name, type_, template_types, prim_name, addition_error_info=None):
    """A dtype among those given, or a subclass of a class among them."""
    templates = template_types if isinstance(template_types, (tuple, list)) else (template_types,)
    if not any(_is_kind(type_, template) for template in templates):
        raise TypeError(
            f"{_place(arg_name, prim_name)} has the wrong type: got {type_}, need one of {list(templates)}"
            + (f": {addition_error_info}" if addition_error_info else "")
        )


def _is_kind(type_, template):
    if inspect.isclass(type_) and inspect.isclass(template):
        return issubclass(type_, template)
    return type_ == template


def _twice_of(count):
    def repeated(m):
        return m if isinstance(m, (tuple, list)) and len(m) == count else (m,) * count

    return repeated


def once(m):
    """A tuple of the value, if it is none."""
    return m if isinstance(m, (tuple, list)) else (m,)


twice, triple = _twice_of(2), _twice_of(3)


def args_type_check(*type_args, **type_kwargs):
    """A decorator: arguments that are given are instances of the types, by place or by name, or None."""

    def decorate(function):
        signature = inspect.signature(function)
        types = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def checked(*args, **kwargs):
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in types and value is not None and not isinstance(value, types[name]):
                    raise TypeError(
                        f"{function.__name__}: '{name}' has the wrong type: got {type(value).__name__}, "
                        f"need {types[name]}"
                    )
            return function(*args, **kwargs)

        return checked

    return decorate


class Rel:
    """The relations as members, as MindSpore 1.x has them: `Rel.INC_LEFT`."""

    EQ, NE, LT, LE, GT, GE = EQ, NE, LT, LE, GT, GE
    INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH
    IN, NOT_IN = IN, NOT_IN


class Validator:
    """The checks as methods, as MindSpore 1.x has them: `Validator.check_positive_int(3, "count")`.

    >>> from sorus._checkparam import Rel, Validator
    >>> Validator.check_int_range(3, 0, 4, Rel.INC_LEFT, "count")
    3
    """


for _name, _function in list(globals().items()):
    if _name.startswith("check"):
        setattr(Validator, _name, staticmethod(_function))
Validator.check_integer = staticmethod(
    lambda arg_name, arg_value, value, rel, prim_name=None: check_int(
        arg_value, value, rel, arg_name, prim_name
    )
)
