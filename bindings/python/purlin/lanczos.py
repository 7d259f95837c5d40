"""Eigenpairs of symmetric and Hermitian matrices, and of operators of graphs that are never formed; singular triplets.

    values, vectors = purlin.lanczos.solve(A, 10)                            # the ten largest, in descending order
    pairs = purlin.lanczos.solve(W, 4, "smallest", kind="normalised_laplacian", basis=80)
    u, s, v = purlin.lanczos.singular(A, 5).triplets

`A` is a sparse matrix of SciPy (CSR in place; of a real symmetric one CSC as well), a `purlin.Matrix`, an array, or with
`kind="matrix"` a `LinearOperator`. Order: as `which` says, not ascending as SciPy's; `sorted_by_value` gives SciPy's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_int64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._callback import Progress, ProgressRelay
from ._context import Context, Stream, _word, choice, initialised
from ._error import NoConvergence, check
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._sshopm_types import apply
from ._structs import LanczosAccepted, LanczosInfo, LanczosOptions
from ._tensor import Tensor
from .sparse import ORDERS, of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Which = Literal["largest", "smallest", "largest_magnitude", "both_ends", "nearest"]
Kind = Literal[
    "matrix",
    "laplacian",
    "normalised_laplacian",
    "signless_laplacian",
    "normalised_adjacency",
    "modularity",
    "gram",
    "outer_gram",
    "augmented",
]

_WHICH = {
    "largest": c.LANCZOS_LARGEST,
    "smallest": c.LANCZOS_SMALLEST,
    "largest_magnitude": c.LANCZOS_LARGEST_MAGNITUDE,
    "both_ends": c.LANCZOS_BOTH_ENDS,
    "nearest": c.LANCZOS_NEAREST,
}
_KINDS = {
    "matrix": c.LANCZOS_MATRIX,
    "laplacian": c.LANCZOS_LAPLACIAN,
    "normalised_laplacian": c.LANCZOS_NORMALISED_LAPLACIAN,
    "signless_laplacian": c.LANCZOS_SIGNLESS_LAPLACIAN,
    "normalised_adjacency": c.LANCZOS_NORMALISED_ADJACENCY,
    "modularity": c.LANCZOS_MODULARITY,
    "gram": c.LANCZOS_GRAM,
    "outer_gram": c.LANCZOS_OUTER_GRAM,
    "augmented": c.LANCZOS_AUGMENTED,
}
_THROUGH = {"auto": c.LANCZOS_MATRIX, "gram": c.LANCZOS_GRAM, "augmented": c.LANCZOS_AUGMENTED}
_REASONS = {
    "converged": c.LANCZOS_CONVERGED,
    "restarts": c.LANCZOS_RESTARTS,
    "exhausted": c.LANCZOS_EXHAUSTED,
    "contradicted": c.LANCZOS_CONTRADICTED,
}
_WORDS = {
    "which": _WHICH,
    "kind": _KINDS,
    "verify": {"auto": c.LANCZOS_VERIFY_AUTO, "on": c.LANCZOS_VERIFY_ON, "off": c.LANCZOS_VERIFY_OFF},
    "method": {"restart": c.LANCZOS_METHOD_RESTART, "plain": c.LANCZOS_METHOD_PLAIN},
    "orthogonality": {"full": c.LANCZOS_ORTHOGONALITY_FULL, "partial": c.LANCZOS_ORTHOGONALITY_PARTIAL},
    "order": ORDERS,
    "filter": {"off": c.LANCZOS_FILTER_OFF, "chebyshev": c.LANCZOS_FILTER_CHEBYSHEV},
}


class Options(TypedDict, total=False):
    """Options of a solve; what is left out keeps the library's default. As in the C struct `purlin_lanczos_options`."""

    kind: Kind
    shift: float
    sigma: float
    tolerance: float
    basis: int
    restarts: int
    seed: int
    verify: Literal["auto", "on", "off"]
    method: Literal["restart", "plain"]
    block: int
    orthogonality: Literal["full", "partial"]
    filter: Literal["off", "chebyshev"]
    degree: int
    order: Literal["none", "degree", "cuthill_mckee"]
    check_symmetry: bool


_OPTIONS = frozenset(Options.__annotations__)

# SciPy's words, and what they are called here.
_SCIPY_WHICH = {
    "LA": "'largest'",
    "SA": "'smallest'",
    "LM": "'largest_magnitude' (of singular values 'largest')",
    "SM": "'nearest' with sigma=0 (of singular values 'smallest')",
    "BE": "'both_ends'",
}
_SCIPY_OPTIONS = {
    "tol": "tolerance",
    "ncv": "basis",
    "maxiter": "restarts",
    "v0": "start",
    "return_eigenvectors": "vectors",
    "return_singular_vectors": "vectors",
    "OPinv": "solve",
    "rng": "seed",
    "random_state": "seed",
}


def _refuse_scipy_words(which: object, options: Any) -> None:
    """Tells a caller who has SciPy's words what they are called here."""
    if isinstance(which, str) and which in _SCIPY_WHICH:
        raise ValueError(f"which: is {which!r}, SciPy's word for {_SCIPY_WHICH[which]}")
    for name in options:
        if name in _SCIPY_OPTIONS:
            raise TypeError(f"{name!r} is not an option; it is {_SCIPY_OPTIONS[name]!r} here")


@dataclass(frozen=True)
class Info:
    """What a solve did; as the C struct `purlin_lanczos_info`."""

    reason: str
    breakdowns: int
    count: int
    converged: int
    products: int
    restarts: int
    recovered: int
    basis: int
    degree: int
    norm: float
    seconds: float
    contexts: int
    part_rows: int
    part_entries: int
    halo: int
    halo_bytes: int
    product_bytes: int
    verified: bool
    residual: float
    orthogonality: float


class Pairs(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    values: Array
    vectors: Array | None


@dataclass(frozen=True)
class Solution:
    """Eigenpairs with ||A x - lambda x||_2 of each, and the report of the solve."""

    pairs: Pairs
    residuals: Array
    info: Info

    def sorted_by_value(self) -> Pairs:
        """In ascending order, as SciPy's eigsh has them."""
        order = np.argsort(self.pairs.values, kind="stable")
        vectors = self.pairs.vectors
        return Pairs(self.pairs.values[order], None if vectors is None else vectors[:, order])


class Unfinished(NoConvergence):
    """Not all pairs have converged: `solution` has those that there are, the first `info.converged` of them good."""

    solution: Any


def operand(a: Any, context: Context | None) -> Matrix:
    """A matrix that has to be Hermitian. Of a real one compressed columns are compressed rows."""
    if getattr(a, "format", None) == "csc" and np.dtype(a.dtype).kind == "f" and np.isfinite(a.data).all():
        # What is not finite is named by its row and column.
        return Matrix.csr(a.indptr, a.indices, a.data, a.shape, context=context)
    return of(a, context)


class Call:
    """What the calls that solve share: options, progress, report."""

    def __init__(self, count: int, which: str, progress: Progress | None, options: Any) -> None:
        self.options = initialised(LanczosOptions, "lanczos_options")
        self.options.count = count
        _refuse_scipy_words(which, options)
        self.options.which = choice("which", which, _WHICH)
        apply(self.options, _OPTIONS, options, _WORDS)
        self.relay = ProgressRelay(progress, self.options)
        self.report = initialised(LanczosInfo, "lanczos_info")

    def share(self, contexts: Sequence[Context]) -> None:
        """Further contexts, which live until the call is over."""
        self.contexts = list(contexts)
        if self.contexts:
            self._handles = (ctypes.c_void_p * len(self.contexts))(*[each.handle for each in self.contexts])
            self.options.contexts = ctypes.cast(self._handles, ctypes.c_void_p)
            self.options.contexts_count = len(self.contexts)

    def finish(self, context: Context, status: int, found: Callable[[int], Any]) -> Any:
        """`found` of as many pairs as there are; raises `Unfinished` with it where not all have converged."""
        try:
            context.finish(status, self.relay)
        except NoConvergence as error:
            told = Unfinished(status, str(error))
            told.solution = found(self.report.count)
            raise told from None
        return found(self.options.count)

    def info(self) -> Info:
        given: dict[str, Any] = {name: getattr(self.report, name) for name in Info.__annotations__}
        given["reason"] = _word(self.report.reason, _REASONS)
        given["verified"] = bool(self.report.verified)
        return Info(**given)


def _solver(solve: Any, n: int, dtype: np.dtype[Any], context: Context) -> Matrix:
    """What solves (A - sigma I) x = b as a matrix: one that stands for a matrix itself, an object with a method `solve`, such
    as SciPy's SuperLU, or a function."""
    if isinstance(solve, (Matrix, np.ndarray)) or hasattr(solve, "tocsr"):
        return of(solve, context)
    if hasattr(solve, "matmat"):
        if tuple(solve.shape) != (n, n):
            raise ValueError(f"solve: has shape {tuple(solve.shape)}, expected {(n, n)}")
        return _named(Matrix.from_operator(solve.matmat, solve.matmat, (n, n), dtype, context=context))
    function = solve if not callable(getattr(solve, "solve", None)) else solve.solve
    if not callable(function):
        raise TypeError(f"solve: is a {type(solve).__name__}, expected a function, an object with `solve`, or a matrix")
    shape = tuple(getattr(solve, "shape", (n, n)))
    if shape != (n, n):
        raise ValueError(f"solve: has shape {shape}, expected {(n, n)}")

    def columns(given: Array) -> Array:
        out = np.empty_like(given, order="F")
        for j in range(given.shape[1]):
            found = function(given[:, j].copy())
            memory.fill_block("solve", out[:, j], found[:, 0] if getattr(found, "shape", None) == (n, 1) else found)
        return out

    # (A - sigma I)^-1 is Hermitian, as A is.
    return _named(Matrix.from_operator(columns, columns, (n, n), dtype, context=context))


def _named(solver: Matrix) -> Matrix:
    """The matrix, whose errors say `solve`."""
    relay: Any = solver._relay
    relay.name = "solve"
    return solver


def _order(matrix: Matrix, kind: str) -> int:
    rows, cols = matrix.shape
    return {"gram": cols, "outer_gram": rows, "augmented": rows + cols}.get(kind, rows)


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
    contexts: Sequence[Context] = (),
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Solution:
    """As `solve`, with residuals and the report."""
    matrix = operand(a, context)
    context = matrix.context
    call = Call(k, which, progress, options)
    call.share(contexts)
    n = _order(matrix, options.get("kind", "matrix"))
    values, residuals = np.zeros(max(k, 0)), np.zeros(max(k, 0))
    found: Any = vectors
    if not isinstance(vectors, bool):
        memory.require_writable("vectors", vectors, as_matrix=True)
    else:
        found = np.zeros((n, max(k, 0)), matrix.dtype, order="F") if vectors else None
    first = None if start is None else Tensor.borrow(memory.converted("start", start, matrix.dtype), context=context)
    kept = None if known is None else Matrix.dense(memory.converted("known", known, matrix.dtype), context=context)
    inverse = None if solve is None else _solver(solve, n, matrix.dtype, context)
    outputs = [Tensor.borrow(values, context=context), Tensor.borrow(residuals, context=context)]
    shown = None if found is None else Matrix.dense(found, context=context, stream=stream)
    with call.relay:
        status = lib.purlin_lanczos_solve(
            matrix.handle,
            stream.handle if stream else None,
            ctypes.byref(call.options),
            first.handle if first else None,
            kept.handle if kept else None,
            inverse.handle if inverse else None,
            outputs[0].handle,
            shown.handle if shown else None,
            outputs[1].handle,
            ctypes.byref(call.report),
        )
    matrix.raise_caught()
    if inverse:
        inverse.raise_caught()

    def solution(m: int) -> Solution:
        # Of all of them what was given, which slices of other libraries' arrays are not.
        cut = found if found is None or m == k else found[:, :m]
        return Solution(Pairs(values[:m], cut), residuals[:m], call.info())

    made: Solution = call.finish(context, status, solution)
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
    contexts: Sequence[Context] = (),
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Pairs:
    """k eigenvalues, and eigenvectors of norm 1 as columns unless `vectors` is false, in the order that `which` says.
    `vectors` may be an array of n rows and k columns to write to, also one on the device (CuPy's, torch's;
    column-major), where the vectors of a context on a GPU then stay.

    `start` is the start vector, `known` has vectors to keep out of the search as columns, `solve` with `which="nearest"`
    is what solves (A - sigma I) x = b: a function of a vector b that returns x, an object with such a method `solve` (SciPy's
    SuperLU), a `LinearOperator`, or what stands for a matrix. With `order="degree"`, for power-law graphs, or
    "cuthill_mckee", for meshes, a copy of A in that order is iterated with, which stays with a `purlin.Matrix` for later
    calls. `contexts` are further GPUs of the kind of `context`, or all on the CPU: all of them share the rows of a
    sparse A, and `run` tells what each has. `progress` is called with the pairs that have converged, k, and the largest
    residual. Raises `Unfinished` if not all have converged."""
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
        contexts=contexts,
        stream=stream,
        **options,
    ).pairs


def partition(
    a: Any, *, context: Context | None = None, contexts: Sequence[Context] = (), **options: Unpack[Options]
) -> Info:
    """How `solve` would share the rows of a sparse matrix out over its context and `contexts`, and what a product would move:
    `contexts` to `product_bytes` of the report, whose rest is 0."""
    matrix = of(a, context)
    call = Call(1, "largest", None, options)
    call.share(contexts)
    status = lib.purlin_lanczos_partition(matrix.handle, ctypes.byref(call.options), ctypes.byref(call.report))
    matrix.context.finish(status)
    return call.info()


class Triplets(NamedTuple):
    """Singular triplets A v = s u, with the vectors as orthonormal columns; None where they were not asked for."""

    u: Array | None
    values: Array
    v: Array | None


@dataclass(frozen=True)
class SingularSolution:
    """Singular triplets with the larger of ||A v - s u|| and ||A^H u - s v|| of each, and the report of the solve."""

    triplets: Triplets
    residuals: Array
    info: Info


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
    matrix = of(a, context)
    context = matrix.context
    call = Call(k, which, progress, options)
    call.options.kind = choice("through", through, _THROUGH)
    rows, cols = matrix.shape
    count = max(k, 0)
    values, residuals = np.zeros(count), np.zeros(count)
    u, v = (np.zeros((n, count), matrix.dtype, order="F") if vectors else None for n in (rows, cols))
    first = None if start is None else Tensor.borrow(memory.converted("start", start, matrix.dtype), context=context)
    call.options.start = first.handle if first else None
    lists = [Tensor.borrow(values, context=context), Tensor.borrow(residuals, context=context)]
    places = [None if each is None else Matrix.dense(each, context=context) for each in (u, v)]
    with call.relay:
        status = lib.purlin_lanczos_singular(
            matrix.handle,
            stream.handle if stream else None,
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

    made: SingularSolution = call.finish(context, status, solution)
    return made


def tridiagonalise(
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
    matrix = operand(a, context)
    given: Options = {"kind": kind, "shift": shift, "seed": seed}
    call = Call(1, "largest", progress, given)
    alpha, beta, count = np.zeros(max(steps, 0)), np.zeros(max(steps, 0)), c_int64()
    context = matrix.context
    first = None if start is None else Tensor.borrow(memory.converted("start", start, matrix.dtype), context=context)
    with call.relay:
        status = lib.purlin_lanczos_tridiagonalise(
            matrix.handle,
            None,
            ctypes.byref(call.options),
            steps,
            first.handle if first else None,
            alpha.ctypes.data,
            beta.ctypes.data,
            ctypes.byref(count),
        )
    matrix.raise_caught()
    context.finish(status, call.relay)
    return alpha[: count.value], beta[: count.value]


class Accepted(NamedTuple):
    """Values that passed the test, ascending, with estimates of their residuals and the copies of each."""

    values: Array
    residuals: Array
    copies: Array


def cullum_willoughby(
    alpha: npt.ArrayLike, beta: npt.ArrayLike, cluster: float = 1e-12, converged: float = 1e-6
) -> Accepted:
    """The eigenvalues of A among those of the recurrence's tridiagonal matrix."""
    d, e = memory.converted("alpha", alpha, np.float64), memory.converted("beta", beta, np.float64)
    if d.ndim != 1 or d.shape != e.shape:
        raise ValueError(f"beta: has shape {e.shape}, expected {d.shape}")
    found, count = (LanczosAccepted * max(d.size, 1))(), c_int64()
    check(
        lib.purlin_lanczos_filter(
            d.size, d.ctypes.data, e.ctypes.data, cluster, converged, ctypes.byref(found), ctypes.byref(count)
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
    "Options",
    "Pairs",
    "SingularSolution",
    "Solution",
    "Triplets",
    "Unfinished",
    "cullum_willoughby",
    "partition",
    "run",
    "singular",
    "solve",
    "tridiagonal_eigenvalues",
    "tridiagonalise",
]
