"""Old place of the seed: `common.seed.set_seed`."""

from .._random import get_seed, set_seed

__all__ = ["get_seed", "set_seed"]
