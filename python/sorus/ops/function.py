"""Old place of the functions: `ops.function.add`."""


def __getattr__(name):
    from .. import ops

    return getattr(ops, name)
