"""Checks of arguments and other private names that scripts import."""

import math

import pytest

import sorus as ms
from sorus import _checkparam as validator, nn, ops
from sorus._checkparam import Rel, Validator
from sorus._extends import cell_attr_register
from sorus.ops._primitive_cache import _get_cache_prim

GOOD = [
    lambda v: (v.check_positive_int(3, "n", "Net"), 3),
    lambda v: (v.check_negative_int(-3, "n"), -3),
    lambda v: (v.check_non_negative_int(0), 0),
    lambda v: (v.check_non_positive_int(0), 0),
    lambda v: (v.check_equal_int(4, 4), 4),
    lambda v: (v.check_int(4, 5, Rel.LE), 4),
    lambda v: (v.check_int_range(4, 4, 5, Rel.INC_LEFT), 4),
    lambda v: (v.check_float_range(0.5, 0.0, 1.0, Rel.INC_NEITHER, "x", "Net"), 0.5),
    lambda v: (v.check_float_range(1.0, 0, 1, Rel.INC_RIGHT), 1.0),
    lambda v: (v.check_positive_float(0.1), 0.1),
    lambda v: (v.check_non_negative_float(0.0), 0.0),
    lambda v: (v.check_is_int(3), 3),
    lambda v: (v.check_is_float(3.0), 3.0),
    lambda v: (v.check_number("n", 3, 4, Rel.LT, "Net"), 3),
    lambda v: (v.check_bool(False), False),
    lambda v: (v.check_string("a", ["a", "b"]), "a"),
    lambda v: (v.check_value_type("x", 3, int), 3),
    lambda v: (v.check_value_type("x", True, [int, bool]), True),
    lambda v: (v.check_isinstance("x", 3, (int, str)), 3),
    lambda v: (v.check("n", 3, "need", [1, 3], Rel.IN), 3),
    lambda v: (v.check_positive_int_sequence([1, 2]), [1, 2]),
    lambda v: (v.check_type_name("d", ms.float32, [ms.float16, ms.float32], "Net"), ms.float32),
    lambda v: (v.check_subclass("t", ms.float32, (ms.float32, ms.int32), "Net"), None),
    lambda v: (v.check_subclass("t", nn.Dense, nn.Cell, "Net"), None),
    lambda v: (v.check_types_same_and_valid({"a": ms.int8, "b": ms.int8}, [ms.int8], "Net"), None),
    lambda v: (v.check_element_type_of_iterable("l", [1, "a"], [int, str]), None),
    lambda v: (v.check_element_type_of_dict("d", {"a": 1}, [str], [int]), None),
    lambda v: (v.check_str_by_regular("a_b.c"), True),
]


@pytest.mark.parametrize("check", GOOD)
@pytest.mark.parametrize("where", [validator, Validator])
def test_good_values_come_back(check, where):
    got, want = check(where)
    assert got == want and type(got) is type(want)


@pytest.mark.parametrize(
    ("check", "error", "text"),
    [
        (
            lambda v: v.check_positive_int(0, "n", "Net"),
            ValueError,
            "Net: 'n' is out of range: got 0, need > 0",
        ),
        (lambda v: v.check_positive_int(0), ValueError, "value is out of range: got 0, need > 0"),
        (
            lambda v: v.check_positive_int(1.5, "n", "Net"),
            TypeError,
            "Net: 'n' has the wrong type: got float, need int",
        ),
        (lambda v: v.check_positive_int(True, "n"), TypeError, "got bool, need int"),
        (lambda v: v.check_non_negative_int(-1, "n"), ValueError, "'n' is out of range: got -1, need >= 0"),
        (lambda v: v.check_equal_int(3, 4, "n"), ValueError, "got 3, need = 4"),
        (lambda v: v.check_int_range(5, 4, 5, Rel.INC_LEFT, "n"), ValueError, r"got 5, need \[4, 5\)"),
        (lambda v: v.check_float_range(0.0, 0, 1, Rel.INC_RIGHT, "x"), ValueError, r"got 0.0, need \(0, 1\]"),
        (lambda v: v.check_float_range(1, 0, 1, Rel.INC_BOTH, "x"), TypeError, "got int, need float"),
        (lambda v: v.check_positive_float(math.nan, "x"), ValueError, "need a finite one"),
        (lambda v: v.check_positive_float(0.0, "x"), ValueError, "need > 0"),
        (
            lambda v: v.check_number("n", 5, 4, Rel.LT, "Net"),
            ValueError,
            "Net: 'n' is out of range: got 5, need < 4",
        ),
        (lambda v: v.check_bool(1, "flag"), TypeError, "'flag' has the wrong type: got int, need bool"),
        (lambda v: v.check_string("c", ["a"], "s"), ValueError, r"got 'c', need one of \['a'\]"),
        (lambda v: v.check_string(3, ["a"], "s"), ValueError, "got 3"),
        (lambda v: v.check_value_type("x", 3, [str, float], "Net"), TypeError, "got int, need str or float"),
        (lambda v: v.check_value_type("x", True, [int]), TypeError, "got bool, need int"),
        (lambda v: v.check_isinstance("x", 3, str), ValueError, "got int"),
        (lambda v: v.check("len", 3, "wanted", 4, Rel.EQ, "Net"), ValueError, "got 3, need = wanted: 4"),
        (lambda v: v.check("len", 5, "wanted", 4, Rel.LE, None, TypeError), TypeError, "need <= wanted: 4"),
        (lambda v: v.check_non_negative_int_sequence([1, -1], "s"), ValueError, r"'s\[1\]'"),
        (
            lambda v: v.check_type_name("d", ms.int8, [ms.float16], "Net"),
            TypeError,
            "Net: 'd' has the wrong dtype",
        ),
        (lambda v: v.check_subclass("t", nn.Dense, (nn.ReLU,), "Net"), TypeError, "Net: 't'"),
        (
            lambda v: v.check_types_same_and_valid({"a": ms.int8, "b": ms.int16}, [ms.int8, ms.int16], "Net"),
            TypeError,
            "'b' has another dtype than 'a'",
        ),
        (lambda v: v.check_element_type_of_iterable("l", [1, "a"], [int]), TypeError, "element of l"),
        (lambda v: v.check_element_type_of_dict("d", {"a": "b"}, [str], [int]), TypeError, r"d.values\(\)"),
        (lambda v: v.check_str_by_regular("a b"), ValueError, "'a b'"),
    ],
)
@pytest.mark.parametrize("where", [validator, Validator])
def test_others_are_told(check, error, text, where):
    with pytest.raises(error, match=text):
        check(where)


def test_arguments_by_type():
    @validator.args_type_check(int, name=(str, float))
    def call(count, name="x", more=None):
        return count, name, more

    assert call(1) == (1, "x", None) and call(1, None) == (1, None, None) and call(2, more=call)[0] == 2
    for bad, text in ((("a",), "'count'"), ((1, 2), "'name'")):
        with pytest.raises(TypeError, match=f"call: {text} has the wrong type"):
            call(*bad)
    assert validator.twice(3) == (3, 3) and validator.twice((1, 2)) == (1, 2)
    assert validator.once(3) == (3,) and validator.triple(1) == (1, 1, 1)
    assert Validator.check_integer("n", 3, 2, Rel.GE) == 3


def test_registered_cells():
    class Net(nn.Cell):
        @cell_attr_register
        def __init__(self, a):
            super().__init__()
            self.a = a

    class Other(nn.Cell):
        @cell_attr_register(attrs=["a"])
        def __init__(self, a):
            super().__init__()
            self.a = a

    assert Net(3).a == 3 and Other(a=4).a == 4


def test_primitives_made_once():
    keep, drop = _get_cache_prim(ops.ReduceSum)(True), _get_cache_prim(ops.ReduceSum)(keep_dims=False)
    assert keep is _get_cache_prim(ops.ReduceSum)(True) and keep is not drop
    assert drop is _get_cache_prim(ops.ReduceSum)(keep_dims=False)
    assert _get_cache_prim(ops.ReduceSum)(1) is not keep
    assert keep(ops.ones((2, 3)), 1).shape == (2, 1)
