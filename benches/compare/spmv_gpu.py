#!/usr/bin/env python3
"""Products of ten sparse matrices with a vector, and with four, on a GPU, beside cuSPARSE on the same arrays.

cuSPARSE is the better of its two algorithms for CSR, each after its own preprocessing; for blocks the best of two
algorithms and both orders. Patterns are beside the same matrix with values, their Laplacians, which are never formed, beside
the Laplacians as matrices. Times are medians of device events around calls one after another, and of replays of a graph
of them where both can be captured. Every result is compared with SciPy's, and computed twice for the same bits.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from ctypes import c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import purlin
from purlin import sparse, spmv
from purlin._lib import lib
from report import Table
from spectra_gpu import preferential, recursive

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "spectral"
REAL = ("as-caida20071105", "ca-AstroPh-cc", "email-Enron", "4elt", "bcsstk13")
BATCH, RUNS = 20, 15
PLAIN, INDEX_32, BASE_0 = 0, 2, 0
MV = {"ALG1": 2, "ALG2": 3}
MM = {"ALG1": 4, "ALG2": 6}
ORDERS = {"columns": 1, "rows": 2}


def poisson(n: int) -> Any:
    """The 7-point Laplacian of a cube."""
    from scipy import sparse as sp

    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    eye = sp.identity(n)
    return (sp.kron(sp.kron(line, eye), eye) + sp.kron(sp.kron(eye, line), eye) + sp.kron(sp.kron(eye, eye), line)).tocsr()


def mesh(n: int) -> Any:
    """A square grid of n x n with a diagonal in each cell, one way or the other."""
    from scipy import sparse as sp

    at = np.arange(n * n).reshape(n, n)
    turned = np.random.default_rng(3).random((n - 1, n - 1)) < 0.5
    tail = np.where(turned, at[:-1, :-1], at[:-1, 1:]), at[:, :-1], at[:-1]
    head = np.where(turned, at[1:, 1:], at[1:, :-1]), at[:, 1:], at[1:]
    i, j = (np.concatenate([part.ravel() for part in parts]) for parts in (tail, head))
    return sp.coo_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n * n, n * n)).tocsr()


def real(name: str) -> Any:
    from scipy.io import mmread

    return mmread(GOLDEN / f"{name}.mtx.gz").tocsr()


class Peer:
    """cuSPARSE by its own C functions."""

    def __init__(self) -> None:
        import cupy  # noqa: F401  loads it

        for name in ("libcusparse.so.13", "libcusparse.so.12", "libcusparse.so"):
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise OSError("no cuSPARSE here")
        self.handle = c_void_p()
        self.call("Create", ctypes.byref(self.handle))

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, "cusparse" + name)(*arguments)
        if status != 0:
            raise RuntimeError(f"cusparse{name}: status {status}")

    def matrix(self, a: Any) -> c_void_p:
        made = c_void_p()
        rows, cols = (c_int64(n) for n in a.shape)
        arrays = (c_void_p(array.data.ptr) for array in (a.indptr, a.indices, a.data))
        self.call("CreateCsr", ctypes.byref(made), rows, cols, c_int64(a.nnz), *arrays, INDEX_32, INDEX_32, BASE_0, kind(a))
        return made

    def product(self, a: Any, x: Any, y: Any, stream: Any, algorithm: int, order: int = 0) -> Callable[[], None]:
        """A call of one product; with `order` of blocks that are packed so."""
        import cupy

        matrix, ends = self.matrix(a), (c_void_p(), c_void_p())
        one, zero = np.ones(1, a.dtype), np.zeros(1, a.dtype)
        for made, v in zip(ends, (x, y), strict=True):
            at = c_void_p(v.data.ptr)
            if order == 0:
                self.call("CreateDnVec", ctypes.byref(made), c_int64(v.size), at, kind(a))
            else:
                step = v.shape[1] if order == ORDERS["rows"] else v.shape[0]
                sizes = (c_int64(n) for n in (*v.shape, step))
                self.call("CreateDnMat", ctypes.byref(made), *sizes, at, kind(a), order)
        ops = [PLAIN] if order == 0 else [PLAIN, PLAIN]
        name = "SpMV" if order == 0 else "SpMM"
        alpha, beta = (c_void_p(v.ctypes.data) for v in (one, zero))
        arguments = [self.handle, *ops, alpha, matrix, ends[0], beta, ends[1], kind(a), algorithm]
        bytes_ = c_size_t()
        self.call(name + "_bufferSize", *arguments, ctypes.byref(bytes_))
        workspace = cupy.empty(bytes_.value + 16, cupy.uint8)
        self.call("SetStream", self.handle, c_void_p(stream.ptr))
        self.call(name + "_preprocess", *arguments, c_void_p(workspace.data.ptr))
        held = (one, zero, workspace, a, x, y)
        function, place = getattr(self.library, "cusparse" + name), c_void_p(workspace.data.ptr)

        def run() -> None:
            if function(*arguments, place) != 0:
                raise RuntimeError(f"cusparse{name} failed on {len(held)} arrays")

        return run


def kind(a: Any) -> int:
    return 1 if a.dtype == np.float64 else 0


def microseconds(work: Callable[[], None], stream: Any) -> float:
    """Time of one call: the smaller of consecutive calls and of a graph of them."""
    import cupy

    def timed(batch: Callable[[], None], calls: int) -> float:
        times = []
        for _ in range(RUNS):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record(stream)
            batch()
            end.record(stream)
            end.synchronize()
            times.append(1e3 * cupy.cuda.get_elapsed_time(start, end) / calls)
        return median(times)

    def calls() -> None:
        for _ in range(BATCH):
            work()

    calls()
    stream.synchronize()
    plain = timed(calls, BATCH)
    if plain > 200:
        return plain
    stream.begin_capture()
    try:
        calls()
        graph = stream.end_capture()
    except Exception:
        stream.end_capture()
        return plain
    graph.launch(stream)
    return min(plain, timed(lambda: graph.launch(stream), BATCH))


def copy_rate() -> float:
    """Bytes a second, read and written, of a copy on the device."""
    import cupy

    source = cupy.ones(1 << 28)
    target = cupy.empty_like(source)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        return 2e6 * source.nbytes / microseconds(lambda: cupy.copyto(target, source), stream)


class Ours:
    """purlin's product with the arrays of a matrix on the device, or with a copy of SciPy's."""

    def __init__(self, a: Any, stream: Any, context: purlin.Context, pattern: bool = False, **options: Any) -> None:
        if isinstance(a.data, np.ndarray):
            self.matrix = purlin.Matrix.from_scipy(a, copy=True, context=context)
        else:
            values = None if pattern else a.data
            self.matrix = purlin.Matrix.csr(a.indptr, a.indices, values, a.shape, dtype=a.dtype, context=context)
        self.plan = spmv.Plan(self.matrix, context=context, **options)
        self.stream = purlin.Stream(context, cuda_stream=stream.ptr)
        self.context = context
        self.numbers = np.ones(1, a.dtype), np.zeros(1, a.dtype)

    def product(self, x: Any, y: Any) -> Callable[[], None]:
        made: Any = purlin.Tensor.borrow if x.ndim == 1 else purlin.Matrix.dense
        function = lib.purlin_spmv_apply if x.ndim == 1 else lib.purlin_spmv_apply_block
        source, target = (made(v, context=self.context) for v in (x, y))
        alpha, beta = (v.ctypes.data for v in self.numbers)
        arguments = (self.plan.handle, self.stream.handle, alpha, self.matrix.handle, source.handle, beta, target.handle)
        held = (source, target)

        def run() -> None:
            if function(*arguments) != 0:
                raise RuntimeError(f"a product with {len(held)} ends failed")

        return run


def checked(work: Callable[[], None], y: Any, want: Any, bound: Any, what: str) -> None:
    """Ends the run unless the product is right, twice with the same bits."""
    results = []
    for _ in range(2):
        y.fill(np.nan)
        work()
        results.append(y.get())
    if not np.array_equal(*results):
        raise SystemExit(f"{what}: two products differ")
    if not (np.abs(results[0] - want) <= bound).all():
        raise SystemExit(f"{what}: a product is wrong")


def measure(table: Table, peer: Peer, context: purlin.Context, name: str, a: Any, wanted: dict[str, list[float]]) -> None:
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    stream = cupy.cuda.Stream(non_blocking=True)
    lengths = np.diff(a.indptr)
    power = lengths.max() > 20 * lengths.mean()
    random = np.random.default_rng(5)
    for dtype, word in ((np.float64, "f64"), (np.float32, "f32")):
        host = a.astype(dtype)
        host.data = random.uniform(-1, 1, a.nnz).astype(dtype)
        x_host = random.uniform(-1, 1, a.shape[1]).astype(dtype)
        there = csr_matrix(host)
        x, y = cupy.asarray(x_host), cupy.empty(a.shape[0], dtype)
        wide = host.astype(np.float64)
        eps = np.finfo(dtype).eps
        want = wide @ x_host.astype(np.float64)
        bound = 2 * (lengths + 2) * eps * (abs(wide) @ np.abs(x_host.astype(np.float64)))
        ones = (wide != 0).astype(np.float64)
        ones.data[:] = 1.0
        with stream:
            times = {key: microseconds(peer.product(there, x, y, stream, value), stream) for key, value in MV.items()}
            best = min(times, key=lambda key: times[key])

            def add(
                case: str, group: str, ours: Ours, pattern: bool = False, order: Any = None, formed: Any = None
            ) -> None:
                right, limit, theirs, key = want, bound, times[best], best
                if pattern:
                    formed = ones
                if formed is not None:
                    right = formed @ x_host.astype(np.float64)
                    limit = 4 * (lengths + 4) * eps * (abs(formed) @ np.abs(x_host.astype(np.float64)) + 1)
                if formed is not None and not pattern:
                    beside = csr_matrix(formed.astype(dtype))
                    of = {k: microseconds(peer.product(beside, x, y, stream, value), stream) for k, value in MV.items()}
                    key = min(of, key=lambda k: of[k])
                    theirs = of[key]
                source = x
                if order is not None:
                    source, right, limit = cupy.asarray(x_host[order]), right[order], limit[order]
                work = ours.product(source, y)
                checked(work, y, right, limit, f"{name} {word} {case}")
                time = microseconds(work, stream)
                wanted.setdefault(group, []).append(theirs / time)
                info = ours.plan.info
                facts = {"microseconds": round(time, 1), "theirs_us": round(theirs, 1), "entries": a.nnz}
                table.add(
                    f"{name} {word}{case}", "1/s", 1e6 / time, f"cuSPARSE CSR_{key}", 1e6 / theirs,
                    **facts, rows=a.shape[0], method=info.method, plan_seconds=round(info.seconds, 4),
                )  # fmt: skip

            add("", f"auto {word}", Ours(there, stream, context))
            add(", row group as published", f"published {word}", Ours(there, stream, context, method="row_group"))
            if power:
                # First the vectors stay in the permuted order, as in a solver; then each product permutes them and back.
                order = np.argsort(-lengths, kind="stable")
                sorted_ = csr_matrix(host[order][:, order])
                add(", in order of degree", f"in order of degree {word}", Ours(sorted_, stream, context), order=order)
                kept = Ours(host, stream, context, ordering="degree")
                add(", by degree", f"by degree, vectors permuted each time {word}", kept)
            shape = "power law" if power else "meshes"
            add(", pattern", f"pattern, {shape} {word}", Ours(there, stream, context, pattern=True), pattern=True)
            for kind_, formed in laplacians(ones).items():
                ours = Ours(there, stream, context, pattern=True, kind=kind_)
                words = kind_.replace("_", " ")
                add(f", {words}", f"{words} of a pattern, {shape} {word}", ours, formed=formed)
            if power and dtype == np.float64:
                block(table, peer, context, name, there, host, stream, wanted)
        del there, x, y
        cupy.get_default_memory_pool().free_all_blocks()


def laplacians(w: Any) -> dict[str, Any]:
    """The Laplacians of a graph as matrices with values, which cuSPARSE needs."""
    from scipy import sparse as sp

    degrees = np.asarray(w.sum(1)).ravel()
    half = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    scaled = sp.diags(half) @ w @ sp.diags(half)
    return {
        "laplacian": (sp.diags(degrees) - w).tocsr(),
        "normalized_laplacian": (sp.diags((degrees > 0).astype(float)) - scaled).tocsr(),
    }


def block(table: Table, peer: Peer, context: purlin.Context, name: str, there: Any, host: Any, stream: Any, wanted: Any) -> None:
    import cupy

    x_host = np.random.default_rng(6).uniform(-1, 1, (host.shape[1], 4))
    times = {}
    for order, number in ORDERS.items():
        x = cupy.asarray(np.asarray(x_host, order="F" if order == "columns" else "C"))
        y = cupy.empty((host.shape[0], 4), order="F" if order == "columns" else "C")
        for key, algorithm in MM.items():
            times[f"{key}, {order}"] = microseconds(peer.product(there, x, y, stream, algorithm, number), stream)
    best = min(times, key=lambda key: times[key])
    x, y = cupy.asarray(x_host), cupy.empty((host.shape[0], 4))
    ours = Ours(there, stream, context)
    work = ours.product(x, y)
    lengths = np.diff(host.indptr)[:, None]
    checked(work, y, host @ x_host, 2 * (lengths + 2) * 2.3e-16 * (abs(host) @ np.abs(x_host)), f"{name} block")
    time = microseconds(work, stream)
    one_x, one_y = cupy.asarray(x_host[:, 0].copy()), cupy.empty(host.shape[0])
    single = microseconds(ours.product(one_x, one_y), stream)
    wanted.setdefault("4 columns f64", []).append(times[best] / time)
    facts = {"microseconds": round(time, 1), "theirs_us": round(times[best], 1), "four_products": round(4 * single / time, 3)}
    table.add(f"{name} f64, 4 columns", "1/s", 1e6 / time, f"cuSPARSE SpMM CSR_{best}", 1e6 / times[best], **facts)


def main() -> int:
    if not purlin.devices():
        print("no GPU here")
        return 77
    matrices: dict[str, Callable[[], Any]] = {
        "BA, 1.6e6 vertices": lambda: preferential(1_600_000, 3, 1),
        "R-MAT, scale 21": lambda: recursive(21, 16 << 20, 2),
        "mesh, 1200 x 1200": lambda: mesh(1200),
        "Poisson, 100^3": lambda: poisson(100),
        "Poisson, 256^3": lambda: poisson(256),
        **{name: lambda name=name: real(name) for name in REAL},
    }
    chosen = sys.argv[1:]
    table = Table("products of sparse matrices on a GPU", copy=copy_rate())
    ratios: dict[str, list[float]] = {}
    with purlin.Context("cuda") as context:
        peer = Peer()
        for name, make in matrices.items():
            if not chosen or any(word.lower() in name.lower() for word in chosen):
                measure(table, peer, context, name, make(), ratios)
    for group, list_ in ratios.items():
        mean = math.exp(sum(math.log(r) for r in list_) / len(list_))
        facts = {"matrices": len(list_), "worst": round(min(list_), 3)}
        table.add(f"geometric mean, {group}", "x", mean, "cuSPARSE", 1.0, **facts)
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
