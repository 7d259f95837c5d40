"""Attacks on files that the library writes and reads: targets that are no regular files, full disks, interrupted runs, damaged
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
    """A sink does not replace a target that is no regular file, keeps modes, and leaves no other file."""
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
        # A backend that keeps the matrix reads it once, and is not interrupted.
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
    """The exception of the reading function that interrupts a run."""


def write(target: Path, data: np.ndarray, bench: Bench, fail: bool, raised: list[bool]) -> None:
    """The low-rank part of a small matrix through a file sink; with `fail` the read is interrupted."""
    calls = [0]

    def read(where: Any) -> np.ndarray:
        calls[0] += 1
        if fail and calls[0] > 1:
            raised[0] = True
            raise Broken("broken off")
        return data[where]

    source = purlin.blocks.Source.from_function(read, data.shape, data.dtype, context=bench.context)
    with source, purlin.blocks.Sink.to_file(target, data.shape, data.dtype, context=bench.context) as sink:
        purlin.rpca.compute_to_sinks(source, sink, None, context=bench.context, tolerance=1e-3)


def full_disk(rng: np.random.Generator, bench: Bench) -> None:
    """A file that may not grow gives an error, and no part of it stays: limits below, inside and just short of the file; then
    the same call succeeds, and the file is that of a disk with free space."""
    kind = pick(rng, *WRITERS)
    parts = sorted(float(v) for v in rng.random(3))
    with tempfile.TemporaryDirectory() as folder:
        # A process of its own: CUDA does not work in a child of fork(), and the limit is the whole process's.
        command = [sys.executable, __file__, folder, bench.backend, kind, str(int(rng.integers(1 << 30))), *map(str, parts)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        left = os.listdir(folder)
    require(ended.returncode == 0, f"full disk, {command[3:]}: status {ended.returncode}, {ended.stderr.strip()[-300:]}")
    require(not left, f"full disk, {kind}: left {left}")
    bench.outcomes[kind] += 1


class Writer:
    """A call that writes a file, again and again: into a new one each time."""

    def __init__(self, folder: Path, rng: np.random.Generator, bench: Bench) -> None:
        self.folder, self.rng, self.bench = folder, rng, bench
        self.rows = int(pick(rng, 4, 250, 9000))
        self.data = np.outer(np.arange(1, self.rows + 1), np.ones(5)).astype(np.float32)

    path = "volume.raw"

    def write(self) -> None:
        write(self.folder / self.path, self.data, self.bench, False, [False])

    def close(self) -> None:
        """Frees the objects that the calls share."""


class MetaImage(Writer):
    path = "volume.mha"

    def write(self) -> None:
        sink = purlin.blocks.Sink.to_metaimage(self.folder / self.path, self.data.shape, context=self.bench.context)
        with purlin.blocks.Source.from_array(self.data, context=self.bench.context) as source, sink:
            purlin.rpca.compute_to_sinks(source, sink, None, context=self.bench.context, tolerance=1e-3)


class Market(Writer):
    path = "matrix.mtx"

    def __init__(self, folder: Path, rng: np.random.Generator, bench: Bench) -> None:
        super().__init__(folder, rng, bench)
        self.matrix = purlin.sparse.from_dense(self.data.astype(float), context=bench.context)

    def write(self) -> None:
        purlin.sparse.write_market(self.matrix, self.folder / self.path)


class Edges(Market):
    path = "edges.txt"

    def __init__(self, folder: Path, rng: np.random.Generator, bench: Bench) -> None:
        Writer.__init__(self, folder, rng, bench)
        n = int(pick(rng, 3, 40, 200))
        self.matrix = purlin.sparse.from_dense(np.ones((n, n)) - np.eye(n), context=bench.context)

    def write(self) -> None:
        purlin.sparse.write_edges(self.matrix, self.folder / self.path)


class Volume(Writer):
    """A scan that is pushed once and finished until it succeeds: a full disk does not lose it."""

    path = "volume.raw"

    def __init__(self, folder: Path, rng: np.random.Generator, bench: Bench) -> None:
        super().__init__(folder, rng, bench)
        self.size = (int(rng.integers(1, 12)), 9, int(rng.integers(3, 30)))
        geometry = purlin.fdk.Geometry(16, 9, 4.0, 4.0, 500.0, 900.0, angles=np.arange(20) * np.pi / 10)
        grid = purlin.fdk.Grid.centred(self.size[::-1], (2.0, 2.0, 2.0))
        self.session = purlin.fdk.Reconstruction(geometry, grid, context=bench.context)
        self.lines = rng.random((20, 9, 16)).astype(np.float32)
        self.session.begin()
        for k in range(20):
            self.session.push(k, self.lines[k])

    def sink(self) -> Any:
        return purlin.blocks.Sink.to_file(self.folder / self.path, self.size, np.float32, context=self.bench.context)

    def write(self) -> None:
        with self.sink() as sink:
            self.session.finish(sink)

    def close(self) -> None:
        want = self.session.reconstruct(self.lines)
        self.session.close()
        if self.path.endswith("raw"):
            require(self.written == want.tobytes(), "the volume of a scan that was finished again is another")

    written = b""


class VolumeImage(Volume):
    path = "volume.mha"

    def sink(self) -> Any:
        return purlin.blocks.Sink.to_metaimage(self.folder / self.path, self.size, context=self.bench.context)


class VolumeTiff(Volume):
    path = "volume.tif"

    def sink(self) -> Any:
        return purlin.blocks.Sink.to_tiff(self.folder / self.path, self.size, context=self.bench.context)


class Restart(Writer):
    """A restart file, which a successful run removes. The progress function sees it while it exists."""

    path = "restart"

    def write(self) -> None:
        place = self.folder / self.path

        def progress(*_: object) -> None:
            if place.exists():
                Restart.written = place.read_bytes()

        Restart.written = b""
        purlin.rsvd.compute(
            self.data, 3, method="basic", power_iterations=2, restart_path=place, progress=progress, block_rows=64, context=self.bench.context,
        )

    written = b""


WRITERS: dict[str, type[Writer]] = {
    "raw": Writer, "metaimage": MetaImage, "market": Market, "edges": Edges, "fdk raw": Volume, "fdk metaimage": VolumeImage,
    "fdk tiff": VolumeTiff, "restart": Restart,
}


def fill_disk(folder: Path, backend: str, kind: str, seed: int, parts: list[float]) -> None:
    """The process of `full_disk`: writes a file without a limit, under limits that are parts of its size, and without one again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    rng = np.random.default_rng(seed)
    writer = WRITERS[kind](folder, rng, Bench(backend))

    def written() -> bytes:
        """The bytes of a file that was written without a limit; the file is removed."""
        writer.write()
        if kind == "restart":
            require(not os.listdir(folder), f"a run that succeeded left {os.listdir(folder)}")
            return Restart.written
        require(os.listdir(folder) == [writer.path], f"a write without a limit left {os.listdir(folder)}")
        data = (folder / writer.path).read_bytes()
        (folder / writer.path).unlink()
        return data

    first = written()
    # A scan that was finished has to be pushed again.
    if isinstance(writer, Volume):
        writer.session.begin()
        for k in range(20):
            writer.session.push(k, writer.lines[k])
    size = len(first)
    require(size > 0 or kind == "restart", "nothing was written")
    for limit in sorted({0, 1, size // 2, size - 1, *(int(part * size) for part in parts)} if size else ()):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            writer.write()
            failed = False
        except purlin.FileError:
            failed = True
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        require(failed, f"{kind}: a file of {size} bytes was written under a limit of {limit}")
        require(not os.listdir(folder), f"{kind}: a limit of {limit} of {size} bytes left {os.listdir(folder)}")
    again = written()
    require(again == first, f"{kind}: the file that is written at last differs from the first")
    if isinstance(writer, Volume):
        writer.written = again
    writer.close()


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
    fill_disk(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), [float(v) for v in sys.argv[5:]])
