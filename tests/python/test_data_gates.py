"""sync_wait, sync_update and disable_sync. What passes is what MindSpore 2.7 passes, but where it says so."""

import threading
import time

import numpy as np
import pytest
import sorus.dataset as ds


@pytest.fixture(autouse=True)
def settings():
    """Each test begins with the settings of a new process."""
    yield
    ds.config.set_callback_timeout(60)
    ds.config.set_opens_late_gates(False)


class Steered:
    """Adds what training tells it."""

    def __init__(self):
        self.amount = 0
        self.updates = []

    def update(self, data):
        self.amount = data
        self.updates.append(data)

    def __call__(self, x):
        return x + self.amount


def numbers(count=12):
    return ds.GeneratorDataset([np.array(i) for i in range(count)], ["x"], shuffle=False)


def gated(steered, num_batch=1):
    return numbers().sync_wait("p", num_batch, steered.update).map(steered, "x").batch(2)


def test_each_update_is_seen_by_the_next_batch():
    steered, seen = Steered(), []
    data = gated(steered)
    for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        seen.append(row["x"].tolist())
        data.sync_update("p", data=100 * len(seen))
    assert seen == [[0, 1], [102, 103], [204, 205], [306, 307], [408, 409], [510, 511]]  # as MindSpore gave
    assert steered.updates == [100, 200, 300, 400, 500, 600]


def test_several_batches_pass_for_an_update():
    steered, seen = Steered(), []
    data = gated(steered, num_batch=2)
    for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        seen.append(row["x"].tolist())
        if len(seen) % 2 == 0:
            data.sync_update(condition_name="p", data=100 * len(seen))
    assert seen == [[0, 1], [2, 3], [204, 205], [206, 207], [408, 409], [410, 411]]  # as MindSpore gave


def test_a_number_of_batches_may_be_said_with_the_update():
    steered, seen = Steered(), []
    data = gated(steered)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    seen.append(next(iterator)[0].tolist())
    data.sync_update("p", num_batch=5, data=100)
    seen += [x.tolist() for (x,) in iterator]
    assert seen == [[0, 1], [102, 103], [104, 105], [106, 107], [108, 109], [110, 111]]


def test_another_thread_may_update():
    data = numbers(4).sync_wait("p")
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    timer = threading.Timer(0.2, lambda: data.sync_update("p", 3))
    timer.start()
    assert [x.tolist() for (x,) in iterator] == [0, 1, 2, 3]
    timer.join()


def test_a_missing_call_is_named():
    ds.config.set_callback_timeout(1)
    data = numbers().sync_wait("policy")
    iterator = data.create_tuple_iterator(num_epochs=1)
    next(iterator)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"'policy' did not open: got no sync_update\('policy'\)"):
        next(iterator)
    assert time.monotonic() - start < 5


def test_a_slow_step_of_training_is_no_missing_call():
    ds.config.set_callback_timeout(1)
    data = numbers(2).sync_wait("p")
    iterator = data.create_tuple_iterator(num_epochs=1)
    next(iterator)
    time.sleep(1.5)
    data.sync_update("p")
    next(iterator)


def test_a_late_gate_may_open_instead():
    ds.config.set_callback_timeout(1)
    ds.config.set_opens_late_gates(True)
    assert len(list(numbers(5).sync_wait("p").create_tuple_iterator(num_epochs=1))) == 5


def test_an_error_in_the_callback_is_raised_by_the_update():
    def fail(data):
        raise LookupError("no such policy")

    data = numbers().sync_wait("p", callback=fail)
    iterator = data.create_tuple_iterator(num_epochs=1)
    next(iterator)
    with pytest.raises(LookupError, match="no such policy"):
        data.sync_update("p")
    data.disable_sync()
    assert len(list(iterator)) == 11


def test_what_mindspore_refuses_is_refused():
    data = numbers()
    gate = data.sync_wait("p")
    for kind, call in [
        (RuntimeError, lambda: gate.shuffle(3)),
        (RuntimeError, lambda: gate.batch(2).split([3, 3])),
        (RuntimeError, lambda: gate.sync_wait("p")),
        (RuntimeError, lambda: gate.batch(2).sync_wait("p")),
        (RuntimeError, lambda: gate.sync_update("q")),
        (RuntimeError, lambda: data.sync_update("p")),
        (ValueError, lambda: data.sync_wait("p", 0)),
        (ValueError, lambda: data.sync_wait("p", -1)),
        (TypeError, lambda: data.sync_wait("p", "1")),
        (TypeError, lambda: data.sync_wait(1)),
        (TypeError, lambda: data.sync_wait("p", 1, 5)),  # MindSpore fails at the update
        (RuntimeError, lambda: gate.sync_update("p", 0)),
        (RuntimeError, lambda: gate.sync_update("p", "s")),
        (TypeError, lambda: gate.sync_update(3)),
    ]:
        with pytest.raises(kind):
            call()
    assert gate.batch(2).is_sync() and not data.is_sync()
    assert gate.repeat(2).get_dataset_size() == 24 and gate.batch(5).get_dataset_size() == 3
    assert gate.output_shapes() == [[]]
    gate.sync_wait("q").sync_update("p")
