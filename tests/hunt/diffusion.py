"""Attacks on diffusion MRI. Oracles: signals of known fibres, spherical functions evaluated here."""

from __future__ import annotations

import numpy as np
import purlin

from attack import Bench, pick, require
from eigenpairs import directions, form, identity, monomials, packed


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
    found = bench.call(purlin.dwi.peaks, entries[None], basis="tensor", context=bench.context)
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


def schemes(rng: np.random.Generator, bench: Bench) -> None:
    """A fit that the gradients do not determine is refused; one that they do gives the tensor back, also from repeated axes."""
    order = int(pick(rng, 2, 4))
    needed = (order + 1) * (order + 2) // 2
    axes = directions(3, rng, int(pick(rng, 1, needed - 1, needed, needed + 3)))
    if rng.random() < 0.2:
        axes[:, 2] = 0
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    gradients = np.vstack([np.zeros(3), np.repeat(axes, int(rng.integers(1, 4)), axis=0)])
    bvals = np.r_[0.0, np.full(len(gradients) - 1, 1000.0)]
    entries = 1e-3 * (identity(order, 3) + 0.2 * packed(order, 3, [(1.0, directions(3, rng, 1)[0])]))
    signals = 100.0 * np.exp(-1000.0 * form(entries, order, gradients[1:]))
    signals = np.r_[100.0, signals]
    design = np.prod(axes[:, None, :] ** monomials(order, 3)[None], axis=2)
    singular = np.linalg.svd(design, compute_uv=False)
    rank = int(np.sum(singular > 1e-5 * singular[0]))
    try:
        fit = purlin.dwi.fit(signals[None], bvals, gradients, order=order, context=bench.context)
    except purlin.InvalidArgument as error:
        require(rank < needed and "bvecs" in str(error), f"schemes: rank {rank} of {needed} is refused: {error}")
        bench.outcomes["refused"] += 1
        return
    require(int(np.sum(singular > 1e-7 * singular[0])) == needed, f"schemes: rank {rank} of {needed} is fitted")
    error = np.abs(np.asarray(fit.tensors)[0] - entries).max()
    require(error <= 1e-12 * singular[0] / singular[-1] * 1e3, f"schemes: the tensor is off by {error:.1e}")
    for signal in (np.full(len(bvals), 50.0), np.zeros(len(bvals))):
        flat = purlin.dwi.fit(signal[None], bvals, gradients, order=order, context=bench.context)
        require(np.abs(np.asarray(flat.tensors)).max() <= 1e-12, "schemes: constant or zero signals have a tensor that is not 0")
    for table in (np.zeros(len(bvals)), bvals * 0 + 10.0):
        try:
            purlin.dwi.fit(signals[None], table, gradients, order=order, context=bench.context)
            require(False, "schemes: no weighted volume, and a fit")
        except purlin.InvalidArgument:
            pass
    bench.outcomes["solved"] += 1


def thresholds(rng: np.random.Generator, bench: Bench) -> None:
    """The highest peak of a voxel passes every relative threshold of its domain."""
    entries = rng.standard_normal((20, 15))
    entries[:, [0, 10, 14]] += 3
    for relative in (0.0, float(rng.random()), 1.0):
        found = bench.call(purlin.dwi.peaks, entries, basis="tensor", relative_threshold=relative, context=bench.context)
        require((np.asarray(found.count) >= 1).all(), f"thresholds: with {relative} {found.count} peaks are left")
    bench.outcomes["solved"] += 1


ATTACKS = {"fibres": fibres, "voxels": voxels, "schemes": schemes, "thresholds": thresholds}
