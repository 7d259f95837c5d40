"""Real eigenpairs of symmetric tensors by SS-HOPM: A x^(m-1) = lambda x with |x| = 1.

Tensors are packed batches (.., entries), in NumPy arrays of either order, in arrays of other libraries that speak
DLPack (host or CUDA), or `purlin.Tensor`. Results are NumPy arrays with the batch's leading axes first: values
(.., K), vectors (.., K, n). From float32 they are float32, else float64.
"""

from __future__ import annotations

import ctypes
from ctypes import c_uint64
from typing import Any

import numpy as np

from . import _choices as w
from . import _constants as c
from . import _memory as memory
from ._batch import Batch, Outputs
from ._callback import Progress
from ._checked import at_least, how_many, whole
from ._context import Context, Stream, choice, default_context, initialized, listed
from ._error import InvalidArgument, renaming, sized
from ._keywords import Known, apply, known, refuse_unknown
from ._lib import lib
from ._memory import Array
from ._numbers import real
from ._sshopm_types import (
    NO_INFORMATION,
    AllOptions,
    AllPairs,
    Classification,
    Info,
    Options,
    Pairs,
    Results,
    Runs,
    SolverOptions,
    StartKind,
)
from ._solver import PairSolver
from ._structs import SshopmOptions
from ._tensor import Tensor
from ._typing import Unpack

_SOLVE_OPTIONS, _ALL_OPTIONS = known(Options, "sshopm_options"), known(AllOptions, "sshopm_options")
_OPTIONS = known(SolverOptions, "sshopm_options")
# Options of pairs, which `runs` does not make of where its starts end.
_MERGING = ("merge_angle", "merge_value", "degeneracy_tolerance")


class Sshopm(PairSolver):
    """Options on a context, for batches of any shape: `solve`, `runs` and `solve_all` of this module without an object make one
    for one call. Calls of several threads wait for each other."""

    _name = "sshopm"

    def __init__(
        self, *, progress: Progress | None = None, context: Context | None = None, **options: Unpack[SolverOptions]
    ) -> None:
        """A shift makes `shift_kind` "fixed". Options that a call does not use are refused by that call."""
        raw = initialized(SshopmOptions, "sshopm_options")
        if "shift" in options:
            options.setdefault("shift_kind", "fixed")
        apply(raw, _OPTIONS, options)
        self._shown = listed(**options)
        super().__init__(raw, progress, context)

    def plan(self, tensors: object, *, order: int | None = None, dimension: int = 3) -> Info:
        """The plan of `solve`: starts, chunks, tolerance, host memory beside the results, and where it runs."""
        batch = Batch(tensors, order, dimension, self.context, None)
        return self._planned(batch.tensor.handle)

    def solve_into(
        self, tensors: Tensor, results: Results, *, starts: Tensor | None = None, stream: Stream | None = None
    ) -> Info:
        """`solve` on tensors of the library, host or device, as in C."""
        queue, given = stream.handle if stream else None, starts.handle if starts else None
        return self._run("solve", queue, tensors.handle, given, ctypes.byref(results.raw()))

    def solve_all_into(
        self,
        tensors: Tensor,
        results: Results,
        *,
        morse_sum: Tensor | None = None,
        morse_expected: Tensor | None = None,
        stream: Stream | None = None,
    ) -> Info:
        """`solve_all` on tensors of the library, as in C."""
        morse = (morse_sum.handle if morse_sum else None, morse_expected.handle if morse_expected else None)
        queue = stream.handle if stream else None
        return self._run("solve_all", queue, tensors.handle, ctypes.byref(results.raw()), *morse)

    def solve(
        self,
        tensors: object,
        pairs: int = 8,
        *,
        order: int | None = None,
        dimension: int = 3,
        starts: object | None = None,
        stream: Stream | None = None,
    ) -> Pairs:
        """The best `pairs` eigenpairs of each tensor; `starts` are an array (V, n) in place of those of the options."""
        batch = Batch(tensors, order, dimension, self.context, stream)
        return self._solve(batch, _some(pairs), starts)

    def _solve(self, batch: Batch, pairs: int, starts: object | None) -> Pairs:
        out = Outputs(batch)
        with sized("pairs", pairs):
            results, arrays = _pair_results(batch, out, pairs)
        given = None if starts is None else _starts(batch, starts)
        info = self.solve_into(batch.tensor, results, starts=given, stream=batch.stream)
        out.collect()
        return Pairs(**{name: batch.shaped(array) for name, array in arrays.items()}, info=info)

    def solve_all(
        self,
        tensors: object,
        pairs: int | None = None,
        *,
        order: int | None = None,
        dimension: int = 3,
        stream: Stream | None = None,
    ) -> AllPairs:
        """All real eigenpairs of each tensor, as the function `solve_all`."""
        return self._solve_all(Batch(tensors, order, dimension, self.context, stream), pairs)

    def _solve_all(self, batch: Batch, pairs: int | None) -> AllPairs:
        if pairs is not None:
            return self._listed(batch, _some(pairs))
        found = self._listed(batch, _generic_pairs(batch))
        return self._listed(batch, int(found.found.max())) if found.info.truncated_tensors else found

    def _listed(self, batch: Batch, pairs: int) -> AllPairs:
        out = Outputs(batch)
        with sized("pairs", pairs):
            results, arrays = _pair_results(batch, out, pairs)
        morse_sum, found = out.add((batch.count,), np.int32)
        morse_expected, expected = out.add((batch.count,), np.int32)
        info = self.solve_all_into(
            batch.tensor, results, morse_sum=morse_sum, morse_expected=morse_expected, stream=batch.stream
        )
        out.collect()
        shaped = {name: batch.shaped(array) for name, array in arrays.items()}
        return AllPairs(**shaped, info=info, morse_sum=batch.shaped(found), morse_expected=batch.shaped(expected))


def _solver(
    context: Context, progress: Progress | None, options: Any, known: Known, starts: int | None = None
) -> Sshopm:
    """A solver for one call, which knows the options of that call."""
    refuse_unknown(known, options)
    if starts is not None:
        options["starts"] = how_many("starts", starts)
    return Sshopm(progress=progress, context=context, **options)


def solve_into(
    tensors: Tensor,
    results: Results,
    *,
    starts: Tensor | int | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Info:
    """`solve` on tensors of the library, host or device, as in C."""
    given = starts if isinstance(starts, Tensor) else None
    count = None if isinstance(starts, Tensor) else starts
    with _solver(context or tensors.context, progress, options, _SOLVE_OPTIONS, count) as solver:
        return solver.solve_into(tensors, results, starts=given, stream=stream)


def solve_all_into(
    tensors: Tensor,
    results: Results,
    *,
    morse_sum: Tensor | None = None,
    morse_expected: Tensor | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[AllOptions],
) -> Info:
    """`solve_all` on tensors of the library, as in C."""
    with _solver(context or tensors.context, progress, options, _ALL_OPTIONS) as solver:
        return solver.solve_all_into(
            tensors, results, morse_sum=morse_sum, morse_expected=morse_expected, stream=stream
        )


def _starts(batch: Batch, starts: object) -> Tensor:
    """Start vectors (V, n) as the tensor [n, V] where the batch is."""
    array = np.atleast_2d(memory.real_array(starts, batch.dtype, "starts"))
    _expect_vectors("starts", array, batch, "(V, n)", array.ndim == 2)
    if array.shape[0] == 0:
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, f"starts: has shape {array.shape}, at least 1 vector is needed")
    # The library would name columns.
    not_finite, zero = ~np.isfinite(array).all(axis=1), ~array.any(axis=1)
    for found, problem in ((not_finite, "has a component that is not finite"), (zero, "is zero")):
        if found.any():
            raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, f"starts: row {int(found.argmax())} {problem}")
    return _placed(batch, array)


def _expect_vectors(name: str, array: Array, batch: Batch, shapes: str, has_rank: bool) -> None:
    """Refuses vectors that are not of the batch's dimension n, or of none of the `shapes`."""
    n = batch.dimension
    if not has_rank or array.shape[-1] != n:
        problem = f"{name}: has shape {array.shape}, expected {shapes} with n = {n}"
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, problem)


def _placed(batch: Batch, array: Array) -> Tensor:
    """A host array with its axes the other way round, where the batch is."""
    host = Tensor.from_memory(memory.host_memory(array).reversed(), batch.context)
    if not batch.on_device:
        return host
    device = Tensor.create(host.shape, batch.dtype, "device", order="F", context=batch.context)
    host.copy_to(device, stream=batch.stream)
    return device


def _pair_results(batch: Batch, out: Outputs, kept: int) -> tuple[Results, dict[str, Array]]:
    results = Results()
    arrays: dict[str, Array] = {}
    rows = (batch.count, kept)
    wanted: list[tuple[str, tuple[int, ...], Any]] = [
        ("count", (batch.count,), np.int32),
        ("found", (batch.count,), np.int32),
        ("status", (batch.count,), np.int32),
        ("values", rows, batch.dtype),
        ("vectors", (*rows, batch.dimension), batch.dtype),
        ("residuals", rows, batch.dtype),
        ("classes", rows, np.int32),
        ("hessian", (*rows, batch.dimension - 1), batch.dtype),
        ("basins", rows, np.int32),
    ]
    for name, shape, dtype in wanted:
        if name == "hessian" and batch.dimension == 1:
            arrays[name] = np.empty(shape, dtype)  # the tangent space of a point has no directions
            continue
        tensor, arrays[name] = out.add(shape, dtype)
        setattr(results, name, tensor)
    return results, arrays


def _some(pairs: int) -> int:
    """The number of pairs to list, at least one."""
    return at_least("pairs", pairs, 1)


def solve(
    tensors: object,
    pairs: int = 8,
    *,
    order: int | None = None,
    dimension: int = 3,
    starts: object | int | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Pairs:
    """The best `pairs` eigenpairs of each tensor, from many starts, merged; `truncated` of the result says where there
    were more.

    `starts` is a number, or an array (V, n) of the caller's own. From `start_kind` "fibonacci_hemisphere", or "icosahedral"
    with 5 f^2 + 1 starts, it can miss maxima of odd orders in the other half of the sphere. The order follows from the
    number of entries. A `shift` that is given, 0 too, makes `shift_kind` "fixed".
    """
    batch = Batch(tensors, order, dimension, context, stream)
    is_count = isinstance(starts, (int, np.integer)) or (isinstance(starts, np.ndarray) and starts.ndim == 0)
    count: Any = starts if is_count else None
    with _solver(batch.context, progress, options, _SOLVE_OPTIONS, count) as solver:
        return solver._solve(batch, _some(pairs), None if is_count else starts)


def runs(
    tensors: object,
    starts: object,
    *,
    order: int | None = None,
    dimension: int = 3,
    trace: int = 0,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Runs:
    """Where each of the caller's starts, (V, n), ends for each tensor.

    The goal is "maxima" or "minima": with "both" a start has two ends, and the library refuses it. `trace` > 0 records
    lambda at that many iterations, of one tensor from one start.
    """
    for name in _MERGING:
        if name in options:
            raise TypeError(f"{name}: is given, runs neither merges nor classifies pairs")
    if options.get("goal") == "both":
        raise ValueError("goal: is 'both', by which a start has two ends; 'maxima' or 'minima' is needed")
    trace = at_least("trace", trace, 0)
    batch = Batch(tensors, order, dimension, context, stream)
    out = Outputs(batch)
    given = _starts(batch, starts)
    rows = (batch.count, given.shape[1])
    results = Results()
    arrays: dict[str, Array] = {}
    wanted: list[tuple[str, tuple[int, ...], Any]] = [
        ("values", rows, batch.dtype),
        ("vectors", (*rows, batch.dimension), batch.dtype),
        ("residuals", rows, batch.dtype),
        ("shifts", rows, batch.dtype),
        ("iterations", rows, np.int32),
        ("status", rows, np.int32),
        ("violations", rows, np.int32),
    ]
    for name, shape, dtype in wanted:
        tensor, arrays[name] = out.add(shape, dtype)
        setattr(results, "start_" + name, tensor)
    recorded = None
    if trace > 0:
        with sized("trace", trace):
            results.trace, recorded = out.add((trace,), batch.dtype)
    info = solve_into(
        batch.tensor,
        results,
        starts=given,
        progress=progress,
        context=batch.context,
        stream=batch.stream,
        **options,
    )
    out.collect()
    shaped = {name: batch.shaped(array) for name, array in arrays.items()}
    return Runs(**shaped, trace=recorded, info=info)


def solve_all(
    tensors: object,
    pairs: int | None = None,
    *,
    order: int | None = None,
    dimension: int = 3,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[AllOptions],
) -> AllPairs:
    """All real eigenpairs of each tensor, with checks of completeness.

    TENSOR_OK says that the numbers of pairs of each kind can be those of a complete set, by Morse theory, that a doubling of the
    starts found nothing new, and that each pair was reached by four starts. Otherwise the status is TENSOR_INCOMPLETE.

    `pairs` bounds those that are listed; `truncated` of the result says where there were more. By default all are listed:
    memory for the pairs of a generic tensor, ((m-1)^n - 1)/(m-2), at most 512, and a second search where that was too
    little.
    """
    batch = Batch(tensors, order, dimension, context, stream)
    with _solver(batch.context, progress, options, _ALL_OPTIONS) as solver:
        return solver._solve_all(batch, pairs)


def _generic_pairs(batch: Batch) -> int:
    """Pairs of a generic tensor, complex ones included, at most 512."""
    m, n = batch.order, batch.dimension
    generic: int = n if m == 2 else ((m - 1) ** n - 1) // (m - 2)
    return min(512, generic)


def product(
    tensors: object,
    vectors: object,
    power: int,
    *,
    order: int | None = None,
    dimension: int = 3,
    context: Context | None = None,
    stream: Stream | None = None,
) -> Array:
    """A x^power for power = m, m-1, m-2.

    `vectors` is (n,), (V, n) for all tensors, or (.., V, n) with the batch's leading axes. The result is (.., V),
    (.., V, n) or (.., V, n, n); without the V of a single vector (n,).
    """
    power = how_many("power", power)
    batch = Batch(tensors, order, dimension, context, stream)
    out = Outputs(batch)
    array = memory.real_array(vectors, batch.dtype, "vectors")
    single = array.ndim == 1
    lead = (batch.count,) if batch.rows is None else batch.rows.lead
    shapes = "(n,) or (V, n)" if not lead else f"(n,), (V, n) or ({', '.join(map(str, lead))}, V, n)"
    _expect_vectors("vectors", array, batch, shapes, array.ndim in (1, 2, len(lead) + 2))
    if array.ndim > 2:
        array = _with_rows("vectors", batch, array)
    given = _placed(batch, np.atleast_2d(array))
    shape = (batch.count, given.shape[1], *(batch.dimension,) * max(batch.order - power, 0))
    products, result = out.add(shape, batch.dtype)
    batch.context._run(
        lib.purlin_sshopm_product,
        batch.context.handle, out.queue, batch.tensor.handle, given.handle, power, products.handle,
    )
    out.collect()
    return batch.shaped(result[:, 0] if single else result)


def _with_rows(name: str, batch: Batch, array: Array) -> Array:
    """An array (.., V, n) of the batch's leading axes as (T, V, n), in the order of the batch's rows."""
    if batch.rows is not None:
        return batch.rows.flattened_rows(name, array)
    if array.shape[0] != batch.count:
        raise ValueError(f"{name}: has shape {array.shape}, expected ({batch.count},) first, as tensors")
    return array


def starts(
    count: int,
    dimension: int = 3,
    kind: StartKind | None = None,
    *,
    seed: int = 0,
    dtype: Any = np.float64,
    context: Context | None = None,
) -> Array:
    """Start vectors (count, n): a Fibonacci lattice on the hemisphere, random ones for n other than 3, or of `kind`.

    From starts on half of the sphere ("fibonacci_hemisphere", and "icosahedral" with 5 f^2 + 1 of them) the solver can miss
    maxima of odd orders in the other half.
    """
    context, dimension = context or default_context(), at_least("dimension", dimension, 1)
    if kind is None:
        kind = "fibonacci_hemisphere" if dimension == 3 else "random"
    memory.dtype_number(dtype, ("float32", "float64"))
    count = at_least("count", count, 0)
    with sized("count", count):
        vectors = np.empty((count, dimension), dtype)
    target = Tensor.from_memory(memory.host_memory(vectors).reversed(), context)
    number = choice("kind", kind, w.STARTS)
    given = (context.handle, None, number, whole("seed", seed, c_uint64), target.handle)
    context._run(lib.purlin_sshopm_starts, *given, wording=renaming(start_kind="kind", starts="count"))
    return vectors


def classify(
    tensors: object,
    values: object,
    vectors: object,
    *,
    degeneracy_tolerance: float = 0.0,
    order: int | None = None,
    dimension: int = 3,
    context: Context | None = None,
    stream: Stream | None = None,
) -> Classification:
    """Residual, projected Hessian and class of the pairs (`values` (.., V), `vectors` (.., V, n))."""
    batch = Batch(tensors, order, dimension, context, stream)
    out = Outputs(batch)
    lead = batch.rows.lead if batch.rows is not None else (batch.count,)
    value_array = memory.real_array(values, batch.dtype, "values")
    if value_array.shape[:-1] != lead or value_array.ndim != len(lead) + 1:
        raise ValueError(f"values: has shape {value_array.shape}, expected {lead} and the pairs")
    pairs = value_array.shape[-1]
    flat_values = np.ascontiguousarray(_with_rows("values", batch, value_array))
    vector_array = memory.real_array(vectors, batch.dtype, "vectors")
    flat_vectors = np.ascontiguousarray(_with_rows("vectors", batch, vector_array))
    if flat_vectors.shape != (batch.count, pairs, batch.dimension):
        raise ValueError(f"vectors: has shape {vector_array.shape}, expected {(*lead, pairs, batch.dimension)}")
    residuals, residual_array = out.add((batch.count, pairs), batch.dtype)
    classes, class_array = out.add((batch.count, pairs), np.int32)
    hessian, hessian_array = None, np.empty((batch.count, pairs, 0), batch.dtype)
    if batch.dimension > 1:
        hessian, hessian_array = out.add((batch.count, pairs, batch.dimension - 1), batch.dtype)
    given = (_placed(batch, flat_values), _placed(batch, flat_vectors))
    batch.context._run(
        lib.purlin_sshopm_classify,
        batch.context.handle,
        out.queue,
        batch.tensor.handle,
        *(tensor.handle for tensor in given),
        real("degeneracy_tolerance", degeneracy_tolerance),
        residuals.handle,
        hessian.handle if hessian else None,
        classes.handle,
    )
    out.collect()
    return Classification(
        residuals=batch.shaped(residual_array),
        hessian=batch.shaped(hessian_array),
        classes=batch.shaped(class_array),
    )


__all__ = [
    "NO_INFORMATION",
    "AllOptions",
    "AllPairs",
    "Classification",
    "Info",
    "Options",
    "Pairs",
    "Results",
    "Runs",
    "SolverOptions",
    "Sshopm",
    "StartKind",
    "classify",
    "product",
    "runs",
    "solve",
    "solve_all",
    "solve_all_into",
    "solve_into",
    "starts",
]
