"""Attacks on randomized SVD, PCA and robust PCA. Oracles: dense LAPACK through NumPy, sums known by construction."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from typing import Any, Callable, get_args

import numpy as np
import purlin

from attack import ALL, REAL, Bench, Finding, epsilon, orthonormal, pick, random_orthogonal, require
from graphs_not_finite import bad_number
from spectra import csr


def spectrum(rng: np.random.Generator, r: int, double: bool) -> tuple[str, np.ndarray]:
    kind = pick(rng, "fast", "flat", "step", "zero", "deficient", "graded", "equal pairs")
    return kind, {
        "fast": 10.0 ** -np.linspace(0, 12, r),
        "flat": np.ones(r),
        "step": np.where(np.arange(r) < max(r // 3, 1), 1.0, 1e-6),
        "zero": np.zeros(r),
        "deficient": np.where(np.arange(r) < max(r // 4, 1), np.linspace(2, 1, r), 0.0),
        "graded": 10.0 ** -np.linspace(0, 300 if double else 30, r),
        "equal pairs": 1.0 / (1 + np.arange(r) // 2),
    }[kind]


def random_matrix(rng: np.random.Generator) -> tuple[str, np.ndarray]:
    m, n = (int(pick(rng, 1, 2, 7, 40, 97, 200)) for _ in range(2))
    dtype = pick(rng, *ALL)
    complex_ = np.dtype(dtype).kind == "c"
    r = min(m, n)
    kind, s = spectrum(rng, r, epsilon(dtype) < 1e-10)
    u, v = random_orthogonal(rng, m, complex_)[:, :r], random_orthogonal(rng, n, complex_)[:, :r]
    scale = 10.0 ** float(pick(rng, 0, 0, 0, -15, 15))
    a = (scale * (u * s) @ v.conj().T).astype(dtype)
    return f"{kind} {m}x{n} {np.dtype(dtype).name} scale={scale:g}", np.asfortranarray(a) if rng.random() < 0.5 else a


METHODS = get_args(purlin.rsvd.Method)


def fixed_rank(rng: np.random.Generator, bench: Bench) -> None:
    """Factors are orthonormal, values decrease, and with power iterations they are close to LAPACK's."""
    name, a = random_matrix(rng)
    r = min(a.shape)
    k = int(rng.integers(1, min(r, 20) + 1))
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30))}
    if rng.random() < 0.6:
        options["method"] = pick(rng, *METHODS)
    if rng.random() < 0.5:
        options["power_iterations"] = int(rng.integers(0, 5))
    if rng.random() < 0.3:
        options["block_rows"] = int(rng.integers(1, 50))
    label = f"fixed rank {name} k={k} {options}"
    found = bench.call(
        purlin.rsvd.compute, a, k, context=bench.context,
        allowed=(purlin.InvalidArgument, purlin.NotSupported, purlin.Numerical, purlin.NoConvergence), **options,
    )
    eps = epsilon(a.dtype)
    U, s, Vt = np.asarray(found.U), np.asarray(found.s), np.asarray(found.Vt)
    require(np.isfinite(U).all() and np.isfinite(s).all() and np.isfinite(Vt).all(), f"{label}: not finite")
    orthonormal(U, 1e4 * eps, f"{label}: U")
    orthonormal(Vt.conj().T, 1e4 * eps, f"{label}: V")
    require((np.diff(s) <= 1e3 * eps * max(s.max(initial=0), 0)).all() and (s >= 0).all(), f"{label}: values {s}")
    exact = np.linalg.svd(a.astype(np.complex128), compute_uv=False)
    slack = 2e3 * eps * (exact[0] + 1e-300)
    if options.get("method") == "one_pass" and k + 10 < r:
        # Not the values of a projection of A: the factors have the sketch's error. The mean square of that is at
        # most 2 (1 + k / 9) times that of the best approximation (Tropp, Yurtsever, Udell and Cevher, SIMAX 38, 2017,
        # theorem 4.3); 30 times the root of it is exceeded less than once in 900 cases.
        slack += 30 * np.sqrt(2 * (1 + k / 9)) * np.linalg.norm(exact[k:])
    require((s <= exact[:k] + slack).all(), f"{label}: values {s} beyond LAPACK's {exact[:k]}")
    if k == r:
        error = np.linalg.norm(a - (U * s) @ Vt)
        require(error <= 1e4 * eps * np.linalg.norm(a) + 1e-300, f"{label}: full rank, error {error:.2e}")
    bench.outcomes["solved"] += 1


def tolerance(rng: np.random.Generator, bench: Bench) -> None:
    """A requested relative error is reached, or the call reports that it is not."""
    name, a = random_matrix(rng)
    requested = 10.0 ** -float(rng.integers(1, 6 if epsilon(a.dtype) > 1e-10 else 12))
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30)), "tolerance": requested}
    label = f"tolerance {name} {requested:g}"
    found = bench.call(
        purlin.rsvd.compute, a, context=bench.context,
        allowed=(purlin.InvalidArgument, purlin.NotSupported, purlin.Numerical, purlin.NoConvergence), **options,
    )
    norm = np.linalg.norm(a.astype(np.complex128))
    error = np.linalg.norm(a.astype(np.complex128) - (np.asarray(found.U) * found.s) @ np.asarray(found.Vt))
    require(error <= 1.05 * requested * norm + 100 * epsilon(a.dtype) * norm, f"{label}: relative error {error / max(norm, 1e-300):.2e}")
    bench.outcomes["solved"] += 1


def same_bits(rng: np.random.Generator, bench: Bench) -> None:
    """One thread and several give the same bits."""
    name, a = random_matrix(rng)
    k = int(rng.integers(1, min(a.shape) + 1))
    seed = int(rng.integers(1 << 30))
    results = []
    for threads in (1, int(rng.integers(2, 5))):
        with purlin.Context(bench.backend, threads=threads) as context:
            results.append(
                bench.call(purlin.rsvd.compute, a, k, seed=seed, context=context, allowed=(purlin.NotSupported, purlin.Numerical))
            )
    require(all(np.array_equal(p, q) for p, q in zip(*results)), f"same bits {name} k={k}: threads change the result")
    bench.outcomes["solved"] += 1


def limits(rng: np.random.Generator, bench: Bench) -> None:
    """If a plan succeeds under a memory limit, the run does too, and its numbers are right."""
    m, n = (int(pick(rng, 50, 400, 3000)) for _ in range(2))
    dtype = pick(rng, np.uint8, np.int16, np.float32, np.float64)
    a = rng.integers(0, 100, (m, n)).astype(dtype)
    limit = int(10.0 ** rng.uniform(4.5, 8))
    k = int(rng.integers(1, 20))
    method = pick(rng, "auto", "auto", *METHODS)
    label = f"limits {m}x{n} {np.dtype(dtype).name} limit={limit} k={k} {method}"
    path = tempfile.NamedTemporaryFile(suffix=".npy", delete=False).name
    np.save(path, np.asfortranarray(a) if rng.random() < 0.5 else a)
    try:
        with purlin.Context(bench.backend, threads=2, host_memory_limit=limit) as context:
            source = bench.call(purlin.blocks.Source.from_npy, path, context=context, allowed=(purlin.OutOfMemory,))
            session = bench.call(
                purlin.rsvd.Rsvd, k, method=method, dtype=np.float64, context=context,
                allowed=(purlin.InvalidArgument, purlin.OutOfMemory, purlin.NotSupported),
            )
            with session, source:
                plan = bench.call(session.plan, source, allowed=(purlin.OutOfMemory, purlin.InvalidArgument, purlin.NotSupported))
                try:
                    factors = session.compute(source)
                except purlin.OutOfMemory as error:
                    raise Finding(f"{label}: planned {plan.host_bytes} bytes, then {error}") from error
                used = session.last_info().host_bytes_used
                require(used <= limit, f"{label}: {used} bytes were used")
                one_pass = session.last_info().method == "one_pass"
    finally:
        os.unlink(path)
    # LAPACK takes seconds for the largest.
    if min(m, n) <= 400:
        near_best(a.astype(float), factors, 5.0 if one_pass else 1.0, np.float64, label)
    bench.outcomes["solved"] += 1


def near_best(a: np.ndarray, factors: Any, loss: float, dtype: Any, label: str) -> None:
    """Orthonormal factors with U^H A V near diag(s), values below those of LAPACK, and an error near the best.

    A random projection without power iterations misses at most sqrt(1 + k / (p - 1)) of the best error in the mean, p = 10
    (Halko, Martinsson and Tropp, SIAM Review 53, 2011, theorem 10.5); 3 times that is not exceeded."""
    U, s, Vt = (np.asarray(part) for part in factors)
    k, eps = len(s), epsilon(dtype)
    orthonormal(U, 1e4 * eps, f"{label}: U")
    orthonormal(Vt.conj().T, 1e4 * eps, f"{label}: V")
    exact = np.linalg.svd(a, compute_uv=False)
    best, norm = float(np.sqrt((exact[k:] ** 2).sum())), float(exact[0]) if len(exact) else 0.0
    error = float(np.linalg.norm(a - (U * s) @ Vt))
    most = 3 * loss * np.sqrt(1 + k / 9) * best + 1e4 * eps * np.sqrt(k) * norm
    require(error <= most + 1e-300, f"{label}: error {error:.3e}, best {best:.3e}, expected {most:.3e} at most")
    beyond = 30 * loss * best if loss > 1 else 0.0
    require((s <= exact[:k] + 2e3 * eps * norm + beyond).all(), f"{label}: values {s} beyond LAPACK's {exact[:k]}")


class Operator:
    """A matrix that is known by its products, as SciPy's LinearOperator."""

    def __init__(self, a: np.ndarray) -> None:
        self.shape, self.dtype, self.a = a.shape, a.dtype, a

    def matmat(self, x: np.ndarray) -> np.ndarray:
        return self.a @ x

    def rmatmat(self, x: np.ndarray) -> np.ndarray:
        return self.a.conj().T @ x


def forms(rng: np.random.Generator, bench: Bench) -> None:
    """The same matrix as an array, a sparse matrix, files, a function, an operator: each is decomposed well."""
    m, n, dtype = int(rng.integers(1, 90)), int(rng.integers(1, 90)), pick(rng, *REAL)
    r = min(m, n)
    low = rng.standard_normal((m, max(r // 3, 1))) @ rng.standard_normal((max(r // 3, 1), n))
    a = ((rng.random((m, n)) < pick(rng, 0.1, 1.0)) * (low + 1e-3 * rng.standard_normal((m, n)))).astype(dtype)
    k = int(rng.integers(1, r + 1))
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30)), "context": bench.context}
    if rng.random() < 0.5:
        options["power_iterations"] = int(rng.integers(0, 4))
    kind = pick(rng, "array", "csr", "operator", "npy", "npy fortran", "raw", "function", "source of an array")
    label = f"forms {kind} {m}x{n} {np.dtype(dtype).name} k={k} {options['seed']}"
    with tempfile.TemporaryDirectory() as folder:
        given: Any = a
        if kind == "csr":
            given = csr(a, bench)
        elif kind == "operator":
            given = purlin.Matrix.from_operator(Operator(a).matmat, Operator(a).rmatmat, a.shape, dtype, context=bench.context)
        elif kind.startswith("npy"):
            np.save(folder + "/a.npy", np.asfortranarray(a) if "fortran" in kind else a)
            given = purlin.blocks.Source.from_npy(folder + "/a.npy", context=bench.context)
        elif kind == "raw":
            skip, order = int(rng.integers(0, 9)), pick(rng, "<", ">")
            with open(folder + "/a.raw", "wb") as file:
                file.write(bytes(skip) + a.astype(np.dtype(dtype).newbyteorder(order)).tobytes())
            given = purlin.blocks.Source.from_file(folder + "/a.raw", a.shape, np.dtype(dtype).newbyteorder(order), skip, context=bench.context)
        elif kind == "function":
            given = purlin.blocks.Source.from_function(lambda where: a[where], a.shape, dtype, context=bench.context)
        elif kind == "source of an array":
            given = purlin.blocks.Source.from_array(a, context=bench.context)
        factors = bench.call(purlin.rsvd.compute, given, k, **options)
        near_best(a.astype(float), factors, 1.0, dtype, label)
        q, b = bench.call(purlin.rsvd.qb, given, k, **options)
        again = lambda: bench.call(purlin.rsvd.qb, given, k, **{**options, "seed": int(rng.integers(1 << 30))})
        range_of(a, np.asarray(q), np.asarray(b), again, dtype, label)
        if kind != "operator":
            apart = bench.call(purlin.rsvd.range_finder, given, k, **options)
            require(np.array_equal(np.asarray(apart), np.asarray(q)), f"{label}: range_finder and qb differ")
    bench.outcomes["solved"] += 1


# Sketches of independent seeds, all of which must miss the bound of `range_of` before that is a finding.
DRAWS = 7


def range_of(a: np.ndarray, q: np.ndarray, b: np.ndarray, again: Callable[[], Any], dtype: Any, label: str) -> None:
    """Q is orthonormal, B is Q^H A, and for one of several seeds the error of Q is near the least of that rank.

    No column is oversampled. Q misses at most sqrt(|S|^2 + |S H G^-1|^2) (Halko, Martinsson and Tropp, theorem 9.1): S holds
    the values beyond the k-th, G (k x k) and H are Gaussian. Power iterations only make the second term smaller. That term is
    about |S| / sigma_min(G), and sigma_min(G) < t / sqrt(k) has the probability t (Edelman, SIAM J. Matrix Anal. Appl. 9,
    1988): the tail of the ratio R is as heavy as sqrt(k) / R, and no useful bound holds for each seed. 10 (k + 1) is exceeded
    with a probability of sqrt(k) / (10 (k + 1)), at most 4.8 % (k = 2; simulated: 4.1 %), and 7 times in a row with 6e-10."""
    k, eps, wide = q.shape[1], epsilon(dtype), a.astype(np.complex128)
    norm = float(np.linalg.norm(wide))
    best = float(np.sqrt((np.linalg.svd(wide, compute_uv=False)[k:] ** 2).sum()))
    errors: list[float] = []
    for _ in range(DRAWS):
        orthonormal(q, 1e4 * eps, f"{label}: Q")
        require(np.linalg.norm(b - q.conj().T @ wide) <= 1e3 * eps * norm + 1e-300, f"{label}: B is not Q^H A")
        errors.append(float(np.linalg.norm(wide - q @ (q.conj().T @ wide))))
        if errors[-1] <= 10 * (k + 1) * best + 1e4 * eps * norm:
            return
        q, b = (np.asarray(part) for part in again())
    raise Finding(f"{label}: Q misses {errors} with {DRAWS} seeds, the best is {best:.3e}")


def hermitian(rng: np.random.Generator, bench: Bench) -> None:
    """Eigenvalues of largest modulus of Hermitian matrices, by Rayleigh-Ritz, and by Nystroem's method of semidefinite ones."""
    n, dtype = int(pick(rng, 1, 2, 5, 30, 80)), pick(rng, *ALL)
    complex_ = np.dtype(dtype).kind == "c"
    definite = rng.random() < 0.6
    kind = pick(rng, "decay", "low rank", "equal", "zero")
    values = {
        "decay": 10.0 ** -np.linspace(0, 6, n), "low rank": np.where(np.arange(n) < max(n // 4, 1), 1.0 + np.arange(n)[::-1], 0.0),
        "equal": np.ones(n), "zero": np.zeros(n),
    }[kind]
    if not definite:
        values = values * rng.choice([-1.0, 1.0], n)
    q = random_orthogonal(rng, n, complex_)
    a = ((q * values) @ q.conj().T).astype(dtype)
    a = ((a + a.conj().T) / np.array(2, dtype)).astype(dtype)
    k, method = int(rng.integers(1, min(n, 15) + 1)), pick(rng, "auto", "nystrom", "rayleigh")
    given = pick(rng, a, np.asfortranarray(a), csr(a, bench))
    label = f"hermitian {kind} {'definite' if definite else 'indefinite'} n={n} k={k} {np.dtype(dtype).name} {method}"
    # Rounding makes eigenvalues of 0 negative: that a matrix is not semidefinite may then show.
    allowed = (purlin.Numerical,) if method == "nystrom" and (not definite or kind != "equal") else ()
    found, v = bench.call(
        purlin.rsvd.symmetric, given, k, method=method, power_iterations=4, seed=int(rng.integers(1 << 30)), context=bench.context, allowed=allowed,
    )
    if method == "nystrom" and not definite:
        return
    eps, wide = epsilon(dtype), a.astype(np.complex128)
    v = np.asarray(v)
    orthonormal(v, 1e4 * eps, label)
    exact = np.linalg.eigvalsh(wide)
    exact = exact[np.argsort(-np.abs(exact), kind="stable")]
    norm = float(np.abs(exact).max())
    require((np.diff(np.abs(found)) <= 1e3 * eps * norm).all(), f"{label}: {found} is not sorted by modulus")
    # Nystroem's shift cancels except for a part of sqrt(eps) of single operations; the remaining error is eps times the norm.
    slack = 1e4 * eps * norm + 1e-300
    require((np.abs(found) <= np.abs(exact[:k]) + slack).all(), f"{label}: {found} beyond {exact[:k]}")
    best = float(np.sqrt((exact[k:] ** 2).sum()))
    error = float(np.linalg.norm(wide - (v * found) @ v.conj().T))
    # Both project on a space that misses the part of theorem 10.5 at most, twice: from the left and from the right.
    most = 6 * np.sqrt(1 + k / 9) * best + np.sqrt(k) * slack
    require(error <= most, f"{label}: error {error:.3e}, best {best:.3e}, expected {most:.3e} at most")
    bench.outcomes["solved"] += 1


def masks(rng: np.random.Generator, bench: Bench) -> None:
    """Robust PCA of matrices with unobserved entries: their values, even NaN, have no effect; at others L + S = M."""
    m, n, dtype = int(rng.integers(2, 40)), int(rng.integers(2, 40)), pick(rng, *REAL)
    matrix = np.outer(rng.standard_normal(m), rng.standard_normal(n)) + (rng.random((m, n)) < 0.05) * 5.0
    seen = rng.random((m, n)) < 0.8
    label = f"masks {m}x{n} {np.dtype(dtype).name}"
    results = []
    for hidden in (0.0, 1e6, np.nan):
        given = np.where(seen, matrix, hidden).astype(dtype)
        results.append(bench.call(purlin.rpca.compute, given, mask=seen, context=bench.context, allowed=(purlin.NoConvergence, purlin.InvalidArgument, purlin.Numerical)))
        low, sparse = (np.asarray(part) for part in results[-1])
        require(np.isfinite(low).all() and np.isfinite(sparse).all(), f"{label}: hidden entries of {hidden}: a part is not finite")
        error = np.linalg.norm((low + sparse - matrix)[seen])
        limit = (1e-5 if dtype == np.float64 else 1e-4) * np.linalg.norm(matrix[seen])
        require(error <= limit, f"{label}: hidden entries of {hidden}: the seen ones are missed by {error:.2e}")
    for low, sparse in results[1:]:
        require(np.array_equal(low, results[0].low_rank) and np.array_equal(sparse, results[0].sparse), f"{label}: hidden entries change the result")
    spoilt = matrix.astype(dtype)
    i, j = (int(t[0]) for t in np.nonzero(seen)) if seen.any() else (0, 0)
    spoilt[i, j] = pick(rng, np.nan, np.inf)
    options = pick(rng, {"lambda_": np.nan}, {"tolerance": np.nan}, {"mu": np.inf}, {"rho": np.nan}, {"scale": np.nan}, {"threshold": np.nan}, {})
    try:
        purlin.rpca.compute(spoilt if not options else matrix.astype(dtype), mask=seen if seen.any() else None, context=bench.context, **options)
        raise Finding(f"{label}: {options or 'a seen entry'} that is not finite is taken")
    except purlin.InternalError as error:
        raise Finding(f"{label}: internal error {error}") from error
    except (purlin.InvalidArgument, purlin.Numerical, purlin.NoConvergence) as error:
        names = [name.rstrip("_") for name in options]
        require(not names or str(error).startswith(names[0]), f"{label}: {options} is refused as {error}")
    bench.outcomes["solved"] += 1


def principal_components(rng: np.random.Generator, bench: Bench) -> None:
    """PCA against the SVD of centred data."""
    m, n = (int(v) for v in rng.integers(2, 120, 2))
    offset = 10.0 ** float(pick(rng, 0, 3, 6))
    x = rng.standard_normal((m, n)) * (1.0 / (1 + np.arange(n))) + offset
    k = int(rng.integers(1, min(m, n) + 1))
    label = f"PCA {m}x{n} k={k} offset={offset:g}"
    model = purlin.pca.PCA(k, context=bench.context, power_iterations=4, seed=int(rng.integers(1 << 30)))
    with model:
        bench.call(model.fit, x, allowed=(purlin.InvalidArgument, purlin.Numerical))
        centred = x - x.mean(axis=0)
        exact = np.linalg.svd(centred, compute_uv=False)
        require(np.abs(model.mean_ - x.mean(axis=0)).max() <= 1e-12 * offset * 10, f"{label}: mean")
        limit = 1e-2 * exact[0] + 1e-10 * offset * np.sqrt(m * n)
        require(np.abs(model.singular_values_ - exact[:k]).max() <= limit, f"{label}: {model.singular_values_[:4]}, exact {exact[:4]}")
        total = (exact**2).sum() / (m - 1)
        require(abs(model.total_variance_ - total) <= 1e-6 * total + 1e-9 * offset**2, f"{label}: total variance {model.total_variance_}, exact {total}")
        scores = np.asarray(bench.call(model.transform, x))
        error = np.abs(scores - centred @ model.components_.T).max()
        require(error <= 1e-9 * offset * n, f"{label}: transform differs by {error:.2e}")
    bench.outcomes["solved"] += 1


def feasible_objective(matrix: np.ndarray, weight: float) -> float:
    """An upper bound of the optimum of robust PCA: the least objective of alternating minimization with a fixed penalty."""
    penalty = 1.25 / np.linalg.norm(matrix, 2)
    multiplier, sparse = np.zeros_like(matrix), np.zeros_like(matrix)
    best = min(np.linalg.norm(matrix, "nuc"), weight * np.abs(matrix).sum())
    for _ in range(300):
        u, s, vt = np.linalg.svd(matrix - sparse + multiplier / penalty, full_matrices=False)
        s = np.maximum(s - 1 / penalty, 0)
        low = (u * s) @ vt
        rest = matrix - low + multiplier / penalty
        sparse = np.sign(rest) * np.maximum(np.abs(rest) - weight / penalty, 0)
        multiplier = penalty * (rest - sparse)
        best = min(best, s.sum() + weight * np.abs(matrix - low).sum())
    return float(best)


def robust(rng: np.random.Generator, bench: Bench) -> None:
    """M = L + S is split so that the parts add up and the objective is near the optimum."""
    m, n = (int(v) for v in rng.integers(1, int(pick(rng, 8, 80)), 2))
    rank = int(rng.integers(0, 3))
    low = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    sparse = (rng.random((m, n)) < 0.05) * rng.standard_normal((m, n)) * 10
    matrix = low + sparse
    scale = 10.0 ** float(pick(rng, 0, -10, 10))
    weight = float(pick(rng, 0.0, 10.0 ** rng.uniform(-3, 1)))
    found, info = bench.call(
        purlin.rpca.run, scale * matrix, context=bench.context, lambda_=weight,
        allowed=(purlin.NoConvergence, purlin.InvalidArgument, purlin.Numerical),
    )
    error = np.linalg.norm(scale * matrix - found.low_rank - found.sparse)
    norm = scale * np.linalg.norm(matrix)
    require(error <= 1e-5 * norm + 1e-300, f"robust {m}x{n} rank {rank} scale {scale:g}: L + S misses M by {error / max(norm, 1e-300):.2e}")
    if norm > 0:
        # The scale takes part in neither.
        best = feasible_objective(matrix, weight if weight > 0 else 1 / np.sqrt(max(m, n)))
        objective = info.objective / scale
        require(objective <= 1.02 * best, f"robust {m}x{n} rank {rank} weight {weight:g}: objective {objective:g}, {best:g} is possible")
    bench.outcomes["solved"] += 1


def not_finite(rng: np.random.Generator, bench: Bench) -> None:
    """A number that is not finite, at any place of any input, is refused by the name of that input.

    A read function whose later reads differ from the first breaks its promise: there any refusal will do."""
    dtype = pick(rng, *ALL)
    m, n = (int(v) for v in rng.integers(2, 60, 2))
    call = pick(rng, "compute", "qb", "range_finder", "symmetric", "omega", "fit", "fit_transform", "transform", "inverse_transform", "rpca")
    if call == "symmetric":
        m = n
    a = (rng.standard_normal((m, n)) + (1j * rng.standard_normal((m, n)) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    if call == "symmetric":
        a = ((a + a.conj().T) / np.array(2, dtype)).astype(dtype)
    r = min(m, n)
    k = int(rng.integers(1, r + 1))
    i, j, bad = int(rng.integers(m)), int(rng.integers(n)), bad_number(rng, dtype)
    spoilt = a.copy()
    spoilt[i, j] = bad
    if call == "symmetric":
        spoilt[j, i] = np.conj(bad)
    here: dict[str, Any] = {"context": bench.context}
    seeded: dict[str, Any] = {"seed": int(rng.integers(1 << 30)), "power_iterations": int(rng.integers(0, 3))}
    forms = {"rpca": ("array", "fortran", "function"), "omega": ("array", "fortran"), "inverse_transform": ("array", "fortran")}
    form = pick(rng, *forms.get(call, ("array", "fortran", "csr", "function", "operator", "adjoint")))
    late, sent = int(pick(rng, 0, 0, 1, 2, 3)), 0
    reads: Counter[str] = Counter()
    if form == "function" and call != "rpca" and rng.random() < 0.5:
        seeded["block_rows"] = int(rng.integers(1, m + 1))
    label = f"{call} of {form} {m}x{n} {np.dtype(dtype).name} k={k} with {bad} in row {i}, column {j}, from read {late}, {seeded}"
    seeded["context"] = bench.context

    def product(x: np.ndarray, wrong: bool, adjoint: bool) -> np.ndarray:
        nonlocal sent
        y = (a.conj().T if adjoint else a) @ x
        if wrong and y.size:
            y[j if adjoint else i, int(rng.integers(y.shape[1]))] = bad
            sent += 1
        return y

    def read(where: tuple[slice, ...]) -> np.ndarray:
        nonlocal sent
        block = np.array((spoilt if reads[str(where)] >= late else a)[where])
        reads[str(where)] += 1
        sent += not np.isfinite(block).all()
        return block

    given: Any = spoilt
    if form == "fortran":
        given = np.asfortranarray(spoilt)
    elif form == "csr":
        given = csr(spoilt, bench)
    elif form == "function":
        given = purlin.blocks.Source.from_function(read, a.shape, dtype, **here)
    elif form in ("operator", "adjoint"):
        given = purlin.Matrix.from_operator(
            lambda x: product(x, form == "operator", False), lambda x: product(x, form == "adjoint", True), a.shape, dtype, **here,
        )

    def components(step: str) -> Any:
        with purlin.pca.PCA(k, **seeded) as model:
            if step in ("fit", "fit_transform"):
                return getattr(model, step)(given)
            bench.call(model.fit, a)
            if step == "transform":
                return model.transform(given)
            scores = np.array(bench.call(model.transform, a), order="F" if form == "fortran" else "C")
            scores[i, j % k] = bad
            return model.inverse_transform(scores)

    def sketched() -> Any:
        with purlin.rsvd.Rsvd(k, **seeded) as session:
            session.set_sketch(given)
            return session.compute(a.conj().T @ a)

    calls: dict[str, Callable[[], Any]] = {
        **{step: lambda step=step: components(step) for step in ("fit", "fit_transform", "transform", "inverse_transform")},
        **{name: lambda name=name: getattr(purlin.rsvd, name)(given, k, **seeded) for name in ("compute", "qb", "range_finder", "symmetric")},
        "omega": sketched,
        "rpca": lambda: purlin.rpca.compute(given, **here),
    }
    name = {"omega": "omega", "rpca": "m", "inverse_transform": "scores", "fit": "X", "fit_transform": "X", "transform": "X"}.get(call, "a")
    try:
        found = calls[call]()
    except purlin.InternalError as error:
        raise Finding(f"{label}: internal error {error}") from error
    except (purlin.Error, ValueError) as error:
        expected = "product: returned " if form == "operator" else "adjoint: returned " if form == "adjoint" else f"{name}: has "
        # On a GPU robust PCA counts the numbers and does not look for their place.
        has_place = " in row" in str(error) or (call == "rpca" and bench.backend == "cuda")
        is_named = str(error).startswith(expected) and has_place
        is_late = form == "function" and late > 0 and isinstance(error, purlin.Numerical)
        require(is_named or is_late, f"{label}: {type(error).__name__}: {error}")
        bench.outcomes["refused" if is_named else "refused late"] += 1
        return
    # An adjoint that is not called, and a block that is not read again, are not seen.
    require(form in ("adjoint", "function", "operator") and sent == 0, f"{label}: success, {found}")
    bench.outcomes["not read"] += 1


ATTACKS = {
    "fixed_rank": fixed_rank,
    "tolerance": tolerance,
    "same_bits": same_bits,
    "limits": limits,
    "forms": forms,
    "hermitian": hermitian,
    "masks": masks,
    "principal_components": principal_components,
    "robust": robust,
    "not_finite": not_finite,
}
