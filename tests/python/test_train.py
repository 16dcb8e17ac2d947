"""Training from Python: equal bits in all modes, callbacks, and the twin program in C++."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops, train

ROOT = pathlib.Path(__file__).resolve().parents[2]


class LeNet5(nn.Cell):
    """Two convolutions and three dense layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.conv2(x)))
        x = ops.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.dropout(ops.relu(self.fc2(x))))


class Batches:
    """Batches in memory; any iterable with a length serves Model."""

    def __init__(self, count, rows=8, seed=0):
        random = np.random.RandomState(seed)
        self.items = [
            (
                Tensor(random.randn(rows, 1, 32, 32).astype(np.float32)),
                Tensor(random.randint(0, 10, rows).astype(np.int32)),
            )
            for _ in range(count)
        ]

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)


def make_model(optimizer=None, **kwargs):
    """LeNet-5 with momentum and a falling rate."""
    ms.set_seed(3)
    net = LeNet5()
    rate = nn.PolynomialDecayLR(0.01, 0.001, 20, 1.0)
    optimizer = optimizer or (lambda p: nn.Momentum(p, rate, 0.9))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return net, train.Model(net, loss, optimizer(net.trainable_params()), **kwargs)


def trained(mode, make=None):
    """The hash of the weights after some steps."""
    ms.set_context(mode=mode)
    net, model = make_model(make)
    model.train(2, Batches(5))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return train.checksum(net)


@pytest.mark.parametrize(
    "make",
    [
        None,
        lambda p: nn.Adam(p, nn.exponential_decay_lr(0.01, 0.9, 10, 1, 1), weight_decay=0.01),
        lambda p: nn.RMSProp(p, 0.001, centered=True),
    ],
    ids=["Momentum", "Adam", "RMSProp"],
)
def test_modes_have_equal_bits(make):
    assert trained(ms.PYNATIVE_MODE, make) == trained(ms.GRAPH_MODE, make)


def test_training_goes_on_from_a_checkpoint_with_the_same_bits(tmp_path):
    def adam(parameters):
        return nn.Adam(parameters, nn.CosineDecayLR(0.001, 0.01, 8))

    def step(model, batch):
        return model.train_network(*batch)

    batches = Batches(4)
    whole, model = make_model(adam)
    whole.dropout.p = 0.0
    for batch in batches.items[:2]:
        step(model, batch)
    ms.save_checkpoint(model.train_network, str(tmp_path / "half.ckpt"))
    state = ms.load_checkpoint(str(tmp_path / "half.ckpt"))
    resumed, other = make_model(adam)
    assert ms.load_param_into_net(other.train_network, state) == ([], [])
    for m in (model, other):
        ms.set_seed(8)
        for batch in batches.items[2:]:
            step(m, batch)
    assert train.checksum(whole) == train.checksum(resumed)


def test_callbacks_hear_every_event_in_order():
    seen = []

    class Listener(train.Callback):
        """Writes down what it hears."""

    for kind in ("train", "eval"):
        for event in ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end"):
            name = f"on_{kind}_{event}"
            setattr(Listener, name, lambda self, context, name=name: seen.append(name))
    _, model = make_model(metrics={"accuracy"})
    model.fit(1, Batches(1), Batches(1), callbacks=Listener())
    expected = ["train_begin", "train_epoch_begin", "train_step_begin", "train_step_end"]
    expected += [
        "eval_begin",
        "eval_epoch_begin",
        "eval_step_begin",
        "eval_step_end",
        "eval_epoch_end",
        "eval_end",
    ]
    expected += ["train_epoch_end", "train_end"]
    assert [name[3:] for name in seen] == expected


def test_a_callback_can_stop_and_older_names_work():
    class Stop(train.Callback):
        """Ends after three steps."""

        steps = 0

        def step_end(self, run_context):
            self.steps += 1
            if run_context.original_args().cur_step_num == 3:
                run_context.request_stop()

    stop = Stop()
    _, model = make_model()
    model.train(4, Batches(2), [stop])
    assert stop.steps == 3


def test_the_rate_is_reduced_on_a_plateau_and_training_ends_early(capsys):
    _, model = make_model(lambda p: nn.SGD(p, 0.0), metrics={"loss"})
    stopping = train.EarlyStopping(patience=2, verbose=True)
    model.fit(9, Batches(1), Batches(1), callbacks=stopping)
    assert stopping.stopped_epoch == 3 and "early stopping" in capsys.readouterr().out
    _, model = make_model(lambda p: nn.SGD(p, 0.5), metrics={"loss"})
    reduce = train.ReduceLROnPlateau(factor=0.5, patience=1, min_delta=1e9)
    model.fit(4, Batches(1), Batches(1), callbacks=reduce)
    assert float(model._optimizer.learning_rate) == 0.0625


def test_a_signal_ends_training_with_a_checkpoint(tmp_path):
    _, model = make_model()
    ask = train.LambdaCallback(on_train_step_begin=lambda context: signal.raise_signal(signal.SIGUSR1))
    before = signal.getsignal(signal.SIGUSR1)
    leave = train.OnRequestExit(True, True, "net", str(tmp_path), signal.SIGUSR1)
    with pytest.warns(UserWarning, match="no MindIR"):
        model.train(3, Batches(2), [leave, ask])
    assert [p.name for p in tmp_path.iterdir()] == ["net-1_1_train.ckpt"]
    assert signal.getsignal(signal.SIGUSR1) is before


def test_old_places_of_loss_and_parallel_mode():
    assert nn.Loss is train.Loss and issubclass(nn.Loss, nn.Metric)
    assert train.ParallelMode is train.model.ParallelMode is ms.ParallelMode


def test_two_parameters_of_one_name_are_not_saved(tmp_path):
    first, second = (ms.Parameter(ms.Tensor([float(i)]), name="same") for i in range(2))
    with pytest.raises(ValueError, match="'same' again"):
        ms.ParameterTuple([first, second])
    assert len(ms.ParameterTuple([first, first])) == 2
    with pytest.raises(ValueError, match="'same' again"):
        ms.save_checkpoint([{"name": p.name, "data": p} for p in (first, second)], str(tmp_path / "a.ckpt"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("level", ["O2", "O3"])
def test_mixed_precision_learns_with_weights_in_float32(level):
    losses = []
    net, model = make_model(lambda p: nn.Momentum(p, 0.05, 0.9), amp_level=level)
    note = train.LambdaCallback(
        on_train_step_end=lambda context: losses.append(float(context.original_args().net_outputs))
    )
    model.train(8, Batches(1), note)
    assert losses[-1] < 0.9 * losses[0]
    assert net.fc1.weight.dtype == ms.float32
    assert model.predict(Batches(1).items[0][0]).dtype == ms.float16


def test_a_loss_that_is_not_finite_is_noticed():
    _, model = make_model(lambda p: nn.SGD(p, 1e30))
    with pytest.raises(ValueError, match="not finite"):
        model.train(3, Batches(3), train.LossMonitor(0))
    _, model = make_model(lambda p: nn.SGD(p, 1e30))
    steps = []
    counter = train.LambdaCallback(on_train_step_end=lambda context: steps.append(context))
    model.train(3, Batches(3), [train.TerminateOnNan(), counter])
    assert len(steps) < 9


def test_the_progress_bar_prints_a_line_an_epoch_where_nobody_waits(capsys):
    _, model = make_model()
    model.train(2, Batches(2), train.ProgressBar())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and re.fullmatch(r"epoch 1/2: loss \d+\.\d{4}, \d+\.\d s", lines[0])


def test_predict_and_eval_do_not_train():
    net, model = make_model(metrics={"accuracy", "loss"})
    net.set_train(True)
    before = train.checksum(net)
    x, y = Batches(1).items[0]
    assert (model.predict(x).asnumpy() == model.predict(x).asnumpy()).all()  # no dropout
    result = model.eval(Batches(2))
    assert set(result) == {"accuracy", "loss"} and 0 <= result["accuracy"] <= 1
    assert net.training and train.checksum(net) == before
    del y


def test_a_scaled_loss_gives_the_same_step():
    x, y = Batches(1).items[0]
    hashes = []
    for manager in (None, train.FixedLossScaleManager(1024.0, drop_overflow_update=True)):
        net, model = make_model(lambda p: nn.SGD(p, 0.5), loss_scale_manager=manager)
        model.train_network(x, y)
        hashes.append(net.fc3.bias.asnumpy())
    np.testing.assert_allclose(hashes[0], hashes[1], rtol=1e-5, atol=1e-7)


def test_a_step_that_overflows_changes_only_the_scale():
    net, model = make_model(
        lambda p: nn.SGD(p, 0.5), loss_scale_manager=train.DynamicLossScaleManager(2.0**127, 2, 10)
    )
    before = train.checksum(net)
    x, y = Batches(1).items[0]
    _, overflow, scale = model.train_network(x * 1e30, y)
    assert bool(overflow) and float(scale) == 2.0**127
    assert train.checksum(net) == before
    assert float(model.train_network.scale_sense) == 2.0**126


def test_mistakes_are_refused():
    net, model = make_model()
    with pytest.raises(ValueError):
        model.train(0, Batches(1))
    with pytest.raises(TypeError):
        model.train(1, 5)
    with pytest.raises(ValueError):
        model.eval(Batches(1))
    with pytest.raises(TypeError):
        model.train(1, Batches(1), callbacks=[print])
    with pytest.raises(ValueError):
        train.Model(net, metrics={"accuracy"})
    with pytest.raises(KeyError):
        train.get_metric_fn("nonsense")
    with pytest.raises(ValueError):
        train.CheckpointConfig(save_checkpoint_steps=-1)


def weights_printed(command, **environment):
    """The hash of the weights that a demo program prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return re.search(r"weights ([0-9a-f]{16})", done.stdout)[1]


def test_the_demo_has_equal_bits_in_python_and_cpp_and_for_one_thread():
    script = [sys.executable, str(ROOT / "examples/lenet/lenet.py"), "--epochs", "1", "--batch", "100"]
    python = weights_printed(script)
    assert weights_printed([*script, "--mode", "pynative"]) == python
    assert weights_printed(script, SORUS_NUM_THREADS="1") == python
    programs = [p for p in (ROOT / "build").rglob("examples/lenet") if p.is_file()]
    if not programs:
        pytest.skip("needs the program examples/lenet in build/")
    newest = max(programs, key=lambda p: p.stat().st_mtime)
    assert weights_printed([str(newest), "--epochs", "1", "--batch", "100"]) == python


def test_columns_that_do_not_fit_the_loss():
    model = train.Model(
        nn.Dense(2, 1), nn.MSELoss(), nn.SGD(nn.Dense(2, 1).trainable_params()), metrics={"loss"}
    )
    x = Tensor(np.ones((3, 2), np.float32))
    with pytest.raises(
        ValueError, match="train: number of columns does not fit: got 1 of the dataset, need data"
    ):
        model.train(1, [(x,)])
    with pytest.raises(
        ValueError, match="eval: number of columns does not fit: got 3 of the dataset, need data"
    ):
        model.eval([(x, x, x)])
