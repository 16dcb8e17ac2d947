"""Transforms on pictures of the Python Imaging Library: they do what Pillow does."""

import colorsys
import io
import json
import pathlib
import random
import zlib

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import sorus.dataset as ds
from sorus.dataset import transforms, vision

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
FACTS = json.loads((FIXTURES / "mindspore/facts.json").read_text())
FILE = FIXTURES / "images/color420.jpg"
PICTURE = Image.open(FILE).convert("RGB")
GRAY = PICTURE.convert("L")
BICUBIC, BILINEAR = Image.Resampling.BICUBIC, Image.Resampling.BILINEAR


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (vision.Resize((20, 30)), lambda p: p.resize((30, 20), BILINEAR)),
        (vision.Resize(20, vision.Inter.BICUBIC), lambda p: p.resize((24, 20), BICUBIC)),
        (vision.Resize((9, 9), vision.Inter.ANTIALIAS), lambda p: p.resize((9, 9), Image.Resampling.LANCZOS)),
        (vision.CenterCrop((11, 20)), lambda p: p.crop((12, 13, 32, 24))),
        (vision.Crop((3, 4), (5, 6)), lambda p: p.crop((4, 3, 10, 8))),
        (vision.HorizontalFlip(), ImageOps.mirror),
        (vision.VerticalFlip(), ImageOps.flip),
        (vision.RandomHorizontalFlip(1.0), ImageOps.mirror),
        (vision.RandomVerticalFlip(1.0), ImageOps.flip),
        (vision.Invert(), ImageOps.invert),
        (vision.Equalize(), ImageOps.equalize),
        (vision.AutoContrast(5.0), lambda p: ImageOps.autocontrast(p, 5.0)),
        (
            vision.Pad((1, 2, 3, 4), 7),
            lambda p: ImageOps.expand(p, (1, 2, 3, 4), 7 if p.mode == "L" else (7,) * 3),
        ),
        (vision.AdjustBrightness(1.4), lambda p: ImageEnhance.Brightness(p).enhance(1.4)),
        (vision.AdjustContrast(0.4), lambda p: ImageEnhance.Contrast(p).enhance(0.4)),
        (vision.AdjustSaturation(1.4), lambda p: ImageEnhance.Color(p).enhance(1.4)),
        (vision.AdjustSharpness(1.9), lambda p: ImageEnhance.Sharpness(p).enhance(1.9)),
        (vision.RandomColor((1.3, 1.3)), lambda p: ImageEnhance.Color(p).enhance(1.3)),
        (vision.RandomSharpness((0.3, 0.3)), lambda p: ImageEnhance.Sharpness(p).enhance(0.3)),
        (vision.RandomColorAdjust((1.3, 1.3)), lambda p: ImageEnhance.Brightness(p).enhance(1.3)),
        (vision.Rotate(30, vision.Inter.BILINEAR), lambda p: p.rotate(30, BILINEAR)),
        (
            vision.RandomRotation((9, 9), fill_value=3),
            lambda p: p.rotate(9, fillcolor=3 if p.mode == "L" else (3,) * 3),
        ),
        (vision.Grayscale(1), lambda p: p.convert("L")),
        (vision.RandomGrayscale(0.0), lambda p: p),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "build") else "",
)
def test_a_picture_becomes_what_pillow_makes_of_it(transform, expected):
    for picture in (PICTURE, GRAY):
        got = transform(picture)
        assert isinstance(got, Image.Image)
        assert got.mode == expected(picture).mode
        np.testing.assert_array_equal(np.asarray(got), np.asarray(expected(picture)))


def test_reflected_borders_and_hue():
    got = vision.Pad(3, padding_mode=vision.Border.REFLECT)(PICTURE)
    np.testing.assert_array_equal(
        np.asarray(got), np.pad(np.asarray(PICTURE), ((3, 3), (3, 3), (0, 0)), "reflect")
    )
    hue, saturation, value = PICTURE.convert("HSV").split()
    turned = Image.fromarray(np.asarray(hue) + np.uint8(25))
    expected = Image.merge("HSV", (turned, saturation, value)).convert("RGB")
    np.testing.assert_array_equal(np.asarray(vision.AdjustHue(0.1)(PICTURE)), np.asarray(expected))
    np.testing.assert_array_equal(np.asarray(vision.AdjustHue(0.1)(GRAY)), np.asarray(GRAY))


def test_random_parts_lie_within_the_picture():
    random.seed(3)
    whole = np.asarray(PICTURE)
    windows = np.lib.stride_tricks.sliding_window_view(whole, (20, 24, 3)).reshape(-1, 20, 24, 3)
    for _ in range(10):
        part = np.asarray(vision.RandomCrop((20, 24))(PICTURE))
        assert (windows == part).all((1, 2, 3)).any()
    assert vision.RandomCrop(60, pad_if_needed=True)(PICTURE).size == (60, 60)
    assert vision.RandomCrop(40, 4)(PICTURE).size == (40, 40)
    with pytest.raises(ValueError, match="window is larger than the padded image"):
        vision.RandomCrop(60)(PICTURE)
    sizes = {
        vision.RandomResizedCrop((8, 9), interpolation=vision.Inter.PILCUBIC)(PICTURE).size for _ in range(9)
    }
    assert sizes == {(9, 8)}


def test_a_chain_keeps_pictures_until_they_become_tensors():
    steps = [
        vision.Decode(to_pil=True),
        vision.Resize((16, 18), vision.Inter.BICUBIC),
        lambda picture: picture.transpose(Image.Transpose.ROTATE_90),
        vision.ToTensor(),
        vision.Normalize([0.5] * 3, [0.5] * 3, is_hwc=False),
    ]
    content = np.frombuffer(FILE.read_bytes(), np.uint8)
    resized = np.asarray(PICTURE.resize((18, 16), BICUBIC).transpose(Image.Transpose.ROTATE_90))
    expected = (resized.transpose(2, 0, 1) * np.float32(1 / 255) - np.float32(0.5)) / np.float32(0.5)
    for operations in (steps, transforms.Compose(steps), [transforms.Compose(steps[:2]), *steps[2:]]):
        data = ds.NumpySlicesDataset([content], "image").map(operations, "image")
        ((image,),) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        np.testing.assert_array_equal(image, expected)
    np.testing.assert_array_equal(transforms.Compose(steps)(content), expected)
    data = ds.NumpySlicesDataset([np.asarray(PICTURE)], "image").map(
        [vision.ToPIL(), vision.Invert()], "image"
    )
    ((image,),) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    np.testing.assert_array_equal(image, np.asarray(ImageOps.invert(PICTURE)))


def test_what_pillow_lacks_works_on_pixels():
    pixels = np.asarray(PICTURE)
    np.testing.assert_array_equal(vision.Posterize(3)(PICTURE), vision.Posterize(3)(pixels))
    np.testing.assert_array_equal(vision.HWC2CHW()(PICTURE), vision.HWC2CHW()(pixels))


def test_pictures_are_refused_where_they_do_not_fit():
    with pytest.raises(NotImplementedError, match="interpolation is not supported for pictures: got AREA"):
        vision.Resize(4, vision.Inter.AREA)(PICTURE)
    with pytest.raises(NotImplementedError, match="interpolation is not supported for arrays: got PILCUBIC"):
        vision.Resize(4, vision.Inter.PILCUBIC)(np.asarray(PICTURE))
    with pytest.raises(OSError, match="the bytes hold no image: got 4 bytes"):
        vision.Decode(to_pil=True)(np.zeros(4, np.uint8))
    with pytest.raises(TypeError, match="need bytes of rank 1"):
        vision.Decode(to_pil=True)(np.zeros((2, 2), np.uint8))
    buffer = io.BytesIO()
    PICTURE.save(buffer, "BMP")  # Pillow knows more formats
    picture = vision.Decode(to_pil=True)(np.frombuffer(buffer.getvalue(), np.uint8))
    np.testing.assert_array_equal(np.asarray(picture), np.asarray(PICTURE))


def fingerprint(image):
    array = np.ascontiguousarray(image)
    return [list(array.shape), zlib.crc32(array.tobytes())]


COLORFUL = Image.open(FIXTURES / "images/color.png").convert("RGB")
RECORDED = FACTS["parts_and_perspectives"]
MIXED = FACTS["mixed_and_converted"]


def test_parts_are_the_recorded_ones():
    for key, crop in (
        ("FiveCrop((7, 12))", vision.FiveCrop((7, 12))),
        ("TenCrop(9)", vision.TenCrop(9)),
        ("TenCrop(9, True)", vision.TenCrop(9, True)),
    ):
        assert [fingerprint(part) for part in crop(COLORFUL)] == RECORDED[key], key
    data = ds.NumpySlicesDataset([np.fromfile(FIXTURES / "images/color.png", np.uint8)], "image")
    steps = [vision.Decode(to_pil=True), vision.FiveCrop((7, 12)), lambda *p: np.stack([*map(np.asarray, p)])]
    ((parts,),) = data.map(steps, "image").create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [fingerprint(part) for part in parts] == RECORDED["FiveCrop((7, 12))"]


def test_perspectives_are_the_recorded_ones():
    for name in ("NEAREST", "LINEAR", "CUBIC"):
        for seed in range(6):
            random.seed(seed)
            transform = vision.RandomPerspective(0.1 + 0.15 * seed, 0.7, vision.Inter[name])
            assert fingerprint(transform(COLORFUL)) == RECORDED[f"{name}, {seed}"], (name, seed)
    still = vision.RandomPerspective(0.9, 0.0)
    assert all(still(COLORFUL) is COLORFUL for _ in range(20))


def test_resized_crops_are_the_recorded_ones():
    array = np.asarray(COLORFUL)
    for name in ("NEAREST", "LINEAR", "CUBIC", "AREA"):
        for size in (9, (20, 31)):
            crop = vision.ResizedCrop(3, 1, 14, 11, size, vision.Inter[name])
            assert fingerprint(crop(array)) == RECORDED[f"ResizedCrop, {name}, {size}"], (name, size)
            np.testing.assert_array_equal(crop(COLORFUL), crop(array))
    data = ds.NumpySlicesDataset([array], "image").map(vision.ResizedCrop(3, 1, 14, 11, 9), "image")
    ((image,),) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert fingerprint(image) == RECORDED["ResizedCrop, LINEAR, 9"]
    with pytest.raises(ValueError, match="window leaves the image"):
        vision.ResizedCrop(40, 1, 100, 11, 9)(array)
    with pytest.raises(ValueError, match="ResizedCrop: height is out of range: got 0, need 1 or more"):
        vision.ResizedCrop(0, 0, 0, 1, 9)


def test_mixed_batches_are_the_recorded_ones():
    for single in (True, False):
        np.random.seed(0)
        mix = vision.MixUp(3, 0.4, single)
        for k, (sums, labels) in enumerate(MIXED[f"MixUp, {single}"]):
            got = mix(np.full((3, 2, 2, 1), 10.0**k), np.eye(12)[3 * k : 3 * k + 3])
            np.testing.assert_allclose(got[0].sum((1, 2, 3)), sums, rtol=1e-12)
            np.testing.assert_allclose(got[1], labels, rtol=1e-12)
    with pytest.raises(ValueError, match="need a batch of 3"):
        mix(np.zeros((2, 4, 4, 3)), np.eye(2))
    with pytest.raises(ValueError, match="MixUp: batch differs in shape from the one before"):
        mix(np.zeros((3, 4, 4, 3)), np.eye(12)[:3])
    with pytest.raises(ValueError, match="alpha is out of range"):
        vision.MixUp(3, 0)


def test_color_models_are_those_of_others():
    values = (np.arange(60) * 37 % 61 / 60).reshape(3, 4, 5)
    values[:, 0, 0] = 0.5
    values[:, 0, 1] = 0
    for transform, truth in ((vision.RgbToHsv, colorsys.rgb_to_hsv), (vision.HsvToRgb, colorsys.hsv_to_rgb)):
        expected = np.apply_along_axis(lambda pixel, truth=truth: truth(*pixel), 0, values)
        np.testing.assert_allclose(transform()(values), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(transform()(values), MIXED[transform.__name__], rtol=1e-12, atol=1e-12)
        batch = np.stack([values.transpose(1, 2, 0)] * 2)
        np.testing.assert_array_equal(transform(True)(batch)[1], transform()(values).transpose(1, 2, 0))
        with pytest.raises(TypeError, match=r"need \(3, H, W\)"):
            transform()(values[:2])
    pixels = (values * 255).astype(np.uint8).reshape(4, 5, 3)
    np.testing.assert_allclose(
        vision.RgbToHsv(True)(pixels), MIXED["RgbToHsv, bytes"], rtol=1e-12, atol=1e-12
    )
    matrix = (np.arange(144) * 31 % 145 / 145).reshape(12, 12)
    whiten = vision.LinearTransformation(matrix, np.arange(12) / 4)
    np.testing.assert_allclose(whiten(values[:, :2, :2]), MIXED["LinearTransformation"], rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: vision.FiveCrop(4)(np.zeros((9, 9, 3), np.uint8)), TypeError, "need a picture"),
        (lambda: vision.TenCrop(99)(PICTURE), ValueError, "TenCrop: size is larger than the picture"),
        (lambda: vision.TenCrop(4, 1), TypeError, "use_vertical_flip has the wrong type: got int"),
        (lambda: vision.RandomPerspective()(np.zeros((9, 9, 3), np.uint8)), TypeError, "need a picture"),
        (lambda: vision.RandomPerspective(1.5), ValueError, "distortion_scale is out of range"),
        (lambda: vision.RandomPerspective(0.5, 0.5, vision.Inter.AREA), NotImplementedError, "got AREA"),
        (lambda: vision.LinearTransformation(np.eye(2)[:1], np.ones(2)), ValueError, "need a square"),
        (lambda: vision.LinearTransformation(np.eye(2), np.ones(3)), ValueError, r"need \(2,\)"),
        (lambda: vision.LinearTransformation(np.eye(2), np.ones(2))(np.ones(3)), ValueError, "need 2 values"),
        (lambda: vision.Resize(4).device("Ascend"), NotImplementedError, "need 'CPU'"),
        (lambda: vision.Resize(4).device("GPU"), ValueError, "device_target is unknown: got 'GPU'"),
        (lambda: vision.Resize(4).device(3), TypeError, "device_target has the wrong type: got int"),
    ],
)
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_transforms_run_where_they_are_told():
    flip = vision.HorizontalFlip()
    assert flip.device() is flip
    np.testing.assert_array_equal(flip.device("CPU")(np.asarray(PICTURE)), np.asarray(PICTURE)[:, ::-1])
