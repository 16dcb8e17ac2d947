"""Ways to train faster."""

from .grad_accumulation import GradientAccumulation

__all__ = ["GradientAccumulation"]
