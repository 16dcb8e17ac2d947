"""Attention and transformers written out in NumPy, in float64: what the tests of both compare with."""

import numpy as np


def softmax(scores):
    """Of each row; NaN where all scores are -infinity."""
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


def weights(q, k, allowed=None, shift=None, scale=None):
    """Weights of attention in float64; `allowed` is bool, `shift` is added to the scores."""
    q, k = np.asarray(q, np.float64), np.asarray(k, np.float64)
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if shift is not None:
        scores = scores + shift
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    return softmax(scores)


def attention(q, k, v, allowed=None, shift=None, scale=None):
    """softmax(q k^T scale + shift) v."""
    return weights(q, k, allowed, shift, scale) @ np.asarray(v, np.float64)


def layer_norm(x, gamma, beta, eps=1e-5):
    """Over the last axis."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * gamma + beta


def heads(x, count):
    """(N, L, E) as (N, count, L, E / count)."""
    n, length, width = x.shape
    return x.reshape(n, length, count, width // count).transpose(0, 2, 1, 3)


def multihead(p, count, query, key, value, blocked=None, shift=None, zero_attn=False, prefix=""):
    """Output (N, L, E) and weights (N, heads, L, S) of several heads from parameters by name. `blocked` and
    `shift` have as many columns as there are keys given.
    """
    p = {name[len(prefix) :]: value for name, value in p.items() if name.startswith(prefix)}
    if "in_proj_weight" in p:
        projections = np.split(p["in_proj_weight"], 3)
    else:
        projections = [p[f"{part}_proj_weight"] for part in "qkv"]
    biases = np.split(p["in_proj_bias"], 3) if "in_proj_bias" in p else (0, 0, 0)
    q, k, v = (x @ w.T + b for x, w, b in zip((query, key, value), projections, biases))
    given = k.shape[1]
    if "bias_k" in p:
        k, v = (np.concatenate([t, p[b].repeat(len(t), 0)], 1) for t, b in ((k, "bias_k"), (v, "bias_v")))
    if zero_attn:
        k, v = (np.concatenate([t, np.zeros_like(t[:, :1])], 1) for t in (k, v))
    more = [(0, 0)] * 3 + [(0, k.shape[1] - given)]
    allowed = None if blocked is None else ~np.pad(np.broadcast_to(blocked, _four(blocked)), more)
    shift = None if shift is None else np.pad(np.broadcast_to(shift, _four(shift)), more)
    w = weights(*(heads(t, count) for t in (q, k)), allowed, shift)
    mixed = (w @ heads(v, count)).transpose(0, 2, 1, 3).reshape(q.shape)
    return mixed @ p["out_proj.weight"].T + p.get("out_proj.bias", 0), w


def _four(x):
    return (1,) * (4 - np.ndim(x)) + np.shape(x)


def encoder_layer(p, count, x, blocked=None, activation=None, norm_first=False):
    """One layer over x (N, S, E)."""

    def attended(x):
        return multihead(p, count, x, x, x, blocked, prefix="self_attn.")[0]

    return _residuals(p, x, [attended, lambda x: feed_forward(p, x, activation)], norm_first)


def decoder_layer(p, count, x, memory, blocked=None, memory_blocked=None, activation=None, norm_first=False):
    """One layer over x (N, T, E) and memory (N, S, E)."""

    def attended(x):
        return multihead(p, count, x, x, x, blocked, prefix="self_attn.")[0]

    def attended_to_memory(x):
        return multihead(p, count, x, memory, memory, memory_blocked, prefix="multihead_attn.")[0]

    parts = [attended, attended_to_memory, lambda x: feed_forward(p, x, activation)]
    return _residuals(p, x, parts, norm_first)


def feed_forward(p, x, activation=None):
    """Two dense layers."""
    inner = x @ p["dense1.weight"].T + p["dense1.bias"]
    inner = np.maximum(inner, 0) if activation is None else activation(inner)
    return inner @ p["dense2.weight"].T + p["dense2.bias"]


def _residuals(p, x, parts, norm_first):
    for i, part in enumerate(parts, 1):
        gamma, beta = p[f"norm{i}.gamma"], p[f"norm{i}.beta"]
        if norm_first:
            x = x + part(layer_norm(x, gamma, beta))
        else:
            x = layer_norm(x + part(x), gamma, beta)
    return x


def numeric_gradient(f, x, step=1e-6):
    """Of a function to a number, by central differences."""
    gradient = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        gradient[place] = (f(moved[0]) - f(moved[1])) / (2 * step)
    return gradient
