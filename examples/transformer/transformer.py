"""A Transformer puts spaces and capitals back: "callmeishmael" becomes "Call me Ishmael".

The encoder reads the letters, the decoder writes the text. Source: Vaswani et al., "Attention Is All You
Need", 2017. The text is a part of Moby Dick.
"""

import argparse
import gzip
import pathlib

import numpy as np

import sorus as ms
from sorus import nn, ops

TEXT = pathlib.Path(__file__).resolve().parents[1] / "data/moby_dick/chapters_1_to_42.txt.gz"
WORDS = 5  # in an example
LENGTH = 40  # of the longest text
PAD, BEGIN, END = 0, 1, 2


def examples(path: pathlib.Path) -> list[str]:
    """Runs of WORDS words, of letters alone, that fit."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read().replace("—", " ")
    words = ["".join(filter(str.isalpha, word)) for word in text.split()]
    words = [word for word in words if word.isascii() and word]
    runs = [" ".join(words[at : at + WORDS]) for at in range(0, len(words) - WORDS)]
    return [run for run in runs if len(run) <= LENGTH - 2]


class Alphabet:
    """Numbers of characters: 0 pads, 1 begins, 2 ends."""

    def __init__(self):
        self.characters = ["", "<", ">", " ", *map(chr, range(65, 91)), *map(chr, range(97, 123))]
        self.number = {character: number for number, character in enumerate(self.characters)}

    def rows(self, texts: list[str]) -> np.ndarray:
        """Numbers int32 (N, LENGTH), with begin and end."""
        result = np.full((len(texts), LENGTH), PAD, np.int32)
        for row, text in zip(result, texts):
            numbers = [BEGIN, *(self.number[character] for character in text), END]
            row[: len(numbers)] = numbers
        return result

    def text(self, row: np.ndarray) -> str:
        """The text up to the end."""
        numbers = list(row)
        stop = numbers.index(END) if END in numbers else len(numbers)
        return "".join(self.characters[number] for number in numbers[:stop] if number > END)


def waves(length: int, width: int) -> np.ndarray:
    """Sines and cosines (length, width) that tell places apart, as the paper has them."""
    rates = np.exp(-np.log(10000.0) * np.arange(0, width, 2) / width)
    angles = np.arange(length)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], 2).reshape(length, width).astype(np.float32)


class Restorer(nn.Cell):
    """Scores (N, T, characters) of the text's next characters."""

    def __init__(self, characters: int, width: int, heads: int, layers: int):
        super().__init__()
        self.scale = width**0.5
        self.table = nn.Embedding(
            characters, width, embedding_table=ms.common.initializer.Normal(width**-0.5)
        )
        self.places = ms.Tensor(waves(LENGTH, width))
        self.transformer = nn.Transformer(
            width, heads, layers, layers, 4 * width, dropout=0.1, batch_first=True
        )
        self.later = ms.Tensor(np.triu(np.ones((LENGTH, LENGTH), bool), 1))
        self.head = nn.Dense(width, characters)

    def embed(self, numbers):
        return self.table(numbers) * self.scale + self.places[: numbers.shape[1]]

    def construct(self, letters, text):
        length = text.shape[1]
        blank = letters == PAD
        states = self.transformer(
            self.embed(letters),
            self.embed(text),
            tgt_mask=self.later[:length, :length],
            src_key_padding_mask=blank,
            memory_key_padding_mask=blank,
        )
        return self.head(states)


class Loss(nn.Cell):
    """Cross entropy of each character after the first, from the letters and the characters before."""

    def __init__(self, net: Restorer):
        super().__init__()
        self.net = net

    def construct(self, letters, text):
        scores = self.net(letters, text[:, :-1])
        return ops.cross_entropy(
            scores.reshape(-1, scores.shape[2]), text[:, 1:].reshape(-1), ignore_index=PAD
        )


def restore(net: Restorer, letters: np.ndarray) -> np.ndarray:
    """The likeliest text (N, LENGTH), a character after the other."""
    net.set_train(False)
    step = ms.jit(net)
    source = ms.Tensor(letters)
    text = np.full((len(letters), LENGTH), PAD, np.int32)
    text[:, 0] = BEGIN
    for at in range(1, LENGTH):
        # Always the whole length, so that there is one shape; what lies behind is not seen.
        scores = step(source, ms.Tensor(text[:, :-1]))
        text[:, at] = scores[:, at - 1].argmax(1).asnumpy()
    return text


def main() -> None:
    """Reads the options, trains and tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", type=pathlib.Path, default=TEXT, help="a text compressed with gzip")
    parser.add_argument("--steps", type=int, default=2000, help="training steps (default 2000)")
    parser.add_argument("--batch", type=int, default=64, help="examples in a step (default 64)")
    parser.add_argument("--width", type=int, default=96, help="of the network (default 96)")
    parser.add_argument("--layers", type=int, default=2, help="of the encoder and of the decoder (default 2)")
    parser.add_argument("--tests", type=int, default=256, help="examples to test with (default 256)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and order (default 1)")
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default graph")
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    chance = np.random.RandomState(args.seed)

    alphabet = Alphabet()
    texts = examples(args.text)
    train, test = texts[: len(texts) * 19 // 20], texts[len(texts) * 19 // 20 :]
    net = Restorer(len(alphabet.characters), args.width, 4, args.layers)
    rate = nn.CosineDecayLR(1e-5, 2e-3, args.steps)
    step = nn.TrainOneStepCell(Loss(net), nn.Adam(net.trainable_params(), rate, beta2=0.98))
    step.set_train()

    def batch(chosen: list[str]):
        bare = [text.replace(" ", "").lower() for text in chosen]
        return alphabet.rows(bare), alphabet.rows(chosen)

    for number in range(1, args.steps + 1):
        chosen = [train[place] for place in chance.randint(0, len(train), args.batch)]
        loss = step(*map(ms.Tensor, batch(chosen)))
        if number % max(args.steps // 10, 1) == 0:
            print(f"step {number}: loss {float(loss):.4f}")
    chosen = [test[place] for place in chance.randint(0, len(test), args.tests)]
    letters, _ = batch(chosen)
    found = [alphabet.text(row) for row in restore(net, letters)]
    right = sum(a == b for text, other in zip(chosen, found) for a, b in zip(text, other.ljust(len(text))))
    for text, other in list(zip(chosen, found))[:4]:
        print(f"  {text.replace(' ', '').lower()} -> {other}")
    print(f"characters right {right / sum(map(len, chosen)):.4f}")


if __name__ == "__main__":
    main()
