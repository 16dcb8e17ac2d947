"""The networks in PyTorch. Runs in the peer's environment (bench/peers/torch-python)."""

from __future__ import annotations

import torch
from models.cases import (
    BERT,
    BLOCK,
    CASES,
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
from torch import nn
from torch.nn import functional


def normed(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, then=None) -> nn.Module:
    """A convolution, batch norm and an activation."""
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)]
    layers.append(nn.BatchNorm2d(outputs))
    return nn.Sequential(*layers, *([then(inplace=True)] if then else []))


class Residual(nn.Module):
    """As torchvision writes it: ReLU and the sum in place."""

    def __init__(self, inputs: int, width: int, stride: int, deep: bool):
        super().__init__()
        outputs = 4 * width if deep else width
        if deep:
            body = [normed(inputs, width, 1, then=nn.ReLU), normed(width, width, 3, stride, then=nn.ReLU)]
            body.append(normed(width, outputs, 1))
        else:
            body = [normed(inputs, width, 3, stride, then=nn.ReLU), normed(width, outputs, 3)]
        self.body, self.relu = nn.Sequential(*body), nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = normed(inputs, outputs, 1, stride)

    def forward(self, x):
        y = self.body(x)
        y += x if self.shortcut is None else self.shortcut(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self, stages: tuple, deep: bool):
        super().__init__()
        self.stem = nn.Sequential(normed(3, 64, 7, 2, then=nn.ReLU), nn.MaxPool2d(3, 2, 1))
        blocks, inputs = [], 64
        for width, count, stride in stages:
            for i in range(count):
                blocks.append(Residual(inputs, width, stride if i == 0 else 1, deep))
                inputs = 4 * width if deep else width
        self.body, self.head = nn.Sequential(*blocks), nn.Linear(inputs, CLASSES)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


class Squeeze(nn.Module):
    """Scales channels by what a small perceptron makes of their means."""

    def __init__(self, channels: int, middle: int):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, middle, 1), nn.Conv2d(middle, channels, 1)

    def forward(self, x):
        scale = functional.silu(self.down(functional.adaptive_avg_pool2d(x, 1)), inplace=True)
        return x * torch.sigmoid(self.up(scale))


class Inverted(nn.Module):
    """An inverted residual block: widens, convolves each channel, narrows."""

    def __init__(self, inputs, outputs, expansion, kernel, stride, then, squeezes):
        super().__init__()
        middle = expansion * inputs
        body = [normed(inputs, middle, 1, then=then)] if expansion > 1 else []
        body.append(normed(middle, middle, kernel, stride, middle, then))
        if squeezes:
            body.append(Squeeze(middle, max(1, inputs // SQUEEZE)))
        self.body = nn.Sequential(*body, normed(middle, outputs, 1))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.body(x)
        return x + y if self.adds else y


class Mobile(nn.Module):
    def __init__(self, stages: tuple, then, squeezes: bool):
        super().__init__()
        layers, inputs = [normed(3, MOBILE_STEM, 3, 2, then=then)], MOBILE_STEM
        for expansion, outputs, count, stride, kernel in stages:
            for i in range(count):
                step = stride if i == 0 else 1
                layers.append(Inverted(inputs, outputs, expansion, kernel, step, then, squeezes))
                inputs = outputs
        self.body = nn.Sequential(*layers, normed(inputs, MOBILE_HEAD, 1, then=then))
        self.head = nn.Linear(MOBILE_HEAD, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def mlp() -> nn.Module:
    layers = []
    for inputs, outputs in zip(MLP_WIDTHS, MLP_WIDTHS[1:], strict=False):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Attention(nn.Module):
    """Heads of attention, causal if asked; `step` sees one position and is given earlier keys and values."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0, causal: int = 0):
        super().__init__()
        self.heads, self.scale, self.dropout = heads, (width // heads) ** -0.5, dropout
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        later = torch.full((causal, causal), -1e9).triu(1) if causal else None
        self.register_buffer("mask", later, persistent=False)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.transpose(2, 3) * self.scale
        if self.mask is not None:
            scores = scores + self.mask
        weights = scores.softmax(-1)
        if self.dropout:
            weights = functional.dropout(weights, self.dropout, self.training)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))

    def step(self, x, past):
        """x: (1, 1, width); past: (2, places, width), or a pair of tensors with room for one more place."""
        keys, values = past.append(self.key(x)[0], self.value(x)[0])
        q, k, v = self.split(self.query(x)), self.split(keys[None]), self.split(values[None])
        weights = (q @ k.transpose(2, 3) * self.scale).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))


class Perceptron(nn.Module):
    def __init__(self, width: int, approximate: str):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.approximate = approximate

    def forward(self, x):
        return self.down(functional.gelu(self.up(x), approximate=self.approximate))


class EncoderLayer(nn.Module):
    """Attention and a perceptron, each followed by a norm, as in BERT."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.perceptron = Attention(width, heads, dropout), Perceptron(width, "none")
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = self.norm1(x + self.dropout(self.attention(x)))
        return self.norm2(x + self.dropout(self.perceptron(x)))


class DecoderLayer(nn.Module):
    """A norm before attention and one before a perceptron, as in GPT."""

    def __init__(self, width: int, heads: int, causal: int = 0, approximate: str = "none"):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal=causal)
        self.perceptron = Perceptron(width, approximate)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.perceptron(self.norm2(x))

    def step(self, x, past):
        x = x + self.attention.step(self.norm1(x), past)
        return x + self.perceptron(self.norm2(x))


class Classifier(nn.Module):
    """One decoder layer and a classifier over the mean of positions."""

    def __init__(self):
        super().__init__()
        self.layer = DecoderLayer(BLOCK["width"], BLOCK["heads"])
        self.head = nn.Linear(BLOCK["width"], BLOCK["classes"])

    def forward(self, x):
        return self.head(self.layer(x).mean(1))


class GPT2(nn.Module):
    """Its output layer is its table of words."""

    def __init__(self):
        super().__init__()
        width = GPT["width"]
        self.words = nn.Parameter(torch.randn(GPT["words"], width) * 0.02)
        self.places = nn.Parameter(torch.randn(GPT["places"], width) * 0.02)
        layers = [DecoderLayer(width, GPT["heads"], GPT["length"], "tanh") for _ in range(GPT["layers"])]
        self.layers, self.norm = nn.ModuleList(layers), nn.LayerNorm(width)

    def forward(self, ids):
        x = functional.embedding(ids, self.words) + self.places[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return functional.linear(self.norm(x).flatten(0, 1), self.words)

    def step(self, word, position, pasts):
        """The most likely word after one more word: (1, 1), at a position of the same shape."""
        x = functional.embedding(word, self.words) + functional.embedding(position, self.places)
        for layer, past in zip(self.layers, pasts, strict=True):
            x = layer.step(x, past)
        return functional.linear(self.norm(x), self.words).argmax(-1)


class RoomOfPast:
    """Keys and values of a layer in tensors with room for all places."""

    def __init__(self):
        self.keys, self.values = torch.zeros(2, LAST_POSITION, GPT["width"])
        self.used = FIRST_POSITION

    def append(self, key, value):
        self.keys[self.used], self.values[self.used] = key[0], value[0]
        self.used += 1
        return self.keys[: self.used], self.values[: self.used]


class GrowingPast:
    """Keys and values of a layer in tensors of just their places; `grown` has them with the last."""

    def __init__(self, past: torch.Tensor):
        self.past, self.grown = past, past

    def append(self, key, value):
        self.grown = torch.cat([self.past, torch.stack([key, value])], 1)
        return self.grown[0], self.grown[1]


class Generator(nn.Module):
    """A step of GPT-2 from the past of all layers, (layers, 2, places, width), to the longer past."""

    def __init__(self):
        super().__init__()
        self.gpt = GPT2()

    def forward(self, word, position, past):
        pasts = [GrowingPast(past[i]) for i in range(GPT["layers"])]
        word = self.gpt.step(word, position, pasts)
        return word, torch.stack([layer.grown for layer in pasts])


class LSTMLoop(nn.Module):
    """One LSTM cell written out, stepped through time by a Python loop."""

    def __init__(self):
        super().__init__()
        self.inputs = nn.Linear(LOOP["inputs"], 4 * LOOP["hidden"])
        self.hidden = nn.Linear(LOOP["hidden"], 4 * LOOP["hidden"])
        self.head = nn.Linear(LOOP["hidden"], LOOP["classes"])

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], LOOP["hidden"])
        for t in range(x.shape[1]):
            i, f, g, o = (self.inputs(x[:, t]) + self.hidden(h)).split(LOOP["hidden"], 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.head(h)


class Recurrent(nn.Module):
    """The outputs of all steps of a recurrent layer."""

    def __init__(self, layer: type):
        super().__init__()
        self.layer = layer(RECURRENT["inputs"], RECURRENT["hidden"], batch_first=True)

    def forward(self, x):
        return self.layer(x)[0]


def network_of(case: Case, library: bool = False) -> nn.Module:
    """The network of a case; from PyTorch's library of layers where it has it, if asked."""
    if case.model == "bert" and library:
        sizes = (BERT["width"], BERT["heads"], 4 * BERT["width"])
        return nn.TransformerEncoderLayer(*sizes, case.dropout, "gelu", batch_first=True)
    make = {
        "lenet": lenet,
        "mlp": mlp,
        "block": Classifier,
        "loop": LSTMLoop,
        "resnet18": lambda: ResNet(RESNET18_STAGES, False),
        "resnet50": lambda: ResNet(RESNET50_STAGES, True),
        "mobilenetv2": lambda: Mobile(MOBILE_STAGES, nn.ReLU6, False),
        "efficientnet_b0": lambda: Mobile(EFFICIENT_STAGES, nn.SiLU, True),
        "bert": lambda: EncoderLayer(BERT["width"], BERT["heads"], case.dropout),
        "gpt2": Generator if case.how == "token" else GPT2,
        "lstm": lambda: Recurrent(nn.LSTM),
        "gru": lambda: Recurrent(nn.GRU),
    }
    return make[case.model]()


def example(model: str, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs of a network and labels."""
    if model == "lenet":
        return torch.randn(batch, 1, LENET_SIZE, LENET_SIZE), torch.randint(10, (batch,))
    if model == "mlp":
        return torch.randn(batch, MLP_WIDTHS[0]), torch.randint(MLP_WIDTHS[-1], (batch,))
    if model == "gpt2":
        words, length = GPT["words"], GPT["length"]
        return torch.randint(words, (batch, length)), torch.randint(words, (batch * length,))
    if model in SEQUENCES:
        length, width, classes = SEQUENCES[model]
        return torch.randn(batch, length, width), torch.randint(classes, (batch,))
    return torch.randn(batch, 3, IMAGE, IMAGE), torch.randint(CLASSES, (batch,))


def train_step(network: nn.Module, x: torch.Tensor, y: torch.Tensor, adam: bool):
    loss_of = nn.CrossEntropyLoss()
    weights = network.parameters()
    optimizer = (
        torch.optim.AdamW(weights, 1e-4) if adam else torch.optim.SGD(weights, lr=0.01, momentum=0.9)
    )

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss_of(network(x), y).backward()
        optimizer.step()

    return step


def gradient_step(network: nn.Module, x: torch.Tensor):
    """Gradients of everything for a given gradient of the output."""
    x.requires_grad_()
    seed = torch.randn_like(network(x))

    def step():
        network.zero_grad(set_to_none=True)
        x.grad = None
        network(x).backward(seed)

    return step


def forward_step(network: nn.Module, x: torch.Tensor, compiled: bool):
    """Inference; a compiled one is traced, frozen and rewritten by PyTorch's rules for that."""
    network.eval()
    if compiled:
        with torch.no_grad():
            threads = torch.get_num_threads()
            torch.set_num_threads(1)  # several sides are prepared at once
            network = torch.jit.freeze(torch.jit.trace(network, x, check_trace=False))
            if x.dtype == torch.float32:
                network = torch.jit.optimize_for_inference(network)
            torch.set_num_threads(threads)

    def step():
        with torch.inference_mode():
            network(x)

    return step


def token_step(gpt: GPT2):
    """Each call makes a token at the next position, from the token of the last call."""
    pasts = [RoomOfPast() for _ in range(GPT["layers"])]
    positions = torch.arange(LAST_POSITION)[:, None, None]
    word = torch.tensor([[1]])

    def step():
        nonlocal word
        at = pasts[0].used
        if at == LAST_POSITION:
            at = FIRST_POSITION
            for past in pasts:
                past.used = at
        with torch.inference_mode():
            word = gpt.step(word, positions[at], pasts)

    return step


def prepare(case: Case, variant: str):
    """What runs a case once; cases.torch_variants names the variants."""
    torch.manual_seed(0)
    if case.how == "token":
        return token_step(GPT2().eval())
    network, (x, y) = network_of(case, variant == "library"), example(case.model, case.batch)
    if case.dtype == "bf16":
        network, x = network.to(torch.bfloat16), x.to(torch.bfloat16)
    if "channels_last" in variant:
        network, x = (value.to(memory_format=torch.channels_last) for value in (network, x))
    if case.how == "train":
        return train_step(network, x, y, case.model == "gpt2")
    if case.how == "gradient":
        return gradient_step(network, x)
    return forward_step(network, x, "compiled" in variant)


def export(name: str, path: str) -> None:
    """Writes the network of a forward case, or of making a token, as ONNX."""
    case = CASES[name]
    torch.set_num_threads(1)
    network = network_of(case).eval()
    if case.how == "token":
        word, past = torch.tensor([[1]]), torch.zeros(GPT["layers"], 2, FIRST_POSITION, GPT["width"])
        names = {"input_names": ["word", "position", "past"], "output_names": ["next", "grown"]}
        axes = {"dynamic_axes": {"past": {2: "places"}, "grown": {2: "more"}}}
        torch.onnx.export(network, (word, word, past), path, opset_version=17, **names, **axes)
    else:
        torch.onnx.export(network, (example(case.model, case.batch)[0],), path, opset_version=17)
