"""Attacks on diffusion MRI. Oracles: signals of known fibres, spherical functions evaluated here."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import purlin

from attack import REAL, Bench, epsilon, pick, require
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
    """A fit that the gradients do not determine is refused; otherwise it recovers the tensor, also from repeated axes."""
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


def legendre(degree: int, z: np.ndarray) -> np.ndarray:
    """Associated Legendre functions P(l, m) at z without the Condon-Shortley sign, as an array (l, m, points)."""
    p = np.zeros((degree + 1, degree + 1, len(z)))
    root = np.sqrt(np.maximum(1 - z * z, 0))
    for m in range(degree + 1):
        p[m, m] = np.prod(np.arange(1, 2 * m, 2), initial=1.0) * root**m
        for n in range(m + 1, degree + 1):
            lower = p[n - 2, m] if n - 2 >= m else 0
            p[n, m] = ((2 * n - 1) * z * p[n - 1, m] - (n + m - 1) * lower) / (n - m)
    return p


def harmonics(degree: int, basis: str, x: np.ndarray) -> np.ndarray:
    """Functions (points, U) of even degrees of a basis, from the documented definitions: degree by degree, m from -l to l."""
    p, phi = legendre(degree, x[:, 2]), np.arctan2(x[:, 1], x[:, 0])

    def canonical(n: int, m: int) -> np.ndarray:
        k = abs(m)
        scale = np.sqrt((2 * n + 1) / (4 * np.pi) * factorial(n - k) / factorial(n + k))
        return scale * p[n, k] * (1 if m == 0 else np.sqrt(2) * (np.cos(k * phi) if m > 0 else np.sin(k * phi)))

    def function(n: int, m: int) -> np.ndarray:
        sign = (-1.0) ** m
        if basis == "mrtrix3":
            return sign * canonical(n, m)
        if basis == "tournier07_legacy":
            return canonical(n, 0) if m == 0 else sign / np.sqrt(2) * canonical(n, m)
        if basis == "descoteaux07_legacy":
            return sign * canonical(n, -m)
        if basis == "descoteaux07":
            return canonical(n, -m) if m < 0 else sign * canonical(n, -m)
        return canonical(n, m)

    return np.stack([function(n, m) for n in range(0, degree + 1, 2) for m in range(-n, n + 1)], axis=1)


BASES = ("canonical", "mrtrix3", "tournier07_legacy", "descoteaux07_legacy", "descoteaux07")


def conversions(rng: np.random.Generator, bench: Bench) -> None:
    """Coefficients and tensors of one function have its values at any point, in every basis, both ways."""
    degree, basis, dtype = int(pick(rng, 2, 4, 6, 8, 10)), pick(rng, *BASES), pick(rng, *REAL)
    size = (degree + 1) * (degree + 2) // 2
    lead = pick(rng, (), (1,), (3,), (2, 2))
    sh = rng.standard_normal((*lead, size)).astype(dtype)
    x = directions(3, rng, 50)
    values = sh.astype(float) @ harmonics(degree, basis, x).T
    tensor = np.asarray(bench.call(purlin.dwi.sh_to_tensor, sh, basis, context=bench.context))
    label = f"conversions degree {degree} {basis} {np.dtype(dtype).name} {lead}"
    require(tensor.shape == sh.shape, f"{label}: shape {tensor.shape}")
    found = np.array([form(t, degree, x) for t in tensor.astype(float).reshape(-1, size)]).reshape(values.shape)
    # A monomial's value is a sum of terms larger than it by up to 3^(degree / 2).
    limit = 10 * size * 3 ** (degree / 2) * epsilon(dtype) * np.abs(sh).max()
    require(np.abs(found - values).max() <= limit, f"{label}: values are off by {np.abs(found - values).max():.2e}")
    back = np.asarray(bench.call(purlin.dwi.tensor_to_sh, tensor, basis, context=bench.context))
    require(np.abs(back - sh).max() <= 10 * limit, f"{label}: the coefficients come back off by {np.abs(back - sh).max():.2e}")
    bench.outcomes["solved"] += 1


def shell(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """b-values and gradients of one shell, with one to three unweighted volumes at any place."""
    still = int(rng.integers(1, 4))
    order = rng.permutation(count + still)
    vectors = np.vstack([directions(3, rng, count), np.zeros((still, 3))])[order]
    return np.r_[np.full(count, 2000.0), rng.uniform(0, 20, still)][order], vectors


def solid_angle(rng: np.random.Generator, bench: Bench) -> None:
    """Orientation functions in constant solid angle, from their definition (Aganj et al. 2010) in NumPy."""
    degree, basis = int(pick(rng, 2, 4, 6, 8)), pick(rng, *BASES)
    size = (degree + 1) * (degree + 2) // 2
    bvals, vectors = shell(rng, size + int(rng.integers(0, 40)))
    weighted = bvals > 50
    options: dict[str, Any] = {}
    smoothing = 0.006
    if rng.random() < 0.5:
        options["smoothing"] = smoothing = float(10.0 ** rng.uniform(-4, 0))
    low, high = 1e-3, 0.999
    if rng.random() < 0.4:
        options["minimum_signal"] = low = float(rng.uniform(0.01, 0.2))
        options["maximum_signal"] = high = float(rng.uniform(0.5, 0.99))
    signals = rng.uniform(0.05, 0.95, (int(rng.integers(1, 4)), len(bvals))) * 700.0
    signals[:, ~weighted] = rng.uniform(600, 800, (len(signals), int((~weighted).sum())))
    ratio = np.clip(signals[:, weighted] / signals[:, ~weighted].mean(axis=1, keepdims=True), low, high)
    n = np.array([n for n in range(0, degree + 1, 2) for _ in range(2 * n + 1)])
    # The penalty is that of orthonormal functions, so that a function does not depend on its basis.
    design = harmonics(degree, "canonical", vectors[weighted])
    normal = design.T @ design + np.diag(smoothing * (n * (n + 1.0)) ** 2)
    fitted = np.linalg.solve(normal, design.T @ np.log(-np.log(ratio)).T).T
    at_zero = np.array([legendre(degree, np.zeros(1))[k, 0, 0] for k in n])
    wanted = fitted * (2 * np.pi * at_zero) * (-n * (n + 1.0)) / (16 * np.pi**2)
    wanted[:, 0] = 1 / (2 * np.sqrt(np.pi))
    found = bench.call(purlin.dwi.csa, signals, bvals, vectors, degree, basis, context=bench.context, **options)
    label = f"csa degree {degree} {basis} {len(bvals)} volumes {options}"
    require((np.asarray(found.status) == purlin.TENSOR_OK).all(), f"{label}: status {found.status}")
    limit = 100 * np.linalg.cond(normal) * epsilon(np.float64) * np.abs(wanted).max() + 1e-13
    x = directions(3, rng, 3 * size)
    error = np.abs(np.asarray(found.sh) @ harmonics(degree, basis, x).T - wanted @ harmonics(degree, "canonical", x).T).max()
    require(error <= limit * size, f"{label}: the function is off by {error:.2e}, limit {limit * size:.1e}")
    bench.outcomes["solved"] += 1


def functions(rng: np.random.Generator, bench: Bench) -> None:
    """Peaks of functions in spherical harmonics: maxima, sorted, the largest among them, values as the function has them."""
    degree, basis = int(pick(rng, 4, 6, 8)), pick(rng, *BASES)
    size = (degree + 1) * (degree + 2) // 2
    sh = rng.standard_normal(size) / (1 + np.array([n for n in range(0, degree + 1, 2) for _ in range(2 * n + 1)]))
    sh[0] = abs(sh[0]) + 3
    found = bench.call(purlin.dwi.peaks, sh[None], 3, basis=basis, context=bench.context)
    count = int(found.count[0])
    label = f"peaks degree {degree} {basis}"
    require(count >= 1, f"{label}: none, status {found.status}")
    x, values = found.directions[0, :count].astype(float), found.values[0, :count].astype(float)
    exact = harmonics(degree, basis, x) @ sh
    require(np.abs(values - exact).max() <= 1e-6 * np.abs(exact).max(), f"{label}: values {values}, exact {exact}")
    require((np.diff(values) <= 1e-9).all(), f"{label}: values are not sorted: {values}")
    grid = harmonics(degree, basis, directions(3, rng, 3000)) @ sh
    require(values[0] >= grid.max() - 1e-9, f"{label}: the largest is {values[0]}, {grid.max()} was sampled")
    for at in x:
        near = at + 1e-3 * directions(3, rng, 100)
        around = harmonics(degree, basis, near / np.linalg.norm(near, axis=1, keepdims=True)) @ sh
        require(around.max() <= harmonics(degree, basis, at[None]) @ sh + 1e-8, f"{label}: {at} is no maximum")
    bench.outcomes["solved"] += 1


def not_finite(rng: np.random.Generator, bench: Bench) -> None:
    """NaN and infinity: in a voxel, its status reports it and the others' results do not change; in a scheme, a refusal by name."""
    bad = pick(rng, np.nan, np.inf, -np.inf)
    bvals, vectors = shell(rng, 20)
    signals = rng.uniform(100, 600, (4, len(bvals)))
    signals[:, bvals < 50] = 900.0
    at, volume = int(rng.integers(4)), int(rng.integers(len(bvals)))
    spoilt = signals.copy()
    spoilt[at, volume] = bad
    others = np.arange(4) != at
    weights = rng.uniform(0.5, 1, signals.shape)
    calls: dict[str, Any] = {
        "fit": lambda s, b, v: purlin.dwi.fit(s, b, v, 2, context=bench.context),
        "wls": lambda s, b, v: purlin.dwi.fit(s, b, v, 2, weighting="wls", nonpositive=skip, context=bench.context),
        "weights": lambda s, b, v: purlin.dwi.fit(s, b, v, 2, weights=weights, context=bench.context),
        "csa": lambda s, b, v: purlin.dwi.csa(s, b, v, 4, "mrtrix3", context=bench.context),
    }
    skip = pick(rng, "clamp", "skip")
    for name, call in calls.items():
        clean, found = bench.call(call, signals, bvals, vectors), bench.call(call, spoilt, bvals, vectors)
        results = (found.sh, clean.sh) if name == "csa" else (found.tensors, clean.tensors)
        label = f"{name} with {bad} in voxel {at}, volume {volume} of b {bvals[volume]:.0f}"
        require((np.asarray(clean.status) == purlin.TENSOR_OK).all(), f"{label}: status {clean.status} without it")
        require(int(found.status[at]) == purlin.TENSOR_NONFINITE, f"{label}: status {found.status[at]}")
        require(not results[0][at].any(), f"{label}: the result is {results[0][at]}, documented are zeros")
        require(np.array_equal(results[0][others], results[1][others]), f"{label}: other voxels changed")
        tables = bvals.copy()
        tables[volume] = bad
        turned = vectors.copy()
        turned[int(np.argmax(bvals)), int(rng.integers(3))] = bad
        for argument, scheme in (("bvals", (tables, vectors)), ("bvecs", (bvals, turned))):
            try:
                call(signals, *scheme)
                require(False, f"{name}: {argument} with {bad} are taken")
            except purlin.InvalidArgument as error:
                require(str(error).startswith(argument), f"{name}: {argument} with {bad}: {error}")
    weights[at, volume] = bad
    try:
        found = purlin.dwi.fit(signals, bvals, vectors, 2, weights=weights, context=bench.context)
        require(int(found.status[at]) != purlin.TENSOR_OK or bvals[volume] < 50, f"weights with {bad}: status {found.status}")
        require(np.isfinite(found.tensors).all(), f"weights with {bad}: the tensor is not finite")
    except purlin.InvalidArgument as error:
        require(str(error).startswith("weights"), f"weights with {bad}: {error}")
    coefficients = rng.standard_normal((3, 15))
    coefficients[:, 0] += 5
    spoilt = coefficients.copy()
    spoilt[1, int(rng.integers(15))] = bad
    for basis in ("tensor", "mrtrix3"):
        clean = bench.call(purlin.dwi.peaks, coefficients, 2, basis=basis, context=bench.context)
        found = bench.call(purlin.dwi.peaks, spoilt, 2, basis=basis, context=bench.context)
        require(int(found.status[1]) == purlin.TENSOR_NONFINITE and int(found.count[1]) == 0, f"peaks {basis} with {bad}: status {found.status}")
        require(np.array_equal(found.peaks[[0, 2]], clean.peaks[[0, 2]], equal_nan=True), f"peaks {basis} with {bad}: others changed")
    bench.outcomes["reported"] += 1


ATTACKS = {
    "fibres": fibres, "voxels": voxels, "schemes": schemes, "thresholds": thresholds, "conversions": conversions,
    "solid_angle": solid_angle, "functions": functions, "not_finite": not_finite,
}
