"""Shared by all Python tests: the package of this checkout comes first."""

import os
import pathlib
import sys

os.environ.setdefault("SORUS_TUNING_DATABASE", "off")  # what the user has tuned is none of theirs
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
