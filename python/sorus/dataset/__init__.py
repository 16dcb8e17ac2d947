"""Data pipelines: sources, operations on them, samplers and iterators.

The engine is compiled (`docs/rooms/data.md`); these classes name its parts as MindSpore 2.x does.
"""

from . import audio, config, engine, text, transforms, vision
from .._core import data as _data
from .annotation_sources import CelebADataset, CocoDataset, ManifestDataset, VOCDataset
from .datasets import (
    BatchDataset,
    ConcatDataset,
    Dataset,
    FilterDataset,
    MapDataset,
    MappableDataset,
    PaddedBatchDataset,
    ProjectDataset,
    RenameDataset,
    RepeatDataset,
    Shuffle,
    ShuffleDataset,
    SkipDataset,
    TakeDataset,
    ZipDataset,
    zip,
)
from .file_sources import CSVDataset, MindDataset, TFRecordDataset
from .image_sources import (
    Cifar100Dataset,
    Cifar10Dataset,
    EMnistDataset,
    FashionMnistDataset,
    ImageFolderDataset,
    KMnistDataset,
    MnistDataset,
    QMnistDataset,
)
from .iterators import DictIterator, Iterator, TupleIterator
from .samplers import (
    BuiltinSampler,
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from .schema import Schema
from .text_sources import (
    AGNewsDataset,
    AmazonReviewDataset,
    CLUEDataset,
    DBpediaDataset,
    PennTreebankDataset,
    SogouNewsDataset,
    TextFileDataset,
    WikiTextDataset,
    YahooAnswersDataset,
    YelpReviewDataset,
)
from .user_sources import GeneratorDataset, NumpySlicesDataset, PaddedDataset

BatchInfo = _data.BatchInfo

__all__ = [
    "AGNewsDataset",
    "AmazonReviewDataset",
    "BatchDataset",
    "BatchInfo",
    "BuiltinSampler",
    "CLUEDataset",
    "CSVDataset",
    "CelebADataset",
    "Cifar100Dataset",
    "Cifar10Dataset",
    "CocoDataset",
    "ConcatDataset",
    "DBpediaDataset",
    "Dataset",
    "DictIterator",
    "DistributedSampler",
    "EMnistDataset",
    "FashionMnistDataset",
    "FilterDataset",
    "GeneratorDataset",
    "ImageFolderDataset",
    "Iterator",
    "KMnistDataset",
    "ManifestDataset",
    "MapDataset",
    "MappableDataset",
    "MindDataset",
    "MnistDataset",
    "NumpySlicesDataset",
    "PKSampler",
    "PaddedBatchDataset",
    "PaddedDataset",
    "PennTreebankDataset",
    "ProjectDataset",
    "QMnistDataset",
    "RandomSampler",
    "RenameDataset",
    "RepeatDataset",
    "Sampler",
    "Schema",
    "SequentialSampler",
    "Shuffle",
    "ShuffleDataset",
    "SkipDataset",
    "SogouNewsDataset",
    "SubsetRandomSampler",
    "SubsetSampler",
    "TFRecordDataset",
    "TakeDataset",
    "TextFileDataset",
    "TupleIterator",
    "VOCDataset",
    "WeightedRandomSampler",
    "WikiTextDataset",
    "YahooAnswersDataset",
    "YelpReviewDataset",
    "ZipDataset",
    "audio",
    "config",
    "engine",
    "text",
    "transforms",
    "vision",
    "zip",
]


def __getattr__(name):
    from .._near import unknown_name

    raise unknown_name(__name__, name, __all__)
