#!/usr/bin/env python3
"""Holds the op catalogue to its budget: about 100 primitives besides elementwise and backward ops.

usage: check_op_count.py [ROOT]

Reads the listing of the built registry, `build/release/bin/sorus ops --json`: a JSON list (or an object with
that list under "ops") of objects with "name" and the booleans "primitive", "elementwise" and "backward"; an
absent boolean is false. Without that program, in a checkout that is not built, it says so and passes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

BUDGET = 100
PROGRAM = Path("build/release/bin/sorus")


def budgeted_ops(listing: Any) -> list[str]:
    """The sorted names of the ops that count against the budget."""
    ops = listing["ops"] if isinstance(listing, dict) else listing
    return sorted(
        op["name"]
        for op in ops
        if op.get("primitive") and not op.get("elementwise") and not op.get("backward")
    )


def judge(names: list[str]) -> str | None:
    """The complaint about a list of counted ops, or None."""
    if len(names) <= BUDGET:
        return None
    return (
        f"op budget: too many primitives besides elementwise and backward ops: got {len(names)}, "
        f"need at most {BUDGET}; compose some of them: {', '.join(names)}"
    )


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    program = root / PROGRAM
    if not program.is_file():
        print(f"op budget: not checked, there is no {PROGRAM}")
        return 0
    output = subprocess.run(
        [str(program), "ops", "--json"], check=True, capture_output=True, text=True
    ).stdout
    names = budgeted_ops(json.loads(output))
    complaint = judge(names)
    print(complaint or f"op budget: {len(names)} of {BUDGET} primitives")
    return 1 if complaint else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
