"""Modes of a flow whose snapshots are in a file, and the same modes from data with outliers.

    snapshots.py [POINTS [SNAPSHOTS]]

Three travelling waves with noise are written to a file, a snapshot a column. Their modes come from the file in blocks; then
one number in fifty is spoilt, and robust PCA takes the outliers out again.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import purlin
from purlin.blocks import Source

Field = npt.NDArray[np.float32]


def waves(points: int, snapshots: int, noise: float) -> Field:
    """Three waves, each a matrix of rank 2, on a line of points."""
    x = np.linspace(0, 2 * np.pi, points, endpoint=False)[:, None]
    t = np.linspace(0, 1, snapshots, endpoint=False)[None, :]
    field = sum(2.0**-k * np.cos((k + 1) * (x - 6 * np.pi * t)) for k in range(3))
    return np.asarray(field + noise * np.random.default_rng(1).standard_normal(field.shape), np.float32)


def angle(found: Any, wanted: Any) -> float:
    """Largest angle between two subspaces, degrees."""
    cosines = np.linalg.svd(found.T @ wanted, compute_uv=False)
    return float(np.degrees(np.arccos(min(cosines.min(), 1.0))))


def main(points: int = 4000, snapshots: int = 300) -> None:
    """Prints the angles between found and true modes, and the share of outliers."""
    field = waves(points, snapshots, 1e-2)
    true_modes = np.linalg.qr(np.linalg.svd(waves(points, snapshots, 0.0), full_matrices=False)[0][:, :6])[0]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshots.npy"
        np.save(path, field)
        with purlin.rsvd.Rsvd(6) as session:
            modes, s, _ = session.compute(Source.from_npy(path))
            info = session.last_info()
    assert info is not None
    print(f"purlin {purlin.__version__} on {purlin.default_context().properties.device_name}")
    print(f"  {points} points x {snapshots} snapshots, method {info.method}, {info.passes} passes, l = {info.columns}")
    print("  singular values     ", " ".join(f"{value:9.3f}" for value in s))
    print(f"  energy in six modes  {100 * (1 - info.error_relative**2):.3f} %")
    print(f"  angle to the truth   {angle(modes, true_modes):.3f} degrees")

    rng = np.random.default_rng(2)
    spoilt = np.where(rng.random(field.shape) < 0.02, 20 * rng.standard_normal(field.shape), field).astype(np.float32)
    plain = purlin.rsvd.compute(spoilt, 6).U
    low_rank, sparse = purlin.rpca.compute(spoilt, tolerance=1e-4)
    robust = purlin.rsvd.compute(low_rank, 6).U
    print("with one number in fifty spoilt:")
    print(f"  angle, plain         {angle(plain, true_modes):.3f} degrees")
    print(f"  angle, robust        {angle(robust, true_modes):.3f} degrees")
    print(f"  outliers found       {100 * float((np.abs(sparse) > 1).mean()):.2f} %")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
