"""Shared by all Python tests: the package of this checkout comes first."""

import os
import pathlib
import sys

import pytest

os.environ.setdefault("SORUS_TUNING_DATABASE", "off")  # what the user has tuned is none of theirs
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))


@pytest.fixture(params=["PYNATIVE_MODE", "GRAPH_MODE"], ids=["pynative", "graph"])
def mode(request):
    """Runs a test in both modes, which it may ask for."""
    import sorus as ms

    ms.set_context(mode=getattr(ms, request.param))
    yield getattr(ms, request.param)
    ms.set_context(mode=ms.PYNATIVE_MODE)
