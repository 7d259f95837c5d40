"""NIfTI images through nibabel, and the text files of b-values and gradients."""

from __future__ import annotations

import argparse
import gzip
import importlib
import math
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import contents, existing, load_text
from .failures import Failure, in_options
from .options import warn
from .outputs import suffix_of, writing

ENDINGS = (".nii", ".nii.gz")
# Bytes of a header and of the four that say that no extension follows.
HEADER_BYTES = 352
# Eigenvalues below this part of the number of axes count as zero: gradient tables have about six digits.
_RANK = 1e-10
# Bytes that are unpacked at a time.
_PIECE = 2**20


def nibabel(argument: str) -> Any:
    """The package nibabel."""
    try:
        return importlib.import_module("nibabel")
    except ImportError:
        raise Failure(f"{argument}: NIfTI files need the package nibabel: pip install nibabel") from None


def _size(argument: str, path: str) -> int:
    """Bytes of the contents. A compressed file is read to its end, where its check sum and its length are: nibabel stops
    before them."""
    if suffix_of(path) != ".nii.gz":
        return os.stat(path).st_size
    size = 0
    with contents(argument, path, "a whole gzip file"), gzip.open(path) as file:
        while piece := file.read(_PIECE):
            size += len(piece)
    return size


@contextmanager
def _notes(library: Any) -> Iterator[list[str]]:
    """The messages that nibabel logs meanwhile, and else would write to stderr."""
    logger, found = library.imageglobals.logger, []

    def keep(record: Any) -> bool:
        found.append(record.getMessage())
        return False

    logger.addFilter(keep)
    try:
        yield found
    finally:
        logger.removeFilter(keep)


def _expect_samples(argument: str, path: str, image: Any, size: int) -> None:
    """Refuses an image whose header says more samples than there are bytes, before memory is taken for them."""
    shape = tuple(int(length) for length in image.shape)
    if min(shape) < 0:
        raise Failure(f"{argument}: {path}: has shape {shape}, expected sizes of at least 0")
    begin = int(image.dataobj.offset)
    if begin < 0:
        raise Failure(f"{argument}: {path}: vox_offset: is {begin}, expected at least 0")
    end = begin + math.prod(shape) * int(image.dataobj.dtype.itemsize)
    if end > size:
        raise Failure(f"{argument}: {path}: ends before its samples: has {size} bytes, its header says {end}")


def read(given: argparse.Namespace, argument: str, path: str, axes: tuple[int, ...]) -> Any:
    """The image of a file, which has one of the numbers of `axes`. Its samples are read by `samples`."""
    library = nibabel(argument)
    existing(given, argument, path)
    if suffix_of(path) not in ENDINGS:
        raise Failure(f"{argument}: is {path}, expected a name that ends in .nii or .nii.gz")
    size = _size(argument, path)
    try:
        with _notes(library) as notes:
            image = library.load(path)
    except (
        library.filebasedimages.ImageFileError,
        library.spatialimages.HeaderDataError,
        OSError,
        EOFError,
        OverflowError,
        ValueError,
        zlib.error,
    ) as error:
        raise Failure(f"{argument}: {path}: is not a NIfTI image: {error}") from None
    if image.get_data_dtype().kind not in "iuf":
        kind = image.header.get_value_label("datatype")
        raise Failure(f"{argument}: {path}: has samples of type {kind}, expected real numbers")
    if len(image.shape) not in axes:
        wanted = " or ".join(str(number) for number in axes)
        raise Failure(f"{argument}: {path}: has {len(image.shape)} axes, expected {wanted}")
    _expect_samples(argument, path, image, size)
    if not np.isfinite(image.affine).all():
        raise Failure(f"{argument}: {path}: has an affine with NaN or infinity, expected finite numbers")
    if np.linalg.matrix_rank(image.affine[:3, :3]) < 3:
        raise Failure(f"{argument}: {path}: has a singular affine, expected one with three axes")
    for note in notes:
        warn(given, f"{argument}: {path}: {note}")
    return image


def samples(argument: str, path: str, image: Any, dtype: Any = None) -> Any:
    """The samples, scaled as the header says: in the type of the file where it does not scale, else float32."""
    try:
        slope, inter = image.header.get_slope_inter()
        if (slope is None or slope == 1) and (inter is None or inter == 0):
            return np.asanyarray(image.dataobj)
        return image.get_fdata(dtype=np.float32 if dtype is None else dtype, caching="unchanged")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise Failure(f"{argument}: {path}: ends before its samples: {error}") from None


def write(argument: str, path: Path, array: Any, affine: Any) -> None:
    """A NIfTI-1 image, or of more than 32767 samples along an axis a NIfTI-2 image."""
    library = nibabel(argument)
    kind = library.Nifti1Image if max(array.shape) < 2**15 else library.Nifti2Image
    image = kind(array, affine)
    image.header.set_xyzt_units("mm")
    with writing(path):
        image.to_filename(path)


def volume_header(shape: tuple[int, ...], dtype: Any, spacing: Any, origin: Any) -> bytes:
    """The first `HEADER_BYTES` of a file of samples [x, y, z], x fastest, with distances and the position of the first sample
    in the axes of ITK and DICOM (x to the left, y to the back), which are the negative ones of NIfTI."""
    library = nibabel("--out")
    affine = np.diag([-spacing[0], -spacing[1], spacing[2], 1.0])
    affine[:3, 3] = -origin[0], -origin[1], origin[2]
    image = library.Nifti1Image(np.zeros((1, 1, 1), dtype), affine)
    header = image.header
    try:
        header.set_data_shape(shape)
    except library.spatialimages.HeaderDataError as error:
        raise Failure(f"--out: a NIfTI-1 file cannot have the shape {shape}: {error}; write .mha instead") from None
    # The shape of one voxel has set distances of its own.
    header.set_zooms(spacing)
    header.set_sform(affine, 1)
    header.set_qform(affine, 1)
    header.set_xyzt_units("mm")
    header["vox_offset"] = HEADER_BYTES
    content: bytes = header.binaryblock
    return content + bytes(4)


def _numbers(given: argparse.Namespace, argument: str, path: str) -> Any:
    existing(given, argument, path)
    return load_text(argument, path, "a table of numbers")


@dataclass(frozen=True)
class Scheme:
    """b-values (N,) and gradients (N, 3) of two text files. Gradients that are not numbers stay so: some programs write them
    for volumes without weighting, where they are not read."""

    bvals: Any
    bvecs: Any
    bval_file: str
    bvec_file: str
    _is_transposed: bool

    def failure(self, given: argparse.Namespace, error: Exception) -> Failure | None:
        """The error of the library about the numbers of a file, or about one by its place there; None for any other error."""
        found = re.match(r"(bvals|bvecs): (?:(?:element|row) (\d+) )?(.*)", str(error))
        if found is None:
            return None
        argument, path, line = "--bval", self.bval_file, "number"
        if found[1] == "bvecs":
            argument, path, line = "--bvec", self.bvec_file, "column" if self._is_transposed else "row"
        place = "" if found[2] is None else f"{line} {found[2]} (from 0) "
        return Failure(f"{argument}: {path}: {place}{in_options(given, found[3])}")


def scheme(given: argparse.Namespace, bval: str, bvec: str, volumes: int) -> Scheme:
    """The scheme of the two text files, the gradients in either orientation."""
    bvals = _numbers(given, "--bval", bval).ravel()
    bvecs = _numbers(given, "--bvec", bvec)
    if bvals.size != volumes:
        raise Failure(f"--bval: {bval}: has {bvals.size} numbers, the image has {volumes} volumes")
    # Also of three volumes, where FSL's orientation is the usual one.
    is_transposed = bvecs.shape == (3, volumes)
    if is_transposed:
        bvecs = bvecs.T
    if bvecs.shape != (volumes, 3):
        rows, cols = bvecs.shape
        raise Failure(f"--bvec: {bvec}: has {rows} x {cols} numbers, expected 3 x {volumes} or {volumes} x 3")
    # A direction is of three numbers: one that is none makes the others useless.
    known = np.isfinite(bvecs).all(axis=1, keepdims=True)
    return Scheme(bvals, np.where(known, bvecs, np.nan), bval, bvec, is_transposed)


def warn_of_few_axes(given: argparse.Namespace, scheme: Scheme, threshold: float) -> None:
    """Warns if the gradients of the weighted volumes determine fewer coefficients than the degree has: the smoothing alone
    determines the others."""
    axes = scheme.bvecs[scheme.bvals > threshold]
    # The inner products of polynomials of the degree at the axes.
    rank = int(np.linalg.matrix_rank((axes @ axes.T) ** given.degree, tol=_RANK * len(axes), hermitian=True))
    wanted = (given.degree + 1) * (given.degree + 2) // 2
    if rank < wanted:
        text = f"its gradients determine {rank} of the {wanted} coefficients of degree {given.degree}, and --smoothing the others"
        warn(given, f"--bvec: {scheme.bvec_file}: {text}")


def to_scanner(bvecs: Any, affine: Any) -> Any:
    """Gradients of FSL's convention in the axes of the scanner (x to the right, y to the front, z to the head), as MRtrix
    has them: FSL's are along the image's axes, the first of which counts backwards in an image of positive determinant."""
    linear = np.asarray(affine, np.float64)[:3, :3]
    left, _, right = np.linalg.svd(linear)
    flip = np.array([-1.0, 1.0, 1.0]) if np.linalg.det(linear) > 0 else np.ones(3)
    return np.ascontiguousarray((bvecs * flip) @ (left @ right).T)
