"""Principal components of data with outliers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import pca, rpca
from .._memory import Array
from ._base import Estimator, Place, RandomState, _module, named
from ._choice import count_of
from ._low_rank import Projection


class RobustPCA(Projection):
    """Principal components of the low-rank part of data X = L + S, S sparse: single wrong entries do not turn them.

    `fit` splits the samples by `purlin.rpca` and takes the components of `low_rank_`. `transform` projects samples on them as
    PCA does, without a search for outliers in new samples: `fit_transform` gives the same as `transform`, and the scores of
    the samples without their outliers are `transform(low_rank_)`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components, at most min(n_samples, n_features). None: the rank of the low-rank part.
    whiten : bool, default=False
        Whether scores of the low-rank part have variance 1. Along directions without variance they are 0.
    alpha : float, default=0.0
        Weight of the sparse part, `lambda_` of `purlin.rpca`. 0 is 1 / sqrt(max(n_samples, n_features)).
    tol : float, default=1e-7
        ||X - L - S|| over ||X||, at least 1e-6 in single precision.
    max_iter : int, default=1000
        Largest number of iterations. If they are not enough, `fit` warns and keeps the last parts.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. None is 0.
    options : dict or None, default=None
        Further options of `purlin.rpca.compute`, such as `max_rank`.
    context : purlin.Context, "cpu", "cuda" or None, default=None
        Where to compute.

    Attributes
    ----------
    low_rank_, sparse_ : arrays (n_samples, n_features), whose sum is X but for `tol`.
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, n_components_, n_samples_
        As those of PCA, of the low-rank part.
    n_iter_ : int, the iterations.
    n_features_in_, feature_names_in_
        As scikit-learn's.
    info_ : the report of `purlin.rpca`.
    """

    low_rank_: Array
    sparse_: Array
    mean_: Array
    n_components_: int
    n_samples_: int
    n_iter_: int

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        alpha: float = 0.0,
        tol: float = 1e-7,
        max_iter: int = 1000,
        random_state: RandomState = None,
        options: dict[str, Any] | None = None,
        context: Place = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.options = options
        self.context = context

    def fit(self, X: object, y: object = None) -> RobustPCA:
        """Splits `X`, an array, and finds the components of its low-rank part. `y` has no effect."""
        data = self._data(X, sparse=False, ensure_min_samples=2)
        most = min(data.shape)
        count = None if self.n_components is None else count_of("n_components", self.n_components)
        if count is not None and count > most:
            raise ValueError(f"n_components: is {count}, at most min(n_samples, n_features) = {most}")
        taken = {"seed": "random_state", "tolerance": "tol", "max_iterations": "max_iter", "dtype": "the type of X"}
        given = self._further(**taken, lambda_="alpha")
        context, seed = self._home(), self._seed()
        with named(lambda_="alpha", tolerance="tol", max_iterations="max_iter"):
            try:
                parts, info = rpca.run(
                    data,
                    lambda_=self.alpha,
                    tolerance=self.tol,
                    max_iterations=count_of("max_iter", self.max_iter),
                    seed=seed,
                    context=context,
                    **given,
                )
            except rpca.Unfinished as error:
                parts, info = error.parts, error.info
                kind = _module("sklearn.exceptions").ConvergenceWarning
                warnings.warn(f"RobustPCA: {error}; max_iter or tol may be increased", kind, stacklevel=2)
        # The low-rank part is an array in memory, so all of its components come from one pass.
        model = pca.PCA(most, whiten=self.whiten, method="direct", context=context).fit(parts.low_rank)
        if count is None:
            count = max(int(np.sum(model._values > model._rounding)), 1)
        self._model = model
        self.info_ = info
        self.n_iter_ = info.iterations
        self.low_rank_, self.sparse_ = parts
        self.n_components_ = count
        self.n_samples_ = data.shape[0]
        self.mean_ = model.mean_
        for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
            setattr(self, name, getattr(model, name)[:count])
        return self

    def fit_transform(self, X: object, y: object = None) -> Array:
        """`fit`, and the scores of `X`. `y` has no effect."""
        return self.fit(X).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
