"""Singular triplets of sparse matrices, against NumPy; and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_spectra import random_dense

import purlin
from purlin import lanczos, sparse


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("through", ["gram", "augmented"])
def test_singular_triplets(cpu: purlin.Context, dtype: Any, through: Any) -> None:
    full = random_dense(90, 60, dtype, 7)
    exact = np.linalg.svd(full.astype(np.complex128), compute_uv=False)
    found = lanczos.singular(sparse.from_dense(full, context=cpu), 4, through=through)
    # The tolerance of the solve, or a multiple of the type's precision.
    small = max(1e-9, np.finfo(dtype).eps * 1e4)
    np.testing.assert_allclose(found.triplets.values, exact[:4], rtol=small)
    u, s, v = found.triplets
    assert u.dtype == dtype and np.abs(full @ v - u * s).max() < small * exact[0]
    assert found.info.converged == 4 and found.residuals.max() < small * exact[0]


def test_smallest_singular_values_and_refusals(cpu: purlin.Context) -> None:
    full = random_dense(40, 30, np.float64, 8)
    exact = np.linalg.svd(full, compute_uv=False)[::-1]
    a = sparse.from_dense(full, context=cpu)
    np.testing.assert_allclose(lanczos.singular(a, 3, "smallest").triplets.values, exact[:3], rtol=1e-6)
    with pytest.raises(purlin.NotSupported, match="which"):
        lanczos.singular(a, 3, "smallest", through="augmented")
    with pytest.raises(purlin.InvalidArgument, match="^k: is 31"):
        lanczos.singular(a, 31)
    with pytest.raises(purlin.Cancelled):
        lanczos.singular(a, 3, progress=lambda *_: True)


@pytest.mark.parametrize("which", ["smallest", "largest"])
def test_triplets_that_do_not_converge_are_called_so(cpu: purlin.Context, which: Any) -> None:
    a = sparse.from_dense(random_dense(120, 90, np.float64, 1), context=cpu)
    with pytest.raises(lanczos.Unfinished, match="of 5 singular triplets after 1 restarts and "):
        lanczos.singular(a, 5, which, restarts=1, basis=12)


@pytest.mark.parametrize("through", ["auto", "gram", "augmented"])
def test_a_plan_is_that_of_the_run(cpu: purlin.Context, through: Any) -> None:
    left, right = (np.linalg.qr(random_dense(n, n, np.float64, n))[0] for n in (80, 60))
    full = (left[:, :60] * 10.0 ** -np.arange(60)) @ right.T
    a = sparse.from_dense(full, context=cpu)
    for which in ("largest", "smallest"):
        if (through, which) == ("augmented", "smallest"):
            with pytest.raises(purlin.NotSupported, match="which"):
                lanczos.plan_singular(a, 9, "smallest", through=through)
            continue
        plan = lanczos.plan_singular(a, 9, which, through=through)  # type: ignore[arg-type]
        info = lanczos.singular(a, 9, which, through=through).info  # type: ignore[arg-type]
        assert (plan.method, plan.reason, plan.host_bytes) == (info.method, info.reason, info.host_bytes)
        assert plan.products == 0 and plan.part_entries == 80 * 60 and "Golub-Kahan-Lanczos" in plan.reason
    with pytest.raises(purlin.InvalidArgument, match="^k: is 61"):
        lanczos.plan_singular(a, 61)
    with lanczos.Lanczos(9, kind="gram", context=cpu) as solver:
        assert solver.plan_singular(a).host_bytes > 8 * (80 + 60) * 9
        for other in (full, pytest.importorskip("scipy.sparse").csr_array(full)):
            assert solver.plan_singular(other).host_bytes > 8 * (80 + 60) * 9


def test_singular_values_below_the_root_of_roundoff(cpu: purlin.Context) -> None:
    left, right = (np.linalg.qr(random_dense(n, n, np.float64, n))[0] for n in (80, 60))
    decades = 10.0 ** -np.arange(60)
    full = (left[:, :60] * decades) @ right.T
    for a in (full, np.ascontiguousarray(full.T)):
        found = lanczos.singular(sparse.from_dense(a, context=cpu), 9)
        u, s, v = found.triplets
        assert u is not None and v is not None
        np.testing.assert_allclose(s, decades[:9], rtol=1e-7)
        np.testing.assert_allclose(s[:7], decades[:7], rtol=1e-10)
        for vectors in (u, v):
            assert np.abs(vectors.T @ vectors - np.eye(9)).max() < 1e-13
        assert np.abs(a @ v - u * s).max() < 1e-10 and found.residuals.max() < 2e-10


@pytest.mark.parametrize("shape", [(1200, 900), (900, 1200)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_graded_values_of_a_large_matrix(cpu: purlin.Context, dtype: Any, shape: Any) -> None:
    """Values of powers of ten, of a matrix too large to be decomposed as a whole: accurate to roundings of the largest."""
    left, right = (np.linalg.qr(np.random.default_rng(n).standard_normal((n, 300)))[0] for n in shape)
    decades = 10.0 ** -np.arange(300)
    full = np.asarray((left * decades) @ right.T, dtype)
    found = lanczos.singular(sparse.from_dense(full, context=cpu), 12)
    u, s, v = found.triplets
    assert u is not None and v is not None
    rounding = np.finfo(dtype).eps
    np.testing.assert_allclose(s, decades[:12], rtol=0, atol=8 * rounding)
    for vectors in (u, v):
        assert np.abs(vectors.T @ vectors - np.eye(12)).max() < 64 * rounding
    assert max(np.abs(full @ v - u * s).max(), np.abs(full.T @ u - v * s).max()) < 8 * rounding


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_singular_vectors_of_zeros_and_copies(cpu: purlin.Context, which: Any) -> None:
    for full in (np.zeros((9, 6)), np.eye(7), np.kron(np.eye(2), random_dense(8, 6, np.float64, 3)), np.outer(np.ones(6), np.arange(8.0))):
        k = min(full.shape)
        exact = np.linalg.svd(full, compute_uv=False)
        found = lanczos.singular(sparse.from_dense(full, context=cpu), k, which)
        u, s, v = found.triplets
        assert u is not None and v is not None
        np.testing.assert_allclose(s, exact if which == "largest" else exact[::-1], atol=1e-13)
        for vectors in (u, v):
            np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-13)


def test_singular_start_and_values_alone(cpu: purlin.Context) -> None:
    for shape in ((40, 30), (30, 40)):
        full = random_dense(*shape, np.float32, 8)
        a = sparse.from_dense(full, context=cpu)
        whole = lanczos.singular(a, 3)
        alone = lanczos.singular(a, 3, vectors=False)
        assert alone.triplets.u is None and alone.triplets.v is None
        np.testing.assert_array_equal(alone.triplets.values, whole.triplets.values)
        np.testing.assert_array_equal(alone.residuals, whole.residuals)
        started = lanczos.singular(a, 3, start=np.ones(30))
        np.testing.assert_allclose(started.triplets.values, whole.triplets.values, rtol=1e-5)
        with pytest.raises(purlin.InvalidArgument, match="start"):
            lanczos.singular(a, 3, start=np.ones(40))
        with pytest.raises(purlin.InvalidArgument, match="start: is 0"):
            lanczos.singular(a, 3, start=np.zeros(30))


@pytest.mark.parametrize("shape", [(60, 500), (500, 60), (40, 40)])
def test_limits_of_memory_are_those_of_the_plan(shape: tuple[int, int]) -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    a = scipy_sparse.random(*shape, 0.1, "csr", random_state=1)
    square = scipy_sparse.csr_array(a @ a.T + scipy_sparse.diags(np.arange(1.0, 1 + shape[0])))
    square.sort_indices()
    calls: list[tuple[Any, Any, str, Any]] = [
        (lanczos.plan_singular, lanczos.singular, "largest", a),
        (lanczos.plan_singular, lanczos.singular, "smallest", a),
        (lanczos.plan, lanczos.solve, "largest", square),
        (lanczos.plan, lanczos.solve, "smallest", square),
    ]
    for plan, run, which, matrix in calls:
        with purlin.Context("cpu", threads=2) as free:
            planned = plan(matrix, 6, which, context=free).host_bytes
        for limit in (1000, planned // 2, planned - 1):
            with purlin.Context("cpu", threads=2, host_memory_limit=limit) as context:
                with pytest.raises(purlin.OutOfMemory, match=f"{planned} bytes .* limit of {limit} bytes") as refused:
                    plan(matrix, 6, which, context=context)
                with pytest.raises(purlin.OutOfMemory) as failed:
                    run(matrix, 6, which, context=context)
                assert str(refused.value) == str(failed.value)
        with purlin.Context("cpu", threads=2, host_memory_limit=planned) as context:
            assert plan(matrix, 6, which, context=context).host_bytes == planned
            run(matrix, 6, which, context=context)
