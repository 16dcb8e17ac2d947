"""Model: training, evaluation and prediction with a network."""

import contextlib
import copy

from .. import nn
from .._context import ParallelMode  # noqa: F401: its old place
from .._core import Tensor, dtypes
from ..nn.cell import Cell
from .callback import CallbackManager, InternalCallbackParam, LambdaCallback, RunContext, TimeMonitor
from .metrics import Loss, get_metrics

_half, _single = dtypes["float16"], dtypes["float32"]


class _Batches:
    """The batches of a dataset or of any iterable of tuples, epoch by epoch."""

    def __init__(self, dataset, what):
        if dataset is None or not (hasattr(dataset, "create_tuple_iterator") or hasattr(dataset, "__iter__")):
            raise TypeError(
                f"{what}: dataset has the wrong type: got {type(dataset).__name__}, "
                "need a Dataset or an iterable"
            )
        self.dataset = dataset
        self._iterator = None

    def size(self):
        """Batches in an epoch; 0 when not known."""
        if hasattr(self.dataset, "get_dataset_size"):
            return self.dataset.get_dataset_size()
        return len(self.dataset) if hasattr(self.dataset, "__len__") else 0

    def epoch(self, epochs=1):
        """The batches of the next epoch."""
        if not hasattr(self.dataset, "create_tuple_iterator"):
            return (item if isinstance(item, (tuple, list, dict)) else (item,) for item in self.dataset)
        if self._iterator is None:
            self._iterator = self.dataset.create_tuple_iterator(num_epochs=epochs)
        return iter(self._iterator)


class _Modes:
    """Training mode of a cell within a block; what it was afterwards."""

    def __init__(self, cell, training):
        self._cells = [(c, c.training) for _, c in cell.cells_and_names()] if cell is not None else []
        if cell is not None:
            cell.set_train(training)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for cell, before in self._cells:
            cell.__dict__["training"] = before


def _run_callbacks(callbacks):
    return callbacks if isinstance(callbacks, CallbackManager) else CallbackManager(callbacks)


def _watches_training_only(callback):
    """Whether `fit` leaves a callback out of its evaluations, as it does those of the package that say
    nothing of them.
    """
    ours = type(callback).__module__.startswith("sorus.train.callback")
    return ours and not isinstance(callback, (TimeMonitor, LambdaCallback))


def _arguments(batch, what, loss_fn):
    """Positional and named arguments of a batch; with a loss function they are data and a label."""
    if loss_fn is not None and len(batch) != 2:
        raise ValueError(
            f"{what}: number of columns does not fit: got {len(batch)} of the dataset, need data and label "
            "for 'loss_fn'; a network that gives its own loss takes any number"
        )
    return ((), batch) if isinstance(batch, dict) else (tuple(batch), {})


class Model:
    """A network with its loss, its optimizer and its metrics.

    Without `loss_fn` the network gives the loss itself; without `optimizer` the network is a training step.
    """

    def __init__(
        self,
        network,
        loss_fn=None,
        optimizer=None,
        metrics=None,
        eval_network=None,
        eval_indexes=None,
        amp_level="O0",
        boost_level="O0",
        **kwargs,
    ):
        if not isinstance(network, Cell):
            raise TypeError(f"Model: 'network' has the wrong type: got {type(network).__name__}, need a Cell")
        if optimizer is not None and not callable(optimizer):
            raise TypeError(
                f"Model: 'optimizer' has the wrong type: got {type(optimizer).__name__}, need an Optimizer"
            )
        if loss_fn is not None and not callable(loss_fn):
            raise TypeError(
                f"Model: 'loss_fn' has the wrong type: got {type(loss_fn).__name__}, "
                "need a Cell or a function of the network's result and the label"
            )
        if amp_level not in ("O0", "O1", "O2", "O3", "auto"):
            raise ValueError(
                f"Model: unknown 'amp_level': got {amp_level!r}, need 'O0', 'O1', 'O2', 'O3' or 'auto'"
            )
        known = {"loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict"}
        if set(kwargs) - known:
            raise ValueError(
                f"Model: unknown argument: got {sorted(set(kwargs) - known)}, need of {sorted(known)}"
            )
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._amp_level = amp_level
        self._metrics = metrics
        self._metric_fns = None
        self._build_mixed_precision(amp_level, kwargs.get("keep_batchnorm_fp32"))
        self._train_network = self._build_train_network()
        self._build_eval_network(eval_network, eval_indexes)
        self._predict_network = network

    def _build_mixed_precision(self, level, keep_norms):
        if level == "O0":
            return
        self._network.to_float(_half)
        keep = keep_norms if keep_norms is not None else level != "O3"
        if keep:
            for _, cell in self._network.cells_and_names():
                if isinstance(cell, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm)):
                    cell.to_float(_single)
        if self._loss_fn is not None:
            self._loss_fn = _InSingle(self._loss_fn)

    def _build_train_network(self):
        network = self._network
        if self._loss_fn is not None:
            network = nn.WithLossCell(network, self._loss_fn)
        if self._optimizer is None:
            return network
        manager = self._loss_scale_manager
        if manager is None:
            return nn.TrainOneStepCell(network, self._optimizer).set_train()
        update_cell = manager.get_update_cell()
        if update_cell is None:
            return nn.TrainOneStepCell(network, self._optimizer, manager.get_loss_scale()).set_train()
        return nn.TrainOneStepWithLossScaleCell(network, self._optimizer, update_cell).set_train()

    def _build_eval_network(self, eval_network, eval_indexes):
        self._eval_network, self._eval_indexes = eval_network, eval_indexes
        if self._metrics is None:
            return
        self._metric_fns = get_metrics(self._metrics)
        if eval_network is not None:
            if eval_indexes is not None and (not isinstance(eval_indexes, list) or len(eval_indexes) != 3):
                raise ValueError(
                    f"Model: 'eval_indexes' is not usable: got {eval_indexes!r}, need a list of three ints"
                )
            return
        if self._loss_fn is None:
            raise ValueError("Model: metrics need 'loss_fn' or 'eval_network': got neither")
        self._eval_network = nn.WithEvalCell(self._network, self._loss_fn)
        self._eval_indexes = [0, 1, 2]

    # -------------------------------------------------------------------------------------------------- train

    def train(
        self, epoch, train_dataset, callbacks=None, dataset_sink_mode=False, sink_size=-1, initial_epoch=0
    ):  # noqa: ARG002
        """Trains for epochs `initial_epoch` to `epoch`. On a CPU data is never sunk, so that
        `dataset_sink_mode` and `sink_size` change nothing.
        """
        self._check_epochs(epoch, initial_epoch)
        self._need_optimizer("train")
        self._run(epoch, train_dataset, callbacks, initial_epoch)

    def _need_optimizer(self, what):
        if self._optimizer is None and self._loss_fn is not None:
            raise ValueError(
                f"{what}: no optimizer: got None, need one in Model(..., optimizer=...), or a network that "
                "is a training step and no 'loss_fn'"
            )

    def fit(
        self,
        epoch,
        train_dataset,
        valid_dataset=None,
        valid_frequency=1,
        callbacks=None,
        dataset_sink_mode=False,  # noqa: ARG002
        valid_dataset_sink_mode=False,  # noqa: ARG002
        sink_size=-1,  # noqa: ARG002
        initial_epoch=0,
    ):
        """Trains, and evaluates with `valid_dataset` after every `valid_frequency` epochs, or after those
        it lists.
        """
        self._check_epochs(epoch, initial_epoch)
        self._need_optimizer("fit")
        if valid_dataset is not None and not self._metric_fns:
            raise RuntimeError("fit: no metrics: got none, need them to evaluate 'valid_dataset'")

        def due(number):
            if isinstance(valid_frequency, int):
                return number % valid_frequency == 0
            return number in valid_frequency

        self._run(epoch, train_dataset, callbacks, initial_epoch, valid_dataset, due)

    @staticmethod
    def _check_epochs(epoch, initial_epoch):
        for name, value in (("epoch", epoch), ("initial_epoch", initial_epoch)):
            if isinstance(value, bool) or not isinstance(value, int) or value < (name == "epoch"):
                raise ValueError(
                    f"train: '{name}' is out of range: got {value!r}, "
                    f"need an int of {int(name == 'epoch')} or more"
                )
        if initial_epoch >= epoch:
            raise ValueError(f"train: 'initial_epoch' is not below 'epoch': got {initial_epoch} and {epoch}")

    def _run(self, epochs, dataset, callbacks, initial_epoch, valid_dataset=None, due=None):
        batches = _Batches(dataset, "train")
        manager = _run_callbacks(callbacks)
        state = InternalCallbackParam(
            train_network=self._train_network,
            network=self._network,
            optimizer=self._optimizer
            if self._optimizer is not None
            else getattr(self._train_network, "optimizer", None),
            loss_fn=self._loss_fn,
            epoch_num=epochs - initial_epoch,
            batch_num=batches.size(),
            mode="train",
            parallel_mode="stand_alone",
            device_number=1,
            train_dataset=dataset,
            list_callback=manager._callbacks,
            train_dataset_element=None,
            dataset_sink_mode=False,
            last_save_ckpt_step=None,
            latest_ckpt_file=None,
            loss_scale_mananger=self._loss_scale_manager,  # the name it is known by
            initial_step=0,
            cur_step_num=initial_epoch * batches.size(),
        )
        context = RunContext(state)
        with manager, _Modes(self._train_network, True), self._on_exception(manager, state):
            manager.tell("on_train_begin", context)
            for number in range(initial_epoch + 1, epochs + 1):
                state.cur_epoch_num = number
                self._train_epoch(batches, epochs - initial_epoch, manager, context, state)
                if valid_dataset is not None and due(number):
                    self._evaluate_during_training(valid_dataset, manager, state)
                manager.tell("on_train_epoch_end", context)
                state.pop("metrics", None)
                state.pop("eval_results", None)
                if context.get_stop_requested():
                    break
            manager.tell("on_train_end", context)

    @staticmethod
    @contextlib.contextmanager
    def _on_exception(manager, state):
        try:
            yield
        except BaseException:
            for callback in manager._callbacks:
                if hasattr(callback, "on_exception"):
                    callback.on_exception(state)
            raise

    def _train_epoch(self, batches, epochs, manager, context, state):
        manager.tell("on_train_epoch_begin", context)
        steps = 0
        for batch in batches.epoch(epochs):
            steps += 1
            state.cur_step_num += 1
            state.train_dataset_element = batch
            manager.tell("on_train_step_begin", context)
            args, kwargs = _arguments(batch, "train", self._loss_fn)
            state.net_outputs = self._train_network(*args, **kwargs)
            self._update_loss_scale(state.net_outputs)
            if not state.batch_num:
                state.batch_num = steps
            manager.tell("on_train_step_end", context)
            if context.get_stop_requested():
                break
        if not steps:
            raise ValueError("train: dataset is empty: got no batch, need at least one")

    def _update_loss_scale(self, outputs):
        manager = self._loss_scale_manager
        if manager is not None and isinstance(outputs, (tuple, list)) and len(outputs) >= 2:
            manager.update_loss_scale(bool(outputs[1]))

    def _evaluate_during_training(self, dataset, manager, state):
        """Evaluates in the run context of training: what evaluation sets of it alone is set back."""
        kept = {name: state[name] for name in ("cur_step_num", "batch_num", "net_outputs", "mode")}
        watching = CallbackManager([c for c in manager._callbacks if not _watches_training_only(c)])
        mean_loss = Loss() if self._eval_indexes is None or self._eval_indexes[0] != -1 else None
        self._evaluate(dataset, watching, state, mean_loss)
        state.update(kept)

    # --------------------------------------------------------------------------------------- eval and predict

    def eval(self, valid_dataset, callbacks=None, dataset_sink_mode=False):  # noqa: ARG002
        """Values of the metrics by name, over one epoch of the dataset."""
        if not self._metric_fns:
            raise ValueError("eval: no metrics: got none, need them in Model(..., metrics=...)")
        manager = _run_callbacks(callbacks)
        state = InternalCallbackParam(
            network=self._network,
            cur_epoch_num=1,
            list_callback=manager._callbacks,
            dataset_sink_mode=False,
            net_outputs=None,
        )
        with manager:
            return self._evaluate(valid_dataset, manager, state)

    def _evaluate(self, dataset, manager, state, mean_loss=None):
        """The metrics; in `state` they stand too, and with `mean_loss` beside it as `eval_loss` in
        `eval_results`.
        """
        batches = _Batches(dataset, "eval")
        for metric in self._metric_fns.values():
            metric.clear()
        state.update(
            eval_network=self._eval_network,
            valid_dataset=dataset,
            batch_num=batches.size(),
            mode="eval",
            cur_step_num=0,
        )
        context = RunContext(state)
        loss_fn = self._loss_fn if type(self._eval_network) is nn.WithEvalCell else None
        with _Modes(self._eval_network, False):
            manager.tell("on_eval_begin", context)
            manager.tell("on_eval_epoch_begin", context)
            for batch in batches.epoch():
                state.cur_step_num += 1
                state.eval_dataset_element = batch
                manager.tell("on_eval_step_begin", context)
                args, kwargs = _arguments(batch, "eval", loss_fn)
                state.net_outputs = self._eval_network(*args, **kwargs)
                self._update_metrics(state.net_outputs, mean_loss)
                manager.tell("on_eval_step_end", context)
                if context.get_stop_requested():
                    break
            manager.tell("on_eval_epoch_end", context)
            results = {name: metric.eval() for name, metric in self._metric_fns.items()}
            state.metrics = results
            if mean_loss is not None:
                state.eval_results = {**copy.deepcopy(results), "eval_loss": mean_loss.eval()}
            manager.tell("on_eval_end", context)
        return results

    def _update_metrics(self, outputs, mean_loss=None):
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        if mean_loss is not None:
            mean_loss.update(outputs[self._eval_indexes[0] if self._eval_indexes else 0])
        for metric in self._metric_fns.values():
            if self._eval_indexes is None or metric.indexes is not None:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                if self._eval_indexes[0] != -1:
                    metric.update(outputs[self._eval_indexes[0]])
            else:
                metric.update(outputs[self._eval_indexes[1]], outputs[self._eval_indexes[2]])

    def predict(self, *predict_data, backend=None, config=None):  # noqa: ARG002
        """The network's result in inference mode."""
        for data in predict_data:
            if data is not None and not isinstance(data, (Tensor, tuple, list, dict, int, float, str)):
                raise TypeError(f"predict: data has the wrong type: got {type(data).__name__}, need a Tensor")
        with _Modes(self._predict_network, False):
            return self._predict_network(*predict_data)

    def build(self, train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1, sink_mode=True):
        """Does nothing: compilation starts by itself at the second step."""

    def infer_predict_layout(self, *predict_data, skip_backend_compile=False):  # noqa: ARG002
        """Layouts of parameters over devices: there is one."""
        return {}

    def infer_train_layout(self, train_dataset, dataset_sink_mode=True, sink_size=-1):  # noqa: ARG002
        """Layouts of parameters over devices: there is one."""
        return {}

    @property
    def train_network(self):
        """The network that is called in training: a training step."""
        return self._train_network

    @property
    def predict_network(self):
        """The network that predicts."""
        return self._predict_network

    @property
    def eval_network(self):
        """The network that is called in evaluation."""
        return self._eval_network


class _InSingle(Cell):
    """A loss of float32 logits."""

    def __init__(self, loss_fn):
        super().__init__(auto_prefix=False)
        self._loss_fn = loss_fn

    def construct(self, logits, *labels):
        return self._loss_fn(logits.astype(_single), *labels)
