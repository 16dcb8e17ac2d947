"""Streams of random numbers."""

from .. import _functions as F

__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


class Generator:
    """A stream of random numbers of its own, for functions that take a `generator`. It begins with seed 0.

    >>> import sorus as ms
    >>> g = ms.Generator().manual_seed(5)
    >>> first = ms.mint.rand(3, generator=g).tolist()
    >>> g.manual_seed(5) is g and ms.mint.rand(3, generator=g).tolist() == first
    True
    """

    def __init__(self):
        self._number = F.make_generator()

    def __del__(self):
        if self._number is not None:
            F.drop_generator(self._number)

    def __reduce__(self):
        return _generator_in, (self.get_state().asnumpy(),)

    def get_state(self):
        """Where it stands: a uint8 tensor of shape (16,), the seed and what was drawn since."""
        return F.generator_state(self._number)

    def set_state(self, state):
        """Puts it where it stood when `get_state` gave `state`. Raises TypeError when `state` is no tensor of
        uint8, ValueError when its shape is not (16,).
        """
        from .._core import Tensor

        if not isinstance(state, Tensor):
            raise TypeError(
                f"set_rng_state: 'state' has the wrong type: got {type(state).__name__}, need a Tensor"
            )
        F.set_generator_state(state, self._number)

    def initial_seed(self):
        """The seed with which it began."""
        return int.from_bytes(bytes(self.get_state().tolist()[:8]), "little")

    def manual_seed(self, seed):
        """Begins again with a seed, and gives the generator itself."""
        from .._core import Tensor, dtypes

        if isinstance(seed, bool) or not isinstance(seed, int):
            raise TypeError(f"manual_seed: 'seed' has the wrong type: got {type(seed).__name__}, need an int")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"manual_seed: 'seed' is out of range: got {seed}, need 64 bits")
        state = [*(seed % 2**64).to_bytes(8, "little"), *bytes(8)]
        self.set_state(Tensor(state, dtypes["uint8"]))
        return self

    def seed(self):
        """Begins again with a seed that the system draws, and gives that seed."""
        import secrets

        drawn = secrets.randbits(32)
        self.manual_seed(drawn)
        return drawn


def _generator_in(state):
    from .._core import Tensor

    made = Generator()
    made.set_state(Tensor(state))
    return made


class _DefaultGenerator(Generator):
    """The generator that functions use when none is given."""

    def __init__(self):
        self._number = None

    def __reduce__(self):
        return "default_generator"


default_generator = _DefaultGenerator()


def get_rng_state():
    """The state of the default generator, which random functions, dropout and initial values draw from: a
    uint8 tensor of shape (16,), to be given to `set_rng_state`.

    >>> import sorus as ms
    >>> state = ms.get_rng_state()
    >>> first = ms.ops.rand(3).tolist()
    >>> ms.set_rng_state(state)
    >>> ms.ops.rand(3).tolist() == first
    True
    """
    return default_generator.get_state()


def set_rng_state(state):
    """Puts the default generator back to where it stood when `get_rng_state` gave `state`. Functions that
    are called with a seed of their own, NumPy and pipelines of data go on as they were.

    Raises TypeError when `state` is no tensor of uint8, ValueError when its shape is not (16,).
    """
    default_generator.set_state(state)


def initial_seed():
    """The seed with which the default generator began."""
    return default_generator.initial_seed()


def manual_seed(seed):
    """Begins the default generator again with a seed, and gives it. NumPy and pipelines of data go on as they
    were: `set_seed` begins those again too.
    """
    return default_generator.manual_seed(seed)


def seed():
    """Begins the default generator again with a seed that the system draws, and gives that seed."""
    return default_generator.seed()
