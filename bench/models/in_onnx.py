"""The networks in ONNX Runtime, exported from PyTorch (in_torch). Runs in the peer's environment
(bench/peers/setup_onnxruntime.sh). Inference only."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from models.cases import FIRST_POSITION, GPT, LAST_POSITION, Case
from worker import Unsupported

BENCH = Path(__file__).resolve().parent.parent
EXPORT = "import sys; from models.in_torch import export; export(*sys.argv[1:])"


def session_of(case: Case) -> onnxruntime.InferenceSession:
    """The exported network, optimized as far as ONNX Runtime goes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "network.onnx")
        command = [str(BENCH / "peers" / "torch-python"), "-c", EXPORT, case.name, path]
        environment = os.environ | {"PYTHONPATH": str(BENCH)}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def forward_step(session: onnxruntime.InferenceSession):
    entry = session.get_inputs()[0]
    x = np.random.default_rng(0).standard_normal(entry.shape).astype(np.float32)
    return lambda: session.run(None, {entry.name: x})


def token_step(session: onnxruntime.InferenceSession):
    """Each call makes a token at the next position; the past grows, and stays where the last call left it."""
    first = np.zeros((GPT["layers"], 2, FIRST_POSITION, GPT["width"]), np.float32)
    value = lambda array: onnxruntime.OrtValue.ortvalue_from_numpy(array)
    positions = [value(np.array([[i]])) for i in range(LAST_POSITION)]
    word, past, at = value(np.array([[1]])), value(first), FIRST_POSITION

    def run():
        nonlocal word, past, at
        binding = session.io_binding()
        for name, given in (("word", word), ("position", positions[at]), ("past", past)):
            binding.bind_ortvalue_input(name, given)
        binding.bind_output("next"), binding.bind_output("grown")
        session.run_with_iobinding(binding)
        word, past = binding.get_outputs()
        at += 1
        if at == LAST_POSITION:
            past, at = value(first), FIRST_POSITION

    return run


def prepare(case: Case, variant: str):  # noqa: ARG001
    """What runs a case once. There is one variant."""
    if case.how not in ("forward", "token"):
        raise Unsupported("inference only")
    if case.dtype == "bf16":
        raise Unsupported("no bf16 on CPU")
    session = session_of(case)
    return token_step(session) if case.how == "token" else forward_step(session)
