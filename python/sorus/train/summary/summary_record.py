"""SummaryRecord: writes summary and lineage files."""

import atexit
import os
import platform
import re
import threading
import time
import urllib.parse

from ... import _core
from ..._context import get_context
from ..._warn import warn
from ...nn.cell import Cell
from ...ops import _summary
from ._graph import WatchedCell, recorded_graph

_TENSORS = ("tensor", "scalar", "image", "histogram")
_LINEAGE = ("train_lineage", "eval_lineage", "dataset_graph", "custom_lineage_data")
_PLUGINS = (*_TENSORS, *_LINEAGE, "graph", "landscape")
_EXPORTS = {"tensor_format": ("npy", None)}

_live_lock = threading.Lock()


def check_export_options(what, options):
    """The options, of which only known ones with known values pass."""
    if options is None:
        return None
    if not isinstance(options, dict):
        raise TypeError(
            f"{what}: 'export_options' has the wrong type: got {type(options).__name__}, need a dict or None"
        )
    for name, value in options.items():
        if name not in _EXPORTS:
            raise ValueError(
                f"{what}: unknown key in 'export_options': got {name!r}, need one of {list(_EXPORTS)}"
            )
        if value not in _EXPORTS[name]:
            raise ValueError(f"{what}: '{name}' is unknown: got {value!r}, need one of {_EXPORTS[name]}")
    return options


def make_folder(what, name, path):
    """The folder's real path; it is made where there is none."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {path!r}, need the path of a folder")
    path = os.path.realpath(path)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise type(error)(
            f"{what}: '{name}' cannot be made: got '{error.strerror}' for {path}, need a writable folder"
        ) from error
    return path


def _event_path(folder, prefix, suffix, seconds):
    host = f"{get_context('device_id')}.{platform.node()}"
    return os.path.join(folder, f"{prefix}.out.events.summary.{seconds}.{host}{suffix}")


def _message(plugin, value):
    """The bytes of a protobuf message, or bytes that are one."""
    if isinstance(value, bytes):
        return value
    if not hasattr(value, "SerializeToString"):
        raise TypeError(
            f"SummaryRecord: 'value' has the wrong type: got {type(value).__name__} for '{plugin}', need a "
            "protobuf message or its bytes"
        )
    return value.SerializeToString()


class _Arrays:
    """Tensors as files of NumPy, one for each name and step."""

    def __init__(self, folder):
        self._folder = folder

    def append(self, export):
        """Writes a tensor, given with its name and the step."""
        import numpy as np

        name, step, value = export
        os.makedirs(self._folder, exist_ok=True)
        path = os.path.join(self._folder, f"{urllib.parse.quote(name, safe='')}_{step}.npy")
        if os.path.exists(path):
            os.remove(path)
        np.save(path, value.asnumpy())
        os.chmod(path, 0o400)
        return True

    def flush(self):
        """Nothing waits."""

    def close(self):
        """Nothing is open."""


class SummaryRecord:
    """Records values by step in a summary file, and what a run was made of in a lineage file.

    Both are made in `log_dir` when there is something to write. Each call of `record` writes what `add_value`
    and the summary primitives (`ops.ScalarSummary` ...) have given since the last. One record may be open in
    a process; close it, or use it as a context manager. A file grows to `max_file_size` bytes at most, after
    which a warning comes and the file stays as it is. So it is when it cannot be written, unless
    `raise_exception` says that the error is to be raised. With `export_options={"tensor_format": "npy"}`
    tensors go to files of NumPy as well. `num_process` is accepted: values are written by the process that
    records them. In graph mode the graph of `network` is recorded once it has been called.

    >>> import tempfile
    >>> from sorus import SummaryRecord, Tensor
    >>> with tempfile.TemporaryDirectory() as folder, SummaryRecord(folder) as summary:
    ...     summary.add_value("scalar", "loss", Tensor(0.5))
    ...     summary.record(step=1)
    True
    """

    count = 0

    def __init__(
        self,
        log_dir,
        file_prefix="events",
        file_suffix="_MS",
        num_process=32,
        network=None,
        max_file_size=None,
        raise_exception=False,
        export_options=None,
    ):
        for name, text in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(text, str):
                raise TypeError(
                    f"SummaryRecord: '{name}' has the wrong type: got {type(text).__name__}, need a str"
                )
            if not re.fullmatch(r"[0-9a-zA-Z_.-]*", text):
                raise ValueError(
                    f"SummaryRecord: '{name}' cannot be part of a name: got {text!r}, need letters, digits, "
                    "'_', '-' and '.'"
                )
        if isinstance(max_file_size, bool) or not isinstance(max_file_size, (int, type(None))):
            raise TypeError(
                f"SummaryRecord: 'max_file_size' has the wrong type: got {max_file_size!r}, need an int"
            )
        if not isinstance(raise_exception, bool):
            raise TypeError(
                f"SummaryRecord: 'raise_exception' has the wrong type: got {raise_exception!r}, need a bool"
            )
        if not isinstance(network, (Cell, type(None))):
            raise TypeError(
                f"SummaryRecord: 'network' has the wrong type: got {type(network).__name__}, need a Cell"
            )
        if max_file_size is not None and max_file_size < 0:
            warn(f"SummaryRecord: 'max_file_size' is negative: got {max_file_size}, files grow without limit")
            max_file_size = None
        self.raise_exception = raise_exception
        self._export_options = check_export_options("SummaryRecord", export_options)
        folder = make_folder("SummaryRecord", "log_dir", log_dir)
        self._mode, self._values, self._closed = "train", {}, False
        with _live_lock:
            if SummaryRecord.count:
                raise RuntimeError(
                    "SummaryRecord: another one is open: got a second in this process, need the first closed"
                )
            self._open(folder, file_prefix, file_suffix, max_file_size)
            SummaryRecord.count += 1
        self._watched = None if network is None else WatchedCell(network)
        _summary.listen(True)
        atexit.register(self.close)

    def _open(self, folder, prefix, suffix, most_bytes):
        """Names the files. Two records that follow each other within a second have files of their own."""
        seconds = int(time.time())
        while any(os.path.lexists(_event_path(folder, prefix, end, seconds)) for end in (suffix, "_lineage")):
            seconds += 1
        self._path = _event_path(folder, prefix, suffix, seconds)
        lineage = _event_path(folder, prefix, "_lineage", seconds)
        self._files = {
            "summary": _core.EventFile(self._path, False, most_bytes),
            "lineage": _core.EventFile(lineage, True, most_bytes),
            "export": _Arrays(os.path.join(folder, f"export_{seconds}", "tensor")),
        }

    def __enter__(self):
        if self._closed:
            raise ValueError("SummaryRecord: it is closed: got a with statement, need a new record")
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def log_dir(self):
        """The full path of the summary file."""
        return self._path

    def set_mode(self, mode):
        """ "train", or "eval", in which what summary primitives give waits for the next record in "train"."""
        if mode not in ("train", "eval"):
            raise ValueError(f"SummaryRecord: unknown 'mode': got {mode!r}, need 'train' or 'eval'")
        self._mode = mode

    def add_value(self, plugin, name, value):
        """Keeps a value for the next record.

        `plugin` says what it is. "scalar" (one element), "image" (N, C, H, W), "tensor" and "histogram"
        (rank 1 or more) take a Tensor. "train_lineage", "eval_lineage", "custom_lineage_data" and
        "dataset_graph" take a message of MindSpore's lineage.proto, "graph" a ModelProto, "landscape" a
        LossLandscape, or the bytes of one. Of several values of one plugin and name the last is recorded.
        """
        if plugin not in _PLUGINS:
            raise ValueError(f"SummaryRecord: unknown 'plugin': got {plugin!r}, need one of {list(_PLUGINS)}")
        if plugin in (*_TENSORS, "landscape") and (not isinstance(name, str) or not name):
            raise ValueError(
                f"SummaryRecord: 'name' has the wrong type: got {name!r}, need a str that is not empty"
            )
        if plugin in _TENSORS:
            _summary.check("SummaryRecord", plugin, value)
            self._add(plugin, name, _summary.held(value))
        else:
            self._values[plugin, name, len(self._values)] = _message(plugin, value)

    def _add(self, plugin, name, value):
        shape = value.shape
        if plugin == "image" and (shape[1] not in (1, 3) or 0 in shape):
            warn(
                f"SummaryRecord: '{name}' is not recorded: got an image of the shape {shape}, need 1 or 3 "
                "channels and no extent of 0"
            )
            return
        if (plugin, name) in self._values:
            warn(f"SummaryRecord: '{name}/{plugin}' has several values: only the newest one will be recorded")
        self._values[plugin, name] = value

    def record(self, step, train_network=None, plugin_filter=None):
        """Writes what was given since the last record, if `plugin_filter(plugin)` is true, as of that step.

        Returns False when the record is closed or something could not be written, else True.
        """
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(f"record: 'step' has the wrong type: got {type(step).__name__}, need an int")
        if not isinstance(train_network, (Cell, type(None))):
            raise TypeError(
                f"record: 'train_network' has the wrong type: got {type(train_network).__name__}, "
                "need a Cell or None"
            )
        if self._closed:
            warn("record: the SummaryRecord is closed: nothing is recorded")
            return False
        self._add_graph()
        if self._mode == "train":
            for (plugin, name), value in _summary.take().items():
                self._add(plugin, name, value)
        values, self._values = [(*key[:2], value) for key, value in self._values.items()], {}
        if plugin_filter is not None:
            values = [v for v in values if plugin_filter(v[0])]
        return self._write(step, values)

    def _add_graph(self):
        """The graph of the network, once, after its first call."""
        watched = self._watched
        if watched is None or watched.inputs is None:
            return
        self._watched = None
        graph = recorded_graph(watched.cell, watched.inputs)
        if graph is not None:
            self.add_value("graph", "network", graph)
        else:
            warn(
                "SummaryRecord: the graph of 'network' is not recorded: got a call outside graph mode, "
                "need set_context(mode=GRAPH_MODE) and a call of the network itself"
            )

    def _write(self, step, values):
        now, whole = time.time(), True
        shown = []
        for plugin, name, value in values:
            if plugin == "graph":
                whole &= self._put("summary", lambda v=value: _core.graph_event(now, v))
            elif plugin in _LINEAGE:
                whole &= self._put("lineage", lambda p=plugin, v=value: _core.lineage_event(now, p, v))
            else:
                shown.append((plugin, name, value))
            if plugin == "tensor" and (self._export_options or {}).get("tensor_format") == "npy":
                whole &= self._put("export", lambda n=name, v=value: (n, step, v))
        if shown:
            # Values of one kind stand together, kinds in the order in which they came.
            kinds = list(dict.fromkeys(plugin for plugin, _, _ in shown))
            shown.sort(key=lambda v: kinds.index(v[0]))
            whole &= self._put("summary", lambda: _core.summary_event(now, step, shown))
        return whole

    def _put(self, kind, event):
        """Appends to a file, unless it has failed before. Returns whether it is there."""
        file = self._files[kind]
        if file is None:
            return False
        try:
            if file.append(event()):
                return True
            warn(f"SummaryRecord: 'max_file_size' is reached: {kind} events are recorded no more")
        except OSError as error:
            if self.raise_exception:
                raise
            warn(f"SummaryRecord: {kind} events are recorded no more: {error}")
        file.close()
        self._files[kind] = None
        return False

    def flush(self):
        """Waits until what is recorded is on the disk."""
        if self._closed:
            warn("flush: the SummaryRecord is closed: nothing is left to write")
            return
        for kind, file in self._files.items():
            try:
                if file is not None:
                    file.flush()
            except OSError as error:
                if self.raise_exception:
                    raise
                warn(f"SummaryRecord: {kind} events may be lost: {error}")

    def close(self):
        """Ends the files, which are read-only then. Values that were not recorded are dropped."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        for file in self._files.values():
            if file is not None:
                file.close()
        self._values = {}
        if self._watched is not None:
            self._watched.forget()
        _summary.listen(False)
        with _live_lock:
            SummaryRecord.count -= 1
