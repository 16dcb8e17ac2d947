"""Trains ResNet-18 on a folder that has a subfolder of JPEG or PNG images for each class. The C++ twin is
resnet18.cpp.

    python resnet18.py [TRAIN_FOLDER TEST_FOLDER]

Without folders it writes the embedded digits into some of its own. Source: He et al., "Deep Residual
Learning for Image Recognition", 2016.
"""

import argparse
import pathlib
import tempfile

import sorus as ms
import sorus.dataset as ds
from sorus import nn, ops
from sorus.dataset import transforms, vision
from sorus.train import Accuracy, Model, ProgressBar, checksum

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "data/mnist"


def conv_norm(inputs: int, outputs: int, kernel: int, stride: int) -> nn.SequentialCell:
    """A convolution that keeps the size but for its stride, and batch norm."""
    conv = nn.Conv2d(
        inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, weight_init="he_normal"
    )
    return nn.SequentialCell(conv, nn.BatchNorm2d(outputs))


class Block(nn.Cell):
    """Two 3x3 convolutions, the input added."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.first = conv_norm(inputs, outputs, 3, stride)
        self.second = conv_norm(outputs, outputs, 3, 1)
        self.shortcut = (
            conv_norm(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else nn.Identity()
        )

    def construct(self, x):
        return ops.relu(self.second(ops.relu(self.first(x))) + self.shortcut(x))


class ResNet18(nn.Cell):
    """Logits (N, classes) of images (N, 3, H, W)."""

    def __init__(self, classes: int):
        super().__init__()
        self.stem = conv_norm(3, 64, 7, 2)
        self.pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        blocks = []
        for inputs, outputs, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
            blocks += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        self.blocks = nn.SequentialCell(blocks)
        self.head = nn.Dense(512, classes)

    def construct(self, x):
        x = self.blocks(self.pool(ops.relu(self.stem(x))))
        return self.head(x.mean((2, 3)))


def write_digits(usage: str, folder: pathlib.Path, count: int | None) -> str:
    """The first `count` embedded digits (all for None) as PNG images in a subfolder for each digit."""
    for digit in range(10):
        (folder / usage / str(digit)).mkdir(parents=True)
    data = ds.MnistDataset(str(DIGITS / usage), usage, num_samples=count, shuffle=False)
    for number, (image, label) in enumerate(data.create_tuple_iterator(num_epochs=1)):
        vision.write_png(str(folder / usage / str(int(label)) / f"{number}.png"), image)
    return str(folder / usage)


def batches(folder: str, size: int, batch: int, training: bool) -> ds.Dataset:
    """Images (N, 3, size, size) about -1 to 1, in float32, and labels; in training, random parts of the
    images.
    """
    data = ds.ImageFolderDataset(folder, shuffle=training)
    if training:
        view = [vision.RandomCropDecodeResize(size, scale=(0.7, 1.0), ratio=(0.9, 1.1))]
    else:
        view = [vision.Decode(), vision.Resize((size, size))]
    image = [*view, vision.Normalize([127.5] * 3, [127.5] * 3), vision.HWC2CHW()]
    data = data.map(image, "image").map(transforms.TypeCast(ms.int32), "label")
    return data.batch(batch, drop_remainder=training)


def run(args, train_folder: str, test_folder: str) -> None:
    """Trains and tests."""
    train = batches(train_folder, args.image_size, args.batch, True)
    test = batches(test_folder, args.image_size, args.batch, False)
    net = ResNet18(len(ds.ImageFolderDataset(train_folder).get_class_indexing()))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    rate = nn.CosineDecayLR(1e-5, args.lr, args.epochs * train.get_dataset_size())
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9, weight_decay=1e-4)
    model = Model(net, loss, optimizer, metrics={"accuracy": Accuracy()}, amp_level=args.amp)
    model.train(args.epochs, train, callbacks=ProgressBar())
    print(f"test accuracy {model.eval(test)['accuracy']:.4f}")
    print(f"weights {checksum(net):016x}")


def main() -> None:
    """Reads the options and runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", help="of the images to train on, and of those to test on")
    parser.add_argument("--epochs", type=int, default=2, help="times through the images (default 2)")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder for the digits' images, which stays")
    parser.add_argument(
        "--digits", type=int, help="digits to write of the training and of the test set; all by default"
    )
    parser.add_argument("--batch", type=int, default=32, help="images in a step (default 32)")
    parser.add_argument("--image-size", type=int, default=64, help="height and width in pixels (default 64)")
    parser.add_argument(
        "--lr", type=float, default=0.02, help="of the first step; it falls along a cosine (default 0.02)"
    )
    parser.add_argument(
        "--amp", choices=("O0", "O1", "O2", "O3"), default="O0", help="mixed precision (default O0)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of weights and order (default 1)")
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default graph")
    args = parser.parse_args()
    if len(args.folders) not in (0, 2):
        parser.error("give two folders, or none")
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    if args.folders:
        run(args, *args.folders)
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or pathlib.Path(folder)
        run(args, *(write_digits(usage, folder, args.digits) for usage in ("train", "test")))


if __name__ == "__main__":
    main()
