"""Old place of the primitives: `ops.operations.Add`."""


def __getattr__(name):
    from .. import ops

    return getattr(ops, name)
