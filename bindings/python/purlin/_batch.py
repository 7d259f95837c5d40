"""Batches of symmetric tensors, and results in the shape of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._context import Context, Stream, default_context
from ._memory import Array
from ._rows import Rows, symmetric_rows
from ._tensor import Tensor


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
        name: str = "tensors",
    ) -> None:
        """`name` is the argument in messages."""
        self.rows: Rows | None = None
        if isinstance(tensors, Tensor):
            self.tensor = tensors
            self.context = context or tensors.context
            info = tensors.info
            self.order, self.dimension = info.symmetric_order, info.symmetric_dimension
            if self.order == 0:
                raise ValueError(f"{name}: is a dense Tensor, expected one of Tensor.symmetric or create_symmetric")
            self.count = tensors.shape[1]
            self.dtype = tensors.dtype
            self.on_device = tensors.location == "device"
        else:
            self.context = context or default_context()
            self.on_device = memory.on_cuda(tensors)
            used_on = stream.cuda_stream if stream else None
            self.rows, self.order = symmetric_rows(tensors, order, dimension, used_on, dtype, name)
            self.dimension = int(dimension)
            self.count = self.rows.count
            self.dtype = memory.dtype_of(self.rows.where.dtype)
            self.tensor = Tensor.from_rows(self.rows, self.order, dimension, self.context)
        # Where elements of another library's stream come in, the work is queued behind them on CUDA's legacy stream.
        self.stream = stream
        if stream is None and self.on_device and self.rows is not None:
            self.stream = Stream(self.context, cuda_stream=memory._CUDA_LEGACY_STREAM)

    def shaped(self, flat: Array) -> Array:
        return self.rows.shaped(flat) if self.rows is not None else flat


class Source(Protocol):
    """The input of a call: it also decides where the results go."""

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
