"""Attacks on calls themselves, alike in all families: the same bits for any number of threads and in a second call, a call
cancelled at any moment, a callback that raises, memory and threads that are refused, and the same object afterwards."""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import purlin

from attack import Bench, Finding, Skipped, pick, require
from jobs import ALLOWED, JOBS, ON_DEVICE, finished, near, right, same


def same_bits(rng: np.random.Generator, bench: Bench) -> None:
    """Any number of threads, and the second call, give the same bits."""
    name = pick(rng, *JOBS)
    job = JOBS[name](rng)
    reference = finished(bench, job, bench.context)
    require(same(reference, job(bench.context)), f"same bits {name}: the second call differs")
    threads = int(rng.integers(1, 6))
    with purlin.Context(bench.backend, threads=threads) as context:
        require(same(reference, job(context)), f"same bits {name}: {threads} threads differ from 2")
    bench.outcomes[name] += 1


class Raised(Exception):
    """The exception of an attack's callback."""


def broken_off(rng: np.random.Generator, bench: Bench) -> None:
    """A call is cancelled, or ended by an exception, at any report; the next call on the same context gives the same bits."""
    name, raises = pick(rng, *JOBS), rng.random() < 0.5
    job = JOBS[name](rng)
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
        require(raises, f"broken off {name}: the call raised an exception of no callback")
        bench.outcomes["raised"] += 1
    except purlin.Cancelled:
        require(not raises, f"broken off {name}: the exception of the callback was lost")
        bench.outcomes["cancelled"] += 1
    except purlin.InternalError as error:
        raise Finding(f"broken off {name}: internal error {error}") from error
    require(same(reference, job(bench.context)), f"broken off {name}: the call after it differs")


def tight(rng: np.random.Generator, bench: Bench) -> None:
    """Under any memory limit a call has the result of one without, or reports OUT_OF_MEMORY, and the context stays usable."""
    name = pick(rng, *JOBS)
    job = JOBS[name](rng)
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
            right(name, job, reference, result, f"tight {name} limit {limit}")
            bench.outcomes["ran"] += 1


def threads_refused(rng: np.random.Generator, bench: Bench) -> None:
    """While the system refuses threads, a call gives the same bits or reports OUT_OF_MEMORY; afterwards it works again."""
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
    jobs = [(name, JOBS[name](rng)) for name in rng.permutation(list(JOBS))[:4]]
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


def to_device(name: str) -> Callable[[np.ndarray], Any]:
    """Places a NumPy array on the device with a library of arrays, in the same order of its elements."""
    module: Any = importlib.import_module(name)

    def put(array: np.ndarray) -> Any:
        is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        if name == "cupy":
            return module.array(array, order="F" if is_fortran else "C")
        if not is_fortran:
            return module.from_numpy(array.copy()).cuda()
        return module.from_numpy(array.T.copy()).cuda().permute(*range(array.ndim)[::-1])

    return put


def on_device(rng: np.random.Generator, bench: Bench) -> None:
    """Device arrays of another library give the same results as host arrays, and stay unchanged."""
    if bench.backend != "cuda":
        raise Skipped("there is no device")
    libraries = [name for name in ("cupy", "torch") if importlib.util.find_spec(name)]
    if not libraries:
        raise Skipped("neither CuPy nor PyTorch is installed")
    name, put = pick(rng, *ON_DEVICE), to_device(pick(rng, *libraries))
    job, given = JOBS[name](rng), []
    reference = finished(bench, job, bench.context)

    def place(array: np.ndarray) -> Any:
        given.append((array, put(array)))
        return given[-1][1]

    label = f"on device {name}"
    try:
        result = job(bench.context, None, place)
    except (purlin.Error, ValueError, TypeError) as error:
        raise Finding(f"{label}: {type(error).__name__} {error}") from error
    near(job, ON_DEVICE[name], reference, result, label)
    for array, there in given:
        here = there.get() if hasattr(there, "get") else there.cpu().numpy()
        require(np.array_equal(here, array), f"{label}: the input has changed")
    bench.outcomes[name] += 1


ATTACKS = {"same_bits": same_bits, "broken_off": broken_off, "tight": tight, "threads_refused": threads_refused, "on_device": on_device}

if __name__ == "__main__":
    without_threads(sys.argv[1], int(sys.argv[2]))
