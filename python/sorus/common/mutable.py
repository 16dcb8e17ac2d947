"""mutable: marks a value that changes from call to call."""


def mutable(input_data, dynamic_len=False):  # noqa: ARG001
    """The value itself: any value may change from call to call."""
    return input_data
