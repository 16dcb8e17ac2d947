"""Shared by all Python tests: the package of this checkout comes first."""

import os
import pathlib
import sys

import pytest

os.environ.setdefault("SORUS_TUNING_DATABASE", "off")  # what the user has tuned is none of theirs
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run tests marked full too")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes too long for every run; needs --full")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--full"):
        kept = [item for item in items if item.get_closest_marker("full") is None]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


@pytest.fixture(params=["PYNATIVE_MODE", "GRAPH_MODE"], ids=["pynative", "graph"])
def mode(request):
    """Runs a test in both modes, which it may ask for."""
    import sorus as ms

    ms.set_context(mode=getattr(ms, request.param))
    yield getattr(ms, request.param)
    ms.set_context(mode=ms.PYNATIVE_MODE)
