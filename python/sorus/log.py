"""Logging under the name that scripts use: `log.warning("...")`."""

import logging

_logger = logging.getLogger("sorus")
debug, info, warning, error, critical = (
    _logger.debug,
    _logger.info,
    _logger.warning,
    _logger.error,
    _logger.critical,
)


def get_level():
    """The lowest level that is shown."""
    return _logger.getEffectiveLevel()


def set_level(level):
    """Shows messages from that level on."""
    _logger.setLevel(level)
