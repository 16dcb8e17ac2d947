"""NumPy, imported when something of it is first used: it would take most of the time of `import sorus`.

Modules that the package imports at once say `from .. import _numpy as np`.
"""


def __getattr__(name):
    import numpy

    value = globals()[name] = getattr(numpy, name)
    return value
