"""Saving checkpoints while training."""

import os
import re
import time

from ._callback import Callback, step_in_epoch


class CheckpointConfig:
    """When to save and how many files to keep."""

    def __init__(
        self,
        save_checkpoint_steps=1,
        save_checkpoint_seconds=0,
        keep_checkpoint_max=5,
        keep_checkpoint_per_n_minutes=0,
        integrated_save=True,
        async_save=False,
        saved_network=None,
        append_info=None,
        enc_key=None,
        enc_mode="AES-GCM",
        exception_save=False,
        crc_check=False,
        remove_redundancy=False,
        format="ckpt",  # noqa: A002
        **kwargs,
    ):
        counts = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for name, value in counts.items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise ValueError(
                    f"CheckpointConfig: '{name}' is out of range: got {value!r}, need an int of 0 or more"
                )
        if not any(counts.values()):
            raise ValueError(
                "CheckpointConfig: nothing is to be saved: got 0 for steps, seconds, max and minutes"
            )
        if kwargs:
            raise TypeError(f"CheckpointConfig: unknown argument: got {sorted(kwargs)}")
        if format != "ckpt":
            raise ValueError(f"CheckpointConfig: unsupported format: got {format!r}, need 'ckpt'")
        if enc_key is not None:
            raise ValueError("CheckpointConfig: encryption is not supported: got 'enc_key', need None")
        self.save_checkpoint_steps = save_checkpoint_steps or 0
        self.save_checkpoint_seconds = 0 if save_checkpoint_steps else (save_checkpoint_seconds or 0)
        self.keep_checkpoint_max = keep_checkpoint_max or 0
        self.keep_checkpoint_per_n_minutes = (
            0 if keep_checkpoint_max else (keep_checkpoint_per_n_minutes or 0)
        )
        self.integrated_save, self.async_save, self.saved_network = integrated_save, async_save, saved_network
        self.enc_key, self.enc_mode = enc_key, enc_mode
        self.exception_save, self.crc_check = exception_save, crc_check
        self.remove_redundancy, self.format = remove_redundancy, format
        self.append_info = list(append_info or [])
        for info in self.append_info:
            if info not in ("epoch_num", "step_num") and not isinstance(info, dict):
                raise TypeError(
                    f"CheckpointConfig: 'append_info' holds {info!r}: need 'epoch_num', 'step_num' or a dict"
                )

    def get_checkpoint_policy(self):
        """The settings as a dict."""
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
            "saved_network": self.saved_network,
        }

    @property
    def append_dict(self):
        """What is saved beside parameters: epoch and step when asked for, and the dicts given."""
        found = {}
        for info in self.append_info:
            found.update(info if isinstance(info, dict) else {info: 0})
        return found


def _free_prefix(folder, prefix):
    """The prefix, with a number when files of an earlier run have it."""
    pattern = re.compile(re.escape(prefix) + r"(?:_(\d+))?-(?:\d+_\d+\.ckpt|graph\.meta)$")
    taken = [int(m.group(1) or 0) for m in map(pattern.match, os.listdir(folder)) if m]
    return f"{prefix}_{max(taken) + 1}" if taken else prefix


class ModelCheckpoint(Callback):
    """Saves `<prefix>-<epoch>_<step>.ckpt` into `directory` while training."""

    def __init__(self, prefix="CKP", directory=None, config=None):
        if callable(prefix):
            self._prefix_function, prefix = prefix, "CKP"
        else:
            self._prefix_function = None
        if not isinstance(prefix, str) or not prefix or "/" in prefix:
            raise ValueError(
                f"ModelCheckpoint: 'prefix' is not usable: got {prefix!r}, need a name without '/'"
            )
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(
                f"ModelCheckpoint: 'config' has the wrong type: got {type(config).__name__}, "
                "need a CheckpointConfig"
            )
        self._config = config or CheckpointConfig()
        self._asked_prefix, self._asked_directory = prefix, directory
        self._directory = None
        self._latest_ckpt_file_name = ""
        self._saved_at = 0
        self._saved_time = time.time()
        self._files = []

    @property
    def latest_ckpt_file_name(self):
        """Path of the newest file."""
        return self._latest_ckpt_file_name

    def on_train_begin(self, run_context):
        state = run_context.original_args()
        folder = self._asked_directory(state) if callable(self._asked_directory) else self._asked_directory
        self._directory = os.path.abspath(folder or ".")
        os.makedirs(self._directory, exist_ok=True)
        prefix = self._prefix_function(state) if self._prefix_function else self._asked_prefix
        self._prefix = _free_prefix(self._directory, prefix)
        self._saved_at, self._saved_time, self._files = state.get("cur_step_num", 0), time.time(), []

    def on_train_step_end(self, run_context):
        state = run_context.original_args()
        config = self._config
        if config.save_checkpoint_steps:
            due = state.cur_step_num - self._saved_at >= config.save_checkpoint_steps
        else:
            seconds = config.save_checkpoint_seconds or 60 * config.keep_checkpoint_per_n_minutes
            due = bool(seconds) and time.time() - self._saved_time >= seconds
        if due:
            self._save(state)

    def on_train_end(self, run_context):
        state = run_context.original_args()
        if state.cur_step_num > self._saved_at:
            self._save(state)

    def on_exception(self, state):
        """Saves what there is when training fails, if the configuration asks for it."""
        if self._config.exception_save and self._directory is not None and state.get("cur_step_num"):
            self._save(state, "_breakpoint")

    def _save(self, state, suffix=""):
        from ..serialization import save_checkpoint

        config = self._config
        name = f"{self._prefix}-{state.cur_epoch_num}_{step_in_epoch(state)}{suffix}.ckpt"
        path = os.path.join(self._directory, name)
        self._saved_at, self._saved_time = state.cur_step_num, time.time()
        extra = config.append_dict
        if "epoch_num" in extra:
            extra["epoch_num"] = state.cur_epoch_num
        if "step_num" in extra:
            extra["step_num"] = state.cur_step_num
        network = config.saved_network if config.saved_network is not None else state.train_network
        save_checkpoint(network, path, append_dict=extra or None, crc_check=config.crc_check)
        self._latest_ckpt_file_name = path
        if path in self._files:
            self._files.remove(path)
        self._files.append(path)
        while config.keep_checkpoint_max and len(self._files) > config.keep_checkpoint_max:
            oldest = self._files.pop(0)
            if os.path.exists(oldest):
                os.remove(oldest)
