"""Tags the words of sentences: a bidirectional LSTM scores the tags, a conditional random field the whole
sequence.

Sources: Lafferty, McCallum and Pereira 2001 (the field); Huang, Xu and Yu, "Bidirectional LSTM-CRF Models
for Sequence Tagging", 2015. The sentences are news of the Brown corpus.
"""

import argparse
import collections
import gzip
import pathlib

import numpy as np

import sorus as ms
from sorus import nn, ops

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/brown"
LENGTH = 40


def sentences(path: pathlib.Path) -> list[list[tuple[str, str]]]:
    """Pairs of word and tag, at most LENGTH in a sentence. Of composed tags the first part stays: np$ becomes
    np.
    """
    result = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            pairs = [token.rpartition("/")[::2] for token in line.split()]
            plain = [(word, tag.split("-")[0].split("+")[0].rstrip("*$") or tag) for word, tag in pairs]
            result += [plain[at : at + LENGTH] for at in range(0, len(plain), LENGTH)]
    return result


class Numbers:
    """Numbers for what occurs often enough; 0 is left for padding, 1 for everything else."""

    def __init__(self, items, least: int = 1):
        counts = collections.Counter(items)
        self.names = ["", "?", *sorted(item for item, count in counts.items() if count >= least)]
        self.number = {name: number for number, name in enumerate(self.names)}

    def __call__(self, item) -> int:
        return self.number.get(item, 1)

    def __len__(self) -> int:
        return len(self.names)


def shape_of(word: str) -> str:
    """Which kinds of characters a word has."""
    kinds = (
        any(map(str.isupper, word[:1])),
        any(map(str.isdigit, word)),
        "-" in word,
        not any(map(str.isalnum, word)),
    )
    return "".join("01"[kind] for kind in kinds)


class Encoder:
    """Words to the numbers that the network takes: (N, LENGTH, 4) of word, ending of 3, of 2, and shape."""

    def __init__(self, train):
        words = [word for sentence in train for word, _ in sentence]
        self.tables = [
            Numbers([word.lower() for word in words], 2),
            Numbers([word.lower()[-3:] for word in words], 2),
            Numbers([word.lower()[-2:] for word in words], 2),
            Numbers([shape_of(word) for word in words]),
        ]
        self.tags = Numbers([tag for sentence in train for _, tag in sentence])

    def __call__(self, batch):
        """Features int32 (N, LENGTH, 4), tags int32 (N, LENGTH) and the places in use float32 (N, LENGTH)."""
        features = np.zeros((len(batch), LENGTH, 4), np.int32)
        tags, used = np.zeros((len(batch), LENGTH), np.int32), np.zeros((len(batch), LENGTH), np.float32)
        for row, sentence in enumerate(batch):
            for at, (word, tag) in enumerate(sentence):
                low = word.lower()
                parts = (low, low[-3:], low[-2:], shape_of(word))
                features[row, at] = [table(part) for table, part in zip(self.tables, parts)]
                tags[row, at], used[row, at] = self.tags(tag), 1
        return ms.Tensor(features), ms.Tensor(tags), ms.Tensor(used)


class Field(nn.Cell):
    """A linear-chain conditional random field over tags."""

    def __init__(self, tags: int):
        super().__init__()
        self.moves = ms.Parameter(ops.zeros((tags, tags)), name="moves")
        self.first = ms.Parameter(ops.zeros((tags,)), name="first")
        self.last = ms.Parameter(ops.zeros((tags,)), name="last")

    def construct(self, scores, tags, used):
        """Minus the mean log probability of tags (N, T), given scores (N, T, tags) and the places in use (N,
        T).
        """
        return (self.all_paths(scores, used) - self.path(scores, tags, used)).mean()

    def path(self, scores, tags, used):
        """The score (N,) of one path."""
        each = ops.gather_elements(scores, 2, tags.expand_dims(2)).squeeze(2)
        moves = self.moves[tags[:, :-1], tags[:, 1:]]
        lengths = used.sum(1).astype(ms.int32).expand_dims(1)
        end = ops.gather_elements(tags, 1, lengths - 1).squeeze(1)
        return self.first[tags[:, 0]] + (each * used).sum(1) + (moves * used[:, 1:]).sum(1) + self.last[end]

    def all_paths(self, scores, used):
        """The logarithm (N,) of the sum over all paths."""
        total = self.first + scores[:, 0]
        for at in range(1, scores.shape[1]):
            following = ops.logsumexp(total.expand_dims(2) + self.moves, 1) + scores[:, at]
            total = ops.select(used[:, at : at + 1] > 0, following, total)
        return ops.logsumexp(total + self.last, 1)

    def best(self, scores, used):
        """The likeliest tags (N, T) by Viterbi's algorithm."""
        total, back = self.first + scores[:, 0], []
        for at in range(1, scores.shape[1]):
            paths = total.expand_dims(2) + self.moves
            on = used[:, at : at + 1] > 0
            back.append(paths.argmax(1))
            total = ops.select(on, paths.amax(1) + scores[:, at], total)
        tag = (total + self.last).argmax(1)
        result = [tag]
        for at in range(scores.shape[1] - 1, 0, -1):
            before = ops.gather_elements(back[at - 1], 1, tag.expand_dims(1)).squeeze(1)
            tag = ops.select(used[:, at] > 0, before, tag)
            result.append(tag)
        return ops.stack(result[::-1], 1)


class Tagger(nn.Cell):
    """The loss of tags, as the field has it."""

    def __init__(self, encoder: Encoder, width: int):
        super().__init__()
        sizes = (64, 32, 16, 8)
        self.tables = nn.CellList([nn.Embedding(len(t), size) for t, size in zip(encoder.tables, sizes)])
        self.drop = nn.Dropout(p=0.4)
        self.lstm = nn.LSTM(sum(sizes), width, batch_first=True, bidirectional=True)
        self.head = nn.Dense(2 * width, len(encoder.tags))
        self.field = Field(len(encoder.tags))

    def scores(self, features):
        parts = [table(features[:, :, number]) for number, table in enumerate(self.tables)]
        states, _ = self.lstm(self.drop(ops.concat(parts, 2)))
        return self.head(self.drop(states))

    def construct(self, features, tags, used):
        return self.field(self.scores(features), tags, used)

    def predict(self, features, used):
        return self.field.best(self.scores(features), used)


def accuracy(tagger: Tagger, encoder: Encoder, data, batch: int) -> float:
    """The share of the words whose tag is right."""
    tagger.set_train(False)
    predict = ms.jit(tagger.predict)
    right = count = 0
    for at in range(0, len(data), batch):
        features, tags, used = encoder(data[at : at + batch])
        on = used.asnumpy() > 0
        right += int((predict(features, used).asnumpy() == tags.asnumpy())[on].sum())
        count += int(on.sum())
    return right / count


def main() -> None:
    """Reads the options, trains and tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=pathlib.Path, default=DATA, help="folder of train.txt.gz and test.txt.gz"
    )
    parser.add_argument("--epochs", type=int, default=6, help="times through the sentences (default 6)")
    parser.add_argument("--batch", type=int, default=32, help="sentences in a step (default 32)")
    parser.add_argument("--steps", type=int, default=0, help="of an epoch; all by default")
    parser.add_argument("--seed", type=int, default=1, help="of weights and order (default 1)")
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default graph")
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    chance = np.random.RandomState(args.seed)

    train, test = (sentences(args.data / f"{name}.txt.gz") for name in ("train", "test"))
    encoder = Encoder(train)
    tagger = Tagger(encoder, 96)
    steps = args.steps or len(train) // args.batch
    rate = nn.CosineDecayLR(1e-5, 4e-3, args.epochs * steps)
    step = nn.TrainOneStepCell(tagger, nn.Adam(tagger.trainable_params(), rate))
    for epoch in range(1, args.epochs + 1):
        tagger.set_train()
        order = chance.permutation(len(train))
        losses = []
        for number in range(steps):
            rows = order[number * args.batch : (number + 1) * args.batch]
            losses.append(step(*encoder([train[row] for row in rows])))
        print(f"epoch {epoch}: loss {float(sum(losses)) / steps:.4f}")
    print(f"test accuracy {accuracy(tagger, encoder, test, args.batch):.4f}")


if __name__ == "__main__":
    main()
