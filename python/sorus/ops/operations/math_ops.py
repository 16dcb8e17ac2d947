"""Old place of primitives of arithmetic: every primitive is here."""


def __getattr__(name):
    from ... import ops

    return getattr(ops, name)
