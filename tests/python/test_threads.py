"""Several threads at once: one network that all call, networks that each train, values that others drop."""

import threading

import numpy as np
import pytest
from modes import bits

import sorus as ms
from sorus import Parameter, Tensor, nn, ops


def together(functions):
    """Results of functions that run at the same time, each in a thread."""
    results = [None] * len(functions)
    errors = []

    def run(i):
        try:
            results[i] = functions[i]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def network():
    ms.set_seed(1)
    return nn.SequentialCell(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dense(256, 10)
    )


@pytest.fixture(autouse=True, params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def _mode(request):
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_one_network_serves_all_threads():
    net = network()
    numbers = np.random.default_rng(0)
    inputs = [Tensor(numbers.standard_normal((2 + i % 3, 1, 8, 8), dtype=np.float32)) for i in range(6)]
    expected = [bits(net(x)) for x in inputs]

    def serve():
        return [[bits(net(x)) for x in inputs] for _ in range(20)]

    for results in together([serve] * 4):
        assert all(result == expected for result in results)


def trainer(seed):
    net = network()
    net.set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    loss = nn.CrossEntropyLoss()
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def train():
        numbers = np.random.default_rng(seed)
        losses = []
        for _ in range(15):
            x = Tensor(numbers.standard_normal((4, 1, 8, 8), dtype=np.float32))
            value, gradients = gradient(x, Tensor(numbers.integers(0, 10, 4).astype(np.int32)))
            optimizer(gradients)
            losses.append(bits(value))
        return losses, [bits(p) for p in net.get_parameters()]

    return train


def test_each_thread_trains_its_network():
    alone = [trainer(seed)() for seed in range(4)]
    assert together([trainer(seed) for seed in range(4)]) == alone


def test_other_threads_may_drop_results_that_are_still_computed():
    shared = []
    finished = threading.Event()

    def body(x):
        results = [x + i for i in range(12)]
        shared.extend(results)
        return results[::2]

    function = ms.jit(body)

    def make():
        x = Tensor(np.zeros((200, 200), np.float32))
        try:
            for _ in range(150):
                first = [float(t[0, 0]) for t in function(x)]
                assert first == [0, 2, 4, 6, 8, 10]
        finally:
            finished.set()

    def drop():
        while not finished.is_set():
            shared.clear()

    together([make, drop])


def test_threads_in_a_compiled_function():
    def body(x):
        results = []
        thread = threading.Thread(target=lambda: results.append(ops.exp(x) * 3))
        y = x * 2
        thread.start()
        thread.join()
        return results[0] + y

    x = Tensor(np.ones(5, np.float32))
    function = ms.jit(body)
    assert {bits(function(x)) for _ in range(4)} == {bits(body(x))}


def test_one_parameter_is_updated_by_all_threads():
    p = Parameter(Tensor(np.zeros(3, np.float32)), name="p")
    lock = threading.Lock()

    @ms.jit
    def count():
        p.set_data(p + 1)
        return p * 1

    def run():
        for _ in range(50):
            with lock:
                count()

    together([run] * 3)
    assert p.asnumpy().tolist() == [150, 150, 150]
