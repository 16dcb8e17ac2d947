"""The sections of record_facts.py about data pipelines and images; run that one."""

import gzip
import pathlib
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import mindspore.dataset as ds
import mindspore.dataset.transforms as transforms
import mindspore.dataset.vision as vision
import numpy as np
from mindspore import Tensor
from mindspore_fixtures import spec_of

import mindspore as ms


def spec(value: Any) -> Any:
    """A result as JSON: tensors and arrays as [dtype, shape, flat values]."""
    if isinstance(value, Tensor):
        return spec_of(value.asnumpy(), str(value.dtype).lower())
    if isinstance(value, np.ndarray):
        return spec_of(value)
    if isinstance(value, (tuple, list)):
        return [spec(item) for item in value]
    if isinstance(value, dict):
        return {key: spec(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def attempt(make: Callable[[], Any]) -> Any:
    """The result of a call as JSON, or its error's class and first telling line."""
    try:
        return spec(make())
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is recorded
        lines = (line for line in str(error).splitlines() if line.strip(" -") and not line.startswith("- "))
        return f"{type(error).__name__}: {next(lines, '')}"


def rows(dataset: ds.Dataset) -> list[Any]:
    """The first column of a dataset, as plain values."""
    return [row[0].tolist() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def hex_of(image: np.ndarray) -> list[Any]:
    """An image as [dtype, shape, hex digits of its bytes]."""
    return [str(image.dtype), list(image.shape), image.tobytes().hex()]


def mnist_folder(source: pathlib.Path, target: pathlib.Path) -> str:
    """A folder with MNIST's files uncompressed."""
    for path in source.iterdir():
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        (target / path.name.removesuffix(".gz")).write_bytes(data)
    return str(target)


def images(source: pathlib.Path) -> dict[str, Any]:
    """MnistDataset's columns and first two images (as hex), and what LeNet's pipeline makes of it."""
    record: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = mnist_folder(source, pathlib.Path(folder))
        raw = ds.MnistDataset(path, "train", num_samples=2, shuffle=False)
        record["columns"] = [raw.get_col_names(), [str(t) for t in raw.output_types()], raw.output_shapes()]
        pairs = list(raw.create_tuple_iterator(num_epochs=1, output_numpy=True))
        record["first two"] = [hex_of(image) + [spec(label)] for image, label in pairs]
        chain = ds.MnistDataset(path, "train", num_samples=64, shuffle=False)
        chain = chain.map(transforms.TypeCast(ms.int32), "label")
        chain = chain.map(
            [
                vision.Resize((32, 32)),
                vision.Rescale(1 / 255.0, 0.0),
                vision.Rescale(1 / 0.3081, -0.1307 / 0.3081),
                vision.HWC2CHW(),
            ],
            "image",
        )
        chain = chain.batch(32, drop_remainder=True)
        first = next(chain.create_dict_iterator(num_epochs=1, output_numpy=True))
        record["LeNet pipeline"] = {key: [str(v.dtype), list(v.shape)] for key, v in first.items()}
        record["LeNet pipeline, label of the first batch"] = first["label"].tolist()
        record["LeNet pipeline, row 10 of the first image"] = spec(first["image"][0, 0, 10])
        record["LeNet pipeline, sizes"] = [
            chain.get_dataset_size(),
            chain.get_batch_size(),
            chain.output_shapes(),
            [str(t) for t in chain.output_types()],
        ]
    return record


def resized(gray: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """Exact pixels, as hex, of two gray images and the color image named here, resized by each method."""
    record: dict[str, Any] = {}
    color = np.random.RandomState(3).randint(0, 256, (7, 9, 3)).astype(np.uint8)
    record["color"] = [list(color.shape), color.tobytes().hex()]
    for source_name, image in (("gray", gray), ("gray second", second), ("color", color)):
        for size in ((32, 32), (12, 17), 20):
            for mode in (vision.Inter.LINEAR, vision.Inter.NEAREST, vision.Inter.BICUBIC, vision.Inter.AREA):
                if source_name == "gray second" and (size != (32, 32) or mode != vision.Inter.LINEAR):
                    continue
                record[f"{source_name} {size} {mode.name}"] = attempt(
                    lambda image=image, size=size, mode=mode: hex_of(vision.Resize(size, mode)(image))
                )
    return record


def vision_transforms() -> dict[str, Any]:
    """Exact results of vision transforms without chance on the small image named below."""
    small = np.random.RandomState(3).randint(0, 256, (4, 5, 3)).astype(np.uint8)
    simple = {
        "HWC2CHW": lambda: vision.HWC2CHW(),
        "CenterCrop(3)": lambda: vision.CenterCrop(3),
        "Crop((1, 2), (3, 2))": lambda: vision.Crop((1, 2), (3, 2)),
        "HorizontalFlip": lambda: vision.HorizontalFlip(),
        "VerticalFlip": lambda: vision.VerticalFlip(),
        "Invert": lambda: vision.Invert(),
        "Pad(1)": lambda: vision.Pad(1),
        "Pad((1, 0, 2, 1), 7)": lambda: vision.Pad((1, 0, 2, 1), 7),
        "Pad(1, REFLECT)": lambda: vision.Pad(1, padding_mode=vision.Border.REFLECT),
        "Rescale(0.5, 1.0)": lambda: vision.Rescale(0.5, 1.0),
        "Normalize": lambda: vision.Normalize([120.0] * 3, [60.0] * 3),
        "Normalize, CHW": lambda: transforms.Compose(
            [vision.HWC2CHW(), vision.Normalize([120.0] * 3, [60.0] * 3, is_hwc=False)]
        ),
        "ToTensor": lambda: vision.ToTensor(),
        "Rotate(90)": lambda: vision.Rotate(90),
        "Rotate(30)": lambda: vision.Rotate(30),
        "ConvertColor RGB2GRAY": lambda: vision.ConvertColor(vision.ConvertMode.COLOR_RGB2GRAY),
        "ConvertColor RGB2BGR": lambda: vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR),
        "GaussianBlur(3)": lambda: vision.GaussianBlur(3),
        "Equalize": lambda: vision.Equalize(),
        "AutoContrast": lambda: vision.AutoContrast(),
        "AdjustBrightness(1.5)": lambda: vision.AdjustBrightness(1.5),
        "AdjustContrast(1.5)": lambda: vision.AdjustContrast(1.5),
        "AdjustSaturation(0.5)": lambda: vision.AdjustSaturation(0.5),
        "Posterize(3)": lambda: vision.Posterize(3),
        "Solarize((10, 200))": lambda: vision.Solarize((10, 200)),
    }
    record = {"small": spec(small)}

    def result_of(make: Callable[[], Any]) -> np.ndarray:
        """The transformed image; transforms of several columns return a tuple."""
        result = make()(small)
        return np.asarray(result[0] if isinstance(result, tuple) else result)

    return record | {name: attempt(lambda make=make: result_of(make)) for name, make in simple.items()}


def seeded_rows(make: Callable[[], ds.Dataset], seeds: Iterable[int] = (0, 1)) -> dict[str, list]:
    """Rows of a dataset for some seeds, twice each: the dataset made again, and a second epoch."""
    record = {}
    for seed in seeds:
        ms.set_seed(seed)
        ds.config.set_seed(seed)
        dataset = make()
        record[f"seed {seed}"] = [rows(dataset), rows(dataset)]
    return record


def seeded_epochs(make: Callable[[], ds.Dataset], seeds: Iterable[int] = (0, 1)) -> dict[str, list]:
    """Rows of three epochs of one iterator of a dataset, for some seeds."""
    record = {}
    for seed in seeds:
        ds.config.set_seed(seed)
        iterator = make().create_tuple_iterator(num_epochs=3, output_numpy=True)
        record[f"seed {seed}"] = [[row[0].tolist() for row in iterator] for _ in range(3)]
    return record


def size_and_rows(dataset: ds.Dataset) -> dict[str, Any]:
    """What a pipeline says of its size, and what it gives."""
    return {"size": dataset.get_dataset_size(), "rows": rows(dataset)}


def pipelines() -> dict[str, Any]:
    """Orders and shapes that a data pipeline gives, with seeds where it shuffles."""
    numbers = list(range(10))

    def of(**options: Any) -> ds.Dataset:
        """Ten rows."""
        return ds.NumpySlicesDataset(numbers, column_names=["x"], **options)

    def generated(**options: Any) -> ds.Dataset:
        """Ten rows from a Python object."""
        return ds.GeneratorDataset(numbers, ["x"], **options)

    seeded = {
        "NumpySlices shuffle=True": lambda: seeded_rows(lambda: of(shuffle=True)),
        "NumpySlices default": lambda: seeded_rows(of),
        "Generator shuffle=True": lambda: seeded_rows(lambda: generated(shuffle=True)),
        "Generator default": lambda: seeded_rows(lambda: generated()),
        "shuffle(4)": lambda: seeded_rows(lambda: of(shuffle=False).shuffle(4)),
        "shuffle(10)": lambda: seeded_rows(lambda: of(shuffle=False).shuffle(10)),
        "shuffle(100)": lambda: seeded_rows(lambda: of(shuffle=False).shuffle(100)),
        "shuffle(4).batch(3)": lambda: seeded_rows(lambda: of(shuffle=False).shuffle(4).batch(3)),
        "shuffle(4).repeat(2)": lambda: seeded_rows(lambda: of(shuffle=False).shuffle(4).repeat(2)),
        "three epochs": lambda: seeded_epochs(lambda: of(shuffle=True)),
        "three epochs, shuffle(4)": lambda: seeded_epochs(lambda: of(shuffle=False).shuffle(4)),
        "three epochs, num_shards=2": lambda: seeded_epochs(lambda: of(num_shards=2, shard_id=0)),
        "three epochs, RandomSampler(True, 5)": lambda: seeded_epochs(
            lambda: of(sampler=ds.RandomSampler(True, 5))
        ),
        "three epochs, SubsetRandomSampler": lambda: seeded_epochs(
            lambda: of(sampler=ds.SubsetRandomSampler([1, 3, 5, 7, 9]))
        ),
        "RandomSampler": lambda: seeded_rows(lambda: of(sampler=ds.RandomSampler())),
        "RandomSampler(True, 5)": lambda: seeded_rows(lambda: of(sampler=ds.RandomSampler(True, 5))),
        "SubsetRandomSampler": lambda: seeded_rows(lambda: of(sampler=ds.SubsetRandomSampler([1, 3, 5, 7]))),
        "WeightedRandomSampler": lambda: seeded_rows(
            lambda: of(sampler=ds.WeightedRandomSampler([0.1 * i for i in numbers], 6))
        ),
        "DistributedSampler(3, 1)": lambda: seeded_rows(lambda: of(sampler=ds.DistributedSampler(3, 1))),
        "num_shards=3, shard_id=1": lambda: seeded_rows(lambda: of(num_shards=3, shard_id=1)),
    }
    fixed = {
        "batch(3)": lambda: of(shuffle=False).batch(3),
        "batch(3, True)": lambda: of(shuffle=False).batch(3, True),
        "batch(3).repeat(2)": lambda: of(shuffle=False).batch(3).repeat(2),
        "repeat(2).batch(3)": lambda: of(shuffle=False).repeat(2).batch(3),
        "skip(3)": lambda: of(shuffle=False).skip(3),
        "take(3)": lambda: of(shuffle=False).take(3),
        "num_samples=4": lambda: of(shuffle=False, num_samples=4),
        "SequentialSampler(2, 3)": lambda: of(sampler=ds.SequentialSampler(2, 3)),
        "SubsetSampler": lambda: of(sampler=ds.SubsetSampler([5, 1])),
        "DistributedSampler(3, 2, shuffle=False)": lambda: of(
            sampler=ds.DistributedSampler(3, 2, shuffle=False)
        ),
        "filter even": lambda: of(shuffle=False).filter(lambda x: x % 2 == 0),
        "concat": lambda: of(shuffle=False).take(2) + of(shuffle=False).skip(8),
        "map(+1)": lambda: of(shuffle=False).map(lambda x: x + 1),
        "zip": lambda: ds.zip((of(shuffle=False), generated(shuffle=False).rename("x", "y"))),
        "padded_batch": lambda: (
            generated(shuffle=False)
            .map(lambda x: np.arange(x % 3 + 1))
            .padded_batch(2, pad_info={"x": ([4], -1)})
        ),
    }

    record = {name: attempt(make) for name, make in seeded.items()}
    record |= {name: attempt(lambda make=make: size_and_rows(make())) for name, make in fixed.items()}
    mixed = ds.NumpySlicesDataset({"a": [1, 2], "b": [1.5, 2.5], "c": ["x", "yy"]}, shuffle=False)
    record["dtypes of NumpySlices"] = {
        key: [str(value.dtype), list(value.shape)]
        for key, value in next(mixed.create_dict_iterator(output_numpy=True)).items()
    }
    record["tensor iterator"] = {
        key: str(value.dtype) for key, value in next(mixed.create_dict_iterator()).items()
    }
    halves = of(shuffle=False).split([0.7, 0.3], randomize=False)
    record["split([0.7, 0.3], randomize=False)"] = [rows(half) for half in halves]
    return record
