"""Records what the text transforms of the genuine MindSpore give into tests/fixtures/mindspore/text.json.

The cases are those of tests/python/text_cases.py. With `--models` it also trains the models of SentencePiece
in tests/fixtures/text anew. Run it with the Python of setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_text.py
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
from mindspore.dataset import text  # noqa: E402
from text_cases import CASES, FIXTURE, FOLDER, Space  # noqa: E402

import mindspore as ms  # noqa: E402


def train_models() -> None:
    """Models of tests/fixtures/text, small because they do not normalize."""
    for name in ("unigram", "bpe"):
        vocab = text.SentencePieceVocab.from_file(
            [str(FOLDER / "corpus.txt")],
            80,
            1.0,
            text.SentencePieceModel[name.upper()],
            {"normalization_rule_name": "identity"},
        )
        text.SentencePieceVocab.save_model(vocab, str(FOLDER), f"{name}.model")


def main() -> None:
    if "--models" in sys.argv:
        train_models()
    with tempfile.TemporaryDirectory() as folder:
        space = Space(ms, ds, text, pathlib.Path(folder))
        outcomes = {case: space.run(case) for case in CASES}
    lines = ",\n".join(
        f"{json.dumps(case, ensure_ascii=False)}: {json.dumps(result, ensure_ascii=False)}"
        for case, result in outcomes.items()
    )
    FIXTURE.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
