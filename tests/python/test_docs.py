"""Runs the Python examples of README.md and docs/: each page's blocks in order, as one program.

A block fenced as ```python notest is left out. The program runs in an empty folder in which `examples` is
that of the checkout, so that pages can read the embedded data and write files.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from doc_pages import pages, python_script  # noqa: E402

PROGRAMS = {
    page.relative_to(ROOT).as_posix(): program
    for page in pages(ROOT)
    if (program := python_script(page.read_text(encoding="utf-8"))).strip()
}


@pytest.mark.parametrize("page", PROGRAMS)
def test_examples_of_page_run(page: str, tmp_path: Path) -> None:
    script = tmp_path / (page.replace("/", "_") + ".py")
    script.write_text(PROGRAMS[page], encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
    command = [sys.executable, script.name]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{page} (line numbers are the page's):\n{done.stdout}{done.stderr}"
