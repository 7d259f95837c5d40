"""Tensor trains: correlations of a spin chain, and the rate of inner products against the rank, as a page of HTML.

tensor_trains.py FOLDER DATA [TABLE]

FOLDER gets tensor_trains.html. DATA holds the ground state of an Ising chain that a DMRG code has written; TABLE is what
the Fortran example spin_chain has printed of it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import purlin
from purlin import tt

RANKS = (4, 8, 16, 32, 64, 128, 256)
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


def rate(contraction: tt.Contraction, rank: int) -> float:
    """Operations a second of an inner product of random trains, the median of seven."""
    ranks = [1, *[rank] * (SITES - 1), 1]
    x, y = (tt.random([2] * SITES, ranks, seed=seed, context=contraction.context) for seed in (1, 2))
    contraction.inner_scaled(x, y)
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        contraction.inner_scaled(x, y)
        times.append(time.perf_counter() - begin)
    assert contraction.info is not None
    return contraction.info.flops / sorted(times)[3]


def curve(points: list[tuple[float, float]], width: int, height: int, labels: list[str], unit: str) -> str:
    """Points with both axes from their least to their largest value."""
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    low, high = min(0.0, *ys), max(ys)
    left, bottom = 70, height - 40

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - min(xs)) / (max(xs) - min(xs))
        return left + across * (width - left - 20), bottom - (y - low) / (high - low) * (bottom - 20)

    path = " ".join(f"{'L' if k else 'M'}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(place(*p) for p in points))
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#1c5"/>' for x, y in (place(*p) for p in points))
    ticks = "".join(
        f'<text x="{place(x, low)[0]:.1f}" y="{height - 20}" text-anchor="middle">{text}</text>'
        for x, text in zip(xs, labels)
    )
    levels = "".join(
        f'<text x="{left - 8}" y="{place(xs[0], low + part * (high - low))[1] + 4:.1f}" text-anchor="end">'
        f"{low + part * (high - low):.3g}</text>"
        for part in (0.0, 0.5, 1.0)
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" font-family="sans-serif" font-size="13">'
        f'<path d="M{left} 20 V{bottom} H{width - 20}" stroke="#888" fill="none"/>'
        f'<path d="{path}" stroke="#1c5" stroke-width="2" fill="none"/>{marks}{ticks}{levels}'
        f'<text x="{left}" y="14">{unit}</text></svg>'
    )


def main() -> None:
    out, data = Path(sys.argv[1]), Path(sys.argv[2])
    with purlin.Context("cpu") as context:
        device = context.properties.device_name
        with tt.Contraction(context=context) as contraction, tt.ising(SITE_COUNT, 1.0, 1.0, context=context) as h:
            cores = state(data)
            energy = contraction.rayleigh(h, cores)
            if len(sys.argv) > 3:
                found = np.loadtxt(sys.argv[3])[:, 2]
            else:
                flip = np.array([[0.0, 1.0], [1.0, 0.0]])
                found = contraction.correlation(cores, flip, flip)[3]
            rates = [rate(contraction, rank) for rank in RANKS]
    exact = 1 - 1 / np.sin(np.pi / (2 * (2 * SITE_COUNT + 1)))
    sites = curve([(k + 1.0, float(v)) for k, v in enumerate(found)], 720, 260, [str(k + 1) for k in range(16)], "")
    speed = curve(
        [(float(np.log2(rank)), value / 1e9) for rank, value in zip(RANKS, rates)],
        720,
        300,
        [str(rank) for rank in RANKS],
        "GFLOP/s",
    )
    page = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Tensor trains</title>
<style>body{{font-family:sans-serif;max-width:46em;margin:2em auto;line-height:1.5}}</style></head><body>
<h1>Tensor trains</h1>
<p>The ground state of the critical Ising chain of 16 spins, as a DMRG code has written it. Its energy per site is
{energy / 16:.12f}; free fermions give {exact / 16:.12f}.</p>
<h2>Correlations of spin 4 with the others</h2>{sites}
<h2>Inner products on {device}</h2>
<p>Two random open trains of {SITES} sites and two states a site, double precision, against their rank.</p>{speed}
</body></html>
"""
    (out / "tensor_trains.html").write_text(page)
    print(f"tensor trains: energy per site {energy / 16:.12f}, exact {exact / 16:.12f}")
    for rank, value in zip(RANKS, rates):
        print(f"  rank {rank:4d}  {value / 1e9:8.2f} GFLOP/s")


if __name__ == "__main__":
    main()
