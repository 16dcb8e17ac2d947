"""Settings, seeds and the layout of the package."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import sorus as ms


def run_of(program):
    """A program in a process of its own, in which nothing has been imported."""
    path = ":".join(p for p in sys.path if p)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": path})


def test_unknown_setting_names_near_ones():
    with pytest.raises(ValueError, match="device_target"):
        ms.set_context(device_targett="CPU")
    with pytest.raises(ValueError, match="unknown setting"):
        ms.get_context("nothing")


def test_settings_are_kept():
    ms.set_context(check_bprop=True, max_call_depth=2000)
    assert ms.get_context("max_call_depth") == 2000
    assert ms.context.get_context("check_bprop") is True
    for bad in ({"mode": 5}, {"device_target": "TPU"}, {"max_call_depth": 0}, {"numerics": "fast"}):
        with pytest.raises(ValueError):
            ms.set_context(**bad)


def test_a_mode_set_before_the_layers_are_loaded_holds():
    program = (
        "import sorus as ms; ms.set_context(mode=ms.GRAPH_MODE); from sorus import nn\n"
        "net = nn.Dense(2, 2)\n"
        "for _ in range(3): float(net(ms.Tensor([[1.0, 2.0]])).sum())\n"
        "print(ms._core.follow_stats()['runs'])"
    )
    run = run_of(program)
    assert int(run.stdout) == 2


def test_an_import_loads_little():
    """No package but its own, and of libraries none that only some programs use: it is to be quick."""
    program = (
        "import sys; before = set(sys.modules); import sorus\n"
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(loaded - set(sys.stdlib_module_names)))\n"
        "print(open('/proc/self/maps').read())\n"
        "assert sorus.ops.arange(3).asnumpy().tolist() == [0, 1, 2] and 'numpy' in sys.modules\n"
    )
    run = run_of(program)
    modules, libraries = run.stdout.split("\n", 1)
    assert modules == "sorus" and "libsorus" in libraries
    for name in ("libmpi", "libgrpc", "libprotobuf", "libopencv", "libicu"):
        assert name not in libraries


def test_accelerators_warn_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ms.set_context(device_target="Ascend")
        ms.set_context(device_target="Ascend")
    assert len(caught) == 1
    ms.set_context(device_target="CPU")


def test_set_device_warns_by_its_own_name():
    program = "import sorus; sorus.set_device('GPU'); print(sorus.get_context('device_target'))"
    run = run_of(program)
    assert run.stdout == "GPU\n" and "<string>:1: UserWarning: set_device: device_target 'GPU'" in run.stderr
    with pytest.raises(ValueError, match="set_device"):
        ms.set_device("TPU")


@pytest.mark.parametrize(
    "line, same",
    [
        ("from sorus.common import set_seed, get_seed, Parameter, ParameterTuple, mutable", "set_seed"),
        ("from sorus.common.seed import get_seed", "get_seed"),
        ("from sorus.common.api import jit, ms_function", "jit"),
        ("from sorus import ms_class", "jit_class=ms_class"),
        ("from sorus.ops.composite import clip_by_value, clip_by_global_norm", "ops.clip_by_value"),
        ("from sorus.ops.composite import ones_like, zeros_like", "ops.zeros_like"),
        ("from sorus.ops.primitive import constexpr", "ops.constexpr"),
        ("from sorus.ops.operations.nn_ops import ReLU", "ops.ReLU"),
        ("from sorus.ops.operations.math_ops import Add", "ops.Add"),
        ("from sorus.ops.operations.array_ops import Concat", "ops.Concat"),
        ("from sorus.train.model import ParallelMode", "ParallelMode"),
        ("from sorus.dataset.transforms.vision.c_transforms import Resize", "dataset.vision.Resize"),
        ("from sorus.dataset.transforms.vision.py_transforms import ToPIL", "dataset.vision.ToPIL"),
        ("from sorus.common.dtype import tensor, tensor_type", "dtype.tensor_type"),
    ],
)
def test_old_spellings(line, same):
    scope = {}
    exec(line, scope)  # noqa: S102: lines above
    path, _, name = same.partition("=")
    found = ms
    for part in path.split("."):
        found = getattr(found, part)
    assert scope[name or path.split(".")[-1]] is found


def test_one_process_is_the_world(monkeypatch):
    from sorus.communication import GlobalComm, get_rank, management

    assert (get_rank(), management.get_group_size(), management.get_local_rank()) == (0, 1, 0)
    management.init("nccl")
    assert GlobalComm.INITED and GlobalComm.WORLD_COMM_GROUP == "nccl_world_group"
    management.create_group("mine", [0])
    assert management.get_group_size("mine") == 1
    management.release()
    assert not GlobalComm.INITED
    for bad in (lambda: get_rank("mine"), lambda: management.create_group("two", [0, 1])):
        with pytest.raises(ValueError):
            bad()
    monkeypatch.setenv("RANK_SIZE", "8")
    with pytest.raises(RuntimeError, match="RANK_SIZE=8"):
        management.init()


@pytest.mark.parametrize(
    "path, near",
    [
        ("set_contex", "set_context"),
        ("ops.Relu", "ReLU"),
        ("ops.matmull", "matmul"),
        ("nn.Dence", "Dense"),
        ("mint.argmacks", "argmax"),
        ("train.LossMonitr", "LossMonitor"),
        ("dataset.MnistDatset", "MnistDataset"),
    ],
)
def test_an_unknown_name_names_near_ones(path, near):
    *modules, name = path.split(".")
    module = ms
    for part in modules:
        module = getattr(module, part)
    with pytest.raises(AttributeError, match=f"no attribute '{name}': did you mean .*'{near}'"):
        getattr(module, name)


def test_parallel_settings():
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    assert ms.get_auto_parallel_context("parallel_mode") == "data_parallel"
    ms.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"
    with pytest.raises(ValueError):
        ms.set_auto_parallel_context(nothing=1)


def test_seed_repeats():
    def draw():
        ms.set_seed(7)
        dense = ms.nn.Dense(3, 3)
        return dense.weight.asnumpy(), ms.ops.rand(4).asnumpy(), ms.ops.randn(4).asnumpy()

    for first, second in zip(draw(), draw()):
        assert np.array_equal(first, second)
    with pytest.raises(TypeError):
        ms.set_seed("a")
    with pytest.raises(ValueError):
        ms.set_seed(-1)


def test_run_check(capsys):
    ms.run_check()
    said = capsys.readouterr().out
    for word in (ms.__version__, "processor:", "oneDNN 2.", "successfully"):
        assert word in said


def test_importing_the_package_loads_no_layers():
    modules = "('sorus.nn', 'sorus.mint', 'sorus.dataset')"
    code = f"import sys, sorus; print([m for m in {modules} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
    )
    assert done.stdout.strip() == "[]"


def test_parameter_servers_are_none():
    ms.set_ps_context(enable_ps=False, scheduler_manage_port=5000)
    assert ms.get_ps_context("scheduler_manage_port") == 5000 and not ms.get_ps_context("enable_ps")
    ms.reset_ps_context()
    assert ms.get_ps_context("scheduler_manage_port") == 11202
    with pytest.raises(NotImplementedError, match="need False"):
        ms.set_ps_context(enable_ps=True)
    for bad in (lambda: ms.get_ps_context("port"), lambda: ms.set_ps_context(port=3)):
        with pytest.raises(ValueError, match="unknown setting"):
            bad()
    assert ms.get_current_device() == ("CPU", 0)
    assert ms.constexpr(len) is len
    ms.ms_memory_recycle()
