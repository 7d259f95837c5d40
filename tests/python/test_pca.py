"""PCA: values of LAPACK and scikit-learn, centring, scaling, whitening."""

from __future__ import annotations

import copy
import gzip
import io
import json
import pickle
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


def test_a_fit_that_fails_leaves_the_model_before(cpu: purlin.Context) -> None:
    x = np.random.default_rng(0).random((9, 5))
    model = PCA(2, context=cpu).fit(x)
    scores, components = model.transform(x), model.components_
    with pytest.raises(purlin.InvalidArgument, match="not finite"):
        model.fit(np.full((9, 5), np.nan))

    def broken(*_: Any) -> None:
        raise KeyError("progress")

    model._progress = broken
    with pytest.raises(KeyError):
        model.fit(2 * x)
    model._progress = None
    assert model.components_ is components and np.array_equal(model.transform(x), scores)
    with pytest.raises(purlin.Numerical, match="variances beyond"):
        PCA(1, context=cpu).fit(1e200 * x)
    with pytest.raises(purlin.InvalidArgument, match="sign: is NONE for principal components"):
        PCA(2, sign="none", context=cpu).fit(x)
    unfitted = PCA(2, context=cpu)
    with pytest.raises(purlin.InvalidArgument):
        unfitted.fit(np.full((9, 5), np.nan))
    with pytest.raises(ValueError, match="is not fitted"):
        unfitted.transform(x)


@pytest.mark.parametrize("samples", ["rows", "columns"])
def test_no_samples_have_no_scores(cpu: purlin.Context, samples: Any) -> None:
    x = np.random.default_rng(0).random((9, 5))
    model = PCA(2, samples=samples, context=cpu).fit(x if samples == "rows" else x.T)
    for one in (model, pickle.loads(pickle.dumps(model))):
        none = np.zeros((0, 5)) if samples == "rows" else np.zeros((5, 0))
        assert one.transform(none).shape == ((0, 2) if samples == "rows" else (2, 0))
        none = np.zeros((0, 2)) if samples == "rows" else np.zeros((2, 0))
        assert one.inverse_transform(none).shape == ((0, 5) if samples == "rows" else (5, 0))


def test_a_copy_refuses_what_the_model_refuses(cpu: purlin.Context) -> None:
    x = np.random.default_rng(0).random((9, 5))
    model = PCA(2, context=cpu).fit(x)
    broken = x.copy()
    broken[3, 1] = np.nan
    for one in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.allclose(one.transform(x), model.transform(x), atol=1e-14)
        for wrong in (x + 1j, broken):
            with pytest.raises((purlin.InvalidArgument, purlin.NotSupported)):
                one.transform(wrong)


def test_entries_at_one_place_are_added(cpu: purlin.Context) -> None:
    rng = np.random.default_rng(0)
    rows, cols, values = np.sort(rng.integers(0, 40, 240)), rng.integers(0, 6, 240), rng.random(240)
    pointers = np.r_[0, np.cumsum(np.bincount(rows, minlength=40))]
    stored = purlin.Matrix.csr(pointers, cols, values, (40, 6), context=cpu)
    dense = np.zeros((40, 6))
    np.add.at(dense, (rows, cols), values)
    for scale in (False, True):
        found, right = (PCA(3, method="range", power_iterations=6, scale=scale, context=cpu).fit(m) for m in (stored, dense))
        for name in ("singular_values_", "explained_variance_ratio_", "scale_", "total_variance_"):
            assert np.allclose(getattr(found, name), getattr(right, name), rtol=1e-12), name


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("value", [0.7e8, 0.7e20, 1.7e18, 0.7e35])
@pytest.mark.parametrize("form", ["array", "csr", "function"])
def test_constant_features_contribute_nothing(cpu: purlin.Context, dtype: str, value: float, form: str) -> None:
    x = np.random.default_rng(0).standard_normal((20, 4)).astype(dtype)
    x[:, 1] = value
    # Nearly constant where rounding allows it.
    if form == "array" and dtype != "f4":
        x[::2, 1] *= 1 + 2.0**-52

    def given(data: Any) -> Any:
        if form == "csr":
            return purlin.Matrix.csr(np.arange(0, 81, 4), np.tile(np.arange(4), 20), data.ravel(), data.shape, context=cpu)
        if form == "function":
            return purlin.blocks.Source.from_function(lambda where: data[where], data.shape, data.dtype, context=cpu)
        return data

    tolerance = 1e-4 if dtype == "f4" else 1e-11
    for k, whiten in ((2, False), (2, True), (4, False)):
        model = PCA(k, scale=True, whiten=whiten, method="auto", context=cpu)
        scores = model.fit_transform(given(x))
        assert model.constant_.tolist() == [False, True, False, False] and model.scale_[1] == 1
        if whiten:
            assert np.allclose(scores.std(0, ddof=1), 1, atol=tolerance)
        other = x.copy()
        other[:, 1] = -np.finfo(dtype).max
        copied = pickle.loads(pickle.dumps(model))
        assert np.abs(model.transform(given(x)) - scores).max() < tolerance
        assert np.abs(copied.transform(x) - scores).max() < tolerance
        # Other values there do not count, either.
        for one in (model, copied):
            assert np.abs(one.transform(other) - scores).max() < tolerance
            assert np.allclose(one.inverse_transform(np.ones((1, k), dtype))[0, 1], model.mean_[1], rtol=1e-6)


def test_copies_of_whitened_models_of_large_means(cpu: purlin.Context) -> None:
    x = (np.random.default_rng(0).standard_normal((20, 4)) + 1e6) * 1e149
    model = PCA(2, whiten=True, context=cpu)
    scores = model.fit_transform(x)
    copied = pickle.loads(pickle.dumps(model))
    assert np.abs(scores).max() > 1 and np.abs(copied.transform(x) - scores).max() < 1e-9
    assert np.allclose(copied.inverse_transform(scores), model.inverse_transform(scores), rtol=1e-12)
