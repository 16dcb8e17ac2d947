"""Ending training when the process is asked to end."""

import os
import signal

from ._callback import Callback, step_in_epoch


class OnRequestExit(Callback):
    """Saves a checkpoint and ends training after the step in which the signal `sig` came."""

    def __init__(
        self, save_ckpt=True, save_mindir=False, file_name="Net", directory="./", config_file=None, sig=None
    ):  # noqa: ARG002
        if save_mindir:
            raise ValueError("OnRequestExit: unsupported 'save_mindir': got True, need False")
        if not isinstance(file_name, str) or not file_name:
            raise ValueError(f"OnRequestExit: 'file_name' is not usable: got {file_name!r}, need a name")
        self.save_ckpt, self.file_name, self.directory = save_ckpt, file_name, directory
        self.sig = signal.SIGTERM if sig is None else sig
        self.asked = False
        self._before = None

    def _ask(self, _signal, _frame):
        self.asked = True

    def on_train_begin(self, run_context):  # noqa: ARG002
        self.asked = False
        self._before = signal.signal(self.sig, self._ask)

    def on_train_step_end(self, run_context):
        if not self.asked:
            return
        run_context.request_stop()
        if self.save_ckpt:
            from ..serialization import save_checkpoint

            state = run_context.original_args()
            name = f"{self.file_name}-{state.cur_epoch_num}_{step_in_epoch(state)}_train.ckpt"
            save_checkpoint(state.train_network, os.path.join(self.directory, name))

    def on_train_end(self, run_context):  # noqa: ARG002
        signal.signal(self.sig, self._before)
