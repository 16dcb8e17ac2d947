"""Losses."""
from .loss import *
