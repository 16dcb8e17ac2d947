"""docs/reference/ops.md is what the built op table prints."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/sorus"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the release build is not there")
def test_the_page_is_fresh():
    printed = subprocess.run([PROGRAM, "ops", "--markdown"], check=True, capture_output=True, text=True).stdout
    page = (ROOT / "docs/reference/ops.md").read_text(encoding="utf-8")
    assert page == printed, "write it anew: build/release/bin/sorus ops --markdown > docs/reference/ops.md"
