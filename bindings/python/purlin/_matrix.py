"""Matrices: dense, or compressed sparse rows."""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._context import Context, Handle, Stream, choice, default_context, initialised
from ._error import check
from ._lib import MatrixInfo, lib
from ._memory import Array
from ._tensor import LOCATIONS, Location


class _View:
    """Elements at an address for NumPy, which holds this object and with it the matrix."""

    def __init__(self, matrix: Matrix, address: int, shape: tuple[int, ...], strides: tuple[int, ...], number: int):
        self.matrix = matrix
        dtype = memory.dtype_of(number)
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": shape,
            "strides": tuple(step * dtype.itemsize for step in strides),
            "data": (address, bool(matrix.info.flags & c.READ_ONLY)),
        }


class Matrix(Handle):
    """A matrix of the library, owned or borrowed."""

    def __init__(self, handle: int | None, context: Context, *keep: object) -> None:
        super().__init__(handle, lib.purlin_matrix_destroy, context._sinks, *keep)
        self.context = context

    @classmethod
    def _made(cls, status: int, made: c_void_p, context: Context, *keep: object) -> Matrix:
        # It owns before the call is ended: the log function may have raised.
        owner = cls(made.value, context, *keep)
        context.finish(status)
        return owner

    def __enter__(self) -> Matrix:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @classmethod
    def create(
        cls,
        rows: int,
        cols: int,
        dtype: npt.DTypeLike = np.float64,
        location: Location = "host",
        *,
        order: Literal["C", "F"] = "F",
        pinned: bool = False,
        context: Context | None = None,
    ) -> Matrix:
        """A dense matrix in memory of the library."""
        context = context or default_context()
        flags = (c.ROW_MAJOR if order == "C" else 0) | (c.PINNED if pinned else 0)
        made = c_void_p()
        status = lib.purlin_matrix_create(
            context.handle,
            memory.dtype_number(dtype),
            choice("location", location, LOCATIONS),
            flags,
            rows,
            cols,
            ctypes.byref(made),
        )
        return cls._made(status, made, context)

    @classmethod
    def dense(cls, array: object, *, context: Context | None = None, stream: Stream | None = None) -> Matrix:
        """A two-dimensional array in place, in either order, with a leading dimension; NumPy or `__dlpack__`."""
        context = context or default_context()
        where = memory.memory_of(array, stream.cuda_stream if stream else None)
        if len(where.shape) != 2:
            raise ValueError(f"array: has {len(where.shape)} dimensions, expected 2")
        rows, cols = where.shape
        row_step, col_step = where.strides
        # A single row or column has any stride, hence either order.
        if row_step == 1 and (cols == 1 or col_step >= rows):
            flags, ld = 0, max(col_step if cols > 1 else rows, 1)
        elif col_step == 1 and (rows == 1 or row_step >= cols):
            flags, ld = c.ROW_MAJOR, max(row_step if rows > 1 else cols, 1)
        elif where.on_device:
            raise ValueError("strides: neither is 1; make the array contiguous")
        else:
            return cls.dense(np.ascontiguousarray(memory.to_numpy(array)), context=context)
        borrow = lib.purlin_matrix_borrow_device if where.on_device else lib.purlin_matrix_borrow
        made = c_void_p()
        status = borrow(
            context.handle, where.dtype, flags | where.flags, rows, cols, ld, where.address, ctypes.byref(made)
        )
        return cls._made(status, made, context, where.base)

    @classmethod
    def csr(
        cls,
        row_ptr: object,
        col_idx: object,
        values: object | None,
        shape: tuple[int, int],
        *,
        dtype: npt.DTypeLike = np.float64,
        index_base: int = 0,
        copy: bool = False,
        context: Context | None = None,
    ) -> Matrix:
        """Compressed sparse rows in place, or copied. `values` None = the pattern alone, of type `dtype`."""
        context = context or default_context()
        rows_at = memory.host_memory(np.ascontiguousarray(memory.to_numpy(row_ptr)))
        cols_at = memory.host_memory(np.ascontiguousarray(memory.to_numpy(col_idx)))
        values_at = None if values is None else memory.host_memory(np.ascontiguousarray(memory.to_numpy(values)))
        nnz = cols_at.shape[0] if cols_at.shape else 0
        if rows_at.shape != (shape[0] + 1,):
            raise ValueError(f"row_ptr: has shape {rows_at.shape}, expected ({shape[0] + 1},)")
        if values_at is not None and values_at.shape != cols_at.shape:
            raise ValueError(f"values: has shape {values_at.shape}, expected {cols_at.shape}")
        make = lib.purlin_matrix_copy_csr if copy else lib.purlin_matrix_borrow_csr
        made = c_void_p()
        status = make(
            context.handle,
            memory.dtype_number(dtype) if values_at is None else values_at.dtype,
            index_base,
            shape[0],
            shape[1],
            nnz,
            rows_at.dtype,
            rows_at.address,
            cols_at.dtype,
            cols_at.address,
            None if values_at is None else values_at.address,
            ctypes.byref(made),
        )
        keep = () if copy else (rows_at, cols_at, values_at)
        return cls._made(status, made, context, *keep)

    @classmethod
    def from_scipy(cls, matrix: Any, *, copy: bool = False, context: Context | None = None) -> Matrix:
        """A sparse matrix of SciPy, in place if it is in CSR form, else converted by SciPy."""
        rows = matrix.tocsr()
        return cls.csr(rows.indptr, rows.indices, rows.data, rows.shape, copy=copy, context=context)

    @property
    def info(self) -> Any:
        """The C struct `purlin_matrix_info`."""
        info = initialised(MatrixInfo, "matrix_info")
        check(lib.purlin_matrix_properties(self.handle, ctypes.byref(info)))
        return info

    @property
    def shape(self) -> tuple[int, int]:
        info = self.info
        return (info.rows, info.cols)

    @property
    def nnz(self) -> int:
        """Stored elements."""
        return int(self.info.nnz)

    @property
    def dtype(self) -> np.dtype[Any]:
        return memory.dtype_of(self.info.dtype)

    @property
    def storage(self) -> Literal["dense", "csr"]:
        return "csr" if self.info.storage == c.CSR else "dense"

    @property
    def location(self) -> Location:
        return "device" if self.info.location == c.DEVICE else "host"

    def numpy(self) -> Array:
        """The elements of a dense matrix in place; from the device they are copied to the host."""
        info = self.info
        if info.storage != c.DENSE:
            raise ValueError("storage: is csr; use arrays()")
        if info.location == c.DEVICE:
            host = Matrix.create(info.rows, info.cols, self.dtype, context=self.context)
            self.copy_to(host)
            return host.numpy()
        strides = (info.ld, 1) if info.flags & c.ROW_MAJOR else (1, info.ld)
        return np.asarray(_View(self, info.data, (info.rows, info.cols), strides, info.dtype))

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Row pointers, column indices and values (None = pattern) of a host CSR matrix in place."""
        info = self.info
        if info.storage != c.CSR:
            raise ValueError("storage: is dense; use numpy()")
        values = None
        if info.data:
            values = np.asarray(_View(self, info.data, (info.nnz,), (1,), info.dtype))
        return (
            np.asarray(_View(self, info.row_ptr, (info.rows + 1,), (1,), info.row_ptr_type)),
            np.asarray(_View(self, info.col_idx, (info.nnz,), (1,), info.col_idx_type)),
            values,
        )

    def copy_to(self, destination: Matrix, *, stream: Stream | None = None) -> None:
        """Copies to a matrix of the same shape and type, host or device either way."""
        queue = stream.handle if stream else None
        self.context.finish(lib.purlin_matrix_copy(self.context.handle, queue, self.handle, destination.handle))
