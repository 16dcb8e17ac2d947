"""Python functions of pipelines in processes of their own."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import sorus.dataset as ds


@pytest.fixture(autouse=True)
def settings():
    """Each test begins with forks, and leaves no process."""
    yield
    ds.config.set_multiprocessing_start_method("fork")
    ds.config.set_debug_mode(False)
    assert children_of(os.getpid()) == []


def children_of(pid):
    """Processes that run and have this parent; not those of the standard library's own tracker."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = status.read_text()
            line = (status.parent / "cmdline").read_text()
        except OSError:
            continue
        state, parent = text.rpartition(")")[2].split()[:2]
        if int(parent) == pid and state != "Z" and "resource_tracker" not in line:
            found.append(int(status.parent.name))
    return found


def wait_for(what, seconds=5):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def numbers(count=40, **options):
    return ds.NumpySlicesDataset(list(range(count)), "x", shuffle=False, **options)


def rows_of(dataset):
    iterator = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    out = [[np.asarray(value).tolist() for value in row] for row in iterator]
    iterator.stop()
    return out


def slow_square(x):
    time.sleep(float(x % 3) * 0.002)
    return x * x


def two(x):
    return x, np.full((int(x) % 4 + 1,), "é" * (int(x) % 3), dtype=str)


def large(x):
    return np.full((300, 1000), x, np.float32)


def where(x):
    return np.array(os.getpid())


def map_in(processes, function=slow_square, **options):
    return numbers().map(function, "x", python_multiprocessing=processes, num_parallel_workers=2, **options)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_rows_are_those_without_processes(method):
    ds.config.set_multiprocessing_start_method(method)
    assert rows_of(map_in(True).batch(7)) == rows_of(map_in(False).batch(7))
    assert rows_of(map_in(True)) == rows_of(map_in(False))


def test_columns_of_any_kind_travel():
    def make(processes):
        return map_in(processes, two, output_columns=["x", "y"]).map(
            [slow_square], "x", python_multiprocessing=processes
        )

    assert rows_of(make(True)) == rows_of(make(False))
    assert rows_of(map_in(True, large).take(6)) == rows_of(map_in(False, large).take(6))


def test_functions_run_in_other_processes():
    pids = {pid for (pid,) in rows_of(map_in(True, where))}
    assert os.getpid() not in pids and 1 <= len(pids) <= min(2, len(os.sched_getaffinity(0)))
    assert {pid for (pid,) in rows_of(map_in(False, where))} == {os.getpid()}
    ds.config.set_debug_mode(True)
    assert {pid for (pid,) in rows_of(map_in(True, where))} == {os.getpid()}


def test_batches_in_processes_are_those_without():
    def doubled(column, info):
        return ([x * 2 + info.get_batch_num() for x in column],)

    def make(processes):
        return numbers(23).batch(4, per_batch_map=doubled, python_multiprocessing=processes)

    assert rows_of(make(True)) == rows_of(make(False))


class Squares:
    """A source that is read in any order."""

    def __len__(self):
        return 30

    def __getitem__(self, i):
        return np.array(i * i), np.array(os.getpid())


def test_sources_are_read_in_processes():
    def make(workers):
        return ds.GeneratorDataset(Squares(), ["x", "pid"], num_parallel_workers=workers, shuffle=True)

    ds.config.set_seed(3)
    many, one = rows_of(make(2)), rows_of(make(1))
    ds.config.set_seed(5489)
    assert [row[0] for row in many] == [row[0] for row in one]
    assert os.getpid() not in {row[1] for row in many} and {row[1] for row in one} == {os.getpid()}


def test_epochs_follow_each_other():
    iterator = map_in(True).batch(8).create_tuple_iterator(num_epochs=3, output_numpy=True)
    epochs = [[x.tolist() for (x,) in iterator] for _ in range(3)]
    iterator.stop()
    assert epochs[0] == epochs[1] == epochs[2] and len(epochs[0]) == 5


def fails_at_17(x):
    if x == 17:
        raise LookupError("seventeen")
    return x


def test_an_error_comes_after_the_rows_before_it_with_the_traceback_of_the_child():
    iterator = map_in(True, fails_at_17).create_tuple_iterator(num_epochs=1, output_numpy=True)
    seen = []
    with pytest.raises(LookupError, match="seventeen") as caught:
        seen += [x.tolist() for (x,) in iterator]
        raise AssertionError("no error")
    iterator.stop()
    assert "in fails_at_17" in str(caught.value.__cause__)


def dies_at_17(x):
    if x == 17:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_child_that_dies_is_an_error_that_names_function_and_row():
    iterator = map_in(True, dies_at_17).create_tuple_iterator(num_epochs=1, output_numpy=True)
    with pytest.raises(RuntimeError, match="'dies_at_17' ran on row 17: got signal SIGKILL"):
        list(iterator)
    iterator.stop()


def test_what_cannot_travel_is_an_error():
    iterator = map_in(True, lambda x: {"f": lambda: x}).create_tuple_iterator(num_epochs=1)
    with pytest.raises(Exception, match="pickle"):
        next(iterator)
    iterator.stop()


def sleeps(x):
    if x > 2:
        time.sleep(60)
    return x


def test_stopping_does_not_wait_for_functions():
    iterator = map_in(True, sleeps).create_tuple_iterator(num_epochs=1)
    next(iterator)
    start = time.monotonic()
    iterator.stop()
    assert time.monotonic() - start < 1
    iterator = map_in(True, sleeps).create_tuple_iterator(num_epochs=1)
    next(iterator)
    start = time.monotonic()
    del iterator
    assert time.monotonic() - start < 1


PARENT = textwrap.dedent(
    """
    import sys, time
    import sorus.dataset as ds
    def f(x):
        time.sleep(60 if x > 2 else 0)
        return x
    ds.config.set_multiprocessing_start_method(sys.argv[1])
    if __name__ == "__main__":
        data = ds.NumpySlicesDataset(list(range(100)), "x", shuffle=False)
        data = data.map(f, "x", python_multiprocessing=True, num_parallel_workers=2)
        iterator = data.create_tuple_iterator(num_epochs=1)
        next(iterator)
        print("ready", flush=True)
        time.sleep(60)
    """
)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_leave_with_a_parent_that_is_killed(method, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, str(script), method], stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"ready\n"
        children = children_of(parent.pid)
        assert children
        parent.kill()
        parent.wait()
        wait_for(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() and alive(pid) for pid in children))


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_two_iterators_share_the_processes():
    data = map_in(True)
    first = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    second = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    together = [(a[0].tolist(), b[0].tolist()) for a, b in zip(first, second)]
    assert together == [(i * i, i * i) for i in range(40)]
    first.stop()
    second.stop()
