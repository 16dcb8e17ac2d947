"""Records summary and lineage files of the genuine MindSpore into tests/fixtures/mindspore/events/.

`values.summary` holds the values of tests/python/summary_cases.py, all of step 5, and the graph of a small
network; `training.summary` and `training.lineage` are what SummaryCollector leaves of a short training and
its evaluation. Run it with the Python of setup_mindspore.sh:
    build/peers/mindspore/bin/python bench/peers/record_events.py
With a file named it prints the events of it instead, as the genuine messages have them, so that a file which
Sorus wrote can be looked at.
"""

import os
import pathlib
import shutil
import struct
import sys
import tempfile

os.environ.setdefault("GLOG_v", "3")

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/python"))

import mindspore.dataset as ds  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import Model, Tensor, nn, train  # noqa: E402
from mindspore.train import lineage_pb2, summary_pb2  # noqa: E402
from summary_cases import cases  # noqa: E402

import mindspore as ms  # noqa: E402

OUTPUT = HERE.parents[1] / "tests/fixtures/mindspore/events"
STEP = 5


def values(folder: str) -> None:
    """One event with all cases, behind one with a graph."""
    network = nn.Dense(2, 2)
    network(Tensor(np.ones((1, 2), np.float32)))
    with ms.SummaryRecord(folder, network=network) as record:
        record.record(STEP)
        for plugin, arrays in cases().items():
            for tag, array in arrays.items():
                record.add_value(plugin, tag, Tensor(array))
        record.record(STEP)


def training(folder: str) -> None:
    """Two epochs of three steps and an evaluation, watched by SummaryCollector."""
    images = np.sin(np.arange(6 * 16)).astype(np.float32).reshape(6, 1, 4, 4)
    labels = np.arange(6, dtype=np.int32) % 2
    batches = ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=False).batch(2)
    network = nn.SequentialCell(nn.Flatten(), nn.Dense(16, 2))
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(network, loss, optimizer, metrics={"accuracy": train.Accuracy()})
    # The maps of the messages cannot be filled with newer versions of protobuf, as SummaryCollector would.
    chosen = {"collect_dataset_graph": False}
    collector = train.SummaryCollector(folder, collect_freq=2, collect_specified_data=chosen)
    model.train(2, batches, callbacks=[collector], dataset_sink_mode=False)
    collector = train.SummaryCollector(folder, collect_specified_data=chosen)
    model.eval(batches, callbacks=[collector], dataset_sink_mode=False)
    with ms.SummaryRecord(folder) as record:
        told = lineage_pb2.UserDefinedInfo()
        told.user_info.add().map_int32.add(key="people", value=3)
        told.user_info.add().map_double.add(key="rate", value=0.5)
        told.user_info.add().map_str.add(key="place", value="here")
        record.add_value("custom_lineage_data", "custom_lineage_data", told)
        record.record(0)


def show(path: str) -> None:
    """Prints the events of a file."""
    message = lineage_pb2.LineageEvent if path.endswith("lineage") else summary_pb2.Event
    data = pathlib.Path(path).read_bytes()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        event = message.FromString(data[at + 12 : at + 12 + length])
        try:
            print(event)
        except AttributeError:  # a map, which newer versions of protobuf cannot print either
            print(event.SerializeToString())
        at += 16 + length


def main() -> None:
    """Records both, or shows a file."""
    if sys.argv[1:]:
        show(sys.argv[1])
        return
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    for name, section in (("values", values), ("training", training)):
        with tempfile.TemporaryDirectory() as folder:
            section(folder)
            for path in sorted(pathlib.Path(folder).glob("*.out.events.summary.*"), key=os.path.getmtime):
                kind = "lineage" if path.name.endswith("_lineage") else "summary"
                target = OUTPUT / f"{name}.{kind}"
                target.write_bytes((target.read_bytes() if target.exists() else b"") + path.read_bytes())
                print(target.name, target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
