"""Sizes of the networks of bench/networks.py, the same on both sides."""

from __future__ import annotations

RESNET = {"batch": 32, "size": 224}
MLP = {"batch": 128, "widths": (784, 512, 512, 10)}
TRANSFORMER = {"batch": 8, "length": 64, "width": 256, "heads": 4}
LSTM = {"batch": 32, "length": 20, "inputs": 64, "hidden": 128}
