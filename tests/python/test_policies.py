"""Augmentation policies: what they can make of an image, how often, and what they refuse."""

import collections
import json
import pathlib
import zlib

import numpy as np
import pytest
import sorus.dataset as ds
from sorus.dataset import vision
from sorus.dataset.vision.policies import pairs_of

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
RECORDED = json.loads((FIXTURES / "mindspore/policies.json").read_text())
IMAGE = (np.arange(13 * 17 * 3) * 7919 % 256).astype(np.uint8).reshape(13, 17, 3)
BLACK = zlib.crc32(np.zeros_like(IMAGE).tobytes())


@pytest.fixture(autouse=True)
def seeded():
    before = ds.config.get_seed()
    ds.config.set_seed(11)
    yield
    ds.config.set_seed(before)


def outcomes(transform, rows, image=IMAGE):
    """How often each image, by its CRC-32, is made."""
    data = ds.NumpySlicesDataset(np.stack([image] * rows), ["image"], shuffle=False).map(transform, "image")
    made = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    return collections.Counter(zlib.crc32(row.tobytes()) for (row,) in made)


def moved(image, right, down):
    """An image moved by whole pixels, black behind it."""
    out = np.zeros_like(image)
    height, width = image.shape[:2]
    rows, columns = height - abs(down), width - abs(right)
    if rows > 0 and columns > 0:
        out[max(down, 0) :, max(right, 0) :][:rows, :columns] = image[max(-down, 0) :, max(-right, 0) :][
            :rows, :columns
        ]
    return out


def translations(magnitude):
    """What translations of RandAugment make of the image."""
    share = 150 / 331 * magnitude / 30
    made = set()
    for sign in (1, -1):
        right, down = round(sign * share * 17), round(sign * share * 13)
        made |= {zlib.crc32(moved(IMAGE, *by).tobytes()) for by in ((right, 0), (0, down))}
    return made


def test_pairs_are_the_documented_ones():
    for policy in vision.AutoAugmentPolicy:
        steps = [list(step) for step in RECORDED[policy.name]]
        documented = [[steps[i], steps[i + 1]] for i in range(0, 50, 2)]
        pairs = [[list(step) for step in pair] for pair in pairs_of(policy)]
        assert sorted(pairs, key=str) == sorted(documented, key=str)


@pytest.mark.parametrize("magnitude", [0, 9, 20, 30])
def test_rand_augment_makes_what_is_recorded_but_for_translations(magnitude):
    made = set(outcomes(vision.RandAugment(1, magnitude), 3000))
    recorded = set(RECORDED[f"RandAugment(1, {magnitude})"]) - {BLACK}  # which moves images out of sight
    assert made - translations(magnitude) == recorded - translations(magnitude)
    assert translations(magnitude) <= made


def test_trivial_augment_makes_what_is_recorded_but_for_translations():
    made = set(outcomes(vision.TrivialAugmentWide(2), 6000))
    assert made - {BLACK} == set(RECORDED["TrivialAugmentWide(2)"]) - {BLACK}
    image = np.arange(40 * 50 * 3, dtype=np.int64).astype(np.uint8).reshape(40, 50, 3)
    made = set(outcomes(vision.TrivialAugmentWide(2), 2000, image))
    for by in ((32, 0), (-32, 0), (0, 32), (0, -32)):
        assert zlib.crc32(moved(image, *by).tobytes()) in made


def test_auto_augment_makes_what_is_recorded():
    assert set(outcomes(vision.AutoAugment(), 20000)) == set(RECORDED["AutoAugment, IMAGENET"])
    for policy in (vision.AutoAugmentPolicy.CIFAR10, vision.AutoAugmentPolicy.SVHN):
        assert len(outcomes(vision.AutoAugment(policy), 500)) > 20


def near(count, share, rows):
    """Within 5 standard deviations."""
    return abs(count - share * rows) < 5 * (rows * share * (1 - share)) ** 0.5


def test_operations_and_signs_are_equally_frequent():
    rows = 20000
    made = outcomes(vision.RandAugment(1, 9), rows)
    darker = zlib.crc32(vision.AdjustBrightness(1 - 0.27)(IMAGE).tobytes())
    brighter = zlib.crc32(vision.AdjustBrightness(1 + 0.27)(IMAGE).tobytes())
    assert near(made[darker], 1 / 28, rows) and near(made[brighter], 1 / 28, rows)
    solarized = zlib.crc32(vision.Solarize((179, 255))(IMAGE).tobytes())
    assert near(made[solarized], 1 / 14, rows)
    twice = outcomes(vision.RandAugment(2, 9), rows)
    both = zlib.crc32(vision.AdjustBrightness(1.27)(vision.Solarize((179, 255))(IMAGE)).tobytes())
    assert near(twice[both], 1 / 14 / 28, rows)


def test_uniform_augment_takes_some_of_its_transforms_in_order():
    rows = 9000
    steps = [vision.HorizontalFlip(), vision.VerticalFlip(), vision.Invert()]
    made = outcomes(vision.UniformAugment(steps, 2), rows)
    expected = collections.Counter()
    for chosen in ((0, 1), (0, 2), (1, 2)):
        for applied in range(4):
            image = IMAGE
            for k, which in enumerate(chosen):
                image = steps[which](image) if applied >> k & 1 else image
            expected[zlib.crc32(np.ascontiguousarray(image).tobytes())] += 1
    assert set(made) == set(expected)
    assert all(near(made[key], count / 12, rows) for key, count in expected.items())


def test_draws_follow_the_seed_and_not_the_workers():
    def make(workers):
        return outcomes_in_order(vision.RandAugment(2, 15), workers)

    def outcomes_in_order(transform, workers):
        data = ds.NumpySlicesDataset(np.stack([IMAGE] * 50), ["image"], shuffle=False)
        data = data.map(transform, "image", num_parallel_workers=workers)
        made = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        return [zlib.crc32(row.tobytes()) for (row,) in made]

    first = make(1)
    assert make(4) == first
    ds.config.set_seed(12)
    assert make(1) != first


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: vision.AutoAugment("imagenet"), TypeError, "need an AutoAugmentPolicy"),
        (lambda: vision.AutoAugment(interpolation=2), TypeError, "need an Inter"),
        (lambda: vision.AutoAugment(fill_value=300), ValueError, "fill_value is out of range"),
        (lambda: vision.RandAugment(-1), ValueError, "num_ops is out of range: got -1, need 0 or more"),
        (lambda: vision.RandAugment(1, 31), ValueError, "magnitude is out of range: got 31, need 0 to 30"),
        (lambda: vision.RandAugment(1, 0, 1), ValueError, "num_magnitude_bins is out of range: got 1"),
        (lambda: vision.TrivialAugmentWide(1), ValueError, "num_magnitude_bins is out of range: got 1"),
        (lambda: vision.UniformAugment(vision.Invert()), TypeError, "transforms has the wrong type"),
        (lambda: vision.UniformAugment([vision.Invert()]), ValueError, "num_ops is out of range: got 2"),
        (lambda: vision.UniformAugment([3], 1), TypeError, "UniformAugment"),
    ],
)
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()
