"""An older path of the transforms of images."""

from ...vision.c_transforms import *  # noqa: F403
