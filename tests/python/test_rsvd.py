"""Randomized SVD: LAPACK's singular values, every kind of matrix, given sketches, errors, streaming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import ROOT

import purlin
from purlin import rpca, rsvd
from purlin.blocks import Sink, Source

Floats = npt.NDArray[np.float64]
DATA = ROOT / "tests" / "golden" / "rsvd"
GOLDEN: dict[str, Any] = json.loads((DATA / "golden.json").read_text())


def matrix(name: str) -> Any:
    return np.load(DATA / f"{name}.npy")


def values(name: str) -> Floats:
    return np.array(GOLDEN[name]["singular_values"])


def tail(name: str, rank: int) -> float:
    """Frobenius norm of the error of the best matrix of this rank."""
    return float(np.sqrt((values(name)[rank:] ** 2).sum()))


def orthonormal(q: Any) -> float:
    return float(np.abs(q.conj().T @ q - np.eye(q.shape[1])).max())


def test_calls_without_an_object_work_in_the_context_of_their_matrix() -> None:
    cpu = purlin.Context("cpu", threads=1)
    full = np.random.default_rng(2).standard_normal((20, 3)) @ np.random.default_rng(3).standard_normal((3, 12))
    square, exact = full.T @ full, np.linalg.svd(full, compute_uv=False)[:3]
    with purlin.Matrix.dense(full, context=cpu) as a, Source.from_array(full, context=cpu) as source:
        for given in (a, source):
            np.testing.assert_allclose(rsvd.compute(given, 3).s, exact)
            for q in (rsvd.range_finder(given, 3), rsvd.qb(given, 3)[0]):
                assert orthonormal(q) < 1e-13
            for part in (rpca.compute(given), rpca.run(given)[0]):
                np.testing.assert_allclose(part.low_rank + part.sparse, full, atol=1e-5)
            assert rpca.plan(given).blocks >= 1
            low_rank = np.zeros_like(full)
            with Sink.to_array(low_rank, context=cpu) as sink:
                rpca.compute_to_sinks(given, sink, None)
            np.testing.assert_allclose(low_rank, rpca.compute(full, context=cpu).low_rank, atol=1e-5)
        with purlin.Matrix.dense(square, context=cpu) as b:
            np.testing.assert_allclose(rsvd.symmetric(b, 3)[0], exact**2)
        with purlin.Context("cpu", threads=1) as other, pytest.raises(purlin.InvalidArgument, match="^a: belongs to another context$"):
            rsvd.compute(a, 3, context=other)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("method", ["range", "fused", "krylov", "row_fused", "basic", "fifo", "merge", "gram"])
@pytest.mark.parametrize("name", ["geo_200x120", "wide_60x200", "cplx_100x70"])
def test_triplets_of_every_method(cpu: purlin.Context, name: str, method: Any, order: Any) -> None:
    a = np.asarray(matrix(name), order=order)
    before = a.copy()
    with rsvd.Rsvd(8, method=method, power_iterations=6, context=cpu) as session:
        u, s, vt = session.compute(a)
        info = session.last_info()
    np.testing.assert_array_equal(a, before)
    assert u.shape == (a.shape[0], 8) and vt.shape == (8, a.shape[1]) and u.dtype == a.dtype and s.dtype == np.float64
    assert np.abs(s - values(name)[:8]).max() < (1e-7 if method == "gram" else 1e-9)
    assert max(orthonormal(u), orthonormal(vt.conj().T)) < 1e-12
    assert np.linalg.norm(a - (u * s) @ vt) <= 1.001 * tail(name, 8)
    largest = vt[np.arange(8), np.abs(vt).argmax(axis=1)]
    assert (largest.real > 0).all() and np.abs(largest.imag).max() < 1e-12
    assert info.method == method and info.converged and info.rank == 8 and info.passes >= 2
    assert info.error_frobenius == pytest.approx(tail(name, 8), rel=2e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision(cpu: purlin.Context, dtype: Any) -> None:
    name = "cplx_100x70" if dtype is np.complex64 else "geo_200x120"
    u, s, vt = rsvd.compute(matrix(name).astype(dtype), 6, power_iterations=4, context=cpu)
    assert u.dtype == dtype and s.dtype == np.float32 and vt.dtype == dtype
    assert np.abs(s - values(name)[:6]).max() < 5e-6
    assert max(orthonormal(u), orthonormal(vt.conj().T)) < 5e-6


def test_groups_are_of_gpus(cpu: purlin.Context) -> None:
    a = np.eye(6)
    with purlin.Context("cpu", threads=1) as other, purlin.Group([other, cpu]) as group:
        with pytest.raises(purlin.InvalidArgument, match="group: has 2 contexts on the CPU: rows are distributed"):
            rsvd.compute(a, 2, group=group)
        with pytest.raises(purlin.InvalidArgument, match="group: begins with another context"):
            rsvd.compute(a, 2, context=cpu, group=group)
    with purlin.Group([cpu]) as alone, rsvd.Rsvd(2, group=alone) as session:
        assert session.context is cpu and session.plan(a).contexts == 1
    with pytest.raises(purlin.InvalidHandle, match="group: is closed"):
        rsvd.compute(a, 2, group=group)


def test_fast_iterations_change_nothing_on_a_cpu(cpu: purlin.Context) -> None:
    a = matrix("poly_150x150")
    want = rsvd.compute(a, 6, method="fused", context=cpu)
    with rsvd.Rsvd(6, method="fused", iteration_precision="fast", context=cpu) as session:
        for got, exact in zip(session.compute(a), want):
            np.testing.assert_array_equal(got, exact)
        assert "no faster one for float64" in session.last_info().reason
    with pytest.raises(ValueError, match="iteration_precision"):
        rsvd.Rsvd(6, iteration_precision="faster", context=cpu)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.float16, np.int64, np.bool_])
def test_numbers_of_other_types(cpu: purlin.Context, dtype: Any) -> None:
    a = (np.random.default_rng(3).random((40, 30)) * 9).astype(dtype)
    expected = np.linalg.svd(a.astype(np.float64), compute_uv=False)[:3]
    s = rsvd.compute(a, 3, power_iterations=8, left=False, right=False, dtype=np.float64, context=cpu).s
    np.testing.assert_allclose(s, expected, rtol=1e-6, atol=1e-9)


def test_either_factor_may_be_omitted(cpu: purlin.Context) -> None:
    a = matrix("geo_200x120")
    both = rsvd.compute(a, 5, context=cpu)
    u, s, vt = rsvd.compute(a, 5, right=False, context=cpu)
    assert vt is None and np.abs(u - both.U).max() < 1e-12 and np.abs(s - both.s).max() < 1e-14
    assert rsvd.compute(a, 5, left=False, context=cpu).U is None


@pytest.mark.parametrize("q", range(4))
@pytest.mark.parametrize("kind", ["hmt", "rowspace"])
def test_given_sketches(cpu: purlin.Context, kind: str, q: int) -> None:
    expected = GOLDEN["fixed_omega_geo_200x120"]["singular_values"][f"{kind}_q{q}"]
    method: Any = "range" if kind == "hmt" else "basic"
    with rsvd.Rsvd(20, oversampling=0, power_iterations=q, method=method, context=cpu) as session:
        session.set_sketch(matrix("omega_120x20"))
        s = session.compute(matrix("geo_200x120"), left=False, right=False).s
        assert session.last_info().sketch == "given"
    np.testing.assert_allclose(s, expected, rtol=0, atol=1e-11)


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> list[int]:
    """Philox4x32-10 of Salmon et al. (SC11)."""
    words, keys = list(counter), list(key)
    for turn in range(10):
        if turn:
            keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
        p, q = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [(q >> 32) ^ words[1] ^ keys[0], q & 0xFFFFFFFF, (p >> 32) ^ words[3] ^ keys[1], p & 0xFFFFFFFF]
    return words


def normal(i: int, j: int, seed: int) -> float:
    """Entry (i, j) of a Gaussian sketch, whose stream is 2."""
    x = philox((i, 0, j >> 1, 2), (seed, 0))
    u = (((x[0] << 32 | x[1]) >> 11) + 1) * 2.0**-53
    v = ((x[2] << 32 | x[3]) >> 11) * 2.0**-53
    angle = 2 * np.pi * v
    return float(np.sqrt(-2 * np.log(u)) * (np.sin(angle) if j % 2 else np.cos(angle)))


def test_sketches_depend_on_seed_and_place_alone(cpu: purlin.Context) -> None:
    omega = rsvd.sketch(1001, 64, seed=42, context=cpu)
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 0), (7, 5), (1000, 63)):
        assert omega[i, j] == pytest.approx(normal(i, j, 42), rel=1e-13)
    np.testing.assert_array_equal(rsvd.sketch(7, 3, seed=42, context=cpu), omega[:7, :3])
    single = rsvd.sketch(5, 5, np.float32, seed=42, context=cpu)
    np.testing.assert_array_equal(single, omega[:5, :5].astype(np.float32))
    signs = rsvd.sketch(50, 4, kind="rademacher", context=cpu)
    assert len(np.unique(np.abs(signs))) == 1 and len(np.unique(signs)) == 2


def test_a_seed_gives_the_same_bits(cpu: purlin.Context) -> None:
    a = matrix("poly_150x150")
    first, again = (rsvd.compute(a, 6, seed=5, power_iterations=0, context=cpu) for _ in range(2))
    other = rsvd.compute(a, 6, seed=6, power_iterations=0, context=cpu)
    np.testing.assert_array_equal(first.U, again.U)
    np.testing.assert_array_equal(first.s, again.s)
    assert np.abs(first.s - other.s).max() > 1e-9


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-4, 1e-6])
def test_fixed_tolerance(cpu: purlin.Context, tolerance: float) -> None:
    a = matrix("geo_200x120")
    with rsvd.Rsvd(tolerance=tolerance, block_columns=8, context=cpu) as session:
        u, s, vt = session.compute(a)
        info = session.last_info()
    norm = np.linalg.norm(a)
    needed = next((k for k in range(120) if tail("geo_200x120", k) <= tolerance * norm), 120)
    assert info.converged and needed <= len(s) <= needed + 8
    assert u.shape == (200, len(s)) and vt.shape == (len(s), 120) and len(s) == info.rank
    assert np.linalg.norm(a - (u * s) @ vt) <= tolerance * norm
    assert orthonormal(u) < 1e-12


def test_a_rank_that_is_too_small_for_the_tolerance(cpu: purlin.Context) -> None:
    with pytest.raises(rsvd.Unfinished) as caught:
        rsvd.compute(matrix("poly_150x150"), tolerance=1e-3, max_rank=9, context=cpu)
    assert isinstance(caught.value, purlin.NoConvergence)
    assert len(caught.value.factors.s) == 9 and orthonormal(caught.value.factors.U) < 1e-12
    assert not caught.value.info.converged and caught.value.info.error_relative > 0.1


def test_a_missed_tolerance_is_explained_in_the_error(cpu: purlin.Context) -> None:
    with pytest.raises(rsvd.Unfinished) as caught:
        rsvd.compute(matrix("poly_150x150"), tolerance=1e-3, max_rank=9, error="none", context=cpu)
    assert "nan" not in str(caught.value).lower() and "at rank 9, 1e-3 is asked for" in str(caught.value)
    rng = np.random.default_rng(0)
    low = (rng.standard_normal((120, 3)) @ rng.standard_normal((3, 90))).astype(np.float32)
    with pytest.raises(rsvd.Unfinished, match="in float32 rounding hides errors below 6.0e-6"):
        rsvd.compute(low, tolerance=1e-9, context=cpu)


@pytest.mark.parametrize("kind", ["rademacher", "sparse_sign"])
def test_sketches_of_signs_miss_no_column(cpu: purlin.Context, kind: Any) -> None:
    spikes = np.zeros((100, 5))
    spikes[:5] = np.diag([10.0, 4, 3, 2, 1])
    for seed in range(8):
        _, s, _ = rsvd.compute(np.ones((20, 1)), tolerance=0.01, power_iterations=0, sketch=kind, seed=seed, context=cpu)
        assert len(s) == 1 and abs(s[0] - np.sqrt(20)) < 1e-12
        for method in ("range", "fused"):
            _, s, _ = rsvd.compute(spikes, 5, method=method, power_iterations=0, sketch=kind, seed=seed, context=cpu)
            assert np.allclose(s, [10, 4, 3, 2, 1], rtol=0, atol=1e-12)
        _, s, _ = rsvd.compute(spikes, 5, method="one_pass", sketch=kind, seed=seed, context=cpu)
        assert np.allclose(s, [10, 4, 3, 2, 1], rtol=0, atol=1e-11)
    assert (rsvd.sketch(1000, 3, kind=kind) != 0).any(axis=1).all()


@pytest.mark.parametrize("name", ["rank7_120x90", "zeros_100x40", "step_240x80"])
def test_degenerate_spectra(cpu: purlin.Context, name: str) -> None:
    a = matrix(name)
    u, s, vt = rsvd.compute(a, 20, power_iterations=4, context=cpu)
    assert np.abs(s - values(name)[:20]).max() < 1e-12 * 100
    assert max(orthonormal(u), orthonormal(vt.T)) < 1e-12
    assert np.isfinite(u).all() and np.isfinite(vt).all()


@pytest.mark.parametrize("shape", [(30, 1), (1, 30), (1, 1), (7, 7)])
def test_small_matrices(cpu: purlin.Context, shape: tuple[int, int]) -> None:
    a = np.random.default_rng(1).standard_normal(shape)
    u, s, vt = rsvd.compute(a, min(shape), context=cpu)
    np.testing.assert_allclose((u * s) @ vt, a, atol=1e-13)


def test_a_matrix_of_zeros(cpu: purlin.Context) -> None:
    u, s, vt = rsvd.compute(np.zeros((20, 12)), 3, context=cpu)
    assert (s == 0).all() and orthonormal(u) < 1e-13 and orthonormal(vt.T) < 1e-13


@pytest.mark.parametrize("method", ["merge", "fused", "gram"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_files_and_functions(cpu: purlin.Context, tmp_path: Path, order: Any, method: Any) -> None:
    a = matrix("geo_200x120")
    path = tmp_path / "a.npy"
    np.save(path, np.asarray(a, order=order))
    asked = []

    def read(where: tuple[slice, ...]) -> Floats:
        asked.append(where)
        block: Floats = a[where]
        return block

    sources = [
        Source.from_npy(path, context=cpu),
        Source.from_function(read, a.shape, np.float64, context=cpu),
        Source.from_array(a, context=cpu),
    ]
    for source in sources:
        with rsvd.Rsvd(6, method=method, block_rows=64, power_iterations=5, context=cpu) as session:
            u, s, vt = session.compute(source)
            info = session.last_info()
        assert np.abs(s - values("geo_200x120")[:6]).max() < 1e-7
        assert np.linalg.norm(a - (u * s) @ vt) <= 1.001 * tail("geo_200x120", 6)
        assert info.bytes_read >= a.nbytes
    assert asked and all(where[0].stop <= 200 for where in asked)


def test_blocks_do_not_change_the_result(cpu: purlin.Context) -> None:
    a = matrix("geo_200x120")
    whole = rsvd.compute(a, 6, method="fused", context=cpu)
    for rows in (32, 57, 200):
        source = Source.from_array(a, context=cpu)
        cut = rsvd.compute(source, 6, method="fused", block_rows=rows, context=cpu)
        assert np.abs(cut.s - whole.s).max() < 1e-12 and np.abs(cut.U - whole.U).max() < 1e-9


def test_an_exception_of_a_read_function_is_raised(cpu: purlin.Context) -> None:
    class Torn(Exception):
        pass

    def read(where: tuple[slice, ...]) -> Floats:
        if where[0].start > 0:
            raise Torn("page 2")
        return matrix("geo_200x120")[where]

    source = Source.from_function(read, (200, 120), np.float64, context=cpu)
    with pytest.raises(Torn, match="page 2"):
        rsvd.compute(source, 4, block_rows=50, context=cpu)


def test_linear_operators(cpu: purlin.Context) -> None:
    a = matrix("cplx_100x70")
    operator = purlin.Matrix.from_operator(lambda x: a @ x, lambda x: a.conj().T @ x, a.shape, a.dtype, context=cpu)
    u, s, vt = rsvd.compute(operator, 6, power_iterations=6, context=cpu)
    assert np.abs(s - values("cplx_100x70")[:6]).max() < 1e-9 and np.abs(a @ vt.conj().T - u * s).max() < 1e-6

    def fails(_: object) -> Any:
        raise KeyError("no product")

    broken = purlin.Matrix.from_operator(fails, fails, (50, 40), context=cpu)
    with pytest.raises(KeyError, match="no product"):
        rsvd.compute(broken, 3, context=cpu)
    wrong = purlin.Matrix.from_operator(lambda x: x, lambda x: x, (50, 40), context=cpu)
    with pytest.raises(ValueError, match="product: returned shape"):
        rsvd.compute(wrong, 3, context=cpu)


@pytest.mark.parametrize("method", ["auto", "range", "fused", "krylov", "one_pass"])
def test_wrong_adjoints_are_refused(cpu: purlin.Context, method: Any) -> None:
    a = matrix("cplx_100x70")
    for adjoint in (lambda x: a.T @ x, lambda x: 2 * (a.conj().T @ x), lambda x: -(a.conj().T @ x)):
        operator = purlin.Matrix.from_operator(lambda x: a @ x, adjoint, a.shape, a.dtype, context=cpu)
        with pytest.raises(purlin.InvalidArgument, match="^a: adjoint is not that of A"):
            rsvd.compute(operator, 6, method=method, context=cpu)


def test_sparse_matrices(cpu: purlin.Context) -> None:
    lines = (DATA / "sparse_2000x1500.mtx").read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if not line.startswith("%"))
    rows, cols, count = map(int, lines[start].split())
    entries = np.array([line.split() for line in lines[start + 1 :]], dtype=float)
    assert entries.shape == (count, 3)
    i, j, x = entries[:, 0].astype(int) - 1, entries[:, 1].astype(int) - 1, entries[:, 2]
    order = np.lexsort((j, i))
    pointers = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=rows))])
    a = purlin.Matrix.csr(pointers, j[order], x[order], (rows, cols), context=cpu)
    s = rsvd.compute(a, 12, method="krylov", power_iterations=12, left=False, right=False, context=cpu).s
    np.testing.assert_allclose(s, values("sparse_2000x1500")[:12], rtol=1e-5)


def test_bases(cpu: purlin.Context) -> None:
    a = matrix("geo_200x120")
    q, b = rsvd.qb(a, 30, context=cpu)
    assert q.shape == (200, 30) and b.shape == (30, 120) and orthonormal(q) < 1e-12
    np.testing.assert_allclose(b, q.T @ a, atol=1e-12)
    assert np.linalg.norm(a - q @ b) < 1.2 * tail("geo_200x120", 30)
    basis = rsvd.range_finder(a, 30, context=cpu)
    np.testing.assert_allclose(basis, q, atol=1e-12)
    assert np.array_equal(rsvd.range_finder(a, 30, method="range", context=cpu), basis)
    for name, value in (("method", "krylov"), ("sign", "none"), ("error", "probes"), ("smallest_ratio", 0.5)):
        with pytest.raises(purlin.InvalidArgument, match=f"{name}: is .* for a basis of the range"):
            rsvd.qb(a, 30, context=cpu, **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["auto", "nystrom"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_eigenpairs_of_hermitian_matrices(cpu: purlin.Context, method: Any, dtype: Any) -> None:
    rng = np.random.default_rng(7)
    g = rng.standard_normal((80, 80)) + (1j * rng.standard_normal((80, 80)) if dtype is np.complex128 else 0)
    q = np.linalg.qr(g)[0].astype(dtype)
    spectrum = 0.5 ** np.arange(80) * (1 if method == "nystrom" else (-1.0) ** np.arange(80))
    a = (q * spectrum) @ q.conj().T
    found, v = rsvd.symmetric(a, 5, method=method, power_iterations=6, context=cpu)
    np.testing.assert_allclose(found, spectrum[:5], atol=1e-9)
    assert orthonormal(v) < 1e-12 and np.abs(a @ v - v * found).max() < 1e-6


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.int32, np.float16, np.float32])
def test_numbers_of_every_type_from_everywhere(cpu: purlin.Context, tmp_path: Path, dtype: Any) -> None:
    # Whole numbers that each of them holds.
    a = np.rint(120 * np.random.default_rng(3).random((90, 40))).astype(dtype)
    expected = np.linalg.svd(a.astype(np.float64), compute_uv=False)[:5]
    path = tmp_path / "a.npy"
    np.save(path, a)
    given = [
        a,
        np.asfortranarray(a),
        Source.from_array(a, context=cpu),
        Source.from_npy(path, context=cpu),
        Source.from_function(lambda where: a[where], a.shape, a.dtype, context=cpu),
    ]
    for k, source in enumerate(given):
        # As many columns as the matrix has: exact.
        options: Any = {"oversampling": 35, "method": "fused", "block_rows": 32, "dtype": np.float64, "context": cpu}
        np.testing.assert_allclose(rsvd.compute(source, 5, **options).s, expected, rtol=1e-12, err_msg=str(k))


@pytest.mark.parametrize(("dtype", "computed"), [(np.int32, np.float64), (np.uint32, np.float64), (np.uint16, np.float32)])
def test_integers_are_held_exactly_by_default(cpu: purlin.Context, dtype: Any, computed: Any) -> None:
    value = min(np.iinfo(dtype).max, 2**24 + 1)
    a = np.full((60, 20), value, dtype)
    u, s, _ = rsvd.compute(a, 1, context=cpu)
    assert u.dtype == computed and s.dtype == computed
    np.testing.assert_allclose(s, value * np.sqrt(a.size), rtol=100 * np.finfo(computed).eps)


def test_estimates_of_the_error(cpu: purlin.Context) -> None:
    a = matrix("poly_150x150")
    with rsvd.Rsvd(10, context=cpu) as session:
        u, s, vt = session.compute(a)
        frobenius, spectral = session.error(a, u, s, vt)
        left, right = session.residuals(a, u, s, vt)
    rest = a - (u * s) @ vt
    assert 0.5 < frobenius / np.linalg.norm(rest) < 2.0 and spectral >= np.linalg.norm(rest, 2)
    np.testing.assert_allclose(left, np.linalg.norm(a @ vt.T - u * s, axis=0), atol=1e-12)
    np.testing.assert_allclose(right, np.linalg.norm(a.T @ u - vt.T * s, axis=0), atol=1e-12)
    assert rsvd.Rsvd(10, error="probes", context=cpu).plan(a).error_kind == "probes"
    with rsvd.Rsvd(10, error="power", context=cpu) as session:
        found = session.compute(a)
        assert session.last_info().error_kind == "power"
        near = session.error(a, *found)[1]
        assert session.last_info().passes == 11
    truth = np.linalg.norm(a - (found.U * found.s) @ found.Vt, 2)
    assert 0.95 * truth < near < 1.000001 * truth


def test_plans(cpu: purlin.Context) -> None:
    with rsvd.Rsvd(10, oversampling=6, context=cpu) as session:
        info = session.plan(np.zeros((500, 200), np.float32))
    assert info.columns == 16 and info.dtype == np.float32 and info.passes > 0 and info.reason


def test_plans_are_those_of_the_factors_that_are_wanted(cpu: purlin.Context) -> None:
    # Of few columns beside the wanted ones U is the largest matrix of the run.
    a = np.random.default_rng(1).standard_normal((5000, 100))
    with rsvd.Rsvd(90, method="range", context=cpu) as session:
        planned = {}
        for left, right in ((True, True), (True, False), (False, True), (False, False)):
            planned[left, right] = session.plan(a, left=left, right=right).host_bytes
            session.compute(a, left=left, right=right)
            info = session.last_info()
            assert planned[left, right] == info.host_bytes
            assert 0.9 <= info.host_bytes_used / info.host_bytes <= 1.1
        assert session.plan(a).host_bytes == planned[True, True] > planned[False, False]


def test_restart_files_go_at_the_end(cpu: purlin.Context, tmp_path: Path) -> None:
    path = tmp_path / "state"
    seen = []

    def stop(step: int, steps: int, measure: float) -> bool:
        seen.append(path.exists())
        return seen[-1]

    a = Source.from_array(matrix("geo_200x120"), context=cpu)
    options: Any = {"method": "range", "power_iterations": 3, "block_rows": 50, "restart_path": path, "context": cpu}
    with pytest.raises(purlin.Cancelled):
        rsvd.compute(a, 6, progress=stop, **options)
    assert path.exists()
    with rsvd.Rsvd(6, **options) as session:
        s = session.compute(a).s
        assert session.last_info().restarted and session.last_info().passes_restarted > 0
    assert not path.exists()
    plain = rsvd.compute(a, 6, method="range", power_iterations=3, block_rows=50, context=cpu).s
    np.testing.assert_array_equal(s, plain)


def test_a_restart_file_belongs_to_its_sketch_and_options(cpu: purlin.Context, tmp_path: Path) -> None:
    path = tmp_path / "state"
    data = matrix("geo_200x120")
    first, second = (np.random.default_rng(seed).standard_normal((120, 16)) for seed in (1, 2))
    options: Any = {"method": "range", "power_iterations": 1, "block_rows": 50, "context": cpu}

    def run(stop: int | None, sketch: Any, **changed: Any) -> tuple[Any, rsvd.Info]:
        reads = 0

        def read(window: Any) -> Any:
            nonlocal reads
            reads += 1
            if reads == stop:
                raise KeyError("stop")
            return data[window]

        with rsvd.Rsvd(6, **{**options, "restart_path": path, **changed}) as session:
            session.set_sketch(sketch)
            return session.compute(Source.from_function(read, data.shape, data.dtype, context=cpu)).s, session.last_info()

    whole, info = run(None, first, restart_path=None)
    # A sample, then four blocks a pass.
    with pytest.raises(KeyError):
        run(10, first)
    with pytest.raises(purlin.InvalidArgument, match=r"restart_path: .*: is of another run: its given sketch \(omega\) has other numbers"):
        run(None, second)
    with pytest.raises(purlin.InvalidArgument, match=r"its sketch was given \(omega\)"):
        run(None, None)
    with pytest.raises(purlin.InvalidArgument, match="its method is RANGE, this one's FUSED"):
        run(None, first, method="fused")
    s, again = run(None, np.asfortranarray(first))
    np.testing.assert_array_equal(s, whole)
    assert again.restarted and again.passes + again.passes_restarted == info.passes
    reads: list[Any] = []

    def never(window: Any) -> Any:
        reads.append(window)
        return data[window]

    source = Source.from_function(never, data.shape, data.dtype, context=cpu)
    for bad in (tmp_path / "none" / "state", tmp_path, Path("/dev/null")):
        with pytest.raises(purlin.FileError, match=str(bad)):
            rsvd.compute(source, 6, restart_path=bad, **options)
    assert not reads


def test_progress_and_cancelling(cpu: purlin.Context) -> None:
    class Enough(Exception):
        pass

    def enough(step: int, steps: int, measure: float) -> None:
        raise Enough

    a = matrix("geo_200x120")
    steps = []
    rsvd.compute(a, 4, progress=lambda *now: steps.append(now), context=cpu)
    assert steps and steps[-1][0] == steps[-1][1]
    with pytest.raises(purlin.Cancelled):
        rsvd.compute(a, 4, progress=lambda *now: True, context=cpu)
    with pytest.raises(Enough):
        rsvd.compute(a, 4, progress=enough, context=cpu)


def test_refusals(cpu: purlin.Context) -> None:
    a = matrix("geo_200x120")
    with pytest.raises(purlin.InvalidArgument, match="rank"):
        rsvd.compute(a, 121, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="rank"):
        rsvd.compute(a, 0, context=cpu)
    with pytest.raises(ValueError, match="method"):
        rsvd.compute(a, 3, method="guess", context=cpu)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="colour"):
        rsvd.compute(a, 3, colour=1, context=cpu)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="dimensions"):
        rsvd.compute(np.zeros(5), 1, context=cpu)
    bad = a.copy()
    bad[70, 3] = np.nan
    with pytest.raises(purlin.Error, match=r"(?i)nan|finite"):
        rsvd.compute(bad, 3, context=cpu)
    with rsvd.Rsvd(3, context=cpu) as session, pytest.raises(purlin.InvalidArgument, match="omega"):
        session.set_sketch(np.zeros((119, 13)))
        session.compute(a)


def test_a_slow_reader_changes_the_method(cpu: purlin.Context) -> None:
    """AUTO chooses the method of fewer passes if passes cost more than its arithmetic."""
    with Source.from_function(lambda where: np.zeros((2000, 2000), np.float32)[where], (2000, 2000), np.float32, context=cpu) as source:
        with rsvd.Rsvd(300, context=cpu) as session:
            quick = session.plan(source)
        with rsvd.Rsvd(300, read_rate=1e6, context=cpu) as session:
            slow = session.plan(source)
    assert slow.method != quick.method and slow.passes < quick.passes, (quick, slow)


def test_a_file_of_4_gigabytes_runs_in_256_megabytes(tmp_path: Path) -> None:
    # Almost all of it is a hole. The rows that are not have the singular values 300, 200 and 100.
    rows, columns, limit = 65536, 8192, 256 << 20
    path = tmp_path / "large.npy"
    x = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(rows, columns))
    for k, at in enumerate((0, 40_000, rows - 1)):
        x[at, 7 * k] = 100 * (3 - k)
    del x
    with (
        purlin.Context("cpu", threads=2, host_memory_limit=limit) as small,
        Source.from_npy(path, context=small) as source,
        rsvd.Rsvd(3, power_iterations=0, context=small) as session,
    ):
        plan = session.plan(source)
        found, info = session.compute(source), session.last_info()
    np.testing.assert_allclose(found.s, [300, 200, 100], rtol=1e-10)
    assert np.abs(found.U[[0, 40_000, rows - 1], [0, 1, 2]]).min() > 1 - 1e-10
    assert plan.method == info.method and plan.host_bytes == info.host_bytes <= limit
    assert info.host_bytes_used <= limit and 0.9 < plan.host_bytes / info.host_bytes_used < 1.1
