"""Metrics under their older place; they live in sorus.train."""

from ..train.metrics import *  # noqa: F403
