"""Tensor trains (matrix-product states) and TT-matrices (matrix-product operators).

    x = purlin.tt.Train(cores)           # arrays (r, n, s), in place where they are in Fortran order
    h = purlin.tt.ising(16, 1.0, 1.0)
    energy = purlin.tt.rayleigh(h, x)    # <x|H|x> / <x|x>

Functions take trains or lists of arrays. A `Contraction` keeps its plan and its workspace, so that many calls of the same
shapes cost no planning. Sites, bonds and indices count from 0.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_double, c_int32, c_int64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._callback import Progress, ProgressRelay
from ._checked import how_many, sizes, whole
from ._context import Context, Group, Handle, Stream, home, initialized, listed
from ._error import InvalidArgument, Wording, check, renaming
from ._interrupts import Interruption
from ._keywords import apply as set_options, known
from ._lib import lib
from ._memory import Array
from ._structs import TtContractionInfo, TtContractionOptions, TtScaled
from ._tensor import Tensor, integers
from ._train import Train, TrainMatrix, Trains
from ._train_algebra import (
    Truncated,
    add,
    apply,
    apply_round,
    canonicalize,
    cast,
    conj,
    element,
    elements,
    full,
    hadamard,
    hadamard_round,
    ones,
    product_state,
    random,
    reverse,
    rotate,
    round,
    scale,
    svd,
    to_open,
    zeros,
)
from ._train_models import Term, from_terms, heisenberg, identity, ising, operator_array
from ._train_options import Info, Options, Scaled, ScaledArray, Side, info_of, refuse_idle, scaled_of, side_of
from ._typing import Unpack

_OPTIONS = known(Options, "tt_contraction_options")
_Parts = c_double * 2
# Of one list with itself, or of a quotient of one train, there is no argument y.
_ONE_LIST = renaming(y="x")


def _raw_options(context: Context | None, options: Options) -> tuple[Context, Any, Group | None]:
    """The context of a call, the C struct of its options, and the group that the struct points to."""
    given: dict[str, Any] = dict(options)
    group: Group | None = given.pop("group", None)
    at = home(context, group)
    raw = initialized(TtContractionOptions, "tt_contraction_options")
    set_options(raw, _OPTIONS, given)
    if group is not None:
        raw.group = group.handle
    return at, raw, group


def _is_complex(*trains: Train | TrainMatrix) -> bool:
    return any(train.is_complex for train in trains)


def _pair(x: object, y: object, context: Context, names: str = "xy") -> tuple[Train, Train]:
    first = Train.of(x, context, names[0])
    return first, first if y is x else Train.of(y, context, names[1])


class Contraction(Handle):
    """Options on a context, for trains of any shape. `last_info` has the report of the last call.

    Plain results are complex where a train is and else float; one beyond the range of its type raises `Numerical`, which
    the `_scaled` calls never do.
    """

    def __init__(
        self, *, progress: Progress | None = None, context: Context | None = None, **options: Unpack[Options]
    ) -> None:
        self.context, raw, group = _raw_options(context, options)
        self._shown = listed(**options)
        # Without a function C gets none: a call of one costs more than a small contraction.
        self._relay = None if progress is None or progress is False else ProgressRelay(progress, raw)
        made = c_void_p()
        status = lib.purlin_tt_contraction_create(self.context.handle, ctypes.byref(raw), ctypes.byref(made))
        super().__init__(made.value, lib.purlin_tt_contraction_destroy, self.context._sinks, group, self._relay)
        self.context.finish(status)
        # The library's workspace lives as long as this object.
        self._workspace: memory.Memory | None = None

    def last_info(self) -> Info:
        """The report of the last call that gave one. Plans give none."""
        raw = initialized(TtContractionInfo, "tt_contraction_info")
        check(lib.purlin_tt_contraction_last_info(self.handle, ctypes.byref(raw)))
        return info_of(raw)

    def cancel(self) -> None:
        """Makes the running call raise `Cancelled`. May be called from any thread."""
        check(lib.purlin_tt_contraction_cancel(self.handle))

    def plan_inner(self, x: object, y: object) -> Info:
        """The plan of `inner`: method, kernel, operations, bytes, workspace."""
        bra, ket = self._pair(x, y)
        return self._foresee(lib.purlin_tt_plan_inner, bra.handle, ket.handle)

    def plan_norm(self, x: object) -> Info:
        """The plan of `norm`, by the method that the options ask for."""
        train = Train.of(x, self.context, "x")
        return self._foresee(lib.purlin_tt_plan_norm, train.handle)

    def plan_distance(self, x: object, y: object) -> Info:
        """The plan of `distance`: method and cost. Nothing is computed."""
        a, b = self._pair(x, y)
        return self._foresee(lib.purlin_tt_plan_distance, a.handle, b.handle)

    def plan_batch(self, x: Sequence[object], y: Sequence[object]) -> Info:
        """The plan of `inner_batch`: method and kernel of the first pair, the rest of all together."""
        if len(x) != len(y):
            raise ValueError(f"y: has {len(y)} trains, x has {len(x)}")
        bras, kets = self._trains(x, "x"), self._trains(y, "y")
        return self._foresee(lib.purlin_tt_plan_batch, len(bras), bras._handles, kets._handles)

    def plan_gram(self, x: Sequence[object], y: Sequence[object] | None = None) -> Info:
        """The plan of `gram`, as `plan_batch` has it."""
        bras = self._trains(x, "x")
        kets = bras if y is None else self._trains(y, "y")
        given = (len(bras), bras._handles, len(kets), None if y is None else kets._handles)
        return self._foresee(lib.purlin_tt_plan_gram, *given, wording=_ONE_LIST if y is None else None)

    def plan_sandwich(self, y: object, h: object, x: object) -> Info:
        """The plan of `sandwich`: method and cost. Nothing is computed."""
        bra, ket = self._pair(y, x, "yx")
        operator = TrainMatrix.of(h, self.context, "h")
        return self._foresee(lib.purlin_tt_plan_sandwich, bra.handle, operator.handle, ket.handle)

    def plan_rayleigh(self, h: object, x: object) -> Info:
        """The plan of `rayleigh`: method and cost. Nothing is computed."""
        operator, train = TrainMatrix.of(h, self.context, "h"), Train.of(x, self.context, "x")
        return self._foresee(lib.purlin_tt_plan_rayleigh, operator.handle, train.handle, wording=_ONE_LIST)

    def _foresee(self, call: Any, *given: Any, wording: Wording | None = None) -> Info:
        raw = initialized(TtContractionInfo, "tt_contraction_info")
        self.context.finish(call(self.handle, *given, ctypes.byref(raw)), wording=wording)
        return info_of(raw)

    def inner(self, x: object, y: object, *, stream: Stream | None = None) -> float | complex:
        """<x|y>, x conjugated unless `conjugate` is "none"."""
        bra, ket = self._pair(x, y)
        given, quick = (_queue(stream), bra.handle, ket.handle), bra._is_quick and ket._is_quick
        return self._number(_is_complex(bra, ket), lib.purlin_tt_inner, *given, quick=quick)

    def inner_scaled(self, x: object, y: object, *, stream: Stream | None = None) -> Scaled:
        """`inner` with an exponent."""
        bra, ket = self._pair(x, y)
        return self._scaled(lib.purlin_tt_inner_scaled, _queue(stream), bra.handle, ket.handle)

    def set_workspace(self, array: object | None) -> None:
        """Makes a CUDA array the workspace of enqueued calls; None ends its use."""
        borrowed = None if array is None else memory.device_memory(array)
        address, size = 0, 0
        if borrowed is not None:
            address = borrowed.address
            size = int(np.prod(borrowed.shape, dtype=np.int64)) * memory.dtype_of(borrowed.dtype).itemsize
        self.context.finish(lib.purlin_tt_contraction_set_workspace(self.handle, address, size))
        self._workspace = borrowed

    def enqueue_inner(self, x: object, y: object, result: object, *, stream: Stream | None = None) -> None:
        """Enqueues <x|y>; in stream order `result`, four float64 of a CUDA array or a `Tensor`, gets real and imaginary part
        of the mantissa, exponent, and outcome (0, or 3 where a core is not finite). Nothing waits, so a graph may capture
        calls whose kind has been made before; it needs trains, result and workspace to stay. With None for `result`
        `last_info().workspace_bytes` is the workspace that the call needs."""
        bra, ket = self._pair(x, y)
        out = self._place(result)
        place = None if out is None else out.handle
        self._run(lib.purlin_tt_inner_enqueue, _queue(stream), bra.handle, ket.handle, place)

    def enqueue_norm(self, x: object, result: object, *, stream: Stream | None = None) -> None:
        """Enqueues the norm of a train, as `enqueue_inner` does the product."""
        train = Train.of(x, self.context, "x")
        out = self._place(result)
        self._run(lib.purlin_tt_norm_enqueue, _queue(stream), train.handle, None if out is None else out.handle)

    def enqueue_distance(self, x: object, y: object, result: object, *, stream: Stream | None = None) -> None:
        """Enqueues the norm of x - y, likewise."""
        first, second = self._pair(x, y)
        out = self._place(result)
        place = None if out is None else out.handle
        self._run(lib.purlin_tt_distance_enqueue, _queue(stream), first.handle, second.handle, place)

    def enqueue_sandwich(self, y: object, h: object, x: object, result: object, *, stream: Stream | None = None) -> None:
        """Enqueues <y|H|x>, as `enqueue_inner` does the product; a graph keeps the operator's numbers that it captured."""
        bra, ket = self._pair(y, x, "yx")
        operator, out = TrainMatrix.of(h, self.context, "h"), self._place(result)
        given = (bra.handle, operator.handle, ket.handle, None if out is None else out.handle)
        self._run(lib.purlin_tt_sandwich_enqueue, _queue(stream), *given)

    def enqueue_rayleigh(self, h: object, x: object, result: object, *, stream: Stream | None = None) -> None:
        """Enqueues <x|H|x> / <x|x>, likewise."""
        operator, train, out = TrainMatrix.of(h, self.context, "h"), Train.of(x, self.context, "x"), self._place(result)
        given = (operator.handle, train.handle, None if out is None else out.handle)
        self._run(lib.purlin_tt_rayleigh_enqueue, _queue(stream), *given, wording=_ONE_LIST)

    def _place(self, result: object) -> Tensor | None:
        """The tensor that a result goes to; `None` for a number that is returned."""
        if result is None or isinstance(result, Tensor):
            return result
        memory.require_writable("result", result)
        return Tensor.borrow(result, context=self.context)

    def norm(self, x: object, *, stream: Stream | None = None) -> float:
        """The norm of a train."""
        train = Train.of(x, self.context, "x")
        return self._real(lib.purlin_tt_norm, _queue(stream), train.handle, quick=train._is_quick)

    def norm_scaled(self, x: object, *, stream: Stream | None = None) -> Scaled:
        """`norm` with an exponent."""
        train = Train.of(x, self.context, "x")
        return self._scaled(lib.purlin_tt_norm_scaled, _queue(stream), train.handle)

    def distance(self, x: object, y: object, *, stream: Stream | None = None) -> float:
        """The norm of x - y, which keeps its digits where the trains nearly agree."""
        a, b = self._pair(x, y)
        return self._real(lib.purlin_tt_distance, _queue(stream), a.handle, b.handle)

    def distance_scaled(self, x: object, y: object, *, stream: Stream | None = None) -> Scaled:
        """`distance` with an exponent."""
        a, b = self._pair(x, y)
        return self._scaled(lib.purlin_tt_distance_scaled, _queue(stream), a.handle, b.handle)

    def inner_batch(self, x: Sequence[object], y: Sequence[object], *, stream: Stream | None = None) -> Array:
        """<x_k|y_k> of many pairs in one call; of `Trains` without a look at each."""
        return self._batch(x, y, stream, False).mantissas

    def inner_batch_scaled(
        self, x: Sequence[object], y: Sequence[object], *, stream: Stream | None = None
    ) -> ScaledArray:
        """`inner_batch` with an exponent for each number."""
        return self._batch(x, y, stream, True)

    def _batch(self, x: Sequence[object], y: Sequence[object], stream: Stream | None, scaled: bool) -> ScaledArray:
        if len(x) != len(y):
            raise ValueError(f"y: has {len(y)} trains, x has {len(x)}")
        bras, kets = self._trains(x, "x"), self._trains(y, "y")
        numbers = bras.is_complex or kets.is_complex
        result, out, powers = self._outputs((len(bras),), numbers, scaled)
        queue = stream.handle if stream else None
        second = powers.handle if powers else None
        self._run(lib.purlin_tt_inner_batch, queue, len(bras), bras._handles, kets._handles, out.handle, second)
        return result

    def gram(self, x: Sequence[object], y: Sequence[object] | None = None, *, stream: Stream | None = None) -> Array:
        """The matrix of all <x_i|y_j>; of x with itself without `y`, for half the work."""
        return self._gram(x, y, stream, False).mantissas

    def gram_scaled(
        self, x: Sequence[object], y: Sequence[object] | None = None, *, stream: Stream | None = None
    ) -> ScaledArray:
        """`gram` with an exponent for each number."""
        return self._gram(x, y, stream, True)

    def _gram(
        self, x: Sequence[object], y: Sequence[object] | None, stream: Stream | None, scaled: bool
    ) -> ScaledArray:
        bras = self._trains(x, "x")
        kets = bras if y is None else self._trains(y, "y")
        numbers = bras.is_complex or kets.is_complex
        result, out, powers = self._outputs((len(bras), len(kets)), numbers, scaled)
        queue, second = stream.handle if stream else None, None if y is None else kets._handles
        third = powers.handle if powers else None
        given = (queue, len(bras), bras._handles, len(kets), second, out.handle, third)
        self._run(lib.purlin_tt_gram, *given, wording=_ONE_LIST if y is None else None)
        return result

    def _outputs(
        self, shape: tuple[int, ...], is_complex: bool, scaled: bool
    ) -> tuple[ScaledArray, Tensor, Tensor | None]:
        """Arrays of numbers and exponents, and both as tensors; no exponents for plain numbers."""
        values = np.zeros(shape, np.complex128 if is_complex else np.float64, order="F")
        exponents = np.zeros(shape if scaled else 0, np.int64, order="F")
        out = Tensor.borrow(values, context=self.context)
        powers = Tensor.borrow(exponents, context=self.context) if scaled else None
        return ScaledArray(values, exponents), out, powers

    def sandwich(self, y: object, h: object, x: object, *, stream: Stream | None = None) -> float | complex:
        """<y|H|x>, y conjugated unless `conjugate` is "none"."""
        bra, ket = self._pair(y, x, "yx")
        operator = TrainMatrix.of(h, self.context, "h")
        numbers, given = _is_complex(bra, operator, ket), (bra.handle, operator.handle, ket.handle)
        return self._number(numbers, lib.purlin_tt_sandwich, _queue(stream), *given)

    def sandwich_scaled(self, y: object, h: object, x: object, *, stream: Stream | None = None) -> Scaled:
        """`sandwich` with an exponent."""
        bra, ket = self._pair(y, x, "yx")
        operator = TrainMatrix.of(h, self.context, "h")
        given = (bra.handle, operator.handle, ket.handle)
        return self._scaled(lib.purlin_tt_sandwich_scaled, _queue(stream), *given)

    def rayleigh(self, h: object, x: object, *, stream: Stream | None = None) -> float | complex:
        """<x|H|x> / <x|x>. The imaginary part, of complex numbers, is a check of the operator."""
        operator, train = TrainMatrix.of(h, self.context, "h"), Train.of(x, self.context, "x")
        parts = (c_double * 2)()
        self._run(lib.purlin_tt_rayleigh, _queue(stream), operator.handle, train.handle, parts, None, None, wording=_ONE_LIST)
        return complex(*parts) if _is_complex(operator, train) else parts[0]

    def expect_local(
        self, x: object, op: npt.ArrayLike, sites: Sequence[int] | None = None, *, stream: Stream | None = None
    ) -> Array:
        """<x|A_k|x> / <x|x> with `op` (n, n) at each of `sites`, by default all."""
        train, matrix = Train.of(x, self.context, "x"), operator_array("op", op)
        places = tuple(range(len(train))) if sites is None else sizes("sites", sites)
        values = np.zeros(len(places), np.complex128)
        given, out = (Tensor.borrow(a, context=self.context) for a in (matrix, values))
        rest = (train.handle, given.handle, len(places), integers(places, "sites"), out.handle)
        self._run(lib.purlin_tt_expect_local, _queue(stream), *rest)
        return values if _is_complex(train) or matrix.dtype.kind == "c" else values.real.copy()

    def correlation(
        self, x: object, a: npt.ArrayLike, b: npt.ArrayLike, *, stream: Stream | None = None
    ) -> Array:
        """<x|A_k B_l|x> / <x|x> for all k and l."""
        train, left, right = Train.of(x, self.context, "x"), operator_array("a", a), operator_array("b", b)
        d = len(train)
        values = np.zeros((d, d), np.complex128)
        borrowed = [Tensor.borrow(array, context=self.context) for array in (left, right, values)]
        given = (train.handle, *(tensor.handle for tensor in borrowed))
        self._run(lib.purlin_tt_correlation, _queue(stream), *given)
        numbers = _is_complex(train) or "c" in (left.dtype.kind, right.dtype.kind)
        return values if numbers else values.real.copy()

    def _pair(self, x: object, y: object, names: str = "xy") -> tuple[Train, Train]:
        return _pair(x, y, self.context, names)

    def _trains(self, given: Sequence[object], name: str) -> Trains:
        return given if isinstance(given, Trains) else Trains(given, context=self.context, name=name)

    def _run(self, call: Any, *arguments: Any, wording: Wording | None = None, quick: bool = False) -> None:
        if quick and self._relay is None:
            return self.context.finish(call(self.handle, *arguments, None), wording=wording)
        running = Interruption(self.cancel) if self._relay is None else self._relay.call()
        with running:
            status = call(self.handle, *arguments, None)
        self.context.finish(status, running, wording)

    def _number(self, is_complex: bool, call: Any, *arguments: Any, quick: bool = False) -> float | complex:
        parts = _Parts()
        self._run(call, *arguments, parts, quick=quick)
        return complex(*parts) if is_complex else parts[0]

    def _real(self, call: Any, *arguments: Any, quick: bool = False) -> float:
        value = c_double()
        self._run(call, *arguments, ctypes.byref(value), quick=quick)
        return value.value

    def _scaled(self, call: Any, *arguments: Any) -> Scaled:
        raw = TtScaled()
        self._run(call, *arguments, ctypes.byref(raw))
        return scaled_of(raw)


def _queue(stream: Stream | None) -> int | None:
    return stream.handle if stream else None


class Environments(Handle):
    """The environments of <y|H|x>, or of <y|x>, at the bonds 0 to d of trains, for sweeps.

    Of the options of a `Contraction`, `scaling` and `conjugate` have an effect here.
    """

    def __init__(
        self,
        y: object,
        x: object,
        h: object | None = None,
        *,
        context: Context | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.context = home(context, options.get("group"))
        self.bra = Train.of(y, self.context, "y")
        self.ket = self.bra if x is y else Train.of(x, self.context, "x")
        self.operator = None if h is None else TrainMatrix.of(h, self.context, "h")
        made = c_void_p()
        with Contraction(context=self.context, **options) as with_options:
            status = lib.purlin_tt_environments_create(
                with_options.handle,
                self.bra.handle,
                self.operator.handle if self.operator else None,
                self.ket.handle,
                ctypes.byref(made),
            )
            keep = (self.bra, self.ket, self.operator)
            super().__init__(made.value, lib.purlin_tt_environments_destroy, self.context._sinks, keep)
            self.context.finish(status)

    def _about(self) -> str:
        return f"of {len(self.ket)} sites{'' if self.operator is None else ' with an operator'} {super()._about()}"

    def build(self, side: Side, bond: int, *, stream: Stream | None = None) -> None:
        """A step of a sweep: the environment of a side of a bond, and those on the way to it."""
        self.context._run(lib.purlin_tt_environments_build, self.handle, _queue(stream), side_of(side), how_many("bond", bond))

    def update_core(self, k: int) -> None:
        """Core `k` of the bra or of the ket has changed. Of a train over an array that had to be copied (in C order, or of
        another type than the rest), the core is copied again."""
        k = how_many("k", k)
        for train in (self.bra, self.ket):
            train._copy_again(k)
        self.context.finish(lib.purlin_tt_environments_update_core(self.handle, k))

    def set_trains(self, y: object, x: object, first: int, last: int) -> None:
        """Other trains from now on, which differ in the cores `first` to `last` and in the ranks between these alone: a
        two-site step. Environments that depend on none of these cores are kept."""
        first, last = how_many("first", first), how_many("last", last)
        bra = Train.of(y, self.context, "y")
        ket = bra if x is y else Train.of(x, self.context, "x")
        status = lib.purlin_tt_environments_set_trains(self.handle, bra.handle, ket.handle, first, last)
        self.context.finish(status)
        self.bra, self.ket = bra, ket

    def shape(self, bond: int) -> tuple[int, int, int, int]:
        """Ranks of bra and operator, boundary values (1 for open trains) and rank of the ket at a bond."""
        return self._shape(bond)[0]

    def _shape(self, bond: int) -> tuple[tuple[int, int, int, int], np.dtype[Any]]:
        dims, dtype, bond = (c_int64 * 4)(), c_int32(), how_many("bond", bond)
        status = lib.purlin_tt_environments_shape(self.handle, bond, dims, ctypes.byref(dtype))
        self.context.finish(status)
        return (dims[0], dims[1], dims[2], dims[3]), memory.dtype_of(dtype.value)

    def get(self, side: Side, bond: int, *, stream: Stream | None = None) -> tuple[Array, int]:
        """The environment of a side of a bond, and the power of two that it is to be multiplied with."""
        dims, dtype = self._shape(bond)
        values, exponent = np.zeros(dims, dtype, order="F"), c_int64()
        out = Tensor.borrow(values, context=self.context)
        given = (side_of(side), bond, out.handle, ctypes.byref(exponent))
        self.context._run(lib.purlin_tt_environments_get, self.handle, _queue(stream), *given)
        return values, exponent.value

    def apply(self, k: int, v: npt.ArrayLike, *, stream: Stream | None = None) -> tuple[Array, int]:
        """The effective operator at sites from `k` on times `v`, and a power of two. `v` has the ket's ranks at both ends
        and between them the mode sizes of no, one or two sites."""
        sites = self._sites(k, np.shape(v))
        dims, dtype = self._shape(k)
        vector = np.asfortranarray(memory.converted("v", v, dtype))
        rows = self.bra.modes if self.operator is None else self.operator.rows
        right = self._shape(k + sites)[0]
        out = np.zeros((dims[0], *rows[k : k + sites], right[0]), dtype, order="F")
        return out, self._apply(k, sites, vector, out, stream)

    def apply_to(self, k: int, v: Any, out: Any, *, stream: Stream | None = None) -> int:
        """The same for CUDA arrays or tensors, first index fastest: enqueues `out`, and returns its power of two. Once the
        environments are built nothing waits, and after one such call a graph may capture more."""
        if not isinstance(out, Tensor):
            memory.require_writable("out", out)
        return self._apply(k, self._sites(k, v.shape), v, out, stream)

    def _sites(self, k: int, shape: Sequence[int]) -> int:
        """The number of sites of a vector of this shape, which must be that of the ket there."""
        shape, sites = tuple(shape), len(shape) - 2
        most = min(2, len(self.ket))
        if not 0 <= sites <= most:
            problem = f"v: has {len(shape)} axes, 2 to {most + 2} are needed: two ranks and a mode size for each site"
            raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, problem)
        last = len(self.ket) - sites
        if not 0 <= whole("k", k, c_int64) <= last:
            raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, f"k: is {k}, outside 0 to {last}")
        needed = (self.ket.ranks[k], *self.ket.modes[k : k + sites], self.ket.ranks[k + sites])
        if shape != needed:
            raise ValueError(f"v: has shape {shape}, {needed} is needed")
        return sites

    def _apply(self, k: int, sites: int, v: Any, out: Any, stream: Stream | None) -> int:
        given, found = (a if isinstance(a, Tensor) else Tensor.borrow(a, context=self.context) for a in (v, out))
        exponent = c_int64()
        rest = (k, sites, given.handle, found.handle, ctypes.byref(exponent))
        self.context._run(lib.purlin_tt_environments_apply, self.handle, _queue(stream), *rest)
        return exponent.value

    def value(self, bond: int = 0, *, stream: Stream | None = None) -> Scaled:
        """<y|H|x>, or <y|x>, from the environments that meet at a bond."""
        raw, bond = TtScaled(), how_many("bond", bond)
        self.context._run(lib.purlin_tt_environments_value, self.handle, _queue(stream), bond, ctypes.byref(raw))
        return scaled_of(raw)

    def local(self, k: int, op: npt.ArrayLike, *, stream: Stream | None = None) -> Scaled:
        """<y|A_k|x> with `op` (n, n) at site `k`, from environments without an operator."""
        given, raw = Tensor.borrow(operator_array("op", op), context=self.context), TtScaled()
        rest = (how_many("k", k), given.handle, ctypes.byref(raw))
        self.context._run(lib.purlin_tt_environments_local, self.handle, _queue(stream), *rest)
        return scaled_of(raw)


def inner(x: object, y: object, *, context: Context | None = None, **options: Unpack[Options]) -> float | complex:
    """<x|y>, x conjugated unless `conjugate` is "none". Options that have no effect on the call are refused."""
    at, raw, _group = _raw_options(context, options)
    bra, ket = _pair(x, y, at)
    parts, quick = _Parts(), bra._is_quick and ket._is_quick
    at._run(lib.purlin_tt_inner_once, at.handle, None, bra.handle, ket.handle, ctypes.byref(raw), parts, None, quick=quick)
    return complex(*parts) if _is_complex(bra, ket) else parts[0]


def norm(x: object, *, context: Context | None = None, **options: Unpack[Options]) -> float:
    """The norm of a train. Options without effect are refused, as by `inner`."""
    at, raw, _group = _raw_options(context, options)
    train, value, given = Train.of(x, at, "x"), c_double(), ctypes.byref(raw)
    at._run(lib.purlin_tt_norm_once, at.handle, None, train.handle, given, ctypes.byref(value), None, quick=train._is_quick)
    return value.value


def distance(x: object, y: object, *, context: Context | None = None, **options: Unpack[Options]) -> float:
    """The norm of x - y. Options without effect are refused, as by `inner`."""
    at, raw, _group = _raw_options(context, options)
    a, b = _pair(x, y, at)
    value, given = c_double(), ctypes.byref(raw)
    at._run(lib.purlin_tt_distance_once, at.handle, None, a.handle, b.handle, given, ctypes.byref(value), None)
    return value.value


def sandwich(y: object, h: object, x: object, *, context: Context | None = None, **options: Unpack[Options]) -> float | complex:
    """<y|H|x>, y conjugated unless `conjugate` is "none". Options without effect are refused."""
    with Contraction(context=context, **options) as contraction:
        bra, ket = contraction._pair(y, x, "yx")
        operator = TrainMatrix.of(h, contraction.context, "h")
        refuse_idle(options, "a sandwich", ["norm_method", "kernel"], any(t.cyclic for t in (bra, operator, ket)))
        return contraction.sandwich(bra, operator, ket)


def rayleigh(h: object, x: object, *, context: Context | None = None, **options: Unpack[Options]) -> float | complex:
    """<x|H|x> / <x|x>, with x conjugated in both. Options without effect are refused."""
    with Contraction(context=context, **options) as contraction:
        operator, train = TrainMatrix.of(h, contraction.context, "h"), Train.of(x, contraction.context, "x")
        refuse_idle(options, "a Rayleigh quotient", ["conjugate", "norm_method", "kernel"], operator.cyclic or train.cyclic)
        return contraction.rayleigh(operator, train)


__all__ = [
    "Term",
    "Contraction",
    "Environments",
    "Info",
    "Options",
    "Scaled",
    "ScaledArray",
    "Train",
    "TrainMatrix",
    "Trains",
    "Truncated",
    "add",
    "apply",
    "apply_round",
    "canonicalize",
    "cast",
    "conj",
    "distance",
    "element",
    "elements",
    "from_terms",
    "full",
    "hadamard",
    "hadamard_round",
    "heisenberg",
    "identity",
    "inner",
    "ising",
    "norm",
    "ones",
    "product_state",
    "random",
    "rayleigh",
    "reverse",
    "rotate",
    "round",
    "sandwich",
    "scale",
    "svd",
    "to_open",
    "zeros",
]
