"""The networks in Sorus, and in the genuine MindSpore, which has the same interface: the environment variable
BENCH_FRAMEWORK names the package."""

from __future__ import annotations

import importlib
import os

import numpy as np
from models.cases import (
    BERT,
    BLOCK,
    CLASSES,
    EFFICIENT_STAGES,
    FIRST_POSITION,
    GPT,
    IMAGE,
    LAST_POSITION,
    LENET_SIZE,
    LOOP,
    MLP_WIDTHS,
    MOBILE_HEAD,
    MOBILE_STAGES,
    MOBILE_STEM,
    RECURRENT,
    RESNET18_STAGES,
    RESNET50_STAGES,
    SEQUENCES,
    SQUEEZE,
    Case,
)

ms = importlib.import_module(os.environ.get("BENCH_FRAMEWORK", "sorus"))
nn, ops = ms.nn, ms.ops


def numbers(*shape: int, scale: float = 1.0, seed: int = 0) -> ms.Tensor:
    return ms.Tensor((scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32))


def integers(limit: int, *shape: int) -> ms.Tensor:
    return ms.Tensor(np.random.default_rng(1).integers(0, limit, shape).astype(np.int32))


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1, group: int = 1) -> nn.Cell:
    return nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, group=group)


def normed(inputs: int, outputs: int, kernel: int, stride: int = 1, group: int = 1, then=None) -> nn.Cell:
    """A convolution, batch norm and an activation."""
    cells = [convolution(inputs, outputs, kernel, stride, group), nn.BatchNorm2d(outputs)]
    return nn.SequentialCell(*cells, *([then()] if then else []))


class Residual(nn.Cell):
    """Convolutions beside a shortcut: two 3x3 or, if deep, a 3x3 between two 1x1."""

    def __init__(self, inputs: int, width: int, stride: int, deep: bool):
        super().__init__()
        outputs = 4 * width if deep else width
        if deep:
            body = [normed(inputs, width, 1, then=nn.ReLU), normed(width, width, 3, stride, then=nn.ReLU)]
            body.append(normed(width, outputs, 1))
        else:
            body = [normed(inputs, width, 3, stride, then=nn.ReLU), normed(width, outputs, 3)]
        self.body, self.relu = nn.SequentialCell(*body), nn.ReLU()
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = normed(inputs, outputs, 1, stride)

    def construct(self, x):
        return self.relu(self.body(x) + (x if self.shortcut is None else self.shortcut(x)))


class ResNet(nn.Cell):
    def __init__(self, stages: tuple, deep: bool):
        super().__init__()
        pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.stem = nn.SequentialCell(normed(3, 64, 7, 2, then=nn.ReLU), pool)
        blocks, inputs = [], 64
        for width, count, stride in stages:
            for i in range(count):
                blocks.append(Residual(inputs, width, stride if i == 0 else 1, deep))
                inputs = 4 * width if deep else width
        self.body, self.head = nn.SequentialCell(*blocks), nn.Dense(inputs, CLASSES)

    def construct(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


def resnet18() -> nn.Cell:
    return ResNet(RESNET18_STAGES, False)


def resnet50() -> nn.Cell:
    return ResNet(RESNET50_STAGES, True)


class Squeeze(nn.Cell):
    """Scales channels by what a small perceptron makes of their means."""

    def __init__(self, channels: int, middle: int):
        super().__init__()
        self.down = nn.Conv2d(channels, middle, 1, has_bias=True)
        self.up = nn.Conv2d(middle, channels, 1, has_bias=True)
        self.silu, self.sigmoid = nn.SiLU(), nn.Sigmoid()

    def construct(self, x):
        return x * self.sigmoid(self.up(self.silu(self.down(x.mean((2, 3), keep_dims=True)))))


class Inverted(nn.Cell):
    """An inverted residual block: widens, convolves each channel, narrows."""

    def __init__(self, inputs, outputs, expansion, kernel, stride, then, squeezes):
        super().__init__()
        middle = expansion * inputs
        body = [normed(inputs, middle, 1, then=then)] if expansion > 1 else []
        body.append(normed(middle, middle, kernel, stride, middle, then))
        if squeezes:
            body.append(Squeeze(middle, max(1, inputs // SQUEEZE)))
        self.body = nn.SequentialCell(*body, normed(middle, outputs, 1))
        self.adds = stride == 1 and inputs == outputs

    def construct(self, x):
        y = self.body(x)
        return x + y if self.adds else y


class Mobile(nn.Cell):
    def __init__(self, stages: tuple, then, squeezes: bool):
        super().__init__()
        cells, inputs = [normed(3, MOBILE_STEM, 3, 2, then=then)], MOBILE_STEM
        for expansion, outputs, count, stride, kernel in stages:
            for i in range(count):
                step = stride if i == 0 else 1
                cells.append(Inverted(inputs, outputs, expansion, kernel, step, then, squeezes))
                inputs = outputs
        self.body = nn.SequentialCell(*cells, normed(inputs, MOBILE_HEAD, 1, then=then))
        self.head = nn.Dense(MOBILE_HEAD, CLASSES)

    def construct(self, x):
        return self.head(self.body(x).mean((2, 3)))


def mobilenetv2() -> nn.Cell:
    return Mobile(MOBILE_STAGES, nn.ReLU6, False)


def efficientnet_b0() -> nn.Cell:
    return Mobile(EFFICIENT_STAGES, nn.SiLU, True)


class LeNet5(nn.Cell):
    """The LeNet-5 of the tutorials: valid 5x5 convolutions on 32x32, ReLU and max pooling."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def mlp() -> nn.Cell:
    layers = []
    for inputs, outputs in zip(MLP_WIDTHS, MLP_WIDTHS[1:], strict=False):
        layers += [nn.Dense(inputs, outputs), nn.ReLU()]
    return nn.SequentialCell(*layers[:-1])


class Attention(nn.Cell):
    """Heads of attention, causal if asked; `step` sees one position and keeps keys and values."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0, causal: int = 0):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.dropout = nn.Dropout(p=dropout) if dropout else None
        self.mask = None
        if causal:
            later = np.triu(np.full((causal, causal), -1e9, np.float32), 1)
            self.mask = ms.Tensor(later)
            room = np.zeros((LAST_POSITION, width), np.float32)
            self.keys = ms.Parameter(ms.Tensor(room), name="keys", requires_grad=False)
            self.values = ms.Parameter(ms.Tensor(room), name="values", requires_grad=False)

    def split(self, x):
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def construct(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) * self.scale
        if self.mask is not None:
            scores = scores + self.mask
        weights = ops.softmax(scores, -1)
        if self.dropout is not None:
            weights = self.dropout(weights)
        return self.out(ops.matmul(weights, v).transpose(0, 2, 1, 3).reshape(x.shape))

    def step(self, x, position, mask):
        """x: (1, width); position: (1,); mask: (places,), added to the scores."""
        heads = (-1, self.heads, x.shape[-1] // self.heads)
        keys = ops.scatter_update(self.keys, position, self.key(x)).reshape(heads)
        values = ops.scatter_update(self.values, position, self.value(x)).reshape(heads)
        q = self.query(x).reshape(heads).transpose(1, 0, 2)
        weights = ops.softmax(ops.matmul(q, keys.transpose(1, 2, 0)) * self.scale + mask, -1)
        return self.out(ops.matmul(weights, values.transpose(1, 0, 2)).reshape(x.shape))


class Perceptron(nn.Cell):
    def __init__(self, width: int, approximate: bool):
        super().__init__()
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.gelu = nn.GELU(approximate=approximate)

    def construct(self, x):
        return self.down(self.gelu(self.up(x)))


class EncoderLayer(nn.Cell):
    """Attention and a perceptron, each followed by a norm, as in BERT."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.attention, self.perceptron = Attention(width, heads, dropout), Perceptron(width, False)
        self.dropout = nn.Dropout(p=dropout) if dropout else None

    def dropped(self, x):
        return x if self.dropout is None else self.dropout(x)

    def construct(self, x):
        x = self.norm1(x + self.dropped(self.attention(x)))
        return self.norm2(x + self.dropped(self.perceptron(x)))


class DecoderLayer(nn.Cell):
    """A norm before attention and one before a perceptron, as in GPT."""

    def __init__(self, width: int, heads: int, causal: int = 0, approximate: bool = False):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.attention = Attention(width, heads, causal=causal)
        self.perceptron = Perceptron(width, approximate)

    def construct(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.perceptron(self.norm2(x))

    def step(self, x, position, mask):
        x = x + self.attention.step(self.norm1(x), position, mask)
        return x + self.perceptron(self.norm2(x))


class Classifier(nn.Cell):
    """One decoder layer and a classifier over the mean of positions."""

    def __init__(self):
        super().__init__()
        self.layer = DecoderLayer(BLOCK["width"], BLOCK["heads"])
        self.head = nn.Dense(BLOCK["width"], BLOCK["classes"])

    def construct(self, x):
        return self.head(self.layer(x).mean(1))


def bert(dropout: float = 0.0) -> nn.Cell:
    """One layer of BERT-base."""
    return EncoderLayer(BERT["width"], BERT["heads"], dropout)


class Bert(nn.Cell):
    """All of BERT-base with a classifier of two classes, for a vocabulary of 1,000."""

    def __init__(self, layers: int = 12):
        super().__init__()
        width = BERT["width"]
        self.words = nn.Embedding(1000, width)
        self.places = ms.Parameter(ms.Tensor(np.zeros((1, 128, width), np.float32)), name="places")
        self.norm = nn.LayerNorm((width,))
        self.layers = nn.CellList([bert() for _ in range(layers)])
        self.head = nn.Dense(width, 2)

    def construct(self, ids):
        x = self.norm(self.words(ids) + self.places[:, : ids.shape[1]])
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0])


class GPT2(nn.Cell):
    """Its output layer is its table of words."""

    def __init__(self):
        super().__init__()
        width = GPT["width"]
        self.words = ms.Parameter(numbers(GPT["words"], width, scale=0.02), name="words")
        self.places = ms.Parameter(numbers(GPT["places"], width, scale=0.02), name="places")
        layers = [DecoderLayer(width, GPT["heads"], GPT["length"], True) for _ in range(GPT["layers"])]
        self.layers, self.norm = nn.CellList(layers), nn.LayerNorm((width,))

    def construct(self, ids):
        x = ops.gather(self.words, ids, 0) + self.places[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x).reshape(-1, x.shape[-1])
        return ops.matmul(x, self.words.transpose(1, 0))


class Generator(nn.Cell):
    """The most likely word after one more word; keys and values of earlier ones are in the layers."""

    def __init__(self):
        super().__init__()
        self.gpt = GPT2()
        self.places = ms.Tensor(np.arange(LAST_POSITION, dtype=np.int32))

    def construct(self, word, position):
        gpt = self.gpt
        x = ops.gather(gpt.words, word, 0) + ops.gather(gpt.places, position, 0)
        mask = (self.places > position).astype(ms.float32) * -1e9
        for layer in gpt.layers:
            x = layer.step(x, position, mask)
        return ops.matmul(gpt.norm(x), gpt.words.transpose(1, 0)).argmax(-1).astype(ms.int32)


class LSTMLoop(nn.Cell):
    """One LSTM cell written out, stepped through time by a Python loop."""

    def __init__(self):
        super().__init__()
        self.inputs = nn.Dense(LOOP["inputs"], 4 * LOOP["hidden"])
        self.hidden = nn.Dense(LOOP["hidden"], 4 * LOOP["hidden"])
        self.head = nn.Dense(LOOP["hidden"], LOOP["classes"])

    def construct(self, x):
        h = c = ops.zeros((x.shape[0], LOOP["hidden"]), ms.float32)
        for t in range(x.shape[1]):
            i, f, g, o = ops.split(self.inputs(x[:, t]) + self.hidden(h), LOOP["hidden"], 1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
            h = ops.sigmoid(o) * ops.tanh(c)
        return self.head(h)


class Recurrent(nn.Cell):
    """The outputs of all steps of a recurrent layer."""

    def __init__(self, layer: type):
        super().__init__()
        self.layer = layer(RECURRENT["inputs"], RECURRENT["hidden"], batch_first=True)

    def construct(self, x):
        return self.layer(x)[0]


NETWORKS = {
    "lenet": LeNet5,
    "mlp": mlp,
    "block": Classifier,
    "loop": LSTMLoop,
    "resnet18": resnet18,
    "resnet50": resnet50,
    "mobilenetv2": mobilenetv2,
    "efficientnet_b0": efficientnet_b0,
    "bert": bert,
    "gpt2": GPT2,
    "lstm": lambda: Recurrent(nn.LSTM),
    "gru": lambda: Recurrent(nn.GRU),
}


def example(model: str, batch: int) -> tuple[ms.Tensor, ms.Tensor]:
    """Inputs of a network and labels."""
    if model == "lenet":
        return numbers(batch, 1, LENET_SIZE, LENET_SIZE), integers(10, batch)
    if model == "mlp":
        return numbers(batch, MLP_WIDTHS[0]), integers(MLP_WIDTHS[-1], batch)
    if model == "gpt2":
        return integers(GPT["words"], batch, GPT["length"]), integers(GPT["words"], batch * GPT["length"])
    if model in SEQUENCES:
        length, width, classes = SEQUENCES[model]
        return numbers(batch, length, width), integers(classes, batch)
    return numbers(batch, 3, IMAGE, IMAGE), integers(CLASSES, batch)


def train_step(network: nn.Cell, x: ms.Tensor, y: ms.Tensor, adam: bool):
    """A step of momentum or of Adam; cross-entropy of integer labels."""
    weights = network.trainable_params()
    optimizer = nn.AdamWeightDecay(weights, 1e-4) if adam else nn.Momentum(weights, 0.01, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    return lambda: step(x, y).asnumpy()


def gradient_step(network: nn.Cell, x: ms.Tensor, graph: bool):
    """Gradients of everything for a given gradient of the output."""
    network.set_train()
    seed = numbers(*network(x).shape, seed=2)
    weights = ms.ParameterTuple(network.trainable_params())

    def weighed(x):
        return (network(x) * seed).sum()

    gradients = ms.value_and_grad(weighed, 0, weights)
    step = ms.jit(gradients) if graph else gradients

    def run():
        loss, (_, of_weights) = step(x)
        for gradient in of_weights:
            if gradient.ndim == 1:  # waits for all; the large ones need not be copied
                gradient.asnumpy()
        return loss.asnumpy()

    return run


def forward_step(network: nn.Cell, x: ms.Tensor, bf16: bool, graph: bool):
    """Inference; in graph mode replayed without Python, as the peers' compiled programs are."""
    network.set_train(False)
    if bf16:
        network, x = ms.amp.auto_mixed_precision(network, "O3", ms.bfloat16), x.astype(ms.bfloat16)
    run = ms.jit(pure=True)(lambda x: network(x).astype(ms.float32)) if graph else network
    return lambda: run(x).astype(ms.float32).asnumpy()


def token_step():
    """Each call makes a token at the next position, from the token of the last call."""
    generator = Generator()
    generator.set_train(False)
    positions = [ms.Tensor(np.array([i], np.int32)) for i in range(LAST_POSITION)]
    word, at = ms.Tensor(np.array([1], np.int32)), FIRST_POSITION

    def run():
        nonlocal word, at
        word = generator(word, positions[at])
        at = at + 1 if at + 1 < LAST_POSITION else FIRST_POSITION
        return word.asnumpy()

    return run


def prepare(case: Case, variant: str):
    """What runs a case once; the variant is "eager" or "graph"."""
    ms.set_context(mode=ms.GRAPH_MODE if variant == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(0)
    if case.how == "token":
        return token_step()
    network = bert(case.dropout) if case.model == "bert" else NETWORKS[case.model]()
    x, y = example(case.model, case.batch)
    if case.how == "train":
        return train_step(network, x, y, case.model == "gpt2")
    if case.how == "gradient":
        return gradient_step(network, x, variant == "graph")
    return forward_step(network, x, case.dtype == "bf16", variant == "graph")
