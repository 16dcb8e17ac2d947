"""What statements do with names: which they bind and read, which are bound before a statement and which are
read after it; and loops without `break` and `continue`.
"""

import ast
import copy

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MOST_STATEMENTS = 200


class NotShown(Exception):
    """A loop is left as it is; the text says why."""


def walk(nodes):
    """All nodes of the scope of these, without those of functions and classes inside."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def stored(nodes):
    """The names that are bound or deleted."""
    found = set()
    for node in walk(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
    return found


def loaded(nodes):
    """The names that are read, inner scopes included."""
    found = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
    return found


def captured(nodes):
    """The names that functions, classes and generator expressions inside read or bind."""
    found = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, (*_SCOPES, ast.GeneratorExp)):
                found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return found


def _test_of(node):
    return [node.iter] if isinstance(node, ast.For) else [node.test]


class Liveness:
    """`after[node]`: the names that may be read after an if or a loop ends; `within[node]`: those that may be
    read when a step of a loop begins, before its target is bound.
    """

    def __init__(self, statements, at_end, always=frozenset()):
        self.after, self.within = {}, {}
        self.before = self._block(statements, frozenset(at_end) | always, None, None, frozenset(always))

    def _block(self, statements, out, on_break, on_continue, always):
        for statement in reversed(statements):
            out = self._statement(statement, out, on_break, on_continue, always) | always
        return out

    def _statement(self, node, out, on_break, on_continue, always):
        if isinstance(node, (ast.Return, ast.Raise)):
            return frozenset(loaded([node]))
        if isinstance(node, ast.Break):
            return on_break
        if isinstance(node, ast.Continue):
            return on_continue
        if isinstance(node, ast.If):
            self.after[node] = out
            branches = [self._block(b, out, on_break, on_continue, always) for b in (node.body, node.orelse)]
            return branches[0] | branches[1] | loaded([node.test])
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, out, on_break, on_continue, always)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)):
            return self._simple(node, out)
        inside = always | loaded([node])
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            for block in self._blocks(getattr(node, part, [])):
                self._block(
                    block, out | inside, (on_break or out) | inside, (on_continue or out) | inside, inside
                )
        return out | inside

    @staticmethod
    def _blocks(part):
        if part and isinstance(part[0], (ast.ExceptHandler, ast.match_case)):
            return [inner.body for inner in part]
        return [part] if part and isinstance(part[0], ast.stmt) else []

    @staticmethod
    def _simple(node, out):
        bound = set()
        for target in getattr(node, "targets", None) or [getattr(node, "target", None)]:
            if target is not None and getattr(node, "value", None) is not None:
                bound |= {
                    n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                }
        read = loaded([node])
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read = read | {node.target.id}
        return (out - bound) | read

    def _loop(self, node, out, on_break, on_continue, always):
        self.after[node] = out
        ended = self._block(node.orelse, out, on_break, on_continue, always)
        test = frozenset() if isinstance(node, ast.For) else frozenset(loaded([node.test]))
        target = stored([node.target]) if isinstance(node, ast.For) else set()
        top = ended | test
        for _ in range(3):  # until nothing is added; nested loops need a round each
            top = top | (self._block(node.body, top, out, top, always) - target)
        self.within[node] = test | (self._block(node.body, top, out, top, always) - target)
        return top | loaded(_test_of(node))


class Bound:
    """`before[node]`: the names that are surely bound where an if or a loop begins."""

    def __init__(self, statements, at_start):
        self.before = {}
        self.end = self._block(statements, frozenset(at_start))

    def _block(self, statements, bound):
        for statement in statements:
            if bound is None:
                return None
            bound = self._statement(statement, bound)
        return bound

    def _statement(self, node, bound):
        """The names bound after it, None where nothing comes after."""
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return None
        if isinstance(node, ast.If):
            self.before[node] = bound
            ends = [self._block(b, bound) for b in (node.body, node.orelse)]
            return ends[0] & ends[1] if None not in ends else ends[0] if ends[1] is None else ends[1]
        if isinstance(node, (ast.While, ast.For)):
            self.before[node] = bound
            target = stored([node.target]) if isinstance(node, ast.For) else set()
            self._block(node.body, bound | target)
            self._block(node.orelse, bound)
            return bound
        if isinstance(node, ast.Delete):
            return bound - stored([node])
        if isinstance(
            node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.FunctionDef, ast.Import, ast.ImportFrom)
        ):
            return bound | self._surely(node)
        for part in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, part, None), list):
                self._block(getattr(node, part), bound)
        return bound - {n for inner in walk([node]) if isinstance(inner, ast.Delete) for n in stored([inner])}

    @staticmethod
    def _surely(node):
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return set()
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return stored(targets)
        return stored([node])


# ------------------------------------------------------------------------------- without break and continue


def leaves(statements, kinds=(ast.Break, ast.Continue)):
    """True when a statement here breaks or continues the loop around."""
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, kinds):
            return True
        if isinstance(node, (ast.While, ast.For)):
            continue  # its own
        if isinstance(node, ast.stmt):
            waiting.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
    return False


def _set(name, value, at):
    target = ast.copy_location(ast.Name(name, ast.Store()), at)
    return ast.copy_location(ast.Assign([target], ast.copy_location(value, at)), at)


def folded(statements, broken, rest=(), count=None):
    """The statements of a loop's body without `break` and `continue`, or of a function with one `return` at
    the end: what comes after an `if` that leaves is moved into the branches that do not. `broken` is the name
    that `break` sets to True, and `return` to what it returns.
    """
    count = count if count is not None else [0]
    out = []
    for index, node in enumerate(statements):
        count[0] += 1
        if count[0] > _MOST_STATEMENTS:
            raise NotShown("it has too many ways through its body")
        if isinstance(node, ast.Break):
            return [*out, _set(broken, ast.Constant(True), node)]
        if isinstance(node, ast.Return):
            return [*out, _set(broken, node.value or ast.Constant(None), node)]
        if isinstance(node, ast.Continue):
            return out
        if isinstance(node, ast.If) and leaves([node], (ast.Break, ast.Continue, ast.Return)):
            after = [*statements[index + 1 :], *rest]
            made = ast.copy_location(ast.If(node.test, [], []), node)
            made.body = folded(node.body, broken, after, count) or [ast.copy_location(ast.Pass(), node)]
            made.orelse = folded(node.orelse, broken, copy.deepcopy(after), count)
            return [*out, made]
        out.append(node)
    if rest:
        out.extend(folded(list(rest), broken, (), count))
    return out
