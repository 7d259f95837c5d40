"""PCA: values of LAPACK and scikit-learn, centring, scaling, whitening."""

from __future__ import annotations

import copy
import dataclasses
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


@pytest.mark.parametrize("samples", ["rows", "columns"])
@pytest.mark.parametrize("with_scores", [False, True])
def test_a_plan_is_that_of_the_fit(cpu: purlin.Context, samples: Any, with_scores: bool) -> None:
    x = np.load(DATA / "offset_300x50.npy")
    given = x if samples == "rows" else x.T
    model = PCA(8, method="fused", samples=samples, context=cpu)
    planned = model.plan(given, with_scores=with_scores)
    assert not hasattr(model, "components_") and np.isnan(planned.frobenius)
    done = (model.fit_transform(given), model.info_)[1] if with_scores else model.fit(given).info_
    assert (planned.method, planned.passes, planned.host_bytes) == (done.method, done.passes, done.host_bytes)
    assert planned.reason == "asked for" and planned.host_bytes > 0
    with pytest.raises(ValueError, match="n_components: is 51, more than"):
        PCA(51, samples=samples, context=cpu).plan(given)
    with pytest.raises(ValueError, match="scale: is set without center"):
        PCA(5, center=False, scale=True, context=cpu).plan(x)


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
    with pytest.raises(purlin.InvalidArgument, match="^X: has NaN in row 0, column 0"):
        model.fit(np.full((9, 5), np.nan))

    def broken(*_: Any) -> None:
        raise KeyError("progress")

    model._progress = broken
    with pytest.raises(KeyError):
        model.fit(2 * x)
    model._progress = None
    assert model.components_ is components and np.array_equal(model.transform(x), scores)
    with pytest.raises(purlin.Numerical, match="total variance inf, beyond"):
        PCA(1, context=cpu).fit(1e200 * x)
    with pytest.raises(purlin.InvalidArgument, match="sign: is 'none' for principal components"):
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
        # Other values at these entries have no effect, either.
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


def graded(dtype: Any, exponents: Any, seed: int = 0, constant: bool = False) -> Any:
    """Samples of features 10^e."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((12, len(exponents))) + 3 * rng.standard_normal(len(exponents))
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(x.shape)
    if constant:
        x[:, 1] = x[0, 1]
    return (x * 10.0 ** np.array(exponents, float)).astype(dtype)


GRADES = [
    (np.float32, [36, -36, 0, 20, -20]),
    (np.complex64, [36, -36, 0, 20, -20]),
    (np.float64, [300, 180, 240, 170, 299]),
    (np.float64, [-300, -180, -240, -170, -299]),
    (np.complex128, [70, -70, 0, 40, -40]),
]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("samples", ["rows", "columns"])
@pytest.mark.parametrize("dtype, exponents", GRADES)
def test_features_of_any_size_come_back(
    cpu: purlin.Context, dtype: Any, exponents: Any, samples: Any, whiten: bool, constant: bool
) -> None:
    """From models and copies, to rounding of each feature's own deviation."""
    x = graded(dtype, exponents, constant=constant)
    given = x if samples == "rows" else x.T
    model = PCA(5, scale=True, whiten=whiten, samples=samples, context=cpu)
    scores = model.fit_transform(given)
    epsilon, unit = np.finfo(dtype).eps, np.abs(x).max(0)
    for each in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        found = each.transform(given)
        assert np.abs(found - scores).max() < 1e3 * epsilon
        back = each.inverse_transform(found)
        back = back if samples == "rows" else back.T
        assert back.dtype == x.dtype and (np.abs(back - x) <= 500 * epsilon * unit).all()
        # Scores that no transform made, each sample in its own unit.
        other = np.random.default_rng(1).standard_normal((5, 4)) * [1e-30, 1e-3, 1.0, 3.0]
        made = other.astype(dtype) if samples == "columns" else np.ascontiguousarray(other.T.astype(dtype))
        (ours, theirs) = (one.inverse_transform(made) for one in (each, model))
        off = np.abs(ours - theirs) if samples == "rows" else np.abs(ours - theirs).T
        assert (off <= 1e3 * epsilon * unit * 30).all()


def outcome(call: Any, data: Any) -> Any:
    """The result of a transform, or the class and the text of its error."""
    try:
        return call(data)
    except purlin.Error as error:
        return type(error), str(error)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("dtype, exponents", GRADES)
def test_copies_accept_what_models_accept(
    cpu: purlin.Context, dtype: Any, exponents: Any, scale: bool, whiten: bool
) -> None:
    """Samples and scores up to the ends of the range: the same results, or the same errors."""
    x = graded(dtype, exponents)
    if not scale and np.dtype(dtype) == np.float64:
        x = x * 10.0 ** (-np.sign(exponents[0]) * 160.0)
    try:
        model = PCA(3, scale=scale, whiten=whiten, context=cpu).fit(x)
    except purlin.Numerical:
        pytest.skip("variances are beyond the type")
    copied, rng, range_ = copy.deepcopy(model), np.random.default_rng(7), np.finfo(dtype)
    refused = accepted = 0
    for _ in range(60):
        size = 10.0 ** rng.uniform(np.log10(range_.tiny), np.log10(range_.max))
        scores = (rng.standard_normal((2, 3)) * min(size, float(range_.max) / 5)).astype(dtype)
        samples = np.abs(x).max(0) * rng.uniform(-1, 1, (2, 5)) * 10.0 ** rng.uniform(-3, 6)
        samples = np.clip(samples, -range_.max / 2, range_.max / 2).astype(dtype)
        for name, data in (("transform", samples), ("inverse_transform", scores)):
            ours, theirs = (outcome(getattr(one, name), data) for one in (copied, model))
            if isinstance(theirs, tuple):
                assert ours == theirs
                refused += 1
                continue
            assert not isinstance(ours, tuple), f"{name}: {ours}"
            accepted += 1
            # To rounding of the largest term of a number, which is at most this.
            if name == "transform":
                z = (samples - model.mean_) / model.scale_ if scale else samples.astype(copied._mean.dtype) - copied._mean
                limit = np.abs(z).sum(axis=1, keepdims=True) / np.where(copied._stretch() > 0, copied._stretch(), 1)
            else:
                limit = np.abs(scores) @ (copied._stretch()[:, None] * np.abs(model.components_) * model.scale_) + np.abs(model.mean_)
                limit = limit + np.abs(x).max(0)
            assert (np.abs(ours - theirs) <= 100 * range_.eps * limit + 30 * range_.smallest_subnormal).all(), name
    assert accepted > 20


def test_scores_are_refused_only_beyond_the_type(cpu: purlin.Context) -> None:
    """Intermediate quotients and products may overflow if scores do not. Errors name the numbers beyond the type's range."""
    x = np.array([[0.5, 0.5], [-0.5, -0.5], [0.1, -0.1], [-0.1, 0.1]])
    model = PCA(2, scale=True, context=cpu).fit(x)
    scale, sign = float(model.scale_[0]), float(np.sign(model.components_[1, 0]))
    samples = np.array([[1e308, 0.0], [3.0, 1.0], [0.4e308, 0.4e308], [3e-308, 0.0]])
    right = samples @ np.array([[1, sign], [1, -sign]]) * (np.sqrt(0.5) / scale)
    bad = np.array([[0.9e308, 0.0], [0.9e308, -0.9e308], [0.5e308, 0.3e308]])
    for each in (model, copy.deepcopy(model)):
        # Of each sample's largest number.
        for found, want in ((each.transform(samples), right), (each.inverse_transform(right), samples)):
            assert (np.abs(found - want) <= 1e-14 * np.abs(want).max(axis=1, keepdims=True)).all()
        with pytest.raises(purlin.Numerical) as raised:
            each.transform(bad)
        assert str(raised.value) == "numerical failure: scores: component 1 of sample 1 is beyond the range of float64"


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("form", ["array", "sparse"])
def test_large_scores_of_tiny_samples_come_back(cpu: purlin.Context, dtype: Any, form: str) -> None:
    """Transforms compute in the unit of the fit's samples, in which scores may overflow that are samples in range."""
    x = np.full((6, 1), 3e-300, dtype)
    scores = np.array([[1e307], [-1.7e308], [2.0], [5e-301], [0.0]], dtype)
    model = PCA(1, context=cpu).fit(x)
    given: Any = scores if form == "array" else pytest.importorskip("scipy.sparse").csr_matrix(scores)
    for each in (model, copy.deepcopy(model)):
        back = each.inverse_transform(given)
        np.testing.assert_allclose(back, scores * model.components_[0, 0] + model.mean_, rtol=1e-15)


FORMS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", FORMS)
def test_copies_take_sparse_matrices_of_any_form(cpu: purlin.Context, form: str, kind: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = np.random.default_rng(0).standard_normal((12, 5)) * (np.random.default_rng(1).random((12, 5)) < 0.5)
    x[0] = 1
    model = PCA(3, context=cpu)
    scores = model.fit_transform(x)
    turned = PCA(3, samples="columns", context=cpu).fit(x.T)
    for each in (turned, copy.deepcopy(turned)):
        with pytest.raises(purlin.NotSupported, match="^not supported: X: samples in the columns of a sparse matrix"):
            each.transform(getattr(sparse, f"{form}_{kind}")(x.T))
    for each in (model, copy.deepcopy(model)):
        for data, call, right in (
            (x, each.transform, scores),
            (np.rint(3 * scores), each.inverse_transform, model.inverse_transform(np.rint(3 * scores))),
        ):
            made = getattr(sparse, f"{form}_{kind}")(data)
            assert np.allclose(call(made), right, atol=1e-12)
            assert np.allclose(call(made.astype(np.int64) if data is not x else made), right, atol=1e-12)


@pytest.mark.parametrize("hidden", [0, 1])
def test_a_hidden_component_leaves_smaller_ones(cpu: purlin.Context, hidden: int) -> None:
    """The mean of one feature hides its deviation, but not the smaller one of another feature."""
    i = np.arange(40)
    x = np.empty((40, 2))
    x[:, hidden] = 1e10 + np.where(i % 2, -26, 26) * 2.0**-19
    x[:, 1 - hidden] = np.where(i // 2 % 2, -1e-5, 1e-5)
    model = PCA(2, whiten=True, context=cpu)
    fitted = model.fit_transform(x)
    copied = copy.deepcopy(model)
    for scores in (fitted, model.transform(x), copied.transform(x)):
        assert (scores[:, 0] == 0).all()
        np.testing.assert_allclose(scores[:, 1], np.sqrt(39 / 40) * np.sign(x[:, 1 - hidden]), rtol=1e-9)
    for each in (model, copied):
        np.testing.assert_allclose(each.inverse_transform(fitted)[:, 1 - hidden], x[:, 1 - hidden], rtol=1e-9)


@pytest.mark.parametrize("backend, zero", [("cpu", False), ("cuda", True)])
def test_copies_know_how_the_fit_rounded_means(monkeypatch: Any, cpu: purlin.Context, backend: str, zero: bool) -> None:
    """A GPU subtracts the means of a sparse matrix in its own precision, so that they hide more of a component."""
    sparse = pytest.importorskip("scipy.sparse")
    x = np.full((40, 1), 1000.0, np.float32) + np.where(np.arange(40) % 2, -2.0**-9, 2.0**-9).astype(np.float32)[:, None]
    found = dataclasses.replace(cpu.properties, backend=backend)
    monkeypatch.setattr(purlin.Context, "properties", found)
    model = PCA(1, whiten=True, context=cpu).fit(sparse.csr_array(x))
    for one in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (one.transform(x) == 0).all() == zero
    # Of an array the differences are exact enough on both.
    copied = copy.deepcopy(PCA(1, whiten=True, context=cpu).fit(x))
    np.testing.assert_allclose(copied.transform(x)[:, 0] ** 2, 39 / 40, rtol=1e-3)


def test_wrong_adjoints_are_refused(cpu: purlin.Context) -> None:
    x = np.random.default_rng(0).standard_normal((60, 9)) + np.arange(9.0)
    mean = x.mean(0, keepdims=True)
    # DIRECT would multiply with the adjoint for the means alone.
    right = PCA(3, method="fused", context=cpu)
    right.fit(purlin.Matrix.from_operator(lambda w: x @ w, lambda p: x.T @ p, x.shape, context=cpu))
    np.testing.assert_allclose(right.mean_, mean[0], rtol=1e-12)
    # The second one is wrong without the means alone.
    for other in (2 * x.T, 2 * (x - mean).T + mean.T):
        given = purlin.Matrix.from_operator(lambda w: x @ w, lambda p, other=other: other @ p, x.shape, context=cpu)
        with pytest.raises(purlin.InvalidArgument, match="adjoint is not that of A"):
            PCA(3, method="fused", context=cpu).fit(given)


def test_copies_take_rows_and_matrices(cpu: purlin.Context) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = np.random.default_rng(0).standard_normal((12, 5))
    model = PCA(3, context=cpu)
    scores = model.fit_transform(x)
    dense, stored = purlin.Matrix.of(x, context=cpu), purlin.Matrix.of(sparse.csr_matrix(x), context=cpu)
    for each in (model, copy.deepcopy(model)):
        for data in (iter(x), x.tolist(), dense, stored):
            assert np.allclose(each.transform(data), scores, atol=1e-13)
        assert np.allclose(each.transform(x > 0), each.transform(1.0 * (x > 0)), atol=1e-13)
    copied = copy.deepcopy(model)
    for other in ("x.npy", sparse.linalg.aslinearoperator(x)):
        with pytest.raises(purlin.NotSupported, match="X: is a .*, copies of models take arrays and sparse matrices"):
            copied.transform(other)


def test_copies_refuse_in_the_words_of_models(cpu: purlin.Context) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = np.random.default_rng(0).standard_normal((12, 5))
    broken = x.copy()
    broken[3, 1] = np.nan
    model = PCA(3, context=cpu).fit(x)
    scores = model.transform(x)
    cases = [
        ("transform", x[0], "X: has 1 dimensions, expected 2"),
        ("transform", x[:, :4], "X: has 4 features, 5 are needed"),
        ("transform", np.zeros((0, 4)), "X: has 4 features, 5 are needed"),
        ("transform", sparse.lil_matrix(x[:, :4]), "X: has 4 features, 5 are needed"),
        ("transform", x + 1j, "X: is complex128, which is not converted to float64"),
        ("transform", sparse.dok_matrix(x + 1j), "X: is complex128, float64 is needed"),
        ("transform", sparse.csr_matrix(x.astype(np.float32)), "X: is float32, float64 is needed"),
        ("transform", broken[3:4], "X: has NaN in row 0, column 1 (from 0)"),
        ("transform", sparse.csr_matrix(broken), "X: has NaN in row 3, column 1 (from 0)"),
        ("transform", np.ma.masked_array(x, mask=x > 1), f"X: masks {(x > 1).sum()} entries"),
        ("transform", object(), "X: is <object object at "),
        ("transform", x.astype("U8"), "X: is <U8, expected one of"),
        ("transform", x.astype(np.longdouble), "X: is float128, expected one of"),
        ("inverse_transform", x, "scores: has 5 components, 3 are needed"),
        ("inverse_transform", sparse.coo_matrix(x), "scores: has 5 components, 3 are needed"),
        ("inverse_transform", scores + 1j, "scores: is complex128, which is not converted to float64"),
        ("inverse_transform", scores * np.inf, f"scores: has {np.sign(scores[0, 0]) * np.inf} in row 0, column 0 (from 0)"),
    ]
    for each in (model, copy.deepcopy(model)):
        for call, data, text in cases:
            if np.dtype(np.longdouble) == np.float64 and "float128" in text:
                continue
            with pytest.raises((ValueError, TypeError)) as raised:
                getattr(each, call)(data)
            assert str(raised.value).startswith(text), f"{call}: {raised.value}"
        with pytest.raises(ValueError, match="X: is an iterator over no rows"):
            each.transform(iter(()))


def test_a_model_is_a_step_of_a_pipeline(cpu: purlin.Context) -> None:
    base = pytest.importorskip("sklearn.base")
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    x = np.random.default_rng(0).standard_normal((40, 8))
    model = PCA(3, whiten=True, seed=5, dtype=np.float64, context=cpu)
    want = model.fit_transform(preprocessing.StandardScaler().fit_transform(x), np.zeros(40))
    steps = pipeline.make_pipeline(preprocessing.StandardScaler(), base.clone(model))
    np.testing.assert_array_equal(steps.fit_transform(x, np.zeros(40)), want)
    np.testing.assert_allclose(steps.fit(x, np.zeros(40)).transform(x), want, atol=1e-12)
    copy_of_steps = base.clone(steps)
    assert copy_of_steps[1].context is cpu and not hasattr(copy_of_steps[1], "components_")
    copy_of_steps.set_params(pca__n_components=2, pca__oversampling=3)
    assert copy_of_steps.fit(x).transform(x).shape == (40, 2)
    for each in (steps[1], copy_of_steps[1], model):
        each.close()


def test_parameters_are_arguments(cpu: purlin.Context) -> None:
    x = np.random.default_rng(0).standard_normal((12, 5))
    model = PCA(3, scale=True, method="range", context=cpu).fit(x)
    wanted = {"n_components": 3, "center": True, "scale": True, "whiten": False, "samples": "rows", "progress": None}
    assert model.get_params() == {**wanted, "context": cpu, "method": "range"}
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params(deep=False) == {**wanted, "context": None, "method": "range"}
    with pytest.raises(ValueError, match="'colour' is not a parameter; there are block_columns, "):
        model.set_params(n_components=2, colour=1)
    with pytest.raises(ValueError, match="samples: is 'some'"):
        model.set_params(samples="some")
    assert model.transform(x).shape == (12, 3) and model.set_params() is model
    assert model.set_params(n_components=2, seed=7) is model and model.get_params()["seed"] == 7
    with pytest.raises(ValueError, match="not fitted"):
        model.transform(x)
    assert model.fit(x).transform(x).shape == (12, 2)
    model.close()
    with pytest.raises(purlin.InvalidHandle, match="^PCA: is closed"):
        model.transform(x)


def test_refusals_of_a_fit_name_its_arguments(cpu: purlin.Context) -> None:
    x = np.random.default_rng(0).standard_normal((12, 5))
    with pytest.raises(purlin.InvalidArgument, match="^n_components: is 20, more than"):
        PCA(20, context=cpu).fit(x)
    with pytest.raises(purlin.InvalidArgument, match="^n_components: is -1, less than 0"):
        PCA(-1, context=cpu).fit(x)
    with pytest.raises(purlin.InvalidArgument, match="^columns: is 20, more than"):
        purlin.rsvd.qb(x, 20, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="^Vt: is 3 x 5, 2 x 5 is needed"), purlin.rsvd.Rsvd(2, context=cpu) as session:
        session.error(x, x[:, :2], np.ones(2), x[:3])
