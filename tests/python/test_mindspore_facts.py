"""Replays the recorded facts of the genuine MindSpore (tests/fixtures/mindspore/facts.json) with Sorus.

The sections are those of bench/peers/record_facts.py, run with the names of MindSpore bound to Sorus. What
chance makes is compared by its statistics. A fact that differs on purpose has a line
`facts:SECTION/KEY<tab>reason` in deviations.txt and must then differ.
"""

import functools
import importlib
import json
import math
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from mindspore_fixtures import FIXTURES, load_deviations

sorus = pytest.importorskip("sorus")

MODULES = (
    "",
    ".nn",
    ".ops",
    ".train",
    ".dataset",
    ".dataset.transforms",
    ".dataset.vision",
    ".common",
    ".common.initializer",
    ".numpy",
)
RECORD = json.loads((FIXTURES / "facts.json").read_text())
DEVIATIONS = {key[6:]: reason for key, reason in load_deviations().items() if key.startswith("facts:")}
# The peer's generators are not ours; what is drawn must only have the same form.
CHANCE = {"seeds": "np.random", "initializers": None}


@functools.cache
def _recorder() -> ModuleType:
    """bench/peers/record_facts.py, importing Sorus wherever it says MindSpore."""
    aliases = {f"mindspore{name}": importlib.import_module(f"sorus{name}") for name in MODULES}
    before = {name: sys.modules.get(name) for name in aliases}
    sys.modules.update(aliases)
    sys.path.insert(0, str(FIXTURES.parents[2] / "bench/peers"))
    try:
        return importlib.import_module("record_facts")
    finally:
        sys.path.pop(0)
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@functools.cache
def _section(name: str) -> dict[str, Any]:
    """Our record of a section, as it is after a journey through JSON."""
    recorder = _recorder()
    if name == "resized":
        rows = RECORD["images"]["first two"]
        images = [np.frombuffer(bytes.fromhex(row[2]), row[0]).reshape(row[1]) for row in rows]
        section = recorder.resized(*images)
    else:
        section = recorder.SECTIONS[name]()
    return json.loads(json.dumps(section))


def _incapable(fact: Any) -> bool:
    """Whether the recorded wheel could not do what was asked for."""
    return isinstance(fact, str) and "Unsupported op" in fact


def _facts() -> list:
    """One test per key of each section that needs no files; deviations are expected to fail."""
    facts = []
    for section, content in RECORD.items():
        if section in ("mindspore", "images"):
            continue
        for key, fact in content.items():
            name = f"{section}/{key}"
            marks = [pytest.mark.xfail(reason=DEVIATIONS[name], strict=True)] if name in DEVIATIONS else []
            if key != "about" and not _incapable(fact):
                facts.append(pytest.param(section, key, id=name, marks=marks))
    return facts


def _is_far(got: dict[str, float], expected: dict[str, float]) -> bool:
    """Whether two samples' statistics differ by more than chance explains (six standard errors)."""
    count, spread = expected["count"], expected["max"] - expected["min"]
    uniform = spread < 2 * math.sqrt(3.1) * expected["std"]  # the ends of other distributions are chance
    end = (0.03 + 10 / count if uniform else 0.5) * spread
    room = {
        "mean": 6 * expected["std"] / math.sqrt(count),
        "std": 6 * expected["std"] / math.sqrt(2 * count),
        "min": end,
        "max": end,
        "count": 0,
    }
    return any(abs(got[name] - expected[name]) > room[name] + 1e-5 for name in room)


def _difference(got: Any, expected: Any, path: str, chance: bool) -> str:
    """The first place where two facts differ, or nothing."""
    if isinstance(expected, dict) and isinstance(got, dict):
        if got.keys() != expected.keys():
            return f"{path}: keys {list(got)} instead of {list(expected)}"
        if chance and "std" in expected:
            far = _is_far(got, expected)
            return f"{path}: {got} is far from {expected}" if far else ""
        pairs = [(got[key], expected[key], key) for key in expected]
    elif isinstance(expected, list) and isinstance(got, list):
        if len(got) != len(expected):
            return f"{path}: {len(got)} items instead of {len(expected)}"
        pairs = [(a, b, str(i)) for i, (a, b) in enumerate(zip(got, expected, strict=True))]
    elif (
        isinstance(expected, (int, float)) and not isinstance(expected, bool) and type(got) is type(expected)
    ):
        close = math.isclose(got, expected, rel_tol=2e-5, abs_tol=1e-6)
        return "" if close or chance else f"{path}: {got} instead of {expected}"
    else:
        return "" if got == expected else f"{path}: {got!r} instead of {expected!r}"
    differences = (_difference(a, b, f"{path}/{key}", chance) for a, b, key in pairs)
    return next(filter(None, differences), "")


@functools.cache
def _missing_modules() -> tuple[str, ...]:
    """Modules that the sections import and Sorus lacks."""
    missing = []
    for name in MODULES:
        try:
            importlib.import_module(f"sorus{name}")
        except ModuleNotFoundError:
            missing.append(f"sorus{name}")
    return tuple(missing)


def test_every_module_exists() -> None:
    """Modules that the facts are about and Sorus lacks, as one list."""
    assert not _missing_modules()


def test_every_deviation_is_a_recorded_fact() -> None:
    """No line of deviations.txt is left behind when its fact goes."""
    names = {
        f"{section}/{key}"
        for section, content in RECORD.items()
        if isinstance(content, dict)
        for key in content
    }
    assert DEVIATIONS.keys() <= names


@pytest.mark.parametrize("section, key", _facts())
def test_fact(section: str, key: str) -> None:
    """Sorus gives what MindSpore gave."""
    if _missing_modules():
        pytest.skip("modules are missing: test_every_module_exists lists them")
    ours = _section(section)
    assert key in ours, f"{section} has no {key}"
    chance = section in CHANCE and not (CHANCE[section] and key.startswith(CHANCE[section]))
    difference = _difference(ours[key], RECORD[section][key], key, chance)
    assert not difference, difference
