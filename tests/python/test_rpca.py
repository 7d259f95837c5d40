"""Robust PCA: published optimum, masks, sparse parts, files."""

from __future__ import annotations

import gzip
import io
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import purlin
from purlin import rpca
from purlin.blocks import Sink, Source

DATA = ROOT / "tests" / "golden" / "rpca"


def synthetic() -> tuple[Any, Any]:
    """M of rank 8 and a tenth of it spoilt, and its part of low rank."""
    return np.load(DATA / "synthetic_M.npy"), np.load(DATA / "synthetic_La.npy") @ np.load(DATA / "synthetic_Lb.npy")


def relative(found: Any, truth: Any) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_low_rank_comes_back(cpu: purlin.Context, order: Any) -> None:
    m, truth = synthetic()
    given = np.asarray(m, order=order)
    (low, sparse), info = rpca.run(given, context=cpu)
    assert relative(low, truth) < 1e-6 and np.linalg.norm(m - low - sparse) <= 1e-7 * np.linalg.norm(m)
    assert info.converged and info.rank == 8 and info.lambda_ == pytest.approx(1 / np.sqrt(300))
    assert info.objective == pytest.approx(3657.428358501793, rel=1e-6)
    np.testing.assert_array_equal(given, m)


def test_frames_decide_for_square_matrices_alone(cpu: purlin.Context) -> None:
    m = synthetic()[0]
    with pytest.raises(purlin.InvalidArgument, match=r"^frames: is 'rows', but m is 300 x 200, whose shorter axis"):
        rpca.compute(m, frames="rows", context=cpu)
    square = m[:200]
    columns, rows = (rpca.compute(square, frames=frames, context=cpu)[0] for frames in ("columns", "rows"))
    assert not np.array_equal(columns, rows) and relative(rows, columns) < 1e-5


def test_single_precision(cpu: purlin.Context) -> None:
    m, truth = synthetic()
    low, sparse = rpca.compute(m.astype(np.float32), tolerance=1e-5, context=cpu)
    assert low.dtype == np.float32 and sparse.dtype == np.float32 and relative(low, truth) < 1e-4


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16])
def test_numbers_of_other_types_are_scaled_as_they_are_read(cpu: purlin.Context, tmp_path: Path, dtype: Any) -> None:
    m = np.rint(np.clip(100 + 10 * synthetic()[0], 0, 200)).astype(dtype)
    path = tmp_path / "m.npy"
    np.save(path, m)
    options: Any = {"scale": 1 / 255, "tolerance": 1e-5, "context": cpu}
    expected = rpca.compute(m.astype(np.float64), **options)
    for given in (m, np.asfortranarray(m), Source.from_npy(path, context=cpu)):
        found = rpca.compute(given, dtype=np.float64, **options)
        for part, right in zip(found, expected):
            np.testing.assert_allclose(part, right, atol=1e-9)


def test_background_of_a_video(cpu: purlin.Context) -> None:
    raw = gzip.decompress((DATA / "video_96x72x200_u8.npy.gz").read_bytes())
    frames = np.load(io.BytesIO(raw)).reshape(200, -1)[:60, ::4]
    m = frames.T / 255.0
    (low, sparse), info = rpca.run(m, tolerance=1e-6, context=cpu)
    assert info.converged and relative(low + sparse, m) < 2e-6
    s = np.linalg.svd(low, compute_uv=False)
    # The true objective of the result: the minimum, up to the constraint's tolerance.
    objective = s.sum() + np.abs(m - low).sum() / np.sqrt(max(m.shape))
    assert info.nuclear_norm == pytest.approx(s.sum(), rel=1e-4) and info.objective == pytest.approx(
        objective, rel=1e-3
    )
    still = np.median(m, axis=1)
    assert np.abs(low.mean(axis=1) - still).mean() < 0.02


def test_entries_that_were_not_seen(cpu: purlin.Context) -> None:
    m, truth = synthetic()
    seen = np.random.default_rng(5).random(m.shape) > 0.1
    hidden = np.where(seen, m, 77.0)
    low = rpca.compute(hidden, mask=seen, context=cpu).low_rank
    assert relative(low, truth) < 1e-5


def test_sparse_parts(cpu: purlin.Context) -> None:
    pytest.importorskip("scipy", reason="no SciPy")
    m, truth = synthetic()
    (low, sparse), info = rpca.run(m, sparse="csr", threshold=1e-4, context=cpu)
    assert isinstance(sparse, purlin.Matrix) and sparse.storage == "csr" and sparse.nnz == info.nonzeros
    assert relative(low, truth) < 1e-6
    dense = sparse.scipy().toarray()
    assert np.abs(dense - (m - truth)).max() < 1e-3 and (np.abs(dense[dense != 0]) > 1e-4).all()


def test_from_a_file_into_files(cpu: purlin.Context, tmp_path: Path) -> None:
    m, _ = synthetic()
    path = tmp_path / "m.npy"
    np.save(path, m)
    whole = rpca.compute(m, context=cpu)
    outputs = [tmp_path / "low.raw", tmp_path / "sparse.raw"]
    sinks = [Sink.to_file(output, m.shape, np.float64, context=cpu) for output in outputs]
    info = rpca.compute_to_sinks(Source.from_npy(path, context=cpu), *sinks, block_rows=64, context=cpu)
    assert info.converged and info.bytes_read >= m.nbytes
    low, sparse = (np.fromfile(output).reshape(m.shape) for output in outputs)
    assert relative(low, whole.low_rank) < 1e-6 and relative(sparse, whole.sparse) < 1e-6


def test_sinks_that_do_not_fit_are_refused(cpu: purlin.Context, tmp_path: Path) -> None:
    m = np.asfortranarray(np.ones((8, 5)))
    upright = Sink.to_file(tmp_path / "upright", (8, 5), np.float64, context=cpu)
    needed = r"low_rank: has dimensions \[5, 8\], \[8, 5\] are needed, first axis fastest: m is stored by columns"
    with pytest.raises(purlin.InvalidArgument, match=needed):
        rpca.compute_to_sinks(m, upright, None, context=cpu)
    turned = Sink.to_file(tmp_path / "turned", (5, 8), np.float64, context=cpu)
    assert rpca.compute_to_sinks(m, turned, None, context=cpu).converged
    assert np.fromfile(tmp_path / "turned").size == 40
    # One file for both parts would hold the second alone.
    (tmp_path / "link").symlink_to(tmp_path / "turned")
    kept = (tmp_path / "turned").read_bytes()
    for second in ("turned", "link"):
        sinks = [Sink.to_file(tmp_path / name, (5, 8), np.float64, context=cpu) for name in ("turned", second)]
        with pytest.raises(purlin.InvalidArgument, match="sparse: goes to the file of low_rank"):
            rpca.compute_to_sinks(m, *sinks, context=cpu)
        for sink in sinks:
            sink.close()
    assert (tmp_path / "turned").read_bytes() == kept
    # An image has two files: the header and its data.
    for swapped in (False, True):
        sinks = [
            Sink.to_file(tmp_path / "x.mhd", (5, 8), np.float64, context=cpu),
            Sink.to_metaimage(tmp_path / "x.mhd", (5, 8), np.float64, context=cpu),
        ]
        with pytest.raises(purlin.InvalidArgument, match=r"sparse: goes to the file of low_rank, .*x\.mhd"):
            rpca.compute_to_sinks(m, *(sinks[::-1] if swapped else sinks), context=cpu)
        for sink in sinks:
            sink.close()
    assert not (tmp_path / "x.mhd").exists() and not (tmp_path / "x.raw").exists()


def test_a_sink_to_the_file_that_is_read_is_refused(cpu: purlin.Context, tmp_path: Path) -> None:
    m, _ = synthetic()
    path, seen, link, hard = (tmp_path / name for name in ("m.npy", "seen.raw", "link", "hard"))
    np.save(path, m)
    np.ones(m.shape, np.uint8).tofile(seen)
    link.symlink_to(path)
    os.link(path, hard)
    kept = path.read_bytes()
    a = Source.from_npy(path, context=cpu)
    mask = Source.from_file(seen, m.shape, np.uint8, context=cpu)
    for target, read in ((path, "m"), (link, "m"), (hard, "m"), (seen, "mask")):
        for name in ("low_rank", "sparse"):
            with Sink.to_file(target, m.shape, np.float64, context=cpu) as sink:
                sinks = (sink, None) if name == "low_rank" else (None, sink)
                with pytest.raises(purlin.InvalidArgument, match=f"{name}: goes to a file that {read} is read from, "):
                    rpca.compute_to_sinks(a, *sinks, mask=mask, context=cpu)
    assert path.read_bytes() == kept and seen.read_bytes() == b"\1" * m.size
    a.close()
    mask.close()
    assert sorted(found.name for found in tmp_path.iterdir()) == ["hard", "link", "m.npy", "seen.raw"]


@pytest.mark.parametrize("second", ["same", "shifted", "interleaved", "source"])
def test_sinks_to_overlapping_arrays_are_refused(cpu: purlin.Context, second: str) -> None:
    m, _ = synthetic()
    rows, columns = m.shape
    both = np.zeros((2 * rows, columns))
    given: Any = m
    low, sparse = both[:rows], both[:rows]
    text = "sparse: overlaps low_rank in memory"
    if second == "shifted":
        sparse = both[rows - 1 : 2 * rows - 1]
    elif second == "interleaved":
        low, sparse = both[::2], both[1::2]
    elif second == "source":
        given, sparse, text = Source.from_array(both[rows:], context=cpu), both[rows:], "sparse: overlaps m in memory"
    with Sink.to_array(low, context=cpu) as first, Sink.to_array(sparse, context=cpu) as last:
        with pytest.raises(purlin.InvalidArgument, match=text):
            rpca.compute_to_sinks(given, first, last, context=cpu)
    assert not both.any()
    if second == "shifted":
        with Sink.to_array(both[:rows], context=cpu) as first, Sink.to_array(both[rows:], context=cpu) as last:
            rpca.compute_to_sinks(m, first, last, context=cpu)
        assert relative(both[:rows] + both[rows:], m) < 1e-6


def test_a_success_reaches_the_optimum(cpu: purlin.Context) -> None:
    # At this weight the optimum of a matrix of ones is S = M, which costs a tenth of the first feasible pair.
    m = np.ones((6, 6))
    _, info = rpca.run(m, lambda_=1e-3, context=cpu)
    assert info.converged and info.objective <= 1.002e-3 * 36
    rng = np.random.default_rng(0)
    low = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 50))
    m = low + np.where(rng.random((80, 50)) < 0.05, rng.standard_normal((80, 50)) * 10, 0)
    best = rpca.run(m, context=cpu)[1].objective
    assert abs(best / np.abs(m).max() - 12.7812) < 2e-2
    for iterations in (0, 1, 3):
        try:
            info = rpca.run(m, power_iterations=iterations, context=cpu)[1]
        except rpca.Unfinished:
            continue
        assert info.objective <= 1.005 * best, iterations


def test_too_few_iterations(cpu: purlin.Context) -> None:
    m, _ = synthetic()
    with pytest.raises(rpca.Unfinished) as caught:
        rpca.compute(m, max_iterations=3, context=cpu)
    assert isinstance(caught.value, purlin.NoConvergence)
    assert caught.value.info.iterations == 3 and not caught.value.info.converged
    assert caught.value.parts.low_rank.shape == m.shape and caught.value.info.residual > 1e-7


def test_progress_and_cancelling(cpu: purlin.Context) -> None:
    class Enough(Exception):
        pass

    def enough(iteration: int, most: int, residual: float) -> None:
        raise Enough

    m, _ = synthetic()
    seen = []
    rpca.compute(m, progress=lambda *now: seen.append(now), context=cpu)
    assert seen and seen[-1][1] == 1000 and seen[-1][2] < 1e-6
    with pytest.raises(purlin.Cancelled):
        rpca.compute(m, progress=lambda *now: True, context=cpu)
    with pytest.raises(Enough):
        rpca.compute(m, progress=enough, context=cpu)


def test_refusals(cpu: purlin.Context) -> None:
    m, _ = synthetic()
    with pytest.raises(purlin.InvalidArgument, match="rho"):
        rpca.compute(m, rho=0.5, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="mask"):
        rpca.compute(m, mask=np.ones((3, 4), np.uint8), context=cpu)
    with purlin.Context("cpu") as another:
        with pytest.raises(purlin.InvalidArgument, match="group: has 2 contexts on the CPU: rows are distributed"):
            rpca.compute(m, group=purlin.Group([cpu, another]))
        with pytest.raises(purlin.InvalidArgument, match="group: begins with another context"):
            rpca.compute(m, context=cpu, group=purlin.Group([another]))
    with pytest.raises(ValueError, match="sparse"):
        rpca.compute(m, sparse="coo", context=cpu)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="colour"):
        rpca.compute(m, colour=1, context=cpu)  # type: ignore[call-arg]


def test_numbers_that_single_precision_does_not_hold(cpu: purlin.Context) -> None:
    m = np.ones((30, 20))
    m[3, 5] = 1e39
    expected = "m: has an entry of modulus 1e39, more than 3.4028235e38, the largest number of float32"
    with pytest.raises(purlin.InvalidArgument, match=re.escape(expected)):
        rpca.compute(m, dtype="f4", context=cpu)
    m = np.full((30, 20), 3e38, np.float32)
    i, j = np.indices(m.shape)
    m[(7 * i + 11 * j) % 41 == 0] *= -1
    with pytest.raises(purlin.Numerical, match="sparse: has an entry of 6.*the largest number of float32"):
        rpca.compute(m, context=cpu)
    # Norms overflow before the parts do.
    (low, sparse), info = rpca.run(np.full((30, 20), 1.7e308), context=cpu)
    assert info.converged and np.isinf(info.frobenius) and np.isfinite(low).all() and np.isfinite(sparse).all()
    np.testing.assert_allclose(low, 1.7e308, rtol=1e-6)


def test_two_bounds_of_the_rank_are_refused(cpu: purlin.Context) -> None:
    for most in (2, 3, 5):
        with pytest.raises(purlin.InvalidArgument, match=f"max_rank: is {most} beside fixed_rank = 3"):
            rpca.compute(np.ones((9, 6)), fixed_rank=3, max_rank=most, context=cpu)


def test_runs_without_power_iterations_converge(cpu: purlin.Context) -> None:
    for m in (np.ones((100, 80)), synthetic()[0]):
        _, right = rpca.run(m, context=cpu)
        for warm_start in (True, False):
            _, info = rpca.run(m, power_iterations=0, warm_start=warm_start, context=cpu)
            assert info.converged and info.objective == pytest.approx(right.objective, rel=1e-3)


def test_a_run_stays_within_its_plan_whatever_its_ranks(cpu: purlin.Context) -> None:
    # The ranks of this matrix change so that X^H X follows factors of a large rank.
    m = np.asfortranarray(np.random.default_rng(22).standard_normal((121, 143)))
    accepted = 0
    for limit in (833_000, 868_000, 945_000, 1_085_000, 1_092_000, 1_400_000):
        with purlin.Context("cpu", threads=2, host_memory_limit=limit) as context:
            try:
                rpca.plan(m, context=context)
            except purlin.OutOfMemory:
                continue
            accepted += 1
            rpca.run(m, context=context)
    assert accepted > 0


def test_ranks_that_need_wider_spaces_run_inside_the_limit(cpu: purlin.Context) -> None:
    # All values that were computed are large, so that the next space has several columns more, in each group of blocks.
    for seed in (2, 6, 7):
        m = np.asfortranarray(np.random.default_rng(seed).standard_normal((32, 46)))
        with purlin.Context("cpu", threads=2, host_memory_limit=799_744) as context:
            rpca.plan(m, context=context)
            try:
                rpca.run(m, max_iterations=30, context=context)
            except rpca.Unfinished as error:
                assert error.info.host_bytes_used <= 799_744


def test_only_the_residual_counts_where_a_bound_cuts_off_values(cpu: purlin.Context) -> None:
    # S converges slowly, over thousands of iterations.
    for seed in (2, 8, 10, 11):
        rng = np.random.default_rng(seed)
        m = rng.standard_normal((31, 2)) @ rng.standard_normal((2, 20))
        (low, sparse), info = rpca.run(m, seed=seed, lambda_=1.0, max_rank=1, context=cpu)
        assert info.converged and info.iterations < 100 and info.rank == 1
        assert np.linalg.norm(m - low - sparse) <= 1e-7 * np.linalg.norm(m)


def test_a_huge_entry_does_not_keep_a_run_without_power_iterations_from_its_end(cpu: purlin.Context) -> None:
    rng = np.random.default_rng(0)
    m = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 50))
    m[0, 0] = 1e6
    _, right = rpca.run(m, lambda_=1.0, context=cpu)
    for warm_start in (True, False):
        _, info = rpca.run(m, lambda_=1.0, power_iterations=0, warm_start=warm_start, context=cpu)
        assert info.converged and info.objective == pytest.approx(right.objective, rel=1e-6)


def test_one_object_for_several_matrices(cpu: purlin.Context) -> None:
    m, truth = synthetic()
    with rpca.Rpca(context=cpu, threshold=1e-4) as session:
        with pytest.raises(purlin.InvalidArgument, match="rpca: has no report"):
            session.last_info()
        planned = session.plan(m)
        with pytest.raises(purlin.InvalidArgument, match="rpca: has no report"):
            session.last_info()
        parts, info = session.run(m)
        assert relative(parts.low_rank, truth) < 1e-6 and planned.host_bytes == info.host_bytes
        assert session.last_info() == info
        # Another shape, then an error, which leaves the report, then the first again.
        assert session.compute(m[:60, :40]).low_rank.shape == (60, 40)
        other = session.last_info()
        assert other != info
        with pytest.raises(purlin.InvalidArgument, match="m: "):
            session.compute(np.full((5, 4), np.nan))
        assert session.last_info() == other
        again = session.compute(m)
        np.testing.assert_array_equal(again.low_rank, parts.low_rank)
        np.testing.assert_array_equal(again.low_rank, rpca.compute(m, threshold=1e-4, context=cpu).low_rank)
    with pytest.raises(purlin.InvalidHandle, match="rpca: is closed"):
        session.last_info()


def test_an_object_is_cancelled_and_goes_on(cpu: purlin.Context) -> None:
    m, _ = synthetic()
    cancels: list[rpca.Rpca] = []

    def progress(step: int, steps: int, residual: float) -> bool:
        for running in cancels:
            running.cancel()
        return False

    with rpca.Rpca(context=cpu, progress=progress) as session:
        session.cancel()
        before = session.run(m)[1]
        cancels.append(session)
        with pytest.raises(purlin.Cancelled):
            session.compute(m)
        cancels.clear()
        assert session.last_info() == before
        assert session.run(m)[1].iterations == before.iterations
    with rpca.Rpca(context=cpu, max_iterations=3) as session:
        with pytest.raises(rpca.Unfinished) as caught:
            session.compute(m)
        assert caught.value.info == session.last_info() and not caught.value.info.converged
