"""Batches in NumPy habit, (.., entries), as the library sees them, and results in the shape of the batch."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._context import Context, Stream, default_context
from ._error import check
from ._lib import lib
from ._memory import Array, Memory
from ._tensor import Tensor

Order = Literal["C", "F"]


def entries(order: int, dimension: int) -> int:
    """Packed entries U of a symmetric tensor: binomial(order + dimension - 1, order)."""
    count = ctypes.c_int64()
    check(lib.purlin_symmetric_count(order, dimension, ctypes.byref(count)))
    return count.value


def infer_order(count: int, dimension: int) -> int:
    """The order whose packed tensors have `count` entries."""
    order = 1
    while dimension > 1 and math.comb(dimension + order - 1, order) < count:
        order += 1
    if dimension < 2 or order < 2 or math.comb(dimension + order - 1, order) != count:
        raise ValueError(f"order: no symmetric tensors of dimension {dimension} have {count} packed entries")
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
    array whose leading axes have no common stride."""

    def __init__(self, where: Memory) -> None:
        if not where.shape:
            raise ValueError("shape: is (), expected the entries along the last axis")
        self.lead = where.shape[:-1]
        self.length = where.shape[-1]
        self.count = math.prod(self.lead)
        common = _collapse(self.lead, where.strides[:-1])
        if common is None:
            if where.on_device or not isinstance(where.base, np.ndarray):
                raise ValueError("strides: the leading axes have no common stride; make the array contiguous")
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

    def flattened_rows(self, array: Array) -> Array:
        """An array (leading axes, ..) as (count, ..) in the order of the rows."""
        lead = len(self.lead)
        if array.shape[:lead] != self.lead:
            raise ValueError(f"shape: is {array.shape}, expected {self.lead} first")
        rest = array.shape[lead:]
        if self.order == "F":
            axes = (*range(lead - 1, -1, -1), *range(lead, array.ndim))
            array = array.transpose(axes)
        return array.reshape((self.count, *rest))


class Batch:
    """A batch of symmetric tensors and where its results go."""

    def __init__(
        self,
        tensors: object,
        order: int | None,
        dimension: int,
        context: Context | None,
        stream: Stream | None,
        dtype: np.dtype[Any] | None = None,
    ) -> None:
        self.rows: Rows | None = None
        if isinstance(tensors, Tensor):
            self.tensor = tensors
            self.context = context or tensors.context
            info = tensors.info
            self.order, self.dimension = info.symmetric_order, info.symmetric_dimension
            if self.order == 0:
                raise ValueError("tensors: is a dense Tensor, expected one of Tensor.symmetric or create_symmetric")
            self.count = tensors.shape[1]
            self.dtype = tensors.dtype
            self.on_device = tensors.location == "device"
        else:
            self.context = context or default_context()
            self.on_device = memory.on_cuda(tensors)
            if self.on_device:
                where = memory.device_memory(tensors, stream.cuda_stream if stream else None, "tensors")
            else:
                where = memory.host_memory(memory.real_array(tensors, dtype, "tensors"), tensors)
            self.rows = Rows(where)
            self.dimension = dimension
            self.order = infer_order(self.rows.length, dimension) if order is None else order
            expected = entries(self.order, dimension)
            if self.rows.length != expected:
                raise ValueError(
                    f"tensors: has {self.rows.length} entries along the last axis, order {self.order} and dimension "
                    f"{dimension} have {expected}"
                )
            self.count = self.rows.count
            self.dtype = memory.dtype_of(where.dtype)
            self.tensor = Tensor.from_symmetric_memory(
                self.rows.where,
                self.order,
                dimension,
                self.count,
                (self.rows.entry_step, self.rows.step),
                self.context,
            )
        # Where elements of another library's stream come in, the work is queued behind them on CUDA's legacy stream.
        self.stream = stream
        if stream is None and self.on_device and self.rows is not None:
            self.stream = Stream(self.context, cuda_stream=memory._CUDA_LEGACY_STREAM)

    def shaped(self, flat: Array) -> Array:
        return self.rows.shaped(flat) if self.rows is not None else flat


class Source(Protocol):
    """What a call reads, and with it where its results go."""

    @property
    def context(self) -> Context: ...

    @property
    def on_device(self) -> bool: ...

    @property
    def stream(self) -> Stream | None: ...


class Outputs:
    """Result arrays of one call: on the host, or on the device when the batch is there and then copied once."""

    def __init__(self, source: Source) -> None:
        self._context = source.context
        self._on_device = source.on_device
        self._stream = source.stream
        self._tensors: list[tuple[Tensor, Array]] = []

    @property
    def queue(self) -> int | None:
        """The C stream of the call."""
        return self._stream.handle if self._stream is not None else None

    def add(self, shape: Sequence[int], dtype: npt.DTypeLike) -> tuple[Tensor, Array]:
        """A result (count, ..): the tensor for the call and the array that holds it after `collect`."""
        array = np.empty(tuple(shape), dtype)
        if self._on_device:
            tensor = Tensor.create(array.shape[::-1], array.dtype, "device", order="F", context=self._context)
        else:
            tensor = self._around(array)
        self._tensors.append((tensor, array))
        return tensor, array

    def add_symmetric(self, array: Array, order: int, dimension: int) -> Tensor:
        """A result (count, entries) that the call takes as symmetric tensors."""
        if not self._on_device:
            return Tensor.symmetric(array, order, dimension, context=self._context)
        tensor = Tensor.create_symmetric(order, dimension, array.shape[0], array.dtype, "device", context=self._context)
        self._tensors.append((tensor, array))
        return tensor

    def collect(self) -> None:
        """To be called after the call: brings device results to the host."""
        if not self._on_device:
            return
        for tensor, array in self._tensors:
            if tensor.symmetric_order:
                order, dimension = tensor.symmetric_order, tensor.symmetric_dimension
                host = Tensor.symmetric(array, order, dimension, context=self._context)
            else:
                host = self._around(array)
            tensor.copy_to(host, stream=self._stream)
            host.close()

    def _around(self, array: Array) -> Tensor:
        return Tensor.from_memory(memory.host_memory(array).reversed(), self._context)
