"""Rates of sparse products against the limit of memory: measured here, and on a GPU from the repository's results."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pictures import plot

import purlin
from purlin import spmv

RESULTS = Path(__file__).resolve().parents[3] / "benches" / "results"
TITLE = "products of sparse matrices on a GPU"


def seconds(call: Callable[[], object]) -> float:
    """The shortest of nine calls."""
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def grid(side: int) -> tuple[Any, Any]:
    """Row offsets and columns of the graph of a square grid."""
    at = np.arange(side * side).reshape(side, side)
    tail, head = (np.concatenate([a.ravel(), b.ravel()]) for a, b in ((at[:, 1:], at[1:]), (at[:, :-1], at[:-1])))
    i, j = np.r_[tail, head], np.r_[head, tail]
    order = np.lexsort((j, i))
    row_ptr = np.zeros(side * side + 1, np.int64)
    np.cumsum(np.bincount(i, minlength=side * side), out=row_ptr[1:])
    return row_ptr.astype(np.int32), j[order].astype(np.int32)


def copy_rate() -> float:
    """Bytes a second, read and written, of a copy beyond every cache."""
    source = np.ones(1 << 24)
    target = np.empty_like(source)
    return 2 * source.nbytes / seconds(lambda: np.copyto(target, source))


def intensity(rows: int, nnz: int, number: int, pattern: bool) -> float:
    """Operations a byte: indices and values once, x read once, y written once."""
    return 2 * nnz / (nnz * (4 + (0 if pattern else number)) + rows * (4 + 2 * number))


class Points:
    """Rates at intensities, by name."""

    def __init__(self) -> None:
        self.held: dict[str, list[tuple[float, float]]] = {}

    def add(self, name: str, x: float, rate: float) -> None:
        self.held.setdefault(name, []).append((x, rate))

    def drawn(self, title: str, bytes_a_second: float) -> str:
        """Points by name, and the roof above them."""
        most = max(x for points in self.held.values() for x, _ in points)
        roof = np.linspace(0.05, 1.1 * most, 60)
        lines = {"memory": (roof.tolist(), (roof * bytes_a_second / 1e9).tolist())}
        for name, points in self.held.items():
            lines[name] = tuple(list(part) for part in zip(*sorted(points)))
        return plot(title, "operations a byte", "GFLOP/s", lines, apart=self.held.keys())


def here(context: purlin.Context) -> str:
    """Products on this processor: a mesh in and beyond the caches, with values in both precisions and without."""
    points = Points()
    try:
        peer: Any = importlib.import_module("scipy.sparse")
    except ImportError:
        peer = None
    for side in (200, 1000):
        row_ptr, col_idx = grid(side)
        n, nnz = side * side, col_idx.size
        for dtype in (np.float64, np.float32):
            x, y = np.ones(n, dtype), np.zeros(n, dtype)
            number = np.dtype(dtype).itemsize
            for values in (np.ones(nnz, dtype), None):
                a = purlin.Matrix.csr(row_ptr, col_idx, values, (n, n), dtype=dtype, context=context)
                plan = spmv.Plan(a, context=context)
                took = seconds(lambda plan=plan, x=x, y=y: plan.apply(x, y))
                where = intensity(n, nnz, number, values is None)
                points.add("purlin" if values is not None else "purlin, pattern", where, 2e-9 * nnz / took)
                if peer is not None and values is not None:
                    other = peer.csr_matrix((values, col_idx, row_ptr), shape=(n, n))
                    points.add("SciPy", where, 2e-9 * nnz / seconds(lambda other=other, x=x: other @ x))
    return points.drawn("Meshes on this processor", copy_rate())


def recorded() -> str:
    """The latest results of a GPU with its peer, if the repository has any."""
    for path in sorted(RESULTS.glob("nvidia-*/*.json"), reverse=True):
        report = json.loads(path.read_text())
        tables = [b for b in report["benches"].values() if isinstance(b, dict)]
        bench = next((b for b in tables if b.get("title") == TITLE and "copy" in b), None)
        if bench is None:
            continue
        points = Points()
        for row in bench["rows"]:
            # Matrices as they were given, and their patterns.
            words = row["case"].removesuffix(", pattern").split()
            if "rows" not in row or words[-1] not in ("f64", "f32"):
                continue
            number, pattern = (8 if words[-1] == "f64" else 4), row["case"].endswith(", pattern")
            where = intensity(row["rows"], row["entries"], number, pattern)
            points.add("purlin, pattern" if pattern else "purlin", where, 2e-9 * row["entries"] * row["purlin"])
            if not pattern:
                points.add("cuSPARSE", where, 2e-9 * row["entries"] * row["theirs"])
        return points.drawn(f"On an {report['machine']['gpu']}, {report['date'][:10]}", bench["copy"])
    return ""
