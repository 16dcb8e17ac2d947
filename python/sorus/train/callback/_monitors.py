"""Callbacks that print or draw."""

import math
import sys
import time

from ... import _core
from ..._core import Tensor
from ..._warn import warn
from ._callback import Callback, loss_of, step_in_epoch


class LossMonitor(Callback):
    """Prints the loss after every `per_print_times` steps, and in `fit` the metrics. Throws ValueError when
    the loss is not finite.
    """

    def __init__(self, per_print_times=1):
        if isinstance(per_print_times, bool) or not isinstance(per_print_times, int) or per_print_times < 0:
            raise ValueError(
                f"LossMonitor: 'per_print_times' is out of range: got {per_print_times!r}, "
                "need an int of 0 or more"
            )
        self._per_print_times = per_print_times
        self._last_print_time = 0

    def on_train_step_end(self, run_context):
        state = run_context.original_args()
        loss = loss_of(state.net_outputs)
        step = step_in_epoch(state)
        if loss is not None and not math.isfinite(loss):
            raise ValueError(
                f"LossMonitor: loss is not finite in epoch {state.cur_epoch_num} step {step}: got {loss}, "
                "need a finite "
                "loss to go on"
            )
        if state.cur_step_num < self._last_print_time:
            self._last_print_time = 0
        if self._per_print_times and state.cur_step_num - self._last_print_time >= self._per_print_times:
            self._last_print_time = state.cur_step_num
            print(f"epoch: {state.cur_epoch_num} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context):
        state = run_context.original_args()
        metrics = state.get("metrics")
        if metrics:
            print(f"Eval result: epoch {state.cur_epoch_num}, metrics: {metrics}", flush=True)


class TimeMonitor(Callback):
    """Prints the time of each epoch and of a step in it."""

    def __init__(self, data_size=None, data_time=False):
        self.data_size = data_size
        self.data_time = data_time
        self.epoch_time = time.time()
        self._waited = self._waiting_since = 0.0

    def epoch_begin(self, run_context):  # noqa: ARG002
        self.epoch_time = self._waiting_since = time.time()
        self._waited = 0.0

    def step_begin(self, run_context):  # noqa: ARG002
        self._waited += time.time() - self._waiting_since

    def step_end(self, run_context):  # noqa: ARG002
        self._waiting_since = time.time()

    def epoch_end(self, run_context):
        state = run_context.original_args()
        elapsed = (time.time() - self.epoch_time) * 1000
        batches = state.get("batch_num")
        steps = batches if isinstance(batches, int) and batches > 0 else self.data_size
        if not isinstance(steps, int) or steps <= 0:
            raise ValueError(f"TimeMonitor: number of steps is not known: got {steps!r}, need 'data_size'")
        line = f"{state.mode.title()} epoch time: {elapsed:5.3f} ms, per step time: {elapsed / steps:5.3f} ms"
        if self.data_time:
            line += f", data time: {self._waited * 1000 / steps:5.3f} ms"
        print(line, flush=True)


class ProgressBar(Callback):
    """A bar with the mean loss of the epoch and the time, and in `fit` the metrics; one line an epoch where
    the output is no terminal.
    """

    def __init__(self):
        self._terminal = sys.stdout.isatty()
        self._sum = self._begin = self._drawn = 0.0
        self._steps = 0

    def on_train_epoch_begin(self, run_context):  # noqa: ARG002
        self._sum = self._drawn = 0.0
        self._steps = 0
        self._begin = time.monotonic()

    def on_train_step_end(self, run_context):
        state = run_context.original_args()
        self._sum += loss_of(state.net_outputs)
        self._steps += 1
        seconds = time.monotonic() - self._begin
        if self._terminal and seconds - self._drawn >= 0.1:
            self._drawn = seconds
            print("\r" + self._line(state, seconds) + "\033[K", end="", flush=True)

    def _line(self, state, seconds):
        loss = self._sum / max(self._steps, 1)
        return _core.progress_line(
            state.cur_epoch_num, state.epoch_num, self._steps, state.batch_num, loss, seconds
        )

    def on_train_epoch_end(self, run_context):
        state = run_context.original_args()
        seconds = time.monotonic() - self._begin
        if self._terminal:
            line = "\r" + self._line(state, seconds)
        else:
            loss = self._sum / max(self._steps, 1)
            line = f"epoch {state.cur_epoch_num}/{state.epoch_num}: loss {loss:.4f}, {seconds:.1f} s"
        for name, value in (state.get("metrics") or {}).items():
            line += f", {name} {value:.4f}" if isinstance(value, float) else f", {name} {value}"
        print(line + ("\033[K" if self._terminal else ""), flush=True)


class TerminateOnNan(Callback):
    """Ends training, with a RuntimeWarning that names epoch, step and loss, when the loss is not finite."""

    def on_train_step_end(self, run_context):
        state = run_context.original_args()
        loss = loss_of(state.net_outputs)
        if loss is not None and not math.isfinite(loss):
            warn(
                f"TerminateOnNan: training ends in epoch {state.cur_epoch_num} step {step_in_epoch(state)}: "
                f"got loss {loss}, need a finite one",
                RuntimeWarning,
            )
            run_context.request_stop()


class LambdaCallback(Callback):
    """Calls functions given for the events."""

    def __init__(
        self,
        on_train_epoch_begin=None,
        on_train_epoch_end=None,
        on_train_step_begin=None,
        on_train_step_end=None,
        on_train_begin=None,
        on_train_end=None,
        on_eval_epoch_begin=None,
        on_eval_epoch_end=None,
        on_eval_step_begin=None,
        on_eval_step_end=None,
        on_eval_begin=None,
        on_eval_end=None,
    ):
        for name, function in dict(locals()).items():
            if name in ("self", "function", "name"):
                continue
            if function is not None:
                setattr(self, name, function)


class History(Callback):
    """Keeps what each epoch gave: its number in `epoch["epoch"]`, the mean of the network's (first) result
    in `history["net_output"]`, and where it was evaluated each metric in `history` by its name.
    """

    def __init__(self):
        self.history = {}
        self.epoch = None

    def begin(self, run_context):  # noqa: ARG002
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context):
        state = run_context.original_args()
        self.epoch["epoch"].append(state.get("cur_epoch_num", 1))
        output = state.get("net_outputs")
        if isinstance(output, (tuple, list)) and output and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = output.asnumpy().mean()
        for name, value in {"net_output": output, **(state.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)
