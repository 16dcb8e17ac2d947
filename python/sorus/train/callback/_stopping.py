"""Callbacks that watch a measure: EarlyStopping and ReduceLROnPlateau."""

import numpy as np

from ..._core import Tensor
from ...common.parameter import Parameter
from ._callback import Callback, loss_of

_SMALLER_IS_BETTER = ("loss", "mae", "mse", "perplexity")


class _Watcher(Callback):
    """Compares a measure with the best so far."""

    def __init__(self, monitor, min_delta, patience, mode):
        what = type(self).__name__
        if not isinstance(monitor, str):
            raise TypeError(f"{what}: 'monitor' has the wrong type: got {type(monitor).__name__}, need a str")
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"{what}: unknown mode: got {mode!r}, need 'auto', 'min' or 'max'")
        if not isinstance(patience, int) or patience < 0:
            raise ValueError(
                f"{what}: 'patience' is out of range: got {patience!r}, need an int of 0 or more"
            )
        self.monitor, self.min_delta, self.patience = monitor, abs(min_delta), patience
        name = monitor[5:] if monitor.startswith("eval_") else monitor
        self._name = name
        self._rising = mode == "max" or (
            mode == "auto" and not any(word in name for word in _SMALLER_IS_BETTER)
        )
        self._reset(None)

    def _reset(self, baseline):
        self.wait = 0
        self.best = baseline if baseline is not None else (-np.inf if self._rising else np.inf)

    def _value(self, state):
        """The measure of this epoch; None when it is not there."""
        results = state.get("eval_results") or {}
        for name in (self.monitor, self._name):
            if name in results:
                return float(np.mean(results[name]))
        return loss_of(state.net_outputs) if self._name == "loss" else None

    def _is_better(self, value):
        gain = value - self.best if self._rising else self.best - value
        return gain > self.min_delta


class EarlyStopping(_Watcher):
    """Ends training when `monitor` has not improved for more than `patience` epochs."""

    def __init__(
        self,
        monitor="eval_loss",
        min_delta=0,
        patience=0,
        verbose=False,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
    ):
        super().__init__(monitor, min_delta, patience, mode)
        self.verbose, self.baseline, self.restore_best_weights = verbose, baseline, restore_best_weights
        self.stopped_epoch = 0
        self._best_weights = None

    def on_train_begin(self, run_context):  # noqa: ARG002
        self._reset(self.baseline)
        self.stopped_epoch = 0
        self._best_weights = None

    def on_train_epoch_end(self, run_context):
        state = run_context.original_args()
        value = self._value(state)
        if value is None:
            return
        if self._is_better(value):
            self.best, self.wait = value, 0
            if self.restore_best_weights:
                self._best_weights = [(p, p.value()) for p in state.train_network.get_parameters()]
            return
        self.wait += 1
        if self.wait < max(self.patience, 1):
            return
        self.stopped_epoch = state.cur_epoch_num
        run_context.request_stop()
        if self._best_weights is not None:
            if self.verbose:
                print("Restoring model weights from the end of the best epoch.", flush=True)
            for p, best in self._best_weights:
                p.set_data(best)

    def on_train_end(self, run_context):  # noqa: ARG002
        if self.verbose and self.stopped_epoch > 0:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping", flush=True)


class ReduceLROnPlateau(_Watcher):
    """Multiplies a fixed learning rate by `factor` when `monitor` has not improved for `patience` epochs."""

    def __init__(
        self,
        monitor="eval_loss",
        factor=0.1,
        patience=10,
        verbose=False,
        mode="auto",
        min_delta=1e-4,
        cooldown=0,
        min_lr=0,
    ):
        super().__init__(monitor, min_delta, patience, mode)
        if not 0 <= factor < 1:
            raise ValueError(f"ReduceLROnPlateau: 'factor' is out of range: got {factor}, need less than 1")
        self.factor, self.verbose, self.cooldown, self.min_lr = factor, verbose, cooldown, min_lr
        self.cooldown_counter = 0

    def on_train_begin(self, run_context):  # noqa: ARG002
        self._reset(None)
        self.cooldown_counter = 0

    def on_train_epoch_end(self, run_context):
        state = run_context.original_args()
        rate = state.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise ValueError("ReduceLROnPlateau: optimizer has no fixed learning rate: need one to reduce")
        value = self._value(state)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(value):
            self.best, self.wait = value, 0
        elif self.cooldown_counter == 0:
            self.wait += 1
            if self.wait >= self.patience and float(rate) > self.min_lr:
                self._reduce(state.cur_epoch_num, rate)

    def _reduce(self, epoch, rate):
        new = max(rate.value() * self.factor, Tensor(self.min_lr, rate.dtype))
        rate.set_data(new)
        self.cooldown_counter, self.wait = self.cooldown, 0
        if self.verbose:
            print(f"Epoch {epoch:05d}: ReduceLROnPlateau reducing learning rate to {new}.", flush=True)
