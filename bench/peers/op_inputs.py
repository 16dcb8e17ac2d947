"""The tensors that the cases in op_cases/ name, of short decimals, so that the fixtures stay readable."""

import numpy as np

NAN, INF = float("nan"), float("inf")


def _normal(seed: int, *shape: int) -> np.ndarray:
    """Values of about unit scale with two decimals."""
    return np.round(np.random.RandomState(seed).randn(*shape), 2).astype(np.float32)


def _grid(*shape: int) -> np.ndarray:
    """0, 1, 2, ... in row-major order."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


F23 = [[1.5, -2.0, 0.25], [-0.5, 3.0, -1.25]]
I23 = [[5, -3, 2], [-7, 4, 1]]

# name: (values, dtype)
INPUTS = {
    "f23": (F23, "float32"),
    "h23": (F23, "float16"),
    "b23": (F23, "bfloat16"),
    "d23": (F23, "float64"),
    "g23": ([[2.0, 0.5, -1.0], [4.0, -0.75, 1.5]], "float32"),
    "i23": (I23, "int32"),
    "l23": (I23, "int64"),
    "s23": (I23, "int16"),
    "c23": (I23, "int8"),
    "u23": ([[5, 3, 2], [7, 4, 1]], "uint8"),
    "j23": ([[2, 5, -3], [3, 1, -2]], "int32"),
    "t23": ([[True, False, True], [False, False, True]], "bool"),
    "q23": ([[True, True, False], [False, True, False]], "bool"),
    "f0": (2.5, "float32"),
    "i0": (3, "int32"),
    "t0": (True, "bool"),
    "f1": ([0.75], "float32"),
    "f3": ([0.5, -1.5, 2.0], "float32"),
    "g3": ([1.0, 4.0, -2.0], "float32"),
    "i3": ([1, 0, 2], "int32"),
    "l3": ([2, 0, 1], "int64"),
    "t3": ([True, False, True], "bool"),
    "t2": ([False, True], "bool"),
    "f6": ([0.5, -1.5, 2.0, 3.5, -0.25, 1.0], "float32"),
    "i6": ([3, 1, 2, 3, 1, 0], "int32"),
    "f13": ([[0.5, -1.5, 2.0]], "float32"),
    "f21": ([[3.0], [-2.0]], "float32"),
    "empty": ([], "float32"),
    "iempty": ([], "int32"),
    "f03": (np.zeros((0, 3)), "float32"),
    "f30": (np.zeros((3, 0)), "float32"),
    "special": (
        [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 0.3, 1e30, -1e30, 10.0, -10.0],
        "float32",
    ),
    "special2": (
        [1.0, NAN, INF, -0.0, 0.0, NAN, -INF, 2.0, -2.0, INF, 0.0, 1.0, -1e30, 1e30, 3.0, -3.0],
        "float32",
    ),
    "unit": ([-1.0, -0.9, -0.5, -0.1, 0.0, 0.3, 0.7, 0.99, 1.0], "float32"),
    "beyond": ([-2.0, -1.0, 1.0, 1.5, 20.0], "float32"),
    "positive": ([0.01, 0.1, 0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 100.0], "float32"),
    "wide": (
        [-80.0, -20.0, -5.0, -3.0, -2.0, -1.0, -0.3, 0.0, 0.2, 0.9, 1.7, 3.0, 6.0, 12.0, 80.0],
        "float32",
    ),
    "halves": ([-2.5, -1.5, -0.5, -0.4, 0.5, 1.5, 2.5, 2.6], "float32"),
    "ties": ([[1.0, 3.0, 3.0, 2.0, 1.0], [2.0, 2.0, 0.0, 5.0, 5.0]], "float32"),
    "nans": ([[1.0, NAN, 3.0], [4.0, 5.0, 6.0]], "float32"),
    "infs": ([[INF, 1.0, 2.0], [-INF, INF, 0.0]], "float32"),
    "big8": ([120, 100, 50], "int8"),
    "bigu8": ([250, 200, 7], "uint8"),
    "bits": ([12, 10, -1, 7], "int32"),
    "bits2": ([10, 3, 5, 2], "int32"),
    "f234": (_grid(2, 3, 4) / 4 - 2.5, "float32"),
    "i234": (_grid(2, 3, 4) - 10, "int32"),
    "f44": (_normal(1, 4, 4), "float32"),
    "f34": (_normal(2, 3, 4), "float32"),
    "f42": (_normal(3, 4, 2), "float32"),
    "b234": (_normal(4, 2, 3, 4), "float32"),
    "b242": (_normal(5, 2, 4, 2), "float32"),
    "f4": (_normal(6, 4), "float32"),
    "spd": ([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], "float32"),
    "r34": (_grid(3, 4) % 5 - 2, "int32"),
    "r42": (_grid(4, 2) % 3 - 1, "int32"),
    "logits": (_normal(7, 3, 5), "float32"),
    "target": ([1, 4, 0], "int32"),
    "ignored": ([1, -100, 0], "int32"),
    "soft": ([[0.1, 0.2, 0.3, 0.2, 0.2], [0.0, 1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0, 0.0]], "float32"),
    "weight5": ([1.0, 0.5, 2.0, 1.0, 0.25], "float32"),
    "prob": ([[0.1, 0.8, 0.5], [0.9, 0.3, 0.6]], "float32"),
    "binary": ([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], "float32"),
    "signs": ([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]], "float32"),
    "image": (_normal(8, 1, 2, 6, 6), "float32"),
    "image2": (_normal(9, 2, 4, 5, 7), "float32"),
    "kernel": (_normal(10, 3, 2, 3, 3), "float32"),
    "kernel4": (_normal(11, 4, 2, 3, 3), "float32"),
    "depthwise": (_normal(12, 4, 1, 3, 3), "float32"),
    "point": (_normal(13, 3, 2, 1, 1), "float32"),
    "signal": (_normal(14, 1, 2, 8), "float32"),
    "kernel1d": (_normal(15, 3, 2, 3), "float32"),
    "volume": (_normal(16, 1, 1, 4, 4, 4), "float32"),
    "kernel3d": (_normal(17, 2, 1, 2, 2, 2), "float32"),
    "transposed": (_normal(18, 2, 3, 3, 3), "float32"),
    "c2": ([0.5, -0.25], "float32"),
    "c2pos": ([1.5, 0.75], "float32"),
    "c3": ([0.5, -0.25, 0.125], "float32"),
    "c4": ([0.5, 1.0, 1.5, 2.0], "float32"),
    "table": (_normal(19, 5, 3), "float32"),
    "boxes": ([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0], [0.5, 0.0, 2.5, 1.0]], "float32"),
    "grid": (np.round(np.random.RandomState(20).uniform(-1.1, 1.1, (1, 3, 3, 2)), 2), "float32"),
    "index23": ([[0, 1, 0], [1, 0, 1]], "int32"),
    "index23_64": ([[2, 1, 0], [0, 0, 2]], "int64"),
    "pairs": ([[0, 1], [1, 2]], "int32"),
    "negative": ([-1, 0, -2], "int32"),
    "far": ([0, 7], "int32"),
    "segment": ([0, 0, 1, 2, 2, 1], "int32"),
    "sorted6": ([0.5, 1.0, 2.0, 2.0, 3.5, 7.0], "float32"),
    "zeros6": ([0, 2, 0, 3, 0, 1], "int32"),
    "repeats": ([2, 0, 1], "int32"),
}
