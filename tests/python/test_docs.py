"""Runs the Python examples of README.md and docs/, each page's blocks in order, as one program, and those of
the package's docstrings.

A block fenced as ```python notest is left out. The program runs in an empty folder in which `examples` is
that of the checkout, so that pages can read the embedded data and write files.
"""

import doctest
import importlib
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

PACKAGE = ROOT / "python"
MODULES = [
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.glob("sorus/**/*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PROGRAMS)
def test_examples_of_page_run(page: str, tmp_path: Path) -> None:
    script = tmp_path / (page.replace("/", "_") + ".py")
    script.write_text(PROGRAMS[page], encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
    command = [sys.executable, script.name]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{page} (line numbers are the page's):\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings_run(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed


def test_docstrings_have_examples() -> None:
    assert len(MODULES) >= 10
