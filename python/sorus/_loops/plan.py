"""Recorded loops: what their bodies take and give, and how they are run with values of the same types."""

from .. import _core
from . import rows as over
from .flow import NotShown
from .number import Number, truth_of
from .values import describe, merged, rebuilt, types_of, varying

Tensor = _core.Tensor
FEWEST_STEPS = 8  # that are worth a loop of the program where their number is known


class _Body:
    """The region of a loop as a function of tensors: state, what else is carried, elements and rows of the
    step, then the tensors among its roots where these are `lifted`.
    """

    def __init__(self, trace, site, roots, states, rows, lifted):
        self._trace, self._site, self._roots = trace, site, roots
        self._states, self._rows, self._lifted = states, rows, lifted
        self.late = 0  # tensors that are carried for results alone
        self.step = None  # of the number that is counted, where one is
        self.stop = None  # its bound, where it is not handed over
        self.late_types = []
        self.found = None

    def test(self, *tensors):
        """What the test of a `while` says, as one bool."""
        given = iter(tensors)
        state = [rebuilt(d, given) for d in self._states]
        flags = [next(given)] if self._site.broken else []
        region = self._trace.unit.regions[self._site.test]
        value = region(self._trace, *state, self._outside((), given))
        return [self._going(value, flags)]

    def _going(self, value, flags):
        if not self._trace.is_tensor(value):
            if not value or not flags:
                raise NotShown("its test does not depend on tensors")
            return flags[0].logical_not()
        return truth_of(value).logical_and(flags[0].logical_not()) if flags else truth_of(value)

    def _outside(self, slices, given):
        return (*slices, *self._roots.inside(given if self._lifted else None))

    def __call__(self, *tensors):
        given = iter(tensors)
        state = [rebuilt(d, given) for d in self._states]
        if self._site.broken:
            next(given)
        for _ in range(self.late):
            next(given)
        element, counter = [], []
        if self.step is not None:
            counter = [next(given)]
            element = [Number("int", counter[0])]
            slices = self._taken(element[0], given)
        else:
            if self._site.has_target:
                leaves = [next(given) for _ in over.leaves(self._rows.part)]
                element = [over.built(self._rows.part, iter(leaves))]
            slices = [next(given) for _ in self._roots.rows]
        region = self._trace.unit.regions[self._site.body]
        out = region(self._trace, *state, *element, self._outside(slices, given))
        return self._flat(out, counter)

    def _taken(self, number, given):
        """Rows of tensors from outside where nobody knows how many there will be: as items."""
        tensors = [value for value, *_ in self._roots.rows]
        if self._lifted:
            next(given)  # the bound
            tensors = [next(given) for _ in tensors]
        keys = [(*[slice(None)] * axis, number) for *_, axis in self._roots.rows]
        return [self._trace.item(tensor, key) for tensor, key in zip(tensors, keys)]

    def _flat(self, out, counter):
        tensors = []
        descriptions = [describe(v, tensors) for v in out]
        states = len(self._states)
        for before, after in zip(self._states, descriptions[:states]):
            merged(before, varying(after))
        self.found = [varying(d) for d in descriptions[states:]]
        in_order = []
        flag = 1 if self._site.broken else 0
        counts = [_leaf_count(d) for d in descriptions]
        ends = sum(counts[:states])
        late_end = len(tensors) - flag
        in_order = tensors[:ends] + tensors[late_end:] + tensors[ends:late_end]
        self.late_types = types_of(tensors[ends:late_end])
        self.found = self.found[: len(self.found) - flag]
        if counter:
            in_order.append(counter[0] + self.step)
        return in_order


def _leaf_count(description):
    if description[0] == "tuple":
        return sum(map(_leaf_count, description[1]))
    return 1 if description[0] in ("tensor", "number") else 0


def _steps(roots, rows, current):
    """The numbers at which a counting loop takes rows of tensors from outside, all of which are there."""
    if not isinstance(rows.part, over.Range) or rows.lazy:
        raise NotShown("it takes rows at numbers that nobody knows before")
    steps = rows.part.plain()[rows.index - current :]
    for value, names, axis in roots.rows:
        if names or not isinstance(value, Tensor) or value.ndim <= axis:
            raise NotShown("it takes an item of what is no tensor")
        if steps.step <= 0 or steps[0] < 0 or steps[-1] >= value.shape[axis]:
            raise NotShown("it takes rows in another order than theirs, or some that are not there")
    return steps


def _slice_types(roots, rows, current):
    if not roots.rows:
        return []
    _steps(roots, rows, current)
    return [(v.dtype, (*v.shape[:axis], *v.shape[axis + 1 :])) for v, _, axis in roots.rows]


def _slices(roots, rows, current):
    """The rows of the tensors from outside that a counting loop takes one by one."""
    if not roots.rows:
        return []
    steps, made = _steps(roots, rows, current), []
    for value, _, axis in roots.rows:
        moved = value if axis == 0 else value.movedim(axis, 0)
        whole = steps.step == 1 and len(steps) == moved.shape[0]
        made.append(moved if whole else moved[steps[0] : steps[-1] + 1 : steps.step])
    return made


class Plan:
    """A loop that was recorded, to be run with any values of the same types."""

    def __init__(self, site, states, body, late_types, found, lifted):
        self.site, self.states, self.body = site, states, body
        self.late_types, self.found, self.lifted = late_types, found, lifted
        self.test = self.step = None
        self._false = Tensor(False)
        self._bounds = {}

    def _bound(self, place, value):
        """A bound as a tensor; those of Python's are made once."""
        if type(value) is not int:
            return _scalar(value)
        made = self._bounds.get((place, value))
        if made is None:
            if len(self._bounds) >= 64:
                self._bounds.clear()
            made = self._bounds[place, value] = Tensor(value)
        return made

    def _carried(self, state):
        tensors = []
        for value in state:
            describe(value, tensors)
        if self.site.broken:
            tensors.append(self._false)
        tensors += [_zeros(dtype, shape) for dtype, shape in self.late_types]
        return tensors

    def run(self, state, roots, rows, current, known):
        """The results that are read after the loop."""
        carried = self._carried(state)
        outside = roots.tensors if self.lifted else []
        if self.step is not None:
            start, stop, _ = over.counted(rows, current)
            stop = [self._bound(1, stop), *(v for v, *_ in roots.rows)]
            given = [*stop, *outside] if self.lifted else []
            out = _core.run_while(
                self.test,
                [*given, *self.test.captured],
                self.body,
                [*given, *self.body.captured],
                [*carried, self._bound(0, start)],
            )
        elif rows is None:
            out = _core.run_while(
                self.test,
                [*outside, *self.test.captured],
                self.body,
                [*outside, *self.body.captured],
                carried,
            )
        else:
            first, count = rows.index - current, rows.left(current)
            xs = [leaf.operand(first, count) for leaf in over.leaves(rows.part)]
            xs += _slices(roots, rows, current)
            out = _core.run_scan(self.body, [*outside, *self.body.captured], carried, xs, count)
        return self._results(out, known)

    def _results(self, out, known):
        given = iter(out)
        named = {}
        for name, description in zip(self.site.state, self.states):
            named[name] = rebuilt(description, given, known and name in self.site.outs)
        if self.site.broken:
            next(given)
        for name, description in zip(self.site.late, self.found):
            named[name] = rebuilt(description, given, known and name in self.site.outs)
        return tuple(named[name] for name in self.site.outs)


def _scalar(value):
    if isinstance(value, Tensor):
        return value.astype(_core.dtypes["int64"])
    return Tensor(value.tensor) if isinstance(value, Number) else Tensor(value)


def _zeros(dtype, shape):
    from .. import ops

    return ops.zeros(shape, dtype)


def planned(trace, site, state, roots, rows, current, lifted):
    """Records a loop. Raises NotShown, or whatever the recording raises."""
    roots.check()
    tensors = []
    states = [varying(describe(value, tensors)) for value in state]
    carried = types_of(tensors)
    counting = rows is not None and (rows.lazy or site.broken)
    body = _Body(trace, site, roots, states, rows, lifted)
    outside = types_of(roots.tensors) if lifted else []
    flag = [(_core.dtypes["bool_"], ())] if site.broken else []
    counter, elements = [], []
    if counting:
        if rows.lazy and site.late:
            raise NotShown(f"'{site.late[0]}' may have no value after it")
        _, stop, body.step = over.counted(rows, current)
        body.stop = None if lifted else _scalar(stop)
        counter = [(_core.dtypes["int64"], ())]
        outside = [*counter, *types_of([v for v, *_ in roots.rows]), *outside] if lifted else []
    elif rows is not None:
        elements = [leaf.leaf() for leaf in over.leaves(rows.part)] + _slice_types(roots, rows, current)
    late = []
    made = None
    for _ in range(2):  # once more where results alone are carried, whose types were not known
        types_in = [*carried, *flag, *late, *counter, *elements, *outside]
        made = _core.trace_body("loop", body, types_in)
        if len(late) == len(body.late_types):
            break
        late = body.late_types
        body.late = len(late)
    keeps = [*carried, *flag, *late, *counter]
    if [(d, tuple(s)) for d, s in made.results] != keeps:
        raise NotShown("what it carries changes its shape or dtype")
    plan = Plan(site, states, made, late, body.found, lifted)
    if counting:
        plan.step = body.step
        plan.test = _core.trace_body(
            "loop", _count_test(body, len(carried)), [*carried, *flag, *late, *counter, *outside]
        )
    elif rows is None:
        plan.test = _core.trace_body("loop", body.test, [*carried, *flag, *outside])
    if not _core.is_abstract() and (made.checks_values or plan.test is not None and plan.test.checks_values):
        raise NotShown("it checks values, such as indices")
    return plan


def _count_test(body, carried):
    """The test of a loop that counts up or down to a bound, which comes first of what is from outside."""
    flagged = 1 if body._site.broken else 0

    def test(*tensors):
        counter = tensors[carried + flagged + body.late]
        stop = body.stop if body.stop is not None else tensors[carried + flagged + body.late + 1]
        going = counter < stop if body.step > 0 else counter > stop
        return [going.logical_and(tensors[carried].logical_not()) if flagged else going]

    return test
