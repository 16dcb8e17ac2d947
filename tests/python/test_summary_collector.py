"""SummaryCollector: what it leaves of a training is what the genuine MindSpore leaves."""

import pathlib

import numpy as np
import pytest

import sorus as ms
import sorus.dataset as ds
from sorus import Model, SummaryCollector, Tensor, _core, nn, ops, train

GENUINE = pathlib.Path(__file__).resolve().parents[1] / "fixtures/mindspore/events"


def events(folder):
    """Step and (plugin, tag) of the values of each event, of all summary files of a folder."""
    found = []
    for path in sorted(pathlib.Path(folder).glob("*_MS")):
        found += [
            (step, [v[:2] for v in what])
            for _, step, kind, what in _core.read_summary(str(path))
            if kind == "summary"
        ]
    return found


def lineage(folder):
    """The events of all lineage files of a folder, without their frames and times."""
    found = []
    for path in sorted(pathlib.Path(folder).glob("*_lineage")):
        found += frames(path)
    return found


def frames(path):
    """The messages of lineage events: behind the time of 9 bytes."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        found.append(data[at + 12 : at + 12 + size][9:])
        at += size + 16
    return found


def without_loss(message):
    """A message of training, without the 4 bytes of the loss, which depend on the first weights."""
    before, after = message.split(b"SequentialCell\x15")
    return before, after[4:]


def model():
    """The model of bench/peers/record_events.py, and its dataset."""
    images = np.sin(np.arange(6 * 16)).astype(np.float32).reshape(6, 1, 4, 4)
    labels = np.arange(6, dtype=np.int32) % 2
    batches = ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=False).batch(2)
    network = nn.SequentialCell(nn.Flatten(), nn.Dense(16, 2))
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(network, loss, optimizer, metrics={"accuracy": train.Accuracy()}), batches


@pytest.mark.usefixtures("mode")
def test_a_training_leaves_what_the_genuine_library_leaves(tmp_path):
    fitted, batches = model()
    chosen = {"collect_dataset_graph": False}
    collector = SummaryCollector(str(tmp_path), collect_freq=2, collect_specified_data=chosen)
    fitted.train(2, batches, callbacks=[collector], dataset_sink_mode=False)
    fitted.eval(batches, callbacks=[SummaryCollector(str(tmp_path), collect_specified_data=chosen)])
    theirs = [
        (step, [v[:2] for v in what])
        for _, step, kind, what in _core.read_summary(str(GENUINE / "training.summary"))
        if kind == "summary"
    ]
    # The genuine library says what it said of the last step again at the end of the epoch.
    assert theirs[-1] == theirs[-2]
    assert events(tmp_path) == theirs[:-1]
    ours, genuine = lineage(tmp_path), frames(GENUINE / "training.lineage")
    assert without_loss(ours[0]) == without_loss(genuine[0])
    assert ours[1][-6:] == genuine[1][-6:]  # the number of rows, behind the metrics
    assert b'{"accuracy": ' in ours[1]


class Loss(nn.Cell):
    """A network that gives its loss, and says its input."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 1, weight_init="ones")
        self.scale = ms.Parameter(Tensor(1.0), name="scale")
        self.said, self.shown = ops.TensorSummary(), ops.ScalarSummary()

    def construct(self, x, y):
        self.said("x", x)
        self.shown("y", y.sum())
        return ((self.fc(x) * self.scale - y) ** 2).mean()


def batches(count):
    """Batches of one row."""
    return [(Tensor([[float(i), 1.0]]), Tensor([[1.0]])) for i in range(count)]


def trained(folder, steps, **options):
    """Trains for that many steps and gives the steps at which each plugin was recorded."""
    network = Loss()
    fitted = Model(network, optimizer=nn.SGD(network.trainable_params(), 1e-6))
    fitted.train(1, batches(steps), callbacks=[SummaryCollector(str(folder), **options)])
    found = {}
    for step, values in events(folder):
        for plugin, tag in values:
            found.setdefault((plugin, tag), []).append(step)
    return found


NO_IMAGES = {"collect_input_data": False}


def test_tensors_are_recorded_at_about_twenty_steps(tmp_path):
    found = trained(tmp_path, 100, collect_freq=3, collect_specified_data=NO_IMAGES)
    assert found["scalar", "loss/auto"] == [1, *range(3, 100, 3)]
    assert found["scalar", "y"] == [1, *range(3, 100, 3)]
    assert found["tensor", "x"] == [1, *range(5, 100, 5)]


def test_tensors_have_a_frequency_of_their_own(tmp_path):
    found = trained(tmp_path, 9, collect_freq=4, collect_tensor_freq=3, collect_specified_data=NO_IMAGES)
    assert found["tensor", "x"] == [1, 3, 6, 9]
    assert found["scalar", "loss/auto"] == [1, 4, 8]


def test_parameters_are_chosen_by_their_names(tmp_path):
    found = trained(tmp_path / "first", 1, collect_specified_data=NO_IMAGES)
    assert [tag for plugin, tag in found if plugin == "histogram"] == ["fc.weight/auto", "fc.bias/auto"]
    chosen = {"histogram_regular": r".*bias"}
    found = trained(tmp_path / "bias", 1, collect_specified_data=chosen, keep_default_action=False)
    assert set(found) == {("histogram", "fc.bias/auto"), ("tensor", "x"), ("scalar", "y")}
    found = trained(tmp_path / "none", 1, keep_default_action=False)
    assert set(found) == {("tensor", "x"), ("scalar", "y")}
    assert list((tmp_path / "none").glob("*_lineage")) == []


def test_inputs_that_are_no_images_are_told_once(tmp_path):
    with pytest.warns(UserWarning, match=r"input is not collected: got the shape \(1, 2\)") as caught:
        trained(tmp_path, 4, collect_freq=1)
    assert len([w for w in caught if "input is not collected" in str(w.message)]) == 1


def test_what_the_user_says_and_the_pipeline_are_in_the_lineage(tmp_path):
    fitted, source = model()
    told = {"people": 3, "rate": 0.5, "place": "here"}
    fitted.train(1, source, callbacks=SummaryCollector(str(tmp_path), custom_lineage_data=told))
    messages = lineage(tmp_path)
    assert len(messages) == 3
    assert b"op_type\x12\x05Batch" in messages[0] and b"op_type\x12\x0bNumpySlices" in messages[0]
    # The genuine library's, recorded by it.
    assert messages[1] == frames(GENUINE / "training.lineage")[-1]


def test_the_graph_of_the_training_step_is_recorded(tmp_path, mode):
    fitted, source = model()
    fitted.train(1, source, callbacks=SummaryCollector(str(tmp_path)))
    (path,) = tmp_path.glob("*_MS")
    graphs = [what for _, _, kind, what in _core.read_summary(str(path)) if kind == "graph"]
    assert len(graphs) == (mode == ms.GRAPH_MODE)
    assert all(b"softmax_cross_entropy" in graph and b"matmul" in graph for graph in graphs)


def test_the_last_checkpoint_is_named(tmp_path):
    fitted, source = model()
    saves = train.ModelCheckpoint("tiny", str(tmp_path / "saved"))
    fitted.train(1, source, callbacks=[saves, SummaryCollector(str(tmp_path / "summary"))])
    assert str(tmp_path / "saved/tiny-1_3.ckpt").encode() in lineage(tmp_path / "summary")[-1]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"collect_freq": 0}, ValueError),
        ({"collect_freq": 1.5}, TypeError),
        ({"collect_freq": True}, TypeError),
        ({"collect_tensor_freq": -1}, ValueError),
        ({"max_file_size": 0}, ValueError),
        ({"collect_specified_data": {"collect_music": True}}, ValueError),
        ({"collect_specified_data": {"collect_metric": 1}}, TypeError),
        ({"collect_specified_data": {"histogram_regular": "("}}, ValueError),
        ({"collect_specified_data": {"histogram_regular": 3}}, TypeError),
        ({"collect_specified_data": []}, TypeError),
        ({"collect_specified_data": {"collect_landscape": {"unit": "step"}}}, NotImplementedError),
        ({"keep_default_action": None}, TypeError),
        ({"custom_lineage_data": {"a": [1]}}, TypeError),
        ({"custom_lineage_data": {"a": 2**40}}, ValueError),
        ({"custom_lineage_data": {1: 1}}, TypeError),
        ({"export_options": {"tensor_format": "txt"}}, ValueError),
        ({"summary_dir": None}, TypeError),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, error):
    with pytest.raises(error, match="^SummaryCollector: "):
        SummaryCollector(**{"summary_dir": str(tmp_path), **options})


def test_one_collector_is_enough(tmp_path):
    fitted, source = model()
    two = [SummaryCollector(str(tmp_path)), SummaryCollector(str(tmp_path))]
    with pytest.raises((ValueError, RuntimeError)):
        fitted.train(1, source, callbacks=two)
    fitted.train(1, source, callbacks=two[:1])  # nothing is left open
