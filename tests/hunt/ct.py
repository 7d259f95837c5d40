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
        allowed=(purlin.InvalidArgument,),
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
        info = session.info
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


ATTACKS = {"density": density, "blocking": blocking, "not_finite": not_finite, "cancelled": cancelled}
