"""The networks of bench/networks.py in Sorus: one training step each, in the mode of the first argument."""

from __future__ import annotations

import sys

import numpy as np
import sorus as ms
from networks_sizes import LSTM, MLP, RESNET, TRANSFORMER
from sorus import nn, ops
from sorus_cases import LeNet5, random
from worker import serve


class Block(nn.Cell):
    """Two 3x3 convolutions with batch norm beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, pad_mode="pad", padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, pad_mode="pad", padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.SequentialCell(nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def construct(self, x):
        y = self.norm2(self.conv2(self.relu(self.norm1(self.conv1(x)))))
        return self.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet18(nn.Cell):
    def __init__(self):
        super().__init__()
        stem = [nn.Conv2d(3, 64, 7, 2, pad_mode="pad", padding=3), nn.BatchNorm2d(64), nn.ReLU()]
        self.stem = nn.SequentialCell(*stem, nn.MaxPool2d(3, 2, pad_mode="pad", padding=1))
        blocks, inputs = [], 64
        for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
            inputs = outputs
        self.body = nn.SequentialCell(*blocks)
        self.head = nn.Dense(512, 1000)

    def construct(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


class TransformerBlock(nn.Cell):
    """Pre-norm self-attention and a two-layer perceptron, with a classifier over the mean of positions."""

    def __init__(self):
        super().__init__()
        width = TRANSFORMER["width"]
        self.heads = TRANSFORMER["heads"]
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.head = nn.Dense(width, 10)
        self.gelu = nn.GELU(approximate=False)

    def split(self, x):
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def construct(self, x):
        batch, length, width = x.shape
        y = self.norm1(x)
        q, k, v = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) * (width // self.heads) ** -0.5
        y = ops.matmul(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3).reshape(batch, length, width)
        x = x + self.out(y)
        x = x + self.down(self.gelu(self.up(self.norm2(x))))
        return self.head(x.mean(1))


class LSTMLoop(nn.Cell):
    """One LSTM cell written out, stepped through time by a Python loop."""

    def __init__(self):
        super().__init__()
        self.inputs = nn.Dense(LSTM["inputs"], 4 * LSTM["hidden"])
        self.hidden = nn.Dense(LSTM["hidden"], 4 * LSTM["hidden"])
        self.head = nn.Dense(LSTM["hidden"], 10)

    def construct(self, x):
        h = c = ops.zeros((x.shape[0], LSTM["hidden"]), ms.float32)
        for t in range(x.shape[1]):
            i, f, g, o = ops.split(self.inputs(x[:, t]) + self.hidden(h), LSTM["hidden"], 1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
            h = ops.sigmoid(o) * ops.tanh(c)
        return self.head(h)


def mlp() -> nn.Cell:
    layers = []
    for inputs, outputs in zip(MLP["widths"], MLP["widths"][1:], strict=False):
        layers += [nn.Dense(inputs, outputs), nn.ReLU()]
    return nn.SequentialCell(*layers[:-1])


def training(network, shape: tuple[int, ...], classes: int):
    def make():
        ms.set_context(mode=ms.GRAPH_MODE if sys.argv[1] == "graph" else ms.PYNATIVE_MODE)
        ms.set_seed(0)
        net = network()
        loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
        train = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
        train.set_train()
        inputs = random(*shape)
        labels = ms.Tensor(np.random.default_rng(1).integers(0, classes, shape[0]).astype(np.int32))
        return lambda: train(inputs, labels).asnumpy()

    return make


if __name__ == "__main__":
    serve(
        {
            "resnet18": training(ResNet18, (RESNET["batch"], 3, RESNET["size"], RESNET["size"]), 1000),
            "lenet": training(LeNet5, (32, 1, 32, 32), 10),
            "mlp": training(mlp, (MLP["batch"], MLP["widths"][0]), 10),
            "transformer": training(
                TransformerBlock, (TRANSFORMER["batch"], TRANSFORMER["length"], TRANSFORMER["width"]), 10
            ),
            "lstm": training(LSTMLoop, (LSTM["batch"], LSTM["length"], LSTM["inputs"]), 10),
        }
    )
