"""A function that is recorded for many sets of shapes and dtypes says so."""

import os
import subprocess
import sys


def test_a_function_that_is_recorded_anew_says_why():
    program = (
        "import numpy as np\nimport sorus as ms\n\n\n@ms.jit\n"
        "def total(x):\n    return sum([x] * len(x))\n\n\n"
        "for n in range(1, 40):\n    for _ in range(2):\n        total(ms.Tensor(np.ones(n, np.float32)))\n"
    )
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}

    def said(**more):
        command = [sys.executable, "-c", program]
        run = subprocess.run(command, env=environment | more, capture_output=True, text=True, check=True)
        return run.stderr.splitlines()

    plain = said()
    assert len(plain) == 1
    assert "many sets of shapes and dtypes: got 32 in <string>:12 in <module>" in plain[0]
    explained = [line for line in said(SORUS_VERBOSE="compile") if "compile: " in line]
    assert len(explained) == 38
    assert "recorded for another time, 2 so far: tensor 0 is float32(2,), and was float32(1,)" in explained[0]
