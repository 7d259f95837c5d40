"""Words, options and reports of the eigensolver, and the parts of its calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, Union

import numpy as np

from . import _choices as w
from . import _constants as c
from . import _memory as memory
from . import _options, _reports
from ._callback import Progress, ProgressCall, ProgressRelay
from ._context import Context, Group, checked_group, choice, initialized
from ._error import InvalidArgument, NoConvergence, Wording, renaming
from ._graph_results import Clusters, Embedding, Fiedler
from ._keywords import apply, known, report
from ._matrix import Matrix
from ._memory import Array
from ._numbers import real, real_type
from ._structs import LanczosInfo, LanczosOptions
from .sparse import of

Found = TypeVar("Found")
if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    Vectors = TypeVarWithDefault("Vectors", covariant=True, default=Union[Array, None])
else:
    Vectors = TypeVar("Vectors", covariant=True)

Which = w.LanczosWhich
Kind = w.LanczosKindOption
Options = _options.LanczosOptions
Info = _reports.LanczosInfo
THROUGH = {"auto": c.LANCZOS_MATRIX, "gram": c.LANCZOS_GRAM, "augmented": c.LANCZOS_AUGMENTED}
_OPTIONS = known(Options, "lanczos_options")

# SciPy's words, and their names here.
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
    """Refuses SciPy's words, and names those of this package."""
    if isinstance(which, str) and which in _SCIPY_WHICH:
        raise ValueError(f"which: is {which!r}, SciPy's word for {_SCIPY_WHICH[which]}")
    for name in options:
        if name in _SCIPY_OPTIONS:
            raise TypeError(f"{name!r} is not an option; it is {_SCIPY_OPTIONS[name]!r} here")


if TYPE_CHECKING:

    class Pairs(NamedTuple, Generic[Vectors]):
        values: Array
        vectors: Vectors

    class Triplets(NamedTuple, Generic[Vectors]):
        u: Vectors
        values: Array
        v: Vectors

else:
    # Before Python 3.11 no named tuple is generic.
    class Pairs(NamedTuple):
        """Eigenvalues, and eigenvectors as columns: None where they were not asked for, or the caller's own array."""

        values: Array
        vectors: Array | None

        __class_getitem__ = classmethod(GenericAlias)

    class Triplets(NamedTuple):
        """Singular triplets A v = s u, with the vectors as orthonormal columns; None where they were not asked for."""

        u: Array | None
        values: Array
        v: Array | None

        __class_getitem__ = classmethod(GenericAlias)


@dataclass(frozen=True)
class Solution(Generic[Vectors]):
    """Eigenpairs with ||A x - lambda x||_2 of each, and the report of the solve."""

    pairs: Pairs[Vectors]
    residuals: Array
    info: Info

    def sorted_by_value(self) -> Pairs[Vectors]:
        """In ascending order, as SciPy's eigsh has them."""
        order = np.argsort(self.pairs.values, kind="stable")
        vectors: Any = self.pairs.vectors
        ordered: Any = None if vectors is None else vectors[:, order]
        return Pairs(self.pairs.values[order], ordered)


class Unfinished(NoConvergence):
    """Not all pairs have converged: `solution`, of the type that the call returns, has those that there are, the first
    `info.converged` of them good. Of the functions `solve` and `singular` it is that of `run`, with the residuals."""

    solution: Solution | SingularSolution | Pairs | Triplets | Embedding | Clusters | Fiedler


def place(context: Context | None, options: Any) -> Context | None:
    """The context of a call's matrix: the one given or the first of the option `group`; None for the matrix's own."""
    group = checked_group(options.get("group"))
    return group.contexts[0] if context is None and group is not None else context


# Kinds whose operator is Hermitian for any matrix.
_OF_ANY = ("gram", "outer_gram", "augmented")


def operand(a: Any, context: Context | None, name: str = "a", kind: str = "matrix") -> Matrix:
    """A matrix that has to be Hermitian, unless `kind` is of any matrix. Of a real one compressed columns are compressed rows."""
    choice("kind", kind, w.LANCZOS_KIND_OPTION)
    if kind in _OF_ANY:
        return of(a, context, name=name)
    shape: Any = getattr(a, "shape", ())
    if len(shape) == 2 and shape[0] != shape[1]:
        text = f"{name}: is {shape[0]} x {shape[1]}, a square matrix is needed"
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, text)
    if getattr(a, "format", None) == "csc" and np.dtype(a.dtype).kind == "f" and np.isfinite(a.data).all():
        # An entry that is not finite is named by its row and column, so it takes the other path.
        return Matrix.csr(a.indptr, a.indices, a.data, a.shape, context=context)
    return of(a, context, name=name)


def wording(matrix: str = "a", count: str = "k") -> Wording:
    """The names of a call's matrix and of its number of pairs in messages of the library."""
    renamed = renaming(a=matrix, graph=matrix, count=count)
    return lambda text: re.sub(r"\bcount(?= \+ 1 = )", count, renamed(text))


def expect_held(matrix: Matrix, options: Any) -> None:
    """Refuses integers among the options that the precision of the matrix would round, and a shift by which the operator's
    norm would overflow."""
    if matrix.dtype.kind not in "fc":
        # The call refuses such a matrix.
        return
    kind = real_type(matrix.dtype)
    for name in ("sigma", "shift"):
        if name in options:
            real(name, options[name], kind)
    # Squares of norms are formed in double precision, and numbers of the matrix's own precision are stored.
    most = min(float(np.sqrt(np.finfo(np.float64).max)), float(np.finfo(kind).max))
    shift = real("shift", options.get("shift", 0.0))
    if np.isfinite(shift) and abs(shift) > most:
        problem = f"shift: is {shift:g}, at most {most:.2g} in magnitude: the norm of the operator would overflow"
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, problem)


class Call:
    """Options, progress function and report of a call that solves."""

    def __init__(self, count: int, which: str, progress: Progress | None, options: Any) -> None:
        self.options = initialized(LanczosOptions, "lanczos_options")
        self.options.count = count
        given = dict(options)
        self.group: Group | None = checked_group(given.pop("group", None))
        if self.group is not None:
            self.options.group = self.group.handle
        _refuse_scipy_words(which, given)
        self.options.which = choice("which", which, w.LANCZOS_WHICH)
        apply(self.options, _OPTIONS, given)
        self.relay = ProgressRelay(progress, self.options)
        self.report = initialized(LanczosInfo, "lanczos_info")

    def finish(self, context: Context, running: ProgressCall, status: int, found: Callable[[int], Any]) -> Any:
        """`found` of as many pairs as there are; raises `Unfinished` with it where not all have converged."""
        try:
            context.finish(status, running, wording())
        except NoConvergence as error:
            unfinished = Unfinished(status, str(error))
            unfinished.solution = found(self.report.count)
            raise unfinished from None
        return found(self.options.count)

    def info(self) -> Info:
        return read_info(self.report)


def read_info(raw: Any) -> Info:
    """The C struct as `Info`."""
    return report(Info, raw)


def solver_of(solve: Any, n: int, dtype: np.dtype[Any], context: Context) -> Matrix:
    """The solver of (A - sigma I) x = b as a matrix. `solve` stands for a matrix itself, has a method `solve`, as SciPy's
    SuperLU does, or is a function."""
    if isinstance(solve, (Matrix, np.ndarray)) or hasattr(solve, "tocsr"):
        return of(solve, context, name="solve")
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
    relay.names = ("solve", "solve")
    return solver


def order_of(matrix: Matrix, kind: str) -> int:
    rows, cols = matrix.shape
    return {"gram": cols, "outer_gram": rows, "augmented": rows + cols}.get(kind, rows)


@dataclass(frozen=True)
class SingularSolution(Generic[Vectors]):
    """Singular triplets with the larger of ||A v - s u|| and ||A^H u - s v|| of each, and the report of the solve."""

    triplets: Triplets[Vectors]
    residuals: Array
    info: Info
