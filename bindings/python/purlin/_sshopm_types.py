"""Options and results of SS-HOPM calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from . import _constants as c
from ._context import choice, initialised
from ._memory import Array
from ._structs import SshopmResults
from ._tensor import Tensor

StartKind = Literal["auto", "fibonacci_hemisphere", "fibonacci_sphere", "icosahedral", "random", "random_cube"]
Sign = Literal["canonical", "raw"]

GOALS = {"maxima": c.SSHOPM_MAXIMA, "minima": c.SSHOPM_MINIMA, "both": c.SSHOPM_BOTH}
METHODS = {"hybrid": c.SSHOPM_HYBRID, "power": c.SSHOPM_POWER}
SHIFTS = {
    "adaptive": c.SSHOPM_SHIFT_ADAPTIVE,
    "fixed": c.SSHOPM_SHIFT_FIXED,
    "guaranteed": c.SSHOPM_SHIFT_GUARANTEED,
}
TESTS = {
    "residual": c.SSHOPM_TEST_RESIDUAL,
    "lambda": c.SSHOPM_TEST_LAMBDA,
    "step": c.SSHOPM_TEST_STEP,
}
STARTS = {
    "auto": c.STARTS_AUTO,
    "fibonacci_hemisphere": c.STARTS_FIBONACCI_HEMISPHERE,
    "fibonacci_sphere": c.STARTS_FIBONACCI_SPHERE,
    "icosahedral": c.STARTS_ICOSAHEDRAL,
    "random": c.STARTS_RANDOM,
    "random_cube": c.STARTS_RANDOM_CUBE,
}
SIGNS = {"canonical": c.SSHOPM_SIGN_CANONICAL, "raw": c.SSHOPM_SIGN_RAW}
COMPATIBILITIES = {"none": c.SSHOPM_COMPAT_NONE, "tensor_toolbox": c.SSHOPM_COMPAT_TENSOR_TOOLBOX}
WORDS = {
    "goal": GOALS,
    "method": METHODS,
    "shift_kind": SHIFTS,
    "test": TESTS,
    "start_kind": STARTS,
    "sign": SIGNS,
    "compatibility": COMPATIBILITIES,
}


class Options(TypedDict, total=False):
    """Options of `solve`; what is left out keeps the library's default."""

    goal: Literal["maxima", "minima", "both"]
    method: Literal["hybrid", "power"]
    shift_kind: Literal["adaptive", "fixed", "guaranteed"]
    shift: float
    test: Literal["residual", "lambda", "step"]
    start_kind: StartKind
    max_iterations: int
    warmup: int
    sign: Sign
    compatibility: Literal["none", "tensor_toolbox"]
    remove_isotropic: bool
    seed: int
    tolerance: float
    tau: float
    merge_angle: float
    merge_value: float
    degeneracy_tolerance: float


class SolverOptions(Options, total=False):
    """Options of `Sshopm`, each call of which refuses what only the other uses; `max_starts` belongs to `solve_all`."""

    starts: int
    max_starts: int


class AllOptions(TypedDict, total=False):
    """Options of `solve_all`; what is left out keeps the library's default."""

    starts: int
    max_starts: int
    seed: int
    max_iterations: int
    sign: Sign
    tolerance: float
    merge_angle: float
    merge_value: float
    degeneracy_tolerance: float


def refuse_unknown(known: frozenset[str], given: Any) -> None:
    """Refuses keyword options that a call does not have."""
    for name in given:
        if name not in known:
            raise TypeError(f"{name!r} is not an option; there are {', '.join(sorted(known))}")


def apply(options: Any, known: frozenset[str], given: Any, words: dict[str, dict[str, int]]) -> None:
    """Writes keyword options into a C struct."""
    refuse_unknown(known, given)
    for name, value in given.items():
        setattr(options, name, choice(name, value, words[name]) if name in words else value)


@dataclass(frozen=True)
class Info:
    """What a call did. `tolerance` is the one used, raised to what float32 can reach if need be."""

    tensors: int
    starts: int
    converged_starts: int
    iterations: int
    skipped_tensors: int
    chunks: int
    tolerance: float
    tolerance_raised: bool
    seconds: float
    truncated_tensors: int
    """Tensors with more pairs than were listed."""
    unconverged_tensors: int
    """Tensors with a start that did not converge."""
    host_bytes: int
    """Host memory for the work of a solve: threads, start vectors, a chunk of results."""
    reason: str
    """Where the starts of a solve run, and why."""


def read_info(info: Any) -> Info:
    """The C struct as `Info`."""
    return Info(
        tensors=info.tensors,
        starts=info.starts,
        converged_starts=info.converged_starts,
        iterations=info.iterations,
        skipped_tensors=info.skipped_tensors,
        chunks=info.chunks,
        tolerance=info.tolerance,
        tolerance_raised=bool(info.tolerance_raised),
        seconds=info.seconds,
        truncated_tensors=info.truncated_tensors,
        unconverged_tensors=info.unconverged_tensors,
        host_bytes=info.host_bytes,
        reason=info.reason.decode(),
    )


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
    """What the call did."""

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
    """Where each start ended."""

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
    """What the call did."""


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

    def raw(self) -> Any:
        """The C struct."""
        struct = initialised(SshopmResults, "sshopm_results")
        for name, *_ in SshopmResults._fields_[1:]:
            tensor = getattr(self, name)
            setattr(struct, name, None if tensor is None else tensor.handle)
        return struct


@dataclass(frozen=True)
class Classification:
    """What `classify` says about given pairs."""

    residuals: Array
    """(.., V)."""
    hessian: Array
    """(.., V, n-1), ascending."""
    classes: Array
    """(.., V) `purlin.PAIR_*`."""
