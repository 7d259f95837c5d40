"""Attacks on functions of graphs and on planned products with a number that is not finite at any place. Oracle: the places
where that number is a term, from the structure of the matrix alone; all other results from NumPy without it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import purlin

from attack import ALL, REAL, Bench, Finding, epsilon, pick, require
from graphs import BOTH, METHODS, SQUARE, block, dense_operator
from spectra import csr, structured_graph

NORMALIZED = ("normalized_laplacian", "normalized_adjacency", "random_walk_laplacian")


def bad_number(rng: np.random.Generator, dtype: Any) -> Any:
    bad = float(pick(rng, np.nan, np.inf, -np.inf))
    if np.dtype(dtype).kind == "c":
        return np.dtype(dtype).type(pick(rng, complex(bad, 1.0), complex(1.0, bad), complex(bad, bad)))
    return np.dtype(dtype).type(bad)


def functions(rng: np.random.Generator, bench: Bench) -> None:
    """Functions of graphs refuse a weight, and those of points a coordinate, that is not finite."""
    name, a = structured_graph(rng)
    a = a[:120, :120].astype(pick(rng, *REAL))
    n, k = len(a), int(rng.integers(1, 5))
    bad = bad_number(rng, a.dtype)
    i, j = (int(v) for v in rng.integers(0, n, 2))
    if rng.random() < 0.5 and a.any():
        i, j = (int(v) for v in pick(rng, *np.argwhere(a)))
    a[i, j] = a[j, i] = bad
    points = rng.standard_normal((n, k)).astype(a.dtype)
    points[i, j % k] = bad
    vector = rng.standard_normal(n)
    k = min(k, n)
    seed = int(rng.integers(1 << 30))
    here: dict[str, Any] = {"context": bench.context}
    kind = pick(rng, "matrix", "laplacian", "signless_laplacian", "normalized_laplacian", "normalized_adjacency")
    spoilt = vector.copy()
    spoilt[i] = bad
    clean = np.where(np.isfinite(a), a, 1).astype(a.dtype)
    call = pick(rng, "embed", "cluster", "fiedler", "density", "bisect", "bisect a vector", "k_means", "pivoted_qr")
    label = f"{call} of {name} n={n} k={k} {a.dtype.name} {kind} with {bad} at {i}, {j}"
    calls: dict[str, Any] = {
        "embed": lambda: purlin.graph.embed(csr(a, bench), k, pick(rng, "none", "unit_rows", "degrees"), seed=seed, **here),
        "cluster": lambda: purlin.graph.cluster(csr(a, bench), k, pick(rng, "k_means", "pivoted_qr"), seed=seed, **here),
        "fiedler": lambda: purlin.graph.fiedler(csr(a, bench), normalized=bool(rng.random() < 0.5), seed=seed, **here),
        "density": lambda: purlin.graph.density(csr(a, bench), int(pick(rng, 1, 5, 20)), 3, kind=kind, seed=seed, **here),
        "bisect": lambda: purlin.graph.bisect(csr(a, bench), vector, pick(rng, "sign", "median", "sweep"), **here),
        "bisect a vector": lambda: purlin.graph.bisect(csr(clean, bench), spoilt, pick(rng, "sign", "median", "sweep"), **here),
        "k_means": lambda: purlin.graph.k_means(points, k, seed=seed, **here),
        "pivoted_qr": lambda: purlin.graph.pivoted_qr(points, **here),
    }
    if call == "fiedler" and n < 2:
        return
    try:
        found = calls[call]()
    except purlin.InternalError as error:
        raise Finding(f"{label}: internal error {error}") from error
    except (purlin.InvalidArgument, purlin.Numerical) as error:
        require(":" in str(error), f"{label}: the refusal names no argument: {error}")
        bench.outcomes["refused"] += 1
        return
    except purlin.Error as error:
        raise Finding(f"{label}: {type(error).__name__}: {error}") from error
    raise Finding(f"{label}: success, {found}")


def reached(a: np.ndarray, kind: str, op: str, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the product in which entry (i, j) of A is a term, and those in which it may be one."""
    size = sum(a.shape) if kind == "augmented" else a.shape[1] if kind == "gram" else a.shape[0]
    if op != "plain" and kind == "matrix":
        size = a.shape[1]
    surely = np.zeros(size, bool)
    # The row of the entry, or with a transposed matrix its column.
    row = i if op == "plain" else j
    present = a != 0
    if kind == "augmented":
        surely[[i, a.shape[0] + j]] = True
        return surely, surely
    if kind in ("gram", "outer_gram"):
        # The first product spoils one number of the vector between, the second all that read it.
        surely = present[i, :].copy() if kind == "gram" else present[:, j].copy()
        surely[j if kind == "gram" else i] = True
        return surely, surely
    surely[row] = True
    if kind in ("laplacian", "signless_laplacian"):
        surely[i] = True  # Its row sum.
    maybe = surely.copy()
    if kind in NORMALIZED:
        # 1 / sqrt(infinity) is 0, so terms over this row sum may be either.
        maybe[i] = True
        maybe |= present[:, i] | present[i, :]
        if kind == "random_walk_laplacian":
            # The library may multiply a row by a power of two of its own.
            maybe[[i, j]] = True
    if kind == "modularity":
        surely[:] = maybe[:] = True
    return surely, maybe


def products(rng: np.random.Generator, bench: Bench) -> None:
    """A number of A, x or y that is not finite reaches the numbers that have it as a term, and no other."""
    kind = pick(rng, "matrix", "matrix", *SQUARE, *BOTH)
    m, n = (int(v) for v in rng.integers(1, int(pick(rng, 6, 90)), 2))
    dtype = pick(rng, *(ALL if kind in ("matrix", *BOTH) else REAL))
    if kind in SQUARE:
        n = m
    a = (rng.random((m, n)) < rng.uniform(0, 0.4)) * (rng.random((m, n)) + 0.1 if kind in SQUARE else rng.standard_normal((m, n)))
    if np.dtype(dtype).kind == "c":
        a = a * np.exp(2j * np.pi * rng.random((m, n)))
    a = a.astype(dtype)
    i, j = int(rng.integers(m)), int(rng.integers(n))
    a[i, j] = 1
    options: dict[str, Any] = {"method": pick(rng, "auto", *METHODS)}
    if kind not in BOTH:
        options["op"] = pick(rng, "plain", "transpose", "adjoint")
    op = options.get("op", "plain")
    columns, order = int(pick(rng, 0, 0, 1, 2, 5, 17)), pick(rng, "C", "F")
    where = pick(rng, "A", "x", "y")
    bad = bad_number(rng, dtype)
    label = f"{bad} in {where} of a product {m}x{n} {kind} {np.dtype(dtype).name} {columns} columns {order} {options}, entry {i}, {j}"
    exact, size = dense_operator(a, kind, op, 0.0)
    x, y = block(rng, exact.shape[1], columns, order, dtype), block(rng, exact.shape[0], columns, order, dtype)
    alpha, beta = float(pick(rng, 1.0, -0.5)), float(pick(rng, 0.0, 1.0))
    wanted = alpha * (exact @ x) + beta * y
    limit = 16 * (m + n + 2) * epsilon(dtype) * (size @ np.abs(x) + np.abs(y))
    surely, maybe = np.zeros(y.shape, bool), np.zeros(y.shape, bool)
    given = a.copy()
    if where == "A":
        given[i, j] = bad
        rows = reached(a, kind, op, i, j)
        surely[rows[0]], maybe[rows[1]] = True, True
    else:
        vector = x if where == "x" else y
        place = tuple(int(rng.integers(s)) for s in vector.shape)
        vector[place] = bad
        if where == "y":
            surely[place] = maybe[place] = beta != 0
        else:
            rows = size[:, place[0]] > 0
            surely[(rows, *place[1:])] = maybe[(rows, *place[1:])] = True
            # Terms whose factor is 0: degrees of isolated vertices, and weights times the roots of such degrees.
            if kind in SQUARE:
                rows = (a if op != "plain" else a.T)[place[0]] != 0
                rows[place[0]] = True
                maybe[(rows | (kind == "modularity"), *place[1:])] = True
    named = options["method"] != "auto"
    refusals = (purlin.NotSupported, purlin.InvalidArgument) if named else ()
    if where == "A" and kind in SQUARE:
        # The plan sums the rows, and names the entry.
        refusals = (*refusals, purlin.Numerical, purlin.InvalidArgument)
    plan = bench.call(purlin.spmv.Plan, csr(given, bench), kind=kind, context=bench.context, allowed=refusals, **options)
    with closing(plan):
        bench.call(plan.apply, x, y, alpha=alpha, beta=beta, allowed=(purlin.Numerical,) if where == "A" else ())
    finite = np.isfinite(y)
    require(not (finite & surely).any(), f"{label}: finite at {np.argwhere(finite & surely)[:4].tolist()}: {y[finite & surely][:4]}")
    rest = ~maybe
    require(finite[rest].all(), f"{label}: not finite at {np.argwhere(~finite & rest)[:4].tolist()}")
    off = np.abs(y[rest] - wanted[rest])
    require((off <= limit[rest] + np.finfo(dtype).tiny).all(), f"{label}: off by {off.max(initial=0):.2e}")
    bench.outcomes[f"spoilt {where}"] += 1


def not_finite(rng: np.random.Generator, bench: Bench) -> None:
    """A weight, coordinate, value or number of a vector that is not finite: a named error, or NaN or infinity where it counts."""
    pick(rng, functions, products)(rng, bench)


ATTACKS = {"not_finite": not_finite}
