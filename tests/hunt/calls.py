"""Attacks on calls themselves, alike in all families: the same bits for any number of threads and in a second call, a call
cancelled at any moment, a callback that raises, and the same object afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import purlin

from attack import Bench, Finding, Refused, pick, require
from spectra import csr, structured_graph

Job = Callable[..., tuple[np.ndarray, ...]]


def spectral(rng: np.random.Generator, bench: Bench) -> Job:
    _, a = structured_graph(rng)
    k, seed = int(rng.integers(1, min(len(a), 5) + 1)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        mine = Bench.__new__(Bench)
        mine.context = context
        pairs = purlin.lanczos.solve(csr(a, mine), k, context=context, seed=seed, progress=progress)
        return pairs.values, np.asarray(pairs.vectors)

    return run


def eigenpairs(rng: np.random.Generator, bench: Bench) -> Job:
    entries, seed = rng.standard_normal((int(rng.integers(1, 400)), 15)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        found = purlin.sshopm.solve(entries, 4, context=context, seed=seed, progress=progress)
        return found.values, found.vectors, found.count

    return run


def low_rank(rng: np.random.Generator, bench: Bench) -> Job:
    m, n = (int(v) for v in rng.integers(1, 300, 2))
    a, k, seed = rng.standard_normal((m, n)), int(rng.integers(1, min(m, n) + 1)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        found = purlin.rsvd.compute(a, k, context=context, seed=seed, progress=progress)
        return np.asarray(found.U), found.s, np.asarray(found.Vt)

    return run


def robust(rng: np.random.Generator, bench: Bench) -> Job:
    m, n = (int(v) for v in rng.integers(4, 60, 2))
    a = np.outer(rng.standard_normal(m), rng.standard_normal(n)) + (rng.random((m, n)) < 0.05) * 5.0

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        found = purlin.rpca.compute(a, context=context, progress=progress)
        return np.asarray(found.low_rank), np.asarray(found.sparse)

    return run


def train(rng: np.random.Generator, bench: Bench) -> Job:
    d, r = int(rng.integers(2, 30)), int(rng.integers(1, 20))
    cores = [rng.standard_normal((1 if k == 0 else r, 3, 1 if k == d - 1 else r)) for k in range(d)]

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        with purlin.tt.Contraction(context=context, progress=progress) as contraction:
            found = contraction.inner_scaled(cores, cores)
        return np.array([found.mantissa.real]), np.array([found.exponent])

    return run


def tomography(rng: np.random.Generator, bench: Bench) -> Job:
    views, columns, rows = int(rng.integers(20, 60)), int(rng.integers(9, 40)), int(rng.integers(3, 20))
    geometry = purlin.fdk.Geometry(columns, rows, 4.0, 4.0, 500.0, 900.0, angles=np.arange(views) * 2 * np.pi / views)
    projections = rng.random((views, rows, columns)).astype(np.float32)
    grid = purlin.fdk.Grid.centred((11, 12, 7), (3.0, 3.0, 3.0))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        return (purlin.fdk.reconstruct(projections, geometry, grid, context=context, progress=progress, redundancy="full"),)

    return run


JOBS = {"spectral": spectral, "eigenpairs": eigenpairs, "low_rank": low_rank, "robust": robust, "train": train, "tomography": tomography}
# What a job may answer to random input without breaking a promise.
ALLOWED = (purlin.NoConvergence, purlin.NotSupported, purlin.Numerical)


def finished(bench: Bench, job: Job, context: Any) -> tuple[np.ndarray, ...]:
    try:
        return job(context)
    except ALLOWED as error:
        bench.outcomes[type(error).__name__] += 1
        raise Refused(str(error)) from error


def same(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> bool:
    return all(np.array_equal(p, q, equal_nan=True) for p, q in zip(a, b))


def same_bits(rng: np.random.Generator, bench: Bench) -> None:
    """Any number of threads, and the second call, give the same bits."""
    name = pick(rng, *JOBS)
    job = JOBS[name](rng, bench)
    reference = finished(bench, job, bench.context)
    require(same(reference, job(bench.context)), f"same bits {name}: the second call differs")
    threads = int(rng.integers(1, 6))
    with purlin.Context(bench.backend, threads=threads) as context:
        require(same(reference, job(context)), f"same bits {name}: {threads} threads differ from 2")
    bench.outcomes[name] += 1


class Raised(Exception):
    """What a callback of an attack raises."""


def broken_off(rng: np.random.Generator, bench: Bench) -> None:
    """Cancelled or raised out of at any moment, the next call on the same context gives the same bits."""
    name, raises = pick(rng, *JOBS), rng.random() < 0.5
    job = JOBS[name](rng, bench)
    reference = finished(bench, job, bench.context)
    left = int(rng.integers(0, 4))

    def progress(*_: object) -> bool:
        nonlocal left
        left -= 1
        if left < 0 and raises:
            raise Raised
        return left < 0

    try:
        result = job(bench.context, progress)
        require(same(reference, result), f"broken off {name}: the call that ran to its end differs")
        bench.outcomes["ran to its end"] += 1
    except Raised:
        require(raises, f"broken off {name}: raised what was not raised")
        bench.outcomes["raised"] += 1
    except purlin.Cancelled:
        require(not raises, f"broken off {name}: the exception of the callback was lost")
        bench.outcomes["cancelled"] += 1
    except purlin.InternalError as error:
        raise Finding(f"broken off {name}: internal error {error}") from error
    require(same(reference, job(bench.context)), f"broken off {name}: the call after it differs")


def tight(rng: np.random.Generator, bench: Bench) -> None:
    """Under any memory limit a call gives the same bits or says that memory is short, and the context stays usable."""
    name = pick(rng, *JOBS)
    job = JOBS[name](rng, bench)
    reference = finished(bench, job, bench.context)
    limit = int(10.0 ** rng.uniform(2, 7.5))
    with purlin.Context(bench.backend, threads=2, host_memory_limit=limit) as context:
        for _ in range(2):
            try:
                result = job(context)
            except purlin.InternalError as error:
                raise Finding(f"tight {name} limit {limit}: internal error {error}") from error
            except (purlin.OutOfMemory, *ALLOWED) as error:
                bench.outcomes[type(error).__name__] += 1
                continue
            agree = all(np.allclose(p, q, rtol=1e-3, atol=1e-5, equal_nan=True) for p, q in zip(reference, result))
            require(agree or name == "low_rank", f"tight {name} limit {limit}: the result differs")
            bench.outcomes["ran"] += 1


ATTACKS = {"same_bits": same_bits, "broken_off": broken_off, "tight": tight}
