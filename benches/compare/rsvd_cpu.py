#!/usr/bin/env python3
"""Randomized SVD on the CPU: purlin against scikit-learn, fbpca and dask (pip install scikit-learn fbpca "dask[array]").

A dense matrix in memory whose singular values are known, the same rank, oversampling and power iterations for all. The
results are compared by their errors, ||A - A_k||_F / ||A||_F. The runs of purlin and of a peer take turns, so that a
machine that is not idle favours neither; figures are decompositions a second, from the median.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

THREADS = int(os.environ.get("PURLIN_BENCH_THREADS", "2"))
# BLAS reads these when it is loaded.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, str(THREADS))

import numpy as np
import purlin
from purlin import rsvd
from report import Table

RANK, OVERSAMPLING, ITERATIONS = 50, 10, 2
CASES = (
    (20000, 2000, "C", np.float64),
    (20000, 2000, "F", np.float64),
    (2000, 20000, "C", np.float64),
    (20000, 2000, "C", np.float32),
)


def cosines(length: int, count: int) -> Any:
    """Orthonormal columns, known in closed form."""
    i, j = np.arange(length)[:, None], np.arange(1, count + 1)[None, :]
    return np.sqrt(2 / length) * np.cos(np.pi * (i + 0.5) * j / length)


def matrix(rows: int, columns: int, order: str, dtype: Any) -> Any:
    """Singular values 1 / sqrt(j): slow decay, where power iterations are needed."""
    count = min(rows, columns) - 1
    values = np.arange(1, count + 1) ** -0.5
    a = (cosines(rows, count) * values) @ cosines(columns, count).T
    return np.asarray(a, dtype=dtype, order=order)  # type: ignore[call-overload]


def relative_error(a: Any, factors: tuple[Any, Any, Any]) -> float:
    """||A - U diag(s) Vt||_F / ||A||_F."""
    u, s, vt = (np.asarray(f) for f in factors)
    return float(np.linalg.norm(a - (u * s) @ vt) / np.linalg.norm(a))


def peers(a: Any) -> Iterator[tuple[str, Callable[[], tuple[Any, Any, Any]]]]:
    """Those that are installed."""
    try:
        from sklearn.utils.extmath import randomized_svd

        for normalizer in ("LU", "QR"):
            yield (
                f"scikit-learn, {normalizer}",
                lambda n=normalizer: randomized_svd(  # type: ignore[misc]
                    a,
                    RANK,
                    n_oversamples=OVERSAMPLING,
                    n_iter=ITERATIONS,
                    power_iteration_normalizer=n,
                    random_state=0,
                ),
            )
    except ImportError:
        pass
    try:
        import fbpca

        yield "fbpca", lambda: fbpca.pca(a, RANK, raw=True, n_iter=ITERATIONS, l=RANK + OVERSAMPLING)
    except ImportError:
        pass
    try:
        import dask
        import dask.array

        def compressed() -> tuple[Any, Any, Any]:
            chunks = tuple(-(-n // 4) if n == max(a.shape) else n for n in a.shape)
            blocks = dask.array.from_array(a, chunks=chunks)
            parts = dask.array.linalg.svd_compressed(
                blocks, RANK, n_oversamples=OVERSAMPLING, n_power_iter=ITERATIONS, seed=0
            )
            with dask.config.set(scheduler="threads", num_workers=THREADS):
                return dask.compute(*parts)  # type: ignore[no-any-return]

        yield "dask", compressed
    except ImportError:
        pass


def turns(works: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Median seconds of each, run in turns after one run to warm up."""
    times: list[list[float]] = [[] for _ in works]
    for turn in range(repeats + 1):
        for work, list_of_times in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            if turn > 0:
                list_of_times.append(time.perf_counter() - start)
    return [statistics.median(t) for t in times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    context = purlin.Context(backend="cpu", threads=THREADS)
    table = Table(
        f"randomized SVD on the CPU, rank {RANK} + {OVERSAMPLING}, {ITERATIONS} power iterations",
        threads=THREADS,
        context=str(context.properties),
    )
    for rows, columns, order, dtype in CASES:
        a = matrix(rows, columns, order, dtype)
        with rsvd.Rsvd(
            RANK,
            oversampling=OVERSAMPLING,
            power_iterations=ITERATIONS,
            method="fused",
            error="none",
            context=context,
        ) as session:
            ours = relative_error(a, session.compute(a))
            info = session.last_info()
            own = partial(session.compute, a)
            for name, peer in list(peers(a)) or [("none", None)]:
                works = [own] + ([peer] if peer else [])
                seconds = turns(works, arguments.repeats)
                table.add(
                    f"{rows} x {columns} {order} {np.dtype(dtype).name}",
                    "1/s",
                    1 / seconds[0],
                    name,
                    1 / seconds[1] if peer else None,
                    seconds=round(seconds[0], 4),
                    gflops=round(2e-9 * (2 * ITERATIONS + 2) * a.size * (RANK + OVERSAMPLING) / seconds[0], 1),
                    passes=info.passes if info else None,
                    error=f"{ours:.6f}",
                    their_error=f"{relative_error(a, peer()):.6f}" if peer else None,
                )
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
