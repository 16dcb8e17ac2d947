"""Random functions with loops and branches over tensors and numbers, as text that only a seed decides."""

import random

HEAD = """import numpy as np
from sorus import Tensor, ops

W = Tensor(np.array([0.9, -0.5, 0.25], np.float32))
K = 2


def chosen(v, k=1):
    if v.sum() > 2:
        return v * 0.5
    return v + k


def f(a, b, m, X):
    c = a + b
    i, j, n, s, flag, row = 1, 0, 3, 0.5, False, X[0]
"""
TAIL = "    return a, b, c, i, j, n, s, flag, row\n"


class Writer:
    """Statements of one function. `a`, `b` and `c` are tensors, `i`, `j`, `n` ints, `s` a float, `flag` a
    bool, `m` a tensor that bounds loops, `X` one with rows.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = self.depth = 0

    def tensor(self):
        """An expression that gives a tensor."""
        pick, name = self.random.choice, self.random.choice("abc")
        return pick(
            [
                name,
                f"({name} * 0.75 + {pick('abc')} * 0.125)",
                f"ops.tanh({name})",
                f"({name} - W)",
                f"chosen({name})",
                f"chosen({name}, k={pick('012')})",
                f"({name} + {self.integer()})",
                f"({name} * {pick(['0.5', '1.5', '-0.5', 'K'])})",
                f"ops.clamp({name}, -3.0, 3.0)",
                f"({name} if {self.test()} else {pick('abc')} * 0.5)",
                f"{name}.abs()",
                f"(1 / ({name} * {name} + 1))",
            ]
        )

    def integer(self):
        """An expression that gives an int."""
        return self.random.choice(["i", "j", "n", "i + 1", "j * 2", "n - i", "-j", "2"])

    def test(self):
        """A condition."""
        pick, name = self.random.choice, self.random.choice("abc")
        made = pick(
            [
                f"{name}.sum() > {pick(['0', '1.5', 'i', 's'])}",
                f"{name}.max() < {pick(['2', 'n', '0.5'])}",
                f"i > {pick('0123')}",
                "j < n",
                "flag",
                "not flag",
                "(a > b).any()",
                f"0 < {name}.sum() < 2",
                "s < 2",
            ]
        )
        if self.random.random() < 0.25:
            made = f"({made} {pick(['and', 'or'])} {self.test()})"
        return made

    def block(self, indent, within, count=None):
        """Some statements."""
        lines = []
        for _ in range(count or self.random.randrange(1, 4)):
            lines += self.statement("    " * indent, indent, within)
        return lines

    def statement(self, p, indent, within):
        """One statement, in a loop or not."""
        pick, kind = self.random.choice, self.random.randrange(20)
        simple = [f"{p}{pick('abc')} = {self.tensor()}"]
        if kind == 8:
            return [f"{p}j {pick('+-')}= {pick('12')}"]
        if kind == 9:
            return [f"{p}n = n + 1"]
        if kind == 10:
            return [f"{p}s = {pick(['s * 0.5', 's + 0.25', 'i * 0.5', 's - j'])}"]
        if kind == 11:
            return [f"{p}flag = {pick(['True', 'False', 'not flag', 'i > 2'])}"]
        if kind == 12:
            return [f"{p}d = {self.tensor()}", f"{p}c = d * 0.5"]
        if kind == 13 and within:
            return [f"{p}if {self.test()}:", f"{p}    {pick(['break', 'continue'])}"]
        if 13 < kind < 17:
            leave = [f"{p}    {pick(['break', 'continue'])}"] if within and kind == 14 else []
            lines = [f"{p}if {self.test()}:", *self.block(indent + 1, within, 1), *leave]
            return lines + [f"{p}else:", *self.block(indent + 1, within, 1)] * pick([0, 1])
        if kind > 16 and self.depth < 2:
            return self.loop(indent)
        return simple if kind % 2 else [f"{p}a, b = {self.tensor()}, {self.tensor()}"]

    def loop(self, indent):
        """A loop that ends."""
        p, pick = "    " * indent, self.random.choice
        self.depth += 1
        self.loops += 1
        count, body = f"g{self.loops}", self.block(indent + 1, True)
        self.depth -= 1
        bounds = pick(["9", "12", "3", "m", "m", "2, 14, 3", "10, 0, -1"])
        return pick(
            [
                [f"{p}for i in range({bounds}):", *body],
                [f"{p}for i, row in enumerate(X):", f"{p}    a = a * 0.5 + row", *body],
                [f"{p}for i in range(9):", f"{p}    b = b * 0.5 + X[i]", *body],
                [f"{p}for row in X:", *body, f"{p}    b = b - row"],
                [
                    f"{p}{count} = 0",
                    f"{p}while {self.test()} and {count} < 11:",
                    f"{p}    {count} += 1",
                    *body,
                ],
                [
                    f"{p}{count} = a.sum() * 0",
                    f"{p}while {count} < m:",
                    f"{p}    {count} = {count} + 1",
                    *body,
                ],
            ]
        )


def source(seed):
    """The text of a module with a function `f(a, b, m, X)`."""
    writer = Writer(seed)
    lines = writer.block(1, False, 1) + writer.loop(1) + writer.loop(1) * (seed % 2)
    return HEAD + "\n".join(lines) + "\n" + TAIL
