"""`purlin fdk`: a volume from the projections of a cone-beam scan."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from .. import Context, fdk
from .._options import FdkOptions
from ..blocks import Sink, Source
from . import nifti, rtk
from .arrays import existing, expect_inputs, load_npy, load_text
from .ends import expect_end, expect_metaimage_end, file_of_elements
from .failures import Contents, Failure, Usage
from .options import Parser, bar, chosen, command, library_options, machine, number, say, whole
from .outputs import Outputs, npy_header, require_suffix, suffix_of, write_begin

_EXAMPLE = """purlin example fdk
purlin fdk scan.mha --geometry geometry.xml --window hann --out volume.mha"""

_TEXT = """Reconstructs a volume by Feldkamp, Davis and Kress's method. Lengths in mm, angles in degrees. The source
stands at SID (cos b, sin b, 0) at angle b, and z is the axis of rotation; RTK's axes (z, x, y) are x, y, z here.
Neither the scan nor the volume need fit in memory."""

_TEXTS = {
    "window": "window of the ramp filter",
    "cutoff": "cut-off of the window, as a part of the Nyquist frequency",
    "truncation": "width of the smooth continuation of rows, as a part of the columns, for objects wider than the panel; 0 = off",
    "edge": "beyond the rim of the panel: zeros, or skip what is not inside",
    "precision": "f32, or the slow double precision on the CPU",
    "fov_mask": "zero the voxels that some view never sees",
    "allow_short_arc": "accept an arc of less than 180 degrees",
    "sanitize": "take pixels that are not finite as 0",
    "output_scale": "factor of the densities on the way out",
    "output_offset": "number added to them, for Hounsfield units or integers",
    "slab": "slices that are reconstructed at a time; 0 = as memory allows",
}
# The width of a panel in units of its distance, beyond which matrices of views are singular because of it.
_WIDEST = 1e6
_TYPES = ("float32", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32")
_OUTPUTS = (".mha", ".tif", ".tiff", ".nii", ".npy", ".raw")


def _add_inputs(made: Parser) -> None:
    made.add_argument(
        "projections",
        nargs="+",
        metavar="PROJECTIONS",
        help=".mha, .mhd, .npy (views, rows, columns), TIFF files in the order of the views, or a raw file with --shape",
    )
    raw = made.add_argument_group("raw projections")
    raw.add_argument(
        "--shape",
        type=whole,
        nargs=3,
        metavar=("VIEWS", "ROWS", "COLUMNS"),
        help="numbers of a raw file, columns fastest (default: the file is not raw)",
    )
    raw.add_argument(
        "--type", help="NumPy's name of the pixels' type, >u2 for big-endian (default: float32)"
    )
    raw.add_argument("--header", type=whole, metavar="BYTES", help="bytes before the first pixel (default: 0)")
    counts = made.add_argument_group("raw counts instead of line integrals")
    counts.add_argument(
        "--i0",
        metavar="I0",
        help="counts without an object: a number, or a .npy file (rows, columns) (default: the input is line integrals)",
    )
    counts.add_argument("--dark", metavar="DARK", help="counts without radiation, likewise (default: 0)")
    counts.add_argument(
        "--epsilon",
        type=number,
        default=0.0,
        metavar="X",
        help="least count after subtraction of the dark ones (default: 0, the library's choice)",
    )


def _add_geometry(made: Parser) -> None:
    orbit = made.add_argument_group("geometry")
    orbit.add_argument("--geometry", metavar="FILE", help="RTK's XML file (default: a circle by the numbers below)")
    orbit.add_argument(
        "--sid", type=number, metavar="MM", help="distance from source to axis (needed without --geometry)"
    )
    orbit.add_argument(
        "--sdd", type=number, metavar="MM", help="distance from source to panel (needed without --geometry)"
    )
    orbit.add_argument(
        "--pitch",
        type=number,
        nargs="+",
        metavar="MM",
        help="pitch of the columns, and of the rows if it differs (default: the spacing in the file)",
    )
    orbit.add_argument(
        "--panel-offset",
        type=number,
        nargs=2,
        metavar=("U", "V"),
        help="centre of the panel in its own axes (default: 0 0; with --geometry what the origin in a MetaImage says, as RTK)",
    )
    orbit.add_argument("--start", type=number, metavar="DEG", help="angle of the first view (default: 0)")
    orbit.add_argument(
        "--step",
        type=number,
        metavar="DEG",
        help="angle from view to view, negative for the other sense (default: 360 over the number of views)",
    )
    orbit.add_argument(
        "--angles", metavar="FILE", help="text file of the angles in degrees (default: --start and --step)"
    )
    orbit.add_argument(
        "--scan",
        dest="redundancy",
        default=None,
        choices=("auto", "none", "full", "short", "half_fan"),
        help="how rays that are measured twice count (default: auto, which finds out)",
    )
    volume = made.add_argument_group("volume")
    volume.add_argument(
        "--size",
        type=whole,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="voxels (default: as many as the panel has columns, columns, rows)",
    )
    volume.add_argument(
        "--spacing",
        type=number,
        nargs="+",
        metavar="MM",
        help="distance of voxels, one number or three (default: the pitch of the columns over the magnification)",
    )
    volume.add_argument(
        "--origin",
        type=number,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="centre of the first voxel (default: the volume is centred)",
    )


def add(commands: Any) -> None:
    """Declares the command."""
    made = command(commands, "fdk", run, "cone-beam CT: projections to a volume", _TEXT, _EXAMPLE)
    _add_inputs(made)
    _add_geometry(made)
    library_options(made.add_argument_group("method"), "fdk_options", FdkOptions, _TEXTS)
    output = made.add_argument_group("output")
    output.add_argument("--out", required=True, metavar="FILE", help="the volume: .mha, .tif, .nii, .npy or .raw")
    output.add_argument(
        "--out-type", choices=_TYPES, default="float32", help="type of the voxels; integers saturate (default: float32)"
    )


def _source(given: argparse.Namespace, context: Context) -> Source:
    paths = [existing(given, "PROJECTIONS", path) for path in given.projections]
    ending = suffix_of(paths[0])
    if ending in (".tif", ".tiff") and given.shape is None:
        return Source.from_tiff(paths, context=context)
    if len(paths) > 1:
        raise Usage(f"PROJECTIONS: are {len(paths)} files, expected one, or TIFF files")
    if given.shape is not None:
        try:
            dtype = np.dtype(given.type or "float32")
        except TypeError:
            raise Usage(f"--type: is {given.type!r}, expected a type of NumPy such as uint16 or >u2") from None
        return Source.from_file(paths[0], given.shape, dtype, given.header or 0, context=context)
    if ending in (".mha", ".mhd"):
        return Source.from_metaimage(paths[0], context=context)
    if ending == ".npy":
        source = Source.from_npy(paths[0], context=context)
        if source.fortran_order:
            raise Failure(f"PROJECTIONS: {paths[0]}: is in Fortran order, expected C order (views, rows, columns)")
        return source
    raise Usage(f"PROJECTIONS: is {paths[0]}, expected .mha, .mhd, .npy or .tif, or --shape for a raw file")


def _note_inputs(given: argparse.Namespace) -> None:
    """Notes all inputs, also the file of the elements that a MetaImage names."""
    for path in given.projections:
        if given.shape is None and suffix_of(path) == ".mhd" and Path(path).is_file():
            expect_inputs(given, ("PROJECTIONS", str(file_of_elements(path))))
        expect_inputs(given, ("PROJECTIONS", path))
    expect_inputs(given, ("--geometry", given.geometry), ("--angles", given.angles))


def _expect_end(given: argparse.Namespace, source: Source) -> None:
    """Refuses bytes behind the projections. A `.npy` file may go on with other arrays, and a TIFF file has its own table."""
    path = given.projections[0]
    if given.shape is not None:
        said = "--shape, --type and --header say"
        expect_end("PROJECTIONS", path, Path(path), given.header or 0, source.info, said)
    elif suffix_of(path) in (".mha", ".mhd"):
        expect_metaimage_end("PROJECTIONS", path, source.info)


def _pitch(given: argparse.Namespace, source: Source) -> tuple[float, float]:
    """Pitch of the columns and of the rows."""
    if given.pitch is not None:
        if len(given.pitch) > 2:
            raise Usage(f"--pitch: has {len(given.pitch)} numbers, expected 1 or 2")
        return given.pitch[0], given.pitch[-1]
    spacing = source.info.spacing
    if spacing is None:
        raise Usage("--pitch: is not given, and the projections do not say it")
    return spacing[2], spacing[1]


def _angles(given: argparse.Namespace, views: int) -> Any:
    if given.angles is None:
        start, step = given.start or 0.0, 360.0 / views if given.step is None else given.step
        if abs(start) > rtk.MOST_DEGREES:
            raise Usage(f"--start: is {start:g} degrees, beyond 1e9 rad: numbers are too far apart there")
        with np.errstate(over="ignore", invalid="ignore"):
            angles = start + step * np.arange(views)
        if not np.isfinite(angles).all():
            raise Usage(f"--step: is {step:g}, and {views} views of it are beyond the range of floating point")
        return np.radians(angles)
    existing(given, "--angles", given.angles)
    found = load_text("--angles", given.angles, "a list of numbers").ravel()
    if found.size != views:
        raise Failure(f"--angles: {given.angles}: has {found.size} angles, the scan has {views} views")
    return np.radians(found)


def _refuse_beside(given: argparse.Namespace, other: str, *names: str) -> None:
    for name in names:
        if getattr(given, name) is not None:
            raise Usage(f"--{name.replace('_', '-')}: is given beside {other}, which has it")


def _name_larger_parts(given: argparse.Namespace, view: dict[str, float], panel: rtk.Panel) -> None:
    """Notes for messages where the larger part of the panel's place and of its matrices is from, if that is not the geometry
    file."""

    def note(argument: str, name: str) -> None:
        given.names[argument] = name
        given.contents.pop(argument, None)

    pitch = "PROJECTIONS" if given.pitch is None else "--pitch"
    offset = "--panel-offset" if given.panel_offset is not None else f"{pitch} with the image's origin"
    if abs(panel.column_offset) > abs(view["ProjectionOffsetX"]):
        note("column_offset", offset)
    if abs(panel.row_offset) > abs(view["ProjectionOffsetY"]):
        note("row_offset", offset)
    width = max(panel.columns * panel.column_pitch, panel.rows * panel.row_pitch)
    if width > _WIDEST * abs(view["SourceToDetectorDistance"]):
        note("matrices", pitch)


def _geometry(given: argparse.Namespace, source: Source) -> fdk.Geometry:
    shape, origin = source.info.shape, source.info.origin
    if len(shape) != 3:
        raise Failure(f"PROJECTIONS: have {len(shape)} axes, expected 3 (views, rows, columns)")
    views, rows, columns = shape
    column_pitch, row_pitch = _pitch(given, source)
    if given.geometry is None:
        for name in ("sid", "sdd"):
            if getattr(given, name) is None:
                raise Usage(f"--{name}: is not given, and no --geometry either")
        u, v = given.panel_offset or (0.0, 0.0)
        if given.angles is not None:
            _refuse_beside(given, "--angles", "start", "step")
        return fdk.Geometry(
            columns, rows, column_pitch, row_pitch, given.sid, given.sdd, u, v, angles=_angles(given, views)
        )
    _refuse_beside(given, "--geometry", "sid", "sdd", "start", "step", "angles")
    if given.panel_offset is not None:
        offsets = given.panel_offset
    elif origin is not None:
        offsets = [
            origin[axis] + (size - 1) / 2 * pitch
            for axis, size, pitch in ((2, columns, column_pitch), (1, rows, row_pitch))
        ]
        # Origins are written with few digits.
        offsets = [0.0 if abs(at) < 1e-4 * pitch else at for at, pitch in zip(offsets, (column_pitch, row_pitch))]
    else:
        offsets = [0.0, 0.0]
    found = rtk.read_views(existing(given, "--geometry", given.geometry))
    if len(found) != views:
        raise Failure(f"--geometry: {given.geometry}: has {len(found)} projections, the scan has {views} views")
    panel = rtk.Panel(columns, rows, column_pitch, row_pitch, *offsets)
    _name_larger_parts(given, found[0], panel)
    return rtk.geometry_of(found, panel)


def _name_arguments(given: argparse.Namespace) -> None:
    """Notes for messages the option, or the part of a file, that each argument of the library is from."""
    projections = "PROJECTIONS", Contents(given.projections[0])
    spacing = "PROJECTIONS", Contents(given.projections[0], "spacing")

    def in_geometry(part: str = "") -> tuple[str, Contents | None]:
        return "--geometry", Contents(given.geometry, part)

    def option(name: str) -> tuple[str, Contents | None]:
        return name, None

    is_file = given.geometry is not None
    angles = in_geometry() if is_file else projections if given.step is None else option("--step")
    pitch = option("--pitch") if given.pitch is not None else spacing
    panel = option("--shape") if given.shape is not None else projections
    grid = [f"--{name}" for name in ("size", "spacing", "origin") if getattr(given, name) is not None]
    sid = in_geometry("SourceToIsocenterDistance") if is_file else option("--sid")
    found: dict[str, tuple[str, Contents | None]] = {
        "source_to_axis": sid,
        "source_to_detector": in_geometry("SourceToDetectorDistance") if is_file else option("--sdd"),
        "column_pitch": pitch,
        "row_pitch": pitch,
        "column_offset": in_geometry("ProjectionOffsetX") if is_file else option("--panel-offset"),
        "row_offset": in_geometry("ProjectionOffsetY") if is_file else option("--panel-offset"),
        "detector_columns": panel,
        "detector_rows": panel,
        "angles": ("--angles", Contents(given.angles)) if given.angles is not None and not is_file else angles,
        "matrices": in_geometry(),
        "size": option("--size") if given.size is not None else panel,
        "spacing": option("--spacing") if given.spacing is not None else pitch,
        "origin": option("--origin") if given.origin is not None else pitch,
        # Of the default grid, which the panel's magnification makes.
        "grid": option(", ".join(grid)) if grid else sid,
    }
    for name in ("i0", "dark"):
        path = getattr(given, name) or ""
        found[name] = f"--{name}", Contents(path) if suffix_of(path) == ".npy" else None
    given.names.update({name: argument for name, (argument, _) in found.items()})
    given.contents.update({name: contents for name, (_, contents) in found.items() if contents is not None})
    given.names.update(
        redundancy="--scan",
        epsilon="--epsilon",
        threads="--threads",
        offset="--header",
        shape="--shape",
        projections="PROJECTIONS",
    )


def _grid(given: argparse.Namespace, geometry: fdk.Geometry) -> fdk.Grid | None:
    if given.size is None and given.spacing is None and given.origin is None:
        return None
    size = tuple(given.size or (geometry.detector_columns, geometry.detector_columns, geometry.detector_rows))
    spacing = given.spacing
    if spacing is None:
        if geometry.matrices is not None:
            raise Usage(
                "--spacing: is not given, and an orbit that is not a circle has no magnification to take it from"
            )
        spacing = [geometry.column_pitch * geometry.source_to_axis / geometry.source_to_detector]
    if len(spacing) not in (1, 3):
        raise Usage(f"--spacing: has {len(spacing)} numbers, expected 1 or 3")
    distances = (spacing[0], spacing[0], spacing[0]) if len(spacing) == 1 else tuple(spacing)
    if given.origin is None:
        return fdk.Grid.centred(size, distances)
    return fdk.Grid(size, distances, tuple(given.origin))


def _counts(given: argparse.Namespace, option: str) -> Any:
    text = getattr(given, option)
    if text is None:
        return None
    try:
        return number(text)
    except ValueError:
        pass
    if suffix_of(text) != ".npy":
        raise Usage(f"--{option}: is {text!r}, expected a number or a .npy file")
    return load_npy(f"--{option}", existing(given, f"--{option}", text))


def _sink(given: argparse.Namespace, place: Path, plan: fdk.Reconstruction, context: Context) -> tuple[Sink, bytes]:
    """The sink of the volume, and the bytes that the file begins with once the run is over."""
    grid, shape, dtype = plan.plan().grid, plan.shape, given.out_type
    ending = suffix_of(given.out)
    if ending == ".mha":
        spacing, origin = grid.spacing[::-1], grid.origin[::-1]
        return Sink.to_metaimage(place, shape, dtype, spacing=spacing, origin=origin, context=context), b""
    if ending in (".tif", ".tiff"):
        return Sink.to_tiff(place, shape, dtype, context=context), b""
    begin = b""
    if ending == ".nii":
        begin = nifti.volume_header(grid.size, dtype, grid.spacing, grid.origin)
    elif ending == ".npy":
        begin = npy_header(shape, dtype)
    return Sink.to_file(place, shape, dtype, len(begin), context=context), begin


def run(given: argparse.Namespace) -> None:
    """Reconstructs the scan."""
    ending = require_suffix("--out", given.out, *_OUTPUTS)
    if ending == ".nii":
        nifti.nibabel("--out")
    options = chosen(given, ["redundancy", *_TEXTS])
    _name_arguments(given)
    for name in ("type", "header"):
        if getattr(given, name) is not None and given.shape is None:
            raise Usage(f"--{name}: is given, but --shape is not, which makes the input a raw file")
    for name in ("start", "step"):
        if not np.isfinite(getattr(given, name) or 0.0):
            raise Usage(f"--{name}: is {getattr(given, name):g}, expected a finite number")
    if given.step == 0:
        raise Usage("--step: is 0, expected an angle other than 0")
    i0, dark = _counts(given, "i0"), _counts(given, "dark")
    if given.i0 is not None and np.ndim(i0) == 0 and i0 == 0:
        raise Usage("--i0: is 0, expected counts above 0")
    if i0 is None and (dark is not None or given.epsilon != 0):
        raise Usage("--i0: is not given, but --dark or --epsilon, which are for counts")
    _note_inputs(given)
    with machine(given) as (context, group), Outputs(given.force, given.files) as outputs:
        place = outputs.add("--out", given.out)
        with _source(given, context) as source, bar(given) as progress:
            _expect_end(given, source)
            geometry = _geometry(given, source)
            grid = _grid(given, geometry)
            with fdk.Reconstruction(geometry, grid, progress=progress, context=context, **options, **group) as plan:
                if i0 is not None:
                    plan.set_counts(i0, dark, given.epsilon)
                sink, begin = _sink(given, place, plan, context)
                with sink:
                    plan.reconstruct(source, sink)
                info = plan.last_info()
        if begin:
            write_begin(place, begin)
    size, spacing = (" x ".join(f"{number:.6g}" for number in triple) for triple in (info.grid.size, info.grid.spacing))
    say(given, f"{given.out}: {size} voxels of {spacing} mm, {given.out_type}")
    say(given, f"{info.redundancy} scan of {np.degrees(info.arc):.6g} degrees: {info.reason}")
    say(given, f"{info.seconds:.3g} s")
