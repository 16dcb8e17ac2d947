"""Optimizers against a table that the C++ optimizers are held to as well: state and results, to the bit.

`python tests/python/test_optimizers_agree.py` prints the table anew.
"""

import json
import pathlib

import numpy as np
import pytest

import sorus as ms
from sorus import Parameter, Tensor, nn

TABLE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "optimizers.json"
RATES = {"fixed": 0.1, "falling": [0.1, 0.05, 0.02]}
STEPS = 4
OPTIMIZERS = {
    "SGD": lambda p, lr: nn.SGD(p, lr),
    "SGD nesterov, decay": lambda p, lr: nn.SGD(p, lr, momentum=0.9, nesterov=True, weight_decay=0.01),
    "SGD dampening": lambda p, lr: nn.SGD(p, lr, momentum=0.9, dampening=0.5),
    "Momentum": lambda p, lr: nn.Momentum(p, lr, 0.9),
    "Momentum nesterov, decay": lambda p, lr: nn.Momentum(p, lr, 0.9, weight_decay=0.01, use_nesterov=True),
    "ASGD": lambda p, lr: nn.ASGD(p, lr),
    "ASGD averaging, decay": lambda p, lr: nn.ASGD(p, lr, lambd=0.01, alpha=0.5, t0=2, weight_decay=0.01),
    "LARS of Momentum": lambda p, lr: nn.LARS(nn.Momentum(p, lr, 0.9, weight_decay=0.01)),
    "LARS of SGD, clip": lambda p, lr: nn.LARS(nn.SGD(p, lr), 1e-3, 0.5, True),
    "Adam": lambda p, lr: nn.Adam(p, lr),
    "Adam nesterov, decay": lambda p, lr: nn.Adam(p, lr, 0.8, 0.99, use_nesterov=True, weight_decay=0.01),
    "Adam amsgrad": lambda p, lr: nn.Adam(p, lr, use_amsgrad=True),
    "AdamOffload": lambda p, lr: nn.AdamOffload(p, lr),
    "LazyAdam": lambda p, lr: nn.LazyAdam(p, lr, weight_decay=0.01),
    "AdamWeightDecay": lambda p, lr: nn.AdamWeightDecay(p, lr),
    "AdamWeightDecay decay": lambda p, lr: nn.AdamWeightDecay(p, lr, 0.8, 0.99, 1e-5, weight_decay=0.01),
    "AdaMax": lambda p, lr: nn.AdaMax(p, lr),
    "AdaMax decay": lambda p, lr: nn.AdaMax(p, lr, 0.8, 0.99, 1e-5, weight_decay=0.01),
    "Lamb": lambda p, lr: nn.Lamb(p, lr),
    "Lamb decay": lambda p, lr: nn.Lamb(p, lr, 0.8, 0.99, 1e-5, weight_decay=0.01),
    "RMSProp": lambda p, lr: nn.RMSProp(p, lr),
    "RMSProp centered": lambda p, lr: nn.RMSProp(p, lr, momentum=0.9, centered=True, weight_decay=0.01),
    "Adagrad": lambda p, lr: nn.Adagrad(p, learning_rate=lr),
    "Adagrad fixed slots": lambda p, lr: nn.Adagrad(p, 0.5, lr, update_slots=False, weight_decay=0.01),
    "ProximalAdagrad": lambda p, lr: nn.ProximalAdagrad(p, learning_rate=lr),
    "ProximalAdagrad penalties": lambda p, lr: nn.ProximalAdagrad(p, 0.5, lr, 0.01, 0.1, weight_decay=0.01),
    "Adadelta": lambda p, lr: nn.Adadelta(p, lr),
    "Adadelta decay": lambda p, lr: nn.Adadelta(p, lr, 0.8, 1e-4, weight_decay=0.01),
    "FTRL": lambda p, lr: nn.FTRL(p, learning_rate=lr),
    "FTRL penalties": lambda p, lr: nn.FTRL(p, 0.5, lr, -0.25, 0.01, 0.1, weight_decay=0.01),
    "Rprop": lambda p, lr: nn.Rprop(p, lr),
    "Rprop limits": lambda p, lr: nn.Rprop(p, lr, (0.25, 2.0), (0.05, 0.15), weight_decay=0.01),
}
CASES = [
    (name, rates)
    for name in OPTIMIZERS
    for rates in RATES
    if rates == "fixed" or not name.startswith("FTRL")  # FTRL refuses rates that change
]


def pattern(count, start):
    """Numbers of both signs, with a zero among the first 21."""
    steps = (np.arange(count, dtype=np.int64) + start) * 37 % 21 - 10
    return (steps / 8).astype(np.float32)


def make_parameters():
    """A matrix, a bias and a scale, which decay leaves alone."""
    shapes = {"fc.weight": (3, 5), "fc.bias": (3,), "norm.gamma": (5,)}
    return [
        Parameter(Tensor(pattern(int(np.prod(shape)), i).reshape(shape)), name=name)
        for i, (name, shape) in enumerate(shapes.items())
    ]


def record(name, rates):
    """Names, shapes and elements of parameters and state after some steps."""
    parameters = make_parameters()
    optimizer = OPTIMIZERS[name](parameters, RATES[rates])
    for step in range(STEPS):
        optimizer(tuple(Tensor(pattern(p.size, 5 * step + 3).reshape(p.shape)) for p in parameters))
    state = list((optimizer.opt if isinstance(optimizer, nn.LARS) else optimizer).get_parameters())
    mine = {id(p) for p in parameters}
    rows = [*parameters, *(p for p in state if id(p) not in mine and p.name != "learning_rate")]
    return [[p.name, list(p.shape), p.asnumpy().reshape(-1).tolist()] for p in rows]


@pytest.fixture(scope="module")
def table():
    """The committed table."""
    return json.loads(TABLE.read_text())


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize(("name", "rates"), CASES)
def test_state_and_results_are_those_of_the_table(name, rates, mode, table):
    ms.set_context(mode=mode)
    try:
        # As text, in which 0 and -0 differ.
        assert json.dumps(record(name, rates)) == json.dumps(table[f"{name}; {rates}"])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_the_table_has_every_optimizer(table):
    assert list(table) == [f"{name}; {rates}" for name, rates in CASES]
    classes = {name for name in nn.optim.__all__ if name != "Optimizer"}
    assert classes == {name.split()[0] for name in OPTIMIZERS}


def main():
    """Prints the table."""
    rows = ",\n".join(
        f"{json.dumps(f'{name}; {rates}')}: {json.dumps(record(name, rates))}" for name, rates in CASES
    )
    print("{\n" + rows + "\n}")


if __name__ == "__main__":
    main()
