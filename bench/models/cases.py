"""Which networks are timed, how, of what sizes, and how many multiply-adds that takes."""

from __future__ import annotations

from dataclasses import dataclass

IMAGE, CLASSES = 224, 1000
RESNET18_STAGES = ((64, 2, 1), (128, 2, 2), (256, 2, 2), (512, 2, 2))  # width, blocks, stride of the first
RESNET50_STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
# Inverted residual blocks: expansion, channels, blocks, stride of the first, kernel
MOBILE_STAGES = (
    (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3),
    (6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3),
)  # fmt: skip
EFFICIENT_STAGES = (
    (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3),
)  # fmt: skip
MOBILE_STEM, MOBILE_HEAD, SQUEEZE = 32, 1280, 4  # the squeeze has a fourth of the block's input channels
LENET_SIZE = 32
MLP_WIDTHS = (784, 512, 512, 10)
BLOCK = {"length": 64, "width": 256, "heads": 4, "classes": 10}
BERT = {"length": 128, "width": 768, "heads": 12}
GPT = {"length": 128, "width": 768, "heads": 12, "layers": 12, "words": 50257, "places": 1024}
FIRST_POSITION, LAST_POSITION = 64, 192  # tokens are generated at these positions, in turn
LOOP = {"length": 20, "inputs": 64, "hidden": 128, "classes": 10}
RECURRENT = {"length": 100, "inputs": 256, "hidden": 256}
SEQUENCES = {  # positions, their width, classes of the labels
    "block": (BLOCK["length"], BLOCK["width"], BLOCK["classes"]),
    "bert": (BERT["length"], BERT["width"], 1),
    "loop": (LOOP["length"], LOOP["inputs"], LOOP["classes"]),
    "lstm": (RECURRENT["length"], RECURRENT["inputs"], 1),
    "gru": (RECURRENT["length"], RECURRENT["inputs"], 1),
}

IMAGES = ("lenet", "resnet18", "resnet50", "mobilenetv2", "efficientnet_b0")
HOW = {
    "train": "training step",
    "gradient": "forward and backward",
    "forward": "forward",
    "token": "a token",
}


@dataclass(frozen=True)
class Case:
    """A network and what is done with it: `how` is one of HOW."""

    model: str
    how: str
    batch: int
    dropout: float = 0.0
    dtype: str = "f32"

    @property
    def name(self) -> str:
        parts = [self.model, self.how, str(self.batch)]
        return "_".join(parts + ["dropout"] * (self.dropout > 0) + ["bf16"] * (self.dtype == "bf16"))

    @property
    def title(self) -> str:
        words = f"{TITLES[self.model]}: {HOW[self.how]}, batch {self.batch}"
        if self.model == "bert" and self.how == "gradient":
            words += f", dropout {self.dropout:g}"
        return words + (", bf16" if self.dtype == "bf16" else "")

    @property
    def multiply_adds(self) -> int:
        """Of the products of matrices and convolutions; a backward pass counts twice its forward pass."""
        once = self.batch * COUNTS[self.model](self.how == "token")
        return once * (3 if self.how in ("train", "gradient") else 1)


TITLES = {
    "lenet": "LeNet-5, 32 x 32",
    "mlp": "perceptron 784-512-512-10",
    "block": "transformer block, width 256, 64 positions",
    "loop": "LSTM written as a loop, 20 steps, hidden 128",
    "resnet18": "ResNet-18",
    "resnet50": "ResNet-50",
    "mobilenetv2": "MobileNetV2",
    "efficientnet_b0": "EfficientNet-B0",
    "bert": "BERT-base layer, 128 positions",
    "gpt2": "GPT-2 small",
    "lstm": "nn.LSTM, 100 steps, 256 to 256",
    "gru": "nn.GRU, 100 steps, 256 to 256",
}


def residual_multiply_adds(stages: tuple, deep: bool) -> int:
    """A ResNet on one image: blocks of two 3x3 convolutions or, if deep, of a 3x3 between two 1x1 ones."""
    size, inputs = IMAGE // 2, 64
    total = 49 * 3 * 64 * size**2
    size //= 2
    for width, count, stride in stages:
        outputs = 4 * width if deep else width
        for block in range(count):
            before, size = size, size // (stride if block == 0 else 1)
            if deep:
                total += inputs * width * before**2 + (9 * width + outputs) * width * size**2
            else:
                total += (9 * inputs + 9 * width) * width * size**2
            if before != size or inputs != outputs:
                total += inputs * outputs * size**2
            inputs = outputs
    return total + inputs * CLASSES


def mobile_multiply_adds(stages: tuple, squeezes: bool) -> int:
    """A network of inverted residual blocks on one image."""
    size, inputs = IMAGE // 2, MOBILE_STEM
    total = 27 * inputs * size**2
    for expansion, outputs, count, stride, kernel in stages:
        for block in range(count):
            middle, before = expansion * inputs, size
            size //= stride if block == 0 else 1
            total += (inputs * middle * before**2 if expansion > 1 else 0) + kernel**2 * middle * size**2
            total += middle * outputs * size**2
            if squeezes:
                total += 2 * middle * max(1, inputs // SQUEEZE)
            inputs = outputs
    return total + inputs * MOBILE_HEAD * size**2 + MOBILE_HEAD * CLASSES


def encoder_multiply_adds(width: int, queries: int, keys: int) -> int:
    """A transformer layer whose perceptron is four times as wide."""
    return 12 * width**2 * queries + 2 * width * queries * keys


def gpt_multiply_adds(one_token: bool) -> int:
    width, queries = GPT["width"], 1 if one_token else GPT["length"]
    keys = (FIRST_POSITION + LAST_POSITION) // 2 if one_token else queries
    layer = encoder_multiply_adds(width, queries, keys)
    return GPT["layers"] * layer + GPT["words"] * width * queries


def recurrent_multiply_adds(sizes: dict, gates: int) -> int:
    return sizes["length"] * gates * (sizes["inputs"] + sizes["hidden"]) * sizes["hidden"]


COUNTS = {
    "lenet": lambda _: 25 * 6 * 28**2 + 25 * 6 * 16 * 10**2 + 400 * 120 + 120 * 84 + 84 * 10,
    "mlp": lambda _: sum(a * b for a, b in zip(MLP_WIDTHS, MLP_WIDTHS[1:], strict=False)),
    "block": lambda _: encoder_multiply_adds(BLOCK["width"], BLOCK["length"], BLOCK["length"]),
    "loop": lambda _: recurrent_multiply_adds(LOOP, 4),
    "resnet18": lambda _: residual_multiply_adds(RESNET18_STAGES, False),
    "resnet50": lambda _: residual_multiply_adds(RESNET50_STAGES, True),
    "mobilenetv2": lambda _: mobile_multiply_adds(MOBILE_STAGES, False),
    "efficientnet_b0": lambda _: mobile_multiply_adds(EFFICIENT_STAGES, True),
    "bert": lambda _: encoder_multiply_adds(BERT["width"], BERT["length"], BERT["length"]),
    "gpt2": gpt_multiply_adds,
    "lstm": lambda _: recurrent_multiply_adds(RECURRENT, 4),
    "gru": lambda _: recurrent_multiply_adds(RECURRENT, 3),
}

SMALL = [
    Case("resnet18", "train", 32),
    Case("lenet", "train", 32),
    Case("mlp", "train", 128),
    Case("block", "train", 8),
    Case("loop", "train", 32),
]
LARGE = [
    Case("resnet50", "train", 8),
    Case("resnet50", "forward", 8),
    Case("resnet50", "forward", 1),
    Case("resnet50", "forward", 8, dtype="bf16"),
    Case("mobilenetv2", "train", 8),
    Case("mobilenetv2", "forward", 8),
    Case("mobilenetv2", "forward", 1),
    Case("efficientnet_b0", "train", 8),
    Case("efficientnet_b0", "forward", 8),
    Case("efficientnet_b0", "forward", 1),
    Case("bert", "gradient", 8),
    Case("bert", "gradient", 8, dropout=0.1),
    Case("bert", "forward", 8),
    Case("bert", "forward", 8, dtype="bf16"),
    Case("gpt2", "train", 1),
    Case("gpt2", "token", 1),
    Case("lstm", "forward", 32),
    Case("lstm", "gradient", 32),
    Case("gru", "forward", 32),
    Case("gru", "gradient", 32),
]
CASES = {case.name: case for case in SMALL + LARGE}


def torch_variants(case: Case) -> list[str]:
    """Ways to run a case in PyTorch, of which the best counts: with channels innermost, traced and optimized
    for inference, with a whole layer of its library."""
    compiles = case.how == "forward" and case.model not in ("lstm", "gru")
    variants = ["plain", *(["compiled"] if compiles else [])]
    if case.model in IMAGES:
        variants += ["channels_last", *(["compiled_channels_last"] if compiles else [])]
    if case.model == "bert" and case.dropout == 0:
        variants.append("library")
    return variants
