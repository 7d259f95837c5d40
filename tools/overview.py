#!/usr/bin/env python3
"""Makes the picture of the README: a CT slice, fibre directions, a mesh cut in two, a photo cut into segments.

    PURLIN_LIBRARY=target/prefix/lib/libpurlin.so PYTHONPATH=bindings/python target/venv/bin/python tools/overview.py

It needs NumPy and the installed library, and writes docs/pictures/overview.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bindings" / "python" / "examples"))

import numpy as np  # noqa: E402
import purlin  # noqa: E402
from fibres import DATA, read_nifti, read_scheme  # noqa: E402
from pictures import COLOURS, Canvas, write_png  # noqa: E402
from purlin import graph, lanczos, sparse  # noqa: E402
from purlin.fdk import Geometry, Grid, Reconstruction, shepp_logan  # noqa: E402
from spectra import SEGMENTS, edges, segmented  # noqa: E402

GOLDEN = ROOT / "tests" / "golden" / "spectral"
SIDE, GAP = 320, 10


def halved(pixels: Any) -> Any:
    """Means of two by two pixels."""
    rows, columns = pixels.shape[:2]
    return pixels.reshape(rows // 2, 2, columns // 2, 2, -1).mean((1, 3))


def head() -> Any:
    """The middle slice of the Shepp-Logan head, from cone-beam views of a full circle."""
    radius, views = 60.0, 720
    pixel = 2 * 1.06 * radius / SIDE
    # Only rows near the middle of the panel see the middle slice.
    geometry = Geometry(
        detector_columns=SIDE * 6 // 5,
        detector_rows=8,
        column_pitch=2 * pixel,
        row_pitch=2 * pixel,
        source_to_axis=500.0,
        source_to_detector=1000.0,
        angles=np.arange(views) * 2 * np.pi / views,
    )
    with Reconstruction(geometry, Grid.centred((SIDE, SIDE, 1), (pixel, pixel, pixel))) as scan:
        volume = scan.reconstruct(scan.project(shepp_logan(radius)))
    # Tissue lies from 0 to 0.4, the skull is 1; y grows upwards.
    grey = np.clip(255 * volume[0, ::-1] / 0.45, 0, 255)
    return np.repeat(grey[:, :, None], 3, axis=2)


def fibres() -> Any:
    """Fibre directions in a slice of white matter, over the signal without diffusion weighting."""
    signals = read_nifti(DATA / "small_64D.nii")
    sh = purlin.dwi.csa(signals, *read_scheme(DATA / "small_64D.bval", DATA / "small_64D.bvec"), 4, "mrtrix3").sh
    found = purlin.dwi.peaks(
        sh, 3, basis="mrtrix3", relative_threshold=0.5, min_separation=np.radians(25), missing="zero"
    )
    ground = np.sqrt(signals[0, :, :, 0] / signals[..., 0].max())
    cell = 2 * SIDE // ground.shape[0]
    picture = np.kron(14 + 92 * ground.T[::-1], np.ones((cell, cell)))[:, :, None] * np.ones(3)
    down, right = np.mgrid[0:cell, 0:cell] + 0.5 - cell / 2
    for y, z in np.ndindex(ground.shape):
        part = picture[(ground.shape[1] - 1 - z) * cell :, y * cell :][:cell, :cell]
        for k in reversed(range(found.count[0, y, z])):
            direction, height = found.directions[0, y, z, k], found.values[0, y, z, k] / found.values[0, y, z, 0]
            step = 0.45 * cell * height * np.array([direction[1], -direction[2]])
            along = np.clip((right * step[0] + down * step[1]) / max(float(step @ step), 1e-9), -1, 1)
            distance = np.hypot(right - along * step[0], down - along * step[1])
            cover = np.clip(0.07 * cell + 0.5 - distance, 0, 1)[:, :, None]
            bright = np.abs(direction) * (0.45 + 0.55 / np.abs(direction).max())
            part += cover * (20 + 235 * np.minimum(bright, 1) - part)
    return halved(picture)


def mesh() -> Any:
    """A mesh at the second and third eigenvectors of its Laplacian, and the cut by the sign of the second."""
    a = sparse.read_market(GOLDEN / "4elt.mtx.gz", np.float64)
    found = lanczos.run(a, 3, "smallest", kind="laplacian", basis=100, tolerance=1e-8)
    assert found.pairs.vectors is not None
    sides = graph.bisect(a, np.ascontiguousarray(found.pairs.vectors[:, 1]), "sign").sides
    tails, heads = edges(a)
    cut = sides[tails] != sides[heads]
    canvas = Canvas(found.pairs.vectors[:, 1:3], 2 * SIDE)
    for side, colour in ((0, COLOURS[0]), (1, COLOURS[2])):
        inside = ~cut & (sides[tails] == side)
        canvas.strokes(tails[inside], heads[inside], colour, 0.4)
    canvas.strokes(tails[cut], heads[cut], COLOURS[1], 1.0)
    return halved(canvas.light)


def photo() -> Any:
    """Segments of a photo, from the eigenvectors of the graph of its pixels."""
    grey = np.load(GOLDEN / "china_rgbsum_stride4.npy").astype(float) / 765
    pixels = graph.of_image(grey, radius=5, intensity=0.12, distance=5, floor=1e-5)
    labels = graph.cluster(pixels, SEGMENTS, basis=80, tolerance=1e-5, seed=1).labels.reshape(grey.shape)
    both = segmented(grey, labels)
    return both[:SIDE, -3 * grey.shape[1] :].astype(float)


def main() -> None:
    panels = [panel() for panel in (head, fibres, mesh, photo)]
    gap = np.full((SIDE, GAP, 3), 255.0)
    row = [part for panel in panels for part in (panel, gap)][:-1]
    path = ROOT / "docs" / "pictures" / "overview.png"
    write_png(path, np.hstack(row).round().astype(np.uint8))
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
