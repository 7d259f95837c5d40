"""Arrays (.., entries) in NumPy habit as rows with one stride, as the library sees them."""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from . import _memory as memory
from ._checked import how_many
from ._error import check, renaming
from ._lib import lib
from ._memory import Array, Memory

Order = Literal["C", "F"]


def entries(order: int, dimension: int, name: str = "order") -> int:
    """Packed entries U of a symmetric tensor: binomial(order + dimension - 1, order). `name` is that of the order in messages."""
    count = ctypes.c_int64()
    order, dimension = how_many(name, order), how_many("dimension", dimension)
    check(lib.purlin_symmetric_count(order, dimension, ctypes.byref(count)), renaming(order=name))
    return count.value


def infer_order(count: int, dimension: int, name: str = "tensors") -> int:
    """The order whose packed tensors have `count` entries. `name` is the argument in messages."""
    order = 1
    while dimension > 1 and math.comb(dimension + order - 1, order) < count:
        order += 1
    if dimension < 2 or order < 2 or math.comb(dimension + order - 1, order) != count:
        raise ValueError(f"{name}: has {count} entries along the last axis, which no symmetric tensor of dimension {dimension} has")
    return order


def _collapse(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[Order, int] | None:
    """The order in which one stride walks over all of an array, and that stride."""
    axes = [(n, step) for n, step in zip(shape, strides) if n != 1]
    if not axes:
        return "C", 1
    candidates: tuple[tuple[Order, list[tuple[int, int]]], ...] = (("C", axes[::-1]), ("F", axes))
    for order, walk in candidates:
        if all(n * step == after for (n, step), (_, after) in zip(walk, walk[1:])):
            return order, walk[0][1]
    return None


class Rows:
    """An array (.., length) as `count` rows with one stride: of voxels, of tensors. A copy is made only of a host
    array whose leading axes have no common stride. `name` is the argument in messages."""

    def __init__(self, where: Memory, name: str) -> None:
        if not where.shape:
            raise ValueError(f"{name}: has shape (), expected the entries along the last axis")
        self.name = name
        self.lead = where.shape[:-1]
        self.length = where.shape[-1]
        self.count = math.prod(self.lead)
        common = _collapse(self.lead, where.strides[:-1])
        if common is None:
            if where.on_device or not isinstance(where.base, np.ndarray):
                raise ValueError(f"{name}: has leading axes without a common stride; make the array contiguous")
            where = memory.host_memory(np.ascontiguousarray(where.base), where.base)
        walk: tuple[Order, int] = common or ("C", self.length)
        self.order: Order = walk[0]
        self.step = walk[1] if self.count > 1 else max(self.length * where.strides[-1], 1)
        self.entry_step = where.strides[-1]
        self.where = where

    def flat(self) -> Memory:
        """The rows as a column-major matrix, [length, count]."""
        return replace(self.where, shape=(self.length, self.count), strides=(self.entry_step, self.step))

    def shaped(self, flat: Array) -> Array:
        """Results (count, ..) with the leading axes of the array."""
        rest = flat.shape[1:]
        if self.order == "C":
            return flat.reshape(self.lead + rest)
        lead = len(self.lead)
        axes = (*range(lead - 1, -1, -1), *range(lead, lead + len(rest)))
        return flat.reshape(self.lead[::-1] + rest).transpose(axes)

    def flattened(self, name: str, array: Array) -> Array:
        """An array of the leading axes (a mask) in the order of the rows."""
        if array.shape != self.lead:
            raise ValueError(f"{name}: has shape {array.shape}, expected {self.lead}")
        return array.ravel(order=self.order)

    def flattened_rows(self, name: str, array: Array) -> Array:
        """An array (leading axes, ..) as (count, ..) in the order of the rows."""
        lead = len(self.lead)
        if array.shape[:lead] != self.lead:
            raise ValueError(f"{name}: has shape {array.shape}, expected {self.lead} first, as {self.name}")
        rest = array.shape[lead:]
        if self.order == "F":
            axes = (*range(lead - 1, -1, -1), *range(lead, array.ndim))
            array = array.transpose(axes)
        return array.reshape((self.count, *rest))


def symmetric_rows(
    tensors: object,
    order: int | None,
    dimension: int,
    cuda_stream: int | None,
    dtype: np.dtype[Any] | None = None,
    name: str = "tensors",
) -> tuple[Rows, int]:
    """Packed symmetric tensors (.., entries) as rows, and their order, which follows from the number of entries."""
    dimension = how_many("dimension", dimension)
    if memory.on_cuda(tensors):
        where = memory.device_memory(tensors, cuda_stream, name)
    else:
        where = memory.host_memory(memory.real_array(tensors, dtype, name), tensors)
    rows = Rows(where, name)
    found = infer_order(rows.length, dimension, name) if order is None else how_many("order", order)
    expected = entries(found, dimension)
    if rows.length != expected:
        raise ValueError(
            f"{name}: has {rows.length} entries along the last axis, order {found} and dimension "
            f"{dimension} have {expected}"
        )
    return rows, found
