"""Layers by kind."""

from .activation import *
from .basic import *
from .combined import *
from .container import *
from .conv import *
from .image import *
from .math import *
from .normalization import *
from .pooling import *
