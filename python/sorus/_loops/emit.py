"""Writes functions anew with their loops offered to the runtime: `run.py` decides at each run whether a loop
becomes part of the program. The loop as it was written stands beside, for when it does not.

What a loop computes is written once more as a function of its own, a *region*: names that the loop binds and
that matter before or after are its parameters and results, and what it reads from outside (`self.w`,
`ops.tanh`) is handed to it as *roots*, a value for each chain of names. A region does nothing that the
runtime has not looked at: calls, attributes, items and branches go through it.
"""

import ast
import copy

from . import flow, shown
from .flow import NotShown

RUNTIME = "__sorus__"


class Site:
    """A loop or an `if`, as the runtime needs to know it."""

    def __init__(self, number, line):
        self.number, self.line = number, line
        self.state, self.late, self.outs = (), (), ()
        self.bases, self.roots, self.indexed = (), (), ()
        self.broken = self.has_target = False
        self.functions = {}  # name within the module -> function, filled in when it is compiled
        self.test = self.body = self.otherwise = None


class _Region:
    """What is inside one region: the names it binds, and its roots."""

    def __init__(self, names):
        self.names = names
        self.roots = {}  # (base, attributes) -> [number, is it only called]
        self.rows = {}  # (chain, axis) -> number

    def root(self, base, attributes, called):
        entry = self.roots.setdefault((base, attributes), [len(self.roots), True])
        entry[1] = entry[1] and called
        return f"__r{entry[0]}"


def _at(node, where):
    for inner in ast.walk(node):
        if isinstance(inner, (ast.expr, ast.stmt)) and not hasattr(inner, "lineno"):
            ast.copy_location(inner, where)
    return node


def _name(text, store=False):
    return ast.Name(text, ast.Store() if store else ast.Load())


def _method(name, *arguments):
    return ast.Call(ast.Attribute(_name(RUNTIME), name, ast.Load()), list(arguments), [])


def _names(texts, store=False):
    return ast.Tuple([_name(t, store) for t in texts], ast.Store() if store else ast.Load())


def _thunk(expression):
    none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(none, expression)


def _chain(node):
    """(base, attributes) of `a.b.c`, or None."""
    attributes = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, tuple(reversed(attributes))) if isinstance(node, ast.Name) else None


class _Instrument(ast.NodeTransformer):
    """An expression of a region: everything that might do more than compute goes through the runtime."""

    def __init__(self, region, target=None):
        self._region, self._target = region, target

    def _outside(self, node, called=False):
        chain = _chain(node)
        if chain is None or chain[0] in self._region.names or chain[0].startswith("__"):
            return None
        return _at(_name(self._region.root(*chain, called)), node)

    def visit_Name(self, node):
        return self._outside(node) or node if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node):
        found = self._outside(node)
        return found or _at(_method("attr", self.visit(node.value), ast.Constant(node.attr)), node)

    def visit_Call(self, node):
        function = self._outside(node.func, True) or self.visit(node.func)
        made = ast.Call(_method("call", function), [self.visit(a) for a in node.args], [])
        made.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        for k in made.keywords:
            k.value = k.value if k.arg else _method("spread", k.value)
        return _at(made, node)

    def visit_Starred(self, node):
        return _at(ast.Starred(_method("spread", self.visit(node.value)), node.ctx), node)

    def visit_Subscript(self, node):
        row = self._row(node)
        if row is not None:
            return row
        return _at(_method("item", self.visit(node.value), self._key(node.slice)), node)

    def _key(self, key):
        """Slices become calls, as a method is given them."""
        if isinstance(key, ast.Slice):
            parts = [self.visit(p) if p else ast.Constant(None) for p in (key.lower, key.upper, key.step)]
            return _method("slice", *parts)
        if isinstance(key, ast.Tuple):
            return ast.Tuple([self._key(item) for item in key.elts], ast.Load())
        return self.visit(key)

    def _row(self, node):
        """`x[i]` or `x[:, i]` of a tensor from outside at the number that a loop counts."""
        chain = _chain(node.value)
        if self._target is None or chain is None or chain[0] in self._region.names:
            return None
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        axis = len(keys) - 1
        counted = isinstance(keys[axis], ast.Name) and keys[axis].id == self._target
        if not counted or not all(
            isinstance(k, ast.Slice) and not (k.lower or k.upper or k.step) for k in keys[:-1]
        ):
            return None
        number = self._region.rows.setdefault((chain, axis), len(self._region.rows))
        return _at(_name(f"__x{number}"), node)

    def test(self, node):
        """An expression of which only the truth matters."""
        if isinstance(node, ast.BoolOp):
            made = self.test(node.values[-1])
            for value in reversed(node.values[:-1]):
                how = "all_true" if isinstance(node.op, ast.And) else "any_true"
                made = _method(how, self.test(value), _thunk(made))
            return _at(made, node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _at(_method("negate", self.test(node.operand)), node)
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return self._chained(node, "all_true")
        return self.visit(node)

    def visit_BoolOp(self, node):
        made = self.visit(node.values[-1])
        for value in reversed(node.values[:-1]):
            how = "both" if isinstance(node.op, ast.And) else "either"
            made = _method(how, self.visit(value), _thunk(made))
        return _at(made, node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return _at(_method("negate", self.test(node.operand)), node)
        return self.generic_visit(node)

    def visit_Compare(self, node):
        return self.generic_visit(node) if len(node.ops) == 1 else self._chained(node, "both")

    def _chained(self, node, how):
        left = node.left
        pairs = []
        for op, right in zip(node.ops, node.comparators):
            pairs.append(ast.Compare(left, [op], [right]))
            left = copy.deepcopy(right)
        made = self.generic_visit(pairs[-1])
        for pair in reversed(pairs[:-1]):
            made = _method(how, self.generic_visit(pair), _thunk(made))
        return _at(made, node)

    def visit_IfExp(self, node):
        parts = _thunk(self.visit(node.body)), _thunk(self.visit(node.orelse))
        return _at(_method("choose", self.test(node.test), *parts), node)


class Writer:
    """The statements of one function with its loops offered, and the regions of them."""

    def __init__(self, function_name, local, bound, trusting, branches):
        self._name, self._local, self._bound = function_name, local, bound
        self._trusting, self._branches = trusting, branches
        self.sites, self.regions, self.refused = [], [], []

    # ------------------------------------------------------------------------------------------ at the top

    def function(self, body, liveness, bound, fixed):
        """The body of the user's function. `fixed` are names that loops must not bind."""
        self._fixed = fixed
        return self._block(body, _Flow(liveness, bound), None)

    def _block(self, statements, known, region, target=None):
        out = []
        for node in statements:
            out.extend(self._statement(node, known, region, target))
        return out

    def _statement(self, node, known, region, target):
        if region is None:
            return self._plain(node, known)
        if isinstance(node, ast.If):
            return self._branch(node, known, region, target)
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, known, region, target)
        return self._simple(node, region, target)

    def _plain(self, node, known):
        """A statement of the user's function: it stays, and loops in it are offered."""
        if isinstance(node, (ast.While, ast.For)):
            mark = len(self.sites), len(self.regions)
            try:
                return self._loop(node, known, None)
            except NotShown as reason:
                del self.sites[mark[0] :], self.regions[mark[1] :]
                self.refused.append((node.lineno, str(reason)))
        elif isinstance(node, ast.If) and self._branches:
            mark = len(self.sites), len(self.regions)
            try:
                return self._branch_at_top(node, known)
            except NotShown as reason:
                del self.sites[mark[0] :], self.regions[mark[1] :]
                self.refused.append((node.lineno, str(reason)))
        return [self._with_plain_blocks(node, known)]

    def _with_plain_blocks(self, node, known):
        made = copy.copy(node)
        for part in ("body", "orelse", "finalbody"):
            block = getattr(node, part, None)
            if isinstance(block, list) and block and not isinstance(node, flow._SCOPES):
                setattr(made, part, self._block(block, known, None))
        if isinstance(node, ast.Try):
            made.handlers = [self._with_plain_blocks(h, known) for h in node.handlers]
        return made

    def _simple(self, node, region, target):
        made = copy.copy(node)
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                return [ast.copy_location(ast.Pass(), node)]
            made = ast.copy_location(ast.Assign([node.target], node.value), node)
        if getattr(made, "value", None) is not None:
            made.value = _Instrument(region, target).visit(copy.deepcopy(made.value))
        if isinstance(made, ast.Assign) and not all(isinstance(t, ast.Name) for t in made.targets):
            made.value = _at(_method("spread", made.value), node)
        if isinstance(made, ast.AugAssign):
            return [_at(ast.Expr(_method("updated", _name(node.target.id))), node), made]
        return [made]

    # ------------------------------------------------------------------------------------------------- sites

    def _site(self, node):
        site = Site(len(self.sites), node.lineno)
        self.sites.append(site)
        return site

    def _define(self, site, what, parameters, body, region, at):
        """A region as a function of the module: its roots are its last parameters."""
        name = f"__{what}{site.number}"
        setattr(site, what, name)
        self.regions.append((name, parameters, body, region, at))

    def _bases(self, site, region, outer, known_bound):
        """How the roots of a region are found where its loop stands: bases are values handed over there."""
        bases, roots = {}, []
        for (base, attributes), (_, called) in region.roots.items():
            roots.append((*self._base(base, attributes, outer, known_bound, bases), called))
        indexed = []
        for (chain, axis), _ in sorted(region.rows.items(), key=lambda entry: entry[1]):
            indexed.append((*self._base(*chain, outer, known_bound, bases), axis))
        site.bases, site.roots, site.indexed = tuple(bases), tuple(roots), tuple(indexed)

    def _base(self, base, attributes, outer, bound, bases):
        """(number of the base or name of a global, attributes)"""
        if outer is not None and base not in outer.names and not base.startswith("__"):
            base, attributes = outer.root(base, attributes, False), ()
        elif outer is None and base not in self._local:
            return base, attributes
        elif base in self._local and base not in bound and outer is None:
            raise NotShown(f"'{base}' may have no value before it")
        return bases.setdefault(base, len(bases)), attributes

    def _offer(self, site, method, *more):
        arguments = [ast.Constant(site.number), _names(site.state), _names(site.bases), *more]
        return _method(method, *arguments)

    # ------------------------------------------------------------------------------------------------- loops

    def _loop(self, node, known, outer, target_outside=None):
        shown.check_statements([node], self._trusting)
        is_for = isinstance(node, ast.For)
        bound_here = known.bound.get(node, frozenset())
        if bound_here is None:
            raise NotShown("it is never reached")
        inside = flow.stored([node])
        if outer is None and inside & self._fixed:
            raise NotShown(
                f"'{min(inside & self._fixed)}' is shared with a function inside or updated in place"
            )
        target = flow.stored([node.target]) if is_for else set()
        live_after, live_within = known.liveness.after[node], known.liveness.within[node]
        site = self._site(node)
        site.broken = flow.leaves(node.body)
        carried = inside & live_within
        kept = inside & live_after
        state = carried | (kept & bound_here)
        late = kept - state
        missing = (state - bound_here) | (set() if is_for else late)
        if missing:
            raise NotShown(f"'{min(missing)}' may have no value before it")
        flag = f"__b{site.number}"
        site.state, site.late = tuple(sorted(state)), tuple(sorted(late))
        site.outs = tuple(sorted(kept))
        region = _Region(inside | {flag})
        self._write_regions(site, node, region, flag, target)
        self._bases(site, region, outer, bound_here)
        if outer is None or not site.broken:
            plain = self._block(node.body, known, outer, target_outside)
        else:  # branches of a region are functions, which cannot leave a loop
            plain = [ast.Expr(_method("decline", ast.Constant(site.number)))]
        return self._both_ways(site, node, plain, outer)

    def _write_regions(self, site, node, region, flag, target):
        is_for = isinstance(node, ast.For)
        statements = flow.folded(node.body, flag) if site.broken else node.body
        counts = is_for and self._counts(node)
        name = node.target.id if counts else None
        results = [*site.state, *site.late, *([flag] if site.broken else [])]
        live = flow.Liveness(statements, results)
        start = set(site.state) | target | {flag}
        known = _Flow(live, flow.Bound(statements, start))
        body = self._block(statements, known, region, name)
        body.append(_at(ast.Return(_names(results)), node))
        if site.broken:
            body.insert(0, _at(ast.Assign([_name(flag, True)], ast.Constant(False)), node))
        parameters = [*site.state]
        if is_for:
            site.has_target = True
            body.insert(0, _at(ast.Assign([copy.deepcopy(node.target)], _name("__element")), node))
            parameters.append("__element")
        else:
            test = _Instrument(region).test(copy.deepcopy(node.test))
            returned = [_at(ast.Return(test), node)]
            self._define(site, "test", [*site.state], returned, region, node)
        self._define(site, "body", parameters, body, region, node)

    @staticmethod
    def _counts(node):
        """True for `for i in range(...)` whose body does not bind `i`."""
        over = node.iter
        is_range = isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"
        return is_range and isinstance(node.target, ast.Name) and node.target.id not in flow.stored(node.body)

    def _both_ways(self, site, node, plain, outer):
        """The loop offered to the runtime, and as it was written where that declines."""
        n = site.number
        left, result, value, rows = f"__n{n}", f"__o{n}", f"__v{n}", f"__i{n}"
        none = ast.Constant(None)
        taken = ast.Compare(_name(result), [ast.IsNot()], [none])
        stop = ast.If(taken, [ast.Break()], [])
        count = ast.AugAssign(_name(left, True), ast.Sub(), ast.Constant(1))
        out = []
        if isinstance(node, ast.For):
            over = self._iterable(node.iter, outer, n)
            out.append(ast.Assign([_name(rows, True)], over))
            out.append(ast.Assign([_name(left, True)], _method("attempts", ast.Constant(n), _name(rows))))
            first = self._offer(site, "loop", _name(rows), ast.Constant(0))
            out.append(ast.Assign([_name(result, True)], ast.IfExp(_name(left), first, none)))
            second = self._offer(site, "loop", _name(rows), ast.Constant(1))
            offer = ast.If(
                ast.Compare(_name(left), [ast.Eq()], [ast.Constant(1)]),
                [
                    ast.Assign([_name(left, True)], ast.Constant(0)),
                    ast.Assign([_name(result, True)], second),
                    stop,
                ],
                [ast.Assign([_name(left, True)], ast.Constant(1))],
            )
            again = ast.If(_name(left), [offer], [])
            loop = ast.copy_location(ast.For(node.target, _name(rows), [again, *plain], []), node)
            out.append(ast.If(ast.Compare(_name(result), [ast.Is()], [none]), [loop], []))
            clear = [rows, result]
        else:
            test = node.test if outer is None else _Instrument(outer).test(copy.deepcopy(node.test))
            offered = ast.Assign([_name(result, True)], self._offer(site, "loop", none, ast.Constant(0)))
            tensor = _method("is_tensor", _name(value))
            if self._reads(node.test):  # evaluating the test would read a value
                begin = [
                    ast.If(_name(left), [count, offered, stop], []),
                    ast.Assign([_name(value, True)], test),
                ]
            else:
                wanted = ast.BoolOp(ast.And(), [_name(left), tensor])
                begin = [ast.Assign([_name(value, True)], test), ast.If(wanted, [count, offered, stop], [])]
            ends = ast.If(ast.UnaryOp(ast.Not(), _name(value)), [ast.Break()], [])
            out.append(ast.Assign([_name(left, True)], _method("tries", ast.Constant(n))))
            out.append(ast.Assign([_name(result, True)], none))
            out.append(ast.copy_location(ast.While(ast.Constant(True), [*begin, ends, *plain], []), node))
            clear = [value, result]
        if site.outs:
            out.append(ast.If(taken, [ast.Assign([_names(site.outs, True)], _name(result))], []))
        out.append(ast.Assign([_name(c, True) for c in clear], none))
        return [_at(statement, node) for statement in out]

    @staticmethod
    def _reads(test):
        """True when Python looks at a value while it evaluates the test."""
        return any(
            isinstance(n, (ast.BoolOp, ast.IfExp))
            or (isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not))
            or (isinstance(n, ast.Compare) and len(n.ops) > 1)
            for n in ast.walk(test)
        ) or isinstance(test, ast.Constant)

    def _iterable(self, node, outer, number):
        """What a loop iterates over; `range`, `zip` and `enumerate` become calls of the runtime."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            name = node.func.id
            plain = not any(isinstance(a, ast.Starred) for a in node.args)
            if name in ("range", "zip", "enumerate") and name not in self._local and plain:
                function = _name(name)
                if outer is not None:
                    function = _name(outer.root(name, (), True))
                inside = [self._argument(a, outer, name, number) for a in node.args]
                return _at(_method("rows", ast.Constant(number), ast.Constant(name), function, *inside), node)
        if outer is not None:
            node = _Instrument(outer).visit(copy.deepcopy(node))
        return _at(_method("rows", ast.Constant(number), ast.Constant(None), ast.Constant(None), node), node)

    def _argument(self, node, outer, name, number):
        if name == "range":
            return node if outer is None else _Instrument(outer).visit(copy.deepcopy(node))
        return self._iterable(node, outer, number)

    # ---------------------------------------------------------------------------------------------- branches

    def _write_branches(self, node, known, region, target):
        """The site of an `if` and its test; its branches become functions."""
        bound = known.bound[node]
        site = self._site(node)
        inside = flow.stored(node.body) | flow.stored(node.orelse)
        site.outs = tuple(sorted(inside & known.liveness.after[node]))
        site.state = tuple(sorted((flow.loaded([node]) | set(site.outs)) & region.names & bound))
        for what, block in (("body", node.body), ("otherwise", node.orelse)):
            body = self._block(block, known, region, target)
            ends = flow.Bound(block, bound).end or frozenset()
            results = [_name(o) if o in ends else _method("maybe", _thunk(_name(o))) for o in site.outs]
            body.append(_at(ast.Return(ast.Tuple(results, ast.Load())), node))
            self._define(site, what, [*site.state], body, region, node)
        return site, _Instrument(region, target).test(copy.deepcopy(node.test))

    def _branch(self, node, known, region, target):
        """An `if` of a region: two functions, of which the runtime runs one or makes a `cond`."""
        if known.bound.get(node) is None:
            return []
        site, test = self._write_branches(node, known, region, target)
        chosen = _method("branch", ast.Constant(site.number), test, _names(site.state), _name("__roots__"))
        if not site.outs:
            return [_at(ast.Expr(chosen), node)]
        return [_at(ast.Assign([_names(site.outs, True)], chosen), node)]

    def _branch_at_top(self, node, known):
        """An `if` of the user's function, which becomes a `cond` where values have no numbers."""
        shown.check_statements([node], self._trusting)
        bound, inside = known.bound.get(node), flow.stored([node])
        if flow.leaves([node]):
            raise NotShown("it leaves a loop")
        if bound is None or inside & self._fixed:
            raise NotShown("it binds what is shared with a function inside or updated in place")
        region = _Region(inside)
        site, _ = self._write_branches(node, known, region, None)
        self._bases(site, region, None, bound)
        value, result = f"__v{site.number}", f"__o{site.number}"
        offered = _method(
            "choice", ast.Constant(site.number), _name(value), _names(site.state), _names(site.bases)
        )
        plain = self._with_plain_blocks(node, known)
        ends = [ast.Assign([_names(site.outs, True)], _name(result))] if site.outs else [ast.Pass()]
        again = ast.copy_location(ast.If(_name(value), plain.body, plain.orelse), node)
        out = [
            ast.Assign([_name(value, True)], node.test),
            ast.Assign([_name(result, True)], offered),
            ast.If(ast.Compare(_name(result), [ast.IsNot()], [ast.Constant(None)]), ends, [again]),
            ast.Assign([_name(value, True), _name(result, True)], ast.Constant(None)),
        ]
        return [_at(s, node) for s in out]

    # ------------------------------------------------------------------------------------- whole functions

    def called(self, function):
        """A function that regions call, as one region: what it uses from outside is its roots."""
        shown.check_statements(function.body, self._trusting, returning=True)
        result = "__result"
        local = flow.stored(function.body) | set(_parameters(function.args))
        statements = flow.folded(function.body, result) or [ast.copy_location(ast.Pass(), function.body[0])]
        region = _Region(local | {result})
        self._fixed = frozenset()
        live = flow.Liveness(statements, {result})
        known = _Flow(live, flow.Bound(statements, {*_parameters(function.args), result}))
        body = self._block(statements, known, region)
        body.insert(0, _at(ast.Assign([_name(result, True)], ast.Constant(None)), function.body[0]))
        body.append(_at(ast.Return(_name(result)), function.body[-1]))
        return body, region

    def module_functions(self):
        """The regions as functions of a module."""
        made = []
        for name, parameters, body, region, at in self.regions:
            arguments = [ast.arg(p) for p in (RUNTIME, *parameters, "__roots__")]
            made.append(_at(_define(name, arguments, [*unpacked(region), *body]), at))
        return made


def unpacked(region):
    """The statement that names the roots of a region."""
    names = [*(f"__x{n}" for n in range(len(region.rows))), *(f"__r{n}" for n in range(len(region.roots)))]
    return [ast.Assign([_names(names, True)], _name("__roots__"))] if names else []


def _define(name, arguments, body):
    taken = ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.FunctionDef(name=name, args=taken, body=body, decorator_list=[], type_params=[])


def _parameters(arguments):
    found = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return found + [a.arg for a in (arguments.vararg, arguments.kwarg) if a]


class Reach(ast.NodeTransformer):
    """Calls of functions whose loops are offered, by chains of names, call those."""

    def __init__(self, chains):
        self._chains = chains
        self.found = False

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Call(self, node):
        self.generic_visit(node)
        chain = _chain(node.func)
        if chain and (chain[0], *chain[1]) in self._chains:
            self.found = True
            node.func = _at(_method("version", node.func), node)
        return node


class _Flow:
    """What is known of names around the statements at hand."""

    def __init__(self, liveness, bound):
        self.liveness, self.bound = liveness, bound.before
