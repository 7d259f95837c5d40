"""Numbers of components that PCA of `purlin.sklearn` finds itself, beside scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest

import purlin

pytest.importorskip("sklearn", minversion="1.6", reason="needs scikit-learn 1.6")

from sklearn import decomposition
from sklearn.datasets import load_digits

from purlin.sklearn import PCA


@pytest.fixture(autouse=True)
def default_on_the_cpu(cpu: purlin.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimators without a context compute on the CPU, even if the machine has a GPU."""
    monkeypatch.setattr(purlin._context, "_default", cpu)


def test_fractions_and_estimates_of_the_number_of_components() -> None:
    x = load_digits().data[:300]
    for solver in ("auto", "full", "covariance_eigh"):
        for wanted in (0.3, 0.95, 0.999999, "mle", None, 0):
            # Nine pixels never change, so the last nine variances are rounding. Those of scikit-learn's "covariance_eigh" may be
            # above 1e-15, which "mle" then counts.
            reference = "full" if wanted == "mle" else solver
            ours = PCA(wanted, svd_solver=solver).fit(x)
            peer = decomposition.PCA(wanted, svd_solver=reference).fit(x)
            assert ours.n_components_ == peer.n_components_ == len(ours.components_), (solver, wanted)
            assert ours.noise_variance_ == pytest.approx(peer.noise_variance_, rel=1e-9, abs=1e-12)
            scores = ours.transform(x)
            assert scores.shape == (300, ours.n_components_)
            np.testing.assert_allclose(ours.fit_transform(x), scores, atol=1e-10)
            # scikit-learn refuses scores without columns.
            wanted_samples = peer.inverse_transform(peer.transform(x)) if wanted != 0 else np.tile(x.mean(axis=0), (300, 1))
            np.testing.assert_allclose(ours.inverse_transform(scores), wanted_samples, atol=1e-9)
    for data in (x[:, 12:13], np.ones((30, 1)), np.ones((30, 3))):
        ours, peer = (kind("mle").fit(data) for kind in (PCA, decomposition.PCA))
        assert ours.n_components_ == peer.n_components_ == 0 and ours.noise_variance_ == pytest.approx(peer.noise_variance_)
    with pytest.raises(ValueError, match="^n_components='mle' is only supported if n_samples >= n_features$"):
        PCA("mle").fit(x[:20])
    for solver in ("arpack", "randomized"):
        with pytest.raises(ValueError, match="n_components=0.5 must be between 1 and"):
            PCA(0.5, svd_solver=solver).fit(x)
    with pytest.raises(ValueError, match="n_components: is 2.5, expected an integer or a fraction"):
        PCA(2.5, svd_solver="full").fit(x)
