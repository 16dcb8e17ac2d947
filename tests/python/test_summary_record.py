"""Summary files: the values of the genuine MindSpore, and what networks say of themselves in both modes."""

import os
import pathlib
import stat
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from summary_cases import cases

import sorus as ms
from sorus import Parameter, SummaryRecord, Tensor, _core, nn, ops

GENUINE = pathlib.Path(__file__).resolve().parents[1] / "fixtures/mindspore/events"


def recorded(record):
    """(plugin, tag, value) of each event by step, of the record's file."""
    return {step: what for _, step, kind, what in _core.read_summary(record.log_dir) if kind == "summary"}


def pixels(png):
    """The array (height, width, 3) in a PNG file, whatever filters its rows have."""
    at, data = 8, b""
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        chunk, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        if chunk == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        data += body if chunk == b"IDAT" else b""
        at += size + 12
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, width * 3 + 1).astype(int)
    out = np.zeros((height + 1, (width + 1) * 3), int)  # a row and a pixel of zeros before the first
    for y, (kind, *row) in enumerate(rows, start=1):
        for x, value in enumerate(row, start=3):
            left, above, corner = out[y, x - 3], out[y - 1, x], out[y - 1, x - 3]
            near = min((left, above, corner), key=lambda c: abs(left + above - corner - c))
            guess = (0, left, above, (left + above) // 2, near)[kind]
            out[y, x] = (value + guess) % 256
    return out[1:, 3:].reshape(height, width, 3)


def test_values_are_those_of_the_genuine_library(tmp_path):
    with SummaryRecord(tmp_path) as record:
        for plugin, arrays in cases().items():
            for tag, array in arrays.items():
                record.add_value(plugin, tag, Tensor(array))
        assert record.record(5) is True
    ours = recorded(record)[5]
    (theirs,) = (
        w for _, _, kind, w in _core.read_summary(str(GENUINE / "values.summary")) if kind == "summary"
    )
    assert [v[:2] for v in ours] == [v[:2] for v in theirs]
    for (plugin, tag, mine), (_, _, genuine) in zip(ours, theirs, strict=True):
        if plugin == "image":
            assert mine[:3] == genuine[:3], tag
            assert (pixels(mine[3]) == pixels(genuine[3])).all(), tag
        elif plugin == "histogram":
            assert (mine[0], mine[2], mine[3]) == (genuine[0], genuine[2], genuine[3]), tag
            assert mine[1] == (genuine[1] and pytest.approx(genuine[1], rel=1e-12)), tag
        else:
            assert mine == (pytest.approx(genuine, nan_ok=True) if plugin == "scalar" else genuine), tag


class Net(nn.Cell):
    """Says what it computes."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([2.0, 3.0]), name="weight")
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()
        self.image, self.histogram = ops.operations.ImageSummary(), ops.HistogramSummary()

    def construct(self, x):
        y = x * self.weight
        self.tensor("y", y)
        self.scalar("sum", y.sum())
        self.histogram("weight", self.weight)
        self.image("x", x.reshape(1, 1, 1, 2))
        self.scalar("first", y[0])
        self.scalar("first", y[1])
        return y.sum()


def plain(values):
    """Without the encoded images."""
    return [v for v in values if v[0] in ("scalar", "tensor")]


@pytest.mark.usefixtures("mode")
def test_networks_are_recorded_at_the_step_of_the_record(tmp_path):
    net = Net()
    net(Tensor([9.0, 9.0]))  # before there is a record
    with SummaryRecord(str(tmp_path)) as record:
        for step in (1, 2, 3):
            net(Tensor([100.0, 100.0]))  # a later call counts
            net(Tensor([1.0, float(step)]))
            assert record.record(step)
        assert record.record(4)  # nothing new
    steps = recorded(record)
    assert list(steps) == [1, 2, 3]
    for step, values in steps.items():
        assert [v[:2] for v in values] == [
            ("tensor", "y"),
            ("scalar", "sum"),
            ("scalar", "first"),
            ("histogram", "weight"),
            ("image", "x"),
        ]
        assert plain(values) == [
            ("tensor", "y", ([2], 11, [2.0, 3.0 * step])),
            ("scalar", "sum", 2.0 + 3.0 * step),
            ("scalar", "first", 3.0 * step),
        ]


@pytest.mark.usefixtures("mode")
def test_a_value_is_that_of_the_call_and_not_of_a_later_update(tmp_path):
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), 0.5)
    step = nn.TrainOneStepCell(net, optimizer)
    with SummaryRecord(str(tmp_path)) as record:
        for number in range(4):
            before = net.weight.asnumpy()
            loss = step(Tensor([1.0, 2.0]))
            record.record(number)
            assert not (net.weight.asnumpy() == before).all()
            values = {v[1]: v[2] for v in recorded(record)[number]}
            assert values["y"][2] == (before * [1, 2]).tolist()
            assert values["sum"] == float(loss) == float((before * [1, 2]).sum())
            assert values["weight"][1][:2] == (before.min(), before.max())


@pytest.mark.usefixtures("mode")
def test_the_graph_of_a_network_is_recorded_once(tmp_path, recwarn):
    mode = ms.get_context("mode")
    net = Net()
    with SummaryRecord(str(tmp_path), network=net) as record:
        record.record(0)
        for step in (1, 2):
            net(Tensor([1.0, 2.0]))
            record.record(step)
    assert net.__dict__["_hooks"] is None
    kinds = [kind for _, _, kind, _ in _core.read_summary(record.log_dir)]
    assert kinds == ["version"] + ["graph"] * (mode == ms.GRAPH_MODE) + ["summary"] * 2
    told = [str(w.message) for w in recwarn if "graph of 'network'" in str(w.message)]
    assert len(told) == (mode == ms.PYNATIVE_MODE)
    with SummaryRecord(str(tmp_path), network=net):
        pass
    assert net.__dict__["_hooks"] is None


@pytest.mark.usefixtures("mode")
def test_in_eval_what_networks_say_waits(tmp_path):
    net = Net()
    with SummaryRecord(str(tmp_path)) as record:
        record.set_mode("eval")
        net(Tensor([1.0, 1.0]))
        record.add_value("scalar", "loss", Tensor(0.5))
        record.record(1)
        record.set_mode("train")
        record.record(2)
    assert recorded(record)[1] == [("scalar", "loss", 0.5)]
    assert len(recorded(record)[2]) == 5


@pytest.mark.usefixtures("mode")
def test_loops_and_recomputed_cells_say_what_they_do(tmp_path):
    said = ops.ScalarSummary()

    class Loop(nn.Cell):
        """Says something in each step of a loop."""

        def construct(self, x):
            for i in range(3):
                x = x * 2
                said(f"step {i}", x)
            return x

    plainly, again = Loop(), Loop()
    again.recompute()
    with SummaryRecord(str(tmp_path)) as record:
        for number, call in enumerate(3 * [plainly] + 3 * [ops.grad(again)]):
            call(Tensor(1.0))
            record.record(number)
    expected = [("scalar", f"step {i}", 2.0 ** (i + 1)) for i in range(3)]
    assert recorded(record) == dict.fromkeys(range(6), expected)


def test_where_no_value_is_there_none_can_be_recorded(tmp_path):
    said = ops.ScalarSummary()

    def told(x):
        said("x", x)
        return x * 2

    def branch(x):
        return ops.cond(x > 0, told, told, x)

    assert float(branch(Tensor(1.0))) == 2.0  # nobody records
    with (
        SummaryRecord(str(tmp_path)),
        pytest.raises(NotImplementedError, match="ScalarSummary: 'x' cannot be"),
    ):
        branch(Tensor(1.0))


@pytest.mark.parametrize(
    ("primitive", "arguments", "error"),
    [
        (ops.ScalarSummary, ("", Tensor(1.0)), TypeError),
        (ops.ScalarSummary, (3, Tensor(1.0)), TypeError),
        (ops.ScalarSummary, ("x", 1.0), TypeError),
        (ops.ScalarSummary, ("x", Tensor([1.0, 2.0])), ValueError),
        (ops.TensorSummary, ("x", Tensor(1.0)), ValueError),
        (ops.HistogramSummary, ("x", Tensor(1.0)), ValueError),
        (ops.ImageSummary, ("x", Tensor([1.0])), ValueError),
    ],
)
def test_primitives_refuse_what_cannot_be_recorded(primitive, arguments, error):
    with pytest.raises(error, match=f"^{primitive.__name__}: "):
        primitive()(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("scalar", "x", 1.0), TypeError),
        (("scalar", "", Tensor(1.0)), ValueError),
        (("scalar", "x", Tensor([1.0, 2.0])), ValueError),
        (("tensor", "x", Tensor(1.0)), ValueError),
        (("histogram", "x", Tensor(1.0)), ValueError),
        (("image", "x", Tensor([[1.0]])), ValueError),
        (("music", "x", Tensor(1.0)), ValueError),
        (("train_lineage", "x", Tensor(1.0)), TypeError),
        (("graph", "x", 3), TypeError),
    ],
)
def test_a_record_refuses_what_cannot_be_recorded(tmp_path, arguments, error):
    with SummaryRecord(str(tmp_path)) as record:
        with pytest.raises(error, match="^SummaryRecord: "):
            record.add_value(*arguments)
        for step in ("1", 1.0, True, None):
            with pytest.raises(TypeError, match="^record: 'step'"):
                record.record(step)
        with pytest.raises(ValueError, match="'mode'"):
            record.set_mode("predict")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"file_prefix": 3}, TypeError),
        ({"file_suffix": "a/b"}, ValueError),
        ({"max_file_size": "1"}, TypeError),
        ({"raise_exception": 1}, TypeError),
        ({"export_options": {"image_format": "npy"}}, ValueError),
        ({"export_options": {"tensor_format": "txt"}}, ValueError),
        ({"export_options": 3}, TypeError),
        ({"network": 3}, TypeError),
        ({"log_dir": 3}, TypeError),
        ({"log_dir": "/dev/null/no"}, OSError),
    ],
)
def test_wrong_options_leave_no_record_open(tmp_path, options, error):
    with pytest.raises(error, match="^SummaryRecord: "):
        SummaryRecord(**{"log_dir": str(tmp_path), **options})
    SummaryRecord(str(tmp_path)).close()


def test_files_have_the_names_and_permissions_of_the_genuine_library(tmp_path):
    folder = tmp_path / "deep" / "er"
    with SummaryRecord(str(folder), "mine", "_end") as record:
        assert os.path.dirname(record.log_dir) == str(folder)
        assert list(folder.iterdir()) == []
        record.add_value("scalar", "x", Tensor(1.0))
        record.record(1)
        name = pathlib.Path(record.log_dir).name
        seconds, device, rest = name.removeprefix("mine.out.events.summary.").split(".", 2)
        assert seconds.isdigit() and device == "0" and rest.endswith("_end")
        assert stat.S_IMODE(os.stat(record.log_dir).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(record.log_dir).st_mode) == 0o400
    with SummaryRecord(str(folder), "mine", "_end") as other:
        assert other.log_dir != record.log_dir


def test_one_record_is_open_at_a_time(tmp_path):
    record = SummaryRecord(str(tmp_path))
    with pytest.raises(RuntimeError, match="another one is open"):
        SummaryRecord(str(tmp_path))
    record.close()
    record.close()
    with pytest.warns(UserWarning, match="closed"):
        assert record.record(1) is False
    with pytest.warns(UserWarning, match="closed"):
        record.flush()
    with pytest.raises(ValueError, match="closed"), record:
        pass
    SummaryRecord(str(tmp_path)).close()


def test_the_newest_of_several_values_is_recorded_and_plugins_are_filtered(tmp_path):
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "x", Tensor(1.0))
        record.add_value("tensor", "x", Tensor([4.0]))
        record.add_value("scalar", "y", Tensor(2.0))
        with pytest.warns(UserWarning, match="x/scalar' has several values"):
            record.add_value("scalar", "x", Tensor(3.0))
        with pytest.warns(UserWarning, match="'z' is not recorded"):
            record.add_value("image", "z", Tensor(np.zeros((1, 2, 3, 3), np.float32)))
        record.record(1, plugin_filter=lambda plugin: plugin != "tensor")
        record.record(2)
    assert recorded(record) == {1: [("scalar", "x", 3.0), ("scalar", "y", 2.0)]}


def test_tensors_are_exported(tmp_path):
    with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
        for _ in range(2):
            record.add_value("tensor", "a/b", Tensor([[1, 2]]))
            record.add_value("scalar", "c", Tensor(1.0))
            record.record(7)
    (path,) = tmp_path.glob("export_*/tensor/*")
    assert path.name == "a%2Fb_7.npy"
    assert np.load(path).tolist() == [[1, 2]]


def test_messages_are_recorded_as_they_are(tmp_path):
    class Message:
        """As protobuf has it."""

        def SerializeToString(self):  # noqa: N802
            return _core.user_lineage({"people": 3})

    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("custom_lineage_data", "", Message())
        record.add_value("graph", "", b"\x22\x05graph")
        record.add_value("landscape", "hills", b"land")
        assert record.record(1)
    assert [e[2:] for e in _core.read_summary(record.log_dir)[1:]] == [
        ("graph", b"graph"),
        ("summary", [("landscape", "hills", b"land")]),
    ]
    (lineage,) = tmp_path.glob("*_lineage")
    assert b"people\x10\x03" in lineage.read_bytes()


def test_a_file_keeps_within_its_limit(tmp_path):
    with SummaryRecord(str(tmp_path), max_file_size=200) as record:
        record.add_value("scalar", "x", Tensor(1.0))
        assert record.record(1)
        with pytest.warns(UserWarning, match="'max_file_size' is reached"):
            record.add_value("tensor", "x", Tensor(np.zeros(100, np.float32)))
            assert not record.record(2)
        record.add_value("scalar", "x", Tensor(1.0))
        assert not record.record(3)
    assert list(recorded(record)) == [1]
    with pytest.warns(UserWarning, match="negative"):
        SummaryRecord(str(tmp_path), max_file_size=-1).close()


def test_a_folder_that_is_gone_is_told_and_training_goes_on(tmp_path):
    folder = tmp_path / "gone"
    for raises in (False, True):
        with SummaryRecord(str(folder), raise_exception=raises) as record:
            folder.rmdir()
            record.add_value("scalar", "x", Tensor(1.0))
            if raises:
                with pytest.raises(OSError, match="cannot create the file"):
                    record.record(1)
            else:
                with pytest.warns(UserWarning, match="recorded no more: .*cannot create the file"):
                    assert record.record(1) is False
                record.add_value("scalar", "x", Tensor(1.0))
                assert record.record(2) is False


FULL = """
import resource, signal, sys, warnings
import sorus as ms
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with ms.SummaryRecord(sys.argv[1]) as record:
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = []
        for step in range(40):
            record.add_value("scalar", "x", ms.Tensor(1.0))
            done.append(record.record(step))
        record.flush()
    assert done == sorted(done, reverse=True) and True in done and False in done, done
    assert len(caught) == 1 and "File too large" in str(caught[0].message), caught
    print(record.log_dir, sum(done))
"""


def test_a_full_disk_is_told_once_and_what_stands_can_be_read(tmp_path):
    package = pathlib.Path(ms.__file__).resolve().parents[1]
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(package)},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    path, count = run.stdout.split()
    assert len(_core.read_summary(path)) == int(count) + 1
