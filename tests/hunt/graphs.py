"""Attacks on planned products and on functions of graphs. Oracles: dense operators, eigenvalues of LAPACK through NumPy, cuts
and inertias computed again, breadth-first search."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import purlin

from attack import ALL, REAL, Bench, epsilon, orthonormal, pick, require
from spectra import csr, cycle, hypercube, operator, product, structured_graph, union

SQUARE = ("laplacian", "signless_laplacian", "normalized_laplacian", "normalized_adjacency", "modularity", "random_walk_laplacian")
BOTH = ("gram", "outer_gram", "augmented")
# Their products differ by rounding only.
METHODS = ("auto", "scalar", "vector", "row_group", "row_bin", "merge", "entry_split", "sweeps")


def dense_operator(a: np.ndarray, kind: str, op: str, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """The dense operator of a plan of A, and the moduli that bound its rounding. Row sums are those of A for any `op`."""
    wide = a.astype(np.complex128 if np.iscomplexobj(a) else np.float64)
    turned = {"plain": wide, "transpose": wide.T, "adjoint": wide.conj().T}[op]
    degrees = wide.real.sum(axis=1)
    size = np.abs(wide.real).sum(axis=1)
    root = np.array([1 / np.sqrt(d) if d > 0 else 0.0 for d in degrees])
    present = np.diag((degrees > 0).astype(float))
    if kind == "matrix":
        made, bound = turned, np.abs(turned)
    elif kind in ("laplacian", "signless_laplacian"):
        made = np.diag(degrees) + (turned if kind == "signless_laplacian" else -turned)
        bound = np.diag(size) + np.abs(turned)
    elif kind in ("normalized_laplacian", "normalized_adjacency"):
        scaled = root[:, None] * turned * root[None, :]
        made, bound = (present - scaled, present + np.abs(scaled)) if kind == "normalized_laplacian" else (scaled, np.abs(scaled))
    elif kind == "modularity":
        part = np.outer(degrees, degrees) / degrees.sum()
        made, bound = turned - part, np.abs(turned) + np.abs(part)
    elif kind == "random_walk_laplacian":
        # Its transpose is W^T D^-1.
        scaled = (root**2)[:, None] * wide if op == "plain" else turned * (root**2)[None, :]
        made, bound = present - scaled, present + np.abs(scaled)
    elif kind == "augmented":
        m, n = a.shape
        made = np.block([[np.zeros((m, m)), wide], [wide.conj().T, np.zeros((n, n))]])
        bound = np.abs(made)
    else:
        first, second = (wide.conj().T, wide) if kind == "gram" else (wide, wide.conj().T)
        made, bound = first @ second, np.abs(first) @ np.abs(second)
    return made + shift * np.eye(*made.shape), bound + abs(shift) * np.eye(*made.shape)


def number(rng: np.random.Generator, dtype: Any) -> complex:
    value = float(pick(rng, 0.0, 1.0, -1.0, rng.standard_normal()))
    return complex(value, rng.standard_normal()) if np.dtype(dtype).kind == "c" and rng.random() < 0.5 else value


def block(rng: np.random.Generator, rows: int, columns: int, order: str, dtype: Any) -> np.ndarray:
    """A vector for no columns, else a block in either order."""
    shape = (rows,) if columns == 0 else (rows, columns)
    made = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else 0)
    return np.asarray(made.astype(dtype), order=order)


def products(rng: np.random.Generator, bench: Bench) -> None:
    """y = alpha op(A) x + beta y of every kind, shift, method and order, for vectors and blocks, against the dense product."""
    kind = pick(rng, "matrix", "matrix", *SQUARE, *BOTH)
    m, n = (int(v) for v in rng.integers(1, int(pick(rng, 6, 120)), 2))
    dtype = pick(rng, *(ALL if kind in ("matrix", *BOTH) else REAL))
    if kind in SQUARE:
        n = m
    a = (rng.random((m, n)) < rng.uniform(0, 0.4)) * (rng.random((m, n)) + 0.1 if kind in SQUARE else rng.standard_normal((m, n)))
    if np.dtype(dtype).kind == "c":
        a = a * np.exp(2j * np.pi * rng.random((m, n)))
    a = a.astype(dtype)
    if kind == "modularity" and not a.any():
        a[0, 0] = 1
    options: dict[str, Any] = {"method": pick(rng, "auto", *METHODS)}
    if kind not in BOTH:
        options["op"] = pick(rng, "plain", "transpose", "adjoint")
    if rng.random() < 0.3 and m == n and kind not in BOTH:
        options["ordering"] = pick(rng, "degree", "cuthill_mckee")
    if m == n and rng.random() < 0.2:
        options["symmetric"] = True
        a = ((a + a.conj().T) / np.array(2, dtype)).astype(dtype)
        if options.get("op") == "transpose" and np.dtype(dtype).kind == "c":
            options["op"] = "adjoint"
    shift = float(pick(rng, 0.0, 0.0, rng.standard_normal())) if m == n or kind in BOTH else 0.0
    columns, order = int(pick(rng, 0, 0, 1, 2, 3, 5, 16, 17)), pick(rng, "C", "F")
    label = f"product {m}x{n} {kind} shift={shift:g} {np.dtype(dtype).name} {columns} columns {order} {options}"
    named = options["method"] != "auto" or "ordering" in options or "symmetric" in options
    plan = bench.call(
        purlin.spmv.Plan, csr(a, bench), kind=kind, shift=shift, context=bench.context, **options,
        allowed=(purlin.NotSupported, purlin.InvalidArgument) if named else (),
    )
    with closing(plan):
        for _ in range(2):
            exact, size = dense_operator(a, kind, options.get("op", "plain"), shift)
            x, y = block(rng, exact.shape[1], columns, order, dtype), block(rng, exact.shape[0], columns, order, dtype)
            alpha, beta = number(rng, dtype), number(rng, dtype)
            old = y.copy()
            # An operand with factor 0 is not read.
            if beta == 0:
                y[...] = np.nan
                old[...] = 0
            given = x.copy(order=order)
            if alpha == 0:
                given[...] = np.nan
            bench.call(plan.apply, given, y, alpha=alpha, beta=beta)
            wanted = alpha * (exact @ x) + beta * old
            # The documented bound of a product with the matrix; other kinds take up to three such products and the row sums.
            terms = (m + n if kind in BOTH else n) + 2
            limit = (2 if kind == "matrix" and shift == 0 else 8) * terms * epsilon(dtype) * (abs(alpha) * (size @ np.abs(x)) + abs(beta) * np.abs(old))
            if np.dtype(dtype).kind == "c":
                limit = 2 * limit  # A complex product rounds more than a real one.
            error = np.abs(y - wanted)
            require((error <= limit + np.finfo(dtype).tiny).all(), f"{label} alpha={alpha} beta={beta}: off by {error.max():.2e}, limit {np.max(limit):.2e}")
            # Other values in the same structure.
            a = np.where(a != 0, np.abs(a) * 2 if kind in SQUARE else -3 * a, a).astype(dtype)
            bench.call(plan.update, csr(a, bench))
    bench.outcomes["solved"] += 1


def filters(rng: np.random.Generator, bench: Bench) -> None:
    """Products with Chebyshev polynomials of an operator against those of its eigenvalues."""
    n, degree = int(rng.integers(2, 60)), int(pick(rng, 1, 2, 3, 7, 20, 51))
    kind = pick(rng, "matrix", "laplacian", "normalized_adjacency", "normalized_laplacian")
    a = np.triu((rng.random((n, n)) < 0.3) * rng.random((n, n)), 1)
    a = a + a.T
    values, vectors = np.linalg.eigh(operator(a, kind))
    width = values[-1] - values[0]
    lower, upper = values[0] - 0.1 * width * rng.random(), values[-1] - 0.3 * width * rng.random() + 1e-2
    z = (2 * values - lower - upper) / (upper - lower)
    gain = np.where(np.abs(z) <= 1, np.cos(degree * np.arccos(np.clip(z, -1, 1))), np.sign(z) ** degree * np.cosh(degree * np.arccosh(np.maximum(np.abs(z), 1))))
    x = rng.standard_normal(n)
    with closing(bench.call(purlin.spmv.Plan, csr(a, bench), kind=kind, degree=degree, lower=lower, upper=upper, context=bench.context)) as plan:
        y = bench.call(plan.apply, x)
    wanted = vectors @ (gain * (vectors.T @ x))
    # Each product rounds, and later steps amplify its error by at most d T_d; LAPACK's own error has the same size.
    limit = 100 * n * degree**2 * epsilon(np.float64) * np.abs(gain).max() * np.linalg.norm(x)
    require(np.abs(y - wanted).max() <= limit, f"filter n={n} {kind} degree {degree}: off by {np.abs(y - wanted).max():.2e}, limit {limit:.2e}")
    bench.outcomes["solved"] += 1


def embeddings(rng: np.random.Generator, bench: Bench) -> None:
    """Coordinates are eigenvectors of the normalized Laplacian, scaled as asked; Fiedler vectors too; components of it."""
    name, a = structured_graph(rng)
    n, dtype = len(a), pick(rng, *REAL)
    a = a.astype(dtype).astype(float)
    k, seed = int(rng.integers(1, min(n, 6) + 1)), int(rng.integers(1 << 30))
    matrix = csr(a.astype(dtype), bench)
    low = operator(a, "normalized_laplacian")
    exact = np.linalg.eigvalsh(low)
    label = f"embed {name} n={n} k={k} {np.dtype(dtype).name}"
    options: dict[str, Any] = {"context": bench.context, "seed": seed}
    found = bench.call(purlin.graph.embed, matrix, k, allowed=(purlin.NoConvergence,), **options)
    # As for check_pairs of spectra.py: the default tolerance is eps^(2/3) of the norm, which is 2 at most.
    accurate = 1e-6 if dtype == np.float64 else 4e-3
    x = found.coordinates
    if found.info.verified:
        require(np.abs(found.values - exact[:k]).max() <= accurate, f"{label}: values {found.values}, exact {exact[:k]}")
    orthonormal(x, accurate, label)
    residual = np.linalg.norm(low @ x - x * found.values, axis=0).max()
    require(residual <= accurate, f"{label}: residual {residual:.2e}")
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    rows = bench.call(purlin.graph.embed, matrix, k, "unit_rows", **options).coordinates
    wanted = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)
    require(np.abs(rows - wanted)[lengths[:, 0] > 1e-6].max(initial=0) <= 1e-8, f"{label}: rows are not of length 1")
    degrees = a.sum(axis=1)
    if (degrees > 0).all():
        scaled = bench.call(purlin.graph.embed, matrix, k, "degrees", **options).coordinates
        wanted = x / np.sqrt(degrees)[:, None]
        require(np.abs(scaled - wanted).max() <= 1e-6 * np.abs(wanted).max(), f"{label}: rows are not over the root of the degrees")
    if n > 1:
        which = int(rng.integers(-1, bench.call(purlin.graph.components, matrix, context=bench.context)[0]))
        part, vertices = bench.call(purlin.graph.component, matrix, which, context=bench.context)
        with closing(bench.call(purlin.spmv.Plan, part, context=bench.context)) as plan:
            whole = bench.call(plan.apply, np.eye(len(vertices), dtype=dtype))
        require(np.array_equal(whole, a[np.ix_(vertices, vertices)].astype(dtype)), f"{label}: component {which} is another graph")
        others = np.setdiff1d(np.arange(n), vertices)
        require(not a[np.ix_(vertices, others)].any(), f"{label}: component {which} is not whole")
    bench.outcomes["solved" if found.info.verified else "not verified"] += 1


def bisections(rng: np.random.Generator, bench: Bench) -> None:
    """Sides, weights and normalized cuts computed again; a sweep is the best of all cuts of its vector."""
    name, a = structured_graph(rng)
    n = len(a)
    a = a * np.round(rng.uniform(1, 4), 2)
    v = pick(rng, rng.standard_normal(n), rng.integers(-2, 3, n).astype(float), np.zeros(n), rng.standard_normal(n) * 1e-300)
    degrees = a.sum(axis=1)

    def cut_of(sides: np.ndarray) -> tuple[float, float]:
        cut = float(a[np.ix_(sides == 0, sides == 1)].sum())
        volumes = [float(degrees[sides == s].sum()) for s in (0, 1)]
        return cut, cut / volumes[0] + cut / volumes[1] if min(volumes) > 0 else np.inf

    for how in ("sign", "median", "sweep"):
        found = bench.call(purlin.graph.bisect, csr(a, bench), v, how, context=bench.context)
        label = f"bisect {name} n={n} {how}"
        require(set(found.sides.tolist()) <= {0, 1}, f"{label}: sides {set(found.sides.tolist())}")
        cut, ratio = cut_of(found.sides)
        require(abs(found.cut - cut) <= 1e-12 * degrees.sum(), f"{label}: cut {found.cut}, exact {cut}")
        same = found.normalized_cut == ratio or abs(found.normalized_cut - ratio) <= 1e-10 * ratio
        require(same, f"{label}: normalized cut {found.normalized_cut}, exact {ratio}")
        groups = [v[found.sides == s] for s in (0, 1)]
        if how == "sign":
            for s, opposite in ((0, 1), (1, 0)):
                mixed = (groups[s] > 0).any() and (groups[s] < 0).any()
                require(not mixed, f"{label}: a side has both signs")
        elif all(len(g) for g in groups):
            ordered = groups[0].max() <= groups[1].min() or groups[1].max() <= groups[0].min()
            require(ordered, f"{label}: the sides overlap")
        if how == "median":
            require(abs(len(groups[0]) - len(groups[1])) <= 1, f"{label}: sides of {len(groups[0])} and {len(groups[1])}")
        if how == "sweep":
            # Where values are equal any order of them is a sweep; thresholds between different ones are cuts of all.
            best = min((cut_of((v > t).astype(int))[1] for t in np.unique(v)[:-1]), default=np.inf)
            require(found.normalized_cut <= best * (1 + 1e-10), f"{label}: normalized cut {found.normalized_cut}, {best} is possible")
    bench.outcomes["solved"] += 1


def inertia(points: np.ndarray, labels: np.ndarray, k: int) -> float:
    return sum(float(((points[labels == c] - points[labels == c].mean(axis=0)) ** 2).sum()) for c in range(k) if (labels == c).any())


def clusters(rng: np.random.Generator, bench: Bench) -> None:
    """Cliques without edges between them are the clusters; k-means ends in a minimum whose inertia is the reported one."""
    k = int(rng.integers(1, 6))
    sizes = [int(v) for v in rng.integers(2, 20, k)]
    truth = np.repeat(np.arange(k), sizes)
    order = rng.permutation(len(truth))
    a = union(*[np.ones((s, s)) - np.eye(s) for s in sizes])[np.ix_(order, order)].astype(pick(rng, *REAL))
    for how in ("k_means", "pivoted_qr"):
        found = bench.call(purlin.graph.cluster, csr(a, bench), k, how, seed=int(rng.integers(1 << 30)), context=bench.context, allowed=(purlin.NoConvergence,))
        pairs = set(zip(found.labels.tolist(), truth[order].tolist()))
        require(len(pairs) == k and found.labels.min() >= 0 and found.labels.max() < k, f"cluster {how} of cliques {sizes}: {sorted(pairs)}")
    n, d, k = int(rng.integers(1, 60)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    k = min(n, k)
    kind = pick(rng, "random", "equal", "far", "line")
    points = {"random": rng.standard_normal((n, d)), "equal": np.ones((n, d)), "line": np.arange(n * 1.0)[:, None] * np.ones(d)}.get(kind)
    if points is None:
        centres = 1e3 * np.arange(k)[:, None] * np.ones(d)
        points = centres[np.r_[np.arange(k), rng.integers(0, k, n - k)]] + rng.standard_normal((n, d))
    points = points.astype(pick(rng, *REAL))
    label = f"k_means {kind} {n}x{d} k={k} {points.dtype}"
    found = bench.call(purlin.graph.k_means, points, k, seed=int(rng.integers(1 << 30)), context=bench.context)
    wide, labels = points.astype(float), found.labels
    require(labels.min() >= 0 and labels.max() < k, f"{label}: labels {set(labels.tolist())}")
    exact = inertia(wide, labels, k)
    size = float((wide**2).sum())
    require(abs(found.inertia - exact) <= 1e-5 * exact + 1e-12 * size, f"{label}: inertia {found.inertia}, exact {exact}")
    present = np.unique(labels)
    centres = np.array([wide[labels == c].mean(axis=0) for c in present])
    squares = ((wide[:, None, :] - centres[None]) ** 2).sum(axis=2)
    own = squares[np.arange(n), np.searchsorted(present, labels)]
    require((own <= squares.min(axis=1) * (1 + 1e-9) + 1e-5 * size / n).all(), f"{label}: a point is nearer to another centre")
    if kind == "far":
        best = inertia(wide, np.argmin(((wide[:, None, :] - 1e3 * np.arange(k)[None, :, None]) ** 2).sum(axis=2), axis=1), k)
        require(exact <= best * (1 + 1e-6) + 1e-9 * size, f"{label}: inertia {exact}, {best} is possible")
    bench.outcomes["solved"] += 1


def densities(rng: np.random.Generator, bench: Bench) -> None:
    """Densities and traces against all eigenvalues, counted."""
    a = pick(rng, hypercube(int(rng.integers(3, 8))), product(cycle(8), cycle(9)), np.ones((70, 70)) - np.eye(70), structured_graph(rng)[1])
    n = len(a)
    kind = pick(rng, "matrix", "laplacian", "normalized_laplacian", "normalized_adjacency")
    shift = float(pick(rng, 0.0, rng.standard_normal()))
    exact = np.linalg.eigvalsh(operator(a, kind)) + shift
    norm = max(np.abs(exact).max(), 1e-300)
    # With as many steps as there are different eigenvalues a vector's density is exact: its own share of each eigenspace.
    steps, vectors = min(n, len(np.unique(np.round(exact, 6))) + 3), int(pick(rng, 5, 20, 60))
    found = bench.call(purlin.graph.density, csr(a, bench), steps, vectors, kind=kind, shift=shift, seed=int(rng.integers(1 << 30)), context=bench.context)
    label = f"density n={n} {kind} shift {shift:g} steps {steps} vectors {vectors}"
    require((found.weights >= 0).all() and abs(found.weights.sum() - 1) <= 1e-10, f"{label}: weights add up to {found.weights.sum()}")
    outside = max(exact[0] - found.points.min(), found.points.max() - exact[-1])
    require(outside <= 1e-9 * norm, f"{label}: points are {outside:.2e} outside the spectrum")
    # The mean square of an estimated trace's error is at most 2 ||f(A)||_F^2 / vectors, of normal vectors (of signs
    # less), and n is in the place of a vector's norm; eight deviations are not exceeded, but by few vectors of small
    # graphs.
    if n * vectors >= 400:
        for f in (lambda v: v, lambda v: v**2, lambda v: (v <= (exact[0] + exact[-1]) / 2 + 1e-3 * norm).astype(float)):
            wanted, spread = float(f(exact).sum()), 8 * np.sqrt(2 * float((f(exact) ** 2).sum()) / vectors)
            estimate = found.trace(n, f)
            require(abs(estimate - wanted) <= spread + 1e-6 * norm * n, f"{label}: trace {estimate}, exact {wanted} to {spread:.2f}")
    start, stop, bins = float(exact[0] - 0.1), float(exact[-1] + 0.1), int(rng.integers(1, 9))
    shares = found.histogram(start, stop, bins)
    place = np.clip(((found.points - start) / (stop - start) * bins).astype(int), 0, bins - 1)
    counted = np.bincount(place, found.weights, bins)
    edge = np.abs((found.points - start) / (stop - start) * bins - np.round((found.points - start) / (stop - start) * bins)) < 1e-9
    require(np.abs(shares - counted).max() <= found.weights[edge].sum() + 1e-12, f"{label}: shares {shares}, counted {counted}")
    bench.outcomes["solved"] += 1


def images(rng: np.random.Generator, bench: Bench) -> None:
    """The graph of an image entry by entry, and the same products by the operator that has no entries."""
    height, width = (int(v) for v in rng.integers(1, 9, 2))
    image = rng.random((height, width)).astype(pick(rng, *REAL))
    radius, floor = float(pick(rng, 1.0, 1.5, 2.0, 3.2)), float(pick(rng, 0.0, 0.25))
    intensity, distance = float(pick(rng, 0.3, np.inf)), float(pick(rng, 2.0, np.inf))
    options: dict[str, Any] = {"radius": radius, "intensity": intensity, "distance": distance, "floor": floor, "context": bench.context}
    y, x = (v.ravel() for v in np.indices((height, width)))
    apart = (y[:, None] - y) ** 2 + (x[:, None] - x) ** 2
    values = image.astype(float).ravel()
    weights = np.exp(-(((values[:, None] - values) / intensity) ** 2)) * np.exp(-apart / distance**2) + floor
    weights = np.where((apart > 0) & (apart <= radius**2 + 1e-9), weights, 0.0)
    n = height * width
    label = f"image {height}x{width} {image.dtype} {options['radius']} {intensity} {distance} {floor}"
    for made in (purlin.graph.of_image, purlin.graph.operator_of_image):
        with closing(bench.call(purlin.spmv.Plan, bench.call(made, image, **options), context=bench.context)) as plan:
            found = bench.call(plan.apply, np.eye(n, dtype=image.dtype))
        # Differences of pixels round, and are squared over the intensity.
        limit = 40 * epsilon(image.dtype) * (1 + 1 / intensity**2)
        require(np.abs(found - weights).max() <= limit, f"{label} {made.__name__}: off by {np.abs(found - weights).max():.2e}")
    bench.outcomes["solved"] += 1


ATTACKS = {
    "products": products, "filters": filters, "embeddings": embeddings, "bisections": bisections, "clusters": clusters,
    "densities": densities, "images": images,
}
