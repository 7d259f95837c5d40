"""Attacks on diffusion MRI whose signals, b-values, tensors and coefficients are in any unit. Oracles: the tensors of which the
signals were made, eigenvalues by LAPACK, functions evaluated at the peaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import purlin

from attack import REAL, Bench, epsilon, pick, require
from diffusion import BASES, harmonics, shell
from eigenpairs import directions, form, identity, monomials, packed


def power_of(rng: np.random.Generator, dtype: Any) -> float:
    """Powers of ten within the normal range of a type, for numbers of about 1 to 1000."""
    most = 30 if np.dtype(dtype) == np.float32 else 295
    return float(pick(rng, 0, rng.integers(-5, 6), rng.integers(-most, most + 1), pick(rng, -most, most)))


def scaled(x: np.ndarray, power: float, dtype: Any) -> np.ndarray:
    return (x.astype(np.longdouble) * np.longdouble(10) ** power).astype(dtype)


def fits(rng: np.random.Generator, bench: Bench) -> None:
    """Signals in any unit have the same tensor; b-values times u give the tensor over u, or are refused by name."""
    order, dtype = int(pick(rng, 2, 4)), pick(rng, *REAL)
    needed = (order + 1) * (order + 2) // 2
    bvals, vectors = shell(rng, needed + int(rng.integers(5, 40)))
    weighted = bvals > 50
    bvals = np.where(weighted, bvals, 0.0)
    exact = 4e-4 * (identity(order, 3) + 0.2 * rng.standard_normal((3, needed)))
    plain = 500.0 * np.exp(-np.array([form(t, order, vectors) for t in exact]) * bvals)
    signals, units = power_of(rng, dtype), float(pick(rng, 0, 0, 6, 9, -3, -6, 30, -30, 290, -290))
    options: dict[str, Any] = {"context": bench.context}
    if units != 0:
        options["b0_threshold"] = float(50 * 10.0**units)
    if rng.random() < 0.5:
        options["weighting"] = pick(rng, "ols", "wls")
        options["nonpositive"] = pick(rng, "clamp", "skip")
    label = f"fit order {order} {np.dtype(dtype).name}, signals 1e{signals:.0f}, b-values 1e{units:.0f} {options.get('weighting')} {options.get('nonpositive')}"
    given, tables = scaled(plain, signals, dtype), scaled(bvals, units, np.float64)
    try:
        found = purlin.dwi.fit(given, tables, vectors, order, **options)
    except purlin.InvalidArgument as error:
        # Numbers of the options and the scheme may be refused, signals may not.
        require(abs(units) > 9 and str(error).split(":")[0] in ("b0_threshold", "bvals"), f"{label}: refused as {error}")
        bench.outcomes["refused"] += 1
        return
    wanted = exact.astype(np.longdouble) * np.longdouble(10) ** -units
    type_ = np.finfo(dtype)
    if float(np.abs(wanted).max()) > float(type_.max) / 10 or float(np.abs(wanted).max()) < float(type_.tiny) * 1e6:
        # The tensor is out of the range of its type, or almost.
        bad = np.asarray(found.status) == purlin.TENSOR_OK
        beyond = float(np.abs(wanted).max()) > float(type_.max)
        require(not (beyond and bad.any() and np.isfinite(np.asarray(found.tensors)[bad]).all()), f"{label}: {found.status} {found.tensors[0][:3]}")
        bench.outcomes["out of range"] += 1
        return
    require((np.asarray(found.status) == purlin.TENSOR_OK).all(), f"{label}: status {found.status}")
    design = np.prod(vectors[weighted][:, None, :] ** monomials(order, 3)[None], axis=2)
    singular = np.linalg.svd(design, compute_uv=False)
    # The logarithm of a signal of 500 is off by its rounding; weighted fits have a worse condition, of the weights' ratio.
    limit = 100 * epsilon(dtype) / 2000 * singular[0] / singular[-1] * np.sqrt(len(design)) * (100 if "weighting" in options else 10)
    error = float(np.abs(np.asarray(found.tensors).astype(np.longdouble) * np.longdouble(10) ** units - exact).max())
    require(error <= limit, f"{label}: the tensor is off by {error:.1e}, limit {limit:.1e}")
    s0 = np.asarray(found.s0).astype(np.longdouble) / np.longdouble(10) ** signals
    require(np.abs(s0 - 500).max() <= 500 * 20 * epsilon(dtype), f"{label}: S0 {s0}")
    bench.outcomes["fits"] += 1


def solid_angles(rng: np.random.Generator, bench: Bench) -> None:
    """Orientation functions do not depend on the unit of the signals."""
    degree, basis, dtype = int(pick(rng, 2, 4, 6)), pick(rng, *BASES), pick(rng, *REAL)
    bvals, vectors = shell(rng, (degree + 1) * (degree + 2) // 2 + int(rng.integers(5, 30)))
    signals = rng.uniform(0.1, 0.9, (3, len(bvals))) * 700.0
    signals[:, bvals < 50] = 700.0
    power = power_of(rng, dtype)
    options: dict[str, Any] = {"context": bench.context}
    plain = bench.call(purlin.dwi.csa, signals.astype(dtype), bvals, vectors, degree, basis, **options)
    found = bench.call(purlin.dwi.csa, scaled(signals, power, dtype), bvals, vectors, degree, basis, **options)
    label = f"csa degree {degree} {basis} {np.dtype(dtype).name}, signals 1e{power:.0f}"
    require((np.asarray(found.status) == purlin.TENSOR_OK).all(), f"{label}: status {found.status}")
    error = np.abs(np.asarray(found.sh) - np.asarray(plain.sh)).max()
    # Ratios near 0 and 1 have large derivatives of the double logarithm; those here are between 0.1 and 0.9.
    limit = 1e4 * epsilon(dtype) * np.abs(np.asarray(plain.sh)).max()
    require(error <= limit, f"{label}: off by {error:.1e}, limit {limit:.1e}")
    bench.outcomes["csa"] += 1


def maxima(rng: np.random.Generator, bench: Bench) -> None:
    """Peaks of tensors and of functions times any number: the directions stay, values are the function's."""
    dtype = pick(rng, *REAL)
    order, basis = int(pick(rng, 4, 6, 8)), pick(rng, "tensor", *BASES)
    size = (order + 1) * (order + 2) // 2
    power = power_of(rng, dtype)
    if basis == "tensor":
        axis = directions(3, rng, 1)[0]
        plain = packed(order, 3, [(1.0, axis)]) + 0.05 * identity(order, 3)
    else:
        plain = rng.standard_normal(size) / (1 + np.array([n for n in range(0, order + 1, 2) for _ in range(2 * n + 1)]))
        plain[0] = abs(plain[0]) + 3
    given = scaled(plain, power, dtype)
    found = bench.call(purlin.dwi.peaks, given[None], 3, basis=basis, context=bench.context)
    label = f"peaks order {order} {basis} {np.dtype(dtype).name} 1e{power:.0f}"
    count = int(found.count[0])
    require(count >= 1, f"{label}: none, status {found.status}")
    x = np.asarray(found.directions)[0, :count].astype(float)
    values = np.asarray(found.values)[0, :count].astype(np.longdouble) / np.longdouble(10) ** power
    def of(points: np.ndarray) -> np.ndarray:
        return form(plain, order, points) if basis == "tensor" else harmonics(order, basis, points) @ plain
    exact, sampled = of(x), of(directions(3, rng, 5000))
    coarse = 1e-9 if dtype == np.float64 else 2e-4
    size_ = np.abs(sampled).max()
    require(float(np.abs(values - exact).max()) <= 1e3 * coarse * size_, f"{label}: values {values}, exact {exact}")
    require(values[0] >= sampled.max() - 1e3 * coarse * size_, f"{label}: the largest is {values[0]}, {sampled.max()} was sampled")
    if basis == "tensor":
        require(abs(x[0] @ axis) >= 1 - 1e-4, f"{label}: {x[0]}, the fibre is {axis}")
    bench.outcomes["peaks"] += 1


def conversions(rng: np.random.Generator, bench: Bench) -> None:
    """Coefficients to tensors and back, times any number."""
    degree, basis, dtype = int(pick(rng, 2, 4, 6, 8)), pick(rng, *BASES), pick(rng, *REAL)
    size = (degree + 1) * (degree + 2) // 2
    power = power_of(rng, dtype)
    plain = rng.standard_normal((2, size))
    tensor = np.asarray(bench.call(purlin.dwi.sh_to_tensor, scaled(plain, power, dtype), basis, context=bench.context))
    label = f"conversions degree {degree} {basis} {np.dtype(dtype).name} 1e{power:.0f}"
    x = directions(3, rng, 40)
    wanted = plain @ harmonics(degree, basis, x).T
    near = (tensor.astype(np.longdouble) / np.longdouble(10) ** power).astype(float)
    values = np.array([form(t, degree, x) for t in near])
    limit = 20 * size * 3 ** (degree / 2) * epsilon(dtype) * np.abs(plain).max()
    require(np.abs(values - wanted).max() <= limit, f"{label}: values are off by {np.abs(values - wanted).max():.2e}")
    back = np.asarray(bench.call(purlin.dwi.tensor_to_sh, tensor, basis, context=bench.context)).astype(np.longdouble)
    error = float(np.abs(back / np.longdouble(10) ** power - plain).max())
    require(error <= 10 * limit, f"{label}: the coefficients come back off by {error:.2e}")
    bench.outcomes["conversions"] += 1


def units(rng: np.random.Generator, bench: Bench) -> None:
    """Signals, b-values, tensors and coefficients times powers of ten: results in proportion, or a named refusal."""
    pick(rng, fits, fits, solid_angles, maxima, conversions)(rng, bench)


ATTACKS = {"units": units}
