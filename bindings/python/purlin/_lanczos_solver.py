"""The object of the eigensolver: options on contexts, for matrices of any size."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int64
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._callback import Progress
from ._checked import flag, how_many
from ._context import Context, Members, Stream, listed
from ._error import NoConvergence, sized
from ._lanczos import (
    Call,
    Found,
    Info,
    Options,
    Pairs,
    Triplets,
    Unfinished,
    Which,
    expect_held,
    operand,
    order_of,
    read_info,
    solver_of,
    wording,
)
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._solver import Solver
from ._tensor import Tensor
from ._typing import Unpack
from .sparse import of


class Lanczos(Solver[Info]):
    """Options on a context, for matrices of any size. `last_info()` is the report of the last run.

        solver = purlin.lanczos.Lanczos(4, "smallest", kind="laplacian")
        pairs = [solver.solve(graph) for graph in graphs]
    """

    _name, _report = "lanczos", "lanczos_info"
    _title = "purlin.lanczos.Lanczos"
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
        self._shown = listed(k=k, which=which, **options)
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

    @overload
    def solve(
        self,
        a: Any,
        *,
        start: npt.ArrayLike | None = None,
        known: npt.ArrayLike | None = None,
        solve: Any = None,
        vectors: Literal[True] = True,
        stream: Stream | None = None,
    ) -> Pairs[Array]: ...

    @overload
    def solve(
        self,
        a: Any,
        *,
        start: npt.ArrayLike | None = None,
        known: npt.ArrayLike | None = None,
        solve: Any = None,
        vectors: bool = True,
        stream: Stream | None = None,
    ) -> Pairs: ...

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
        vectors = flag("vectors", vectors)
        with sized("k", count):
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

    @overload
    def singular(
        self, a: Any, *, start: npt.ArrayLike | None = None, vectors: Literal[True] = True, stream: Stream | None = None
    ) -> Triplets[Array]: ...

    @overload
    def singular(
        self, a: Any, *, start: npt.ArrayLike | None = None, vectors: bool = True, stream: Stream | None = None
    ) -> Triplets: ...

    def singular(
        self, a: Any, *, start: npt.ArrayLike | None = None, vectors: bool = True, stream: Stream | None = None
    ) -> Triplets:
        """k singular triplets, by kind "matrix", "gram" or "augmented"; `start` as for the function `singular`. Raises
        `Unfinished` if not all have converged."""
        vectors = flag("vectors", vectors)
        matrix = of(a, self.context)
        count = max(self._k, 0)
        with sized("k", count):
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
        steps = how_many("steps", steps)
        with sized("steps", steps):
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
        found: Callable[[Info], Found],
        *arguments: Any,
        names: tuple[str, str] = ("a", "k"),
    ) -> Found:
        """As `call`, with the same `names`, for one that reports: `found` of its report; raises `Unfinished` with that where not all have
        converged."""
        raw = self._fresh()
        try:
            self.call(matrix, stream, function, *arguments, ctypes.byref(raw), names=names)
        except NoConvergence as error:
            unfinished = Unfinished(error.status, str(error))
            solution: Any = found(read_info(raw))
            unfinished.solution = solution
            raise unfinished from None
        return found(read_info(raw))
