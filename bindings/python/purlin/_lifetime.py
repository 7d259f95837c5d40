"""How long arrays live: those over the library's memory keep it, and functions get copies, which they may keep."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from . import _memory as memory
from ._context import Handle
from ._memory import Array


class _InPlace:
    """Elements at an address for NumPy, whose array holds this object and with it the owner of the memory."""

    def __init__(
        self,
        owner: object,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        number: int,
        is_read_only: bool,
    ) -> None:
        self.owner = owner
        dtype = memory.dtype_of(number)
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": shape,
            "strides": tuple(step * dtype.itemsize for step in strides),
            "data": (address, is_read_only),
        }


def in_place(
    handle: Handle, address: int, shape: tuple[int, ...], strides: tuple[int, ...], number: int, is_read_only: bool
) -> Array:
    """An array over memory of `handle`'s, which lives as long as the array, also after `close()`. Strides are in elements."""
    return np.asarray(_InPlace(handle._export(), address, shape, strides, number, is_read_only))


class Copies:
    """Copies of the library's blocks for a function of the caller's. The function may keep them: a buffer is used again
    only when no array shares it any more."""

    def __init__(self) -> None:
        self._buffer: Array | None = None

    def use(self, block: Array, function: Callable[[Array], object]) -> None:
        """Calls `function` with a read-only copy of a block in its own order, of rows or of columns."""
        # A call during this one takes another buffer.
        buffer, self._buffer = self._buffer, None
        if buffer is None or buffer.size != block.size:
            buffer = np.empty(block.size, block.dtype)
        # Compared with the same expression below, as the number for no other holder depends on the version of Python.
        alone = sys.getrefcount(buffer)
        given = buffer.reshape(block.shape, order="C" if block.flags.c_contiguous else "F")
        np.copyto(given, block)
        given.flags.writeable = False
        function(given)
        # Every view of the buffer holds it.
        del given
        if sys.getrefcount(buffer) == alone:
            self._buffer = buffer
