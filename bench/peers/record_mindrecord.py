"""Has the genuine MindSpore write MindRecord files and read them back, into tests/fixtures/mindrecord.

Each recipe of tests/python/mindrecord_recipes.py becomes files, compressed with gzip, since most of their
bytes are zero; orders.json holds the rows that MindDataset gives for a seed, and what MindPage says.
Run it with the Python of setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_mindrecord.py
"""

import gzip
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import Any

os.environ.setdefault("GLOG_v", "4")

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests/python")]

import mindspore.dataset as ds  # noqa: E402
from facts_data import attempt  # noqa: E402
from mindrecord_recipes import (  # noqa: E402
    HEADER_SIZE,
    ORDERS,
    PAGE_SIZE,
    PLACES,
    RECIPES,
    SINGLE,
    Recipe,
)
from mindspore.mindrecord import FileWriter, MindPage  # noqa: E402

OUTPUT = HERE.parents[1] / "tests/fixtures/mindrecord"


def write(name: str, recipe: Recipe) -> None:
    """The files of a recipe, into the folder that is current."""
    writer = FileWriter(name, recipe.shards)
    writer.set_header_size(HEADER_SIZE)
    writer.set_page_size(PAGE_SIZE)
    writer.add_schema(recipe.schema, recipe.description)
    if recipe.index:
        writer.add_index(recipe.index)
    for batch in recipe.batches:
        writer.write_raw_data([dict(row) for row in batch])
    writer.commit()
    if recipe.appended:
        writer = FileWriter.open_for_append(name)
        for batch in recipe.appended:
            writer.write_raw_data([dict(row) for row in batch])
        writer.commit()


def labels(make: Callable[[], ds.Dataset], epochs: int = 3) -> list[list[int]]:
    """The column `label`, epoch after epoch, for the seed 3."""
    ds.config.set_seed(3)
    rows = make().create_dict_iterator(num_epochs=epochs, output_numpy=True)
    return [[int(row["label"]) for row in rows] for _ in range(epochs)]


def orders() -> dict[str, Any]:
    """Orders by the expression that makes the dataset."""
    names = {"ds": ds, "Shuffle": ds.Shuffle}
    return {text: attempt(lambda text=text: labels(lambda: eval(text, dict(names)))) for text in ORDERS}  # noqa: S307


def single_rows() -> dict[str, Any]:
    """Rows by their places, for the seed 3, as [dtype, shape, values]."""
    record = {}
    for text in SINGLE:
        ds.config.set_seed(3)
        dataset = eval(text, {"ds": ds, "Shuffle": ds.Shuffle})  # noqa: S307
        record[text] = [
            [
                [value.dtype.kind + str(value.dtype.itemsize), list(value.shape), spelled(value)]
                for value in dataset[place]
            ]
            for place in PLACES
        ]
    return record


def spelled(value: Any) -> list[Any]:
    """The items of an array; those of bytes as text."""
    items = value.ravel().tolist()
    return [item.decode() if isinstance(item, bytes) else item for item in items]


def categories() -> dict[str, Any]:
    """What MindPage says of index fields."""
    record = {}
    for name, field in (
        ("every_type", "label"),
        ("scalars", "text"),
        ("scalars", "narrow"),
        ("scalars", "double"),
    ):
        page = MindPage(name)
        page.category_field = field
        record[f"{name} {field}"] = json.loads(page.read_category_info())
    return record


def main() -> None:
    """Writes all files."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, recipe in RECIPES.items():
            write(name, recipe)
        for path in sorted(pathlib.Path().iterdir()):
            (OUTPUT / f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
        record = {"orders": orders(), "categories": categories(), "single": single_rows()}
        os.chdir(HERE)
    sections = []
    for section, entries in record.items():
        lines = [
            f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()
        ]
        sections.append(f' "{section}": {{\n' + ",\n".join(lines) + "\n }")
    (OUTPUT / "orders.json").write_text("{\n" + ",\n".join(sections) + "\n}\n")


if __name__ == "__main__":
    main()
