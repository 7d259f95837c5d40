"""Coordinates and clusters of samples by the eigenvectors of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .. import graph, lanczos
from .._context import Context
from .._memory import Array
from .._typing import csr_matrix
from ..sparse import of
from ._base import (
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    Estimator,
    Place,
    RandomState,
    TransformerMixin,
    _module,
    expect_choice,
    named,
    utils,
)
from ._choice import count_of, number
from ._laplacian import SIGMA, factorized, without_loops

_NEIGHBORS = ("nearest_neighbors", "precomputed_nearest_neighbors")
_SET = {
    "seed": "random_state",
    "tolerance": "eigen_tol",
    "kind": "the estimator",
    "sigma": "eigen_solver",
    "solve": "eigen_solver",
}


class Spectral(Estimator):
    """An estimator that builds a graph of samples and finds eigenvectors of its Laplacian."""

    affinity: str | Callable[..., object]
    affinity_matrix_: Array | csr_matrix
    n_neighbors: int | None
    n_jobs: int | None
    eigen_solver: Literal["arpack"] | None
    eigen_tol: float | Literal["auto"]

    def _neighbors(self, X: Any, count: int) -> Any:
        """The graph of nearest neighbours of samples, or of distances: 1 for a pair of neighbours, 1/2 if one alone is."""
        found = _module("sklearn.neighbors")
        if self.affinity == "nearest_neighbors":
            near = found.kneighbors_graph(X, count, include_self=True, n_jobs=self.n_jobs)
        else:
            search = found.NearestNeighbors(n_neighbors=count, n_jobs=self.n_jobs, metric="precomputed").fit(X)
            near = search.kneighbors_graph(X=X, mode="connectivity")
        return 0.5 * (near + near.T)

    def _eigenvectors(self, affinity: Any, count: int, context: Context | None, *, drop_first: bool) -> Array:
        """Eigenvectors of the `count` smallest eigenvalues of the normalized Laplacian without loops, as columns over the
        roots of the degrees, which are 1 for vertices without edges. Without the first, which is constant, if `drop_first`."""
        expect_choice("eigen_solver", self.eigen_solver, None, "arpack")
        given: Any = self._further(**_SET)
        if self.eigen_tol != "auto":
            given["tolerance"] = number("eigen_tol", self.eigen_tol)
        weights = without_loops(utils.check_symmetric(affinity))
        most = weights.shape[0] - drop_first
        if count > most:
            raise ValueError(f"n_components: is {count}, at most {most} for {weights.shape[0]} samples")
        held = of(weights, context, name="affinity")
        if graph.components(held, context=context)[0] > 1:
            warnings.warn("Graph is not fully connected, spectral embedding may not work as expected.", stacklevel=3)
        degrees = np.asarray(weights.sum(axis=0), np.float64).ravel()
        if (degrees < 0).any():
            vertex = int(np.argmax(degrees < 0))
            raise ValueError(f"affinity: the weights at sample {vertex} add up to {degrees[vertex]}, less than 0")
        roots = np.sqrt(degrees)
        known = None
        if drop_first:
            # The vector of the eigenvalue 0 is known, and orthogonal to it are the others, also where 0 is multiple.
            known = (roots if roots.any() else np.ones(len(roots)))[:, None]
            known = known / np.linalg.norm(known)
        which: Any = "smallest"
        if self.eigen_solver is None:
            given["kind"] = "normalized_laplacian"
        else:
            held, given["solve"] = factorized(weights, roots)
            which, given["sigma"] = "nearest", SIGMA
        with named(tolerance="eigen_tol"):
            solved = lanczos.run(held, count, which, known=known, seed=self._seed(), context=context, **given)
        pairs = solved.sorted_by_value()
        assert pairs.vectors is not None
        vectors: Array = pairs.vectors / np.where(roots > 0, roots, 1)[:, None]
        largest: Array = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(count)]
        return vectors * np.where(largest < 0, -1, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        return tags


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Spectral):
    """Laplacian eigenmaps: coordinates of samples by the eigenvectors of the normalized Laplacian of a graph of them.

    The constant vector is left out, and the others are orthogonal to it. Of a graph of several components it thus has
    coordinates that are constant on each, after a warning. Eigenvectors are computed in double precision.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates, less than the number of samples.
    affinity : str or callable, default="nearest_neighbors"
        Weights of the graph: "nearest_neighbors", "rbf", "precomputed" (X has the weights), "precomputed_nearest_neighbors"
        (X is a sparse graph of distances), or a function of X.
    gamma : float or None, default=None
        Of exp(-gamma d^2); "rbf" alone. None is 1 / n_features.
    random_state : int, RandomState or None, default=None
        Seed of the start vector. None is 0.
    eigen_solver : "arpack" or None, default=None
        None: `purlin.lanczos` by products with the graph. "arpack": `purlin.lanczos` by solves, with a factorization by SciPy
        on the host: faster for graphs of points on curves and surfaces, far slower for points in many dimensions.
        "lobpcg" and "amg" are refused.
    eigen_tol : float or "auto", default="auto"
        Tolerance of the eigenpairs; "auto" is purlin's.
    n_neighbors : int or None, default=None
        Neighbours of each sample; graphs of neighbours alone. None is max(n_samples / 10, 1).
    n_jobs : int or None, default=None
        Processes of the search; graphs of neighbours alone.
    options : dict or None, default=None
        Further options of `purlin.lanczos.solve`, such as `basis`, `restarts` and `filter`.
    context : purlin.Context, "cpu", "cuda" or None, default=None
        Where to compute.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    affinity_matrix_ : array or sparse matrix (n_samples, n_samples)
    n_neighbors_, n_features_in_, feature_names_in_
        As scikit-learn's.
    """

    embedding_: Array
    n_neighbors_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str | Callable[[Any], object] = "nearest_neighbors",
        gamma: float | None = None,
        random_state: RandomState = None,
        eigen_solver: Literal["arpack"] | None = None,
        eigen_tol: float | Literal["auto"] = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
        options: dict[str, Any] | None = None,
        context: Place = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.options = options
        self.context = context

    def fit(self, X: object, y: object = None) -> SpectralEmbedding:
        """Finds the coordinates of `X`, an array or a sparse matrix. `y` has no effect."""
        data = self._data(X, ensure_min_samples=2)
        count = count_of("n_components", self.n_components)
        self.affinity_matrix_ = self._affinity(data)
        found = self._eigenvectors(self.affinity_matrix_, count, self._home(), drop_first=True)
        kind = self.affinity_matrix_.dtype
        self.embedding_ = found.astype(kind if kind == np.float32 else np.float64)
        return self

    def fit_transform(self, X: object, y: object = None) -> Array:
        """`fit`, and the coordinates. `y` has no effect."""
        return self.fit(X).embedding_

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _affinity(self, X: Any) -> Any:
        if callable(self.affinity):
            self._refuse("gamma n_neighbors n_jobs", "with an affinity that is a function")
            return self.affinity(X)
        expect_choice("affinity", self.affinity, "nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors")
        reason = f"with the affinity {self.affinity!r}"
        if self.affinity in _NEIGHBORS:
            self._refuse("gamma", reason)
            count = self.n_neighbors
            if count is None:
                # scikit-learn's search takes 5 of a graph of distances.
                count = 5 if self.affinity != "nearest_neighbors" else max(int(X.shape[0] / 10), 1)
            self.n_neighbors_ = count_of("n_neighbors", count)
            return self._neighbors(X, self.n_neighbors_)
        self._refuse("n_neighbors n_jobs", reason)
        if self.affinity == "precomputed":
            self._refuse("gamma", reason)
            return X
        gamma = 1.0 / X.shape[1] if self.gamma is None else number("gamma", self.gamma)
        return _module("sklearn.metrics.pairwise").rbf_kernel(X, gamma=gamma)


class SpectralClustering(ClusterMixin, Spectral):
    """Clusters of samples by the eigenvectors of the normalized Laplacian of a graph of them.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int or None, default=None
        Number of eigenvectors. None is `n_clusters`, which "cluster_qr" needs.
    eigen_solver : "arpack" or None, default=None
        None: `purlin.lanczos` by products with the graph. "arpack": `purlin.lanczos` by solves, with a factorization by SciPy
        on the host: faster for graphs of points on curves and surfaces, far slower for points in many dimensions.
        "lobpcg" and "amg" are refused.
    random_state : int, RandomState or None, default=None
        Seed of the start vector and of k-means. None is 0.
    n_init : int, default=10
        Starts of k-means, of which the best counts; "kmeans" alone.
    gamma : float, default=1.0
        Of the kernels that have it, as exp(-gamma d^2).
    affinity : str or callable, default="rbf"
        Weights of the graph: "nearest_neighbors", "precomputed" (X has the weights), "precomputed_nearest_neighbors" (X is a
        sparse graph of distances), a kernel of `sklearn.metrics.pairwise.pairwise_kernels`, or a function of two samples.
    n_neighbors : int, default=10
        Neighbours of each sample; graphs of neighbours alone.
    eigen_tol : float or "auto", default="auto"
        Tolerance of the eigenpairs; "auto" is purlin's.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        Labels by `purlin.graph.k_means` or `purlin.graph.pivoted_qr`. "discretize" is refused.
    degree, coef0 : float, default=3 and 1
        Of the kernels that have them.
    kernel_params : dict or None, default=None
        Arguments of the kernel.
    n_jobs : int or None, default=None
        Processes of the search; graphs of neighbours alone.
    options : dict or None, default=None
        Further options of `purlin.lanczos.solve`, such as `basis`, `restarts` and `filter`.
    context : purlin.Context, "cpu", "cuda" or None, default=None
        Where to compute.

    Attributes
    ----------
    labels_ : array (n_samples,)
    affinity_matrix_ : array or sparse matrix (n_samples, n_samples)
    n_features_in_, feature_names_in_
        As scikit-learn's.
    """

    labels_: Array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: Literal["arpack"] | None = None,
        n_components: int | None = None,
        random_state: RandomState = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: str | Callable[..., object] = "rbf",
        n_neighbors: int = 10,
        eigen_tol: float | Literal["auto"] = "auto",
        assign_labels: Literal["kmeans", "cluster_qr"] = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        options: dict[str, Any] | None = None,
        context: Place = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.options = options
        self.context = context

    def fit(self, X: object, y: object = None) -> SpectralClustering:
        """Finds the clusters of `X`, an array or a sparse matrix. `y` has no effect."""
        data = self._data(X, sparse=["csr", "csc", "coo"], dtype=np.float64, ensure_min_samples=2)
        clusters = count_of("n_clusters", self.n_clusters)
        count = clusters if self.n_components is None else count_of("n_components", self.n_components)
        expect_choice("assign_labels", self.assign_labels, "kmeans", "cluster_qr")
        by_means = self.assign_labels == "kmeans"
        if not by_means:
            self._refuse("n_init", "with the labels of 'cluster_qr'")
            if count != clusters:
                raise ValueError(f"n_components: is {count}, expected n_clusters = {clusters} with the labels of 'cluster_qr'")
        if clusters > data.shape[0]:
            raise ValueError(f"n_clusters: is {clusters}, at most n_samples = {data.shape[0]}")
        self.affinity_matrix_ = self._affinity(data)
        context = self._home()
        maps = self._eigenvectors(self.affinity_matrix_, count, context, drop_first=False)
        if by_means:
            start_count = count_of("n_init", self.n_init)
            found = graph.k_means(maps, clusters, start_count=start_count, seed=self._seed(), context=context)
        else:
            found = graph.pivoted_qr(maps, context=context)
        self.labels_ = found.labels
        return self

    def fit_predict(self, X: object, y: object = None) -> Array:
        """`fit`, and the labels. `y` has no effect."""
        return self.fit(X).labels_

    def _affinity(self, X: Any) -> Any:
        pairwise = _module("sklearn.metrics.pairwise")
        arguments = dict(self.kernel_params or {})
        if self.affinity in ("precomputed", *_NEIGHBORS):
            reason = f"with the affinity {self.affinity!r}"
            self._refuse("gamma degree coef0 kernel_params", reason)
            if self.affinity == "precomputed":
                self._refuse("n_neighbors n_jobs", reason)
                return X
            return self._neighbors(X, count_of("n_neighbors", self.n_neighbors))
        self._refuse("n_neighbors n_jobs", "with an affinity that is a kernel")
        if callable(self.affinity):
            self._refuse("gamma degree coef0", "with an affinity that is a function")
        else:
            expect_choice("affinity", self.affinity, "precomputed", *_NEIGHBORS, *sorted(pairwise.KERNEL_PARAMS))
            used = pairwise.KERNEL_PARAMS[self.affinity]
            unused = [name for name in ("gamma", "degree", "coef0") if name not in used]
            self._refuse(" ".join(unused), f"with the affinity {self.affinity!r}")
            arguments.update({name: getattr(self, name) for name in ("gamma", "degree", "coef0")})
        return pairwise.pairwise_kernels(X, metric=self.affinity, filter_params=True, **arguments)
