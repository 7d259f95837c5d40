#!/usr/bin/env python3
"""Robust PCA on a GPU: 2 073 600 x 1 000 in float32, a thousand frames of two million pixels, made on the device by CuPy, and
a real video where there is one.

The published time for a matrix of that shape (float64, 28 iterations, partial decompositions on a GPU and the rest on a CPU)
is 994 s. An iteration must read M, Y and X once, write Y and X once, and read X for three more products: 8 arrays of
8.3 GB, 15.5 ms at the 4.3 TB/s of an H200. It also has 10 m n l operations.

PURLIN_VTEST names OpenCV's sample video vtest.avi (in Debian's package opencv-doc), which opencv-python-headless decodes, or
a .npy of its grey frames, (frames, height, width) bytes.
PURLIN_RPCA_SHAPE is another shape, as 500000x500.

With the argument `several` the same matrix comes from host memory to one GPU, to two and so on; the parts stay where they
are. The seconds are those of the call, and the time of the iterations is printed beside them.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np
import purlin
from purlin import rpca
from report import Table

PUBLISHED = 994.0
ARRAYS = 8
RANK = 10


def generated(rows: int, columns: int) -> tuple[Any, Any, Any]:
    """U V^T of rank 10 with an eighth of the entries off by 5, column-major on the device."""
    import cupy

    random = cupy.random.default_rng(3)
    u = random.standard_normal((rows, RANK), dtype=cupy.float32)
    v = random.standard_normal((columns, RANK), dtype=cupy.float32)
    m = cupy.empty((columns, rows), dtype=cupy.float32)
    step = max(1, columns // 50)
    for first in range(0, columns, step):
        part = v[first : first + step] @ u.T
        chance = random.random(part.shape, dtype=cupy.float32)
        m[first : first + step] = part + 5 * (chance < 1 / 16) - 5 * (chance > 15 / 16)
    return m.T, u, v


def frames(path: str) -> Any:
    """The grey frames of a video, one a column."""
    if path.endswith(".npy"):
        stored = np.load(path)
        return stored.reshape(len(stored), -1).T
    import cv2

    capture, grey = cv2.VideoCapture(path), []
    while (frame := capture.read())[0]:
        grey.append(cv2.cvtColor(frame[1], cv2.COLOR_BGR2GRAY).ravel())
    return np.array(grey).T


def add(table: Table, case: str, took: float, info: rpca.Info, bytes_: int, **more: object) -> None:
    each = took / info.iterations
    table.add(
        case,
        "iterations/s",
        1 / each,
        "none",
        None,
        seconds=round(took, 3),
        milliseconds=round(1e3 * each, 2),
        iterations=info.iterations,
        passes=info.passes,
        rank=info.rank,
        residual=info.residual,
        fused_ms=round(1e3 * info.seconds_elementwise / info.iterations, 2),
        decomposition_ms=round(1e3 * info.seconds_svd / info.iterations, 2),
        gigabytes_a_second=round(ARRAYS * bytes_ / each / 1e9, 1),
        **more,
    )


def several(table: Table, contexts: list[purlin.Context], rows: int, columns: int) -> None:
    import cupy

    made = generated(rows, columns)[0]
    m = cupy.asnumpy(made.T).T
    del made
    cupy.get_default_memory_pool().free_all_blocks()
    one = None
    for count in range(1, len(contexts) + 1):
        times, infos = [], []
        for _ in range(4):
            began = time.perf_counter()
            infos.append(rpca.compute_to_sinks(m, None, None, group=purlin.Group(contexts[:count])))
            times.append(time.perf_counter() - began)
        # The first one warms up.
        took, info = min(zip(times[1:], infos[1:]), key=lambda pair: pair[1].seconds)
        assert info.contexts == count
        each = info.seconds / info.iterations
        one = one or each
        table.add(
            f"{rows} x {columns} float32 of host memory on {count} GPUs",
            "iterations/s",
            1 / each,
            "one GPU",
            1 / one,
            seconds=round(took, 3),
            iterating=round(info.seconds, 3),
            iterations=info.iterations,
            passes=info.passes,
            rank=info.rank,
            residual=info.residual,
            fused_ms=round(1e3 * info.seconds_elementwise / info.iterations, 2),
            decomposition_ms=round(1e3 * info.seconds_svd / info.iterations, 2),
        )


def main() -> int:
    try:
        import cupy
    except ImportError:
        print("CuPy is not installed: nothing is made on the device")
        return 0
    if "several" in sys.argv[1:]:
        gpus = purlin.devices()
        contexts = [purlin.Context("cuda", device=gpu.ordinal) for gpu in gpus]
        table = Table("robust PCA on several GPUs", gpus=len(gpus), context=str(contexts[0].properties))
        rows, columns = map(int, os.environ.get("PURLIN_RPCA_SHAPE", "2073600x1000").split("x"))
        several(table, contexts, rows, columns)
        table.write()
        return 0
    context = purlin.Context(backend="cuda")
    table = Table("robust PCA on a GPU", context=str(context.properties), cupy=cupy.__version__)
    rows, columns = map(int, os.environ.get("PURLIN_RPCA_SHAPE", "2073600x1000").split("x"))
    m, u, v = generated(rows, columns)
    for _ in range(2):
        began = time.perf_counter()
        parts, info = rpca.run(m, context=context)
        took = time.perf_counter() - began
    low = cupy.from_dlpack(parts.low_rank)
    wrong = total = 0.0
    for first in range(0, columns, 50):
        truth = u @ v[first : first + 50].T
        wrong += float(cupy.square(low[:, first : first + 50] - truth).sum(dtype=cupy.float64))
        total += float(cupy.square(truth).sum(dtype=cupy.float64))
    published = {"published_seconds": PUBLISHED} if (rows, columns) == (2073600, 1000) else {}
    add(table, f"{rows} x {columns} float32", took, info, m.nbytes, error=(wrong / total) ** 0.5, **published)
    del m, u, v, parts, low
    path = os.environ.get("PURLIN_VTEST")
    if path:
        video = frames(path)
        for _ in range(2):
            began = time.perf_counter()
            _, info = rpca.run(video, scale=1 / 255, context=context)
            took = time.perf_counter() - began
        shape = "x".join(map(str, video.shape))
        add(table, f"{os.path.basename(path)}, {shape} bytes, from and to host memory", took, info, 4 * video.size)
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
