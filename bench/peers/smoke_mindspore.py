"""Proves that the genuine MindSpore wheel of this environment imports, computes and trains one step."""

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops


def main() -> None:
    """Adds two tensors and runs one training step of a dense layer."""
    total = ops.add(Tensor([1, 2, 3]), Tensor([1.5, 2.0, 3.0]))
    assert total.asnumpy().tolist() == [2.5, 4.0, 6.0], total

    net = nn.Dense(3, 2)
    images, labels = Tensor(np.ones((4, 3), np.float32)), Tensor(np.zeros(4, np.int32))
    loss_of = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, net.trainable_params())
    loss, gradients = loss_of(images, labels)
    assert np.isfinite(loss.asnumpy()) and len(gradients) == 2
    print(f"mindspore {ms.__version__}: add and one training step work")


if __name__ == "__main__":
    main()
