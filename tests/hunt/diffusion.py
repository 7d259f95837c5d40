"""Attacks on diffusion MRI. Oracles: signals of known fibres, spherical functions evaluated here."""

from __future__ import annotations

import numpy as np
import purlin

from attack import Bench, pick, require
from eigenpairs import directions, form, packed


def fibres(rng: np.random.Generator, bench: Bench) -> None:
    """Peaks of sums of powers of well separated directions are these directions."""
    order = int(pick(rng, 4, 6, 8))
    count = int(rng.integers(1, 3))
    axes = [directions(3, rng, 1)[0]]
    while len(axes) < count:
        other = directions(3, rng, 1)[0]
        if abs(other @ axes[0]) < 0.2:
            axes.append(other)
    entries = packed(order, 3, [(1.0, axis) for axis in axes])
    found = bench.call(purlin.dwi.peaks, entries[None], basis=None, context=bench.context, allowed=(TypeError, ValueError, purlin.InvalidArgument))
    listed = np.asarray(found.directions)[0]
    listed = listed[np.isfinite(listed).all(axis=-1)]
    grid = directions(3, rng, 20000)
    values = form(entries, order, grid)
    best = grid[int(np.argmax(values))]
    require(listed.size and np.abs(listed @ best).max() > 0.995, f"fibres order={order}: {listed}, the largest is near {best}")
    bench.outcomes["solved"] += 1


def voxels(rng: np.random.Generator, bench: Bench) -> None:
    """Voxels that are not finite or masked are reported as such and change no other."""
    entries = rng.standard_normal((7, 15))
    clean = bench.call(purlin.sshopm.solve, entries, 3, context=bench.context)
    bad = int(rng.integers(7))
    spoilt = entries.copy()
    spoilt[bad] = pick(rng, np.nan, np.inf, 0.0)
    found = bench.call(purlin.sshopm.solve, spoilt, 3, context=bench.context)
    require(int(found.status[bad]) != purlin.TENSOR_OK, f"voxels: {spoilt[bad, 0]} has status OK")
    others = np.arange(7) != bad
    require(np.array_equal(found.values[others], clean.values[others], equal_nan=True), "voxels: others changed")
    bench.outcomes["solved"] += 1


ATTACKS = {"fibres": fibres, "voxels": voxels}
