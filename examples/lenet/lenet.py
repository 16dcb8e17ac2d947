"""LeNet-5 on MNIST: trains, tests, and shows a few predictions. The C++ twin is lenet.cpp."""

import argparse
import pathlib

import sorus as ms
import sorus.dataset as ds
from sorus import nn, ops
from sorus.dataset import vision
from sorus.train import Accuracy, Model, ProgressBar, checksum

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/mnist"


class LeNet5(nn.Cell):
    """Two convolutions and three dense layers. Source: LeCun et al. 1998."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x):
        """Logits (N, 10) of images (N, 1, 32, 32)."""
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.conv2(x)))
        x = ops.relu(self.fc1(self.flatten(x)))
        return self.fc3(ops.relu(self.fc2(x)))


def batches(folder, usage, batch, shuffle):
    """Normalized images of 32 x 32 pixels and their labels."""
    data = ds.MnistDataset(str(folder), usage, shuffle=shuffle)
    steps = [
        vision.Resize(32),
        vision.Rescale(1 / 255, 0),
        vision.Normalize([0.1307], [0.3081]),
        vision.HWC2CHW(),
    ]
    data = data.map(steps, "image").map(ms.dataset.transforms.TypeCast(ms.int32), "label")
    return data.batch(batch, drop_remainder=usage == "train")


def show(model, data, count=8):
    """A few images in the terminal, with what the network says they are."""
    images, labels = next(iter(data.create_tuple_iterator(num_epochs=1)))
    images, labels = images[:count], labels[:count].asnumpy()
    guesses = model.predict(images).argmax(1).asnumpy()
    pixels = images.asnumpy()[:, 0, 4:28:2, 4:28]
    low, high = pixels.min(), pixels.max()
    for row in range(pixels.shape[1]):
        shades = ((pixels[:, row, ::2] - low) / (high - low) * 9.99).astype(int)
        print("  ".join("".join(" .:-=+*#%@"[s] for s in image) for image in shades))
    words = (f"{g} right" if g == label else f"{g} not {label}" for g, label in zip(guesses, labels))
    print("  ".join(f"{word:12}" for word in words))


def main():
    """Reads the options, trains and tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "--data", default=DATA, help="folder of MNIST's files, or with folders train and test of them"
    )
    parser.add_argument("--epochs", type=int, default=10, help="times through the training images")
    parser.add_argument("--batch", type=int, default=32, help="images in a training step")
    parser.add_argument(
        "--lr",
        type=float,
        default=0.02,
        help="learning rate of the first step; it falls to a hundredth of that",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the weights and of the order of the images")
    parser.add_argument(
        "--mode", choices=("graph", "pynative"), default="graph", help="how it runs; the weights are the same"
    )
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)

    folders = [pathlib.Path(args.data) / usage for usage in ("train", "test")]
    train_folder, test_folder = (f if f.is_dir() else f.parent for f in folders)
    train = batches(train_folder, "train", args.batch, shuffle=True)
    test = batches(test_folder, "test", args.batch, shuffle=False)

    net = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    steps = args.epochs * train.get_dataset_size()
    rate = nn.PolynomialDecayLR(args.lr, args.lr / 100, steps, 1.0)
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    model = Model(net, loss, optimizer, metrics={"accuracy": Accuracy()})
    model.train(args.epochs, train, callbacks=ProgressBar())
    print(f"test accuracy {model.eval(test)['accuracy']:.4f}")
    show(model, test)
    print(f"weights {checksum(net):016x}")


if __name__ == "__main__":
    main()
