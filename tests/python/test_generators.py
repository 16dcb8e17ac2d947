"""Streams of random numbers of their own, eager and in graph mode."""

import copy
import gc
import pickle

import numpy as np
import pytest

import sorus as ms
from sorus import Generator, Tensor, mint
from sorus.common.generator import default_generator

DRAWS = [
    lambda g: mint.rand(3, 4, generator=g),
    lambda g: mint.randn(5, generator=g),
    lambda g: mint.randint(10, (6,), generator=g),
    lambda g: mint.randint(2, 10, (6,), generator=g),
    lambda g: mint.randperm(9, generator=g),
    lambda g: mint.normal(1.0, 2.0, (4,), generator=g),
    lambda g: mint.bernoulli(Tensor([0.5] * 32), generator=g),
    lambda g: mint.multinomial(Tensor([0.1, 0.2, 0.7]), 20, True, generator=g),
    lambda g: Tensor([0.5] * 32).bernoulli(generator=g),
    lambda g: Tensor([0.0] * 5).normal_(generator=g),
    lambda g: Tensor([0.0] * 5).uniform_(generator=g),
    lambda g: Tensor([0.0] * 5).uniform(generator=g),
]


@pytest.mark.parametrize("draw", DRAWS, ids=range(len(DRAWS)))
def test_functions_draw_from_it_and_from_nothing_else(mode, draw):
    g, state = Generator().manual_seed(3), ms.get_rng_state().tolist()
    f = ms.jit(draw) if mode == ms.GRAPH_MODE else draw
    first = [f(g).tolist() for _ in range(4)]
    assert len({str(x) for x in first}) > 1
    assert ms.get_rng_state().tolist() == state
    g.manual_seed(3)
    assert [draw(g).tolist() for _ in range(4)] == first
    ms.set_seed(3)
    assert [draw(None).tolist() for _ in range(4)] == first


def test_streams_are_apart(mode):  # noqa: ARG001
    a, b = Generator().manual_seed(1), Generator().manual_seed(1)
    x = [mint.rand(2, generator=a).tolist() for _ in range(3)]
    assert [mint.rand(2, generator=b).tolist() for _ in range(3)] == x
    b.manual_seed(2)
    assert mint.rand(2, generator=b).tolist() not in x
    state = a.get_state()
    y = mint.rand(2, generator=a).tolist()
    ms.set_seed(9)  # does not reach them
    a.set_state(state)
    assert mint.rand(2, generator=a).tolist() == y


def test_states_and_seeds():
    """As recorded of MindSpore 2.7."""
    g = Generator()
    assert g.initial_seed() == 0
    drawn = g.seed()
    assert g.initial_seed() == drawn != 0
    assert g.manual_seed(7) is g and g.initial_seed() == 7
    state = g.get_state()
    assert state.tolist() == [7] + 15 * [0] and state.dtype == ms.uint8
    assert g.set_state(state) is None
    assert ms.manual_seed(3) is default_generator and ms.initial_seed() == 3
    assert ms.get_rng_state().tolist() == [3] + 15 * [0]
    assert ms.seed() == ms.initial_seed() == default_generator.initial_seed()


def test_copies_go_on_where_it_stands():
    g = Generator().manual_seed(4)
    mint.rand(3, generator=g)
    for made in (copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        want = made.get_state().tolist()
        assert want == g.get_state().tolist()
        mint.rand(3, generator=made)
        assert g.get_state().tolist() == want != made.get_state().tolist()
    assert copy.deepcopy(default_generator) is default_generator


def test_one_that_is_gone_is_not_missed(mode):
    def draw(g):
        return mint.rand(2, generator=g)

    f = ms.jit(draw) if mode == ms.GRAPH_MODE else draw
    seen = []
    for _ in range(5):
        g = Generator().manual_seed(8)
        seen.append(f(g).tolist())
        del g
        gc.collect()
    assert all(x == seen[0] for x in seen)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Generator().manual_seed("a"), TypeError, "manual_seed: 'seed'.*got str, need an int"),
        (lambda: Generator().manual_seed(True), TypeError, "got bool"),
        (lambda: Generator().manual_seed(2**64), ValueError, "need 64 bits"),
        (lambda: Generator().set_state([1]), TypeError, "got list, need a Tensor"),
        (lambda: Generator().set_state(Tensor(np.zeros(3, np.uint8))), ValueError, "need \\(16,\\)"),
        (lambda: mint.rand(2, generator=5), TypeError, "'generator'.*got int, need a Generator"),
    ],
)
def test_what_does_not_fit_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()
