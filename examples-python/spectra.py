"""Sparse spectra: a graph's eigenvalues and how they converge, a mesh drawn by its eigenvectors and cut in two, a photo
cut into segments by the graph of its pixels; and products against SciPy's, where that is there. As a page of HTML.

spectra.py FOLDER DATA

FOLDER gets spectra.html and its pictures. DATA holds the matrices of tests/golden/spectral.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import roofline
from pictures import COLOURS, plot, write_png

import purlin
from purlin import graph, lanczos, sparse, spmv

SEGMENTS = 8


def seconds(call: Any) -> float:
    """The median of seven calls."""
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return sorted(times)[3]


def svg(width: int, height: int, body: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" font-family="sans-serif" font-size="13">{body}</svg>'


def spectrum(a: purlin.Matrix) -> str:
    """The density of the normalised adjacency matrix's spectrum, as bars."""
    found = graph.density(a, 80, 20, kind="normalised_adjacency", seed=1)
    shares, _ = np.histogram(found.points, 60, (-1, 1), weights=found.weights)
    high = shares.max()
    bars = "".join(
        f'<path d="M{25 + 11 * k} 210v{-180 * share / high:.1f}" stroke="#1b6ca8" stroke-width="10"/>'
        for k, share in enumerate(shares)
    )
    marks = "".join(f'<text x="{20 + 330 * (x + 1):.0f}" y="230" text-anchor="middle">{x:g}</text>' for x in (-1, 0, 1))
    return svg(700, 240, bars + marks)


def convergence(a: purlin.Matrix) -> list[tuple[int, float]]:
    """Products made, and the largest residual of ten eigenpairs then, for more and more restarts."""
    points: list[tuple[int, float]] = []
    for restarts in range(1, 30):
        try:
            solution = lanczos.run(a, 10, restarts=restarts, basis=21)
        except lanczos.Unfinished as told:
            solution = told.solution
        points.append((solution.info.products, float(solution.residuals.max())))
        if solution.info.converged == 10:
            break
    return points


def mesh_picture(mesh: purlin.Matrix, xy: Any, sides: Any) -> str:
    """Edges of a mesh at the places of its vertices; those between the sides stand out."""
    pointers, columns, _ = mesh.arrays()
    rows = np.repeat(np.arange(mesh.shape[0]), np.diff(pointers))
    once = rows < columns
    rows, columns = rows[once], columns[once]
    low, high = xy.min(0), xy.max(0)
    at = 10 + 680 * (xy - low) / (high - low)
    paths = []
    for kind, colour, width in ((0, "#1b6ca8", 0.3), (1, "#2e933c", 0.3), (2, "#d1495b", 1.2)):
        cut = sides[rows] != sides[columns]
        chosen = cut if kind == 2 else ~cut & (sides[rows] == kind)
        ends = np.hstack((at[rows[chosen]], at[columns[chosen]]))
        path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in ends)
        paths.append(f'<path d="{path}" stroke="{colour}" stroke-width="{width}" fill="none"/>')
    return svg(700, 700, "".join(paths))


def outlined(pixels: Any, labels: Any) -> Any:
    """A photo with the borders of its segments in white, each pixel three by three."""
    big = np.kron(pixels, np.ones((3, 3)))
    group = np.kron(labels, np.ones((3, 3), labels.dtype))
    border = np.zeros(big.shape, bool)
    border[:-1] |= group[:-1] != group[1:]
    border[:, :-1] |= group[:, :-1] != group[:, 1:]
    return np.where(border, 255, 255 * 0.8 * big).astype(np.uint8)


def products(matrices: dict[str, purlin.Matrix]) -> list[tuple[str, int, float, float | None]]:
    """Name, entries, seconds of a product, and of SciPy's if there is SciPy."""
    try:
        importlib.import_module("scipy.sparse")
        peer = True
    except ImportError:
        peer = False
    rows = []
    for name, a in matrices.items():
        x, y = np.random.default_rng(0).standard_normal(a.shape[1]), np.zeros(a.shape[0])
        plan = spmv.Plan(a)
        other = a.scipy() if peer else None
        theirs = None if other is None else seconds(lambda m=other, v=x: m @ v)
        rows.append((name, a.nnz, seconds(lambda p=plan, v=x, o=y: p.apply(v, o)), theirs))
    return rows


def main() -> None:
    out, data = Path(sys.argv[1]), Path(sys.argv[2])
    with purlin.Context("cpu") as context:

        def read(name: str) -> purlin.Matrix:
            return sparse.read_market(data / f"{name}.mtx.gz", np.float64, context=context)

        internet, mesh, mail = read("as-caida20071105"), read("4elt"), read("email-Enron")
        bars = spectrum(internet)
        points = convergence(internet)
        line = ([float(k) for k, _ in points], [r for _, r in points])
        curve = plot("Ten largest eigenpairs", "products", "largest residual", {"as-caida": line})
        found = lanczos.run(mesh, 3, "smallest", kind="laplacian", basis=100, tolerance=1e-8)
        assert found.pairs.vectors is not None
        halves = graph.bisect(mesh, np.ascontiguousarray(found.pairs.vectors[:, 1]), "sign")
        drawing = mesh_picture(mesh, found.pairs.vectors[:, 1:3], halves.sides)
        photo = np.load(data / "china_rgbsum_stride4.npy").astype(float) / 765
        pixels = graph.of_image(photo, radius=5, intensity=0.12, distance=5, floor=1e-5, context=context)
        segments = graph.cluster(pixels, SEGMENTS, basis=80, tolerance=1e-5, seed=1)
        labels = segments.labels.reshape(photo.shape)
        write_png(out / "photo.png", (255 * np.kron(photo, np.ones((3, 3)))).astype(np.uint8))
        write_png(out / "segments.png", outlined(photo, labels))
        table = products({"internet, as-caida": internet, "mail, email-Enron": mail, "mesh, 4elt": mesh})
        roofs = roofline.here(context) + roofline.recorded()
    rows = "".join(
        f"<tr><td>{name}</td><td>{nnz}</td><td>{1e6 * own:.0f}</td><td>{12e-9 * nnz / own:.1f}</td>"
        f"<td>{'' if peer is None else f'{peer / own:.2f}'}</td></tr>"
        for name, nnz, own, peer in table
    )
    colours = ", ".join(f'<span style="color:{colour}">&#9632;</span>' for colour in (COLOURS[0], COLOURS[2]))
    page = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Sparse spectra</title>
<style>body{{font-family:sans-serif;max-width:46em;margin:2em auto;line-height:1.5}}td,th{{padding:0 1em;text-align:right}}
td:first-child{{text-align:left}}</style></head><body>
<h1>Sparse spectra</h1>
<h2>A mesh cut in two</h2>
<p>The mesh 4elt, {mesh.shape[0]} vertices, drawn at the second and third eigenvectors of its Laplacian, {found.pairs.values[1]:.6e}
and {found.pairs.values[2]:.6e}: it has no coordinates of its own. The sign of the first of them cuts {halves.cut:.0f} edges, red, and
leaves sides of {np.bincount(halves.sides)[0]} and {np.bincount(halves.sides)[1]} vertices, {colours}.</p>{drawing}
<h2>A photo cut into segments</h2>
<p>{SEGMENTS} clusters of the graph of its pixels, {pixels.nnz} edges, by eigenvectors of the normalised Laplacian.</p>
<p><img src="photo.png" alt="photo" width="480"> <img src="segments.png" alt="segments" width="480"></p>
<h2>The spectrum of a graph</h2>
<p>The normalised adjacency matrix of the internet's autonomous systems in 2007: the density of its eigenvalues, from 20 random
vectors.</p>{bars}
<h2>Convergence</h2>
<p>The largest residual of its ten largest eigenpairs against the products made.</p>{curve}
<h2>Products</h2>
<table><tr><th>matrix</th><th>entries</th><th>&micro;s</th><th>GB/s of entries</th><th>SciPy's time</th></tr>{rows}</table>
<p>A product does a sixth of an operation for each byte of a matrix with values, so that memory is the roof; where a graph has no
order to speak of, reading single numbers of x costs more than the matrix.</p>{roofs}
</body></html>
"""
    (out / "spectra.html").write_text(page)
    print(f"sparse spectra: 4elt is cut at {halves.cut:.0f} edges, {points[-1][0]} products for ten eigenpairs")
    for name, nnz, own, peer in table:
        beside = "" if peer is None else f", {peer / own:.2f} of SciPy's rate"
        print(f"  {name:22} {nnz:8d} entries {1e6 * own:8.0f} us{beside}")


if __name__ == "__main__":
    main()
