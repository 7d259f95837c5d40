"""Robust PCA: a matrix as the sum of one of low rank and a sparse one.

    L, S = purlin.rpca.compute(frames)

solves min ||L||_* + lambda ||S||_1 subject to L + S = M by the inexact augmented Lagrangian method: the background and
the moving foreground of a video whose frames are the columns, or rows, of M.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import c_void_p
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Union, overload

import numpy as np

from . import _memory as memory
from . import _options, _reports
from ._callback import Progress, ProgressCall, ProgressRelay
from ._context import Context, Group, Members, Stream, initialized, listed
from ._error import NoConvergence
from ._keywords import apply, known, report
from ._matrix import Matrix
from ._memory import Array
from ._numbers import real
from ._results import computing_type, context_of, output, queue_for
from ._solver import Solver
from ._structs import RpcaOptions
from ._tensor import Tensor
from ._types import DeviceMatrix, HostMatrix, MatrixLike
from ._typing import Unpack
from .blocks import Sink

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Part = Union[Array, Tensor, Matrix, Sink, None]
    LowRank = TypeVar("LowRank", covariant=True, default=Part)
    Rest = TypeVar("Rest", covariant=True, default=Part)

Options = _options.RpcaOptions
Info = _reports.RpcaInfo
_OPTIONS = known(Options, "rpca_options")


if TYPE_CHECKING:

    class Parts(NamedTuple, Generic[LowRank, Rest]):
        low_rank: LowRank
        sparse: Rest

else:
    # Before Python 3.11 no named tuple is generic.
    class Parts(NamedTuple):
        """M ~ low_rank + sparse: arrays, or tensors on the device where M is there; a `Matrix` in CSR form as the sparse part
        where that was asked for; the sinks of a call that wrote to them."""

        low_rank: Array | Tensor | Sink | None
        sparse: Array | Tensor | Matrix | Sink | None

        __class_getitem__ = classmethod(GenericAlias)


class Unfinished(NoConvergence):
    """The iterations ran out: `parts` are those of the last one, and `info` says how far it came."""

    parts: Parts
    info: Info


def _read_info(raw: Any) -> Info:
    return report(Info, raw)


class Rpca(Solver[Info]):
    """Options and contexts, for matrices of any shape; one run at a time."""

    _name, _report = "rpca", "rpca_info"
    _read = staticmethod(_read_info)

    def __init__(
        self,
        *,
        progress: Progress | None = None,
        context: Context | None = None,
        **options: Unpack[Options],
    ) -> None:
        """`progress` is called with the iteration, the most there may be, and the residual, and at the end of a run with the
        most iterations twice."""
        given: dict[str, Any] = dict(options)
        group: Group | None = given.pop("group", None)
        raw = initialized(RpcaOptions, "rpca_options")
        if group is not None:
            raw.group = group.handle
        dtype: Any = given.pop("dtype", None)
        if "lambda_" in given:
            given["lambda"] = real("lambda_", given.pop("lambda_"))
        apply(raw, _OPTIONS, given)
        if dtype is not None:
            raw.dtype = memory.computing_number(dtype)
        self._dtype = dtype
        self._shown = listed(**options)
        super().__init__(
            Members(context, group),
            ProgressRelay(progress, raw, ends_early=True),
            ctypes.byref(raw),
            wording=lambda text: re.sub(r"^lambda:", "lambda_:", text),
        )

    def last_info(self) -> Info:
        """The report of the last run that met its tolerance or ran out of iterations."""
        return super().last_info()

    def plan(self, m: MatrixLike, *, mask: object | None = None) -> Info:
        """The plan of a run on `m`: `host_bytes`, `device_bytes`, `blocks`, `block_rows`. No entry is read. A run that the
        plan accepts stays inside the limits of the contexts."""
        matrix, seen = self._observed(m, mask)
        return self._planned(matrix.handle, seen.handle if seen else None)

    @overload
    def run(
        self,
        m: DeviceMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["dense"] = "dense",
        stream: Stream | None = None,
    ) -> tuple[Parts[Array | Tensor, Array | Tensor], Info]: ...

    @overload
    def run(
        self,
        m: DeviceMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["csr"],
        stream: Stream | None = None,
    ) -> tuple[Parts[Array | Tensor, Matrix], Info]: ...

    @overload
    def run(
        self,
        m: HostMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["dense"] = "dense",
        stream: Stream | None = None,
    ) -> tuple[Parts[Array, Array], Info]: ...

    @overload
    def run(
        self,
        m: HostMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["csr"],
        stream: Stream | None = None,
    ) -> tuple[Parts[Array, Matrix], Info]: ...

    def run(
        self,
        m: MatrixLike,
        *,
        mask: object | None = None,
        sparse: Literal["dense", "csr"] = "dense",
        stream: Stream | None = None,
    ) -> tuple[Parts, Info]:
        """As `compute`, with the report of the run."""
        return self._separate(m, mask, sparse, stream)

    def _separate(
        self, m: MatrixLike, mask: object | None, sparse: str, stream: Stream | None
    ) -> tuple[Parts[Any, Any], Info]:
        if sparse not in ("dense", "csr"):
            raise ValueError(f"sparse: is {sparse!r}, expected 'dense' or 'csr'")
        matrix, seen = self._observed(m, mask)
        stream = queue_for(m, stream, self.context)
        dtype = computing_type(matrix, self._dtype)
        low = output(matrix.shape, dtype, matrix, self.context)
        if sparse == "dense":
            rest = output(matrix.shape, dtype, matrix, self.context)
            done = self._observe("compute", stream, matrix, seen, low[1].handle, rest[1].handle)
            parts: Parts[Any, Any] = Parts(low[0], rest[0])
        else:
            made = c_void_p()
            done = self._observe("compute_csr", stream, matrix, seen, low[1].handle, ctypes.byref(made))
            parts = Parts(low[0], Matrix(made.value, self.context))
        return parts, self._finish(*done, parts)

    @overload
    def compute(
        self,
        m: DeviceMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["dense"] = "dense",
        stream: Stream | None = None,
    ) -> Parts[Array | Tensor, Array | Tensor]: ...

    @overload
    def compute(
        self,
        m: DeviceMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["csr"],
        stream: Stream | None = None,
    ) -> Parts[Array | Tensor, Matrix]: ...

    @overload
    def compute(
        self,
        m: HostMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["dense"] = "dense",
        stream: Stream | None = None,
    ) -> Parts[Array, Array]: ...

    @overload
    def compute(
        self,
        m: HostMatrix,
        *,
        mask: object | None = None,
        sparse: Literal["csr"],
        stream: Stream | None = None,
    ) -> Parts[Array, Matrix]: ...

    def compute(
        self,
        m: MatrixLike,
        *,
        mask: object | None = None,
        sparse: Literal["dense", "csr"] = "dense",
        stream: Stream | None = None,
    ) -> Parts:
        """L and S with M ~ L + S, as the function `compute` has them; `last_info` reports on the run."""
        return self._separate(m, mask, sparse, stream)[0]

    def compute_to_sinks(
        self, m: MatrixLike, low_rank: Sink | None, sparse: Sink | None, *, mask: object | None = None
    ) -> Info:
        """The same into sinks: neither M nor the parts need fit in memory.

        Sinks lie in memory as `m` does: they have its shape, or for an array in Fortran order that of `m.T`. Those of integers
        take the nearest integer that the type holds, without an error for larger entries.
        """
        matrix, seen = self._observed(m, mask)
        handles = [None if sink is None else sink.handle for sink in (low_rank, sparse)]
        done = self._observe("compute_to_sinks", None, matrix, seen, *handles)
        for sink in (low_rank, sparse):
            if sink is not None:
                sink.raise_caught()
        return self._finish(*done, Parts(low_rank, sparse))

    def _observed(self, m: MatrixLike, mask: object | None) -> tuple[Matrix, Matrix | None]:
        """The matrix, and which of its entries were observed: None for all."""
        if isinstance(m, np.ma.MaskedArray):
            # Masked entries are those that were not observed.
            if mask is not None:
                raise ValueError("mask: is given beside a masked array")
            mask = ~np.ma.getmaskarray(m)
            m = m.filled(0)
        matrix = Matrix.of(m, context=self.context, name="m", dtype=self._dtype)
        # Integers of NumPy would become F64, which the message then named.
        given = getattr(mask, "dtype", None)
        if isinstance(given, np.dtype) and given.kind in "iu" and given != np.uint8:
            raise TypeError(f"mask: is {given}, expected bool or uint8")
        return matrix, None if mask is None else Matrix.of(mask, context=self.context, name="mask")

    def _observe(
        self, what: str, stream: Stream | None, matrix: Matrix, seen: Matrix | None, *outputs: Any
    ) -> tuple[int, ProgressCall, Any]:
        """`_call` on a matrix and the entries that were observed."""
        queue, mask = stream.handle if stream else None, seen.handle if seen else None
        done = self._call(what, queue, matrix.handle, mask, *outputs)
        matrix.raise_caught()
        if seen:
            seen.raise_caught()
        return done

    def _finish(self, status: int, running: ProgressCall, raw: Any, parts: Parts) -> Info:
        try:
            self._members.finish(status, running)
        except NoConvergence as error:
            unfinished = Unfinished(status, str(error))
            unfinished.parts, unfinished.info = parts, _read_info(raw)
            raise unfinished from None
        return _read_info(raw)


def plan(
    m: MatrixLike,
    *,
    mask: object | None = None,
    context: Context | None = None,
    **options: Unpack[Options],
) -> Info:
    """The plan of `compute`: `host_bytes`, `device_bytes`, `blocks`, `block_rows`. No entry is read. A run that the plan
    accepts stays inside the limits of the contexts."""
    with Rpca(context=context_of(m, context, options), **options) as rpca:
        return rpca.plan(m, mask=mask)


@overload
def run(
    m: DeviceMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["dense"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Parts[Array | Tensor, Array | Tensor], Info]: ...


@overload
def run(
    m: DeviceMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["csr"],
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Parts[Array | Tensor, Matrix], Info]: ...


@overload
def run(
    m: HostMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["dense"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Parts[Array, Array], Info]: ...


@overload
def run(
    m: HostMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["csr"],
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Parts[Array, Matrix], Info]: ...


def run(
    m: MatrixLike,
    *,
    mask: object | None = None,
    sparse: Literal["dense", "csr"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Parts, Info]:
    """As `compute`, with the report of the run."""
    with Rpca(progress=progress, context=context_of(m, context, options), **options) as rpca:
        return rpca._separate(m, mask, sparse, stream)


@overload
def compute(
    m: DeviceMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["dense"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Parts[Array | Tensor, Array | Tensor]: ...


@overload
def compute(
    m: DeviceMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["csr"],
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Parts[Array | Tensor, Matrix]: ...


@overload
def compute(
    m: HostMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["dense"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Parts[Array, Array]: ...


@overload
def compute(
    m: HostMatrix,
    *,
    mask: object | None = None,
    sparse: Literal["csr"],
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Parts[Array, Matrix]: ...


def compute(
    m: MatrixLike,
    *,
    mask: object | None = None,
    sparse: Literal["dense", "csr"] = "dense",
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Parts:
    """L and S with M ~ L + S.

    M is anything that stands for a matrix (see `purlin.Matrix.of`) but a sparse one; its entries times `scale` are split.
    `mask`, uint8 or bool like M, is 0 where an entry was not observed; a masked array of NumPy has it itself. With
    `sparse="csr"` S is a `Matrix` of the entries over `threshold`, which its `scipy()` turns into SciPy's. `progress` is
    called with the iteration, the most there may be, and the residual. Raises `Unfinished` when `max_iterations` were not
    enough."""
    with Rpca(progress=progress, context=context_of(m, context, options), **options) as rpca:
        return rpca._separate(m, mask, sparse, stream)[0]


def compute_to_sinks(
    m: MatrixLike,
    low_rank: Sink | None,
    sparse: Sink | None,
    *,
    mask: object | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    **options: Unpack[Options],
) -> Info:
    """The same from a source into sinks, neither of which need fit in memory.

    Sinks lie in memory as `m` does: they have its shape, or for an array in Fortran order that of `m.T`.
    """
    with Rpca(progress=progress, context=context_of(m, context, options), **options) as rpca:
        return rpca.compute_to_sinks(m, low_rank, sparse, mask=mask)


__all__ = ["Info", "Options", "Parts", "Rpca", "Unfinished", "compute", "compute_to_sinks", "plan", "run"]
