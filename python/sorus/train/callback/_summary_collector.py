"""SummaryCollector: a callback that records what most want to know of a training run."""

import json
import os
import re

from ... import _core, _tree
from ..._core import Tensor
from ..._warn import warn
from ...nn.loss.loss import LossBase
from ...nn.optim.optimizer import Optimizer
from ..summary._graph import recorded_graph
from ..summary.summary_record import SummaryRecord, check_export_options, make_folder
from ._callback import Callback, loss_of
from ._checkpoint import ModelCheckpoint

_SWITCHES = (
    "collect_metric",
    "collect_graph",
    "collect_train_lineage",
    "collect_eval_lineage",
    "collect_input_data",
    "collect_dataset_graph",
)
_KEYS = (*_SWITCHES, "histogram_regular", "collect_landscape")
_FIRST_PARAMETERS = 5
_MOST_TENSOR_STEPS = 20


def _wrong_type(name, value, need):
    return TypeError(f"SummaryCollector: '{name}' has the wrong type: got {value!r}, need {need}")


def _positive(name, value, optional=False):
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type(name, value, "an int or None" if optional else "an int")
    if value <= 0:
        raise ValueError(f"SummaryCollector: '{name}' is out of range: got {value}, need more than 0")
    return value


def _chosen(specified, keep_default):
    """What is collected, by key."""
    if not isinstance(specified, (dict, type(None))):
        raise _wrong_type("collect_specified_data", specified, "a dict or None")
    if not isinstance(keep_default, bool):
        raise _wrong_type("keep_default_action", keep_default, "a bool")
    specified = dict(specified or {})
    for key, value in specified.items():
        if not isinstance(key, str):
            raise _wrong_type("a key of collect_specified_data", key, "a str")
        if key not in _KEYS:
            raise ValueError(
                f"SummaryCollector: unknown key in 'collect_specified_data': got {key!r}, "
                f"need one of {list(_KEYS)}"
            )
        if key in _SWITCHES and not isinstance(value, bool):
            raise _wrong_type(key, value, "a bool")
    if specified.get("collect_landscape") is not None:
        raise NotImplementedError(
            "SummaryCollector: 'collect_landscape' is not here: got a request for a loss landscape, need None"
        )
    _check_expression(specified.get("histogram_regular"))
    default = {**dict.fromkeys(_SWITCHES, True), "histogram_regular": None} if keep_default else {}
    return {**default, **specified}


def _check_expression(expression):
    if not isinstance(expression, (str, type(None))):
        raise _wrong_type("histogram_regular", expression, "a str or None")
    try:
        re.compile(expression or "")
    except re.error as error:
        raise ValueError(
            f"SummaryCollector: 'histogram_regular' is no regular expression: got {expression!r} ({error}), "
            "need one"
        ) from None


def _custom(data):
    """What the user says of the run, by name."""
    if not isinstance(data, (dict, type(None))):
        raise _wrong_type("custom_lineage_data", data, "a dict or None")
    for key, value in (data or {}).items():
        if not isinstance(key, str):
            raise _wrong_type("a key of custom_lineage_data", key, "a str")
        if isinstance(value, bool) or not isinstance(value, (int, str, float)):
            raise _wrong_type(f"custom_lineage_data -> {key}", value, "an int, a float or a str")
        if isinstance(value, int) and not -(2**31) <= value < 2**31:
            raise ValueError(
                f"SummaryCollector: '{key}' is out of range: got {value}, need an int of 32 bits or a float"
            )
    return dict(data or {})


def _stage(dataset):
    """What is told of a pipeline: its last stage by name, and the stages before it."""
    told = {"op_type": type(dataset).__name__.removesuffix("Dataset")}
    size = getattr(dataset, "batch_size", None)
    if isinstance(size, int):
        told["batch_size"] = size
    return told, [_stage(child) for child in getattr(dataset, "children", ())]


def _folder_of(dataset):
    """The folder that a pipeline reads, if a source of it says so."""
    path = getattr(dataset, "dataset_dir", None)
    if isinstance(path, (str, os.PathLike)):
        path = os.fspath(path)
        return os.path.dirname(path) if os.path.isfile(path) else path
    return next(filter(None, map(_folder_of, getattr(dataset, "children", ()))), None)


def _dataset_lineage(dataset):
    """Where rows come from and how many there are, as far as the dataset knows."""
    told = {"dataset_path": _folder_of(dataset)}
    if hasattr(dataset, "get_batch_size"):
        told["batch_size"] = dataset.get_batch_size()
        if hasattr(dataset, "get_dataset_size"):
            told["dataset_size"] = told["batch_size"] * dataset.get_dataset_size()
    return told


def _class_name(value):
    return None if value is None else type(value).__name__


class SummaryCollector(Callback):
    """Records a training run in `summary_dir`: every `collect_freq` steps and at the first one the loss
    (`loss/auto`), the first input as an image (`input_data/auto`), histograms of parameters (`<name>/auto`)
    and what the summary primitives of the network say; at the first step the pipeline, in graph mode the
    graph of the training step, and what `custom_lineage_data` says of the run; and at the end of training
    and of evaluation what they were made of.

    `collect_specified_data` says by key what to collect: `collect_metric`, `collect_graph`,
    `collect_train_lineage`, `collect_eval_lineage`, `collect_input_data` and `collect_dataset_graph` are
    bools, True by default (False without `keep_default_action`), `histogram_regular` is a regular expression
    for the names of parameters, by default the first five. `collect_landscape` is not here.
    TensorSummary is recorded every `collect_tensor_freq` steps, by default at about 20 of all.
    `max_file_size` and `export_options` are those of SummaryRecord; `num_process` changes nothing.
    """

    def __init__(
        self,
        summary_dir,
        collect_freq=10,
        num_process=32,  # noqa: ARG002
        collect_specified_data=None,
        keep_default_action=True,
        custom_lineage_data=None,
        collect_tensor_freq=None,
        max_file_size=None,
        export_options=None,
    ):
        super().__init__()
        self._collect_freq = _positive("collect_freq", collect_freq)
        self._tensor_freq = _positive("collect_tensor_freq", collect_tensor_freq, optional=True)
        self._max_file_size = _positive("max_file_size", max_file_size, optional=True)
        self._export_options = check_export_options("SummaryCollector", export_options)
        self._chosen = _chosen(collect_specified_data, keep_default_action)
        self._custom = _custom(custom_lineage_data)
        self._folder = make_folder("SummaryCollector", "summary_dir", summary_dir)
        self._record = self._tensor_steps = None
        self._custom_is_told = False

    def __enter__(self):
        self._record = SummaryRecord(
            self._folder, max_file_size=self._max_file_size, export_options=self._export_options
        )
        self._tensor_steps = None
        return self

    def __exit__(self, *error):
        if self._record is not None:
            self._record.close()

    def begin(self, run_context):
        state = run_context.original_args()
        if sum(type(c) is type(self) for c in state.get("list_callback", ())) > 1:
            raise ValueError("SummaryCollector: more than one in the callbacks: got several, need one")
        self._record.set_mode(state.mode)

    def step_end(self, run_context):
        state = run_context.original_args()
        if state.mode != "train":
            return
        step, first = state.cur_step_num, self._tensor_steps is None
        if first:
            self._tensor_steps = self._steps_of_tensors(state.epoch_num * state.batch_num)
            self._collect_once(state)
        tensors, others = step in self._tensor_steps, step % self._collect_freq == 0
        if not (first or tensors or others):
            return
        if first or others:
            self._collect(state)
        every = first or (tensors and others)
        self._record.record(
            step, plugin_filter=None if every else lambda plugin: (plugin == "tensor") is tensors
        )
        if first:
            self._record.flush()

    def epoch_end(self, run_context):  # noqa: ARG002
        self._record.flush()

    def end(self, run_context):
        state = run_context.original_args()
        if state.mode == "train":
            self._collect_train_lineage(state)
        else:
            self._collect_eval_lineage(state)
        self._record.set_mode("eval")  # what the network still has to say belongs to no step
        self._record.record(0)

    def _steps_of_tensors(self, steps):
        """The steps at which TensorSummary is recorded."""
        if self._tensor_freq is not None:
            return range(0, steps + 1, self._tensor_freq)
        every = range(0, steps + 1, self._collect_freq)
        if len(every) <= _MOST_TENSOR_STEPS:
            return every
        distance = max(steps // (_MOST_TENSOR_STEPS - 1), 1)
        # Steps count from 1, so that of a range of ones the 0 takes no place.
        return range(0, steps + 1, distance)[: _MOST_TENSOR_STEPS + (distance == 1)]

    def _collect_once(self, state):
        """What is told at the first step."""
        if self._chosen.get("collect_graph"):
            graph = recorded_graph(state.train_network, _tree.tensors(state.train_dataset_element))
            if graph is not None:
                self._record.add_value("graph", "train_network/auto", graph)
        dataset = state.get("train_dataset")
        if self._chosen.get("collect_dataset_graph") and hasattr(dataset, "children"):
            self._record.add_value("dataset_graph", "train_dataset", _core.dataset_graph(_stage(dataset)))
        if self._custom and not self._custom_is_told:
            self._record.add_value(
                "custom_lineage_data", "custom_lineage_data", _core.user_lineage(self._custom)
            )
            self._custom_is_told = True

    def _collect(self, state):
        """What is told at each step that is collected."""
        self._collect_input(state)
        loss = loss_of(state.get("net_outputs")) if self._chosen.get("collect_metric") else None
        if loss is not None:
            self._record.add_value("scalar", "loss/auto", Tensor(loss))
        if "histogram_regular" in self._chosen:
            self._collect_histograms(state)

    def _collect_input(self, state):
        if not self._chosen.get("collect_input_data"):
            return
        data = state.get("train_dataset_element")
        if isinstance(data, (list, tuple)) and data:
            data = data[0]
        if not isinstance(data, Tensor) and hasattr(data, "__array__"):
            data = Tensor(data)
        if isinstance(data, Tensor) and data.ndim == 4 and data.shape[1] in (1, 3) and 0 not in data.shape:
            self._record.add_value("image", "input_data/auto", data)
            return
        got = f"the shape {data.shape}" if isinstance(data, Tensor) else type(data).__name__
        warn(f"SummaryCollector: input is not collected: got {got}, need images (N, C, H, W) with C = 1 or 3")
        self._chosen["collect_input_data"] = False

    def _collect_histograms(self, state):
        optimizer = self._optimizer(state)
        parameters = [] if optimizer is None else list(optimizer.parameters)
        expression = self._chosen["histogram_regular"]
        if expression is None:
            parameters = parameters[:_FIRST_PARAMETERS]
        else:
            parameters = [p for p in parameters if re.match(expression, p.name)]
        for parameter in parameters:
            if parameter.ndim:
                self._record.add_value("histogram", f"{parameter.name}/auto", parameter)

    @staticmethod
    def _cell_of(state, kind):
        """A cell of that class in the network."""
        network = state.get("train_network" if state.mode == "train" else "eval_network")
        cells = network.cells_and_names() if network is not None else ()
        return next((cell for _, cell in cells if isinstance(cell, kind)), None)

    def _optimizer(self, state):
        optimizer = state.get("optimizer")
        return optimizer if isinstance(optimizer, Optimizer) else self._cell_of(state, Optimizer)

    def _collect_train_lineage(self, state):
        if not self._chosen.get("collect_train_lineage"):
            return
        optimizer = self._optimizer(state)
        rate = getattr(optimizer, "learning_rate", None)
        saved = [
            c.latest_ckpt_file_name for c in state.get("list_callback", ()) if isinstance(c, ModelCheckpoint)
        ]
        path = os.path.realpath(saved[-1]) if saved and saved[-1] else None
        lineage = {
            "optimizer": _class_name(optimizer),
            "learning_rate": float(rate.asnumpy().reshape(-1)[0]) if isinstance(rate, Tensor) else None,
            "loss_function": _class_name(state.get("loss_fn") or self._cell_of(state, LossBase)),
            "epoch": state.epoch_num,
            "parallel_mode": state.parallel_mode,
            "device_num": state.device_number,
            "network": _class_name(state.network),
            "loss": loss_of(state.get("net_outputs")),
            "model_path": json.dumps({"ckpt": path}),
            "model_size": os.path.getsize(path) if path and os.path.exists(path) else 0,
            **_dataset_lineage(state.train_dataset),
        }
        self._record.add_value("train_lineage", "train_lineage", _core.train_lineage(lineage))

    def _collect_eval_lineage(self, state):
        if not self._chosen.get("collect_eval_lineage"):
            return
        lineage = _dataset_lineage(state.valid_dataset)
        try:
            lineage["metrics"] = json.dumps(state.get("metrics"))
        except TypeError as error:
            warn(
                f"SummaryCollector: metrics are not collected: {error}, need numbers, texts and lists of them"
            )
        self._record.add_value("eval_lineage", "eval_lineage", _core.evaluation_lineage(lineage))
