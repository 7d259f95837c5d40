"""Attacks on calls themselves, alike in all families: the same bits for any number of threads and in a second call, a call
cancelled at any moment, a callback that raises, memory and threads that are refused, and the same object afterwards."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import purlin

from attack import Bench, Finding, Refused, pick, require
from spectra import csr, cycle, product, structured_graph

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
        found = purlin.sshopm.solve(entries, 4, context=context, start_kind="random", seed=seed, progress=progress)
        return found.values, found.vectors, found.count

    return run


def low_rank(rng: np.random.Generator, bench: Bench) -> Job:
    m, n = (int(v) for v in rng.integers(1, 300, 2))
    a, k, seed = rng.standard_normal((m, n)), int(rng.integers(1, min(m, n) + 1)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        found = purlin.rsvd.compute(a, k, context=context, seed=seed, progress=progress)
        return np.asarray(found.U), found.s, np.asarray(found.Vt)

    run.matrix, run.rank = a, k  # type: ignore[attr-defined]
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


def graph(rng: np.random.Generator, bench: Bench) -> Job:
    a = product(cycle(int(rng.integers(3, 12))), cycle(int(rng.integers(3, 12))))
    k, seed = int(rng.integers(2, 5)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        mine = Bench.__new__(Bench)
        mine.context = context
        found = purlin.graph.embed(csr(a, mine), k, context=context, seed=seed, progress=progress)
        return found.values, np.asarray(found.coordinates)

    return run


def sparse(rng: np.random.Generator, bench: Bench) -> Job:
    m, n = (int(v) for v in rng.integers(1, 300, 2))
    a = (rng.random((m, n)) < 0.05) * rng.standard_normal((m, n))
    x = rng.standard_normal(n)

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        mine = Bench.__new__(Bench)
        mine.context = context
        plan = purlin.spmv.Plan(csr(a, mine), context=context)
        try:
            return (np.asarray(plan.apply(x)),)
        finally:
            plan.close()

    return run


def diffusion(rng: np.random.Generator, bench: Bench) -> Job:
    entries = rng.standard_normal((int(rng.integers(1, 200)), 15))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        found = purlin.dwi.peaks(entries, 3, basis="tensor", context=context, progress=progress)
        return np.asarray(found.directions), np.asarray(found.values)

    return run


def environments(rng: np.random.Generator, bench: Bench) -> Job:
    d, r = int(rng.integers(2, 12)), int(rng.integers(1, 12))
    cores = [rng.standard_normal((1 if k == 0 else r, 3, 1 if k == d - 1 else r)) for k in range(d)]
    bond = int(rng.integers(0, d + 1))

    def run(context: Any, progress: Any = None) -> tuple[np.ndarray, ...]:
        with purlin.tt.Environments(cores, cores, context=context, progress=progress) as found:
            found.build("left", bond)
            found.build("right", bond)
            left, value = found.get("left", bond), found.value(bond)
        return left[0], np.array([left[1]]), np.array([value.mantissa.real]), np.array([value.exponent])

    return run


JOBS = {
    "spectral": spectral, "eigenpairs": eigenpairs, "low_rank": low_rank, "robust": robust, "train": train, "tomography": tomography,
    "graph": graph, "sparse": sparse, "diffusion": diffusion, "environments": environments,
}
# Jobs whose plan depends on the memory that they may use, and which then add up in another order.
ROUNDED_UNDER_LIMITS = ("robust", "train")
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
    """Cancelled or raised out of at any of its reports, the next call on the same context gives the same bits."""
    name, raises = pick(rng, *JOBS), rng.random() < 0.5
    job = JOBS[name](rng, bench)
    reference = finished(bench, job, bench.context)
    reports = 0

    def count(*_: object) -> None:
        nonlocal reports
        reports += 1

    require(same(reference, job(bench.context, count)), f"broken off {name}: other bits with a progress function")
    left = int(rng.integers(0, reports + 1))

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
    """Under any memory limit a call gives what it gives without one, or says that memory is short, and the context stays usable."""
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
            if name == "low_rank":
                error, best = truncation(job.matrix, job.rank, result)  # type: ignore[attr-defined]
                require(error <= best, f"tight {name} limit {limit}: error {error:.3e}, expected {best:.3e} at most")
            elif name in ROUNDED_UNDER_LIMITS:
                apart = max(float(np.abs(p - q).max() / np.abs(p).max()) for p, q in zip(reference, result) if p.any() or q.any())
                # Robust PCA ends at a residual of 1e-7, and rounding is amplified until then.
                most = 1e-6 if name == "robust" else 1e-9
                require(apart <= most, f"tight {name} limit {limit}: differs by {apart:.2e}, beyond rounding")
            else:
                require(same(reference, result), f"tight {name} limit {limit}: other bits")
            bench.outcomes["ran"] += 1


def truncation(a: np.ndarray, rank: int, factors: tuple[np.ndarray, ...]) -> tuple[float, float]:
    """The error of a decomposition in the Frobenius norm, and what it may be: a limit may take another method, and without
    decay of the singular values one with two power iterations comes within a few percent of the best."""
    u, s, v = factors
    all_values = np.linalg.svd(a, compute_uv=False)
    best = float(np.sqrt((all_values[rank:] ** 2).sum()))
    return float(np.linalg.norm(a - (u * s) @ v)), 1.1 * best + 1e-9 * float(np.linalg.norm(a))


def threads_refused(rng: np.random.Generator, bench: Bench) -> None:
    """While the system refuses threads, a call gives the same bits or says that memory is short; afterwards it works again."""
    command = [sys.executable, __file__, bench.backend, str(int(rng.integers(1 << 30)))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    text = ended.stderr.strip().splitlines()
    require(ended.returncode == 0, f"threads refused: status {ended.returncode} of {command[2:]}: {text[-1] if text else ''}")
    for line in ended.stdout.splitlines():
        key, count = line.split()
        bench.outcomes[key] += int(count)


def without_threads(backend: str, seed: int) -> None:
    """The process that `threads_refused` starts, without the right to start threads."""
    rng = np.random.default_rng(seed)
    bench = Bench(backend)
    jobs = [(name, JOBS[name](rng, bench)) for name in rng.permutation(list(JOBS))[:4]]
    references = []
    for _, job in jobs:
        try:
            references.append(job(bench.context))
        except ALLOWED:
            references.append(None)
    # The limit on processes does not hold for root.
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    counts = {"ran": 0, "refused": 0}
    for limit in (1, int(rng.integers(1, 6)), None):
        resource.setrlimit(resource.RLIMIT_NPROC, (hard if limit is None else limit, hard))
        for (name, job), reference in zip(jobs, references):
            threads = int(rng.integers(2, 5))
            for own in (False, True):
                label = f"threads refused {name} limit {limit} own context {own}"
                try:
                    if own:
                        with purlin.Context(backend, threads=threads) as context:
                            result = job(context)
                    else:
                        result = job(bench.context)
                except purlin.OutOfMemory:
                    require(limit is not None, f"{label}: refused")
                    counts["refused"] += 1
                    continue
                except ALLOWED:
                    require(reference is None, f"{label}: failed, and did not before")
                    continue
                require(reference is not None and same(reference, result), f"{label}: other bits")
                counts["ran"] += 1
    require(counts["refused"] > 0, "threads refused: no thread was refused")
    for key, count in counts.items():
        print(key, count)


ATTACKS = {"same_bits": same_bits, "broken_off": broken_off, "tight": tight, "threads_refused": threads_refused}

if __name__ == "__main__":
    without_threads(sys.argv[1], int(sys.argv[2]))
