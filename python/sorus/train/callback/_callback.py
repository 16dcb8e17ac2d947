"""Callbacks: what is told of training's progress and may stop it."""

import contextlib

_EVENTS = ("begin", "epoch_begin", "epoch_end", "step_begin", "step_end", "end")


class InternalCallbackParam(dict):
    """The state of a run; names are attributes as well as keys."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"run context has no '{name}' here: it has {sorted(self)}") from None

    def __setattr__(self, name, value):
        self[name] = value


_InternalCallbackParam = InternalCallbackParam


class RunContext:
    """The state of a run, and the way to stop it."""

    def __init__(self, original_args):
        if not isinstance(original_args, InternalCallbackParam):
            raise TypeError(
                f"RunContext: wrong type: got {type(original_args).__name__}, need an InternalCallbackParam"
            )
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self):
        """The state: cur_epoch_num, cur_step_num, batch_num, net_outputs, train_network, optimizer ..."""
        return self._original_args

    def request_stop(self):
        """Ends training after this step."""
        self._stop_requested = True

    def get_stop_requested(self):
        """Whether training is to end."""
        return self._stop_requested


class Callback:
    """The base of callbacks; does nothing unless overridden.

    Events are `on_train_begin`, `on_train_epoch_begin`, `on_train_step_begin`, `on_train_step_end`,
    `on_train_epoch_end`, `on_train_end` and the same with `eval`. By default each calls the older name for
    both kinds (`begin`, `epoch_begin`, `step_begin`, `step_end`, `epoch_end`, `end`).
    """

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def begin(self, run_context):
        """Before the first epoch."""

    def epoch_begin(self, run_context):
        """Before each epoch."""

    def epoch_end(self, run_context):
        """After each epoch."""

    def step_begin(self, run_context):
        """Before each step."""

    def step_end(self, run_context):
        """After each step."""

    def end(self, run_context):
        """After the last epoch."""


def _forward(old, new):
    def event(self, run_context):
        getattr(self, old)(run_context)

    event.__name__ = new
    event.__doc__ = f"Calls `{old}`."
    setattr(Callback, new, event)


for _kind in ("train", "eval"):
    for _old in _EVENTS:
        _forward(_old, f"on_{_kind}_{_old}")


class CallbackManager(Callback):
    """Several callbacks as one."""

    def __init__(self, callbacks):
        found = (
            [] if callbacks is None else [callbacks] if isinstance(callbacks, Callback) else list(callbacks)
        )
        for callback in found:
            if not isinstance(callback, Callback):
                raise TypeError(
                    f"callbacks: element has the wrong type: got {type(callback).__name__}, need a Callback"
                )
        self._callbacks = found

    def __enter__(self):
        with contextlib.ExitStack() as entered:  # a callback that cannot enter leaves none that has
            for callback in self._callbacks:
                entered.enter_context(callback)
            entered.pop_all()
        return self

    def __exit__(self, *error):
        for callback in self._callbacks:
            callback.__exit__(*error)

    def tell(self, event, run_context):
        """Calls `event` of each callback."""
        for callback in self._callbacks:
            getattr(callback, event)(run_context)


def loss_of(outputs):
    """The loss in what a training step gave, as a float; None when there is none."""
    from ..._core import Tensor

    if isinstance(outputs, (tuple, list)) and outputs:
        outputs = outputs[0]
    if isinstance(outputs, Tensor):
        return float(outputs) if outputs.size == 1 else float(outputs.asnumpy().mean())
    return float(outputs) if isinstance(outputs, (int, float)) else None


def step_in_epoch(state):
    """Number of the step within its epoch, from 1."""
    return (state.cur_step_num - 1) % state.batch_num + 1
