#!/usr/bin/env python3
"""Cone-beam CT on GPUs through the library: end to end from host memory and from files, view by view, on several GPUs,
with ASTRA's FDK_CUDA on the same arrays in the same run where it is installed.

PURLIN_FDK_LARGE=1 adds the 2048^3 volume, which takes 55 GB of host memory and 45 GB of disk."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import purlin
from purlin.blocks import Sink, Source
from purlin.fdk import Geometry, Grid, Reconstruction
from report import Table, median_seconds

GIB = 1 << 30
# The panel sees the whole volume: 1.25 n mm at the axis.
PITCH = 1.875


def scanner(n: int, views: int) -> tuple[Geometry, Grid]:
    """A circle about n^3 voxels of 1 mm, seen by n^2 pixels."""
    geometry = Geometry(
        detector_columns=n,
        detector_rows=n,
        column_pitch=PITCH,
        row_pitch=PITCH,
        source_to_axis=4.0 * n,
        source_to_detector=6.0 * n,
        angles=np.linspace(0, 2 * np.pi, views, endpoint=False),
    )
    return geometry, Grid.centred((n, n, n), (1.0, 1.0, 1.0))


def fill(array: Any) -> None:
    """Cheap numbers that are no constants: one noisy view, scaled for each view."""
    noise = np.random.default_rng(1).random(array.shape[1:], dtype=np.float32)
    for view in range(len(array)):
        np.multiply(noise, 1 + view % 7, out=array[view], casting="unsafe")


def pinned(shape: tuple[int, int, int], context: purlin.Context, dtype: Any = np.float32) -> tuple[purlin.Tensor, Any]:
    """Page-locked memory as a tensor, and as an array with the last axis fastest."""
    tensor = purlin.Tensor.create(shape[::-1], dtype, order="F", pinned=True, context=context)
    return tensor, tensor.numpy().T


def updates(plan: Reconstruction) -> float:
    return float(np.prod(plan.shape, dtype=np.float64)) * plan.views / 1e9


def stages(plan: Reconstruction) -> dict[str, float]:
    info = plan.last_info()
    names = "upload filter backproject download read write total".split()
    return {name: round(getattr(info, f"seconds_{name}"), 4) for name in names}


def memory(plan: Reconstruction) -> dict[str, float]:
    info = plan.last_info()
    return {
        "device_GiB_planned": round(info.device_bytes / GIB, 3),
        "device_used_over_planned": round(info.device_bytes_used / max(info.device_bytes, 1), 3),
        "host_used_over_planned": round(info.host_bytes_used / max(info.host_bytes, 1), 3),
    }


def end_to_end(table: Table, context: purlin.Context) -> None:
    """1024^3 from 1200 views: pinned to pinned against the back-projection's own time."""
    geometry, grid = scanner(1024, 1200)
    lines, array = pinned((1200, 1024, 1024), context)
    fill(array)
    volume, _ = pinned((1024, 1024, 1024), context)
    with Reconstruction(geometry, grid, context=context) as plan:
        seconds = median_seconds(lambda: plan.reconstruct(lines, volume), repeats=5)
        own = plan.last_info().seconds_backproject
        table.add(
            "1024^3 from 1200 x 1024^2, pinned to pinned",
            "GUPS",
            updates(plan) / seconds,
            "back-projection alone",
            updates(plan) / own,
            times_the_kernel=round(seconds / own, 3),
            filter_over_backprojection=round(plan.last_info().seconds_filter / own, 4),
            seconds=round(seconds, 4),
            **stages(plan),
            **memory(plan),
        )
        pushed(table, plan, array, context)


def pushed(table: Table, plan: Reconstruction, array: Any, context: purlin.Context) -> None:
    """The same view by view: from the last view to the volume on the device, and to the host."""
    device = purlin.Tensor.create((1024, 1024, 1024), np.float32, "device", order="F", context=context)
    stream = purlin.Stream(context)
    waits = []
    for _ in range(4):
        plan.begin(stream=stream)
        start = time.perf_counter()
        for view in range(plan.views):
            plan.push(view, array[view])
        last = time.perf_counter()
        plan.finish(device)
        stream.synchronize()
        waits.append((time.perf_counter() - last, last - start))
    ready, pushing = sorted(waits[1:])[1]
    table.add(
        "last view pushed to volume ready on the device",
        "1/s",
        1 / ready,
        "",
        None,
        milliseconds=round(1e3 * ready, 2),
        seconds_pushing=round(pushing, 3),
    )


def against_astra(table: Table, context: purlin.Context) -> None:
    """1024^3 from 600 views: pageable and pinned, against ASTRA on pageable arrays, its only kind."""
    n, views = 1024, 600
    geometry, grid = scanner(n, views)
    lines, array = pinned((views, n, n), context)
    fill(array)
    volume, _ = pinned((n, n, n), context)
    pageable, out = array.copy(), np.zeros((n, n, n), np.float32)
    theirs = astra_seconds(n, geometry, pageable)
    with Reconstruction(geometry, grid, context=context) as plan:
        for name, source, sink in (("pageable", pageable, out), ("pinned", lines, volume)):
            seconds = median_seconds(lambda s=source, v=sink: plan.reconstruct(s, v), repeats=5)
            table.add(
                f"1024^3 from 600 x 1024^2, {name} arrays",
                "GUPS",
                updates(plan) / seconds,
                "ASTRA FDK_CUDA, pageable arrays",
                None if theirs is None else updates(plan) / theirs,
                seconds=round(seconds, 4),
                **stages(plan),
            )


def astra_seconds(n: int, geometry: Geometry, projections: Any) -> float | None:
    try:
        import astra
    except (ImportError, OSError) as missing:
        print(f"  no ASTRA here: {missing}")
        return None
    angles = np.asarray(geometry.angles)
    # ASTRA counts its angles from another axis and keeps rows before views.
    scan = astra.create_proj_geom("cone", PITCH, PITCH, n, n, angles + np.pi / 2, 4.0 * n, 2.0 * n)
    rows = np.ascontiguousarray(projections.transpose(1, 0, 2))
    volume = np.zeros((n, n, n), np.float32)
    ids = astra.data3d.link("-sino", scan, rows), astra.data3d.link("-vol", astra.create_vol_geom(n, n, n), volume)
    config = astra.astra_dict("FDK_CUDA")
    config["ProjectionDataId"], config["ReconstructionDataId"] = ids
    algorithm = astra.algorithm.create(config)
    seconds = median_seconds(lambda: astra.algorithm.run(algorithm), repeats=3)
    astra.algorithm.delete(algorithm)
    astra.data3d.clear()
    return seconds


def several_gpus(table: Table, contexts: list[purlin.Context]) -> None:
    """1024^3 from 1200 views on one, two .. GPUs: the time, and the same bits."""
    geometry, grid = scanner(1024, 1200)
    lines, array = pinned((1200, 1024, 1024), contexts[0])
    fill(array)
    volume, voxels = pinned((1024, 1024, 1024), contexts[0])
    first = one = None
    for count in range(1, len(contexts) + 1):
        if count == 3:
            continue
        with purlin.Group(contexts[:count]) as group, Reconstruction(geometry, grid, group=group) as plan:
            seconds = median_seconds(lambda: plan.reconstruct(lines, volume), repeats=5)
            if first is None:
                first, one = voxels.copy(), seconds
            table.add(
                f"1024^3 from 1200 x 1024^2 on {count} GPUs, pinned to pinned",
                "GUPS",
                updates(plan) / seconds,
                "one GPU",
                updates(plan) / one if one else None,
                seconds=round(seconds, 4),
                same_bits=bool(np.array_equal(voxels, first)),
            )


def large(table: Table, context: purlin.Context) -> None:
    """2048^3 from 1200 x 2048^2, host to host."""
    geometry, grid = scanner(2048, 1200)
    lines, array = pinned((1200, 2048, 2048), context)
    fill(array)
    volume, _ = pinned((2048, 2048, 2048), context)
    with Reconstruction(geometry, grid, context=context) as plan:
        seconds = median_seconds(lambda: plan.reconstruct(lines, volume), repeats=2)
        table.add(
            "2048^3 from 1200 x 2048^2, pinned to pinned",
            "GUPS",
            updates(plan) / seconds,
            "back-projection alone",
            updates(plan) / plan.last_info().seconds_backproject,
            seconds=round(seconds, 3),
            **stages(plan),
            **memory(plan),
        )


def files(table: Table, n: int, views: int, limit: int) -> None:
    """Files to files under a limit of device memory, against the disk alone and the back-projection alone."""
    geometry, grid = scanner(n, views)
    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("PURLIN_BENCH_DISK")) as folder,
        purlin.Context("cuda", device_memory_limit=limit) as context,
    ):
        raw, image = Path(folder) / "scan.raw", Path(folder) / "volume.mha"
        view = np.random.default_rng(2).integers(1000, 60000, (n, n), dtype=np.uint16)
        # First, and removed again: scan and volume alone may fill the disk.
        alone = timed(lambda: write_slices(Path(folder) / "alone.raw", n))
        copied = timed(lambda: write_views(raw, view, views))
        with Reconstruction(geometry, grid, context=context) as plan:
            plan.set_counts(60000.0)

            def run() -> None:
                with (
                    Source.from_file(raw, (views, n, n), "<u2", context=context) as source,
                    Sink.to_metaimage(image, plan.shape, context=context) as sink,
                ):
                    plan.reconstruct(source, sink)

            seconds = timed(run)
            slowest = max(alone, plan.last_info().seconds_backproject)
            table.add(
                f"{n}^3 from {views} x {n}^2, files to files, {limit / GIB:.0f} GiB of the device",
                "GUPS",
                updates(plan) / seconds,
                "slower of writing the file alone and back-projection",
                updates(plan) / slowest,
                seconds=round(seconds, 2),
                times_the_slower=round(seconds / slowest, 3),
                seconds_to_write_alone=round(alone, 2),
                seconds_to_write_scan=round(copied, 2),
                slabs=plan.last_info().slabs,
                **stages(plan),
                **memory(plan),
            )


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def write_views(path: Path, view: Any, views: int) -> None:
    with path.open("wb") as file:
        for k in range(views):
            file.write((view >> (k % 3)).tobytes())
        file.flush()
        os.fsync(file.fileno())


def write_slices(path: Path, n: int) -> None:
    slices = np.random.default_rng(3).random((16, n, n), dtype=np.float32)
    with path.open("wb") as file:
        for _ in range(0, n, 16):
            file.write(slices.data)
        file.flush()
        os.fsync(file.fileno())
    path.unlink()


def main() -> int:
    gpus = purlin.devices()
    if not gpus:
        print("no GPU here")
        return 77
    with purlin.Context("cuda") as context:
        table = Table("cone-beam CT on GPUs", gpus=len(gpus), context=str(context.properties))
        wanted = set(sys.argv[1:]) or {"one", "astra", "files", "several"}
        if "one" in wanted:
            end_to_end(table, context)
        if "astra" in wanted:
            against_astra(table, context)
        if "large" in wanted or os.environ.get("PURLIN_FDK_LARGE"):
            large(table, context)
    if "files" in wanted:
        files(table, 1024, 1200, 2 * GIB)
    if "large_files" in wanted or os.environ.get("PURLIN_FDK_LARGE"):
        files(table, 2048, 1200, 16 * GIB)
    if "several" in wanted and len(gpus) > 1:
        contexts = [purlin.Context("cuda", device=gpu.ordinal) for gpu in gpus]
        several_gpus(table, contexts)
        for made in contexts:
            made.close()
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
