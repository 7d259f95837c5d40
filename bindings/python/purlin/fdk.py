"""Cone-beam CT: Feldkamp, Davis and Kress's reconstruction.

Lengths in mm, angles in radians. Arrays are in NumPy's habit, projections (views, rows, columns) and volumes (z, y, x),
and are taken in place; a `Tensor` is taken with the library's axes, [columns, rows, views] and [nx, ny, nz].
"""

from __future__ import annotations

import ctypes
import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from . import _options
from ._callback import Progress, ProgressRelay
from ._checked import at_least, flag
from ._context import Context, Group, Members, Stream, default_context, initialized, listed
from ._error import InvalidArgument, Wording, in_numpy_order, renaming
from ._interrupts import Interruption
from ._keywords import apply, known, report
from ._lib import lib
from ._memory import Array
from ._numbers import real
from ._protocols import SupportsArray, SupportsCuda
from ._reports import FdkFigures
from ._solver import Solver
from ._structs import FdkGeometry, FdkGrid, FdkOptions
from ._tensor import Tensor, integers
from ._types import OnDevice, OnHost
from ._typing import Unpack
from .blocks import Sink, Source, borrowed

AnyVolume = Union[SupportsArray, SupportsCuda, Tensor, Sink]
Volume = TypeVar("Volume", bound=AnyVolume)

Options = _options.FdkOptions
_OPTIONS = known(Options, "fdk_options")


@dataclass(frozen=True)
class Geometry:
    """Panel and views: a circular orbit with `angles`, or `matrices` (views, 3, 4) from mm to pixel indices."""

    detector_columns: int
    detector_rows: int
    column_pitch: float
    row_pitch: float
    source_to_axis: float = 0.0
    source_to_detector: float = 0.0
    column_offset: float = 0.0
    row_offset: float = 0.0
    angles: npt.ArrayLike | None = None
    matrices: npt.ArrayLike | None = None
    allow_inside_panel: bool = False

    def _raw(self) -> tuple[Any, object]:
        raw = initialized(FdkGeometry, "fdk_geometry")
        for name in (
            "detector_columns detector_rows source_to_axis source_to_detector column_pitch row_pitch column_offset row_offset "
            "allow_inside_panel"
        ).split():
            setattr(raw, name, getattr(self, name))
        keep = []
        if self.angles is not None:
            angles = memory.converted("angles", self.angles, np.float64)
            if np.ndim(self.angles) != 1:
                raise ValueError(f"angles: has shape {np.shape(self.angles)}, expected (views,)")
            raw.angles, raw.views = angles.ctypes.data, angles.size
            keep.append(angles)
        if self.matrices is not None:
            matrices = memory.converted("matrices", self.matrices, np.float64)
            if matrices.ndim != 3 or matrices.shape[1:] != (3, 4):
                raise ValueError(f"matrices: has shape {matrices.shape}, expected (views, 3, 4)")
            raw.matrices, raw.views = matrices.ctypes.data, matrices.shape[0]
            keep.append(matrices)
        return raw, keep


@dataclass(frozen=True)
class Grid:
    """Voxels, each triple as x, y, z: their number, their distance and the centre of the first one, mm."""

    size: tuple[int, int, int]
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]

    @classmethod
    def centred(cls, size: tuple[int, int, int], spacing: tuple[float, float, float]) -> Grid:
        """A grid centred on the isocentre; `spacing` in mm."""
        x, y, z = (-(n - 1) / 2 * step for n, step in zip(size, spacing))
        return cls(size, spacing, (x, y, z))


@dataclass(frozen=True)
class FdkInfo(FdkFigures):
    """The plan, and the report of the last run."""

    grid: Grid


Info = FdkInfo


def _wording(**arrays: object) -> Wording:
    """Messages of the library about these arguments, which have the axes of NumPy unless they are tensors."""
    turned = {name for name, given in arrays.items() if not isinstance(given, Tensor)}

    def wording(text: str) -> str:
        text = re.sub("^i0_image:", "i0:", text)
        return in_numpy_order(text) if text.partition(":")[0] in turned else text

    return wording


_FIELDS = {"size": ("nx", "ny", "nz"), "spacing": ("dx", "dy", "dz"), "origin": ("x0", "y0", "z0")}
# The fields of the C struct as those of `Grid`.
_GRID = renaming(**{name: f"{field}[{k}]" for field, names in _FIELDS.items() for k, name in enumerate(names)})


def _read_info(raw: Any) -> Info:
    grid = Grid((raw.nx, raw.ny, raw.nz), (raw.dx, raw.dy, raw.dz), (raw.x0, raw.y0, raw.z0))
    return report(Info, raw, grid=grid)


class Reconstruction(Solver[Info]):
    """A checked geometry, grid and options on a context: made once, used for many scans."""

    _name, _report = "fdk", "fdk_info"
    _read = staticmethod(_read_info)

    def __init__(
        self,
        geometry: Geometry,
        grid: Grid | None = None,
        *,
        progress: Progress | None = None,
        context: Context | None = None,
        **options: Unpack[Options],
    ) -> None:
        given: dict[str, Any] = dict(options)
        group: Group | None = given.pop("group", None)
        members = Members(context, group)
        self.geometry = geometry
        self._shown = listed(**options)
        raw_geometry, keep = geometry._raw()
        raw_grid = initialized(FdkGrid, "fdk_grid")
        if grid is not None:
            raw_grid.nx, raw_grid.ny, raw_grid.nz = (at_least(f"size[{k}]", n, 1) for k, n in enumerate(grid.size))
            raw_grid.dx, raw_grid.dy, raw_grid.dz = (real(f"spacing[{k}]", step) for k, step in enumerate(grid.spacing))
            raw_grid.x0, raw_grid.y0, raw_grid.z0 = (real(f"origin[{k}]", at) for k, at in enumerate(grid.origin))
        raw_options = initialized(FdkOptions, "fdk_options")
        apply(raw_options, _OPTIONS, given)
        if group is not None:
            raw_options.group = group.handle
        structs = ctypes.byref(raw_geometry), ctypes.byref(raw_grid), ctypes.byref(raw_options)
        super().__init__(members, ProgressRelay(progress, raw_options), *structs, wording=_GRID)
        del keep

    def _about(self) -> str:
        panel = (self.views, self.geometry.detector_rows, self.geometry.detector_columns)
        return f"{panel} to {self.shape}, {super()._about()}"

    def plan(self) -> Info:
        """The choices, and the plan of a run from a source to a sink; while a scan is being pushed, for that scan,
        with the views pushed so far. Bytes and seconds of a run are 0."""
        return self._planned()

    def last_info(self) -> Info:
        """The report of the last run, of a whole scan or of one that was pushed."""
        return super().last_info()

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the volume, (z, y, x)."""
        nx, ny, nz = self.plan().grid.size
        return nz, ny, nx

    def set_counts(
        self, i0: float | npt.ArrayLike | None, dark: npt.ArrayLike | None = None, epsilon: float = 0.0
    ) -> None:
        """From now on the input is raw counts: `i0` where nothing is in the way, and `dark` without radiation, each one number
        or (rows, columns). None: line integrals again."""
        if i0 is not None and np.ndim(i0) == 0 and real("i0", i0) == 0.0:
            # The library reads 0 as line integrals.
            text = "i0: is 0, expected above 0, or None for line integrals"
            raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, text)
        number, images = _counts(i0, dark, (self.geometry.detector_rows, self.geometry.detector_columns))
        tensors = [None if image is None else borrowed(image, self.context) for image in images]
        wording = _wording(i0=i0, dark=dark)
        handles = [None if tensor is None else tensor.handle for tensor in tensors]
        self._run(lib.purlin_fdk_set_counts, number, *handles, real("epsilon", epsilon), wording=wording)

    def weights(self) -> tuple[Array, Array]:
        """Weights that a scan is reconstructed with: of rays measured twice, (views, columns); of views, (views,)."""
        views = self.views
        redundancy = np.empty((views, self.geometry.detector_columns))
        angular = np.empty(views)
        rays, gaps = borrowed(redundancy, self.context), borrowed(angular, self.context)
        self._run(lib.purlin_fdk_weights, rays.handle, gaps.handle)
        return redundancy, angular

    @property
    def views(self) -> int:
        """Number of views of the geometry."""
        given = self.geometry.angles if self.geometry.angles is not None else self.geometry.matrices
        return len(np.asarray(given))

    @overload
    def reconstruct(self, projections: OnDevice, volume: None = None, *, stream: Stream | None = None) -> Array | Tensor: ...

    @overload
    def reconstruct(self, projections: OnHost, volume: None = None, *, stream: Stream | None = None) -> Array: ...

    @overload
    def reconstruct(self, projections: object, volume: Volume, *, stream: Stream | None = None) -> Volume: ...

    def reconstruct(
        self, projections: object, volume: AnyVolume | None = None, *, stream: Stream | None = None
    ) -> AnyVolume:
        """The whole scan: an array, a `Tensor` or a `Source`, into `volume`: an array, a `Tensor` or a `Sink`.

        Without `volume` a float32 array (z, y, x) is made, or for projections on a device a `Tensor` (x, y, z) there. Returns
        the volume."""
        made = self._volume(projections) if volume is None else volume
        _require_volume(volume)
        stream = self._stream(projections, stream)
        queue = stream.handle if stream else None
        if isinstance(projections, Source) or isinstance(made, Sink):
            source = (
                projections if isinstance(projections, Source) else Source.from_array(projections, context=self.context)
            )
            sink = made if isinstance(made, Sink) else Sink.to_array(made, context=self.context)
            with self._relay.call() as running:
                status = lib.purlin_fdk_reconstruct_to_sink(self.handle, queue, source.handle, sink.handle, None)
            source.raise_caught()
            sink.raise_caught()
        else:
            given = borrowed(projections, self.context, stream, "projections")
            out = borrowed(made, self.context, stream, "volume")
            with self._relay.call() as running:
                status = lib.purlin_fdk_reconstruct(self.handle, queue, given.handle, out.handle, None)
        self._members.finish(status, running, _wording(projections=projections, volume=made))
        return made

    def begin(self, *, stream: Stream | None = None) -> None:
        """Starts a scan that arrives in pieces, and drops one that was started before."""
        self._members.finish(lib.purlin_fdk_begin(self.handle, stream.handle if stream else None))

    def push(self, views: int | Sequence[int], projections: object) -> None:
        """Views as they arrive, (rows, columns) or (count, rows, columns), in any order, each once. Returns before the
        GPU is done with them. `progress` gets the views pushed and all views."""
        has_axis = isinstance(views, Iterable) and getattr(views, "ndim", None) != 0
        numbers: Any = list(views) if has_axis else [views]  # type: ignore[arg-type]
        given = borrowed(projections, self.context, name="projections")
        with self._relay.call() as running:
            status = lib.purlin_fdk_push(self.handle, len(numbers), integers(numbers, "views"), given.handle)
        self._members.finish(status, running, _wording(projections=projections))

    @overload
    def finish(self, volume: None = None) -> Array: ...

    @overload
    def finish(self, volume: Volume) -> Volume: ...

    def finish(self, volume: AnyVolume | None = None) -> AnyVolume:
        """The volume of the views that were pushed; see `reconstruct`. The scan is given up when its volume has been handed
        over, when it was cancelled, and after a failure of the device; after a full disk it is kept for another finish."""
        made = np.empty(self.shape, np.float32) if volume is None else volume
        _require_volume(volume)
        if isinstance(made, Sink):
            with self._relay.call() as running:
                status = lib.purlin_fdk_finish_to_sink(self.handle, made.handle, None)
            made.raise_caught()
        else:
            out = borrowed(made, self.context, name="volume")
            with self._relay.call() as running:
                status = lib.purlin_fdk_finish(self.handle, out.handle, None)
        self._members.finish(status, running, _wording(volume=made))
        return made

    def cancel(self) -> None:
        """Makes the running call raise `Cancelled`, and drops a scan that is being pushed: push and finish raise it until
        the next begin. May be called from any thread."""
        super().cancel()

    def weight(self, views: Sequence[int], projections: object) -> Array:
        """Cosine and redundancy weights alone, (count, rows, columns)."""
        return self._piece("projections", lib.purlin_fdk_weight, views, projections, self.geometry.detector_columns)

    def filter(self, views: Sequence[int], weighted: object) -> Array:
        """The ramp filter alone; a half fan's rows get longer, see `info.filtered_columns`."""
        return self._piece("weighted", lib.purlin_fdk_filter, views, weighted, self.plan().filtered_columns)

    def backproject(self, views: Sequence[int], filtered: object, volume: Any) -> None:
        """Adds the back-projection of filtered views to a volume."""
        numbers = list(views)
        _require_volume(volume)
        given = borrowed(filtered, self.context, name="filtered")
        out = borrowed(volume, self.context, name="volume")
        arguments = (None, len(numbers), integers(numbers, "views"), given.handle, out.handle)
        self._run(lib.purlin_fdk_backproject, *arguments, wording=_wording(filtered=filtered, volume=volume))

    def project(self, ellipsoids: npt.ArrayLike) -> Array:
        """Exact projections of ellipsoids, rows of density, three half axes, centre and rotation about z."""
        out = np.empty((self.views, self.geometry.detector_rows, self.geometry.detector_columns), np.float32)
        given = borrowed(memory.converted("ellipsoids", ellipsoids, np.float64), self.context)
        lines = borrowed(out, self.context)
        self._run(lib.purlin_fdk_ellipsoids, None, given.handle, lines.handle, wording=_wording(ellipsoids=ellipsoids))
        return out

    def draw(self, ellipsoids: npt.ArrayLike) -> Array:
        """Their density at the centre of each voxel, (z, y, x)."""
        out = np.empty(self.shape, np.float32)
        given = borrowed(memory.converted("ellipsoids", ellipsoids, np.float64), self.context)
        volume = borrowed(out, self.context)
        self._run(lib.purlin_fdk_ellipsoid_volume, given.handle, volume.handle, wording=_wording(ellipsoids=ellipsoids))
        return out

    def _piece(self, name: str, call: Any, views: Sequence[int], given: object, columns: int) -> Array:
        numbers = list(views)
        out = np.empty((len(numbers), self.geometry.detector_rows, columns), np.float32)
        tensors = borrowed(given, self.context, name=name), borrowed(out, self.context)
        arguments = (None, len(numbers), integers(numbers, "views"), *(tensor.handle for tensor in tensors))
        self._run(call, *arguments, wording=_wording(**{name: given}))
        return out

    def _run(self, call: Any, *arguments: Any, wording: Wording | None = None) -> None:
        """A step alone, which has no progress function, and which Ctrl-C ends. It drops no scan that is being pushed, as
        `cancel` would."""
        with Interruption(self.context.cancel) as running:
            status = call(self.handle, *arguments)
        self._members.finish(status, running, wording)

    def _volume(self, projections: object) -> Array | Tensor:
        on_device = isinstance(projections, Tensor) and projections.location == "device"
        if on_device or (not isinstance(projections, (Tensor, Source)) and memory.on_cuda(projections)):
            return Tensor.create(self.shape[::-1], np.float32, "device", order="F", context=self.context)
        return np.empty(self.shape, np.float32)

    def _stream(self, projections: object, stream: Stream | None) -> Stream | None:
        # Another library's array is made on CUDA's legacy stream: the work is queued behind it.
        if stream is None and not isinstance(projections, (Tensor, Source)) and memory.on_cuda(projections):
            return Stream(self.context, cuda_stream=memory._CUDA_LEGACY_STREAM)
        return stream


def _require_volume(volume: object) -> None:
    """Refuses an array that the volume cannot be written to in place."""
    if volume is not None and not isinstance(volume, (Tensor, Sink)):
        memory.require_writable("volume", volume)


@overload
def reconstruct(
    projections: OnDevice,
    geometry: Geometry,
    grid: Grid | None = None,
    *,
    volume: None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Array | Tensor: ...


@overload
def reconstruct(
    projections: OnHost,
    geometry: Geometry,
    grid: Grid | None = None,
    *,
    volume: None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Array: ...


@overload
def reconstruct(
    projections: object,
    geometry: Geometry,
    grid: Grid | None = None,
    *,
    volume: Volume,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Volume: ...


def reconstruct(
    projections: object,
    geometry: Geometry,
    grid: Grid | None = None,
    *,
    volume: AnyVolume | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> AnyVolume:
    """A volume (z, y, x) from projections (views, rows, columns) of line integrals, in one call."""
    with Reconstruction(geometry, grid, progress=progress, context=context, **options) as plan:
        given: Any = volume
        made: AnyVolume = plan.reconstruct(projections, given, stream=stream)
        return made


def _counts(
    i0: float | npt.ArrayLike | None, dark: npt.ArrayLike | None, shape: tuple[int, ...]
) -> tuple[float, list[Array | None]]:
    """Counts without an object as a number, or 0 and an image; and the image of those without radiation. In double precision,
    which single precision would round before the subtraction; the library stores them in single precision if that is exact."""
    images: list[Array | None] = [
        None if i0 is None or np.ndim(i0) == 0 else memory.converted("i0", i0, np.float64),
        None if dark is None or np.ndim(dark) == 0 else memory.converted("dark", dark, np.float64),
    ]
    if dark is not None and np.ndim(dark) == 0:
        # The library takes an image; one number is the same for every pixel.
        images[1] = np.full(shape, real("dark", dark), np.float64)
    number = 0.0 if i0 is None or images[0] is not None else real("i0", i0)
    return number, images


@overload
def log_transform(
    counts: object,
    i0: float | npt.ArrayLike,
    dark: npt.ArrayLike | None = None,
    epsilon: float = 0.0,
    *,
    return_clamped: Literal[False] = False,
    context: Context | None = None,
) -> Array: ...


@overload
def log_transform(
    counts: object,
    i0: float | npt.ArrayLike,
    dark: npt.ArrayLike | None = None,
    epsilon: float = 0.0,
    *,
    return_clamped: Literal[True],
    context: Context | None = None,
) -> tuple[Array, int]: ...


def log_transform(
    counts: object,
    i0: float | npt.ArrayLike,
    dark: npt.ArrayLike | None = None,
    epsilon: float = 0.0,
    *,
    return_clamped: bool = False,
    context: Context | None = None,
) -> Array | tuple[Array, int]:
    """Line integrals (views, rows, columns) from counts; `i0` and `dark` as in `Reconstruction.set_counts`. Counts that are
    not finite give NaN, and the context's log has one warning. With `return_clamped` a pair: the line integrals, and how many
    counts were below `epsilon` and were raised to it."""
    wants_clamped = flag("return_clamped", return_clamped)
    context = context or default_context()
    given = borrowed(counts, context, name="counts")
    least = real("epsilon", epsilon)
    number, pixels = _counts(i0, dark, given.shape[1::-1])
    images = [None if image is None else borrowed(image, context) for image in pixels]
    out = np.empty(given.shape[::-1], np.float32)
    lines = borrowed(out, context)
    clamped = ctypes.c_int64()
    context._run(
        lib.purlin_fdk_log_transform,
        context.handle,
        None,
        given.handle,
        number,
        *(None if image is None else image.handle for image in images),
        least,
        lines.handle,
        ctypes.byref(clamped),
        wording=_wording(counts=counts, i0=i0, dark=dark),
    )
    return (out, clamped.value) if wants_clamped else out


def shepp_logan(radius: float) -> Array:
    """The ten ellipsoids of the Shepp-Logan head in a ball of `radius` mm, (10, 8)."""
    out = np.empty((10, 8))
    context = default_context()
    table = borrowed(out, context)
    context.finish(lib.purlin_fdk_shepp_logan(real("radius", radius), table.handle))
    return out


__all__ = [
    "FdkInfo",
    "Geometry",
    "Grid",
    "Info",
    "Options",
    "Reconstruction",
    "log_transform",
    "reconstruct",
    "shepp_logan",
]
