"""Eigenpairs of symmetric and Hermitian matrices, and of operators of graphs that are never formed; singular triplets.

    values, vectors = purlin.lanczos.solve(A, 10)                            # the ten largest, in descending order
    pairs = purlin.lanczos.solve(W, 4, "smallest", kind="normalized_laplacian", basis=80)
    u, s, v = purlin.lanczos.singular(A, 5).triplets

`A` is a sparse matrix of SciPy (CSR in place; of a real symmetric one CSC as well), a `purlin.Matrix`, an array, or with
`kind="matrix"` a `LinearOperator`. Order: as `which` says, not ascending as SciPy's; `sorted_by_value` gives SciPy's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int64
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._callback import Progress
from ._checked import how_many
from ._context import Context, Members, Stream, choice
from ._error import NoConvergence, check
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
    read_info,
    solver_of,
    wording,
)
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._numbers import real
from ._solver import Solver
from ._structs import LanczosAccepted
from ._tensor import Tensor
from .sparse import of

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
) -> Solution:
    """As `solve`, with residuals and the report."""
    matrix = operand(a, place(context, options), kind=options.get("kind", "matrix"))
    context = matrix.context
    k = how_many("k", k)
    call = Call(k, which, progress, options)
    expect_held(matrix, options)
    n = order_of(matrix, options.get("kind", "matrix"))
    values, residuals = np.zeros(max(k, 0)), np.zeros(max(k, 0))
    found: Any = vectors
    if not isinstance(vectors, bool):
        memory.require_writable("vectors", vectors, as_matrix=True)
    else:
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
) -> Pairs:
    """k eigenvalues, and eigenvectors of norm 1 as columns unless `vectors` is false, in the order that `which` says.
    `vectors` may be an array of n rows and k columns to write to, also one on the device (CuPy's, torch's;
    column-major), where the vectors of a context on a GPU then stay.

    `start` is the start vector, `known` has vectors to keep out of the search as columns, `solve` with `which="nearest"`
    solves (A - sigma I) x = b: a function of a vector b that returns x, an object with such a method `solve` (SciPy's
    SuperLU), a `LinearOperator`, or anything that stands for a matrix. With `ordering="degree"`, for power-law graphs, or
    "cuthill_mckee", for meshes, a copy of A in that order is iterated with, which stays with a `purlin.Matrix` for later
    calls. The contexts of the option `group` share the rows of a sparse A, and `run` reports the share of each.
    `progress` is called with the pairs that have converged, k, and the largest residual. Raises `Unfinished` if not all have converged."""
    return run(
        a,
        k,
        which,
        start=start,
        known=known,
        solve=solve,
        vectors=vectors,
        progress=progress,
        context=context,
        stream=stream,
        **options,
    ).pairs


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


class Lanczos(Solver[Info]):
    """Options on a context, for matrices of any size. `last_info()` is the report of the last run.

        solver = purlin.lanczos.Lanczos(4, "smallest", kind="laplacian")
        pairs = [solver.solve(graph) for graph in graphs]
    """

    _name, _report = "lanczos", "lanczos_info"
    _read = staticmethod(read_info)

    def __init__(
        self,
        k: int = 6,
        which: Which = "largest",
        *,
        progress: Progress | None = None,
        context: Context | None = None,
        **options: Unpack[Options],
    ) -> None:
        """For k eigenpairs or singular triplets; options as for `solve`."""
        members = Members(context, options.get("group"))
        k = how_many("k", k)
        call = Call(k, which, progress, options)
        self._k, self._kind = k, options.get("kind", "matrix")
        self._options = options
        super().__init__(members, call.relay, ctypes.byref(call.options), wording=wording())

    @property
    def count(self) -> int:
        """Number of pairs or triplets that a call finds."""
        return self._k

    def last_info(self) -> Info:
        """The report of the last run, also of one that raised `Unfinished`."""
        return super().last_info()

    def plan(self, a: Any, *, known: npt.ArrayLike | None = None, solve: Any = None) -> Info:
        """The plan of a solve of A: method, vectors of the space, memory, and how the contexts share the rows of a square
        sparse matrix: `contexts` to `product_bytes`. Raises the errors of the solve for its options and inputs."""
        matrix = operand(a, self.context, kind=self._kind)
        expect_held(matrix, self._options)
        given = [self._known(known, matrix), self._inverse(solve, matrix)]
        return self._planned(matrix.handle, *[each.handle if each else None for each in given], wording=wording())

    def plan_singular(self, a: Any) -> Info:
        """The plan of `singular`: method and why, vectors of the space, memory. Raises its errors for the options and A."""
        matrix = of(a, self.context)
        return self._planned(matrix.handle, what="plan_singular", wording=wording())

    def _known(self, known: npt.ArrayLike | None, matrix: Matrix) -> Matrix | None:
        if known is None:
            return None
        return Matrix.dense(memory.converted("known", known, matrix.dtype), context=self.context, name="known")

    def _inverse(self, solve: Any, matrix: Matrix) -> Matrix | None:
        return None if solve is None else solver_of(solve, order_of(matrix, self._kind), matrix.dtype, self.context)

    def solve(
        self,
        a: Any,
        *,
        start: npt.ArrayLike | None = None,
        known: npt.ArrayLike | None = None,
        solve: Any = None,
        vectors: bool = True,
        stream: Stream | None = None,
    ) -> Pairs:
        """k eigenvalues, and eigenvectors as columns unless `vectors` is false; `start`, `known` and `solve` as for the
        function `solve`. Raises `Unfinished` if not all have converged."""
        matrix = operand(a, self.context, kind=self._kind)
        n = order_of(matrix, self._kind)
        count = max(self._k, 0)
        values = np.zeros(count)
        found: Any = np.zeros((n, count), matrix.dtype, order="F") if vectors else None
        shown = None if found is None else Matrix.dense(found, context=self.context)
        target = Tensor.borrow(values, context=self.context)
        first, kept = self._vector("start", start, matrix), self._known(known, matrix)
        inverse = self._inverse(solve, matrix)
        handles = [each.handle if each else None for each in (first, kept, inverse, target, shown)]
        try:
            made: Pairs = self.run(
                matrix,
                stream,
                lib.purlin_lanczos_solve,
                lambda info: Pairs(
                    values[: info.count], found if found is None or info.count == count else found[:, : info.count]
                ),
                *handles,
                None,
            )
        finally:
            if inverse:
                inverse.raise_caught()
        return made

    def singular(
        self, a: Any, *, start: npt.ArrayLike | None = None, vectors: bool = True, stream: Stream | None = None
    ) -> Triplets:
        """k singular triplets, by kind "matrix", "gram" or "augmented"; `start` as for the function `singular`. Raises
        `Unfinished` if not all have converged."""
        matrix = of(a, self.context)
        count = max(self._k, 0)
        values = np.zeros(count)
        u, v = (np.zeros((n, count), matrix.dtype, order="F") if vectors else None for n in matrix.shape)
        places = [None if each is None else Matrix.dense(each, context=self.context) for each in (u, v)]
        target, first = Tensor.borrow(values, context=self.context), self._vector("start", start, matrix)

        def triplets(info: Info) -> Triplets:
            cut = [None if each is None else each[:, : info.count] for each in (u, v)]
            return Triplets(cut[0], values[: info.count], cut[1])

        handles = [each.handle if each else None for each in (first, places[0], target, places[1])]
        made: Triplets = self.run(matrix, stream, lib.purlin_lanczos_singular, triplets, *handles, None)
        return made

    def tridiagonalize(
        self, a: Any, steps: int, *, start: npt.ArrayLike | None = None, stream: Stream | None = None
    ) -> tuple[Array, Array]:
        """The coefficients alpha and beta of at most `steps` steps of the plain recurrence; the last beta leads out."""
        matrix = operand(a, self.context, kind=self._kind)
        alpha, beta, count = np.zeros(max(steps, 0)), np.zeros(max(steps, 0)), c_int64()
        first = self._vector("start", start, matrix)
        outputs = (alpha.ctypes.data, beta.ctypes.data, ctypes.byref(count))
        first_handle = first.handle if first else None
        self.call(matrix, stream, lib.purlin_lanczos_tridiagonalize, steps, first_handle, *outputs)
        return alpha[: count.value], beta[: count.value]

    def _vector(self, name: str, given: npt.ArrayLike | None, matrix: Matrix) -> Tensor | None:
        if given is None:
            return None
        return Tensor.borrow(memory.converted(name, given, matrix.dtype), context=self.context)

    def call(
        self,
        matrix: Matrix,
        stream: Stream | None,
        function: Any,
        *arguments: Any,
        names: tuple[str, str] = ("a", "k"),
    ) -> None:
        """One call of the library with this solver's progress: for the modules of this package. `names` are those of the
        matrix and of the number of pairs in messages."""
        expect_held(matrix, self._options)
        with self._relay.call() as running:
            status = function(self.handle, stream.handle if stream else None, matrix.handle, *arguments)
        matrix.raise_caught()
        self._members.finish(status, running, wording(*names))

    def run(
        self,
        matrix: Matrix,
        stream: Stream | None,
        function: Any,
        found: Callable[[Info], Any],
        *arguments: Any,
        names: tuple[str, str] = ("a", "k"),
    ) -> Any:
        """As `call`, for one that reports: `found` of its report; raises `Unfinished` with that where not all have
        converged."""
        raw = self._fresh()
        try:
            self.call(matrix, stream, function, *arguments, ctypes.byref(raw), names=names)
        except NoConvergence as error:
            unfinished = Unfinished(error.status, str(error))
            unfinished.solution = found(read_info(raw))
            raise unfinished from None
        return found(read_info(raw))


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
