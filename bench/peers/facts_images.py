"""The sections of record_facts.py about files of images; run that one."""

import pathlib
import random
import tempfile
import zlib
from collections.abc import Callable
from typing import Any

import mindspore.dataset as ds
import mindspore.dataset.vision as vision
import numpy as np
from facts_data import attempt

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/images"


def fingerprint(image: np.ndarray) -> list[Any]:
    """[shape, CRC-32 of the bytes] of a uint8 image."""
    return [list(image.shape), zlib.crc32(np.ascontiguousarray(image).tobytes())]


def decoded() -> dict[str, Any]:
    """[shape, CRC-32 of the pixels] of what Decode makes of each file of tests/fixtures/images."""
    return {
        path.name: fingerprint(vision.Decode()(np.fromfile(path, np.uint8)))
        for path in sorted(IMAGES.iterdir())
    }


def encoded() -> dict[str, Any]:
    """[length, CRC-32] of the bytes that encode_jpeg makes of decoded files, in color and in gray."""
    record: dict[str, Any] = {}
    for name in ("color.png", "thin.jpg", "one_pixel.jpg"):
        image = vision.Decode()(np.fromfile(IMAGES / name, np.uint8))
        for kind, pixels in (("color", image), ("gray", np.ascontiguousarray(image[..., 1]))):
            for quality in (1, 40, 75, 100):
                made = vision.encode_jpeg(pixels, quality)
                record[f"{name}, {kind}, {quality}"] = fingerprint(made)
    return record


def image_tree(folder: pathlib.Path) -> str:
    """Classes with names that tell how they are sorted; each file is its own name."""
    names = ["b/x10.png", "b/x9.png", "b/X.PNG", "b/z.jpeg", "a/1.jpg", "a/2.JPEG", "a/3.bmp", "a/note.txt"]
    for name in [*names, "c10/q.png", "c9/q.png", ".hidden/q.png", "A/.dot.png"]:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    (folder / "empty").mkdir()
    return str(folder)


def image_folders() -> dict[str, Any]:
    """[name of the file, label] of the rows of ImageFolderDataset over the files of image_tree()."""
    record: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = image_tree(pathlib.Path(folder))

        def rows(**options: Any) -> list[Any]:
            """The rows of one epoch; not shuffled unless options say so."""
            dataset = ds.ImageFolderDataset(path, **({"shuffle": False} | options))
            iterator = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
            return [[row["image"].tobytes().decode(), int(row["label"])] for row in iterator]

        some = [".png", ".jpg", ".JPEG"]
        cases: dict[str, dict[str, Any]] = {
            "all": {},
            "extensions": {"extensions": some},
            "extensions, class_indexing": {"extensions": some, "class_indexing": {"b": 5, "a": -1}},
            "class_indexing without a folder": {"class_indexing": {"b": 5, "nothing": 1}},
            "num_samples": {"num_samples": 3},
            "num_shards": {"num_shards": 3, "shard_id": 1},
        }
        record |= {name: attempt(lambda options=options: rows(**options)) for name, options in cases.items()}
        for seed in (0, 1):
            ds.config.set_seed(seed)
            record[f"seed {seed}"] = rows(shuffle=None)
            record[f"seed {seed}, num_samples"] = rows(shuffle=True, num_samples=7)
            record[f"seed {seed}, num_shards"] = rows(shuffle=True, num_shards=3, shard_id=1)
        dataset = ds.ImageFolderDataset(path)
        record["classes"] = dataset.get_class_indexing()
        record["columns"] = [
            dataset.get_col_names(),
            [str(t) for t in dataset.output_types()],
            dataset.num_classes(),
        ]
    return record


def write_cifar(folder: pathlib.Path) -> None:
    """CIFAR-10's files in full size: labels number the files, pixels of a row and a plane are alike."""
    rows = 10000
    for number, name in enumerate([*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]):
        content = np.zeros((rows, 3073), np.uint8)
        content[:, 0] = number
        for plane in range(3):
            content[:, 1 + 1024 * plane : 1025 + 1024 * plane] = (np.arange(rows)[:, None] + plane) % 256
        content.tofile(folder / name)


def cifar() -> dict[str, Any]:
    """[label, first pixel] of the first rows of Cifar10Dataset over the files of write_cifar()."""
    record: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_cifar(pathlib.Path(folder))

        def rows(usage: str, **options: Any) -> list[Any]:
            """Rows of one epoch."""
            dataset = ds.Cifar10Dataset(folder, usage, **options)
            iterator = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
            return [[int(row["label"]), row["image"][0, 0].tolist()] for row in iterator]

        for usage in ("train", "test", "all"):
            dataset = ds.Cifar10Dataset(folder, usage, shuffle=False)
            record[usage] = [dataset.get_dataset_size(), rows(usage, num_samples=2, shuffle=False)]
        for seed in (0, 1):
            ds.config.set_seed(seed)
            record[f"seed {seed}, num_samples=20"] = rows("all", num_samples=20)
            record[f"seed {seed}, first 20 rows"] = rows("all")[:20]
            record[f"seed {seed}, test, first 20 rows"] = rows("test")[:20]
    return record


def more_vision() -> dict[str, Any]:
    """[shape, CRC-32] of what transforms make of color.png, AdjustHue of its first 31 columns."""
    image = vision.Decode()(np.fromfile(IMAGES / "color.png", np.uint8))
    linear = vision.Inter.LINEAR
    cases: dict[str, Any] = {
        "Rotate(30, LINEAR)": vision.Rotate(30, linear),
        "Rotate(-77.5, center=(3, 5), fill_value=9)": vision.Rotate(-77.5, center=(3, 5), fill_value=9),
        "Affine(33, [-0.13, 0.21], 0.7, [11, -7])": vision.Affine(33, [-0.13, 0.21], 0.7, [11, -7]),
        "Affine(-8, [0, 0.1], 1.5, [0, 20], LINEAR)": vision.Affine(-8, [0, 0.1], 1.5, [0, 20], linear),
    }
    for factor in (0.1, 0.3, 0.73, 1.3, 1.9, 3.3):
        cases[f"AdjustBrightness({factor})"] = vision.AdjustBrightness(factor)
        cases[f"AdjustContrast({factor})"] = vision.AdjustContrast(factor)
        cases[f"AdjustSaturation({factor})"] = vision.AdjustSaturation(factor)
        cases[f"AdjustSharpness({factor})"] = vision.AdjustSharpness(factor)
        cases[f"RandomColor(({factor}, {factor}))"] = vision.RandomColor((factor, factor))
    record = {name: fingerprint(np.asarray(transform(image))) for name, transform in cases.items()}
    # OpenCV's vector code, which takes 32 columns, rounds another way than its plain code.
    narrow = np.ascontiguousarray(image[:, :31])
    for factor in (0.0, 0.1, 0.5, -0.3, -0.5):
        record[f"AdjustHue({factor})"] = fingerprint(np.asarray(vision.AdjustHue(factor)(narrow)))
    return record


def parts_and_perspectives() -> dict[str, Any]:
    """[shape, CRC-32] of the parts of the picture color.png, and of what seeds of `random` make of it."""
    picture = vision.ToPIL()(vision.Decode()(np.fromfile(IMAGES / "color.png", np.uint8)))
    record: dict[str, Any] = {
        "FiveCrop((7, 12))": [fingerprint(np.asarray(p)) for p in vision.FiveCrop((7, 12))(picture)],
        "TenCrop(9)": [fingerprint(np.asarray(p)) for p in vision.TenCrop(9)(picture)],
        "TenCrop(9, True)": [fingerprint(np.asarray(p)) for p in vision.TenCrop(9, True)(picture)],
    }
    for name in ("NEAREST", "LINEAR", "CUBIC"):
        for seed in range(6):
            random.seed(seed)
            made = vision.RandomPerspective(0.1 + 0.15 * seed, 0.7, vision.Inter[name])(picture)
            record[f"{name}, {seed}"] = fingerprint(np.asarray(made))
    array = np.asarray(picture)
    for name in ("NEAREST", "LINEAR", "CUBIC", "AREA"):
        for size in (9, (20, 31)):
            made = vision.ResizedCrop(3, 1, 14, 11, size, vision.Inter[name])(array)
            record[f"ResizedCrop, {name}, {size}"] = fingerprint(made)
    return record


def mixed_and_converted() -> dict[str, Any]:
    """Labels and sums of images that MixUp makes with NumPy's seed 0, and values in other color models."""
    record: dict[str, Any] = {}
    for single in (True, False):
        np.random.seed(0)
        mix = vision.MixUp(3, 0.4, single)
        batches = [mix(np.full((3, 2, 2, 1), 10.0**k), np.eye(12)[3 * k : 3 * k + 3]) for k in range(3)]
        record[f"MixUp, {single}"] = [
            [image.sum((1, 2, 3)).tolist(), label.tolist()] for image, label in batches
        ]
    values = (np.arange(60) * 37 % 61 / 60).reshape(3, 4, 5)
    values[:, 0, 0] = 0.5  # gray
    values[:, 0, 1] = 0
    record["RgbToHsv"] = vision.RgbToHsv()(values).tolist()
    record["HsvToRgb"] = vision.HsvToRgb()(values).tolist()
    record["RgbToHsv, bytes"] = vision.RgbToHsv(True)(
        (values * 255).astype(np.uint8).reshape(4, 5, 3)
    ).tolist()
    matrix = (np.arange(144) * 31 % 145 / 145).reshape(12, 12)
    whiten = vision.LinearTransformation(matrix, np.arange(12) / 4)
    record["LinearTransformation"] = whiten(values[:, :2, :2]).tolist()
    return record


SECTIONS: tuple[Callable[[], dict[str, Any]], ...] = (
    decoded,
    encoded,
    image_folders,
    cifar,
    more_vision,
    parts_and_perspectives,
    mixed_and_converted,
)
