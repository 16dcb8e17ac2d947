"""MindRecord files: what the genuine MindSpore wrote is read, and what is written has its bytes.

The files and orders of tests/fixtures/mindrecord were recorded by bench/peers/record_mindrecord.py.
"""

import gzip
import json
import pathlib
import shutil
import sqlite3

import numpy as np
import pytest
import sorus as ms
import sorus.dataset as ds
from mindrecord_recipes import HEADER_SIZE, ORDERS, PAGE_SIZE, PLACES, RECIPES, SINGLE
from sorus import mindrecord
from sorus.mindrecord import FileReader, FileWriter, MindPage

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/mindrecord"
RECORDED = json.loads((FIXTURES / "orders.json").read_text())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder, the current one, with the genuine files."""
    for path in FIXTURES.glob("*.gz"):
        (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names_of(name, recipe):
    return [name] if recipe.shards == 1 else [f"{name}{i}" for i in range(recipe.shards)]


def write(name, recipe):
    writer = FileWriter(name, recipe.shards)
    writer.set_header_size(HEADER_SIZE)
    writer.set_page_size(PAGE_SIZE)
    writer.add_schema(recipe.schema, recipe.description)
    if recipe.index:
        writer.add_index(recipe.index)
    for batch in recipe.batches:
        writer.write_raw_data(batch)
    writer.commit()
    if recipe.appended:
        writer = FileWriter.open_for_append(name)
        for batch in recipe.appended:
            writer.write_raw_data(batch)
        writer.commit()


def dump(index):
    """Statements and rows of an index."""
    with sqlite3.connect(index) as database:
        made = database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        return made, *(database.execute(f"SELECT * FROM {t}").fetchall() for t in ("INDEXES", "SHARD_NAME"))


def expect_equal(row, wanted):
    assert set(row) == set(wanted)
    for name, value in wanted.items():
        if isinstance(value, np.ndarray):
            assert row[name].dtype == value.dtype
            np.testing.assert_array_equal(row[name], value)
        else:
            assert row[name] == value and type(row[name]) in (int, float, str, bytes), name


@pytest.mark.parametrize("name", RECIPES)
def test_bytes_are_those_of_mindspore(name, folder, tmp_path_factory, monkeypatch):
    recipe = RECIPES[name]
    own = tmp_path_factory.mktemp("own")
    monkeypatch.chdir(own)
    write(name, recipe)
    for file in names_of(name, recipe):
        assert (own / file).read_bytes() == (folder / file).read_bytes()
        assert dump(own / f"{file}.db") == dump(folder / f"{file}.db")
        assert {(own / each).stat().st_mode & 0o777 for each in (file, f"{file}.db")} == {0o600}
    assert len(list(own.iterdir())) == 2 * recipe.shards


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "shards"])
def test_rows_that_mindspore_wrote(name, folder):
    recipe = RECIPES[name]
    reader = FileReader(name)
    assert reader.schema() == {field: recipe.schema[field] for field in sorted(recipe.schema)}
    assert reader.len() == len(recipe.rows)
    for row, wanted in zip(reader.get_next(), recipe.rows, strict=True):
        expect_equal(row, wanted)
    reader.close()
    with pytest.raises(RuntimeError, match="the files are closed"):
        reader.len()


def test_reader_takes_columns_and_lists(folder):
    rows = list(FileReader("every_type", columns=["data", "label", "big"]).get_next())
    assert list(rows[2]) == ["big", "label", "data"] and rows[2]["data"] == b"\x00\x01\x00"
    labels = [row["label"] for row in FileReader(["shards2", "shards0"], columns=["label"]).get_next()]
    assert labels[:3] == [12, 13, 14] and labels[11:14] == [0, 1, 2]
    reader = FileReader("only_bytes")
    rows = reader.get_next()
    next(rows)
    assert len(list(reader.get_next())) == 4


@pytest.mark.parametrize("text", ORDERS)
def test_orders_are_those_of_mindspore(text, folder):
    ds.config.set_seed(3)
    try:
        dataset = eval(text, {"ds": ds, "Shuffle": ds.Shuffle})
        wanted = RECORDED["orders"][text]
        iterator = dataset.create_dict_iterator(num_epochs=len(wanted), output_numpy=True)
        assert [[int(row["label"]) for row in iterator] for _ in wanted] == wanted
        assert dataset.get_dataset_size() == len(wanted[0])
    finally:
        ds.config.set_seed(5489)


@pytest.mark.parametrize("text", SINGLE)
def test_single_rows_are_those_of_mindspore(text, folder):
    ds.config.set_seed(3)
    try:
        dataset = eval(text, {"ds": ds, "Shuffle": ds.Shuffle})
        found = [
            [
                [v.dtype.kind + str(v.dtype.itemsize), list(v.shape), v.ravel().tolist()]
                for v in dataset[place]
            ]
            for place in PLACES
        ]
    finally:
        ds.config.set_seed(5489)
    for row in found:
        for item in row:
            item[2] = [value.decode() if isinstance(value, bytes) else value for value in item[2]]
    assert found == RECORDED["single"][text]


def test_single_rows_follow_the_sampler_and_refuse_other_places(folder):
    dataset = ds.MindDataset("shards0", ["label"], shuffle=False)
    assert [int(dataset[i][0]) for i in (32, 0)] == [32, 0]
    dataset.use_sampler(ds.SequentialSampler(2, 2))
    assert int(dataset[1][0]) == 3
    with pytest.raises(RuntimeError, match="row is out of range: got 2, need 0 to 1"):
        dataset[2]
    with pytest.raises(ValueError, match="MindDataset: index is out of range: got -1"):
        dataset[-1]
    with pytest.raises(TypeError, match="MindDataset: index has the wrong type: got str"):
        dataset["a"]


def test_classes_are_values_of_an_index_field(folder):
    """MindSpore's rows here depend on chance that no seed rules, and are the first of each file."""
    writer = FileWriter("classes")
    writer.add_schema({"label": {"type": "int32"}, "id": {"type": "int32"}, "data": {"type": "bytes"}})
    writer.write_raw_data([{"label": [20, 3, 100][i % 3], "id": i, "data": b"x"} for i in range(20)])
    writer.commit()
    for shuffle in (False, True):
        dataset = ds.MindDataset("classes", ["id"], sampler=ds.PKSampler(4, None, shuffle))
        ids = [int(row[0]) for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        kinds = [i % 3 for i in ids]
        assert len(ids) == dataset.get_dataset_size() == 12 and len(set(ids)) > 3
        assert [kinds[i : i + 4] for i in (0, 4, 8)] == [[kinds[i]] * 4 for i in (0, 4, 8)]
        assert sorted(kinds) == [0] * 4 + [1] * 4 + [2] * 4
    with pytest.raises(KeyError, match="field is no index field: got 'data'"):
        list(ds.MindDataset("classes", ["id"], sampler=ds.PKSampler(1, class_column="data")))


def test_dataset_types(folder):
    dataset = ds.MindDataset("every_type", shuffle=False)
    assert dataset.get_col_names() == sorted(RECIPES["every_type"].schema)
    row = list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))[3]
    found = {name: (value.dtype.str, value.shape) for name, value in row.items()}
    assert found == {
        "big": ("<i8", ()),
        "curve": ("<f8", (3,)),
        "data": ("|S4", (1,)),
        "exact": ("<f8", ()),
        "file_name": ("<U5", ()),
        "ids": ("<i4", (3,)),
        "label": ("<i4", ()),
        "matrix": ("<f4", (2, 4)),
        "pair": ("<i8", (2,)),
        "score": ("<f4", ()),
    }
    assert row["data"].tobytes() == b"\x00\x01\x02\x00"
    assert row["score"] == np.float32(3 * 0.1)
    assert dataset.output_types()[2] == np.dtype("S")
    tensors = next(dataset.create_dict_iterator(num_epochs=1))
    assert tensors["label"].dtype == ms.int32 and tensors["label"].asnumpy() == -3


def test_dataset_of_bytes_in_pipelines(folder):
    dataset = ds.MindDataset("shards0", ["data", "label"], shuffle=False)
    batch = next(dataset.batch(3).create_dict_iterator(num_epochs=1, output_numpy=True))
    assert batch["data"].tolist() == [[b"0"], [b"1"], [b"2"]] and batch["label"].tolist() == [0, 1, 2]
    decoded = dataset.map(lambda data: np.frombuffer(data, np.uint8), "data").take(2)
    assert [row[0].tolist() for row in decoded.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [
        [48],
        [49],
    ]
    kept = dataset.map(lambda data: data, "data").shuffle(4).skip(1)
    assert next(kept.create_tuple_iterator(num_epochs=1, output_numpy=True))[0].dtype.kind == "S"


def test_padded_rows_of_every_kind(folder):
    sample = {
        "label": -1,
        "data": b"pad",
        "ids": np.array([7, 8], np.int32),
        "matrix": np.ones((2, 3), np.float32),
        "file_name": "none",
        "score": 2,
    }
    dataset = ds.MindDataset(
        "every_type",
        list(sample),
        shuffle=False,
        padded_sample=sample,
        num_padded=1,
        num_shards=4,
        shard_id=3,
    )
    row = list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))[-1]
    assert row["data"].tolist() == [b"pad"] and row["file_name"] == "none" and row["score"] == 2
    assert row["ids"].tolist() == [7, 8] and row["matrix"].shape == (2, 3) and row["label"] == -1


def test_split_and_use_sampler(folder):
    first, second = ds.MindDataset("shards0", ["label"], shuffle=False).split([20, 13], randomize=False)
    labels = [int(row[0]) for row in first.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert labels[:7] == [0, 1, 2, 3, 4, 5, 18] and len(labels) == 20 and second.get_dataset_size() == 13
    dataset = ds.MindDataset("shards0", ["label"])
    dataset.use_sampler(ds.SequentialSampler(2, 2))
    assert [int(row[0]) for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [2, 3]


@pytest.mark.parametrize("key", RECORDED["categories"])
def test_categories_are_those_of_mindspore(key, folder):
    name, field = key.split()
    page = MindPage(name)
    page.category_field = field
    assert json.loads(page.read_category_info()) == RECORDED["categories"][key]


def test_rows_by_category(folder):
    page = MindPage("every_type")
    assert page.candidate_fields == page.get_category_fields() == ["label", "file_name"]
    assert page.category_field is None
    with pytest.raises(RuntimeError, match="there is no category field"):
        page.read_category_info()
    page.set_category_field("label")
    expect_equal(page.read_at_page_by_name("-3", 0, 2)[0], RECIPES["every_type"].rows[0])
    expect_equal(page.read_at_page_by_id(0, 0, 1)[0], RECIPES["every_type"].rows[2])
    texts = MindPage("scalars")
    texts.category_field = "text"
    assert [row["narrow"] for row in texts.read_at_page_by_name("a", 0, 2)] == [1, -32]
    assert [row["narrow"] for row in texts.read_at_page_by_name("a", 1, 2)] == [127]
    for call in (
        lambda: page.read_at_page_by_name("77", 0, 2),
        lambda: page.read_at_page_by_id(99, 0, 2),
        lambda: page.read_at_page_by_id(0, 5, 2),
    ):
        with pytest.raises(RuntimeError, match="got .*, need "):
            call()
    with pytest.raises(mindrecord.MRMDefineCategoryError):
        page.category_field = "data"
    with pytest.raises(mindrecord.ParamTypeError):
        page.category_field = 3
    with pytest.raises(mindrecord.ParamValueError):
        page.read_at_page_by_id(-1, 0, 1)


def test_schema_and_index_are_checked(tmp_path):
    writer = FileWriter(str(tmp_path / "x"))
    for content in (
        {},
        {"a b": {"type": "int32"}},
        {"a": {"type": "int8"}},
        {"a": {"type": "bytes", "shape": [1]}},
        {"a": {"type": "int32", "size": 1}},
        {"a": 3},
        [],
    ):
        with pytest.raises(mindrecord.MRMInvalidSchemaError):
            writer.add_schema(content)
    for shape in ([-1, -1], [0], [], ["x"]):
        with pytest.raises(mindrecord.MRMBuildSchemaError):
            writer.add_schema({"a": {"type": "int32", "shape": shape}})
    with pytest.raises(mindrecord.MRMGetMetaError):
        writer.add_index(["a"])
    writer.add_schema({"a": {"type": "int32"}, "b": {"type": "bytes"}})
    with pytest.raises(mindrecord.MRMAddSchemaError):
        writer.add_schema({"c": {"type": "int32"}})
    with pytest.raises(mindrecord.MRMDefineIndexError):
        writer.add_index(["b"])
    with pytest.raises(RuntimeError, match="got 'c', need one of a, b"):
        writer.add_index(["c"])
    with pytest.raises(mindrecord.ParamTypeError):
        writer.add_index("a")
    with pytest.raises(RuntimeError, match="header size is out of range: got 100"):
        writer.set_header_size(100)
    with pytest.raises(RuntimeError, match="page size is out of range"):
        writer.set_page_size(32769)
    with pytest.raises(TypeError, match="set_page_size: size has the wrong type: got str"):
        writer.set_page_size("a")
    assert writer.set_page_size(1 << 15) == mindrecord.SUCCESS != mindrecord.FAILED


@pytest.mark.filterwarnings("ignore:write_raw_data")
def test_rows_that_do_not_fit_are_left_out(tmp_path):
    path = str(tmp_path / "x")
    writer = FileWriter(path)
    writer.add_schema({"a": {"type": "int32"}, "x": {"type": "float32", "shape": [2]}})
    good = {"a": np.int32(1), "x": np.ones(2, np.float32), "more": 1}
    bad = [
        {"a": 1},
        {**good, "a": "1"},
        {**good, "a": True},
        {**good, "x": np.ones(2)},
        {**good, "x": np.ones(3, np.float32)},
    ]
    with pytest.warns(UserWarning, match="row 1 is left out: got no field 'x'"):
        writer.write_raw_data([good, *bad])
    with pytest.raises(RuntimeError, match="nothing to write"), pytest.warns(UserWarning):
        writer.write_raw_data(bad)
    with pytest.raises(RuntimeError, match="value of field 'a' does not fit: got 1099511627776, need int32"):
        writer.write_raw_data([{**good, "a": 2**40}])
    with pytest.raises(RuntimeError, match="value of field 'a' does not fit"):
        writer.write_raw_data([{**good, "a": 2**70}])
    for wrong in ({"a": 1}, [1]):
        with pytest.raises(mindrecord.ParamTypeError):
            writer.write_raw_data(wrong)
    writer.commit()
    with pytest.raises(RuntimeError, match="need open_for_append"):
        writer.write_raw_data([good])
    assert [row["a"] for row in FileReader(path).get_next()] == [1]


def test_files_are_replaced_when_asked_only(folder):
    writer = FileWriter("only_bytes")
    writer.add_schema({"a": {"type": "int64"}})
    with pytest.raises(RuntimeError, match="is there already"):
        writer.write_raw_data([{"a": 1}])
    writer = FileWriter("only_bytes", overwrite=True)
    writer.add_schema({"a": {"type": "int64"}})
    writer.open_and_set_header()
    writer.write_raw_data([{"a": 1}])
    assert FileReader("only_bytes").schema() == {"data": {"type": "bytes"}}
    writer.commit()
    assert list(FileReader("only_bytes").get_next()) == [{"a": 1}]
    del writer
    assert not list(folder.glob("*.tmp.*"))


def test_files_of_a_parallel_writer_are_sets_of_their_own(tmp_path):
    path = str(tmp_path / "x")
    writer = FileWriter(path, 3)
    writer.add_schema({"a": {"type": "int64"}})
    for i in range(5):
        writer.write_raw_data([{"a": i}, {"a": 10 * i}], parallel_writer=True)
    with pytest.raises(RuntimeError, match="parallel_writer has changed: got False, need True"):
        writer.write_raw_data([{"a": 1}])
    writer.commit()
    assert [[row["a"] for row in FileReader(f"{path}{i}").get_next()] for i in range(3)] == [
        [0, 0, 3, 30],
        [1, 10, 4, 40],
        [2, 20],
    ]
    assert ds.MindDataset([f"{path}{i}" for i in range(3)]).get_dataset_size() == 10


def test_rows_larger_than_a_page(tmp_path):
    writer = FileWriter(str(tmp_path / "x"))
    writer.set_page_size(1 << 15)
    writer.add_schema({"b": {"type": "bytes"}})
    with pytest.raises(
        RuntimeError, match="larger than a page: got 40000 bytes, need at most 32760; set_page_size"
    ):
        writer.write_raw_data([{"b": b"1" * 40000}])


def test_bytes_and_arrays_may_be_empty(tmp_path):
    path = str(tmp_path / "x")
    writer = FileWriter(path)
    writer.add_schema({"b": {"type": "bytes"}})
    writer.write_raw_data([{"b": b""}, {"b": b"1"}])
    writer.commit()
    assert [row["b"] for row in FileReader(path).get_next()] == [b"", b"1"]


@pytest.mark.parametrize("name", ["", None, 3, "d/", "a:b", " a", "a ", "a?"])
def test_names_of_files(name):
    for make in (FileWriter, FileReader, MindPage, FileWriter.open_for_append):
        with pytest.raises(mindrecord.ParamValueError):
            make(name)


def test_other_arguments():
    for arguments in ({"shard_num": 0}, {"shard_num": 1001}, {"shard_num": None}, {"overwrite": 1}):
        with pytest.raises(mindrecord.ParamValueError):
            FileWriter("x", **arguments)
    for consumers in (0, None, "4"):
        with pytest.raises(mindrecord.ParamValueError):
            FileReader("x", consumers)
    with pytest.raises(NotImplementedError, match="set_enc_key: encryption is not supported"):
        mindrecord.set_enc_key("0123456789012345")
    mindrecord.set_enc_key(None)
    mindrecord.set_enc_mode()
    with pytest.raises(ValueError, match="set_enc_mode: enc_mode is unknown: got 'x'"):
        mindrecord.set_enc_mode("x")


def test_errors_have_the_numbers_of_mindspore():
    assert mindrecord.ParamValueError("x").error_code == 1347686402
    assert str(mindrecord.MRMDefineCategoryError("x")) == (
        "[MRMDefineCategoryError]: Failed to define category field. Detail: x"
    )
    assert mindrecord.MRMOpenError().error_msg == "MindRecord File could not open successfully."


def test_what_is_wrong_with_files_is_named(folder):
    with pytest.raises(RuntimeError, match="'nothing' cannot be opened"):
        FileReader("nothing")
    with pytest.raises(ValueError, match="MindDataset: a file cannot be read: got 'nothing'"):
        ds.MindDataset("nothing")
    with pytest.raises(TypeError, match="MindDataset: dataset_files has the wrong type: got int"):
        ds.MindDataset([1])
    with pytest.raises(ValueError, match="MindDataset: dataset_files are missing: got none"):
        ds.MindDataset([])
    with pytest.raises(RuntimeError, match="column is not there: got 'x', need one of data, label"):
        ds.MindDataset("shards0", ["x"])
    with pytest.raises(RuntimeError, match="column is not there: got 'x'"):
        FileReader("shards0", columns=["x"])
    shutil.copy("only_bytes", "copied")
    with pytest.raises(RuntimeError, match=r"index 'copied.db' is missing: need it beside its data file"):
        FileReader(["copied"])
    shutil.copy("only_bytes.db", "copied.db")
    with pytest.raises(RuntimeError, match="got one of 'only_bytes', need one of 'copied'"):
        FileReader(["copied"])


def test_choices_of_rows_exclude_each_other(folder):
    def error(kind, **arguments):
        with pytest.raises(kind, match="MindDataset: .*: got .*, need "):
            ds.MindDataset("shards0", **arguments)

    error(RuntimeError, num_shards=2)
    error(RuntimeError, sampler=ds.RandomSampler(), shuffle=True)
    error(TypeError, shuffle="x")
    error(ValueError, shuffle=ds.Shuffle.FILES, num_samples=3)
    error(ValueError, sampler=ds.WeightedRandomSampler([1] * 33))
    pad = {"padded_sample": {"label": -1}}
    error(RuntimeError, **pad)
    error(RuntimeError, num_padded=3)
    error(RuntimeError, **pad, num_padded=3)
    error(ValueError, columns_list=["label", "data"], **pad, num_padded=3)
    error(ValueError, columns_list=["label"], **pad, num_padded=2, num_shards=4, shard_id=0)


def test_damage_is_found_while_reading(folder):
    bytes_ = bytearray(pathlib.Path("only_bytes").read_bytes())
    bytes_[HEADER_SIZE] = 99
    pathlib.Path("only_bytes").write_bytes(bytes_)
    with pytest.raises(OSError, match=r"got a record of 99 bytes, need 1 \(at byte 16384\)"):
        list(ds.MindDataset("only_bytes", shuffle=False).create_tuple_iterator(num_epochs=1))
    with pytest.raises(RuntimeError, match="and its index differ"):
        list(FileReader("only_bytes").get_next())
