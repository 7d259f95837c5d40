"""Geometries of RTK, the Reconstruction Toolkit: the XML file of a `ThreeDCircularProjectionGeometry`.

The formulas are those of RTK's page "3D Circular Projection Geometry". RTK rotates about its y axis: the axes (x, y, z) of
purlin are RTK's (z, x, y).
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import fdk
from .failures import Failure

_NAMES = (
    "SourceToIsocenterDistance SourceToDetectorDistance GantryAngle ProjectionOffsetX ProjectionOffsetY OutOfPlaneAngle "
    "InPlaneAngle SourceOffsetX SourceOffsetY"
).split()
_OTHERS = ("RadiusCylindricalDetector", "CollimationUInf", "CollimationUSup", "CollimationVInf", "CollimationVSup")
_ANGLES = ("GantryAngle", "Angle", "OutOfPlaneAngle", "InPlaneAngle")
# The largest angle, which is 1e9 rad as in the library.
MOST_DEGREES = float(np.degrees(1e9))
# Largest difference of a matrix in the file from that of the parameters, which RTK takes too.
_CONSISTENT = 1e-3
# RTK's axes from purlin's, homogeneous.
_AXES = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])


@dataclass(frozen=True)
class Panel:
    """Columns and rows of the panel, their pitch in mm, and the position of its centre in the projections' own axes."""

    columns: int
    rows: int
    column_pitch: float
    row_pitch: float
    column_offset: float = 0.0
    row_offset: float = 0.0


def _number(path: str, element: xml.Element) -> float:
    try:
        value = float((element.text or "").strip())
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise Failure(
            f"--geometry: {path}: {element.tag} is {(element.text or '').strip()!r}, expected a finite number"
        )
    if element.tag in _ANGLES and abs(value) > MOST_DEGREES:
        problem = f"is {value:g} degrees, beyond 1e9 rad: numbers are too far apart there"
        raise Failure(f"--geometry: {path}: {element.tag} {problem}")
    return value


def _rotation(view: dict[str, float]) -> Any:
    """The homogeneous matrix from RTK's axes to those of the panel: ZXY angles of the opposite sign."""
    gantry, out, inside = (-np.radians(view[name]) for name in ("GantryAngle", "OutOfPlaneAngle", "InPlaneAngle"))
    z, x, y = np.eye(4), np.eye(4), np.eye(4)
    z[:2, :2] = [[np.cos(inside), -np.sin(inside)], [np.sin(inside), np.cos(inside)]]
    x[1:3, 1:3] = [[np.cos(out), -np.sin(out)], [np.sin(out), np.cos(out)]]
    y[0, 0], y[0, 2], y[2, 0], y[2, 2] = np.cos(gantry), np.sin(gantry), -np.sin(gantry), np.cos(gantry)
    return z @ x @ y


def _matrix(view: dict[str, float]) -> Any:
    """RTK's 3x4 matrix of a view, from its axes to mm on the panel."""
    source = view["SourceOffsetX"], view["SourceOffsetY"]
    shift = np.eye(3)
    shift[:2, 2] = source[0] - view["ProjectionOffsetX"], source[1] - view["ProjectionOffsetY"]
    distance, length = view["SourceToIsocenterDistance"], view["SourceToDetectorDistance"]
    scale = np.array([[-length, 0, 0, 0], [0, -length, 0, 0], [0, 0, 1, -distance]])
    move = np.eye(4)
    move[:2, 3] = -source[0], -source[1]
    return shift @ scale @ move @ _rotation(view)


def _check_matrix(path: str, number: int, view: dict[str, float], element: xml.Element) -> None:
    try:
        written = np.array((element.text or "").split(), np.float64).reshape(3, 4)
    except ValueError:
        raise Failure(f"--geometry: {path}: the Matrix of projection {number} is not 12 numbers") from None
    difference = float(np.abs(written - _matrix(view)).max())
    if not difference <= _CONSISTENT:
        raise Failure(
            f"--geometry: {path}: the Matrix of projection {number} differs from its parameters by {difference:.3g}, "
            f"at most {_CONSISTENT:g} is allowed"
        )


def read_views(path: str) -> list[dict[str, float]]:
    """The nine parameters of each projection, distances in mm and angles in degrees."""
    try:
        root = xml.parse(path).getroot()
    except (xml.ParseError, ValueError, UnicodeDecodeError) as error:
        raise Failure(f"--geometry: {path}: is not XML: {error}") from None
    if root.tag != "RTKThreeDCircularGeometry":
        raise Failure(f"--geometry: {path}: is a {root.tag}, expected RTKThreeDCircularGeometry")
    if root.get("version") not in ("2", "3"):
        raise Failure(f"--geometry: {path}: has version {root.get('version')}, expected 2 or 3")
    # As in RTK, a parameter stays until it is set again.
    state = dict.fromkeys(_NAMES, 0.0)
    views: list[dict[str, float]] = []
    for element in root:
        is_view = element.tag == "Projection"
        matrix = None
        for part in element if is_view else [element]:
            if part.tag in state:
                state[part.tag] = _number(path, part)
            elif part.tag == "Angle":
                state["GantryAngle"] = _number(path, part)
            elif part.tag == "Matrix":
                matrix = part
            elif part.tag in _OTHERS and _number(path, part) not in (0.0, np.finfo(np.float64).max):
                raise Failure(f"--geometry: {path}: {part.tag} is {(part.text or '').strip()}, which is not supported")
        if is_view:
            if state["SourceToDetectorDistance"] == 0:
                raise Failure(f"--geometry: {path}: projection {len(views)} is parallel, expected a cone beam")
            if matrix is not None:
                _check_matrix(path, len(views), state, matrix)
            views.append(dict(state))
    if not views:
        raise Failure(f"--geometry: {path}: has no Projection")
    return views


def _is_circular(views: list[dict[str, float]]) -> bool:
    """Whether the source turns on a circle and the panel stands upright, at one place of its own axes."""
    flat = ("OutOfPlaneAngle", "InPlaneAngle", "SourceOffsetX", "SourceOffsetY")
    constant = ("SourceToIsocenterDistance", "SourceToDetectorDistance", "ProjectionOffsetX", "ProjectionOffsetY")
    first = views[0]
    return all(
        all(view[name] == 0 for name in flat) and all(view[name] == first[name] for name in constant) for view in views
    )


def geometry_of(views: list[dict[str, float]], panel: Panel) -> fdk.Geometry:
    """The geometry of a circular orbit by its angles, of any other by matrices."""
    size: dict[str, Any] = {
        "detector_columns": panel.columns,
        "detector_rows": panel.rows,
        "column_pitch": panel.column_pitch,
        "row_pitch": panel.row_pitch,
    }
    first = views[0]
    if _is_circular(views):
        return fdk.Geometry(
            **size,
            source_to_axis=first["SourceToIsocenterDistance"],
            source_to_detector=first["SourceToDetectorDistance"],
            column_offset=first["ProjectionOffsetX"] + panel.column_offset,
            row_offset=first["ProjectionOffsetY"] + panel.row_offset,
            angles=np.radians([view["GantryAngle"] for view in views]),
        )
    pixels = np.array(
        [
            [1 / panel.column_pitch, 0, (panel.columns - 1) / 2 - panel.column_offset / panel.column_pitch],
            [0, 1 / panel.row_pitch, (panel.rows - 1) / 2 - panel.row_offset / panel.row_pitch],
            [0, 0, 1],
        ]
    )
    matrices = np.array([pixels @ _matrix(view) @ _AXES for view in views])
    # Depths in mm, and positive.
    scale = np.linalg.norm(matrices[:, 2, :3], axis=1) * np.where(matrices[:, 2, 3] < 0, -1, 1)
    return fdk.Geometry(**size, matrices=matrices / scale[:, None, None])
