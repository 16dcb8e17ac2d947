"""Old place of mixed precision: `train.amp.build_train_network`."""

from ..amp import *  # noqa: F403
