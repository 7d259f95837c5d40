"""Attacks on cone-beam CT whose lengths and line integrals are in any unit. Oracles: the density that is known inside a ball,
the same scan in mm, exact line integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import purlin

from attack import Bench, pick, require
from ct import circular_matrices, ellipsoid_lines, random_orbit

LENGTHS = ("source_to_axis", "source_to_detector", "column_pitch", "row_pitch", "column_offset", "row_offset")
# A mm in km, m, um, nm and fm, and units of which some are beyond the documented lengths of 1e-12 to 1e12 (F64: 1e-60 to 1e60).
UNITS = (1.0, 1e-6, 1e-3, 1e3, 1e6, 1e12, 1e-9, 1e9, 1e-11, 1e11, 1e-14, 1e14, 1e-40, 1e40, 1e-58, 1e57, 1e-63, 1e63, 1e-200, 1e200, 1e-300, 1e300)


def exponent_of(rng: np.random.Generator, dtype: Any) -> float:
    """A power of ten, for line integrals of about 10, up to the ends of the type's range and beyond."""
    most = 45 if dtype == np.float32 else 320
    return float(pick(rng, 0, rng.integers(-3, 4), rng.integers(-most + 8, most - 8), rng.integers(-most, most)))


def units(rng: np.random.Generator, bench: Bench) -> None:
    """Lengths times u and integrals times s give the density times s / u, or the argument is refused, or pixels are counted."""
    columns, rows, g = random_orbit(rng)
    angles = rng.uniform(0, 6) + 2 * np.pi * np.arange(127) / 127
    bodies = np.array([[0.2, 45, 40, 44, 3, -2, 0, 0.5], [0.1, 16, 18, 17, 5, -4, 0, 0.3]])
    lines = ellipsoid_lines(circular_matrices(angles, g, columns, rows), columns, rows, bodies)
    dtype = pick(rng, np.float32, np.float64)
    options: dict[str, Any] = {"precision": pick(rng, "f32", "f64") if bench.backend == "cpu" else "f32"}
    short, long = (1e-12, 1e12) if options["precision"] == "f32" else (1e-60, 1e60)
    # The lengths of a scan are between 0.1 and 2000 of its units.
    inside = [u for u in UNITS if 10 * short < u < long / 2000]
    unit = float(pick(rng, *inside) if rng.random() < 0.8 else pick(rng, *UNITS))
    power = exponent_of(rng, dtype)
    by_matrices, out = rng.random() < 0.4, pick(rng, np.float64, np.float64, np.float32)
    label = f"units: lengths {unit:g}, integrals 1e{power:.0f} {np.dtype(dtype).name}, volume {np.dtype(out).name}, {options}, matrices {by_matrices}, {columns} x {rows} {g}"
    with np.errstate(over="ignore", under="ignore"):
        scaled = lines.astype(np.longdouble) * np.longdouble(10) ** power
        given = scaled.astype(dtype)
    scale = {name: value * unit for name, value in g.items()}
    n, spacing = 9, 1.5
    middle, shape = (5.0, -4.0), (n, n, 1)
    corner = tuple(unit * (m - spacing * (n - 1) / 2) for m in middle)
    lengths = [v for name, v in scale.items() if not name.endswith("offset")] + [spacing * unit]
    outside = min(lengths) < short or max(lengths) > long
    if by_matrices:
        matrices = circular_matrices(angles, g, columns, rows) @ np.diag([1 / unit, 1 / unit, 1 / unit, 1.0])
        arguments: dict[str, Any] = {"column_pitch": scale["column_pitch"], "row_pitch": scale["row_pitch"], "matrices": matrices}
    else:
        arguments = {"angles": angles, **scale}
    grid = purlin.fdk.Grid(shape, (spacing * unit,) * 3, (*corner, 0.0))
    try:
        geometry = purlin.fdk.Geometry(columns, rows, **arguments)
        session = purlin.fdk.Reconstruction(geometry, grid, context=bench.context, **options)
    except purlin.InvalidArgument as error:
        named = str(error).split(":")[0].split(",")[0]
        require(outside and (named in (*LENGTHS, "matrices", "dx", "dy", "dz", "x0", "y0")), f"{label}: refused as {error}")
        bench.outcomes["refused"] += 1
        return
    require(not outside, f"{label}: lengths outside the documented range are taken")
    volume = np.full((1, n, n), np.nan, out)
    wanted = np.longdouble(0.3) / np.longdouble(unit) * np.longdouble(10) ** power
    kind = np.finfo(np.float32 if options["precision"] == "f32" or dtype == np.float32 else np.float64)
    # The largest density of all, an overshoot at the edge included, and the least that the types hold without loss.
    held = min(float(np.finfo(out).max), float(kind.max)) / 4
    with session:
        if power == 0:
            body = bodies.copy()
            body[:, 0] /= unit
            body[:, 1:7] *= unit
            drawn = bench.call(session.project, body)
            error = float(np.abs(drawn - lines).max())
            require(error <= 2e-4 * lines.max(), f"{label}: exact projections differ by {error:.2e} from those in mm")
        try:
            session.reconstruct(given, volume)
        except purlin.InternalError as error:
            require(False, f"{label}: internal error {error}")
        except purlin.Error as error:
            require(":" in str(error) and float(wanted) > held / 1e3, f"{label}: refused as {error}, the density is {float(wanted):.1e}")
            bench.outcomes[type(error).__name__] += 1
            return
        info = session.last_info()
    finite = np.isfinite(volume)
    if not finite.all():
        # Only the filter has a unit, that of densities; sums and the transforms of rows multiply pixels by far less than 1e8.
        reach = scaled.max() * np.longdouble(max(1.0, 1 / unit))
        large = float(reach) > float(kind.max) / 1e8 or float(wanted) > held / 1e3
        require(large and info.pixels_not_finite > 0, f"{label}: not finite, {info.pixels_not_finite} pixels are counted, the density is {float(wanted):.1e}")
        bench.outcomes["counted"] += 1
        return
    require(info.pixels_not_finite == 0, f"{label}: {info.pixels_not_finite} pixels are counted and no voxel is NaN")
    # Below the normal numbers of a type, roundings are absolute. A voxel sums 127 views, whose filtered rows are integrals over
    # a pitch.
    tiny = max(float(kind.tiny), float(np.finfo(out).tiny)) * (1 + 1 / (g["column_pitch"] * unit))
    mean = volume.astype(np.longdouble).mean()
    off = abs(float(mean - wanted))
    require(off <= 0.015 / 0.3 * float(wanted) + tiny, f"{label}: mean {float(mean):.6e}, exact {float(wanted):.6e}")
    bench.outcomes["solved"] += 1


ATTACKS = {"units": units}
