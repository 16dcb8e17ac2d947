"""Runs the cases of bench/networks.py in one framework, on request. usage: network_worker.py MODULE VARIANT

MODULE is one of bench/models, such as in_torch; VARIANT is a way to run it that its `prepare` knows.
"""

from __future__ import annotations

import importlib
import sys

from models.cases import CASES
from worker import serve


def main() -> None:
    module, variant = importlib.import_module(f"models.{sys.argv[1]}"), sys.argv[2]
    serve({name: lambda case=case: module.prepare(case, variant) for name, case in CASES.items()})


if __name__ == "__main__":
    main()
