"""Eigenpairs of symmetric and Hermitian matrices, and of operators of graphs that are never formed; singular triplets.

    values, vectors = purlin.lanczos.solve(A, 10)                            # the ten largest, in descending order
    pairs = purlin.lanczos.solve(W, 4, "smallest", kind="normalized_laplacian", basis=80)
    u, s, v = purlin.lanczos.singular(A, 5).triplets

`A` is a sparse matrix of SciPy (CSR in place; of a real symmetric one CSC as well), a `purlin.Matrix`, an array, the path
of a Matrix Market file, or with `kind="matrix"` a `LinearOperator`. Order: as `which` says, not ascending as SciPy's; `sorted_by_value` gives SciPy's.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int64
from typing import Any, Literal, NamedTuple, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._callback import Progress
from ._checked import flag, how_many, is_flag
from ._context import Context, Stream, choice
from ._error import check, sized
from ._lanczos import (
    THROUGH,
    Call,
    Info,
    Kind,
    Options,
    Pairs,
    SingularSolution,
    Solution,
    Triplets,
    Unfinished,
    Which,
    expect_held,
    operand,
    order_of,
    place,
    solver_of,
)
from ._lanczos_solver import Lanczos
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._numbers import real
from ._protocols import SupportsArray, SupportsCuda
from ._structs import LanczosAccepted
from ._tensor import Tensor
from ._typing import Unpack
from .sparse import of

Caller = TypeVar("Caller", bound=Union[SupportsArray, SupportsCuda])


@overload
def run(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: Literal[True] = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Solution[Array]: ...


@overload
def run(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Solution: ...


@overload
def run(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: Caller,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Solution[Caller]: ...


def run(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: bool | object = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Solution[Array | SupportsArray | SupportsCuda | None]:
    """As `solve`, with residuals and the report."""
    matrix = operand(a, place(context, options), kind=options.get("kind", "matrix"))
    context = matrix.context
    k = how_many("k", k)
    call = Call(k, which, progress, options)
    expect_held(matrix, options)
    n = order_of(matrix, options.get("kind", "matrix"))
    found: Any = vectors
    if not is_flag(vectors):
        memory.require_writable("vectors", vectors, as_matrix=True)
    with sized("k", k):
        values, residuals = np.zeros(max(k, 0)), np.zeros(max(k, 0))
        if is_flag(vectors):
            found = np.zeros((n, max(k, 0)), matrix.dtype, order="F") if vectors else None
    first = None if start is None else Tensor.borrow(memory.converted("start", start, matrix.dtype), context=context)
    kept = None if known is None else Matrix.dense(memory.converted("known", known, matrix.dtype), context=context, name="known")
    inverse = None if solve is None else solver_of(solve, n, matrix.dtype, context)
    outputs = [Tensor.borrow(values, context=context), Tensor.borrow(residuals, context=context)]
    shown = None if found is None else Matrix.dense(found, context=context, stream=stream)
    with call.relay.call() as running:
        status = lib.purlin_lanczos_solve_once(
            context.handle,
            stream.handle if stream else None,
            matrix.handle,
            first.handle if first else None,
            kept.handle if kept else None,
            inverse.handle if inverse else None,
            ctypes.byref(call.options),
            outputs[0].handle,
            shown.handle if shown else None,
            outputs[1].handle,
            ctypes.byref(call.report),
        )
    matrix.raise_caught()
    if inverse:
        inverse.raise_caught()

    def solution(m: int) -> Solution:
        # With all pairs the caller's own array is returned: a slice of another library's array is a new object.
        cut = found if found is None or m == k else found[:, :m]
        return Solution(Pairs(values[:m], cut), residuals[:m], call.info())

    made: Solution = call.finish(context, running, status, solution)
    return made


@overload
def solve(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: Literal[True] = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Pairs[Array]: ...


@overload
def solve(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Pairs: ...


@overload
def solve(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: Caller,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Pairs[Caller]: ...


def solve(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    start: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    vectors: bool | object = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Pairs[Array | SupportsArray | SupportsCuda | None]:
    """k eigenvalues, and eigenvectors of norm 1 as columns unless `vectors` is false, in the order that `which` says.
    `vectors` may be an array of n rows and k columns to write to, also one on the device (CuPy's, torch's;
    column-major), where the vectors of a context on a GPU then stay.

    `start` is the start vector, `known` has vectors to keep out of the search as columns, `solve` with `which="nearest"`
    solves (A - sigma I) x = b: a function of a vector b that returns x, an object with such a method `solve` (SciPy's
    SuperLU), a `LinearOperator`, or anything that stands for a matrix. With `ordering="degree"`, for power-law graphs, or
    "cuthill_mckee", for meshes, a copy of A in that order is iterated with, which stays with a `purlin.Matrix` for later
    calls. The contexts of the option `group` share the rows of a sparse A, and `run` reports the share of each.
    `progress` is called with the pairs that have converged, k, and the largest residual. Raises `Unfinished` if not all have converged."""
    wanted: Any = vectors
    return run(
        a,
        k,
        which,
        start=start,
        known=known,
        solve=solve,
        vectors=wanted,
        progress=progress,
        context=context,
        stream=stream,
        **options,
    ).pairs


@overload
def singular(
    a: Any,
    k: int = 6,
    which: Literal["largest", "smallest"] = "largest",
    *,
    through: Literal["auto", "gram", "augmented"] = "auto",
    start: npt.ArrayLike | None = None,
    vectors: Literal[True] = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> SingularSolution[Array]: ...


@overload
def singular(
    a: Any,
    k: int = 6,
    which: Literal["largest", "smallest"] = "largest",
    *,
    through: Literal["auto", "gram", "augmented"] = "auto",
    start: npt.ArrayLike | None = None,
    vectors: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> SingularSolution: ...


def singular(
    a: Any,
    k: int = 6,
    which: Literal["largest", "smallest"] = "largest",
    *,
    through: Literal["auto", "gram", "augmented"] = "auto",
    start: npt.ArrayLike | None = None,
    vectors: bool = True,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> SingularSolution:
    """k singular triplets of a sparse matrix or a `LinearOperator`, the largest first, or the smallest.

    The largest begin with the eigenvectors of A^H A or A A^H, whichever is smaller (`through="gram"`: the smallest too), or with
    "augmented", for the largest alone, of [0 A; A^H 0]. Where the residuals of A v = s u and A^H u = s v are too large, and for
    the smallest at once, Golub-Kahan-Lanczos follows: values are accurate to about eps ||A||, and u and v are orthonormal also
    where values are 0. `start` is a start vector of min(rows, cols) numbers, a right singular vector if cols <= rows, else a
    left one. Without `vectors` the values and residuals alone. Raises `Unfinished` if not all have converged."""
    if "kind" in options:
        raise TypeError("kind: is given, singular values are of the matrix itself; through says how they are found")
    matrix = of(a, place(context, options))
    context = matrix.context
    k = how_many("k", k)
    call = Call(k, which, progress, options)
    expect_held(matrix, options)
    call.options.kind = choice("through", through, THROUGH)
    rows, cols = matrix.shape
    count = max(k, 0)
    vectors = flag("vectors", vectors)
    with sized("k", k):
        values, residuals = np.zeros(count), np.zeros(count)
        u, v = (np.zeros((n, count), matrix.dtype, order="F") if vectors else None for n in (rows, cols))
    first = None if start is None else Tensor.borrow(memory.converted("start", start, matrix.dtype), context=context)
    lists = [Tensor.borrow(values, context=context), Tensor.borrow(residuals, context=context)]
    places = [None if each is None else Matrix.dense(each, context=context) for each in (u, v)]
    with call.relay.call() as running:
        status = lib.purlin_lanczos_singular_once(
            context.handle,
            stream.handle if stream else None,
            matrix.handle,
            first.handle if first else None,
            ctypes.byref(call.options),
            places[0].handle if places[0] else None,
            lists[0].handle,
            places[1].handle if places[1] else None,
            lists[1].handle,
            ctypes.byref(call.report),
        )
    matrix.raise_caught()

    def solution(m: int) -> SingularSolution:
        cut = [None if each is None else each[:, :m] for each in (u, v)]
        return SingularSolution(Triplets(cut[0], values[:m], cut[1]), residuals[:m], call.info())

    made: SingularSolution = call.finish(context, running, status, solution)
    return made


def plan(
    a: Any,
    k: int = 6,
    which: Which = "largest",
    *,
    known: npt.ArrayLike | None = None,
    solve: Any = None,
    context: Context | None = None,
    **options: Unpack[Options],
) -> Info:
    """The plan of `solve`: method, vectors of the space, memory, and how the contexts share the rows of a square sparse matrix.
    Raises the errors of `solve` for its options and inputs."""
    matrix = operand(a, place(context, options), kind=options.get("kind", "matrix"))
    with Lanczos(k, which, context=matrix.context, **options) as solver:
        return solver.plan(matrix, known=known, solve=solve)


def plan_singular(
    a: Any,
    k: int = 6,
    which: Literal["largest", "smallest"] = "largest",
    *,
    through: Literal["auto", "gram", "augmented"] = "auto",
    context: Context | None = None,
    **options: Unpack[Options],
) -> Info:
    """The plan of the function `singular`: method and why, vectors of the space, memory. Raises its errors for the options and
    A."""
    if "kind" in options:
        raise TypeError("kind: is given, singular values are of the matrix itself; through says how they are found")
    choice("through", through, THROUGH)
    matrix = of(a, place(context, options))
    options["kind"] = "matrix" if through == "auto" else through
    with Lanczos(k, which, context=matrix.context, **options) as solver:
        return solver.plan_singular(matrix)


def tridiagonalize(
    a: Any,
    steps: int,
    *,
    start: npt.ArrayLike | None = None,
    kind: Kind = "matrix",
    shift: float = 0.0,
    seed: int = 0,
    progress: Progress | None = None,
    context: Context | None = None,
) -> tuple[Array, Array]:
    """The coefficients alpha and beta of at most `steps` steps of the plain recurrence; the last beta leads out."""
    matrix = operand(a, context, kind=kind)
    with Lanczos(1, kind=kind, shift=shift, seed=seed, progress=progress, context=matrix.context) as solver:
        return solver.tridiagonalize(matrix, steps, start=start)


class Accepted(NamedTuple):
    """Values that passed the test, ascending, with estimates of their residuals and the copies of each."""

    values: Array
    residuals: Array
    copies: Array


def cullum_willoughby(
    alpha: npt.ArrayLike, beta: npt.ArrayLike, cluster: float = 1e-12, converged: float = 1e-6
) -> Accepted:
    """The eigenvalues of A among those of the recurrence's tridiagonal matrix, by the test of Cullum and Willoughby."""
    d, e = memory.converted("alpha", alpha, np.float64), memory.converted("beta", beta, np.float64)
    if d.ndim != 1 or d.shape != e.shape:
        raise ValueError(f"beta: has shape {e.shape}, expected {d.shape}")
    found, count = (LanczosAccepted * max(d.size, 1))(), c_int64()
    limits = real("cluster", cluster), real("converged", converged)
    check(
        lib.purlin_lanczos_cullum_willoughby(
            d.size, d.ctypes.data, e.ctypes.data, *limits, ctypes.byref(found), ctypes.byref(count)
        )
    )
    kept = found[: count.value]
    return Accepted(
        np.array([v.value for v in kept]),
        np.array([v.residual for v in kept]),
        np.array([v.copies for v in kept], np.int64),
    )


def tridiagonal_eigenvalues(diagonal: npt.ArrayLike, off: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """Eigenvalues of a symmetric tridiagonal matrix, ascending, and first and last components of its eigenvectors."""
    d, e = memory.converted("diagonal", diagonal, np.float64), memory.converted("off", off, np.float64)
    if d.ndim != 1 or e.shape != (max(d.size - 1, 0),):
        raise ValueError(f"off: has shape {e.shape}, expected ({max(d.size - 1, 0)},)")
    out = np.zeros((3, d.size))
    check(
        lib.purlin_tridiagonal_eigenvalues(
            d.size, d.ctypes.data, e.ctypes.data, *(row.ctypes.data for row in out)
        )
    )
    return out[0], out[1], out[2]


__all__ = [
    "Accepted",
    "Info",
    "Lanczos",
    "Options",
    "Pairs",
    "SingularSolution",
    "Solution",
    "Triplets",
    "Unfinished",
    "cullum_willoughby",
    "plan",
    "plan_singular",
    "run",
    "singular",
    "solve",
    "tridiagonal_eigenvalues",
    "tridiagonalize",
]
