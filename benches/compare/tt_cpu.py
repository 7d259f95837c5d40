#!/usr/bin/env python3
"""Inner products of tensor trains on the CPU: purlin against quimb, TeNPy, teneva, ttpy and a loop of NumPy products.

    pip install quimb physics-tenpy teneva

ttpy needs a Python and a NumPy of its own (3.11, 1.23): PURLIN_TTPY_PYTHON names that interpreter. Trains of d = 50 sites
of n = 2 with random entries, the same for all; results are compared. The runs of purlin and of the peers take turns, and
figures are calls a second from the shortest run, since longer ones include other work on the machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

THREADS = int(os.environ.get("PURLIN_BENCH_THREADS", "2"))
# BLAS reads these when it is loaded.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, str(THREADS))

import numpy as np

D, N = 50, 2
OPEN_RANKS = (4, 8, 16, 32, 64, 128, 256)
RING_RANKS = (8, 16, 32)
NORM_RANKS = (64, 128, 256)
BATCH = 256
# OpenBLAS's threads spin for about 20 ms of processor time after a product, and would slow the next measurement.
REST = 0.1
# It multiplies Kronecker products of the cores, rank^4 of memory a site: beyond, one call takes minutes.
TENEVA_RANK = 32


def cores(rank: int, ring: bool, seed: int) -> list[Any]:
    """Ranks grow from the ends of an open train as far as entries allow; entries keep products near 1."""
    rng = np.random.default_rng(seed)
    ranks = [rank if ring else min(rank, 2 ** min(k, D - k, 20)) for k in range(D + 1)]
    shapes = [(ranks[k], N, ranks[k + 1]) for k in range(D)]
    return [np.asfortranarray(rng.uniform(-1, 1, s) * (3 / (N * s[2])) ** 0.5) for s in shapes]


def flops(x: list[Any], ring: bool) -> float:
    """Multiplications and additions of the sum over the boundary pairs."""
    total = 0.0
    for k, core in enumerate(x):
        r, n, s = core.shape
        r, s = (1 if k == 0 else r), (1 if k + 1 == D else s)
        total += 2 * n * r * s * (r + s)
    return total * (x[0].shape[0] ** 2 if ring else 1)


def loop(x: list[Any], y: list[Any]) -> float:
    """Two matrix products a site."""
    e = np.ones((1, 1))
    for a, b in zip(x, y, strict=True):
        t = (e.T @ a.reshape(a.shape[0], -1)).reshape(b.shape[0] * a.shape[1], -1)
        e = t.T @ b.reshape(-1, b.shape[2])
    return float(e[0, 0])


class Ttpy:
    """ttpy in an interpreter of its own, which times itself."""

    def __init__(self, rank: int) -> None:
        command = [os.environ["PURLIN_TTPY_PYTHON"], __file__, "--ttpy", str(rank)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.value = self._read()

    def _read(self) -> float:
        if self.process.stdout is None:
            raise RuntimeError("no output of ttpy")
        return float(self.process.stdout.readline())

    def seconds(self) -> float:
        if self.process.stdin is None:
            raise RuntimeError("no input of ttpy")
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        self.process.communicate("end\n")


def serve_ttpy(rank: int) -> int:
    """The other side of [`Ttpy`]: the value, then the seconds of a call for every line."""
    import tt

    x, y = (tt.vector.from_list(cores(rank, False, seed)) for seed in (1, 2))
    print(tt.dot(x, y), flush=True)
    for line in sys.stdin:
        if line.strip():
            break
        print(shortest(lambda: tt.dot(x, y)), flush=True)
    return 0


def shortest(work: Callable[[], Any], calls: int = 5) -> float:
    """Seconds of the shortest of a few calls in a row: the first meets cold caches."""
    time.sleep(REST)
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peers(x: list[Any], y: list[Any], rank: int, ring: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Those that are installed."""
    if not ring:
        row_x, row_y = ([np.ascontiguousarray(a) for a in t] for t in (x, y))
        yield f"NumPy {np.__version__}, loop of products", partial(loop, row_x, row_y)
    try:
        import quimb
        import quimb.tensor as qtn

        def state(t: list[Any]) -> Any:
            arrays = t if ring else [t[0][0], *t[1:-1], t[-1][:, :, 0]]
            return qtn.MatrixProductState(arrays, shape="lpr")

        qx, qy = state(x), state(y)
        yield f"quimb {quimb.__version__}", lambda: qx.H @ qy
    except ImportError:
        pass
    if ring:
        return
    try:
        import tenpy
        from tenpy.networks.mps import MPS
        from tenpy.networks.site import SpinHalfSite

        def mps(t: list[Any]) -> Any:
            sites = [SpinHalfSite(conserve=None)] * D
            flat = [a.transpose(1, 0, 2) for a in t]
            return MPS.from_Bflat(sites, flat, SVs=None, bc="finite", form=None, dtype=float)

        tx, ty = mps(x), mps(y)
        yield f"TeNPy {tenpy.__version__}", lambda: tx.overlap(ty, ignore_form=True)
    except ImportError:
        pass
    if rank > TENEVA_RANK:
        return
    try:
        import teneva

        yield f"teneva {teneva.__version__}", lambda: teneva.mul_scalar(x, y)
    except ImportError:
        pass


def compare(table: Any, session: Any, make: Callable[[list[Any]], Any], rank: int, ring: bool, turns: int) -> None:
    x, y = cores(rank, ring, 1), cores(rank, ring, 2)
    own = partial(session.inner, make(x), make(y))
    value = own()
    works = [("purlin", partial(shortest, own))]
    off: list[str | None] = [None]
    for name, work in peers(x, y, rank, ring):
        # TeNPy normalizes some of the tensors that it is given: the work is the same, the number is another.
        off.append(f"{abs(complex(work()).real / value - 1):.1e}")
        works.append((name, partial(shortest, work, 1 if ring else 3)))
    ttpy = Ttpy(rank) if not ring and "PURLIN_TTPY_PYTHON" in os.environ else None
    if ttpy:
        works.append(("ttpy", ttpy.seconds))
        off.append(f"{abs(ttpy.value / value - 1):.1e}")
    best = [float("inf")] * len(works)
    for _ in range(turns):
        for i, (_, work) in enumerate(works):
            best[i] = min(best[i], work())
    if ttpy:
        ttpy.close()
    rate = round(1e-9 * flops(x, ring) / best[0], 2)
    for (name, _), seconds, difference in list(zip(works, best, off, strict=True))[1:]:
        table.add(
            f"{'ring' if ring else 'open'} rank {rank} f64",
            "1/s",
            1 / best[0],
            name,
            1 / seconds,
            milliseconds=round(1e3 * best[0], 5),
            gflops=rate,
            difference=difference,
        )


def compare_norm(table: Any, session: Any, make: Callable[[list[Any]], Any], rank: int, turns: int) -> None:
    """A norm does half of the work of a product; the loop cannot."""
    x = cores(rank, False, 1)
    own = make(x)
    rows = [np.ascontiguousarray(a) for a in x]
    works = (lambda: session.norm(own), lambda: loop(rows, rows) ** 0.5)
    difference = abs(works[1]() / works[0]() - 1)
    best = [float("inf")] * 2
    for _ in range(turns):
        best = [min(b, shortest(work, 3)) for b, work in zip(best, works, strict=True)]
    peer = f"NumPy {np.__version__}, loop of products"
    facts = {"milliseconds": round(1e3 * best[0], 5), "difference": f"{difference:.1e}"}
    table.add(f"norm rank {rank} f64", "1/s", 1 / best[0], peer, 1 / best[1], **facts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--ttpy", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    if arguments.ttpy is not None:
        return serve_ttpy(arguments.ttpy)
    import purlin
    from report import Table

    context = purlin.Context(backend="cpu", threads=THREADS)
    table = Table(
        f"inner products of tensor trains on the CPU, d = {D}, n = {N}",
        threads=THREADS,
        context=str(context.properties),
    )
    with purlin.tt.Contraction(context=context) as session:

        def make(t: list[Any]) -> Any:
            return purlin.tt.Train(t, context=context)

        for rank in OPEN_RANKS:
            compare(table, session, make, rank, False, arguments.turns)
        for rank in NORM_RANKS:
            compare_norm(table, session, make, rank, arguments.turns)
        for rank in RING_RANKS:
            compare(table, session, make, rank, True, max(1, arguments.turns // 3))
        if hasattr(session, "inner_batch"):
            x = [make(cores(16, False, 2 * k)) for k in range(BATCH)]
            y = [make(cores(16, False, 2 * k + 1)) for k in range(BATCH)]
            whole = min(shortest(lambda: session.inner_batch(x, y)) for _ in range(arguments.turns))
            single = min(
                shortest(lambda: [session.inner(a, b) for a, b in zip(x, y, strict=True)])
                for _ in range(arguments.turns)
            )
            table.add(f"batch of {BATCH}, rank 16 f64", "1/s", BATCH / whole, "looped calls", BATCH / single)
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
