"""Old place of the primitives: `ops.operations.Add`."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from ... import ops

    return getattr(ops, name)
