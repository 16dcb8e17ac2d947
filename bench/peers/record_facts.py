"""Records facts of the genuine MindSpore that programs depend on into tests/fixtures/mindspore/facts.json.

Each section is a function below; its docstring says what it holds. Numbers that differ from run to run are
replaced by <number>. Run it with the Python of setup_mindspore.sh and a folder that has MNIST's four files,
compressed or not:
    build/peers/mindspore/bin/python bench/peers/record_facts.py MNIST_FOLDER [SECTION ...]
With sections named it records those alone and keeps the others as they stand.
"""

import collections
import contextlib
import inspect
import io
import json
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

os.environ.setdefault("GLOG_v", "4")

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests/python")]

import mindspore.dataset as ds  # noqa: E402
import numpy as np  # noqa: E402
from facts_data import attempt, images, pipelines, resized, spec, vision_transforms  # noqa: E402
from facts_images import SECTIONS as IMAGE_SECTIONS  # noqa: E402
from facts_numpy import numpy_creation  # noqa: E402
from facts_training import fitting  # noqa: E402
from mindspore import Model, Parameter, Tensor, nn, ops, train  # noqa: E402
from mindspore.common.initializer import initializer  # noqa: E402

import mindspore as ms  # noqa: E402

OUTPUT = HERE.parents[1] / "tests/fixtures/mindspore/facts.json"


def unplaced(text: str) -> str:
    """A text without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", " at <address>", text)


def masked(text: str) -> list[str]:
    """Lines of a text with its numbers masked."""
    return re.sub(r"\d+\.\d+", "<number>", text).splitlines()


class LeNet5(nn.Cell):
    """The network of the MindSpore tutorials."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x: Tensor) -> Tensor:
        """Logits of a batch of 32x32 images."""
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.flatten(self.max_pool2d(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


class Nested(nn.Cell):
    """Containers in containers, shared cells and plain parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.SequentialCell([nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()])
        self.layers = nn.CellList([nn.Dense(2, 2), nn.SequentialCell(nn.Dense(2, 2, has_bias=False))])
        self.named = nn.SequentialCell(collections.OrderedDict(first=nn.Dense(2, 2), second=nn.ReLU()))
        self.scale = Parameter(Tensor([1.0], ms.float32), name="scale")
        self.unnamed = Parameter(Tensor([1.0], ms.float32))
        self.frozen = Parameter(Tensor([1.0], ms.float32), name="other_name", requires_grad=False)
        self.norm = nn.LayerNorm((2,))
        self.embedding = nn.Embedding(4, 2)
        self.rnn = nn.LSTM(2, 3, num_layers=2, bidirectional=True)
        self.shared = self.layers[0]

    def construct(self, x: Tensor) -> Tensor:
        """Never called."""
        return x


class Tiny(nn.Cell):
    """Two parameters with fixed values, for trajectories."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(Tensor([[0.5, -1.0], [2.0, 0.25]], ms.float32), name="weight")
        self.bias = Parameter(Tensor([0.1, -0.2], ms.float32), name="bias")

    def construct(self, x: Tensor) -> Tensor:
        """A dense layer."""
        return ops.matmul(x, self.weight) + self.bias


def initializers() -> dict[str, Any]:
    """Default initial values of layers (statistics of large ones), and what initializers give for a seed."""
    layers = {
        "Dense(400, 300)": lambda: nn.Dense(400, 300),
        "Conv2d(32, 64, 5)": lambda: nn.Conv2d(32, 64, 5, has_bias=True),
        "Conv2d(32, 64, 3, group=4)": lambda: nn.Conv2d(32, 64, 3, group=4, has_bias=True),
        "Conv1d(32, 64, 5)": lambda: nn.Conv1d(32, 64, 5, has_bias=True),
        "Conv3d(16, 32, 3)": lambda: nn.Conv3d(16, 32, 3, has_bias=True),
        "Conv2dTranspose(32, 64, 3)": lambda: nn.Conv2dTranspose(32, 64, 3, has_bias=True),
        "Embedding(500, 64)": lambda: nn.Embedding(500, 64),
        "BatchNorm2d(8)": lambda: nn.BatchNorm2d(8),
        "LayerNorm((8,))": lambda: nn.LayerNorm((8,)),
        "GroupNorm(2, 8)": lambda: nn.GroupNorm(2, 8),
        "LSTM(64, 100)": lambda: nn.LSTM(64, 100),
        "GRU(64, 100)": lambda: nn.GRU(64, 100),
        "PReLU(4)": lambda: nn.PReLU(4),
        "BiDense(30, 30, 20)": lambda: nn.BiDense(30, 30, 20),
        "MultiheadAttention(64, 4)": lambda: nn.MultiheadAttention(64, 4),
    }

    def statistics(array: np.ndarray) -> dict[str, float]:
        """Rounded, since chance is in them."""
        values = array.astype(np.float64)
        figures = {name: round(getattr(values, name)(), 5) for name in ("min", "max", "mean", "std")}
        return {"count": values.size, **figures}

    def initial(name: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor that a named initializer fills."""
        return initializer(name, shape, ms.float32).init_data()

    def of_layer(make: Callable[[], nn.Cell]) -> dict[str, Any]:
        """What each parameter of a layer begins with."""
        return {
            name: [list(p.shape), str(p.dtype).lower(), p.requires_grad, statistics(p.asnumpy())]
            for name, p in make().parameters_and_names()
        }

    record = {name: attempt(lambda make=make: of_layer(make)) for name, make in layers.items()}
    names = "normal uniform xavier_uniform xavier_normal he_uniform he_normal truncatedNormal".split()
    for name in (*names, "orthogonal", "zeros", "ones"):
        for shape in ((300, 200), (16, 8, 3, 3)):
            record[f"'{name}', {shape}"] = attempt(
                lambda name=name, shape=shape: statistics(initial(name, shape).asnumpy())
            )
    for name in names:
        ms.set_seed(1)
        record[f"'{name}', seed 1"] = attempt(lambda name=name: [initial(name, (2, 3)) for _ in range(2)])
    return record


def parameter_names() -> dict[str, Any]:
    """Names of parameters in networks, wrappers and optimizers."""
    net, nested = LeNet5(), Nested()
    record: dict[str, Any] = {
        "LeNet5": [[name, list(p.shape)] for name, p in net.parameters_and_names()],
        "Nested": [
            [name, p.name, list(p.shape), p.requires_grad] for name, p in nested.parameters_and_names()
        ],
        "Nested parameters_dict": list(nested.parameters_dict()),
        "Nested trainable": [p.name for p in nested.trainable_params()],
        "Nested cells": [name for name, _ in nested.cells_and_names()],
        "LeNet5 name_cells": list(net.name_cells()),
    }

    def parameters(cell: nn.Cell) -> list[list]:
        """Name, shape and dtype of each parameter."""
        return [[p.name, list(p.shape), str(p.dtype).lower()] for p in cell.get_parameters()]

    fixed, dynamic = 0.1, nn.cosine_decay_lr(0.0, 0.1, 6, 2, 3)
    for rate_name, rate in (("fixed", fixed), ("dynamic", dynamic)):
        for name, make in optimizer_makers().items():
            record[f"{name}, {rate_name}"] = attempt(
                lambda make=make, rate=rate: parameters(make(Tiny().trainable_params(), rate))
            )
    net = LeNet5()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    record["LeNet5 Momentum"] = [p.name for p in optimizer.get_parameters()]
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    record["TrainOneStepCell"] = [name for name, _ in step.parameters_and_names()]
    scaled = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(Tiny(), nn.MSELoss()),
        nn.SGD(Tiny().trainable_params(), 0.1),
        nn.DynamicLossScaleUpdateCell(64.0, 2, 4),
    )
    record["TrainOneStepWithLossScaleCell"] = [name for name, _ in scaled.parameters_and_names()]
    return record


def optimizer_makers() -> dict[str, Callable]:
    """Optimizers by a name that shows their arguments."""
    return {
        "SGD": lambda p, lr: nn.SGD(p, lr),
        "SGD momentum=0.9": lambda p, lr: nn.SGD(p, lr, momentum=0.9),
        "SGD momentum=0.9, nesterov, weight_decay=0.01": lambda p, lr: nn.SGD(
            p, lr, momentum=0.9, nesterov=True, weight_decay=0.01
        ),
        "SGD momentum=0.9, dampening=0.5": lambda p, lr: nn.SGD(p, lr, momentum=0.9, dampening=0.5),
        "Momentum": lambda p, lr: nn.Momentum(p, lr, 0.9),
        "Momentum nesterov, weight_decay=0.01": lambda p, lr: nn.Momentum(
            p, lr, 0.9, weight_decay=0.01, use_nesterov=True
        ),
        "Momentum loss_scale=8": lambda p, lr: nn.Momentum(p, lr, 0.9, loss_scale=8.0),
        "Adam": lambda p, lr: nn.Adam(p, lr),
        "Adam weight_decay=0.01": lambda p, lr: nn.Adam(p, lr, weight_decay=0.01),
        "Adam use_nesterov": lambda p, lr: nn.Adam(p, lr, use_nesterov=True),
        "Adam use_amsgrad": lambda p, lr: nn.Adam(p, lr, use_amsgrad=True),
        "AdamWeightDecay weight_decay=0.01": lambda p, lr: nn.AdamWeightDecay(p, lr, weight_decay=0.01),
        "AdaMax": lambda p, lr: nn.AdaMax(p, lr),
        "Adagrad": lambda p, lr: nn.Adagrad(p, learning_rate=lr),
        "Adadelta": lambda p, lr: nn.Adadelta(p, lr),
        "RMSProp": lambda p, lr: nn.RMSProp(p, lr),
        "RMSProp centered, momentum=0.9": lambda p, lr: nn.RMSProp(p, lr, momentum=0.9, centered=True),
        "Rprop": lambda p, lr: nn.Rprop(p, lr),
        "ASGD": lambda p, lr: nn.ASGD(p, lr),
        "Lamb weight_decay=0.01": lambda p, lr: nn.Lamb(p, lr, weight_decay=0.01),
        "LARS(Momentum)": lambda p, lr: nn.LARS(nn.Momentum(p, lr, 0.9)),
        "FTRL": lambda p, lr: nn.FTRL(p, learning_rate=lr if isinstance(lr, float) else 0.1),
        "ProximalAdagrad": lambda p, lr: nn.ProximalAdagrad(p, learning_rate=lr),
        "LazyAdam": lambda p, lr: nn.LazyAdam(p, lr),
        "groups": lambda p, lr: nn.Momentum(
            [{"params": [p[0]], "lr": 0.05, "weight_decay": 0.1}, {"params": [p[1]]}], lr, 0.9
        ),
    }


def optimizer_steps() -> dict[str, Any]:
    """Parameters of Tiny after each of three steps with the gradients named below."""
    gradients = [
        (Tensor([[0.1, -0.2], [0.3, 0.5]], ms.float32), Tensor([0.4, -0.1], ms.float32)),
        (Tensor([[-0.3, 0.1], [0.2, 0.0]], ms.float32), Tensor([-0.2, 0.6], ms.float32)),
        (Tensor([[0.05, 0.4], [-0.6, 0.2]], ms.float32), Tensor([0.1, 0.1], ms.float32)),
    ]
    record: dict[str, Any] = {"gradients": spec(gradients)}

    def steps(make: Callable, rate: Any) -> list:
        """Weight and bias after each step."""
        net = Tiny()
        optimizer = make(net.trainable_params(), rate)
        result = []
        for pair in gradients:
            optimizer(pair)
            result.append(spec([net.weight.value(), net.bias.value()]))
        return result

    for rate_name, rate in (("0.1", 0.1), ("[0.1, 0.05, 0.02]", [0.1, 0.05, 0.02])):
        for name, make in optimizer_makers().items():
            record[f"{name}, lr={rate_name}"] = attempt(lambda make=make, rate=rate: steps(make, rate))
    return record


def schedules() -> dict[str, Any]:
    """Learning rates by step, as lists and as cells."""
    lists = {
        "cosine_decay_lr(0.01, 0.1, 6, 2, 3)": lambda: nn.cosine_decay_lr(0.01, 0.1, 6, 2, 3),
        "exponential_decay_lr(0.1, 0.9, 6, 2, 1)": lambda: nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1),
        "exponential_decay_lr(0.1, 0.9, 6, 2, 1, True)": lambda: nn.exponential_decay_lr(
            0.1, 0.9, 6, 2, 1, True
        ),
        "inverse_decay_lr(0.1, 0.5, 6, 1, 1, True)": lambda: nn.inverse_decay_lr(0.1, 0.5, 6, 1, 1, True),
        "natural_exp_decay_lr(0.1, 0.9, 6, 2, 2)": lambda: nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2),
        "piecewise_constant_lr([2, 5], [0.1, 0.05])": lambda: nn.piecewise_constant_lr([2, 5], [0.1, 0.05]),
        "polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5)": lambda: nn.polynomial_decay_lr(
            0.1, 0.01, 6, 2, 2, 0.5
        ),
        "warmup_lr(0.1, 12, 2, 3)": lambda: nn.warmup_lr(0.1, 12, 2, 3),
    }
    cells = {
        "CosineDecayLR(0.01, 0.1, 4)": lambda: nn.CosineDecayLR(0.01, 0.1, 4),
        "ExponentialDecayLR(0.1, 0.9, 4)": lambda: nn.ExponentialDecayLR(0.1, 0.9, 4),
        "ExponentialDecayLR(0.1, 0.9, 4, True)": lambda: nn.ExponentialDecayLR(0.1, 0.9, 4, True),
        "InverseDecayLR(0.1, 0.9, 4)": lambda: nn.InverseDecayLR(0.1, 0.9, 4),
        "NaturalExpDecayLR(0.1, 0.9, 4, True)": lambda: nn.NaturalExpDecayLR(0.1, 0.9, 4, True),
        "PolynomialDecayLR(0.1, 0.01, 4, 0.5)": lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5),
        "WarmUpLR(0.2, 2)": lambda: nn.WarmUpLR(0.2, 2),
    }

    def steps(make: Callable[[], Any]) -> list[float]:
        """The rates of the first six steps."""
        cell = make()
        return [float(cell(Tensor(step, ms.int32)).asnumpy()) for step in range(6)]

    record = {name: attempt(make) for name, make in lists.items()}
    return record | {name: attempt(lambda make=make: steps(make)) for name, make in cells.items()}


def metrics() -> dict[str, Any]:
    """Results of metrics on the inputs named below."""
    logits = Tensor([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3]], ms.float32)
    labels = Tensor([1, 0, 1, 1], ms.int32)
    other = Tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], ms.float32)
    record: dict[str, Any] = {"logits": spec(logits), "labels": spec(labels), "other": spec(other)}
    cases = {
        "Accuracy()": (lambda: train.Accuracy(), (logits, labels)),
        "Accuracy() one-hot": (lambda: train.Accuracy(), (logits, other)),
        "Top1CategoricalAccuracy()": (lambda: train.Top1CategoricalAccuracy(), (logits, labels)),
        "TopKCategoricalAccuracy(2)": (lambda: train.TopKCategoricalAccuracy(2), (logits, labels)),
        "Precision()": (lambda: train.Precision(), (logits, labels)),
        "Precision('classification') average": (lambda: train.Precision("classification"), (logits, labels)),
        "Recall()": (lambda: train.Recall(), (logits, labels)),
        "F1()": (lambda: train.F1(), (logits, labels)),
        "Fbeta(2)": (lambda: train.Fbeta(2), (logits, labels)),
        "MAE()": (lambda: train.MAE(), (logits, other)),
        "MSE()": (lambda: train.MSE(), (logits, other)),
        "Loss()": (lambda: train.Loss(), (Tensor(0.5, ms.float32),)),
        "ConfusionMatrix(3)": (lambda: train.ConfusionMatrix(3), (logits, labels)),
        "CosineSimilarity()": (lambda: train.CosineSimilarity(), (logits.asnumpy(),)),
        "Dice()": (lambda: train.Dice(), (other, other)),
        "Perplexity()": (lambda: train.Perplexity(), (logits, labels)),
    }

    def updated_twice(make: Callable[[], Any], arguments: tuple) -> Any:
        """The metric's result."""
        metric = make()
        metric.clear()
        for _ in range(2):
            metric.update(*arguments)
        return metric.eval()

    for name, (make, arguments) in cases.items():
        record[name + " after two updates"] = attempt(lambda m=make, a=arguments: updated_twice(m, a))
    record["names"] = sorted(train.names())
    return record


def printing() -> dict[str, Any]:
    """str and repr of tensors, parameters, dtypes and cells."""
    values = {
        "Tensor(1.5)": lambda: Tensor(1.5),
        "Tensor([1.0, 2.5, -3.25])": lambda: Tensor([1.0, 2.5, -3.25]),
        "Tensor([1, 2])": lambda: Tensor([1, 2]),
        "Tensor([True, False])": lambda: Tensor([True, False]),
        "Tensor float16": lambda: Tensor([0.1, 2.0], ms.float16),
        "Tensor bfloat16": lambda: Tensor([0.1, 2.0], ms.bfloat16),
        "Tensor float64": lambda: Tensor([0.1, 1e-10], ms.float64),
        "Tensor int8": lambda: Tensor([[1], [-100]], ms.int8),
        "Tensor nan": lambda: Tensor([float("nan"), float("inf"), 1.0]),
        "Tensor tenths": lambda: Tensor([0.1, 0.2, 1 / 3], ms.float32),
        "Tensor wide range": lambda: Tensor([1e-8, 1.0, 1e8], ms.float32),
        "Tensor empty": lambda: Tensor(np.zeros((0, 2), np.float32)),
        "Tensor (2, 3)": lambda: Tensor(np.arange(6).reshape(2, 3).astype(np.float32)),
        "Tensor (2, 1, 2)": lambda: Tensor(np.arange(4).reshape(2, 1, 2).astype(np.float32)),
        "Tensor (1200,)": lambda: Tensor(np.arange(1200).astype(np.float32)),
        "Tensor (40, 30)": lambda: Tensor(np.arange(1200).reshape(40, 30).astype(np.int32)),
        "Parameter": lambda: Parameter(Tensor([1.0, 2.0], ms.float32), name="weight"),
        "Parameter frozen": lambda: Parameter(Tensor([1], ms.int32), name="w", requires_grad=False),
        "dtype float32": lambda: ms.float32,
        "dtype int64": lambda: ms.int64,
        "dtype bool_": lambda: ms.bool_,
        "dtype bfloat16": lambda: ms.bfloat16,
        "Dense": lambda: nn.Dense(3, 4),
        "Dense with activation": lambda: nn.Dense(3, 4, has_bias=False, activation="relu"),
        "Conv2d": lambda: nn.Conv2d(1, 6, 5),
        "BatchNorm2d": lambda: nn.BatchNorm2d(4),
        "LayerNorm": lambda: nn.LayerNorm((4,)),
        "ReLU": lambda: nn.ReLU(),
        "MaxPool2d": lambda: nn.MaxPool2d(2, 2),
        "AvgPool2d": lambda: nn.AvgPool2d(2),
        "Dropout": lambda: nn.Dropout(p=0.2),
        "Embedding": lambda: nn.Embedding(4, 2),
        "Flatten": lambda: nn.Flatten(),
        "Softmax": lambda: nn.Softmax(),
        "LSTM": lambda: nn.LSTM(2, 3),
        "SequentialCell": lambda: nn.SequentialCell(nn.Dense(2, 3), nn.ReLU()),
        "CellList": lambda: nn.CellList([nn.Dense(2, 3), nn.ReLU()]),
        "CellList empty": lambda: nn.CellList(),
        "LeNet5": lambda: LeNet5(),
        "Nested": lambda: Nested(),
        "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(),
        "Momentum": lambda: nn.Momentum(Tiny().trainable_params(), 0.1, 0.9),
        "ParameterTuple": lambda: ms.ParameterTuple(Tiny().trainable_params()),
    }

    def both(make: Callable[[], Any]) -> dict[str, str]:
        """Its str and repr, without addresses."""
        value = make()
        return {"str": unplaced(str(value)), "repr": unplaced(repr(value))}

    return {name: attempt(lambda make=make: both(make)) for name, make in values.items()}


def tiny_dataset(batches: int) -> ds.Dataset:
    """Batches of two rows for Tiny."""
    inputs = np.arange(4 * batches, dtype=np.float32).reshape(-1, 2) / 10
    return ds.NumpySlicesDataset({"data": inputs, "label": inputs[:, ::-1].copy()}, shuffle=False).batch(2)


def model() -> Model:
    """A model of Tiny with SGD."""
    net = Tiny()
    measures = {"mse": train.MSE(), "mae": train.MAE(), "loss": train.Loss()}
    return Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics=measures)


def training() -> dict[str, Any]:
    """What Model.train, eval and predict print, return and leave in their callbacks' run context."""
    seen: list[Any] = []

    class Probe(train.Callback):
        """Writes down what it is called with."""

        def on_train_step_end(self, run_context: Any) -> None:
            """After each step."""
            state = run_context.original_args()
            seen.append(
                [
                    state.cur_epoch_num,
                    state.cur_step_num,
                    state.batch_num,
                    state.epoch_num,
                    type(state.net_outputs).__name__,
                    spec(state.net_outputs),
                ]
            )

    def run(action: Callable[[], Any]) -> dict[str, Any]:
        """The printed lines and the result of an action."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            result = action()
        return {"printed": masked(text.getvalue()), "result": spec(result)}

    record: dict[str, Any] = {}
    fitted = model()
    callbacks = [train.LossMonitor(), train.TimeMonitor(), Probe()]
    record["train, LossMonitor, TimeMonitor"] = run(
        lambda: fitted.train(2, tiny_dataset(3), callbacks, dataset_sink_mode=False)
    )
    record["steps: epoch, step, batches, epochs, class of net_outputs, net_outputs"] = list(seen)
    record["eval"] = run(lambda: fitted.eval(tiny_dataset(2), dataset_sink_mode=False))
    record["predict"] = run(lambda: fitted.predict(Tensor([[1.0, 2.0]], ms.float32)))
    for every in (2, 4):
        record[f"LossMonitor({every})"] = run(
            lambda every=every: model().train(
                2, tiny_dataset(3), train.LossMonitor(every), dataset_sink_mode=False
            )
        )
    record["TimeMonitor(2)"] = run(
        lambda: model().train(1, tiny_dataset(3), train.TimeMonitor(2), dataset_sink_mode=False)
    )
    record["fit"] = run(
        lambda: model().fit(
            2, tiny_dataset(2), tiny_dataset(1), callbacks=train.LossMonitor(), dataset_sink_mode=False
        )
    )
    signatures = {
        "Model": Model,
        "Model.train": Model.train,
        "Model.eval": Model.eval,
        "Model.predict": Model.predict,
        "LossMonitor": train.LossMonitor,
        "TimeMonitor": train.TimeMonitor,
        "CheckpointConfig": train.CheckpointConfig,
        "ModelCheckpoint": train.ModelCheckpoint,
    }
    record["signatures"] = {name: str(inspect.signature(thing)) for name, thing in signatures.items()}
    return record


def checkpoints() -> dict[str, Any]:
    """Files that ModelCheckpoint leaves, and what saving and loading return."""
    record: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        config = train.CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=2)
        model().train(
            2, tiny_dataset(3), train.ModelCheckpoint("tiny", folder, config), dataset_sink_mode=False
        )
        record["ModelCheckpoint files, every 2 of 6 steps, at most 2"] = sorted(os.listdir(folder))
        model().train(1, tiny_dataset(3), train.ModelCheckpoint("tiny", folder), dataset_sink_mode=False)
        record["ModelCheckpoint files, default after it"] = sorted(os.listdir(folder))
        saved = os.path.join(folder, "saved.ckpt")
        record["save_checkpoint"] = spec(ms.save_checkpoint(Tiny(), saved))
        loaded = ms.load_checkpoint(saved)
        record["load_checkpoint"] = {
            name: [type(p).__name__, p.name, spec(p.value())] for name, p in loaded.items()
        }
        record["load_param_into_net"] = spec(ms.load_param_into_net(Tiny(), loaded))
        del loaded["bias"]
        loaded["strange"] = Parameter(Tensor([1.0]), name="strange")
        record["load_param_into_net, bias missing, one too many"] = spec(
            ms.load_param_into_net(Tiny(), loaded)
        )
    return record


def seeds() -> dict[str, Any]:
    """Random values after set_seed: drawn twice, then again after the same seed."""
    draws = {
        "ops.rand(3)": lambda: ops.rand(3),
        "ops.randn(3)": lambda: ops.randn(3),
        "ops.randint(0, 100, (3,))": lambda: ops.randint(0, 100, (3,)),
        "ops.randperm(5)": lambda: ops.randperm(5),
        "ops.standard_normal((3,))": lambda: ops.standard_normal((3,)),
        "ops.uniform((3,), 0, 1)": lambda: ops.uniform((3,), Tensor(0.0), Tensor(1.0)),
        "ops.normal((3,), 0, 1)": lambda: ops.normal((3,), 0.0, 1.0),
        "ops.uniform seed=5": lambda: ops.uniform((3,), Tensor(0.0), Tensor(1.0), seed=5),
        "ops.dropout(ones 8, 0.5)": lambda: ops.dropout(ops.ones(8), 0.5),
        "nn.Dropout(0.5)(ones 8)": lambda: nn.Dropout(p=0.5).set_train()(ops.ones(8)),
        "ops.multinomial": lambda: ops.multinomial(Tensor([0.1, 0.2, 0.7]), 5),
        "np.random.rand(2)": lambda: np.random.rand(2),
        "nn.Dense(2, 2).weight": lambda: nn.Dense(2, 2).weight.value(),
        "nn.Conv2d(1, 1, 2).weight": lambda: nn.Conv2d(1, 1, 2).weight.value(),
    }

    def drawn(draw: Callable[[], Any]) -> dict[str, Any]:
        """Two draws, and whether the seed brings them back."""
        passes = []
        for _ in range(2):
            ms.set_seed(42)
            passes.append([spec(draw()), spec(draw())])
        return {"first two": passes[0], "again the same": passes[0] == passes[1]}

    record: dict[str, Any] = {name: attempt(lambda draw=draw: drawn(draw)) for name, draw in draws.items()}
    record["get_seed default, after set_seed(42)"] = [None, ms.get_seed()]
    return record


def fill(net: nn.Cell) -> nn.Cell:
    """Parameter number i gets sin(0.1 + 0.7 k + i) / 2 at place k."""
    for number, parameter in enumerate(net.get_parameters()):
        places = np.arange(parameter.size, dtype=np.float64)
        values = np.sin(0.1 + 0.7 * places + number) / 2
        parameter.set_data(Tensor(values.reshape(parameter.shape).astype(np.float32)))
    return net


def cells() -> dict[str, Any]:
    """Recurrent layers and attention with parameters that the formula of `fill` gives."""

    def run(make: Callable[[], nn.Cell], *inputs: Any) -> dict[str, Any]:
        """Parameter names and result of a filled cell."""
        net = fill(make())
        return {"parameters": [p.name for p in net.get_parameters()], "result": net(*inputs)}

    x = Tensor(np.cos(np.arange(12)).reshape(3, 2, 2).astype(np.float32))
    record: dict[str, Any] = {"x": spec(x)}
    layers = {
        "LSTM(2, 3)": lambda: nn.LSTM(2, 3),
        "LSTM(2, 3, 2)": lambda: nn.LSTM(2, 3, 2),
        "LSTM(2, 3, bidirectional)": lambda: nn.LSTM(2, 3, bidirectional=True),
        "LSTM(2, 3, batch_first)": lambda: nn.LSTM(2, 3, batch_first=True),
        "GRU(2, 3)": lambda: nn.GRU(2, 3),
        "RNN(2, 3)": lambda: nn.RNN(2, 3),
        "RNN(2, 3, relu)": lambda: nn.RNN(2, 3, nonlinearity="relu"),
    }
    for name, make in layers.items():
        record[name] = attempt(lambda make=make: run(make, x))
    state, y = ops.ones((2, 3)), x.reshape(1, 3, 4)
    record["LSTMCell(2, 3)"] = attempt(lambda: run(lambda: nn.LSTMCell(2, 3), x[0], (state, state)))
    record["GRUCell(2, 3)"] = attempt(lambda: run(lambda: nn.GRUCell(2, 3), x[0], state))
    record["RNNCell(2, 3)"] = attempt(lambda: run(lambda: nn.RNNCell(2, 3), x[0], state))
    record["MultiheadAttention(4, 2)"] = attempt(
        lambda: run(lambda: nn.MultiheadAttention(4, 2, batch_first=True), y, y, y)
    )
    record["TransformerEncoderLayer(4, 2, 8, 0.0)"] = attempt(
        lambda: run(lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), y)
    )
    return record


def lenet() -> dict[str, Any]:
    """Three Momentum steps of LeNet5 with parameters that the formula of `fill` gives."""
    record: dict[str, Any] = {}
    net = fill(LeNet5())
    images_, labels = (
        Tensor(np.sin(np.arange(2 * 1024)).reshape(2, 1, 32, 32).astype(np.float32)),
        Tensor([3, 7], ms.int32),
    )
    loss = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.001, 0.9)
    step = ms.value_and_grad(lambda a, b: loss(net(a), b), None, optimizer.parameters)
    record["LeNet5 logits"] = spec(net(images_))
    losses = []
    for _ in range(3):
        value, gradients = step(images_, labels)
        losses.append(float(value.asnumpy()))
        optimizer(gradients)
    record["LeNet5 losses"] = losses
    record["LeNet5 fc3.bias after"] = spec(net.fc3.bias.value())
    return record


SECTIONS = {
    section.__name__: section
    for section in (
        initializers,
        parameter_names,
        optimizer_steps,
        schedules,
        metrics,
        printing,
        training,
        fitting,
        numpy_creation,
        checkpoints,
        vision_transforms,
        pipelines,
        seeds,
        cells,
        lenet,
        *IMAGE_SECTIONS,
    )
}


def main() -> None:
    """Records all sections, or those that are named."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.runtime.launch_blocking()
    chosen = sys.argv[2:] or ["images", "resized", *SECTIONS]
    kept = json.loads(OUTPUT.read_text()) if sys.argv[2:] else {}
    record: dict[str, Any] = {}
    for name in ("images", "resized", *SECTIONS):
        if name not in chosen:
            record[name] = kept[name]
        elif name == "images":
            record[name] = images(pathlib.Path(sys.argv[1]).resolve())
        elif name == "resized":
            pairs = record["images"]["first two"]
            record[name] = resized(*(np.frombuffer(bytes.fromhex(r[2]), r[0]).reshape(r[1]) for r in pairs))
        else:
            record[name] = SECTIONS[name]()
    abouts = {**SECTIONS, "images": images, "resized": resized}
    parts = [f'"mindspore": {json.dumps(ms.__version__)}']
    for name, section in record.items():
        rows = {"about": ""} | section | {"about": inspect.getdoc(abouts[name])}
        body = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())
        parts.append(f"{json.dumps(name)}: {{\n{body}\n}}")
    OUTPUT.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{OUTPUT.name}: mindspore {ms.__version__}, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
