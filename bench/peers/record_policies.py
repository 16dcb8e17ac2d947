"""Records what augmentation policies of the genuine MindSpore make of an image, into
tests/fixtures/mindspore/policies.json: the CRC-32 of each outcome, and the documented pairs of AutoAugment as
[operation, probability, magnitude or null]. Run it with the Python of setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_policies.py
"""

import json
import pathlib
import re
import zlib
from typing import Any

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import vision

import mindspore as ms

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/mindspore/policies.json"
IMAGE = (np.arange(13 * 17 * 3) * 7919 % 256).astype(np.uint8).reshape(13, 17, 3)


def outcomes(transform: Any, rows: int) -> list[int]:
    """Of so many draws."""
    data = ds.NumpySlicesDataset(np.stack([IMAGE] * rows), ["image"]).map(transform, "image")
    made = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    return sorted({zlib.crc32(row.tobytes()) for (row,) in made})


def documented_pairs(policy: str) -> list[list]:
    """The steps of all pairs, as the documentation of AutoAugmentPolicy lists them."""
    tables = vision.AutoAugmentPolicy.__doc__.split("AutoAugmentPolicy.")
    (table,) = (t for t in tables if t.startswith(policy) and '("' in t)
    steps = re.findall(r'\("(\w+)", ([\d.]+), (\w+)\)', table)
    return [[name, float(share), None if level == "None" else int(level)] for name, share, level in steps]


def main() -> None:
    """Records all."""
    ds.config.set_seed(1)
    record: dict[str, Any] = {"mindspore": ms.__version__}
    for magnitude in (0, 9, 20, 30):
        record[f"RandAugment(1, {magnitude})"] = outcomes(vision.RandAugment(1, magnitude), 3000)
    record["TrivialAugmentWide(2)"] = outcomes(vision.TrivialAugmentWide(2), 6000)
    record["AutoAugment, IMAGENET"] = outcomes(vision.AutoAugment(), 20000)
    for policy in ("IMAGENET", "CIFAR10", "SVHN"):
        record[policy] = documented_pairs(policy)
    rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
    OUTPUT.write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()
