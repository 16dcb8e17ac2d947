"""state_dict and load_state_dict of iterators: runs that go on in a new process with the same bits."""

import json
import pathlib
import pickle
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sorus.dataset as ds
from sorus.dataset import vision

HERE = pathlib.Path(__file__).resolve().parent


def odd(x):
    return x % 3 != 0


def twice(x):
    return x * 2


class Counter:
    """A source that knows where it is, and goes on from epoch to epoch."""

    def __init__(self, rows=25):
        self.rows, self.at, self.epoch = rows, 0, 0

    def __iter__(self):
        while self.at < self.rows:
            self.at += 1
            yield (np.array(self.at - 1 + 1000 * self.epoch),)
        self.at = 0
        self.epoch += 1

    def state_dict(self):
        return {"at": self.at, "epoch": self.epoch}

    def load_state_dict(self, state):
        self.at, self.epoch = state["at"], state["epoch"]


class Shuffled:
    """A sampler of the program's."""

    seed: int | None = 3

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(np.random.default_rng(self.seed).permutation(self.rows).tolist())

    def __len__(self):
        return self.rows


def fifteen():
    for i in range(15):
        yield (np.array(i),)


def pipeline(seed):
    """A pipeline chosen by chance."""
    draw = random.Random(seed)
    rows = draw.randint(8, 40)
    data = draw.choice(
        [
            lambda: ds.NumpySlicesDataset(list(range(rows)), "x", shuffle=draw.random() < 0.5),
            lambda: ds.GeneratorDataset(list(range(rows)), ["x"], shuffle=draw.random() < 0.5),
            lambda: ds.GeneratorDataset(Counter(rows), ["x"]),
            lambda: ds.GeneratorDataset(fifteen, ["x"]),
            lambda: ds.GeneratorDataset(list(range(rows)), ["x"], sampler=Shuffled(rows)),
        ]
    )()
    for _ in range(draw.randint(1, 4)):
        data = draw.choice(
            [
                lambda d: d.shuffle(draw.randint(2, 12)),
                lambda d: d.filter(odd),
                lambda d: d.map(twice, "x"),
                lambda d: d.repeat(draw.randint(1, 3)),
                lambda d: d.skip(2).take(9),
                lambda d: d.concat(ds.NumpySlicesDataset([100, 101, 102], "x")),
                lambda d: ds.zip((d, ds.NumpySlicesDataset([7, 8, 9], "y"))).project("x"),
            ]
        )(data)
    return data if draw.random() < 0.3 else data.batch(draw.randint(1, 4), draw.random() < 0.5)


def images():
    """Random transforms of the engine and of Pillow."""
    pictures = np.random.RandomState(0).randint(0, 255, (24, 12, 12, 3)).astype(np.uint8)
    data = ds.NumpySlicesDataset((pictures, np.arange(24)), ["image", "x"], shuffle=True)
    data = data.map([vision.RandomCrop(8), vision.RandomHorizontalFlip()], "image")
    data = data.map([vision.ToPIL(), vision.RandomRotation(20), vision.ToNumpy()], "image")
    return data.shuffle(5).project(["x", "image"]).batch(3)


def rows_of(iterator):
    return [[np.asarray(value).tolist() for value in row] for row in iterator]


def start(data, epochs=2):
    return data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)


def made(what):
    return images() if what == "images" else pipeline(what)


CHILD = """
import json, sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
import sorus
import test_data_resume as t
for line in sys.stdin:
    what, state = json.loads(line)
    iterator = t.start(t.made(what))
    iterator.load_state_dict(state)
    out = [t.rows_of(iterator)]
    if state["epoch"] == 0:
        out.append(t.rows_of(iterator))
    print(json.dumps(out))
"""


def test_runs_go_on_in_a_new_process_with_other_workers():
    asked, expected = [], []
    for what in [*range(24), "images"]:
        ds.config.set_seed(what if what != "images" else 1)
        length = len(rows_of(start(made(what))))
        for stop in range(0, length + 1, 1 + length // 4):
            for epoch in (0, 1):
                iterator = start(made(what))
                if epoch == 1:
                    rows_of(iterator)
                for _ in range(stop):
                    next(iterator)
                asked.append(json.dumps([what, json.loads(json.dumps(iterator.state_dict()))]))
                rest = [rows_of(iterator)]
                if epoch == 0:
                    rest.append(rows_of(iterator))
                expected.append(rest)
    ds.config.set_seed(5489)
    run = subprocess.run(
        [sys.executable, "-c", CHILD, str(HERE)],
        input="\n".join(asked),
        capture_output=True,
        text=True,
        env={**__import__("os").environ, "SORUS_NUM_THREADS": "3"},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(expected)
    for question, answer, rest in zip(asked, answers, expected):
        for got, need in zip(answer, rest):
            assert got == need, question[:300]


def test_a_source_that_knows_its_state_is_asked():
    class Watched(Counter):
        given = 0

        def __iter__(self):
            for row in super().__iter__():
                Watched.given += 1
                yield row

    data = ds.GeneratorDataset(Watched(5000), ["x"]).batch(10)
    first = start(data, 1)
    for _ in range(400):
        next(first)
    state = pickle.loads(pickle.dumps(first.state_dict()))
    expected = rows_of(first)
    data = ds.GeneratorDataset(Watched(5000), ["x"]).batch(10)
    second = start(data, 1)
    Watched.given = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second.load_state_dict(state)
        assert rows_of(second) == expected
    assert Watched.given < 3000  # 1000 are left


@pytest.mark.parametrize("shuffle", [False, ds.Shuffle.FILES, ds.Shuffle.GLOBAL])
@pytest.mark.parametrize("shard", [{}, {"num_shards": 2, "shard_id": 1}])
def test_files_are_read_on(shuffle, shard, tmp_path):
    ds.config.set_seed(7)
    files = []
    for name, rows in (("a", 7), ("b", 11), ("c", 5)):
        files.append(str(tmp_path / name))
        pathlib.Path(files[-1]).write_text("".join(f"{name}{i}\n" for i in range(rows)))

    def make():
        return ds.TextFileDataset(files, shuffle=shuffle, num_parallel_workers=2, **shard).batch(2)

    whole = start(make(), 3)
    epochs = [rows_of(whole) for _ in range(3)]
    for epoch in (0, 2):
        for stop in range(0, len(epochs[epoch]) + 1, 3):
            first = start(make(), 3)
            for _ in range(epoch):
                rows_of(first)
            for _ in range(stop):
                next(first)
            second = start(make(), 3)
            second.load_state_dict(json.loads(json.dumps(first.state_dict())))
            rest = [rows_of(second) for _ in range(3 - epoch)]
            assert rest == [epochs[epoch][stop:], *epochs[epoch + 1 :]]
    with pytest.raises(ValueError, match="state is of another pipeline"):
        start(ds.TextFileDataset(files[:2]).batch(2)).load_state_dict(whole.state_dict())
    ds.config.set_seed(5489)


def test_what_a_sampler_chose_is_kept():
    class Chance(Shuffled):
        seed = None  # another order each time

    def make():
        return ds.GeneratorDataset(list(range(50)), ["x"], sampler=Chance(50)).batch(5)

    for stop in (0, 3, 10):
        first = start(make(), 1)
        for _ in range(stop):
            next(first)
        second = start(make(), 1)
        second.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert rows_of(second) == rows_of(first)


def test_others_are_read_again_with_one_warning():
    from sorus.dataset import _arguments

    _arguments._told.discard("read again")
    for times in (1, 0):
        first = start(ds.GeneratorDataset(fifteen, ["x"]), 1)
        for _ in range(5):
            next(first)
        second = start(ds.GeneratorDataset(fifteen, ["x"]), 1)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            second.load_state_dict(first.state_dict())
            assert rows_of(second) == [[i] for i in range(5, 15)]
        assert len(told) == times


def test_another_pipeline_and_other_things_are_refused():
    state = start(ds.NumpySlicesDataset([1, 2, 3], "x").map(twice, "x").batch(2)).state_dict()
    other = start(ds.NumpySlicesDataset([1, 2, 3], "x").map(odd, "x").batch(2))
    with pytest.raises(ValueError, match=r"got step 2 'map\(twice; x\)', need 'map\(odd; x\)'"):
        other.load_state_dict(state)
    for wrong in (None, {}, {"version": 2}, {**state, "steps": 3}, {"version": 1}, {**state, "row": "a"}):
        with pytest.raises(ValueError):
            other.load_state_dict(wrong)
    next(other)
    other.stop()
    with pytest.raises(RuntimeError, match="was stopped"):
        other.state_dict()
