"""Options and results of SS-HOPM calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _choices as w
from . import _options, _reports
from ._context import initialized
from ._keywords import report
from ._memory import Array
from ._structs import SshopmResults
from ._tensor import Tensor

StartKind = w.Starts
Options = _options.SshopmOptions
SolverOptions = _options.SolverOptions
AllOptions = _options.AllOptions
Info = _reports.SshopmInfo


def read_info(info: Any) -> Info:
    """The C struct as `Info`."""
    return report(Info, info)


@dataclass(frozen=True)
class Pairs:
    """Pairs of a batch. Row t has `count[t]` of them; the rest of it is NaN, `purlin.PAIR_NONE` in `classes` and 0 in
    `basins`."""

    count: Array
    """(..) pairs listed, at most K."""
    found: Array
    """(..) pairs found: more than `count` where K is too small for all of them."""
    status: Array
    """(..) `purlin.TENSOR_*`."""
    values: Array
    """(.., K) eigenvalues: maxima descending, minima ascending."""
    vectors: Array
    """(.., K, n) unit eigenvectors."""
    residuals: Array
    """(.., K) |A x^(m-1) - lambda x|."""
    classes: Array
    """(.., K) `purlin.PAIR_*`."""
    hessian: Array
    """(.., K, n-1) eigenvalues of the projected Hessian, ascending."""
    basins: Array
    """(.., K) starts that ended in the pair."""
    info: Info
    """Counts, tolerance and seconds of the call."""

    @property
    def truncated(self) -> Array:
        """(..) whether the tensor has more pairs than were listed."""
        return self.found > self.count


@dataclass(frozen=True)
class AllPairs(Pairs):
    """`Pairs` of `solve_all`, with the sum of (-1)^k over them (k = negative Hessian eigenvalues) and the sum of a complete
    set; `NO_INFORMATION` where the theory gives none, as with a degenerate pair."""

    morse_sum: Array
    morse_expected: Array


NO_INFORMATION = -(2**31)


@dataclass(frozen=True)
class Runs:
    """Where each of the V starts ended, converged or not."""

    values: Array
    """(.., V)."""
    vectors: Array
    """(.., V, n)."""
    residuals: Array
    """(.., V)."""
    shifts: Array
    """(.., V), the last one used."""
    iterations: Array
    """(.., V)."""
    status: Array
    """(.., V) `purlin.START_*`."""
    violations: Array
    """(.., V) steps against the monotone direction."""
    trace: Array | None
    """(L,) lambda at each iteration, NaN after the end, if it was asked for."""
    info: Info
    """Counts, tolerance and seconds of the call."""


@dataclass
class Results:
    """Tensors for `solve_into` and `solve_all_into`, in the C layout: values [K, T], vectors [n, K, T] and so on."""

    count: Tensor | None = None
    values: Tensor | None = None
    vectors: Tensor | None = None
    residuals: Tensor | None = None
    classes: Tensor | None = None
    hessian: Tensor | None = None
    basins: Tensor | None = None
    status: Tensor | None = None
    start_values: Tensor | None = None
    start_vectors: Tensor | None = None
    start_residuals: Tensor | None = None
    start_iterations: Tensor | None = None
    start_shifts: Tensor | None = None
    start_status: Tensor | None = None
    start_violations: Tensor | None = None
    trace: Tensor | None = None
    found: Tensor | None = None

    def raw(self) -> SshopmResults:
        """The C struct `purlin_sshopm_results`, NULL for each that is `None`."""
        struct: SshopmResults = initialized(SshopmResults, "sshopm_results")
        for name, *_ in SshopmResults._fields_[1:]:
            tensor = getattr(self, name)
            setattr(struct, name, None if tensor is None else tensor.handle)
        return struct


@dataclass(frozen=True)
class Classification:
    """The result of `classify` for given pairs."""

    residuals: Array
    """(.., V)."""
    hessian: Array
    """(.., V, n-1), ascending."""
    classes: Array
    """(.., V) `purlin.PAIR_*`."""
