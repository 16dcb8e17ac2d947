"""Which loops are free of Python effects as far as their text shows; what they call is looked at when they
run.
"""

import ast

from .flow import NotShown, stored

_STATEMENTS = (
    ast.AnnAssign,
    ast.Assign,
    ast.AugAssign,
    ast.Break,
    ast.Continue,
    ast.For,
    ast.If,
    ast.Pass,
    ast.While,
)
_EXPRESSIONS = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.IfExp,
    ast.List,
    ast.Name,
    ast.Slice,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.keyword,
)
_WORDS = {
    ast.Return: "it returns",
    ast.Raise: "it raises",
    ast.Try: "it has a 'try'",
    ast.With: "it has a 'with'",
    ast.Yield: "it yields",
    ast.Delete: "it deletes",
    ast.Lambda: "it makes a function",
    ast.FunctionDef: "it makes a function",
    ast.Assert: "it asserts",
    ast.JoinedStr: "it formats text",
    ast.Import: "it imports",
    ast.ListComp: "it has a comprehension",
    ast.GeneratorExp: "it has a comprehension",
    ast.NamedExpr: "it assigns within an expression",
}


def _refuse(node, why=None):
    raise NotShown(why or _WORDS.get(type(node), f"it has a {type(node).__name__.lower()}"))


def _check_target(target):
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            _check_target(item)
    elif isinstance(target, ast.Attribute):
        _refuse(target, "it sets an attribute")
    elif isinstance(target, ast.Subscript):
        _refuse(target, "it sets an item")
    elif not isinstance(target, ast.Name):
        _refuse(target)


def check_expression(node):
    """Raises NotShown for an expression that may do more than compute."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.expr, ast.keyword)) and not isinstance(inner, _EXPRESSIONS):
            _refuse(inner)
        if isinstance(inner, ast.Compare) and _tells_objects_apart(inner):
            _refuse(inner, "it tells objects apart with 'is'")
        if isinstance(inner, ast.Compare) and len(inner.ops) > 1:
            for middle in inner.comparators[:-1]:
                if not isinstance(middle, (ast.Name, ast.Constant)):
                    _refuse(inner, "it has a chain of comparisons")


def _tells_objects_apart(compare):
    """True for `is` but with None: a region has other tensors than the caller, and no True or False of
    Python's where these vary.
    """
    sides = [compare.left, *compare.comparators]
    none = any(isinstance(side, ast.Constant) and side.value is None for side in sides)
    return not none and any(isinstance(op, (ast.Is, ast.IsNot)) for op in compare.ops)


def check_statements(statements, trusting=False, returning=False):
    """Raises NotShown for statements that may do more than compute and bind names. `trusting` takes calls as
    statements, `returning` a `return` outside of loops.
    """
    for node in statements:
        if returning and isinstance(node, ast.Return):
            if node.value is not None:
                check_expression(node.value)
            continue
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Constant):
                continue
            if not trusting:
                _refuse(node, "it calls something for its effect")
            check_expression(node.value)
            continue
        if not isinstance(node, _STATEMENTS):
            _refuse(node)
        if isinstance(node, (ast.While, ast.For)) and node.orelse:
            _refuse(node, "a loop has an 'else'")
        if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
            _check_target(node.target)
        for target in getattr(node, "targets", ()):
            _check_target(target)
        for value in (getattr(node, "value", None), getattr(node, "test", None), getattr(node, "iter", None)):
            if isinstance(value, ast.expr):
                check_expression(value)
        for block in (getattr(node, "body", ()), getattr(node, "orelse", ())):
            check_statements(block, trusting, returning and isinstance(node, ast.If))


def written_in_place(function):
    """The names whose items are set somewhere, or that have a method called with an underscore at its end or
    another that updates in place: for those it matters which of two equal tensors they are.
    """
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found |= _base(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if (name.endswith("_") and not name.endswith("__")) or name in ("set_data", "assign_value"):
                found |= _base(node.func.value)
            elif name.startswith("assign") and node.args:
                found |= _base(node.args[0])
        elif isinstance(node, ast.Delete):
            found |= stored([node])
    return found


def _base(node):
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
