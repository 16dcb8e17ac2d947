"""The networks in JAX, written over jax.lax and compiled by XLA. Runs in the peer's environment
(bench/peers/setup_jax.sh). Images have their channels innermost."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from models.cases import (
    BERT,
    BLOCK,
    CLASSES,
    EFFICIENT_STAGES,
    FIRST_POSITION,
    GPT,
    IMAGE,
    LAST_POSITION,
    LENET_SIZE,
    LOOP,
    MLP_WIDTHS,
    MOBILE_HEAD,
    MOBILE_STAGES,
    MOBILE_STEM,
    RECURRENT,
    RESNET18_STAGES,
    RESNET50_STAGES,
    SEQUENCES,
    SQUEEZE,
    Case,
)

jax.config.update("jax_default_prng_impl", "rbg")  # its fastest random bits


class Weights:
    """The weights of a network by the order in which it asks for them: made on the first way through,
    then given. `running` has the statistics of batch norms, `updated` those after this step."""

    def __init__(self, values: list | None = None, running: list | None = None, training=False, key=None):
        self.making = values is None
        self.values, self.running = values or [], running or []
        self.training, self.key, self.updated = training, key, []
        self.taken = self.taken_running = 0

    def take(self, shape: tuple, scale: float, mean: float = 0.0):
        if self.making:
            random = np.random.default_rng(len(self.values))
            self.values.append((mean + scale * random.standard_normal(shape)).astype(np.float32))
        self.taken += 1
        return self.values[self.taken - 1]

    def take_running(self, channels: int):
        if self.making:
            self.running.append(np.stack([np.zeros(channels), np.ones(channels)]).astype(np.float32))
        self.taken_running += 1
        return self.running[self.taken_running - 1]

    def dropout(self, x, rate: float):
        if not rate or self.making:
            return x
        self.key, key = jax.random.split(self.key)
        return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def dense(w: Weights, x, outputs: int):
    inputs = x.shape[-1]
    return x @ w.take((inputs, outputs), inputs**-0.5) + w.take((outputs,), 0)


def convolution(w, x, outputs: int, kernel: int, stride: int = 1, groups: int = 1, padding=None):
    shape = (kernel, kernel, x.shape[-1] // groups, outputs)
    pad = [(kernel // 2 if padding is None else padding,) * 2] * 2
    weights = w.take(shape, (2 / (kernel**2 * shape[2])) ** 0.5)
    names = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x, weights, (stride, stride), pad, dimension_numbers=names, feature_group_count=groups
    )


def batch_norm(w: Weights, x):
    channels = x.shape[-1]
    gamma, beta, running = w.take((channels,), 0, 1), w.take((channels,), 0), w.take_running(channels)
    mean, variance = running[0], running[1]
    if w.training:
        mean, square = x.mean((0, 1, 2)), jnp.square(x).mean((0, 1, 2))
        variance = square - mean * mean
        w.updated.append(0.9 * running + 0.1 * lax.stop_gradient(jnp.stack([mean, variance])))
    scale = gamma * lax.rsqrt(variance + 1e-5)
    return x * scale + (beta - mean * scale)


def normed(w, x, outputs: int, kernel: int, stride: int = 1, groups: int = 1, then=None):
    y = batch_norm(w, convolution(w, x, outputs, kernel, stride, groups))
    return then(y) if then else y


def layer_norm(w: Weights, x):
    gamma, beta = w.take(x.shape[-1:], 0, 1), w.take(x.shape[-1:], 0)
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * gamma + beta


def max_pool(x, window: int, stride: int, padding: int):
    sides = ((0, 0), (padding, padding), (padding, padding), (0, 0))
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, window, window, 1), (1, stride, stride, 1), sides)


def residual(w, x, width: int, stride: int, deep: bool):
    outputs = 4 * width if deep else width
    if deep:
        y = normed(w, x, width, 1, then=jax.nn.relu)
        y = normed(w, normed(w, y, width, 3, stride, then=jax.nn.relu), outputs, 1)
    else:
        y = normed(w, normed(w, x, width, 3, stride, then=jax.nn.relu), outputs, 3)
    if stride != 1 or x.shape[-1] != outputs:
        x = normed(w, x, outputs, 1, stride)
    return jax.nn.relu(x + y)


def resnet(stages: tuple, deep: bool):
    def network(w, x):
        x = max_pool(normed(w, x, 64, 7, 2, then=jax.nn.relu), 3, 2, 1)
        for width, count, stride in stages:
            for i in range(count):
                x = residual(w, x, width, stride if i == 0 else 1, deep)
        return dense(w, x.mean((1, 2)), CLASSES)

    return network


def squeeze(w, x, middle: int):
    y = jax.nn.silu(convolution(w, x.mean((1, 2), keepdims=True), middle, 1) + w.take((middle,), 0))
    return x * jax.nn.sigmoid(convolution(w, y, x.shape[-1], 1) + w.take((x.shape[-1],), 0))


def inverted(w, x, outputs: int, expansion: int, kernel: int, stride: int, then, squeezes: bool):
    inputs = x.shape[-1]
    middle = expansion * inputs
    y = normed(w, x, middle, 1, then=then) if expansion > 1 else x
    y = normed(w, y, middle, kernel, stride, middle, then)
    if squeezes:
        y = squeeze(w, y, max(1, inputs // SQUEEZE))
    y = normed(w, y, outputs, 1)
    return x + y if stride == 1 and inputs == outputs else y


def mobile(stages: tuple, then, squeezes: bool):
    def network(w, x):
        x = normed(w, x, MOBILE_STEM, 3, 2, then=then)
        for expansion, outputs, count, stride, kernel in stages:
            for i in range(count):
                x = inverted(w, x, outputs, expansion, kernel, stride if i == 0 else 1, then, squeezes)
        return dense(w, normed(w, x, MOBILE_HEAD, 1, then=then).mean((1, 2)), CLASSES)

    return network


def lenet(w, x):
    for channels in (6, 16):
        x = convolution(w, x, channels, 5, padding=0) + w.take((channels,), 0)
        x = max_pool(jax.nn.relu(x), 2, 2, 0)
    x = x.reshape(x.shape[0], -1)
    return dense(w, jax.nn.relu(dense(w, jax.nn.relu(dense(w, x, 120)), 84)), 10)


def mlp(w, x):
    for width in MLP_WIDTHS[1:-1]:
        x = jax.nn.relu(dense(w, x, width))
    return dense(w, x, MLP_WIDTHS[-1])


def attention(w, x, heads: int, dropout: float = 0.0, causal: bool = False, past=None):
    """Given a past (keys, values, position), x is one position, and keys and values come back with it."""
    batch, length, width = x.shape
    q, k, v = (dense(w, x, width) for _ in range(3))
    hidden = jnp.triu(jnp.full((length, length), -1e9, x.dtype), 1) if causal else None
    if past is not None:
        keys, values, position = past
        k = lax.dynamic_update_slice(keys, k, (0, position, 0))
        v = lax.dynamic_update_slice(values, v, (0, position, 0))
        hidden = jnp.where(jnp.arange(k.shape[1]) > position, -1e9, 0).astype(x.dtype)
    split = lambda t: t.reshape(batch, t.shape[1], heads, width // heads)
    scores = jnp.einsum("bqhd,bkhd->bhqk", split(q), split(k)) * (width // heads) ** -0.5
    weights = jax.nn.softmax(scores if hidden is None else scores + hidden, -1)
    weights = w.dropout(weights, dropout)
    y = jnp.einsum("bhqk,bkhd->bqhd", weights, split(v)).reshape(x.shape)
    return dense(w, y, width), (k, v)


def perceptron(w, x, approximate: bool):
    width = x.shape[-1]
    return dense(w, jax.nn.gelu(dense(w, x, 4 * width), approximate=approximate), width)


def encoder(heads: int, dropout: float = 0.0):
    """Attention and a perceptron, each followed by a norm, as in BERT."""

    def network(w, x):
        x = layer_norm(w, x + w.dropout(attention(w, x, heads, dropout)[0], dropout))
        return layer_norm(w, x + w.dropout(perceptron(w, x, False), dropout))

    return network


def decoder(w, x, heads: int, causal: bool = False, approximate: bool = False, past=None):
    """A norm before attention and one before a perceptron, as in GPT."""
    y, past = attention(w, layer_norm(w, x), heads, causal=causal, past=past)
    x = x + y
    return x + perceptron(w, layer_norm(w, x), approximate), past


def classifier(w, x):
    return dense(w, decoder(w, x, BLOCK["heads"])[0].mean(1), BLOCK["classes"])


def gpt2(w, ids, position=None, pasts=None):
    """Scores of words at all positions; or, given pasts, the most likely word after one more, and pasts."""
    width = GPT["width"]
    words, places = w.take((GPT["words"], width), 0.02), w.take((GPT["places"], width), 0.02)
    positions = jnp.arange(ids.shape[1]) if pasts is None else position
    x = jnp.take(words, ids, axis=0, mode="clip") + jnp.take(places, positions, axis=0, mode="clip")
    kept = []
    for layer in range(GPT["layers"]):
        past = None if pasts is None else (*pasts[layer], position)
        x, new = decoder(w, x, GPT["heads"], pasts is None, True, past)
        kept.append(new)
    scores = layer_norm(w, x).reshape(-1, width) @ words.T
    return scores if pasts is None else (scores.argmax(-1)[None].astype(jnp.int32), kept)


def lstm_cell(i, f, g, o, c):
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def loop(w, x):
    """One LSTM cell written out, stepped through time by a Python loop."""
    hidden = LOOP["hidden"]
    of_inputs = dense(w, x, 4 * hidden)
    weights, bias = w.take((hidden, 4 * hidden), hidden**-0.5), w.take((4 * hidden,), 0)
    h = c = jnp.zeros((x.shape[0], hidden))
    for t in range(x.shape[1]):
        h, c = lstm_cell(*jnp.split(of_inputs[:, t] + h @ weights + bias, 4, 1), c)
    return dense(w, h, LOOP["classes"])


def recurrent(gates: int):
    """The outputs of all steps of an LSTM (4 gates) or a GRU (3), by lax.scan."""

    def network(w, x):
        hidden = RECURRENT["hidden"]
        of_inputs = jnp.swapaxes(dense(w, x, gates * hidden), 0, 1)
        weights, bias = w.take((hidden, gates * hidden), hidden**-0.5), w.take((gates * hidden,), 0)

        def lstm(state, of_input):
            h, c = lstm_cell(*jnp.split(of_input + state[0] @ weights + bias, 4, 1), state[1])
            return (h, c), h

        def gru(h, of_input):
            r, z, n = jnp.split(of_input, 3, 1)
            hr, hz, hn = jnp.split(h @ weights + bias, 3, 1)
            r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
            n = jnp.tanh(n + r * hn)
            h = (1 - z) * n + z * h
            return h, h

        zeros = jnp.zeros((x.shape[0], hidden), x.dtype)
        _, outputs = lax.scan(*((lstm, (zeros, zeros)) if gates == 4 else (gru, zeros)), of_inputs)
        return jnp.swapaxes(outputs, 0, 1)

    return network


NETWORKS = {
    "lenet": lenet,
    "mlp": mlp,
    "block": classifier,
    "loop": loop,
    "resnet18": resnet(RESNET18_STAGES, False),
    "resnet50": resnet(RESNET50_STAGES, True),
    "mobilenetv2": mobile(MOBILE_STAGES, lambda x: jnp.clip(x, 0, 6), False),
    "efficientnet_b0": mobile(EFFICIENT_STAGES, jax.nn.silu, True),
    "gpt2": gpt2,
    "lstm": recurrent(4),
    "gru": recurrent(3),
}


def example(model: str, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs of a network and labels."""
    random = np.random.default_rng(0)
    numbers = lambda *shape: random.standard_normal(shape).astype(np.float32)
    integers = lambda limit, *shape: random.integers(0, limit, shape).astype(np.int32)
    if model == "lenet":
        return numbers(batch, LENET_SIZE, LENET_SIZE, 1), integers(10, batch)
    if model == "mlp":
        return numbers(batch, MLP_WIDTHS[0]), integers(MLP_WIDTHS[-1], batch)
    if model == "gpt2":
        return integers(GPT["words"], batch, GPT["length"]), integers(GPT["words"], batch * GPT["length"])
    if model in SEQUENCES:
        length, width, classes = SEQUENCES[model]
        return numbers(batch, length, width), integers(classes, batch)
    return numbers(batch, IMAGE, IMAGE, 3), integers(CLASSES, batch)


def made(network, x) -> tuple[list, list]:
    """Fresh weights and running statistics of a network."""
    weights = Weights()
    jax.eval_shape(lambda x: network(weights, x), x)
    return weights.values, weights.running


def train_step(network, x, y, adam: bool):
    def loss_of(values, running, x, y):
        weights = Weights(values, running, True)
        scores = jax.nn.log_softmax(network(weights, x), -1)
        return -jnp.take_along_axis(scores, y[:, None], 1).mean(), weights.updated

    def momentum(value, gradient, state):
        velocity = 0.9 * state[0] + gradient
        return value - 0.01 * velocity, (velocity,)

    def adamw(value, gradient, state):
        first, second = 0.9 * state[0] + 0.1 * gradient, 0.999 * state[1] + 0.001 * gradient**2
        return value - 1e-4 * (first / (jnp.sqrt(second) + 1e-8) + 0.01 * value), (first, second)

    def step(values, running, states, x, y):
        (loss, running), gradients = jax.value_and_grad(loss_of, has_aux=True)(values, running, x, y)
        update = adamw if adam else momentum
        news = [update(*one) for one in zip(values, gradients, states, strict=True)]
        return [value for value, _ in news], running, [state for _, state in news], loss

    values, running = (jax.tree.map(jnp.asarray, tree) for tree in made(network, x))
    states = [tuple(jnp.zeros_like(value) for _ in range(2 if adam else 1)) for value in values]
    x, y = jnp.asarray(x), jnp.asarray(y)
    compiled = jax.jit(step, donate_argnums=(0, 1, 2)).lower(values, running, states, x, y).compile()

    def run():
        nonlocal values, running, states
        values, running, states, loss = compiled(values, running, states, x, y)
        jax.block_until_ready((values, loss))

    return run


def gradient_step(network, x):
    """Gradients of everything for a given gradient of the output."""
    values = [jnp.asarray(value) for value in made(network, x)[0]]
    key = jax.random.key(0)

    def gradients(values, x, seed, key):
        key, used = jax.random.split(key)
        y, pull = jax.vjp(lambda values, x: network(Weights(values, training=True, key=used), x), values, x)
        return y, pull(seed), key

    x = jnp.asarray(x)
    seed = jnp.ones(jax.eval_shape(lambda x: network(Weights(values, key=key), x), x).shape)
    compiled = jax.jit(gradients).lower(values, x, seed, key).compile()

    def run():
        nonlocal key
        _, _, key = jax.block_until_ready(compiled(values, x, seed, key))

    return run


def forward_step(network, x, dtype):
    values, running = made(network, x)
    values, running, x = jax.tree.map(lambda value: jnp.asarray(value, dtype), (values, running, x))
    function = jax.jit(lambda values, running, x: network(Weights(values, running), x))
    compiled = function.lower(values, running, x).compile()
    return lambda: jax.block_until_ready(compiled(values, running, x))


def token_step():
    """Each call makes a token at the next position, from the token of the last call."""
    word, at = jnp.ones((1, 1), jnp.int32), FIRST_POSITION
    values = [jnp.asarray(value) for value in made(gpt2, word)[0]]
    room = lambda: jnp.zeros((1, LAST_POSITION, GPT["width"]))
    pasts = [(room(), room()) for _ in range(GPT["layers"])]
    function = jax.jit(lambda values, *inputs: gpt2(Weights(values), *inputs), donate_argnums=(3,))
    positions = [jnp.asarray(i, jnp.int32) for i in range(LAST_POSITION)]
    compiled = function.lower(values, word, positions[0], pasts).compile()

    def run():
        nonlocal word, at, pasts
        word, pasts = compiled(values, word, positions[at], pasts)
        at = at + 1 if at + 1 < LAST_POSITION else FIRST_POSITION
        word.block_until_ready()

    return run


def prepare(case: Case, variant: str):  # noqa: ARG001
    """What runs a case once. There is one variant."""
    if case.how == "token":
        return token_step()
    network = encoder(BERT["heads"], case.dropout) if case.model == "bert" else NETWORKS[case.model]
    x, y = example(case.model, case.batch)
    if case.how == "train":
        return train_step(network, x, y, case.model == "gpt2")
    if case.how == "gradient":
        return gradient_step(network, x)
    return forward_step(network, x, jnp.bfloat16 if case.dtype == "bf16" else jnp.float32)
