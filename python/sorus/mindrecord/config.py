"""Encryption of MindRecord files, which is not there yet: a key is refused, so that nothing is written plain
by mistake.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["set_dec_mode", "set_enc_key", "set_enc_mode"]


def set_enc_key(enc_key: str | None) -> None:
    """The key that files are encrypted with; None: they are not."""
    if enc_key is not None:
        raise NotImplementedError("set_enc_key: encryption is not supported: got a key, need None")


def set_enc_mode(enc_mode: str | Callable = "AES-GCM") -> None:
    """How files are encrypted when there is a key."""
    _check_mode("set_enc_mode", "enc_mode", enc_mode)


def set_dec_mode(dec_mode: str | Callable | None = "AES-GCM") -> None:
    """How files are decrypted when there is a key; None: as they are encrypted."""
    if dec_mode is not None:
        _check_mode("set_dec_mode", "dec_mode", dec_mode)


def _check_mode(op: str, argument: str, mode: str | Callable) -> None:
    if callable(mode):
        raise NotImplementedError(f"{op}: encryption is not supported: got a function, need 'AES-GCM'")
    if mode != "AES-GCM":
        raise ValueError(f"{op}: {argument} is unknown: got {mode!r}, need 'AES-GCM'")
