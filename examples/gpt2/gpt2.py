"""Trains a GPT-2 on a text, character by character, and lets it write on.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019. `--size small` is GPT-2
small (12 blocks of width 768, 12 heads); the default is a network of a few minutes. The text is a part of
Moby Dick.
"""

import argparse
import gzip
import pathlib

import numpy as np

import sorus as ms
from sorus import nn, ops
from sorus.common.initializer import Normal

TEXT = pathlib.Path(__file__).resolve().parents[1] / "data/moby_dick/chapters_1_to_42.txt.gz"
SIZES = {"mini": (4, 4, 128), "small": (12, 12, 768)}  # blocks, heads, width


class Attention(nn.Cell):
    """Self-attention (N, T, width) in heads; each place sees itself and those before."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.joint = nn.Dense(width, 3 * width, weight_init=Normal(0.02), bias_init="zeros")
        self.out = nn.Dense(width, width, weight_init=Normal(0.02), bias_init="zeros")

    def construct(self, x):
        rows, length, width = x.shape
        parts = (
            self.joint(x).reshape(rows, length, 3, self.heads, width // self.heads).transpose(2, 0, 3, 1, 4)
        )
        mixed = ops.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(rows, length, width))


class Block(nn.Cell):
    """Attention and two dense layers, each behind a layer norm and added to its input."""

    def __init__(self, width: int, heads: int, drop: float):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm([width], epsilon=1e-5), nn.LayerNorm([width], epsilon=1e-5)
        self.attention = Attention(width, heads)
        self.grow = nn.Dense(width, 4 * width, weight_init=Normal(0.02), bias_init="zeros")
        self.shrink = nn.Dense(4 * width, width, weight_init=Normal(0.02), bias_init="zeros")
        self.drop = nn.Dropout(p=drop)

    def construct(self, x):
        x = x + self.drop(self.attention(self.norm1(x)))
        return x + self.drop(self.shrink(ops.gelu(self.grow(self.norm2(x)), approximate="tanh")))


class GPT2(nn.Cell):
    """Scores (N, T, characters) of the next character at each place of (N, T) numbers."""

    def __init__(self, characters: int, context: int, blocks: int, heads: int, width: int, drop: float = 0.1):
        super().__init__()
        self.context = context
        self.characters = nn.Embedding(characters, width, embedding_table=Normal(0.02))
        self.places = ms.Parameter(
            ms.common.initializer.initializer(Normal(0.02), [context, width]), name="places"
        )
        self.drop = nn.Dropout(p=drop)
        self.blocks = nn.SequentialCell([Block(width, heads, drop) for _ in range(blocks)])
        self.norm = nn.LayerNorm([width], epsilon=1e-5)

    def construct(self, numbers):
        x = self.drop(self.characters(numbers) + self.places[: numbers.shape[1]])
        x = self.norm(self.blocks(x))
        return ops.matmul(x, self.characters.embedding_table.T)


class Loss(nn.Cell):
    """Cross entropy of texts (N, T + 1): each character after the first, from those before."""

    def __init__(self, net: GPT2):
        super().__init__()
        self.net = net

    def construct(self, numbers):
        scores = self.net(numbers[:, :-1])
        return ops.cross_entropy(scores.reshape(-1, scores.shape[2]), numbers[:, 1:].reshape(-1))


def pieces(numbers: np.ndarray, chance: np.random.RandomState, batch: int, length: int) -> ms.Tensor:
    """Parts (batch, length) of the text from anywhere."""
    starts = chance.randint(0, len(numbers) - length, batch)
    return ms.Tensor(numbers[starts[:, None] + np.arange(length)])


def write_on(
    net: GPT2, start: np.ndarray, count: int, chance: np.random.RandomState, warmth: float
) -> np.ndarray:
    """The numbers of `start` and of `count` more characters, drawn by the network's scores over `warmth`."""
    net.set_train(False)
    score = ms.jit(lambda numbers, last: net(numbers)[0, last])
    numbers = list(start)
    for _ in range(count):
        # Always the whole context, so that there is one shape; what lies behind the last character is not
        # seen.
        seen = numbers[-net.context :]
        row = np.zeros((1, net.context), np.int32)
        row[0, : len(seen)] = seen
        scores = (
            score(ms.Tensor(row), ms.Tensor(len(seen) - 1, ms.int32)).asnumpy().astype(np.float64) / warmth
        )
        chances = np.exp(scores - scores.max())
        numbers.append(int(chance.choice(len(chances), p=chances / chances.sum())))
    return np.array(numbers)


def evaluate(loss: Loss, numbers: np.ndarray, batch: int, length: int) -> float:
    """Mean cross entropy, in nats, of the characters of a text."""
    loss.set_train(False)
    count = (len(numbers) - 1) // length
    rows = numbers[np.arange(count)[:, None] * length + np.arange(length + 1)]
    whole = [rows[at : at + batch] for at in range(0, count - batch + 1, batch)]
    return float(np.mean([float(loss(ms.Tensor(part))) for part in whole]))


def main() -> None:
    """Reads the options, trains, tests and writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--text", type=pathlib.Path, default=TEXT, help="a text file, or one compressed with gzip"
    )
    parser.add_argument("--size", choices=SIZES, default="mini", help="default mini")
    parser.add_argument("--steps", type=int, default=1000, help="training steps (default 1000)")
    parser.add_argument("--batch", type=int, default=16, help="parts of the text in a step (default 16)")
    parser.add_argument("--context", type=int, default=128, help="characters that are seen (default 128)")
    parser.add_argument("--write", type=int, default=300, help="characters to write (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="of weights, order and writing (default 1)")
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default graph")
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    chance = np.random.RandomState(args.seed)

    opened = gzip.open if args.text.suffix == ".gz" else open
    with opened(args.text, "rt", encoding="utf-8") as file:
        text = file.read()
    alphabet = sorted(set(text))
    numbers = np.array([alphabet.index(character) for character in text], np.int32)
    train, test = numbers[: len(numbers) * 19 // 20], numbers[len(numbers) * 19 // 20 :]

    net = GPT2(len(alphabet), args.context, *SIZES[args.size])
    loss = Loss(net)
    warm = nn.WarmUpLR(1e-3, min(100, args.steps))
    decay = nn.CosineDecayLR(1e-5, 1e-3, args.steps)
    decayed, plain = [], []
    for parameter in net.trainable_params():
        (decayed if parameter.ndim > 1 else plain).append(parameter)
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]

    class Rate(nn.LearningRateSchedule):
        """Up in a line for the first steps, then down along a cosine."""

        def construct(self, step):
            return ops.minimum(warm(step), decay(step))

    optimizer = nn.AdamWeightDecay(groups, Rate(), beta1=0.9, beta2=0.95)
    step = nn.TrainOneStepCell(loss, optimizer)
    for number in range(1, args.steps + 1):
        value = step(pieces(train, chance, args.batch, args.context + 1))
        if number % max(args.steps // 10, 1) == 0:
            print(f"step {number}: loss {float(value):.4f}")
            loss.set_train()
    print(f"test loss {evaluate(loss, test, args.batch, args.context):.4f} nats per character")
    start = np.array([alphabet.index(character) for character in "\n"], np.int32)
    print("".join(alphabet[number] for number in write_on(net, start, args.write, chance, 0.8)).strip())


if __name__ == "__main__":
    main()
