#!/usr/bin/env python3
"""Products and eigenpairs of sparse matrices on the CPU: purlin against SciPy, MKL (pip install scipy mkl sparse_dot_mkl) and
SLEPc (slepc4py), as far as they are installed.

Arguments choose among products, largest, smallest and block, which is purlin against itself, blocks of vectors against one; and
among the matrices by words of their names ("R-MAT"). Runs of purlin and of a peer take turns, so that a machine that is not
idle favours neither. Eigensolvers get the same k and a tolerance that leaves the same true residuals, which are shown; SciPy's
products use one thread, as they always do, MKL's as many as purlin's. Smallest eigenvalues of the normalized Laplacian are one
less the largest of S = D^-1/2 A D^-1/2, for SciPy too.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

THREADS = int(os.environ.get("PURLIN_BENCH_THREADS", "2"))
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, str(THREADS))

import numpy as np
import purlin
from purlin import graph, lanczos, spmv
from report import Table
from spectra_gpu import blocks, hypercube, preferential, recursive, residual

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "spectral"


def market(name: str) -> Any:
    """A stored graph, both halves, as ones; a matrix with its values."""
    from scipy.io import mmread

    a = mmread(GOLDEN / f"{name}.mtx.gz").tocsr().astype(np.float64)
    a.sort_indices()
    return a


def grid(side: int, dimensions: int) -> Any:
    """The graph of a grid."""
    from scipy import sparse

    line = sparse.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1], shape=(side, side)).tocsr()
    total = line
    for _ in range(dimensions - 1):
        total = sparse.kronsum(total, line, format="csr")
    return sparse.csr_matrix(total)


def image() -> Any:
    """The pixel graph of the stored photograph, as the golden data defines it."""
    pixels = np.load(GOLDEN / "china_rgbsum_stride4.npy") / 765.0
    with purlin.Context("cpu") as context:
        return graph.of_image(pixels, radius=1.0, intensity=0.1, floor=1e-6, context=context).scipy()


def turns(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int, rest: float = 0.0) -> tuple[float, float]:
    """Median seconds of both, call by call in turn, with a rest before each where threads of BLAS spin on after a call."""
    times: tuple[list[float], list[float]] = ([], [])
    for work in (ours, theirs):
        work()
    for _ in range(repeats):
        for work, kept in zip((ours, theirs), times, strict=True):
            time.sleep(rest)
            began = time.perf_counter()
            work()
            kept.append(time.perf_counter() - began)
    return statistics.median(times[0]), statistics.median(times[1])


def often(work: Callable[[], Any]) -> None:
    """Repeats a call that is too short to be timed alone."""
    for _ in range(20):
        work()


def product_peers(a: Any, x: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "scipy", lambda: a @ x
    try:
        import sparse_dot_mkl

        y = np.empty(a.shape[0], a.dtype)
        yield "MKL", lambda: sparse_dot_mkl.dot_product_mkl(a, x, out=y)
    except ImportError:
        pass


def chosen(matrices: dict[str, Callable[[], Any]], words: set[str]) -> dict[str, Any]:
    """The matrices whose names have one of the words; without words all."""
    return {name: make() for name, make in matrices.items() if not words or any(w in name for w in words)}


def products(table: Table, context: purlin.Context, words: set[str]) -> None:
    made = {
        "email-Enron": partial(market, "email-Enron"),
        "4elt": partial(market, "4elt"),
        "bcsstk13": partial(market, "bcsstk13"),
        "grid 1000^2": partial(grid, 1000, 2),
        "grid 100^3": partial(grid, 100, 3),
        "BA, 4e5 vertices": partial(preferential, 400_000, 3, 1),
        "R-MAT, scale 18": partial(recursive, 18, 16 << 18, 2),
    }
    matrices = chosen(made, words)
    logs: dict[str, list[float]] = {}
    for dtype in (np.float64, np.float32):
        for name, full in matrices.items():
            a = full.astype(dtype)
            x = np.random.default_rng(1).standard_normal(a.shape[1]).astype(dtype)
            y = np.empty(a.shape[0], dtype)
            plan = spmv.Plan(a, context=context)
            count = max(5, int(2e8 / (a.nnz + a.shape[0]) / 20))
            for peer, work in product_peers(a, x):
                ours, theirs = turns(partial(often, partial(plan.apply, x, y)), partial(often, work), count)
                bound = 1e-4 if dtype is np.float32 else 1e-12
                assert np.allclose(y, a @ x, rtol=bound, atol=bound * np.abs(a @ x).max())
                facts = {"entries": a.nnz, "microseconds": round(ours / 20 * 1e6, 1), "method": plan.info.method}
                table.add(f"product, {name}, {np.dtype(dtype).name}", "1/s", 20 / ours, peer, 20 / theirs, **facts)
                logs.setdefault(f"{peer}, {np.dtype(dtype).name}", []).append(np.log(theirs / ours))
            plan.close()
    for peer, values in logs.items():
        mean = float(np.exp(np.mean(values)))
        table.add(f"product, geometric mean of {len(values)} matrices", "times", mean, peer, 1.0)


def solver_peers(a: Any, k: int, tolerance: float) -> Iterator[tuple[str, Callable[[], tuple[Any, Any]]]]:
    """k largest with residuals below `tolerance` times the eigenvalue."""
    from scipy.sparse.linalg import eigsh

    yield "scipy eigsh", lambda: eigsh(a, k=k, which="LA", tol=tolerance)
    try:
        from petsc4py import PETSc
        from slepc4py import SLEPc

        m = PETSc.Mat().createAIJ(size=a.shape, csr=(a.indptr, a.indices, a.data))

        def krylov_schur() -> tuple[Any, Any]:
            solver = SLEPc.EPS().create()
            solver.setOperators(m)
            solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
            solver.setType(SLEPc.EPS.Type.KRYLOVSCHUR)
            solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
            solver.setDimensions(k)
            solver.setTolerances(tolerance, 1000)
            solver.solve()
            vector, _ = m.createVecs()
            values, vectors = [], []
            for i in range(k):
                values.append(solver.getEigenpair(i, vector).real)
                vectors.append(vector.getArray().copy())
            solver.destroy()
            return np.array(values), np.array(vectors).T

        yield "SLEPc krylovschur", krylov_schur
    except ImportError:
        pass


def measure(table: Table, case: str, a: Any, ours: Callable[[], Any], k: int, tolerance: float) -> None:
    for peer, work in solver_peers(a, k, tolerance):
        mine, theirs = turns(ours, work, 5, rest=0.1)
        solution, (w, v) = ours(), work()
        values = solution.pairs.values
        order = np.argsort(w)[::-1]
        facts = {
            "milliseconds": round(1e3 * mine, 1),
            "products": solution.info.products,
            "residual": f"{residual(a, values, solution.pairs.vectors):.1e}",
            "their_residual": f"{residual(a, w, v):.1e}",
            "differ": f"{np.max(np.abs(w[order] - values) / np.abs(values).max()):.1e}",
        }
        table.add(case, "1/s", 1 / mine, peer, 1 / theirs, **facts)


def largest(table: Table, context: purlin.Context, words: set[str]) -> None:
    made = {
        "email-Enron": partial(market, "email-Enron"),
        "ca-AstroPh": partial(market, "ca-AstroPh-cc"),
        "as-caida": partial(market, "as-caida20071105"),
        "4elt": partial(market, "4elt"),
        "BA, 4e5 vertices": partial(preferential, 400_000, 3, 1),
        "R-MAT, scale 18": partial(recursive, 18, 16 << 18, 2),
    }
    for name, a in chosen(made, words).items():
        for orthogonality in ("full", "partial"):
            options: dict[str, Any] = {"tolerance": 1e-8, "orthogonalization": orthogonality, "context": context}
            ours = partial(lanczos.run, a, 10, "largest", **options)
            measure(table, f"largest, {name}, k = 10, {orthogonality}", a, ours, 10, 1e-8)


def smallest(table: Table, context: purlin.Context, words: set[str]) -> None:
    from scipy import sparse

    for name, a in chosen({"4elt": partial(market, "4elt"), "image graph": image}, words).items():
        d = 1 / np.sqrt(np.asarray(a.sum(axis=1)).ravel())
        s = sparse.csr_matrix(sparse.diags_array(d) @ a @ sparse.diags_array(d))
        for k in (4, 10):
            options: dict[str, Any] = {"kind": "normalized_adjacency", "tolerance": 1e-8, "context": context}
            for way, more in (("", {"basis": 80}), (", filtered", {"filter": "chebyshev"})):
                ours = partial(lanczos.run, a, k, "largest", **options, **more)
                measure(table, f"smallest of the normalized Laplacian, {name}, k = {k}{way}", s, ours, k, 1e-8)


def block(table: Table, context: purlin.Context, words: set[str]) -> None:
    made = {
        "email-Enron": partial(market, "email-Enron"),
        "4elt": partial(market, "4elt"),
        "hypercube, 2^12 vertices": partial(hypercube, 12),
    }
    for name, a in chosen(made, words).items():
        blocks(table, context, name, a, 13 if name.startswith("hypercube") else 10)


def main() -> int:
    cases = {"products": products, "largest": largest, "smallest": smallest, "block": block}
    wanted = set(sys.argv[1:]) & set(cases) or set(cases)
    words = set(sys.argv[1:]) - set(cases)
    table = Table("products and eigenpairs of sparse matrices on the CPU", threads=THREADS)
    with purlin.Context("cpu", threads=THREADS) as context:
        for name, run in cases.items():
            if name in wanted:
                run(table, context, words)
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
