"""Small sets of MindRecord files, described once: bench/peers/record_mindrecord.py has the genuine MindSpore
write them into tests/fixtures/mindrecord, and test_mindrecord.py has Sorus write them again and compares.

Rows follow from formulas, so that no chance is in them. Batches of sets of several files are multiples of the
number of files, since who gets the remainder is chance.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

HEADER_SIZE = 1 << 14
PAGE_SIZE = 1 << 15

Row = dict[str, Any]


@dataclass
class Recipe:
    """A set of files: what is written, in which batches; `appended` are batches after a first commit."""

    schema: dict[str, dict]
    batches: list[list[Row]]
    index: list[str] | None = None
    shards: int = 1
    description: str = ""
    appended: list[list[Row]] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """All rows in the order of writing."""
        return [row for batch in self.batches + self.appended for row in batch]


def _every_type(i: int) -> Row:
    return {
        "file_name": f"{i}.jpg",
        "label": i - 3,
        "score": i * 0.1,
        "exact": i / 3,
        "big": i * 10**10 - 7,
        "data": bytes(range(i)) + b"\0",
        "ids": np.arange(i, dtype=np.int32) * 300 - 200,
        "matrix": np.full((2, i + 1), i, np.float32),
        "pair": np.array([i * 10**9, -i * 10**12], np.int64),
        "curve": np.arange(i) * 0.5,
    }


_EVERY_TYPE = {
    "file_name": {"type": "string"},
    "label": {"type": "int32"},
    "score": {"type": "float32"},
    "exact": {"type": "float64"},
    "big": {"type": "int64"},
    "data": {"type": "bytes"},
    "ids": {"type": "int32", "shape": [-1]},
    "matrix": {"type": "float32", "shape": [2, -1]},
    "pair": {"type": "int64", "shape": [2]},
    "curve": {"type": "float64", "shape": [-1]},
}

_EDGES = [
    0,
    1,
    127,
    128,
    255,
    256,
    65535,
    65536,
    2**31 - 1,
    -1,
    -32,
    -33,
    -128,
    -129,
    -32768,
    -32769,
    -(2**31),
]
_WIDE = [2**32 - 1, 2**32, 2**63 - 1, -(2**31) - 1, -(2**63)]
_FLOATS = [0.0, -0.0, 0.1, 1 / 3, 1e-9, 123456789.125, 1e300, -2.5, 1e-300, 3.4028235e38, 5e-324]
_TEXTS = ["", "a", "it's", "ünïcödé 漢字", 'quote " and \\', "x" * 31, "x" * 32, "line\nbreak", "y" * 300]


def _scalars(i: int) -> Row:
    return {
        "narrow": _EDGES[i % len(_EDGES)],
        "wide": (_WIDE + _EDGES)[i % (len(_WIDE) + len(_EDGES))],
        "single": np.float32(_FLOATS[i % len(_FLOATS)] if _FLOATS[i % len(_FLOATS)] < 1e39 else 7.25),
        "double": _FLOATS[i % len(_FLOATS)],
        "text": _TEXTS[i % len(_TEXTS)],
    }


def _paged(i: int) -> Row:
    """Rows of very different sizes: blob pages fill, raw pages fill, and groups of rows must move."""
    return {
        "label": i,
        "text": chr(97 + i % 26) * (i * 1237 % 4801),
        "data": bytes([i]) * (i * 997 % 9001 + 1),
    }


def _split(rows: list[Row], sizes: list[int]) -> list[list[Row]]:
    batches, first = [], 0
    for size in sizes:
        batches.append(rows[first : first + size])
        first += size
    return batches


RECIPES = {
    "every_type": Recipe(
        _EVERY_TYPE,
        _split([_every_type(i) for i in range(7)], [4, 1, 2]),
        ["label", "file_name"],
        description="one of each",
    ),
    "scalars": Recipe(
        {
            "narrow": {"type": "int32"},
            "wide": {"type": "int64"},
            "single": {"type": "float32"},
            "double": {"type": "float64"},
            "text": {"type": "string"},
        },
        [[_scalars(i) for i in range(23)]],
    ),
    "only_bytes": Recipe({"data": {"type": "bytes"}}, [[{"data": bytes([i]) * (i + 1)} for i in range(5)]]),
    "only_array": Recipe(
        {"ids": {"type": "int64", "shape": [-1]}},
        [[{"ids": np.array((_EDGES + _WIDE)[: i + 1], np.int64)} for i in range(22)]],
    ),
    "only_floats": Recipe(
        {"x": {"type": "float32", "shape": [2, 3]}, "n": {"type": "int32"}},
        [[{"x": np.arange(6, dtype=np.float32).reshape(2, 3) + i, "n": i} for i in range(4)]],
    ),
    "pages": Recipe(
        {"label": {"type": "int32"}, "text": {"type": "string"}, "data": {"type": "bytes"}},
        _split([_paged(i) for i in range(90)], [1, 2, 13, 5, 1, 1, 30, 7, 20, 10]),
        ["label"],
    ),
    "shards": Recipe(
        {"label": {"type": "int32"}, "data": {"type": "bytes"}},
        _split([{"label": i, "data": b"%d" % i} for i in range(33)], [18, 3, 12]),
        shards=3,
    ),
    "appended": Recipe(
        {"label": {"type": "int32"}, "ids": {"type": "int32", "shape": [-1]}},
        [[{"label": i, "ids": np.arange(i + 1, dtype=np.int32)} for i in range(3)]],
        ["label"],
        appended=[
            [{"label": i, "ids": np.arange(i, dtype=np.int32)} for i in range(3, 8)],
            [{"label": 8, "ids": np.zeros(1, np.int32)}],
        ],
    ),
    "empty": Recipe({"label": {"type": "int32"}, "data": {"type": "bytes"}}, []),
    # With files of "shards" these make sets of files of unequal lengths.
    **{
        name: Recipe(
            {"label": {"type": "int32"}, "data": {"type": "bytes"}},
            [[{"label": first + i, "data": b"%d" % i} for i in range(rows)]],
        )
        for name, first, rows in (("few", 100, 4), ("several", 200, 7))
    },
}

_FILES = '"shards0", ["label"]'
_PADDED = "padded_sample={'label': -1}, num_padded=3"
# Expressions whose rows are recorded; `ds` is the module dataset.
ORDERS = [
    *(
        f"ds.MindDataset({_FILES}{more})"
        for more in (
            "",
            ", shuffle=False",
            ", shuffle=True",
            ", shuffle=Shuffle.GLOBAL",
            ", shuffle=Shuffle.FILES",
            ", shuffle=Shuffle.INFILE",
            ", num_samples=5",
            ", shuffle=False, num_samples=5",
            ", shuffle=False, num_samples=100",
            *(
                f", {shuffle}num_shards=2, shard_id={i}"
                for shuffle in ("", "shuffle=False, ")
                for i in range(2)
            ),
            *(f", shuffle=Shuffle.{how}, num_shards=2, shard_id=1" for how in ("GLOBAL", "FILES", "INFILE")),
            ", num_samples=5, num_shards=2, shard_id=1",
            ", shuffle=False, num_samples=5, num_shards=2, shard_id=1",
            ", sampler=ds.SubsetRandomSampler([1, 5, 9, 30, 2])",
            ", sampler=ds.SubsetSampler([1, 5, 9, 30, 2])",
            ", sampler=ds.RandomSampler()",
            ", sampler=ds.RandomSampler(True, 6)",
            ", sampler=ds.RandomSampler(num_samples=6)",
            ", sampler=ds.SequentialSampler(4, 6)",
            ", sampler=ds.DistributedSampler(4, 1, False)",
            ", sampler=ds.DistributedSampler(4, 1, True)",
            f", shuffle=False, {_PADDED}",
            f", {_PADDED}",
            *(f", shuffle=False, {_PADDED}, num_shards=4, shard_id={i}" for i in (0, 3)),
            f", {_PADDED}, num_shards=4, shard_id=3",
        )
    ),
    'ds.MindDataset(["shards2", "shards0"], ["label"], shuffle=False)',
    'ds.MindDataset(["shards2", "shards0"], ["label"])',
    'ds.MindDataset("appended", ["label"])',
    *(
        f'ds.MindDataset(["shards2", "few", "several"], ["label"], shuffle=Shuffle.{how}{more})'
        for how in ("FILES", "INFILE", "PARTIAL")
        for more in ("", *(f", num_shards=3, shard_id={i}" for i in range(3)))
    ),
    *(
        f'ds.MindDataset(["shards2", "few", "several"], ["label"], shuffle=Shuffle.PARTIAL{more})'
        for more in (
            ", num_samples=5",
            ", num_samples=50",
            ", num_samples=3, num_shards=2, shard_id=1",
            f", {_PADDED}",
            f", {_PADDED[:-1]}2, num_shards=4, shard_id=1",
        )
    ),
]

# Datasets of which single rows are recorded, and the rows.
SINGLE = (
    *(
        f'ds.MindDataset(["shards2", "few"], ["label"]{more})'
        for more in (
            "",
            ", shuffle=False",
            ", shuffle=Shuffle.FILES",
            ", shuffle=Shuffle.PARTIAL",
            ", num_samples=6",
            ", num_shards=2, shard_id=1",
            ", sampler=ds.SequentialSampler(3)",
        )
    ),
    'ds.MindDataset("every_type", ["label", "file_name", "data", "matrix", "exact"], shuffle=False)',
)
PLACES = (0, 3, 5)
