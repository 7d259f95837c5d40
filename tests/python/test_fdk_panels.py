"""Cone-beam CT with panels that are turned and shifted: full, half-fan and short scans as matrices, against exact line integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purlin
from purlin.fdk import Geometry, Grid, Reconstruction

COLUMNS, ROWS, PITCH, SAD, SDD = 96, 32, 4.0, 500.0, 900.0


def rotation(angle: float, axis: int) -> Any:
    made, (i, j) = np.eye(3), [(1, 2), (2, 0), (0, 1)][axis]
    made[i, i] = made[j, j] = np.cos(angle)
    made[j, i] = np.sin(angle)
    made[i, j] = -made[j, i]
    return made


def scanner(angles: Any, yaw: float = 0, pitch: float = 0, roll: float = 0, offset: Any = (0, 0), shift: float = 0) -> Any:
    """3 x 4 matrices from mm to pixel indices. Turns of the panel in degrees, offset of the source and shift of the panel in mm."""
    made = []
    turn = rotation(np.radians(roll), 2) @ rotation(np.radians(pitch), 0) @ rotation(np.radians(yaw), 1)
    for angle in angles:
        w, v = np.array([np.cos(angle), np.sin(angle), 0]), np.array([0.0, 0, 1])
        u = np.cross(v, w)
        source = SAD * w + offset[0] * u + offset[1] * v
        panel = np.stack([u, v, w], axis=1) @ turn
        eu, ev = panel[:, 0] * PITCH, panel[:, 1] * PITCH
        corner = (SAD - SDD) * w + shift * u - (COLUMNS - 1) / 2 * eu - (ROWS - 1) / 2 * ev
        inverse = np.linalg.inv(np.stack([eu, ev, corner - source], axis=1))
        made.append(np.concatenate([inverse, -(inverse @ source)[:, None]], axis=1))
    return np.array(made)


def lines(matrices: Any, bodies: Any) -> Any:
    """Exact line integrals through ellipsoids: density, three half axes, centre."""
    i, j = np.meshgrid(np.arange(COLUMNS), np.arange(ROWS))
    pixels, made = np.stack([i, j, np.ones_like(i)], axis=-1), np.zeros((len(matrices), ROWS, COLUMNS))
    for k, p in enumerate(matrices):
        inverse = np.linalg.inv(p[:, :3])
        source, d = -inverse @ p[:, 3], pixels @ inverse.T
        d = d / np.linalg.norm(d, axis=-1, keepdims=True)
        for density, a, b, c, x, y, z in bodies:
            o, e = (source - [x, y, z]) / [a, b, c], d / [a, b, c]
            square, half = (e * e).sum(-1), e @ o
            made[k] += density * 2 * np.sqrt(np.maximum(half**2 - square * (o @ o - 1), 0)) / square
    return made.astype(np.float32)


FULL = 2 * np.pi * np.arange(180) / 180
SHORT = np.linspace(0, np.pi + 2 * np.arctan(COLUMNS / 2 * PITCH / SDD) + 0.15, 150)
HALF = 0.62 * COLUMNS / 2 * PITCH
KINDS: dict[str, tuple[Any, float, float]] = {
    "full": (FULL, 0.0, 70.0),
    "short": (SHORT, 0.0, 70.0),
    "half_fan": (FULL, HALF, 110.0),
    "half_fan to the other side": (FULL[::-1], -HALF, 110.0),
}
TURNS: list[dict[str, Any]] = [
    {"yaw": 2.0},
    {"yaw": -2.0},
    {"pitch": 2.0},
    {"roll": 2.0},
    {"offset": (4.0, -3.0)},
    {"yaw": 1.7, "pitch": -1.4, "roll": -1.9, "offset": (-3.5, 2.5)},
]


@pytest.mark.parametrize(("turn", "asked"), [*((turn, "auto") for turn in TURNS), (TURNS[-1], "by name")], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_turned_panels_have_the_density(cpu: purlin.Context, kind: str, turn: dict[str, Any], asked: str) -> None:
    angles, shift, radius = KINDS[kind]
    matrices = scanner(angles, shift=shift, **turn)
    wanted: Any = kind.split()[0]
    bodies = [(0.2, radius, radius, radius, 0, 0, 0), (0.1, 20, 22, 19, 12, -9, 0)]
    grid = Grid.centred((48, 48, 1), (2.0, 2.0, 2.0))
    geometry = Geometry(COLUMNS, ROWS, PITCH, PITCH, matrices=matrices)
    with Reconstruction(geometry, grid, redundancy="auto" if asked == "auto" else wanted, context=cpu) as plan:
        volume, info = plan.reconstruct(lines(matrices, bodies))[0], plan.last_info()
    assert info.redundancy == wanted and "missing" not in info.reason
    x = (np.arange(48) - 23.5) * 2.0
    from_body = (x[None, :] - 12) ** 2 + (x[:, None] + 9) ** 2
    away = x[None, :] ** 2 + x[:, None] ** 2
    inside, outside = from_body < 12.0**2, (from_body > 30.0**2) & (away < 45.0**2)
    assert volume[inside].mean() == pytest.approx(0.3, abs=0.006)
    assert volume[outside].mean() == pytest.approx(0.2, abs=0.004)


@pytest.mark.parametrize("turn", [{}, {"yaw": 2.0}, {"yaw": -2.0, "offset": (4.0, 0.0)}, {"roll": 2.0}], ids=str)
def test_the_mask_is_the_field_of_view_of_the_turned_panel(cpu: purlin.Context, turn: dict[str, Any]) -> None:
    """A voxel that every view sees keeps its value; others are set to 0."""
    matrices = scanner(FULL, **turn)
    grid = Grid.centred((61, 61, 1), (4.0, 4.0, 2.0))
    geometry = Geometry(COLUMNS, ROWS, PITCH, PITCH, matrices=matrices)
    ones = np.ones((len(FULL), ROWS, COLUMNS), np.float32)
    plain = purlin.fdk.reconstruct(ones, geometry, grid, redundancy="full", context=cpu)[0]
    masked = purlin.fdk.reconstruct(ones, geometry, grid, redundancy="full", fov_mask=True, context=cpu)[0]
    x = (np.arange(61) - 30) * 4.0
    points = np.stack(np.broadcast_arrays(x[None, :], x[:, None], 0 * x[:, None], 1), axis=-1)
    column = np.stack([(points @ p[0]) / (points @ p[2]) for p in matrices])
    margin = np.minimum(column.min(0), COLUMNS - 1 - column.max(0))
    kept = masked == plain
    assert not masked[~kept].any()
    # A column of tolerance, because half a pixel decides whether a voxel at the edge is seen.
    assert kept[margin > 1].all() and not kept[margin < -1].any()
    assert (margin > 1).sum() > 1000 and (margin < -1).sum() > 200
