"""Sparse matrices, their products and eigenpairs: against NumPy, closed forms and recorded values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import purlin
from purlin import _choices, graph, lanczos, sparse, spmv

GOLDEN = ROOT / "tests" / "golden" / "spectral"
RECORDED = json.loads((GOLDEN / "reference.json").read_text())


def random_dense(rows: int, cols: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((rows, cols)) + (1j * rng.standard_normal((rows, cols)) if np.dtype(dtype).kind == "c" else 0)
    return (values * (rng.random((rows, cols)) < 0.2)).astype(dtype)


def path(n: int, context: purlin.Context) -> purlin.Matrix:
    i = np.arange(n - 1)
    return sparse.from_coordinates(
        np.r_[i, i + 1], np.r_[i + 1, i], np.ones(2 * (n - 1)), (n, n), duplicates="refuse", context=context
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_conversions_keep_every_entry(cpu: purlin.Context, dtype: Any) -> None:
    full = random_dense(13, 7, dtype)
    row, col = np.nonzero(full)
    order = np.random.default_rng(1).permutation(row.size)
    made = sparse.from_coordinates(row[order], col[order], full[row, col][order], full.shape, context=cpu)
    assert made.storage == "csr" and made.dtype == dtype and made.nnz == row.size
    np.testing.assert_array_equal(sparse.to_dense(made), full)
    np.testing.assert_array_equal(sparse.to_dense(sparse.from_dense(full, context=cpu)), full)
    np.testing.assert_array_equal(sparse.to_dense(sparse.transpose(made, conjugate=True)), full.conj().T)
    np.testing.assert_array_equal(sparse.to_dense(sparse.pattern(made)), full != 0)
    rows, cols = np.random.default_rng(2).permutation(13), [5, 0, 3]
    np.testing.assert_array_equal(sparse.to_dense(sparse.permute(made, rows)), full[rows])
    np.testing.assert_array_equal(sparse.to_dense(sparse.select(made, rows[:4], cols)), full[rows[:4]][:, cols])
    assert sparse.norm(made) == pytest.approx(np.linalg.norm(full.astype(np.complex128)), rel=1e-6)
    assert sparse.norm(made, "one") == pytest.approx(np.abs(full).sum(0).max(), rel=1e-6)
    np.testing.assert_allclose(sparse.row_sums(made), full.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(sparse.diagonal(made), np.diag(full))
    sparse.set_values(made, made.arrays()[2] * 2)
    np.testing.assert_array_equal(sparse.to_dense(made), 2 * full)
    square = sparse.from_dense(random_dense(9, 9, dtype, 5), context=cpu)
    both = sparse.symmetrize(square, "sum")
    whole = sparse.to_dense(square)
    np.testing.assert_allclose(sparse.to_dense(both), whole + whole.conj().T, rtol=1e-6)
    assert sparse.is_symmetric(both) and not sparse.is_symmetric(square)


def test_duplicates_and_patterns(cpu: purlin.Context) -> None:
    row, col, values = [0, 0, 1], [1, 1, 0], [1.0, 3.0, 2.0]
    for how, kept in (("sum", 4.0), ("first", 1.0), ("last", 3.0), ("max", 3.0)):
        made = sparse.from_coordinates(row, col, values, (2, 2), duplicates=how, context=cpu)  # type: ignore[arg-type]
        assert sparse.to_dense(made)[0, 1] == kept
    with pytest.raises(purlin.InvalidArgument, match="elements 0 and 1 are both row 0, column 1"):
        sparse.from_coordinates(row, col, values, (2, 2), duplicates="refuse", context=cpu)
    assert sparse.from_coordinates(row, col, None, (2, 2), context=cpu).arrays()[2] is None
    with pytest.raises(ValueError, match="col: has shape"):
        sparse.from_coordinates(row, col[:2], values, (2, 2), context=cpu)
    with pytest.raises(ValueError, match="row: is float64"):
        sparse.from_coordinates([0.5], [1], [1.0], (2, 2), context=cpu)
    with pytest.raises(ValueError, match="duplicates: is 'all'"):
        sparse.from_coordinates(row, col, values, (2, 2), duplicates="all", context=cpu)  # type: ignore[arg-type]


def test_files_come_back(cpu: purlin.Context, tmp_path: Path) -> None:
    full = random_dense(11, 11)
    made = sparse.from_dense(full, context=cpu)
    sparse.write_market(made, tmp_path / "a.mtx")
    np.testing.assert_array_equal(sparse.to_dense(sparse.read_market(tmp_path / "a.mtx", context=cpu)), full)
    sparse.write_edges(made, tmp_path / "a.txt")
    back, names = sparse.read_edges(tmp_path / "a.txt", weighted=True, context=cpu)
    size = back.shape[0]
    assert names is None
    np.testing.assert_array_equal(sparse.to_dense(back), full[:size, :size])
    (tmp_path / "b.txt").write_text("70 5\n5 9\n")
    back, names = sparse.read_edges(tmp_path / "b.txt", relabel=True, context=cpu)
    assert names is not None and list(names) == [70, 5, 9] and back.nnz == 2
    with pytest.raises(purlin.FileError, match=r"nothing\.mtx"):
        sparse.read_market(tmp_path / "nothing.mtx", context=cpu)


def test_scipy_matrices_are_used_in_place(cpu: purlin.Context) -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    rows = scipy_sparse.random(40, 30, 0.2, "csr", random_state=1)
    borrowed = purlin.Matrix.from_scipy(rows, context=cpu)
    assert borrowed.info.data == rows.data.ctypes.data and borrowed.info.col_idx == rows.indices.ctypes.data
    np.testing.assert_array_equal(sparse.to_dense(purlin.Matrix.of(rows.tocsc(), context=cpu)), rows.toarray())
    np.testing.assert_array_equal(sparse.to_dense(rows.tocoo(), context=cpu), rows.toarray())
    made = sparse.transpose(borrowed)
    shown = made.scipy(copy=False)
    assert shown.data.ctypes.data == made.info.data and shown.indices.ctypes.data == made.info.col_idx
    del made
    np.testing.assert_array_equal(shown.toarray(), rows.toarray().T)
    symmetric = (rows @ rows.T).tocsc()
    columns = lanczos.operand(symmetric, cpu)
    assert columns.info.data == symmetric.data.ctypes.data
    values, _ = lanczos.solve(symmetric, 3, context=cpu)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(symmetric.toarray())[::-1][:3], rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("op", ["plain", "transpose", "adjoint"])
def test_products(cpu: purlin.Context, dtype: Any, op: Any) -> None:
    full = random_dense(31, 17, dtype)
    matrix = sparse.from_dense(full, context=cpu)
    by = {"plain": full, "transpose": full.T, "adjoint": full.conj().T}[op]
    tolerance = 1e-5 if np.dtype(dtype).itemsize in (4, 8) and dtype != np.float64 else 1e-13
    rng = np.random.default_rng(3)
    for method in ("auto", "scalar", "vector", "row_group", "row_bin", "merge", "entry_split"):
        plan = spmv.Plan(matrix, method=method, op=op)  # type: ignore[arg-type]
        assert plan.shape == by.shape and plan.info.nnz == matrix.nnz
        x = rng.standard_normal(by.shape[1]).astype(dtype)
        np.testing.assert_allclose(plan @ x, by @ x, atol=20 * tolerance)
        y = rng.standard_normal(by.shape[0]).astype(dtype)
        expected = 2 * (by @ x) - y
        np.testing.assert_allclose(plan.apply(x, y, alpha=2, beta=-1), expected, atol=20 * tolerance)
        for order in "CF":
            block = np.asarray(rng.standard_normal((by.shape[1], 3)).astype(dtype), order=order)  # type: ignore[call-overload]
            np.testing.assert_allclose(plan @ block, by @ block, atol=20 * tolerance)
    assert spmv.Plan(matrix, op=op).info.method != "auto"
    with pytest.raises(purlin.InvalidArgument, match="x: has dimensions"):
        plan.apply(np.zeros(5, dtype))
    with pytest.raises(ValueError, match="beta: needs y"):
        plan.apply(x, beta=1)


@pytest.mark.parametrize("order", ["degree", "cuthill_mckee"])
def test_orders_change_nothing_but_rounding(cpu: purlin.Context, order: Any) -> None:
    full = random_dense(60, 60)
    plan = spmv.Plan(full, ordering=order, context=cpu)
    assert plan.info.ordering == order and spmv.Plan(full, context=cpu).info.ordering == "none"
    x = np.random.default_rng(4).standard_normal((60, 3))
    for given in (x[:, 0].copy(), x, np.asfortranarray(x)):
        np.testing.assert_allclose(plan @ given, full @ given, atol=1e-13)
    both = sparse.from_dense(full + full.T, context=cpu)
    plain, turned = (lanczos.run(both, 4, ordering=how) for how in ("none", order))
    np.testing.assert_allclose(turned.pairs.values, plain.pairs.values, rtol=1e-10)
    np.testing.assert_allclose(turned.pairs.vectors, plain.pairs.vectors, atol=1e-7)
    with pytest.raises(purlin.InvalidArgument, match="ordering: is set, a is 60 x 20"):
        spmv.Plan(full[:, :20], ordering=order, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="ordering: is set"):
        lanczos.singular(both, 2, ordering=order)


def formed(kind: str, a: Any) -> Any:
    """The dense operator of a kind."""
    d = a.sum(1)
    over = np.divide(1, d, out=np.zeros_like(d), where=d > 0)
    half = np.sqrt(over)
    one = np.diag((d > 0).astype(a.dtype))
    return {
        "matrix": lambda: a,
        "laplacian": lambda: np.diag(d) - a,
        "normalized_laplacian": lambda: one - half[:, None] * a * half,
        "random_walk_laplacian": lambda: one - over[:, None] * a,
        "signless_laplacian": lambda: np.diag(d) + a,
        "normalized_adjacency": lambda: half[:, None] * a * half,
        "modularity": lambda: a - np.outer(d, d) / d.sum(),
        "gram": lambda: a.T @ a,
        "outer_gram": lambda: a @ a.T,
        "augmented": lambda: np.block([[np.zeros_like(a @ a.T), a], [a.T, np.zeros_like(a.T @ a)]]),
    }[kind]()


@pytest.mark.parametrize("kind", _choices.LANCZOS_KIND)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_operators_are_applied_without_being_formed(cpu: purlin.Context, kind: Any, dtype: Any) -> None:
    full = abs(random_dense(30, 30, dtype))
    full[4] = full[:, 4] = 0
    if kind in ("gram", "outer_gram", "augmented"):
        full = full[:, :20]
    tolerance = 1e-3 if dtype == np.float32 else 1e-11
    for shift in (0.0, 0.75):
        plan = spmv.Plan(full, kind=kind, shift=shift, context=cpu)
        want = formed(kind, full.astype(np.float64))
        want = want + shift * np.eye(len(want))
        assert plan.shape == want.shape and plan.info.kind == kind
        x = np.random.default_rng(4).standard_normal((len(want), 3)).astype(dtype)
        for given in (x[:, 0].copy(), x, np.asfortranarray(x)):
            np.testing.assert_allclose(plan @ given, want @ given, atol=tolerance)
            y = given.copy(order="K")
            plan.apply(given, y, alpha=-2, beta=0.5)
            np.testing.assert_allclose(y, -2 * (want @ given) + 0.5 * given, atol=tolerance)
    with pytest.raises(purlin.InvalidArgument, match="shift: is NaN"):
        spmv.Plan(full, kind=kind, shift=np.nan, context=cpu)


def test_new_values_have_new_degrees(cpu: purlin.Context) -> None:
    a = sparse.from_dense(abs(random_dense(20, 20)), context=cpu)
    plan = spmv.Plan(a, kind="laplacian")
    sparse.set_values(a, 3 * a.arrays()[2])
    plan.update(a)
    x = np.arange(20.0)
    np.testing.assert_allclose(plan @ x, formed("laplacian", sparse.to_dense(a)) @ x, atol=1e-11)
    with pytest.raises(purlin.InvalidArgument, match="op: is 'transpose'"):
        spmv.Plan(a, kind="gram", op="transpose")
    with pytest.raises(ValueError, match="kind: is 'random_walk_laplacian'"):
        lanczos.solve(a, 2, kind="random_walk_laplacian")  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_rows_and_columns_are_scaled(cpu: purlin.Context, dtype: Any) -> None:
    full = random_dense(13, 7, dtype)
    rows, cols = np.arange(1, 14), np.linspace(-1, 1, 7).astype(dtype)
    a = sparse.from_dense(full, context=cpu)
    np.testing.assert_allclose(sparse.to_dense(sparse.scale(a, rows, cols)), rows[:, None] * full * cols, rtol=1e-6)
    np.testing.assert_allclose(sparse.to_dense(sparse.scale(a, cols=cols)), full * cols, rtol=1e-6)
    made = sparse.scale(sparse.pattern(a), rows)
    np.testing.assert_array_equal(sparse.to_dense(made), rows[:, None] * (full != 0))
    with pytest.raises(purlin.InvalidArgument, match=r"cols: has dimensions \[13\], \[7\] are needed"):
        sparse.scale(a, cols=rows)


def test_several_contexts_share_the_rows(cpu: purlin.Context) -> None:
    more = [purlin.Context("cpu", threads=1), purlin.Context("cpu", threads=2)]
    group = purlin.Group([cpu, *more])
    a = path(300, cpu)
    wanted = 2 * np.cos(np.pi * np.arange(1, 5) / 301)
    for kind in ("matrix", "modularity"):
        alone = lanczos.run(a, 4, kind=kind, basis=60)
        found = lanczos.run(a, 4, kind=kind, basis=60, group=group)
        np.testing.assert_allclose(found.pairs.values, alone.pairs.values, atol=1e-11)
        # A path's vector has two entries of largest modulus, and rounding decides which of them fixes the sign.
        np.testing.assert_allclose(np.abs(found.pairs.vectors), np.abs(alone.pairs.vectors), atol=1e-8)
    np.testing.assert_allclose(lanczos.solve(a, 4, basis=60, group=group)[0], wanted, atol=1e-11)
    assert (found.info.contexts, found.info.halo, found.info.halo_bytes) == (3, 4, 32)
    assert found.info.part_rows >= 100 and found.info.product_bytes > 12 * found.info.part_entries
    assert (alone.info.contexts, alone.info.part_entries) == (0, 0)
    with pytest.raises(purlin.InvalidArgument, match="group: begins with another context"):
        lanczos.solve(a, 2, group=purlin.Group([more[0], cpu]))
    # A matrix that is given as an array is made on the group's first context.
    with lanczos.Lanczos(2, group=purlin.Group(more)) as solver:
        assert solver.context is more[0]
    assert lanczos.run(np.diag(np.arange(9.0)), 2, group=purlin.Group(more)).info.contexts == 2
    with pytest.raises(purlin.InvalidArgument, match="ordering: is set"):
        lanczos.solve(a, 2, group=group, ordering="degree")


def test_entries_are_checked_and_named(cpu: purlin.Context) -> None:
    indptr, indices = np.array([0, 2, 3]), np.array([2, 0, 1], np.int32)
    values = np.array([1.0, 2.0, np.nan])
    matrix = purlin.Matrix.csr(indptr, indices, values, (2, 3), context=cpu)
    with pytest.raises(purlin.InvalidArgument, match=r"row 0, column 0 \(from 0\), entry 1: follows column 2"):
        sparse.check(matrix)
    with pytest.raises(purlin.InvalidArgument, match=r"row 1, column 1 \(from 0\), entry 2: is NaN"):
        sparse.check(matrix, sorted=False)
    sparse.check(matrix, sorted=False, finite=False)
    sparse.check(sparse.canonical(purlin.Matrix.csr(indptr, indices, np.ones(3), (2, 3), context=cpu)))
    beyond = np.array([2, 0, 9], np.int32)
    with pytest.raises(purlin.InvalidArgument, match="col_idx: element 2 is 9"):
        purlin.Matrix.csr(indptr, beyond, None, (2, 3), context=cpu)
    assert purlin.Matrix.csr(indptr, beyond, None, (2, 3), context=cpu, trusted=True).nnz == 3
    fine = purlin.Matrix.csr(indptr, indices, np.ones(3), (2, 3), context=cpu, trusted=True)
    np.testing.assert_array_equal(sparse.to_dense(fine), [[1, 0, 1], [0, 1, 0]])


def test_nothing_is_read_that_is_multiplied_by_zero(cpu: purlin.Context) -> None:
    plan = spmv.Plan(random_dense(6, 6), context=cpu)
    y = np.full(6, np.nan)
    plan.apply(np.ones(6), y)
    assert np.isfinite(y).all()
    y[:] = 2
    plan.apply(np.full(6, np.nan), y, alpha=0, beta=0.5)
    np.testing.assert_array_equal(y, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"block": 3},
        {"orthogonalization": "partial"},
        {"method": "plain", "basis": 300},
        {"filter": "chebyshev"},
        {"filter": "chebyshev", "degree": 12},
    ],
)
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_every_way_finds_the_ends(cpu: purlin.Context, options: dict[str, Any], which: Any) -> None:
    n = 300
    exact = 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1)) * (1 if which == "largest" else -1)
    found = lanczos.run(path(n, cpu), 3, which, **{"basis": 60, **options})
    np.testing.assert_allclose(found.pairs.values, exact[:3], atol=1e-8)
    assert found.info.converged == 3 and found.residuals.max() < 1e-8
    assert (found.info.degree > 0) == ("filter" in options)


def test_nearest_eigenvalues_by_a_filter_and_by_a_solve(cpu: purlin.Context) -> None:
    n = 300
    a = path(n, cpu)
    exact = 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    sigma = exact[150] + 0.3 * (exact[149] - exact[150])
    by_filter = lanczos.run(a, 3, "nearest", sigma=sigma)
    np.testing.assert_allclose(by_filter.pairs.values, exact[[150, 149, 151]], atol=1e-9)
    shifted = sparse.to_dense(a) - sigma * np.eye(n)
    solve = lambda x: np.linalg.solve(shifted, x)  # noqa: E731
    inverse = purlin.Matrix.from_operator(solve, solve, (n, n), context=cpu)
    by_solve = lanczos.run(a, 3, "nearest", sigma=sigma, solve=inverse)
    np.testing.assert_allclose(by_solve.pairs.values, exact[[150, 149, 151]], atol=1e-11)
    assert by_filter.info.degree > 0 and by_solve.info.degree == 0
    with pytest.raises(purlin.InvalidArgument, match="solve: is given"):
        lanczos.run(a, 3, solve=inverse)
    wrong = purlin.Matrix.from_operator(lambda x: x, lambda x: x, (n, n), context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="solve: is not the inverse"):
        lanczos.run(a, 3, "nearest", sigma=sigma, solve=wrong)
    for no_inverse in (np.zeros_like, np.ones_like):
        with pytest.raises(purlin.InvalidArgument, match="solve: is not the inverse"):
            lanczos.run(a, 3, "nearest", sigma=sigma, solve=no_inverse)


@pytest.mark.parametrize("gap", [1e-6, 1e-10, 1e-12, None])
def test_a_solve_next_to_an_eigenvalue_and_of_a_graded_matrix(cpu: purlin.Context, gap: float | None) -> None:
    n = 40
    for seed in range(4):
        rng = np.random.default_rng(seed)
        q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        d = 10.0 ** np.linspace(-10, 0, n) if gap is None else np.sort(rng.standard_normal(n))
        a = (q * d) @ q.T
        a = (a + a.T) / 2
        sigma = 0.0 if gap is None else float(d[20] + gap)
        solve = lambda x, shifted=a - sigma * np.eye(n): np.linalg.solve(shifted, x)  # noqa: E731
        inverse = purlin.Matrix.from_operator(solve, solve, (n, n), context=cpu)
        found = lanczos.run(a, 4, "nearest", sigma=sigma, solve=inverse, context=cpu)
        exact = np.linalg.eigvalsh(a)
        exact = exact[np.argsort(abs(exact - sigma), kind="stable")[:4]]
        np.testing.assert_allclose(np.sort(found.pairs.values), np.sort(exact), atol=1e-10)
        assert found.info.converged == 4 and found.residuals.max() < 2e-10
        x = found.pairs.vectors
        assert x is not None
        np.testing.assert_allclose(x.T @ x, np.eye(4), atol=1e-8)


@pytest.mark.parametrize("name", ["as-caida20071105", "ca-AstroPh-cc", "email-Enron"])
def test_graphs_have_the_recorded_eigenvalues(cpu: purlin.Context, name: str) -> None:
    a = sparse.read_market(GOLDEN / f"{name}.mtx.gz", np.float64, context=cpu)
    solution = lanczos.run(a, 10)
    np.testing.assert_allclose(solution.pairs.values, RECORDED[name]["A_LA"][:10], atol=1e-10 * solution.info.norm)
    assert solution.info.stop_reason == "converged" and solution.info.converged == 10 and solution.info.verified and solution.info.products < 170
    x = solution.pairs.vectors
    assert x is not None
    plan = spmv.Plan(a)
    left = plan @ x - x * solution.pairs.values
    np.testing.assert_allclose(np.linalg.norm(left, axis=0), solution.residuals, atol=1e-12)
    np.testing.assert_allclose(x.T @ x, np.eye(10), atol=1e-12)
    assert solution.residuals.max() < 1e-8


def test_which_ends_and_kinds(cpu: purlin.Context) -> None:
    n = 120
    a = path(n, cpu)
    of_path = 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    laplacian = 2 - 2 * np.cos(np.pi * np.arange(n) / n)
    values = lanczos.solve(a, 4, "smallest", basis=60)[0]
    np.testing.assert_allclose(values, of_path[::-1][:4], atol=1e-9)
    values = lanczos.solve(a, 5, "both_ends", basis=60)[0]
    np.testing.assert_allclose(values, np.r_[of_path[:3], of_path[-2:]], atol=1e-9)
    values = lanczos.solve(a, 3, "smallest", kind="laplacian", basis=70, vectors=False)
    assert values.vectors is None
    np.testing.assert_allclose(values.values, laplacian[:3], atol=1e-9)
    full = sparse.to_dense(a)
    d = full.sum(1) ** -0.5
    scaled = np.linalg.eigvalsh(d[:, None] * full * d)
    values = lanczos.solve(a, 3, kind="normalized_adjacency", basis=70, shift=1.0)[0]
    np.testing.assert_allclose(values, 1 + scaled[::-1][:3], atol=1e-9)
    signless = np.linalg.eigvalsh(np.diag(full.sum(1)) + full)
    np.testing.assert_allclose(lanczos.solve(a, 2, kind="signless_laplacian", basis=70)[0], signless[::-1][:2], atol=1e-9)
    run = lanczos.run(a, 4, "largest_magnitude", basis=70)
    assert np.all(np.diff(np.abs(run.pairs.values)) < 1e-9)
    assert np.all(np.diff(run.sorted_by_value().values) > 0)


def test_words_of_scipy_are_translated(cpu: purlin.Context) -> None:
    a = sparse.from_dense(np.diag(np.arange(1.0, 9.0)), context=cpu)
    for word, own in (("LA", "largest"), ("LM", "largest_magnitude"), ("SM", "sigma=0")):
        with pytest.raises(ValueError, match=f"{word}.*{own}"):
            lanczos.solve(a, 2, word)  # type: ignore[arg-type]
    for name, own in (("tol", "tolerance"), ("ncv", "basis"), ("maxiter", "restarts"), ("v0", "start")):
        with pytest.raises(TypeError, match=f"'{name}'.*'{own}'"):
            lanczos.singular(a, 2, **{name: 1})  # type: ignore[arg-type]


def test_an_operator_without_a_type_computes_in_double_precision(cpu: purlin.Context) -> None:
    class Untyped:
        shape = (40, 40)

        def __init__(self, dtype: Any) -> None:
            self.dtype = dtype

        def matmat(self, x: Any) -> Any:
            return np.arange(1.0, 41.0)[:, None] * x

        rmatmat = matmat

    for dtype in (None, np.dtype(np.int8), np.dtype(np.int64)):
        with purlin.Matrix.of(Untyped(dtype), context=cpu) as made:
            assert made.dtype == np.float64
            np.testing.assert_allclose(lanczos.solve(made, 2).values, [40, 39], rtol=1e-12)
    with purlin.Matrix.of(Untyped(np.dtype(np.float32)), context=cpu) as made:
        assert made.dtype == np.float32


def test_the_repr_of_a_matrix_has_size_type_and_storage(cpu: purlin.Context) -> None:
    a = sparse.from_dense(np.diag([1.0, 2.0, 3.0]), context=cpu)
    assert repr(a) == "<purlin.Matrix 3 x 3 float64, csr, 3 stored, host>"
    a.close()
    assert repr(a) == "<purlin.Matrix, closed>"


def test_known_vectors_start_and_single_precision(cpu: purlin.Context) -> None:
    full = random_dense(150, 150, np.complex64, 4)
    full += full.conj().T
    exact = np.linalg.eigvalsh(full.astype(np.complex128))[::-1]
    first = lanczos.solve(sparse.from_dense(full, context=cpu), 4)
    np.testing.assert_allclose(first.values, exact[:4], atol=1e-4)
    assert first.vectors is not None and first.vectors.dtype == np.complex64
    again = lanczos.solve(full, 3, known=first.vectors, start=np.ones(150), context=cpu)
    np.testing.assert_allclose(again.values, exact[4:7], atol=1e-4)
    with pytest.raises(purlin.InvalidArgument, match="known: vector 0 is no eigenvector"):
        lanczos.solve(full, 3, known=np.ones((150, 1)), context=cpu)


def test_operators_are_solved_and_their_exceptions_raised(cpu: purlin.Context) -> None:
    diagonal = np.arange(300.0)
    made = purlin.Matrix.from_operator(lambda x: diagonal[:, None] * x, lambda x: diagonal[:, None] * x, (300, 300), context=cpu)
    np.testing.assert_allclose(lanczos.solve(made, 3, basis=60).values, [299, 298, 297], rtol=1e-10)

    def fails(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lanczos.solve(purlin.Matrix.from_operator(fails, fails, (300, 300), context=cpu), 3)
    with pytest.raises(purlin.Cancelled):
        lanczos.solve(made, 3, progress=lambda *_: True)


def test_the_error_of_a_solve_has_the_converged_pairs(cpu: purlin.Context) -> None:
    with pytest.raises(lanczos.Unfinished, match="of 5 eigenpairs") as caught:
        lanczos.solve(path(300, cpu), 5, "smallest", kind="laplacian", restarts=1)
    solution = caught.value.solution
    assert solution.info.stop_reason == "restarts" and solution.info.converged < 5
    assert solution.pairs.values.size == solution.info.count == solution.residuals.size


def test_residuals_that_contradict_are_no_success(cpu: purlin.Context) -> None:
    """A solve with (A - sigma' I)^-1 for sigma' close to sigma: the residuals of the recurrence are small, the true ones are not."""
    n, sigma = 200, 30.3
    diagonal = np.arange(n, dtype=float)[:, None]
    a = purlin.Matrix.from_operator(lambda x: diagonal * x, lambda x: diagonal * x, (n, n), context=cpu)
    for beside, succeeds in ((0.0, True), (1e-6, False)):
        solve = lambda x, at=sigma + beside: x / (diagonal - at)  # noqa: E731
        inverse = purlin.Matrix.from_operator(solve, solve, (n, n), context=cpu)
        if succeeds:
            found = lanczos.run(a, 3, "nearest", sigma=sigma, solve=inverse)
            assert found.info.stop_reason == "converged" and found.info.verified
            np.testing.assert_allclose(found.pairs.values, [30, 31, 29], atol=1e-9)
            continue
        with pytest.raises(lanczos.Unfinished, match="contradict") as caught:
            lanczos.run(a, 3, "nearest", sigma=sigma, solve=inverse)
        info = caught.value.solution.info
        assert info.stop_reason == "contradicted" and not info.verified and info.converged < 3


def test_every_copy_is_found(cpu: purlin.Context) -> None:
    v = np.arange(1024)
    bits = 1 << np.arange(10)
    cube = sparse.from_coordinates(
        np.repeat(v, 10), (v[:, None] ^ bits).ravel(), np.ones(10240), (1024, 1024), context=cpu
    )
    solution = lanczos.run(cube, 12, basis=40)
    np.testing.assert_allclose(solution.pairs.values, [10] + [8] * 10 + [6], atol=1e-9)
    assert solution.info.recovered > 0
    assert solution.info.verified is True and solution.info.stop_reason == "converged"
    assert solution.info.residual == solution.residuals.max() and solution.info.orthogonality < 1e-12
    blind = lanczos.run(cube, 12, basis=40, verify="off")
    assert np.count_nonzero(np.abs(blind.pairs.values - 8) < 1e-6) < 10 and blind.info.verified is False
    ring = np.arange(200)
    cycle = sparse.from_coordinates(
        np.concatenate((ring, (ring + 1) % 200)),
        np.concatenate(((ring + 1) % 200, ring)),
        np.ones(400),
        (200, 200),
        context=cpu,
    )
    found = lanczos.run(cycle, 3, kind="normalized_adjacency", basis=60)
    np.testing.assert_allclose(found.pairs.values, np.cos(2 * np.pi * np.array([0, 1, 1]) / 200), atol=1e-9)
    assert found.info.verified


def test_a_solver_is_used_for_several_matrices(cpu: purlin.Context) -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    seen: list[int] = []
    with lanczos.Lanczos(3, "largest", basis=40, context=cpu, progress=lambda step, steps, _: seen.append(step)) as solver:
        with pytest.raises(ValueError, match="lanczos: has no report yet"):
            solver.last_info()
        for n in (120, 240):
            path = scipy_sparse.diags([np.ones(n - 1)] * 2, [-1, 1], format="csr")
            exact = 2 * np.cos(np.pi * np.arange(1, 4) / (n + 1))
            plan = solver.plan(path)
            assert plan.method == "restart" and plan.basis == 40 and "restarts" in plan.reason and plan.part_rows == n
            values, vectors = solver.solve(path, start=np.ones(n) + np.arange(n) % 3)
            np.testing.assert_allclose(values, exact, atol=1e-9)
            assert vectors is not None and np.abs(path @ vectors - vectors * values).max() < 1e-8
            info = solver.last_info()
            assert info.converged == 3 and info.stop_reason == "converged"
            assert info.host_bytes >= 8 * n * 40 and info.reason == plan.reason
            u, s, v = solver.singular(path)
            np.testing.assert_allclose(s, 2 * np.cos(np.pi * np.array([1, 1, 2]) / (n + 1)), atol=1e-8)
            assert u is not None and v is not None and np.abs(path @ v - u * s).max() < 1e-7
            assert solver.solve(path, vectors=False).vectors is None
        assert seen
        solver.cancel()
        np.testing.assert_allclose(solver.solve(path).values, exact, atol=1e-9)
        with pytest.raises(ValueError, match="basis: is set"):
            solver.tridiagonalize(path, 10)
        known = np.ones((240, 1))
        assert solver.plan(path, known=known).basis == 40
        with pytest.raises(ValueError, match="solve: is given, but which = 'largest'"):
            solver.plan(path, solve=lambda b: b)
        with pytest.raises(purlin.InvalidArgument, match="ordering: is set, 'gram'"):
            lanczos.plan(path, 2, kind="gram", ordering="degree", context=cpu)
    with lanczos.Lanczos(2, restarts=1, basis=8, context=cpu, tolerance=1e-12) as solver:
        with pytest.raises(lanczos.Unfinished) as caught:
            solver.solve(path)
        assert caught.value.solution.values.size == solver.last_info().count and solver.last_info().converged < 2
    with lanczos.Lanczos(1, context=cpu) as solver:
        alpha, beta = solver.tridiagonalize(path, 20)
        assert alpha.size == beta.size == 20


def test_the_plain_recurrence_and_its_filter(cpu: purlin.Context) -> None:
    a = sparse.read_market(GOLDEN / "as-caida20071105.mtx.gz", np.float64, context=cpu)
    alpha, beta = lanczos.tridiagonalize(a, 120)
    assert alpha.size == beta.size == 120
    accepted = lanczos.cullum_willoughby(alpha, beta)
    np.testing.assert_allclose(accepted.values[::-1][:3], [69.643448747, 51.131864981, 41.371202093], rtol=1e-9)
    assert accepted.copies[-1] > 1 and accepted.residuals[-1] < 1e-6
    rng = np.random.default_rng(0)
    d, e = rng.standard_normal(12), rng.standard_normal(11)
    values, first, last = lanczos.tridiagonal_eigenvalues(d, e)
    exact, vectors = np.linalg.eigh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))
    np.testing.assert_allclose(values, exact, atol=1e-13)
    np.testing.assert_allclose(np.abs([first, last]), np.abs(vectors[[0, -1]]), atol=1e-12)
    with pytest.raises(ValueError, match="off: has shape"):
        lanczos.tridiagonal_eigenvalues(alpha, beta)


def test_wrong_options_are_named(cpu: purlin.Context) -> None:
    a = path(50, cpu)
    with pytest.raises(ValueError, match="which: is 'top'"):
        lanczos.solve(a, 2, "top")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'colour' is not an option"):
        lanczos.solve(a, 2, colour=1)  # type: ignore[call-arg]
    with pytest.raises(purlin.InvalidArgument, match="^k: is 0, less than 1"):
        lanczos.solve(a, 0)
    with pytest.raises(purlin.InvalidArgument, match="a: is not symmetric"):
        lanczos.solve(random_dense(70, 70), 2, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="sigma: is 1, but which = 'largest': 'nearest' is needed"):
        lanczos.solve(a, 2, sigma=1.0)
    with pytest.raises(purlin.InvalidArgument, match="degree: is 3, there is no filter"):
        lanczos.solve(a, 2, degree=3)
    sick = np.eye(70)
    sick[4, 4] = np.nan
    with pytest.raises(purlin.InvalidArgument, match="a: has NaN in row 4, column 4"):
        lanczos.solve(sick, 2, context=cpu)
    skew = np.diag(np.arange(100.0)) + 50 * np.eye(100, k=1)
    own = purlin.Matrix.from_operator(lambda x: skew @ x, lambda x: skew.T @ x, (100, 100), context=cpu)
    with pytest.raises(purlin.Numerical, match="not symmetric"):
        lanczos.solve(own, 3)
    with pytest.raises(purlin.InvalidArgument, match="kind: is set"):
        graph.embed(a, 2, kind="laplacian")
