"""Attacks with memory: overlapping arrays, limits of exactly the bytes needed, and memory that the system refuses."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import purlin
from purlin import _memory, rpca, rsvd
from purlin._lib import lib

from attack import Bench, Finding, Refused, Skipped, pick, require
from jobs import ALLOWED, JOBS, ROUNDED_UNDER_DEVICE_LIMITS, finished, near, right, same
from spectra import csr

# Input and output of one call: shape and order of both, the type, and the call on such views.
Case = tuple[tuple[int, ...], str, tuple[int, ...], str, Any, Callable[[np.ndarray, np.ndarray], None]]


def tensor(array: np.ndarray, bench: Bench) -> purlin.Tensor:
    return purlin.Tensor.from_memory(_memory.host_memory(array).reversed(), bench.context)


def product(rng: np.random.Generator, bench: Bench) -> Case:
    n = int(rng.integers(1, 60))
    columns = int(pick(rng, 0, 2, 5))
    plan = purlin.spmv.Plan(csr((rng.random((n, n)) < 0.3) * rng.standard_normal((n, n)), bench), context=bench.context)
    beta, order = float(pick(rng, 0.0, 1.0)), pick(rng, "C", "F") if columns and n > 1 else "C"
    shape = (n, columns) if columns else (n,)

    def call(x: np.ndarray, y: np.ndarray) -> None:
        if beta:
            y[...] = y if np.shares_memory(x, y) else 0.0
        plan.apply(x, y, alpha=2.0)

    return shape, order, shape, order, np.float64, call


def eigenvectors(rng: np.random.Generator, bench: Bench) -> Case:
    n, k = int(rng.integers(3, 30)), int(rng.integers(1, 4))
    seed = int(rng.integers(1 << 30))

    def call(a: np.ndarray, vectors: np.ndarray) -> None:
        a[...] = (a + a.T) / 2
        purlin.lanczos.run(a, k, context=bench.context, vectors=vectors, seed=seed)

    return (n, n), "F", (n, k), "F", np.float64, call


def triplets(rng: np.random.Generator, bench: Bench) -> Case:
    m, n = (int(v) for v in rng.integers(2, 40, 2))
    k, seed = int(rng.integers(1, min(m, n) + 1)), int(rng.integers(1 << 30))

    def call(a: np.ndarray, u: np.ndarray) -> None:
        with rsvd.Rsvd(k, seed=seed, context=bench.context) as session:
            given, left = purlin.Matrix.dense(a, context=bench.context), purlin.Matrix.dense(u, context=bench.context)
            values = purlin.Tensor.borrow(np.zeros(k), context=bench.context)
            session.run(given, None, lib.purlin_rsvd_compute, left.handle, values.handle, None)

    return (m, n), pick(rng, "C", "F"), (m, k), "F", np.float64, call


def separation(rng: np.random.Generator, bench: Bench) -> Case:
    m, n = (int(v) for v in rng.integers(2, 30, 2))
    order, streamed = pick(rng, "C", "F"), rng.random() < 0.5

    def call(a: np.ndarray, low: np.ndarray) -> None:
        options: Any = {"tolerance": 1e-4}
        if streamed:
            # The sink has the source's order in memory.
            sink = purlin.blocks.Sink.to_array(low, context=bench.context)
            with purlin.blocks.Source.from_array(a, context=bench.context) as source, sink:
                rpca.compute_to_sinks(source, sink, None, context=bench.context, **options)
            return
        parts = [purlin.Matrix.dense(part, context=bench.context) for part in (low, np.zeros(low.shape, order="F"))]
        given = purlin.Matrix.of(a, context=bench.context)
        with rpca.Rpca(context=bench.context, **options) as session:
            done = session._observe("compute", None, given, None, *(part.handle for part in parts))
            session._finish(*done, rpca.Parts(low, None))

    return (m, n), "C" if streamed else order, (m, n), "C" if streamed else order, np.float64, call


def volume(rng: np.random.Generator, bench: Bench) -> Case:
    views, rows, columns = 20, int(rng.integers(2, 8)), int(rng.integers(4, 16))
    geometry = purlin.fdk.Geometry(columns, rows, 4.0, 4.0, 500.0, 900.0, angles=np.arange(views) * 2 * np.pi / views)
    size = tuple(int(v) for v in rng.integers(1, 12, 3))
    grid = purlin.fdk.Grid.centred(size, (3.0, 3.0, 3.0))

    def call(projections: np.ndarray, target: np.ndarray) -> None:
        with purlin.fdk.Reconstruction(geometry, grid, redundancy="full", context=bench.context) as session:
            session.reconstruct(projections, target)

    return (views, rows, columns), "C", size[::-1], "C", np.float32, call


def pairs(rng: np.random.Generator, bench: Bench) -> Case:
    count, kept = int(rng.integers(1, 20)), int(rng.integers(1, 5))
    which = pick(rng, "values", "vectors", "residuals")

    def call(entries: np.ndarray, out: np.ndarray) -> None:
        results = purlin.sshopm.Results()
        setattr(results, which, tensor(out, bench))
        purlin.sshopm.solve_into(purlin.Tensor.symmetric(entries, 4, 3, context=bench.context), results, context=bench.context)

    return (count, 15), "C", (count, kept, 3) if which == "vectors" else (count, kept), "C", np.float64, call


def packed(rng: np.random.Generator, bench: Bench) -> Case:
    count = int(rng.integers(1, 30))
    name = pick(rng, "convert", "sh_to_tensor", "tensor_to_sh")

    def call(given: np.ndarray, out: np.ndarray) -> None:
        symmetric = [purlin.Tensor.symmetric(a, 4, 3, context=bench.context) for a in (given, out)]
        plain = [tensor(a, bench) for a in (given, out)]
        context = bench.context.handle
        if name == "convert":
            status = lib.purlin_symmetric_convert(context, None, symmetric[0].handle, 0, symmetric[1].handle, 1)
        elif name == "sh_to_tensor":
            status = lib.purlin_dwi_sh_to_tensor(context, None, plain[0].handle, 2, symmetric[1].handle)
        else:
            status = lib.purlin_dwi_tensor_to_sh(context, None, symmetric[0].handle, 2, plain[1].handle)
        bench.context.finish(status)

    return (count, 15), "C", (count, 15), "C", np.float64, call


def effective(rng: np.random.Generator, bench: Bench) -> Case:
    r = int(rng.integers(1, 12))
    cores = [rng.standard_normal((1 if k == 0 else r, 3, 1 if k == 3 else r)) for k in range(4)]
    sites = int(rng.integers(0, 3))
    shape = (r, *(3,) * sites, 1 if 1 + sites == 4 else r)

    def call(v: np.ndarray, out: np.ndarray) -> None:
        with purlin.tt.Environments(cores, cores, context=bench.context) as made:
            exponent = made.apply_to(1, v, out)
        out *= 2.0**exponent

    return shape, "F", shape, "F", np.float64, call


def copied(rng: np.random.Generator, bench: Bench) -> Case:
    m, n = (int(v) for v in rng.integers(1, 30, 2))
    orders = pick(rng, "CC", "CF", "FC", "FF")

    def call(given: np.ndarray, out: np.ndarray) -> None:
        purlin.Matrix.dense(given, context=bench.context).copy_to(purlin.Matrix.dense(out, context=bench.context))

    return (m, n), orders[0], (m, n), orders[1], np.float64, call


def signals(rng: np.random.Generator, bench: Bench) -> Case:
    count, measurements = int(rng.integers(1, 12)), 40
    directions = rng.standard_normal((measurements, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    scheme = np.where(np.arange(measurements) < 4, 0.0, 1000.0), np.where(np.arange(measurements)[:, None] < 4, 0.0, directions)
    name = pick(rng, "tensors", "s0", "sh")

    def call(given: np.ndarray, out: np.ndarray) -> None:
        # Signals are positive.
        given[...] = 1000.0 * np.exp(-0.1 * np.abs(given))
        scan = purlin.dwi._Scan(given, *scheme, None, bench.context, None)
        made = tensor(out, bench) if name != "tensors" else purlin.Tensor.symmetric(out, 4, 3, context=bench.context)
        with purlin.dwi.Dwi(context=bench.context) as session:
            if name == "sh":
                session._run("csa", None, *scan.handles, 2, made.handle, None)
            else:
                tensors = purlin.Tensor.symmetric(np.empty((count, 15)), 4, 3, context=bench.context)
                s0 = made.handle if name == "s0" else None
                fitted = made if name == "tensors" else tensors
                session._run("fit", None, *scan.handles, None, fitted.handle, s0, None)

    return (count, measurements), "C", (count,) if name == "s0" else (count, 15), "C", np.float64, call


def embedding(rng: np.random.Generator, bench: Bench) -> Case:
    n, k = int(rng.integers(8, 60)), int(rng.integers(1, 4))
    # A ring whose edges have weights; both entries of an edge have that of the first.
    at = np.arange(n)
    columns = np.sort(np.stack([(at - 1) % n, (at + 1) % n], axis=1), axis=1)
    rows = np.repeat(at, 2)
    edges = np.minimum(rows, columns.ravel()) * n + np.maximum(rows, columns.ravel())
    first = np.unique(edges, return_index=True)[1][np.unique(edges, return_inverse=True)[1]]
    seed = int(rng.integers(1 << 30))

    def call(weights: np.ndarray, coordinates: np.ndarray) -> None:
        weights[...] = 0.5 + np.abs(weights[first])
        a = purlin.Matrix.csr(2 * np.arange(n + 1), columns.ravel(), weights, (n, n), context=bench.context)
        target = purlin.Matrix.dense(coordinates, context=bench.context)
        with purlin.lanczos.Lanczos(k, seed=seed, context=bench.context) as solver:
            solver.run(a, None, lib.purlin_graph_embed, lambda info: info, 0, target.handle, None)

    return (2 * n,), "C", (n, k), "F", np.float64, call


CASES = {
    "signals": signals, "embedding": embedding, "product": product, "eigenvectors": eigenvectors, "triplets": triplets, "separation": separation, "volume": volume, "pairs": pairs,
    "packed": packed, "effective": effective, "copied": copied,
}


def aliased(rng: np.random.Generator, bench: Bench) -> None:
    """An output that overlaps the input is refused, or gets the same result as a separate one; one that begins at the input's
    end is accepted."""
    name = pick(rng, *CASES)
    shape, order, out_shape, out_order, dtype, call = CASES[name](rng, bench)
    given = rng.standard_normal(shape).astype(dtype)
    count, out_count = given.size, int(np.prod(out_shape))
    apart, target = np.asarray(given, order=order).copy(order=order), np.zeros(out_shape, dtype, order=out_order)
    try:
        call(apart, target)
    except ALLOWED as error:
        raise Refused(str(error)) from error
    memory = np.zeros(2 * (count + out_count), dtype)
    first = out_count
    place = int(pick(rng, first, first + count, first - out_count, int(rng.integers(0, first + count + 1))))
    source = memory[first : first + count].reshape(shape, order=order)
    source[...] = given
    out = memory[place : place + out_count].reshape(out_shape, order=out_order)
    overlaps = max(first, place) < min(first + count, place + out_count)
    label = f"aliased {name} {shape} {order} into {out_shape} {out_order}, {place - first} elements behind"
    try:
        call(source, out)
    except purlin.InternalError as error:
        raise Finding(f"{label}: internal error {error}") from error
    except (purlin.InvalidArgument, purlin.NotSupported) as error:
        require(overlaps, f"{label}: no overlap, and refused: {error}")
        require("overlap" in str(error), f"{label}: refused as {error}")
        bench.outcomes["refused"] += 1
        return
    # The same sums, possibly in an order that alignment decides.
    size = float(np.nanmax(np.abs(target), initial=0.0))
    same_holes = np.array_equal(np.isnan(out), np.isnan(target))
    off = float(np.nanmax(np.abs(out - target), initial=0.0))
    require(same_holes and off <= (1e-10 if dtype == np.float64 else 1e-5) * size, f"{label}: taken, and off by {off:.2e} of {size:.2e}")
    bench.outcomes["taken" if overlaps else "apart"] += 1


def least_limit(rng: np.random.Generator, bench: Bench, which: str, refusal: type[purlin.Error]) -> None:
    """The least limit of a kind that a call runs under, by halving."""
    name = pick(rng, *JOBS)
    job = JOBS[name](rng)
    reference = finished(bench, job, bench.context)

    def runs(limit: int) -> bool:
        label = f"needed {name} {which} {limit}"
        with purlin.Context(bench.backend, threads=2, **{which: limit}) as context:
            try:
                result = job(context)
            except purlin.InternalError as error:
                raise Finding(f"{label}: internal error {error}") from error
            except purlin.OutOfMemory as error:
                require(isinstance(error, refusal) and "bytes" in str(error), f"{label}: {type(error).__name__} {error}")
                return False
            except ALLOWED as error:
                raise Finding(f"{label}: {error}, and none without a limit") from error
            if which == "device_memory_limit" and name in ROUNDED_UNDER_DEVICE_LIMITS:
                near(job, ROUNDED_UNDER_DEVICE_LIMITS[name], reference, result, label)
            else:
                right(name, job, reference, result, label)
            return True

    low, high = 0, 1 << 12
    while not runs(high):
        low, high = high, 2 * high
        require(high < 1 << 34, f"needed {name} {which}: {low} bytes are too few")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if runs(middle) else (middle, high)
    require(low == 0 or not runs(low), f"needed {name} {which}: {low} bytes were too few, and are enough")
    require(runs(high), f"needed {name} {which}: {high} bytes were enough, and are too few")
    bench.outcomes[name] += 1


def needed(rng: np.random.Generator, bench: Bench) -> None:
    """The least host limit of a call: at it the result is right, a byte below the call is refused."""
    least_limit(rng, bench, "host_memory_limit", purlin.OutOfMemory)


def needed_on_device(rng: np.random.Generator, bench: Bench) -> None:
    """The least device limit of a call: at it the result is right, a byte below the call is refused."""
    if bench.backend != "cuda":
        raise Skipped("there is no device memory")
    least_limit(rng, bench, "device_memory_limit", purlin.OutOfDeviceMemory)


def planned(rng: np.random.Generator, bench: Bench) -> None:
    """Under a limit near the plan's bytes a call runs within it, or is refused before it starts, with the bytes needed. It runs
    with these, and not with a byte less. A plan without a limit counts no memory for fallbacks, so its bytes may be refused as
    a limit."""
    m, n = (int(v) for v in rng.integers(2, 200, 2))
    a = np.asarray(rng.standard_normal((m, n)), order=pick(rng, "C", "F")).astype(pick(rng, np.float32, np.float64, np.uint8))
    kind, k = pick(rng, "rsvd", "rpca", "fdk"), int(rng.integers(1, min(m, n, 20) + 1))
    angles = np.arange(24) * 2 * np.pi / 24
    lines = rng.random((24, 7, 20)).astype(np.float32)
    geometry = purlin.fdk.Geometry(20, 7, 4.0, 4.0, 500.0, 900.0, angles=angles)
    grid = purlin.fdk.Grid.centred((int(rng.integers(1, 30)), 11, int(rng.integers(1, 20))), (3.0, 3.0, 3.0))
    seed = int(rng.integers(1 << 30))

    def run(context: Any, plan_only: bool) -> tuple[int, int]:
        """Planned and used bytes of host memory."""
        if kind == "rsvd":
            with rsvd.Rsvd(k, seed=seed, dtype=np.float64, context=context) as session:
                plan = session.plan(a)
                if plan_only:
                    return plan.host_bytes, 0
                found = session.compute(a)
                exact = np.linalg.svd(a.astype(float), compute_uv=False)
                best = 3 * np.sqrt(1 + k / 9) * np.sqrt((exact[k:] ** 2).sum()) + 1e-9 * exact[0]
                error = float(np.linalg.norm(a.astype(float) - (found.U * found.s) @ found.Vt))
                require(error <= best, f"planned rsvd {m}x{n} k={k}: error {error:.2e}, expected {best:.2e} at most")
                return plan.host_bytes, session.last_info().host_bytes_used
        if kind == "rpca":
            plan = rpca.plan(a.astype(float), context=context)
            return plan.host_bytes, 0 if plan_only else rpca.run(a.astype(float), context=context)[1].host_bytes_used
        with purlin.fdk.Reconstruction(geometry, grid, redundancy="full", context=context) as session:
            # The plan has 0 bytes if not even the session fits; the refusal of the call then has the bytes needed.
            plan = session.plan()
            if plan_only and plan.host_bytes == 0:
                session.reconstruct(lines)
            if not plan_only:
                session.reconstruct(lines)
            return plan.host_bytes, 0 if plan_only else session.last_info().host_bytes_used

    need = run(bench.context, True)[0]
    label = f"planned {kind} {m}x{n} k={k}"

    def refused(limit: int) -> int:
        """0 where the call runs under a limit, else the bytes that its refusal names."""
        with purlin.Context(bench.backend, threads=2, host_memory_limit=limit) as context:
            try:
                plan_bytes = run(context, True)[0]
            except purlin.OutOfMemory as error:
                bench.outcomes["refused"] += 1
                number = re.search(r"(\d+) bytes of host memory", str(error))
                require(number and int(number[1]) > limit, f"{label}: a limit of {limit} is refused as {error}")
                return int(number[1])
            try:
                used = run(context, False)[1]
            except purlin.OutOfMemory as error:
                raise Finding(f"{label}: {plan_bytes} bytes are planned under a limit of {limit}, then {error}") from error
            except purlin.NoConvergence:
                used = 0
            require(plan_bytes <= limit and used <= limit, f"{label}: {plan_bytes} bytes planned and {used} used under a limit of {limit}")
            bench.outcomes["ran"] += 1
            return 0

    least = 0
    for limit in (need, need - 1, need + int(rng.integers(1, 4096)), need // 2, 1):
        least = max(least, refused(limit) if limit > 0 else 0)
    require(refused(least) == 0, f"{label}: a refusal names {least} bytes, and a limit of these is refused")
    require(refused(least - 1) == least, f"{label}: a refusal names {least} bytes, and a byte less is enough")


def system(rng: np.random.Generator, bench: Bench) -> None:
    """Address space that the system refuses: a call gives the same bits or reports OUT_OF_MEMORY, and works afterwards."""
    if bench.backend != "cpu":
        raise Skipped("CUDA reserves address space of its own")
    command = [sys.executable, __file__, str(int(rng.integers(1 << 30)))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    text = ended.stderr.strip()
    require(ended.returncode == 0, f"memory refused: status {ended.returncode} of seed {command[2]}: {text[-400:]}")
    for line in ended.stdout.splitlines():
        key, count = line.split()
        bench.outcomes[key] += int(count)


def within(seed: int) -> None:
    """The process of `system`: one call under falling limits of the address space, then without one."""
    rng = np.random.default_rng(seed)
    bench = Bench("cpu")
    name = pick(rng, *JOBS)
    job = JOBS[name](rng)
    try:
        reference = job(bench.context)
    except ALLOWED:
        return
    text = open("/proc/self/statm").read()
    now = int(text.split()[0]) * os.sysconf("SC_PAGE_SIZE")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    counts = {"ran": 0, "refused": 0}
    # The allocator reuses free blocks before it requests new pages. A new context does not use the old one's cached buffers.
    spared = [int(v) for v in 10.0 ** rng.uniform(3.5, 8.8, 6)] + [0]
    for more in spared:
        resource.setrlimit(resource.RLIMIT_AS, (now + more, hard))
        try:
            result = None
            with purlin.Context("cpu", threads=int(rng.integers(1, 4))) as context:
                result = job(context)
        except (purlin.OutOfMemory, MemoryError):
            pass
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        counts["refused" if result is None else "ran"] += 1
        require(result is None or same(reference, result), f"{name} with {more} bytes more: other bits")
        require(same(reference, job(bench.context)), f"{name} after {more} bytes more: other bits")
    for key, count in counts.items():
        print(key, count)


ATTACKS = {"aliased": aliased, "needed": needed, "needed_on_device": needed_on_device, "planned": planned, "system": system}

if __name__ == "__main__":
    within(int(sys.argv[1]))
