"""Products of sparse matrices with vectors, planned once and used many times.

    plan = purlin.spmv.Plan(A)
    y = plan @ x
    plan.apply(x, y, alpha=2.0, beta=1.0)    # y = 2 A x + y, in place
    z = purlin.spmv.Plan(W, kind="laplacian") @ x    # D x - W x, without the Laplacian
"""

from __future__ import annotations

from typing import Any

from . import _choices as w
from . import _options, _reports
from ._context import Context, listed
from ._lib import lib
from ._matrix import Matrix
from ._products import Products
from ._typing import Unpack
from .sparse import of

Kind = w.LanczosKind
Method = w.SpmvMethod
Info = _reports.SpmvInfo
Options = _options.SpmvOptions


class Plan(Products):
    """Products with A, or with `op` its transpose or adjoint. The plan keeps a copy of that unless A is `symmetric`. With
    `ordering="degree"`, for power-law graphs, or "cuthill_mckee", for meshes, it keeps a copy of a square A in that order, and
    vectors go into it and back in each product.

    With a `kind` products are those with the operator that it makes of A, plus `shift` times the identity; neither is formed.
    A need not be symmetric: D has A's row sums. "gram", "outer_gram" and "augmented" keep a copy of the adjoint.

    With a `degree` d products are with the Chebyshev filter T_d((2 Op - (lower + upper) I) / (upper - lower)) of that operator.
    A may be a `LinearOperator`, or by `graph.operator_of_image`, too."""

    matrix: Matrix

    def __init__(
        self,
        a: Any,
        *,
        context: Context | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._shown = listed(**options)
        super().__init__(of(a, context), Matrix.dense, options)

    def _about(self) -> str:
        return f"{self.shape} {self._dtype}, {self.info.method}, {super()._about()}"

    def update(self, a: Any) -> None:
        """Other products are with `a`, of the same structure: new values, say."""
        matrix = of(a, self.context)
        if matrix.dtype != self._dtype:
            raise TypeError(f"a: is {matrix.dtype}, the plan is of {self._dtype}")
        self.context.finish(lib.purlin_spmv_update(self.handle, matrix.handle))
        self.matrix = matrix


__all__ = ["Info", "Kind", "Method", "Options", "Plan"]
