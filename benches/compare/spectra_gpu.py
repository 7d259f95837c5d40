#!/usr/bin/env python3
"""Ten largest eigenpairs of large graphs on a GPU, beside CuPy's eigsh on the same matrix in the same run.

Both have the matrix on the device, where eigenvectors stay. Ours is asked for residuals of 1e-8 of the eigenvalue; CuPy's
tolerance is absolute, so it gets 1e-8 of the largest, and so does RAFT's where pylibraft is found. The true residuals of all
are shown. `host` is a call with SciPy's arrays, from which everything is made anew, and `first` the first call with a matrix on
the device, which makes its plan, or its copy by degree. Then the plain recurrence, 63 steps and the test of its values, and
blocks of vectors against one, of a graph and of a hypercube, whose eigenvalues have many copies.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

import purlin
from purlin import lanczos
from report import Table, median_seconds


def preferential(n: int, m: int, seed: int) -> Any:
    """Barabasi and Albert's graph: each new vertex is tied to m ends of edges that there are."""
    random = np.random.default_rng(seed)
    tail = np.repeat(np.arange(n, dtype=np.int64), m)
    # An end of an earlier edge: even places are tails, odd ones heads, which are looked up in turn.
    place = (random.random(n * m) * np.maximum(2 * m * (tail), 1)).astype(np.int64)
    head = place.copy()
    unknown = np.arange(n * m)
    while len(unknown):
        at = head[unknown]
        is_tail = at % 2 == 0
        head[unknown[is_tail]] = -1 - at[is_tail] // 2 // m
        rest = unknown[~is_tail]
        head[rest] = place[at[~is_tail] // 2]
        unknown = rest
    return symmetric(n, tail, -1 - head)


def recursive(scale: int, edges: int, seed: int) -> Any:
    """R-MAT with 0.57, 0.19, 0.19, 0.05 (Chakrabarti, Zhan and Faloutsos, SDM 2004)."""
    random = np.random.default_rng(seed)
    row = np.zeros(edges, np.int64)
    column = np.zeros(edges, np.int64)
    for _ in range(scale):
        u = random.random(edges)
        down, right = u >= 0.76, ((u >= 0.57) & (u < 0.76)) | (u >= 0.95)
        row, column = 2 * row + down, 2 * column + right
    return symmetric(1 << scale, row, column)


def symmetric(n: int, i: Any, j: Any) -> Any:
    """The adjacency matrix of undirected edges without loops, each once."""
    from scipy import sparse

    keep = i != j
    a = sparse.coo_matrix((np.ones(2 * keep.sum()), (np.r_[i[keep], j[keep]], np.r_[j[keep], i[keep]])), shape=(n, n)).tocsr()
    a.data[:] = 1.0
    return a


def hypercube(dimension: int) -> Any:
    """Vertices whose numbers differ in one bit: d - 2 j is an eigenvalue as often as j of d can be chosen."""
    from scipy import sparse

    n = 1 << dimension
    columns = np.sort(np.arange(n)[:, None] ^ (1 << np.arange(dimension)), axis=1)
    starts = np.arange(0, n * dimension + 1, dimension)
    return sparse.csr_matrix((np.ones(n * dimension), columns.ravel(), starts), shape=(n, n))


def residual(a: Any, values: Any, vectors: Any) -> float:
    """Largest ||A x - lambda x|| / |lambda|."""
    return float(np.max(np.linalg.norm(a @ vectors - vectors * values, axis=0) / np.abs(values)))


def main() -> int:
    if not purlin.devices():
        print("no GPU here")
        return 77
    wanted = set(sys.argv[1:]) or {"ba", "rmat", "plain", "block", "shared"}
    table = Table("ten largest eigenpairs of graphs on a GPU")
    graphs: dict[str, Any] = {}
    if "ba" in wanted:
        graphs["BA, 1.6e6 vertices"] = preferential(1_600_000, 3, 1)
    if "rmat" in wanted:
        graphs["R-MAT, scale 21"] = recursive(21, 16 << 20, 2)
    with purlin.Context("cuda") as context:
        for name, a in graphs.items():
            measure(table, context, name, a)
        if "plain" in wanted:
            plain(table, context)
        if "block" in wanted:
            blocks(table, context, "BA, 1.6e6 vertices", preferential(1_600_000, 3, 1), 10)
            blocks(table, context, "hypercube, 2^20 vertices", hypercube(20), 21)
    if "shared" in wanted and len(purlin.devices()) > 1:
        shared(table, int(os.environ.get("PURLIN_BENCH_SCALE", "24")))
    table.write()
    return 0


def measure(table: Table, context: purlin.Context, name: str, a: Any) -> None:
    import cupy
    from cupyx.scipy.sparse import csr_matrix
    from cupyx.scipy.sparse.linalg import eigsh

    k = 10
    on_device = csr_matrix(a)
    began = time.perf_counter()
    matrix = purlin.Matrix.of(on_device, context=context)
    made = time.perf_counter() - began
    vectors = cupy.empty((a.shape[0], k), order="F")

    # A reordered matrix is a copy. purlin reuses it if no one else can write to the values unnoticed.
    copied = purlin.Matrix.from_scipy(a, copy=True, context=context)

    def ours(**options: Any) -> Any:
        a = copied if "ordering" in options else matrix
        return lanczos.run(a, k, "largest", vectors=vectors, context=context, tolerance=1e-8, **options)

    began = time.perf_counter()
    solution = ours()
    first = time.perf_counter() - began
    largest = solution.pairs.values[0]

    def solve() -> Any:
        found = eigsh(on_device, k=k, which="LA", tol=1e-8 * largest)
        cupy.cuda.Device().synchronize()
        return found

    w, x = solve()
    theirs = 1 / median_seconds(solve, repeats=7)
    raft = rafts(on_device, k, 1e-8 * largest)
    if raft is not None:
        found, seconds = raft
        table.add(
            f"{name}, k = {k}, RAFT beside CuPy", "1/s", theirs, "RAFT eigsh", 1 / seconds,
            their_residual=f"{residual(a, found[0], found[1]):.1e}",
            differ=f"{np.max(np.abs(np.sort(found[0])[::-1] - np.sort(w.get())[::-1]) / largest):.1e}",
        )  # fmt: skip
    host = median_seconds(lambda: lanczos.run(a, k, "largest", context=context, tolerance=1e-8), repeats=3)
    partial = {"orthogonalization": "partial"}
    for ending, options in (("", {}), (", partial", partial), (", partial, by degree", {**partial, "ordering": "degree"})):
        began = time.perf_counter()
        solution = ours(**options)
        once = time.perf_counter() - began
        seconds = median_seconds(lambda: ours(**options), repeats=7)
        values = solution.pairs.values
        facts = {
            "entries": a.nnz,
            "seconds": round(seconds, 4),
            "inside": round(solution.info.seconds, 4),
            "products": solution.info.products,
            "restarts": solution.info.restarts,
            "basis": solution.info.basis,
            "residual": f"{residual(a, values, vectors.get()):.1e}",
            "their_residual": f"{residual(a, w.get(), x.get()):.1e}",
            "differ": f"{np.max(np.abs(np.sort(w.get())[::-1] - values) / values):.1e}",
            "made": round(made, 3),
            "first": round(once if "ordering" in options else first, 3),
            "host": round(host, 3),
        }
        if raft is not None:
            facts["of_raft"] = round(raft[1] / seconds, 3)
        table.add(f"{name}, k = {k}{ending}", "1/s", 1 / seconds, "CuPy eigsh", theirs, **facts)


def rafts(a: Any, k: int, tolerance: float) -> tuple[tuple[Any, Any], float] | None:
    """Values and vectors by RAFT's Lanczos, and its seconds; `None` if it is not installed."""
    import cupy

    try:
        from pylibraft.sparse.linalg import eigsh
    except ImportError:
        return None

    def solve() -> Any:
        found = eigsh(a, k=k, which="LA", tol=tolerance, maxiter=10_000)
        cupy.cuda.Device().synchronize()
        return found

    try:
        w, x = (cupy.asarray(part).get() for part in solve())
        return (w, x), median_seconds(solve, repeats=5)
    except Exception as error:
        print(f"  RAFT: {type(error).__name__}: {str(error)[:200]}")
        return None


def plain(table: Table, context: purlin.Context) -> None:
    """63 steps of the plain recurrence on a graph of the size of the patents' citations, and its accepted values."""
    from cupyx.scipy.sparse import csr_matrix

    a = recursive(22, 17 << 20, 4)
    matrix = purlin.Matrix.of(csr_matrix(a), context=context)

    def steps() -> Any:
        return lanczos.cullum_willoughby(*lanczos.tridiagonalize(matrix, 63, context=context))

    accepted = steps()
    seconds = median_seconds(steps, repeats=7)
    right = lanczos.run(matrix, 10, "largest", vectors=False, context=context, tolerance=1e-10).pairs.values
    near = [float(np.min(np.abs(right - v))) / right[0] for v in accepted.values if v > right[-1]]
    facts = {"entries": a.nnz, "milliseconds": round(1e3 * seconds, 2), "leading": len(near), "differ": f"{max(near):.1e}"}
    table.add("R-MAT, scale 22, 63 plain steps", "1/s", 1 / seconds, "", None, **facts)


def blocks(table: Table, context: purlin.Context, name: str, a: Any, k: int) -> None:
    """Blocks of two and of four against one vector, in as large a space."""
    copied = purlin.Matrix.from_scipy(a, copy=True, context=context)

    def run(block: int) -> Any:
        return lanczos.run(copied, k, "largest", vectors=False, context=context, tolerance=1e-8, basis=8 * (k // 2), block=block)

    alone = run(1)
    single = median_seconds(lambda: run(1))
    for block in (2, 4):
        found = run(block)
        seconds = median_seconds(lambda block=block: run(block))
        facts = {
            "milliseconds": round(1e3 * seconds, 2),
            "products": found.info.products,
            "products_of_one": alone.info.products,
            "recovered_by_one": alone.info.recovered,
            "differ": f"{np.max(np.abs(found.pairs.values / alone.pairs.values - 1)):.1e}",
        }
        table.add(f"{name}, k = {k}, blocks of {block}", "1/s", 1 / seconds, "one vector", 1 / single, **facts)


def recursive_pattern(scale: int, edges: int, seed: int) -> tuple[Any, Any]:
    """R-MAT as of `recursive`, made on the device: row offsets and columns, on the host."""
    import cupy

    random = cupy.random.RandomState(seed)
    n = 1 << scale
    row = cupy.zeros(edges, cupy.int64)
    column = cupy.zeros(edges, cupy.int64)
    for _ in range(scale):
        u = random.random_sample(edges)
        row = 2 * row + (u >= 0.76)
        column = 2 * column + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
    del u
    keep = row != column
    row, column = row[keep], column[keep]
    keys = cupy.unique(cupy.concatenate((row * n + column, column * n + row)))
    del row, column, keep
    row_ptr = cupy.searchsorted(keys, cupy.arange(n + 1, dtype=cupy.int64) * n).astype(cupy.int32).get()
    col_idx = (keys % n).astype(cupy.int32).get()
    del keys
    cupy.get_default_memory_pool().free_all_blocks()
    return row_ptr, col_idx


def shared(table: Table, scale: int) -> None:
    """One GPU against two, on a pattern whose parts stay with it."""
    row_ptr, col_idx = recursive_pattern(scale, 16 << scale, 2)
    n = 1 << scale
    with purlin.Context("cuda", device=0) as one, purlin.Context("cuda", device=1) as other:
        a = purlin.Matrix.csr(row_ptr, col_idx, None, (n, n), context=one)

        def run(*more: purlin.Context, **options: Any) -> Any:
            with purlin.Group([one, *more]) as group:
                return lanczos.run(a, 10, "largest", tolerance=1e-8, vectors=False, group=group, **options)

        for orthogonality in ("full", "partial"):
            options = {"orthogonalization": orthogonality}
            began = time.perf_counter()
            alone = run(**options)
            first_alone = time.perf_counter() - began
            began = time.perf_counter()
            both = run(other, **options)
            first = time.perf_counter() - began
            single = median_seconds(lambda options=options: run(**options), repeats=3, warmup=0)
            double = median_seconds(lambda options=options: run(other, **options), repeats=3, warmup=0)
            facts = {
                "entries": len(col_idx),
                "seconds": round(double, 4),
                "seconds_of_one": round(single, 4),
                "products": both.info.products,
                "products_of_one": alone.info.products,
                "part_rows": both.info.part_rows,
                "part_entries": both.info.part_entries,
                "halo": both.info.halo,
                "halo_bytes": both.info.halo_bytes,
                "first": round(first, 2),
                "first_of_one": round(first_alone, 2),
                "differ": f"{np.max(np.abs(both.pairs.values / alone.pairs.values - 1)):.1e}",
            }
            table.add(f"R-MAT, scale {scale}, k = 10, {orthogonality}, two GPUs", "1/s", 1 / double, "one GPU", 1 / single, **facts)


if __name__ == "__main__":
    sys.exit(main())
