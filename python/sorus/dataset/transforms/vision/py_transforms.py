"""An older path of the transforms of images."""

from ...vision.py_transforms import *  # noqa: F403
