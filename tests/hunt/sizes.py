"""Attacks on every family with sizes that are prime, 1 or 2, so that no tile, block or vector divides them. Oracles: those of
the family's own attacks, or the definition in NumPy."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import purlin

from attack import ALL, REAL, Bench, epsilon, labelled, pick, require
from ct import circular_matrices, ellipsoid_lines, random_orbit
from diffusion import shell
from eigenpairs import check_listed, directions, form, identity, monomials
from graphs import BOTH, METHODS, SQUARE, block, dense_operator, inertia
from lowrank import near_best, range_of
from spectra import check_pairs, csr, operator
from states import operator_train
from trains import close, exact

# Next to multiples of 4, 8, 16, 32, 64, 128 and 256 on either side.
SMALL = (1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
MIDDLE = (*SMALL, 41, 47, 61, 67, 97, 101, 127, 131)
LARGE = (*MIDDLE, 191, 193, 251, 257)


def prime(rng: np.random.Generator, of: tuple[int, ...], most: int = 1 << 30) -> int:
    return int(pick(rng, *[p for p in of if p <= most]))


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    made = rng.standard_normal(shape)
    return (made + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else made).astype(dtype)


def products(rng: np.random.Generator, bench: Bench) -> str:
    """A planned product of a matrix and of a block, by every method and kind."""
    kind, columns = pick(rng, "matrix", "matrix", *SQUARE, *BOTH), prime(rng, SMALL)
    m = prime(rng, LARGE)
    n = m if kind in SQUARE else prime(rng, LARGE)
    dtype = pick(rng, *(ALL if kind in ("matrix", *BOTH) else REAL))
    a = (rng.random((m, n)) < pick(rng, 0.05, 0.3, 1.0)) * np.abs(numbers(rng, (m, n), dtype))
    a = (a if kind in SQUARE else a * numbers(rng, (m, n), dtype)).astype(dtype)
    a[0, 0] = 1
    options: dict[str, Any] = {"method": pick(rng, "auto", *METHODS)}
    if kind not in BOTH:
        options["op"] = pick(rng, "plain", "transpose", "adjoint")
    label = f"product {m}x{n} {kind} {np.dtype(dtype).name} {columns} columns {options}"
    whole, size = dense_operator(a, kind, options.get("op", "plain"), 0.0)
    order = pick(rng, "C", "F")
    x, y = block(rng, whole.shape[1], columns, order, dtype), block(rng, whole.shape[0], columns, order, dtype)
    refusals = (purlin.NotSupported, purlin.InvalidArgument) if options["method"] != "auto" else ()
    with closing(bench.call(purlin.spmv.Plan, csr(a, bench), kind=kind, context=bench.context, allowed=refusals, **options)) as plan:
        bench.call(plan.apply, x, y)
    limit = 16 * (m + n + 2) * epsilon(dtype) * (size @ np.abs(x)) + np.finfo(dtype).tiny
    error = np.abs(y - whole @ x)
    require((error <= limit).all(), f"{label}: off by {error.max():.2e}")
    return "spmv"


def eigenvalues(rng: np.random.Generator, bench: Bench) -> str:
    """Pairs of a weighted graph's operator and components of unions of graphs."""
    n, dtype = prime(rng, LARGE), pick(rng, *REAL)
    a = np.triu((rng.random((n, n)) < pick(rng, 0.1, 0.5)) * rng.random((n, n)), 1)
    a = (a + a.T).astype(dtype)
    kind, which = pick(rng, "matrix", "laplacian", "normalized_laplacian"), pick(rng, "largest", "smallest", "both_ends")
    k = prime(rng, SMALL, min(n, 13))
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30))}
    if rng.random() < 0.5:
        options["block"] = prime(rng, (1, 2, 3, 5))
    label = f"pairs n={n} k={k} {kind} {which} {np.dtype(dtype).name} {options}"
    found = bench.call(
        purlin.lanczos.run, csr(a, bench), k, which, kind=kind, context=bench.context,
        allowed=(purlin.NoConvergence, purlin.InvalidArgument), **options,
    )
    if found.info.verified:
        check_pairs(operator(a.astype(float), kind), found, which, k, dtype, label)
    return "lanczos"


def graphs(rng: np.random.Generator, bench: Bench) -> str:
    """Circulant graphs of prime sizes without edges between them are the components and the clusters."""
    sizes = [prime(rng, MIDDLE) for _ in range(prime(rng, (1, 2, 3, 5, 7)))]
    n, starts = sum(sizes), np.cumsum([0, *sizes])
    a = np.zeros((n, n))
    for first, size in zip(starts, sizes):
        a[first : first + size, first : first + size] = 1 - np.eye(size)
    truth, order = np.repeat(np.arange(len(sizes)), sizes), rng.permutation(n)
    a, truth = a[np.ix_(order, order)].astype(pick(rng, *REAL)), truth[order]
    label = f"graphs of {sizes} {a.dtype}"
    count, labels = bench.call(purlin.graph.components, csr(a, bench), context=bench.context)
    require(count == len(sizes) and len(set(zip(labels.tolist(), truth.tolist()))) == count, f"{label}: {count} components")
    if min(sizes) > 1:
        made = bench.call(
            purlin.graph.cluster, csr(a, bench), count, pick(rng, "k_means", "pivoted_qr"), seed=int(rng.integers(1 << 30)),
            context=bench.context, allowed=(purlin.NoConvergence,),
        )
        require(len(set(zip(made.labels.tolist(), truth.tolist()))) == count, f"{label}: the clusters are not the cliques")
    points = rng.standard_normal((prime(rng, MIDDLE), prime(rng, SMALL, 7)))
    k = prime(rng, SMALL, min(len(points), 11))
    means = bench.call(purlin.graph.k_means, points, k, seed=int(rng.integers(1 << 30)), context=bench.context)
    wanted = inertia(points, means.labels, k)
    require(abs(means.inertia - wanted) <= 1e-10 * (points**2).sum(), f"{label}: k-means of {points.shape} and {k}: {means.inertia}, exact {wanted}")
    return "graphs"


def trains(rng: np.random.Generator, bench: Bench) -> str:
    """Inner products with and without an operator, of open trains and rings whose modes and bonds are prime."""
    modes = [prime(rng, SMALL, 13) for _ in range(prime(rng, (1, 2, 3, 5, 7, 11)))]
    dtype, cyclic = pick(rng, *ALL), rng.random() < 0.3
    made = []
    for _ in range(2):
        bonds = [prime(rng, SMALL) for _ in range(len(modes) + 1)]
        bonds[0] = bonds[-1] = prime(rng, (1, 2, 3)) if cyclic else 1
        made.append([np.asfortranarray(numbers(rng, (bonds[k], n, bonds[k + 1]), dtype)) for k, n in enumerate(modes)])
    x, y = made
    label = f"trains {modes} bonds {[c.shape[0] for c in x]} and {[c.shape[0] for c in y]} {np.dtype(dtype).name} cyclic={cyclic}"
    method = pick(rng, "auto", "open", "full", "reduced", "blocked", "halves")
    h = operator_train(rng, modes, cyclic, dtype)
    # H x as a train whose bonds are products.
    product = [np.einsum("amnb,cnd->acmbd", a, c).reshape(a.shape[0] * c.shape[0], c.shape[1], -1) for a, c in zip(h, x)]
    with bench.call(purlin.tt.Contraction, context=bench.context, method=method) as contraction:
        found = bench.call(contraction.inner_scaled, x, y, allowed=(purlin.InvalidArgument, purlin.NotSupported))
        close(found, exact(x, y), epsilon(dtype), f"{label} {method}")
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        sandwich = bench.call(contraction.sandwich_scaled, y, h, x)
        close(sandwich, exact(y, product), epsilon(dtype), f"{label}: sandwich")
    return "tt"


def tensors(rng: np.random.Generator, bench: Bench) -> str:
    """Forms of prime batches at prime numbers of points, and the pairs of each tensor."""
    order, n = int(pick(rng, 2, 3, 4, 5, 7)), prime(rng, (1, 2, 3, 5))
    count, points, dtype = prime(rng, SMALL), prime(rng, SMALL), pick(rng, *REAL)
    entries = rng.standard_normal((count, len(monomials(order, n)))).astype(dtype)
    x = directions(n, rng, points).astype(dtype)
    options: dict[str, Any] = {"order": order, "dimension": n, "context": bench.context}
    label = f"tensors order={order} n={n} {count} of them, {points} points {np.dtype(dtype).name}"
    found = bench.call(purlin.sshopm.product, entries, x, order, **options)
    wide, at = entries.astype(float), x.astype(float)
    wanted = np.array([form(t, order, at) for t in wide])
    size = np.array([form(np.abs(t), order, np.abs(at)) for t in wide])
    require((np.abs(found - wanted) <= 50 * epsilon(dtype) * (order + entries.shape[1]) * size).all(), f"{label}: A x^m")
    starts = prime(rng, SMALL)
    pairs = bench.call(
        purlin.sshopm.solve, entries, prime(rng, (1, 2, 3, 5)), starts=starts, start_kind="random", seed=int(rng.integers(1 << 30)),
        allowed=(purlin.NotSupported, purlin.InvalidArgument), **options,
    )
    for t in range(count):
        check_listed(wide[t], order, n, pairs, t, dtype, f"{label}, {starts} starts, tensor {t}")
    return "sshopm"


def voxels(rng: np.random.Generator, bench: Bench) -> str:
    """Tensors of a prime number of voxels from a prime number of gradients."""
    order, count = int(pick(rng, 2, 4)), prime(rng, LARGE)
    needed = (order + 1) * (order + 2) // 2
    bvals, vectors = shell(rng, int(pick(rng, *[p for p in MIDDLE if p >= 2 * needed])))
    tensors_ = 4e-4 * (identity(order, 3) + 0.2 * rng.standard_normal((count, needed)))
    weighted = bvals > 50
    # The unweighted volumes are not attenuated: the fit does not use their b-values.
    attenuation = np.array([form(t, order, vectors) for t in tensors_]) * np.where(weighted, bvals, 0.0)
    dtype = pick(rng, *REAL)
    signals = (500.0 * np.exp(-attenuation)).astype(dtype)
    fit = bench.call(purlin.dwi.fit, signals, bvals, vectors, order, context=bench.context)
    design = np.prod(vectors[weighted][:, None, :] ** monomials(order, 3)[None], axis=2)
    singular = np.linalg.svd(design, compute_uv=False)
    limit = 100 * epsilon(dtype) / 2000 * singular[0] / singular[-1] * np.sqrt(len(design)) * 10
    error = np.abs(np.asarray(fit.tensors) - tensors_).max()
    require(error <= limit, f"voxels {count}, {len(bvals)} volumes, order {order} {np.dtype(dtype).name}: off by {error:.1e}, limit {limit:.1e}")
    return "dwi"


def scans(rng: np.random.Generator, bench: Bench) -> str:
    """The density inside a ball, with a prime panel, prime numbers of views and voxels, and prime parts of the work."""
    _, _, g = random_orbit(rng)
    columns, rows = int(pick(rng, 61, 67, 71, 79, 97)), prime(rng, (1, 2, 3, 5, 17, 19, 31))
    # The ball of `random_orbit` fills the panel.
    half = 66.0 / np.sqrt(g["source_to_axis"] ** 2 - 66.0**2) * g["source_to_detector"]
    g["column_pitch"] = float(2 * half / (columns - 1))
    if rows < 3:
        g["row_offset"] = 0.0
    count = int(pick(rng, 127, 131, 149, 151, 181))
    angles = rng.uniform(0, 6) + pick(rng, -1, 1) * 2 * np.pi * np.arange(count) / count
    # A column along z looks alike through every row of the panel.
    bodies = np.array([[0.2, 45, 40, 1e6, 3, -2, 0, 0.7], [0.1, 16, 18, 1e6, 6, -4, 0, 0.3]])
    size = (prime(rng, (1, 2, 3, 5, 7, 11, 13)), prime(rng, (1, 2, 3, 5, 7, 11, 13)), prime(rng, (1, 2, 3)) if rows > 5 else 1)
    spacing = tuple(min(1.3, 12.0 / max(n - 1, 1)) for n in size[:2])
    grid = purlin.fdk.Grid(size, (*spacing, 0.5), (6 - spacing[0] * (size[0] - 1) / 2, -4 - spacing[1] * (size[1] - 1) / 2, -0.25 * (size[2] - 1)))
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options = {"slab": prime(rng, (1, 2, 3), size[2]), "view_batch": prime(rng, MIDDLE, count)}
    label = f"scans {columns} x {rows}, {count} views, {size} voxels {options} {g}"
    lines = ellipsoid_lines(circular_matrices(angles, g, columns, rows), columns, rows, bodies)
    geometry = purlin.fdk.Geometry(columns, rows, angles=angles, **g)
    volume = bench.call(purlin.fdk.reconstruct, lines, geometry, grid, context=bench.context, **options)
    require(volume.shape == size[::-1], f"{label}: shape {volume.shape}")
    mean, farthest = float(volume.mean()), float(np.abs(volume - 0.3).max())
    require(abs(mean - 0.3) <= 0.015 and farthest <= 0.05, f"{label}: mean {mean:.4f}, exact 0.3, a voxel off by {farthest:.3f}")
    return "fdk"


def factors(rng: np.random.Generator, bench: Bench) -> str:
    """Randomized SVD and QB of prime sizes and ranks, in prime blocks of rows."""
    m, n, dtype = prime(rng, LARGE), prime(rng, LARGE), pick(rng, *REAL)
    r = min(m, n)
    low = prime(rng, SMALL, r)
    a = (numbers(rng, (m, low), float) @ numbers(rng, (low, n), float) + 1e-3 * numbers(rng, (m, n), float)).astype(dtype)
    k = prime(rng, SMALL, r)
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30)), "context": bench.context}
    given = pick(rng, a, np.asfortranarray(a), csr(a, bench))
    if isinstance(given, np.ndarray) and rng.random() < 0.5:
        options["block_rows"] = prime(rng, MIDDLE)
    label = f"factors {m}x{n} {np.dtype(dtype).name} rank {low} k={k} {options['seed']} {options.get('block_rows')}"
    near_best(a.astype(float), bench.call(purlin.rsvd.compute, given, k, **options), 1.0, dtype, label)
    q, b = bench.call(purlin.rsvd.qb, given, k, **options)
    range_of(a, np.asarray(q), np.asarray(b), lambda: bench.call(purlin.rsvd.qb, given, k, **{**options, "seed": int(rng.integers(1 << 30))}), dtype, label)
    return "rsvd"


def samples(rng: np.random.Generator, bench: Bench) -> str:
    """Principal components of prime numbers of samples and features; a split into low rank and sparse that adds up."""
    m, n = prime(rng, LARGE[1:]), prime(rng, MIDDLE)
    x = numbers(rng, (m, n), float) / (1.0 + np.arange(n)) + 3.0
    k = prime(rng, SMALL, min(m, n))
    label = f"samples {m}x{n} k={k}"
    with purlin.pca.PCA(k, context=bench.context, power_iterations=4, seed=int(rng.integers(1 << 30))) as model:
        bench.call(model.fit, x)
        centred = x - x.mean(axis=0)
        values = np.linalg.svd(centred, compute_uv=False)
        error = np.abs(model.singular_values_ - values[:k]).max()
        require(error <= 1e-2 * values[0], f"{label}: values {model.singular_values_[:4]}, exact {values[:4]}")
        scores = np.asarray(bench.call(model.transform, x))
        require(np.abs(scores - centred @ model.components_.T).max() <= 1e-10 * n, f"{label}: scores")
    m, n = prime(rng, MIDDLE), prime(rng, MIDDLE)
    matrix = numbers(rng, (m, 1), float) @ numbers(rng, (1, n), float) + (rng.random((m, n)) < 0.05) * 5.0
    low, sparse = bench.call(
        purlin.rpca.compute, matrix, context=bench.context, allowed=(purlin.NoConvergence,),
    )
    error = np.linalg.norm(matrix - low - sparse)
    require(error <= 1e-5 * np.linalg.norm(matrix), f"{label}: L + S of {m}x{n} misses M by {error:.2e}")
    return "pca"


PARTS = (products, eigenvalues, graphs, trains, tensors, voxels, scans, factors, samples)


def primes(rng: np.random.Generator, bench: Bench) -> None:
    """Sizes that are prime, 1 or 2, of one family after the other."""
    part = pick(rng, *PARTS)
    with labelled(part.__name__):
        bench.outcomes[part(rng, bench)] += 1


ATTACKS = {"prime": primes}
