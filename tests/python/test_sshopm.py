"""Eigenpairs: the published tables, complete sets, shapes, options, bad input."""

from __future__ import annotations

import itertools
import json
import threading
from typing import Any

import numpy as np
import pytest
from conftest import GOLDEN

import purlin
from purlin import sshopm, symmetric

PUBLISHED = {case["name"]: case for case in json.loads((GOLDEN / "published_eigenpairs.json").read_text())}
KOFIDIS = np.array(PUBLISHED["kofidis_regalia_4_3"]["packed_lex"])
CLASSES = {
    "negative_stable": purlin.PAIR_NEGATIVE_STABLE,
    "positive_stable": purlin.PAIR_POSITIVE_STABLE,
    "unstable": purlin.PAIR_UNSTABLE,
}
rng = np.random.default_rng(11)


def canonical(case: Any) -> list[tuple[float, Any, int, Any]]:
    """A table's pairs with the sign rule of the library: lambda, x, class, Hessian eigenvalues."""
    pairs = []
    for pair in case["eigenpairs"]:
        value, x, hessian = pair["lambda"], np.array(pair["x"]), np.array(pair["hess_eigs"])
        kind = CLASSES[pair["cls"]]
        flip = x[np.argmax(abs(x))] < 0 if case["m"] % 2 == 0 else value < 0
        if flip and case["m"] % 2 == 1:
            value, hessian = -value, -hessian[::-1]
            kind = {0: 1, 1: 0}.get(kind, kind)
        pairs.append((value, -x if flip else x, kind, hessian))
    return sorted(pairs, key=lambda p: -p[0])


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_published_tables_are_reproduced_whole(cpu: purlin.Context, name: str) -> None:
    case = PUBLISHED[name]
    table = canonical(case)
    found = sshopm.solve_all(np.array(case["packed_lex"]), 16, order=case["m"], context=cpu)
    count = int(found.count)
    assert count == len(table)
    assert found.status == purlin.TENSOR_OK
    assert found.morse_sum == found.morse_expected == 1
    order = np.argsort(-found.values[:count])
    for k, (value, x, kind, hessian) in zip(order, table):
        assert found.values[k] == pytest.approx(value, abs=1e-13)
        np.testing.assert_allclose(found.vectors[k], x, atol=1e-11)
        assert found.classes[k] == kind
        np.testing.assert_allclose(found.hessian[k], hessian, atol=1e-10)
        assert found.residuals[k] <= 1e-13
    assert np.isnan(found.values[count:]).all()


@pytest.mark.parametrize("method", ["hybrid", "power"])
def test_solve_finds_the_stable_pairs_of_the_table(cpu: purlin.Context, method: Any) -> None:
    table = canonical(PUBLISHED["kofidis_regalia_4_3"])
    maxima = [value for value, _, kind, _ in table if kind == purlin.PAIR_NEGATIVE_STABLE]
    minima = [value for value, _, kind, _ in table if kind == purlin.PAIR_POSITIVE_STABLE][::-1]
    for goal, expected in (("maxima", maxima), ("minima", minima), ("both", maxima + minima)):
        found = sshopm.solve(KOFIDIS, 8, goal=goal, method=method, context=cpu)  # type: ignore[arg-type]
        assert int(found.count) == len(expected)
        np.testing.assert_allclose(found.values[: len(expected)], expected, atol=1e-10)
        assert found.basins.sum() == found.info.converged_starts
        assert found.info.tensors == 1 and found.info.seconds >= 0


@pytest.mark.parametrize(("options", "iterations"), [({}, 23), ({"shift_kind": "fixed", "shift": 2.0}, 46)])
def test_iteration_counts_of_the_tensor_toolbox(cpu: purlin.Context, options: Any, iterations: int) -> None:
    run = sshopm.runs(
        KOFIDIS, (1, 0.5, -0.3), compatibility="tensor_toolbox", method="power", trace=60, context=cpu, **options
    )
    assert run.status.tolist() == [purlin.START_CONVERGED]
    assert run.iterations.tolist() == [iterations]
    assert run.values[0] == pytest.approx(0.8893220107, abs=1e-10)
    assert run.trace is not None
    recorded = run.trace[~np.isnan(run.trace)]
    assert len(recorded) in (iterations, iterations + 1)
    assert (np.diff(recorded) >= -1e-14).all()  # the shift makes it monotone
    assert recorded[-1] == pytest.approx(run.values[0], abs=1e-14)


def test_an_unshifted_run_reports_that_it_did_not_converge(cpu: purlin.Context) -> None:
    run = sshopm.runs(
        KOFIDIS, sshopm.starts(16, context=cpu), method="power", shift_kind="fixed", shift=0.0, context=cpu
    )
    assert run.values.shape == (16,) and run.vectors.shape == (16, 3)
    assert purlin.START_MAX_ITERATIONS in run.status
    assert run.iterations[run.status == purlin.START_MAX_ITERATIONS].min() == 500


@pytest.mark.parametrize("order", [3, 4, 5, 6, 8])
def test_complete_sets_of_random_tensors(cpu: purlin.Context, order: int) -> None:
    with np.load(GOLDEN / "random_n3_all_eigenpairs.npz") as golden:
        tensors, counts = golden[f"m{order}_tensors"], golden[f"m{order}_count"]
        values, index = golden[f"m{order}_lambda"], golden[f"m{order}_morse_index"]
    tensors, counts = tensors[:10], counts[:10]
    found = sshopm.solve_all(tensors, 60, order=order, context=cpu)
    np.testing.assert_array_equal(found.count, counts)
    np.testing.assert_array_equal(found.morse_sum, found.morse_expected)
    start = 0
    for t, count in enumerate(counts):
        rows = slice(start, start + count)
        start += count
        descending = np.argsort(-values[rows])
        mine = np.argsort(-found.values[t, :count])
        np.testing.assert_allclose(found.values[t, mine], values[rows][descending], atol=1e-11)
        negative = (found.hessian[t, :count] < 0).sum(-1)
        np.testing.assert_array_equal(np.sort(negative), np.sort(index[rows]))


def test_orthogonally_decomposable_tensors(cpu: purlin.Context) -> None:
    weights = np.array([3.0, 2.0, 1.5])
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    exponents = symmetric.exponents(4)
    packed = (weights * (q[None] ** exponents[:, :, None]).prod(1)).sum(1)
    found = sshopm.solve(packed, context=cpu)
    assert found.count == 3
    np.testing.assert_allclose(found.values[:3], weights, rtol=1e-10)
    np.testing.assert_allclose(abs((found.vectors[:3] * q.T).sum(-1)), 1, atol=1e-10)
    expected = sorted(
        1 / sum(1 / weights[i] for i in chosen)
        for size in (1, 2, 3)
        for chosen in itertools.combinations(range(3), size)
        for _ in range(2 ** (size - 1))
    )
    every = sshopm.solve_all(packed, 16, context=cpu)
    assert every.count == len(expected) == 13
    np.testing.assert_allclose(np.sort(every.values[:13]), expected, rtol=1e-10)


@pytest.mark.parametrize(("order", "dimension"), [(2, 3), (3, 2), (4, 2), (3, 3), (4, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_the_full_tensor(cpu: purlin.Context, order: int, dimension: int, dtype: Any) -> None:
    shape: Any = {"order": order, "dimension": dimension, "context": cpu}
    packed = rng.standard_normal((5, symmetric.count(order, dimension))).astype(dtype)
    vectors = rng.standard_normal((4, dimension)).astype(dtype)
    vectors[0, 0] = 0
    tolerance = (1e-5 if dtype == np.float32 else 1e-13) * np.sqrt(packed.shape[1]) * 50
    full = symmetric.to_full(packed, **shape).astype(float)
    expected = np.repeat(full[:, None], 4, axis=1)  # (T, V, n, .., n)
    for power in range(1, order + 1):
        expected = np.einsum("tv...i,vi->tv...", expected, vectors.astype(float))
        if power >= order - 2:
            found = sshopm.product(packed, vectors, power, **shape)
            assert found.dtype == dtype and found.shape == expected.shape
            np.testing.assert_allclose(found, expected, atol=tolerance)
    own = rng.standard_normal((5, 2, dimension)).astype(dtype)
    each = sshopm.product(packed, own, order, **shape)
    singles = [sshopm.product(row, x, order, **shape) for row, xs in zip(packed, own) for x in xs]
    np.testing.assert_allclose(each.ravel(), np.array(singles), atol=tolerance)


def test_a_matrix_is_a_tensor_of_order_two(cpu: purlin.Context) -> None:
    a = rng.standard_normal((4, 4))
    values, vectors = np.linalg.eigh(a + a.T)
    packed = symmetric.from_full(a + a.T, context=cpu)
    top = sshopm.solve(packed, 2, order=2, dimension=4, context=cpu)
    assert top.count == 1
    assert top.values[0] == pytest.approx(values[-1], abs=1e-9)
    every = sshopm.solve_all(packed, 6, order=2, dimension=4, context=cpu)
    assert every.count == 4
    np.testing.assert_allclose(np.sort(every.values[:4]), values, atol=1e-12)
    assert abs(top.vectors[0] @ vectors[:, -1]) == pytest.approx(1, abs=1e-9)


def test_one_dimension(cpu: purlin.Context) -> None:
    found = sshopm.solve([[2.0], [-3.0]], 2, order=4, dimension=1, context=cpu)
    assert found.values[:, 0].tolist() == [2, -3]
    assert found.hessian.shape == (2, 2, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_volumes_keep_their_shape_in_either_order(cpu: purlin.Context, dtype: Any) -> None:
    volume = rng.standard_normal((2, 3, 4, 15)).astype(dtype)
    rows = sshopm.solve(volume, 3, context=cpu)
    columns = sshopm.solve(np.asfortranarray(volume), 3, context=cpu)
    assert rows.values.shape == (2, 3, 4, 3) and rows.values.dtype == dtype
    assert rows.vectors.shape == (2, 3, 4, 3, 3) and rows.hessian.shape == (2, 3, 4, 3, 2)
    for name in ("count", "status", "values", "vectors", "classes", "basins"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(columns, name))
    single = sshopm.solve(volume[1, 2, 3], 3, context=cpu)
    np.testing.assert_array_equal(single.values, rows.values[1, 2, 3])
    checked = sshopm.classify(np.asfortranarray(volume), rows.values, rows.vectors, context=cpu)
    there = rows.classes[rows.values == rows.values]
    np.testing.assert_array_equal(checked.classes[rows.values == rows.values], there)


def test_results_do_not_depend_on_threads(cpu: purlin.Context) -> None:
    volume = rng.standard_normal((200, 15))
    with purlin.Context("cpu", threads=1) as one:
        alone = sshopm.solve(volume, context=one, start_kind="random", seed=5)
    together = sshopm.solve(volume, context=cpu, start_kind="random", seed=5)
    np.testing.assert_array_equal(alone.values, together.values)
    other = sshopm.runs(volume[:1], sshopm.starts(8, kind="random", seed=6, context=cpu), context=cpu)
    assert other.values.shape == (1, 8)


def test_starts(cpu: purlin.Context) -> None:
    lattice = sshopm.starts(16, kind="fibonacci_hemisphere", context=cpu)
    i = np.arange(16)
    z = 1 - (i + 0.5) / 16
    turn = i * np.pi * (3 - np.sqrt(5))
    r = np.sqrt(1 - z * z)
    np.testing.assert_allclose(lattice, np.stack([r * np.cos(turn), r * np.sin(turn), z], 1), atol=1e-14)
    drawn = sshopm.starts(100, 7, "random", seed=3, context=cpu)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(drawn, sshopm.starts(100, 7, "random", seed=3, context=cpu))
    assert (drawn != sshopm.starts(100, 7, "random", seed=4, context=cpu)).any()
    with pytest.raises(purlin.InvalidArgument):
        sshopm.starts(16, 4, "fibonacci_sphere", context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="seed: is 3"):
        sshopm.starts(16, seed=3, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="seed: is 3"):
        sshopm.solve_all(np.eye(3)[np.triu_indices(3)], order=2, seed=3, context=cpu)


def test_results_into_tensors_of_the_caller(cpu: purlin.Context) -> None:
    batch = purlin.Tensor.symmetric(np.stack([KOFIDIS, 2 * KOFIDIS]), context=cpu)
    values = np.empty((2, 4))
    results = sshopm.Results(
        values=purlin.Tensor.borrow(values.T, context=cpu),
        status=purlin.Tensor.create((2,), np.int32, context=cpu),
    )
    with purlin.Stream(cpu) as stream:
        info = sshopm.solve_into(batch, results, starts=64, stream=stream)
    assert info.starts == 64
    np.testing.assert_allclose(values[1, :3], 2 * values[0, :3], rtol=1e-12)
    assert results.status is not None and results.status.numpy().tolist() == [0, 0]
    results.values = purlin.Tensor.create((4, 3), context=cpu)  # of another number of tensors
    with pytest.raises(purlin.InvalidArgument):
        sshopm.solve_into(batch, results)


def test_one_bad_tensor_does_not_affect_others(cpu: purlin.Context) -> None:
    batch = np.stack([KOFIDIS] * 5)
    batch[1, 4] = np.nan
    batch[2] = 0
    batch[3] = symmetric.identity(4, context=cpu)
    found = sshopm.solve(batch, 3, context=cpu)
    assert found.status.tolist() == [
        purlin.TENSOR_OK,
        purlin.TENSOR_NONFINITE,
        purlin.TENSOR_ZERO,
        purlin.TENSOR_ISOTROPIC,
        purlin.TENSOR_OK,
    ]
    np.testing.assert_array_equal(found.values[0], found.values[4])
    assert found.count[1] == 0 and np.isnan(found.values[1]).all()
    assert not np.nan_to_num(found.values[2]).any()


def test_an_empty_batch_succeeds(cpu: purlin.Context) -> None:
    found = sshopm.solve(np.empty((0, 15)), 3, context=cpu)
    assert found.values.shape == (0, 3) and found.vectors.shape == (0, 3, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"shift_kind": "fixed", "shift": -1.0},
        {"tolerance": -1.0},
        {"tolerance": float("nan")},
        {"tolerance": 1.0},
        {"tolerance": 1e308},
        {"max_iterations": -1},
        {"merge_angle": -0.1},
        {"starts": -3},
        {"starts": np.zeros((2, 3))},
        {"starts": np.full((2, 3), np.nan)},
        {"starts": np.ones((2, 4))},
        {"pairs": -1},
        {"seed": 1},
        {"seed": 1, "start_kind": "icosahedral"},
        {"seed": 1, "starts": np.ones((2, 3))},
    ],
)
def test_refused_options(cpu: purlin.Context, options: Any) -> None:
    with pytest.raises(ValueError):
        sshopm.solve(KOFIDIS, context=cpu, **options)


def test_refused_names(cpu: purlin.Context) -> None:
    with pytest.raises(TypeError, match="'tolerence' is not an option"):
        sshopm.solve(KOFIDIS, context=cpu, tolerence=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="goal: is 'max'"):
        sshopm.solve(KOFIDIS, context=cpu, goal="max")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="complex"):
        sshopm.solve(KOFIDIS.astype(complex), context=cpu)
    with pytest.raises(ValueError, match=r"values: has shape \(2,\)"):
        sshopm.classify(KOFIDIS[None], np.zeros(2), np.zeros((2, 3)), context=cpu)


def test_all_pairs_are_listed_by_default(cpu: purlin.Context) -> None:
    rng = np.random.default_rng(5)
    tensors = rng.standard_normal((3, 45))
    whole = sshopm.solve_all(tensors, context=cpu)
    assert not whole.truncated.any() and (whole.found == whole.count).all()
    assert (whole.morse_sum == whole.morse_expected).all() and (whole.status == purlin.TENSOR_OK).all()
    assert whole.count.max() > 16
    some = sshopm.solve_all(tensors, 5, context=cpu)
    assert some.truncated.all() and (some.count == 5).all() and (some.found == whole.found).all()
    assert some.info.truncated_tensors == 3
    few = sshopm.solve(tensors, 1, context=cpu)
    assert few.truncated.any() and (few.found >= few.count).all()


def test_a_circle_of_maxima_is_one_degenerate_entry(cpu: purlin.Context) -> None:
    # (x^2 + y^2)^2 + (x^2 + y^2) z^2 / 2, lexicographic entries
    form = np.zeros(15)
    form[[0, 3, 10]] = 1.0, 1.0 / 3.0, 1.0
    form[[5, 12]] = 1.0 / 12.0
    for dtype in (np.float64, np.float32):
        found = sshopm.solve_all(form.astype(dtype), context=cpu)
        assert found.count == 2 and found.status == purlin.TENSOR_DEGENERATE
        assert found.morse_expected == sshopm.NO_INFORMATION
        np.testing.assert_allclose(found.values[:2], [1.0, 0.0], atol=1e-6)
        assert list(found.classes[:3]) == [purlin.PAIR_DEGENERATE, purlin.PAIR_POSITIVE_STABLE, purlin.PAIR_NONE]


def test_pairs_of_odd_orders_follow_the_goal(cpu: purlin.Context) -> None:
    packed = np.array([-0.1281, 0.0516, -0.0954, -0.1958, -0.1790, -0.2676, 0.3251, 0.2513, 0.1773, 0.0338])
    up = np.array([0.8729851444, 0.4305863718, 0.0179813162, -0.0005654540])
    for goal, expected, kind in (("maxima", up, "NEGATIVE"), ("minima", -up, "POSITIVE")):
        found = sshopm.solve(packed, order=3, goal=goal, context=cpu)  # type: ignore[arg-type]
        assert found.count == 4
        np.testing.assert_allclose(found.values[:4], expected, atol=1e-9)
        assert (found.classes[:4] == getattr(purlin, f"PAIR_{kind}_STABLE")).all()
        assert (found.classes[4:] == purlin.PAIR_NONE).all()
    both = sshopm.solve(packed, order=3, goal="both", context=cpu)
    np.testing.assert_allclose(both.values[:4], np.abs(up), atol=1e-9)
    assert both.count == 4
    with pytest.raises(purlin.InvalidArgument, match="shift"):
        sshopm.solve(packed, order=3, shift_kind="adaptive", shift=1.0, context=cpu)


@pytest.mark.parametrize("pairs", [0, -1])
@pytest.mark.parametrize("function", [sshopm.solve, sshopm.solve_all])
def test_no_pairs_are_refused_by_name(cpu: purlin.Context, function: Any, pairs: int) -> None:
    with pytest.raises(ValueError, match=f"^pairs: is {pairs}, at least 1 is needed"):
        function(np.ones((2, 15)), pairs=pairs, context=cpu)


def test_one_object_for_many_batches(cpu: purlin.Context) -> None:
    batches = [(rng.standard_normal((6, 15)), 4), (rng.standard_normal((2, 3, 10)), 3), (rng.standard_normal(28), 6)]
    with sshopm.Sshopm(goal="both", starts=50, context=cpu) as solver:
        with pytest.raises(purlin.InvalidArgument, match="sshopm: has no report yet"):
            solver.last_info()
        for tensors, order in batches:
            plan = solver.plan(tensors, order=order)
            found = solver.solve(tensors, 6, order=order)
            alone = sshopm.solve(tensors, 6, order=order, goal="both", starts=50, context=cpu)
            for name in ("count", "values", "vectors", "classes", "status"):
                assert np.array_equal(getattr(found, name), getattr(alone, name), equal_nan=name in ("values", "vectors"))
            assert solver.last_info() == found.info
            assert (plan.starts, plan.tolerance, plan.tensors) == (50, found.info.tolerance, found.info.tensors)
            assert plan.reason == "on the CPU of the context" and 0 < plan.host_bytes < found.info.host_bytes
        with pytest.raises(purlin.InvalidArgument, match="goal: is 'both', but the search for all pairs"):
            solver.solve_all(batches[0][0])
        with pytest.raises(purlin.InvalidArgument, match="starts: row 0 is zero"):
            solver.solve(batches[0][0], starts=np.zeros((2, 3)))
        assert solver.last_info() == found.info


def test_a_set_of_few_starts_that_lacks_pairs_is_incomplete(cpu: purlin.Context) -> None:
    tensors = np.random.default_rng(8).standard_normal((40, 20))
    whole = sshopm.solve_all(tensors, order=3, dimension=4, context=cpu)
    assert np.array_equal(whole.status, np.full(40, purlin.TENSOR_OK)) and (whole.count % 2 == 1).all()
    for starts, most in ((4, 128), (20, 640)):
        few = sshopm.solve_all(tensors, order=3, dimension=4, starts=starts, max_starts=most, seed=2, context=cpu)
        complete = few.status == purlin.TENSOR_OK
        np.testing.assert_array_equal(few.count[complete], whole.count[complete])
        assert (few.status[~complete] == purlin.TENSOR_INCOMPLETE).all()
    assert complete.sum() > 30


def test_all_pairs_by_an_object(cpu: purlin.Context) -> None:
    with sshopm.Sshopm(starts=300, max_starts=3000, seed=5, context=cpu) as solver:
        found = solver.solve_all(KOFIDIS)
        assert found.count == 11 and found.morse_sum == 1
        assert solver.last_info() == found.info
        with pytest.raises(purlin.InvalidArgument, match="max_starts: is 3000"):
            solver.solve(KOFIDIS)


def test_an_object_is_cancelled_from_another_thread_and_solves_again(cpu: purlin.Context) -> None:
    tensors = rng.standard_normal((20_000, 15))
    options: Any = {"method": "power", "shift": 1e6, "tolerance": 1e-15, "starts": 500, "max_iterations": 20_000}
    with sshopm.Sshopm(context=cpu, **options) as solver:
        timer = threading.Timer(0.2, solver.cancel)
        timer.start()
        with pytest.raises(purlin.Cancelled):
            solver.solve(tensors)
        timer.join()
        solver.cancel()
        with sshopm.Sshopm(context=cpu) as other:
            other.solve(tensors[:3])
    with pytest.raises(purlin.InvalidHandle):
        solver.last_info()


def test_an_exception_of_an_objects_progress_is_raised(cpu: purlin.Context) -> None:
    calls = []

    def progress(step: int, steps: int, measure: float) -> None:
        calls.append(step)
        if len(calls) == 1:
            raise LookupError("enough")

    with sshopm.Sshopm(progress=progress, context=cpu) as solver:
        with pytest.raises(LookupError, match="enough"):
            solver.solve(KOFIDIS)
        assert solver.solve(KOFIDIS, 3).count == 3
    assert len(calls) > 1
