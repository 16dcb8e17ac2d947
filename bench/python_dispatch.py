"""Times a one-element operation from Python, beside a call of a Python function that does nothing.

Usage: PYTHONPATH=python bench/python_dispatch.py
"""

import timeit

from sorus import Tensor, ops


def nothing(a, b):
    """What any call costs."""


def nanoseconds(statement, names, number=50_000, repeats=7):
    """Best of several runs, per call."""
    return min(timeit.repeat(statement, globals=names, number=number, repeat=repeats)) / number * 1e9


def main():
    """Prints a line for each way of calling."""
    names = {"a": Tensor([1.0]), "b": Tensor([2.0]), "add": ops.add, "relu": ops.relu, "nothing": nothing}
    for statement in (
        "nothing(a, b)",
        "a + b",
        "a + 1.0",
        "add(a, b)",
        "add(input=a, other=b)",
        "a.add(b)",
        "relu(a)",
        "a.reshape(1, 1)",
        "a.shape",
        "a.sum()",
    ):
        print(f"{statement:24} {nanoseconds(statement, names):8.0f} ns")


if __name__ == "__main__":
    main()
