"""Counts eigenvalues that a solve with default options misses, on graphs whose spectra are known.

    python completeness.py           the whole table
    python completeness.py --quick   a few of each

A solve that says `verified` must hold every copy of each wanted eigenvalue; one that says it is not verified is counted. Oracles:
closed forms of cycles and grids, and dense LAPACK through NumPy. It fails if a value is wrong, or if more than one solve in a
hundred did not end or was not verified. The last line counts; products of the solves are summed for
`verify="auto"` and, where `--on` asks for it, for "on".
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import purlin

from spectra import Sparse, cycle, hypercube, operator, path, product, union


def ring(n: int) -> purlin.Matrix:
    """A cycle without a dense matrix."""
    i = np.arange(n, dtype=np.int64)
    columns = np.sort(np.stack([(i - 1) % n, (i + 1) % n], axis=1), axis=1).ravel()
    return purlin.Matrix.csr(2 * np.arange(n + 1, dtype=np.int64), columns, np.ones(2 * n), (n, n))


def square(side: int) -> purlin.Matrix:
    """A square grid without a dense matrix."""
    at = np.arange(side * side, dtype=np.int64).reshape(side, side)
    pairs = np.concatenate([np.stack([at[:-1].ravel(), at[1:].ravel()], 1), np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1)])
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=side * side))]).astype(np.int64)
    return purlin.Matrix.csr(offsets, np.ascontiguousarray(pairs[:, 1]), np.ones(len(pairs)), (side * side, side * side))


def ring_values(n: int) -> np.ndarray:
    return np.sort(2 * np.cos(2 * np.pi * np.arange(n) / n))


def square_values(side: int) -> np.ndarray:
    one = 2 * np.cos(np.pi * np.arange(1, side + 1) / (side + 1))
    return np.sort((one[:, None] + one[None, :]).ravel())


def of_edges(n: int, edges: Any) -> np.ndarray:
    a = np.zeros((n, n))
    for i, j in edges:
        a[i, j] = a[j, i] = 1
    return a


def paley(q: int) -> np.ndarray:
    squares = {x * x % q for x in range(1, q)}
    return np.array([[float((i - j) % q in squares) for j in range(q)] for i in range(q)])


def johnson(n: int, k: int) -> np.ndarray:
    sets = [frozenset(s) for s in itertools.combinations(range(n), k)]
    return np.array([[float(len(a & b) == k - 1) for b in sets] for a in sets])


def complete(n: int) -> np.ndarray:
    return np.ones((n, n)) - np.eye(n)


def bipartite(p: int, q: int) -> np.ndarray:
    a = np.zeros((p + q, p + q))
    a[:p, p:] = a[p:, :p] = 1
    return a


def tree(depth: int) -> np.ndarray:
    n = 2 ** (depth + 1) - 1
    return of_edges(n, [(i, (i - 1) // 2) for i in range(1, n)])


def barbell(n: int, between: int) -> np.ndarray:
    a = union(complete(n), np.zeros((between, between)), complete(n))
    for i in range(n - 1, n + between):
        a[i, i + 1] = a[i + 1, i] = 1
    return a


def cliques(count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Cliques in a ring, one edge between neighbours, and the clique of each vertex."""
    truth = np.arange(count * size) // size
    a = (truth[:, None] == truth).astype(float) - np.eye(count * size)
    for c in range(count):
        i, j = c * size, (c + 1) % count * size + 1
        a[i, j] = a[j, i] = 1
    return a, truth


def graphs() -> dict[str, np.ndarray]:
    """Twenty graphs with multiple eigenvalues, larger than the spaces that are searched whole."""
    star = bipartite(1, 149)
    return {
        "cycle": cycle(200),
        "grid": product(path(14), path(14)),
        "long grid": product(path(8), path(24)),
        "torus": product(cycle(12), cycle(12)),
        "oblong torus": product(cycle(9), cycle(20)),
        "cubic torus": product(product(cycle(5), cycle(5)), cycle(5)),
        "hypercube": hypercube(8),
        "star": star,
        "bipartite": bipartite(40, 90),
        "complete": complete(120),
        "ladder": product(path(80), path(2)),
        "round ladder": product(cycle(70), path(2)),
        "tree": tree(6),
        "stars": union(star, star, bipartite(1, 60)),
        "paths": union(*[path(50)] * 4),
        "cycles": union(cycle(60), cycle(60), cycle(90)),
        "Paley": paley(109),
        "Johnson": johnson(10, 3),
        "barbell": barbell(50, 20),
        "rook": product(complete(12), complete(12)),
    }


def wanted(values: np.ndarray, which: str, k: int) -> np.ndarray:
    return values[:k] if which == "smallest" else values[::-1][:k]


class Table:
    """Solves and counts of their outcomes."""

    def __init__(self, compares: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.compares = compares

    def solve(self, name: str, a: Any, exact: np.ndarray, k: int, which: str, tolerance: float, **options: Any) -> None:
        label = f"{name} k={k} {which} {options}"
        try:
            found = purlin.lanczos.run(a, k, which, vectors=False, **options)
        except purlin.lanczos.Unfinished:
            self.counts["unfinished"] += 1
            print(f"unfinished: {label}", flush=True)
            return
        want = wanted(exact, which, k)
        error = np.abs(found.pairs.values - want).max()
        self.counts["solved"] += 1
        self.counts["products, auto"] += found.info.products
        if not found.info.verified:
            self.counts["not verified"] += 1
            print(f"not verified: {label}", flush=True)
        elif error > tolerance * np.abs(exact).max():
            self.counts["wrong"] += 1
            print(f"WRONG: {label}: {found.pairs.values}, exact {want}", flush=True)
        if self.compares:
            searched = purlin.lanczos.run(a, k, which, vectors=False, verify="on", **options)
            self.counts["products, on"] += searched.info.products
            self.counts["auto dearer"] += found.info.products > searched.info.products

    def check(self, label: str, found: np.ndarray, exact: np.ndarray, is_verified: bool, tolerance: float) -> None:
        self.counts["solved"] += 1
        if not is_verified:
            self.counts["not verified"] += 1
            print(f"not verified: {label}", flush=True)
        elif np.abs(np.asarray(found) - exact).max() > tolerance:
            self.counts["wrong"] += 1
            print(f"WRONG: {label}: {found}, exact {exact}", flush=True)


def large(table: Table, quick: bool) -> None:
    """Square grids and cycles, in a space of 60."""
    cases: Iterator[tuple[str, Any, np.ndarray]] = (
        (name, make(n), values(n))
        for name, make, values, sizes in (
            ("square", square, square_values, (40,) if quick else (40, 60, 80)),
            ("cycle", ring, ring_values, (500,) if quick else (500, 2000)),
        )
        for n in sizes
    )
    for name, a, exact in cases:
        for k in (3, 4, 5):
            for seed in range(2 if quick else 4):
                table.solve(f"{name} of {a.shape[0]}", a, exact, k, "largest", 1e-9, basis=60, seed=seed)


def structured(table: Table, quick: bool) -> None:
    """The twenty graphs: matrices and Laplacians, both ends, several spaces, blocks and precisions."""
    for name, dense in graphs().items():
        for kind in ("matrix", "laplacian", "normalized_adjacency"):
            exact = np.linalg.eigvalsh(operator(dense, kind))
            for dtype, tolerance in ((np.float64, 1e-8), (np.float32, 1e-3)):
                a = Sparse(dense.astype(dtype))
                made = purlin.Matrix.csr(a.indptr, a.indices, a.data, a.shape)
                for k in (3, 6) if quick else (3, 4, 5, 6):
                    for which in ("largest", "smallest"):
                        for seed in range(1 if quick else 3):
                            label = f"{name} {kind} {np.dtype(dtype).name}"
                            given: list[dict[str, Any]] = [{}] if quick else [{}, {"basis": 60}, {"block": 2}]
                            if not quick and seed == 0:
                                given += [{"filter": "chebyshev"}, {"orthogonalization": "partial"}]
                            for options in given:
                                table.solve(label, made, exact, k, which, tolerance, kind=kind, seed=seed, **options)


def functions(table: Table, quick: bool) -> None:
    """The graph functions, with and without blocks, in both precisions."""
    for name in ("cycle", "grid", "torus", "round ladder", "barbell"):
        dense = graphs()[name]
        low = np.linalg.eigvalsh(operator(dense, "normalized_laplacian"))
        second = np.linalg.eigvalsh(operator(dense, "laplacian"))[1]
        for dtype, tolerance in ((np.float64, 1e-7), (np.float32, 2e-3)):
            a = Sparse(dense.astype(dtype))
            made = purlin.Matrix.csr(a.indptr, a.indices, a.data, a.shape)
            for options in ({}, {"block": 2}, {"filter": "chebyshev"}):
                label = f"{name} {np.dtype(dtype).name} {options}"
                try:
                    found = purlin.graph.fiedler(made, **options)
                    table.check(f"fiedler {label}", found.value, second, found.info.verified, tolerance)
                    for k in (3,) if quick else (3, 4, 5):
                        embedded = purlin.graph.embed(made, k, **options)
                        table.check(f"embed {label} k={k}", embedded.values, low[:k], embedded.info.verified, tolerance)
                except purlin.NoConvergence as error:
                    table.counts["unfinished"] += 1
                    print(f"unfinished: {label}: {error}", flush=True)
    # A ring of cliques has double eigenvalues below the gap. Without one copy, the coordinates do not separate the cliques.
    for count in (4, 7) if quick else (4, 5, 6, 7, 8):
        dense, truth = cliques(count, 20)
        for dtype in (np.float64, np.float32):
            a = Sparse(dense.astype(dtype))
            made = purlin.Matrix.csr(a.indptr, a.indices, a.data, a.shape)
            for options in ({}, {"block": 2}, {"filter": "chebyshev"}):
                grouped = purlin.graph.cluster(made, count, "pivoted_qr", **options)
                pairs = set(zip(grouped.labels.tolist(), truth.tolist()))
                wrong = [] if len(pairs) == count else sorted(pairs)
                table.check(f"cluster {count} cliques {np.dtype(dtype).name} {options} {wrong}", len(pairs), count, grouped.info.verified, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer cases")
    parser.add_argument("--on", action="store_true", help='solve with verify="on" as well, and compare products')
    parser.add_argument("--part", choices=("large", "structured", "functions"), help="one part alone")
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    for part in (large, functions, structured):
        if arguments.part in (None, part.__name__):
            table = Table(arguments.on)
            part(table, arguments.quick)
            print(f"{part.__name__}: " + ", ".join(f"{key} {count}" for key, count in table.counts.items()), flush=True)
            total += table.counts
    # The cycle whose second value the test once missed.
    w = ring(200)
    values = purlin.lanczos.solve(w, 3, kind="normalized_adjacency", vectors=False).values * 2
    if np.abs(values - ring_values(200)[::-1][:3]).max() > 1e-9:
        total["wrong"] += 1
        print(f"WRONG: normalized adjacency of the cycle of 200: {values / 2}")
    print("completeness: " + ", ".join(f"{key} {count}" for key, count in total.items()))
    # A table without a verified solve proves nothing.
    without_promise = total["unfinished"] + total["not verified"]
    return 1 if total["wrong"] or without_promise > 0.01 * total["solved"] else 0


if __name__ == "__main__":
    sys.exit(main())
