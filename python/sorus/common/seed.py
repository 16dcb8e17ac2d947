"""Old place of the seed: `common.seed.set_seed`."""

from .._random import get_rng_state, get_seed, set_rng_state, set_seed

__all__ = ["get_rng_state", "get_seed", "set_rng_state", "set_seed"]
