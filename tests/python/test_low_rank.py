"""Inputs that must not be truncated, limits of memory, models and errors that leave their process, threads."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import _error, rpca, rsvd
from purlin.blocks import Source
from purlin.pca import PCA


def numbers(rows: int, columns: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def read_as(declared: Any, returned: Any, context: purlin.Context) -> Any:
    """Singular values through a read function that declares one type and returns another."""
    shape = np.asarray(returned).shape
    with Source.from_function(lambda where: returned[where], shape, declared, context=context) as source:
        return rsvd.compute(source, 2, dtype=np.float64, context=context).s


@pytest.mark.parametrize(
    ("declared", "values", "problem"),
    [
        (np.int32, numbers(30, 8) * 100, "returned float64, expected int32"),
        (np.uint8, np.full((30, 8), 300), "returned int64 of 300 to 300, expected uint8"),
        (np.int8, np.full((30, 8), -129), "of -129 to -129, expected int8"),
        (np.float64, numbers(30, 8) + 1j, "returned complex128, expected float64"),
        (np.float64, np.full((30, 8), "1"), "expected float64"),
        (np.float64, np.full((30, 8), 1, object), "returned object"),
        (np.float64, np.full((30, 8), np.datetime64("2020-01-01")), "returned datetime64"),
        (np.float64, np.ma.masked_greater(numbers(30, 8), 0.5), "masks"),
        (np.float32, np.full((30, 8), 2**24 + 1), "returned 16777217, which float32 does not hold"),
        (np.float32, np.full((30, 8), -(2**31) + 1, np.int32), "returned -2147483647, which float32"),
        (np.float64, np.full((30, 8), 2**53 + 1), "returned 9007199254740993, which float64"),
        (np.float64, np.full((30, 8), 2**64 - 1, np.uint64), "returned 18446744073709551615, which float64"),
    ],
)
def test_results_of_read_functions_are_not_truncated(
    cpu: purlin.Context, declared: Any, values: Any, problem: str
) -> None:
    with pytest.raises((TypeError, ValueError), match="read function: .*" + problem):
        read_as(declared, values, cpu)


def test_exact_conversions_are_accepted(cpu: purlin.Context) -> None:
    whole = np.round(numbers(40, 6) * 50)
    for declared, given in [
        (np.float64, whole.astype(np.int64)),
        (np.float64, whole.astype(np.float32)),
        (np.float32, whole),
        (np.float32, (whole * 2**24).astype(np.int64)),
        (np.float64, (whole * 2**53).astype(np.int64)),
        (np.int16, whole.astype(np.int64)),
        (np.float64, np.ma.masked_array(whole)),
        (np.float64, whole > 0),
    ]:
        expected = np.linalg.svd(np.asarray(given, np.float64), compute_uv=False)[:2]
        np.testing.assert_allclose(read_as(declared, given, cpu), expected, rtol=1e-6)
    with pytest.raises(FloatingPointError, match="read function: returned .*e.*, more than 3.40282.*, the largest number of float32"):
        read_as(np.float32, whole * 1e300, cpu)


def test_masks_are_refused_or_are_entries_that_were_not_observed(cpu: purlin.Context) -> None:
    x = np.ma.masked_greater(numbers(40, 10), 1.0)
    for call in (
        lambda: rsvd.compute(x, 2, context=cpu),
        lambda: PCA(2, context=cpu).fit(x),
        lambda: purlin.Matrix.of(x, context=cpu),
        lambda: Source.from_array(x, context=cpu),
    ):
        with pytest.raises(ValueError, match="masks [0-9]+ entries"):
            call()
    # A masked array without masked entries is used as its data.
    plain = np.ma.masked_array(numbers(40, 10))
    np.testing.assert_array_equal(rsvd.compute(plain, 2, context=cpu).s, rsvd.compute(plain.data, 2, context=cpu).s)
    low = np.outer(np.arange(1.0, 61.0), np.arange(1.0, 21.0))
    hidden = np.random.default_rng(1).random(low.shape) < 0.1
    spoilt = np.where(hidden, 1e6, low)
    got = rpca.compute(np.ma.masked_array(spoilt, hidden), tolerance=1e-9, context=cpu)
    want = rpca.compute(np.where(hidden, 0, low), mask=~hidden, tolerance=1e-9, context=cpu)
    np.testing.assert_array_equal(got.low_rank, want.low_rank)
    assert np.abs(got.low_rank - low).max() < 1e-3 * low.max()
    with pytest.raises(TypeError, match="^mask: is int64, expected bool or uint8"):
        rpca.compute(spoilt, mask=256 * ~hidden, context=cpu)
    with pytest.raises(ValueError, match="beside a masked array"):
        rpca.compute(np.ma.masked_array(spoilt, hidden), mask=~hidden, context=cpu)


@pytest.mark.parametrize(
    "values", [np.full((20, 5), 1, object), np.full((20, 5), "a"), np.full((20, 5), np.datetime64(1, "s"))]
)
def test_values_that_are_not_numbers_are_refused(cpu: purlin.Context, values: Any) -> None:
    with pytest.raises(TypeError, match="^a: is .*, expected one of float32"):
        rsvd.compute(values, 2, context=cpu)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_named(cpu: purlin.Context, bad: float) -> None:
    x = numbers(50, 9)
    x[17, 3] = bad
    text = "NaN" if np.isnan(bad) else str(bad)
    for given, place in (
        (x, "row 17, column 3"),
        (np.asfortranarray(x), "row 17, column 3"),
        (x.T, "row 3, column 17"),
        (np.ascontiguousarray(x.T), "row 3, column 17"),
        (np.tile(x, (1, 10)), "row 17, column 3"),
    ):
        for name, call in (
            ("a", lambda a: rsvd.compute(a, 2, context=cpu)),
            ("X", lambda a: PCA(2, context=cpu).fit(a)),
            ("X", lambda a: PCA(2, samples="columns", context=cpu).fit(a)),
            ("m", lambda a: rpca.compute(a, context=cpu)),
        ):
            with pytest.raises(purlin.InvalidArgument) as raised:
                call(given)
            assert str(raised.value) == f"{name}: has {text} in {place} (from 0)"


def test_penalties_that_rounding_hides_are_refused(cpu: purlin.Context) -> None:
    x = numbers(30, 9)
    for given in (x, x.astype(np.float32)):
        for mu in (1e-300, 1e300):
            with pytest.raises(purlin.InvalidArgument, match=r"^mu: is 1e-?300, outside 1e-\d+ to 1e\d+ for \|\|M\|\|_2 = "):
                rpca.compute(given, mu=mu, context=cpu)


def test_paths_integers_and_iterators(cpu: purlin.Context, tmp_path: Path) -> None:
    whole = np.round(numbers(60, 7) * 1000).astype(np.int64)
    want = np.linalg.svd(whole.astype(float), compute_uv=False)[:3]
    for order in "CF":
        path = tmp_path / f"whole{order}.npy"
        np.save(path, np.asarray(whole, order=order))  # type: ignore[call-overload]
        for given in (path, str(path)):
            u, s, vt = rsvd.compute(given, 3, context=cpu)
            np.testing.assert_allclose(s, want, rtol=1e-10)
            assert u.shape == (60, 3) and vt.shape == (3, 7) and u.dtype == np.float64
    np.testing.assert_allclose(rsvd.compute((block for block in np.split(whole, 4)), 3, context=cpu).s, want, rtol=1e-10)
    np.testing.assert_allclose(rsvd.compute((row for row in whole), 3, context=cpu).s, want, rtol=1e-10)
    with pytest.raises(ValueError, match="iterator over no rows"):
        rsvd.compute(iter(()), 3, context=cpu)
    whole[5, 5] = 2**60
    np.save(tmp_path / "large.npy", whole)
    with pytest.raises(OSError, match="integer of magnitude 1152921504606846976"):
        rsvd.compute(tmp_path / "large.npy", 3, context=cpu)


def test_missing_files_are_os_errors(cpu: purlin.Context, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone.npy") as caught:
        rsvd.compute(tmp_path / "gone.npy", 3, context=cpu)
    assert isinstance(caught.value, purlin.FileError) and caught.value.status == -12


def test_errors_survive_pickling() -> None:
    for status, kind in _error._CLASSES.items():
        error = pickle.loads(pickle.dumps(kind(status, "what went wrong")))
        assert type(error) is kind and error.status == status and str(error) == "what went wrong"
        assert type(copy.copy(error)) is kind and copy.deepcopy(error).status == status
    unfinished = rsvd.Unfinished(-6, "too few")
    unfinished.factors = rsvd.Factors(None, np.arange(3.0), None)
    again = pickle.loads(pickle.dumps(unfinished))
    assert type(again) is rsvd.Unfinished and again.status == -6 and again.factors.s.tolist() == [0, 1, 2]


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("samples", ["rows", "columns"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_models_survive_pickling_and_copies(cpu: purlin.Context, whiten: bool, samples: Any, dtype: Any) -> None:
    x = (numbers(50, 8) + (1j * numbers(50, 8, 1) if dtype is np.complex128 else 0)) * np.arange(1, 9) + 3
    given = x if samples == "rows" else x.T
    model = PCA(3, scale=True, whiten=whiten, samples=samples, progress=lambda *_: False, context=cpu)
    scores = model.fit_transform(given)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        np.testing.assert_allclose(other.transform(given), scores, atol=1e-10)
        np.testing.assert_allclose(other.inverse_transform(scores), model.inverse_transform(scores), atol=1e-10)
        np.testing.assert_array_equal(other.components_, model.components_)
        with pytest.raises(ValueError, match="X: has 7 features, 8 are needed"):
            other.transform(given[:-1, :-1])
        other.fit(given).close()
    for closed in (rsvd.Rsvd(2, context=cpu), purlin.Matrix.of(x, context=cpu), cpu):
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                leave(closed)  # type: ignore[operator]


def test_models_of_a_group_are_copied_without_it(cpu: purlin.Context) -> None:
    x = numbers(50, 8) * np.arange(1, 9) + 3
    with purlin.Group([cpu]) as group:
        model = PCA(3, group=group, method="gram")
        scores = model.fit_transform(x)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
            np.testing.assert_allclose(other.transform(x), scores, atol=1e-10)
            assert other.context is purlin.default_context()
            assert other.fit(x).info_.method == "gram", "the other options stay"
            other.close()
        assert model.fit(x).context is cpu, "the model itself keeps its group"
        model.close()


@pytest.mark.parametrize("make", [lambda group: rsvd.Rsvd(2, group=group), lambda group: PCA(2, group=group).fit(numbers(9, 4))])
def test_solvers_keep_their_group(cpu: purlin.Context, make: Any) -> None:
    group = purlin.Group([cpu])
    kept = weakref.ref(group)
    solver = make(group)
    handle = solver._model if isinstance(solver, PCA) else solver
    del group, solver
    gc.collect()
    alive = kept()
    assert alive is not None and not alive.closed
    del alive, handle
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_transforms_keep_digits_far_from_the_origin(cpu: purlin.Context, tmp_path: Path, offset: float, order: Any) -> None:
    x = np.asarray(numbers(300, 6) * np.arange(1, 7) + offset * np.arange(1, 7), np.float32, order=order)
    path = tmp_path / "x.npy"
    np.save(path, x)
    double = x.astype(np.float64)
    with PCA(3, context=cpu) as model:
        fitted = model.fit_transform(x)
        exact = (double - double.mean(axis=0)) @ model.components_.T.astype(np.float64)
        limit = 4e-6 * np.abs(exact).max()
        sparse = pytest.importorskip("scipy.sparse").csr_matrix(x)
        for given in (x, np.load(path, mmap_mode="r"), purlin.Matrix.of(path, context=cpu), sparse):
            np.testing.assert_allclose(model.transform(given), exact, rtol=0, atol=limit)
        np.testing.assert_allclose(fitted, exact, rtol=0, atol=10 * limit)
        other = pickle.loads(pickle.dumps(model))
        for given in (x, sparse):
            np.testing.assert_allclose(other.transform(given), exact, rtol=0, atol=limit)


def test_models_survive_joblib(cpu: purlin.Context, tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    x = numbers(50, 8) * np.arange(1, 9) + 3
    model = PCA(3, context=cpu)
    scores = model.fit_transform(x)
    joblib.dump(model, tmp_path / "model.joblib")
    np.testing.assert_allclose(joblib.load(tmp_path / "model.joblib").transform(x), scores, atol=1e-10)
    for found in joblib.Parallel(n_jobs=2)(joblib.delayed(model.transform)(x[k::2]) for k in range(2)):
        assert min(np.abs(found - scores[k::2]).max() for k in range(2)) < 1e-10


def test_transform_from_several_threads(cpu: purlin.Context) -> None:
    x = numbers(400, 20)
    model = PCA(5, context=cpu).fit(x)
    want = model.transform(x)
    found: list[Any] = [None] * 6
    barrier = threading.Barrier(len(found))

    def work(place: int) -> None:
        barrier.wait()
        try:
            found[place] = [model.transform(x) for _ in range(5)]
        except BaseException as error:
            found[place] = error

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for results in found:
        assert isinstance(results, list), results
        for scores in results:
            np.testing.assert_array_equal(scores, want)
    model.close()


def test_progress_comes_within_a_pass(cpu: purlin.Context) -> None:
    x = numbers(160, 10)
    calls: list[tuple[int, int]] = []

    def slow(where: Any) -> Any:
        time.sleep(0.06)
        return x[where]

    def progress(step: int, steps: int, _: float) -> bool:
        calls.append((step, steps))
        return len(calls) == 4

    source = Source.from_function(slow, x.shape, x.dtype, context=cpu)
    with source, pytest.raises(purlin.Cancelled):
        rsvd.compute(source, 2, method="direct", block_rows=16, progress=progress, context=cpu)
    # One pass of ten blocks. Without reports within a pass there would be one report.
    assert len(calls) == 4 and calls[0][0] == 0


def test_steps_are_blocks_and_bytes_are_those_that_were_read(cpu: purlin.Context, tmp_path: Path) -> None:
    x = numbers(100, 10)
    steps: list[tuple[int, int]] = []
    bytes_read = 0

    def read(where: Any) -> Any:
        nonlocal bytes_read
        bytes_read += x[where].nbytes
        return x[where]

    def note(step: int, total: int, _: float) -> None:
        steps.append((step, total))

    options: Any = {"method": "range", "power_iterations": 1, "block_rows": 16, "restart_path": tmp_path / "state"}
    with (
        Source.from_function(read, x.shape, x.dtype, context=cpu) as source,
        rsvd.Rsvd(2, progress=note, context=cpu, **options) as session,
    ):
        session.compute(source)
        info = session.last_info()
    assert (info.passes, info.blocks) == (4, 7) and steps[-1] == (28, 28)
    # The first rows are read once more, to compare them with a restart file.
    assert info.bytes_read == bytes_read > 4 * x.nbytes


@pytest.mark.parametrize("scale", [1e-300, 1e-165, 1.0, 1e165, 1e300])
def test_the_unit_of_scaled_features_does_not_matter(cpu: purlin.Context, scale: float) -> None:
    x = numbers(40, 5)
    sparse = pytest.importorskip("scipy.sparse")
    centred = x - x.mean(0)
    want = np.linalg.svd(centred / centred.std(0, ddof=1), compute_uv=False)
    for samples in (x * scale, sparse.csr_matrix(x * scale)):
        model = PCA(5, scale=True, context=cpu).fit(samples)
        np.testing.assert_allclose(model.singular_values_, want, rtol=1e-10)
    # One feature whose squared deviation underflows relative to the others.
    if scale >= 1.0:
        x[:, 2] *= 1e-165
        for samples in (x * scale, sparse.csr_matrix(x * scale)):
            with pytest.raises(purlin.Numerical, match="the deviation of column 2"):
                PCA(5, scale=True, context=cpu).fit(samples)


def test_transforms_at_the_ends_of_a_type(cpu: purlin.Context) -> None:
    """Of models, copies of them, dense and sparse samples: right where the result is representable, else refused."""
    sparse = pytest.importorskip("scipy.sparse")
    for top, dtype, tolerance in ((3e38, np.float32, 1e-5), (1.7e308, np.float64, 1e-12)):
        x = np.array([[top, 1], [-top, 2], [top / 1.5, 3.5], [top, 4], [top, 5]], dtype)
        x[:, 1] *= 1 if dtype == np.float32 else dtype(1e200)
        for whiten in (False, True):
            model = PCA(2, scale=True, whiten=whiten, context=cpu)
            want = model.fit_transform(x)
            for each in (model, copy.deepcopy(model)):
                for samples in (x, np.asfortranarray(x), sparse.csr_matrix(x)):
                    np.testing.assert_allclose(each.transform(samples), want, atol=tolerance * np.abs(want).max())
                back = each.inverse_transform(want)
                unit = np.abs(x).max(0)
                np.testing.assert_allclose(back / unit, x / unit, atol=10 * tolerance)
    x = numbers(30, 4)
    single = PCA(2, context=cpu).fit(x.astype(np.float32))
    scaled = PCA(2, scale=True, context=cpu).fit(x * 1e-100)
    for model, samples, kind in ((single, x * 1e39, "float32"), (single, x * 1e300, "float32"), (scaled, x + 1e250, "float64")):
        for each in (model, copy.deepcopy(model)):
            with pytest.raises(purlin.Numerical, match=f"scores: component . of sample .+ is beyond the range of {kind}"):
                each.transform(samples)
    for each in (single, copy.deepcopy(single)):
        with pytest.raises(purlin.Numerical, match="X: feature . of sample 0 is beyond the range of float32"):
            each.inverse_transform(np.full((1, 2), 1e300))
    # A copy divides by deviations in double precision.
    x = np.random.default_rng(5).standard_normal((20, 3)) * [1, 1e-30, 1]
    model = PCA(3, scale=True, whiten=True, dtype=np.float32, context=cpu)
    want = model.fit_transform(x)
    np.testing.assert_allclose(copy.deepcopy(model).transform(x), want, atol=1e-5)


def test_values_that_vanish_in_their_type_are_refused(cpu: purlin.Context) -> None:
    x = numbers(50, 20)
    for scale in (1e-47, 1e-300, 1e300):
        with pytest.raises(purlin.Numerical, match="s: number 0 is .*, which float32 does not hold"):
            rsvd.compute(x * scale, 2, dtype=np.float32, context=cpu)
        square = x[:20] + x[:20].T
        with pytest.raises(purlin.Numerical, match="lambda: number 0 is .*, which float32 does not hold"):
            rsvd.symmetric(square * scale, 2, dtype=np.float32, context=cpu)
        with pytest.raises(purlin.Numerical, match="b: row . "):
            rsvd.qb(x * scale, 2, dtype=np.float32, context=cpu)
        with pytest.raises(purlin.Numerical, match="s: number 0 is .*, which float32 does not hold"):
            rsvd.compute((x * scale).astype(complex), 2, dtype=np.complex64, context=cpu)
    assert rsvd.compute(np.zeros((9, 4)), 2, context=cpu).s.tolist() == [0, 0]


def test_the_means_of_columns_far_apart(cpu: purlin.Context) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = np.array([[1e150, 1e-200], [-2e150, 2e-200], [1e150, 3e-200], [3e150, 2e-200]])
    for samples in (x, np.asfortranarray(x), sparse.csr_matrix(x)):
        np.testing.assert_allclose(PCA(2, context=cpu).fit(samples).mean_, [7.5e149, 2e-200], rtol=1e-15)


def test_rows_whose_sums_overflow_are_centred(cpu: purlin.Context) -> None:
    x = 1 + 0.1 * numbers(30, 6)
    want = np.linalg.svd(x - x.mean(1, keepdims=True), compute_uv=False)[:3]
    s = rsvd.compute(x * 5e307, 3, center="rows", context=cpu).s
    np.testing.assert_allclose(s / 5e307, want, rtol=1e-10)


def test_complex_numbers_are_converted_to_complex_ones(cpu: purlin.Context) -> None:
    x = (numbers(30, 8) + 1j * numbers(30, 8, 1)).astype(np.complex64)
    want = np.linalg.svd(x.astype(np.complex128), compute_uv=False)[:3]
    s = rsvd.compute(x, 3, dtype=np.complex128, context=cpu).s
    assert s.dtype == np.float64
    np.testing.assert_allclose(s, want, rtol=1e-12)
    with pytest.raises(purlin.InvalidArgument, match="is complex64, which is not converted to float64"):
        rsvd.compute(x, 3, dtype=np.float64, context=cpu)


def test_plans_hold_under_limits() -> None:
    x = numbers(2000, 60)
    accepted = refused = 0
    for kilobytes in (40, 200, 500, 1000, 2000, 4000):
        limit = kilobytes * 1000
        with (
            purlin.Context("cpu", host_memory_limit=limit) as small,
            Source.from_function(lambda where: x[where], x.shape, x.dtype, context=small) as source,
            rsvd.Rsvd(5, context=small) as session,
        ):
            try:
                plan = session.plan(source)
            except purlin.OutOfMemory as error:
                refused += 1
                assert f"limit of {limit} bytes" in str(error)
                with pytest.raises(purlin.OutOfMemory):
                    session.compute(source)
                continue
            session.compute(source)
            info = session.last_info()
            assert plan.method == info.method
            assert info.host_bytes_used <= limit and 0.9 < plan.host_bytes / info.host_bytes_used < 1.1
            accepted += 1
    assert accepted > 1 and refused > 1


def test_options_without_effect_are_refused(cpu: purlin.Context) -> None:
    for options, problem in [
        ({"max_rank": 3}, "max_rank: is 3, which needs a tolerance"),
        ({"tolerance": 0.1}, "rank: is 3 beside a tolerance"),
        ({"block_columns": 3}, "block_columns: is 3, which needs a tolerance"),
        ({"resident_rows": 3}, "resident_rows: is 3 on a CPU"),
        ({"method": "fused", "merge_width": 30}, "merge_width: is 30"),
        ({"method": "gram", "smallest_ratio": 0.5}, "smallest_ratio: is 0.5"),
        ({"read_rate": -1.0}, "read_rate: is -1"),
    ]:
        with pytest.raises(purlin.InvalidArgument, match=problem):
            rsvd.Rsvd(3, context=cpu, **options)  # type: ignore[arg-type]
    with rsvd.Rsvd(3, read_rate=1e6, context=cpu) as session:
        with pytest.raises(purlin.InvalidArgument, match="not read in blocks"):
            session.compute(numbers(30, 9))
        x = numbers(3000, 100)
        with Source.from_function(lambda where: x[where], x.shape, x.dtype, context=cpu) as source:
            slow = session.plan(source)
    with rsvd.Rsvd(3, context=cpu) as session:
        with Source.from_function(lambda where: x[where], x.shape, x.dtype, context=cpu) as source:
            assert slow.seconds_predicted > 1 > session.plan(source).seconds_predicted
    assert slow.passes == 2


def test_restart_files_are_refused_where_none_is_written(cpu: purlin.Context, tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    x = numbers(60, 20)
    with pytest.raises(purlin.NotSupported, match="restart_path: is set, principal components"):
        PCA(3, restart_path=path, context=cpu).fit(x)
    with rsvd.Rsvd(3, restart_path=path, context=cpu) as session:
        with pytest.raises(purlin.NotSupported, match="restart_path: is set, a basis of the range"):
            session.qb(x, 5)


def test_files_in_fortran_order_of_three_axes_are_refused(cpu: purlin.Context, tmp_path: Path) -> None:
    x = numbers(4, 30).reshape(4, 5, 6)
    np.save(tmp_path / "c.npy", x)
    np.save(tmp_path / "f.npy", np.asfortranarray(x))
    with purlin.Matrix.of(tmp_path / "c.npy", context=cpu) as m:
        assert m.shape == (4, 30)
    with pytest.raises(ValueError, match="3 axes in Fortran order"):
        purlin.Matrix.of(tmp_path / "f.npy", context=cpu)


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_values_do_not_depend_on_the_unit(cpu: purlin.Context, scale: float) -> None:
    x = np.random.default_rng(2).standard_normal((400, 150))
    exact = np.linalg.svd(x - x.mean(0), compute_uv=False)
    model = PCA(30, method="gram", context=cpu).fit(x * scale)
    z = (x - x.mean(0)) @ model.components_.T
    assert np.abs(model.singular_values_ / scale - exact[:30]).max() < 1e-6 * exact[0]
    assert np.abs((x - x.mean(0)).T @ z - model.components_.T * exact[:30] ** 2).max() < 1e-6 * exact[0] ** 2


def test_scores_of_a_fit_are_those_of_a_transform(cpu: purlin.Context) -> None:
    x = np.random.default_rng(0).standard_normal((300, 120))
    for whiten in (False, True):
        model = PCA(5, whiten=whiten, context=cpu)
        scores = model.fit_transform(x)
        assert np.abs(scores - model.transform(x)).max() < 1e-11 * np.abs(scores).max()


def test_constant_features_are_not_scaled(cpu: purlin.Context) -> None:
    x = np.random.default_rng(0).standard_normal((100, 3))
    for value in (3.7, 0.1, 1e6 + 0.1):
        x[:, 1] = value
        model = PCA(2, scale=True, context=cpu).fit(x)
        assert model.scale_[1] == 1 and abs(model.total_variance_ - 2) < 1e-9
        sparse = pytest.importorskip("scipy.sparse")
        model = PCA(2, scale=True, context=cpu).fit(sparse.csr_array(x))
        assert model.scale_[1] == 1 and abs(model.total_variance_ - 2) < 1e-9


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("center", [False, True])
def test_whitened_scores_are_zero_without_variance(cpu: purlin.Context, dtype: str, center: bool) -> None:
    x = np.repeat(np.random.default_rng(0).standard_normal((2, 5)), 6, axis=0).astype(dtype)
    rank = 1 if center else 2
    model = PCA(5, center=center, whiten=True, context=cpu)
    fitted = model.fit_transform(x)
    tolerance = 1e-4 if dtype == "f4" else 1e-12
    for again in (model, pickle.loads(pickle.dumps(model))):
        scores = again.transform(x)
        assert np.abs(scores - fitted).max() < tolerance and (scores[:, rank:] == 0).all()
        assert np.abs(again.inverse_transform(scores) - x).max() < tolerance


def test_features_that_vary_by_little_of_their_mean_are_scaled(cpu: purlin.Context) -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.standard_normal(20000), 1.7e12 + np.round(rng.standard_normal(20000))])
    sparse = pytest.importorskip("scipy.sparse")
    for given in (x, sparse.csr_array(x)):
        model = PCA(2, scale=True, context=cpu).fit(given)
        assert model.scale_[1] > 1 and abs(model.total_variance_ - 2) < 1e-4


def products(a: Any, context: purlin.Context) -> purlin.Matrix:
    return purlin.Matrix.from_operator(lambda x: a @ x, lambda x: a.T @ x, a.shape, context=context)


def test_the_norm_of_an_operator_comes_from_probes(cpu: purlin.Context) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 40))
    with products(x, cpu) as a, rsvd.Rsvd(5, context=cpu) as session:
        session.compute(a)
        info = session.last_info()
        assert info.error_kind == "probes" and info.error_relative < 1e-12
        assert abs(info.frobenius - np.linalg.norm(x)) < 1e-10 * np.linalg.norm(x)
    with products(x, cpu) as a, rsvd.Rsvd(5, error="none", context=cpu) as session:
        session.compute(a)
        info = session.last_info()
        assert np.isnan(info.frobenius) and np.isnan(info.error_relative)


def test_a_tolerance_of_an_operator_is_kept(cpu: purlin.Context) -> None:
    met = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        u = np.linalg.qr(rng.standard_normal((200, 100)))[0]
        v = np.linalg.qr(rng.standard_normal((100, 100)))[0]
        x = u * 0.9 ** np.arange(100) @ v.T
        for tolerance in (0.3, 0.1, 0.01):
            with products(x, cpu) as a:
                try:
                    found = rsvd.compute(a, tolerance=tolerance, seed=seed, context=cpu)
                except rsvd.Unfinished:
                    continue
            error = np.linalg.norm(x - (found.U * found.s) @ found.Vt) / np.linalg.norm(x)
            assert error <= tolerance, (seed, tolerance, error)
            met += 1
    assert met >= 22


def test_krylov_blocks_of_one_column_are_orthonormal(cpu: purlin.Context) -> None:
    for a, options in [(np.eye(5), {}), (np.eye(3, 7), {"sketch": "uniform"}), (np.eye(100), {"oversampling": 0})]:
        found = rsvd.compute(a, 1, method="krylov", context=cpu, **options)  # type: ignore[arg-type]
        assert abs(found.s[0] - 1) < 1e-12 and abs(np.linalg.norm(found.Vt) - 1) < 1e-12


def test_plans_of_robust_pca_hold_under_limits() -> None:
    x = numbers(600, 5) @ numbers(5, 20, 1)
    accepted = refused = 0
    for kilobytes in (3, 5, 300, 600, 1000, 4000):
        limit = kilobytes * 1000
        with purlin.Context("cpu", host_memory_limit=limit) as small:
            try:
                plan = rpca.plan(x, context=small)
            except purlin.OutOfMemory as error:
                refused += 1
                assert f"limit of {limit} bytes" in str(error) and "max_rank" in str(error)
                continue
            with purlin.blocks.Source.from_function(lambda where: x[where], x.shape, x.dtype, context=small) as source:
                info = rpca.compute_to_sinks(source, None, None, context=small, max_iterations=500)
            assert info.host_bytes_used <= limit and plan.host_bytes <= limit
            accepted += 1
    assert accepted > 1 and refused > 1
