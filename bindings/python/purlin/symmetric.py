"""Packed symmetric tensors: index tables, conversions, norms.

A packed tensor of order m and dimension n has one entry for every nondecreasing index tuple, in lexicographic order,
not multiplied by its multinomial. A batch is an array (.., entries).
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from . import _constants as c
from . import _memory as memory
from ._batch import Batch, Outputs
from ._checked import flag, how_many
from ._context import Context, Stream, choice, default_context
from ._error import InvalidArgument, check, in_numpy_order
from ._lib import lib
from ._memory import Array
from ._numbers import real
from ._rows import entries
from ._tensor import Tensor

Packing = Literal["entries", "polynomial"]
Norm = Literal["frobenius", "one", "max"]

_PACKINGS = {"entries": c.PACKING_ENTRIES, "polynomial": c.PACKING_POLYNOMIAL}
_NORMS = {"frobenius": c.NORM_FROBENIUS, "one": c.NORM_ONE, "max": c.NORM_MAX}


def count(order: int, dimension: int = 3) -> int:
    """Number of packed entries, C(order + dimension - 1, order)."""
    return entries(order, dimension)


def _table(name: str, order: int, dimension: int, width: int) -> Array:
    table = np.empty((entries(order, dimension), width), np.int64)
    check(getattr(lib, f"purlin_symmetric_{name}")(order, dimension, table.ctypes.data))
    return table


def indices(order: int, dimension: int = 3) -> Array:
    """Index tuples of the entries, 0-based, shape (entries, order)."""
    return _table("indices", order, dimension, order)


def exponents(order: int, dimension: int = 3) -> Array:
    """Exponents of the entries' monomials, shape (entries, dimension)."""
    return _table("exponents", order, dimension, dimension)


def multinomials(order: int, dimension: int = 3) -> Array:
    """How many entries of the full tensor each packed one stands for, shape (entries,)."""
    return _table("multinomials", order, dimension, 1)[:, 0]


def _packed_like(batch: Batch, out: Outputs) -> tuple[Tensor, Array]:
    """A symmetric result of the batch's size."""
    array = np.empty((batch.count, entries(batch.order, batch.dimension)), batch.dtype)
    return out.add_symmetric(array, batch.order, batch.dimension), array


def convert(
    tensors: object,
    source: Packing,
    destination: Packing,
    *,
    order: int | None = None,
    dimension: int = 3,
    context: Context | None = None,
    stream: Stream | None = None,
) -> Array:
    """Entries to coefficients of the polynomial A x^m, or back."""
    batch = Batch(tensors, order, dimension, context, stream)
    out = Outputs(batch)
    packed, array = _packed_like(batch, out)
    batch.context._run(
        lib.purlin_symmetric_convert,
        batch.context.handle,
        out.queue,
        batch.tensor.handle,
        choice("source", source, _PACKINGS),
        packed.handle,
        choice("destination", destination, _PACKINGS),
    )
    out.collect()
    return batch.shaped(array)


def from_full(
    full: object,
    *,
    order: int | None = None,
    symmetrize: bool = False,
    check_tolerance: float = 0.0,
    context: Context | None = None,
    stream: Stream | None = None,
) -> Array:
    """Packs a full tensor (n, .., n), or with `order` a batch (.., n, .., n) of them.

    A tensor that is not symmetric to `check_tolerance` times its largest entry (0 = the library's default) is refused,
    unless `symmetrize` averages over the permutations.
    """
    context = context or default_context()
    array = np.ascontiguousarray(memory.real_array(full, name="full"))
    order = array.ndim if order is None else how_many("order", order)
    if order < 1 or array.ndim < order:
        raise ValueError(f"full: has {array.ndim} axes, expected at least the order, {order}")
    lead, sides = array.shape[: array.ndim - order], array.shape[array.ndim - order :]
    if len(set(sides)) != 1:
        raise ValueError(f"full: has shape {array.shape}, expected equal sides")
    tensors = math.prod(lead)
    packed = np.empty((tensors, entries(order, sides[0])), array.dtype)
    source = Tensor.from_memory(memory.host_memory(array.reshape((tensors, *sides))).reversed(), context)
    target = Tensor.symmetric(packed, order, sides[0], context=context)
    context._run(
        lib.purlin_symmetric_from_full,
        context.handle,
        stream.handle if stream else None,
        source.handle,
        flag("symmetrize", symmetrize),
        real("check_tolerance", check_tolerance),
        target.handle,
        wording=in_numpy_order,
    )
    return packed.reshape(lead + packed.shape[1:])


def to_full(
    tensors: object,
    *,
    order: int | None = None,
    dimension: int = 3,
    context: Context | None = None,
    stream: Stream | None = None,
) -> Array:
    """Full tensors (.., n, .., n) of packed ones."""
    batch = Batch(tensors, order, dimension, context, stream)
    out = Outputs(batch)
    full, array = out.add((batch.count, *(batch.dimension,) * batch.order), batch.dtype)
    batch.context._run(lib.purlin_symmetric_to_full, batch.context.handle, out.queue, batch.tensor.handle, full.handle)
    out.collect()
    return batch.shaped(array)


def norm(
    tensors: object,
    kind: Norm = "frobenius",
    *,
    order: int | None = None,
    dimension: int = 3,
    context: Context | None = None,
    stream: Stream | None = None,
) -> Array:
    """A norm of each full tensor."""
    batch = Batch(tensors, order, dimension, context, stream)
    out = Outputs(batch)
    norms, array = out.add((batch.count,), batch.dtype)
    batch.context._run(
        lib.purlin_symmetric_norm,
        batch.context.handle, out.queue, batch.tensor.handle, choice("kind", kind, _NORMS), norms.handle,
    )
    out.collect()
    return batch.shaped(array)


def identity(
    order: int,
    dimension: int = 3,
    *,
    scale: float = 1.0,
    dtype: Any = np.float64,
    context: Context | None = None,
) -> Array:
    """The packed tensor with A x^m = scale |x|^m; the order is even."""
    context = context or default_context()
    memory.dtype_number(dtype, ("float32", "float64"))
    packed = np.empty(entries(order, dimension), dtype)
    if order % 2:
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, f"order: is {order}, an even order is needed")
    factor = real("scale", scale, packed.dtype)
    target = Tensor.symmetric(packed, order, dimension, context=context)
    context._run(lib.purlin_symmetric_identity, context.handle, None, factor, target.handle)
    return packed


__all__ = [
    "count",
    "indices",
    "exponents",
    "multinomials",
    "convert",
    "from_full",
    "to_full",
    "norm",
    "identity",
]
