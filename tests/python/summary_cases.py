"""Values for summaries, by plugin and tag: what tests record, and what the genuine MindSpore has recorded."""

import numpy as np


def _waves(*shape):
    return np.sin(np.arange(np.prod(shape))).reshape(shape)


def cases():
    """Arrays by plugin and tag, in the order in which they are recorded."""
    wave = _waves(2000).astype(np.float32)
    odd = np.array([1.5, np.nan, np.inf, -np.inf, -2.0, 0.25, np.nan], np.float32)
    return {
        "scalar": {
            "float": np.array(1.25, np.float32),
            "one": np.array([-3.5], np.float16),
            "int": np.array([[7]], np.int64),
            "bool": np.array(True),
            "nan": np.array(np.nan, np.float32),
        },
        "image": {
            "grey": ((_waves(1, 1, 5, 4) + 1) / 2).astype(np.float32),
            "colour": (np.arange(90) * 5 % 256).astype(np.uint8).reshape(1, 3, 5, 6),
            "batch": _waves(10, 1, 3, 4).astype(np.float32),
            "pair": _waves(2, 3, 4, 2) * 100 + 40,
            "flat": np.full((1, 1, 2, 2), 9.0, np.float32),
            "black": np.zeros((9, 3, 2, 2), np.uint8),
        },
        "tensor": {
            "float32": _waves(2, 3).astype(np.float32),
            "float64": _waves(3) * 1e-3,
            "float16": _waves(4).astype(np.float16),
            "int8": np.arange(-3, 3, dtype=np.int8).reshape(2, 3),
            "int64": np.array([2**40 + 1, -5]),
            "uint16": np.array([65535, 0], np.uint16),
            "bool": np.array([True, False]),
            "empty": np.zeros((0, 2), np.float32),
        },
        "histogram": {
            "many": wave,
            "hundred": wave[:100],
            "eight": wave[:8],
            "three": wave[:3],
            "odd": odd,
            "same": np.full(4, 2.5, np.float32),
            "double": wave[:200].astype(np.float64) / 3,
            "half": wave[:200].astype(np.float16),
            "int": (np.arange(60) ** 2 % 37).astype(np.int32).reshape(6, 10),
            "same int": np.full((2, 3), 4, np.int64),
            "uint8": np.arange(7, dtype=np.uint8) * 30,
            "nothing": np.zeros((0,), np.float32),
            "no number": np.array([np.nan, np.inf], np.float32),
        },
    }
