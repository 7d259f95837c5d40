"""A PNG file, and a picture of points in the plane and the lines between them, by NumPy and zlib alone."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .outputs import writing

# Colours that stay apart for people who see few, after Okabe and Ito.
_COLOURS = np.array(
    [
        [0, 114, 178],
        [230, 159, 0],
        [0, 158, 115],
        [213, 94, 0],
        [204, 121, 167],
        [86, 180, 233],
        [240, 228, 66],
        [90, 90, 90],
    ],
    np.uint8,
)
_LINE = 215
# More lines than this would hide the points.
_MOST_LINES = 200_000


def write(path: Path, pixels: Any) -> None:
    """Writes (height, width, 3) bytes as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    # Each row begins with the number of its filter: 0, none.
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")
    with writing(path):
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + content)


def _places(points: Any, size: int) -> Any:
    """Pixels (x, y) of points (n, 2): the smallest square around them, with a margin, y upwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = max(float((high - low).max()), np.finfo(np.float64).tiny)
    margin = 0.04 * size
    unit = (points - (low + high) / 2) / extent
    at = size / 2 + unit * (size - 2 * margin)
    at[:, 1] = size - 1 - at[:, 1]
    return np.clip(np.rint(at), 0, size - 1).astype(np.int64)


def _draw_lines(pixels: Any, begin: Any, end: Any) -> None:
    """Lines from pixels to pixels, as many steps as the longer side of each."""
    steps = np.abs(end - begin).max(axis=1)
    # A bounded number of pixels at a time.
    for first in range(0, len(steps), 4096):
        part = slice(first, first + 4096)
        count = steps[part] + 1
        which = np.repeat(np.arange(len(count)), count)
        along = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        ratio = along / np.maximum(steps[part], 1)[which]
        at = np.rint(begin[part][which] + ratio[:, None] * (end[part] - begin[part])[which]).astype(np.int64)
        pixels[at[:, 1], at[:, 0]] = _LINE


def scatter(points: Any, labels: Any, edges: tuple[Any, Any] | None, size: int = 800) -> Any:
    """The picture (size, size, 3) of points (n, 2): in the colour of each label, with grey lines between the rows of `edges`
    unless there are too many."""
    pixels = np.full((size, size, 3), 255, np.uint8)
    at = _places(np.asarray(points, np.float64), size)
    if edges is not None and len(edges[0]) <= _MOST_LINES:
        _draw_lines(pixels, at[edges[0]], at[edges[1]])
    radius = int(np.clip(round(4 - np.log10(max(len(at), 1)) / 2), 1, 4))
    colours = _COLOURS[np.asarray(labels, np.int64) % len(_COLOURS)]
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dx * dx + dy * dy <= radius * radius:
                x, y = at[:, 0] + dx, at[:, 1] + dy
                inside = (x >= 0) & (x < size) & (y >= 0) & (y < size)
                pixels[y[inside], x[inside]] = colours[inside]
    return pixels
