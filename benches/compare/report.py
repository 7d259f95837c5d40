"""Helpers of the comparisons: timing, the golden volume, tables and their JSON."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "sshopm"


def golden(lmax: int) -> Any:
    """The real volume's orientation functions of degree `lmax` and the peaks that MRtrix3 finds in them."""
    return np.load(GOLDEN / f"dwi_small64d_csa{lmax}.npz")


def tiled(sh: Any, voxels: int) -> Any:
    """The voxels with a signal, repeated to `voxels`."""
    valid = sh[np.abs(sh).max(axis=1) > 0]
    return np.ascontiguousarray(np.tile(valid, (voxels // len(valid) + 1, 1))[:voxels])


def median_seconds(work: Callable[[], object], repeats: int = 7, warmup: int = 1) -> float:
    """Median wall-clock time of `work`, which must be complete when it returns."""
    for _ in range(warmup):
        work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Table:
    """Rows of a comparison: printed as they come, and written to the file PURLIN_BENCH_JSON, so that a run that is stopped
    leaves those it has."""

    def __init__(self, title: str, **facts: object) -> None:
        self.facts = {"title": title, **facts}
        self.rows: list[dict[str, Any]] = []
        print(title)
        for name, value in facts.items():
            print(f"  {name}: {value}")

    def add(self, case: str, unit: str, purlin: float, peer: str, theirs: float | None, **more: object) -> None:
        """One row: figures where more is better. `theirs` is None where there is nothing to compare with."""
        ratio = None if theirs is None else purlin / theirs
        self.rows.append(
            {"case": case, "unit": unit, "purlin": purlin, "peer": peer, "theirs": theirs, "ratio": ratio, **more}
        )
        versus = "" if theirs is None else f"  {peer}: {theirs:.4g}  ratio {ratio:.2f}"
        notes = "".join(f"  {k}={v}" for k, v in more.items())
        print(f"  {case:<52} {purlin:10.4g} {unit}{versus}{notes}", flush=True)
        self.write()

    def write(self) -> None:
        path = os.environ.get("PURLIN_BENCH_JSON")
        if path:
            Path(path).write_text(json.dumps({**self.facts, "rows": self.rows}, indent=1) + "\n")
