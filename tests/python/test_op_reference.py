"""The pages of docs/reference are what the built op table, the headers and the package say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/sorus"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the release build is not there")
def test_the_page_is_fresh():
    printed = subprocess.run(
        [PROGRAM, "ops", "--markdown"], check=True, capture_output=True, text=True
    ).stdout
    page = (ROOT / "docs/reference/ops.md").read_text(encoding="utf-8")
    assert page == printed, "it is stale: run ./dev docs"


@pytest.mark.parametrize("script", ["write_reference.py", "write_coverage.py"])
def test_pages_of_scripts_are_fresh(script):
    command = [sys.executable, ROOT / "scripts" / script, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
