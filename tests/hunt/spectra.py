"""Attacks on eigenpairs, singular triplets, components and Fiedler values. Oracles: dense LAPACK through NumPy, closed forms,
breadth-first search."""

from __future__ import annotations

from typing import Any

import numpy as np
import purlin

from attack import ALL, REAL, Bench, Finding, epsilon, orthonormal, pick, random_orthogonal, require

KINDS = ("matrix", "laplacian", "normalized_laplacian", "signless_laplacian", "normalized_adjacency")


class Sparse:
    """Compressed rows as SciPy's csr_array has them, without SciPy."""

    def __init__(self, dense: np.ndarray) -> None:
        self.format = "csr"
        self.shape = dense.shape
        self.dtype = dense.dtype
        mask = dense != 0
        self.indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
        self.indices = np.nonzero(mask)[1].astype(np.int64)
        self.data = np.ascontiguousarray(dense[mask])


def csr(dense: np.ndarray, bench: Bench) -> purlin.Matrix:
    made = Sparse(dense)
    return purlin.Matrix.csr(made.indptr, made.indices, made.data, made.shape, context=bench.context)


def cycle(n: int) -> np.ndarray:
    a = np.zeros((n, n))
    i = np.arange(n)
    a[i, (i + 1) % n] = a[(i + 1) % n, i] = 1
    return a


def path(n: int) -> np.ndarray:
    return np.eye(n, k=1) + np.eye(n, k=-1)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The Cartesian product of two graphs."""
    return np.kron(a, np.eye(len(b))) + np.kron(np.eye(len(a)), b)


def union(*parts: np.ndarray) -> np.ndarray:
    n = sum(len(part) for part in parts)
    a, at = np.zeros((n, n)), 0
    for part in parts:
        a[at : at + len(part), at : at + len(part)] = part
        at += len(part)
    return a


def structured_graph(rng: np.random.Generator) -> tuple[str, np.ndarray]:
    kind = pick(rng, "cycle", "grid", "torus", "hypercube", "complete", "bipartite", "star", "copies", "circulant", "random")
    if kind == "cycle":
        a = cycle(int(rng.integers(3, 300)))
    elif kind == "grid":
        a = product(path(int(rng.integers(2, 18))), path(int(rng.integers(2, 18))))
    elif kind == "torus":
        n = int(rng.integers(3, 16))
        a = product(cycle(n), cycle(pick(rng, n, int(rng.integers(3, 16)))))
    elif kind == "hypercube":
        a = hypercube(int(rng.integers(1, 9)))
    elif kind == "complete":
        n = int(rng.integers(2, 80))
        a = np.ones((n, n)) - np.eye(n)
    elif kind == "bipartite":
        p, q = (int(n) for n in rng.integers(1, 60, 2))
        a = np.zeros((p + q, p + q))
        a[:p, p:] = a[p:, :p] = 1
    elif kind == "star":
        n = int(rng.integers(2, 120))
        a = np.zeros((n, n))
        a[0, 1:] = a[1:, 0] = 1
    elif kind == "copies":
        part = structured_graph(rng)[1][:60, :60]
        a = union(*[part] * int(rng.integers(2, 5)))
    elif kind == "circulant":
        n = int(rng.integers(5, 200))
        a = np.zeros((n, n))
        for step in rng.integers(1, n, 3):
            i = np.arange(n)
            a[i, (i + step) % n] = a[(i + step) % n, i] = 1
        np.fill_diagonal(a, 0)
    else:
        n = int(rng.integers(2, 200))
        a = np.triu(rng.random((n, n)) < rng.uniform(0.01, 0.3), 1) * rng.random((n, n))
        a = a + a.T
    if rng.random() < 0.3:
        order = rng.permutation(len(a))
        a = a[order][:, order]
    return kind, a


def hypercube(d: int) -> np.ndarray:
    a = np.zeros((1, 1))
    for _ in range(d):
        a = product(a, path(2))
    return a


def operator(a: np.ndarray, kind: str) -> np.ndarray:
    """The matrix of a graph operator as docs/spectra.md defines it."""
    degrees = a.sum(axis=1)
    root = np.array([1 / np.sqrt(d) if d > 0 else 0.0 for d in degrees])
    normalized = root[:, None] * a * root[None, :]
    return {
        "matrix": a,
        "laplacian": np.diag(degrees) - a,
        "signless_laplacian": np.diag(degrees) + a,
        "normalized_laplacian": np.diag((degrees > 0).astype(float)) - normalized,
        "normalized_adjacency": normalized,
    }[kind]


def wanted(values: np.ndarray, which: str, k: int) -> np.ndarray:
    """The k values that `which` names, of all of them in ascending order; ascending."""
    if which == "largest":
        return values[len(values) - k :]
    if which == "smallest":
        return values[:k]
    if which == "largest_magnitude":
        return np.sort(values[np.argsort(-np.abs(values), kind="stable")[:k]])
    low = k // 2
    return np.sort(np.concatenate([values[:low], values[len(values) - (k - low) :]]))


def check_pairs(a: np.ndarray, found: Any, which: str, k: int, dtype: Any, label: str) -> None:
    values = np.sort(np.asarray(found.pairs.values, np.float64))
    everything = np.linalg.eigvalsh(a.astype(np.complex128 if np.iscomplexobj(a) else np.float64))
    norm = max(np.abs(everything).max(initial=0.0), np.finfo(np.float64).tiny)
    tolerance = (1e-7 if epsilon(dtype) < 1e-10 else 2e-4) * norm
    require(np.isfinite(values).all(), f"{label}: values are not finite: {values}")
    if which == "largest_magnitude":
        # Ties of modulus may be taken from either end.
        ours, exact = np.sort(np.abs(values)), np.sort(np.sort(np.abs(everything))[::-1][:k])
    elif which == "both_ends":
        candidates = [np.sort(np.concatenate([everything[:low], everything[len(everything) - (k - low) :]])) for low in {k // 2, k - k // 2}]
        exact = min(candidates, key=lambda c: np.abs(c - values).max())
        ours = values
    else:
        ours, exact = values, wanted(everything, which, k)
    error = np.abs(ours - exact).max()
    require(error <= tolerance, f"{label}: values {ours}, exact {exact}")
    vectors = found.pairs.vectors
    if vectors is not None:
        x = np.asarray(vectors, np.complex128 if np.iscomplexobj(vectors) else np.float64)
        orthonormal(x, 1e-6 if epsilon(dtype) < 1e-10 else 2e-3, f"{label}: vectors")
        residual = np.linalg.norm(a @ x - x * np.asarray(found.pairs.values, np.float64), axis=0).max()
        limit = (1e-6 if epsilon(dtype) < 1e-10 else 2e-3) * norm
        require(residual <= limit, f"{label}: residual {residual:.2e} of norm {norm:.2e}")


def graphs(rng: np.random.Generator, bench: Bench) -> None:
    """Graphs with multiple eigenvalues: default options, every kind of operator, ends, methods and filters."""
    name, a = structured_graph(rng)
    n = len(a)
    kind = pick(rng, *KINDS)
    which = pick(rng, "largest", "smallest", "largest_magnitude", "both_ends")
    dtype = pick(rng, *REAL)
    k = int(rng.integers(1, min(n, 8) + 1))
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["basis"] = int(rng.integers(2 * k + 2, 2 * k + 60))
    if rng.random() < 0.25:
        options["block"] = int(rng.integers(1, 4))
    if rng.random() < 0.2 and which in ("largest", "smallest"):
        options["filter"] = "chebyshev"
    if rng.random() < 0.2:
        options["orthogonalization"] = "partial"
    if rng.random() < 0.2:
        options["ordering"] = pick(rng, "degree", "cuthill_mckee")
    options["seed"] = int(rng.integers(1 << 30))
    label = f"{name} n={n} {kind} {which} k={k} {np.dtype(dtype).name} {options}"
    a = a.astype(dtype)
    found = bench.call(
        purlin.lanczos.run, csr(a, bench), k, which, kind=kind, context=bench.context,
        allowed=(purlin.NoConvergence, purlin.InvalidArgument, purlin.NotSupported), **options,
    )
    bench.outcomes["solved"] += 1
    if getattr(found.info, "verified", True):
        check_pairs(operator(a.astype(np.float64), kind), found, which, k, dtype, label)
    else:
        bench.outcomes["not verified"] += 1


def spectra(rng: np.random.Generator, bench: Bench) -> None:
    """Dense Hermitian matrices of given spectra: graded, clustered, multiple, zero, scaled to either end of the range."""
    n = int(pick(rng, 1, 2, 3, 7, 31, 64, 97))
    dtype = pick(rng, *ALL)
    complex_ = np.dtype(dtype).kind == "c"
    double = epsilon(dtype) < 1e-10
    kind = pick(rng, "graded", "clustered", "multiple", "zero", "rank one", "random", "identity")
    if kind == "graded":
        values = 10.0 ** -np.linspace(0, 30, n)
    elif kind == "clustered":
        values = 1 + 1e-9 * rng.standard_normal(n)
    elif kind == "multiple":
        values = rng.integers(-2, 3, n).astype(float)
    elif kind == "zero":
        values = np.zeros(n)
    elif kind == "rank one":
        values = np.zeros(n)
        values[0] = rng.standard_normal()
    elif kind == "identity":
        values = np.full(n, 3.0)
    else:
        values = rng.standard_normal(n)
    q = random_orthogonal(rng, n, complex_)
    a = (q * values) @ q.conj().T
    a = (a + a.conj().T) / 2
    scale = 10.0 ** float(pick(rng, 0, 0, -100, 100, -12, 12) if double else pick(rng, 0, 0, -12, 12))
    a = (a * scale).astype(dtype)
    a = (a + a.conj().T) / np.array(2, dtype)
    which = pick(rng, "largest", "smallest", "largest_magnitude", "both_ends")
    k = int(rng.integers(1, min(n, 10) + 1))
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30))}
    if rng.random() < 0.3:
        options["block"] = int(rng.integers(1, 4))
    label = f"{kind} n={n} scale={scale:g} {which} k={k} {np.dtype(dtype).name} {options}"
    given = np.asfortranarray(a) if rng.random() < 0.5 else csr(a, bench)
    found = bench.call(
        purlin.lanczos.run, given, k, which, context=bench.context,
        allowed=(purlin.NoConvergence, purlin.InvalidArgument, purlin.NotSupported), **options,
    )
    bench.outcomes["solved"] += 1
    if getattr(found.info, "verified", True):
        check_pairs(a.astype(np.complex128 if complex_ else np.float64), found, which, k, dtype, label)


def multiplicities(rng: np.random.Generator, bench: Bench) -> None:
    """Spectra of a few values of multiplicity up to 20, and graded over 300 orders of magnitude; k up to n."""
    n = int(rng.integers(1, 140))
    if rng.random() < 0.5:
        kinds = np.sort(rng.standard_normal(max(1, n // 20 + int(rng.integers(1, 8)))))
        values = np.resize(np.repeat(kinds, int(rng.integers(1, 21))), n)
        name = "multiple"
    else:
        values = 10.0 ** -np.linspace(0, 300, n) * rng.choice([-1.0, 1.0], n)
        name = "graded over 300"
    if rng.random() < 0.5:
        a = np.diag(rng.permutation(values))
    else:
        q = random_orthogonal(rng, n)
        a = (q * values) @ q.T
        a = (a + a.T) / 2
    a = a * 10.0 ** float(pick(rng, 0, 0, -120, 120))
    k = int(pick(rng, n, 1, int(rng.integers(1, n + 1))))
    which = pick(rng, "largest", "smallest", "largest_magnitude", "both_ends")
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30))}
    if rng.random() < 0.3 and k + 3 < n:
        options["basis"] = int(rng.integers(k + 1, n))
    if rng.random() < 0.2:
        options["block"] = int(rng.integers(2, 6))
    label = f"{name} n={n} {which} k={k} {options}"
    found = bench.call(
        purlin.lanczos.run, csr(a, bench), k, which, context=bench.context,
        allowed=(purlin.NoConvergence, purlin.NotSupported), **options,
    )
    bench.outcomes["solved"] += 1
    if found.info.verified:
        check_pairs(a, found, which, k, np.float64, label)
    else:
        bench.outcomes["not verified"] += 1


def nearest(rng: np.random.Generator, bench: Bench) -> None:
    """Eigenvalues nearest to a number, by a filter: a success means that none is nearer."""
    name, a = structured_graph(rng)
    if rng.random() < 0.3:
        n = int(rng.integers(65, 160))
        kinds = rng.standard_normal(int(rng.integers(1, 8)))
        name, a = "diagonal", np.diag(rng.permutation(np.resize(np.repeat(kinds, int(rng.integers(1, 60))), n)))
    n = len(a)
    exact = np.linalg.eigvalsh(a)
    sigma = float(rng.uniform(exact[0], exact[-1] + 1e-3))
    k = int(rng.integers(1, min(n, 4) + 1))
    found = bench.call(
        purlin.lanczos.run, csr(a, bench), k, "nearest", sigma=sigma, restarts=60, context=bench.context,
        seed=int(rng.integers(1 << 30)), allowed=(purlin.NoConvergence, purlin.InvalidArgument),
    )
    far, want = np.sort(np.abs(found.pairs.values - sigma)), np.sort(np.abs(exact - sigma))[:k]
    norm = max(np.abs(exact).max(initial=0.0), 1e-300)
    require(np.abs(far - want).max() <= 1e-5 * norm, f"nearest {name} n={n} k={k} sigma={sigma}: at {far}, exact {want}")
    bench.outcomes["solved"] += 1


def scales(rng: np.random.Generator, bench: Bench) -> None:
    """The same values at every scale, or an error."""
    n = int(rng.integers(2, 180))
    dtype = pick(rng, *REAL)
    b = (rng.random((n, n)) < min(1.0, 5 / n)) * rng.standard_normal((n, n))
    b = b + b.T
    reach = 300 if epsilon(dtype) < 1e-10 else 37
    scale = 10.0 ** float(rng.uniform(-reach, reach))
    with np.errstate(over="ignore", under="ignore"):
        a = (b * scale).astype(dtype)
    if not np.isfinite(a).all() or not a.any() or np.abs(a[a != 0]).min() < np.finfo(dtype).tiny:
        return
    k = int(rng.integers(1, min(n, 6) + 1))
    exact = np.sort(np.linalg.eigvalsh(a.astype(np.float64) / scale))[::-1][:k]
    norm = np.linalg.norm(b, 2)
    limit = (1e-7 if epsilon(dtype) < 1e-10 else 1e-3) * norm
    allowed = (purlin.NoConvergence, purlin.Numerical)
    label = f"scale {scale:.1e} n={n} k={k} {np.dtype(dtype).name}"
    if rng.random() < 0.5:
        found = bench.call(purlin.lanczos.run, csr(a, bench), k, context=bench.context, allowed=allowed)
        ours = found.pairs.values / scale
    else:
        exact = np.linalg.svd(a.astype(np.float64) / scale, compute_uv=False)[:k]
        ours = bench.call(purlin.lanczos.singular, csr(a, bench), k, context=bench.context, allowed=allowed).triplets.values / scale
    require(np.abs(ours - exact).max() <= limit, f"{label}: {ours}, exact {exact}")
    bench.outcomes["solved"] += 1


def cancellation(rng: np.random.Generator, bench: Bench) -> None:
    """A solve that is cancelled at any call of its progress function, or refused its memory, solves again afterwards."""
    name, a = structured_graph(rng)
    n = len(a)
    k = int(rng.integers(1, min(n, 4) + 1))
    matrix = csr(a, bench)
    options: dict[str, Any] = {"basis": min(n, k + 8)} if n > 20 else {}
    calls = 0

    def count(*_: Any) -> None:
        nonlocal calls
        calls += 1

    before = bench.call(
        purlin.lanczos.run, matrix, k, context=bench.context, progress=count, allowed=(purlin.NoConvergence,), **options
    )
    last = int(rng.integers(1, calls + 1)) if calls else 0

    def stop(*_: Any) -> bool | None:
        nonlocal last
        last -= 1
        if last == 0:
            raise KeyError("stop")
        return None

    if calls:
        try:
            purlin.lanczos.run(matrix, k, context=bench.context, progress=stop, **options)
        except KeyError:
            bench.outcomes["cancelled"] += 1
    # Memory limits around the bytes needed.
    limit = int(10.0 ** rng.uniform(3, 7.5))
    where = "host_memory_limit" if bench.backend == "cpu" else pick(rng, "host_memory_limit", "device_memory_limit")
    small = purlin.Context(bench.backend, threads=1, **{where: limit})
    made = Sparse(a)
    try:
        given = purlin.Matrix.csr(made.indptr, made.indices, made.data, made.shape, context=small)
        found = purlin.lanczos.run(given, k, context=small, **options)
        with purlin.Context(bench.backend, threads=1) as unlimited:
            same = purlin.Matrix.csr(made.indptr, made.indices, made.data, made.shape, context=unlimited)
            plain = purlin.lanczos.run(same, k, context=unlimited, **options)
        require(np.array_equal(found.pairs.values, plain.pairs.values), f"{name} n={n} k={k}: other values under a {where} of {limit}")
        bench.outcomes["within the limit"] += 1
    except MemoryError:
        bench.outcomes["no memory"] += 1
    after = purlin.lanczos.run(matrix, k, context=bench.context, **options)
    require(np.array_equal(after.pairs.values, before.pairs.values), f"{name} n={n} k={k}: other values after a cancellation")


def not_symmetric(rng: np.random.Generator, bench: Bench) -> None:
    """An operator that is not symmetric must not be called solved with residuals beyond the tolerance."""
    n = int(rng.integers(10, 80))
    a = rng.standard_normal((n, n))
    a = a if rng.random() < 0.5 else (a + a.T) / 2 + 10.0 ** -rng.integers(0, 8) * rng.standard_normal((n, n))

    class Operator:
        shape = (n, n)
        dtype = np.dtype(np.float64)

        @staticmethod
        def matmat(x: np.ndarray) -> np.ndarray:
            return a @ x

        @staticmethod
        def rmatmat(x: np.ndarray) -> np.ndarray:
            return a.T @ x

    found = bench.call(
        purlin.lanczos.run, Operator(), 3, context=bench.context, seed=int(rng.integers(1 << 30)),
        allowed=(purlin.NoConvergence, purlin.InvalidArgument, purlin.Numerical, TypeError, ValueError),
    )
    x, values = found.pairs.vectors, found.pairs.values
    residual = np.linalg.norm(a @ x - x * values, axis=0).max()
    require(residual <= 1e-5 * np.linalg.norm(a, 2), f"not symmetric n={n}: success with residual {residual:.2e}, values {values}")


def not_finite(rng: np.random.Generator, bench: Bench) -> None:
    """NaN or infinity anywhere in a matrix must be refused by name."""
    n = int(rng.integers(2, 60))
    a = rng.standard_normal((n, n)).astype(pick(rng, *REAL))
    a = a + a.T
    i, j = rng.integers(0, n, 2)
    a[i, j] = a[j, i] = pick(rng, np.nan, np.inf, -np.inf)
    try:
        found = purlin.lanczos.run(pick(rng, csr(a, bench), np.asfortranarray(a)), 1, context=bench.context)
    except purlin.InternalError as error:
        raise Finding(f"not finite: internal error {error}") from error
    except purlin.Error as error:
        require("symmetric" not in str(error).lower(), f"not finite: the message is {error}")
        bench.outcomes["refused"] += 1
        return
    raise Finding(f"not finite at ({i}, {j}): success with {found.pairs.values}")


def spoilt(rng: np.random.Generator, bench: Bench) -> None:
    """NaN and infinity in start vectors, known vectors, results of an operator or a solve, factors and options of products:
    never a success with numbers that are not finite, and a refusal names the argument."""
    n, bad = int(rng.integers(4, 90)), pick(rng, np.nan, np.inf, -np.inf)
    a = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3)
    a = a + a.T + np.diag(np.arange(n) + 1.0)
    vector = rng.standard_normal(n)
    vector[int(rng.integers(n))] = bad
    known = np.linalg.qr(rng.standard_normal((n, 2)))[0]
    known[int(rng.integers(n)), int(rng.integers(2))] = bad
    after = [int(rng.integers(0, 12))]

    class Operator:
        shape, dtype = (n, n), np.dtype(np.float64)

        @staticmethod
        def matmat(x: np.ndarray) -> np.ndarray:
            after[0] -= 1
            y = a @ x
            if after[0] <= 0:
                y[int(rng.integers(n)), 0] = bad
            return y

        rmatmat = matmat

    def solver(x: np.ndarray) -> np.ndarray:
        after[0] -= 1
        y = np.linalg.solve(a, x)
        if after[0] <= 0:
            y[int(rng.integers(n))] = bad
        return y

    made, options = csr(a, bench), {"context": bench.context}
    name, call, words = pick(
        rng,
        ("start", lambda: purlin.lanczos.run(made, 2, start=vector, **options), ("start",)),
        ("known", lambda: purlin.lanczos.run(made, 2, known=known, **options), ("known",)),
        ("operator", lambda: purlin.lanczos.run(Operator(), 2, **options), ("product",)),
        ("singular operator", lambda: purlin.lanczos.singular(Operator(), 2, **options), ("product", "adjoint")),
        ("solver", lambda: purlin.lanczos.run(made, 1, "nearest", sigma=0.0, solve=solver, **options), ("solve",)),
        ("start of singular", lambda: purlin.lanczos.singular(made, 2, start=vector, **options), ("start",)),
        ("tridiagonal", lambda: purlin.lanczos.tridiagonalize(made, 3, start=vector, **options), ("start",)),
        ("shift", lambda: purlin.lanczos.run(made, 2, shift=bad, **options), ("shift",)),
        ("tolerance", lambda: purlin.lanczos.run(made, 2, tolerance=bad, **options), ("tolerance",)),
        ("sigma", lambda: purlin.lanczos.run(made, 1, "nearest", sigma=bad, **options), ("sigma",)),
        ("vector of a cut", lambda: purlin.graph.bisect(made, vector, **options), ("vector",)),
        ("points", lambda: purlin.graph.k_means(vector[:, None], 2, **options), ("points",)),
        ("image", lambda: purlin.graph.of_image(vector[None], **options), ("image",)),
        ("rsvd of an operator", lambda: purlin.rsvd.compute(Operator(), 2, **options), ("product", "adjoint")),
        ("coordinates", lambda: purlin.sparse.from_coordinates(np.arange(n), np.arange(n), vector, (n, n), **options), ()),
    )
    label = f"spoilt {name} n={n} {bad}"
    try:
        found = call()
    except purlin.InternalError as error:
        raise Finding(f"{label}: internal error {error}") from error
    except (purlin.Error, ValueError) as error:
        is_named = any(str(error).startswith(word + ":") for word in words)
        require(is_named or not words, f"{label}: is refused as {error}")
        bench.outcomes["refused"] += 1
        return
    if name == "coordinates":
        return
    # If the operator was not called again, it has returned no bad number.
    require(after[0] > 0 and (name == "solver" or "operator" in name), f"{label}: success, {found}")
    bench.outcomes["not reached"] += 1


def singular_values(rng: np.random.Generator, bench: Bench) -> None:
    """Singular triplets of graded, rank-deficient, multiple and scaled spectra of any shape."""
    m, n = (int(pick(rng, 1, 2, 5, 30, 61, 100)) for _ in range(2))
    dtype = pick(rng, *ALL)
    complex_ = np.dtype(dtype).kind == "c"
    r = min(m, n)
    kind = pick(rng, "graded", "flat", "rank deficient", "zero", "random", "powers of ten")
    s = {
        "graded": np.logspace(0, -20, r),
        "flat": np.ones(r),
        "rank deficient": np.where(np.arange(r) < (r + 1) // 2, 1.0 + np.arange(r)[::-1], 0.0),
        "zero": np.zeros(r),
        "random": rng.random(r),
        "powers of ten": 10.0 ** -np.arange(r),
    }[kind]
    u, v = random_orthogonal(rng, m, complex_)[:, :r], random_orthogonal(rng, n, complex_)[:, :r]
    a = ((u * s) @ v.conj().T).astype(dtype)
    k = int(rng.integers(1, min(r, 9) + 1))
    label = f"singular {kind} {m}x{n} k={k} {np.dtype(dtype).name}"
    eps = epsilon(dtype)
    tolerance = 1e-8 if eps < 1e-10 else 1e-5
    found = bench.call(
        purlin.lanczos.singular, csr(a, bench) if rng.random() < 0.5 else np.asfortranarray(a), k, context=bench.context,
        seed=int(rng.integers(1 << 30)), tolerance=tolerance,
        allowed=(purlin.NoConvergence, purlin.InvalidArgument, purlin.NotSupported),
    )
    t = found.triplets
    exact = np.linalg.svd(a.astype(np.complex128), compute_uv=False)[:k]
    limit = max(200 * eps, 1e-9 if eps < 1e-10 else 0) * max(exact[0], np.finfo(np.float64).tiny)
    require(np.abs(np.sort(t.values)[::-1] - exact).max() <= limit, f"{label}: values {t.values}, exact {exact}")
    orthonormal(t.u, 1e4 * eps, f"{label}: u")
    orthonormal(t.v, 1e4 * eps, f"{label}: v")
    residual = max(
        np.linalg.norm(a @ t.v - t.u * t.values, axis=0).max(), np.linalg.norm(a.conj().T @ t.u - t.v * t.values, axis=0).max()
    )
    # The documentation promises twice the tolerance.
    promised = max(2 * tolerance, 1e4 * eps) * max(exact[0], np.finfo(np.float64).tiny)
    require(residual <= promised, f"{label}: residual {residual:.2e}")
    bench.outcomes["solved"] += 1


def graph_functions(rng: np.random.Generator, bench: Bench) -> None:
    """Components and Fiedler values of graphs."""
    name, a = structured_graph(rng)
    n = len(a)
    matrix = csr(a, bench)
    count, labels = bench.call(purlin.graph.components, matrix, context=bench.context, allowed=(purlin.InvalidArgument,))
    seen, parts = np.full(n, -1), 0
    for start in range(n):
        if seen[start] < 0:
            todo = [start]
            while todo:
                vertex = todo.pop()
                if seen[vertex] < 0:
                    seen[vertex] = parts
                    todo.extend(np.nonzero(a[vertex])[0])
            parts += 1
    require(count == parts, f"{name} n={n}: {count} components, breadth-first search finds {parts}")
    require(len(set(zip(labels.tolist(), seen.tolist()))) == parts, f"{name} n={n}: labels differ from breadth-first search")
    if parts == 1 and n > 2:
        found = bench.call(
            purlin.graph.fiedler, matrix, context=bench.context,
            allowed=(purlin.NoConvergence, purlin.InvalidArgument, purlin.NotSupported),
        )
        laplacian = operator(a, "laplacian")
        exact = np.linalg.eigvalsh(laplacian)
        x = np.asarray(found.vector)
        value = float(x @ laplacian @ x / (x @ x))
        require(abs(value - exact[1]) <= 1e-5 * exact[-1], f"{name} n={n}: Fiedler value {value}, exact {exact[1]}")
    bench.outcomes["solved"] += 1


ATTACKS = {
    "graphs": graphs,
    "spectra": spectra,
    "multiplicities": multiplicities,
    "nearest": nearest,
    "scales": scales,
    "cancellation": cancellation,
    "not_symmetric": not_symmetric,
    "not_finite": not_finite,
    "spoilt": spoilt,
    "singular_values": singular_values,
    "graph_functions": graph_functions,
}
