"""Decides, each time a loop runs that was offered, whether it becomes part of the program, and makes it so.

A loop becomes one when its region can be recorded with values that have no numbers, everything it touches is
known to compute (`pure.py`), and what it carries keeps its structure, shapes and dtypes. Recording has no
effect, so whatever goes wrong leaves the loop to Python, from where it stands.
"""

import os
import sys

from .. import _core
from . import offering, rows as over
from .flow import NotShown
from .number import truth_of
from .plan import FEWEST_STEPS, planned
from .roots import Roots, Shared, Unit, key_of
from .trace import Trace
from .values import has_number

Tensor = _core.Tensor
_MOST_PLANS = 64
_MOST_REFUSALS = 16  # in a row, after which a loop is not offered any more
_VERBOSE = not {"compile", "all"}.isdisjoint(os.environ.get("SORUS_VERBOSE", "").split(","))


class Refused:
    """A loop that stays as it is, for these types."""

    def __init__(self, reason):
        self.reason = reason


class Runtime:
    """The runtime of a function whose loops are offered."""

    is_tensor = staticmethod(lambda value: isinstance(value, Tensor))

    def __init__(self, offered, original, strict, branches):
        self._unit = Unit(offered, original)
        self._strict, self._branches = strict, branches
        self._fewest = 1 if strict else FEWEST_STEPS
        self._name = f"{original.__code__.co_filename}:{{}} in {original.__name__}"
        self._plans = [{} for _ in offered.sites]
        self._refusals = [0] * len(offered.sites)

    def tries(self, number):
        """How often a loop may be offered to the program now."""
        if self._refusals[number] >= _MOST_REFUSALS or not _core.in_boundary() or _core.in_gradient_scope():
            return 0
        return 0 if sys.gettrace() else 2  # a debugger wants to see the steps

    def version(self, function):
        """A function that is called, with its loops offered."""
        return offering(function, self._strict, self._branches)

    def attempts(self, number, rows):
        """The same for a loop over these."""
        if type(rows) is not over.Rows:
            return 0
        return 2 if rows.lazy or rows.left(0) >= self._fewest else 0

    def rows(self, number, name, function, *values):
        """What a loop iterates over."""
        if not self.tries(number):
            return values[0] if function is None else function(*values)
        if function is range and len(values) == 1 and type(values[0]) is int and values[0] < self._fewest:
            return range(values[0])
        made = over.offered(name, function, values)
        if name is None and type(made) is not over.Rows:
            self._refusals[number] += 1  # something of Python's, as it will be the next time
        return made

    def loop(self, number, state, bases, rows, current):
        """The results of a loop that became part of the program, or None."""
        if rows is not None and not rows.lazy and rows.left(current) < self._fewest:
            return None
        site = self._unit.sites[number]
        try:
            roots = Roots(self._unit, site, bases)
            keys, complete = roots.key()
            kinds = []
            for value in state:
                key, whole = key_of(value)
                kinds.append(type(value) if type(value) in (int, float, bool) else key)
                complete = complete and whole
            steps = None if rows is None else (rows.part.key(), rows.lazy)
            key = (_core.is_abstract(), _core.scope_hash(), tuple(kinds), keys, steps)
            plan = self._plans[number].get(key)
        except (NotShown, TypeError, AttributeError) as reason:
            return self._declined(site, reason)
        if type(plan) is Refused:
            return self._declined(site, plan.reason)
        try:
            if plan is None:
                plan = self._recorded(site, state, roots, rows, current, key, complete)
            known = not _core.is_abstract()
            if not known and any(
                has_number(d) and n in site.outs
                for n, d in zip((*site.state, *site.late), (*plan.states, *plan.found))
            ):
                raise NotShown("a number of Python's is used after it")
            results = plan.run(state, roots, rows, current, known)
            self._refusals[number] = 0
            return results
        except Exception as reason:
            self._keep(number, key, Refused(str(reason)))  # without its frames, which hold tensors
            return self._declined(site, reason)

    def _recorded(self, site, state, roots, rows, current, key, complete):
        shared = Shared(self._strict)
        plan = planned(Trace(self._unit, shared), site, state, roots, rows, current, lifted=True)
        if complete and shared.cacheable:
            self._keep(site.number, key, plan)
        return plan

    def _keep(self, number, key, plan):
        plans = self._plans[number]
        if len(plans) >= _MOST_PLANS:
            plans.clear()
        plans[key] = plan

    def _declined(self, site, reason):
        self._refusals[site.number] += 1
        if self._strict:
            raise TypeError(
                f"jit: a loop cannot become part of the program: got a loop in which {reason}, need one that "
                f"only computes (at {self._name.format(site.line)})"
            ) from (reason if isinstance(reason, Exception) and not isinstance(reason, NotShown) else None)
        if _VERBOSE and self._refusals[site.number] == 1:
            where = self._name.format(site.line)
            print(f"[sorus info] graph: a loop runs by steps: {reason} (at {where})", file=sys.stderr)
        return None

    def choice(self, number, value, state, bases):
        """The results of an `if` where values have no numbers, or None."""
        if not isinstance(value, Tensor) or not _core.is_abstract() or _core.in_gradient_scope():
            return None
        site = self._unit.sites[number]
        try:
            roots = Roots(self._unit, site, bases)
            roots.check()
            trace = Trace(self._unit, Shared(self._strict))
            yes, no = (self._unit.regions[name] for name in (site.body, site.otherwise))
            inside = roots.inside(None)
            return trace.cond(
                truth_of(value), lambda: yes(trace, *state, inside), lambda: no(trace, *state, inside), True
            )
        except Exception as reason:
            return self._declined(site, reason)


def check_strict(function, offered):
    """Raises TypeError where a loop of a function that must be part of the program cannot be, by its text."""
    refused = [(function.__code__.co_firstlineno, offered)] if isinstance(offered, str) else offered.refused
    for line, reason in refused:
        raise TypeError(
            f"jit: a loop cannot become part of the program: got a loop in which {reason}, need one that "
            f"only computes (at {function.__code__.co_filename}:{line} in {function.__name__})"
        )
