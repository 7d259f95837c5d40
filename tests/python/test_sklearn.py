"""Estimators for scikit-learn: its checks, accuracy against LAPACK, attributes against its own classes, refusals."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin

pytest.importorskip("sklearn", minversion="1.6", reason="needs scikit-learn 1.6")

import scipy.sparse as sp
from sklearn import cluster, decomposition
from sklearn.base import clone
from sklearn.cluster import SpectralClustering as PeerClustering
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import SpectralEmbedding as PeerEmbedding
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph, sort_graph_by_row_values
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.extmath import svd_flip

from purlin.sklearn import PCA, RobustPCA, SpectralClustering, SpectralEmbedding, TruncatedSVD

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")


@pytest.fixture(autouse=True)
def default_on_the_cpu(cpu: purlin.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimators without a context compute on the CPU, even if the machine has a GPU."""
    monkeypatch.setattr(purlin._context, "_default", cpu)


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_does_not_import_scikit_learn() -> None:
    assert run("import sys, purlin; print('sklearn' in sys.modules, hasattr(purlin, 'sklearn'))").split() == ["False", "False"]


def test_a_missing_or_old_scikit_learn_is_named() -> None:
    for given, text in (
        ("None", "purlin.sklearn: scikit-learn is not installed; `pip install 'scikit-learn>=1.6'` installs it"),
        ("types.SimpleNamespace(__version__='1.5.2')", "purlin.sklearn: scikit-learn is 1.5.2, at least 1.6 is needed"),
    ):
        code = f"import sys, types\nsys.modules['sklearn'] = {given}\ntry: import purlin.sklearn\nexcept ImportError as e: print(e)"
        assert run(code).strip() == text


@pytest.mark.parametrize(
    "estimator",
    [
        PCA(),
        PCA(1, whiten=True, svd_solver="arpack", context="cpu"),
        TruncatedSVD(),
        TruncatedSVD(1, algorithm="arpack"),
        RobustPCA(),
        SpectralEmbedding(),
        SpectralEmbedding(1, affinity="rbf"),
        SpectralClustering(),
        SpectralClustering(assign_labels="cluster_qr"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_the_checks_of_scikit_learn(estimator: Any) -> None:
    expected = {}
    if getattr(estimator, "assign_labels", None) == "cluster_qr":
        reason = "sets n_components=1; pivoted QR makes as many clusters as there are vectors, and refuses other numbers"
        expected = {"check_methods_sample_order_invariance": reason}
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=expected)
    others = {(one["status"], one["check_name"]) for one in results if one["status"] != "passed"}
    # One check skips itself where arrays of other packages are not enabled in SciPy.
    assert others - {("skipped", "check_array_api_input")} == {("xfail", name) for name in expected}
    assert len(results) > 35


def orthonormal(rng: np.random.Generator, m: int, n: int) -> Any:
    return np.linalg.qr(rng.standard_normal((m, n)))[0]


def graded(rng: np.random.Generator) -> Any:
    return (orthonormal(rng, 80, 20) * np.logspace(0, -14, 20)) @ orthonormal(rng, 20, 20).T


def samples() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(0)
    yield "graded", graded(rng)
    yield "graded far from 0", graded(rng) + 3
    yield "wide", rng.standard_normal((20, 90))
    yield "tall", rng.standard_normal((500, 12)) + 100
    constant = rng.standard_normal((40, 8))
    constant[:, 3] = 1e6
    yield "constant", constant
    yield "deficient", rng.standard_normal((40, 5)) @ rng.standard_normal((5, 25))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("name", "x"), list(samples()), ids=[name for name, _ in samples()])
def test_pca_is_that_of_lapack(name: str, x: Any, solver: Any) -> None:
    for dtype in (np.float64, np.float32):
        expect_lapack(x.astype(dtype), solver, dtype)


def expect_lapack(x: Any, solver: Any, dtype: Any) -> None:
    """All components, with "arpack" all but one."""
    count = min(x.shape) - (solver == "arpack")
    model = PCA(count, svd_solver=solver).fit(x)
    centred = x.astype(np.float64) - x.mean(axis=0, dtype=np.float64)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    unit = 64 * np.finfo(dtype).eps
    for found in (model.components_, model.singular_values_, model.explained_variance_, model.mean_, model.transform(x)):
        assert found.dtype == dtype
    assert np.abs(model.singular_values_ - values[:count]).max() <= unit * values[0]
    assert np.abs(model.components_ @ model.components_.T - np.eye(count)).max() <= unit
    variance = values**2 / (len(x) - 1)
    assert np.abs(model.explained_variance_ - variance[:count]).max() <= unit * variance[0]
    assert np.abs(model.explained_variance_ratio_ - (variance / variance.sum())[:count]).max() <= unit
    assert np.abs(model.mean_ - x.mean(axis=0, dtype=np.float64)).max() <= unit * np.abs(x).max()
    assert model.n_components_ == count and model.n_samples_ == len(x) and model.n_features_in_ == x.shape[1]
    # A vector is as accurate as its value is apart from the others, and from 0 where it may have a null space.
    flipped = svd_flip(left, right, u_based_decision=False)[1]
    for j in range(count):
        others = np.append(np.delete(values, j), [0] * (x.shape[1] > len(x)))
        gap = np.abs(others - values[j]).min() / values[0]
        if gap > 1e4 * unit:
            assert np.abs(model.components_[j] - flipped[j]).max() <= unit / gap
    rest = values[count] if count < len(values) else 0
    error = np.abs(model.inverse_transform(model.transform(x)) - x).max()
    assert error <= rest + unit * (values[0] + np.abs(x).max())
    scores = model.fit_transform(x)
    assert np.abs(scores - model.transform(x)).max() <= unit * values[0]
    np.testing.assert_array_equal(svd_flip(None, model.components_, u_based_decision=False)[1], model.components_)


@pytest.mark.parametrize("shape", [(700, 600), (600, 700), (5300, 530), (26500, 520)])
def test_few_of_many_components_of_noise(shape: tuple[int, int]) -> None:
    """Where a sketch would not do: all singular values are nearly equal."""
    x = np.random.default_rng(13).standard_normal(shape).astype(np.float32)
    covariance = np.cov(x.T, dtype=np.float64)
    wanted = np.linalg.eigvalsh(covariance)[::-1][:3]
    for solver in ("full", "covariance_eigh", "arpack"):
        model = PCA(3, svd_solver=solver).fit(x)  # type: ignore[arg-type]
        np.testing.assert_allclose(model.explained_variance_, wanted, rtol=1e-5)
    assert np.abs(PCA(3, svd_solver="randomized").fit(x).explained_variance_ / wanted - 1).max() > 1e-3


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_are_those_of_scikit_learn(solver: Any) -> None:
    x = load_digits().data
    ours, peer = (kind(12, svd_solver=solver, random_state=3, iterated_power="auto").fit(x) for kind in (PCA, decomposition.PCA))
    accuracy = 1e-3 if solver == "randomized" else 1e-10
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        mine, other = getattr(ours, name), getattr(peer, name)
        assert mine.dtype == other.dtype and mine.shape == other.shape
        if name != "components_" or solver != "randomized":
            np.testing.assert_allclose(mine, other, rtol=accuracy, atol=accuracy)
    for name in ("n_components_", "n_samples_", "n_features_in_"):
        assert getattr(ours, name) == getattr(peer, name)
    assert ours.noise_variance_ == pytest.approx(peer.noise_variance_, rel=accuracy)
    assert list(ours.get_feature_names_out()) == list(peer.get_feature_names_out())
    np.testing.assert_allclose(ours.get_covariance(), peer.get_covariance(), atol=accuracy * 100)
    if solver != "randomized":
        np.testing.assert_allclose(ours.transform(x), peer.transform(x), atol=1e-9)
        np.testing.assert_allclose(ours.get_precision(), peer.get_precision(), rtol=1e-6, atol=1e-9)
        assert ours.score(x) == pytest.approx(peer.score(x), rel=1e-9)


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("stored", [sp.csr_array, sp.csc_matrix, np.asarray])
def test_truncated_svd_is_that_of_scikit_learn(algorithm: Any, dtype: Any, stored: Any) -> None:
    rng = np.random.default_rng(1)
    dense = ((orthonormal(rng, 90, 40) * 0.5 ** np.arange(40)) @ orthonormal(rng, 40, 40).T).astype(dtype)
    x = stored(dense)
    ours = TruncatedSVD(6, algorithm=algorithm)
    scores = ours.fit_transform(x)
    peer = decomposition.TruncatedSVD(6, algorithm="arpack").fit(dense.astype(np.float64))
    unit = 64 * np.finfo(dtype).eps
    assert scores.dtype == dtype and ours.components_.dtype == dtype
    np.testing.assert_allclose(ours.singular_values_, peer.singular_values_, atol=unit)
    np.testing.assert_allclose(ours.components_, peer.components_, atol=unit * 64)
    np.testing.assert_allclose(ours.explained_variance_, peer.explained_variance_, atol=unit)
    np.testing.assert_allclose(ours.explained_variance_ratio_, peer.explained_variance_ratio_, atol=unit * 4)
    np.testing.assert_allclose(ours.transform(x), scores, atol=unit)
    np.testing.assert_allclose(ours.inverse_transform(scores), dense, atol=ours.singular_values_[-1])
    assert ours.n_features_in_ == 40 and list(ours.get_feature_names_out())[-1] == "truncatedsvd5"


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_sparse_data_of_all_kinds(kind: str, container: str) -> None:
    rng = np.random.default_rng(2)
    dense = rng.random((60, 25)) * (rng.random((60, 25)) < 0.3)
    x = getattr(sp, f"{kind}_{container}")(dense)
    for model in (PCA(5), PCA(5, svd_solver="full"), PCA(5, method="direct"), TruncatedSVD(5, method="direct")):
        of_sparse, of_dense = clone(model).fit(x), clone(model).fit(dense)
        np.testing.assert_allclose(of_sparse.components_, of_dense.components_, atol=1e-10)
        np.testing.assert_allclose(of_sparse.explained_variance_ratio_, of_dense.explained_variance_ratio_, atol=1e-12)
        np.testing.assert_allclose(of_sparse.transform(x), of_dense.transform(dense), atol=1e-10)
    weights = np.abs(dense[:25] + dense[:25].T)
    stored = getattr(sp, f"{kind}_{container}")(weights)
    embeddings = [SpectralEmbedding(3, affinity="precomputed").fit_transform(each) for each in (weights, stored)]
    np.testing.assert_allclose(*embeddings, atol=1e-9)


@pytest.mark.parametrize("mean", [1.0, 1e2, 1e3, 1e6])
def test_sparse_samples_with_means_above_their_deviations(mean: float) -> None:
    """Products with the centred matrix are as inexact as the means are large."""
    x = np.random.default_rng(0).standard_normal((200, 30)) * 0.9 ** np.arange(30)
    exact = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)[:3]
    found = PCA(3).fit(sp.csr_matrix(x + mean))
    np.testing.assert_allclose(found.singular_values_, exact, atol=1e-14 * mean * 200)
    same = PCA(2).fit(sp.csr_matrix(np.full((20, 5), mean)))
    assert not same.singular_values_.any()
    np.testing.assert_allclose(same.components_ @ same.components_.T, np.eye(2), atol=1e-14)


def test_entries_at_one_place_are_added() -> None:
    x = sp.csr_array((np.array([1.0, 2, 4, 5, 6]), np.array([1, 1, 0, 2, 1]), np.array([0, 2, 4, 5])), shape=(3, 3))
    for model in (PCA(2), PCA(2, svd_solver="arpack"), TruncatedSVD(2)):
        ours, dense = clone(model).fit(x), clone(model).fit(x.toarray())
        np.testing.assert_allclose(ours.explained_variance_ratio_, dense.explained_variance_ratio_, atol=1e-13)
    assert x.nnz == 5


@pytest.mark.parametrize("solver", SOLVERS)
def test_whitening_and_covariance(solver: Any) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 8)) + 1e-3 * rng.standard_normal((400, 8)) + 7
    model = PCA(5, svd_solver=solver, whiten=True).fit(x)
    scores = model.transform(x)
    np.testing.assert_allclose(scores.std(axis=0, ddof=1), 1, rtol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(scores), x, atol=0.01)
    np.testing.assert_allclose(model.get_covariance(), np.cov(x.T), atol=1e-5)
    np.testing.assert_allclose(model.get_covariance() @ model.get_precision(), np.eye(8), atol=1e-5)
    assert model.score(x) == pytest.approx(PCA(5, svd_solver=solver).fit(x).score(x))
    # Along a direction without variance whitened scores are 0.
    flat = np.c_[x[:, :2], np.full(400, 3.0)]
    assert np.all(PCA(3, whiten=True, svd_solver="full").fit_transform(flat)[:, 2] == 0)


def test_constant_data() -> None:
    model = PCA(2).fit(np.full((5, 3), 2.5))
    assert np.all(model.singular_values_ == 0) and np.all(model.transform(np.full((2, 3), 2.5)) == 0)
    assert np.all(TruncatedSVD(1).fit(np.zeros((5, 3))).explained_variance_ == 0)


def test_copies_and_pickles(cpu: purlin.Context) -> None:
    x = load_digits().data[:120]
    for model in (
        PCA(6, context=cpu),
        PCA(6, svd_solver="arpack", context=cpu),
        TruncatedSVD(6, context=cpu),
        RobustPCA(6, context=cpu, options={"max_rank": 30}, max_iter=5),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = model.fit(x).transform(x)
        again = pickle.loads(pickle.dumps(model))
        assert again.context is None and model.context is cpu
        np.testing.assert_allclose(again.transform(x), scores, atol=1e-10)
        np.testing.assert_array_equal(again.components_, model.components_)
        fresh = clone(model)
        assert fresh.context is cpu and not hasattr(fresh, "components_")
        assert fresh.get_params() == model.get_params() and fresh.options is not model.options or model.options is None
        assert clone(model.set_params(context="cpu")).context == "cpu"
        assert pickle.loads(pickle.dumps(model)).context == "cpu"
    with purlin.Context("cpu") as other:
        group = purlin.Group([cpu, other])
        model = PCA(2, options={"group": group})
        assert clone(model).options == {"group": group} and pickle.loads(pickle.dumps(model)).options == {}
        group.close()
    graph = SpectralClustering(3, random_state=0).fit(x[:40] / 16)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(graph)).labels_, graph.labels_)


def test_pipelines_and_searches() -> None:
    x, y = load_digits(return_X_y=True)
    x, y = x[:400], y[:400]
    steps = make_pipeline(StandardScaler(), PCA(random_state=0), LinearSVC(random_state=0))
    search = GridSearchCV(steps, {"pca__n_components": [2, 20]}, cv=2, n_jobs=2)
    search.fit(x, y)
    assert search.best_score_ > 0.85 and search.best_params_["pca__n_components"] == 20
    assert search.best_estimator_[1].components_.shape[1] == 64
    named = make_pipeline(TruncatedSVD(3), PCA(2)).set_output(transform="default").fit(x)
    assert list(named.get_feature_names_out()) == ["pca0", "pca1"]


def test_the_example_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).resolve().parents[2] / "bindings" / "python" / "README.md").read_text()
    (example,) = [part for part in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "purlin.sklearn" in part]
    names: dict[str, Any] = {}
    exec(example, names)
    assert capsys.readouterr().out.strip() == re.findall(r"# (.*)", example)[0]
    assert len(set(names["labels"])) == 10


@pytest.mark.parametrize(
    "method", ["auto", "basic", "fifo", "row_fused", "gram", "brsvd", "range", "fused", "merge", "krylov", "one_pass", "direct"]
)
def test_methods_of_the_randomized_algorithm(method: Any) -> None:
    rng = np.random.default_rng(11)
    x = (orthonormal(rng, 200, 50) * 0.3 ** np.arange(50)) @ orthonormal(rng, 50, 50).T
    for model in (PCA(4, svd_solver="randomized", method=method), TruncatedSVD(4, method=method)):
        exact = np.linalg.svd(x - x.mean(axis=0) if isinstance(model, PCA) else x, compute_uv=False)[:4]
        scores = model.fit_transform(x)
        accuracy = 1e-3 if method == "one_pass" else 1e-7
        # The powers of BRSVD are not orthonormalized, so that small values are lost (docs/rsvd.md).
        count = 2 if method == "brsvd" else 4
        np.testing.assert_allclose(model.singular_values_[:count], exact[:count], rtol=accuracy)
        np.testing.assert_allclose(model.transform(x), scores, atol=1e-14)
        assert model.info_.method == method or method == "auto"


def test_random_states() -> None:
    x = np.random.default_rng(5).standard_normal((600, 550))

    def found(state: Any) -> Any:
        return TruncatedSVD(3, n_iter=1, random_state=state).fit(x).components_

    np.testing.assert_array_equal(found(None), found(None))
    np.testing.assert_array_equal(found(7), found(np.random.RandomState(7)))
    assert not np.array_equal(found(7), found(8))


SMALL = np.random.default_rng(6).standard_normal((12, 5))


REFUSED: list[tuple[Any, str]] = [
    (PCA(2, svd_solver="full", tol=1e-3), "tol: is 0.001, which has no effect with the solver 'full'"),
    (PCA(2, svd_solver="arpack", iterated_power=3), "iterated_power: is 3, which has no effect with the solver 'arpack'"),
    (PCA(2, svd_solver="covariance_eigh", method="fused"), "method: is 'fused', which has no effect with the solver"),
    (PCA(2, svd_solver="randomized", tol=0.1), "tol: is 0.1, which has no effect with the randomized algorithm"),
    (PCA(2, svd_solver="randomized", method="direct", n_oversamples=3), "n_oversamples: is 3, which has no effect with the"),
    (PCA(2, method="one_pass", svd_solver="randomized", iterated_power=3), "iterated_power: is 3, which has no effect"),
    (PCA(2, svd_solver="lapack"), "svd_solver: is 'lapack', expected one of 'auto', 'full', "),
    (PCA(2, svd_solver="randomized", iterated_power=-2), "iterated_power: is -2"),
    (PCA(2, svd_solver="randomized", iterated_power=-1), "iterated_power: is -1, at least 0 is needed"),
    (PCA(2, svd_solver="randomized", n_oversamples=-1), "n_oversamples: is -1, at least 0 is needed"),
    (PCA(2, svd_solver="arpack", tol=-1e-9), "tol: is -1e-09, at least 0 is needed"),
    (PCA(2, svd_solver="arpack", tol=2.0), "tol: is 2"),
    (SpectralEmbedding(2, eigen_tol=-1.0), "eigen_tol: is -1.0, at least 0 is needed"),
    (SpectralEmbedding(2, eigen_tol=3.0), "eigen_tol: is 3"),
    (SpectralEmbedding(2, affinity="rbf", gamma=-1.0), "gamma: is -1.0, at least 0 is needed"),
    (SpectralEmbedding(2, options={"tolerance": 1}), "options: has 'tolerance', which eigen_tol sets"),
    (PCA(2, method="swift"), "method: is 'swift', expected one of 'auto', "),
    (PCA(2, options={"seed": 1}), "options: has 'seed', which random_state sets"),
    (PCA("some"), "n_components: is 'some', expected a number, 'mle' or None"),
    (PCA(6), "n_components=6 must be between 0 and min(n_samples, n_features)=5 with svd_solver='full'"),
    (PCA(2, context="tpu"), "context: is 'tpu', expected one of 'auto', 'cpu', 'cuda'"),
    (TruncatedSVD(2, tol=1e-3), "tol: is 0.001, which has no effect with the randomized algorithm"),
    (TruncatedSVD(2, algorithm="arpack", n_iter=2), "n_iter: is 2, which has no effect with the algorithm 'arpack'"),
    (TruncatedSVD(2, n_iter=-2), "n_iter: is -2"),
    (TruncatedSVD(5, algorithm="arpack"), "n_components: is 5, must be less than n_features = 5"),
    (TruncatedSVD(6), "n_components(6) must be <= n_features(5)."),
    (TruncatedSVD(0), "n_components: is 0, at least 1 is needed"),
    (RobustPCA(6), "n_components: is 6, at most min(n_samples, n_features) = 5"),
    (RobustPCA(alpha=-1.0), "alpha: is -1"),
    (RobustPCA(options={"tolerance": 1}), "options: has 'tolerance', which tol sets"),
    (SpectralEmbedding(2, eigen_solver="lobpcg"), "eigen_solver: is 'lobpcg', expected one of None, 'arpack'"),
    (SpectralEmbedding(2, gamma=2.0), "gamma: is 2.0, which has no effect with the affinity 'nearest_neighbors'"),
    (SpectralEmbedding(2, affinity="rbf", n_neighbors=2), "n_neighbors: is 2, which has no effect with the affinity 'rbf'"),
    (SpectralEmbedding(12), "n_components: is 12, at most 11 for 12 samples"),
    (SpectralEmbedding(2, affinity="near"), "affinity: is 'near', expected one of"),
    (SpectralClustering(2, assign_labels="discretize"), "assign_labels: is 'discretize', expected one of 'kmeans', "),
    (SpectralClustering(2, assign_labels="cluster_qr", n_init=3), "n_init: is 3, which has no effect with the labels of"),
    (SpectralClustering(2, assign_labels="cluster_qr", n_components=3), "n_components: is 3, expected n_clusters = 2"),
    (SpectralClustering(13), "n_clusters: is 13, at most n_samples = 12"),
    (SpectralClustering(2, degree=2), "degree: is 2, which has no effect with the affinity 'rbf'"),
    (SpectralClustering(2, affinity="nearest_neighbors", gamma=2), "gamma: is 2, which has no effect with the affinity"),
    (SpectralClustering(2, affinity="linear"), "affinity: the weights at sample "),
]


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_refusals_name_the_parameter() -> None:
    for model, text in REFUSED:
        with pytest.raises(ValueError) as raised:
            model.fit(SMALL)
        assert str(raised.value).startswith(text), (model, raised.value)


def test_unknown_options_and_types() -> None:
    with pytest.raises(TypeError, match="'colour' is not an option"):
        PCA(2, options={"colour": 1}).fit(SMALL)
    with pytest.raises(TypeError, match="n_components: is True, expected an integer"):
        TruncatedSVD(True).fit(SMALL)
    with pytest.raises(TypeError, match="context: is a int, expected a purlin.Context"):
        PCA(2, context=3).fit(SMALL)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="X: has 3 components, 2 are needed"):
        PCA(2).fit(SMALL).inverse_transform(SMALL[:, :3])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_robust_pca_finds_the_outliers(dtype: Any) -> None:
    rng = np.random.default_rng(7)
    low = rng.standard_normal((150, 4)) @ rng.standard_normal((4, 60)) + 2
    sparse = np.where(rng.random(low.shape) < 0.05, 20 * rng.standard_normal(low.shape), 0)
    x = (low + sparse).astype(dtype)
    model = RobustPCA(random_state=0).fit(x)
    accuracy = 1e-5 if dtype == np.float64 else 1e-3
    assert model.low_rank_.dtype == model.sparse_.dtype == model.components_.dtype == dtype
    assert np.abs(model.low_rank_ - low).max() < accuracy * np.abs(low).max()
    assert np.abs(model.sparse_ - sparse).max() < accuracy * np.abs(low).max()
    # The mean is one rank of five.
    exact = PCA(4).fit(low)
    assert model.n_components_ in (4, 5) and model.n_iter_ == model.info_.iterations > 1
    found, wanted = model.components_[:4], exact.components_
    assert np.linalg.svd(found @ wanted.T, compute_uv=False).min() > 1 - accuracy
    np.testing.assert_allclose(model.explained_variance_[:4], exact.explained_variance_, rtol=100 * accuracy)
    np.testing.assert_allclose(model.inverse_transform(model.transform(low.astype(dtype))), low, atol=100 * accuracy)
    # Plain components are turned by the outliers.
    plain = PCA(4).fit(x).components_
    assert np.linalg.svd(plain @ wanted.T, compute_uv=False).min() < 0.9
    assert RobustPCA(2).fit(x).components_.shape == (2, 60)


def test_robust_pca_warns_without_convergence() -> None:
    x = np.random.default_rng(8).standard_normal((30, 20))
    with pytest.warns(ConvergenceWarning, match="^RobustPCA: "):
        model = RobustPCA(max_iter=2).fit(x)
    assert model.n_iter_ == 2 and model.transform(x).shape == (30, model.n_components_)
    with pytest.raises(TypeError, match="[Ss]parse"):
        RobustPCA().fit(sp.csr_array(x))


def laplacian(weights: Any) -> tuple[Any, Any]:
    """The normalized Laplacian without loops, and the roots of the degrees."""
    weights = np.array(weights.toarray() if sp.issparse(weights) else weights, float)
    np.fill_diagonal(weights, 0)
    roots = np.sqrt(weights.sum(axis=0))
    scale = np.where(roots > 0, roots, 1)
    return np.diag(roots > 0).astype(float) - weights / scale[:, None] / scale, scale


def expect_embedding(weights: Any, found: Any) -> None:
    """Checks against all eigenvectors by LAPACK: residuals, orthogonality to the constant vector, and the values."""
    matrix, roots = laplacian(weights)
    values = np.linalg.eigvalsh(matrix)
    vectors = found * roots[:, None]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(found.shape[1]), atol=1e-9)
    quotients = np.sum(vectors * (matrix @ vectors), axis=0)
    np.testing.assert_allclose(quotients, values[1 : 1 + len(quotients)], atol=1e-10)
    assert np.abs(matrix @ vectors - vectors * quotients).max() < 1e-7
    assert np.abs(roots @ vectors).max() < 1e-9 * np.linalg.norm(roots)
    assert np.all(found[np.argmax(np.abs(found), axis=0), np.arange(found.shape[1])] > 0)


@pytest.mark.parametrize("n", [50, 300])
def test_an_embedding_of_a_connected_graph(n: int) -> None:
    x, _ = make_blobs(n, 3, centers=4, cluster_std=3, random_state=0)
    for given in ({"affinity": "rbf", "gamma": 0.05}, {"n_neighbors": n // 3}):
        ours, peer = SpectralEmbedding(3, **given).fit(x), PeerEmbedding(3, **given).fit(x)  # type: ignore[arg-type]
        expect_embedding(ours.affinity_matrix_, ours.embedding_)
        np.testing.assert_allclose(ours.embedding_, peer.embedding_, atol=1e-8)
        assert (ours.affinity_matrix_ != peer.affinity_matrix_).sum() == 0
        single = SpectralEmbedding(3, **given).fit(x.astype(np.float32))  # type: ignore[arg-type]
        if given.get("affinity") == "rbf":
            assert single.embedding_.dtype == np.float32
        np.testing.assert_allclose(single.embedding_, ours.embedding_, atol=1e-4)
        by_solves = SpectralEmbedding(3, eigen_solver="arpack", **given).fit(x)  # type: ignore[arg-type]
        expect_embedding(by_solves.affinity_matrix_, by_solves.embedding_)
        np.testing.assert_allclose(by_solves.embedding_, ours.embedding_, atol=1e-8)
    of_function = SpectralEmbedding(3, affinity=lambda data: rbf_kernel(data, gamma=0.05)).fit(x)
    np.testing.assert_allclose(of_function.embedding_, SpectralEmbedding(3, affinity="rbf", gamma=0.05).fit_transform(x))


@pytest.mark.parametrize("parts", [2, 3])
def test_an_embedding_of_a_graph_of_several_components(parts: int) -> None:
    x = np.concatenate([np.random.default_rng(k).standard_normal((40 + 9 * k, 2)) + 100 * k for k in range(parts)])
    label = np.repeat(np.arange(parts), [40 + 9 * k for k in range(parts)])
    for solver in (None, "arpack"):
        with pytest.warns(UserWarning, match="not fully connected"):
            model = SpectralEmbedding(4, n_neighbors=12, eigen_solver=solver).fit(x)  # type: ignore[arg-type]
        expect_embedding(model.affinity_matrix_, model.embedding_)
        # The first coordinates are constant on each component, and differ between any two.
        means = np.array([model.embedding_[label == k, : parts - 1].mean(axis=0) for k in range(parts)])
        assert np.abs(model.embedding_[:, : parts - 1] - means[label]).max() < 1e-8
        assert min(np.abs(means[i] - means[j]).max() for i in range(parts) for j in range(i)) > 1e-3


def test_an_embedding_with_negative_weights() -> None:
    rng = np.random.default_rng(12)
    weights = np.triu(rng.uniform(-0.1, 1, (30, 30)), 1)
    weights += weights.T
    matrix, roots = laplacian(weights)
    for solver in (None, "arpack"):
        for given in (weights, sp.csr_array(weights)):
            model = SpectralEmbedding(3, affinity="precomputed", eigen_solver=solver)  # type: ignore[arg-type]
            vectors = model.fit_transform(given) * roots[:, None]
            quotients = np.sum(vectors * (matrix @ vectors), axis=0)
            np.testing.assert_allclose(quotients, np.linalg.eigvalsh(matrix)[1:4], atol=1e-10)
            assert np.abs(matrix @ vectors - vectors * quotients).max() < 1e-7


def test_an_embedding_of_points_that_occur_several_times() -> None:
    x = np.repeat(np.random.default_rng(9).standard_normal((30, 2)), 3, axis=0)
    model = SpectralEmbedding(5, affinity="rbf", gamma=0.3).fit(x)
    expect_embedding(model.affinity_matrix_, model.embedding_)
    # Equal points have equal coordinates where the eigenvalue is not that of their differences.
    assert np.abs(model.embedding_[::3] - model.embedding_[1::3]).max() < 1e-8
    equal = np.ones((40, 2))
    complete = SpectralEmbedding(3, affinity="rbf").fit(equal)
    expect_embedding(complete.affinity_matrix_, complete.embedding_)


def test_an_embedding_of_a_graph_with_a_vertex_without_edges() -> None:
    weights = np.zeros((6, 6))
    weights[:4, :4] = weights[4, 5] = weights[5, 4] = 1
    weights = np.pad(weights, ((0, 1), (0, 1)))
    for solver in (None, "arpack"):
        for given in (weights, sp.csr_array(weights)):
            model = SpectralEmbedding(2, affinity="precomputed", eigen_solver=solver)  # type: ignore[arg-type]
            with pytest.warns(UserWarning, match="not fully connected"):
                found = model.fit_transform(given)
            spread = [np.ptp(found[rows], axis=0).max() for rows in (slice(0, 4), slice(4, 6))]
            assert max(spread) < 1e-9 and len({tuple(row.round(6)) for row in found}) == 3
    with pytest.warns(UserWarning, match="not fully connected"):
        nothing = SpectralEmbedding(2, affinity="precomputed").fit_transform(np.eye(5))
    np.testing.assert_allclose(nothing.T @ nothing, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("labels", ["kmeans", "cluster_qr"])
def test_clusters_of_blobs(labels: Any) -> None:
    for state in (None, 0, 1, 2, 17, np.random.RandomState(3)):
        expect_blobs(state, labels)


def expect_blobs(state: Any, labels: Any) -> None:
    x, truth = make_blobs(240, 2, centers=[[0, 0], [8, 0], [0, 8], [9, 9]], cluster_std=0.7, random_state=1)
    for given in ({"gamma": 0.5}, {"affinity": "laplacian", "gamma": 0.5}, {"affinity": "nearest_neighbors", "n_neighbors": 70}):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            model = SpectralClustering(4, random_state=state, assign_labels=labels, **given)  # type: ignore[arg-type]
            assert adjusted_rand_score(truth, model.fit_predict(x)) == 1
            if labels == "kmeans" and state == 0:
                peer = PeerClustering(4, random_state=state, **given).fit(x)
                assert adjusted_rand_score(peer.labels_, model.labels_) == 1
    distances = sort_graph_by_row_values(kneighbors_graph(x, 60, mode="distance"))
    near = SpectralClustering(4, affinity="precomputed_nearest_neighbors", n_neighbors=50, assign_labels=labels, random_state=state)
    weights = SpectralClustering(4, affinity="precomputed", assign_labels=labels, random_state=state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph is not fully connected")
        assert adjusted_rand_score(truth, near.fit(distances).labels_) == 1
    assert adjusted_rand_score(truth, weights.fit(rbf_kernel(x, gamma=0.5)).labels_) == 1


def test_clusters_that_k_means_of_the_points_does_not_find() -> None:
    angle = np.random.default_rng(10).uniform(0, 2 * np.pi, 400)
    truth = np.arange(400) % 2
    x = np.c_[np.cos(angle), np.sin(angle)] * (1 + 2 * truth)[:, None]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph is not fully connected")
        for solver in (None, "arpack"):
            found = SpectralClustering(2, affinity="nearest_neighbors", eigen_solver=solver, random_state=0)  # type: ignore[arg-type]
            assert adjusted_rand_score(truth, found.fit(x).labels_) == 1
    assert adjusted_rand_score(truth, cluster.KMeans(2, n_init=1, random_state=0).fit(x).labels_) < 0.1
