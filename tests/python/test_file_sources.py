"""Sources that read rows from files, against what the genuine MindSpore gave."""

import importlib
import json
import pathlib

import file_source_recipes as recipes
import numpy
import pytest
import sorus as ms
import sorus.dataset as ds

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
RECORDED = json.loads((FIXTURES / "file_sources.json").read_text())


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The files of the cases, in the current folder."""
    recipes.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = ds.config.get_seed()
    yield tmp_path
    ds.config.set_seed(before)


def rows(dataset):
    """The first column of an epoch."""
    return [row[0].tolist() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_all_cases_are_recorded():
    assert RECORDED.keys() == recipes.CASES.keys()


@pytest.mark.parametrize("name", recipes.CASES)
def test_rows_are_the_recorded_ones(name):
    assert recipes.read(ds, name) == RECORDED[name]


def test_lanes_are_those_of_the_configuration():
    before = ds.config.get_num_parallel_workers()
    try:
        ds.config.set_num_parallel_workers(1)
        assert rows(ds.TextFileDataset(["a.txt", "b.txt"], shuffle=False))[:2] == ["a0", "a1"]
        ds.config.set_num_parallel_workers(2)
        assert rows(ds.TextFileDataset(["a.txt", "b.txt"], shuffle=False))[:2] == ["a0", "b0"]
    finally:
        ds.config.set_num_parallel_workers(before)


def test_empty_numbers_are_the_defaults(files):
    (files / "x.csv").write_text("1,\n,2\n")
    data = ds.CSVDataset("x.csv", column_defaults=[7, 0.5], column_names=["i", "f"], shuffle=False)
    assert [(int(i), float(f)) for i, f in data] == [(1, 0.5), (7, 2.0)]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: ds.TextFileDataset("none*"), ValueError, "TextFileDataset: dataset_files name no file"),
        (lambda: ds.TextFileDataset([]), ValueError, "dataset_files are missing"),
        (lambda: ds.TextFileDataset(3), TypeError, "dataset_files have the wrong type"),
        (lambda: ds.TextFileDataset("a.txt", num_shards=2), RuntimeError, "belong together"),
        (
            lambda: ds.TextFileDataset("a.txt", num_shards=2, shard_id=2),
            ValueError,
            "shard_id is out of range",
        ),
        (lambda: ds.TextFileDataset("a.txt", num_samples=-1), ValueError, "num_samples is out of range"),
        (lambda: ds.TextFileDataset("a.txt", shuffle=1.5), TypeError, "shuffle has the wrong type"),
        (
            lambda: ds.TextFileDataset("a.txt", shuffle=ds.Shuffle.INFILE),
            ValueError,
            "shuffle is not supported",
        ),
        (lambda: ds.TextFileDataset("a.txt", cache=1), NotImplementedError, "cache is not supported"),
        (lambda: ds.CSVDataset("header.csv", field_delim=";;"), ValueError, "field_delim is wrong"),
        (lambda: ds.CSVDataset("header.csv", column_defaults=[None]), TypeError, "column_defaults have"),
        (
            lambda: ds.CSVDataset("header.csv", column_defaults=[2**40]),
            ValueError,
            "need ints that int32 holds",
        ),
        (lambda: ds.CLUEDataset("CSL.json", "XYZ"), ValueError, "task is unknown"),
        (
            lambda: ds.TFRecordDataset("a.tf", compression_type="LZ4"),
            ValueError,
            "compression_type is unknown",
        ),
        (lambda: ds.TFRecordDataset("a.tf", columns_list=["q"]), KeyError, "column is not there"),
        (lambda: ds.TFRecordDataset("a.txt"), OSError, "record at byte 0 is damaged"),
        (lambda: ds.TFRecordDataset("a.tf", num_shards=2, shard_id=0), ValueError, "need at most 1"),
        (lambda: ds.Schema("none.json"), ValueError, "schema_file cannot be read"),
        (lambda: ds.Schema("a.txt"), RuntimeError, "is no schema"),
        (lambda: ds.Schema().add_column("", ms.int8), TypeError, "name is missing"),
        (lambda: ds.Schema().add_column("a", "int7"), TypeError, "type of column 'a' is unknown"),
        (lambda: ds.Schema().add_column("a", ms.int8, (1,)), TypeError, "shape has the wrong type"),
        (lambda: ds.Schema().parse_columns([{"type": "int8"}]), RuntimeError, "name of a column is missing"),
        (lambda: ds.Schema().parse_columns(3), RuntimeError, "need a dict or a list"),
        (lambda: ds.Schema().from_json({"datasetType": "TF"}), RuntimeError, "columns are missing"),
        (lambda: ds.Schema().from_json({"columns": {}, "foo": 1}), RuntimeError, "a key is unknown"),
        (lambda: ds.CocoDataset(".", "none.json"), ValueError, "annotation_file cannot be read"),
        (lambda: ds.CocoDataset(".", "coco.json", "Dance"), ValueError, "task is unknown"),
        (
            lambda: ds.CocoDataset(".", "coco.json", extra_metadata=True),
            NotImplementedError,
            "extra_metadata",
        ),
        (
            lambda: ds.CocoDataset(".", "coco.json", "Stuff").get_class_indexing(),
            NotImplementedError,
            "no classes",
        ),
        (lambda: ds.VOCDataset("voc", class_indexing={"a": 1}), ValueError, "class_indexing is for the task"),
        (lambda: ds.VOCDataset("voc", usage="none"), OSError, "none.txt' cannot be opened"),
        (lambda: ds.VOCDataset("voc").get_class_indexing(), NotImplementedError, "no classes"),
        (lambda: ds.CelebADataset(".", usage="none"), ValueError, "usage is unknown"),
        (lambda: ds.CelebADataset("none"), OSError, "does not exist"),
        (lambda: ds.CelebADataset(".", extensions=[".png"]), OSError, "names no images"),
        (lambda: ds.ManifestDataset("images.manifest", "inference"), OSError, "names no images"),
        (
            lambda: ds.ManifestDataset("images.manifest", class_indexing={"a": "b"}),
            TypeError,
            "class_indexing",
        ),
        (lambda: ds.AGNewsDataset("AGNewsDataset", "valid"), ValueError, "usage is unknown"),
        (lambda: ds.AGNewsDataset("none"), ValueError, "AGNewsDataset: dataset_files name no file"),
        (lambda: ds.PaddedDataset([]), ValueError, "padded_samples are missing"),
        (lambda: ds.PaddedDataset([{"a": 1}, {"b": 1}]), ValueError, "different columns"),
    ],
)
def test_wrong_arguments_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_damaged_rows_are_errors_that_name_file_and_place(files):
    (files / "bad.csv").write_text("1\nx\n")
    with pytest.raises(OSError, match="bad.csv' has a wrong value in column 'a' at line 2: got 'x'"):
        rows(ds.CSVDataset("bad.csv", column_defaults=[0], column_names=["a"], shuffle=False))
    whole = (files / "a.tf").read_bytes()
    (files / "bad.tf").write_bytes(whole[:-1])
    with pytest.raises(OSError, match=r"bad.tf: record at byte \d+ is damaged"):
        rows(ds.TFRecordDataset("bad.tf", shuffle=False))
    (files / "bad.txt").write_bytes(b"\xff\n")
    with pytest.raises(ValueError, match="bytes that are not UTF-8"):
        rows(ds.TextFileDataset("bad.txt", shuffle=False))


def test_images_with_several_labels_are_in_several_classes(files):
    dataset = ds.VOCDataset("voc", "Detection", sampler=ds.PKSampler(3))
    assert [row[0].tobytes() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)] == (
        [b"x2"] * 3 + [b"x1"] * 6
    )


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: ds.PKSampler(0), ValueError, "num_val is out of range: got 0"),
        (lambda: ds.PKSampler("1"), TypeError, "num_val has the wrong type: got str"),
        (lambda: ds.PKSampler(1, 2), NotImplementedError, "num_class is not supported"),
        (lambda: ds.PKSampler(1, shuffle=1), TypeError, "shuffle has the wrong type"),
        (lambda: ds.PKSampler(1, class_column=""), ValueError, "class_column is empty"),
        (lambda: ds.PKSampler(1, num_samples=-1), ValueError, "num_samples is out of range"),
        (
            lambda: list(ds.NumpySlicesDataset([1, 2], "label", sampler=ds.PKSampler(1))),
            ValueError,
            "this source has no classes",
        ),
        (lambda: list(ds.CelebADataset(".", sampler=ds.PKSampler(1))), ValueError, "has no classes"),
    ],
)
def test_classes_that_are_not_there_are_refused(files, make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_sampler_before_must_leave_all_rows(files):
    sampler = ds.PKSampler(2)
    sampler.add_child(ds.SequentialSampler(0, 4))
    with pytest.raises(IndexError, match="PKSampler: a sampler before it leaves rows out: got 4 rows"):
        list(ds.ImageFolderDataset("classes", sampler=sampler))


def damaged(content, rounds=150):
    """Copies of a text, cut or with a few characters changed."""
    draw = numpy.random.RandomState(3)
    for i in range(rounds):
        text = bytearray(content)
        if i % 3 == 0:
            text = text[: draw.randint(len(text))]
        for place in draw.randint(len(content), size=1 + i % 4):
            if place < len(text):
                text[place] = draw.randint(32, 127) if i % 2 else draw.randint(256)
        yield bytes(text)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("coco.json", lambda: ds.CocoDataset(".", "coco.json", shuffle=False)),
        ("coco.json", lambda: ds.CocoDataset(".", "coco.json", "Stuff", shuffle=False)),
        ("coco.json", lambda: ds.CocoDataset(".", "coco.json", "Keypoint", shuffle=False)),
        ("panoptic.json", lambda: ds.CocoDataset(".", "panoptic.json", "Panoptic", shuffle=False)),
        ("images.manifest", lambda: ds.ManifestDataset("images.manifest", shuffle=False)),
        ("voc/Annotations/x1.xml", lambda: ds.VOCDataset("voc", "Detection", shuffle=False)),
        ("list_attr_celeba.txt", lambda: ds.CelebADataset(".", shuffle=False)),
        ("list_eval_partition.txt", lambda: ds.CelebADataset(".", usage="train", shuffle=False)),
    ],
)
def test_damaged_annotations_give_rows_or_typed_errors(files, name, make):
    whole = (files / name).read_bytes()
    refused = 0
    for content in damaged(whole):
        (files / name).write_bytes(content)
        try:
            for row in make().create_tuple_iterator(num_epochs=1, output_numpy=True):
                assert row[0].dtype == numpy.uint8
        except (OSError, ValueError, RuntimeError) as error:
            assert type(error) is not RuntimeError or "internal" not in str(error)
            refused += 1
    assert refused > 10


def test_wrong_annotations_are_named(files):
    def refusal(change, task="Detection"):
        annotations = recipes.coco()
        change(annotations["annotations"][0])
        (files / "bad.json").write_text(json.dumps(annotations))
        with pytest.raises(OSError, match="CocoDataset: file 'bad.json'") as error:
            ds.CocoDataset(".", "bad.json", task)
        return str(error.value)

    assert "unknown image in annotation 0: got 99" in refusal(lambda a: a.update(image_id=99))
    assert "unknown category in annotation 0: got 99" in refusal(lambda a: a.update(category_id=99))
    assert "lacks 'bbox' in annotation 0" in refusal(lambda a: a.pop("bbox"))
    assert "wrong 'bbox' in annotation 0: got string" in refusal(lambda a: a.update(bbox="x"))
    assert "lacks 'counts'" in refusal(lambda a: a.update(iscrowd=1), "Stuff")
    assert "lacks 'caption'" in refusal(lambda a: a.pop("caption"), "Captioning")
    xml = files / "voc/Annotations/x1.xml"
    for old, new, found in (
        ("<xmin>1<", "<xmin>9<", "x1.xml' has a wrong box"),
        ("<xmin>1<", "<xmin>a<", "x1.xml' has a wrong 'xmin': got 'a'"),
        ("<name>dog</name>", "", "x1.xml' has an object without name"),
        ("</annotation>", "", "x1.xml' is no XML at byte"),
        ("<object>", "<thing>", "x1.xml' is no XML at byte"),
    ):
        whole = xml.read_text()
        xml.write_text(whole.replace(old, new, 1))
        with pytest.raises(OSError, match=found):
            ds.VOCDataset("voc", "Detection")
        xml.write_text(whole)
    (files / "list_attr_celeba.txt").write_text("1\nA B\n11.jpg 1 2\n")
    with pytest.raises(OSError, match="list_attr_celeba.txt' has a wrong attribute in line 3: got '2'"):
        ds.CelebADataset(".")
    (files / "x.manifest").write_text('{"source": 1}\n')
    with pytest.raises(OSError, match="x.manifest' has a wrong line 1"):
        ds.ManifestDataset("x.manifest")
    (files / "22.jpg").unlink()
    with pytest.raises(OSError, match="22.jpg' cannot be opened"):
        rows(ds.CocoDataset(".", "coco.json", shuffle=False))


def test_schemas_say_what_was_said_to_them():
    schema = ds.Schema()
    schema.add_column("a", ms.int32, [2, -1])
    schema.add_column("b", "float32", [])
    schema.parse_columns({"c": {"type": "string"}})
    said = json.loads(str(schema))
    assert said == {
        "columns": [
            {"name": "a", "rank": 2, "shape": [2, -1], "type": "int32"},
            {"name": "b", "rank": 0, "shape": [], "type": "float32"},
            {"name": "c", "rank": 0, "shape": [], "type": "string"},
        ]
    }
    again = ds.Schema()
    again.from_json({**said, "datasetType": "TF", "numRows": 3})
    assert json.loads(again.to_json()) == {**said, "datasetType": "TF", "numRows": 3}
    assert ds.Schema.get_num_rows(again) == 3
    schema = ds.Schema()
    schema.add_column("any length", ms.float16)
    assert json.loads(schema.to_json())["columns"] == [{"name": "any length", "rank": 1, "type": "float16"}]


def test_pipelines_go_on_from_files():
    data = ds.TFRecordDataset("rich.tf", columns_list=["a"], shuffle=False).repeat(2).batch(2)
    assert [row[0].shape for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [
        (2, 1)
    ] * 2
    first, second = ds.TextFileDataset(["a.txt", "b.txt"]).split([0.5, 0.5])
    assert sorted(rows(first) + rows(second)) == sorted(rows(ds.TextFileDataset(["a.txt", "b.txt"])))
    numbers = ds.CSVDataset("header.csv", column_defaults=[1, 1], shuffle=False).map(lambda x: x + 1, "a")
    assert [int(row[0]) for row in numbers] == [2, 4]
    assert numpy.all([row["b"].shape == () for row in numbers.create_dict_iterator(num_epochs=1)])


def test_old_paths_lead_to_the_sources():
    for module, name in (
        ("datasets_standard_format", "TFRecordDataset"),
        ("datasets_standard_format", "CSVDataset"),
        ("datasets_text", "TextFileDataset"),
        ("datasets_text", "AGNewsDataset"),
        ("datasets", "Schema"),
        ("datasets_user_defined", "PaddedDataset"),
        ("datasets_vision", "CocoDataset"),
    ):
        found = getattr(importlib.import_module(f"sorus.dataset.engine.{module}"), name)
        assert found is getattr(ds, name)
