"""Diffusion MRI: tensors from signals, spherical harmonics to tensors and back, fibre directions.

Volumes are arrays (.., measurements) or (.., coefficients), voxels in any number of leading axes and in either order.
Maxima of a fitted diffusivity are not fibre directions where fibres cross: take directions from an orientation
function. Directions are in the frame of the gradients.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _choices as w
from . import _constants as c
from . import _memory as memory
from . import _options
from ._batch import Batch, Outputs
from ._callback import Progress
from ._checked import at_least
from ._context import Context, Stream, choice, default_context, initialized, listed
from ._error import InvalidArgument, Wording, renaming, sized
from ._keywords import Known, apply, known, refuse_unknown
from ._lib import lib
from ._memory import Array
from ._rows import Rows, entries, infer_order
from ._sshopm_types import Info
from ._solver import PairSolver
from ._structs import DwiOptions
from ._tensor import Tensor
from ._typing import Unpack

Basis = Literal["canonical", "mrtrix3", "tournier07_legacy", "descoteaux07_legacy", "descoteaux07"]

PeaksBasis = w.Sh
BASES = {word: number for word, number in w.SH.items() if word != "tensor"}
_SIGNALS = ("float32", "float64", "uint8", "uint16", "int32")

FitOptions = _options.FitOptions
CsaOptions = _options.CsaOptions
PeaksOptions = _options.PeaksOptions
Options = _options.DwiOptions
_FIT_OPTIONS, _CSA_OPTIONS = known(FitOptions, "dwi_options"), known(CsaOptions, "dwi_options")
_PEAKS_OPTIONS = known(PeaksOptions, "dwi_options", "basis")
_OPTIONS = known(Options, "dwi_options")


@dataclass(frozen=True)
class Fit:
    """Diffusivity tensors of a volume."""

    tensors: Array
    """(.., entries), packed."""
    s0: Array
    """(..) mean signal without weighting."""
    status: Array
    """(..) `purlin.TENSOR_*`."""
    info: Info
    """The report of the call; `skipped_tensors` is -1 after a fit on a GPU, which does not count them."""


@dataclass(frozen=True)
class Orientation:
    """Orientation functions of a volume."""

    sh: Array
    """(.., coefficients)."""
    status: Array
    """(..) `purlin.TENSOR_*`."""
    info: Info
    """Counts, tolerance and seconds of the call."""


@dataclass(frozen=True)
class Peaks:
    """Directions of a volume; the rows beyond `count` are NaN, or 0 with `missing="zero"`."""

    peaks: Array
    """(.., K, 4) unit x, y, z and value; (.., K, 3) direction times amplitude with `format="mrtrix"`."""
    count: Array
    """(..) directions found in each voxel, at most K."""
    status: Array
    """(..) `purlin.TENSOR_*`."""
    info: Info
    """Counts, tolerance and seconds of the call."""

    @property
    def directions(self) -> Array:
        """x, y, z of each peak, (.., K, 3): unit vectors, or times the value if `peaks` has no fourth column."""
        return self.peaks[..., :3]

    @property
    def values(self) -> Array:
        """The value of each peak, (.., K)."""
        if self.peaks.shape[-1] == 4:
            return self.peaks[..., 3]
        values: Array = np.linalg.norm(self.peaks, axis=-1)
        return values


class _Volume:
    """A dense volume (.., length) as a tensor [length, voxels]; the same face as a `Batch`."""

    def __init__(
        self, name: str, array: object, dtype: np.dtype[Any] | None, context: Context, stream: Stream | None
    ) -> None:
        self.context = context
        self.on_device = memory.on_cuda(array)
        if self.on_device:
            where = memory.device_memory(array, stream.cuda_stream if stream else None, name)
        else:
            host = memory.to_numpy(array, name)
            taken = dtype is None and host.dtype.name in _SIGNALS
            where = memory.host_memory(host if taken else memory.real_array(host, dtype, name), name=name)
        self.rows = Rows(where, name)
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
    array = (memory.to_numpy(mask, "mask") != 0).astype(np.uint8)
    if volume.rows is not None:
        array = np.ascontiguousarray(volume.rows.flattened("mask", array))
    return _placed(volume, array)


class _Scan:
    """Signals with their scheme and mask as the library takes them."""

    def __init__(
        self,
        signals: object,
        bvals: object,
        bvecs: object,
        mask: object | None,
        context: Context | None,
        stream: Stream | None,
    ) -> None:
        given = signals
        if not memory.on_cuda(signals):
            host = memory.to_numpy(signals, "signals")
            # Small integers that the library does not know are exact in float32, at half the memory of float64.
            given = host.astype(np.float32) if host.dtype.name in ("int8", "int16", "bool") else host
        self.stream = stream
        self.volume = _Volume("signals", given, None, context or default_context(), stream)
        self.real = np.dtype(np.float64 if self.volume.dtype == np.float64 else np.float32)
        values = np.ascontiguousarray(memory.real_array(bvals, name="bvals"))
        vectors = np.ascontiguousarray(memory.real_array(bvecs, name="bvecs"))
        measurements = self.volume.rows.length
        if values.shape != (measurements,):
            raise ValueError(f"bvals: has shape {values.shape}, expected ({measurements},)")
        if vectors.shape != (measurements, 3):
            raise ValueError(f"bvecs: has shape {vectors.shape}, expected ({measurements}, 3)")
        self._scheme = (_placed(self.volume, values), _placed(self.volume, vectors))
        self._mask = _placed_mask(self.volume, mask)

    @property
    def handles(self) -> tuple[int | None, ...]:
        """The C arguments from the signals to the mask."""
        tensors = (self.volume.tensor, *self._scheme, self._mask)
        return tuple(None if tensor is None else tensor.handle for tensor in tensors)

    def like_the_volume(self, array: object | None) -> _Volume | None:
        """An array (.., N) with its voxels in the order of the signals'."""
        if array is None:
            return None
        volume = _Volume("weights", array, self.real, self.volume.context, self.stream)
        if (volume.rows.lead, volume.rows.order) != (self.volume.rows.lead, self.volume.rows.order):
            rows = np.ascontiguousarray(self.volume.rows.flattened_rows("weights", memory.real_array(array, self.real, "weights")))
            volume = _Volume("weights", rows, self.real, self.volume.context, self.stream)
        return volume


class Dwi(PairSolver):
    """Options on a context, for volumes of any size: `fit`, `csa` and `peaks` of this module without an object make one for one
    call. Calls of several threads wait for each other."""

    _name = "dwi"

    def __init__(
        self, *, progress: Progress | None = None, context: Context | None = None, **options: Unpack[Options]
    ) -> None:
        """Options that a call does not use are refused by that call."""
        raw = initialized(DwiOptions, "dwi_options")
        apply(raw, _OPTIONS, options)
        self._basis: PeaksBasis | None = options.get("basis")
        self._components = 3 if options.get("format") == "mrtrix" else 4
        self._shown = listed(**options)
        super().__init__(raw, progress, context)

    def fit(
        self,
        signals: object,
        bvals: object,
        bvecs: object,
        order: int,
        *,
        mask: object | None = None,
        weights: object | None = None,
        stream: Stream | None = None,
    ) -> Fit:
        """As the function `fit`, with the options of this object."""
        scan = _Scan(signals, bvals, bvecs, mask, self.context, stream)
        out = Outputs(scan.volume)
        fitted = np.empty((scan.volume.count, entries(order, 3)), scan.real)
        tensors = out.add_symmetric(fitted, order, 3)
        s0, s0_array = out.add((scan.volume.count,), scan.real)
        state, status_array = out.add((scan.volume.count,), np.int32)
        weighting = scan.like_the_volume(weights)
        given = weighting.tensor.handle if weighting else None
        outputs = (tensors.handle, s0.handle, state.handle)
        info = self._run("fit", out.queue, *scan.handles, given, *outputs, wording=_of_order)
        out.collect()
        shaped = scan.volume.shaped
        return Fit(tensors=shaped(fitted), s0=shaped(s0_array), status=shaped(status_array), info=info)

    def csa(
        self,
        signals: object,
        bvals: object,
        bvecs: object,
        degree: int,
        basis: Basis,
        *,
        mask: object | None = None,
        stream: Stream | None = None,
    ) -> Orientation:
        """As the function `csa`, with the options of this object."""
        scan = _Scan(signals, bvals, bvecs, mask, self.context, stream)
        out = Outputs(scan.volume)
        sh, sh_array = out.add((scan.volume.count, entries(degree, 3, "degree")), scan.real)
        state, status_array = out.add((scan.volume.count,), np.int32)
        number = choice("basis", basis, BASES)
        given = (number, sh.handle, state.handle)
        info = self._run("csa", out.queue, *scan.handles, *given, wording=_of_degree(degree))
        out.collect()
        return Orientation(sh=scan.volume.shaped(sh_array), status=scan.volume.shaped(status_array), info=info)

    def plan(self, source: object) -> Info:
        """The plan of `peaks`: starts, chunks, tolerance, host memory beside the peaks, and where it runs."""
        volume = self._voxels(source, None)
        return self._planned(volume.tensor.handle, wording=renaming(input="source"))

    def peaks_into(
        self,
        source: Tensor,
        peaks: Tensor,
        *,
        count: Tensor | None = None,
        status: Tensor | None = None,
        mask: Tensor | None = None,
        stream: Stream | None = None,
    ) -> Info:
        """`peaks` on tensors of the library, host or device, as in C."""
        outputs = (peaks.handle, count.handle if count else None, status.handle if status else None)
        queue, inside = stream.handle if stream else None, mask.handle if mask else None
        return self._run("peaks", queue, source.handle, inside, *outputs, wording=renaming(input="source"))

    def peaks(
        self, source: object, count: int = 5, *, mask: object | None = None, stream: Stream | None = None
    ) -> Peaks:
        """As the function `peaks`, with the `basis` of the options."""
        volume = self._voxels(source, stream)
        count = at_least("count", count, 1)
        out = Outputs(volume)
        with sized("count", count):
            found, peak_array = out.add((volume.count, count, self._components), volume.dtype)
        counts, count_array = out.add((volume.count,), np.int32)
        state, status_array = out.add((volume.count,), np.int32)
        inside = _placed_mask(volume, mask)
        info = self.peaks_into(volume.tensor, found, count=counts, status=state, mask=inside, stream=volume.stream)
        out.collect()
        return Peaks(
            peaks=volume.shaped(peak_array),
            count=volume.shaped(count_array),
            status=volume.shaped(status_array),
            info=info,
        )

    def _voxels(self, source: object, stream: Stream | None) -> _Volume | Batch:
        return _voxels(source, self._basis, self.context, stream)


def _voxels(
    source: object, basis: PeaksBasis | None, context: Context | None, stream: Stream | None
) -> _Volume | Batch:
    """Tensors, or coefficients in the named basis, which have the same shape."""
    if basis is None and not isinstance(source, Tensor):
        raise ValueError(
            "basis: is not given: 'tensor' for packed tensors, else the basis of the coefficients, "
            + ", ".join(repr(name) for name in BASES)
        )
    if basis is None or basis == "tensor":
        return Batch(source, None, 3, context, stream, name="source")
    return _Volume("source", _real("source", source), None, context or default_context(), stream)


def _of_order(text: str) -> str:
    """A message about the order of fitted tensors, as one about the argument `order`."""
    return _of_scheme(re.sub(r"^tensors: has (?:the odd )?order (\d+)", r"order: is \1", text))


def _of_scheme(text: str) -> str:
    """A message about a gradient, which is a row here."""
    return re.sub(r"^bvecs: column (?=\d)", "bvecs: row ", text)


def _of_degree(degree: int) -> Wording:
    """Messages about the number of coefficients, as ones about the argument `degree`."""
    counts = re.compile(r"^sh: has \d+ coefficients, .* with even L up to (\d+).*")
    return lambda text: _of_scheme(counts.sub(rf"degree: is {degree}, an even number from 2 to \1 is needed", text))


def _once(context: Context | None, progress: Progress | None, options: Any, known: Known) -> Dwi:
    """An object for one call, which knows the options of that call."""
    refuse_unknown(known, options)
    return Dwi(progress=progress, context=context, **options)


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

    float32, float64, uint8, uint16 and int32 signals are used in place, others copied once. Results are float64 from
    float64 signals, else float32.
    """
    with _once(context, progress, options, _FIT_OPTIONS) as dwi:
        return dwi.fit(signals, bvals, bvecs, order, mask=mask, weights=weights, stream=stream)


def csa(
    signals: object,
    bvals: object,
    bvecs: object,
    degree: int,
    basis: Basis,
    *,
    mask: object | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[CsaOptions],
) -> Orientation:
    """Orientation functions in constant solid angle from signals as for `fit`, of one shell: coefficients (.., U) up to
    the even `degree` in the named basis. Their maxima are fibre directions."""
    with _once(context, progress, options, _CSA_OPTIONS) as dwi:
        return dwi.csa(signals, bvals, bvecs, degree, basis, mask=mask, stream=stream)


def sh_to_tensor(sh: object, basis: Basis, *, context: Context | None = None, stream: Stream | None = None) -> Array:
    """Packed tensors (.., U) of order L from coefficients (.., U) of even degree up to L."""
    volume = _Volume("sh", _real("sh", sh), None, context or default_context(), stream)
    out = Outputs(volume)
    order = infer_order(volume.rows.length, 3, "sh")
    if order % 2:
        problem = f"sh: has {volume.rows.length} coefficients, those of an even degree are 6, 15, 28, 45, .."
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, problem)
    packed = np.empty((volume.count, volume.rows.length), volume.dtype)
    tensors = out.add_symmetric(packed, order, 3)
    volume.context._run(
        lib.purlin_dwi_sh_to_tensor,
        volume.context.handle,
        out.queue,
        volume.tensor.handle,
        choice("basis", basis, BASES),
        tensors.handle,
    )
    out.collect()
    return volume.shaped(packed)


def tensor_to_sh(
    tensors: object, basis: Basis, *, context: Context | None = None, stream: Stream | None = None
) -> Array:
    """Coefficients (.., U) in the given basis from packed tensors (.., U) of even order."""
    batch = Batch(tensors, None, 3, context, stream)
    out = Outputs(batch)
    sh, array = out.add((batch.count, entries(batch.order, 3)), batch.dtype)
    batch.context._run(
        lib.purlin_dwi_tensor_to_sh,
        batch.context.handle, out.queue, batch.tensor.handle, choice("basis", basis, BASES), sh.handle,
    )
    out.collect()
    return batch.shaped(array)


def peaks_into(
    source: Tensor,
    peaks: Tensor,
    *,
    basis: PeaksBasis | None = None,
    count: Tensor | None = None,
    status: Tensor | None = None,
    mask: Tensor | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[PeaksOptions],
) -> Info:
    """`peaks` on tensors of the library, host or device, as in C: `peaks` is [4, K, T] or [3, K, T]. A symmetric `source`
    needs no basis: its type determines it."""
    given: Any = options if basis is None else {**options, "basis": basis}
    with _once(context or source.context, progress, given, _PEAKS_OPTIONS) as dwi:
        return dwi.peaks_into(source, peaks, count=count, status=status, mask=mask, stream=stream)


def peaks(
    source: object,
    count: int = 5,
    *,
    basis: PeaksBasis | None = None,
    mask: object | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[PeaksOptions],
) -> Peaks:
    """The `count` strongest directions of each voxel.

    `source` is packed tensors (.., U) of even order, with `basis="tensor"`, or spherical-harmonic coefficients (.., U) in
    the named basis. The two have the same shape, so that there is no default; a symmetric `purlin.Tensor` alone needs no
    name.
    """
    if basis is None and not isinstance(source, Tensor):
        _voxels(source, basis, context, stream)
    given: Any = options if basis is None else {**options, "basis": basis}
    where = context or (source.context if isinstance(source, Tensor) else None)
    with _once(where, progress, given, _PEAKS_OPTIONS) as dwi:
        return dwi.peaks(source, count, mask=mask, stream=stream)


def _real(name: str, array: object) -> object:
    """Coefficients as they are on a device, as float32 or float64 on the host."""
    return array if memory.on_cuda(array) else memory.real_array(array, name=name)


__all__ = [
    "BASES",
    "Basis",
    "CsaOptions",
    "Dwi",
    "Fit",
    "FitOptions",
    "Info",
    "Options",
    "Orientation",
    "Peaks",
    "PeaksBasis",
    "PeaksOptions",
    "csa",
    "fit",
    "peaks",
    "peaks_into",
    "sh_to_tensor",
    "tensor_to_sh",
]
