#!/usr/bin/env python3
"""Peaks of orientation functions on a GPU through the library: resident on the device, and from pinned host memory to
pinned host memory, against the link's own speed in the same run."""

from __future__ import annotations

import sys

import numpy as np
import purlin
from report import Table, golden, median_seconds, tiled

VOXELS = 1_000_000


def main() -> int:
    try:
        import cupy
        import cupyx
    except ImportError:
        print("no CuPy here")
        return 77
    if not purlin.devices():
        print("no GPU here")
        return 77
    context = purlin.Context(backend="cuda")
    table = Table("peaks on a GPU", voxels=VOXELS, context=str(context.properties))
    packed = purlin.dwi.sh_to_tensor(tiled(golden(4)["sh_mrtrix"], VOXELS), "mrtrix3", context=context)
    options = {"starts": 64, "start_kind": "fibonacci_hemisphere"}
    resident_seconds = {}
    for name, dtype in (("f32", np.float32), ("f64", np.float64)):
        entries = cupy.asarray(packed.astype(dtype))
        rows = cupy.empty((VOXELS, 5, 4), dtype)
        counts = cupy.empty(VOXELS, np.int32)
        source = purlin.Tensor.symmetric(entries, 4, 3, context=context)
        target = purlin.Tensor.borrow(rows.transpose(2, 1, 0), context=context)
        count = purlin.Tensor.borrow(counts, context=context)
        stream = purlin.Stream(context)

        def work() -> None:
            purlin.dwi.peaks_into(source, target, count=count, stream=stream, context=context, **options)
            stream.synchronize()

        resident_seconds[name] = median_seconds(work, warmup=3)
        table.add(f"m = 4, 64 starts, hybrid, top 5, {name}, resident", "voxels/s", VOXELS / resident_seconds[name], "", None)
    table.rows[-1]["f64_over_f32"] = resident_seconds["f32"] / resident_seconds["f64"]

    # From pinned host memory to pinned host memory, against the larger of the time above and the link's floor.
    host = purlin.Tensor.create_symmetric(4, 3, VOXELS, np.float32, pinned=True, context=context)
    host.numpy()[...] = packed.T
    rows_host = purlin.Tensor.create((4, 5, VOXELS), np.float32, order="F", pinned=True, context=context)
    end_to_end = median_seconds(
        lambda: purlin.dwi.peaks_into(host, rows_host, context=context, **options), warmup=2
    )
    data = cupy.empty((VOXELS, 15), np.float32)
    out = cupy.empty((VOXELS, 20), np.float32)
    pinned_in = cupyx.empty_pinned((VOXELS, 15), np.float32)
    pinned_out = cupyx.empty_pinned((VOXELS, 20), np.float32)

    def upload() -> None:
        data.set(pinned_in)
        cupy.cuda.get_current_stream().synchronize()

    def download() -> None:
        out.get(out=pinned_out)
        cupy.cuda.get_current_stream().synchronize()

    floor = max(resident_seconds["f32"], median_seconds(upload), median_seconds(download))
    table.add(
        "the same, pinned host to pinned host, f32",
        "voxels/s",
        VOXELS / end_to_end,
        "slowest of device and link",
        VOXELS / floor,
        times_the_floor=round(end_to_end / floor, 3),
    )
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
