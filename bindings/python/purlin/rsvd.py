"""Randomized SVD: the leading singular triplets of matrices that need not fit anywhere.

    U, s, Vt = purlin.rsvd.compute(A, 50)

A is an array in either order (NumPy, or on a GPU through DLPack), a sparse matrix or a linear operator of SciPy, a
`purlin.blocks.Source` of two axes, or a `purlin.Matrix`. Factors are as `numpy.linalg.svd` has them: A ~ (U * s) @ Vt.
Those of an array on a GPU are `Tensor`s there, which DLPack takes to any other library.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import c_double
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Union, overload

import numpy as np
import numpy.typing as npt

from . import _choices as w
from . import _constants as c
from . import _memory as memory
from . import _options, _reports
from ._callback import Progress, ProgressRelay
from ._checked import at_least, flag, how_many
from ._context import Context, Members, Stream, choice, initialized, listed
from ._error import NoConvergence, renaming, sized
from ._keywords import apply, known, report
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._results import computing_type, context_of, output, queue_for
from ._solver import Solver
from ._structs import RsvdOptions
from ._tensor import Tensor
from ._types import DeviceMatrix, HostMatrix, MatrixLike
from ._typing import Unpack

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Left = TypeVar("Left", covariant=True, default=Union[Array, Tensor, None])
    Right = TypeVar("Right", covariant=True, default=Union[Array, Tensor, None])

Method = w.RsvdMethod
CommonOptions = _options.CommonOptions
Options = _options.RsvdOptions
Info = _reports.RsvdInfo
_OPTIONS = known(Options, "rsvd_options")
# Factors of `error` and `residuals`.
_NAMES = renaming(u="U", v="Vt")


if TYPE_CHECKING:

    class Factors(NamedTuple, Generic[Left, Right]):
        U: Left
        s: Array
        Vt: Right

else:
    # Before Python 3.11 no named tuple is generic.
    class Factors(NamedTuple):
        """A ~ (U * s) @ Vt: arrays, or tensors on the device where A is dense there. One that was not wanted is None."""

        U: Array | Tensor | None
        s: Array
        Vt: Array | Tensor | None

        __class_getitem__ = classmethod(GenericAlias)


class Unfinished(NoConvergence):
    """A tolerance was not met with `max_rank` triplets: `factors` are those, and `info` says how far they came."""

    factors: Factors
    info: Info


def read_info(raw: Any) -> Info:
    """The C struct as `Info`."""
    return report(Info, raw)


def raw_options(rank: int, options: Options) -> tuple[Any, object]:
    """The C options, and an object that must stay alive as long as they do."""
    raw = initialized(RsvdOptions, "rsvd_options")
    raw.rank = rank
    raw.right = c.RSVD_VH
    given = dict(options)
    dtype = given.pop("dtype", None)
    if dtype is not None:
        raw.dtype = memory.computing_number(dtype)  # type: ignore[arg-type]
    group = given.pop("group", None)
    if group is not None:
        raw.group = group.handle  # type: ignore[attr-defined]
    path = given.pop("restart_path", None)
    text = ctypes.create_string_buffer(memory.path_bytes(path, "restart_path")) if path is not None else None
    if text is not None:
        raw.restart_path = ctypes.addressof(text)
    apply(raw, _OPTIONS, given)
    return raw, text


class Rsvd(Solver[Info]):
    """Options, work space and contexts, for matrices of any shape."""

    _name, _report = "rsvd", "rsvd_info"
    _read = staticmethod(read_info)

    def __init__(
        self,
        rank: int = 0,
        *,
        progress: Progress | None = None,
        context: Context | None = None,
        **options: Unpack[Options],
    ) -> None:
        """For `rank` triplets, or with a `tolerance` for as many as it takes, up to `max_rank`."""
        rank = how_many("rank", rank)
        members = Members(context, options.get("group"))
        raw, keep = raw_options(rank, options)
        self._rank = rank
        self._options = options
        self._shown = listed(rank=rank, **options)
        super().__init__(members, ProgressRelay(progress, raw), ctypes.byref(raw), wording=self._wording)
        del keep

    def _wording(self, text: str) -> str:
        """A message of the library with this class's names of arguments."""
        return re.sub(r"^q: has (\d+) columns", r"columns: is \1", _NAMES(text))

    def set_sketch(self, omega: object | None) -> None:
        """The sketch to use, as many rows as A has columns; it is copied. None: random numbers again."""
        given = None if omega is None else Matrix.of(omega, context=self.context, name="omega", floating=True)
        self.context._run(lib.purlin_rsvd_set_sketch, self.handle, given.handle if given else None)

    def last_info(self) -> Info:
        """The report of the last run that met its tolerance, or ended at the largest rank without."""
        return super().last_info()

    def sketch(self, rows: int, columns: int, dtype: npt.DTypeLike = np.float64) -> Array:
        """The sketch that a run draws, (rows, columns)."""
        memory.computing_number(dtype)
        shape = at_least("rows", rows, 0), at_least("columns", columns, 0)
        with sized(*(("rows", shape[0]) if shape[0] >= shape[1] else ("columns", shape[1]))):
            made = np.empty(shape, dtype, order="F")
        omega = Matrix.dense(made, context=self.context)
        self.context._run(lib.purlin_rsvd_sketch, self.handle, None, omega.handle)
        return made

    def plan(self, a: MatrixLike, *, left: bool = True, right: bool = True) -> Info:
        """The plan of `compute` with the same arguments: method, passes, bytes, blocks, memory."""
        matrix = self._matrix(a, None)
        return self._planned(matrix.handle, flag("left", left), flag("right", right), wording=self._wording)

    @overload
    def compute(self, a: DeviceMatrix, *, left: bool = True, right: bool = True, stream: Stream | None = None) -> Factors: ...

    @overload
    def compute(
        self, a: HostMatrix, *, left: Literal[True] = True, right: Literal[True] = True, stream: Stream | None = None
    ) -> Factors[Array, Array]: ...

    @overload
    def compute(
        self, a: HostMatrix, *, left: bool = True, right: bool = True, stream: Stream | None = None
    ) -> Factors[Array | None, Array | None]: ...

    def compute(self, a: MatrixLike, *, left: bool = True, right: bool = True, stream: Stream | None = None) -> Factors:
        """U (m, k), s (k,) and Vt (k, n); `left` or `right` False leaves that factor out, and its cost. Raises
        `Unfinished` for a tolerance that `max_rank` triplets do not meet."""
        stream = queue_for(a, stream, self.context)
        matrix = self._matrix(a, stream)
        m, n = matrix.shape
        k = self._width(m, n)
        dtype = computing_type(matrix, self._options.get("dtype"))
        u = output((m, k), dtype, matrix, self.context) if flag("left", left) else None
        vt = output((k, n), dtype, matrix, self.context) if flag("right", right) else None
        s = np.zeros(k, np.dtype(dtype.char.lower()))
        values = Tensor.borrow(s, context=self.context)
        handles = (u[1].handle if u else None, values.handle, vt[1].handle if vt else None)
        try:
            info = self.run(matrix, stream, lib.purlin_rsvd_compute, *handles)
        except NoConvergence as error:
            unfinished = Unfinished(error.status, str(error))
            unfinished.factors, unfinished.info = Factors(u and u[0], s, vt and vt[0]), self.last_info()
            raise unfinished from None
        if info.rank < k and self._options.get("tolerance", 0.0) > 0:
            return Factors(
                u and _columns(u[0], info.rank, self.context),
                s[: info.rank].copy(),
                vt and _rows(vt[0], info.rank, self.context),
            )
        return Factors(u and u[0], s, vt and vt[0])

    @overload
    def qb(
        self, a: DeviceMatrix, columns: int, *, b: bool = True, stream: Stream | None = None
    ) -> tuple[Array | Tensor, Array | Tensor | None]: ...

    @overload
    def qb(
        self, a: HostMatrix, columns: int, *, b: Literal[True] = True, stream: Stream | None = None
    ) -> tuple[Array, Array]: ...

    @overload
    def qb(
        self, a: HostMatrix, columns: int, *, b: bool = True, stream: Stream | None = None
    ) -> tuple[Array, Array | None]: ...

    def qb(
        self, a: MatrixLike, columns: int, *, b: bool = True, stream: Stream | None = None
    ) -> tuple[Array | Tensor, Array | Tensor | None]:
        """Q (m, columns), orthonormal, whose range is nearly that of A, and B = Q^H A, or None if it is not wanted."""
        stream = queue_for(a, stream, self.context)
        matrix = self._matrix(a, stream)
        m, n = matrix.shape
        dtype, columns = computing_type(matrix, self._options.get("dtype")), how_many("columns", columns)
        q = output((m, columns), dtype, matrix, self.context)
        product = output((columns, n), dtype, matrix, self.context) if flag("b", b) else None
        self.run(matrix, stream, lib.purlin_rsvd_range, q[1].handle, product[1].handle if product else None)
        return q[0], product and product[0]

    @overload
    def symmetric(
        self, a: DeviceMatrix, *, vectors: bool = True, stream: Stream | None = None
    ) -> tuple[Array, Array | Tensor | None]: ...

    @overload
    def symmetric(
        self, a: HostMatrix, *, vectors: Literal[True] = True, stream: Stream | None = None
    ) -> tuple[Array, Array]: ...

    @overload
    def symmetric(
        self, a: HostMatrix, *, vectors: bool = True, stream: Stream | None = None
    ) -> tuple[Array, Array | None]: ...

    def symmetric(
        self, a: MatrixLike, *, vectors: bool = True, stream: Stream | None = None
    ) -> tuple[Array, Array | Tensor | None]:
        """The eigenvalues (k,) of largest modulus of a Hermitian matrix, and their vectors (n, k) or None."""
        stream = queue_for(a, stream, self.context)
        matrix = self._matrix(a, stream)
        n = matrix.shape[0]
        k = self._width(n, n)
        dtype = computing_type(matrix, self._options.get("dtype"))
        v = output((n, k), dtype, matrix, self.context) if flag("vectors", vectors) else None
        values = np.zeros(k, np.dtype(dtype.char.lower()))
        borrowed = Tensor.borrow(values, context=self.context)
        self.run(matrix, stream, lib.purlin_rsvd_symmetric, borrowed.handle, v[1].handle if v else None)
        return values, v and v[0]

    def error(
        self, a: MatrixLike, U: MatrixLike, s: npt.ArrayLike, Vt: MatrixLike, *, stream: Stream | None = None
    ) -> tuple[float, float]:
        """||A - (U * s) @ Vt|| from random probes: the Frobenius norm and an upper bound of the spectral one.

        A session with `error="power"` gives an estimate of the latter from below instead, for ten more passes.
        """
        stream = queue_for(a, stream, self.context)
        matrix = self._matrix(a, stream)
        u, values, vt = self._triplets(U, s, Vt)
        norms = (c_double(), c_double())
        addresses = [ctypes.addressof(norm) for norm in norms]
        self.run(matrix, stream, lib.purlin_rsvd_error, u.handle, values.handle, vt.handle, *addresses)
        return norms[0].value, norms[1].value

    def residuals(
        self, a: MatrixLike, U: MatrixLike, s: npt.ArrayLike, Vt: MatrixLike, *, stream: Stream | None = None
    ) -> tuple[Array, Array]:
        """||A v - s u|| and ||A^H u - s v|| of each triplet."""
        stream = queue_for(a, stream, self.context)
        matrix = self._matrix(a, stream)
        u, values, vt = self._triplets(U, s, Vt)
        norms = np.empty(values.shape), np.empty(values.shape)
        borrowed = [Tensor.borrow(norm, context=self.context) for norm in norms]
        handles = [tensor.handle for tensor in borrowed]
        self.run(matrix, stream, lib.purlin_rsvd_residuals, u.handle, values.handle, vt.handle, *handles)
        return norms

    def run(self, matrix: Matrix, stream: Stream | None, call: Any, *arguments: Any) -> Info:
        """One call of the library with this session's progress: for the modules of this package."""
        raw = self._fresh()
        with self._relay.call() as running:
            status = call(self.handle, stream.handle if stream else None, matrix.handle, *arguments, ctypes.byref(raw))
        matrix.raise_caught()
        self.context.finish(status, running, self._wording)
        return read_info(raw)

    def _matrix(self, a: MatrixLike, stream: Stream | None) -> Matrix:
        """The matrix that a call is on, in the type that the session computes in."""
        return Matrix.of(a, context=self.context, stream=stream, dtype=self._options.get("dtype"))

    def _width(self, m: int, n: int) -> int:
        if self._options.get("tolerance", 0.0) > 0:
            return min(self._options.get("max_rank", 0) or min(m, n), m, n)
        # A larger rank is refused by the library: arrays of its size need not be there.
        return min(self._rank, m, n)

    def _triplets(self, U: MatrixLike, s: npt.ArrayLike, Vt: MatrixLike) -> tuple[Matrix, Tensor, Matrix]:
        values = np.ascontiguousarray(memory.real_array(s, name="s"))
        return (
            Matrix.of(U, context=self.context, name="U", floating=True),
            Tensor.borrow(values, context=self.context),
            Matrix.of(Vt, context=self.context, name="Vt", floating=True),
        )


def _columns(array: Any, count: int, context: Context) -> Any:
    """The first columns, without the memory of the others."""
    if isinstance(array, np.ndarray):
        return array[:, :count].copy(order="F")
    return _first(array, (array.shape[0], count), context)


def _rows(array: Any, count: int, context: Context) -> Any:
    if isinstance(array, np.ndarray):
        return array[:count].copy(order="F")
    return _first(array, (count, array.shape[1]), context)


def _first(array: Tensor, shape: tuple[int, int], context: Context) -> Tensor:
    """A copy on the device of a corner of a tensor there."""
    made = Tensor.create(shape, array.dtype, "device", order="F", context=context)
    corner = memory.Memory(array.info.data, shape, array.strides, array.info.dtype, True, False, array)
    Tensor.from_memory(corner, context).copy_to(made)
    return made


@overload
def compute(
    a: DeviceMatrix,
    rank: int = 0,
    *,
    left: bool = True,
    right: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Factors: ...


@overload
def compute(
    a: HostMatrix,
    rank: int = 0,
    *,
    left: Literal[True] = True,
    right: Literal[True] = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Factors[Array, Array]: ...


@overload
def compute(
    a: HostMatrix,
    rank: int = 0,
    *,
    left: bool = True,
    right: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Factors[Array | None, Array | None]: ...


def compute(
    a: MatrixLike,
    rank: int = 0,
    *,
    left: bool = True,
    right: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Factors:
    """U, s, Vt of the `rank` largest singular values; with `tolerance=` of as many as that relative error takes."""
    with Rsvd(rank, progress=progress, context=context_of(a, context, options), **options) as session:
        return session.compute(a, left=left, right=right, stream=stream)


@overload
def range_finder(
    a: DeviceMatrix,
    columns: int,
    *,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Array | Tensor: ...


@overload
def range_finder(
    a: HostMatrix,
    columns: int,
    *,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Array: ...


def range_finder(
    a: MatrixLike,
    columns: int,
    *,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Array | Tensor:
    """Q (m, columns), orthonormal, whose range is nearly that of A. Options without effect on it are refused: a method other
    than "range", `sign`, `smallest_ratio` and probed errors."""
    with Rsvd(how_many("columns", columns), context=context_of(a, context, options), **options) as session:
        return session.qb(a, columns, b=False, stream=stream)[0]


@overload
def qb(
    a: DeviceMatrix,
    columns: int,
    *,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Array | Tensor, Array | Tensor]: ...


@overload
def qb(
    a: HostMatrix,
    columns: int,
    *,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Array, Array]: ...


def qb(
    a: MatrixLike,
    columns: int,
    *,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Array | Tensor, Array | Tensor]:
    """Q (m, columns), orthonormal, and B = Q^H A with A ~ Q @ B. Refuses the same options as `range_finder`."""
    with Rsvd(how_many("columns", columns), context=context_of(a, context, options), **options) as session:
        q, product = session.qb(a, columns, stream=stream)
    assert product is not None
    return q, product


@overload
def symmetric(
    a: DeviceMatrix,
    rank: int,
    *,
    vectors: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Array, Array | Tensor | None]: ...


@overload
def symmetric(
    a: HostMatrix,
    rank: int,
    *,
    vectors: Literal[True] = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Array, Array]: ...


@overload
def symmetric(
    a: HostMatrix,
    rank: int,
    *,
    vectors: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Array, Array | None]: ...


def symmetric(
    a: MatrixLike,
    rank: int,
    *,
    vectors: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> tuple[Array, Array | Tensor | None]:
    """The `rank` eigenvalues of largest modulus of a Hermitian matrix, and their vectors (n, rank)."""
    with Rsvd(rank, progress=progress, context=context_of(a, context, options), **options) as session:
        return session.symmetric(a, vectors=vectors, stream=stream)


def sketch(
    rows: int,
    columns: int,
    dtype: npt.DTypeLike = np.float64,
    *,
    kind: Literal["gaussian", "uniform", "rademacher", "sparse_sign"] = "gaussian",
    seed: int = 0,
    context: Context | None = None,
) -> Array:
    """The sketch that a run with this kind and seed draws, (rows, columns)."""
    choice("kind", kind, w.SKETCH_OPTION)
    with Rsvd(context=context, sketch=kind, seed=seed) as session:
        return session.sketch(rows, columns, dtype)


__all__ = [
    "CommonOptions",
    "Factors",
    "Info",
    "Options",
    "Rsvd",
    "Unfinished",
    "compute",
    "qb",
    "range_finder",
    "sketch",
    "symmetric",
]
