"""Shared by all Python tests: the package of this checkout comes first."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
