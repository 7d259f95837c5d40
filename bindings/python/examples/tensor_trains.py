"""Tensor trains: a spin chain's correlations, a ring's norm, and the rate of inner products against the rank, as a page of HTML.

tensor_trains.py FOLDER DATA [TABLE]

FOLDER gets tensor_trains.html. DATA holds the ground state of an Ising chain from a DMRG code; TABLE is the
output of the Fortran example spin_chain for it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

import purlin
from purlin import tt
from pictures import plot, write_page

RANKS = (4, 8, 16, 32, 64, 128, 256)
GPU_RANKS = (*RANKS, 512, 1024)
SITES = 50
SITE_COUNT = 16


def state(folder: Path) -> list[np.ndarray]:
    """The cores of the stored ground state."""
    flat = np.load(folder / "tfim_L16_chi24_mps.npy")
    ranks = [min(2 ** min(k, SITE_COUNT - k), 24) for k in range(SITE_COUNT + 1)]
    cores, first = [], 0
    for r, s in zip(ranks, ranks[1:]):
        cores.append(flat[first : first + 2 * r * s].reshape((r, 2, s), order="F"))
        first += 2 * r * s
    return cores


rng = np.random.default_rng(3)


def shortest(work: Callable[[], object]) -> float:
    """Seconds of the median of seven calls."""
    work()
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return sorted(times)[3]


def loop(x: list[Any], y: list[Any]) -> float:
    """Two products a site, in NumPy's arrays or torch's."""
    e = x[0][:, 0, :1] * 0 + 1
    for a, b in zip(x, y):
        r, n, s = a.shape
        t = (e.T @ a.reshape(r, n * s)).reshape(-1, s)
        e = t.T @ b.reshape(-1, b.shape[2])
    return float(e[0, 0])


def rates(context: purlin.Context) -> dict[str, tuple[list[float], list[float]]]:
    """GFLOP/s of inner products of random trains against the rank: purlin's, and those of a loop of products over the same
    cores, by NumPy on the CPU and by torch, if it is there, on a GPU."""
    on_gpu = context.properties.backend == "cuda"
    torch: Any = None
    if on_gpu:
        try:
            import torch  # type: ignore[import-not-found,no-redef]
        except ImportError:
            pass
    peer = "torch" if on_gpu else "NumPy"
    lines: dict[str, tuple[list[float], list[float]]] = {f"purlin, {context.properties.device_name}": ([], [])}
    if torch is not None or not on_gpu:
        lines[f"loop in {peer}"] = ([], [])
    with tt.Contraction(context=context) as contraction:
        for rank in GPU_RANKS if on_gpu else RANKS:
            ranks = [1, *[rank] * (SITES - 1), 1]
            place: Literal["host", "device"] = "device" if on_gpu else "host"
            x, y = (tt.random([2] * SITES, ranks, location=place, seed=seed, context=context) for seed in (1, 2))
            seconds = shortest(lambda: contraction.inner_scaled(x, y))
            found = {"purlin": contraction.last_info().flops / seconds}
            flops = sum(2 * 2 * r * s * (r + s) for r, s in zip(ranks, ranks[1:]))
            scale = [rng.standard_normal((r, 2, s)) * (2 * r) ** -0.5 for r, s in zip(ranks, ranks[1:])]
            if not on_gpu:
                found[peer] = flops / shortest(lambda: loop(scale, scale))
            elif torch is not None:
                there = [torch.as_tensor(core, device="cuda") for core in scale]
                found[peer] = flops / shortest(lambda: loop(there, there))
            for (across, up), value in zip(lines.values(), found.values()):
                across.append(float(np.log2(rank)))
                up.append(value / 1e9)
    return lines


def aklt(context: purlin.Context) -> list[tuple[int, float, int]]:
    """Sites, <x|x> and 3^N + 3 (-1)^N of rings of spins 1 in the state of Affleck, Kennedy, Lieb and Tasaki."""
    core = np.zeros((2, 3, 2))
    core[0, 0, 1], core[0, 1, 0], core[1, 1, 1], core[1, 2, 0] = 2**0.5, -1, 1, -(2**0.5)
    rows = []
    with tt.Contraction(context=context) as contraction:
        for n in range(3, 16, 3):
            ring = [core] * n
            rows.append((n, float(np.real(contraction.inner(ring, ring))), 3**n + 3 * (-1) ** n))
    return rows


def main() -> None:
    out, data = Path(sys.argv[1]), Path(sys.argv[2])
    with purlin.Context("cpu") as context:
        with tt.Contraction(context=context) as contraction, tt.ising(SITE_COUNT, 1.0, 1.0, context=context) as h:
            cores = state(data)
            energy = contraction.rayleigh(h, cores)
            if len(sys.argv) > 3:
                found = np.loadtxt(sys.argv[3])[:, 2]
            else:
                flip = np.array([[0.0, 1.0], [1.0, 0.0]])
                found = contraction.correlation(cores, flip, flip)[3]
        rings = aklt(context)
        lines = rates(context)
    if purlin.devices():
        with purlin.Context("cuda") as context:
            lines |= rates(context)
    exact = 1 - 1 / np.sin(np.pi / (2 * (2 * SITE_COUNT + 1)))
    spins = range(1, SITE_COUNT + 1)
    sites = plot("", "spin", "", {"": (list(spins), [float(v) for v in found])}, logarithmic=False)
    speed = plot("", "log2 of the rank", "GFLOP/s", lines)
    norms = "".join(f"<tr><td>{n}</td><td>{value:.6f}</td><td>{true}</td></tr>" for n, value, true in rings)
    page = f"""<h1>Tensor trains</h1>
<p>The ground state of the critical Ising chain of 16 spins, as a DMRG code has written it. Its energy per site is
{energy / 16:.12f}; free fermions give {exact / 16:.12f}.</p>
<h2>Correlations of spin 4 with the others</h2>{sites}
<h2>Rings of spins 1 in the AKLT state</h2>
<table><tr><th>N</th><th>&lt;x|x&gt;</th><th>3<sup>N</sup> + 3 (-1)<sup>N</sup></th></tr>{norms}</table>
<h2>Inner products</h2>
<p>Two random open trains of {SITES} sites and two states a site, double precision, against their rank.</p>{speed}"""
    write_page(out / "tensor_trains.html", "Tensor trains", page)
    print(f"tensor trains: energy per site {energy / 16:.12f}, exact {exact / 16:.12f}")
    for n, value, true in rings:
        print(f"  AKLT ring of {n:2d}  {value:18.6f}  exact {true}")
    for name, (ranks, values) in lines.items():
        for rank, value in zip(ranks, values):
            print(f"  {name}: rank {2**rank:5.0f}  {value:9.2f} GFLOP/s")


if __name__ == "__main__":
    main()
