#!/usr/bin/env python3
"""Proves that a wheel holds all it needs: installs it into a new environment and runs it from there.

usage: check_wheel.py WHEEL

The environment gets the wheel and NumPy. In it run `run_check`, the LeNet example for a few steps and a
training step in graph mode, and a tokenizer; every library that these load, but for those of glibc and the
compiler's run time that manylinux promises, must lie in the environment. As root the system's own copies are
hidden meanwhile, as on a machine without them. Prints the wheel's size and the time of `import sorus`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What the wheel brings along; hidden on the machine while it runs.
BUNDLED = (
    "libdnnl",
    "libhwy",
    "libfmt",
    "libspdlog",
    "libgomp",
    "libOpenCL",
    "libjpeg",
    "libpng16",
    "libsqlite3",
    "libicu",
    "libsentencepiece",
    "libsorus",
)
PROGRAM = """
import sys, time
begin = time.perf_counter()
import sorus
print(f"import sorus: {(time.perf_counter() - begin) * 1e3:.0f} ms")
sorus.run_check()
from sorus import Tensor, nn
sorus.set_context(mode=sorus.GRAPH_MODE)
net = nn.SequentialCell(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dense(4 * 64, 3))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params()))
images, labels = sorus.ops.ones((8, 1, 8, 8), sorus.float32), Tensor([0, 1, 2, 0, 1, 2, 0, 1], sorus.int32)
losses = [float(step(images, labels)) for _ in range(5)]
assert losses[-1] < losses[0], losses
from sorus.dataset import text
assert list(text.BasicTokenizer(lower_case=True)("Hi, Ho")) == ["hi", ",", "ho"]
loaded = {line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps") if ".so" in line}
print("\\n".join(sorted("loaded " + name for name in loaded)))
"""


def system_copies() -> list[str]:
    """The machine's own copies of bundled libraries."""
    folders = [Path("/lib/x86_64-linux-gnu"), Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/local/lib")]
    found = {p.resolve() for folder in folders for name in BUNDLED for p in folder.glob(f"{name}.so*")}
    return sorted(map(str, found))


def hidden(command: list[str]) -> list[str]:
    """The command as run where system_copies are not there; the command itself without the right to."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        return command
    hide = "".join(f"mount --bind /dev/null '{path}' && " for path in system_copies())
    return ["unshare", "-m", "sh", "-c", hide + 'exec "$@"', "sh", *command]


def run(command: list[str], **options) -> str:  # noqa: ANN003
    """Runs a command and gives what it prints; ends the program when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, **options)
    if done.returncode != 0:
        sys.exit(f"check_wheel: command failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def foreign(printed: str, environment: Path) -> list[str]:
    """Bundled libraries that were loaded from elsewhere."""
    lines = [line for line in printed.splitlines() if line.startswith("loaded ")]
    loaded = [Path(line.removeprefix("loaded ")) for line in lines]
    return [str(p) for p in loaded if p.name.startswith(BUNDLED) and environment not in p.parents]


def check(wheel: Path, folder: Path) -> None:
    """Installs and runs the wheel in a folder."""
    environment = folder / "environment"
    run([sys.executable, "-m", "venv", str(environment)])
    python = str(environment / "bin" / "python")
    run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)])
    size = wheel.stat().st_size / 1e6
    unpacked = sum(p.stat().st_size for p in environment.rglob("sorus*/**/*") if p.is_file()) / 1e6
    print(f"{wheel.name}: {size:.1f} MB, {unpacked:.1f} MB unpacked")
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    for _ in range(2):  # the second time files are in memory and modules compiled
        printed = run(hidden([python, "-c", PROGRAM]), cwd=folder, env=clean)
    print("\n".join(line for line in printed.splitlines() if not line.startswith("loaded ")))
    strangers = foreign(printed, environment)
    if strangers:
        sys.exit(f"check_wheel: libraries come from elsewhere: got {strangers}, need those of the wheel")
    examples = folder / "examples"
    shutil.copytree(ROOT / "examples", examples)
    demo = [python, str(examples / "lenet" / "lenet.py")]
    print(run(hidden(demo), cwd=folder, env=clean).splitlines()[-1])
    print("check_wheel: passed" + ("" if hidden([]) else "; but the machine's libraries could not be hidden"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sorus-wheel-") as folder:
        check(arguments.wheel.resolve(), Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
