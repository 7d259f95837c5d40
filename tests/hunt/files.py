"""Attacks on what the library writes and reads: targets that are no regular files, full disks, broken-off runs, damaged
input."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import purlin

from attack import Bench, Finding, pick, require


def targets(rng: np.random.Generator, bench: Bench) -> None:
    """A sink keeps what is not a regular file, keeps modes, and leaves nothing behind."""
    folder = Path(tempfile.mkdtemp())
    try:
        target, kind = folder / "volume.raw", pick(rng, "fifo", "directory", "link", "dangling", "file", "nothing")
        keep = folder / "other"
        if kind == "fifo":
            os.mkfifo(target)
        elif kind == "directory":
            target.mkdir()
        elif kind == "link":
            keep.write_bytes(b"old")
            target.symlink_to(keep)
        elif kind == "dangling":
            target.symlink_to(folder / "absent")
        elif kind == "file":
            target.write_bytes(b"old")
            target.chmod(0o600)
        before = target.lstat().st_mode if os.path.lexists(target) else 0
        data = rng.standard_normal((4, 5)).astype(np.float32)
        fail = rng.random() < 0.4
        raised = [False]
        try:
            write(target, data, bench, fail, raised)
            done = True
        except purlin.InternalError as error:
            raise Finding(f"{kind}: internal error {error}") from error
        except (purlin.Error, OSError, RuntimeError, ValueError):
            done = False
        # A backend that keeps the matrix reads it once, and is not broken off.
        require(not (done and raised[0]), f"{kind}: a write that was broken off succeeded")
        if kind in ("fifo", "directory", "link", "dangling"):
            require(stat.S_IFMT(target.lstat().st_mode) == stat.S_IFMT(before), f"{kind}: was replaced")
        if kind == "file":
            require(stat.S_IMODE(target.stat().st_mode) == 0o600, f"mode is {stat.S_IMODE(target.stat().st_mode):o}, was 600")
            require(done or target.read_bytes() == b"old", "a failed write changed the old file")
        expected = {"link": {"volume.raw", "other"}, "nothing": {"volume.raw"} if done else set()}.get(kind, {"volume.raw"})
        if kind == "dangling" and done:
            expected = {"volume.raw", "absent"}
        left = set(os.listdir(folder))
        require(left == expected, f"{kind}: the folder has {sorted(left)}, expected {sorted(expected)}")
        bench.outcomes["written" if done else "refused"] += 1
    finally:
        shutil.rmtree(folder)


class Broken(RuntimeError):
    """What the reading function raises to break a run off."""


def write(target: Path, data: np.ndarray, bench: Bench, fail: bool, raised: list[bool]) -> None:
    """The low-rank part of a small matrix through a file sink; `fail` breaks off while it is read."""
    calls = [0]

    def read(where: Any) -> np.ndarray:
        calls[0] += 1
        if fail and calls[0] > 1:
            raised[0] = True
            raise Broken("broken off")
        return data[where]

    source = purlin.blocks.Source.from_function(read, data.shape, data.dtype, context=bench.context)
    with source, purlin.blocks.Sink.to_file(target, data.shape, data.dtype, context=bench.context) as sink:
        purlin.rpca.stream(source, sink, None, context=bench.context, tolerance=1e-3)


def full_disk(rng: np.random.Generator, bench: Bench) -> None:
    """A file that may not grow gives an error, and no part of it stays: limits below, inside and just short of the file."""
    size = int(pick(rng, 80, 5000, 300_000))
    limits = sorted({0, 1, size // 2, size - 1, *(int(v) for v in rng.integers(0, size, 3))})
    with tempfile.TemporaryDirectory() as folder:
        # A process of its own: CUDA does not work in a child of fork(), and the limit is the whole process's.
        command = [sys.executable, __file__, folder, bench.backend, str(size), *map(str, limits)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        left = os.listdir(folder)
    require(ended.returncode == 0, f"full disk, {size} bytes, limits {limits}: status {ended.returncode}, {ended.stderr.strip()[-300:]}")
    require(not left, f"full disk: left {left}")
    bench.outcomes["refused"] += len(limits)


def fill_disk(folder: str, backend: str, size: int, limits: list[int]) -> None:
    """The process of `full_disk`: writes a file of `size` bytes under each limit, then without one."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    rows = size // 20
    data = np.outer(np.arange(1, rows + 1), np.ones(5)).astype(np.float32)
    bench = Bench(backend)
    for limit in (*limits, None):
        bound = resource.RLIM_INFINITY if limit is None else limit
        resource.setrlimit(resource.RLIMIT_FSIZE, (bound, resource.RLIM_INFINITY))
        try:
            write(Path(folder) / "volume.raw", data, bench, False, [False])
            require(limit is None, f"a file of {size} bytes was written under a limit of {limit}")
        except purlin.FileError:
            require(limit is not None, "a write without a limit failed")
        left = os.listdir(folder)
        require(left == ([] if limit is not None else ["volume.raw"]), f"limit {limit}: left {left}")
    require((Path(folder) / "volume.raw").stat().st_size == data.nbytes, "the file has another size")
    (Path(folder) / "volume.raw").unlink()


def damaged(rng: np.random.Generator, bench: Bench) -> None:
    """Files with bytes changed, cut off or repeated are read or refused, within the context's memory limit."""
    folder = Path(tempfile.mkdtemp())
    try:
        kind = pick(rng, "npy", "mtx", "mha")
        path = folder / f"data.{kind}"
        if kind == "npy":
            np.save(path, rng.standard_normal((6, 7)))
        elif kind == "mtx":
            path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.0\n2 2 2.0\n3 1 4.5\n")
        else:
            path.write_bytes(b"ObjectType = Image\nNDims = 2\nDimSize = 4 3\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n" + bytes(48))
        data = bytearray(path.read_bytes())
        for _ in range(int(rng.integers(1, 4))):
            how, at = pick(rng, "flip", "cut", "digit"), int(rng.integers(len(data))) if data else 0
            if not data:
                break
            if how == "flip":
                data[at] = int(rng.integers(256))
            elif how == "cut":
                del data[at:]
            else:
                data[at:at] = b"9" * int(rng.integers(1, 20))
        path.write_bytes(bytes(data))
        with purlin.Context(bench.backend, threads=1, host_memory_limit=64 << 20) as context:
            try:
                if kind == "mtx":
                    purlin.sparse.read_market(path, context=context)
                else:
                    reader = purlin.blocks.Source.from_npy if kind == "npy" else purlin.blocks.Source.from_metaimage
                    with reader(path, context=context):
                        pass
                bench.outcomes["read"] += 1
            except purlin.InternalError as error:
                raise Finding(f"damaged {kind}: internal error {error}; bytes {bytes(data)!r}") from error
            except (purlin.Error, OSError, ValueError):
                bench.outcomes["refused"] += 1
    finally:
        shutil.rmtree(folder)


ATTACKS = {"targets": targets, "full_disk": full_disk, "damaged": damaged}

if __name__ == "__main__":
    fill_disk(sys.argv[1], sys.argv[2], int(sys.argv[3]), [int(v) for v in sys.argv[4:]])
