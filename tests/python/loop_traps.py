"""Functions with loops in which what Python values are, and who else has them, matters: added to `LOOPS`."""

from loop_functions import V, followed, in_program


@followed(V)
def a_flag_that_is_true(x):
    done = False
    for i in range(10):
        if done is True:
            x = x * 0.5
        done = i > 3
        x = x + 0.25
    return x, done


@followed(V)
def a_list_of_another_name_is_extended(x):
    seen, twice = [], [1]
    for _i in range(10):
        other, more = seen, twice
        other += [x]
        x = x * 1.5
        if x.sum() > 9:
            more *= 2
    return x, tuple(seen), len(twice)


@followed(V)
def items_that_run_out(x):
    numbers = [iter([1, 2, 3]), iter([4, 5])]
    for _i in range(10):
        for each in numbers:
            x = x + sum(each)
    return x


@followed(V)
def items_that_run_out_when_unpacked(x):
    numbers = [iter([1, 2, 3]), iter([4, 5])]
    for _i in range(10):
        first, second = numbers
        x = x + sum(first) - sum(second) * 0.5
    return x


@followed(V)
def items_that_run_out_as_arguments(x):
    numbers, start = [iter([1, 2, 3])], {"start": 3}
    for _i in range(10):
        x = x + sum(*numbers, **start)
    return x


class Loud(float):
    """A number that notes who asks it."""

    asked = 0

    def __radd__(self, other):
        Loud.asked += 1
        return float(self) + other


@followed(V)
def numbers_of_another_class(x):
    loud, before = [Loud(1), Loud(2)], Loud.asked
    for _i in range(10):
        x = x + sum(loud)
    return x, Loud.asked - before


@in_program(V)
def an_int_of_many_digits(x):
    n = 2**61 + 2**37 + 1
    for _i in range(12):
        x = x + n
        n = n + 2**37 + 1
    return x, n
