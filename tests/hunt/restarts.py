"""Attacks on restart files: a decomposition that is interrupted at any read and resumed gives the bits of one that is not. The
oracle is the run without a file; only inputs that this run refuses may be refused."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
import purlin

from attack import ALL, Bench, Finding, epsilon, pick, require

# Methods with a restart file; the state of BRSVD and MERGE is that of their blocks.
METHODS = ("auto", "range", "basic", "fifo", "fused", "row_fused", "krylov", "merge", "gram", "brsvd")


class Broken(Exception):
    """The reader's own."""


class Reader:
    """Rows of a matrix, counted; the one numbered `stop` is not delivered."""

    def __init__(self, a: np.ndarray, stop: int = 0) -> None:
        self.a, self.stop, self.reads = a, stop, 0

    def __call__(self, where: Any) -> np.ndarray:
        self.reads += 1
        if self.reads == self.stop:
            raise Broken
        return self.a[where]


def samples(rng: np.random.Generator) -> tuple[str, np.ndarray]:
    """Decaying, flat, of low rank or with columns of zeros, in units whose squares may leave the range."""
    m, n, dtype = int(rng.integers(4, 80)), int(rng.integers(3, 50)), pick(rng, *ALL)
    r = min(m, n)
    kind = pick(rng, "decay", "flat", "low rank", "far", "zeros")
    a = rng.standard_normal((m, n)) + (1j * rng.standard_normal((m, n)) if np.dtype(dtype).kind == "c" else 0)
    if kind == "decay":
        a = a * 10.0 ** -np.linspace(0, float(pick(rng, 2, 8)), n)
    elif kind == "low rank":
        a = a[:, : max(r // 4, 1)] @ rng.standard_normal((max(r // 4, 1), n))
    elif kind == "far":
        a = a + 1e3 * rng.standard_normal(n)
    elif kind == "zeros":
        a = a * (rng.random(n) < 0.5)
    unit = 10.0 ** float(pick(rng, 0, 0, 0, -12, 12, *((-200, 200, -290, 290) if epsilon(dtype) < 1e-10 else (-30, 30))))
    return f"{kind} {m}x{n} {np.dtype(dtype).name} unit={unit:g}", (a * unit).astype(dtype)


def options_of(rng: np.random.Generator, r: int) -> dict[str, Any]:
    options: dict[str, Any] = {"method": pick(rng, *METHODS), "seed": int(rng.integers(1 << 30)), "block_rows": int(rng.integers(2, 30))}
    if rng.random() < 0.7:
        options["power_iterations"] = int(rng.integers(1, 5))
    for name, share, choices in (
        ("center", 0.5, ("columns", "columns", "rows")), ("sketch", 0.3, ("rademacher", "sparse_sign")),
        ("orthonormalization", 0.3, ("householder", "cholesky2", "shifted_cholesky3")),
        ("error", 0.3, ("probes", "power", "none")), ("sign", 0.2, ("none", "u_max")), ("oversampling", 0.3, (0, 3, r)),
    ):
        if rng.random() < share:
            options[name] = pick(rng, *choices)
    if options.get("center") == "columns" and rng.random() < 0.4:
        options["scale"] = True
    return options


def damaged(rng: np.random.Generator, path: str, run: Any, label: str) -> None:
    """A file with a flipped bit, or that is truncated, is refused and stays unchanged."""
    with open(path, "rb") as file:
        good = file.read()
    bad = bytearray(good)
    bad[int(rng.integers(len(bad)))] ^= 1 << int(rng.integers(8))
    bad = pick(rng, bytes(bad), good[: int(rng.integers(len(good)))])
    with open(path, "wb") as file:
        file.write(bad)
    try:
        run()
        raise Finding(f"{label}: a damaged file is taken")
    except purlin.InternalError as error:
        raise Finding(f"{label}: a damaged file: internal error {error}") from error
    except (purlin.InvalidArgument, purlin.FileError) as error:
        require("restart_path" in str(error) or path in str(error), f"{label}: a damaged file is refused as {error}")
    with open(path, "rb") as file:
        require(file.read() == bad, f"{label}: a damaged file is changed")
    with open(path, "wb") as file:
        file.write(good)


def broken_off(rng: np.random.Generator, bench: Bench) -> None:
    """A run whose source fails once or several times, with random options, and is resumed, also with another number of threads."""
    name, a = samples(rng)
    k, options = int(rng.integers(1, min(min(a.shape), 6) + 1)), options_of(rng, min(a.shape))
    label = f"broken off {name} k={k} {options}"

    def run(stop: int = 0, threads: int = 2, **more: Any) -> tuple[Any, Any, int]:
        reader = Reader(a, stop)
        with purlin.Context(bench.backend, threads=threads) as context:
            with purlin.blocks.Source.from_function(reader, a.shape, a.dtype, context=context) as source:
                with purlin.rsvd.Rsvd(k, context=context, **{**options, **more}) as session:
                    factors = session.compute(source)
                    return [np.asarray(part) for part in factors], session.last_info(), reader.reads

    whole, info, reads = bench.call(run, allowed=(purlin.InvalidArgument, purlin.NotSupported, purlin.Numerical, purlin.NoConvergence))
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/state"
        had_file = False
        for _ in range(int(rng.integers(1, 4))):
            stop = int(rng.integers(1, reads + 1))
            label = f"{label}, stopped at {stop} of {reads}"
            try:
                # One pass writes no state to resume from.
                bench.call(run, stop, restart_path=path, allowed=(purlin.InvalidArgument,) if info.method in ("direct", "one_pass") else ())
                # An earlier attempt's state left fewer reads than that.
                break
            except Broken:
                had_file = os.path.exists(path)
        else:
            if had_file and rng.random() < 0.3:
                damaged(rng, path, lambda: run(restart_path=path), label)
            if had_file and rng.random() < 0.2:
                try:
                    run(restart_path=path, seed=options["seed"] + 1)
                    raise Finding(f"{label}: another seed takes the file")
                except purlin.InvalidArgument as error:
                    require("restart_path" in str(error), f"{label}: another seed is refused as {error}")
            # The choice of a method depends on the number of threads.
            threads = 2 if options["method"] == "auto" else int(rng.integers(1, 4))
            found, after, again = bench.call(run, 0, threads, restart_path=path)
            label = f"{label}, then {again} reads by {threads} threads"
            if any(one.tobytes() != other.tobytes() for one, other in zip(found, whole)):
                off = [f"{which} {np.abs(one - other).max():.1e}" for which, one, other in zip(("U", "s", "V^H"), found, whole)]
                apart = any(one.tobytes() != other.tobytes() for one, other in zip(run(0, threads)[0], whole))
                raise Finding(f"{label}: other bits, off by {', '.join(off)}" + (", of so many threads alone too" if apart else ""))
            require(bool(after.restarted) == had_file, f"{label}: restarted {after.restarted}, a file was there: {had_file}")
            saved = after.passes_restarted
            require(after.passes + saved == info.passes, f"{label}: {after.passes} passes and {saved} saved, {info.passes} of the whole run")
            bench.outcomes["gone on" if had_file else "begun anew"] += 1
        require(not os.path.exists(path), f"{label}: the file is left")
    bench.outcomes[info.method] += 1


ATTACKS = {"broken_off": broken_off}
