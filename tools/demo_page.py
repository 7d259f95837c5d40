#!/usr/bin/env python3
"""Joins the pages that the examples write to one page: demo_page.py FOLDER

FOLDER holds the examples' pages and their pictures; some may be missing. It gets index.html, with the source
code below each picture. Bitmaps become PNG. The examples' own pages are removed. Standard library only.
"""

from __future__ import annotations

import html
import re
import struct
import sys
import textwrap
import zlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "bindings/python/examples"


@dataclass(frozen=True)
class Excerpt:
    """Lines of a source file, from the first that contains `first` to the next that contains `last`."""

    path: str
    first: str
    last: str

    def lines(self) -> str:
        all_lines = (ROOT / self.path).read_text().splitlines()
        begin = next((k for k, line in enumerate(all_lines) if self.first in line), None)
        if begin is None:
            raise SystemExit(f"error: {self.path}: has no line with {self.first!r}")
        end = next((k for k, line in enumerate(all_lines) if k > begin and self.last in line), None)
        if end is None:
            raise SystemExit(f"error: {self.path}: no line after {self.first!r} has {self.last!r}")
        return textwrap.dedent("\n".join(all_lines[begin : end + 1]))


@dataclass(frozen=True)
class Part:
    """The page of an example: its name, its title in the list, and the code of each of its headings."""

    file: str
    title: str
    code: dict[str, tuple[Excerpt, ...]]


_PEAKS = Excerpt("examples-c/sshopm_fibres.c", "/* The usual limits", "purlin_dwi_peaks_once")
_STICKS = Excerpt("examples-c/fibres_page.c", "static void write_sticks", "fprintf(out")
_SCAN = Excerpt("examples-c/fdk_stream.cpp", "purlin::fdk::options options;", "fdk.finish(volume)")
_CIRCLE = Excerpt("examples-c/fdk_stream.cpp", "purlin::fdk::geometry circle;", "circle.angles")
_SHORT = Excerpt("examples-c/fdk_stream.cpp", "purlin::fdk::geometry short_scan", "short_scan.angles")
_HALF = Excerpt("examples-c/fdk_stream.cpp", "purlin::fdk::geometry half_fan", "half_fan.column_offset")


def _python(file: str, first: str, last: str) -> Excerpt:
    return Excerpt(f"{PYTHON}/{file}.py", first, last)


PARTS = (
    Part(
        "fibres.html",
        "Fibre directions",
        {
            "Fibre directions in white matter": (_PEAKS, _STICKS),
            "Every slice along x": (_PEAKS, _STICKS),
        },
    ),
    Part(
        "fdk.html",
        "Cone-beam CT",
        {"full circle": (_CIRCLE, _SCAN), "short scan": (_SHORT, _SCAN), "half fan": (_HALF, _SCAN)},
    ),
    Part(
        "low_rank.html",
        "SVD and robust PCA",
        {
            "Faces": (_python("low_rank", "def eigenfaces", "write_png"),),
            "Background and passers-by": (_python("low_rank", "def video", "write_png"),),
            "Accuracy and passes": (_python("low_rank", "def spectrum", "shown[method]"),),
            "Less memory than data": (_python("low_rank", "def limits", "lines[method]"),),
        },
    ),
    Part(
        "spectra.html",
        "Sparse spectra",
        {
            "A mesh cut in two": (
                _python("spectra", "found = lanczos.run(mesh", "mesh_picture(out"),
                _python("spectra", "def mesh_picture", "canvas.write"),
            ),
            "A graph of written digits": (_python("spectra", "def digits", "canvas.write"),),
            "A photo cut into segments": (
                _python("spectra", "photo = np.load", "write_png"),
                _python("spectra", "def segmented", "return"),
            ),
            "The spectrum of a graph": (_python("spectra", "def spectrum", "for k, height"),),
            "Convergence": (_python("spectra", "def convergence", "return"),),
            "Products": (_python("spectra", "def products", "return"), _python("roofline", "def here", "return")),
        },
    ),
    Part(
        "tensor_trains.html",
        "Tensor trains",
        {
            "Correlations of spin 4 with the others": (
                Excerpt("bindings/fortran/examples/spin_chain.f90", "! The cores are used in place", "contraction%correlation"),
                _python("tensor_trains", "def state", "return"),
            ),
            "Rings of spins 1 in the AKLT state": (_python("tensor_trains", "def aklt", "return"),),
            "Inner products": (_python("tensor_trains", "def rates", "return"),),
        },
    ),
)


def png(bitmap: bytes) -> bytes:
    """A PNG of an uncompressed BMP of 8 bits a pixel whose palette is grey; a BMP's rows go upwards."""
    start, _, width, height, _, bits, compression = struct.unpack_from("<IIiiHHI", bitmap, 10)
    if bitmap[:2] != b"BM" or bits != 8 or compression != 0 or height < 0:
        raise ValueError("is not an upright, uncompressed bitmap of 8 bits a pixel")
    stride = (width + 3) // 4 * 4
    rows = [bitmap[start + stride * row :][:width] for row in reversed(range(height))]

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    # Each row begins with the number of its filter: none.
    lines = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


def convert_bitmaps(folder: Path) -> None:
    for path in folder.glob("*.bmp"):
        path.with_suffix(".png").write_bytes(png(path.read_bytes()))
        path.unlink()


def details(excerpts: tuple[Excerpt, ...]) -> str:
    blocks = "".join(
        f"<p><code>{excerpt.path}</code></p><pre><code>{html.escape(excerpt.lines())}</code></pre>" for excerpt in excerpts
    )
    return f"<details><summary>Code</summary>{blocks}</details>\n"


def section(part: Part, page: str) -> str:
    """The part's body with its headings one level down, and the code below each that has a picture."""
    match = re.search(r"<body>(.*)</body>", page, re.DOTALL)
    if match is None:
        raise SystemExit(f"error: {part.file}: has no body")
    body = re.sub(r"(src=['\"][\w.-]+)\.bmp", r"\1.png", match[1])
    text = f'<section id="{Path(part.file).stem}">\n'
    for piece in re.split(r"(?=<h[12]>)", body):
        heading = re.match(r"<h([12])>(.*?)</h\1>", piece)
        if heading is None:
            text += piece
            continue
        text += f"<h{int(heading[1]) + 1}>{heading[2]}</h{int(heading[1]) + 1}>{piece[heading.end():]}"
        if heading[2] in part.code:
            text += details(part.code[heading[2]])
        elif "<img" in piece or "<svg" in piece:
            raise SystemExit(f"error: {part.file}: {heading[2]!r} has a picture without its code in tools/demo_page.py")
    return text + "</section>\n"


def main() -> int:
    folder = Path(sys.argv[1])
    for part in PARTS:
        # Those of pictures that are not made here too, so that an excerpt that its source no longer has is seen everywhere.
        for excerpts in part.code.values():
            details(excerpts)
    convert_bitmaps(folder)
    found = [part for part in PARTS if (folder / part.file).is_file()]
    links = " ".join(f'<a href="#{Path(part.file).stem}">{part.title}</a>' for part in found)
    sections = "".join(section(part, (folder / part.file).read_text()) for part in found)
    (folder / "index.html").write_text(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>purlin</title>'
        '<link rel="stylesheet" href="demo.css"></head><body>\n<h1>purlin on this machine</h1>\n'
        "<p>Pictures and figures that the examples of the repository made here, each with its code.</p>\n"
        f"<nav>{links}</nav>\n{sections}</body></html>\n"
    )
    for part in found:
        (folder / part.file).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
