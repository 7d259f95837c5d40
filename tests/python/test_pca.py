"""PCA: values of LAPACK and scikit-learn, centring, scaling, whitening."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import purlin
from purlin.pca import PCA

DATA = ROOT / "tests" / "golden" / "rsvd"
GOLDEN: dict[str, Any] = json.loads((DATA / "golden.json").read_text())


def centred(x: Any) -> tuple[Any, Any, Any]:
    return np.linalg.svd(x - x.mean(0), full_matrices=False)


@pytest.mark.parametrize("samples", ["rows", "columns"])
def test_pca_of_data_far_from_the_origin(cpu: purlin.Context, samples: Any) -> None:
    x = np.load(DATA / "offset_300x50.npy")
    expected = np.array(GOLDEN["offset_300x50"]["pca_centred_singular_values"])[:8]
    given = x if samples == "rows" else x.T
    model = PCA(8, power_iterations=6, samples=samples, context=cpu)
    scores = model.fit_transform(given)
    np.testing.assert_allclose(model.singular_values_, expected, rtol=1e-9)
    np.testing.assert_allclose(model.mean_, x.mean(0), rtol=1e-13)
    np.testing.assert_allclose(model.explained_variance_, expected**2 / 299, rtol=1e-9)
    np.testing.assert_allclose(model.total_variance_, x.var(0, ddof=1).sum(), rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_ * model.total_variance_, model.explained_variance_)
    assert model.components_.shape == (8, 50) and (model.n_samples_, model.n_features_in_) == (300, 50)
    assert (model.scale_ == 1).all() and model.noise_variance_ >= 0
    by_hand = (x - x.mean(0)) @ model.components_.T
    np.testing.assert_allclose(scores, by_hand if samples == "rows" else by_hand.T, atol=1e-9)
    np.testing.assert_allclose(model.transform(given), scores, atol=1e-9)
    back = model.inverse_transform(scores)
    assert np.linalg.norm(back - given) <= 1.001 * np.linalg.norm(centred(x)[1][8:])
    model.close()


def test_pca_scaled_and_whitened(cpu: purlin.Context) -> None:
    x = np.load(DATA / "offset_300x50.npy") * np.linspace(1, 5, 50)
    model = PCA(5, scale=True, whiten=True, power_iterations=6, context=cpu)
    scores = model.fit_transform(x)
    np.testing.assert_allclose(model.scale_, x.std(0, ddof=1), rtol=1e-9)
    np.testing.assert_allclose(np.cov(scores.T), np.eye(5), atol=1e-7)
    s = np.linalg.svd((x - x.mean(0)) / x.std(0, ddof=1), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, s[:5], rtol=1e-8)
    full = PCA(50, scale=True, whiten=True, context=cpu).fit(x)
    np.testing.assert_allclose(full.inverse_transform(full.transform(x)), x, rtol=1e-6)


def test_pca_is_fitted_first(cpu: purlin.Context) -> None:
    model = PCA(3, context=cpu)
    with pytest.raises(ValueError, match="not fitted"):
        model.transform(np.zeros((4, 5)))
    model.fit(np.random.default_rng(0).standard_normal((30, 6)))
    with pytest.raises(purlin.InvalidArgument):
        model.transform(np.zeros((4, 5)))


def test_pca_of_digits(cpu: purlin.Context) -> None:
    digits = np.load(io.BytesIO(gzip.decompress((DATA / "digits_1797x64_u8.npy.gz").read_bytes())))
    golden = GOLDEN["digits_1797x64"]
    model = PCA(20, power_iterations=40, dtype=np.float64, context=cpu).fit(digits)
    np.testing.assert_allclose(model.singular_values_, golden["pca_singular_values"], rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, golden["pca_explained_variance_ratio"], rtol=1e-10)
