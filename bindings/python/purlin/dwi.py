"""Diffusion MRI: tensors from signals, spherical harmonics to tensors and back, fibre directions.

Volumes are arrays (.., measurements) or (.., coefficients), voxels in any number of leading axes and in either order.
Maxima of a fitted diffusivity are not fibre directions where fibres cross: take directions from an orientation
function. Directions are in the frame of the gradients.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from . import _constants as c
from . import _memory as memory
from ._batch import Batch, Outputs, Rows, infer_order
from ._callback import Progress, ProgressRelay
from ._context import Context, Stream, choice, default_context, initialised
from ._lib import DwiFitOptions, DwiPeaksOptions, SshopmInfo, lib
from ._memory import Array
from ._tensor import Tensor
from .sshopm import METHODS, STARTS, Info, StartKind, apply, read_info

if TYPE_CHECKING:
    from typing_extensions import Unpack

Basis = Literal[
    "canonical", "mrtrix3", "tournier07_legacy", "descoteaux07_legacy", "descoteaux07"
]

BASES = {
    "canonical": c.SH_CANONICAL,
    "mrtrix3": c.SH_MRTRIX3,
    "tournier07_legacy": c.SH_TOURNIER07_LEGACY,
    "descoteaux07_legacy": c.SH_DESCOTEAUX07_LEGACY,
    "descoteaux07": c.SH_DESCOTEAUX07,
}
FORMATS = {"unit_value": c.PEAKS_UNIT_VALUE, "mrtrix": c.PEAKS_MRTRIX}
MISSING = {"nan": c.MISSING_NAN, "zero": c.MISSING_ZERO}
WEIGHTINGS = {"ols": c.DWI_OLS, "wls": c.DWI_WLS}
NONPOSITIVE = {"clamp": c.DWI_CLAMP, "skip": c.DWI_SKIP}


class FitOptions(TypedDict, total=False):
    """Options of `fit`; what is left out keeps the library's default."""

    weighting: Literal["ols", "wls"]
    nonpositive: Literal["clamp", "skip"]
    b0_threshold: float
    clamp: float


class PeaksOptions(TypedDict, total=False):
    """Options of `peaks`; what is left out keeps the library's default."""

    format: Literal["unit_value", "mrtrix"]
    missing: Literal["nan", "zero"]
    start_kind: StartKind
    max_iterations: int
    method: Literal["hybrid", "power"]
    starts: int
    seed: int
    absolute_threshold: float
    relative_threshold: float
    min_separation: float
    tolerance: float
    merge_angle: float


_FIT_OPTIONS = frozenset(FitOptions.__annotations__)
_PEAKS_OPTIONS = frozenset(PeaksOptions.__annotations__)
_FIT_WORDS = {"weighting": WEIGHTINGS, "nonpositive": NONPOSITIVE}
_PEAKS_WORDS = {"format": FORMATS, "missing": MISSING, "start_kind": STARTS, "method": METHODS}


@dataclass(frozen=True)
class Fit:
    """Diffusivity tensors of a volume."""

    tensors: Array
    """(.., entries), packed."""
    s0: Array
    """(..) mean signal without weighting."""
    status: Array
    """(..) `purlin.TENSOR_*`."""


@dataclass(frozen=True)
class Peaks:
    """Directions of a volume; the rows beyond `count` are NaN, or 0 with `missing="zero"`."""

    peaks: Array
    """(.., K, 4) unit x, y, z and value; (.., K, 3) direction times amplitude with `format="mrtrix"`."""
    count: Array
    """(..) directions found."""
    status: Array
    """(..) `purlin.TENSOR_*`."""
    info: Info
    """What the call did."""

    @property
    def directions(self) -> Array:
        """(.., K, 3)."""
        return self.peaks[..., :3]

    @property
    def values(self) -> Array:
        """(.., K)."""
        if self.peaks.shape[-1] == 4:
            return self.peaks[..., 3]
        values: Array = np.linalg.norm(self.peaks, axis=-1)
        return values


class _Volume:
    """A dense volume (.., length) as a tensor [length, voxels]; the same face as a `Batch`."""

    def __init__(self, array: object, dtype: np.dtype[Any] | None, context: Context, stream: Stream | None) -> None:
        self.context = context
        self.on_device = memory.on_cuda(array)
        if self.on_device:
            where = memory.device_memory(array, stream.cuda_stream if stream else None)
        else:
            host = memory.to_numpy(array)
            taken = dtype is None and host.dtype.name in ("float32", "float64", "uint16")
            where = memory.host_memory(host if taken else memory.real_array(host, dtype))
        self.rows = Rows(where)
        self.count = self.rows.count
        self.dtype = memory.dtype_of(where.dtype)
        self.tensor = Tensor.from_memory(self.rows.flat(), context)
        self.stream = stream
        if stream is None and self.on_device:
            self.stream = Stream(context, cuda_stream=memory._CUDA_LEGACY_STREAM)

    def shaped(self, flat: Array) -> Array:
        return self.rows.shaped(flat)


def _placed(volume: _Volume | Batch, array: Array) -> Tensor:
    """A small host array, column-major, where the volume is."""
    host = Tensor.from_memory(memory.host_memory(array).reversed(), volume.context)
    if not volume.on_device:
        return host
    device = Tensor.create(host.shape, array.dtype, "device", order="F", context=volume.context)
    host.copy_to(device, stream=volume.stream)
    return device


def _placed_mask(volume: _Volume | Batch, mask: object | None) -> Tensor | None:
    if mask is None:
        return None
    array = (memory.to_numpy(mask) != 0).astype(np.uint8)
    if volume.rows is not None:
        array = np.ascontiguousarray(volume.rows.flattened("mask", array))
    return _placed(volume, array)


def fit(
    signals: object,
    bvals: object,
    bvecs: object,
    order: int,
    *,
    mask: object | None = None,
    weights: object | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[FitOptions],
) -> Fit:
    """Diffusivity tensors of even `order` from signals (.., N), b-values (N,) and unit gradients (N, 3).

    float32, float64 and uint16 signals are used in place, others become float64. Results are float64 from float64
    signals, else float32.
    """
    given = signals
    if not memory.on_cuda(signals):
        host = memory.to_numpy(signals)
        if host.dtype.kind in "iub" and host.dtype.itemsize <= 2 and host.dtype.name != "uint16":
            given = host.astype(np.float32)  # exact, at half the memory of float64
        else:
            given = host
    volume = _Volume(given, None, context or default_context(), stream)
    real = np.dtype(np.float64) if volume.dtype == np.float64 else np.dtype(np.float32)
    gradients = memory.real_array(bvecs, real)
    if gradients.ndim != 2 or gradients.shape != (volume.rows.length, 3):
        raise ValueError(f"bvecs: has shape {gradients.shape}, expected ({volume.rows.length}, 3)")
    raw = initialised(DwiFitOptions, "dwi_fit_options")
    apply(raw, _FIT_OPTIONS, options, _FIT_WORDS)
    relay = ProgressRelay(progress, raw)
    out = Outputs(volume)
    fitted = np.empty((volume.count, (order + 1) * (order + 2) // 2), real)
    tensors = out.add_symmetric(fitted, order, 3)
    s0, s0_array = out.add((volume.count,), real)
    state, status_array = out.add((volume.count,), np.int32)
    weighting = None
    if weights is not None:
        weighting = _Volume(weights, real, volume.context, stream)
        if weighting.rows.lead != volume.rows.lead or weighting.rows.order != volume.rows.order:
            flat = volume.rows.flattened_rows(memory.real_array(weights, real))
            weighting = _Volume(flat, real, volume.context, stream)
    placed_mask = _placed_mask(volume, mask)
    status = lib.purlin_dwi_fit(
        volume.context.handle,
        out.queue,
        volume.tensor.handle,
        _placed(volume, np.ascontiguousarray(memory.real_array(bvals, real).ravel())).handle,
        _placed(volume, np.ascontiguousarray(gradients)).handle,
        placed_mask.handle if placed_mask else None,
        weighting.tensor.handle if weighting else None,
        ctypes.byref(raw),
        tensors.handle,
        s0.handle,
        state.handle,
    )
    volume.context.finish(status, relay)
    out.collect()
    return Fit(
        tensors=volume.shaped(fitted), s0=volume.shaped(s0_array), status=volume.shaped(status_array)
    )


def sh_to_tensor(
    sh: object, basis: Basis, *, context: Context | None = None, stream: Stream | None = None
) -> Array:
    """Packed tensors (.., U) of order L from coefficients (.., U) of even degree up to L."""
    volume = _Volume(_real(sh), None, context or default_context(), stream)
    out = Outputs(volume)
    packed = np.empty((volume.count, volume.rows.length), volume.dtype)
    tensors = out.add_symmetric(packed, infer_order(volume.rows.length, 3), 3)
    volume.context.finish(
        lib.purlin_dwi_sh_to_tensor(
            volume.context.handle,
            out.queue,
            volume.tensor.handle,
            choice("basis", basis, BASES),
            tensors.handle,
        )
    )
    out.collect()
    return volume.shaped(packed)


def tensor_to_sh(
    tensors: object, basis: Basis, *, context: Context | None = None, stream: Stream | None = None
) -> Array:
    """Coefficients (.., U) in the given basis from packed tensors (.., U) of even order."""
    batch = Batch(tensors, None, 3, context, stream)
    out = Outputs(batch)
    sh, array = out.add((batch.count, (batch.order + 1) * (batch.order + 2) // 2), batch.dtype)
    batch.context.finish(
        lib.purlin_dwi_tensor_to_sh(
            batch.context.handle, out.queue, batch.tensor.handle, choice("basis", basis, BASES), sh.handle
        )
    )
    out.collect()
    return batch.shaped(array)


def peaks_into(
    source: Tensor,
    peaks: Tensor,
    *,
    basis: Basis | None = None,
    count: Tensor | None = None,
    status: Tensor | None = None,
    mask: Tensor | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[PeaksOptions],
) -> Info:
    """`peaks` on tensors of the library, host or device, as in C: `peaks` is [4, K, T] or [3, K, T]."""
    context = context or source.context
    raw = initialised(DwiPeaksOptions, "dwi_peaks_options")
    apply(raw, _PEAKS_OPTIONS, options, _PEAKS_WORDS)
    raw.basis = 0 if basis is None else choice("basis", basis, BASES)
    relay = ProgressRelay(progress, raw)
    info = initialised(SshopmInfo, "sshopm_info")
    outcome = lib.purlin_dwi_peaks(
        context.handle,
        stream.handle if stream else None,
        source.handle,
        mask.handle if mask else None,
        ctypes.byref(raw),
        peaks.handle,
        count.handle if count else None,
        status.handle if status else None,
        ctypes.byref(info),
    )
    context.finish(outcome, relay)
    return read_info(info)


def peaks(
    source: object,
    count: int = 5,
    *,
    basis: Basis | None = None,
    mask: object | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[PeaksOptions],
) -> Peaks:
    """The `count` strongest directions of each voxel.

    `source` is packed tensors (.., U) of even order, or spherical-harmonic coefficients (.., U) in the named basis.
    """
    volume: _Volume | Batch
    if basis is None:
        volume = Batch(source, None, 3, context, stream)
    else:
        volume = _Volume(_real(source), None, context or default_context(), stream)
    out = Outputs(volume)
    components = 3 if options.get("format") == "mrtrix" else 4
    found, peak_array = out.add((volume.count, count, components), volume.dtype)
    counts, count_array = out.add((volume.count,), np.int32)
    state, status_array = out.add((volume.count,), np.int32)
    info = peaks_into(
        volume.tensor,
        found,
        basis=basis,
        count=counts,
        status=state,
        mask=_placed_mask(volume, mask),
        progress=progress,
        context=volume.context,
        stream=volume.stream,
        **options,
    )
    out.collect()
    return Peaks(
        peaks=volume.shaped(peak_array),
        count=volume.shaped(count_array),
        status=volume.shaped(status_array),
        info=info,
    )


def _real(array: object) -> object:
    """Coefficients as they are on a device, as float32 or float64 on the host."""
    return array if memory.on_cuda(array) else memory.real_array(array)
