"""The rules by which PCA chooses a solver and a number of components: those of scikit-learn, whose words the messages have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._checked import how_many
from .._memory import Array
from .._numbers import real


def count_of(name: str, value: Any, least: int = 1) -> int:
    """A number of components."""
    count = how_many(name, value)
    if count < least:
        raise ValueError(f"{name}: is {count}, at least {least} is needed")
    return count


def number(name: str, value: Any) -> float:
    """A real number of at least 0."""
    found = real(name, value)
    if not found >= 0:
        raise ValueError(f"{name}: is {found}, at least 0 is needed")
    return found


def rule(n_components: Any, shape: tuple[int, int], sparse: bool) -> str:
    """The solver that "auto" stands for."""
    if sparse:
        return "arpack"
    samples, features = shape
    if features <= 1000 and samples >= 10 * features:
        return "covariance_eigh"
    if max(shape) <= 500 or n_components is None or isinstance(n_components, str):
        return "full"
    return "randomized" if 1 <= n_components < 0.8 * min(shape) else "full"


def exact_method(solver: str, shape: tuple[int, int], sparse: bool) -> str:
    """The method of purlin that is a solver without sketches, or "lanczos"."""
    if solver == "arpack":
        return "lanczos"
    samples, features = shape
    # Other matrices of covariances, and those of sparse data, GRAM does not decompose as a whole (src/rsvd/algorithm/gram.rs).
    whole = features <= 512 or (features <= 4096 and samples // 50 >= features)
    return "gram" if solver == "covariance_eigh" and whole and not sparse else "direct"


def exact_count(n_components: Any, solver: str, samples: int, features: int) -> int | float | str:
    """The number of components that is asked for, within its limits, or a fraction, or "mle"."""
    most = min(samples, features)
    exact = solver in ("full", "covariance_eigh")
    limits = f"min(n_samples, n_features)={most} with svd_solver={solver!r}"
    if n_components is None:
        if solver == "arpack" and most == 1:
            raise ValueError(f"n_components: is None, {limits} has none")
        return most - (solver == "arpack")
    if isinstance(n_components, str):
        if n_components != "mle":
            raise ValueError(f"n_components: is {n_components!r}, expected a number, 'mle' or None")
        if not exact:
            raise ValueError(f"n_components={n_components!r} cannot be a string with svd_solver={solver!r}")
        if samples < features:
            raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
        return n_components
    if isinstance(n_components, (float, np.floating)) and exact:
        if not 0 < n_components < 1:
            raise ValueError(f"n_components: is {n_components}, expected an integer or a fraction between 0 and 1")
        return float(n_components)
    least = 0 if exact else 1
    if not least <= n_components <= most:
        raise ValueError(f"n_components={n_components} must be between {least} and {limits}")
    if solver == "arpack" and n_components == most:
        raise ValueError(f"n_components={n_components} must be strictly less than {limits}")
    return how_many("n_components", n_components)


def minka(variances: Array, samples: int) -> int:
    """The number of components whose evidence is largest: T. P. Minka, Automatic choice of dimensionality for PCA, NIPS 2000,
    equation 30, as scikit-learn evaluates it."""
    features = len(variances)
    spectrum = variances.astype(np.float64)
    # scikit-learn gives no components no evidence, which is also the answer of one feature.
    scores = [-np.inf, *(_evidence(spectrum, rank, samples) for rank in range(1, features))]
    return int(np.argmax(scores))


def _evidence(spectrum: Array, rank: int, samples: int) -> float:
    """Logarithm of the evidence for `rank` components. A variance below 1e-15 has none."""
    if spectrum[rank - 1] < 1e-15:
        return -np.inf
    features = len(spectrum)
    half = (features - np.arange(rank)) / 2
    volume = -rank * np.log(2) + sum(math.lgamma(h) - math.log(math.pi) * h for h in half)
    likelihood = -np.sum(np.log(spectrum[:rank])) * samples / 2
    noise = max(float(np.sum(spectrum[rank:])) / (features - rank), 1e-15)
    rest = -np.log(noise) * samples * (features - rank) / 2
    free = features * rank - rank * (rank + 1) / 2
    prior = np.log(2 * np.pi) * (free + rank) / 2
    levels = np.where(np.arange(features) < rank, spectrum, noise)
    first, second = np.triu_indices(features, 1)
    kept = first < rank
    first, second = first[kept], second[kept]
    gaps = (spectrum[first] - spectrum[second]) * (1 / levels[second] - 1 / levels[first])
    # Of equal variances the evidence is not defined: the logarithm of a small number stands for that of 0.
    curvature = np.sum(np.log(np.maximum(gaps, 1e-30)) + np.log(samples))
    return float(volume + likelihood + rest + prior - curvature / 2 - rank * np.log(samples) / 2)
