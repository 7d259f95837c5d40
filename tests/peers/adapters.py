"""Functions of SciPy, scikit-learn and networkx with their signatures, computed by purlin, and the estimators of
`purlin.sklearn` for scikit-learn's tests."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator
from scipy.sparse.linalg._eigen import _svds as scipy_svds
from scipy.sparse.linalg._eigen.arpack import arpack
from sklearn.utils import check_random_state
from sklearn.utils.extmath import svd_flip

import purlin
import purlin.sklearn

calls = 0
"""Number of solver calls so far."""

context = purlin.Context("cpu", threads=2)


def _called() -> None:
    global calls
    calls += 1


def _tolerance(tol: float, dtype: np.dtype[Any]) -> float:
    """SciPy's tolerance 0 means the rounding error of the type."""
    return min(max(float(tol), 2 * float(np.finfo(dtype).eps)), 0.5)


def _seed(rng: Any) -> int:
    if rng is None:
        return 0
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(1 << 30))
    return int(check_random_state(rng).randint(1 << 30))


def _floating(dtype: Any) -> np.dtype[Any]:
    dtype = np.dtype(dtype)
    return dtype if dtype.char in "fdFD" else np.dtype(np.result_type(dtype, np.float64))


def _operand(a: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(a, LinearOperator):
        # purlin multiplies blocks of vectors; matmat does so column by column where the operator has matvec only.
        return purlin.Matrix.from_operator(a.matmat, a.rmatmat, a.shape, dtype, context=context)
    if sp.issparse(a):
        return purlin.Matrix.from_scipy(sp.csr_array(a, dtype=dtype), context=context)
    return purlin.sparse.from_dense(np.array(a, dtype, order="F"), context=context)


def _dense(a: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(a, LinearOperator):
        return np.asarray(a @ np.eye(a.shape[1], dtype=dtype))
    return np.asarray(a.toarray() if sp.issparse(a) else a, dtype)


_WHICH = {"LA": "largest", "SA": "smallest", "LM": "largest_magnitude", "BE": "both_ends", "SM": "nearest"}


def _solve(a: Any, k: int, which: str, **options: Any) -> tuple[Any, Any]:
    """Values in ascending order, and their vectors."""
    _called()
    found = purlin.lanczos.run(a, k, _WHICH[which], context=context, **options)  # type: ignore[arg-type]
    return found.sorted_by_value()


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """`scipy.sparse.linalg.eigsh`. NumPy reduces a generalized problem to a standard one by the Cholesky factor of M, and
    inverts A - sigma I; purlin has neither. purlin then solves the standard problem of the dense matrix."""
    n = A.shape[0]
    if k <= 0 or which not in _WHICH or k >= n or A.shape[0] != A.shape[1]:
        # SciPy refuses these arguments, or solves with LAPACK where k >= n.
        return arpack.eigsh(A, k, M, sigma, which, v0, ncv, maxiter, tol, return_eigenvectors, Minv, OPinv, mode)
    dtype = _floating(A.dtype)
    if M is not None:
        dtype = _floating(np.result_type(dtype, M.dtype))
    options: dict[str, Any] = {"tolerance": _tolerance(tol, dtype), "seed": _seed(rng)}
    if ncv is not None:
        options["basis"] = ncv
    if maxiter is not None:
        options["restarts"] = maxiter
    start = None if v0 is None else np.asarray(v0, dtype)
    back = None
    if M is None and sigma is None:
        operand = _operand(A, dtype)
    else:
        wide = np.dtype(dtype.char.replace("f", "d").replace("F", "D"))
        full = _dense(A, wide)
        if M is not None:
            factor = np.linalg.cholesky(_dense(M, wide))
            half = scipy.linalg.solve_triangular(factor, full, lower=True)
            full = scipy.linalg.solve_triangular(factor, half.conj().T, lower=True).conj().T
            back = factor
            if start is not None:
                start = (factor.conj().T @ start).astype(dtype)
        full = (full + full.conj().T) / 2
        if sigma is not None:
            full = np.linalg.inv(full - sigma * np.eye(n))
            scale, shift = {"normal": (1.0, 0.0), "buckling": (sigma, 1.0), "cayley": (2 * sigma, 1.0)}[mode]
            full = scale * (full + full.conj().T) / 2 + shift * np.eye(n)
        # A Cholesky factor or an inverse in single precision is less accurate than the tests require.
        operand = _operand(full, wide)
        options["tolerance"] = _tolerance(tol, wide)
        start = None if start is None else start.astype(wide)
    try:
        values, vectors = _solve(operand, k, which, start=start, **options)
    except purlin.lanczos.Unfinished as error:
        count = error.solution.info.converged
        pairs = error.solution.pairs
        raise ArpackNoConvergence("%s", pairs.values[:count], pairs.vectors[:, :count]) from error
    if sigma is not None:
        values = sigma + scale / (values - shift)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    if back is not None:
        vectors = scipy.linalg.solve_triangular(back.conj().T, vectors, lower=False)
    real = np.dtype(dtype.char.lower())
    return (values.astype(real), vectors.astype(dtype)) if return_eigenvectors else values.astype(real)


def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: Any = True,
    solver: str = "arpack",
    rng: Any = None,
    options: Any = None,
    random_state: Any = None,
) -> Any:
    """`scipy.sparse.linalg.svds`. SciPy validates the arguments. Values ascend."""
    rng = random_state if rng is None else rng
    op, k, ncv, tol, which, v0, maxiter, wants, solver, generator = scipy_svds._iv(
        A, k, ncv, tol, which, v0, maxiter, return_singular_vectors, solver, rng
    )
    dtype = _floating(op.dtype)
    given: dict[str, Any] = {"tolerance": _tolerance(tol, dtype), "seed": _seed(generator)}
    if ncv is not None:
        given["basis"] = ncv
    if maxiter is not None:
        given["restarts"] = maxiter
    _called()
    try:
        found = purlin.lanczos.singular(
            _operand(A if sp.issparse(A) else aslinearoperator(A), dtype),
            k,
            "largest" if which == "LM" else "smallest",
            start=None if v0 is None else v0.astype(dtype),
            vectors=bool(wants),
            context=context,
            **given,
        )
    except purlin.lanczos.Unfinished as error:
        raise ArpackNoConvergence("%s", error.solution.triplets.values, error.solution.triplets.v) from error
    u, s, v = found.triplets
    order = np.argsort(s)
    s = s[order].astype(dtype.char.lower())
    if not wants:
        return s
    left = u[:, order] if wants in (True, "u") else None
    right = v[:, order].conj().T if wants in (True, "vh") else None
    return left, s, right


def randomized_svd(
    M: Any,
    n_components: int,
    *,
    n_oversamples: int = 10,
    n_iter: Any = "auto",
    power_iteration_normalizer: str = "auto",
    transpose: Any = "auto",
    flip_sign: bool = True,
    random_state: Any = None,
    svd_lapack_driver: str = "gesdd",
) -> Any:
    """`sklearn.utils.extmath.randomized_svd`. purlin orthonormalizes the basis after each power iteration, whatever
    `power_iteration_normalizer` is, and has one method for the small problem, whatever `svd_lapack_driver` and
    `transpose` are."""
    if n_iter == "auto":
        n_iter = 7 if n_components < 0.1 * min(M.shape) else 4
    dtype = _floating(getattr(M, "dtype", np.float64))
    if isinstance(M, LinearOperator):
        operand: Any = purlin.Matrix.from_operator(M.matmat, M.rmatmat, M.shape, dtype, context=context)
    elif sp.issparse(M):
        operand = sp.csr_array(M, dtype=dtype)
    else:
        operand = np.asarray(M, dtype)
    rank = min(n_components, *M.shape)
    _called()
    u, s, vt = purlin.rsvd.compute(
        operand,
        rank,
        oversampling=min(n_oversamples, min(M.shape) - rank),
        power_iterations=n_iter,
        seed=_seed(random_state),
        context=context,
    )
    if flip_sign:
        # scikit-learn decides by u, whether it transposes the matrix or not.
        u, vt = svd_flip(u, vt)
    return u, s, vt


def randomized_eigsh(
    M: Any,
    n_components: int,
    *,
    n_oversamples: int = 10,
    n_iter: Any = "auto",
    power_iteration_normalizer: str = "auto",
    selection: str = "module",
    random_state: Any = None,
) -> Any:
    """`sklearn.utils.extmath._randomized_eigsh`: eigenvalues of largest modulus. purlin orthonormalizes the basis after each
    power iteration, whatever `power_iteration_normalizer` is."""
    if selection != "module":
        raise NotImplementedError(f"selection: {selection!r}, purlin selects by modulus")
    n = M.shape[0]
    if n_iter == "auto":
        n_iter = 7 if n_components < 0.1 * n else 4
    dtype = _floating(M.dtype)
    rank = min(n_components, n)
    _called()
    return purlin.rsvd.symmetric(
        sp.csr_array(M, dtype=dtype) if sp.issparse(M) else np.asarray(M, dtype),
        rank,
        oversampling=min(n_oversamples, n - rank),
        power_iterations=n_iter,
        seed=_seed(random_state),
        context=context,
    )


def _dropped(given: dict[str, Any], names: str, unused: bool) -> None:
    """Takes parameters away that scikit-learn documents as unused by the chosen solver: `purlin.sklearn` refuses them."""
    for name in names.split() if unused else ():
        given.pop(name, None)


class TruncatedSVD(purlin.sklearn.TruncatedSVD):
    """`purlin.sklearn.TruncatedSVD`, which counts its fits."""

    def __init__(self, n_components: Any = 2, **given: Any) -> None:
        if given.pop("power_iteration_normalizer", "auto") not in ("auto", "QR"):
            raise TypeError("power_iteration_normalizer: bases are orthonormalized in each iteration")
        _dropped(given, "n_iter n_oversamples", given.get("algorithm") == "arpack")
        super().__init__(n_components, context=context, **given)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        _called()
        return super().fit_transform(X, y)


class PCA(purlin.sklearn.PCA):
    """`purlin.sklearn.PCA`, which counts its fits. It never overwrites data, whatever `copy` is."""

    def __init__(self, n_components: Any = None, *, copy: bool = True, **given: Any) -> None:
        solver = given.get("svd_solver", "auto")
        _dropped(given, "iterated_power n_oversamples", solver not in ("auto", "randomized"))
        super().__init__(n_components, context=context, **given)

    def _fit(self, X: Any, scores: bool) -> Any:
        _called()
        return super()._fit(X, scores)


class SpectralEmbedding(purlin.sklearn.SpectralEmbedding):
    """`purlin.sklearn.SpectralEmbedding`, which counts its fits."""

    def __init__(self, n_components: Any = 2, **given: Any) -> None:
        _dropped(given, "gamma", callable(given.get("affinity")))
        super().__init__(n_components, context=context, **given)

    def fit(self, X: Any, y: Any = None) -> Any:
        _called()
        return super().fit(X, y)


class SpectralClustering(purlin.sklearn.SpectralClustering):
    """`purlin.sklearn.SpectralClustering`, which counts its fits and prints nothing."""

    def __init__(self, n_clusters: Any = 8, *, verbose: Any = False, **given: Any) -> None:
        _dropped(given, "n_init", given.get("assign_labels") == "cluster_qr")
        super().__init__(n_clusters, context=context, **given)

    def fit(self, X: Any, y: Any = None) -> Any:
        _called()
        return super().fit(X, y)


def fiedler_function(method: str) -> Any:
    """`networkx.linalg.algebraicconnectivity._get_fiedler_func`: `purlin.graph.fiedler` for every method."""
    if method not in ("tracemin", "tracemin_pcg", "tracemin_lu", "lanczos", "lobpcg"):
        raise nx.NetworkXError(f"unknown method {method!r}.")

    def find_fiedler(L: Any, x: Any, normalized: bool, tol: float, seed: Any) -> tuple[float, Any]:
        _called()
        laplacian = sp.csr_array(L, dtype=float)
        weights = -laplacian
        weights.setdiag(0)
        weights.eliminate_zeros()
        found = purlin.graph.fiedler(weights, normalized=normalized, seed=_seed(seed), tolerance=tol, context=context)
        vector = found.vector
        if normalized:
            # purlin divides the vector by the square roots of the degrees, networkx does not.
            vector = vector * np.sqrt(laplacian.diagonal())
        # The sign is arbitrary. networkx' documentation of spectral_bisection and fiedler_vector puts the first node on
        # the negative side.
        return found.value, -vector if vector[0] > 0 else vector

    return find_fiedler


def _whole_spectrum(matrix: Any, kind: Any = "matrix") -> Any:
    """All eigenvalues of an operator of a symmetric matrix, ascending."""
    _called()
    pairs = purlin.lanczos.solve(_operand(matrix, np.dtype(float)), matrix.shape[0], kind=kind, vectors=False, context=context)
    return np.sort(pairs.values)


def laplacian_spectrum(G: Any, weight: Any = "weight") -> Any:
    """`networkx.laplacian_spectrum`."""
    return _whole_spectrum(nx.adjacency_matrix(G, weight=weight), "laplacian")


def normalized_laplacian_spectrum(G: Any, weight: Any = "weight") -> Any:
    """`networkx.normalized_laplacian_spectrum`."""
    return _whole_spectrum(nx.adjacency_matrix(G, weight=weight), "normalized_laplacian")


def adjacency_spectrum(G: Any, weight: Any = "weight") -> Any:
    """`networkx.adjacency_spectrum`."""
    return _whole_spectrum(nx.adjacency_matrix(G, weight=weight))


def modularity_spectrum(G: Any) -> Any:
    """`networkx.modularity_spectrum`. That of a directed graph is of a matrix that is not symmetric: NumPy computes it."""
    if G.is_directed():
        return np.linalg.eigvals(nx.directed_modularity_matrix(G))
    return _whole_spectrum(nx.adjacency_matrix(G), "modularity")


def bethe_hessian_spectrum(G: Any, r: Any = None) -> Any:
    """`networkx.bethe_hessian_spectrum`."""
    return _whole_spectrum(nx.bethe_hessian_matrix(G, r))
