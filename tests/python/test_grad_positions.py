"""A tensor given at two positions has a gradient for each."""

import numpy as np
import sorus as ms


def test_one_tensor_at_two_positions():
    x = ms.Tensor(np.array([2.0, 3.0], np.float32))
    first, second = ms.grad(lambda a, b: (a * a * b).sum(), (0, 1))(x, x)
    np.testing.assert_array_equal(first.asnumpy(), [8.0, 18.0])
    np.testing.assert_array_equal(second.asnumpy(), [4.0, 9.0])


def test_within_a_nested_argument_and_a_second_derivative():
    x = ms.Tensor(np.array([2.0], np.float32))

    def product(v):
        pair = ms.grad(lambda p: (p[0] * p[0] * p[1]).sum())((v, v))
        return (pair[0] + pair[1]).sum()  # 2 v v + v v

    assert ms.grad(product)(x).asnumpy().tolist() == [12.0]
