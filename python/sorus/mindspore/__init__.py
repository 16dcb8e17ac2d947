"""Sorus under the name `mindspore`, so that programs run as they were written.

After `import sorus.mindspore`, each `import mindspore...` gives Sorus. `python -m sorus.mindspore script.py`
runs a program so; `-m module` and `-c code` work as Python's own.

>>> import sorus.mindspore
>>> import mindspore as ms
>>> from mindspore.ops import operations as P
>>> P.Add is sorus.ops.operations.Add
True
"""

from . import _alias

_alias.install()
