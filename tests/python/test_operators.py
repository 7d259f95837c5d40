"""Plans of filters and operators, copies of matrices, and graphs by several contexts and in single precision."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import graph, lanczos, sparse, spmv


def path(n: int, context: purlin.Context, dtype: Any = np.float64) -> purlin.Matrix:
    i = np.arange(n - 1)
    ones = np.ones(2 * (n - 1), dtype)
    return sparse.from_coordinates(np.r_[i, i + 1], np.r_[i + 1, i], ones, (n, n), context=context)


def chebyshev(a: Any, degree: int, lower: float, upper: float) -> Any:
    t = (2 * a - (lower + upper) * np.eye(len(a))) / (upper - lower)
    before, here = np.eye(len(a)), t
    for _ in range(1, degree):
        before, here = here, 2 * t @ here - before
    return here


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_filters_are_polynomials(cpu: purlin.Context, dtype: Any) -> None:
    rng = np.random.default_rng(4)
    full = np.where(rng.random((30, 30)) < 0.2, rng.standard_normal((30, 30)), 0).astype(dtype)
    x = rng.standard_normal((30, 3)).astype(dtype)
    for degree, lower, upper in ((1, -1.0, 2.0), (4, -3.0, 5.0)):
        plan = spmv.Plan(full, op="adjoint", shift=0.5, degree=degree, lower=lower, upper=upper, context=cpu)
        assert plan.info.degree == degree
        want = chebyshev(full.astype(np.complex128).conj().T + 0.5 * np.eye(30), degree, lower, upper) @ x
        assert np.abs(plan @ x - want).max() < 200 * np.finfo(dtype).eps * np.abs(want).max()
        y = x.copy()
        plan.apply(x, y, alpha=2.0, beta=-1.0)
        assert np.abs(y - (2 * want - x)).max() < 200 * np.finfo(dtype).eps * np.abs(want).max()
    with pytest.raises(purlin.InvalidArgument, match="upper: is 1, more than lower = 1 is needed"):
        spmv.Plan(full, degree=3, lower=1.0, upper=1.0, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="lower: is 1 without a filter"):
        spmv.Plan(full, lower=1.0, context=cpu)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_images_are_multiplied_without_their_matrices(cpu: purlin.Context, dtype: Any) -> None:
    image = np.random.default_rng(7).random((6, 9)).astype(dtype)
    given: dict[str, Any] = {"radius": 2.0, "intensity": 0.3, "floor": 1e-3, "context": cpu}
    formed, unformed = graph.of_image(image, **given), graph.operator_of_image(image, **given)
    assert formed.dtype == unformed.dtype == dtype
    x = np.random.default_rng(8).standard_normal((54, 2)).astype(dtype)
    for kind in ("matrix", "laplacian", "normalized_laplacian", "random_walk_laplacian", "modularity"):
        plans = [spmv.Plan(w, kind=kind) for w in (formed, unformed)]  # type: ignore[arg-type]
        for block in (x[:, 0].copy(), x, np.asfortranarray(x)):
            np.testing.assert_allclose(plans[1] @ block, plans[0] @ block, atol=40 * np.finfo(dtype).eps)
    assert plans[1].info.nnz == 0 and plans[1].info.rows == 54
    with pytest.raises(purlin.NotSupported, match="ordering: is set, a sparse matrix"):
        spmv.Plan(unformed, ordering="degree")


def test_operators_are_planned_and_tested(cpu: purlin.Context) -> None:
    full = np.random.default_rng(2).standard_normal((5, 4))
    calls = {"seen": 0}

    def matmat(x: Any) -> Any:
        calls["seen"] += 1
        if calls["seen"] == 3:
            raise KeyError("third")
        return full @ x

    a = purlin.Matrix.from_operator(matmat, lambda x: full.T @ x, full.shape, np.float64, context=cpu)
    x = np.arange(4.0)
    np.testing.assert_allclose(spmv.Plan(a) @ x, full @ x)
    np.testing.assert_allclose(spmv.Plan(a, kind="gram", shift=1.0) @ x, full.T @ (full @ x) + x)
    with pytest.raises(KeyError, match="third"):
        spmv.Plan(a) @ x
    np.testing.assert_allclose(spmv.Plan(a, op="adjoint") @ np.ones(5), full.sum(0))

    square = full.T @ full
    for off, fits in ((0.0, True), (1e-3, False)):
        m = square.copy()
        m[0, 3] += off
        own = purlin.Matrix.from_operator(
            lambda x, m=m: m @ x, lambda x, m=m: m.T @ x, m.shape, np.float64, context=cpu  # type: ignore[misc]
        )
        if fits:
            values = lanczos.solve(own, 2, check_symmetry=True).values
            np.testing.assert_allclose(values, np.linalg.eigvalsh(m)[::-1][:2])
        else:
            with pytest.raises(purlin.InvalidArgument, match="a: is not symmetric"):
                lanczos.solve(own, 2, check_symmetry=True)


def test_copies_and_zeros(cpu: purlin.Context) -> None:
    a = sparse.from_coordinates([0, 0, 2], [1, 2, 0], [0.0, 1e-3, -2.0], (3, 3), context=cpu)
    assert [sparse.drop_zeros(a, t).nnz for t in (0.0, 1e-3, 2.0)] == [2, 1, 0]
    own = sparse.copy_to(a, "host")
    np.testing.assert_array_equal(sparse.to_dense(own), sparse.to_dense(a))
    with pytest.raises(purlin.InvalidArgument, match="threshold: is -1"):
        sparse.drop_zeros(a, -1.0)
    with pytest.raises(purlin.NotSupported):
        sparse.copy_to(a, "device")


def test_graph_functions_use_the_contexts_of_a_group(cpu: purlin.Context) -> None:
    n, other = 300, purlin.Context("cpu", threads=1)
    w, both = path(n, cpu), purlin.Group([cpu, other])
    shares = lanczos.plan(w, 1, group=both)
    assert shares.contexts == 2 and shares.products == 0 and shares.halo == 2
    assert lanczos.plan(w, 1).part_rows == n
    one, two = (graph.fiedler(w, basis=60, group=g) for g in (purlin.Group([cpu]), both))
    assert two.info.contexts == 2 and two.info.halo == shares.halo
    assert one.value == pytest.approx(two.value, rel=1e-8)
    assert one.value == pytest.approx(4 * np.sin(np.pi / (2 * n)) ** 2, rel=1e-6)
    pair = [graph.embed(w, 3, basis=60, group=g).values for g in (purlin.Group([cpu]), both)]
    np.testing.assert_allclose(pair[0], pair[1], atol=1e-10)
    assert graph.cluster(w, 2, basis=60, group=both).info.contexts == 2  # type: ignore[union-attr]
    with pytest.raises(purlin.InvalidArgument, match="group: begins with another context"):
        lanczos.plan(w, 1, group=purlin.Group([other]))
    # The message names the kind, and not an output whose size depends on it.
    with pytest.raises(purlin.NotSupported, match="kind: is 'augmented', several contexts share the rows of 'matrix' to"):
        lanczos.solve(w, 2, kind="augmented", group=both)


def test_errors_of_graph_functions_have_the_partial_result(cpu: purlin.Context) -> None:
    w = path(500, cpu)
    few: dict[str, Any] = {"basis": 7, "restarts": 1}
    with pytest.raises(lanczos.Unfinished) as caught:
        graph.embed(w, 3, **few)
    found = caught.value.solution
    assert found.info.converged < 3 and found.coordinates.shape == (500, found.info.count)
    with pytest.raises(lanczos.Unfinished) as caught:
        graph.cluster(w, 3, **few)
    assert caught.value.solution.labels.shape == (500,)
    with pytest.raises(lanczos.Unfinished) as caught:
        graph.fiedler(w, **few)
    assert np.linalg.norm(caught.value.solution.vector) == pytest.approx(1.0)
    none: dict[str, Any] = {"method": "plain", "basis": 2}
    with pytest.raises(purlin.InvalidArgument, match="which: is 'both_ends', this function takes the smallest"):
        graph.embed(w, solver=lanczos.Lanczos(3, "both_ends", context=cpu))
    with pytest.raises(purlin.InvalidArgument, match="method: is 'plain', which keeps no known vector out"):
        graph.fiedler(w, **none)
    with pytest.raises(lanczos.Unfinished) as caught:
        graph.cluster(w, 3, **none)
    assert np.isnan(caught.value.solution.inertia) and (caught.value.solution.labels == -1).all()


def test_single_precision_stays(cpu: purlin.Context) -> None:
    wide, single = path(40, cpu), path(40, cpu, np.float32)
    a, b = (graph.fiedler(w, basis=39).value for w in (wide, single))
    assert a == pytest.approx(b, rel=1e-3) and a != b
    points = np.random.default_rng(1).random((60, 2)).astype(np.float32)
    points[30:] += 5
    labels = graph.k_means(points, 2, context=cpu).labels
    assert (labels[:30] == labels[0]).all() and (labels[30:] != labels[0]).all()


def test_copies_of_components_are_found_by_default(cpu: purlin.Context) -> None:
    i = np.arange(199)
    row = np.concatenate([np.r_[i, i + 1] + 200 * g for g in range(3)])
    col = np.concatenate([np.r_[i + 1, i] + 200 * g for g in range(3)])
    three = sparse.from_coordinates(row, col, None, (600, 600), context=cpu)
    values = lanczos.solve(three, 6, basis=60).values
    np.testing.assert_allclose(values, np.repeat(2 * np.cos(np.pi * np.arange(1, 3) / 201), 3), atol=1e-10)


def test_blocks_of_matrices_without_elements_have_both_orders(cpu: purlin.Context) -> None:
    a = purlin.Matrix.csr(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), (0, 3), context=cpu)
    assert purlin.spmv.Plan(a, context=cpu).apply(np.ones((3, 2))).shape == (0, 2)
    y = np.ones((3, 2))
    purlin.spmv.Plan(a, op="transpose", context=cpu).apply(np.ones((0, 2)), y, beta=2.0)
    np.testing.assert_array_equal(y, 2.0)


def test_graph_functions_take_a_solver(cpu: purlin.Context) -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    blocks = scipy_sparse.block_diag([np.ones((20, 20)) - np.eye(20)] * 3, format="lil")
    blocks[0, 20] = blocks[20, 0] = blocks[20, 40] = blocks[40, 20] = 1.0
    w = blocks.tocsr()
    with lanczos.Lanczos(3, seed=4, context=cpu) as solver:
        embedded = graph.embed(w, solver=solver)
        assert embedded.coordinates.shape == (60, 3) and solver.last_info() == embedded.info
        np.testing.assert_array_equal(embedded.values, graph.embed(w, 3, seed=4, context=cpu).values)
        found = graph.cluster(w, 3, solver=solver)
        assert len(set(found.labels[:20])) == 1 and len(set(found.labels)) == 3
        alpha, _ = solver.tridiagonalize(w, 5)
        info = solver.last_info()
        assert info.method == "plain" and info.products == alpha.size == info.basis and info.count == 0
        density = graph.density(w, 6, 4, solver=solver)
        info = solver.last_info()
        assert info.products == density.points.size and info.norm == np.abs(density.points).max()
        with pytest.raises(ValueError, match="clusters: is 4, the solver finds 3"):
            graph.cluster(w, 4, solver=solver)
        with pytest.raises(TypeError, match="solver: is given"):
            graph.embed(w, solver=solver, seed=1)
        with purlin.Context("cpu", threads=1) as other, pytest.raises(ValueError, match="context: is not the solver's"):
            graph.embed(w, solver=solver, context=other)
    with lanczos.Lanczos(1, context=cpu) as solver:
        pair = graph.fiedler(w, solver=solver)
        assert pair.value == graph.fiedler(w, context=cpu).value and solver.last_info() == pair.info
    with pytest.raises(TypeError, match="k: is missing"):
        graph.embed(w, context=cpu)


def test_a_group_and_its_contexts_live_with_the_solver(cpu: purlin.Context) -> None:
    other = purlin.Context("cpu", threads=1)
    alive = weakref.ref(other)
    solver = lanczos.Lanczos(2, basis=20, group=purlin.Group([cpu, other]))
    del other
    gc.collect()
    member = alive()
    assert member is not None and not member.closed
    del member
    solver.solve(path(100, cpu))
    assert solver.last_info().contexts == 2
    solver.close()
    del solver
    gc.collect()
    assert alive() is None
