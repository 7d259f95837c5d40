#!/usr/bin/env python3
"""Robust PCA on the CPU: purlin against an inexact augmented Lagrange multiplier method with exact singular value
decompositions in NumPy, and sporco's (pip install sporco) where it is installed, on one video.

The video is 200 frames of 96 x 72 bytes, tests/golden/rpca. Each solver starts from the bytes and returns both parts. The
NumPy peer has the same penalties and the same stopping test, so that it makes the same number of iterations; sporco's
solver has penalties of its own. The optimum of the objective is 786.124, and the table shows the value that each has
reached. `--threads` bounds the peers' BLAS too.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

VIDEO = Path(__file__).resolve().parents[2] / "tests" / "golden" / "rpca" / "video_96x72x200_u8.npy.gz"


def frames() -> Any:
    """Bytes, a frame a column."""
    import numpy as np

    video = np.load(io.BytesIO(gzip.decompress(VIDEO.read_bytes())))
    return video.reshape(len(video), -1).T


def exact(m: Any, tolerance: float) -> tuple[Any, Any, int]:
    """The method with exact decompositions: L, S, iterations."""
    import numpy as np

    weight = 1 / np.sqrt(max(m.shape))
    norm, largest = np.linalg.norm(m), np.linalg.norm(m, 2)
    y = m / max(largest, np.abs(m).max() / weight)
    s = np.zeros_like(m)
    mu = 1.25 / largest
    for iteration in range(1, 501):
        u, values, v = np.linalg.svd(m - s + y / mu, full_matrices=False)
        rank = int((values > 1 / mu).sum())
        low = (u[:, :rank] * (values[:rank] - 1 / mu)) @ v[:rank]
        rest = m - low + y / mu
        s = np.sign(rest) * np.maximum(np.abs(rest) - weight / mu, 0)
        z = m - low - s
        y += mu * z
        if np.linalg.norm(z) < tolerance * norm:
            break
        mu *= 1.5
    return low, s, iteration


def sporco(m: Any) -> tuple[Any, Any]:
    """sporco's robust PCA with its own penalties."""
    import numpy as np
    from sporco.admm import rpca

    options = rpca.RobustPCA.Options({"MaxMainIter": 100, "RelStopTol": 1e-4, "AutoRho": {"Enabled": True}})
    return tuple(rpca.RobustPCA(m, 1 / np.sqrt(max(m.shape)), options).solve())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    # Before NumPy is loaded: its BLAS reads them once.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)
    import numpy as np
    import purlin
    from purlin import rpca
    from report import Table, median_seconds

    context = purlin.Context(backend="cpu", threads=arguments.threads)
    video = frames()
    table = Table(
        "robust PCA on the CPU",
        threads=arguments.threads,
        context=str(context.properties),
        numpy=np.__version__,
        video="x".join(map(str, video.shape)),
    )

    def objective(low: Any, rest: Any) -> float:
        return float(np.linalg.svd(low, compute_uv=False).sum() + np.abs(rest).sum() / np.sqrt(max(video.shape)))

    kept: dict[str, Any] = {}

    def ours(dtype: Any, tolerance: float) -> None:
        kept["ours"] = rpca.run(video, scale=1 / 255, dtype=dtype, tolerance=tolerance, context=context)

    def theirs(dtype: Any, tolerance: float) -> None:
        kept["theirs"] = exact((video / 255).astype(dtype), tolerance)

    for dtype, tolerance in ((np.float64, 1e-7), (np.float32, 1e-6)):
        took = median_seconds(partial(ours, dtype, tolerance), arguments.repeats)
        # Long enough not to need a median.
        peer = median_seconds(partial(theirs, dtype, tolerance), 1, warmup=0)
        parts, info = kept["ours"]
        table.add(
            f"video, {np.dtype(dtype).name}, to {tolerance:g}",
            "runs/s",
            1 / took,
            "NumPy, exact",
            1 / peer,
            iterations=info.iterations,
            their_iterations=kept["theirs"][2],
            objective=round(objective(*parts), 3),
            their_objective=round(objective(*kept["theirs"][:2]), 3),
            rank=info.rank,
            milliseconds=round(1e3 * took, 1),
            decomposition=round(info.seconds_svd / info.seconds, 3),
        )
    try:
        began = median_seconds(lambda: kept.update(sporco=sporco(video / 255)), 1, warmup=0)
        took = median_seconds(lambda: rpca.run(video, scale=1 / 255, dtype=np.float64, context=context), 3)
        entries = video / 255
        table.add(
            "video, float64",
            "runs/s",
            1 / took,
            "sporco",
            1 / began,
            their_objective=round(objective(*kept["sporco"]), 3),
            # Where L + S is not M, the objective may be below the optimum.
            their_residual=float(np.linalg.norm(entries - sum(kept["sporco"])) / np.linalg.norm(entries)),
        )
    except ImportError:
        print("  sporco is not installed")
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
