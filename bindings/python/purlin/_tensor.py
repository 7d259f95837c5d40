"""Tensors: dense of any rank, or batches of packed symmetric ones; owned by the library or borrowed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_int64, c_void_p
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _capsule
from . import _constants as c
from . import _memory as memory
from ._checked import flag, how_many, sizes
from ._context import Context, Handle, Stream, choice, default_context, initialized
from ._error import Wording, check, renaming
from ._lib import lib
from ._lifetime import in_place
from ._memory import Array, Memory
from ._rows import Rows, symmetric_rows
from ._structs import TensorInfo
from ._typing import CapsuleType

Location = Literal["host", "device"]
LOCATIONS = {"host": c.HOST, "device": c.DEVICE}
ORDERS = {"C": c.ROW_MAJOR, "F": 0}


def integers(values: Sequence[int] | None, name: str = "shape") -> Any:
    """A C array of int64, or NULL. Other numbers are refused: ctypes would cut them."""
    if values is None:
        return None
    listed = sizes(name, values)
    return (c_int64 * max(len(listed), 1))(*listed)


class Tensor(Handle):
    """A tensor of the library.

    `shape` and `strides` (in elements) are those of the C interface, first index first, so that `numpy()` and DLPack
    show the same array. A packed symmetric batch has shape (entries, tensors).
    """

    def __init__(self, handle: int | None, context: Context, *keep: object) -> None:
        super().__init__(handle, lib.purlin_tensor_destroy, context._sinks, *keep)
        self.context = context

    @classmethod
    def _made(
        cls, status: int, made: c_void_p, context: Context, *keep: object, wording: Wording | None = None
    ) -> Tensor:
        # It owns before the call is ended: the log function may have raised.
        owner = cls(made.value, context, *keep)
        context.finish(status, wording=wording)
        return owner

    @classmethod
    def create(
        cls,
        shape: int | Sequence[int],
        dtype: npt.DTypeLike = np.float64,
        location: Location = "host",
        *,
        order: Literal["C", "F"] = "C",
        pinned: bool = False,
        context: Context | None = None,
    ) -> Tensor:
        """A dense tensor in memory of the library. An integer is the shape of a tensor with one axis."""
        context = context or default_context()
        shape = sizes("shape", [shape] if isinstance(shape, (int, np.integer)) else shape)
        flags = choice("order", order, ORDERS) | (c.PINNED if flag("pinned", pinned) else 0)
        made = c_void_p()
        status = lib.purlin_tensor_create(
            context.handle,
            memory.dtype_number(dtype),
            choice("location", location, LOCATIONS),
            flags,
            len(shape),
            integers(shape),
            ctypes.byref(made),
        )
        return cls._made(status, made, context, wording=renaming(dims="shape"))

    @classmethod
    def create_symmetric(
        cls,
        order: int,
        dimension: int,
        count: int = 1,
        dtype: npt.DTypeLike = np.float64,
        location: Location = "host",
        *,
        entry_major: bool = False,
        pinned: bool = False,
        context: Context | None = None,
    ) -> Tensor:
        """A batch of packed symmetric tensors in memory of the library."""
        context = context or default_context()
        flags = (c.ENTRY_MAJOR if flag("entry_major", entry_major) else 0) | (c.PINNED if flag("pinned", pinned) else 0)
        made = c_void_p()
        status = lib.purlin_tensor_create_symmetric(
            context.handle,
            memory.dtype_number(dtype),
            choice("location", location, LOCATIONS),
            flags,
            how_many("order", order),
            how_many("dimension", dimension),
            how_many("count", count),
            ctypes.byref(made),
        )
        return cls._made(status, made, context)

    @classmethod
    def borrow(
        cls, array: object, *, context: Context | None = None, stream: Stream | None = None, name: str = "array"
    ) -> Tensor:
        """An array in place: NumPy in any order, or any object with `__dlpack__`, on the host or on a CUDA device.

        A NumPy array that the library cannot walk (unaligned, foreign byte order, negative strides) is copied once. `name` is
        the argument in messages.
        """
        return cls.from_memory(
            memory.memory_of(array, stream.cuda_stream if stream else None, name), context or default_context()
        )

    @classmethod
    def from_memory(cls, where: Memory, context: Context) -> Tensor:
        """A dense tensor around described memory."""
        borrow = lib.purlin_tensor_borrow_device if where.on_device else lib.purlin_tensor_borrow
        made = c_void_p()
        status = borrow(
            context.handle,
            where.dtype,
            where.flags,
            len(where.shape),
            integers(where.shape),
            integers(where.strides),
            where.address,
            ctypes.byref(made),
        )
        return cls._made(status, made, context, where.base)

    @classmethod
    def symmetric(
        cls,
        entries: object,
        order: int | None = None,
        dimension: int = 3,
        *,
        context: Context | None = None,
        stream: Stream | None = None,
    ) -> Tensor:
        """Packed symmetric tensors (.., entries) in place; the order follows from the number of entries."""
        if isinstance(entries, Tensor):
            if entries.symmetric_order == 0:
                raise ValueError("entries: is a dense Tensor, expected one of Tensor.symmetric or create_symmetric")
            return entries
        context = context or default_context()
        rows, found = symmetric_rows(entries, order, dimension, stream.cuda_stream if stream else None, name="entries")
        return cls.from_rows(rows, found, dimension, context)

    @classmethod
    def from_rows(cls, rows: Rows, order: int, dimension: int, context: Context) -> Tensor:
        """Rows of packed entries in place."""
        return cls.from_symmetric_memory(
            rows.where, order, dimension, rows.count, (rows.entry_step, rows.step), context
        )

    @classmethod
    def from_symmetric_memory(
        cls, where: Memory, order: int, dimension: int, count: int, strides: tuple[int, int], context: Context
    ) -> Tensor:
        """A symmetric batch around described memory; `strides` are those of the entry and of the tensor."""
        borrow = lib.purlin_tensor_borrow_symmetric_device if where.on_device else lib.purlin_tensor_borrow_symmetric
        made = c_void_p()
        status = borrow(
            context.handle,
            where.dtype,
            where.flags,
            order,
            dimension,
            count,
            *strides,
            where.address,
            ctypes.byref(made),
        )
        return cls._made(status, made, context, where.base)

    @classmethod
    def from_dlpack(cls, array: Any, *, context: Context | None = None, stream: Stream | None = None) -> Tensor:
        """Takes over a DLPack capsule of version 1; an object that has only older ones is borrowed."""
        context = context or default_context()
        used_on = stream.cuda_stream if stream else None
        if used_on is None and memory.on_cuda(array):
            used_on = memory._CUDA_LEGACY_STREAM
        capsule = memory.capsule_of(array, used_on)
        if not memory.api.PyCapsule_IsValid(id(capsule), memory.VERSIONED):
            del capsule
            return cls.borrow(array, context=context, stream=stream)
        managed = memory.api.PyCapsule_GetPointer(id(capsule), memory.VERSIONED)
        # From here on the library calls the deleter, whatever happens.
        memory.api.PyCapsule_SetName(id(capsule), b"used_dltensor_versioned")
        made = c_void_p()
        status = lib.purlin_tensor_from_dlpack(context.handle, managed, ctypes.byref(made))
        return cls._made(status, made, context)

    @property
    def info(self) -> TensorInfo:
        """The C struct `purlin_tensor_info`, filled at each access."""
        info: TensorInfo = initialized(TensorInfo, "tensor_info")
        check(lib.purlin_tensor_properties(self.handle, ctypes.byref(info)))
        return info

    def _extents(self, which: int) -> tuple[int, ...]:
        ndim: int = self.info.ndim
        values = (c_int64 * max(ndim, 1))()
        arrays = (values, None) if which == 0 else (None, values)
        check(lib.purlin_tensor_shape(self.handle, ndim, *arrays))
        return tuple(values[:ndim])

    @property
    def shape(self) -> tuple[int, ...]:
        return self._extents(0)

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements, not in bytes as in NumPy."""
        return self._extents(1)

    @property
    def ndim(self) -> int:
        return int(self.info.ndim)

    @property
    def dtype(self) -> np.dtype[Any]:
        return memory.dtype_of(self.info.dtype)

    @property
    def location(self) -> Location:
        return "device" if self.info.location == c.DEVICE else "host"

    @property
    def symmetric_order(self) -> int:
        """Order of the packed symmetric tensors, 0 for a dense tensor."""
        return int(self.info.symmetric_order)

    @property
    def symmetric_dimension(self) -> int:
        return int(self.info.symmetric_dimension)

    def numpy(self) -> Array:
        """The elements of a host tensor in place, which live as long as the array, also after `close()`; a device tensor is
        copied to the host."""
        info = self.info
        if info.location == c.DEVICE:
            host = self._host_twin()
            self.copy_to(host)
            return host.numpy()
        return in_place(self, info.data, self.shape, self.strides, info.dtype, bool(info.flags & c.READ_ONLY))

    def _host_twin(self) -> Tensor:
        info = self.info
        if info.symmetric_order == 0:
            return Tensor.create(self.shape, self.dtype, order="F", context=self.context)
        count = self.shape[1]
        return Tensor.create_symmetric(
            info.symmetric_order, info.symmetric_dimension, count, self.dtype, context=self.context
        )

    def copy_to(self, destination: Tensor, *, stream: Stream | None = None) -> None:
        """Copies to a tensor of the same shape and type, host or device either way."""
        queue = stream.handle if stream else None
        self.context._run(lib.purlin_tensor_copy, self.context.handle, queue, self.handle, destination.handle)

    def __dlpack_device__(self) -> tuple[int, int]:
        if self.info.location == c.DEVICE:
            return (2, self.context.properties.device)
        return (1, 0)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A capsule around the elements in place, which stay valid as long as the capsule's consumer wants them."""
        if copy:
            raise BufferError("copy: the elements are exported in place, never copied")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError("dl_device: the elements stay on their device")
        managed = c_void_p()
        check(lib.purlin_tensor_to_dlpack(self.handle, ctypes.byref(managed)))
        versioned = max_version is not None and max_version[0] >= 1
        capsule: CapsuleType = _capsule.make(managed.value or 0, versioned, self._keep)
        return capsule

    def __repr__(self) -> str:
        if self.closed:
            return "<purlin.Tensor closed>"
        kind = f", symmetric order {self.symmetric_order}" if self.symmetric_order else ""
        return f"<purlin.Tensor {self.shape} {self.dtype} on the {self.location}{kind}>"
