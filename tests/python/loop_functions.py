"""Small functions with loops and branches over values, of every kind that graph mode tells apart: those that
become part of the program, and those that run by steps. `LOOPS` holds (function, arguments), `IN_PROGRAM` the
names of those whose loop must not be run by steps.
"""

import numpy as np
from modes import vector

import sorus as ms
from sorus import Tensor, nn, ops

LOOPS = {}
IN_PROGRAM = set()

_random = np.random.default_rng(5)


def uniform(*shape):
    """A float32 tensor of numbers between -1 and 1."""
    return Tensor(_random.uniform(-1, 1, shape).astype(np.float32))


W = uniform(4, 4)
V = vector(0.5, -0.25, 1.5, 0.75)
X = uniform(12, 4)


def followed(*arguments):
    """A function whose loops may run by steps."""

    def keep(function):
        LOOPS[function.__name__] = function, arguments
        return function

    return keep


def in_program(*arguments):
    """A function whose loops become part of the program."""

    def keep(function):
        IN_PROGRAM.add(function.__name__)
        return followed(*arguments)(function)

    return keep


def zeros(*shape):
    """A tensor of zeros."""
    return ops.zeros(shape, ms.float32)


# -------------------------------------------------------------------------------------------------- while


@in_program(vector(1000.0, 3.0))
def newton(a):
    x = a
    while ((x * x - a).abs() > 1e-2).any():
        x = (x + a / x) / 2
    return x


@in_program(V)
def while_and_a_count(x):
    i = 0
    while x.abs().sum() > 0.1 and i < 30:
        x = x * 0.8
        i += 1
    return x, i


@in_program(V)
def while_or(x):
    i = 0
    while x.abs().sum() > 2 or i < 9:
        x, i = x * 0.8 + i * 0.01, i + 1
    return x, i, i * 2


@in_program(V)
def while_true_with_breaks(x):
    n = 0
    while True:
        x = x * 0.5
        n = n + 1
        if x.abs().sum() < 0.01:
            break
        if n > 50:
            break
    return x, n


@in_program(V)
def a_flag_of_pythons(x):
    done = False
    n = 0
    while not done:
        x = x * 0.7
        n += 1
        done = x.abs().sum() < 0.5
    return x, n, done


@in_program(V)
def a_chain_of_comparisons(x):
    total = x.sum()
    while 0.001 < total < 100:
        total = total * 0.5
    return total


@in_program(V)
def steps_that_never_come(x):
    while x.sum() > 1e6:
        x = x * 2
    return x


@in_program(V)
def while_continue(x):
    s, n = zeros(4), 0
    while n < x.abs().sum() * 10:
        n += 1
        if x.sum() > 2:
            x = x * 0.5
            continue
        x = x * 1.25
        s = s + x
    return s, x, n


@in_program(V)
def a_decaying_rate(x):
    rate = 0.5
    while x.abs().max() > 0.05:
        x = x - x * rate
        rate = rate * 0.9
    return x, rate


@in_program(V)
def two_values_swap(x):
    y = x * 2
    while (x + y).abs().sum() < 1000:
        x, y = y, x + y
    return x, y


@in_program(V)
def a_tuple_is_carried(x):
    state = (x, x * 2)
    while state[0].abs().sum() < 100:
        a, b = state
        state = (b, a + b)
    return state


@followed(V)
def shapes_grow(x):
    while x.shape[0] < 20:
        x = ops.concat([x, x])
    return x


@followed(V)
def shapes_grow_by_a_value(x):
    while x.abs().sum() < 50:
        x = ops.concat([x, x])
    return x


@followed(V)
def an_error_in_a_step(x):
    n = 0
    while x.sum() < 100:
        x = x + 1
        n += 1
        if n == 5:
            x = x @ zeros(3, 3)
    return x


@followed(V)
def prints_in_a_loop(x):
    while x.abs().sum() > 0.1:
        print("step", x.shape)
        x = x * 0.5
    return x


@followed(V)
def values_are_read(x):
    n = 0
    while x.abs().sum().item() > 0.1:
        x = x * 0.5
        n += int(x.sum() > 0.2)
    return x, n


@followed(V)
def returns_within(x):
    for i in range(20):
        x = x * 1.5
        if x.abs().sum() > 30:
            return x, i
    return x, -1


@followed(V)
def an_else_of_a_loop(x):
    for _i in range(10):
        x = x * 1.5
        if x.abs().sum() > 1e9:
            break
    else:
        x = -x
    return x


# ------------------------------------------------------------------------------------------------------ for


@in_program(X)
def rnn(x):
    h = zeros(4)
    for t in range(x.shape[0]):
        h = ops.tanh(x[t] @ W + h)
    return h


@in_program(X)
def rows_of_a_tensor(x):
    s = zeros(4)
    for row in x:
        s = s * 0.5 + row
    return s, row


@in_program(X)
def a_sum_that_starts_at_zero(x):
    s = 0
    for row in x:
        s = s + row.sum() * 2
    return s


@in_program(X)
def enumerated(x):
    s = zeros(4)
    for i, row in enumerate(x):
        s += row * i
    return s


@in_program(X)
def enumerated_from_three(x):
    s = zeros(4)
    for i, row in enumerate(x, 3):
        s = s + row / i
    return s, i


@in_program(X, X * 2)
def zipped(x, y):
    s = zeros(4)
    for i, (a, b) in enumerate(zip(x, y)):
        s = s + a * b - i
    return s, i


@in_program(X, uniform(9, 4))
def zipped_of_two_lengths(x, y):
    s = zeros(4)
    for a, b in zip(x, y):
        s = s + ops.sin(a) * b
    return s


@in_program(Tensor(17), V)
def a_tensor_bounds_it(n, x):
    for i in range(n):
        x = x * 0.9 + i
    return x


@in_program(Tensor(0), V)
def a_bound_of_zero(n, x):
    for i in range(n):
        x = x * 0.9 + i
    return x


@in_program(Tensor(2), Tensor(30), V)
def two_tensors_bound_it(low, high, x):
    for i in range(low, high, 3):
        x = x + i * 0.5
    return x


@in_program(Tensor(20), V)
def a_tensor_bounds_it_downwards(n, x):
    for i in range(n, 0, -2):
        x = x * 0.5 + i
    return x


@in_program(V)
def breaks_when_it_converges(x):
    for i in range(100):
        y = (x + 1 / x) / 2
        if (y - x).abs().max() < 1e-4:
            break
        x = y
    return x, i


@in_program(V)
def continues(x):
    s = zeros(4)
    for _i in range(20):
        x = x * 1.1
        if x.sum() > 3:
            continue
        s = s + x
    return s, x


@in_program(uniform(4, 30))
def columns(x):
    h = zeros(4)
    for t in range(2, 30, 3):
        h = h * 0.5 + x[:, t]
    return h


@in_program(X)
def a_name_of_the_last_step(x):
    last = zeros(4)
    for t in range(12):
        y = x[t] * 2
        last = y + last * 0.5
    return y, last


@followed(X)
def rows_before_and_after(x):
    s = zeros(4)
    for t in range(1, 11):
        s = s + x[t - 1] * x[t + 1]
    return s


@followed(X)
def rows_backwards(x):
    s = zeros(4)
    for t in range(11, -1, -1):
        s = s * 0.5 + x[t]
    return s


@followed(X)
def a_row_that_is_not_there(x):
    s = zeros(4)
    for t in range(14):
        s = s + x[t]
    return s


@followed(X)
def a_list_is_filled(x):
    out = []
    for t in range(12):
        out.append(x[t] * 2)
    return ops.stack(out)


@followed(X)
def items_are_set(x):
    out = zeros(12, 4)
    for t in range(12):
        out[t] = x[t] * 2
    return out


@followed(V)
def the_dtype_changes(x):
    s = Tensor(0)
    for _i in range(20):
        s = s + x.sum()
    return s


@in_program(Tensor(np.arange(9, dtype=np.int32)))
def integers(x):
    s = Tensor(np.int32(1))
    for i in range(1, 10):
        s = (s * 3 + x.sum()) % (i + 100)
    return s


@in_program(Tensor(np.array([1.5, -2.0], np.float16)))
def halves(x):
    for i in range(9):
        x = x * 0.75 + i
    return x


@in_program(uniform(3, 4))
def layers_of_a_list(x):
    weights = [W, W * 2, W.T]
    while x.abs().sum() < 100:
        for w in weights:
            x = x @ w + x
    return x


# -------------------------------------------------------------------------------- nested loops, branches


@in_program(V)
def nested_loops(x):
    while x.abs().sum() < 100:
        for j in range(10):
            x = x * 1.01 + j * 0.01
        k = 0
        while k < 3:
            x = x + 0.1
            k += 1
    return x


@in_program(V)
def a_while_in_a_while(x):
    while x.abs().sum() < 1000:
        y = x
        while y.abs().sum() > 1:
            y = y * 0.5
        x = x * 2 + y
    return x


@in_program(V)
def breaks_of_two_loops(x):
    for i in range(30):
        for j in range(12):
            x = x * 1.01
            if x.abs().sum() > 5 + i:
                break
        if x.abs().sum() > 9:
            break
    return x, i


@in_program(V)
def nested_ifs(x):
    while x.abs().max() < 50:
        if x.sum() > 0:
            y = x * 2
            if y.max() > 10:
                y = y + 1
        elif x.sum() < -5:
            y = x * 3
        else:
            y = x - 1
        x = y
    return x


@in_program(V)
def an_if_of_pythons(x, wide=True):
    while x.abs().max() < 50:
        if wide:
            x = x * 3
        else:
            x = x * 2
        if x is None:
            x = zeros(4)
    return x


@in_program(V)
def a_choice_in_an_expression(x):
    for i in range(12):
        x = x * (1.5 if x.sum() < 4 else 0.25) + i * 0.1
    return x


@in_program(V)
def counts_what_it_sees(x):
    seen = 0
    for _i in range(20):
        x = -x * 1.1
        if x.sum() > 0:
            seen += 1
    return x, seen


@followed(V)
def branches_without_a_loop(x):
    if x.sum() > 0:
        x = x * 2
    else:
        x = x - 1
    if x.max() > 100:
        return x
    return -x


@followed(V)
def a_branch_that_changes_shapes(x):
    for i in range(10):
        if x.sum() > i:
            x = ops.concat([x, x * 0.25])
    return x


# ----------------------------------------------------------------------------- what functions are made of


def doubled(x, by=2.0):
    """Called by loops."""
    if by > 1.75:
        return x * by
    return x * by + 0.5


def loud(x):
    """Prints, so that it is no part of a program."""
    print("loud")
    return x * 2


@in_program(V)
def a_function_is_called(x):
    while x.abs().max() < 100:
        x = doubled(x)
        x = doubled(x, by=1.5)
    return x


@followed(V)
def a_function_that_prints_is_called(x):
    while x.abs().max() < 100:
        x = loud(x)
    return x


@in_program(V)
def defaults_and_keywords(x, *, factor=1.5, power=W):
    while x.abs().max() < 100:
        x = x * factor + (x @ power) * 0.01
    return x


def closes_over(weight):
    """A function with cells."""
    bias = weight[0]

    def inside(x):
        for _i in range(10):
            x = x @ weight * 0.5 + bias
        return x

    return inside


LOOPS["closure"] = closes_over(W), (V,)
IN_PROGRAM.add("closure")


@followed(V)
def a_function_inside_reads_what_is_carried(x):
    def scaled():
        return x * 2

    while x.abs().sum() < 100:
        x = scaled() + 1
    return x


@followed(V)
def a_function_inside_counts(x):
    count = 0

    def note():
        nonlocal count
        count += 1

    while x.abs().sum() < 100:
        note()
        x = x * 2
    return x, count


class Counter:
    """Notes something at each call."""

    def __init__(self):
        self.seen = []

    @property
    def scale(self):
        """Reading it has an effect."""
        self.seen.append(1)
        return 1.5


@followed(V)
def a_property_with_an_effect(x):
    counter = Counter()
    while x.abs().sum() < 100:
        x = x * counter.scale
    return x, len(counter.seen)


@followed(V)
def attributes_are_set(x):
    counter = Counter()
    counter.last = 0
    while x.abs().sum() < 100:
        x = x * 2
        counter.last += 1
    return x, counter.last


@followed(V)
def random_numbers_are_drawn(x):
    for _i in range(10):
        x = ops.dropout(x, p=0.1, training=True) * 1.25
    return x


@followed(V)
def an_index_that_is_computed(x):
    at = Tensor(0)
    while x.abs().sum() < 100:
        x = x + x[at]
        at = (at + 1) % 4
    return x


@followed(V)
def a_tensor_is_updated_in_place(x):
    total = zeros(4)
    for _i in range(10):
        x = x * 1.1
        total[0] = x.sum()
    return total


@followed(V)
def caught(x):
    try:
        for i in range(12):
            x = x * 1.5
            if i == 9:
                raise ValueError("nine")
    except ValueError as error:
        return x, str(error)
    return x


@in_program(V)
def caught_outside(x):
    try:
        while x.abs().sum() < 100:
            x = x * 1.5
        x = x @ zeros(3, 3)
    except ValueError:
        x = -x
    return x


class Net(nn.Cell):
    """A recurrent network whose layers are cells."""

    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(W, name="w")
        self.dense = nn.Dense(4, 4, weight_init=W, bias_init="zeros")
        self.scale = 0.5

    def construct(self, x):
        h = self.start()
        for row in x:
            h = ops.tanh(self.dense(row) + h @ self.w) * self.scale
        return self.step(h)

    def start(self):
        """The first state."""
        return zeros(1, 4)

    def step(self, h):
        """A cell's method with a loop."""
        return h


class Derived(Net):
    """Calls what it is derived from."""

    def construct(self, x):
        h = super().construct(x)
        while h.abs().sum() < 10:
            h = h * 2 + self.w.sum() * 0
        return h


def grown(x, by=2):
    """Has a loop, and is called where there is none."""
    while x.abs().sum() < 100:
        x = x * by
    return x


@in_program(V)
def calls_functions_with_loops(x):
    return grown(x) + grown(x + 1, by=3)


class Stepwise(nn.Cell):
    """Has its loops in methods."""

    def construct(self, x):
        return self.twelve(x) * 2

    def twelve(self, x):
        """Twelve steps, and more."""
        for i in range(12):
            x = x * 1.1 + i
        return self.again(x, 3)

    def again(self, x, times):
        """Calls itself."""
        if times == 0:
            return x
        while x.sum() > 3:
            x = x * 0.5
        return self.again(x + 5, times - 1)


@followed(V)
def a_method_updates_in_place(x):
    other = x = x * 1.0
    for _i in range(10):
        y = x.add_(1)
        x = y * 1.0
    return x, other
