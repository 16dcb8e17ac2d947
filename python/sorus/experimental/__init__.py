"""Names that MindSpore keeps for trial."""

from . import optim
