"""Cone-beam CT: a published scan, pushed views, files and functions, pieces."""

from __future__ import annotations

import gc
import json
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import ROOT

import purlin
from purlin.blocks import Sink, Source
from purlin.fdk import Geometry, Grid, Reconstruction

Floats = npt.NDArray[np.float32]
DATA = ROOT / "tests" / "golden" / "fdk"


def published(name: str) -> tuple[Geometry, Grid, Floats, Floats]:
    """A scan of RTK's with its reconstruction."""
    about = json.loads((DATA / f"{name}.json").read_text())
    projections: Floats = np.load(DATA / f"{name}_proj.npy")
    volume: Floats = np.load(DATA / f"{name}_rtk.npy")
    geometry = Geometry(
        detector_columns=about["nu"],
        detector_rows=about["nv"],
        column_pitch=about["du_mm"],
        row_pitch=about["dv_mm"],
        source_to_axis=about["SID_mm"],
        source_to_detector=about["SDD_mm"],
        column_offset=about["offset_u_mm"],
        row_offset=about["offset_v_mm"],
        angles=np.deg2rad(about["angles_deg"]),
    )
    x, y, z = about["vol_spacing_xyz_mm"]
    x0, y0, z0 = about["vol_origin_xyz_mm"]
    nz, ny, nx = volume.shape
    grid = Grid((nx, ny, nz), (x, y, z), (x0, y0, z0))
    return geometry, grid, projections, volume


@pytest.mark.parametrize("name", ["full", "short", "displaced"])
def test_published_volumes(cpu: purlin.Context, name: str) -> None:
    geometry, grid, projections, expected = published(name)
    found = purlin.fdk.reconstruct(projections, geometry, grid, edge="skip", context=cpu)
    assert found.shape == expected.shape and found.dtype == np.float32
    assert np.abs(found - expected).max() < 2e-5


class Stop(Exception):
    """An exception of the test's own, which the library must pass through."""


def test_a_group_and_its_contexts_live_with_the_reconstruction() -> None:
    geometry, grid, lines, _ = published("full")
    other = purlin.Context("cpu", threads=1)
    session = Reconstruction(geometry, grid, slab=8, group=purlin.Group([purlin.Context("cpu", threads=1), other]))
    alive = weakref.ref(other)
    del other
    gc.collect()
    member = alive()
    assert member is not None and not member.closed
    session.reconstruct(lines)
    # An exception of any member's log ends the call, which raises it.

    def log(level: int, text: str) -> None:
        raise Stop(text)

    member.set_log(log, "debug")
    assert member._log is not None
    sink = member._log

    def progress(*_: object) -> None:
        sink._call(purlin.LOG_WARN, b"of the second", None)

    group = session._members.group
    with Reconstruction(geometry, grid, slab=8, group=group, progress=progress) as other:
        with pytest.raises(Stop, match="of the second"):
            other.reconstruct(lines)
    session.reconstruct(lines)
    member.set_log(None)
    del member, group, sink, other
    session.close()
    del session
    gc.collect()
    assert alive() is None


def test_a_group_gives_the_same_bits(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("full")
    with purlin.Context("cpu", threads=1) as other, purlin.Group([cpu, other]) as group:
        with Reconstruction(geometry, grid, slab=8, context=cpu) as alone:
            expected = alone.reconstruct(projections)
        shared = Reconstruction(geometry, grid, slab=8, group=group)
        assert shared.context is cpu and shared.plan().contexts == 2
        with pytest.raises(purlin.InvalidArgument, match="group: begins with another context"):
            Reconstruction(geometry, grid, context=other, group=group)
    with shared:
        assert np.array_equal(shared.reconstruct(projections), expected), "the object keeps the members"


def test_pushed_views_make_the_same_volume(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("full")
    with Reconstruction(geometry, grid, context=cpu) as plan:
        whole = plan.reconstruct(projections)
        for _ in range(2):
            plan.begin()
            order = np.random.default_rng(1).permutation(len(projections))
            plan.push(order[:40].tolist(), projections[order[:40]])
            for view in order[40:]:
                plan.push(int(view), projections[view])
            with pytest.raises(purlin.InvalidArgument, match="view"):
                plan.push(int(order[0]), projections[order[0]])
            assert np.abs(plan.finish() - whole).max() < 2e-6
        assert plan.plan().views_pushed == len(projections)
        plan.begin()
        plan.push(0, projections[0])
        with pytest.raises(purlin.InvalidArgument):
            plan.finish()


def test_the_plan_reports_its_choices(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("displaced")
    with Reconstruction(geometry, grid, context=cpu) as plan:
        info = plan.plan()
        assert info.redundancy == "half_fan" and info.kernel == "vertical" and info.reason
        assert info.filtered_columns > geometry.detector_columns
        assert info.grid == grid and plan.shape == (
            grid.size[2],
            grid.size[1],
            grid.size[0],
        )
        redundancy, angular = plan.weights()
        assert redundancy.shape == (len(projections), geometry.detector_columns)
        assert angular.sum() == pytest.approx(2 * np.pi)
        assert ((redundancy >= 0) & (redundancy <= 1)).all()


@pytest.mark.parametrize(
    ("slices", "slab", "whole", "pushed"),
    # The middle of the panel; all of it; a pushed scan that is stored, with all its pixels; a row that two slabs need.
    [(1, 0, 1, 1), (16, 0, 2, 2), (2, 1, 1, 2), (32, 16, 3, 2)],
)
def test_pixels_count_in_rows_that_are_read(cpu: purlin.Context, slices: int, slab: int, whole: int, pushed: int) -> None:
    angles = np.arange(16) * 2 * np.pi / 16
    geometry = purlin.fdk.Geometry(16, 16, 1.0, 1.0, 500.0, 1000.0, angles=angles)
    grid = purlin.fdk.Grid((8, 8, slices), (0.5, 0.5, 0.5), (-1.75, -1.75, -0.25 * (slices - 1)))
    lines = np.zeros((16, 16, 16), np.float32)
    lines[3, 0, 0], lines[7, 8, 4] = np.nan, np.inf
    with Reconstruction(geometry, grid, context=cpu, slab=slab) as plan:
        plan.reconstruct(lines)
        assert plan.last_info().pixels_not_finite == whole
        plan.begin()
        plan.push(list(range(16)), lines)
        plan.finish()
        assert plan.last_info().pixels_not_finite == pushed


def test_files_and_functions(cpu: purlin.Context, tmp_path: Path) -> None:
    geometry, grid, projections, _ = published("full")
    with Reconstruction(geometry, grid, context=cpu) as plan:
        whole = plan.reconstruct(projections)
        raw = tmp_path / "scan.raw"
        raw.write_bytes(b"head" + projections.astype(">f4").tobytes())
        spacing, origin = grid.spacing[::-1], grid.origin[::-1]
        with (
            Source.from_file(raw, projections.shape, ">f4", 4, context=cpu) as source,
            Sink.to_metaimage(
                tmp_path / "v.mha",
                plan.shape,
                spacing=spacing,
                origin=origin,
                context=cpu,
            ) as sink,
        ):
            plan.reconstruct(source, sink)
        with Source.from_metaimage(tmp_path / "v.mha", context=cpu) as image:
            assert image.info.shape == plan.shape and image.info.spacing == pytest.approx(spacing)
            assert image.info.origin == pytest.approx(origin)
        written = np.frombuffer((tmp_path / "v.mha").read_bytes()[-whole.nbytes :], np.float32).reshape(whole.shape)
        assert np.array_equal(written, whole)

        with Sink.to_metaimage(tmp_path / "placed.mha", plan.shape, context=cpu) as sink:
            plan.reconstruct(projections, sink)
        with Source.from_metaimage(tmp_path / "placed.mha", context=cpu) as image:
            assert (image.info.spacing, image.info.origin) == (spacing, origin), "those of the grid by default"

        with Sink.to_tiff(tmp_path / "v.tif", plan.shape, context=cpu) as pages:
            plan.reconstruct(projections, pages)
        with Source.from_tiff(tmp_path / "v.tif", context=cpu) as stack:
            assert stack.info.shape == plan.shape

        taken = np.zeros_like(whole)

        def write(where: tuple[slice, ...], block: npt.NDArray[Any]) -> None:
            assert not block.flags.writeable
            taken[where] = block

        with (
            Source.from_function(
                lambda where: projections[where],
                projections.shape,
                np.float32,
                context=cpu,
            ) as made,
            Sink.to_function(write, plan.shape, np.float32, context=cpu) as consumer,
        ):
            plan.reconstruct(made, consumer)
        assert np.array_equal(taken, whole)


@pytest.mark.parametrize("order", ["<", ">"])
def test_functions_of_any_byte_order(cpu: purlin.Context, order: str) -> None:
    geometry, grid, projections, _ = published("full")
    with Reconstruction(geometry, grid, context=cpu) as plan:
        whole = plan.reconstruct(projections)
        views, taken = projections.astype(f"{order}f4"), np.zeros(whole.shape, f"{order}f4")

        def write(where: tuple[slice, ...], block: npt.NDArray[Any]) -> None:
            assert block.dtype == np.dtype("=f4")
            taken[where] = block

        with (
            Source.from_function(lambda where: views[where], views.shape, views.dtype, context=cpu) as made,
            Sink.to_function(write, taken.shape, taken.dtype, context=cpu) as consumer,
        ):
            plan.reconstruct(made, consumer)
    assert np.array_equal(taken, whole)


def test_an_exception_of_a_function_is_raised_and_leaves_no_file(cpu: purlin.Context, tmp_path: Path) -> None:
    geometry, grid, projections, _ = published("full")

    def broken(_where: tuple[slice, ...]) -> Floats:
        raise LookupError("no such view")

    with Reconstruction(geometry, grid, context=cpu) as plan:
        with (
            Source.from_function(broken, projections.shape, np.float32, context=cpu) as source,
            Sink.to_file(tmp_path / "v.raw", plan.shape, np.float32, context=cpu) as sink,
        ):
            with pytest.raises(LookupError, match="no such view"):
                plan.reconstruct(source, sink)
        assert list(tmp_path.iterdir()) == []
        with Source.from_function(lambda _: np.zeros(3), projections.shape, np.float32, context=cpu) as wrong:
            with pytest.raises(ValueError, match="returned shape"):
                plan.reconstruct(wrong)
        assert np.isfinite(plan.reconstruct(projections)).all()


def test_a_sink_to_the_file_of_the_scan_is_refused(cpu: purlin.Context, tmp_path: Path) -> None:
    geometry, grid, scan, _ = published("full")
    path, link = tmp_path / "scan.raw", tmp_path / "link"
    scan.astype(np.float32).tofile(path)
    link.symlink_to(path)
    kept = path.read_bytes()
    with Reconstruction(geometry, grid, context=cpu) as plan, Source.from_file(path, scan.shape, np.float32, context=cpu) as read:
        for target in (path, link):
            with Sink.to_file(target, plan.shape, np.float32, context=cpu) as sink:
                with pytest.raises(purlin.InvalidArgument, match="volume: goes to a file that projections is read from"):
                    plan.reconstruct(read, sink)
    assert path.read_bytes() == kept and len(list(tmp_path.iterdir())) == 2


def test_counts(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("full")
    scaled = projections * np.float32(0.02)
    dark = np.full(projections.shape[1:], 100, np.float32)
    counts = np.rint(60000 * np.exp(-scaled) + 100).astype(np.uint16)
    with Reconstruction(geometry, grid, context=cpu) as plan:
        whole = plan.reconstruct(scaled)
        plan.set_counts(60100.0, dark)
        assert np.abs(plan.reconstruct(counts) - whole).max() < 2e-4
        assert plan.last_info().pixels_negative == 0
        bright = counts.copy()
        bright[7, 32, 40] = 60101
        plan.reconstruct(bright)
        assert (plan.last_info().pixels_clamped, plan.last_info().pixels_negative) == (0, 1)
        with pytest.raises(purlin.InvalidArgument, match="i0: is 0"):
            plan.set_counts(0.0)
        plan.set_counts(None)
        assert np.array_equal(plan.reconstruct(scaled), whole)
    lines = purlin.fdk.log_transform(counts, 60100.0, dark, context=cpu)
    assert np.abs(lines - scaled).max() < 1e-3
    # One number of dark counts is the same for every pixel.
    with Reconstruction(geometry, grid, context=cpu) as plan:
        plan.set_counts(60100.0, 100)
        assert np.abs(plan.reconstruct(counts) - whole).max() < 2e-4
        plan.set_counts(np.full_like(dark, 60100.0), 100)
        assert np.abs(plan.reconstruct(counts) - whole).max() < 2e-4
    assert np.array_equal(purlin.fdk.log_transform(counts, 60100.0, 100, context=cpu), lines)


def test_wide_counts(cpu: purlin.Context) -> None:
    # Single precision would round these levels by up to 64 counts.
    above = np.array([[1.0, 10000.0], [25000.0, 50000.0]])
    want = -np.log(above / 50000.0)
    for level, dtype in ((1_000_000_001, np.uint32), (4_000_000_001, np.uint32), (1_000_000_000_001, np.float64)):
        counts = (level + above).astype(dtype)[np.newaxis]
        images = [np.full((2, 2), level, kind) for kind in (np.float64, np.int64)]
        for dark in (*images, level):
            for i0 in (level + 50000.0, np.full((2, 2), level + 50000.0)):
                lines = purlin.fdk.log_transform(counts, i0, dark, context=cpu)
                assert np.abs(lines[0] - want).max() < 1e-6, (level, dtype)
    dark = np.zeros((2, 2))
    dark[1, 0] = np.nan
    with pytest.raises(purlin.InvalidArgument, match="^dark: row 1, column 0 is NaN, not finite"):
        purlin.fdk.log_transform(counts, level + 50000.0, dark, context=cpu)


def test_counts_beyond_single_precision(cpu: purlin.Context) -> None:
    def line(count: float, i0: object, dark: object = None) -> float:
        return float(purlin.fdk.log_transform(np.full((1, 1, 2), count), i0, dark, context=cpu)[0, 0, 1])

    for i0 in (1e40, np.full((1, 2), 1e40)):
        assert abs(line(100.0, i0) - np.log(1e38)) < 1e-5
        assert abs(line(1e40, i0, 1e39)) < 1e-6
    assert abs(line(2.5e40, np.full((1, 2), 4e40), np.full((1, 2), 1e40)) - np.log(2)) < 1e-6
    assert abs(line(1e40, 200.0) + np.log(1e40 / 200.0)) < 1e-5
    with pytest.raises(purlin.NotSupported, match="counts: is int64, uint8 to uint32, int8 to int32, float16, float32 or float64 is needed"):
        purlin.fdk.log_transform(np.ones((1, 1, 2), np.int64), 2.0, context=cpu)


def test_counts_that_are_not_finite() -> None:
    said: list[str] = []
    geometry, grid, projections, _ = published("full")
    counts = np.full_like(projections, 1000)
    counts[40, 32, 40:46] = np.nan, np.inf, -np.inf, 0, -3, 2000
    with purlin.Context("cpu", threads=2, log=lambda level, line: said.append(line), log_level="warn") as context:
        lines, clamped = purlin.fdk.log_transform(counts, 1000, return_clamped=True, context=context)
        assert clamped == 2 and np.array_equal(purlin.fdk.log_transform(counts, 1000), lines, equal_nan=True)
        assert np.isnan(lines[40, 32, 40:43]).all() and np.isfinite(lines).sum() == lines.size - 3
        assert np.allclose(lines[40, 32, 43:46], [np.log(2000), np.log(2000), -np.log(2)], atol=1e-5)
        assert [line for line in said if "counts: 3 are not finite" in line] == said
        with Reconstruction(geometry, grid, context=context) as plan:
            plan.set_counts(1000)
            plan.reconstruct(counts)
            info = plan.last_info()
            assert (info.pixels_not_finite, info.pixels_clamped, info.pixels_negative) == (3, 2, 1)


def test_options_without_effect_are_refused(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("full")
    matrices = np.load(DATA / "carm_matrices.npy")
    about = json.loads((DATA / "carm.json").read_text())
    panel = {"detector_columns": about["nu"], "detector_rows": about["nv"], "column_pitch": about["du_mm"]}
    for name, row_pitch in [("source_to_axis", 0.0), ("source_to_detector", 0.0), ("row_offset", 0.0)]:
        extra: dict[str, Any] = {name: 500.0}
        with pytest.raises(purlin.InvalidArgument, match=f"^{name}: is 500, without effect"):
            Reconstruction(Geometry(**panel, row_pitch=row_pitch, matrices=matrices, **extra), grid, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="^row_pitch: is 1, the matrix of view 0 holds"):
        Reconstruction(Geometry(**panel, row_pitch=1.0, matrices=matrices), grid, context=cpu)
    for row_pitch in (0.0, about["dv_mm"]):
        Reconstruction(Geometry(**panel, row_pitch=row_pitch, matrices=matrices), grid, context=cpu).close()
    with Reconstruction(geometry, grid, context=cpu) as plan, pytest.raises(purlin.InvalidArgument, match="^epsilon"):
        plan.set_counts(None, epsilon=2.0)


def test_a_full_disk_keeps_the_scan(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("full")

    def full(where: Any, block: Floats) -> None:
        raise OSError(28, "No space left on device")

    with Reconstruction(geometry, grid, context=cpu) as plan:
        plan.begin()
        plan.push(list(range(90)), projections)
        whole = plan.reconstruct(projections)
        with Sink.to_function(full, grid.size[::-1], np.float32, context=cpu) as sink, pytest.raises(OSError, match="space"):
            plan.finish(sink)
        assert plan.plan().views_pushed == 90
        assert np.array_equal(plan.finish(), whole)
        plan.begin()
        plan.push(0, projections[0])
        plan.cancel()
        for _ in range(2):
            with pytest.raises(purlin.Cancelled):
                plan.finish()


def test_pixels_that_are_not_finite_are_counted(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("full")
    spoilt = projections.copy()
    spoilt[3, 30, 40] = np.nan
    spoilt[50, 32, 41] = np.inf
    for sanitize in (False, True):
        with Reconstruction(geometry, grid, sanitize=sanitize, context=cpu) as plan:
            volume = plan.reconstruct(spoilt)
            assert plan.last_info().pixels_not_finite == 2
            assert plan.last_info().pixels_sanitized == (2 if sanitize else 0)
            assert np.isfinite(volume).all() == sanitize
    # They are NaN, and 0 in volumes of integers, also where rows are not filtered.
    choices: list[Any] = [{}, {"precision": "f64"}, {"mode": "rabbitct"}, {"mode": "rabbitct", "precision": "f64"}]
    for options in choices:
        with Reconstruction(geometry, grid, context=cpu, **options) as plan:
            volume = plan.reconstruct(spoilt.astype(np.float64))
            assert np.isnan(volume).any() and not np.isinf(volume).any(), options
            whole = np.full(volume.shape, 7, np.int16)
            with Sink.to_array(whole, context=cpu) as sink:
                plan.reconstruct(spoilt.astype(np.float64), sink)
            assert np.array_equal(whole[np.isnan(volume)], np.zeros(np.isnan(volume).sum(), np.int16)), options


def test_a_half_fan_of_too_few_columns_beyond_the_axis_is_refused(cpu: purlin.Context) -> None:
    angles = np.arange(180) * 2 * np.pi / 180
    for beyond, side in [(0.5, 1), (1, -1), (2, 1), (4, -1)]:
        # The outermost column of the short side has its centre `beyond` columns beyond the axis.
        offset = side * (23.5 - beyond) * 2.0
        geometry = Geometry(48, 5, 2.0, 4.0, 500.0, 1000.0, angles=angles, column_offset=offset)
        if beyond < 3:
            expected = rf"redundancy: is half fan, but the panel of view \d+ reaches {beyond:.3f} columns beyond the axis, less than 3\."
            with pytest.raises(purlin.InvalidArgument, match=expected):
                Reconstruction(geometry, Grid.centred((31, 31, 1), (1.0, 1.0, 1.0)), context=cpu)
            continue
        with Reconstruction(geometry, Grid.centred((31, 31, 1), (1.0, 1.0, 1.0)), context=cpu) as plan:
            volume = plan.reconstruct(plan.project(np.array([[1.0, 36, 33, 500, 4, -3, 0, 0.4]])))
            assert plan.last_info().redundancy == "half_fan" and "the panel reaches only 4" in plan.last_info().reason
            assert np.abs(volume - 1).max() < 0.05


def test_pieces_make_the_whole(cpu: purlin.Context) -> None:
    geometry, grid, _, _ = published("full")
    head = purlin.fdk.shepp_logan(45.0)
    assert head.shape == (10, 8)
    with Reconstruction(geometry, grid, context=cpu) as plan:
        lines = plan.project(head)
        whole = plan.reconstruct(lines)
        views = range(plan.views)
        volume = np.zeros(plan.shape, np.float32)
        plan.backproject(views, plan.filter(views, plan.weight(views, lines)), volume)
        assert np.abs(volume - whole).max() < 2e-5
        truth = plan.draw(head)
        assert np.sqrt(np.mean((whole - truth) ** 2)) < 0.15


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda a: {"angles": [0.0, np.nan]}, "angles: element 1"),
        (lambda a: {"source_to_axis": -1.0}, "source_to_axis"),
        (lambda a: {"detector_columns": 1}, "detector_columns"),
    ],
)
def test_bad_geometry_is_named(cpu: purlin.Context, change: Callable[[Any], dict[str, Any]], text: str) -> None:
    geometry, *_ = published("full")
    with pytest.raises(purlin.InvalidArgument, match=text):
        Reconstruction(Geometry(**{**geometry.__dict__, **change(None)}), context=cpu)
    for wrong in (np.zeros((2, 45)), 0.3):
        with pytest.raises(ValueError, match=r"angles: has shape .*, expected \(views,\)"):
            Reconstruction(Geometry(**{**geometry.__dict__, "angles": wrong}), context=cpu)
    with pytest.raises(ValueError, match="window"):
        Reconstruction(geometry, context=cpu, window="blackman")  # type: ignore[arg-type]


def test_progress_while_views_are_pushed(cpu: purlin.Context) -> None:
    """Pushes report their views out of the whole scan. A cancelled one ends the scan, and the next one is whole."""
    geometry, grid, projections, _ = published("full")
    views, steps = len(projections), []
    stops_at = views + 1

    def watch(step: int, total: int, _: float) -> bool:
        steps.append((step, total))
        return step >= stops_at

    with Reconstruction(geometry, grid, progress=watch, context=cpu) as plan:
        whole = plan.reconstruct(projections)
        steps.clear()
        plan.begin()
        plan.push(list(range(40)), projections[:40])
        assert steps and all(total == views for _, total in steps)
        assert [step for step, _ in steps] == sorted(step for step, _ in steps) and steps[-1][0] == 40
        stops_at = 41
        with pytest.raises(purlin.Cancelled):
            plan.push(list(range(40, views)), projections[40:])
        with pytest.raises(purlin.Cancelled):
            plan.finish()
        stops_at = views + 1
        plan.begin()
        assert plan.plan().views_pushed == 0
        plan.push(list(range(views)), projections)
        assert steps[-1] == (views, views) and plan.plan().views_pushed == views
        assert np.abs(plan.finish() - whole).max() <= 2e-6 * np.abs(whole).max()


def test_progress_cancels_and_the_plan_goes_on(cpu: purlin.Context) -> None:
    geometry, grid, projections, _ = published("full")
    steps: list[int] = []

    def stop(step: int, _steps: int, _measure: float) -> bool:
        steps.append(step)
        return len(steps) == 1

    with Reconstruction(geometry, grid, progress=stop, view_batch=4, context=cpu) as plan:
        with pytest.raises(purlin.Cancelled):
            plan.reconstruct(projections)
        assert np.isfinite(plan.reconstruct(projections)).all()


@pytest.mark.parametrize(("views", "size"), [(10000, 256), (16, 400)])
def test_a_cancellation_is_heard_within_a_push_and_within_a_batch(views: int, size: int) -> None:
    """Nearly all the time is that of back-projections: of 10000 views it is more than a minute of a processor. More threads
    would end 16 views before the first look."""
    angles = np.arange(views) * 2 * np.pi / views
    panel = Geometry(8, 8, 30.0, 30.0, source_to_axis=500.0, source_to_detector=1000.0, angles=angles)
    grid = Grid.centred((size,) * 3, (100.0 / size,) * 3)
    lines = np.ones((views, 8, 8), np.float32)
    steps: list[int] = []

    def stop(step: int, _steps: int, _measure: float) -> bool:
        steps.append(step)
        return True

    with (
        purlin.Context("cpu", threads=2) as two,
        Reconstruction(panel, grid, progress=stop, context=two) as plan,
    ):
        plan.begin()
        for name in ("push", "reconstruct"):
            steps.clear()
            began = time.process_time()
            with pytest.raises(purlin.Cancelled):
                plan.push(range(views), lines) if name == "push" else plan.reconstruct(lines)
            # Not at the end, where the function is called with all views.
            assert len(steps) == 1 and steps[0] < views and time.process_time() - began < 15, name
        with pytest.raises(purlin.Cancelled):
            plan.finish()


def test_messages_have_the_shapes_of_numpy(cpu: purlin.Context, tmp_path: Path) -> None:
    angles = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    panel = Geometry(16, 12, 4.0, 4.0, source_to_axis=500.0, source_to_detector=1000.0, angles=angles)
    scan, volume = np.zeros((20, 12, 16), np.float32), np.zeros((10, 12, 16), np.float32)
    # Axes in the C library's order, the reverse of NumPy's.
    turned, wrong = np.zeros((16, 12, 20), np.float32), np.zeros((16, 12, 10), np.float32)
    image = np.zeros((16, 12), np.float32)
    said: list[tuple[Callable[[], object], str]] = []
    with Reconstruction(panel, Grid.centred((16, 12, 10), (3.0, 3.0, 3.0)), context=cpu) as plan:
        needed = "has dimensions (16, 12, 20), (20, 12, 16) are needed"
        said += [(lambda: plan.reconstruct(turned), f"projections: {needed}")]
        said += [(lambda: plan.reconstruct(Source.from_array(turned, context=cpu)), f"projections: {needed}")]
        needed = "volume: has dimensions (16, 12, 10), (10, 12, 16) are needed"
        said += [(lambda: plan.reconstruct(scan, wrong), needed)]
        said += [(lambda: plan.reconstruct(scan, Sink.to_array(wrong, context=cpu)), needed)]
        said += [(lambda: plan.backproject([0], scan[:1], wrong), needed)]
        needed = "has dimensions (16, 12), (12, 16) are needed"
        said += [(lambda: plan.push(0, image), f"projections: {needed}")]
        said += [(lambda: plan.set_counts(image), f"i0: {needed}"), (lambda: plan.set_counts(1.0, image), f"dark: {needed}")]
        said += [(lambda: purlin.fdk.log_transform(scan, image, context=cpu), f"i0: {needed}")]
        needed = "has dimensions (16, 12, 2), (2, 12, 16) are needed"
        said += [(lambda: plan.weight([0, 1], turned[:, :, :2]), f"projections: {needed}")]
        said += [(lambda: plan.filter([0, 1], turned[:, :, :2]), f"weighted: {needed}")]
        said += [(lambda: plan.backproject([0, 1], turned[:, :, :2], volume), f"filtered: {needed}")]
        needed = "ellipsoids: has dimensions (8, 3), (count, 8) are needed"
        said += [(lambda: plan.project(np.zeros((8, 3))), needed), (lambda: plan.draw(np.zeros((8, 3))), needed)]
        # A tensor has the axes of the library.
        needed = "projections: has dimensions [20, 12, 16], [16, 12, 20] are needed"
        said += [(lambda: plan.reconstruct(purlin.Tensor.borrow(scan, context=cpu)), needed)]
        plan.begin()
        for call, text in said:
            with pytest.raises(purlin.InvalidArgument) as caught:
                call()
            assert str(caught.value) == text
        plan.push(range(20), scan)
        with pytest.raises(purlin.InvalidArgument, match=r"^volume: has dimensions \(16, 12, 10\), \(10, 12, 16\)"):
            plan.finish(wrong)
        del caught


def test_messages_about_files_have_the_shapes_of_numpy(cpu: purlin.Context, tmp_path: Path) -> None:
    path = tmp_path / "scan[1, 2].raw"
    path.write_bytes(b"123")
    with pytest.raises(purlin.FileError, match=r"scan\[1, 2\].raw: .* 120 are needed for \(3, 4, 5\)"):
        Source.from_file(path, (3, 4, 5), "u2", context=cpu)

    def blocks(shape: tuple[int, ...]) -> Source:
        return Source.from_function(lambda where: np.zeros(1), shape, np.float32, context=cpu)

    with pytest.raises(purlin.InvalidArgument, match=r"^shape: is \(-3, 4, 5\), expected"):
        blocks((-3, 4, 5))
    with pytest.raises(purlin.InvalidArgument, match=r"^shape: \(3, 2147483648, 4294967296\) are more than"):
        blocks((3, 2**31, 2**32))
    with pytest.raises(purlin.InvalidArgument, match="^shape: has 9 axes, outside"):
        blocks((1,) * 9)
    with pytest.raises(purlin.InvalidArgument, match="^spacing: element 0 is -1, expected a finite number above 0"):
        Sink.to_metaimage(tmp_path / "x.mha", (3, 4, 5), spacing=(-1, 2, 3), context=cpu)
