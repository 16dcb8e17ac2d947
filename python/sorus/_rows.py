"""Rows: how public names are spelled over the functions of the library.

A row is one line of text, ``name(parameters) -> call``::

    sum(input, dim=None, keepdim=False, *, dtype=None) -> sum(cast_if(input, dtype), dim, keepdim)

Its left side is a Python parameter list with the public names and defaults, its right side a call of a
function of the library (or of a Python function of the module given), whose arguments are parameters,
constants
and further calls; ``call[0]`` selects one of several results. Arguments that are not given, or given as None,
take the function's own defaults. Several rows of one name are overloads, tried in order. What an argument
accepts
follows from the C++ function, so rows hold no types.

A line that starts with blanks continues the one before. Names are built when they are first asked for, so
that importing the package stays fast.
"""

from . import _core

_REQUIRED = object()
_CONSTANTS = dict(_core.dtypes)
_AST_ONLY = 0x400  # ast.PyCF_ONLY_AST, without importing ast


class Table:
    """Rows by name, from a block of text. `shared` names have the rows that the table `of` has for them; with
    `first` their first parameter is called so.
    """

    def __init__(self, text, module, helpers=None, shared="", of=None, first=None):
        self._lines = {}
        self._module = module
        self._helpers = helpers
        self._shared = dict.fromkeys(shared.split())
        self._of = of
        self._first = first
        for line in text.replace("\n    ", " ").splitlines():
            if line and line[0] != "#":
                self._lines.setdefault(line[: line.index("(")], []).append(line)

    def __contains__(self, name):
        return name in self._lines or name in self._shared

    def names(self):
        """All names, the shared ones first, in the order of the text."""
        return [*self._shared, *(name for name in self._lines if name not in self._shared)]

    def lines(self, name):
        """The rows of a name."""
        if name not in self._lines:
            lines = self._of.lines(name)
            self._lines[name] = [_renamed(line, self._first) for line in lines] if self._first else lines
        return self._lines[name]

    def build(self, name):
        """The function of that name."""
        return make(name, self.lines(name), self._module, self._helpers)


def _renamed(line, first):
    """A row whose first parameter is called `first`."""
    import re

    name, rest = line.split("(", 1)
    old = re.match(r"\w+", rest)[0]
    return name + "(" + re.sub(rf"\b{old}\b", first, rest)


def lazy(scope, table):
    """`__getattr__` and `__dir__` of a module that builds the names of a table when they are asked for."""

    def get(name):
        if name not in table:
            from ._near import unknown_name

            raise unknown_name(scope["__name__"], name, names())
        found = scope[name] = table.build(name)
        return found

    def names():
        return sorted({*scope, *table.names()})

    return get, names


def make(name, lines, module, helpers=None):
    """A function from its rows. Errors are told in its words, unless it is the library's own."""
    descriptions = []
    for line in lines:
        left, right = line.split(" -> ")
        descriptions.append(_describe(left, left[left.index("(") + 1 : left.rindex(")")], right, helpers))
    shown = [d[0] for d in descriptions]
    doc = _core.op_doc(name) or _words_of(descriptions[0][-1])
    text = "\n".join(shown) + ("\n\n" + doc if doc else "")
    return _core.make_op(name, module, text, descriptions, module != "sorus._functions")


def spellings_of(function):
    """The ways to call a function of rows, as they stand in its documentation."""
    return (function.__doc__ or "").split("\n\n")[0].splitlines()


def signature_of(function):
    """What inspect.signature says: the first way to call it."""
    return signatures_of(function)[0]


def signatures_of(function):
    """Those of all ways to call it."""
    import inspect

    return [
        inspect.signature(eval(f"lambda {text[text.index('(') + 1 : text.rindex(')')]}: 0", _CONSTANTS))  # noqa: S307
        for text in spellings_of(function)
    ]


def _words_of(call):
    """What the function of a call does; nothing for calls of calls, which no function's words describe, but
    for dtypes by name.
    """
    _, target, arguments, _ = call
    calls = [target for kind, target, *_ in arguments if kind == "call"]
    if any(getattr(inner, "__name__", "") != "named_dtype" for inner in calls):
        return ""
    return _core.op_doc(target) if isinstance(target, str) else target.__doc__ or ""


def _describe(text, parameters, call, helpers):
    code = eval(f"lambda {parameters}: 0", _CONSTANTS)  # noqa: S307: our own rows
    names, defaults, positional, variadic = _parameters(code)
    body = compile(call, "<row>", "eval", _AST_ONLY).body
    return (text, names, defaults, _REQUIRED, positional, variadic, _source(body, names, helpers))


def _parameters(function):
    """Names with positional ones first and a variadic one last among them, their defaults, counts."""
    code = function.__code__
    positional, keyword_only = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames[: positional + keyword_only])
    given = function.__defaults__ or ()
    defaults = [_REQUIRED] * (positional - len(given)) + list(given)
    keyword_defaults = function.__kwdefaults__ or {}
    defaults += [keyword_defaults.get(n, _REQUIRED) for n in names[positional:]]
    variadic = -1
    if code.co_flags & 0x04:
        variadic = positional
        names.insert(positional, code.co_varnames[positional + keyword_only])
        defaults.insert(positional, ())
        positional += 1
    return tuple(names), tuple(defaults), positional, variadic


def _source(node, names, helpers):
    kind = type(node).__name__
    if kind == "Name" and node.id in names:
        return ("parameter", names.index(node.id))
    if kind == "Subscript":
        call = _source(node.value, names, helpers)
        return call[:3] + (node.slice.value,)
    if kind == "Call":
        return _call(node, names, helpers)
    expression = compile(_expression(node), "<row>", "eval")
    return ("constant", eval(expression, _CONSTANTS))  # noqa: S307


def _expression(node):
    from _ast import Expression

    return Expression(node)


def _call(node, names, helpers):
    target = node.func.id
    given = [_source(a, names, helpers) for a in node.args]
    keywords = {k.arg: _source(k.value, names, helpers) for k in node.keywords}
    signature = _core.signature_of(target, _REQUIRED)
    if signature is None:
        if helpers is None or not hasattr(helpers, target):
            raise AttributeError(f"row: no function: got '{target}', need one of the library")
        return ("call", getattr(helpers, target), tuple(given), -1)
    parameters, defaults, _ = signature
    for name, default in list(zip(parameters, defaults))[len(given) :]:
        if name in keywords:
            given.append(keywords.pop(name))
        else:
            given.append(("constant", default))
    if keywords:
        raise TypeError(f"row: unknown keyword: got {list(keywords)} for {target}, need one of {parameters}")
    return ("call", target, tuple(given), -1)
