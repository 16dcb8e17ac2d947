"""The section of record_facts.py about Model.fit, its run context and its callbacks; run that one."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

import mindspore.dataset as ds
import numpy as np
from facts_data import attempt
from mindspore import Model, Parameter, Tensor, nn, ops, train

import mindspore as ms

EVENTS = [
    f"{kind}_{event}"
    for kind in ("on_train", "on_eval")
    for event in ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
]
NAMES = (
    "batch_num cur_epoch_num cur_step_num dataset_sink_mode device_number epoch_num eval_dataset_element "
    "eval_network eval_results initial_step last_save_ckpt_step latest_ckpt_file list_callback loss_fn "
    "loss_scale_mananger metrics mode net_outputs network optimizer parallel_mode train_dataset "
    "train_dataset_element train_network valid_dataset"
).split()


class Line(nn.Cell):
    """One weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(Tensor([[0.5], [-0.25]], ms.float32), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        """A product."""
        return ops.matmul(x, self.weight)


def batches(count: int) -> Any:
    """Batches of two rows for Line."""
    data = np.arange(4 * count, dtype=np.float32).reshape(-1, 2) / 8
    label = data.sum(1, keepdims=True)
    return ds.NumpySlicesDataset({"data": data, "label": label}, shuffle=False).batch(2)


def line_model(rate: float = 0.125, metrics: Any = None) -> Model:
    """A model of Line with SGD."""
    net = Line()
    measures = {"mae": train.MAE(), "mse": train.MSE()} if metrics is None else metrics
    return Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), rate), metrics=measures)


def fitted(callbacks: Any, epochs: int = 3, rate: float = 0.125, **more: Any) -> list[str]:
    """What fit prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        line_model(rate).fit(
            epochs, batches(2), batches(1), callbacks=callbacks, dataset_sink_mode=False, **more
        )
    return text.getvalue().splitlines()


def kind_of(value: Any) -> Any:
    """A plain value, or the class of another one."""
    return value if isinstance(value, (int, str, bool)) or value is None else type(value).__name__


def heard(run: Callable[[Any], Any]) -> list[Any]:
    """Each event that a callback of the user's hears, and the run context then."""
    found: list[Any] = []

    class Probe(train.Callback):
        """Writes down what it is called with."""

    for event in EVENTS:

        def note(_self: Any, run_context: Any, event: str = event) -> None:
            state = run_context.original_args()
            names = [name for name in NAMES if name in state]
            plain = "cur_epoch_num cur_step_num batch_num epoch_num mode dataset_sink_mode".split()
            values = [kind_of(state[name]) if name in state else "missing" for name in plain]
            found.append([event, names, values, kind_of(state.get("net_outputs"))])

        setattr(Probe, event, note)
    run(Probe())
    return found


def saved_best() -> Any:
    """The usual callback that keeps the best weights as they are at on_eval_end."""
    kept: list[Any] = []

    class Best(train.Callback):
        """Keeps weights when the mean absolute error falls."""

        best = 1e9

        def on_eval_end(self, run_context: Any) -> None:
            """After each evaluation."""
            state = run_context.original_args()
            if state.metrics["mae"] < self.best:
                self.best = state.metrics["mae"]
                weights = [
                    p.asnumpy().copy() for p in state.train_network.trainable_params() if p.name == "weight"
                ]
                kept.append([state.cur_epoch_num, float(self.best), weights])

    fitted(Best())
    return kept


def history(use: str) -> Any:
    """What History keeps, and the classes of its values."""
    keeper = train.History()
    if use == "fit":
        fitted(keeper)
    elif use == "fit every second":
        fitted(keeper, 4, valid_frequency=2)
    elif use == "train":
        line_model().train(2, batches(2), keeper, dataset_sink_mode=False)
    else:
        line_model().eval(batches(2), keeper, dataset_sink_mode=False)
    last = {
        key: "float" if isinstance(values[-1], float) else type(values[-1]).__name__
        for key, values in keeper.history.items()
    }
    if use == "eval":
        last.pop("net_output")
        return [keeper.epoch, sorted(keeper.history), last]
    return [keeper.epoch, keeper.history, last]


def fitting() -> dict[str, Any]:
    """Model.fit: the run context at each event, what History keeps and what watchers print."""

    def fit(callback: Any) -> None:
        fitted(callback, 2)

    record: dict[str, Any] = {
        "events of fit": attempt(lambda: heard(fit)),
        "events of eval": attempt(
            lambda: [
                [event, values[1:3], values[4:]]
                for event, _, values, _ in heard(lambda c: line_model().eval(batches(1), c))
            ]
        ),
        "best weights in on_eval_end": attempt(saved_best),
    }
    for use in ("fit", "fit every second", "train", "eval"):
        record[f"History, {use}"] = attempt(lambda use=use: history(use))
    watchers: dict[str, Callable[[], Any]] = {
        "EarlyStopping(patience=2)": lambda: train.EarlyStopping("mae", patience=2, verbose=True),
        "EarlyStopping(patience=1, restore)": lambda: train.EarlyStopping(
            "eval_loss", patience=1, verbose=True, restore_best_weights=True
        ),
        "EarlyStopping(patience=1) quiet": lambda: train.EarlyStopping("loss", patience=1),
        "ReduceLROnPlateau(0.5)": lambda: train.ReduceLROnPlateau(
            "mse", 0.5, patience=1, verbose=True, min_delta=1e9
        ),
        "ReduceLROnPlateau(0.3, min_lr=0.02)": lambda: train.ReduceLROnPlateau(
            "eval_loss", 0.3, patience=1, verbose=True, min_delta=1e9, min_lr=0.02
        ),
    }
    for name, make in watchers.items():
        rate = 0.0 if name.startswith("Early") else 0.125
        record[name] = attempt(lambda make=make, rate=rate: fitted(make(), 5, rate))
    return record
