"""Records what the genuine MindSpore wheel gives for op_cases/ into tests/fixtures/mindspore/ops.

op_cases/FAMILY.txt holds one case a line (tests/python/mindspore_fixtures.py says what a case is); `{a|b}` in
a line stands for each alternative in turn, `\\|` for a bar. Cases are left out, and counted in the
summary, if the wheel lacks the name or a CPU kernel, gives complex numbers, ends the process, answers
differently the second time, or makes elements out of an empty tensor (it leaves their memory unwritten).
Run it with the Python of setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_ops.py [FAMILY...]
"""

import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

os.environ.setdefault("GLOG_v", "4")  # before the import: the wheel logs each refused call

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests/python")]

import numpy as np  # noqa: E402
from mindspore_fixtures import FIXTURES, Evaluator, spec_of  # noqa: E402

# What the wheel answers where its CPU back end cannot do what the call asks for; that is no behaviour to
# follow.
INCAPABLE = re.compile(
    r"Select CPU operator|Unsupported op \[|unregistered|Unsupported tensor type|not supported on CPU|"
    r"not supported on this device|KernelMod Init Failed|Create kernelmod for op|Not found op|"
    r"Create device context failed|not support this kernel data type|unsupported reduce operation|"
    r"not support.* CPU|CPU.* not support|Ascend|unexpected error|Not implement|could not create a|"
    r"Launch kernel failed|has no attr|Parse Lambda|codec can't decode",
    re.IGNORECASE,
)


def expand(line: str) -> list[str]:
    """All lines that a line with {alternatives} stands for."""
    parts = re.split(r"(\{[^{}]*\})", line)
    choices = [
        [choice.replace("\\|", "|") for choice in re.split(r"(?<!\\)\|", part[1:-1])]
        if part.startswith("{")
        else [part]
        for part in parts
    ]
    return ["".join(choice) for choice in itertools.product(*choices)]


def cases_of(family: str) -> list[str]:
    """The cases of a family, each once, in the order of its file."""
    lines = (HERE / f"op_cases/{family}.txt").read_text().splitlines()
    expanded = (case for line in lines if line and not line.startswith("#") for case in expand(line))
    return list(dict.fromkeys(expanded))


def evaluator() -> Evaluator:
    """The genuine wheel on its CPU back end, set so that a call raises its own errors and no others."""
    from op_inputs import INPUTS

    import mindspore as ms
    from mindspore import mint

    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.runtime.launch_blocking()
    assert ms.mint is mint
    storage = {"bfloat16": "float32"}
    inputs = {
        name: spec_of(np.array(values, storage.get(dtype, dtype)), dtype)
        for name, (values, dtype) in INPUTS.items()
    }
    return Evaluator(ms, inputs)


def verdict(framework: Evaluator, case: str) -> dict:
    """The record of a case, or {"dropped": reason}."""
    spelling = framework.spelling(case)
    if not framework.has(spelling):
        return {"dropped": "no such name", "case": case}
    framework.framework.set_seed(1)
    outcome = framework.run(case)
    if INCAPABLE.search(outcome.get("text", "")):
        return {"dropped": "incapable", "case": case, "text": outcome["text"]}
    if "complex" in json.dumps(outcome):
        return {"dropped": "complex", "case": case}
    empty = [name for name in re.findall(r"\w+", case) if framework.inputs.get(name, "full")[2] == []]
    if empty and re.search(r'"tensor": \["\w+", \[[^]]*\], \[[^]]', json.dumps(outcome)):
        return {"dropped": "elements from none", "case": case}
    # Kernels that leave memory unwritten show what lay there before, which is now something else.
    dirt = [
        framework.framework.Tensor(np.full(size, 7.25, np.float32)) + 1 for size in (1, 3, 8, 24, 64, 256)
    ]
    del dirt
    framework.framework.set_seed(2)
    if framework.run(case) != outcome:
        return {"dropped": "not the same twice", "case": case}
    return {"case": case, "spelling": spelling, **outcome}


def child(family: str, first: int) -> None:
    """Prints the verdicts of a family's cases from number `first` on, a JSON line each."""
    framework = evaluator()
    for case in cases_of(family)[first:]:
        print("\n@" + json.dumps(verdict(framework, case)), flush=True)


def record(family: str) -> None:
    """Records a family; a case that ends the process is dropped and the rest goes on in a new one."""
    cases, verdicts = cases_of(family), []
    while len(verdicts) < len(cases):
        try:
            run = subprocess.run(
                [sys.executable, __file__, "--child", family, str(len(verdicts))],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=300,
            )
            output, trouble = run.stdout, run.stderr
        except subprocess.TimeoutExpired as late:
            output, trouble = (late.stdout or b"").decode(), "timed out"
        verdicts += [json.loads(line[1:]) for line in output.splitlines() if line.startswith("@{")]
        if len(verdicts) < len(cases):
            if "Traceback" in trouble:
                sys.exit(trouble)
            verdicts.append({"dropped": "ends the process", "case": cases[len(verdicts)]})
    kept = [item for item in verdicts if "dropped" not in item]
    body = ",\n".join(json.dumps(item) for item in kept)
    path = FIXTURES / f"ops/{family}.json"
    path.write_text(f'{{"mindspore": "{version()}", "cases": [\n{body}\n]}}\n')
    dropped = collections.Counter(item["dropped"] for item in verdicts if "dropped" in item)
    print(f"{family}: {len(kept)} cases, {path.stat().st_size} bytes; left out: {dict(dropped)}")
    log = HERE.parents[1] / f"build/peers/dropped-{family}.jsonl"
    log.write_text("".join(json.dumps(item) + "\n" for item in verdicts if "dropped" in item))


def version() -> str:
    """The wheel's version, without importing it."""
    from importlib.metadata import version as installed

    return installed("mindspore")


def main() -> None:
    """Records the families that are named, or all, and the inputs they use."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
        return
    (FIXTURES / "ops").mkdir(parents=True, exist_ok=True)
    rows = (f'"{name}": {json.dumps(spec)}' for name, spec in evaluator().inputs.items())
    (FIXTURES / "ops/inputs.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")
    for family in sys.argv[1:] or sorted(path.stem for path in (HERE / "op_cases").glob("*.txt")):
        record(family)


if __name__ == "__main__":
    main()
