"""Trains a small SE-ResNeXt on the embedded digits: blocks of 32 groups that weigh their channels.

Sources: Xie et al., "Aggregated Residual Transformations", 2017 (the groups); Hu et al.,
"Squeeze-and-Excitation Networks", 2018 (the weights of the channels).
"""

import argparse
import pathlib

import sorus as ms
import sorus.dataset as ds
from sorus import nn, ops
from sorus.dataset import transforms, vision
from sorus.train import Accuracy, Model, ProgressBar

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/mnist"
GROUPS = 32


class Excitation(nn.Cell):
    """Weighs channels (N, C, H, W) by what the whole image says of each."""

    def __init__(self, channels: int, reduction: int = 16):
        super().__init__()
        self.squeeze = nn.Dense(channels, channels // reduction)
        self.excite = nn.Dense(channels // reduction, channels)

    def construct(self, x):
        weights = ops.sigmoid(self.excite(ops.relu(self.squeeze(x.mean((2, 3))))))
        return x * weights.reshape(x.shape[0], x.shape[1], 1, 1)


class Block(nn.Cell):
    """A residual block: 1x1, 3x3 in 32 groups, 1x1, the channels weighed, the input added."""

    def __init__(self, channels: int, width: int, out: int, stride: int):
        super().__init__()
        self.path = nn.SequentialCell(
            nn.Conv2d(channels, width, 1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, pad_mode="pad", padding=1, group=GROUPS),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, out, 1),
            nn.BatchNorm2d(out),
            Excitation(out),
        )
        self.shortcut = nn.Identity()
        if channels != out or stride > 1:
            self.shortcut = nn.SequentialCell(nn.Conv2d(channels, out, 1, stride), nn.BatchNorm2d(out))

    def construct(self, x):
        return ops.relu(self.path(x) + self.shortcut(x))


class SEResNeXt(nn.Cell):
    """Logits (N, classes) of images (N, 1, H, W)."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.stem = nn.SequentialCell(
            nn.Conv2d(1, 32, 3, 2, pad_mode="pad", padding=1), nn.BatchNorm2d(32), nn.ReLU()
        )
        self.blocks = nn.SequentialCell(Block(32, 64, 64, 1), Block(64, 128, 128, 2), Block(128, 128, 128, 1))
        self.head = nn.Dense(128, classes)

    def construct(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


def batches(folder, usage: str, batch: int) -> ds.Dataset:
    """Digits as (N, 1, 28, 28), about -1 to 1."""
    data = ds.MnistDataset(str(folder / usage), usage, shuffle=usage == "train")
    image = [vision.Rescale(1 / 127.5, -1.0), vision.HWC2CHW()]
    return data.map(image, "image").map(transforms.TypeCast(ms.int32), "label").batch(batch, usage == "train")


def main() -> None:
    """Reads the options, trains and tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="folder with MNIST in train and test")
    parser.add_argument("--epochs", type=int, default=5, help="times through the training images (default 5)")
    parser.add_argument("--batch", type=int, default=64, help="images in a step (default 64)")
    parser.add_argument("--steps", type=int, default=-1, help="of an epoch; all by default")
    parser.add_argument("--seed", type=int, default=1, help="of weights and order (default 1)")
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default graph")
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)

    train, test = batches(args.data, "train", args.batch), batches(args.data, "test", args.batch)
    if args.steps > 0:
        train = train.take(args.steps)
    net = SEResNeXt()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    rate = nn.CosineDecayLR(1e-5, 3e-3, args.epochs * train.get_dataset_size())
    optimizer = nn.AdamWeightDecay(net.trainable_params(), rate, weight_decay=0.01)
    model = Model(net, loss, optimizer, metrics={"accuracy": Accuracy()})
    model.train(args.epochs, train, callbacks=ProgressBar())
    print(f"test accuracy {model.eval(test)['accuracy']:.4f}")


if __name__ == "__main__":
    main()
