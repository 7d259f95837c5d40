#!/usr/bin/env python3
"""Times calls of two builds of the library side by side, and prints how fast the second is against the first.

    tools/two_builds.py FIRST.so FIRST/bindings/python SECOND.so SECOND/bindings/python [--backend cuda] [--rows WORD ...]

Each build has a process of its own; they take turns call by call, so that a machine that is not idle favours neither, and the
shortest of the runs counts. A row's ratio is the first build's time over the second's: 0.9 means a tenth slower. Spectral
solves print their operator products too, because a completeness test needs some of its own. The table
is written to the file that PURLIN_BENCH_JSON names as well, for tools/bench_report.py.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden"
# Seconds for which a row repeats its work before it reports the mean of one call.
SHORTEST_RUN = 0.02

Work = Callable[[], Any]


class Rows:
    """The timed calls; on a GPU the sizes are large enough to keep it busy."""

    def __init__(self, backend: str) -> None:
        import numpy as np
        import purlin

        self.np, self.purlin, self.gpu = np, purlin, backend == "cuda"
        threads = {} if self.gpu else {"threads": int(os.environ.get("PURLIN_BENCH_THREADS", "2"))}
        self.backend, self.options = backend, threads
        self.context = purlin.Context(backend, **threads)
        self.rng = np.random.default_rng(1)
        self.folder = tempfile.TemporaryDirectory()

    def names(self) -> list[str]:
        return [name[4:] for name in dir(self) if name.startswith("row_")]

    def row_call_live_handles(self) -> Work:
        return self.purlin.live_handles  # type: ignore[no-any-return]

    def row_call_context(self) -> Work:
        return lambda: self.purlin.Context(self.backend, **self.options).close()

    def graph(self, name: str) -> Any:
        from scipy.io import mmread

        a = mmread(GOLDEN / "spectral" / f"{name}.mtx.gz").tocsr().astype(self.np.float64)
        a.sort_indices()
        return a

    def preferential(self, vertices: int) -> Any:
        """Vertices that join three earlier ones each, chosen by their degree."""
        from scipy import sparse

        ends = self.np.zeros(6 * vertices, self.np.int64)
        draws = self.rng.random(3 * vertices)
        for vertex in range(4, vertices):
            at = 6 * vertex
            for j in range(3):
                ends[at + 2 * j] = vertex
                ends[at + 2 * j + 1] = ends[int(draws[3 * vertex + j] * at)]
        rows, columns = ends[24::2], ends[25::2]
        a = sparse.coo_array((self.np.ones(len(rows)), (rows, columns)), shape=(vertices, vertices)).tocsr()
        a = a + a.T
        a.data[:] = 1
        a.setdiag(0)
        a.eliminate_zeros()
        return sparse.csr_matrix(a)

    def eigen(self, a: Any, **options: Any) -> Work:
        lanczos = self.purlin.lanczos
        matrix = lanczos.operand(a, self.context)

        def work() -> Any:
            return lanczos.run(matrix, 10, "largest", tolerance=1e-8, context=self.context, **options).info.products

        return work

    def row_eigen_as_caida(self) -> Work:
        return self.eigen(self.graph("as-caida20071105"))

    def row_eigen_as_caida_unverified(self) -> Work:
        return self.eigen(self.graph("as-caida20071105"), verify="off")

    def row_eigen_astroph(self) -> Work:
        return self.eigen(self.graph("ca-AstroPh-cc"))

    def row_eigen_astroph_unverified(self) -> Work:
        return self.eigen(self.graph("ca-AstroPh-cc"), verify="off")

    def row_eigen_enron(self) -> Work:
        return self.eigen(self.graph("email-Enron"))

    def row_eigen_enron_unverified(self) -> Work:
        return self.eigen(self.graph("email-Enron"), verify="off")

    def row_eigen_preferential(self) -> Work:
        return self.eigen(self.preferential(1_600_000 if self.gpu else 200_000))

    def row_eigen_preferential_unverified(self) -> Work:
        return self.eigen(self.preferential(1_600_000 if self.gpu else 200_000), verify="off")

    def singular(self, **options: Any) -> Work:
        from scipy import sparse

        a = sparse.random(40_000, 20_000, 5e-4, "csr", random_state=1)
        singular = self.purlin.lanczos.singular
        return lambda: singular(a, 6, tolerance=1e-8, context=self.context, **options).info.products

    def row_singular_largest(self) -> Work:
        return self.singular()

    def row_singular_largest_unverified(self) -> Work:
        return self.singular(verify="off")

    def row_product(self) -> Work:
        a = self.preferential(400_000)
        x, y = self.rng.standard_normal(a.shape[1]), self.np.empty(a.shape[0])
        plan = self.purlin.spmv.Plan(a, context=self.context)
        return lambda: plan.apply(x, y)

    def row_peaks(self) -> Work:
        sh = self.np.load(GOLDEN / "sshopm" / "dwi_small64d_csa8.npz")["sh_mrtrix"]
        sh = sh[self.np.abs(sh).max(axis=1) > 0]
        voxels = 400_000 if self.gpu else 20_000
        sh = self.np.ascontiguousarray(self.np.tile(sh, (voxels // len(sh) + 1, 1))[:voxels])
        options = {"basis": "mrtrix3", "relative_threshold": 0.0, "min_separation": 0.0, "context": self.context}
        return lambda: self.purlin.dwi.peaks(sh, 5, **options)

    def row_eigenpairs_solve(self) -> Work:
        packed = self.rng.standard_normal((20_000 if self.gpu else 2_000, 15))
        # A number of pairs that both builds can list: the default has grown to all of them.
        return lambda: self.purlin.sshopm.solve(packed, order=4, dimension=3, pairs=5, context=self.context)

    def row_eigenpairs_all(self) -> Work:
        packed = self.rng.standard_normal((2_000 if self.gpu else 200, 15))
        sshopm = self.purlin.sshopm
        # Earlier builds call it `all`.
        solve_all = sshopm.solve_all if hasattr(sshopm, "solve_all") else sshopm.all
        return lambda: solve_all(packed, order=4, dimension=3, pairs=16, context=self.context)

    def train(self, rank: int) -> Any:
        sites = 50
        ranks = [min(rank, 2 ** min(k, sites - k, 20)) for k in range(sites + 1)]
        cores = [
            self.np.asfortranarray(self.rng.uniform(-1, 1, s) * (3 / (2 * s[2])) ** 0.5)
            for s in ((ranks[k], 2, ranks[k + 1]) for k in range(sites))
        ]
        return self.purlin.tt.Train(cores, context=self.context)

    def inner(self, rank: int) -> Work:
        x, y = self.train(rank), self.train(rank)
        session = self.purlin.tt.Contraction(context=self.context)
        return lambda: session.inner(x, y)

    def row_train_inner_8(self) -> Work:
        return self.inner(8)

    def row_train_inner_64(self) -> Work:
        return self.inner(64)

    def row_train_inner_256(self) -> Work:
        return self.inner(256)

    def row_train_norm_64(self) -> Work:
        x, session = self.train(64), self.purlin.tt.Contraction(context=self.context)
        return lambda: session.norm(x)

    def row_tomography(self) -> Work:
        np, fdk = self.np, self.purlin.fdk
        n, views = (512, 600) if self.gpu else (128, 180)
        geometry = fdk.Geometry(
            n, n, column_pitch=1.875, row_pitch=1.875, source_to_axis=4.0 * n,
            source_to_detector=6.0 * n, angles=np.linspace(0, 2 * np.pi, views, endpoint=False),
        )  # fmt: skip
        plan = fdk.Reconstruction(geometry, fdk.Grid.centred((n, n, n), (1.0, 1.0, 1.0)), context=self.context)
        lines = self.rng.random((views, n, n), dtype=np.float32)
        volume = np.empty((n, n, n), np.float32)
        return lambda: plan.reconstruct(lines, volume)

    def low_rank(self, a: Any, **options: Any) -> Work:
        session = self.purlin.rsvd.Rsvd(50, oversampling=14, power_iterations=2, error="none", context=self.context, **options)
        return lambda: session.compute(a)

    def falling(self) -> Any:
        rows, columns = (60_000, 4_000) if self.gpu else (10_000, 2_000)
        a = self.rng.standard_normal((rows, columns), dtype=self.np.float32)
        return a * 0.995 ** self.np.arange(columns, dtype=self.np.float32)

    def row_low_rank_memory(self) -> Work:
        return self.low_rank(self.falling())

    def row_low_rank_file(self) -> Work:
        path = Path(self.folder.name) / "a.npy"
        self.np.save(path, self.falling())
        return self.low_rank(self.purlin.Matrix.from_source(self.purlin.blocks.Source.from_npy(path, context=self.context)))

    def row_low_rank_operator(self) -> Work:
        a = self.falling()
        at = self.np.ascontiguousarray(a.T)
        options = {"shape": a.shape, "dtype": a.dtype, "context": self.context}
        matrix = self.purlin.Matrix.from_operator(lambda x: a @ x, lambda x: at @ x, **options)
        return self.low_rank(matrix)

    def copied(self, source: Any) -> Work:
        """Copies on the host, whatever the backend."""
        borrow = self.purlin.Tensor.borrow
        x, y = borrow(source, context=self.context), borrow(self.np.empty(source.shape), context=self.context)
        return lambda: x.copy_to(y)

    def row_copy_of_every_second(self) -> Work:
        return self.copied(self.rng.standard_normal((1_000, 4_000))[:, ::2])

    def row_copy_transposed(self) -> Work:
        return self.copied(self.rng.standard_normal((2_000, 1_000)).T)

    def row_robust(self) -> Work:
        np = self.np
        rows, columns = (4_000, 800) if self.gpu else (1_500, 200)
        low = self.rng.standard_normal((rows, 5)) @ self.rng.standard_normal((5, columns))
        sparse = np.where(self.rng.random((rows, columns)) < 0.05, 10.0, 0.0)
        m = (low + sparse).astype(np.float32)
        return lambda: self.purlin.rpca.compute(m, context=self.context)


def work(backend: str) -> int:
    """A process of one build: prepares the rows that it reads from standard input, and times their calls."""
    rows = Rows(backend)
    print(json.dumps(rows.names()), flush=True)
    ready: Work | None = None
    calls = 1
    for line in sys.stdin:
        word, _, name = line.strip().partition(" ")
        answer: dict[str, Any] = {}
        try:
            if word == "prepare":
                ready = getattr(rows, "row_" + name)()
                found = ready()
                began = time.perf_counter()
                ready()
                calls = max(1, int(SHORTEST_RUN / max(time.perf_counter() - began, 1e-9)))
                answer["products"] = found if isinstance(found, int) and name.startswith(("eigen_", "singular_")) else None
            elif ready is not None:
                began = time.perf_counter()
                for _ in range(calls):
                    ready()
                answer["seconds"] = (time.perf_counter() - began) / calls
        except Exception as problem:
            answer["problem"] = f"{type(problem).__name__}: {problem}"
        print(json.dumps(answer), flush=True)
    return 0


class Build:
    def __init__(self, library: str, python: str, backend: str) -> None:
        environment = {**os.environ, "PURLIN_LIBRARY": library, "PYTHONPATH": python, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, __file__, "--work", "--backend", backend]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.names: list[str] = self.answer()

    def answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"problem": f"the process ended with {self.process.wait()}"}

    def send(self, text: str) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.answer()  # type: ignore[no-any-return]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", help="library and Python folder of the first and of the second build")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rows", nargs="*", default=[], help="rows whose names have one of these words")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        return work(arguments.backend)
    if len(arguments.builds) != 4:
        parser.error("two builds are compared: FIRST.so FIRST_PYTHON SECOND.so SECOND_PYTHON")
    builds = [Build(*arguments.builds[i : i + 2], arguments.backend) for i in (0, 2)]
    print(f"{'row':34s} {'first':>12s} {'second':>12s}  ratio")
    table: list[dict[str, Any]] = []
    for name in builds[0].names:
        if arguments.rows and not any(word in name for word in arguments.rows):
            continue
        answers = [build.send(f"prepare {name}") for build in builds]
        problems = [answer["problem"] for answer in answers if "problem" in answer]
        best = [float("inf"), float("inf")]
        for _ in range(0 if problems else arguments.repeats):
            for i, build in enumerate(builds):
                answer = build.send("time")
                if "problem" in answer:
                    problems.append(answer["problem"])
                best[i] = min(best[i], answer.get("seconds", float("inf")))
        if problems:
            print(f"{name:34s} {problems[0][:160]}", flush=True)
            continue
        products = [answer.get("products") for answer in answers]
        counts = f"  products {products[0]}, {products[1]}" if products[0] is not None else ""
        table.append({"case": name, "unit": "1/s", "purlin": 1 / best[1], "peer": "first build", "theirs": 1 / best[0]})
        table[-1]["ratio"] = best[0] / best[1]
        if products[0] is not None:
            table[-1] |= {"products": products[1], "their products": products[0]}
        print(f"{name:34s} {best[0] * 1e6:9.1f} us {best[1] * 1e6:9.1f} us  {best[0] / best[1]:.3f}{counts}", flush=True)
    if path := os.environ.get("PURLIN_BENCH_JSON"):
        bench = {"title": f"calls of every family, {arguments.backend}, against an earlier build", "rows": table}
        Path(path).write_text(json.dumps(bench))
    return 0


if __name__ == "__main__":
    sys.exit(main())
