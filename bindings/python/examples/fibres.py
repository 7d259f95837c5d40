"""Fibre directions of a diffusion-MRI volume: orientation functions in constant solid angle, then their maxima.

    python fibres.py [VOLUME.nii BVALS BVECS]

Without arguments it reads the small volume beside the C example. NIfTI is read here, without a further package.
"""

from __future__ import annotations

import struct
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import purlin

DATA = Path(__file__).resolve().parents[3] / "examples-c" / "data"
# NIfTI-1 type codes of images that scanners and their tools write.
DTYPES = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4"}


def read_nifti(path: Path) -> npt.NDArray[Any]:
    """The samples of an uncompressed single-file NIfTI-1 image, scaled by its header, first axis fastest."""
    content = path.read_bytes()
    order = next((o for o in "<>" if len(content) >= 348 and struct.unpack_from(o + "i", content)[0] == 348), None)
    if order is None or content[344:348] != b"n+1\0":
        raise ValueError(f"{path}: is not a single-file NIfTI-1 image")
    axes, *extents = struct.unpack_from(order + "8h", content, 40)
    (code,) = struct.unpack_from(order + "h", content, 70)
    offset, slope, intercept = struct.unpack_from(order + "3f", content, 108)
    if not 1 <= axes <= 7 or min(extents[:axes]) < 1 or code not in DTYPES:
        raise ValueError(f"{path}: has {axes} axes of type {code}, which this program does not read")
    shape = tuple(extents[:axes])
    dtype = np.dtype(order + DTYPES[code])
    samples = np.frombuffer(content, dtype, int(np.prod(shape)), int(offset)).reshape(shape, order="F")
    if slope in (0, 1) and intercept == 0:
        return samples
    return (samples * np.float32(slope) + np.float32(intercept)).astype(np.float32)


def read_scheme(bvals: Path, bvecs: Path) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """b-values (N,) and gradients (N, 3) of the two text files, with the latter in either orientation."""
    weights = np.loadtxt(bvals).ravel()
    gradients = np.atleast_2d(np.loadtxt(bvecs))
    if gradients.shape[1] != 3 or gradients.shape[0] != len(weights):
        gradients = gradients.T
    return weights, gradients


def on(context: purlin.Context) -> str:
    """The device of a context, in words."""
    info = context.properties
    if info.backend == "cuda":
        return f"GPU {info.device}, {info.device_name}"
    isa = {"portable": "portable code", "avx2": "AVX2", "avx512": "AVX-512"}.get(info.cpu_isa, info.cpu_isa)
    return f"CPU, {isa}, {info.threads} thread{'s' if info.threads != 1 else ''}"


def row(name: str, value: str) -> None:
    print(f"  {name:<44} {value}")


def main(arguments: list[str]) -> None:
    names = arguments or [str(DATA / f"small_64D.{suffix}") for suffix in ("nii", "bval", "bvec")]
    volume_path, bvals_path, bvecs_path = map(Path, names)
    print(f"purlin {purlin.__version__} on the {on(purlin.default_context())}")
    signals = read_nifti(volume_path)
    bvals, bvecs = read_scheme(bvals_path, bvecs_path)

    start = time.perf_counter()
    orientation = purlin.dwi.csa(signals, bvals, bvecs, 4, "mrtrix3")
    middle = time.perf_counter()
    # Maxima at least half as high as the voxel's highest, and 25 degrees apart: the usual choice of the field.
    found = purlin.dwi.peaks(
        orientation.sh, 3, basis="mrtrix3", relative_threshold=0.5, min_separation=np.radians(25), missing="zero"
    )
    end = time.perf_counter()

    crossing = found.count >= 2
    cosine = abs((found.directions[..., 0, :] * found.directions[..., 1, :]).sum(-1))[crossing]
    angle = np.degrees(np.arccos(np.minimum(cosine, 1))).mean() if crossing.any() else 0.0
    row("voxels", f"{found.count.size} ({' x '.join(map(str, found.count.shape))})")
    row("with one fibre direction", str((found.count == 1).sum()))
    row("with a crossing of two", str((found.count == 2).sum()))
    row("with a crossing of three", str((found.count == 3).sum()))
    row("mean angle of the first two in a crossing", f"{angle:.1f} degrees")
    row("signals to orientation functions", f"{1e3 * (middle - start):.3f} ms")
    row("orientation functions to directions", f"{1e3 * (end - middle):.3f} ms")
    row("both together", f"{found.count.size / (end - start):.3g} voxels a second")
    print("  first voxels' directions and values:")
    for x in range(4):
        for peak in found.peaks[x, 0, 0, : found.count[x, 0, 0]]:
            print(f"    ({x}, 0, 0)  {peak[0]:7.4f} {peak[1]:7.4f} {peak[2]:7.4f}   {peak[3]:.4f}")


if __name__ == "__main__":
    main(sys.argv[1:])
