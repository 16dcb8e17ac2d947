"""Losses."""

from .loss import *
