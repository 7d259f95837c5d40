"""Matrices of integers for low-rank approximation: computed in a type that holds them, or refused by name."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import graph, lanczos, pca, rpca, rsvd, sparse, spmv
from purlin.blocks import Source

LARGE = 2**24 + 1


def integers(dtype: Any) -> Any:
    """A matrix whose largest singular value single precision would round."""
    return np.array([[LARGE, 0], [0, 1]], dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_integers_are_computed_with_in_a_type_that_holds_them(tmp_path: Path, dtype: Any) -> None:
    a = integers(dtype)
    given: list[Any] = [a, np.asfortranarray(a), iter(a)]
    if dtype != np.int64:
        np.save(tmp_path / "a.npy", a)
        given += [Source.from_array(a), tmp_path / "a.npy", purlin.Matrix.dense(a)]
    for value in given:
        u, s, _ = rsvd.compute(value, 1)
        assert s.dtype == u.dtype == np.float64 and s[0] == LARGE, value
    q, b = rsvd.qb(a, 2)
    assert np.abs(q @ b - a).max() < 1e-6
    assert rsvd.range_finder(a, 2).dtype == np.float64
    assert rsvd.symmetric(a, 1)[0].tolist() == [LARGE]
    low, sparse = rpca.compute(a)
    assert low.dtype == np.float64 and (low + sparse)[0, 0] == LARGE
    assert pca.PCA(1).fit(a).mean_[0] == LARGE / 2
    with rsvd.Rsvd(1) as session, rpca.Rpca() as robust:
        for value in given[:2] + given[3:]:
            assert session.compute(value).s[0] == LARGE
            assert robust.compute(value).low_rank.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
@pytest.mark.parametrize("wanted", [np.float32, np.complex64])
def test_integers_beyond_single_precision_are_refused_where_it_is_asked_for(dtype: Any, wanted: Any) -> None:
    a = integers(dtype)
    calls: dict[str, Callable[[Any], Any]] = {
        "a": lambda a: rsvd.compute(a, 1, dtype=wanted),
        "X": lambda a: pca.PCA(1, dtype=wanted).fit(a),
        "m": lambda a: rpca.compute(a, dtype=wanted),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=rf"^{name}: has {LARGE} at index \(0, 0\) \(from 0\), which float32 does not hold$"):
            call(a)
        call(a - np.array([[1, 0], [0, 0]], dtype))
    with pytest.raises(ValueError, match=rf"^a: has {LARGE} at index \(0, 0\)"):
        rsvd.compute([[LARGE, 0.5], [0.5, 1]], 1, dtype=wanted)
    if dtype != np.int64:
        with pytest.raises(ValueError, match=rf"^a: has {LARGE} at index \(0, 0\)"):
            rsvd.compute(purlin.Matrix.dense(a), 1, dtype=wanted)


def test_models_and_their_copies_refuse_integers_that_they_would_round() -> None:
    data = np.arange(12, dtype=np.float32).reshape(4, 3) ** 2
    model = pca.PCA(2, dtype=np.float32).fit(data)
    for same in (model, pickle.loads(pickle.dumps(model))):
        for dtype in (np.int32, np.int64):
            given = np.array([[1, LARGE, 0]], dtype)
            with pytest.raises(ValueError, match=rf"^X: has {LARGE} at index \(0, 1\) \(from 0\), which float32 does not hold$"):
                same.transform(given)
            with pytest.raises(ValueError, match=rf"^scores: has {LARGE} at index \(0, 1\) \(from 0\), which float32"):
                same.inverse_transform(given[:, :2])
            np.testing.assert_allclose(same.transform(given - 1), same.transform((given - 1).astype(np.float32)))


def test_integers_of_32_bits_stay_in_place() -> None:
    a = integers(np.int32)
    for dtype in (None, np.float64):
        matrix = purlin.Matrix.of(a, dtype=dtype)
        assert matrix.dtype == np.int32 and np.shares_memory(matrix.numpy(), a)
    assert purlin.Matrix.of(a - 1, dtype=np.float32).dtype == np.int32
    assert purlin.Matrix.of(a.astype(np.int64), dtype=np.complex128).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_factors_may_be_integers(dtype: Any) -> None:
    u, vt = np.eye(6, 2, dtype=dtype), np.eye(2, 5, dtype=dtype)
    with rsvd.Rsvd(2) as session:
        assert np.abs(session.residuals(np.eye(6, 5), u, np.ones(2), vt)).max() == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.bool_, np.int32, np.int64])
def test_dense_integers_stand_for_sparse_matrices(dtype: Any) -> None:
    a = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype)
    assert sparse.from_dense(a).dtype == np.float64
    np.testing.assert_array_equal(sparse.to_dense(a), a)
    np.testing.assert_array_equal(spmv.Plan(a) @ [1.0, 2.0, 3.0], [2.0, 4.0, 2.0])
    np.testing.assert_allclose(lanczos.solve(a, 1).values, np.sqrt(2))
    assert graph.components(a)[0] == 1


@pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.int32, np.int64])
def test_sparse_integers_take_the_type_that_is_asked_for(dtype: Any) -> None:
    scipy: Any = pytest.importorskip("scipy.sparse", reason="no SciPy")
    a = scipy.random(30, 20, 0.3, random_state=1)
    a.data = np.ceil(9 * a.data)
    a = a.astype(dtype).tocsr()
    expected = np.linalg.svd(a.toarray().astype(np.float64), compute_uv=False)[:3]
    for wanted in (np.float32, np.float64, np.complex64, np.complex128):
        u, s, _ = rsvd.compute(a, 3, dtype=wanted, oversampling=17)
        assert u.dtype == wanted
        np.testing.assert_allclose(s, expected, rtol=1e-4)
    model = pca.PCA(2, dtype=np.float32).fit(a)
    dense = pca.PCA(2, dtype=np.float32).fit(a.toarray().astype(np.float32))
    np.testing.assert_allclose(np.abs(model.transform(a)), np.abs(dense.transform(a.toarray())), atol=1e-3)
    if dtype in (np.int32, np.int64):
        large = scipy.csr_matrix(integers(dtype))
        with pytest.raises(ValueError, match=rf"^a: has {LARGE} at index \(0, 0\) \(from 0\), which float32 does not hold$"):
            rsvd.compute(large, 1, dtype=np.float32)
        assert rsvd.compute(large, 1).s[0] == LARGE
