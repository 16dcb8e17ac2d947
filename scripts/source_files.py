"""Which files of a checkout the checking scripts look at."""

from __future__ import annotations

import subprocess
from pathlib import Path

CPP_SUFFIXES = (".h", ".cpp", ".inc")


def checkout_files(root: Path) -> list[Path]:
    """Sorted relative paths of the files under `root` that git does not ignore; of all files without git."""
    try:
        listing = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."],
            check=True,
            capture_output=True,
        ).stdout
        names = [Path(name) for name in listing.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [path.relative_to(root) for path in root.rglob("*")]
        names = [name for name in names if name.parts[0] != "build" and not name.parts[0].startswith(".")]
    return sorted({name for name in names if (root / name).is_file()})


def is_generated(text: str) -> bool:
    """Generated files say so on line one."""
    first = text.split("\n", 1)[0].lower()
    return "generated" in first and first.lstrip().startswith(("//", "#", "/*", "<!--"))
