"""Layers against the table that the C++ layers are held to as well: names, defaults, parameters, results.

Inputs, and parameters that start at random, are filled by `pattern`, which tests/nn/layers_test.cpp spells
too.
"""

import json
import pathlib

import numpy as np
import pytest

from sorus import Tensor, nn, ops

TABLE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "layers.json"
CASES = json.loads(TABLE.read_text())


def pattern(shape, low=None, high=None, below=None):
    """Numbers that differ from place to place: float32 in [low, high), or int64 in [0, below)."""
    steps = np.arange(int(np.prod(shape)), dtype=np.int64) * 37 % 64
    if below is not None:
        return (steps % below).reshape(shape)
    return (low + (high - low) * steps / 64).astype(np.float32).reshape(shape)


def make(case):
    """The layer of a case."""
    arguments = {k: tuple(v) if isinstance(v, list) else v for k, v in case["arguments"].items()}
    return getattr(nn, case["layer"])(**arguments)


def run(layer, case):
    """The result on the case's inputs, and the parameters afterwards."""
    for item in case["parameters"]:
        if "bound" in item:
            value = pattern(item["shape"], -0.5, 0.5)
            dict(layer.parameters_and_names())[item["name"]].set_data(Tensor(value))
    layer.set_train(case["train"])
    y = layer(*(Tensor(pattern(**given)) for given in case["inputs"])).asnumpy()
    return y, {name: p.asnumpy() for name, p in layer.parameters_and_names()}


def text(case):
    return f"{case['layer']}({json.dumps(case['arguments'])}{', train' if case['train'] else ''})"


@pytest.mark.parametrize("case", CASES, ids=text)
def test_parameters_are_those_of_the_table(case):
    found = list(make(case).parameters_and_names())
    assert [(name, list(p.shape)) for name, p in found] == [
        (item["name"], item["shape"]) for item in case["parameters"]
    ]
    for (_, parameter), item in zip(found, case["parameters"]):
        value = parameter.asnumpy()
        assert parameter.requires_grad == item.get("requires_grad", True)
        if "constant" in item:
            assert (value == item["constant"]).all()
        else:
            assert 0 < np.abs(value).max() <= item["bound"]
        if "zero_row" in item:
            assert (value[item["zero_row"]] == 0).all()


@pytest.mark.parametrize("case", CASES, ids=text)
def test_results_are_those_of_the_table(case):
    y, state = run(make(case), case)
    want = case["result"]
    assert list(y.shape) == want["shape"]
    np.testing.assert_allclose(y.reshape(-1)[:4], want["first"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(y.astype(np.float64).mean(), want["mean"], rtol=1e-5, atol=1e-6)
    for name, values in case.get("moved", {}).items():
        np.testing.assert_allclose(state[name], values, rtol=1e-5, atol=1e-6)


def test_the_table_has_cases():
    assert len(CASES) > 100


def test_layers_hand_out_what_they_compute_with(mode):  # noqa: ARG001
    """For classes derived from them, which call it with other weights."""
    x = ops.randn((2, 4, 8, 8))
    conv = nn.Conv2d(4, 6, 3, 2, "pad", (1, 0, 1, 2), 1, 2, has_bias=True)
    y = conv.bias_add(conv.conv2d(x, conv.weight * 2), conv.bias)
    want = 2 * conv(x) - conv.bias.reshape(1, -1, 1, 1)
    np.testing.assert_allclose(y.asnumpy(), want.asnumpy(), 1e-4, 1e-5)
    dense = nn.Dense(8, 3)
    y = dense.bias_add(dense.matmul(x[0, 0], dense.weight), dense.bias)
    np.testing.assert_allclose(y.asnumpy(), dense(x[0, 0]).asnumpy(), 1e-4, 1e-5)
    norm = nn.LayerNorm((8,), epsilon=1e-3)
    np.testing.assert_array_equal(norm.layer_norm(x, norm.gamma, norm.beta)[0].asnumpy(), norm(x).asnumpy())

    class Own(nn.Conv2d):
        def __init__(self):
            super().__init__(4, 6, 3)
            self.conv2d = nn.Identity()

    assert isinstance(Own().conv2d, nn.Identity)
