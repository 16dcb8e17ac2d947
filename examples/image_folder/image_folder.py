"""Trains a small network on a folder that has a subfolder of JPEG or PNG images for each class.

    python image_folder.py [FOLDER]

Without a folder it draws one of its own: stripes that lie, and stripes that stand.
"""

import pathlib
import struct
import sys
import tempfile
import zlib

import numpy as np

import sorus as ms
import sorus.dataset as ds
from sorus import nn
from sorus.dataset import transforms, vision

SIZE = 32
BATCH = 16


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of an RGB image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    )


def draw_stripes(folder: pathlib.Path) -> None:
    """Sixty images of each class, of different sizes and colors."""
    chance = np.random.RandomState(0)
    for name in ("lying", "standing"):
        (folder / name).mkdir()
        for number in range(60):
            height, width = chance.randint(40, 70, 2)
            stripes = (np.arange(height) // chance.randint(3, 7)) % 2
            image = np.broadcast_to(stripes[:, None, None], (height, width, 3)) * chance.randint(80, 256, 3)
            image = np.clip(image + chance.randint(0, 40, image.shape), 0, 255).astype(np.uint8)
            if name == "standing":
                image = image.transpose(1, 0, 2)
            (folder / name / f"{number}.png").write_bytes(png(image))


def batches(folder: str) -> ds.Dataset:
    """Random parts of the images, some turned left to right, as batches of (N, 3, SIZE, SIZE) in float32."""
    data = ds.ImageFolderDataset(folder, shuffle=True)
    image = [
        vision.RandomCropDecodeResize(SIZE, scale=(0.5, 1.0)),
        vision.RandomHorizontalFlip(0.5),
        vision.RandomColorAdjust(brightness=0.2, contrast=0.2),
        vision.Normalize([127.0] * 3, [64.0] * 3),
        vision.HWC2CHW(),
    ]
    data = data.map(image, "image").map(transforms.TypeCast(ms.int32), "label")
    return data.batch(BATCH, drop_remainder=True)


def train(folder: str) -> float:
    """Eight epochs; gives the share of the images of another one that are told apart."""
    ms.set_seed(1)
    data = batches(folder)
    classes = len(ds.ImageFolderDataset(folder).get_class_indexing())
    layers = [nn.Conv2d(3, 8, 5, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU()]
    net = nn.SequentialCell([*layers, nn.Flatten(), nn.Dense(16 * (SIZE // 4) ** 2, classes)])
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 2e-3))
    iterator = data.create_tuple_iterator(num_epochs=8)
    for epoch in range(8):
        losses = [float(step(images, labels)) for images, labels in iterator]
        print(f"epoch {epoch}: loss {np.mean(losses):.3f}")
    right = [
        np.mean(net(images).asnumpy().argmax(1) == labels.asnumpy())
        for images, labels in data.create_tuple_iterator(num_epochs=1)
    ]
    return float(np.mean(right))


def main() -> None:
    """Trains on the folder named, or on one that goes with the program."""
    if len(sys.argv) > 1:
        accuracy = train(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            draw_stripes(pathlib.Path(folder))
            accuracy = train(folder)
    print(f"accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
