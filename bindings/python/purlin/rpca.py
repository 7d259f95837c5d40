"""Robust PCA: a matrix as the sum of one of low rank and a sparse one.

    L, S = purlin.rpca.compute(frames)

solves min ||L||_* + lambda ||S||_1 subject to L + S = M by the inexact augmented Lagrangian method: the background and
the moving foreground of a video whose frames are the columns, or rows, of M.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Sequence
from ctypes import c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._callback import Progress, ProgressRelay
from ._context import Context, Stream, default_context, initialised
from ._error import NoConvergence
from ._lib import lib
from ._matrix import Matrix
from ._results import computing_type, output, queue_for
from ._sshopm_types import apply
from ._structs import RpcaInfo, RpcaOptions
from .blocks import Sink

if TYPE_CHECKING:
    from typing_extensions import Unpack

FRAMES = {"columns": c.RPCA_FRAMES_COLUMNS, "rows": c.RPCA_FRAMES_ROWS}


class Options(TypedDict, total=False):
    """Options of a separation; what is left out keeps the library's default. `lambda_` is the C option `lambda`."""

    lambda_: float
    tolerance: float
    mu: float
    rho: float
    threshold: float
    scale: float
    max_iterations: int
    max_rank: int
    fixed_rank: int
    power_iterations: int
    oversampling: int
    block_rows: int
    seed: int
    warm_start: bool
    frames: Literal["columns", "rows"]
    dtype: npt.DTypeLike


_OPTIONS = frozenset(Options.__annotations__) - {"dtype", "lambda_"} | {"lambda"}


@dataclass(frozen=True)
class Info:
    """What a run did; `residual` is ||M - L - S||_F / ||M||_F. Bytes and seconds as in the C struct `purlin_rpca_info`."""

    converged: bool
    dtype: np.dtype[Any]
    iterations: int
    rank: int
    nonzeros: int
    passes: int
    blocks: int
    block_rows: int
    bytes_to_device: int
    bytes_read: int
    device_bytes_used: int
    host_bytes_used: int
    lambda_: float
    mu: float
    norm2: float
    frobenius: float
    residual: float
    objective: float
    nuclear_norm: float
    one_norm: float
    seconds_svd: float
    seconds_elementwise: float
    seconds_read: float
    seconds_total: float
    contexts: int
    host_bytes: int
    device_bytes: int


class Parts(NamedTuple):
    """M ~ low_rank + sparse."""

    low_rank: Any
    sparse: Any


class Unfinished(NoConvergence):
    """The iterations ran out: `parts` are those of the last one, and `info` says how far it came."""

    parts: Parts
    info: Info


def _read_info(raw: Any) -> Info:
    made: dict[str, Any] = {"converged": bool(raw.converged), "dtype": memory.dtype_of(raw.dtype)}
    for entry in dataclasses.fields(Info):
        if entry.name not in made:
            made[entry.name] = getattr(raw, entry.name.rstrip("_"))
    return Info(**made)


class _Run:
    """What the three calls share: options, progress, report."""

    def __init__(
        self,
        m: object,
        mask: object | None,
        progress: Progress | None,
        context: Context | None,
        contexts: Sequence[Context],
        options: Options,
    ) -> None:
        self.context = context or default_context()
        given = dict(options)
        dtype: Any = given.pop("dtype", None)
        if "lambda_" in given:
            given["lambda"] = given.pop("lambda_")
        self.options = initialised(RpcaOptions, "rpca_options")
        apply(self.options, _OPTIONS, given, {"frames": FRAMES})
        if dtype is not None:
            self.options.dtype = memory.dtype_number(dtype)
        # The contexts live until the call is over.
        self.contexts = list(contexts)
        if self.contexts:
            self._handles = (c_void_p * len(self.contexts))(*[each.handle for each in self.contexts])
            self.options.contexts = ctypes.cast(self._handles, c_void_p)
            self.options.contexts_count = len(self.contexts)
        self.relay = ProgressRelay(progress, self.options)
        self.report = initialised(RpcaInfo, "rpca_info")
        if isinstance(m, np.ma.MaskedArray):
            # Masked entries are those that were not observed.
            if mask is not None:
                raise ValueError("mask: is given beside a masked array")
            mask = ~np.ma.getmaskarray(m)
            m = m.filled(0)
        self.matrix = Matrix.of(m, context=self.context)
        self.mask = None if mask is None else Matrix.of(mask, context=self.context)
        self.dtype = computing_type(self.matrix, dtype)

    def call(self, function: Any, stream: Stream | None, *outputs: Any) -> int:
        with self.relay:
            status: int = function(
                self.context.handle,
                stream.handle if stream else None,
                self.matrix.handle,
                self.mask.handle if self.mask else None,
                ctypes.byref(self.options),
                *outputs,
                ctypes.byref(self.report),
            )
        self.matrix.raise_caught()
        if self.mask:
            self.mask.raise_caught()
        return status

    def finish(self, status: int, parts: Parts) -> Info:
        try:
            self.context.finish(status, self.relay)
        except NoConvergence as error:
            told = Unfinished(status, str(error))
            told.parts, told.info = parts, _read_info(self.report)
            raise told from None
        return _read_info(self.report)


def plan(
    m: object,
    *,
    mask: object | None = None,
    context: Context | None = None,
    contexts: Sequence[Context] = (),
    **options: Unpack[Options],
) -> Info:
    """What is known of `compute` before it runs: `host_bytes`, `device_bytes`, `blocks`, `block_rows`. Nothing is read, and
    what is accepted runs inside the limits of the contexts."""
    task = _Run(m, mask, None, context, contexts, options)
    status = lib.purlin_rpca_plan(
        task.context.handle,
        task.matrix.handle,
        task.mask.handle if task.mask else None,
        ctypes.byref(task.options),
        ctypes.byref(task.report),
    )
    task.context.finish(status)
    return _read_info(task.report)


def run(
    m: object,
    *,
    mask: object | None = None,
    sparse: Literal["dense", "csr"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    contexts: Sequence[Context] = (),
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Parts, Info]:
    """As `compute`, with the report of the run."""
    if sparse not in ("dense", "csr"):
        raise ValueError(f"sparse: is {sparse!r}, expected 'dense' or 'csr'")
    task = _Run(m, mask, progress, context, contexts, options)
    stream = queue_for(m, stream, task.context)
    low = output(task.matrix.shape, task.dtype, task.matrix, task.context)
    if sparse == "dense":
        rest = output(task.matrix.shape, task.dtype, task.matrix, task.context)
        status = task.call(lib.purlin_rpca_compute, stream, low[1].handle, rest[1].handle)
        parts = Parts(low[0], rest[0])
    else:
        made = c_void_p()
        status = task.call(lib.purlin_rpca_compute_csr, stream, low[1].handle, ctypes.byref(made))
        parts = Parts(low[0], Matrix(made.value, task.context))
    return parts, task.finish(status, parts)


def compute(
    m: object,
    *,
    mask: object | None = None,
    sparse: Literal["dense", "csr"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    contexts: Sequence[Context] = (),
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Parts:
    """L and S with M ~ L + S.

    M is anything that stands for a matrix (see `purlin.Matrix.of`) but a sparse one; its entries times `scale` are what is
    split. `mask`, uint8 or bool like M, is 0 where an entry was not observed; a masked array of NumPy has it itself. With `sparse="csr"` S is a `Matrix` of the
    entries over `threshold`, which its `scipy()` turns into SciPy's. `progress` is called with the iteration, the most
    there may be, and the residual. `contexts` are further GPUs of the kind of `context`: all share the longer axis of an M
    in host memory or of a source. Raises `Unfinished` when `max_iterations` were not enough."""
    return run(
        m, mask=mask, sparse=sparse, progress=progress, context=context, contexts=contexts, stream=stream, **options
    )[0]


def stream(
    m: object,
    low_rank: Sink | None,
    sparse: Sink | None,
    *,
    mask: object | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    contexts: Sequence[Context] = (),
    **options: Unpack[Options],
) -> Info:
    """The same from a source into sinks, neither of which need fit in memory.

    Sinks lie in memory as `m` does: they have its shape, or for an array in Fortran order that of `m.T`.
    """
    task = _Run(m, mask, progress, context, contexts, options)
    handles = [None if sink is None else sink.handle for sink in (low_rank, sparse)]
    status = task.call(lib.purlin_rpca_stream, None, *handles)
    for sink in (low_rank, sparse):
        if sink is not None:
            sink.raise_caught()
    return task.finish(status, Parts(low_rank, sparse))


__all__ = ["Info", "Options", "Parts", "Unfinished", "compute", "plan", "run", "stream"]
