#!/usr/bin/env python3
"""Cone-beam reconstruction on the CPU: purlin against RTK's CPU filters (pip install itk-rtk), on the same projections.

A full circle of the Shepp-Logan phantom in float32, from array to array: weights, ramp filter and back-projection. GUPS
are views times voxels over 1e9 and the time of it all. The clock is the wall's, or with `--clock cpu` the processor time
of the process over its threads, the fair measure on a machine that is not idle. RTK takes minutes for the larger
volume; `--every n` gives it, there, each n-th view only.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import purlin
from purlin import fdk
from report import Table

VIEWS = 360
CASES = ((256, 384), (512, 512))
ORBIT = {"source_to_axis": 1000.0, "source_to_detector": 1500.0}


def scan(size: int, panel: int, views: int) -> tuple[fdk.Geometry, fdk.Grid]:
    """A panel of 384 mm whatever its pixels, and voxels that it sees to their edge at mid-height."""
    pitch = 384.0 / panel
    angles = np.arange(views) * 2 * np.pi / views
    voxel = 240.0 / size
    return (
        fdk.Geometry(panel, panel, pitch, pitch, angles=angles, **ORBIT),
        fdk.Grid.centred((size,) * 3, (voxel,) * 3),
    )


def seconds(work: Callable[[], object], clock: str, threads: int, repeats: int) -> float:
    """Median time of `work` after one run to warm up, or of a single run."""
    if repeats > 1:
        work()
    times = []
    for _ in range(repeats):
        start, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        work()
        wall, now = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        times.append(wall if clock == "wall" else cpu / threads)
    return statistics.median(times)


class Rtk:
    """RTK's CPU pipeline; its axes (x, y, z) are ours (y, z, x)."""

    def __init__(self, threads: int) -> None:
        import itk
        from itk import RTK

        itk.MultiThreaderBase.SetGlobalMaximumNumberOfThreads(threads)
        itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(threads)
        self.itk, self.rtk, self.image = itk, RTK, itk.Image[itk.F, 3]

    def reconstruct(self, projections: Any, geometry: fdk.Geometry, grid: fdk.Grid, angles: Any) -> Any:
        """A pipeline, which runs at `Update`, and the objects that it reads from and must keep alive."""
        itk, rtk = self.itk, self.rtk
        orbit = rtk.ThreeDCircularProjectionGeometry.New()
        for angle in np.degrees(angles):
            orbit.AddProjection(geometry.source_to_axis, geometry.source_to_detector, float(angle))
        stack = itk.image_from_array(projections)
        stack.SetSpacing([geometry.column_pitch, geometry.row_pitch, 1.0])
        stack.SetOrigin(
            [
                -(geometry.detector_columns - 1) / 2 * geometry.column_pitch,
                -(geometry.detector_rows - 1) / 2 * geometry.row_pitch,
                0.0,
            ]
        )
        blank = rtk.ConstantImageSource[self.image].New()
        turn = (1, 2, 0)
        blank.SetSize([grid.size[k] for k in turn])
        blank.SetSpacing([grid.spacing[k] for k in turn])
        blank.SetOrigin([grid.origin[k] for k in turn])
        blank.SetConstant(0.0)
        pipeline = rtk.FDKConeBeamReconstructionFilter[self.image].New()
        pipeline.SetInput(0, blank.GetOutput())
        pipeline.SetInput(1, stack)
        pipeline.SetGeometry(orbit)
        pipeline.GetRampFilter().SetTruncationCorrection(0.0)
        return pipeline, (stack, blank, orbit)

    def array(self, pipeline: Any) -> Any:
        return self.itk.array_view_from_image(pipeline.GetOutput()).transpose(1, 2, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    threads = arguments.threads
    context = purlin.Context(backend="cpu", threads=threads)
    try:
        peer = Rtk(threads)
    except ImportError:
        peer = None
    table = Table(
        "cone-beam reconstruction on the CPU",
        threads=threads,
        clock=arguments.clock,
        context=str(context.properties),
    )
    for size, panel in CASES:
        geometry, grid = scan(size, panel, VIEWS)
        with fdk.Reconstruction(geometry, grid, context=context) as ours:
            projections = ours.project(fdk.shepp_logan(110.0))
            volume = np.zeros((size,) * 3, np.float32)
            took = seconds(
                lambda: ours.reconstruct(projections, volume), arguments.clock, threads, arguments.repeats
            )
            info = ours.last_info()
        gups = VIEWS * size**3 * 1e-9
        theirs = agreement = None
        every = arguments.every if size > 256 else 1
        if peer:
            part = np.ascontiguousarray(projections[::every])
            pipeline, _keep = peer.reconstruct(part, geometry, grid, np.asarray(geometry.angles)[::every])
            # A pipeline runs once; one run of it is long enough not to need a median.
            theirs = gups / every / seconds(pipeline.Update, arguments.clock, threads, 1)
            if every == 1:
                agreement = float(np.abs(peer.array(pipeline) - volume).max())
            del pipeline, _keep
        table.add(
            f"{size}^3 from {VIEWS} x {panel}^2",
            "GUPS",
            gups / took,
            "RTK",
            theirs,
            gups_a_core=round(gups / took / threads, 3),
            backprojection_gups_a_core=round(gups / info.seconds_backproject / threads, 3),
            filter_part=round(info.seconds_filter / (info.seconds_filter + info.seconds_backproject), 4),
            rtk_every=every,
            largest_difference=agreement,
        )
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
