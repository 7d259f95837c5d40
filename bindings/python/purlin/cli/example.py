"""`purlin example`: small input files for the examples of the other commands."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from .. import Context, fdk
from . import nifti
from .options import command, say
from .outputs import Outputs, save_npy, writing

_EXAMPLE = "purlin example eigs"
_FILES = {
    "fdk": ("scan.mha", "geometry.xml"),
    "peaks": ("dwi.nii", "dwi.bval", "dwi.bvec"),
    "svd": ("matrix.npy",),
    "pca": ("samples.npy",),
    "rpca": ("frames.npy",),
    "eigs": ("graph.txt",),
}


def add(commands: Any) -> None:
    """Declares the command."""
    made = command(
        commands,
        "example",
        run,
        "small input files for the example of a command",
        "Writes small input files with which the example in the help of a command runs.",
        _EXAMPLE,
        output=False,
    )
    made.add_argument("name", choices=tuple(_FILES), help="the command whose example needs them")
    made.add_argument("--folder", default=".", help="where to write them (default: .)")
    made.add_argument("--force", action="store_true", help="replace files that exist (default: refuse)")


def _scan(places: list[Path]) -> None:
    """Exact projections of the Shepp-Logan head on a circle, and the geometry as RTK writes it."""
    angles = np.arange(90) * 4.0
    geometry = fdk.Geometry(64, 48, 3.0, 3.0, 500.0, 1000.0, angles=np.radians(angles))
    with Context("cpu") as context, fdk.Reconstruction(geometry, context=context) as plan:
        lines = plan.project(fdk.shepp_logan(45.0))
    views, rows, columns = lines.shape
    header = {
        "ObjectType": "Image",
        "NDims": "3",
        "BinaryData": "True",
        "BinaryDataByteOrderMSB": "False",
        "CompressedData": "False",
        "TransformMatrix": "1 0 0 0 1 0 0 0 1",
        "Offset": f"{-(columns - 1) / 2 * 3.0} {-(rows - 1) / 2 * 3.0} 0",
        "ElementSpacing": "3 3 1",
        "DimSize": f"{columns} {rows} {views}",
        "ElementType": "MET_FLOAT",
        "ElementDataFile": "LOCAL",
    }
    text = "".join(f"{name} = {value}\n" for name, value in header.items())
    with writing(places[0]):
        places[0].write_bytes(text.encode() + lines.astype("<f4").tobytes())
    projections = "".join(
        f"  <Projection>\n    <GantryAngle>{angle:g}</GantryAngle>\n  </Projection>\n" for angle in angles
    )
    with writing(places[1]):
        places[1].write_text(
            '<?xml version="1.0"?>\n<!DOCTYPE RTKGEOMETRY>\n<RTKThreeDCircularGeometry version="3">\n'
            "  <SourceToIsocenterDistance>500</SourceToIsocenterDistance>\n"
            "  <SourceToDetectorDistance>1000</SourceToDetectorDistance>\n"
            + projections
            + "</RTKThreeDCircularGeometry>\n"
        )


def _diffusion(places: list[Path]) -> None:
    """Signals of one fibre, and of two that cross, in 64 directions at b = 1000 s/mm^2."""
    count = 64
    height = (np.arange(count) + 0.5) / count
    turn = np.arange(count) * np.pi * (3 - np.sqrt(5))
    flat = np.sqrt(1 - height**2)
    gradients = np.vstack([np.zeros(3), np.stack([flat * np.cos(turn), flat * np.sin(turn), height], axis=1)])
    bvals = np.array([0.0] + [1000.0] * count)
    signals = np.zeros((8, 8, 3, count + 1))
    for x in range(8):
        tilt = np.pi / 2 * x / 7
        fibres = [np.array([1.0, 0, 0]), np.array([np.cos(tilt), np.sin(tilt), 0])]
        along = np.array([(gradients @ fibre) ** 2 for fibre in fibres])
        signals[x] = 1000 * np.exp(-bvals * (3e-4 + 1.4e-3 * along)).mean(axis=0)
    nifti.write("--folder", places[0], signals.astype(np.float32), np.diag([2.0, 2.0, 2.0, 1.0]))
    with writing(places[1]):
        np.savetxt(places[1], bvals[None], "%g")
    with writing(places[2]):
        np.savetxt(places[2], gradients.T, "%.9g")


def _low_rank(random: np.random.Generator, rows: int, cols: int, noise: float) -> Any:
    weights = 2.0 ** -np.arange(8)
    made = (random.standard_normal((rows, 8)) * weights) @ random.standard_normal((8, cols))
    return made + noise * random.standard_normal((rows, cols))


def _frames(random: np.random.Generator) -> Any:
    """60 pictures of 24 x 32 pixels as columns: a background that changes in brightness, and a square that moves."""
    background = random.random((24, 32))
    frames = np.empty((24, 32, 60))
    for time in range(60):
        frames[..., time] = background * (1 + 0.1 * np.sin(time / 5))
        frames[8:13, time % 27 : time % 27 + 5, time] = 2.0
    return frames.reshape(-1, 60).astype(np.float32)


def _graph(random: np.random.Generator, place: Path) -> None:
    """An edge list of three groups of 40 vertices with many edges inside each and few between them."""
    group = np.arange(120) // 40
    likely = np.where(group[:, None] == group[None, :], 0.25, 0.01)
    first, second = np.nonzero(np.triu(random.random((120, 120)) < likely, 1))
    with writing(place):
        np.savetxt(place, np.stack([first, second], axis=1), "%d")


def run(given: argparse.Namespace) -> None:
    """Writes the files."""
    random = np.random.default_rng(0)
    names = [str(Path(given.folder) / name) for name in _FILES[given.name]]
    with Outputs(given.force) as outputs:
        places = [outputs.add("--folder", name) for name in names]
        if given.name == "fdk":
            _scan(places)
        elif given.name == "peaks":
            _diffusion(places)
        elif given.name == "eigs":
            _graph(random, places[0])
        elif given.name == "rpca":
            save_npy(places[0], _frames(random))
        else:
            save_npy(places[0], _low_rank(random, 1000, 60, 1e-3))
    say(given, f"wrote {', '.join(names)}")
