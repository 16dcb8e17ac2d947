"""Old place of the seed: `common.seed.set_seed`."""

from .._random import get_seed, set_seed
from .generator import get_rng_state, set_rng_state

__all__ = ["get_rng_state", "get_seed", "set_rng_state", "set_seed"]
