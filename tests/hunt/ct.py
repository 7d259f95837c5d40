"""Attacks on cone-beam CT. Oracles: exact line integrals through ellipsoids computed here, densities known inside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import purlin

from attack import Bench, pick, require


def rotation(angle: float, axis: int) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    made = np.eye(3)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    made[i, i] = made[j, j] = c
    made[i, j], made[j, i] = -s, s
    return made


class Scanner:
    """A circular orbit about z whose panel is shifted and turned, as 3x4 matrices from mm to pixel indices."""

    def __init__(self, rng: np.random.Generator, kind: str) -> None:
        self.columns, self.rows, self.pitch = 96, 32, 4.0
        self.sad, self.sdd = 500.0, 900.0
        self.views = 180
        arc = 2 * np.pi
        self.shift = 0.0
        if kind == "short":
            arc = np.pi + 2 * np.arctan(self.columns / 2 * self.pitch / self.sdd) + 0.15
        if kind == "half fan":
            self.shift = 0.62 * self.columns / 2 * self.pitch * pick(rng, -1, 1)
        self.arc = arc * pick(rng, -1, 1)
        self.angles = rng.uniform(0, 2 * np.pi) + np.arange(self.views) * self.arc / (self.views - (kind == "short"))
        yaw, pitch, roll = rng.uniform(-1, 1, 3) * np.deg2rad([2.0, 2.0, 2.0])
        self.turn = rotation(roll, 2) @ rotation(pitch, 0) @ rotation(yaw, 1)
        self.offset = rng.uniform(-4, 4, 2)
        self.matrices = np.array([self.matrix(angle) for angle in self.angles])

    def matrix(self, angle: float) -> np.ndarray:
        # Axes of the gantry: u tangential, v along z, w from the axis to the source.
        w = np.array([np.cos(angle), np.sin(angle), 0.0])
        v = np.array([0.0, 0.0, 1.0])
        u = np.cross(v, w)
        frame = np.stack([u, v, w], axis=1)
        source = self.sad * w + self.offset[0] * u + self.offset[1] * v
        panel = frame @ self.turn  # columns: direction of columns, of rows, normal
        centre = (self.sad - self.sdd) * w + self.shift * u
        # pixel (i, j) is at centre + (i - ic) pitch e_u + (j - jc) pitch e_v
        eu, ev = panel[:, 0] * self.pitch, panel[:, 1] * self.pitch
        corner = centre - (self.columns - 1) / 2 * eu - (self.rows - 1) / 2 * ev
        inverse = np.linalg.inv(np.stack([eu, ev, corner - source], axis=1))
        return np.concatenate([inverse, -(inverse @ source)[:, None]], axis=1)

    def rays(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        p = self.matrices[k]
        inverse = np.linalg.inv(p[:, :3])
        source = -inverse @ p[:, 3]
        i, j = np.meshgrid(np.arange(self.columns), np.arange(self.rows))
        directions = np.stack([i, j, np.ones_like(i)], axis=-1) @ inverse.T
        return source, directions / np.linalg.norm(directions, axis=-1, keepdims=True)

    def project(self, spheres: list[tuple[float, float, np.ndarray]]) -> np.ndarray:
        made = np.zeros((self.views, self.rows, self.columns), np.float32)
        for k in range(self.views):
            source, d = self.rays(k)
            for density, radius, centre in spheres:
                to = centre - source
                along = d @ to
                square = radius**2 - (to @ to - along**2)
                made[k] += (density * 2 * np.sqrt(np.maximum(square, 0))).astype(np.float32)
        return made

    def geometry(self) -> Any:
        return purlin.fdk.Geometry(self.columns, self.rows, self.pitch, self.pitch, matrices=self.matrices)


def density(rng: np.random.Generator, bench: Bench) -> None:
    """The mean inside an off-centre ball of a head-sized ball, full, short and half-fan scans, panel turned and shifted."""
    kind = pick(rng, "full", "short", "half fan")
    scanner = Scanner(rng, kind)
    centre = np.array([*rng.uniform(-20, 20, 2), 0.0])
    spheres = [(0.2, 70.0 if kind != "half fan" else 110.0, np.zeros(3)), (0.1, 20.0, centre)]
    redundancy = pick(rng, "auto", {"full": "full", "short": "short", "half fan": "half_fan"}[kind])
    grid = purlin.fdk.Grid.centred((48, 48, 1), (2.0, 2.0, 2.0))
    label = f"density {kind} redundancy={redundancy} arc={scanner.arc:.3f} offset={scanner.offset}"
    volume = bench.call(
        purlin.fdk.reconstruct, scanner.project(spheres), scanner.geometry(), grid, redundancy=redundancy, context=bench.context,
    )[0]
    x = (np.arange(48) - 23.5) * 2.0
    inside = (x[None, :] - centre[0]) ** 2 + (x[:, None] - centre[1]) ** 2 < 12.0**2
    mean = float(volume[inside].mean())
    require(abs(mean - 0.3) <= 0.012, f"{label}: mean {mean:.4f}, exact 0.3")
    bench.outcomes["solved"] += 1


def blocking(rng: np.random.Generator, bench: Bench) -> None:
    """The same bits for any slab, batch and order of pushed views."""
    scanner = Scanner(rng, pick(rng, "full", "short"))
    projections = scanner.project([(0.2, 60.0, np.array([5.0, -7.0, 3.0]))])
    grid = purlin.fdk.Grid.centred((17, 19, 13), (6.0, 6.0, 6.0))
    geometry = scanner.geometry()
    allowed = (purlin.InvalidArgument,)
    reference = bench.call(purlin.fdk.reconstruct, projections, geometry, grid, context=bench.context, allowed=allowed)
    options = {"slab": int(rng.integers(1, 14)), "view_batch": int(rng.integers(1, 60))}
    other = bench.call(purlin.fdk.reconstruct, projections, geometry, grid, context=bench.context, allowed=allowed, **options)
    require(np.array_equal(reference, other), f"blocking {options}: bits differ")
    with bench.call(purlin.fdk.Reconstruction, geometry, grid, context=bench.context) as session:
        session.begin()
        for k in rng.permutation(scanner.views):
            bench.call(session.push, int(k), projections[k])
        pushed = bench.call(session.finish)
    require(np.abs(pushed - reference).max() <= 2e-6 * np.abs(reference).max(), "pushed views give another volume")
    bench.outcomes["solved"] += 1


def not_finite(rng: np.random.Generator, bench: Bench) -> None:
    """Pixels that are not finite are counted in the report, or refused."""
    scanner = Scanner(rng, "full")
    projections = scanner.project([(0.2, 60.0, np.zeros(3))])
    spoilt = int(rng.integers(1, 5))
    places = rng.choice(projections.size, spoilt, replace=False)
    projections.reshape(-1)[places] = pick(rng, np.nan, np.inf)
    # High enough that it is seen through every row of the panel: others are not read.
    grid = purlin.fdk.Grid.centred((9, 9, 19), (6.0, 6.0, 6.0))
    with bench.call(purlin.fdk.Reconstruction, scanner.geometry(), grid, context=bench.context) as session:
        volume = bench.call(session.reconstruct, projections, allowed=(purlin.InvalidArgument, purlin.Numerical))
        info = session.last_info()
    counted = max(int(getattr(info, name, 0)) for name in ("pixels_sanitized", "pixels_nonfinite", "pixels_not_finite"))
    require(counted == spoilt, f"{spoilt} pixels are not finite, {counted} counted, {np.isnan(volume).sum()} voxels are NaN")
    bench.outcomes["solved"] += 1


def cancelled(rng: np.random.Generator, bench: Bench) -> None:
    """Cancelled at any moment, the same object then gives the same volume."""
    scanner = Scanner(rng, "full")
    projections = scanner.project([(0.2, 60.0, np.zeros(3))])
    grid = purlin.fdk.Grid.centred((9, 9, 5), (6.0, 6.0, 6.0))
    left = [int(rng.integers(0, 6))]

    def progress(*_: object) -> bool:
        left[0] -= 1
        return left[0] < 0

    with bench.call(purlin.fdk.Reconstruction, scanner.geometry(), grid, progress=progress, slab=1, context=bench.context) as session:
        try:
            first = session.reconstruct(projections)
        except purlin.Cancelled:
            bench.outcomes["cancelled"] += 1
            first = None
        left[0] = 1 << 40
        second = bench.call(session.reconstruct, projections)
    reference = bench.call(purlin.fdk.reconstruct, projections, scanner.geometry(), grid, context=bench.context)
    require(np.array_equal(second, reference), "after a cancelled call the volume differs")
    require(first is None or np.array_equal(first, reference), "the call that was not cancelled differs")


def ellipsoid_lines(matrices: np.ndarray, columns: int, rows: int, bodies: np.ndarray) -> np.ndarray:
    """Line integrals of ellipsoids (density, three half axes, centre, turn about z) through every pixel of every view."""
    made = np.zeros((len(matrices), rows, columns))
    i, j = np.meshgrid(np.arange(columns), np.arange(rows))
    pixels = np.stack([i, j, np.ones_like(i)], axis=-1)
    for k, p in enumerate(matrices):
        inverse = np.linalg.inv(p[:, :3])
        source, d = -inverse @ p[:, 3], pixels @ inverse.T
        d = d / np.linalg.norm(d, axis=-1, keepdims=True)
        for density, a, b, c, x, y, z, turn in bodies:
            frame = rotation(-turn, 2) / np.array([a, b, c])[:, None]
            o, e = frame @ (source - [x, y, z]), d @ frame.T
            square, half = (e * e).sum(-1), e @ o
            made[k] += density * 2 * np.sqrt(np.maximum(half**2 - square * (o @ o - 1), 0)) / square
    return made.astype(np.float32)


def circular_matrices(angles: np.ndarray, g: dict[str, float], columns: int, rows: int) -> np.ndarray:
    """Matrices of a circular orbit's parameters, from the definition in docs/fdk.md."""
    made = []
    for b in angles:
        depth = np.array([-np.cos(b), -np.sin(b), 0, g["source_to_axis"]])
        u = g["source_to_detector"] / g["column_pitch"] * np.array([-np.sin(b), np.cos(b), 0, 0])
        v = g["source_to_detector"] / g["row_pitch"] * np.array([0, 0, 1, 0])
        made.append([
            u + ((columns - 1) / 2 - g["column_offset"] / g["column_pitch"]) * depth,
            v + ((rows - 1) / 2 - g["row_offset"] / g["row_pitch"]) * depth,
            depth,
        ])
    return np.array(made)


def random_orbit(rng: np.random.Generator, offset: float = 0.0) -> tuple[int, int, dict[str, float]]:
    """Columns, rows and the numbers of a scanner whose fan holds a ball of 60 mm about the axis."""
    columns, rows = int(pick(rng, 61, 67, 71, 64, 80)), int(pick(rng, 17, 23, 24, 31))
    sad = float(rng.uniform(300, 700))
    sdd = sad * float(rng.uniform(1.0, 2.0))
    # Half of the panel, seen from the source, is a little more than the ball.
    half = 66.0 / np.sqrt(sad**2 - 66.0**2) * sdd
    column_pitch = float(2 * half * (1 + abs(offset)) / (columns - 1)) if offset == 0 else float(2 * half * 0.75 / (columns - 1))
    numbers = dict(source_to_axis=sad, source_to_detector=sdd, column_pitch=column_pitch, row_pitch=float(column_pitch * rng.uniform(0.8, 1.3)))
    numbers["column_offset"] = float(offset * half)
    numbers["row_offset"] = float(rng.uniform(-1, 1) * numbers["row_pitch"])
    return columns, rows, numbers


def orders(rng: np.random.Generator, count: int, arc: float | None) -> np.ndarray:
    """Angles of a full circle (`arc` None) or of an arc: rising, falling, jumbled, of several turns or unequal steps."""
    first = rng.uniform(-7, 7)
    if arc is not None:
        t = np.linspace(0, 1, count)
        if rng.random() < 0.5:
            t = t + 0.3 / count * np.sin(np.arange(count) * 2.1)
            t = (t - t.min()) / (t.max() - t.min())
        return first + pick(rng, -1, 1) * arc * t
    turns = pick(rng, 1, 1, 2, 3)
    angles = first + pick(rng, -1, 1) * turns * 2 * np.pi * np.arange(count) / count
    if rng.random() < 0.3:
        angles = angles + 0.4 * 2 * np.pi / count * rng.uniform(-1, 1, count)
    if rng.random() < 0.3:
        angles = rng.permutation(angles)
    return angles


def orbits(rng: np.random.Generator, bench: Bench) -> None:
    """Circular orbits of any order, arc and side of the panel: parameters and matrices agree, and the density is right."""
    kind = pick(rng, "full", "left", "right", "arc")
    offset = {"left": -0.45, "right": 0.45}.get(kind, 0.0)
    columns, rows, g = random_orbit(rng, offset)
    fan = 2 * np.arctan((columns - 1) / 2 * g["column_pitch"] / g["source_to_detector"])
    arc = float(np.pi + fan + rng.uniform(0, 0.6)) if kind == "arc" else None
    count = int(pick(rng, 127, 150, 181))
    angles = orders(rng, count, arc)
    bodies = np.array([[0.2, 45, 40, 44, 3, -2, 0, rng.uniform(0, 3)], [0.1, 16, 18, 17, *rng.uniform(-14, 14, 2), 0, 0.3]])
    label = f"orbits {kind} {columns} x {rows} {g} arc {arc} views {count}"
    grid = purlin.fdk.Grid.centred((31, 31, 1), (2.0, 2.0, 2.0))
    made = purlin.fdk.Geometry(columns, rows, angles=angles, **g)
    matrices = circular_matrices(angles, g, columns, rows)
    other = purlin.fdk.Geometry(columns, rows, g["column_pitch"], pick(rng, 0.0, g["row_pitch"]), matrices=matrices)
    lines = ellipsoid_lines(matrices, columns, rows, bodies)
    with bench.call(purlin.fdk.Reconstruction, made, grid, context=bench.context) as session:
        volume = bench.call(session.reconstruct, lines)
        info = session.last_info()
        exact = bench.call(session.project, bodies)
    require(np.abs(exact - lines).max() <= 1e-4 * lines.max(), f"{label}: exact projections differ by {np.abs(exact - lines).max():.2e}")
    wanted = {"full": "full", "left": "half_fan", "right": "half_fan", "arc": "short"}[kind]
    require(info.redundancy == wanted, f"{label}: {info.redundancy}, {info.reason}")
    require("missing" not in info.reason, f"{label}: {info.reason}")
    again = bench.call(purlin.fdk.reconstruct, lines, other, grid, context=bench.context)
    apart = np.abs(again - volume).max()
    require(apart <= 2e-6 * np.abs(volume).max(), f"{label}: matrices and parameters differ by {apart:.2e}")
    x = (np.arange(31) - 15) * 2.0
    inside = (x[None, :] - bodies[1, 4]) ** 2 + (x[:, None] - bodies[1, 5]) ** 2 < 9.0**2
    mean = float(volume[0][inside].mean())
    require(abs(mean - 0.3) <= 0.015, f"{label}: mean {mean:.4f}, exact 0.3, {info.reason}")
    bench.outcomes["solved"] += 1


def arcs(rng: np.random.Generator, bench: Bench) -> None:
    """Arcs around the shortest complete one: right, or the missing part is in `reason`, or refused."""
    columns, rows, g = random_orbit(rng)
    fan = 2 * np.arctan((columns - 1) / 2 * g["column_pitch"] / g["source_to_detector"])
    arc = float(np.pi + rng.uniform(-0.3, 1.5) * fan)
    redundancy = pick(rng, "auto", "auto", "short", "full", "half_fan")
    angles = orders(rng, 121, arc)
    body = np.array([[0.2, 30, 28, 29, 4, -3, 0, 0.4]])
    lines = ellipsoid_lines(circular_matrices(angles, g, columns, rows), columns, rows, body)
    grid = purlin.fdk.Grid.centred((21, 21, 1), (2.0, 2.0, 2.0))
    label = f"arcs {redundancy} arc {np.degrees(arc):.2f} needed {np.degrees(np.pi + fan):.2f} {g}"
    geometry = purlin.fdk.Geometry(columns, rows, angles=angles, **g)
    with bench.call(
        purlin.fdk.Reconstruction, geometry, grid, redundancy=redundancy, context=bench.context, allowed=(purlin.InvalidArgument,)
    ) as session:
        require(redundancy in ("auto", "short") and arc >= np.pi * (1 - 1e-8), f"{label}: is not refused")
        volume = bench.call(session.reconstruct, lines)
        info = session.last_info()
        angular = bench.call(session.weights)[1]
    missing = arc < (np.pi + fan) * (1 - 1e-9)
    require(("missing" in info.reason) == missing, f"{label}: {info.reason}")
    if missing or arc - np.pi > np.diff(np.sort(angles)).max():
        # Otherwise the weights are scaled.
        require(abs(angular.sum() - arc) <= 1e-9, f"{label}: angular weights add up to {angular.sum()}")
    mean = float(volume.mean())
    # Its half angle is less than that of the fan: where rays are missing, few of them are its own.
    require(abs(mean - 0.2) <= (0.03 if missing else 0.008), f"{label}: mean {mean:.4f}, exact 0.2")
    bench.outcomes["solved"] += 1


def turned(rng: np.random.Generator, bench: Bench) -> None:
    """Panels turned about their normal and axes that are not z: right, or a warning in `reason`, or refused."""
    columns, rows, g = random_orbit(rng)
    angles = orders(rng, 180, None)
    matrices = circular_matrices(angles, g, columns, rows)
    roll = float(pick(rng, rng.uniform(-10, 10), rng.uniform(-180, 180), 90.0, 180.0))
    tilt = float(pick(rng, 0.0, 0.0, rng.uniform(-90, 90), 90.0))
    # Pixels about the middle of the panel, and the world about the x axis.
    middle = np.array([[1, 0, (columns - 1) / 2], [0, 1, (rows - 1) / 2], [0, 0, 1]])
    scale = np.diag([g["column_pitch"], g["row_pitch"], 1.0])
    spin = middle @ np.linalg.inv(scale) @ rotation(np.radians(roll), 2) @ scale @ np.linalg.inv(middle)
    world = np.eye(4)
    world[:3, :3] = rotation(np.radians(tilt), 0)
    matrices = spin @ matrices @ world
    # Every orientation of the panel sees the whole body.
    limit = 0.8 * (rows - 1) / 2 * g["row_pitch"] * g["source_to_axis"] / g["source_to_detector"]
    radius = min(30.0, limit)
    lines = ellipsoid_lines(matrices, columns, rows, np.array([[0.2, radius, radius, radius, 0, 0, 0, 0]]))
    grid = purlin.fdk.Grid.centred((9, 9, 1), (radius / 9, radius / 9, 1.0))
    label = f"turned roll {roll:.2f} tilt {tilt:.2f} {g}"
    with bench.call(
        purlin.fdk.Reconstruction, purlin.fdk.Geometry(columns, rows, g["column_pitch"], 0.0, matrices=matrices), grid,
        context=bench.context, allowed=(purlin.InvalidArgument,),
    ) as session:
        volume, info = bench.call(session.reconstruct, lines), session.last_info()
    mean = float(volume.mean())
    require(abs(mean - 0.2) <= 0.012 or "out of the plane" in info.reason, f"{label}: mean {mean:.4f}, exact 0.2, {info.reason}")
    bench.outcomes["warned" if "out of the plane" in info.reason else "solved"] += 1


def tiny(rng: np.random.Generator, bench: Bench) -> None:
    """A voxel has the value that it has in a larger volume, whatever the shape: 1 x 1 x n, n x 1 x 1, one voxel."""
    columns, rows, g = random_orbit(rng)
    angles = orders(rng, int(pick(rng, 1, 2, 7, 60)), None)
    lines = rng.standard_normal((len(angles), rows, columns)).astype(np.float32)
    size = [int(pick(rng, 1, 5, 7, 13)) for _ in range(3)]
    spacing, origin = rng.uniform(1, 3, 3), rng.uniform(-15, 0, 3)
    options: dict[str, Any] = {"redundancy": "none", "edge": pick(rng, "zero", "skip"), "precision": pick(rng, "f32", "f32", "f64")}
    geometry = purlin.fdk.Geometry(columns, rows, angles=angles, **g)
    whole = bench.call(purlin.fdk.reconstruct, lines, geometry, purlin.fdk.Grid(tuple(size), tuple(spacing), tuple(origin)), context=bench.context, **options)
    first = [int(rng.integers(n)) for n in size]
    part = [int(pick(rng, 1, 1, n - f)) for n, f in zip(size, first)]
    corner = tuple(float(o + f * s) for o, f, s in zip(origin, first, spacing))
    small = bench.call(purlin.fdk.reconstruct, lines, geometry, purlin.fdk.Grid(tuple(part), tuple(spacing), corner), context=bench.context, **options)
    want = whole[tuple(slice(f, f + n) for f, n in zip(first[::-1], part[::-1]))]
    # At a coordinate on the panel's edge, rounding decides whether a sample is skipped, so the result jumps there.
    apart = np.abs(small - want).max() / max(np.abs(whole).max(), 1e-30)
    limit = 2e-5 if options["edge"] == "zero" else 0.2
    require(small.shape == want.shape and apart <= limit, f"tiny {size} {first} {part} {options} {len(angles)} views: differs by {apart:.2e}")
    bench.outcomes["solved"] += 1


def counts(rng: np.random.Generator, bench: Bench) -> None:
    """Raw counts with zero, negative and non-finite pixels, through every kind of input: the same counts of each kind."""
    columns, rows, g = random_orbit(rng)
    angles = np.arange(24) * 2 * np.pi / 24
    i0, dark = 1000.0, float(pick(rng, 0.0, 10.0))
    integer = rng.random() < 0.4
    given = rng.uniform(100, 900, (24, rows, columns)).astype(np.uint16 if integer else np.float32)
    flat = given.reshape(-1)
    places = rng.choice(flat.size, 12, replace=False)
    odd = [0, 0, 3, 2000, 65535] if integer else [0, -0.0, -7, dark, 2000, np.nan, np.inf, -np.inf]
    flat[places] = [odd[int(rng.integers(len(odd)))] for _ in places]
    with np.errstate(invalid="ignore", divide="ignore"):
        net = flat.astype(np.float64) - dark
        finite = np.isfinite(net)
        want = (int((~finite).sum()), int((finite & (net < 0.5)).sum()), int((finite & (net > i0 - dark)).sum()))
        lines = np.where(finite, -np.log(np.maximum(net, 0.5) / (i0 - dark)), np.nan).reshape(given.shape)
    image = np.full((rows, columns), dark, np.float32)
    # High enough that every row of the panel is read.
    tall = 1.4 * rows * g["row_pitch"] * g["source_to_axis"] / g["source_to_detector"]
    grid = purlin.fdk.Grid.centred((5, 5, 9), (3.0, 3.0, tall / 8))
    sanitize = rng.random() < 0.5
    geometry = purlin.fdk.Geometry(columns, rows, angles=angles, **g)
    logs = bench.call(purlin.fdk.log_transform, given, i0, image if dark else None, context=bench.context)
    require(np.allclose(logs, lines, rtol=1e-4, atol=1e-4, equal_nan=True), "counts: log_transform gives other line integrals")
    precision = pick(rng, "f32", "f32", "f64")
    with bench.call(purlin.fdk.Reconstruction, geometry, grid, sanitize=sanitize, precision=precision, context=bench.context) as session:
        session.set_counts(i0, image if dark else None)
        volumes = {}
        for way in ("array", "source", "push"):
            if way == "push":
                session.begin()
                for k in rng.permutation(24):
                    bench.call(session.push, int(k), given[k])
                volumes[way] = bench.call(session.finish)
            elif way == "source":
                source = purlin.blocks.Source.from_function(lambda where: given[where], given.shape, given.dtype, context=bench.context)
                with source:
                    volumes[way] = bench.call(session.reconstruct, source)
            else:
                volumes[way] = bench.call(session.reconstruct, given)
            info = session.last_info()
            found = (info.pixels_not_finite, info.pixels_clamped, info.pixels_negative)
            require(found == want, f"counts {way} {given.dtype} dark {dark} {precision}: not finite, clamped, negative are {found}, exact {want}")
            require(info.pixels_sanitized == (want[0] if sanitize else 0), f"counts {way}: {info.pixels_sanitized} are replaced")
            spoilt = not np.isfinite(volumes[way]).all()
            # A row of the panel that no voxel reads affects no voxel.
            require(not spoilt or (want[0] > 0 and not sanitize), f"counts {way}: {want[0]} pixels, sanitize {sanitize}, spoilt {spoilt}")
    bench.outcomes["solved"] += 1


def effects(rng: np.random.Generator, bench: Bench) -> None:
    """Each option that is not at its default changes the volume, or is refused by its name."""
    columns, rows, g = random_orbit(rng)
    geometry = purlin.fdk.Geometry(columns, rows, angles=orders(rng, 60, None), **g)
    lines = rng.standard_normal((60, rows, columns)).astype(np.float32)
    grid = purlin.fdk.Grid.centred((41, 41, 3), (4.0, 4.0, 4.0))
    base: dict[str, Any] = {"mode": pick(rng, "fdk", "fdk", "rabbitct")}
    if base["mode"] == "fdk":
        base.update(redundancy=pick(rng, "auto", "full", "none", "short"), window=pick(rng, "none", "hann"))
    name, value = pick(
        rng, ("window", "cosine"), ("cutoff", 0.4), ("truncation", 0.3), ("truncation", 1e-4), ("edge", "skip"), ("fov_mask", True),
        ("output_scale", 2.0), ("output_offset", 1.0), ("redundancy", "short"), ("allow_short_arc", True), ("mode", "rabbitct"),
    )
    label = f"effects {base} {name}={value}"
    if base.get(name) == value:
        return
    try:
        plain = purlin.fdk.reconstruct(lines, geometry, grid, context=bench.context, **base)
    except purlin.InvalidArgument as error:
        # Drawn angles may leave a gap.
        require(str(error).startswith("redundancy: is full, with a gap"), f"{label}: refused as {error}")
        bench.outcomes["refused"] += 1
        return
    try:
        changed = purlin.fdk.reconstruct(lines, geometry, grid, context=bench.context, **{**base, name: value})
    except purlin.InvalidArgument as error:
        named = [key for key in (name, *base) if str(error).startswith(key + ":")]
        require(named, f"{label}: refused as {error}")
        bench.outcomes["refused"] += 1
        return
    # An `allow_...` option that was not needed changes nothing.
    require(name == "allow_short_arc" or not np.array_equal(plain, changed), f"{label}: has no effect")
    bench.outcomes["solved"] += 1


def refusals(rng: np.random.Generator, bench: Bench) -> None:
    """Impossible sizes and numbers are refused by the argument's name, and nothing else happens."""
    columns, rows, g = random_orbit(rng)
    angles = orders(rng, 12, None)
    size, spacing, origin = [3, 4, 5], [2.0, 2.0, 2.0], [-2.0, -3.0, -4.0]
    axis = int(rng.integers(3))
    bad = pick(rng, np.nan, np.inf, -1.0, 0.0)
    what = pick(rng, "size", "spacing", "origin", "columns", "rows", "pitch", "distance", "angle", "views", "matrices", "both")
    arguments: dict[str, Any] = dict(g)
    expected = ""
    if what == "size":
        size[axis], expected = int(pick(rng, 0, -1, 1 << 62)), f"size[{axis}]"
    elif what == "spacing":
        spacing[axis], expected = bad, f"spacing[{axis}]"
    elif what == "origin":
        origin[axis], expected = pick(rng, np.nan, np.inf), f"origin[{axis}]"
    elif what == "columns":
        columns, expected = int(pick(rng, 1, 0, -1)), "detector_columns"
    elif what == "rows":
        rows, expected = int(pick(rng, 0, -3)), "detector_rows"
    elif what == "pitch":
        expected = pick(rng, "column_pitch", "row_pitch")
        arguments[expected] = bad
    elif what == "distance":
        expected = pick(rng, "source_to_axis", "source_to_detector")
        arguments[expected] = bad
    elif what == "angle":
        angles[3], expected = pick(rng, np.nan, np.inf), "angles"
    elif what == "views":
        angles, expected = angles[:0], "views"
    elif what == "matrices":
        matrices = circular_matrices(angles, g, columns, rows)
        expected = pick(rng, "source_to_axis", "source_to_detector", "column_offset", "row_pitch", "matrices")
        arguments = {"column_pitch": g["column_pitch"], "row_pitch": 0.0}
        if expected == "row_pitch":
            arguments["row_pitch"] = 1.5 * g["row_pitch"]
        elif expected == "matrices":
            matrices[2] = np.nan
        else:
            arguments[expected] = 3.0
        arguments["matrices"] = matrices
    else:
        arguments["matrices"], expected = circular_matrices(angles, g, columns, rows), "angles"
    if "matrices" not in arguments or what == "both":
        arguments["angles"] = angles
    label = f"refusals {what} {expected} {arguments}"
    try:
        geometry = purlin.fdk.Geometry(columns, rows, **arguments)
        grid = purlin.fdk.Grid(tuple(size), tuple(spacing), tuple(origin))
        purlin.fdk.Reconstruction(geometry, grid, context=bench.context).close()
    except ValueError as error:
        require(str(error).startswith(expected), f"{label}: refused as {error}")
        bench.outcomes["refused"] += 1
        return
    require(False, f"{label}: is accepted")


def limits(rng: np.random.Generator, bench: Bench) -> None:
    """Under any limit of host or device memory a run is refused, or stays inside limit and plan, with the same bits."""
    columns, rows, g = random_orbit(rng)
    geometry = purlin.fdk.Geometry(columns, rows, angles=orders(rng, 40, None), **g)
    lines = rng.standard_normal((40, rows, columns)).astype(np.float32)
    grid = purlin.fdk.Grid.centred((37, 31, 43), (2.0, 2.0, 2.0))
    with purlin.Context(bench.backend) as unlimited:
        want = bench.call(purlin.fdk.reconstruct, lines, geometry, grid, context=unlimited)
    limit = int(2 ** rng.uniform(15, 25))
    pushed = rng.random() < 0.4
    where = "host" if bench.backend == "cpu" else pick(rng, "host", "device")
    with purlin.Context(bench.backend, threads=int(pick(rng, 1, 2)), **{f"{where}_memory_limit": limit}) as context:
        try:
            with purlin.fdk.Reconstruction(geometry, grid, context=context) as session:
                plan = session.plan()
                if pushed:
                    session.begin()
                    plan = session.plan()
                    for k in range(40):
                        session.push(k, lines[k])
                    volume = session.finish()
                else:
                    volume = session.reconstruct(lines)
                info = session.last_info()
        except purlin.OutOfMemory:
            bench.outcomes["refused"] += 1
            return
    label = f"limits {where} {limit} pushed {pushed}"
    require(np.array_equal(volume, want), f"{label}: other bits")
    for kind in ("host", "device"):
        used = getattr(info, f"{kind}_bytes_used")
        planned = max(getattr(info, f"{kind}_bytes"), getattr(plan, f"{kind}_bytes"))
        require(kind != where or used <= limit, f"{label}: {used} {kind} bytes are used")
        require(used <= planned, f"{label}: {used} {kind} bytes used, {planned} planned")
    bench.outcomes["solved"] += 1


ATTACKS = {
    "density": density, "blocking": blocking, "not_finite": not_finite, "cancelled": cancelled, "orbits": orbits, "arcs": arcs,
    "turned": turned, "tiny": tiny, "counts": counts, "effects": effects, "refusals": refusals, "limits": limits,
}
