"""Files and ways to read them, for the genuine MindSpore to record and for the tests to compare.

`write` makes the files; `CASES` names what is read: a function of the module `dataset`, which is the genuine
one or ours. Nothing here depends on either.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import struct
import zlib
from collections.abc import Callable
from typing import Any

_TABLE = []
for _i in range(256):
    for _ in range(8):
        _i = _i >> 1 ^ (0x82F63B78 if _i & 1 else 0)
    _TABLE.append(_i)


def _masked_crc(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    """A record of a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return length + _masked_crc(length) + data + _masked_crc(data)


def _varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _feature(values: Any, packed: bool) -> bytes:
    if values and isinstance(values[0], bytes):
        return _field(1, b"".join(_field(1, value) for value in values))
    if values and isinstance(values[0], float):
        parts = [struct.pack("<f", value) for value in values]
        joined = _field(1, b"".join(parts)) if packed else b"".join(_varint(13) + part for part in parts)
        return _field(2, joined)
    parts = [_varint(value) for value in values]
    return _field(3, _field(1, b"".join(parts)) if packed else b"".join(_varint(8) + part for part in parts))


def example(values: dict[str, Any], packed: bool = True) -> bytes:
    """A message tf.Example: lists of bytes, float or int by name; an empty list is one of int."""
    entries = [
        _field(1, name.encode()) + _field(2, _feature(value, packed)) for name, value in values.items()
    ]
    return _field(1, b"".join(_field(1, entry) for entry in entries))


_RICH = {"z": [1, 2, 3], "a": [1.5], "m": [b"hi", b"you"], "n": [-5], "e": []}
_CLUE = {
    "AFQMC": {"sentence1": "s1", "sentence2": "s2", "label": "0", "id": 3},
    "TNEWS": {"label": "102", "label_desc": "news", "sentence": "S", "keywords": "k", "id": 0},
    "WSC": {
        "target": {"span2_index": 37, "span1_index": 5, "span1_text": "s1", "span2_text": "s2"},
        "idx": 0,
        "label": "false",
        "text": "T",
    },
    "CSL": {"id": 1, "abst": "A", "keyword": ["k1", "k2"], "label": "0"},
}


_BOXES = (
    (11, 3, [1, 2, 3.5, 4], 0, [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10]]),
    (22, 7, [5, 6, 7, 8], 1, {"counts": [1, 2, 3], "size": [3, 4]}),
    (11, 7, [9, 9, 9, 9], 0, [[0.5, 1]]),
)


def coco() -> dict[str, Any]:
    """Annotations for all tasks but Panoptic; image 33 has none."""
    return {
        "images": [{"id": i, "file_name": f"{i}.jpg", "height": 5, "width": 6} for i in (22, 11, 33)],
        "categories": [
            {"id": 7, "name": "dog", "supercategory": "a", "isthing": 1},
            {"id": 3, "name": "cat", "supercategory": "a", "isthing": 0},
        ],
        "annotations": [
            {
                "id": i,
                "image_id": image,
                "category_id": category,
                "bbox": box,
                "iscrowd": crowd,
                "area": 5,
                "segmentation": polygons,
                "keypoints": [i, 2, 1] * 17,
                "num_keypoints": i + 1,
                "caption": f"says {i}",
            }
            for i, (image, category, box, crowd, polygons) in enumerate(_BOXES)
        ],
    }


def _write_voc(folder: pathlib.Path) -> None:
    for part in (
        "Annotations",
        "JPEGImages",
        "SegmentationClass",
        "ImageSets/Main",
        "ImageSets/Segmentation",
    ):
        (folder / part).mkdir(parents=True)
    images = {
        "x1": (
            ("dog", "<difficult>1</difficult>", (1, 2, 5, 7)),
            ("cat", "<truncated>1</truncated>", (2, 2, 4, 4)),
        ),
        "x2": (("ape", "<part><name>head</name></part>", (1.5, 1, 3, 3)),),
    }
    for image, objects in images.items():
        text = "<?xml version='1.0'?><!-- made --><annotation><filename>x</filename>"
        for name, more, box in objects:
            corners = "".join(f"<{k}>{v}</{k}>" for k, v in zip(("xmin", "ymin", "xmax", "ymax"), box))
            text += f"<object>\n<name>{name}</name>{more}<bndbox>{corners}</bndbox></object>"
        (folder / "Annotations" / f"{image}.xml").write_text(text + "</annotation>\n")
        (folder / "JPEGImages" / f"{image}.jpg").write_bytes(image.encode())
        (folder / "SegmentationClass" / f"{image}.png").write_bytes(b"s" + image.encode())
    for task in ("Main", "Segmentation"):
        (folder / "ImageSets" / task / "train.txt").write_text("x2\nx1\n")


# Labels of images that are kept like MNIST, and files of each class in a folder.
_LABELS = (3, 1, 3, 0, 1, 3, 9)
_CLASSES = {"b": 4, "a": 3, "none": 0, "c": 5}


def _write_classes(folder: pathlib.Path) -> None:
    for name, files in _CLASSES.items():
        (folder / "classes" / name).mkdir(parents=True)
        for i in range(files):
            (folder / "classes" / name / f"{i}.jpg").write_bytes(f"{name}{i}".encode())
    (folder / "mnist").mkdir()
    count = len(_LABELS)
    images = b"".join(bytes([i]) * 784 for i in range(count))
    (folder / "mnist/train-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, count, 28, 28) + images)
    (folder / "mnist/train-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + bytes(_LABELS))


def _write_images(folder: pathlib.Path) -> None:
    _write_classes(folder)
    for i in (11, 22, 33):
        (folder / f"{i}.jpg").write_bytes(b"\xff\xd8\xff\xe0" + str(i).encode())
    annotations = coco()
    (folder / "coco.json").write_text(json.dumps(annotations))
    segments = [
        {"id": i, "category_id": category, "area": 9 - i, "bbox": box, "iscrowd": crowd}
        for i, (_, category, box, crowd, _) in enumerate(_BOXES)
    ]
    annotations["annotations"] = [{"image_id": 11, "file_name": "11.png", "segments_info": segments}]
    (folder / "panoptic.json").write_text(json.dumps(annotations))
    _write_voc(folder / "voc")
    (folder / "list_attr_celeba.txt").write_text("3\nA B C\n11.jpg  1 -1  1\n22.jpg -1 -1 1\n33.jpg 1 1 -1\n")
    (folder / "list_eval_partition.txt").write_text("11.jpg 0\n22.jpg 1\n33.jpg 2\n")
    lines = [
        {"source": str(folder / f"{image}.jpg"), "usage": usage, "annotation": [{"name": n} for n in labels]}
        for image, usage, labels in (
            (11, "train", ["dog"]),
            (22, "TRAIN", ["cat"]),
            (33, "eval", ["cat", "dog"]),
            (33, "train", ["cat", "ape"]),
            (33, "inference", []),
        )
    ]
    (folder / "images.manifest").write_text("".join(json.dumps(line) + "\n" for line in lines))


# Columns of the data sets that have a train.csv and a test.csv.
_CSV_PARTS = {
    "AGNewsDataset": 3,
    "AmazonReviewDataset": 3,
    "DBpediaDataset": 3,
    "SogouNewsDataset": 3,
    "YahooAnswersDataset": 4,
    "YelpReviewDataset": 2,
}
_LINE_PARTS = {"PennTreebankDataset": "ptb.{}.txt", "WikiTextDataset": "wiki.{}.tokens"}


def _write_parts(folder: pathlib.Path) -> None:
    for kind, columns in _CSV_PARTS.items():
        (folder / kind).mkdir()
        for part, rows in (("train", "abc"), ("test", "xy")):
            lines = [",".join(f'"{row}{i} ""q"", z"' for i in range(columns)) for row in rows]
            (folder / kind / f"{part}.csv").write_text("\n".join(lines))
    for kind, name in _LINE_PARTS.items():
        (folder / kind).mkdir()
        for part in ("train", "test", "valid"):
            (folder / kind / name.format(part)).write_text(f" \n = {part} = \n\n b \n")


def write(folder: pathlib.Path) -> None:
    """All files of the cases."""
    _write_parts(folder)
    _write_images(folder)
    for letter, rows in (("a", 5), ("b", 3), ("c", 4)):
        (folder / f"{letter}.txt").write_text("".join(f"{letter}{i}\n" for i in range(rows)))
        records = b"".join(record(example({"x": [f"{letter}{i}".encode()]})) for i in range(rows))
        (folder / f"{letter}.tf").write_bytes(records)
        (folder / f"{letter}.gz").write_bytes(gzip.compress(records))
        (folder / f"{letter}.zlib").write_bytes(zlib.compress(records))
    (folder / "odd.txt").write_bytes(b"x\n\n  \ny\r\nz")
    (folder / "rich.tf").write_bytes(
        record(example(_RICH)) + record(example({**_RICH, "z": [4], "m": [b"q"]}, packed=False))
    )
    schema = {"datasetType": "TF", "numRows": 1, "columns": {"z": {"type": "int64", "rank": 1, "shape": [3]}}}
    (folder / "schema.json").write_text(json.dumps(schema))
    (folder / "header.csv").write_text("a,b\n1,2\n3,4\n")
    (folder / "quotes.csv").write_bytes(b'"a,b","c ""q"""\r\n"d\ne",\r\r\n\n,f')
    (folder / "numbers.csv").write_text("1,2.5,hi\n -4,1e3,yo\n")
    for task, line in _CLUE.items():
        (folder / f"{task}.json").write_text(json.dumps(line) + "\n\n" + json.dumps(line) + "\n")


def _orders(kind: str, ending: str, **more: Any) -> dict[str, Callable]:
    """The same ways of reading files a, b and c."""

    def read(ds: Any, **arguments: Any) -> Any:
        return getattr(ds, kind)([f"{name}.{ending}" for name in "cab"], **more, **arguments)

    cases: dict[str, Callable] = {}
    for workers in (1, 2):
        cases[f"plain {workers}"] = lambda ds, w=workers: read(ds, shuffle=False, num_parallel_workers=w)
        cases[f"files {workers}"] = lambda ds, w=workers: read(
            ds, shuffle=ds.Shuffle.FILES, num_parallel_workers=w
        )
        cases[f"global {workers}"] = lambda ds, w=workers: read(ds, num_parallel_workers=w)
    for shard in range(2):
        arguments = {"num_shards": 2, "shard_id": shard, "num_parallel_workers": 1}
        cases[f"shard {shard}"] = lambda ds, a=arguments: read(ds, shuffle=False, **a)
        cases[f"shard of files {shard}"] = lambda ds, a=arguments: read(ds, shuffle=ds.Shuffle.FILES, **a)
    cases["samples"] = lambda ds: read(ds, shuffle=False, num_samples=4, num_parallel_workers=1)
    cases["samples, shuffled"] = lambda ds: read(ds, num_samples=4, num_parallel_workers=1)
    return {f"{kind} {ending} {name}": case for name, case in cases.items()}


def _schema(ds: Any, *columns: Any) -> Any:
    made = ds.Schema()
    for column in columns:
        made.add_column(*column)
    return made


CASES: dict[str, Callable] = {
    **_orders("TextFileDataset", "txt"),
    **_orders("TFRecordDataset", "tf"),
    "gzip": lambda ds: ds.TFRecordDataset(
        ["a.gz", "b.gz"], shuffle=False, num_parallel_workers=1, compression_type="GZIP"
    ),
    "zlib": lambda ds: ds.TFRecordDataset(
        ["a.zlib", "b.zlib"], shuffle=False, num_parallel_workers=1, compression_type="ZLIB"
    ),
    "equal rows": lambda ds: ds.TFRecordDataset(
        ["a.tf", "b.tf", "c.tf"], shuffle=False, num_shards=2, shard_id=1, shard_equal_rows=True
    ),
    "lines": lambda ds: ds.TextFileDataset("odd.txt", shuffle=False),
    "glob": lambda ds: ds.TextFileDataset("[ab].txt", shuffle=False, num_parallel_workers=1),
    "features": lambda ds: ds.TFRecordDataset("rich.tf", shuffle=False),
    "columns": lambda ds: ds.TFRecordDataset("rich.tf", columns_list=["m", "a"], shuffle=False),
    "schema file": lambda ds: ds.TFRecordDataset("rich.tf", "schema.json", shuffle=False),
    "schema": lambda ds: ds.TFRecordDataset(
        "rich.tf",
        _schema(ds, ("z", "int16"), ("a", "float64", []), ("m", "string"), ("n", "uint64", [1])),
        shuffle=False,
    ),
    "header": lambda ds: ds.CSVDataset("header.csv", shuffle=False),
    "typed header": lambda ds: ds.CSVDataset("header.csv", column_defaults=[1], shuffle=False),
    "quotes": lambda ds: ds.CSVDataset("quotes.csv", column_names=["x", "y"], shuffle=False),
    "numbers": lambda ds: ds.CSVDataset(
        "numbers.csv", column_names=["x", "y", "z"], column_defaults=[0, 0.0, ""], shuffle=False
    ),
    **{
        f"{task} {usage}": lambda ds, t=task, u=usage: ds.CLUEDataset(f"{t}.json", t, u, shuffle=False)
        for task in _CLUE
        for usage in ("train", "test")
    },
    **{
        f"coco {task}": lambda ds, t=task: ds.CocoDataset(".", "coco.json", t, shuffle=False)
        for task in ("Detection", "Stuff", "Keypoint", "Captioning")
    },
    "coco shuffled": lambda ds: ds.CocoDataset(".", "coco.json"),
    "coco Panoptic": lambda ds: ds.CocoDataset(".", "panoptic.json", "Panoptic", shuffle=False),
    "voc": lambda ds: ds.VOCDataset("voc", shuffle=False),
    "voc Detection": lambda ds: ds.VOCDataset("voc", "Detection", shuffle=False),
    "voc classes": lambda ds: ds.VOCDataset("voc", "Detection", class_indexing={"cat": 5}, shuffle=False),
    **{
        f"celeba {usage}": lambda ds, u=usage: ds.CelebADataset(".", usage=u, shuffle=False)
        for usage in ("all", "train", "valid", "test")
    },
    "celeba shard": lambda ds: ds.CelebADataset(".", shuffle=False, num_shards=2, shard_id=1),
    "celeba extensions": lambda ds: ds.CelebADataset(".", shuffle=False, extensions=[".jpg"]),
    **{
        f"manifest {usage}": lambda ds, u=usage: ds.ManifestDataset("images.manifest", u, shuffle=False)
        for usage in ("train", "eval")
    },
    "manifest classes": lambda ds: ds.ManifestDataset(
        "images.manifest", class_indexing={"dog": 5, "cat": 2}, shuffle=False
    ),
    **{
        f"{kind} {usage}": lambda ds, k=kind, u=usage: getattr(ds, k)(
            k, u, shuffle=False, num_parallel_workers=1
        )
        for kind in (*_CSV_PARTS, *_LINE_PARTS)
        for usage in ("train", "test", "all", None)
    },
    "AGNewsDataset shuffled": lambda ds: ds.AGNewsDataset("AGNewsDataset", num_parallel_workers=2),
    "YelpReviewDataset shuffled": lambda ds: ds.YelpReviewDataset(
        "YelpReviewDataset", num_parallel_workers=2
    ),
    **{
        f"classes {arguments}": lambda ds, a=arguments: ds.ImageFolderDataset(
            "classes",
            sampler=eval(f"ds.PKSampler({a})", {"ds": ds}),  # noqa: S307
        )
        for arguments in (
            "2",
            "2, None, True",
            "6",
            "6, None, True",
            "2, num_samples=3",
            "2, num_samples=100",
        )
    },
    "classes given": lambda ds: ds.ImageFolderDataset(
        "classes", class_indexing={"c": 7, "a": 9}, sampler=ds.PKSampler(2)
    ),
    "classes of MNIST": lambda ds: _labels(ds.MnistDataset("mnist", "train", sampler=ds.PKSampler(3))),
    "classes before": lambda ds: _first_of_classes(ds),
    "classes of a manifest": lambda ds: ds.ManifestDataset("images.manifest", sampler=ds.PKSampler(2)),
    "padded": lambda ds: ds.PaddedDataset([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
    **{f"padded shard {shard}": lambda ds, s=shard: _padded_shard(ds, s) for shard in range(3)},
}


# Cases whose classes are compared too.
CLASSES = (
    "voc Detection",
    "voc classes",
    "coco Detection",
    "coco Panoptic",
    "manifest train",
    "manifest eval",
    "manifest classes",
)


def _labels(dataset: Any) -> Any:
    """Without the images, but for the pixel that tells which it is."""
    return dataset.map(lambda image: image[0, 0], "image")


def _first_of_classes(ds: Any) -> Any:
    sampler = ds.SequentialSampler(0, 4)
    sampler.add_child(ds.PKSampler(2))
    return ds.ImageFolderDataset("classes", sampler=sampler)


def _padded_shard(ds: Any, shard: int) -> Any:
    rows = ds.NumpySlicesDataset([10, 11, 12, 13], "x", shuffle=False)
    whole = rows + ds.PaddedDataset([{"x": 0}, {"x": 1}])
    whole.use_sampler(ds.DistributedSampler(3, shard, shuffle=False, num_samples=None))
    return whole


def read(ds: Any, name: str, epochs: int = 2) -> dict[str, Any]:
    """What a case gives: size, names, and rows of some epochs as [dtype, shape, values]."""
    ds.config.set_seed(7)
    dataset = CASES[name](ds)
    result = {"size": dataset.get_dataset_size(), "names": dataset.get_col_names(), "epochs": []}
    if name in CLASSES:
        result["classes"] = [dataset.get_class_indexing(), dataset.num_classes()]
    ds.config.set_seed(7)
    iterator = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    for _ in range(epochs):
        rows = [
            [
                [value.dtype.kind + str(value.dtype.itemsize), list(value.shape), value.ravel().tolist()]
                for value in row
            ]
            for row in iterator
        ]
        result["epochs"].append(rows)
    return result
