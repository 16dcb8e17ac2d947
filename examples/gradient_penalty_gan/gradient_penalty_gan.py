"""A generative adversarial network with a gradient penalty learns eight clouds of points on a circle.

The critic's loss holds the length of its own gradient by its input, so that training it takes second
derivatives. Source: Gulrajani et al., "Improved Training of Wasserstein GANs", 2017; the clouds are those
of Metz et al. 2016.
"""

import argparse

import numpy as np

import sorus as ms
from sorus import nn, ops

CLOUDS = 8
SPREAD = 0.05
NOISE = 8


def centers() -> np.ndarray:
    """The middles of the clouds (8, 2), on a circle of radius 1."""
    angles = np.arange(CLOUDS) * 2 * np.pi / CLOUDS
    return np.stack([np.cos(angles), np.sin(angles)], 1)


def real_points(chance: np.random.RandomState, count: int) -> np.ndarray:
    """Points (count, 2) of the clouds, float32."""
    middle = centers()[chance.randint(CLOUDS, size=count)]
    return (middle + chance.normal(0, SPREAD, (count, 2))).astype(np.float32)


def layers(inputs: int, outputs: int, width: int) -> nn.SequentialCell:
    """Three hidden layers of one width."""
    steps = [
        nn.Dense(inputs, width),
        nn.ReLU(),
        nn.Dense(width, width),
        nn.ReLU(),
        nn.Dense(width, width),
        nn.ReLU(),
    ]
    return nn.SequentialCell([*steps, nn.Dense(width, outputs)])


class CriticLoss(nn.Cell):
    """How little the critic tells made points from real ones, and how far its slope is from 1 in between."""

    def __init__(self, critic: nn.Cell, generator: nn.Cell, penalty: float):
        super().__init__()
        self.critic = critic
        self.generator = generator
        self.penalty = penalty
        self.slope = ms.grad(lambda points: self.critic(points).sum(), 0)

    def construct(self, real, noise, share):
        made = ops.stop_gradient(self.generator(noise))
        between = share * real + (1 - share) * made
        length = ((self.slope(between) ** 2).sum(1) + 1e-12).sqrt()
        return self.critic(made).mean() - self.critic(real).mean() + self.penalty * ((length - 1) ** 2).mean()


class GeneratorLoss(nn.Cell):
    """How far the critic takes made points for made ones."""

    def __init__(self, critic: nn.Cell, generator: nn.Cell):
        super().__init__()
        self.critic = critic
        self.generator = generator

    def construct(self, noise):
        return -self.critic(self.generator(noise)).mean()


def quality(points: np.ndarray) -> tuple[int, float]:
    """How many clouds have at least 1 % of the points, and which share of the points lies within 4 spreads of
    a middle.
    """
    distance = np.linalg.norm(points[:, None] - centers(), axis=2)
    good = distance.min(1) < 4 * SPREAD
    share = np.bincount(distance.argmin(1)[good], minlength=CLOUDS) / len(points)
    return int((share >= 0.01).sum()), float(good.mean())


def picture(points: np.ndarray, size: int = 21) -> str:
    """Where the points lie, in characters."""
    counts, _, _ = np.histogram2d(points[:, 1], points[:, 0], size, ((-1.4, 1.4), (-1.4, 1.4)))
    shades = np.minimum(counts / max(counts.max(), 1) * 12, 9).astype(int)
    return "\n".join("".join(" .:-=+*#%@"[s] * 2 for s in row).rstrip() for row in shades[::-1])


def main() -> None:
    """Reads the options, trains, and says how many clouds are found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=4000, help="steps of the generator (default 4000)")
    parser.add_argument(
        "--critic-steps", type=int, default=3, help="steps of the critic for each (default 3)"
    )
    parser.add_argument("--batch", type=int, default=256, help="points in a step (default 256)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and points (default 1)")
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph", help="default graph")
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(args.seed)
    chance = np.random.RandomState(args.seed)

    generator, critic = layers(NOISE, 2, 96), layers(2, 1, 96)
    rate = nn.PolynomialDecayLR(1e-3, 1e-5, args.steps, 1.0)
    slow = nn.PolynomialDecayLR(1e-3, 1e-5, args.steps * args.critic_steps, 1.0)
    critic_step = nn.TrainOneStepCell(
        CriticLoss(critic, generator, penalty=1.0), nn.Adam(critic.trainable_params(), slow, 0.5, 0.9)
    )
    generator_step = nn.TrainOneStepCell(
        GeneratorLoss(critic, generator), nn.Adam(generator.trainable_params(), rate, 0.5, 0.9)
    )

    def noise(count=args.batch):
        return ms.Tensor(chance.normal(size=(count, NOISE)).astype(np.float32))

    for number in range(1, args.steps + 1):
        for _ in range(args.critic_steps):
            share = ms.Tensor(chance.uniform(size=(args.batch, 1)).astype(np.float32))
            loss = critic_step(ms.Tensor(real_points(chance, args.batch)), noise(), share)
        generator_step(noise())
        if number % max(args.steps // 8, 1) == 0:
            found, good = quality(generator(noise(4000)).asnumpy())
            print(
                f"step {number}: critic's loss {float(loss):.3f}, {found} clouds, {good:.0%} of points in one"
            )
    points = generator(noise(4000)).asnumpy()
    print(picture(points))
    found, good = quality(points)
    print(f"clouds {found} of {CLOUDS}, good points {good:.3f}")


if __name__ == "__main__":
    main()
