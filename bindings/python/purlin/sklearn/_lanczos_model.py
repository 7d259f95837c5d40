"""Models of components by Lanczos' method, whose transforms are those of copied models of `purlin.pca`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import lanczos, pca
from .._context import Context
from .._matrix import Matrix
from .._memory import Array


def fitted(
    X: Any, rank: int, tol: float, seed: int, given: dict[str, Any], context: Context | None, *, center: bool, whiten: bool
) -> pca.PCA:
    """The `rank` largest singular triplets of `X`, an array or a CSR matrix, less its means if `center`."""
    dtype, (count, features) = X.dtype, X.shape
    eps = float(np.finfo(dtype).eps)
    means = _means(X) if center else np.zeros(features)
    total = _total(X, means)
    held, roundings = _operand(X, means, center, context), 0.0
    if center and hasattr(X, "tocsr"):
        # Products with the centred matrix are as inexact as those with its means, which may be much larger.
        least = float(np.sqrt(total * (count - 1) / min(count, features)))
        error = 8 * float(np.finfo(np.float64).eps) * float(np.linalg.norm(means)) * float(np.sqrt(count))
        if least <= error:
            held = X - X
        else:
            roundings = error / least
    found = lanczos.singular(held, rank, tolerance=max(tol, 2 * eps, roundings), seed=seed, context=context, **given)
    u, values, v = found.triplets
    assert v is not None
    components = v.T.astype(dtype)
    # The sign that `purlin.pca` and scikit-learn give a component: the entry of largest modulus is positive.
    largest = components[np.arange(rank), np.argmax(np.abs(components), axis=1)]
    components[largest < 0] *= -1
    variance = values**2 / (count - 1)
    rest = min(count, features) - rank
    model = pca.PCA(rank, center=center, whiten=whiten, context=context)
    with np.errstate(all="ignore"):
        ratio = variance / total
    model.__dict__.update(
        info_=found.info,
        n_samples_=count,
        n_features_in_=features,
        n_components_=rank,
        total_variance_=total,
        noise_variance_=max(total - float(variance.sum()), 0.0) / rest if rest else 0.0,
        mean_=means.astype(dtype),
        _mean=means,
        scale_=np.ones(features, dtype),
        constant_=np.zeros(features, bool),
        _divisor=np.ones(features),
        _values=values,
        _rounding=64 * eps * float(values.max(initial=0)),
        singular_values_=values.astype(dtype),
        explained_variance_=variance.astype(dtype),
        explained_variance_ratio_=ratio.astype(dtype),
        components_=components,
    )
    return model


def _operand(X: Any, means: Array, center: bool, context: Context | None) -> Any:
    """The operand of the singular triplets: the matrix, or products with it less its means."""
    sparse = hasattr(X, "tocsr")
    if not center and sparse:
        return X
    if not sparse:
        dense = (X - means).astype(X.dtype) if center else X
        return Matrix.from_operator(lambda x: dense @ x, lambda y: dense.T @ y, X.shape, X.dtype, context=context)
    # Products cancel where means are large, so they are in double precision.
    wide = X.astype(np.float64)

    def forward(x: Array) -> Array:
        return np.asarray(wide @ x - means @ x)

    def adjoint(y: Array) -> Array:
        return np.asarray(wide.T @ y - np.outer(means, y.sum(axis=0)))

    return Matrix.from_operator(forward, adjoint, X.shape, np.float64, context=context)


def _means(X: Any) -> Array:
    if not hasattr(X, "tocsr"):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    return np.asarray(np.bincount(X.indices, X.data.astype(np.float64), X.shape[1]) / X.shape[0])


def _total(X: Any, means: Array) -> float:
    """Sum of the squares of `X` less the means, over count - 1."""
    count, features = X.shape
    if not hasattr(X, "tocsr"):
        squares = np.sum((X - means) ** 2)
    else:
        absent = count - np.bincount(X.indices, minlength=features)
        squares = np.sum((X.data - means[X.indices]) ** 2) + np.sum(absent * means**2)
    return float(squares / (count - 1))
