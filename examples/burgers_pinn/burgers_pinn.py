"""Solves Burgers' equation with a network that has seen no solution, and compares it with the exact one.

    u_t + u u_x = (0.01 / pi) u_xx,  x in [-1, 1], t in [0, 1],  u(x, 0) = -sin(pi x),  u(-1, t) = u(1, t) = 0

The network gives u(x, t). Its loss is how far it is from fulfilling the equation at points inside, which
takes its first and second derivatives by x and t, and from the values at the border. Source: Raissi,
Perdikaris and Karniadakis, "Physics-informed neural networks", 2019. The exact solution is an integral
(Cole 1951, Hopf 1950), computed here by Gauss-Hermite quadrature as in Basdevant et al. 1986.
"""

import argparse

import numpy as np

import sorus as ms
from sorus import nn, ops

VISCOSITY = 0.01 / np.pi
BORDER_WEIGHT = 10.0  # without it the network settles for a wave that never rises


def exact(x: np.ndarray, t: np.ndarray, nodes: int = 200) -> np.ndarray:
    """The solution at points (x, t), float64: arrays of one shape in, and out."""
    roots, weights = np.polynomial.hermite.hermgauss(nodes)
    late = np.maximum(t, 1e-12)[..., None]
    at = x[..., None] - np.sqrt(4 * VISCOSITY * late) * roots
    scale = -np.cos(np.pi * at) / (2 * np.pi * VISCOSITY)
    heat = weights * np.exp(scale - scale.max(-1, keepdims=True))
    return np.where(t > 0, -(np.sin(np.pi * at) * heat).sum(-1) / heat.sum(-1), -np.sin(np.pi * x))


class Solution(nn.Cell):
    """u (N, 1) of positions and times, both (N, 1)."""

    def __init__(self, width: int, depth: int):
        super().__init__()
        sizes = [2] + [width] * depth
        layers = []
        for size, following in zip(sizes, sizes[1:]):
            layers += [nn.Dense(size, following, weight_init="xavier_uniform", bias_init="zeros"), nn.Tanh()]
        self.layers = nn.SequentialCell(
            [*layers, nn.Dense(width, 1, weight_init="xavier_uniform", bias_init="zeros")]
        )

    def construct(self, x, t):
        return self.layers(ops.concat((x, 2 * t - 1), 1))


class Residual(nn.Cell):
    """u_t + u u_x - viscosity u_xx (N, 1) at positions and times, both (N, 1)."""

    def __init__(self, solution: Solution):
        super().__init__()
        self.solution = solution
        # Rows do not depend on each other, so that the gradient of the sum holds the derivative of each.
        self.slopes = ms.grad(lambda x, t: self.solution(x, t).sum(), (0, 1))
        self.bend = ms.grad(lambda x, t: self.slopes(x, t)[0].sum(), 0)

    def construct(self, x, t):
        by_x, by_t = self.slopes(x, t)
        return by_t + self.solution(x, t) * by_x - VISCOSITY * self.bend(x, t)


class Loss(nn.Cell):
    """Mean square of the residual inside and of the distance to the given values at the border."""

    def __init__(self, solution: Solution):
        super().__init__()
        self.solution = solution
        self.residual = Residual(solution)

    def construct(self, inside, border, values):
        x, t = inside.split(1, 1)
        off = self.solution(*border.split(1, 1)) - values
        return (self.residual(x, t) ** 2).mean() + BORDER_WEIGHT * (off**2).mean()


def border_points(chance: np.random.RandomState, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (count, 2) at t = 0 and at both ends, and u there (count, 1)."""
    start, ends = count // 2, count - count // 2
    x = np.concatenate([chance.uniform(-1, 1, start), chance.choice([-1.0, 1.0], ends)])
    t = np.concatenate([np.zeros(start), chance.uniform(0, 1, ends)])
    u = np.where(t == 0, -np.sin(np.pi * x), 0.0)
    return np.stack([x, t], 1).astype(np.float32), u[:, None].astype(np.float32)


def inside_points(chance: np.random.RandomState, count: int) -> np.ndarray:
    """Points (count, 2), half of them near the place where the wave breaks."""
    x = np.where(np.arange(count) % 2, chance.uniform(-1, 1, count), chance.normal(0, 0.2, count).clip(-1, 1))
    return np.stack([x, chance.uniform(0, 1, count)], 1).astype(np.float32)


def relative_error(solution: Solution) -> float:
    """L2 distance to the exact solution on a grid of 101 x 41 points, relative to that solution."""
    x, t = np.meshgrid(np.linspace(-1, 1, 101), np.linspace(0, 1, 41))
    points = [ms.Tensor(axis.reshape(-1, 1).astype(np.float32)) for axis in (x, t)]
    truth = exact(x, t)
    return float(np.linalg.norm(solution(*points).asnumpy().reshape(x.shape) - truth) / np.linalg.norm(truth))


def main() -> None:
    """Reads the options, trains, and prints the distance to the exact solution."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=6000, help="training steps (default 6000)")
    parser.add_argument("--points", type=int, default=1000, help="points inside for each step (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the weights and the points (default 1)")
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default graph")
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    chance = np.random.RandomState(args.seed)

    solution = Solution(width=24, depth=6)
    rate = nn.CosineDecayLR(1e-5, 2e-3, args.steps)
    optimizer = nn.Adam(solution.trainable_params(), rate)
    step = nn.TrainOneStepCell(Loss(solution), optimizer)
    border, values = (ms.Tensor(array) for array in border_points(chance, 400))
    for number in range(1, args.steps + 1):
        loss = step(ms.Tensor(inside_points(chance, args.points)), border, values)
        if number % max(args.steps // 10, 1) == 0:
            print(f"step {number}: loss {float(loss):.2e}, relative error {relative_error(solution):.4f}")
    print(f"relative error {relative_error(solution):.4f}")


if __name__ == "__main__":
    main()
