"""Ending training when the process is asked to end."""

import os
import signal

from ..._warn import warn
from ._callback import Callback, step_in_epoch


class OnRequestExit(Callback):
    """Saves a checkpoint and ends training after the step in which the signal `sig` came.

    `save_mindir` is accepted, but no MindIR file is written; a warning says so when the signal comes.
    """

    def __init__(
        self,
        save_ckpt=True,
        save_mindir=True,
        file_name="Net",
        directory="./",
        sig=signal.SIGTERM,
        config_file=None,
    ):
        if config_file is not None:
            raise ValueError(f"OnRequestExit: unsupported 'config_file': got {config_file!r}, need None")
        if not isinstance(file_name, str) or not file_name:
            raise ValueError(f"OnRequestExit: 'file_name' is not usable: got {file_name!r}, need a name")
        self.save_ckpt, self.save_mindir = save_ckpt, save_mindir
        self.file_name, self.directory, self.sig = file_name, directory, sig
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
        if self.save_mindir:
            warn("OnRequestExit: no MindIR file is written: there is no export")
        if self.save_ckpt:
            from ..serialization import save_checkpoint

            state = run_context.original_args()
            name = f"{self.file_name}-{state.cur_epoch_num}_{step_in_epoch(state)}_train.ckpt"
            save_checkpoint(state.train_network, os.path.join(self.directory, name))

    def on_train_end(self, run_context):  # noqa: ARG002
        signal.signal(self.sig, self._before)
