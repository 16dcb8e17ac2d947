"""Transforms on pictures of the Python Imaging Library: they do what Pillow does."""

import io
import pathlib
import random

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import sorus.dataset as ds
from sorus.dataset import transforms, vision

FILE = pathlib.Path(__file__).resolve().parents[1] / "fixtures/images/color420.jpg"
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
