"""Attacks on graphs and spectra in any unit: weights near the ends of the range, A^H A and A A^H, the plain recurrence, clusters
of points that are small, large or far apart. Oracles: dense operators in extended precision, whose range is 1e4932, LAPACK's
values of the matrix in the unit 1, groups known by construction."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import purlin

from attack import ALL, REAL, Bench, Finding, Refused, epsilon, labelled, orthonormal, pick, random_orthogonal, require
from spectra import KINDS, csr, operator, structured_graph

Wide = np.longdouble
GRAPHS = ("laplacian", "signless_laplacian", "normalized_laplacian", "normalized_adjacency", "modularity", "random_walk_laplacian")
# For these kinds twice a row sum must not overflow.
SUMS = GRAPHS[:2] + ("modularity",)


def graph_operator(a: np.ndarray, kind: str, op: str) -> tuple[np.ndarray, np.ndarray]:
    """The operator of docs/spectra.md in extended precision, and the moduli that its rounding is measured by."""
    w = a.astype(Wide)
    degrees = w.sum(axis=1)
    inverse = np.where(degrees > 0, 1 / np.where(degrees > 0, degrees, 1), 0)
    present, turned = np.diag((degrees > 0).astype(Wide)), w if op == "plain" else w.T
    if kind in ("laplacian", "signless_laplacian"):
        return np.diag(degrees) + (-turned if kind == "laplacian" else turned), np.diag(degrees) + turned
    if kind == "modularity":
        part = degrees[:, None] * (degrees / degrees.sum())
        return turned - part, turned + part
    if kind == "random_walk_laplacian":
        scaled = inverse[:, None] * w if op == "plain" else turned * inverse
        return present - scaled, present + scaled
    root = np.sqrt(inverse)
    scaled = root[:, None] * turned * root
    return (scaled, scaled) if kind == "normalized_adjacency" else (present - scaled, present + scaled)


def weighted(rng: np.random.Generator, dtype: Any, symmetric: bool) -> tuple[str, np.ndarray]:
    """Weights in one unit or in units of their vertices, at the ends of the range or over all of it."""
    n, range_ = int(pick(rng, 1, 2, 5, 20, 60)), np.finfo(dtype)
    a = (rng.random((n, n)) < rng.uniform(0.05, 0.9)) * (rng.random((n, n)) + 0.1)
    if symmetric or rng.random() < 0.7:
        a = np.triu(a, 1) + np.triu(a, 1).T
    least, most = float(np.log2(range_.smallest_subnormal)), float(np.log2(range_.max))
    end = pick(rng, "least", "tiny", "middle", "large", "most", "all")
    low, high = {
        "least": (least, least + 10), "tiny": (float(np.log2(range_.tiny)), float(np.log2(range_.tiny)) + 10), "middle": (-9.0, 9.0),
        "large": (most - 20, most - 8), "most": (most - 4, most), "all": (least, most),
    }[end]
    units = rng.uniform(low, high, n if rng.random() < 0.5 else 1)
    # A weight is in the unit of the smaller of its vertices; rows have units of their own where they need not be symmetric.
    unit = np.minimum(units[:, None], units[None, :]) if (a == a.T).all() else np.broadcast_to(units[:, None], a.shape)
    a = np.minimum(a.astype(Wide) * np.exp2(unit.astype(Wide)), Wide(range_.max))
    return f"{n} vertices, weights {end}, {len(units)} units", a.astype(dtype)


def weights_at_the_ends(rng: np.random.Generator, bench: Bench) -> None:
    """Products with operators of graphs whose weights are near the ends of the range, planned at once and after an update."""
    dtype = pick(rng, *REAL)
    kind, op = pick(rng, *GRAPHS), pick(rng, "plain", "transpose")
    # For a graph that is not symmetric, intermediate results of a normalized operator may overflow.
    name, a = weighted(rng, dtype, kind.startswith("normalized"))
    n, range_ = len(a), np.finfo(dtype)
    if not a.any():
        a[0, n - 1] = 1
    options: dict[str, Any] = {"kind": kind, "op": op, "context": bench.context}
    if rng.random() < 0.3:
        options["ordering"] = pick(rng, "degree", "cuthill_mckee")
    label = f"{kind} of {name} {np.dtype(dtype).name} {op} {options.get('ordering', '')}"
    sums = a.astype(Wide).sum(axis=1)
    # A row sum is formed in double precision.
    too_large = sums.max() > float(range_.max) * 0.49 if kind in SUMS else kind != "random_walk_laplacian" and sums.max() > 0.99 * np.finfo(float).max
    overflow = (purlin.Numerical,) if np.isfinite(a).all() else (purlin.Numerical, purlin.InvalidArgument)
    allowed = overflow if too_large else ()
    made = csr(a, bench)
    if rng.random() < 0.5:
        plan = bench.call(purlin.spmv.Plan, made, **options, allowed=allowed)
    else:
        # The same structure in the unit 1 is planned, and updated.
        plan = bench.call(purlin.spmv.Plan, csr((a != 0).astype(dtype), bench), **options)
        try:
            bench.call(plan.update, made, allowed=allowed)
        except Refused:
            plan.close()
            raise
    with closing(plan):
        exact, size = graph_operator(a, kind, op)
        x = (rng.uniform(-0.5, 0.5, (n, 3))).astype(dtype)
        y = np.empty((n, 3), dtype)
        bench.call(plan.apply, x, y)
    limit = 8 * (n + 2) * epsilon(dtype) * (size @ np.abs(x).astype(Wide)) + 4 * (n + 2) * float(range_.smallest_subnormal)
    if kind == "modularity":
        # Row sums are divided by a power of two that brings the largest into range; the smallest may underflow.
        limit = limit + n * sums.max() * np.exp2(Wide(-512 - 1074))
    if kind.startswith("normalized"):
        # A row's sum may lose digits before it is divided by the root of its row sum.
        limit = limit + (n + 2) * float(range_.smallest_subnormal) / np.sqrt(np.where(sums > 0, sums, 1))[:, None]
    wrong = ~(np.abs(y - exact @ x.astype(Wide)) <= limit)
    require(not wrong.any(), f"{label}: {y[wrong][:4]}, exact {(exact @ x.astype(Wide))[wrong][:4]} to {limit[wrong][:4]}")
    bench.outcomes["solved"] += 1


def scaled(rng: np.random.Generator, a: np.ndarray, dtype: Any, reach: float) -> tuple[float, np.ndarray]:
    """The matrix in a unit that is a power of two, within 10^(+-reach)."""
    unit = 2.0 ** int(rng.uniform(-reach, reach) / np.log10(2))
    with np.errstate(all="ignore"):
        return unit, (a * unit).astype(dtype)


def squares(rng: np.random.Generator, bench: Bench) -> None:
    """Eigenpairs of A^H A, A A^H and [0 A; A^H 0] in any unit: right, or an error where products underflow or overflow."""
    m, n, dtype = int(rng.integers(1, 90)), int(rng.integers(1, 90)), pick(rng, *ALL)
    complex_, double = np.dtype(dtype).kind == "c", epsilon(dtype) < 1e-10
    r = min(m, n)
    s = pick(rng, np.ones(r), 10.0 ** -np.linspace(0, 5, r), rng.random(r) + 0.1, np.where(np.arange(r) < (r + 1) // 2, 1.0, 0.0))
    a = (random_orthogonal(rng, m, complex_)[:, :r] * s) @ random_orthogonal(rng, n, complex_)[:, :r].conj().T
    kind = pick(rng, "gram", "outer_gram", "augmented")
    # A third of the draws is refused, at both ends.
    unit, given = scaled(rng, a, dtype, float(pick(rng, 60, 60, 290) if double else pick(rng, 13, 13, 36)))
    order = {"gram": n, "outer_gram": m, "augmented": m + n}[kind]
    k, which = int(rng.integers(1, min(order, 5) + 1)), pick(rng, "largest", "smallest", "largest_magnitude", "both_ends")
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30)), "kind": kind}
    if rng.random() < 0.3:
        options["block"] = int(rng.integers(1, 4))
    label = f"{kind} {m}x{n} unit={unit:.1e} {which} k={k} {np.dtype(dtype).name} {options}"
    # Refused by docs/spectra.md: norms below 1e-130 and 1e-36 (for GRAM those of A^H A); after a solve that did not converge
    # also norms whose rounding errors are below these.
    power = 1 if kind == "augmented" else 2
    norm = (Wide(s.max()) * Wide(unit)) ** power
    # Norms of products are roots of sums of squares in double precision; the products of single precision overflow
    # before these.
    refuses = norm < (1e-113 if double else 1e-28) or norm > (1e153 if double else 1e37)
    allowed = (purlin.NoConvergence, *((purlin.Numerical,) if refuses else ()))
    form = np.asfortranarray(given) if rng.random() < 0.5 else csr(given, bench)
    with labelled(label):
        found = bench.call(purlin.lanczos.run, form, k, which, context=bench.context, allowed=allowed, **options)
    plain = (given.astype(np.clongdouble) / Wide(unit)).astype(np.complex128)
    turned = plain.conj().T
    wide = {
        "gram": turned @ plain, "outer_gram": plain @ turned, "augmented": np.block([[np.zeros((m, m)), plain], [turned, np.zeros((n, n))]]),
    }[kind]
    values = (found.pairs.values.astype(Wide) / Wide(unit) ** power).astype(float)
    check_values(wide, values, found.pairs.vectors, which, double, label)
    bench.outcomes["solved"] += 1


def ends_of(values: np.ndarray, which: str, k: int) -> list[np.ndarray]:
    """The lists of k values that `which` may mean, ascending."""
    if which == "largest":
        return [values[len(values) - k :]]
    if which == "smallest":
        return [values[:k]]
    return [np.concatenate([values[:low], values[len(values) - (k - low) :]]) for low in {k // 2, k - k // 2}]


def check_values(a: np.ndarray, values: np.ndarray, vectors: Any, which: str, double: bool, label: str) -> None:
    """Values of the matrix in the unit 1 against LAPACK's, residuals, and vectors that are orthonormal."""
    exact = np.linalg.eigvalsh(a)
    norm = max(float(np.abs(exact).max()), float(np.finfo(float).tiny))
    tolerance = (1e-7 if double else 1e-3) * norm
    require(np.isfinite(values).all(), f"{label}: values {values}")
    if which == "largest_magnitude":
        error = np.abs(np.sort(np.abs(values)) - np.sort(np.abs(exact))[len(exact) - len(values) :]).max()
    else:
        error = min(np.abs(np.sort(values) - wanted).max() for wanted in ends_of(exact, which, len(values)))
    require(error <= tolerance, f"{label}: values {values}, off by {error:.2e}, all {exact}")
    x = np.asarray(vectors, np.complex128)
    orthonormal(x, 1e-6 if double else 2e-3, f"{label}: vectors")
    residual = float(np.linalg.norm(a @ x - x * values, axis=0).max())
    require(residual <= 10 * tolerance, f"{label}: residual {residual:.2e} of norm {norm:.2e}")


def plain_recurrence(rng: np.random.Generator, bench: Bench) -> None:
    """The recurrence without reorthogonalization: values are values, none that is wanted more than the last is skipped."""
    kind, dtype = pick(rng, *KINDS, "modularity", "gram", "random"), pick(rng, *REAL)
    double = epsilon(dtype) < 1e-10
    if kind == "random":
        n = int(rng.integers(2, 120))
        values = pick(rng, rng.standard_normal(n), rng.integers(-3, 4, n).astype(float), 10.0 ** -np.linspace(0, 8, n), np.ones(n))
        q = random_orthogonal(rng, n)
        name, a, kind = "random", (q * values) @ q.T, "matrix"
        a = (a + a.T) / 2
    elif kind == "gram":
        name, a = "random", rng.standard_normal((int(rng.integers(1, 90)), int(rng.integers(2, 90))))
    else:
        name, a = structured_graph(rng)
        a[0, 1] = a[1, 0] = max(a[0, 1], 0.5)
    # Squares of A^H A and residuals stay in the range.
    unit, given = scaled(rng, a, dtype, (50 if double else 8) if rng.random() < 0.5 else 0)
    plain = given.astype(float) / unit
    degrees = plain.sum(axis=1)
    wide = plain.T @ plain if kind == "gram" else (
        plain - np.outer(degrees, degrees) / degrees.sum() if kind == "modularity" else operator(plain, kind))
    n, power = len(wide), {"gram": 2, "normalized_laplacian": 0, "normalized_adjacency": 0}.get(kind, 1)
    k = int(rng.integers(1, min(n, 8) + 1))
    which = pick(rng, "largest", "smallest", "largest_magnitude", "both_ends")
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30)), "kind": kind, "method": "plain"}
    if rng.random() < 0.6:
        options["basis"] = int(rng.integers(k, 4 * n + k + 20))
    if rng.random() < 0.2:
        options["tolerance"] = float(pick(rng, 1e-6, 1e-4))
    label = f"plain {name} n={n} unit={unit:.1e} {which} k={k} {np.dtype(dtype).name} {options}"
    form = np.asfortranarray(given) if kind in ("matrix", "gram") and rng.random() < 0.3 else csr(given, bench)
    try:
        found = purlin.lanczos.run(form, k, which, context=bench.context, **options)
        good = k
        bench.outcomes["solved"] += 1
    except purlin.lanczos.Unfinished as unfinished:
        found, good = unfinished.solution, unfinished.solution.info.converged
        bench.outcomes["unfinished"] += 1
    except purlin.NotSupported:
        bench.outcomes["refused"] += 1
        return
    except purlin.Error as problem:
        raise Finding(f"{label}: {type(problem).__name__}: {problem}") from problem
    values = (found.pairs.values[:good].astype(Wide) / Wide(unit) ** power).astype(float)
    tolerance = options.get("tolerance", 0.0)
    check_list(wide, values, which, k, double, tolerance, label)
    if found.pairs.vectors is not None and good:
        x = np.asarray(found.pairs.vectors[:, :good], float)
        norm = max(float(np.abs(np.linalg.eigvalsh(wide)).max()), 1e-300)
        require(np.abs(np.linalg.norm(x, axis=0) - 1).max() <= 1e-3, f"{label}: norms {np.linalg.norm(x, axis=0)}")
        residual = float(np.linalg.norm(wide @ x - x * values, axis=0).max())
        # The tolerance of this recurrence is one of the norm.
        limit = max(1e-6 if double else 2e-3, 4 * tolerance) * norm
        require(residual <= limit, f"{label}: residual {residual:.2e} of norm {norm:.2e}")


def check_list(a: np.ndarray, values: np.ndarray, which: str, k: int, double: bool, tolerance: float, label: str) -> None:
    """Each value is an eigenvalue, none has too many copies, and no value before the last of the wanted order is missing."""
    exact = np.linalg.eigvalsh(a)
    # A pair has converged at the tolerance times the norm, by default 1e-5 in single precision; a value misses no more.
    near = max(1e-7 if double else 2e-4, 2 * tolerance) * max(float(np.abs(exact).max()), 1e-300)
    label = f"{label}: values {values}"
    for value in values:
        require(np.abs(exact - value).min() <= near, f"{label}: {value} is none, all {exact}")
        copies, there = int((np.abs(values - value) <= near).sum()), int((np.abs(exact - value) <= 3 * near).sum())
        require(copies <= there, f"{label}: {copies} copies of {value}, of {there}")
    if not len(values):
        return
    if which == "both_ends":
        # In a list that ends early the number from either end is unknown; in a complete one the odd value may be from either end.
        splits = {k // 2, k - k // 2} if len(values) == k else set()
    else:
        splits = {{"largest": 0, "smallest": k, "largest_magnitude": -1}[which]}
    found = [missing(exact, np.sort(values), low, near) for low in splits]
    require(not found or [] in found, f"{label}: {found[0] if found else []} missing, all {exact}")


def missing(exact: np.ndarray, values: np.ndarray, low: int, near: float) -> list[float]:
    """Values that are wanted more than one that was found: `low` of the smallest were wanted and the rest of the largest, or those of
    largest modulus if it is -1."""
    below, above = (values[:low], values[low:]) if low >= 0 else (values[:0], values[:0])
    least = np.abs(values).min() if low < 0 else np.inf
    wanted = (exact < below.max(initial=-np.inf) - 3 * near) | (exact > above.min(initial=np.inf) + 3 * near) | (np.abs(exact) > least + 3 * near)
    return [float(value) for value in exact[wanted] if np.abs(values - value).min() > 2 * near]


def groups_far_apart(rng: np.random.Generator) -> tuple[str, np.ndarray, np.ndarray]:
    """Groups of equal points, each at least 1000 times farther than the one before, and one of points that differ a little
    at the least distance: to split one gains less than to merge two costs, and k-means++ draws from the farthest first."""
    d, k, unit = int(rng.integers(1, 5)), int(rng.integers(2, 6)), float(rng.uniform(-290, 150))
    steps = np.cumsum(np.r_[0.0, rng.uniform(3, float(pick(rng, 4, 10, 37)), k - 1)])
    sizes = rng.integers(1, 9, k)
    places = rng.standard_normal((k, d))
    places = places / np.linalg.norm(places, axis=1, keepdims=True)
    points, truth = [], []
    for c in range(k):
        noise = 1e-4 * rng.standard_normal((sizes[c], d)) if c == 0 else 0.0
        points.append((places[c] + noise) * 10.0 ** float(unit + steps[c]) * np.ones((sizes[c], 1)))
        truth += [c] * sizes[c]
    order = rng.permutation(len(truth))
    return f"groups 1e{unit:.0f} to 1e{steps[-1]:.0f} apart", np.concatenate(points)[order], np.array(truth)[order]


def inertia(points: np.ndarray, labels: np.ndarray) -> Any:
    wide = points.astype(Wide)
    parts = [wide[labels == c] for c in np.unique(labels)]
    return sum((((part - part.mean(axis=0)) ** 2).sum() for part in parts), Wide(0))


def k_means(rng: np.random.Generator, bench: Bench) -> None:
    """Clusters in any unit and of points far apart; the same labels in every unit that is a power of two."""
    far = rng.random() < 0.5
    if far:
        name, points, truth = groups_far_apart(rng)
        k = len(np.unique(truth))
    else:
        n, d = int(rng.integers(1, 60)), int(rng.integers(1, 5))
        k, name, points, truth = int(rng.integers(1, min(n, 6) + 1)), "random", rng.standard_normal((n, d)), np.zeros(n)
    dtype = np.float64 if far else pick(rng, *REAL)
    points = np.asarray(points.astype(dtype), order=pick(rng, "C", "F"))
    seed = int(rng.integers(1 << 30))
    label = f"k_means {name} {points.shape} k={k} {np.dtype(dtype).name} {seed}"
    within = inertia(points, truth)
    overflows = inertia(points, np.zeros(len(points))) > np.finfo(float).max / 4
    # Points too far apart for one unit, 1e440, do not occur in double precision.
    allowed = (purlin.Numerical,) if overflows and (not far or within > np.finfo(float).max / 4) else ()
    with labelled(label):
        found = bench.call(purlin.graph.k_means, points, k, seed=seed, context=bench.context, allowed=allowed)
    exact = inertia(points, found.labels)
    # Means and distances round to parts of the points of their own cluster.
    wide = points.astype(Wide)
    parts = [wide[found.labels == c] for c in np.unique(found.labels)]
    rounded = sum(((8 * epsilon(float) * np.abs(part).max()) ** 2 * len(part) for part in parts), Wide(0))
    limit = 1e-9 * exact + 4 * rounded + np.finfo(float).smallest_subnormal
    require(abs(found.inertia - exact) <= limit, f"{label}: inertia {found.inertia}, exact {exact} to {limit:.2e}")
    if far:
        pairs = set(zip(found.labels.tolist(), truth.tolist()))
        require(len(pairs) == k, f"{label}: {sorted(pairs)}, inertia {exact}, of the groups {within}")
    else:
        unit, moved = scaled(rng, points, dtype, 250 if dtype == np.float64 else 25)
        if (moved / dtype(unit) == points).all() and 1e-150 < unit < 1e150:
            again = bench.call(purlin.graph.k_means, moved, k, seed=seed, context=bench.context)
            require(np.array_equal(again.labels, found.labels), f"{label}: other labels in the unit {unit:.1e}")
            ratio = again.inertia / found.inertia / unit / unit if found.inertia > 0 else 1.0
            require(abs(ratio - 1) <= 1e-12, f"{label}: inertia {again.inertia} in the unit {unit:.1e}, {found.inertia} in 1")
    bench.outcomes["far" if far else "near"] += 1


def pivoted_qr(rng: np.random.Generator, bench: Bench) -> None:
    """Rows along orthogonal directions, of any length and in any unit: the directions are the clusters."""
    k, dtype = int(rng.integers(1, 7)), pick(rng, *REAL)
    n, double = int(rng.integers(k, 60)), dtype == np.float64
    truth = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, n - k)])
    directions = random_orthogonal(rng, k)
    lengths = rng.uniform(0.1, 1, n) * 10.0 ** -(rng.uniform(0, float(pick(rng, 0, 3, 100 if double else 8)), n))
    # One row of each cluster is the longest, so the algorithm chooses it as the cluster's representative.
    for c in range(k):
        lengths[np.nonzero(truth == c)[0][0]] = 2 + c / 8
    noise = (1e-6 if double else 1e-4) * rng.standard_normal((n, k))
    unit = 10.0 ** float(rng.uniform(-200, 300) if double else rng.uniform(-28, 37))
    points = ((directions[truth] + noise) * lengths[:, None] * unit).astype(dtype)
    label = f"pivoted_qr {n}x{k} unit={unit:.1e} {np.dtype(dtype).name}"
    with labelled(label):
        found = bench.call(purlin.graph.pivoted_qr, np.asarray(points, order=pick(rng, "C", "F")), context=bench.context)
    pairs = set(zip(found.labels.tolist(), truth.tolist()))
    require(len(pairs) == k, f"{label}: {sorted(pairs)}")
    wide = points.astype(Wide)
    stand = np.array([np.nonzero(truth == c)[0][0] for c in range(k)])[truth]
    exact = ((wide - wide[stand]) ** 2).sum()
    if exact > np.finfo(float).max:
        require(found.inertia > np.finfo(float).max / 2, f"{label}: inertia {found.inertia}, exact {exact}")
    else:
        limit = 1e-9 * exact + np.finfo(float).smallest_subnormal
        require(abs(found.inertia - exact) <= limit, f"{label}: inertia {found.inertia}, exact {exact}")
    bench.outcomes["solved"] += 1


ATTACKS = {
    "weights_at_the_ends": weights_at_the_ends, "squares": squares, "plain_recurrence": plain_recurrence, "k_means": k_means,
    "pivoted_qr": pivoted_qr,
}
