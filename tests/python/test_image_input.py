"""Images from files to batches: decoding, sources, and the transforms around them.

Pixels and orders of rows are those that the genuine MindSpore gave (bench/peers/facts_images.py).
"""

import copy
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pytest

import sorus
import sorus.dataset as ds
from sorus.dataset import transforms, vision

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
IMAGES = FIXTURES / "images"
FACTS = json.loads((FIXTURES / "mindspore/facts.json").read_text())


def fingerprint(image):
    return [list(image.shape), zlib.crc32(np.ascontiguousarray(image).tobytes())]


def picture(name="color.png"):
    return vision.Decode()(np.fromfile(IMAGES / name, np.uint8))


def test_decode_has_the_recorded_pixels():
    for path in IMAGES.iterdir():
        assert fingerprint(picture(path.name)) == FACTS["decoded"][path.name], path.name


def test_decode_refuses_what_is_no_image():
    with pytest.raises(OSError, match="got a GIF image, need a JPEG or PNG image"):
        vision.Decode()(np.frombuffer(b"GIF89a.....", np.uint8))
    with pytest.raises(OSError, match="damaged JPEG image: got data that end"):
        vision.Decode()(np.fromfile(IMAGES / "color420.jpg", np.uint8)[:-200])
    with pytest.raises(ValueError, match="need the bytes of an image file, of rank 1"):
        vision.Decode()(np.zeros((4, 4), np.uint8))
    with pytest.raises(TypeError, match="need uint8"):
        vision.Decode()(np.zeros(4, np.float32))
    with pytest.raises(TypeError, match="to_pil has the wrong type"):
        vision.Decode(to_pil=1)


def image_folder(tmp_path):
    for label, names in (("ants", ["color420.jpg", "gray.jpg"]), ("bees", ["color.png", "progressive.jpg"])):
        (tmp_path / label).mkdir()
        for name in names:
            shutil.copy(IMAGES / name, tmp_path / label / name)
    return str(tmp_path)


def test_an_image_folder_is_read_decoded_and_batched(tmp_path):
    folder = image_folder(tmp_path)
    data = ds.ImageFolderDataset(folder, shuffle=False)
    assert data.get_class_indexing() == {"ants": 0, "bees": 1}
    assert data.num_classes() == 2
    assert data.get_col_names() == ["image", "label"]
    steps = [
        vision.Decode(),
        vision.Resize(24),
        vision.CenterCrop(20),
        vision.Rescale(1 / 255, 0),
        vision.HWC2CHW(),
    ]
    chain = data.map(steps, "image").batch(4)
    (images, labels), *rest = chain.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert images.shape == (4, 3, 20, 20)
    assert labels.tolist() == [0, 0, 1, 1]
    assert not rest
    for image, name in zip(images, ("color420.jpg", "gray.jpg", "color.png", "progressive.jpg")):
        alone = picture(name)
        for step in steps[1:]:
            alone = step(alone)
        np.testing.assert_array_equal(image, alone)
    decoded = ds.ImageFolderDataset(folder, shuffle=False, decode=True, extensions=[".png"])
    ((image, label),) = decoded.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert fingerprint(image) == FACTS["decoded"]["color.png"]
    assert (label, label.dtype) == (1, np.int32)
    numbered = ds.ImageFolderDataset(folder, class_indexing={"bees": 7}, shuffle=False)
    assert [int(row["label"]) for row in numbered.create_dict_iterator(num_epochs=1)] == [7, 7]
    assert numbered.get_class_indexing() == {"bees": 7}


def test_image_folder_orders_are_the_recorded_ones(tmp_path):
    names = ["b/x10.png", "b/x9.png", "b/X.PNG", "b/z.jpeg", "a/1.jpg", "a/2.JPEG", "a/3.bmp", "a/note.txt"]
    for name in [*names, "c10/q.png", "c9/q.png", ".hidden/q.png", "A/.dot.png"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "empty").mkdir()
    record = FACTS["image_folders"]
    data = ds.ImageFolderDataset(str(tmp_path))
    assert data.get_class_indexing() == record["classes"]
    assert [str(t) for t in data.output_types()] == record["columns"][1]
    before = ds.config.get_seed()
    try:
        for seed in (0, 1):
            ds.config.set_seed(seed)
            for key, options in (("", {}), (", num_shards", {"num_shards": 3, "shard_id": 1})):
                data = ds.ImageFolderDataset(str(tmp_path), shuffle=True, **options)
                rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
                got = [[image.tobytes().decode(), int(label)] for image, label in rows]
                assert got == record[f"seed {seed}{key}"]
    finally:
        ds.config.set_seed(before)


def test_image_folder_refuses(tmp_path):
    folder = image_folder(tmp_path)
    with pytest.raises(OSError, match="does not exist"):
        ds.ImageFolderDataset(folder + "/none")
    with pytest.raises(OSError, match="has no images: need subfolders with files that end in .gif"):
        ds.ImageFolderDataset(folder, extensions=[".gif"])
    with pytest.raises(TypeError, match="extensions have the wrong type: got str"):
        ds.ImageFolderDataset(folder, extensions=".jpg")
    with pytest.raises(TypeError, match="class_indexing has the wrong type: got str"):
        ds.ImageFolderDataset(folder, class_indexing={"ants": "x"})
    with pytest.raises(ValueError, match="need labels that int32 holds"):
        ds.ImageFolderDataset(folder, class_indexing={"ants": 2**31})
    with pytest.raises(NotImplementedError, match="decrypt is not supported"):
        ds.ImageFolderDataset(folder, decrypt=lambda path: b"")
    with pytest.raises(NotImplementedError, match="cache is not supported"):
        ds.ImageFolderDataset(folder, cache=object())
    (tmp_path / "bees" / "zzz.jpg").write_bytes(b"no image")
    rows = ds.ImageFolderDataset(folder, shuffle=False).map(vision.Decode(), "image")
    iterator = rows.create_tuple_iterator(num_epochs=1)
    for _ in range(4):
        next(iterator)
    with pytest.raises(OSError, match=r"file '.*bees/zzz.jpg' holds no image that can be decoded"):
        next(iterator)


def write_idx(path, array, code=8):
    header = bytes([0, 0, code, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    path.write_bytes(header + array.astype(array.dtype.newbyteorder(">")).tobytes())


def rows_of(data):
    return [
        [v.tolist() for v in row[1:]] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ]


def test_sources_with_labels(tmp_path):
    images = np.zeros((1, 28, 28), np.uint8)
    pairs = {"train": 1, "t10k": 2, "emnist-letters-train": 3, "emnist-letters-test": 4}
    for prefix, label in pairs.items():
        write_idx(tmp_path / f"{prefix}-images-idx3-ubyte", images)
        write_idx(tmp_path / f"{prefix}-labels-idx1-ubyte", np.array([label], np.uint8))
    for prefix, label in (("qmnist-train", 5), ("qmnist-test", 6), ("xnist", 7)):
        write_idx(tmp_path / f"{prefix}-images-idx3-ubyte", images)
        write_idx(tmp_path / f"{prefix}-labels-idx2-int", np.full((1, 8), label, np.int32), 0xC)
    folder = tmp_path  # a path is as good as a str
    assert rows_of(ds.FashionMnistDataset(folder, shuffle=False)) == [[2], [1]]
    assert rows_of(ds.KMnistDataset(folder, "train")) == [[1]]
    assert rows_of(ds.MnistDataset(folder, "test")) == [[2]]
    assert rows_of(ds.EMnistDataset(folder, "letters", shuffle=False)) == [[4], [3]]
    assert rows_of(ds.QMnistDataset(folder, shuffle=False)) == [[5], [6], [7]]
    assert rows_of(ds.QMnistDataset(folder, "nist", compat=False)) == [[[7] * 8]]
    assert ds.EMnistDataset(folder, "letters").num_classes() == 26
    with pytest.raises(ValueError, match="EMnistDataset: name is unknown: got 'words'"):
        ds.EMnistDataset(folder, "words")
    with pytest.raises(ValueError, match="FashionMnistDataset: usage is unknown: got 'valid'"):
        ds.FashionMnistDataset(folder, "valid")
    with pytest.raises(OSError, match="Cifar10Dataset: folder '.*' lacks a file"):
        ds.Cifar10Dataset(folder)
    np.full((2, 3074), 3, np.uint8).tofile(tmp_path / "train.bin")
    np.full((1, 3074), 4, np.uint8).tofile(tmp_path / "test.bin")
    data = ds.Cifar100Dataset(folder, shuffle=False)
    assert rows_of(data) == [[4, 4], [3, 3], [3, 3]]
    assert data.output_shapes() == [[32, 32, 3], [], []]
    assert [str(t) for t in data.output_types()] == ["uint8", "uint32", "uint32"]


def test_decoding_a_part_changes_no_pixel(tmp_path):
    folder = image_folder(tmp_path)
    options = {"scale": (0.1, 0.5), "ratio": (0.5, 2.0), "interpolation": vision.Inter.BICUBIC}

    def pixels(*steps):
        before = ds.config.get_seed()
        ds.config.set_seed(4)
        try:
            data = ds.ImageFolderDataset(folder, shuffle=False).map(list(steps), "image").repeat(3)
            rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
            return np.stack([image for image, _ in rows])
        finally:
            ds.config.set_seed(before)

    crop = vision.RandomResizedCrop((12, 14), **options)
    # A step in Python keeps decoding and cropping apart; before both, it keeps the places of their draws.
    joined = pixels(lambda value: value, vision.Decode(), crop)
    np.testing.assert_array_equal(joined, pixels(vision.Decode(), lambda value: value, crop))
    assert joined.shape == (12, 12, 14, 3)
    assert pixels(vision.RandomCropDecodeResize((12, 14), **options)).shape == joined.shape
    centers = pixels(vision.Decode(), lambda value: value, vision.CenterCrop(9))
    np.testing.assert_array_equal(centers, pixels(vision.Decode(), vision.CenterCrop(9)))


def test_more_vision_has_the_recorded_pixels():
    record = FACTS["more_vision"]
    image = picture()
    names = {name: getattr(vision, name) for name in vision.__all__} | {"LINEAR": vision.Inter.LINEAR}
    checked = 0
    for call, expected in record.items():
        if call != "about":
            given = np.ascontiguousarray(image[:, :31]) if call.startswith("AdjustHue") else image
            assert fingerprint(eval(call, names)(given)) == expected, call  # noqa: S307
            checked += 1
    assert checked == 39


RANDOM = [
    vision.RandomResizedCrop(8),
    vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.1),
    vision.RandomColor(),
    vision.RandomSharpness(),
    vision.RandomPosterize((2, 6)),
    vision.RandomSolarize((10, 200)),
    vision.RandomGrayscale(0.5),
    vision.RandomInvert(),
    vision.RandomEqualize(),
    vision.RandomAutoContrast(30.0, prob=0.5),
    vision.RandomAdjustSharpness(2.0),
    vision.RandomRotation(20, vision.Inter.LINEAR, fill_value=3),
    vision.RandomAffine(10, (-0.1, 0.1, 0, 0.2), (0.8, 1.2), (-5, 5)),
    vision.CutOut(5, 2),
    vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5), (vision.Equalize(), 0.5)]]),
    transforms.RandomApply([vision.Invert(), lambda image: image + 1]),
    transforms.RandomChoice([vision.Invert(), vision.Equalize()]),
    transforms.RandomOrder([vision.Invert(), vision.Posterize(2)]),
]


@pytest.mark.parametrize("transform", RANDOM, ids=lambda t: type(t).__name__)
def test_random_transforms_follow_the_seed_and_change_with_the_epoch(transform):
    images = np.stack([picture()] * 30)
    before = ds.config.get_seed()

    def epochs(seed):
        ds.config.set_seed(seed)
        data = ds.NumpySlicesDataset(images, "image", shuffle=False).map(transform, "image")
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        return [np.stack([row[0] for row in iterator]) for _ in range(2)]

    try:
        first, second = epochs(1)
        again = epochs(1)
        np.testing.assert_array_equal(first, again[0])
        np.testing.assert_array_equal(second, again[1])
        assert not np.array_equal(first, second)
        assert not np.array_equal(first, epochs(2)[0])
    finally:
        ds.config.set_seed(before)
    assert first.dtype == np.uint8
    alone = transform(picture())
    assert alone.shape == first.shape[1:]


def test_transforms_can_be_copied_and_pickled():
    for transform in (*RANDOM[:15], transforms.Slice(slice(1, None), [0, 2]), transforms.PadEnd([4])):
        for other in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
            value = np.arange(12).reshape(3, 4) if isinstance(transform, transforms.Slice) else None
            if value is not None:
                np.testing.assert_array_equal(transform(value), other(value))
            elif not isinstance(transform, transforms.PadEnd):
                assert other(picture()).shape == transform(picture()).shape


def test_random_erasing_works_on_channels_first():
    image = np.ones((3, 20, 30), np.float32)
    erased = vision.RandomErasing(1.0, (0.1, 0.2), (0.5, 2), (7, 8, 9))(image)
    assert [sorted(set(plane.ravel().tolist())) for plane in erased] == [[1, 7], [1, 8], [1, 9]]
    assert np.unique(vision.RandomErasing(1.0, (0.4, 0.4), (1, 1), "random")(image)).size > 600
    with pytest.raises(ValueError, match="value is unknown: got 'noise'"):
        vision.RandomErasing(value="noise")


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: vision.RandomColorAdjust(brightness=-0.1), ValueError, "brightness is out of range"),
        (lambda: vision.RandomColorAdjust(hue=0.7), ValueError, "hue is out of range"),
        (lambda: vision.RandomPosterize((0, 3)), ValueError, "bits is out of range: got 0"),
        (lambda: vision.RandomSharpness((2, 1)), ValueError, "degrees is out of range"),
        (lambda: vision.RandomRotation("x"), TypeError, "degrees has the wrong type"),
        (lambda: vision.RandomRotation(5, expand=True), NotImplementedError, "expand is not supported"),
        (lambda: vision.RandomAffine(5, (0, 0.1, 0.2)), ValueError, "translate has the wrong length: got 3"),
        (lambda: vision.RandomResizedCrop(0), ValueError, "size is out of range"),
        (lambda: vision.RandomResizedCrop(8, scale=(0, 1)), ValueError, "scale is out of range"),
        (
            lambda: vision.RandomSelectSubpolicy([[vision.Invert()]]),
            TypeError,
            "need .transform, probability",
        ),
        (lambda: transforms.RandomApply(vision.Invert()), TypeError, "transforms have the wrong type"),
        (lambda: transforms.RandomApply([3]), TypeError, "a step has the wrong type|wrong type"),
        (lambda: transforms.Mask("x", 3), TypeError, "need a Relational"),
        (lambda: transforms.PadEnd(3), TypeError, "pad_shape has the wrong type"),
        (lambda: transforms.Slice("x"), TypeError, "a slice has the wrong type"),
        (lambda: transforms.Concatenate(axis=1), ValueError, "axis is out of range"),
        (lambda: transforms.Fill("x"), TypeError, "fill_value has the wrong type"),
    ],
)
def test_arguments_are_checked(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_array_transforms():
    value = np.array([3, 1, 3, 2])
    assert transforms.PadEnd([6], -1)(value).tolist() == [3, 1, 3, 2, -1, -1]
    assert transforms.PadEnd([None, 1])(value.reshape(2, 2)).tolist() == [[3], [3]]
    assert transforms.Fill(5)(value).tolist() == [5] * 4
    assert transforms.Mask(transforms.Relational.GE, 3)(value).tolist() == [True, False, True, False]
    assert transforms.Mask(transforms.Relational.LT, 3, np.int32)(value).tolist() == [0, 1, 0, 1]
    table = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(
        transforms.Slice(slice(None, None, -1), [0, 3])(table), table[::-1][:, [0, 3]]
    )
    np.testing.assert_array_equal(transforms.Slice(..., slice(1, 3))(table), table[:, 1:3])
    np.testing.assert_array_equal(transforms.Slice(1)(table), table[[1]])
    joined = transforms.Concatenate(prepend=np.array([9]), append=np.array([8]))
    assert joined(value, value[:1]).tolist() == [9, 3, 1, 3, 2, 3, 8]
    twice = transforms.Duplicate()(value)
    assert [v.tolist() for v in twice] == [value.tolist()] * 2
    assert [v.tolist() for v in transforms.Unique()(value)] == [[1, 2, 3], [2, 0, 2, 1], [1, 1, 2]]


def test_array_transforms_in_a_map():
    data = ds.NumpySlicesDataset({"x": [[1, 2], [3, 3]]}, shuffle=False)
    doubled = data.map(transforms.Duplicate(), "x", ["x", "y"])
    assert [
        [v.tolist() for v in r] for r in doubled.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ] == [
        [[1, 2], [1, 2]],
        [[3, 3], [3, 3]],
    ]
    joined = doubled.map(transforms.Concatenate(), ["x", "y"], ["z"])
    assert [r[0].tolist() for r in joined.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [
        [1, 2, 1, 2],
        [3, 3, 3, 3],
    ]
    unique = data.map(transforms.Unique(), "x", ["a", "b", "c"])
    rows = list(unique.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [v.tolist() for v in rows[1]] == [[3], [0, 0], [2]]


def test_the_example_tells_stripes_apart():
    program = pathlib.Path(__file__).resolve().parents[2] / "examples/image_folder/image_folder.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1].removeprefix("accuracy ")) > 0.9


def test_encoded_jpeg_has_the_recorded_bytes():
    for case, expected in FACTS["encoded"].items():
        if case == "about":
            continue
        name, kind, quality = case.split(", ")
        image = picture(name)
        pixels = image if kind == "color" else image[..., 1]
        assert fingerprint(vision.encode_jpeg(pixels, int(quality))) == expected, case


def test_encoded_png_has_the_pixels(tmp_path):
    image = picture()
    for pixels in (image, image[..., 0], image[..., :1], sorus.Tensor(image), image[::-1, ::2]):
        made = vision.encode_png(pixels, 9)
        assert made.dtype == np.uint8
        assert made.ndim == 1
        made[0] = made[0]  # it can be written to
        array = np.asarray(pixels)
        expected = np.broadcast_to(array.reshape(*array.shape[:2], -1), (*array.shape[:2], 3))
        np.testing.assert_array_equal(vision.Decode()(made), expected)
        vision.write_png(str(tmp_path / "it.png"), pixels, 9)
        np.testing.assert_array_equal(vision.read_file(str(tmp_path / "it.png")), made)
    vision.write_jpeg(str(tmp_path / "it.jpg"), image)
    np.testing.assert_array_equal(vision.read_file(str(tmp_path / "it.jpg")), vision.encode_jpeg(image, 75))


def test_bytes_of_files_are_read_and_written(tmp_path):
    path = str(tmp_path / "it")
    for count in (0, 1, 100_000):
        data = np.arange(count, dtype=np.uint32).astype(np.uint8)
        for given in (data, sorus.Tensor(data)):
            assert vision.write_file(path, given) is None
            read = vision.read_file(path)
            assert read.dtype == np.uint8
            np.testing.assert_array_equal(read, data)
    assert [p.name for p in tmp_path.iterdir()] == ["it"]


def test_a_file_that_finds_no_space_is_not_there(tmp_path):
    path = tmp_path / "it.png"
    path.write_bytes(b"before")
    program = f"""
import resource, signal
import numpy as np
from sorus.dataset import vision
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    vision.write_png({str(path)!r}, np.random.randint(0, 256, (64, 64, 3), dtype=np.uint8))
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "cannot write the file: got 'File too large', need a writable folder with space" in done.stdout
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["it.png"]


IMAGE = np.zeros((4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: vision.encode_png([[1]]), TypeError, "image has the wrong type: got list"),
        (lambda: vision.encode_png(IMAGE.astype(np.float32)), TypeError, "got float32, need uint8"),
        (lambda: vision.encode_png(IMAGE[0, 0]), ValueError, "need .H, W., .H, W, 1. or .H, W, 3."),
        (lambda: vision.encode_jpeg(np.zeros((4, 4, 4), np.uint8)), ValueError, "got .4, 4, 4."),
        (lambda: vision.encode_jpeg(IMAGE[:0]), ValueError, "side of the image is out of range: got 0 x 5"),
        (lambda: vision.encode_png(IMAGE, 10), ValueError, "compression_level is out of range: got 10"),
        (lambda: vision.encode_png(IMAGE, 1.0), TypeError, "compression_level has the wrong type"),
        (lambda: vision.encode_jpeg(IMAGE, 0), ValueError, "quality is out of range: got 0, need 1 to 100"),
        (lambda: vision.encode_jpeg(IMAGE, 2**40), ValueError, "quality is out of range"),
        (lambda: vision.write_jpeg(3, IMAGE), TypeError, "filename has the wrong type: got int"),
        (lambda: vision.write_png("/", IMAGE), OSError, "is not a file"),
        (lambda: vision.write_png("/nowhere/it.png", IMAGE), OSError, "No such file or directory"),
        (lambda: vision.read_file("/nowhere/it.png"), OSError, "No such file or directory"),
        (lambda: vision.read_file("/"), OSError, "need a regular file"),
        (lambda: vision.read_file(3), TypeError, "filename has the wrong type"),
        (lambda: vision.write_file("it", b"x"), TypeError, "data has the wrong type: got bytes"),
        (lambda: vision.write_file("it", IMAGE), ValueError, "need rank 1"),
        (lambda: vision.write_file("it", np.zeros(3)), TypeError, "got float64, need uint8"),
        (lambda: vision.get_image_size(IMAGE[0, 0]), ValueError, "need 2 axes or more"),
        (lambda: vision.get_image_num_channels(sorus.Tensor(IMAGE)), TypeError, "got Tensor"),
    ],
)
def test_files_of_images_refuse(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_sizes_of_images():
    for shape, size, channels in (
        ((4, 5), [4, 5], 1),
        ((4, 5, 3), [4, 5], 3),
        ((0, 5, 7), [0, 5], 7),
        ((2, 6, 4, 5, 3), [4, 5], 3),
    ):
        image = np.zeros(shape, np.float32)
        assert vision.get_image_size(image) == size
        assert vision.get_image_num_channels(image) == channels

    class Picture:
        """What is asked of a picture of the Python Imaging Library."""

        size = (5, 4)

        def getbands(self):
            return ("R", "G", "B")

    assert vision.get_image_size(Picture()) == [4, 5]
    assert vision.get_image_num_channels(Picture()) == 3
