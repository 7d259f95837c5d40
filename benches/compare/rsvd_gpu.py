#!/usr/bin/env python3
"""Randomized SVD on GPUs: in core against torch.svd_lowrank, a CuPy loop and cuSOLVER's Xgesvdr on the same matrix; out of
core against the time that the link alone takes; the published methods against each other; several GPUs.

Arguments choose among core, out, methods and several. In core the floor is the time of the same products, 2 q + 2 of them,
by torch's own GEMM in the same run. The matrices' columns fall off as 0.995^j, so that power iterations matter.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import purlin
from purlin.rsvd import Rsvd
from report import Table, median_seconds

GIB = 1 << 30
ITERATIONS = 2
# Rank and oversampling.
WIDTHS = ((100, 28), (400, 100))


def decaying(torch: Any, rows: int, columns: int, dtype: Any) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(1)
    a = torch.empty(rows, columns, dtype=dtype, device="cuda")
    falling = 0.995 ** torch.arange(columns, dtype=dtype, device="cuda")
    for first in range(0, rows, 10000):
        part = a[first : first + 10000]
        part.normal_(generator=generator)
        part.mul_(falling)
    return a


def cupy_loop(a: Any, width: int) -> Any:
    """The range form with Householder bases, as a user of CuPy writes it."""
    import cupy

    matrix = cupy.from_dlpack(a)
    y = matrix @ cupy.random.standard_normal((matrix.shape[1], width), dtype=matrix.dtype)
    for _ in range(ITERATIONS):
        w, _r = cupy.linalg.qr(matrix.T @ cupy.linalg.qr(y)[0])
        y = matrix @ w
    q, _r = cupy.linalg.qr(y)
    u, s, vt = cupy.linalg.svd(q.T @ matrix, full_matrices=False)
    return q @ u, s, vt


class Gesvdr:
    """cuSOLVER's randomized SVD, which wants column-major matrices and destroys them."""

    def __init__(self, torch: Any, a: Any, rank: int, oversampling: int) -> None:
        self.torch, self.rank, self.oversampling = torch, rank, oversampling
        self.library = ctypes.CDLL("libcusolver.so.12")
        self.handle, self.parameters = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cusolverDnCreate", ctypes.byref(self.handle))
        self.call("cusolverDnCreateParams", ctypes.byref(self.parameters))
        m, n = a.shape
        self.source = a.t().contiguous()
        make = {"dtype": a.dtype, "device": "cuda"}
        self.matrix = torch.empty_like(self.source)
        self.s = torch.empty(n, **make)
        self.u, self.v = torch.empty(rank, m, **make), torch.empty(rank, n, **make)
        kind = 1 if a.dtype == torch.float64 else 0
        size, word = ctypes.c_int64, ctypes.c_int
        pointer = [ctypes.c_void_p(t.data_ptr()) for t in (self.matrix, self.s, self.u, self.v)]
        self.arguments = [
            self.handle, self.parameters, ctypes.c_byte(ord("S")), ctypes.c_byte(ord("S")), size(m), size(n),
            size(rank), size(oversampling), size(ITERATIONS), word(kind), pointer[0], size(m), word(kind), pointer[1],
            word(kind), pointer[2], size(m), word(kind), pointer[3], size(n), word(kind),
        ]  # fmt: skip
        device, host = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cusolverDnXgesvdr_bufferSize", *self.arguments, ctypes.byref(device), ctypes.byref(host))
        self.work = torch.empty(max(device.value, 1), dtype=torch.uint8, device="cuda")
        self.host = ctypes.create_string_buffer(max(host.value, 1))
        self.info = torch.zeros(1, dtype=torch.int32, device="cuda")
        self.sizes = (device, host)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")

    def __call__(self) -> Any:
        self.matrix.copy_(self.source)
        work, host = ctypes.c_void_p(self.work.data_ptr()), self.host
        info = ctypes.c_void_p(self.info.data_ptr())
        self.call("cusolverDnXgesvdr", *self.arguments, work, self.sizes[0], host, self.sizes[1], info)
        return self.u, self.s[: self.rank], self.v


def peers(torch: Any, a: Any, rank: int, oversampling: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    width = rank + oversampling
    yield "torch.svd_lowrank", lambda: torch.svd_lowrank(a, q=width, niter=ITERATIONS)
    try:
        import cupy  # noqa: F401

        yield "CuPy loop", lambda: cupy_loop(a, width)
    except ImportError:
        pass
    try:
        yield "cuSOLVER Xgesvdr", Gesvdr(torch, a, rank, oversampling)
    except (OSError, RuntimeError) as problem:
        print(f"  no Xgesvdr: {problem}")


def in_core(table: Table, context: purlin.Context, torch: Any) -> None:
    for rows, columns in ((100000, 4000), (200000, 5000)):
        for dtype in (torch.float64, torch.float32):
            a = decaying(torch, rows, columns, dtype)
            total = float(sum((part.double() ** 2).sum() for part in a.split(10000)))
            for rank, oversampling in WIDTHS:
                core(table, context, torch, a, total, rank, oversampling)
                torch.cuda.empty_cache()
            del a
            torch.cuda.empty_cache()


def core(table: Table, context: purlin.Context, torch: Any, a: Any, total: float, rank: int, oversampling: int) -> None:
    width = rank + oversampling

    def seconds(work: Callable[[], Any], repeats: int = 5) -> float:
        def whole() -> None:
            work()
            torch.cuda.synchronize()

        return median_seconds(whole, repeats)

    def error(values: Any) -> float:
        """||A - A_k||_F / ||A||_F of factors with orthonormal columns."""
        kept = float((torch.as_tensor(np.asarray(values), dtype=torch.float64)[:rank] ** 2).sum())
        return max(total - kept, 0.0) ** 0.5 / total**0.5

    def products() -> float:
        w = torch.randn(a.shape[1], width, dtype=a.dtype, device="cuda")
        p = a @ w
        return (ITERATIONS + 1) * (seconds(lambda: torch.mm(a, w)) + seconds(lambda: torch.mm(a.t(), p)))

    floor = products()
    theirs = []
    for name, peer in peers(torch, a, rank, oversampling):
        values = peer()[1]
        values = values.get() if hasattr(values, "get") else values.cpu().numpy()
        theirs.append((name, seconds(peer, 3), error(values)))
        torch.cuda.empty_cache()
    options: Any = {"oversampling": oversampling, "power_iterations": ITERATIONS, "error": "none", "context": context}
    cases: list[tuple[str, Any]] = [(method, {}) for method in ("range", "fused", "auto")]
    if a.dtype == torch.float32:
        # Rougher iterations; A W and the factors are computed in full.
        cases.append(("fused", {"iteration_precision": "fast"}))
    for method, more in cases:
        with Rsvd(rank, method=method, **options, **more) as session:
            took = seconds(lambda: session.compute(a))
            factors = session.compute(a)
            info = session.last_info()
        for name, other, their_error in theirs if method != "auto" else theirs[:1]:
            table.add(
                f"{a.shape[0]} x {a.shape[1]} {str(a.dtype)[6:]}, l = {width}, {', '.join([method, *more.values()])}",
                "1/s",
                1 / took,
                name,
                1 / other,
                milliseconds=round(1e3 * took, 2),
                floor_milliseconds=round(1e3 * floor, 2),
                times_the_floor=round(took / floor, 3),
                error=f"{error(factors.s):.6f}",
                their_error=f"{their_error:.6f}",
                method=info.method if info else None,
            )


def pinned_matrix(rows: int, columns: int, context: purlin.Context) -> Any:
    """Page-locked, row-major: a block of decaying normal numbers, repeated with other factors."""
    tensor = purlin.Tensor.create((columns, rows), np.float64, order="F", pinned=True, context=context)
    array = tensor.numpy().T
    step = 1 << 14
    block = np.random.default_rng(2).standard_normal((step, columns)) * 0.995 ** np.arange(columns)

    def fill(first: int) -> None:
        part = array[first : first + step]
        np.multiply(block[: len(part)], 1 + (first // step) % 13 / 7, out=part)

    with ThreadPoolExecutor() as threads:
        list(threads.map(fill, range(0, rows, step)))
    return tensor, array


def link(torch: Any) -> float:
    """Bytes a second of plain copies of page-locked memory."""
    source = torch.empty(GIB, dtype=torch.uint8).pin_memory()
    target = torch.empty(GIB, dtype=torch.uint8, device="cuda")

    def copy() -> None:
        target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()

    return float(GIB / median_seconds(copy))


def streamed(table: Table, torch: Any, rows: int, columns: int, rank: int, q: int, cases: tuple[str, ...]) -> None:
    """Methods on a matrix in page-locked memory, 16 GiB of the device. "anew" is for a method that keeps no rows on the
    device, as published; the others keep the rows that fit, so that BASIC moves 6.8 times the bytes of GRAM and not 8.5
    times."""
    with purlin.Context("cuda", device_memory_limit=16 * GIB) as context:
        _owner, array = pinned_matrix(rows, columns, context)
        rate = link(torch)
        oversampling = 100 if rank == 400 else rank
        reference: dict[str, float] = {}
        for case in cases:
            method, _, anew = case.partition(" ")
            options: Any = {"power_iterations": q, "method": method, "error": "identity", "context": context}
            if anew:
                options["resident_rows"] = 0
            with Rsvd(rank, oversampling=oversampling, **options) as session:
                planned = session.plan(array)
                times = []
                for _ in range(2 if planned.passes < 4 else 1):
                    start = time.perf_counter()
                    session.compute(array)
                    times.append(time.perf_counter() - start)
                took, info = min(times), session.last_info()
            assert info is not None
            if rank == 64:
                reference = {"two passes at the link's rate": 2 * array.nbytes / rate}
            elif method == "basic":
                reference[case] = took
            for name, seconds in reference.items():
                table.add(
                    f"{rows} x {columns} float64 of host memory, {case}, q = {q}",
                    "1/s",
                    1 / took,
                    name,
                    1 / seconds,
                    seconds=round(took, 3),
                    link_gigabytes_a_second=round(rate / 1e9, 2),
                    link_use=round(info.bytes_to_device / took / rate, 3),
                    copies_alone_use=round(info.bytes_to_device / max(info.seconds_link, 1e-9) / rate, 3),
                    used=info.method,
                    passes=info.passes,
                    gigabytes=round(info.bytes_to_device / 1e9, 2),
                    bytes_as_predicted=info.bytes_to_device == planned.bytes_predicted,
                    device_used_over_planned=round(info.device_bytes_used / max(info.device_bytes, 1), 3),
                    error=f"{info.error_relative:.6f}",
                )


def several(table: Table, contexts: list[purlin.Context]) -> None:
    _owner, array = pinned_matrix(1 << 20, 2048, contexts[0])
    one = None
    for count in (1, 2, 4, 8):
        if count > len(contexts):
            break
        group = purlin.Group(contexts[:count])
        with group, Rsvd(64, oversampling=64, method="fused", error="none", group=group) as session:
            took = median_seconds(lambda: session.compute(array), 3)
            info = session.last_info()
        one = one or took
        assert info is not None
        table.add(
            f"1048576 x 2048 float64 of host memory on {count} GPUs, 4 GiB of each",
            "1/s",
            1 / took,
            "one GPU",
            1 / one,
            seconds=round(took, 3),
            gigabytes_a_second=round(info.bytes_to_device / took / 1e9, 2),
        )


def main() -> int:
    gpus = purlin.devices()
    if not gpus:
        print("no GPU here")
        return 77
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: it makes the matrices")
        return 77
    torch.backends.cuda.matmul.allow_tf32 = False
    wanted = set(sys.argv[1:]) or {"core", "several"}
    table = Table("randomized SVD on GPUs", gpus=len(gpus), torch=torch.__version__)
    if "core" in wanted:
        with purlin.Context("cuda") as context:
            in_core(table, context, torch)
    if "out" in wanted:
        streamed(table, torch, 4194304, 2048, 64, 2, ("auto", "merge", "gram", "fused"))
    if "methods" in wanted:
        streamed(table, torch, 920000, 5000, 400, 8, ("basic anew", "basic", "row_fused", "gram"))
    if "several" in wanted and len(gpus) > 1:
        contexts = [purlin.Context("cuda", device=gpu.ordinal, device_memory_limit=4 * GIB) for gpu in gpus]
        several(table, contexts)
        for made in contexts:
            made.close()
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
