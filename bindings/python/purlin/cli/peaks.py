"""`purlin peaks`: fibre directions of a diffusion-MRI image."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from .. import InvalidArgument, dwi
from .. import _constants as constants
from .._context import initialized
from .._options import CsaOptions, PeaksOptions
from .._structs import DwiOptions
from . import nifti
from .arrays import expect_inputs
from .failures import Failure, Usage
from .options import bar, chosen, command, library_options, machine, number, say, warn, whole
from .outputs import Outputs, require_suffix, save_npz

_EXAMPLE = """purlin example peaks
purlin peaks dwi.nii --bval dwi.bval --bvec dwi.bvec --out peaks.nii"""

_TEXT = """Finds the fibre directions of each voxel: an orientation function in constant solid angle (one shell), then its
maxima. Gradients are FSL's. --out NAME.nii has MRtrix' layout, as its sh2peaks writes: x, y, z of each peak times its
amplitude in the axes of the scanner, 3 volumes a peak. --out NAME.npz has the arrays of dipy's PeaksAndMetrics, whose
directions are in the axes of the gradients: peak_dirs (x, y, z, K, 3) of norm 1, peak_values (x, y, z, K), shm_coeff (basis
descoteaux07, legacy) and affine; 0 where there is no peak. The directions of the two differ by the frame alone."""

_CSA = {
    "b0_threshold": "b-values up to this count as unweighted",
    "smoothing": "weight of the Laplace-Beltrami term of the fit",
}
_PEAKS = {
    "absolute_threshold": "least value of a peak",
    "starts": "starts in each voxel; 0 = 32 up to degree 4, else 64",
    "max_iterations": "most iterations of a start; 0 = 500",
    "tolerance": "relative residual of a peak; 0 = 1e-10 in double, 1e-5 in single precision",
}


def add(commands: Any) -> None:
    """Declares the command."""
    made = command(commands, "peaks", run, "diffusion MRI: fibre directions", _TEXT, _EXAMPLE, several=False)
    made.add_argument("image", metavar="IMAGE", help=".nii or .nii.gz, the last axis the measurements")
    made.add_argument("--bval", required=True, metavar="FILE", help="b-values, s/mm^2")
    made.add_argument("--bvec", required=True, metavar="FILE", help="unit gradients, 3 rows or 3 columns")
    made.add_argument("--mask", metavar="FILE", help=".nii or .nii.gz, not 0 and not NaN in voxels of interest (default: all)")
    made.add_argument(
        "--degree", type=whole, default=4, metavar="N", help="even degree of the orientation function (default: 4)"
    )
    made.add_argument("--count", type=whole, default=3, metavar="K", help="most peaks of a voxel (default: 3)")
    made.add_argument(
        "--min-separation",
        type=number,
        default=25.0,
        metavar="DEG",
        help="least angle between two peaks, degrees (default: 25)",
    )
    made.add_argument(
        "--relative-threshold",
        type=number,
        default=0.5,
        metavar="X",
        help="least value of a peak, as a part of the voxel's largest (default: 0.5)",
    )
    method = made.add_argument_group("method")
    library_options(method, "dwi_options", CsaOptions, _CSA)
    library_options(method, "dwi_options", PeaksOptions, _PEAKS)
    made.add_argument(
        "--out", required=True, metavar="FILE", help=".nii or .nii.gz for MRtrix' layout, .npz for dipy's"
    )


def _mask(given: argparse.Namespace, signals: Any) -> Any:
    if given.mask is None:
        return None
    shape = signals.shape[:3]
    image = nifti.read(given, "--mask", given.mask, (3, 4))
    array = nifti.samples("--mask", given.mask, image)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if array.shape != shape:
        raise Failure(f"--mask: {given.mask}: has shape {array.shape}, the image {shape}")
    off, half = _distance(image.affine, signals.affine, shape), 0.5 * _side(signals.affine)
    if not off <= half:
        problem = f"lies up to {off:.3g} mm from the voxels of the image, at most half a voxel ({half:.3g} mm) is allowed"
        raise Failure(f"--mask: {given.mask}: {problem}")
    # NaN, which some programs write outside the brain, compares as different from 0.
    inside = (array != 0) & ~np.isnan(array)
    if not inside.any():
        raise Failure(f"--mask: {given.mask}: has no voxel of interest, all are 0 or NaN")
    return inside


def _distance(one: Any, other: Any, shape: tuple[int, ...]) -> float:
    """The largest distance in mm between the places of a voxel by two affines, which is that of a corner."""
    corners = np.array([[i, j, k, 1] for i in (0, shape[0] - 1) for j in (0, shape[1] - 1) for k in (0, shape[2] - 1)])
    apart = corners @ (np.asarray(one, np.float64) - np.asarray(other, np.float64)).T
    return float(np.linalg.norm(apart[:, :3], axis=1).max())


def _side(affine: Any) -> float:
    """The shortest side of a voxel in mm."""
    return float(np.linalg.norm(np.asarray(affine, np.float64)[:3, :3], axis=0).min())


def _default_threshold() -> float:
    return float(initialized(DwiOptions, "dwi_options").b0_threshold)


def _check_convergence(given: argparse.Namespace, found: dwi.Peaks) -> None:
    """Warns of voxels where no start converged, and fails if they are all that were searched."""
    lost = int(np.count_nonzero(found.status == constants.TENSOR_NO_PAIR))
    if lost == 0:
        return
    text = f"no start converged to the tolerance {found.info.tolerance:g}"
    if found.info.converged_starts == 0:
        raise Failure(f"{text} in any of {lost} voxels; nothing was written")
    warn(given, f"{text} in {lost} voxels, which have no peak")


def run(given: argparse.Namespace) -> None:
    """Finds the peaks."""
    is_dipy = require_suffix("--out", given.out, *nifti.ENDINGS, ".npz") == ".npz"
    if given.count < 1:
        raise Usage(f"--count: is {given.count}, expected at least 1")
    if not 0 <= given.min_separation <= 90:
        raise Usage(f"--min-separation: is {given.min_separation:g}, expected 0 to 90 degrees")
    csa, search = chosen(given, list(_CSA)), chosen(given, list(_PEAKS))
    given.names.update(
        degree="--degree",
        min_separation="--min-separation",
        relative_threshold="--relative-threshold",
        bvals="--bval",
        bvecs="--bvec",
        threads="--threads",
    )
    basis: Any = "descoteaux07_legacy" if is_dipy else "mrtrix3"
    expect_inputs(
        given, ("IMAGE", given.image), ("--bval", given.bval), ("--bvec", given.bvec), ("--mask", given.mask)
    )
    with Outputs(given.force, given.files) as outputs, bar(given) as progress:
        place = outputs.add("--out", given.out)
        image = nifti.read(given, "IMAGE", given.image, (4,))
        voxels = math.prod(image.shape[:3])
        if voxels == 0:
            raise Failure(f"IMAGE: {given.image}: has shape {image.shape}, which is no voxel")
        # As many as arrays of 64 bits hold.
        most = (2**63 - 1) // (24 * voxels)
        if given.count > most:
            raise Usage(f"--count: is {given.count}, outside 1 to {most} for {voxels} voxels")
        scheme = nifti.scheme(given, given.bval, given.bvec, image.shape[3])
        mask = _mask(given, image)
        bvecs = scheme.bvecs if is_dipy else nifti.to_scanner(scheme.bvecs, image.affine)
        signals = nifti.samples("IMAGE", given.image, image)
        with machine(given) as (context, _):
            try:
                fitted = dwi.csa(
                    signals,
                    scheme.bvals,
                    bvecs,
                    given.degree,
                    basis,
                    mask=mask,
                    progress=progress,
                    context=context,
                    **csa,
                )
            except InvalidArgument as error:
                raise scheme.failure(given, error) or error from None
            threshold = given.b0_threshold
            nifti.warn_of_few_axes(given, scheme, _default_threshold() if threshold is None else threshold)
            found = dwi.peaks(
                fitted.sh,
                given.count,
                basis=basis,
                mask=mask,
                progress=progress,
                context=context,
                format="unit_value" if is_dipy else "mrtrix",
                missing="zero" if is_dipy else "nan",
                relative_threshold=given.relative_threshold,
                min_separation=float(np.radians(given.min_separation)),
                **search,
            )
        _check_convergence(given, found)
        if is_dipy:
            arrays = {
                "peak_dirs": found.directions,
                "peak_values": found.values,
                "shm_coeff": np.nan_to_num(fitted.sh, nan=0.0),
                "affine": image.affine,
            }
            save_npz(place, arrays)
        else:
            shape = (*image.shape[:3], 3 * given.count)
            nifti.write("--out", place, found.peaks.reshape(shape).astype(np.float32, copy=False), image.affine)
    counts = np.bincount(found.count.ravel(), minlength=given.count + 1)
    say(
        given,
        f"{given.out}: {found.count.size} voxels, "
        + ", ".join(f"{n} with {k}" for k, n in enumerate(counts))
        + " peaks",
    )
