#!/usr/bin/env python3
"""Peaks of orientation functions on the CPU: purlin against MRtrix3's sh2peaks and dipy's peak_directions.

The real volume's coefficients, tiled, in float32. MRtrix3 is timed as a whole command, file in and file out; dipy per
voxel, its sampling of the function left out. Accuracy: the angle to MRtrix3's peaks where a second solver confirmed
them.
"""

from __future__ import annotations

import argparse
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import purlin
from report import Table, golden, median_seconds, tiled

VOXELS = 100_000


def write_nifti(path: Path, volume: np.ndarray) -> None:
    """A single-file NIfTI-1 image, float32, with the identity as its frame."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, volume.ndim, *volume.shape, *[1] * (7 - volume.ndim))
    struct.pack_into("<2h", header, 70, 16, 32)
    struct.pack_into("<8f", header, 76, *[1.0] * 8)
    struct.pack_into("<2f", header, 108, 352.0, 1.0)
    struct.pack_into("<2h", header, 252, 0, 1)
    for row in range(3):
        struct.pack_into("<4f", header, 280 + 16 * row, *[float(row == column) for column in range(4)])
    header[344:348] = b"n+1\0"
    path.write_bytes(bytes(header) + volume.astype("<f4").tobytes(order="F"))


def angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles in degrees between axes, the rows of `a` and `b`."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    b = np.where((a * b).sum(-1, keepdims=True) < 0, -b, b)
    return np.degrees(2 * np.arcsin(np.minimum(1, np.linalg.norm(a - b, axis=-1) / 2)))


def accuracy(lmax: int, context: purlin.Context) -> dict[str, object]:
    """MRtrix3's top three peaks against the nearest of ours: how many have none within 0.1 degree, and the largest
    angle and relative difference of amplitude of the others."""
    data = golden(lmax)
    agree = data["agree"].astype(bool)
    found = purlin.dwi.peaks(
        np.ascontiguousarray(data["sh_mrtrix"][agree]),
        12,
        basis="mrtrix3",
        relative_threshold=0.0,
        min_separation=0.0,
        context=context,
    )
    theirs = data["peaks"][agree][:, :3].astype(np.float64)
    voxel, rank = np.nonzero(np.isfinite(theirs).all(-1))
    wanted = theirs[voxel, rank]
    ours = np.nan_to_num(found.directions[voxel].astype(np.float64), nan=1e-9)
    off = angles(ours, np.broadcast_to(wanted[:, None], ours.shape))
    nearest = off.argmin(1)
    angle = off[np.arange(len(off)), nearest]
    amplitude = np.linalg.norm(wanted, axis=-1)
    relative = np.abs(found.values[voxel, nearest] - amplitude) / amplitude
    hit = angle < 0.1
    return {
        "peaks": len(angle),
        "missed": int((~hit).sum()),
        "largest_angle_degrees": round(float(angle[hit].max()), 5),
        "largest_amplitude_difference": float(f"{relative[hit].max():.2e}"),
    }


def mrtrix_rate(lmax: int, threads: int) -> float | None:
    """Voxels a second of the command, or None if it is not here."""
    if shutil.which("sh2peaks") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        sh, peaks = Path(folder) / "sh.nii", Path(folder) / "peaks.nii"
        write_nifti(sh, tiled(golden(lmax)["sh_mrtrix"], VOXELS).reshape(100, 100, VOXELS // 10_000, -1))
        start = time.perf_counter()
        subprocess.run(
            ["sh2peaks", "-force", "-quiet", "-num", "5", "-nthreads", str(threads), str(sh), str(peaks)], check=True
        )
        return VOXELS / (time.perf_counter() - start)


def dipy_rate() -> tuple[float, float] | None:
    """Voxels a second of peak_directions on its 724-point sphere, and the median angle of its first peak to
    MRtrix3's; None without dipy."""
    try:
        from dipy.data import get_sphere
        from dipy.direction import peak_directions
        from dipy.reconst.shm import sh_to_sf
    except ImportError:
        return None
    data = golden(4)
    agree = data["agree"].astype(bool)
    sphere = get_sphere(name="repulsion724")
    values = sh_to_sf(
        data["sh_mrtrix"][agree].astype(np.float64), sphere, sh_order_max=4, basis_type="tournier07", legacy=False
    )
    first = np.zeros((len(values), 3))
    start = time.perf_counter()
    for voxel, odf in enumerate(values):
        directions, _, _ = peak_directions(odf, sphere, relative_peak_threshold=0.5, min_separation_angle=25)
        first[voxel] = directions[0]
    rate = len(values) / (time.perf_counter() - start)
    return rate, float(np.median(angles(first, data["peaks"][agree][:, 0].astype(np.float64))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args().threads
    context = purlin.Context(backend="cpu", threads=threads)
    table = Table("peaks on the CPU", threads=threads, voxels=VOXELS, context=str(context.properties))
    for lmax in (4, 8):
        sh = tiled(golden(lmax)["sh_mrtrix"], VOXELS)

        def work(sh: np.ndarray = sh) -> None:
            purlin.dwi.peaks(sh, 5, basis="mrtrix3", relative_threshold=0.0, min_separation=0.0, context=context)

        rate = VOXELS / median_seconds(work)
        table.add(
            f"sh to peaks, lmax {lmax}, f32",
            "voxels/s",
            rate,
            "MRtrix3 sh2peaks",
            mrtrix_rate(lmax, threads),
            **accuracy(lmax, context),
        )
        if lmax == 4:
            dipy = dipy_rate()
            table.add(
                "sh to peaks, lmax 4, f32, one thread of dipy",
                "voxels/s",
                rate,
                "dipy peak_directions",
                dipy[0] if dipy else None,
                dipy_median_angle_degrees=round(dipy[1], 3) if dipy else None,
            )
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
