"""Proves that the PyTorch peer is set up as meant; prints the time of a LeNet-5 training step of batch 32."""

import os
import statistics
import time

import torch
from torch import nn

WARMUP_STEPS, TIMED_STEPS = 50, 300


def lenet5() -> nn.Module:
    """The LeNet-5 of the MindSpore tutorials: valid 5x5 convolutions on 32x32, ReLU and max pooling."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def main() -> None:
    """Checks threads and instruction set, then times momentum-SGD steps on random images."""
    assert torch.get_num_threads() == int(os.environ["OMP_NUM_THREADS"])
    assert os.environ["ATEN_CPU_CAPABILITY"].upper() in torch.__config__.show()
    torch.manual_seed(0)
    net, loss_of = lenet5(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(32, 1, 32, 32), torch.randint(10, (32,))
    times = []
    for step in range(WARMUP_STEPS + TIMED_STEPS):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(net(images), labels)
        loss.backward()
        optimizer.step()
        if step >= WARMUP_STEPS:
            times.append(time.perf_counter() - start)
    assert torch.isfinite(loss)
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {os.environ['ATEN_CPU_CAPABILITY']}: "
        f"LeNet-5 step of batch 32: median {statistics.median(times) * 1e3:.3f} ms, "
        f"fastest {min(times) * 1e3:.3f} ms"
    )


if __name__ == "__main__":
    main()
