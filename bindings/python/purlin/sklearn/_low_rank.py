"""Truncated SVD and principal components."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .. import _choices as w
from .. import lanczos, pca, rpca, rsvd
from .._memory import Array
from ._base import (
    ClassNamePrefixFeaturesOutMixin,
    Estimator,
    Place,
    RandomState,
    TransformerMixin,
    expect_choice,
    named,
    utils,
    validation,
)
from ._choice import count_of, exact_count, exact_method, minka, number, rule
from ._lanczos_model import fitted

_SET = {
    "seed": "random_state",
    "oversampling": "n_oversamples",
    "method": "method",
    "tolerance": "tol",
    "dtype": "the type of X",
    "sign": "scikit-learn's rule for signs",
}


class Projection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A transformer whose scores are products with components, by a model of purlin."""

    components_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    singular_values_: Array
    info_: rsvd.Info | lanczos.Info | rpca.Info
    _model: pca.PCA
    _iterations: str
    """Name of the parameter that is the number of power iterations."""

    def _training(self, X: object, **how: Any) -> Any:
        """Data of a fit, in which each place of a sparse matrix has one entry: sums of squares are over places."""
        data = self._data(X, **how)
        if hasattr(data, "tocsr") and not data.has_canonical_format:
            data = data.copy()
            data.sum_duplicates()
        return data

    def transform(self, X: object) -> Array:
        """Scores (n_samples, n_components) of data."""
        validation.check_is_fitted(self)
        data = self._data(X, reset=False, dtype=self._model.components_.dtype)
        return self._cut(self._model.transform(data))

    def inverse_transform(self, X: object) -> Array:
        """Data (n_samples, n_features) of scores: the inverse of `transform` within the span of the components."""
        validation.check_is_fitted(self)
        scores = utils.check_array(X, dtype=self._model.components_.dtype, ensure_min_features=0)
        if scores.shape[1] != self._n_features_out:
            raise ValueError(f"X: has {scores.shape[1]} components, {self._n_features_out} are needed")
        missing = self._model.n_components_ - scores.shape[1]
        return self._model.inverse_transform(np.pad(scores, ((0, 0), (0, missing))) if missing else scores)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _cut(self, scores: Array) -> Array:
        """The columns of the components that are wanted: a model may have more."""
        count = self._n_features_out
        return scores if scores.shape[1] == count else scores[:, :count]

    def _solve(
        self,
        X: Any,
        rank: int,
        solver: str,
        settings: dict[str, int],
        scores: bool,
        *,
        center: bool,
        whiten: bool = False,
    ) -> tuple[pca.PCA, Any]:
        """A model of `X`, and the scores if they are wanted; `solver` is a method of purlin or "lanczos"."""
        context, seed = self._home(), self._seed()
        if solver == "lanczos":
            given = self._further(seed="random_state", tolerance="tol")
            tol = number("tol", self.tol)  # type: ignore[attr-defined]
            with named(k="n_components", tolerance="tol"):
                model = fitted(X, rank, tol, seed, given, context, center=center, whiten=whiten)
            return model, model.transform(X) if scores else None
        given = self._further(**_SET, power_iterations=self._iterations)
        with named(power_iterations=self._iterations, oversampling="n_oversamples"):
            model = pca.PCA(
                rank, center=center, whiten=whiten, method=solver, seed=seed, context=context, **settings, **given  # type: ignore[arg-type]
            )
            # The scores of a fit by one pass are of other accuracy than those of a transform.
            if scores and solver != "one_pass":
                return model, model.fit_transform(X)
            model.fit(X)
        return model, model.transform(X) if scores else None

    def _settings(self, iterations: int) -> dict[str, int]:
        """Options of the randomized algorithm; without those that have no effect on the method."""
        method, found = self.method, {}  # type: ignore[attr-defined]
        if method != "direct":
            found["oversampling"] = count_of("n_oversamples", self.n_oversamples, 0)  # type: ignore[attr-defined]
        if method not in ("direct", "one_pass"):
            found["power_iterations"] = count_of(self._iterations, iterations, 0)
        return found

    def _expect_randomized(self) -> None:
        """Refuses parameters without effect on the chosen method of the randomized algorithm."""
        self._refuse("tol", "with the randomized algorithm")
        if self.method == "direct":  # type: ignore[attr-defined]
            self._refuse(f"{self._iterations} n_oversamples", "with the method 'direct'")
        if self.method == "one_pass":  # type: ignore[attr-defined]
            self._refuse(self._iterations, "with the method 'one_pass'")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class TruncatedSVD(Projection):
    """The leading singular vectors of data that are not centred, as of counts of words: latent semantic analysis.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most min(n_samples, n_features); with "arpack" less than n_features.
    algorithm : {"randomized", "arpack"}, default="randomized"
        "randomized": `purlin.rsvd`. "arpack": `purlin.lanczos.singular`, which has ARPACK's accuracy.
    n_iter : int, default=5
        Power iterations; "randomized" alone.
    n_oversamples : int, default=10
        Random vectors beyond the components; "randomized" alone.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. None is 0.
    tol : float, default=0.0
        Relative accuracy of the singular values, 0 for that of the arithmetic; "arpack" alone.
    method : str, default="auto"
        Method of `purlin.rsvd.compute`, whose `help` lists them; "randomized" alone.
    options : dict or None, default=None
        Further options of `purlin.rsvd.compute`, or with "arpack" of `purlin.lanczos.singular`.
    context : purlin.Context, "cpu", "cuda" or None, default=None
        Where to compute.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, n_features_in_, feature_names_in_
        As scikit-learn's.
    info_ : the report of purlin's run.
    """

    _iterations = "n_iter"

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: Literal["randomized", "arpack"] = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        random_state: RandomState = None,
        tol: float = 0.0,
        method: w.RsvdMethod = "auto",
        options: dict[str, Any] | None = None,
        context: Place = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.random_state = random_state
        self.tol = tol
        self.method = method
        self.options = options
        self.context = context

    def fit(self, X: object, y: object = None) -> TruncatedSVD:
        """Finds the components of `X`, an array or a sparse matrix. `y` has no effect."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: object, y: object = None) -> Array:
        """`fit`, and the scores of `X`. `y` has no effect."""
        data = self._training(X, ensure_min_features=2, ensure_min_samples=2)
        expect_choice("algorithm", self.algorithm, "randomized", "arpack")
        lanczos = self.algorithm == "arpack"
        rank = self._rank(data.shape[0], data.shape[1], lanczos)
        if lanczos:
            self._refuse("n_iter n_oversamples method", "with the algorithm 'arpack'")
        else:
            self._expect_randomized()
        settings = {} if lanczos else self._settings(self.n_iter)
        scores: Array
        model, scores = self._solve(data, rank, "lanczos" if lanczos else self.method, settings, True, center=False)
        # Variances are about the means, which are not subtracted from the scores.
        own = model.components_.dtype
        variance = np.var(scores, axis=0, dtype=np.float64)
        total = _variances(data).sum()
        with np.errstate(all="ignore"):
            ratio = variance / total
        self._model = model
        self.info_ = model.info_
        self.components_ = model.components_
        self.singular_values_ = model.singular_values_
        self.explained_variance_ = variance.astype(own)
        self.explained_variance_ratio_ = ratio.astype(own)
        return scores

    def _rank(self, samples: int, features: int, lanczos: bool) -> int:
        rank = count_of("n_components", self.n_components)
        if rank > features:
            raise ValueError(f"n_components({rank}) must be <= n_features({features}).")
        most = min(samples, features)
        if lanczos and rank >= features:
            raise ValueError(f"n_components: is {rank}, must be less than n_features = {features} with the algorithm 'arpack'")
        if rank > most:
            raise ValueError(f"n_components: is {rank}, at most min(n_samples={samples}, n_features={features}) = {most}")
        return rank


class PCA(Projection):
    """Principal components.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        Number of components. None: all, which are min(n_samples, n_features), with "arpack" one less. A fraction between 0
        and 1: as many as explain more than that part of the variance. "mle": Minka's estimate, of at least as many samples
        as features. Fractions and "mle" are served by "full" and "covariance_eigh", which find all components.
    whiten : bool, default=False
        Whether scores have variance 1. Along directions without variance they are 0.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        "full": the method DIRECT of `purlin.rsvd`, all singular values. "covariance_eigh": GRAM, by the matrix of
        covariances, where that finds all singular values, else DIRECT. "arpack": `purlin.lanczos.singular`. "randomized": `method`. "auto" chooses by
        scikit-learn's rule, but "randomized" where `method` is given. All of them take sparse data.
    tol : float, default=0.0
        Relative accuracy of the singular values, 0 for that of the arithmetic; "arpack" alone.
    iterated_power : int or "auto", default="auto"
        Power iterations; "randomized" alone. "auto": 7 for less than a tenth of all components, else 4.
    n_oversamples : int, default=10
        Random vectors beyond the components; "randomized" alone.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. None is 0.
    method : str, default="auto"
        Method of `purlin.rsvd.compute`, whose `help` lists them; "randomized" alone.
    options : dict or None, default=None
        Further options of `purlin.rsvd.compute`, or with "arpack" of `purlin.lanczos.singular`.
    context : purlin.Context, "cpu", "cuda" or None, default=None
        Where to compute.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, n_components_, n_samples_,
    noise_variance_, n_features_in_, feature_names_in_
        As scikit-learn's.
    info_ : the report of purlin's run.
    """

    mean_: Array
    n_components_: int
    n_samples_: int
    noise_variance_: float
    _iterations = "iterated_power"

    def __init__(
        self,
        n_components: int | float | Literal["mle"] | None = None,
        *,
        whiten: bool = False,
        svd_solver: Literal["auto", "full", "covariance_eigh", "arpack", "randomized"] = "auto",
        tol: float = 0.0,
        iterated_power: int | Literal["auto"] = "auto",
        n_oversamples: int = 10,
        random_state: RandomState = None,
        method: w.RsvdMethod = "auto",
        options: dict[str, Any] | None = None,
        context: Place = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.random_state = random_state
        self.method = method
        self.options = options
        self.context = context

    def fit(self, X: object, y: object = None) -> PCA:
        """Finds the components of `X`, an array or a sparse matrix. `y` has no effect."""
        self._fit(X, False)
        return self

    def fit_transform(self, X: object, y: object = None) -> Array:
        """`fit`, and the scores of `X`. `y` has no effect."""
        return self._cut(self._fit(X, True))

    def _fit(self, X: object, scores: bool) -> Any:
        # Lanczos' method leaves one component out, and a matrix of one column has no other.
        data = self._training(X, ensure_min_samples=2, ensure_min_features=2 if self.svd_solver == "arpack" else 1)
        sparse = hasattr(data, "tocsr")
        solver = self._fit_svd_solver = self._solver(data.shape, sparse)
        asked = exact_count(self.n_components, solver, *data.shape)
        most = min(data.shape)
        rank = max(asked, 1) if isinstance(asked, int) else most
        if solver == "randomized":
            automatic = 7 if rank < 0.1 * most else 4
            settings = self._settings(automatic if self.iterated_power == "auto" else self.iterated_power)
            method: str = self.method
        else:
            settings, method = {}, exact_method(solver, data.shape, sparse)
        model, made = self._solve(data, rank, method, settings, scores, center=True, whiten=self.whiten)
        count, noise = asked, model.noise_variance_
        if not isinstance(count, int):
            if isinstance(count, str):
                count = minka(model.explained_variance_, data.shape[0])
            else:
                # More than the fraction: a sum that equals it takes one component more.
                shares = np.cumsum(model.explained_variance_ratio_)
                count = min(int(np.searchsorted(shares, count, side="right")) + 1, most)
            rest = model.explained_variance_[count:]
            noise = float(rest.mean(dtype=np.float64)) if len(rest) else 0.0
        elif count == 0:
            noise = model.total_variance_ / most
        self._model = model
        self.info_ = model.info_
        self.n_components_ = count
        self.n_samples_ = data.shape[0]
        self.mean_ = model.mean_
        self.noise_variance_ = noise
        for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
            setattr(self, name, getattr(model, name)[:count])
        return made

    def _solver(self, shape: tuple[int, int], sparse: bool) -> str:
        """The solver of a fit; refuses parameters without effect on a solver that was asked for."""
        expect_choice("svd_solver", self.svd_solver, "auto", "full", "covariance_eigh", "arpack", "randomized")
        if self.svd_solver == "auto":
            return "randomized" if self.method != "auto" else rule(self.n_components, shape, sparse)
        if self.svd_solver == "randomized":
            self._expect_randomized()
        else:
            self._refuse("iterated_power n_oversamples method", f"with the solver {self.svd_solver!r}")
            if self.svd_solver != "arpack":
                self._refuse("tol", f"with the solver {self.svd_solver!r}")
        return self.svd_solver

    def get_covariance(self) -> Array:
        """Covariance (n_features, n_features) of probabilistic PCA: that of the components, and the noise besides."""
        validation.check_is_fitted(self)
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0)
        covariance = (self.components_.T * excess) @ self.components_
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        return covariance

    def get_precision(self) -> Array:
        """The inverse of `get_covariance`."""
        validation.check_is_fitted(self)
        if self.noise_variance_ == 0:
            return np.asarray(np.linalg.inv(self.get_covariance()))
        # The components are orthonormal, so each of their variances is inverted by itself.
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0)
        gain = excess / (self.noise_variance_ * (self.noise_variance_ + excess))
        precision = -(self.components_.T * gain) @ self.components_
        precision.flat[:: len(precision) + 1] += 1 / self.noise_variance_
        return precision

    def score_samples(self, X: object) -> Array:
        """Logarithm of the likelihood (n_samples,) of each sample by probabilistic PCA."""
        validation.check_is_fitted(self)
        data = self._data(X, sparse=False, reset=False)
        centred = data - self.mean_
        precision = self.get_precision()
        sign, logarithm = np.linalg.slogdet(precision)
        constant = logarithm - data.shape[1] * np.log(2 * np.pi) if sign > 0 else -np.inf
        return np.asarray(0.5 * (constant - np.sum(centred * (centred @ precision), axis=1)))

    def score(self, X: object, y: object = None) -> float:
        """Mean of `score_samples`. `y` has no effect."""
        return float(np.mean(self.score_samples(X)))


def _variances(data: Any) -> Array:
    """Variance of each feature, over the number of samples."""
    if not hasattr(data, "tocsr"):
        return np.asarray(np.var(data, axis=0, dtype=np.float64))
    count, features = data.shape
    wide = data.data.astype(np.float64)
    means = np.bincount(data.indices, wide, features) / count
    stored = np.bincount(data.indices, (wide - means[data.indices]) ** 2, features)
    absent = count - np.bincount(data.indices, minlength=features)
    return np.asarray((stored + absent * means**2) / count)
