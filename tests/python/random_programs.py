"""Random programs over much of the surface of the package, as Python source, for comparing modes.

A program is a function `f(x)` of a float32 tensor of SHAPE with local names `a0, a1, ...` of that shape, and
what lies outside of it: parameters, a network, lists, numbers, functions. `schedule` says what changes
between its calls.
"""

import random

SHAPE = (3, 4)

UNARY = [
    "ops.tanh({a})",
    "ops.sigmoid({a})",
    "ops.relu({a})",
    "ops.sin({a})",
    "ops.gelu({a})",
    "abs({a})",
    "-{a}",
    "ops.exp(-abs({a}))",
    "ops.sqrt(abs({a}) + 1)",
    "ops.log(abs({a}) + 1)",
    "ops.softmax({a}, {axis})",
    "ops.log_softmax({a})",
    "ops.cumsum({a}, {axis})",
    "ops.sort({a}, {axis})[0]",
    "ops.flip({a}, ({axis},))",
    "ops.roll({a}, 1, {axis})",
    "{a}.astype(ms.float16).astype(ms.float32)",
    "{a}.astype(ms.int32).astype(ms.float32)",
    "{a}.reshape(4, 3).T",
    "{a}.reshape(2, 6).reshape(3, 4)",
    "ops.transpose({a}, (1, 0)).reshape(3, 4)",
    "{a} - {a}.mean({axis}, keep_dims=True)",
    "{a} / (1 + abs({a}).max())",
    "ops.broadcast_to({a}.sum({axis}, keepdims=True), (3, 4))",
    "ops.clamp({a}, -1, k[0])",
    "ops.layer_norm({a}, (4,))",
    "{a} @ square * 0.25",
    "ops.concat([{a}[:, 2:], {a}[:, :2]], 1)",
    "ops.stack([{a}[0], {a}[2], {a}[1]])",
    "ops.split({a}, 2, 1)[0].repeat(2, 1)",
    "ops.tril({a}) + ops.triu({a}, 1)",
    "{a} * k[0] + len(kept)",
    "{a}[::-1] if k[0] == 99 else {a}[[0, 2, 1]]",
    "net({a})",
    "ops.where({a} > {b}, {a}, {b})",
    "helper({a})",
    "inner({a}, k[1])",
    "sum(part * n for n, part in enumerate([{a}, {b}]))",
    "ops.gather({a}, ops.arange(3), 0)",
    "ops.one_hot({a}[:, 0].astype(ms.int32), 4, Tensor(1.0), Tensor(0.0))",
    "{a}.copy()",
]
BINARY = [
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / (abs({b}) + 1)",
    "ops.maximum({a}, {b})",
    "ops.minimum({a}, {b})",
    "ops.atan2({a}, abs({b}) + 1)",
    "ops.addcmul({a}, {b}, {b}, Tensor(0.5))",
    "{a} @ {b}.T @ {a} * 0.1",
    "ops.einsum('ij,kj->ik', {a}, {b}) @ {a} * 0.1",
    "{a} + w * {b}",
    "{a} + {b}[1] - {b}[:, 1:2]",
    "ops.lerp({a}, {b}, 0.3)",
    "{a} * ({a} > {b})",
]
RANDOM = [
    "ops.dropout({a}, 0.4, True)",
    "{a} + ops.rand(3, 4)",
    "{a} * ops.randn((3, 4))",
    "{a} + ops.randint(0, 5, (3, 4)).astype(ms.float32)",
    "{a} * ops.bernoulli({a} * 0 + 0.5)",
]
GRADIENTS = [
    "ms.grad(lambda t: (t * {b} * ops.tanh(t)).sum())({a})",
    "ms.grad(lambda t: ms.grad(lambda u: (u * u * {b}).sum())(t).sum() * t.sum())({a})",
    "ms.value_and_grad(lambda t: (inner(t, 2) * w).sum(), 0)({a})[1]",
    "ms.grad(lambda t: net(t).sum())({a})",
    "ms.grad(lambda t: ops.gather(t, rows, 0).sum() * t.mean())({a})",
    "ms.grad(lambda t: ops.cross_entropy(t, labels))({a})",
    "ms.grad(lambda t: t[1].sum() * t[:, labels[0]].sum())({a})",
    "ms.grad(lambda t: t[[0, 2]].prod() + t.max())({a})",
    "ms.jvp(lambda t: ops.sin(t) * {b}, {a}, {b})[1]",
    "ms.vjp(lambda t: t * t, {a})[1]({b})",
]
# Statements that change handles in place.
WRITES = [
    "{a} += {b}",
    "{a} *= 0.5",
    "{a}[{i}] = {b}[{j}]",
    "{a}[{i}, 1:3] = k[0]",
    "{a}[:, 0] += 1",
    "{a}[{a} > 2] = 2.0",
    "{a}[[0, 2]] = {b}[[1, 1]]",
    "w.set_data(w * 0.5 + {a} * 0.1)",
    "ops.assign(w, {a})",
    "ops.assign_add(w, {b} * 0.1)",
    "w[{i}] = {a}[{j}]",
    "w += 0.25",
    "ops.scatter_add(w, rows, {a}[:2])",
    "kept.append({a})",
    "kept[:] = kept[-2:]",
    "notes.append({a}.shape)",
    "k[0] = k[0] + 1 if k[0] < 3 else 1",
]
# Statements that read values, or go one way or another.
CONTROL = [
    "if {a}.sum() > 0:\n    {n} = {a} * 2\nelse:\n    {n} = {b} - 1",
    "if float({a}[0, 0]) > 0.5:\n    notes.append('big')",
    "notes.append(round(float({a}.mean()), 3))",
    "{n} = {a}\nfor i in range(int(abs({a}[0, 1])) % 3):\n    {n} = {n} * 0.5 + i",
    "{n} = {a}\nwhile abs({n}).max() > 4:\n    {n} = {n} / 2",
    "print({a}[0], k)",
    "{n} = {a} + float(np.sin({b}.asnumpy()).sum())",
    "{n} = ops.stack([row * (i + 1) for i, row in enumerate({a})])",
    "if k[1] == 2:\n    {n} = {a} + 1\nelif k[1] == 3:\n    {n} = ops.tanh({b})\nelse:\n    {n} = {b}",
    "{n} = kept[-1] + {a} if kept and kept[-1].shape == {a}.shape else {a}",
    "{n} = {a} * int(ops.count_nonzero({b} > 0))",
    "{n} = {a} * ops.masked_select({b}, {b} > 0).sum()",
    "elsewhere(lambda: notes.append(round(float({a}.mean()), 3)))",
    "{n} = elsewhere(lambda: ops.tanh({a}) + {b})",
    "with_list = {a}.tolist()\n{n} = {b} + with_list[0][1]",
    "{n} = {a} + ops.unique(({b} * 2).astype(ms.int32))[0].astype(ms.float32).sum()",
]
# Statements in which an op may refuse its operands or their values; `{bad}` is sometimes out of range.
FAILING = [
    "{n} = ops.gather({a}, Tensor([0, {bad}, 1], ms.int32), 0)",
    "{n} = ops.gather({a}, ({b}[0, :3] * {bad}).astype(ms.int32), 0)",
    "{n} = {a} * ops.cross_entropy({a}, Tensor([0, {bad}, 1], ms.int32))",
    "{n} = {a} * ops.cross_entropy({a}, (abs({b}[:, 0]) * {bad}).astype(ms.int32))",
    "{n} = ops.gather_elements({a}, 1, Tensor([[0, {bad}], [1, 0], [2, 3]], ms.int32)).sum() + {a}",
    "{n} = ops.gather_nd({a}, Tensor([[0, {bad}], [{bad}, 0]], ms.int32)).sum() * {a}",
    "{n} = ops.tensor_scatter_add({a}, Tensor([[{bad}], [0]], ms.int32), {b}[:2])",
    "{n} = {a}[Tensor([0, {bad}, 2], ms.int32)]",
    "{n} = {a} + {b}[{bad}]",
    "{n} = {a}\n{n}[Tensor([{bad}], ms.int32)] = {b}[0]",
    "{n} = {a}.reshape({bad} + 2, 4)",
    "{n} = {a} @ {b}[:, :{bad}].T @ {b}[:3, :4]",
    "w.set_data(w + 1)\n{n} = {a} + ops.embedding(rows + {bad} - 1, {b}).sum()",
    "{n} = ms.grad(lambda t: ops.cross_entropy(t, rows3 * {bad}))({a})",
    "if k[0] == {bad}:\n    raise KeyError('asked for')\n{n} = {a}",
]


class Writer:
    """Writes one program from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["x"]
        self.lines = []

    def line(self, text, indent=0):
        self.lines += ["    " * (1 + indent) + part for part in text.split("\n")]

    def fill(self, template, target=None):
        pick = self.random.choice
        return template.format(
            a=pick(self.names[-4:]),
            b=pick(self.names),
            n=target,
            axis=pick((0, 1, -1)),
            i=pick((0, 1, -1)),
            j=pick((0, 2)),
            bad=pick((1, 1, 2, 2, 3, 9, "k[0]", "k[1]", "k[0] + 1")),
        )

    def new_name(self):
        return f"a{len(self.names)}"

    def expression(self):
        pool = self.random.choices((UNARY, BINARY, RANDOM, GRADIENTS), (8, 5, 1, 2))[0]
        name = self.new_name()
        self.line(f"{name} = {self.fill(self.random.choice(pool))}")
        self.names.append(name)

    def failing(self):
        name = self.new_name()
        text = self.fill(self.random.choice(FAILING), name)
        if self.random.random() < 0.8:
            self.line("try:")
            self.line(text, 1)
            self.line("except (IndexError, ValueError, KeyError) as error:")
            self.line("notes.append((type(error).__name__, str(error)))", 1)
            self.line(f"{name} = {self.random.choice(self.names)} + 0.5", 1)
            if self.random.random() < 0.3:
                self.line("finally:")
                self.line("k[1] = k[1] % 4 + 1", 1)
        else:
            self.line(text)
        self.names.append(name)

    def control(self):
        name = self.new_name()
        text = self.fill(self.random.choice(CONTROL), name)
        self.line(text)
        if f"{name} =" in text:
            self.names.append(name)

    def program(self, statements):
        self.line("global w")
        self.line("w.set_data(w * 1)")
        for _ in range(statements):
            kind = self.random.choices(("expression", "write", "control", "failing"), (10, 4, 3, 3))[0]
            if kind == "write":
                self.line(self.fill(self.random.choice(WRITES)))
            else:
                getattr(self, kind)()
        chosen = self.random.sample(self.names, min(3, len(self.names)))
        self.line(f"return {', '.join(chosen)}, w")
        return "def f(x):\n" + "\n".join(self.lines) + "\n"


def write(seed, statements=14):
    """Source of `f`."""
    return Writer(seed).program(statements)


def schedule(seed, calls):
    """What happens before each call: (name, value) pairs."""
    numbers = random.Random(seed * 7919 + 1)
    steps = []
    for _ in range(calls):
        change = numbers.choice((None, None, None, "scale", "k0", "k1", "train", "seed", "forget", "helper"))
        steps.append((change, numbers.choice((1, 2, 3))))
    return steps
