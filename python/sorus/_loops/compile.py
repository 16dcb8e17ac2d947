"""From a function's source to its code with loops offered: found, checked against the code that runs,
analysed, written anew and compiled, once for each code object.
"""

import ast
import copy
import functools
import inspect
import linecache
import types

from . import emit, flow, shown
from .flow import NotShown

_HIDDEN = ("locals", "vars", "eval", "exec", "globals", "dir", "super")


def definition(function):
    """The function's definition, whose lines are those of its file. Raises NotShown where the source is not
    at hand or is another than that which runs.
    """
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NotShown("it is a generator or a coroutine")
    nodes, codes = _file(code.co_filename, code.co_flags & _FUTURE)
    place = code.co_name, code.co_firstlineno
    if place not in nodes:
        raise NotShown("its source is not at hand")
    if not any(_same(code, other) for other in codes.get(place, ())):
        raise NotShown("its source has changed")
    node = copy.deepcopy(nodes[place])
    # Their lines count in the code's table of lines; the code around the function is never run.
    node.decorator_list = [ast.copy_location(ast.Constant(None), d) for d in node.decorator_list]
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    node.returns = None
    node.args.defaults = [ast.copy_location(ast.Constant(None), node) for _ in node.args.defaults]
    node.args.kw_defaults = [d and ast.copy_location(ast.Constant(None), node) for d in node.args.kw_defaults]
    return node


@functools.lru_cache(8)
def _file(name, flags):
    """The definitions of functions in a file, and the code that they have, by name and first line."""
    text = "".join(linecache.getlines(name))
    try:
        tree = ast.parse(text)
        module = compile(tree, name, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise NotShown("its source is not at hand") from error
    nodes, codes, waiting = {}, {}, [module]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            nodes[node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node
    while waiting:
        code = waiting.pop()
        codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        waiting.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
    return nodes, codes


def compiled(functions, code, free):
    """A module's code with these functions in one that has the free names as parameters."""
    arguments = ast.arguments([], [ast.arg(n) for n in free], kwonlyargs=[], kw_defaults=[], defaults=[])
    outer = ast.FunctionDef(
        name="__outer", args=arguments, body=list(functions), decorator_list=[], type_params=[]
    )
    module = ast.Module([outer], [])
    ast.fix_missing_locations(module)
    flags = code.co_flags & _FUTURE
    return compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)


_FUTURE = 0
for _name in __import__("__future__").all_feature_names:
    _FUTURE |= getattr(__import__("__future__"), _name).compiler_flag


def _code_in(module, name):
    outer = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    return next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def _same(a, b):
    """Two code objects do the same, on the same lines."""
    parts = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_linetable")
    if any(getattr(a, p) != getattr(b, p) for p in parts) or len(a.co_consts) != len(b.co_consts):
        return False
    for x, y in zip(a.co_consts, b.co_consts):
        if isinstance(x, types.CodeType) != isinstance(y, types.CodeType):
            return False
        if not isinstance(x, types.CodeType) and repr(x) != repr(y):
            return False
    return True


def _check_names(node):
    for inner in ast.walk(node):
        name = getattr(inner, "id", None) or getattr(inner, "attr", None) or getattr(inner, "arg", None)
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
            raise NotShown("it uses private names")
        if isinstance(inner, ast.Name) and inner.id in _HIDDEN[:-1]:
            raise NotShown(f"it uses '{inner.id}'")


class Offered:
    """The code of a function with its loops offered, and what the runtime needs to know of them."""

    code = None  # where there is nothing to offer

    def __init__(self, function, trusting, branches, reached=frozenset()):
        node = definition(function)
        _check_names(node)
        code = function.__code__
        shared = {
            n
            for inner in flow.walk(node.body)
            if isinstance(inner, (ast.Global, ast.Nonlocal))
            for n in inner.names
        }
        captured = flow.captured(node.body)
        local = (
            flow.stored(node.body) | set(code.co_varnames) | set(code.co_cellvars) | set(code.co_freevars)
        ) - shared
        bound = set(emit._parameters(node.args)) | set(code.co_freevars)
        fixed = shared | captured | shown.written_in_place(node)
        liveness = flow.Liveness(node.body, (), frozenset(captured))
        self.writer = emit.Writer(node.name, local, bound, trusting, branches)
        body = self.writer.function(node.body, liveness, flow.Bound(node.body, bound), fixed)
        self.refused = self.writer.refused
        self.sites = self.writer.sites
        outer = {chain for chain in reached if len(chain) > 1 or chain[0] not in local}
        reach = emit.Reach(outer)
        body = [reach.visit(statement) for statement in body]
        if not self.sites and not reach.found:
            return
        made = copy.copy(node)
        made.body = body
        free = (*code.co_freevars, emit.RUNTIME)
        module = compiled([made, *self.writer.module_functions()], code, free)
        self.code = _code_in(module, node.name).replace(co_qualname=code.co_qualname)
        self.regions = {
            name: _code_in(module, name).replace(co_name=code.co_name) for name, *_ in self.writer.regions
        }

    def function(self, original, runtime):
        """The function with the globals, defaults and closure of the original."""
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
        cells[emit.RUNTIME] = types.CellType(runtime)
        closure = tuple(cells[name] for name in self.code.co_freevars)
        made = types.FunctionType(
            self.code, original.__globals__, original.__name__, original.__defaults__, closure
        )
        made.__kwdefaults__ = original.__kwdefaults__
        made.__dict__.update(original.__dict__)
        for name in ("__doc__", "__module__", "__qualname__", "__annotations__"):
            setattr(made, name, getattr(original, name))
        return made

    def region(self, name, original):
        """The function of a region."""
        return types.FunctionType(self.regions[name], original.__globals__)


class Called:
    """The code of a function that regions call, as one region."""

    def __init__(self, function, trusting):
        node = definition(function)
        _check_names(node)
        if any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(node)):
            raise NotShown("a function that it calls binds names of others")
        code = function.__code__
        self.writer = emit.Writer(node.name, set(), set(), trusting, False)
        body, region = self.writer.called(node)
        made = copy.copy(node)
        made.body = [emit._at(s, node) for s in emit.unpacked(region)] + body
        made.args = copy.deepcopy(node.args)
        for name in (emit.RUNTIME, "__roots__"):
            made.args.kwonlyargs.append(ast.arg(name))
            made.args.kw_defaults.append(None)
        module = compiled([made, *self.writer.module_functions()], code, ())
        self.code = _code_in(module, node.name)
        self.regions = {
            name: _code_in(module, name).replace(co_name=code.co_name) for name, *_ in self.writer.regions
        }
        self.sites = self.writer.sites
        self.roots = tuple(
            (base, attributes, called) for (base, attributes), (_, called) in region.roots.items()
        )

    region = Offered.region
