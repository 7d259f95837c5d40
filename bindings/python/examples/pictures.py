"""Pictures without a library for them: PNG, animated GIF, and plots in SVG; and the pages that show them."""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# The style sheet that the pages of all examples share.
STYLE = Path(__file__).resolve().parents[3] / "examples-c" / "demo.css"
COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8d5a97", "#e59500", "#30343f", "#00a6a6", "#9a6324")


def write_page(path: Path, title: str, body: str) -> None:
    """Writes a page of HTML, and the style sheet next to it."""
    head = f'<meta charset="utf-8"><title>{title}</title><link rel="stylesheet" href="{STYLE.name}">'
    path.write_text(f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n')
    shutil.copyfile(STYLE, path.with_name(STYLE.name))


def write_png(path: Path, pixels: Any) -> None:
    """Grey values from 0 to 255, rows from the top, or three such a pixel: red, green, blue."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows, columns = pixels.shape[:2]
    # Each row begins with the number of its filter: none.
    lines = np.zeros((rows, pixels[0].size + 1), np.uint8)
    lines[:, 1:] = pixels.reshape(rows, -1)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def rgb(colour: str) -> Any:
    """Red, green and blue of `#rrggbb`."""
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], float)


class Canvas:
    """A white square, on which lines and dots of a colour and an opacity are drawn."""

    def __init__(self, places: Any, side: int = 600) -> None:
        """The canvas and, in `at`, the pixels of the points `places` (n, 2)."""
        low, high = places.min(0), places.max(0)
        self.at = 8 + (side - 16) * (places - low) / (high - low)
        self.light = np.full((side, side, 3), 255.0)

    def strokes(self, tails: Any, heads: Any, colour: str, strength: float) -> None:
        """Lines between points, by their numbers."""
        start, way = self.at[tails], self.at[heads] - self.at[tails]
        side = len(self.light)
        marks = np.zeros(side * side)
        # Steps of less than a pixel, lines of like length together.
        steps = np.maximum(1, np.ceil(2 * np.abs(way).max(1))).astype(int)
        for count in np.unique(steps):
            chosen = steps == count
            part = (np.arange(count) + 0.5)[:, None, None] / count
            x, y = (start[chosen] + part * way[chosen]).reshape(-1, 2).astype(int).T
            marks += np.bincount(y * side + x, minlength=side * side)
        self._cover(1 - (1 - strength) ** marks.reshape(side, side), colour)

    def dots(self, points: Any, colour: str) -> None:
        """Points as spots of three by three pixels."""
        marks = np.zeros(self.light.shape[:2])
        x, y = self.at[points].astype(int).T
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                marks[y + down, x + right] = 1 if down * right == 0 else np.maximum(marks[y + down, x + right], 0.4)
        self._cover(marks, colour)

    def _cover(self, share: Any, colour: str) -> None:
        self.light += share[:, :, None] * (rgb(colour) - self.light)

    def write(self, path: Path) -> None:
        write_png(path, self.light.round().astype(np.uint8))


def _packed(pixels: bytes) -> bytes:
    """GIF's own compression (LZW) of numbers below 128."""
    least = 7
    clear, end = 1 << least, (1 << least) + 1
    out, held, bits = bytearray(), 0, 0
    table = {bytes([k]): k for k in range(clear)}
    width, following = least + 1, end + 1

    def put(code: int) -> None:
        nonlocal held, bits
        held |= code << bits
        bits += width
        while bits >= 8:
            out.append(held & 0xFF)
            held >>= 8
            bits -= 8

    put(clear)
    run = b""
    for k in range(len(pixels)):
        longer = run + pixels[k : k + 1]
        if longer in table:
            run = longer
            continue
        put(table[run])
        table[longer] = following
        following += 1
        if following > 1 << width:
            width += 1
        if width > 12:
            width = 12
            put(clear)
            table = {bytes([k]): k for k in range(clear)}
            width, following = least + 1, end + 1
        run = pixels[k : k + 1]
    put(table[run])
    put(end)
    if bits:
        out.append(held & 0xFF)
    return bytes(out)


def write_gif(path: Path, frames: Sequence[Any], hundredths: int) -> None:
    """Frames of grey values from 0 to 255, each shown so many hundredths of a second, over and over."""
    rows, columns = frames[0].shape
    data = bytearray(b"GIF89a" + struct.pack("<HHBBB", columns, rows, 0xF6, 0, 0))
    data += b"".join(bytes([2 * k + 1] * 3) for k in range(128))
    data += b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
    for frame in frames:
        data += b"\x21\xf9\x04\x04" + struct.pack("<HBB", hundredths, 0, 0)
        data += b"\x2c" + struct.pack("<HHHHB", 0, 0, columns, rows, 0) + b"\x07"
        packed = _packed((frame >> 1).astype(np.uint8).tobytes())
        for at in range(0, len(packed), 255):
            part = packed[at : at + 255]
            data += bytes([len(part)]) + part
        data += b"\x00"
    path.write_bytes(bytes(data + b"\x3b"))


def plot(
    title: str,
    across: str,
    up: str,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    logarithmic: bool = True,
    apart: Collection[str] = (),
) -> str:
    """Lines with their points as SVG, for those in `apart` only the points; the vertical axis is logarithmic."""
    width, height, left, bottom = 640, 360, 88, 50
    xs = [x for line in lines.values() for x in line[0]]
    scale = np.log10 if logarithmic else np.asarray
    ys = [float(scale(y)) for line in lines.values() for y in line[1]]
    low, high = min(ys), max(ys)
    margin = 0.05 * (high - low or 1.0)
    low, high = low - margin, high + margin
    first, last = min(xs), max(xs)

    def place(x: float, y: float) -> tuple[float, float]:
        """Position in the picture; y is the logarithm."""
        right = left + (x - first) / ((last - first) or 1.0) * (width - left - 150)
        return right, (height - bottom) - (y - low) / (high - low) * (height - bottom - 30)

    def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'

    parts = [
        (
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-size="12" '
            'font-family="sans-serif" xmlns="http://www.w3.org/2000/svg">'
        ),
        f"<title>{title}</title>",
        text(left, 18, title, "start"),
        text((left + width - 150) / 2, height - 12, across),
        f'<text transform="translate(14,{height / 2:.0f}) rotate(-90)" text-anchor="middle">{up}</text>',
    ]
    for y in np.linspace(low, high, 5):
        right, down = place(first, float(y))
        label = f"{10**y:.3g}" if logarithmic else f"{y:.3g}"
        parts.append(
            f'<path d="M{right:.1f} {down:.1f}H{width - 150}" stroke="#ddd"/>' + text(right - 6, down + 4, label, "end")
        )
    for x in sorted(set(xs)) if len(set(xs)) <= 12 else np.linspace(first, last, 6):
        right, _ = place(float(x), low)
        parts.append(text(right, height - bottom + 18, f"{x:.4g}"))
    for k, (name, (x, y)) in enumerate(lines.items()):
        colour = COLOURS[k % len(COLOURS)]
        points = [place(a, float(scale(b))) for a, b in zip(x, y)]
        if name not in apart:
            line = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
            parts.append(f'<path d="M{line}" fill="none" stroke="{colour}"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points if len(points) < 40]
        parts.append(f'<text x="{width - 140}" y="{40 + 18 * k}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"])
