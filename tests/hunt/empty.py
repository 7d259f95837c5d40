"""Attacks with sizes of 0: rows, columns, vectors, batches, voxels, views, cores, terms and stored entries. Oracle: a
result of size 0 has the expected shape, empty sums are 0, and an impossible size is refused by the name of an argument."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import purlin

from attack import ALL, REAL, Bench, Finding, pick, require
from spectra import csr

# The beginning of every message: an argument's name and the fault.
NAMED = re.compile(r"^[A-Za-z_0-9]+(\[[0-9, ]+\])?: ")


def refused(function: Callable[[], Any], label: str, *names: str) -> None:
    """Checks that the call is refused as a caller's error that begins with one of the names, or with any argument's where none is given."""
    try:
        result = function()
    except purlin.InternalError as error:
        raise Finding(f"{label}: internal error {error}") from error
    except (purlin.InvalidArgument, ValueError) as error:
        text = str(error)
        require(NAMED.match(text) and (not names or text.split(":")[0] in names), f"{label}: is refused as {text!r}, expected {names}")
        return
    except purlin.Error as error:
        raise Finding(f"{label}: {type(error).__name__} {error}, expected a refusal of {names}") from error
    raise Finding(f"{label}: gave {result!r}, expected a refusal of {names}")


def shaped(found: Any, shape: tuple[int, ...], label: str, value: float = 0.0) -> None:
    """An array of the shape; where it has entries, all of one value."""
    array = np.asarray(found)
    require(array.shape == shape and (array == value).all(), f"{label}: shape {array.shape}, {array.ravel()[:3]}, expected {shape} of {value}")


def sides(rng: np.random.Generator) -> tuple[int, int]:
    """Two sizes; at least one is 0."""
    n = int(rng.integers(1, 9))
    return pick(rng, (0, 0), (0, n), (n, 0))


def sparse(rng: np.random.Generator, bench: Bench) -> None:
    """Matrices without rows, columns or entries: products scale y, transposes and counts are empty, solves are refused."""
    (m, n), dtype = sides(rng), pick(rng, *ALL)
    if rng.random() < 0.3:
        m = n = int(rng.integers(1, 9))
    a = csr(np.zeros((m, n), dtype), bench)
    label = f"empty {m}x{n} {np.dtype(dtype).name}"
    beta, columns = float(rng.integers(-3, 4)), int(pick(rng, 0, 1, 2, 5))
    for op in ("plain", "transpose", "adjoint"):
        rows, cols = (m, n) if op == "plain" else (n, m)
        with closing(bench.call(purlin.spmv.Plan, a, op=op, context=bench.context)) as plan:
            y = bench.call(plan.apply, np.ones(cols, dtype), np.ones(rows, dtype), alpha=2.0, beta=beta)
            shaped(y, (rows,), f"{label} {op}", beta)
            shaped(bench.call(plan.apply, np.ones(cols, dtype)), (rows,), f"{label} {op} without y")
            for order in "CF":
                x, y = np.ones((cols, columns), dtype, order=order), np.ones((rows, columns), dtype, order=order)
                shaped(bench.call(plan.apply, x, y, beta=beta), (rows, columns), f"{label} {op} block of {columns} {order}", beta)
    for kind in ("gram", "outer_gram", "augmented"):
        side = {"gram": n, "outer_gram": m, "augmented": m + n}[kind]
        with closing(bench.call(purlin.spmv.Plan, a, kind=kind, shift=2.0, context=bench.context)) as plan:
            shaped(bench.call(plan.apply, np.ones(side, dtype)), (side,), f"{label} {kind}", 2.0)
    real = csr(np.zeros((m, n)), bench)
    options = {"context": bench.context}
    if m != n:
        for call in ("components", "fiedler", "density"):
            refused(lambda: getattr(purlin.graph, call)(real, **options), f"{label} {call}", "a" if call == "density" else "w")
    elif m == 0:
        count, labels = bench.call(purlin.graph.components, real, **options)
        require(count == 0, f"{label}: {count} components")
        shaped(labels, (0,), label)
        for call in ("component", "fiedler", "density"):
            refused(lambda: getattr(purlin.graph, call)(real, **options), f"{label} {call}", "a" if call == "density" else "w")
    else:
        count, labels = bench.call(purlin.graph.components, real, **options)
        require(count == m and len(set(labels.tolist())) == m, f"{label}: {count} components {labels}")
        found = bench.call(purlin.lanczos.run, a, m, **options)
        require(np.abs(found.pairs.values).max() == 0, f"{label}: eigenvalues {found.pairs.values}")
    if min(m, n) == 0:
        refused(lambda: purlin.lanczos.solve(a, 1, **options), f"{label} solve", "a", "k")
        refused(lambda: purlin.lanczos.singular(a, 1, **options), f"{label} singular", "a", "k")
        refused(lambda: purlin.graph.embed(real, 1, **options), f"{label} embed", "w", "k")
        refused(lambda: purlin.graph.cluster(real, 1, **options), f"{label} cluster", "w", "clusters")
    refused(lambda: purlin.lanczos.solve(a, 0, **options), f"{label} no pairs", "a", "k")
    refused(lambda: purlin.lanczos.singular(a, 0, **options), f"{label} no triplets", "a", "k")
    refused(lambda: purlin.graph.k_means(np.zeros((m, n)), 0, **options), f"{label} no clusters", "clusters", "points")
    if min(m, n) == 0:
        refused(lambda: purlin.graph.k_means(np.zeros((m, n)), 1, **options), f"{label} k_means", "points")
        refused(lambda: purlin.graph.of_image(np.zeros((m, n)), **options), f"{label} image", "image")
        refused(lambda: purlin.graph.operator_of_image(np.zeros((m, n)), **options), f"{label} image", "image")
    for found in bench.call(purlin.lanczos.tridiagonal_eigenvalues, np.zeros(0), np.zeros(0)):
        shaped(found, (0,), f"{label} tridiagonal")
    bench.outcomes["solved"] += 1


def dense(rng: np.random.Generator, bench: Bench) -> None:
    """Low-rank functions of matrices without rows or columns, and of rank 0."""
    (m, n), dtype = sides(rng), pick(rng, *ALL)
    a, options = np.zeros((m, n), dtype), {"context": bench.context}
    label = f"empty {m}x{n} {np.dtype(dtype).name}"
    for given in (a, csr(a, bench)):
        refused(lambda: purlin.rsvd.compute(given, 1, **options), f"{label} rank 1", "rank")
        refused(lambda: purlin.rsvd.compute(given, 0, **options), f"{label} rank 0", "rank")
        found = bench.call(purlin.rsvd.compute, given, tolerance=0.1, **options)
        require((found.U.shape, found.s.shape, found.Vt.shape) == ((m, 0), (0,), (0, n)), f"{label}: {found}")
    q, b = bench.call(purlin.rsvd.qb, a, 0, **options)
    require((q.shape, b.shape) == ((m, 0), (0, n)), f"{label}: qb {q.shape} {b.shape}")
    refused(lambda: purlin.rsvd.qb(a, 1, **options), f"{label} qb", "q", "columns")
    refused(lambda: purlin.rsvd.symmetric(a, 1, **options), f"{label} symmetric", "a", "rank")
    shaped(bench.call(purlin.rsvd.sketch, m, n, dtype, **options), (m, n), f"{label} sketch")
    real = a.real.copy()
    refused(lambda: purlin.pca.PCA(1, **options).fit(real), f"{label} pca", "X", "n_components")
    found = bench.call(purlin.rpca.compute, real, **options)
    shaped(found.low_rank, (m, n), f"{label} rpca")
    shaped(found.sparse, (m, n), f"{label} rpca")
    stored = bench.call(purlin.rpca.compute, real, sparse="csr", **options).sparse
    require(stored.shape == (m, n), f"{label}: rpca csr {stored.shape}")
    # Both parts are 0 if no entry is observed, and for a zero matrix.
    hole = np.ones((int(rng.integers(1, 5)), 3))
    found = bench.call(purlin.rpca.compute, hole, mask=np.zeros(hole.shape, bool), **options)
    require(np.isfinite(found.low_rank).all() and np.isfinite(found.sparse).all(), f"{label}: rpca of nothing observed")
    bench.outcomes["solved"] += 1


def tensors(rng: np.random.Generator, bench: Bench) -> None:
    """Batches without tensors or voxels, in any of their leading axes, and without starts, pairs and measurements."""
    lead = pick(rng, (0,), (0, 3), (2, 0), (1, 0, 2))
    order, n = int(pick(rng, 2, 4, 6)), 3
    size = (order + 1) * (order + 2) // 2
    entries, options = np.zeros((*lead, size), pick(rng, *REAL)), {"context": bench.context}
    label = f"empty batch {lead} order {order}"
    found = bench.call(purlin.sshopm.solve, entries, 2, **options)
    require((found.values.shape, found.vectors.shape, found.count.shape) == ((*lead, 2), (*lead, 2, 3), lead), f"{label}: solve")
    found = bench.call(purlin.sshopm.solve_all, entries, 4, **options)
    require((found.values.shape, found.vectors.shape, found.morse_sum.shape) == ((*lead, 4), (*lead, 4, 3), lead), f"{label}: all")
    if order > 2:
        found = bench.call(purlin.sshopm.runs, entries, np.eye(3)[:2], **options)
        require(found.values.shape == (*lead, 2), f"{label}: runs {found.values.shape}")
    shaped(bench.call(purlin.sshopm.product, entries, np.eye(3)[:2], order, **options), (*lead, 2), f"{label} product")
    shaped(bench.call(purlin.symmetric.norm, entries, **options), lead, f"{label} norm")
    shaped(bench.call(purlin.symmetric.convert, entries, "entries", "polynomial", **options), (*lead, size), f"{label} convert")
    shaped(bench.call(purlin.symmetric.to_full, entries, **options), (*lead, *(3,) * order), f"{label} to_full")
    for basis in ("tensor", "canonical", "mrtrix3"):
        found = bench.call(purlin.dwi.peaks, entries, 2, basis=basis, **options)
        require((found.peaks.shape, found.count.shape) == ((*lead, 2, 4), lead), f"{label}: peaks {found.peaks.shape}")
    for call in (purlin.dwi.sh_to_tensor, purlin.dwi.tensor_to_sh):
        shaped(bench.call(call, entries, "mrtrix3", **options), (*lead, size), f"{label} {call.__name__}")
    axes = rng.standard_normal((size + 3, 3))
    vectors = np.vstack([np.zeros(3), axes / np.linalg.norm(axes, axis=1, keepdims=True)])
    bvals = np.r_[0.0, np.full(len(axes), 1000.0)]
    signals = np.zeros((*lead, len(bvals)))
    fit = bench.call(purlin.dwi.fit, signals, bvals, vectors, order, **options)
    require((fit.tensors.shape, fit.s0.shape) == ((*lead, size), lead), f"{label}: fit {fit.tensors.shape}")
    orientation = bench.call(purlin.dwi.csa, signals, bvals, vectors, order, "mrtrix3", **options)
    require(orientation.sh.shape == (*lead, size), f"{label}: csa {orientation.sh.shape}")
    one = np.zeros((1, 15))
    refused(lambda: purlin.dwi.fit(np.zeros((2, 0)), bvals[:0], vectors[:0], order, **options), "no measurements", "signals", "bvals")
    refused(lambda: purlin.dwi.csa(np.zeros((2, 0)), bvals[:0], vectors[:0], order, "canonical", **options), "no measurements", "signals", "bvals")
    refused(lambda: purlin.dwi.peaks(one, 0, basis="tensor", **options), "no peaks", "peaks", "count")
    refused(lambda: purlin.sshopm.solve(one, 0, **options), "no pairs", "pairs")
    refused(lambda: purlin.sshopm.solve(one, 1, starts=np.zeros((0, 3)), **options), "no starts", "starts")
    refused(lambda: purlin.sshopm.solve(np.zeros((1, 1)), 1, order=4, dimension=0, **options), "dimension 0", "dimension")
    refused(lambda: purlin.sshopm.solve(np.zeros((1, 0)), 1, **options), "no entries", "order", "tensors")
    shaped(bench.call(purlin.sshopm.starts, 0, **options), (0, 3), "no starts")
    some = rng.standard_normal((2, 15))
    shaped(bench.call(purlin.sshopm.product, some, np.zeros((0, n)), 4, **options), (2, 0), "products of no vectors")
    classes = bench.call(purlin.sshopm.classify, some, np.zeros((2, 0)), np.zeros((2, 0, n)), **options)
    require(classes.classes.shape == (2, 0), "classes of no pairs")
    bench.outcomes["solved"] += 1


def trains(rng: np.random.Generator, bench: Bench) -> None:
    """Batches without trains, operators without terms, factors or sites, and trains without cores, modes or ranks."""
    tt, options = purlin.tt, {"context": bench.context}
    d = int(rng.integers(1, 5))
    modes = [int(v) for v in rng.integers(1, 4, d)]
    x = [np.asfortranarray(rng.standard_normal((1, n, 1))) for n in modes]
    dense_x = np.asarray(tt.full(x, **options))
    with bench.call(tt.Contraction, **options) as contraction:
        shaped(bench.call(contraction.inner_batch, [], []), (0,), "no pairs")
        shaped(bench.call(contraction.inner_batch_scaled, [], []).exponents, (0,), "no pairs")
        for left, right in (([], None), ([], [x]), ([x], [])):
            shape = (len(left), len(left) if right is None else len(right))
            shaped(bench.call(contraction.gram, left, right), shape, "gram of nothing")
            shaped(bench.call(contraction.gram_scaled, left, right).mantissas, shape, "gram of nothing")
        require(bench.call(contraction.plan_batch, [], []).workspace_bytes == 0, "workspace of no pairs")
        shaped(bench.call(contraction.expect_local, x, np.eye(modes[0]), []), (0,), "no sites")
        nothing = bench.call(tt.from_terms, modes, [], **options)
        require(bench.call(contraction.sandwich, x, nothing, x) == 0, "a sum of no terms is not 0")
        shaped(bench.call(tt.full, bench.call(tt.apply, nothing, x), **options), tuple(modes), "a sum of no terms")
        weight = float(rng.standard_normal())
        plain = bench.call(tt.from_terms, modes, [(weight, [])], **options)
        found = np.asarray(bench.call(tt.full, bench.call(tt.apply, plain, x), **options))
        require(np.abs(found - weight * dense_x).max() <= 1e-14 * np.abs(weight * dense_x).max(), "a term without factors is no multiple of 1")
    shaped(bench.call(tt.elements, x, np.zeros((0, d), int), **options), (0,), "no elements")
    refused(lambda: tt.Train([], **options), "no cores", "cores", "length")
    refused(lambda: tt.inner([], [], **options), "no cores", "x")
    refused(lambda: tt.Train([np.ones((1, 0, 1))], **options), "mode 0", "modes", "cores", "vectors", "values")
    refused(lambda: tt.Train([np.ones((1, 2, 0)), np.ones((0, 2, 1))], **options), "rank 0", "ranks", "cores")
    for made in (
        lambda: tt.from_terms([], [], **options), lambda: tt.ising(0, 1.0, 1.0, **options), lambda: tt.heisenberg(0, **options),
        lambda: tt.ones([], **options), lambda: tt.zeros([], **options), lambda: tt.random([], [1], **options),
        lambda: tt.product_state([], **options), lambda: tt.identity([], **options),
    ):
        refused(made, "no sites", "length", "modes", "vectors")
    for made in (
        lambda: tt.ones([2, 0], **options), lambda: tt.product_state([np.ones(0)], **options), lambda: tt.svd(np.zeros((2, 0)), **options),
        lambda: tt.svd(np.array(3.0), **options), lambda: tt.identity([0], **options),
    ):
        refused(made, "mode 0", "modes", "cores", "vectors", "values")
    refused(lambda: tt.random([2, 2], [1, 0, 1], **options), "rank 0", "ranks", "cores")
    bench.outcomes["solved"] += 1


def files(rng: np.random.Generator, bench: Bench) -> None:
    """Files without elements are read as such, empty files are refused, and volumes without voxels too."""
    shape = pick(rng, (0,), (0, 3), (3, 0), (0, 0), (2, 0, 4))
    options = {"context": bench.context}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "a.npy", np.zeros(shape, np.float32))
        (folder / "empty").write_bytes(b"")
        (folder / "a.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{shape[0]} {shape[-1]} 0\n")
        for label, made in (
            ("npy", lambda: purlin.blocks.Source.from_npy(folder / "a.npy", **options)),
            ("array", lambda: purlin.blocks.Source.from_array(np.zeros(shape, np.float32), **options)),
            ("raw", lambda: purlin.blocks.Source.from_file(folder / "empty", shape, np.float32, **options)),
            ("function", lambda: purlin.blocks.Source.from_function(lambda where: 1 / 0, shape, np.float32, **options)),
        ):
            with bench.call(made) as source:
                require(source.info.shape == shape and source.info.dtype == np.float32, f"{label} {shape}: {source.info}")
                if len(shape) == 2:
                    shaped(bench.call(purlin.rpca.compute, source, **options).low_rank, shape, f"rpca of {label}")
        matrix = bench.call(purlin.sparse.read_market, folder / "a.mtx", **options)
        require(matrix.shape == (shape[0], shape[-1]), f"Matrix Market {shape}: {matrix.shape}")
        for read in (purlin.blocks.Source.from_npy, purlin.blocks.Source.from_metaimage, purlin.blocks.Source.from_tiff, purlin.sparse.read_market):
            try:
                read(folder / "empty", **options)
                require(False, f"{read.__name__} took an empty file")
            except purlin.FileError as error:
                require(str(folder / "empty") in str(error), f"{read.__name__}: {error}")
        refused(lambda: purlin.blocks.Source.from_tiff([], **options), "no files", "count", "paths")
        refused(lambda: purlin.blocks.Sink.to_tiff(folder / "b.tif", (0, 3, 3), **options), "no pages", "pages")
        geometry = purlin.fdk.Geometry(8, 4, 4.0, 4.0, 500.0, 900.0, angles=np.arange(20) * np.pi / 10)
        size = [3, 3, 3]
        axis = int(rng.integers(3))
        size[axis] = 0
        grid = purlin.fdk.Grid.centred(tuple(size), (1.0, 1.0, 1.0))
        refused(lambda: purlin.fdk.reconstruct(np.zeros((20, 4, 8), np.float32), geometry, grid, **options), "no voxels", f"size[{axis}]")
        with bench.call(purlin.fdk.Reconstruction, geometry, purlin.fdk.Grid.centred((2, 2, 2), (1.0, 1.0, 1.0)), **options) as session:
            shaped(bench.call(session.project, np.zeros((0, 8))), (20, 4, 8), "projections of no bodies")
    bench.outcomes["solved"] += 1


ATTACKS = {"sparse": sparse, "dense": dense, "tensors": tensors, "trains": trains, "files": files}
