"""Makes the encoded images of tests/fixtures/images, with Pillow and, for what it cannot write, by hand.

    build/peers/mindspore/bin/python bench/peers/make_images.py

The pictures are computed, so they are nobody's. What they decode to is recorded by record_facts.py.
"""

import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/images"
ORIENTATION = 0x112


def picture(height: int, width: int) -> Image.Image:
    """Smooth colors, edges and some noise."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [127 + 90 * np.sin(x / 5 + c) + 60 * np.cos(y / (3 + c)) for c in range(3)]
    image = np.stack(planes, -1)
    image[(x // 7 + y // 5) % 3 == 0] *= 0.4
    image += np.random.RandomState(0).randint(-20, 20, image.shape)
    return Image.fromarray(np.clip(image, 0, 255).astype(np.uint8))


def png(pixels: np.ndarray, color: int, bits: int, interlaced: bool = False) -> bytes:
    """A PNG file of rows of bytes (height, width, bytes of a pixel)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def rows(part: np.ndarray) -> bytes:
        return b"".join(b"\0" + row.tobytes() for row in part) if part.size else b""

    passes = [
        (0, 0, 8, 8),
        (0, 4, 8, 8),
        (4, 0, 8, 4),
        (0, 2, 4, 4),
        (2, 0, 4, 2),
        (0, 1, 2, 2),
        (1, 0, 2, 1),
    ]
    if not interlaced:
        passes = [(0, 0, 1, 1)]
    data = b"".join(rows(pixels[top::down, left::right]) for top, left, down, right in passes)
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, int(interlaced))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, body)
        for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b""))
    )


def encoded(image: Image.Image, kind: str = "JPEG", **options: object) -> bytes:
    """A file as Pillow writes it."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def inks(color: np.ndarray) -> Image.Image:
    """A picture in cyan, magenta, yellow and as much black as there can be."""
    black = 255 - color.max(-1, keepdims=True)
    return Image.fromarray(np.concatenate([255 - color - black, black], -1), "CMYK")


def files() -> dict[str, bytes]:
    """All of them, by name."""
    image = picture(37, 45)
    turned = Image.Exif()
    turned[ORIENTATION] = 6
    color, gray = np.asarray(image), np.asarray(image.convert("L"))
    wide = np.stack([color, color[::-1]], -1).reshape(37, 45, 6)
    alpha = image.convert("RGBA")
    alpha.putalpha(Image.fromarray(gray))
    return {
        "gray.jpg": encoded(image.convert("L")),
        "color444.jpg": encoded(image, subsampling=0),
        "color422.jpg": encoded(image, subsampling=1),
        "color420.jpg": encoded(image, subsampling=2, quality=60),
        "large420.jpg": encoded(picture(67, 101), subsampling=2, quality=50),
        "one_pixel.jpg": encoded(picture(1, 1)),
        "thin.jpg": encoded(picture(3, 50), subsampling=2),
        "progressive.jpg": encoded(image, progressive=True, subsampling=2),
        "restarts.jpg": encoded(image, restart_marker_blocks=2),
        "turned.jpg": encoded(image, exif=turned),
        "cmyk.jpg": encoded(inks(color)),
        "color.png": encoded(image, "PNG"),
        "alpha.png": encoded(alpha, "PNG"),
        "gray.png": encoded(image.convert("L"), "PNG"),
        "gray_alpha.png": encoded(alpha.convert("LA"), "PNG"),
        "palette.png": encoded(image.quantize(13), "PNG", transparency=2),
        "one_bit.png": encoded(image.convert("1"), "PNG"),
        "gray16.png": png(np.stack([gray, 255 - gray], -1), 0, 16),
        "color16.png": png(wide, 2, 16),
        "interlaced.png": png(color, 2, 8, interlaced=True),
        "interlaced_gray.png": png(gray[..., None], 0, 8, interlaced=True),
    }


def main() -> None:
    """Writes them."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (OUTPUT / name).write_bytes(content)


if __name__ == "__main__":
    main()
