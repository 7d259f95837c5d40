"""Sparse spectra: a graph's eigenvalues and how they converge, a mesh and a graph of written digits drawn by their
eigenvectors, the mesh cut in two, a photo cut into segments by the graph of its pixels; and products against SciPy's,
where that is there. As a page of HTML.

spectra.py FOLDER DATA

FOLDER gets spectra.html and its pictures, spectra_*; those in docs/figures are made so. DATA holds the matrices of
tests/golden/spectral.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import roofline
from pictures import COLOURS, Canvas, plot, rgb, write_page, write_png

import purlin
from purlin import graph, lanczos, sparse, spmv

SEGMENTS = 8
# A colour for each of the digits 0 to 9.
DIGITS = (*COLOURS, "#777777", "#c9a227")


def seconds(call: Any) -> float:
    """The median of seven calls."""
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return sorted(times)[3]


def spectrum(a: purlin.Matrix) -> str:
    """The density of the normalized adjacency matrix's spectrum, as bars."""
    found = graph.density(a, 80, 20, kind="normalized_adjacency", seed=1)
    shares, _ = np.histogram(found.points, 60, (-1, 1), weights=found.weights)
    # Most eigenvalues come from a few degrees; on a linear scale only they would be visible.
    least, decade = 1e-4, 45
    heights = decade * np.log10(np.maximum(shares / least, 1))
    bars = "".join(
        f'<path d="M{55 + 10.5 * k:.1f} 210v{-height:.1f}" stroke="#1b6ca8" stroke-width="9.5"/>'
        for k, height in enumerate(heights)
    )
    across = "".join(
        f'<text x="{50 + 315 * (x + 1):.0f}" y="228" text-anchor="middle">{x:g}</text>' for x in (-1, -0.5, 0, 0.5, 1)
    )
    up = "".join(
        f'<path d="M50 {210 - decade * k}h630" stroke="#ddd"/>'
        f'<text x="44" y="{214 - decade * k}" text-anchor="end">{100 * least * 10**k:g} %</text>'
        for k in range(5)
    )
    return (
        '<svg viewBox="0 0 700 250" width="700" font-family="sans-serif" font-size="12" '
        'xmlns="http://www.w3.org/2000/svg"><title>Density of eigenvalues</title>'
        f'{up}{bars}{across}<text x="365" y="246" text-anchor="middle">eigenvalue of D^-1/2 W D^-1/2</text></svg>'
    )


def convergence(a: purlin.Matrix, **options: Any) -> tuple[list[float], list[float]]:
    """Products made, and the largest residual of ten eigenpairs then over its eigenvalue, for more and more restarts."""
    products: list[float] = []
    residuals: list[float] = []
    for restarts in range(1, 30):
        try:
            solution = lanczos.run(a, 10, restarts=restarts, **options)
        except lanczos.Unfinished as unfinished:
            solution = unfinished.solution
        # Nothing for Krylov spaces that are too small to converge.
        if len(solution.pairs.values) == 10:
            products.append(float(solution.info.products))
            residuals.append(float((solution.residuals / np.abs(solution.pairs.values)).max()))
        if solution.info.converged == 10:
            break
    return products, residuals


def edges(a: purlin.Matrix) -> tuple[Any, Any]:
    """Both ends of each edge, once."""
    pointers, columns, _ = a.arrays()
    rows = np.repeat(np.arange(a.shape[0]), np.diff(pointers))
    once = rows < columns
    return rows[once], columns[once]


def mesh_picture(path: Path, mesh: purlin.Matrix, places: Any, sides: Any) -> None:
    """Edges of a mesh between the positions of its vertices; those between the two sides are highlighted."""
    tails, heads = edges(mesh)
    cut = sides[tails] != sides[heads]
    canvas = Canvas(places)
    for side, colour in ((0, COLOURS[0]), (1, COLOURS[2])):
        inside = ~cut & (sides[tails] == side)
        canvas.strokes(tails[inside], heads[inside], colour, 0.3)
    canvas.strokes(tails[cut], heads[cut], COLOURS[1], 1.0)
    canvas.write(path)


def digits(data: Path, out: Path, context: purlin.Context) -> tuple[int, Any]:
    """The graph of the nearest of each of 1797 written digits, drawn at its eigenvectors: its edges, and its eigenvalues."""
    with np.load(data / "digits_knn10.npz") as held:
        nearest, shown = held["neighbours"].astype(np.int64), held["digits"]
    n, count = nearest.shape
    near = sparse.from_coordinates(
        np.repeat(np.arange(n), count), nearest.ravel(), np.ones(nearest.size), (n, n), context=context
    )
    both = sparse.symmetrize(near, "union")
    found = graph.embed(both, 4, "degrees", basis=80)
    canvas = Canvas(found.coordinates[:, 2:4])
    canvas.strokes(*edges(both), "#999999", 0.08)
    for digit in range(10):
        canvas.dots(shown == digit, DIGITS[digit])
    canvas.write(out / "spectra_digits.png")
    return both.nnz // 2, found.values


def segmented(pixels: Any, labels: Any) -> Any:
    """A photo next to its segments, tinted with white borders; each pixel is drawn three by three."""
    big = np.kron(pixels, np.ones((3, 3)))
    group = np.kron(labels, np.ones((3, 3), labels.dtype))
    border = np.zeros(big.shape, bool)
    border[:-1] |= group[:-1] != group[1:]
    border[:, :-1] |= group[:, :-1] != group[:, 1:]
    tints = np.array([rgb(colour) for colour in COLOURS])[group % len(COLOURS)]
    before = 255 * np.repeat(big[:, :, None], 3, axis=2)
    after = np.where(border[:, :, None], 255, 0.65 * before + 0.35 * tints)
    gap = np.full((big.shape[0], 12, 3), 255.0)
    return np.hstack((before, gap, after)).round().astype(np.uint8)


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
        lines = {
            "as-caida": convergence(internet, basis=21),
            "in blocks of 4": convergence(internet, basis=40, block=4),
            "4elt": convergence(mesh, basis=60),
        }
        curve = plot("Ten largest eigenpairs", "products", "largest residual", lines)
        found = lanczos.run(mesh, 3, "smallest", kind="laplacian", basis=100, tolerance=1e-8)
        assert found.pairs.vectors is not None
        halves = graph.bisect(mesh, np.ascontiguousarray(found.pairs.vectors[:, 1]), "sign")
        mesh_picture(out / "spectra_mesh.png", mesh, found.pairs.vectors[:, 1:3], halves.sides)
        ties, low = digits(data, out, context)
        photo = np.load(data / "china_rgbsum_stride4.npy").astype(float) / 765
        pixels = graph.of_image(photo, radius=5, intensity=0.12, distance=5, floor=1e-5, context=context)
        segments = graph.cluster(pixels, SEGMENTS, basis=80, tolerance=1e-5, seed=1)
        write_png(out / "spectra_photo.png", segmented(photo, segments.labels.reshape(photo.shape)))
        table = products({"internet, as-caida": internet, "mail, email-Enron": mail, "mesh, 4elt": mesh})
        recorded = roofline.recorded()
        roofs = roofline.here(context) + recorded
    for name, figure in (("density", bars), ("convergence", curve), ("roofline", recorded)):
        if figure:
            (out / f"spectra_{name}.svg").write_text(figure + "\n")
    rows = "".join(
        f"<tr><td>{name}</td><td>{nnz}</td><td>{1e6 * own:.0f}</td><td>{12e-9 * nnz / own:.1f}</td>"
        f"<td>{'' if peer is None else f'{peer / own:.2f}'}</td></tr>"
        for name, nnz, own, peer in table
    )
    colours = ", ".join(f'<span style="color:{colour}">&#9632;</span>' for colour in (COLOURS[0], COLOURS[2]))
    shades = " ".join(f'<span style="color:{colour}">&#9632;</span> {digit}' for digit, colour in enumerate(DIGITS))
    page = f"""<h1>Sparse spectra</h1>
<h2>A mesh cut in two</h2>
<p>The mesh 4elt, {mesh.shape[0]} vertices, drawn at the second and third eigenvectors of its Laplacian, {found.pairs.values[1]:.6e}
and {found.pairs.values[2]:.6e}: it has no coordinates of its own. The sign of the first of them cuts {halves.cut:.0f} edges, red, and
leaves sides of {np.bincount(halves.sides)[0]} and {np.bincount(halves.sides)[1]} vertices, {colours}.</p>
<img src="spectra_mesh.png" alt="The mesh at two eigenvectors, its halves and the edges between them">
<h2>A graph of written digits</h2>
<p>Each of 1797 written digits is tied to the ten that look most like it, {ties} ties in all, and drawn at the third and fourth
eigenvectors of the normalized Laplacian, {low[2]:.4f} and {low[3]:.4f}, over the roots of the degrees. The colours are the
digits: {shades}. The graph does not contain them.</p>
<img src="spectra_digits.png" alt="Digits at two eigenvectors of the graph of their neighbours">
<h2>A photo cut into segments</h2>
<p>{SEGMENTS} clusters of the graph of its pixels, {pixels.nnz} edges, by eigenvectors of the normalized Laplacian. (The photo is
by danielbuechele, CC BY 2.0, as scikit-learn ships it.)</p>
<p><img src="spectra_photo.png" alt="A photo before and after" width="736"></p>
<h2>The spectrum of a graph</h2>
<p>The normalized adjacency matrix of the internet's autonomous systems in 2007: the density of its eigenvalues, from 20 random
vectors.</p>{bars}
<h2>Convergence</h2>
<p>The largest residual of ten eigenpairs, over its eigenvalue, against the products made: of the internet's graph with a space of
21 vectors and with blocks of four in 40, and of the mesh, whose eigenvalues lie closer, with a space of 60.</p>{curve}
<h2>Products</h2>
<table><tr><th>matrix</th><th>entries</th><th>&micro;s</th><th>GB/s of entries</th><th>SciPy's time</th></tr>{rows}</table>
<p>A product does a sixth of an operation for each byte of a matrix with values, so that memory is the roof; where a graph has no
order to speak of, reading single numbers of x costs more than the matrix.</p>{roofs}"""
    write_page(out / "spectra.html", "Sparse spectra", page)
    count = int(lines["as-caida"][0][-1])
    print(f"sparse spectra: 4elt is cut at {halves.cut:.0f} edges, {count} products for ten eigenpairs")
    for name, nnz, own, peer in table:
        beside = "" if peer is None else f", {peer / own:.2f} of SciPy's rate"
        print(f"  {name:22} {nnz:8d} entries {1e6 * own:8.0f} us{beside}")


if __name__ == "__main__":
    main()
