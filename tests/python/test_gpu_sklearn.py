"""Estimators for scikit-learn on a GPU, against the CPU. Skipped without a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purlin

pytestmark = pytest.mark.skipif(not purlin.devices(), reason="no GPU")

pytest.importorskip("sklearn", minversion="1.6", reason="needs scikit-learn 1.6")

import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs

from purlin.sklearn import PCA, RobustPCA, SpectralClustering, SpectralEmbedding, TruncatedSVD


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "model",
    [
        PCA(5),
        PCA(5, svd_solver="full", whiten=True),
        PCA(0.8, svd_solver="covariance_eigh"),
        PCA(5, svd_solver="arpack"),
        PCA(5, svd_solver="randomized", iterated_power=12),
        TruncatedSVD(5, n_iter=12),
        TruncatedSVD(5, algorithm="arpack"),
    ],
    ids=repr,
)
def test_components(model: Any, stored: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((n, 40)))[0] for n in (900, 60))
    x = stored(((left * 0.6 ** np.arange(40)) @ right.T + 0.01 * (rng.random(60) > 0.5)).astype(dtype))
    there, here = (clone(model).set_params(context=place).fit(x) for place in ("cuda", "cpu"))
    unit = 1e-9 if dtype == np.float64 else 1e-3
    assert there.components_.dtype == dtype and there.components_.shape == here.components_.shape
    np.testing.assert_allclose(there.singular_values_, here.singular_values_, atol=unit)
    np.testing.assert_allclose(there.components_, here.components_, atol=unit * 10)
    np.testing.assert_allclose(there.explained_variance_ratio_, here.explained_variance_ratio_, atol=unit)
    scale = np.abs(here.transform(x)).max()
    np.testing.assert_allclose(there.transform(x), here.transform(x), atol=unit * 10 * scale)


def test_robust_components_and_graphs() -> None:
    rng = np.random.default_rng(1)
    low = rng.standard_normal((150, 4)) @ rng.standard_normal((4, 60))
    x = low + np.where(rng.random(low.shape) < 0.05, 20 * rng.standard_normal(low.shape), 0)
    robust = RobustPCA(context="cuda").fit(x)
    assert np.abs(robust.low_rank_ - low).max() < 1e-5 * np.abs(low).max()
    x, truth = make_blobs(300, 3, centers=9 * np.eye(3), cluster_std=1.5, random_state=0)
    for solver in (None, "arpack"):
        there, here = (
            SpectralEmbedding(3, affinity="rbf", gamma=0.05, eigen_solver=solver, context=place).fit(x)  # type: ignore[arg-type]
            for place in ("cuda", "cpu")
        )
        np.testing.assert_allclose(there.embedding_, here.embedding_, atol=1e-8)
        for labels in ("kmeans", "cluster_qr"):
            model = SpectralClustering(3, gamma=0.05, assign_labels=labels, eigen_solver=solver, context="cuda")  # type: ignore[arg-type]
            pairs = set(zip(model.fit_predict(x).tolist(), truth.tolist()))
            assert len(pairs) == 3
