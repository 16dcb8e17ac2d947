"""Loops of Python's that become part of the program: functions that boundaries run are written anew once,
with their loops offered to a runtime, which takes those that only compute (docs/control_flow.md).

What this file imports is needed at every import of the package; everything else comes with the first function
that has a loop.
"""

import opcode
import os
import threading
import types
import weakref

from .. import _core

_JUMPS_BACK = {code for name, code in opcode.opmap.items() if "JUMP_BACKWARD" in name}
_JUMPS = _JUMPS_BACK | {code for name, code in opcode.opmap.items() if "JUMP" in name and "IF" in name}
_versions = [weakref.WeakKeyDictionary() for _ in range(4)]
_offered = {}
_MOST_OFFERED = 4096
_writing = threading.RLock()  # one thread analyses
_under_way = set()  # functions that it analyses
_NONE = {}


class _NoOwner:
    """Stands for the class of what is no method."""


def _in_child():
    """A thread that analysed is not there after a fork."""
    global _writing
    _writing = threading.RLock()
    _under_way.clear()


os.register_at_fork(after_in_child=_in_child)


def _has(code, kinds):
    return not kinds.isdisjoint(code.co_code[::2])


def offering(function, strict=False, branches=False, owner=None):
    """The function with its loops offered to the runtime, and those of the functions that it calls by name or
    as methods of its object, whose class is `owner`; the function itself where there is nothing to offer.
    `strict`: loops must become part of the program, or TypeError says why not, and what they call is trusted.
    `branches`: an `if` is offered as well, for where values have no numbers.
    """
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        made = offering(function.__func__, strict, branches, type(function.__self__))
        return function if made is function.__func__ else types.MethodType(made, function.__self__)
    if not isinstance(function, types.FunctionType):
        return function
    versions = _versions[2 * strict + branches]
    kind = _NoOwner if owner is None else owner
    made = versions.get(function, _NONE).get(kind, _NONE)
    if made is _NONE:
        with _writing:
            mine = versions.get(function)
            if mine is None:
                # By weak keys, since a class keeps its functions alive.
                mine = versions[function] = weakref.WeakKeyDictionary()
            if kind not in mine:
                _under_way.add(function)
                try:
                    made = _written(function, strict, branches, owner)
                finally:
                    _under_way.discard(function)
                mine[kind] = made
            made = mine[kind]
    return made or function


def _written(function, strict, branches, owner):
    if _is_ours(function):
        return None
    reached = _reached(function, strict, branches, owner)
    if not reached and not _has(function.__code__, _JUMPS if branches else _JUMPS_BACK):
        return None
    from . import compile as source
    from . import run

    # Equal code of two files differs in what its errors show.
    key = (function.__code__, function.__code__.co_filename, strict, branches, reached)
    if key not in _offered:
        if len(_offered) >= _MOST_OFFERED:
            _offered.clear()
        try:
            _offered[key] = source.Offered(function, strict, branches, reached)
        except source.NotShown as reason:
            _offered[key] = str(reason)  # the exception itself would keep frames alive
    offered = _offered[key]
    if strict:
        run.check_strict(function, offered)
    if isinstance(offered, str) or offered.code is None:
        return None
    return offered.function(function, run.Runtime(offered, function, strict, branches))


def _is_ours(function):
    return (function.__module__ or "").split(".")[0] == "sorus"


def _reached(function, strict, branches, owner):
    """The chains of names by which a function calls others whose loops are offered."""
    code, found = function.__code__, set()
    for name in code.co_names:
        if _has_loops(function.__globals__.get(name), strict, branches, None):
            found.add((name,))
        if owner is not None and code.co_argcount:
            method = next((base.__dict__[name] for base in owner.__mro__ if name in base.__dict__), None)
            if _has_loops(method, strict, branches, owner):
                found.add((code.co_varnames[0], name))
    return frozenset(found)


def _has_loops(function, strict, branches, owner):
    if not isinstance(function, types.FunctionType) or function in _under_way or _is_ours(function):
        return False
    return offering(function, strict, branches, owner) is not function


def prepare(cell, branches=False):
    """Looks once at the classes of a cell and of those inside, before they are run as a boundary."""
    for _, part in cell.cells_and_names():
        kind = type(part)
        if kind not in _seen[branches]:
            _seen[branches].add(kind)
            made = offering(kind.construct, False, branches, kind)
            if made is not kind.construct:
                found = kind.__dict__.get("_with_loops")
                if found is None or found[0] is not kind.construct:
                    found = kind._with_loops = [kind.construct, None, None]
                found[1 + branches] = made


def prepare_reached(function, arguments=(), branches=False):
    """The same for the cells that a function uses: its arguments, globals and what it closes over."""
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    found = [*arguments, getattr(function, "__self__", None)]
    if code is not None:
        found += [function.__globals__.get(name) for name in code.co_names]
        for cell in function.__closure__ or ():
            try:
                found.append(cell.cell_contents)
            except ValueError:  # not bound yet
                continue
    for value in found:
        if hasattr(type(value), "cells_and_names"):
            prepare(value, branches)


def construct_of(cell):
    """What a cell of one of these classes computes in a boundary."""
    kind = type(cell)
    original, with_loops, with_branches = kind.__dict__.get("_with_loops") or (None, None, None)
    found = with_branches if with_branches is not None and _core.is_abstract() else with_loops
    if found is None or "construct" in cell.__dict__ or kind.construct is not original:
        return cell.construct
    return types.MethodType(found, cell)


_seen = (weakref.WeakSet(), weakref.WeakSet())
