"""MindRecord: rows in files that MindSpore reads and writes too.

`FileWriter` writes them, `FileReader` and `MindPage` read them, and `sorus.dataset.MindDataset` is a pipeline
over them.
"""

from . import common, config
from .common.exceptions import *
from .common.exceptions import __all__ as _errors
from .config import set_dec_mode, set_enc_key, set_enc_mode
from .filereader import FileReader
from .filewriter import FileWriter
from .mindpage import MindPage
from .status import FAILED, SUCCESS

__all__ = [
    "FAILED",
    "SUCCESS",
    "FileReader",
    "FileWriter",
    "MindPage",
    "set_dec_mode",
    "set_enc_key",
    "set_enc_mode",
]


def __getattr__(name):
    from .._near import unknown_name

    raise unknown_name(__name__, name, [*__all__, *_errors])
