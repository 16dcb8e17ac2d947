"""Training loops of one's own over a dataset: DatasetHelper, connect_network_with_dataset, data_sink."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, dataset, nn, train
from sorus.train.dataset_helper import DatasetHelper, connect_network_with_dataset


def data(count=6, batch=2):
    columns = np.arange(count, dtype=np.float32), np.arange(count, dtype=np.float32) * 10
    return dataset.NumpySlicesDataset(columns, ["x", "y"], shuffle=False).batch(batch)


class Sum(nn.Cell):
    def construct(self, x, y):
        return (x + y).sum()


WANT = [11.0, 55.0, 99.0]


def test_rows(mode):  # noqa: ARG001
    helper = DatasetHelper(data(), dataset_sink_mode=False, epoch_num=2)
    network = connect_network_with_dataset(Sum(), helper)
    for _ in range(2):
        assert [network(*row).item() for row in helper] == WANT
    assert helper.sink_size() == 3
    assert helper.types_shapes() == ([ms.float32, ms.float32], [(2,), (2,)])


def test_sunk_rows(mode):  # noqa: ARG001
    helper = train.DatasetHelper(data())
    network = train.connect_network_with_dataset(Sum(), helper)
    for _ in range(2):
        assert [network(*row).item() for row in helper] == WANT
    helper = ms.DatasetHelper(data(), True, sink_size=2)
    network = ms.connect_network_with_dataset(Sum(), helper)
    assert [network(*row).item() for _ in range(3) for row in helper] == WANT * 2
    network()
    helper.continue_send()
    helper.stop_send()
    assert network().item() == WANT[0]
    helper.release()
    assert network().item() == WANT[0]


def test_training(mode):  # noqa: ARG001
    """The same weights as by a plain loop."""

    def made():
        ms.set_seed(2)
        net = nn.Dense(1, 1)
        loss = nn.WithLossCell(net, nn.MSELoss())
        return net, nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 1e-3)).set_train()

    rows = [tuple(Tensor(np.float32([[i], [i + 1]]) * k) for k in (1, 10)) for i in range(0, 6, 2)]
    plain, step = made()
    for row in rows * 2:
        step(*row)
    sunk, step = made()
    helper = DatasetHelper(rows)
    connected = connect_network_with_dataset(step, helper)
    for _ in range(2):
        for row in helper:
            connected(*row)
    assert train.checksum(plain) == train.checksum(sunk)


def test_data_sink(mode):  # noqa: ARG001
    for config in (None, ms.JitConfig()):
        step = ms.data_sink(Sum(), data(), jit_config=config)
        assert [step().item() for _ in range(4)] == [*WANT, WANT[0]]
    seen = []
    step = train.data_sink(lambda x, y: seen.append(y.tolist()) or x, data(), 2)
    assert step().tolist() == [2.0, 3.0] and seen == [[0.0, 10.0], [20.0, 30.0]]
    step()
    assert len(seen) == 4 and seen[3] == seen[0]
    whole = ms.data_sink(lambda x, y: x, data(), -1)
    assert whole().tolist() == whole().tolist() == [4.0, 5.0]
    assert ms.data_sink(lambda x: x, [Tensor([1.0])])().tolist() == [1.0]


def test_data_sink_declares_its_rows():
    def step(width):
        declared = (Tensor(shape=[None, width], dtype=ms.float32),)
        rows = [Tensor(np.ones((n, 3), np.float32)) for n in (2, 4)]
        return ms.data_sink(lambda x: x.sum(), rows, jit_config=ms.JitConfig(), input_signature=declared)

    fits = step(3)
    assert [fits().item(), fits().item()] == [6.0, 12.0]
    with pytest.raises(ValueError):
        step(5)()


def test_refusals():
    for bad in (
        lambda: DatasetHelper(3),
        lambda: DatasetHelper(data(), 1),
        lambda: DatasetHelper(data(), True, 1.5),
        lambda: connect_network_with_dataset(Sum(), data()),
        lambda: ms.data_sink(3, data()),
        lambda: ms.data_sink(Sum(), data(), True),
        lambda: ms.data_sink(Sum(), 3)(),
    ):
        with pytest.raises(TypeError, match="has the wrong type"):
            bad()
    for bad in (lambda: DatasetHelper(data(), True, 0), lambda: ms.data_sink(Sum(), data(), -2)):
        with pytest.raises(ValueError, match="out of range"):
            bad()
    with pytest.raises(ValueError, match="dataset is empty"):
        ms.data_sink(lambda x: x, [])()
