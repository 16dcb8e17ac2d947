"""Replays the recorded behaviour of the genuine MindSpore (tests/fixtures/mindspore/ops) with Sorus.

Shapes, dtypes and exception classes are compared exactly, values by tolerance. A case that Sorus answers
differently on purpose has a line `case<tab>reason` in deviations.txt and must then differ: a stale line
fails. Cases of names that Sorus lacks are skipped; missing_names.txt lists these names and no others.
"""

import builtins
import math
from typing import Any

import numpy as np
import pytest
from mindspore_fixtures import (
    Evaluator,
    array_of,
    load_deviations,
    load_families,
    load_inputs,
    load_missing_names,
)

sorus = pytest.importorskip("sorus")

# Relative tolerance by dtype.
RTOL = {"float64": 1e-12, "float32": 2e-6, "float16": 1e-3, "bfloat16": 8e-3}
# Functions that the recorded wheel computes less exactly than that, by name whatever the module: its exp has
# a relative error of 2e-5, its tanh an absolute one of 8e-5, and others are made of these.
COARSE = {
    "exp": 3e-5,
    "expm1": 3e-5,
    "sigmoid": 3e-5,
    "silu": 3e-5,
    "SiLU": 3e-5,
    "Sigmoid": 3e-5,
    "Exp": 3e-5,
    "softplus": 3e-5,
    "Softplus": 3e-5,
    "logsigmoid": 3e-5,
    "LogSigmoid": 3e-5,
    "elu": 1e-5,
    "ELU": 1e-5,
    "Elu": 1e-5,
    "selu": 3e-5,
    "SeLU": 3e-5,
    "celu": 3e-5,
    "CELU": 3e-5,
    "erfinv": 3e-5,
    "bessel_j0": 3e-5,
    "bessel_i0": 3e-5,
    "tanh": 2e-4,
    "Tanh": 2e-4,
    "tanhshrink": 2e-4,
    "Tanhshrink": 2e-4,
    "mish": 2e-4,
    "Mish": 2e-4,
    "gelu": 2e-4,
    "GELU": 2e-4,
    "GeLU": 2e-4,
    "FastGelu": 2e-4,
    "softmax": 3e-5,
    "Softmax": 3e-5,
    "log_softmax": 3e-5,
    "LogSoftmax": 3e-5,
    "softmin": 3e-5,
    "logsumexp": 3e-5,
    "cross_entropy": 3e-5,
    "grad": 2e-4,
}


DEVIATIONS = {case: reason for case, reason in load_deviations().items() if not case.startswith("facts:")}
FAMILIES = dict(load_families())
CASES = [(family, case) for family, content in FAMILIES.items() for case in content["cases"]]
EVALUATOR = Evaluator(sorus, load_inputs())


def _parameters() -> list:
    """One test per case; deviations are expected to fail."""
    return [
        pytest.param(
            family,
            case,
            id=f"{family}:{case['case']}",
            marks=[pytest.mark.xfail(reason=DEVIATIONS[case["case"]], strict=True)]
            if case["case"] in DEVIATIONS
            else [],
        )
        for family, case in CASES
    ]


def _tolerances(family: str, case: dict[str, Any], dtype: str, magnitude: float) -> dict[str, float]:
    """What NumPy needs to compare a floating result whose largest finite magnitude is given.

    Where terms are summed, results may differ by the rounding of the largest term, so the absolute tolerance
    follows the magnitude; functions of one element have no such excuse.
    """
    coarse = COARSE.get(case["spelling"].rpartition(".")[2], 0.0)
    rtol = max(RTOL[dtype], coarse)
    return {"rtol": rtol, "atol": max(1e-7, coarse) if family == "elementwise" else rtol * magnitude}


def _check_array(got: list, expected: list, context: tuple[str, dict[str, Any]]) -> None:
    """Compares two [dtype, shape, values]."""
    assert got[:2] == expected[:2], f"dtype and shape: got {got[:2]}, expected {expected[:2]}"
    actual, wanted = array_of(got), array_of(expected)
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(actual, wanted)
        return
    finite = np.abs(wanted[np.isfinite(wanted)].astype(np.float64))
    tolerances = _tolerances(*context, expected[0], finite.max(initial=0.0))
    np.testing.assert_allclose(actual, wanted, equal_nan=True, **tolerances)


def _check(got: dict[str, Any], expected: dict[str, Any], context: tuple[str, dict[str, Any]]) -> None:
    """Compares two outcomes."""
    if "error" in expected:
        assert "error" in got, f"expected {expected['error']} ({expected['text']}), got a result"
        wanted = getattr(builtins, expected["error"], None)
        actual = getattr(builtins, got["error"], None)
        related = wanted and actual and issubclass(actual, wanted)
        assert related or got["error"] == expected["error"], f"expected {expected['error']}, got {got}"
        return
    assert "error" not in got, f"{got['error']}: {got['text']}"
    for kind in ("tensor", "array"):
        if kind in expected:
            assert kind in got, f"expected a {kind}, got {got}"
            _check_array(got[kind], expected[kind], context)
            return
    for kind in ("tuple", "list"):
        if kind in expected:
            assert kind in got and len(got[kind]) == len(expected[kind]), f"expected {expected}, got {got}"
            for got_item, expected_item in zip(got[kind], expected[kind]):
                _check(got_item, expected_item, context)
            return
    if isinstance(expected.get("value"), float):
        assert isinstance(got.get("value"), float) and math.isclose(
            got["value"], expected["value"], rel_tol=2e-6
        )
        return
    plain = {key: value for key, value in expected.items() if key not in ("case", "spelling")}
    assert got == plain


def test_every_recorded_name_exists() -> None:
    """The names that the recorded cases use and Sorus lacks are those of missing_names.txt."""
    listed = load_missing_names()
    lacking = {case["spelling"] for _, case in CASES if not EVALUATOR.has(case["spelling"])}
    assert sorted(lacking - listed.keys()) == [], "names are missing and not listed"
    assert sorted(listed.keys() - lacking) == [], "listed names exist or no case uses them"
    assert all(reason.strip() for reason in listed.values())


def test_every_deviation_is_a_recorded_case() -> None:
    """No line of deviations.txt is left behind when its case goes, and each has a reason."""
    assert DEVIATIONS.keys() <= {case["case"] for _, case in CASES}
    assert all(reason.strip() for reason in DEVIATIONS.values())


@pytest.mark.parametrize("family, case", _parameters())
def test_case(family: str, case: dict[str, Any]) -> None:
    """Sorus gives what MindSpore gave."""
    if not EVALUATOR.has(case["spelling"]) and case["case"] not in DEVIATIONS:
        pytest.skip(f"{case['spelling']} is missing: missing_names.txt says why")
    sorus.set_seed(1)
    _check(EVALUATOR.run(case["case"]), case, (family, case))
