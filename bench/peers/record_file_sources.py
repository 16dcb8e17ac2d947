"""Has the genuine MindSpore read files of every kind, into tests/fixtures/file_sources.json.

Run it with the Python of setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_file_sources.py
"""

import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("GLOG_v", "4")

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/python"))

import mindspore.dataset as ds  # noqa: E402
from file_source_recipes import CASES, read, write  # noqa: E402


def main() -> None:
    """Records all cases."""
    with tempfile.TemporaryDirectory() as folder:
        write(pathlib.Path(folder))
        os.chdir(folder)
        cases = {name: read(ds, name) for name in CASES}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items())
    (HERE.parents[1] / "tests/fixtures/file_sources.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
