"""Algebra of tensor trains: results are new trains beside the first operand."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_double, c_int64, c_uint64, c_void_p
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._checked import flag, how_many, sizes, whole
from ._context import Context, choice, default_context, initialized
from ._error import renaming
from ._interrupts import Interruption
from ._lib import lib
from ._memory import Array
from ._numbers import scalar
from ._structs import TtRoundInfo, TtRoundOptions
from ._tensor import LOCATIONS, Location, Tensor, integers
from ._train import Train, TrainMatrix, expect_cores

_SPREADS = {"auto": c.TT_SPREAD_AUTO, "first": c.TT_SPREAD_FIRST, "even": c.TT_SPREAD_EVEN}


class Truncated(NamedTuple):
    """A truncated train: `error` bounds ||A - TT|| / ||A||, `log_norm` is ln ||A||, and `discarded` is the norm of the part
    dropped at each bond over ||A||."""

    train: Train
    error: float
    log_norm: float
    discarded: Array


def _pair(name: str, value: complex, *trains: Train) -> Any:
    """A factor of trains as two numbers; integers have to be exact in the trains' precision."""
    number = scalar(name, value, np.result_type(np.complex64, *(train.dtype for train in trains)))
    return (c_double * 2)(number.real, number.imag)


def _made(context: Context, call: Any, *arguments: Any) -> Train:
    # Trains come as objects, which live as long as the call.
    raw = [value.handle if isinstance(value, (Train, TrainMatrix)) else value for value in arguments]
    made = c_void_p()
    with Interruption(context.cancel) as running:
        status = call(context.handle, None, *raw, ctypes.byref(made))
    return Train._made(status, made, context, running=running)


def _on(context: Context | None, *values: object) -> Context:
    """The context of the first train among some values, or the given one, or the default."""
    for value in values:
        if isinstance(value, (Train, TrainMatrix)):
            return value.context
    return context or default_context()


def add(x: object, y: object, alpha: complex = 1.0, beta: complex = 1.0, *, context: Context | None = None) -> Train:
    """`alpha` x + `beta` y, exactly: ranks add."""
    context = _on(context, x, y)
    a, b = Train.of(x, context, "x"), Train.of(y, context, "y")
    return _made(context, lib.purlin_tt_add, _pair("alpha", alpha, a, b), a, _pair("beta", beta, a, b), b)


def scale(
    x: object,
    factor: complex,
    exponent: int = 0,
    *,
    spread: Literal["auto", "first", "even"] = "auto",
    context: Context | None = None,
) -> Train:
    """`factor` 2**`exponent` x; `spread` says which cores the factor goes to."""
    context = _on(context, x)
    where = choice("spread", spread, _SPREADS)
    train = Train.of(x, context, "x")
    return _made(context, lib.purlin_tt_scale, train, _pair("factor", factor, train), how_many("exponent", exponent), where)


def conj(x: object, *, context: Context | None = None) -> Train:
    """The complex conjugate, of the same ranks."""
    context = _on(context, x)
    return _made(context, lib.purlin_tt_conj, Train.of(x, context, "x"))


def hadamard(x: object, y: object, *, context: Context | None = None) -> Train:
    """The product entry by entry: ranks multiply."""
    context = _on(context, x, y)
    a, b = Train.of(x, context, "x"), Train.of(y, context, "y")
    return _made(context, lib.purlin_tt_hadamard, a, b)


def apply(h: object, x: object, *, context: Context | None = None) -> Train:
    """The train H x: its ranks are the products of those of H and x."""
    context = _on(context, h, x)
    operator, train = TrainMatrix.of(h, context, "h"), Train.of(x, context, "x")
    return _made(context, lib.purlin_tt_apply, operator, train)


def reverse(x: object, *, context: Context | None = None) -> Train:
    """The train read backwards: entry (i, j, ..) is that of x at (.., j, i)."""
    context = _on(context, x)
    return _made(context, lib.purlin_tt_reverse, Train.of(x, context, "x"))


def rotate(x: object, first: int, *, context: Context | None = None) -> Train:
    """The ring that begins with core `first`."""
    context = _on(context, x)
    return _made(context, lib.purlin_tt_rotate, Train.of(x, context, "x"), how_many("first", first))


def to_open(x: object, *, context: Context | None = None) -> Train:
    """The open train of a ring, exactly: ranks multiply by that of the boundary."""
    context = _on(context, x)
    return _made(context, lib.purlin_tt_to_open, Train.of(x, context, "x"))


def cast(x: object, dtype: npt.DTypeLike, *, context: Context | None = None) -> Train:
    """A copy of another type."""
    context = _on(context, x)
    return _made(context, lib.purlin_tt_cast, Train.of(x, context, "x"), memory.computing_number(dtype))


def canonicalize(x: object, centre: int, *, context: Context | None = None) -> tuple[Train, int]:
    """The train with orthonormal cores but for `centre`, and the power of two that belongs to it: 0 unless the centre would
    leave the range of its type."""
    context = _on(context, x)
    exponent = c_int64()
    train = Train.of(x, context, "x")
    made = _made(context, lib.purlin_tt_canonicalize, train, how_many("centre", centre), ctypes.byref(exponent))
    return made, exponent.value


def _truncation(epsilon: float, max_rank: int, absolute: bool) -> Any:
    raw = initialized(TtRoundOptions, "tt_round_options")
    raw.epsilon, raw.max_rank, raw.absolute = epsilon, max_rank, flag("absolute", absolute)
    return raw


def round(
    x: object, epsilon: float = 0.0, max_rank: int = 0, *, absolute: bool = False, context: Context | None = None
) -> Truncated:
    """The train of smallest ranks with ||x - TT|| <= `epsilon` ||x||, or `epsilon` if `absolute`; 0 drops rounding noise alone,
    and `absolute` is then refused."""
    context = _on(context, x)
    train, options = Train.of(x, context, "x"), _truncation(epsilon, max_rank, absolute)
    discarded, info, made = np.zeros(len(train) - 1), initialized(TtRoundInfo, "tt_round_info"), c_void_p()
    borrowed = Tensor.borrow(discarded, context=context)
    with Interruption(context.cancel) as running:
        status = lib.purlin_tt_round(
            context.handle,
            None,
            train.handle,
            ctypes.byref(options),
            ctypes.byref(made),
            borrowed.handle,
            ctypes.byref(info),
        )
    return Truncated(Train._made(status, made, context, running=running), info.error, info.log_norm, discarded)


def apply_round(
    h: object,
    x: object,
    epsilon: float = 0.0,
    max_rank: int = 0,
    *,
    absolute: bool = False,
    context: Context | None = None,
) -> Truncated:
    """H x, truncated without its cores together in memory. `discarded` is empty."""
    context = _on(context, h, x)
    operator, train = TrainMatrix.of(h, context, "h"), Train.of(x, context, "x")
    return _product(context, lib.purlin_tt_apply_round, operator, train, _truncation(epsilon, max_rank, absolute))


def hadamard_round(
    x: object,
    y: object,
    epsilon: float = 0.0,
    max_rank: int = 0,
    *,
    absolute: bool = False,
    context: Context | None = None,
) -> Truncated:
    """The product entry by entry of open trains, truncated without its cores together in memory. `discarded` is empty."""
    context = _on(context, x, y)
    a, b = Train.of(x, context, "x"), Train.of(y, context, "y")
    return _product(context, lib.purlin_tt_hadamard_round, a, b, _truncation(epsilon, max_rank, absolute))


def _product(context: Context, call: Any, a: Train | TrainMatrix, b: Train, options: Any) -> Truncated:
    info, made = initialized(TtRoundInfo, "tt_round_info"), c_void_p()
    with Interruption(context.cancel) as running:
        status = call(
            context.handle,
            None,
            a.handle,
            b.handle,
            ctypes.byref(options),
            ctypes.byref(made),
            ctypes.byref(info),
        )
    return Truncated(Train._made(status, made, context, running=running), info.error, info.log_norm, np.zeros(0))


def svd(
    values: npt.ArrayLike,
    epsilon: float = 0.0,
    max_rank: int = 0,
    *,
    absolute: bool = False,
    context: Context | None = None,
) -> Truncated:
    """The train of a dense array, of the smallest ranks with ||A - TT|| <= `epsilon` ||A||. Integers become float64."""
    context = context or default_context()
    array = memory.to_numpy(values, "values")
    if array.dtype.kind not in "fc":
        array = memory.converted("values", array, np.float64)
    memory.computing_number(array.dtype, "values")
    if array.size == 0 or array.ndim == 0:
        raise ValueError(f"values: has shape {array.shape}, expected at least 1 axis and sizes of at least 1")
    given, options = Tensor.borrow(array, context=context), _truncation(epsilon, max_rank, absolute)
    discarded, info, made = np.zeros(array.ndim - 1), initialized(TtRoundInfo, "tt_round_info"), c_void_p()
    borrowed = Tensor.borrow(discarded, context=context)
    with Interruption(context.cancel) as running:
        status = lib.purlin_tt_svd(
            context.handle,
            None,
            given.handle,
            0,
            None,
            ctypes.byref(options),
            ctypes.byref(made),
            borrowed.handle,
            ctypes.byref(info),
        )
    return Truncated(Train._made(status, made, context, running=running), info.error, info.log_norm, discarded)


def random(
    modes: Sequence[int],
    ranks: Sequence[int],
    dtype: npt.DTypeLike = np.float64,
    location: Location = "host",
    *,
    seed: int = 0,
    context: Context | None = None,
) -> Train:
    """A train of normally distributed cores, whose squared norm is 1 in the mean."""
    context = context or default_context()
    modes, ranks = expect_cores("modes", modes), sizes("ranks", ranks)
    if len(ranks) != len(modes) + 1:
        raise ValueError(f"ranks: are {len(ranks)}, expected {len(modes) + 1}")
    made = c_void_p()
    kind, where = memory.computing_number(dtype), choice("location", location, LOCATIONS)
    shape = (len(modes), integers(modes), integers(ranks))
    with Interruption(context.cancel) as running:
        status = lib.purlin_tt_random(
            context.handle, kind, where, *shape, whole("seed", seed, c_uint64), ctypes.byref(made)
        )
    return Train._made(status, made, context, running=running)


def zeros(
    modes: Sequence[int],
    dtype: npt.DTypeLike = np.float64,
    location: Location = "host",
    *,
    context: Context | None = None,
) -> Train:
    """A train of rank 1 whose entries are all 0."""
    return _constant(lib.purlin_tt_zeros, modes, dtype, location, context)


def ones(
    modes: Sequence[int],
    dtype: npt.DTypeLike = np.float64,
    location: Location = "host",
    *,
    context: Context | None = None,
) -> Train:
    """A train of rank 1 whose entries are all 1."""
    return _constant(lib.purlin_tt_ones, modes, dtype, location, context)


def _constant(
    call: Any, modes: Sequence[int], dtype: npt.DTypeLike, location: Location, context: Context | None
) -> Train:
    context = context or default_context()
    modes = expect_cores("modes", modes)
    made = c_void_p()
    where = choice("location", location, LOCATIONS)
    status = call(context.handle, memory.computing_number(dtype), where, len(modes), integers(modes), ctypes.byref(made))
    return Train._made(status, made, context)


def product_state(vectors: Sequence[npt.ArrayLike], *, context: Context | None = None) -> Train:
    """The train of rank 1 whose entry at (i, j, ..) is vectors[0][i] vectors[1][j] .."""
    context = context or default_context()
    if len(vectors) == 0:
        raise ValueError("vectors: is empty, at least 1 is needed")
    arrays = [memory.to_numpy(vector, f"vectors: vector {k}") for k, vector in enumerate(vectors)]
    for k, array in enumerate(arrays):
        if array.ndim != 1:
            raise ValueError(f"vectors: vector {k} has {array.ndim} axes, expected 1")
        if not array.size:
            raise ValueError(f"vectors: vector {k} is empty, at least 1 number is needed")
    kind = np.result_type(*arrays, np.float32)
    for k, array in enumerate(arrays):
        memory.expect_held(f"vectors: vector {k}", array, kind)
    whole = np.concatenate(arrays)
    if whole.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        whole = memory.converted("vectors", whole, np.float64)
    given, made = Tensor.borrow(whole, context=context), c_void_p()
    modes = [len(array) for array in arrays]
    status = lib.purlin_tt_product_state(context.handle, len(modes), integers(modes), given.handle, ctypes.byref(made))
    return Train._made(status, made, context)


def element(x: object, index: Sequence[int], *, context: Context | None = None) -> float | complex:
    """The entry at an index tuple."""
    context = _on(context, x)
    train, parts = Train.of(x, context, "x"), (c_double * 2)()
    index = sizes("index", index)
    if len(index) != len(train):
        raise ValueError(f"index: has {len(index)} numbers, the train has {len(train)} cores")
    given = (context.handle, None, train.handle, integers(index, "index"), parts)
    context._run(lib.purlin_tt_element, *given, wording=renaming(indices="index"))
    return complex(*parts) if train.dtype.kind == "c" else parts[0]


def elements(x: object, indices: npt.ArrayLike, *, context: Context | None = None) -> Array:
    """The entries at the rows of an array (count, d) of indices."""
    context = _on(context, x)
    train = Train.of(x, context, "x")
    tuples = memory.converted("indices", indices, np.int64)
    if tuples.ndim != 2 or tuples.shape[1] != len(train):
        raise ValueError(f"indices: have shape {tuples.shape}, expected (count, {len(train)})")
    values = np.zeros(len(tuples), np.complex128 if train.dtype.kind == "c" else np.float64)
    out = Tensor.borrow(values, context=context)
    given = (context.handle, None, train.handle, len(tuples), tuples.ctypes.data, out.handle)
    context._run(lib.purlin_tt_elements, *given)
    return values


def full(x: object, *, context: Context | None = None) -> Array:
    """The dense array of a train, in Fortran order. Entries far below the largest one may be 0: see `elements`."""
    context = _on(context, x)
    train = Train.of(x, context, "x")
    values = np.zeros(train.modes, train.dtype, order="F")
    out = Tensor.borrow(values, context=context)
    context._run(lib.purlin_tt_full, context.handle, None, train.handle, out.handle)
    return values
