"""The networks of bench/networks.py in PyTorch. Runs in the peer's environment."""

from __future__ import annotations

import sys

import torch
from networks_sizes import LSTM, MLP, RESNET, TRANSFORMER
from torch import nn
from torch.nn import functional
from worker import serve


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.norm2(self.conv2(self.relu(self.norm1(self.conv1(x)))))
        y += x if self.shortcut is None else self.shortcut(x)
        return self.relu(y)


class ResNet18(nn.Module):
    """As torchvision writes it: ReLU and the sum in place."""

    def __init__(self):
        super().__init__()
        stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
        self.stem = nn.Sequential(*stem, nn.MaxPool2d(3, 2, 1))
        blocks, inputs = [], 64
        for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
            inputs = outputs
        self.body = nn.Sequential(*blocks)
        self.head = nn.Linear(512, 1000)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


class TransformerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        width = TRANSFORMER["width"]
        self.heads = TRANSFORMER["heads"]
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, 10)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x):
        batch, length, width = x.shape
        y = self.norm1(x)
        q, k, v = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(y)
        x = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return self.head(x.mean(1))


class LSTMLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = nn.Linear(LSTM["inputs"], 4 * LSTM["hidden"])
        self.hidden = nn.Linear(LSTM["hidden"], 4 * LSTM["hidden"])
        self.head = nn.Linear(LSTM["hidden"], 10)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], LSTM["hidden"])
        for t in range(x.shape[1]):
            i, f, g, o = (self.inputs(x[:, t]) + self.hidden(h)).split(LSTM["hidden"], 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.head(h)


def lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def mlp() -> nn.Module:
    layers = []
    for inputs, outputs in zip(MLP["widths"], MLP["widths"][1:], strict=False):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def training(network, shape: tuple[int, ...], classes: int):
    def make():
        torch.manual_seed(0)
        net = network()
        inputs, labels = torch.randn(*shape), torch.randint(classes, (shape[0],))
        if len(sys.argv) > 1 and sys.argv[1] == "channels_last" and len(shape) == 4:
            net, inputs = (x.to(memory_format=torch.channels_last) for x in (net, inputs))
        loss_of = nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(net(inputs), labels)
            loss.backward()
            optimizer.step()
            loss.item()

        return step

    return make


if __name__ == "__main__":
    serve(
        {
            "resnet18": training(ResNet18, (RESNET["batch"], 3, RESNET["size"], RESNET["size"]), 1000),
            "lenet": training(lenet, (32, 1, 32, 32), 10),
            "mlp": training(mlp, (MLP["batch"], MLP["widths"][0]), 10),
            "transformer": training(
                TransformerBlock, (TRANSFORMER["batch"], TRANSFORMER["length"], TRANSFORMER["width"]), 10
            ),
            "lstm": training(LSTMLoop, (LSTM["batch"], LSTM["length"], LSTM["inputs"]), 10),
        }
    )
