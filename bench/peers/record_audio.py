"""Records what the audio transforms of the genuine MindSpore give into tests/fixtures/mindspore/audio.json.

The cases are those of tests/python/audio_cases.py. Run it with the Python of setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_audio.py
"""

import json
import os
import pathlib
import sys

os.environ.setdefault("GLOG_v", "4")

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/python"))

from audio_cases import CASES, FIXTURE, run  # noqa: E402
from mindspore.dataset import audio  # noqa: E402


def main() -> None:
    outcomes = {case: run(audio, case) for case in CASES}
    lines = ",\n".join(f"{json.dumps(case)}: {json.dumps(result)}" for case, result in outcomes.items())
    FIXTURE.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
