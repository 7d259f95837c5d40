"""Matrices: dense, compressed sparse rows, read in blocks, or known by their products alone."""

from __future__ import annotations

import ctypes
import importlib
import os
import weakref
from collections.abc import Iterator, Sequence
from ctypes import c_void_p
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._checked import flag, how_many, rows_and_columns
from ._context import Context, Handle, Stream, choice, default_context, initialized
from ._error import Wording, check, in_numpy_order, renaming
from ._interrupts import Interruption
from ._lib import lib
from ._lifetime import in_place
from ._memory import Array
from ._numbers import real_type
from ._operator_functions import DeviceProduct, DeviceProducts, HostProducts, Product, ProductRelay, adjoint_of
from ._products import Products
from ._protocols import SupportsArray, SupportsCuda
from ._structs import MatrixInfo
from ._tensor import LOCATIONS, ORDERS, Location
from ._typing import csr_matrix
from .blocks import BlockRelay, Source

Vectors = TypeVar("Vectors", bound=SupportsCuda)

Storage = Literal["dense", "csr", "streamed", "operator"]
_STORAGES: dict[int, Storage] = {c.DENSE: "dense", c.CSR: "csr", c.STREAMED: "streamed", c.OPERATOR: "operator"}


def gathered(rows: Iterator[Any], name: str) -> Array:
    """The rows, or blocks of rows, of an iterator."""
    blocks = [np.atleast_2d(memory.to_numpy(block, name)) for block in rows]
    if not blocks:
        raise ValueError(f"{name}: is an iterator over no rows")
    kind = np.result_type(*blocks)
    if kind.kind in "fc":
        for k, block in enumerate(blocks):
            memory.expect_held(f"{name}: block {k}", block, kind)
    return np.concatenate(blocks)


class Matrix(Handle):
    """A matrix of the library, owned or borrowed."""

    _relay: BlockRelay | ProductRelay | None = None
    _plan: Products | None = None
    ndim = 2
    # An array of NumPy times a matrix is a TypeError, not an array of objects.
    __array_ufunc__ = None

    def __init__(self, handle: int | None, context: Context, *keep: object) -> None:
        super().__init__(handle, lib.purlin_matrix_destroy, context._sinks, *keep)
        self.context = context

    @classmethod
    def _made(
        cls,
        status: int,
        made: c_void_p,
        context: Context,
        *keep: object,
        running: Interruption | None = None,
        wording: Wording | None = None,
    ) -> Matrix:
        # It owns before the call is ended: the log function may have raised.
        owner = cls(made.value, context, *keep)
        context.finish(status, running, wording)
        return owner

    def close(self) -> None:
        """Destroys the matrix, and the plan of its products."""
        plan, self._plan = self._plan, None
        if plan is not None:
            plan.close()
        super().close()

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
        flags = choice("order", order, ORDERS) | (c.PINNED if flag("pinned", pinned) else 0)
        made = c_void_p()
        status = lib.purlin_matrix_create(
            context.handle,
            memory.dtype_number(dtype),
            choice("location", location, LOCATIONS),
            flags,
            how_many("rows", rows),
            how_many("cols", cols),
            ctypes.byref(made),
        )
        return cls._made(status, made, context)

    @classmethod
    def dense(
        cls, array: object, *, context: Context | None = None, stream: Stream | None = None, name: str = "array"
    ) -> Matrix:
        """A two-dimensional array in place, in either order, with a leading dimension; NumPy or `__dlpack__`. A NumPy array
        with other strides is copied once, and the copy is read-only. `name` is the argument in messages."""
        where = memory.memory_of(array, stream.cuda_stream if stream else None, name)
        return cls._around(where, context or default_context(), name)

    @classmethod
    def _around(cls, where: memory.Memory, context: Context, name: str) -> Matrix:
        """A matrix around described memory, or a read-only copy of it."""
        if len(where.shape) != 2:
            raise ValueError(f"{name}: has {len(where.shape)} dimensions, expected 2")
        rows, cols = where.shape
        found = memory.leading(where.shape, where.strides)
        if found is None:
            if where.on_device or not isinstance(where.base, np.ndarray):
                raise ValueError(f"{name}: has strides of which neither is 1; make the array contiguous")
            return cls._around(memory.host_memory(np.ascontiguousarray(where.base), where.base), context, name)
        is_row_major, ld = found
        flags = c.ROW_MAJOR if is_row_major else 0
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
        dtype: npt.DTypeLike | None = None,
        index_base: int = 0,
        copy: bool = False,
        trusted: bool = False,
        context: Context | None = None,
    ) -> Matrix:
        """Compressed sparse rows in place, or copied; all three arrays on the host, or all on a CUDA device (`__dlpack__`, as
        CuPy's and torch's) in place. `values` None = the pattern alone. `dtype` None is the type of `values`, and float64 for a
        pattern; values on the host become another type if it holds them. The indices must stay as they are. With
        `trusted` columns are not looked at: the caller answers for their range."""
        context, shape = context or default_context(), rows_and_columns("shape", shape)
        on_device = memory.on_cuda(col_idx)
        if any(memory.on_cuda(array) != on_device for array in (row_ptr, values) if array is not None):
            raise ValueError("row_ptr, col_idx, values: some are on a device and some are not")
        if flag("copy", copy) and on_device:
            raise ValueError("copy: arrays on a device are taken in place")

        def place(name: str, array: object) -> memory.Memory:
            if on_device:
                return memory.device_memory(array, name=name)
            return memory.host_memory(np.ascontiguousarray(memory.to_numpy(array, name)), name=name)

        rows_at, cols_at = place("row_ptr", row_ptr), place("col_idx", col_idx)
        number = memory.dtype_number(np.float64 if dtype is None else dtype)
        if values is not None and dtype is not None and not on_device:
            values = memory.converted("values", values, dtype)
        values_at = None if values is None else place("values", values)
        if values_at is not None and dtype is not None and values_at.dtype != number:
            raise ValueError(f"dtype: is {np.dtype(dtype)}, but values are {memory.dtype_of(values_at.dtype)} on a device")
        nnz = cols_at.shape[0] if cols_at.shape else 0
        if rows_at.shape != (shape[0] + 1,):
            raise ValueError(f"row_ptr: has shape {rows_at.shape}, expected ({shape[0] + 1},)")
        if values_at is not None and values_at.shape != cols_at.shape:
            raise ValueError(f"values: has shape {values_at.shape}, expected {cols_at.shape}")
        if on_device and any(at.strides != (1,) for at in (rows_at, cols_at, values_at) if at is not None):
            raise ValueError("row_ptr, col_idx, values: are not contiguous")
        no_values = 0 if on_device else None
        make = lib.purlin_matrix_copy_csr if copy else lib.purlin_matrix_borrow_csr
        if on_device:
            make = lib.purlin_matrix_borrow_csr_device
        made = c_void_p()
        with Interruption(context.cancel) as running:
            status = make(
                context.handle,
                number if values_at is None else values_at.dtype,
                how_many("index_base", index_base) + (c.TRUSTED if flag("trusted", trusted) else 0),
                shape[0],
                shape[1],
                nnz,
                rows_at.dtype,
                rows_at.address,
                cols_at.dtype,
                cols_at.address,
                no_values if values_at is None else values_at.address,
                ctypes.byref(made),
            )
        keep = () if copy else (rows_at, cols_at, values_at)
        return cls._made(status, made, context, *keep, running=running)

    @classmethod
    def from_scipy(cls, matrix: Any, *, copy: bool = False, context: Context | None = None) -> Matrix:
        """A sparse matrix of SciPy, in place if it is in CSR form; CSC is converted here, other forms by SciPy. Likewise one of
        CuPy, on the device."""
        flag("copy", copy)
        if matrix.format == "csc" and not memory.on_cuda(matrix.data):
            arrays = matrix.indptr, matrix.indices, matrix.data
            return cls._from_columns(arrays, matrix.shape, context or default_context())
        rows = matrix.tocsr()
        return cls.csr(rows.indptr, rows.indices, rows.data, rows.shape, copy=copy, context=context)

    @classmethod
    def _from_columns(cls, arrays: tuple[Any, Any, Any], shape: tuple[int, int], context: Context) -> Matrix:
        starts, rows, values = (memory.host_memory(np.ascontiguousarray(array)) for array in arrays)
        made = c_void_p()
        with Interruption(context.cancel) as running:
            status = lib.purlin_matrix_from_columns(
                context.handle,
                values.dtype,
                0,
                shape[0],
                shape[1],
                values.shape[0],
                starts.dtype,
                starts.address,
                rows.dtype,
                rows.address,
                values.address,
                ctypes.byref(made),
            )
        return cls._made(status, made, context, running=running)

    @classmethod
    def from_source(
        cls, source: Source, order: Literal["C", "F"] | None = None, *, context: Context | None = None
    ) -> Matrix:
        """A source of two axes or more, read in blocks. All axes but the first count as one: a stack of images is a matrix
        with an image a row, or with order "F" a column."""
        return cls._from_source(source, "source", order, context)

    @classmethod
    def _from_source(
        cls, source: Source, name: str, order: Literal["C", "F"] | None, context: Context | None
    ) -> Matrix:
        """As `from_source`, with the name of the argument in messages."""
        context = context or source.context
        if source.fortran_order and order is None and len(source.info.shape) > 2:
            # Another matrix than the same array in C order: its last axis counts the columns.
            raise ValueError(
                f"{name}: has {len(source.info.shape)} axes in Fortran order, of which all but the last would be the rows: "
                'save the array in C order, or say order="F" for that matrix'
            )
        made = c_void_p()
        flags = choice("order", order or ("F" if source.fortran_order else "C"), ORDERS)
        status = lib.purlin_matrix_from_source(context.handle, source.handle, flags, ctypes.byref(made))
        owner = cls(made.value, context, source)
        owner._relay = source._relay
        own = renaming(source=name)
        context.finish(status, wording=lambda text: own(in_numpy_order(text)))
        return owner

    @classmethod
    def from_operator(
        cls,
        apply: Product,
        adjoint: Product,
        shape: tuple[int, int],
        dtype: npt.DTypeLike = np.float64,
        *,
        context: Context | None = None,
    ) -> Matrix:
        """A matrix A known by its products: `apply` takes X, (n, count), to A X, and `adjoint` X, (m, count), to A^H X. X is a
        read-only copy, which a function may keep. The matrix keeps the memory of the last one for the next."""
        context, shape = context or default_context(), rows_and_columns("shape", shape)
        relay = HostProducts(apply, adjoint, shape, np.dtype(dtype))
        return cls._by_products(relay, shape, dtype, context, c.HOST)

    @classmethod
    def from_device_operator(
        cls,
        apply: DeviceProduct,
        adjoint: DeviceProduct,
        shape: tuple[int, int],
        dtype: npt.DTypeLike = np.float64,
        *,
        context: Context | None = None,
    ) -> Matrix:
        """A matrix A known by its products on the device of a context on a GPU: `apply(x, y, stream)` writes A x to y, and
        `adjoint(x, y, stream)` A^H x, by work on the CUDA stream. x and y are memory of the library's, and so are arrays over
        it: a function that keeps vectors copies them on the stream. With CuPy:

            def apply(x, y, stream):
                with cupy.cuda.ExternalStream(stream):
                    cupy.asarray(y)[...] = a @ cupy.asarray(x)
        """
        context, shape = context or default_context(), rows_and_columns("shape", shape)
        relay = DeviceProducts(apply, adjoint, shape, np.dtype(dtype))
        return cls._by_products(relay, shape, dtype, context, c.DEVICE)

    @classmethod
    def _from_market(cls, path: bytes, context: Context, number: int = c.DTYPE_OF_FILE) -> Matrix:
        """A Matrix Market file of coordinates, in the type of that number."""
        made = c_void_p()
        with Interruption(context.cancel) as running:
            status = lib.purlin_matrix_read_market(context.handle, path, number, ctypes.byref(made))
        return cls._made(status, made, context, running=running)

    @classmethod
    def _by_products(
        cls, relay: ProductRelay, shape: tuple[int, int], dtype: npt.DTypeLike, context: Context, location: int
    ) -> Matrix:
        made = c_void_p()
        number = memory.dtype_number(dtype)
        status = lib.purlin_matrix_from_operator(
            context.handle, number, shape[0], shape[1], relay.pointer, None, location, ctypes.byref(made)
        )
        owner = cls(made.value, context, relay)
        owner._relay = relay
        context.finish(status)
        return owner

    @classmethod
    def of(
        cls,
        value: Any,
        *,
        context: Context | None = None,
        stream: Stream | None = None,
        name: str = "a",
        dtype: npt.DTypeLike | None = None,
        floating: bool = False,
    ) -> Matrix:
        """Whatever stands for a matrix: a `Matrix` as it is, a `Source`, the path of a `.npy` file, which is read in blocks, or
        of a Matrix Market file, `.mtx` or `.mtx.gz`, a sparse matrix or a linear operator of SciPy, an iterator over rows or blocks of rows, which are gathered in
        memory, or an array in place. Integers of 64 bits and truth values are copied as float64 and uint8, integers in a sparse
        matrix as float64. With `floating` all integers and truth values are copied as float64, for calls that convert no entries.
        `dtype` is the type that a call computes in and takes the place of float64. Integers that it does not hold are refused. A
        linear operator without a type of its own, or with one of integers, computes in float64. `name` is the argument in
        messages."""
        flag("floating", floating)
        kind = np.float64 if dtype is None else real_type(dtype)
        if isinstance(value, Matrix):
            if value.dtype.kind in "iu" and value.storage == "dense" and value.location == "host":
                memory.expect_held(name, value.numpy(), kind)
            return value
        context = context or default_context()
        if isinstance(value, Source):
            return cls._from_source(value, name, None, context)
        if isinstance(value, (str, os.PathLike)) and memory.path_bytes(value, name).lower().endswith((b".mtx", b".mtx.gz")):
            return cls._from_market(memory.path_bytes(value, name), context)
        if isinstance(value, (str, os.PathLike)):
            return cls._from_source(Source.from_npy(value, context=context), name, None, context)
        if isinstance(value, Iterator):
            value = gathered(value, name)
        if hasattr(value, "tocsr"):
            return cls.from_scipy(memory.floating_sparse(name, value, np.float64 if dtype is None else dtype), context=context)
        if hasattr(value, "matmat") and hasattr(value, "rmatmat"):
            # Without a type SciPy takes that of the product with a vector of int8: an integer type does not say
            # which precision is wanted.
            own = np.dtype(value.dtype or np.float64)
            dtype = np.result_type(own, np.float32) if own.kind in "fc" else np.dtype(np.float64)
            return cls.from_operator(value.matmat, adjoint_of(value, name), value.shape, dtype, context=context)
        if not memory.on_cuda(value):
            array = memory.to_numpy(value, name, kind)
            if array.dtype == np.bool_:
                array = array.astype(np.uint8)
            if array.dtype.kind in "iu":
                memory.expect_held(name, array, kind)
                if floating or array.dtype.itemsize == 8:
                    array = array.astype(kind)
            return cls._around(memory.host_memory(array, value, name), context, name)
        return cls.dense(value, context=context, stream=stream, name=name)

    def raise_caught(self) -> None:
        """Raises the exception of a function behind the matrix in the last run."""
        if self._relay is not None:
            self._relay.raise_caught()

    @property
    def info(self) -> MatrixInfo:
        """The C struct `purlin_matrix_info`, filled at each access."""
        info: MatrixInfo = initialized(MatrixInfo, "matrix_info")
        check(lib.purlin_matrix_properties(self.handle, ctypes.byref(info)))
        return info

    @property
    def shape(self) -> tuple[int, int]:
        info = self.info
        return (info.rows, info.cols)

    def __repr__(self) -> str:
        if self.closed:
            return "<purlin.Matrix, closed>"
        rows, cols = self.shape
        stored = f", {self.nnz} stored" if self.storage == "csr" else ""
        return f"<purlin.Matrix {rows} x {cols} {self.dtype}, {self.storage}{stored}, {self.location}>"

    @overload
    def __matmul__(self, x: Vectors) -> Vectors: ...

    @overload
    def __matmul__(self, x: SupportsArray | Sequence[object]) -> Array: ...

    def __matmul__(self, x: Any) -> Array | SupportsCuda:
        """A x for a vector, or for the columns of a matrix, in the precision of A; x may be complex where A is real, or an
        array on the device of a sparse A's context. The plan of the products (`spmv.Plan`) is made at the first of them and
        stays with the matrix."""
        if isinstance(x, Matrix):
            return NotImplemented
        if memory.on_cuda(x):
            there: SupportsCuda = self._products().apply(x)
            return there
        own = self.dtype
        given = memory.to_numpy(x, "x", real_type(own) if own.kind in "fc" else np.float64)
        if given.ndim not in (1, 2):
            raise ValueError(f"x: has {given.ndim} dimensions, expected 1 or 2")
        if given.shape[0] != self.shape[1]:
            raise ValueError(f"x: has {given.shape[0]} rows, expected {self.shape[1]}, the columns of the matrix")
        if given.dtype.kind == "c" and self.dtype.kind != "c":
            found: Array = self @ given.real + 1j * (self @ given.imag)
            return found.astype(np.result_type(self.dtype, np.complex64), copy=False)
        if self.storage == "dense":
            dense = self.numpy()
            kind = dense.dtype if dense.dtype.kind in "fc" and dense.dtype.itemsize > 2 else np.dtype(np.float64)
            product: Array = dense.astype(kind, copy=False) @ memory.converted("x", given, kind, None)
            return product
        made: Array = self._products().apply(given)
        return made

    def _products(self) -> Products:
        """The plan of products with the matrix."""
        if self._plan is None:
            self._plan = Products(self, Matrix.dense, {})
            # A plan that held its matrix would keep both alive until the collector finds the circle.
            self._plan.matrix = weakref.proxy(self)
        return self._plan

    def matvec(self, x: Any) -> Array:
        """A x for a vector, of shape (n,) or (n, 1), as a `LinearOperator` of SciPy has it."""
        given = memory.to_numpy(x, "x")
        if given.shape not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError(f"x: has shape {given.shape}, expected {(self.shape[1],)}")
        return self @ given

    def matmat(self, x: Any) -> Array:
        """A X for the columns of a matrix, as a `LinearOperator` of SciPy has it."""
        given = memory.to_numpy(x, "x")
        if given.ndim != 2:
            raise ValueError(f"x: has {given.ndim} dimensions, expected 2")
        return self @ given

    @property
    def nnz(self) -> int:
        """Stored entries: rows times columns of a dense matrix, 0 for an operator."""
        return int(self.info.nnz)

    @property
    def dtype(self) -> np.dtype[Any]:
        return memory.dtype_of(self.info.dtype)

    @property
    def storage(self) -> Storage:
        return _STORAGES[self.info.storage]

    @property
    def location(self) -> Location:
        return "device" if self.info.location == c.DEVICE else "host"

    def numpy(self) -> Array:
        """The elements of a dense matrix in place, which live as long as the array, also after `close()`; from the device
        they are copied to the host."""
        info = self.info
        if info.storage != c.DENSE:
            raise ValueError(f"storage: is {self.storage}, expected dense")
        if info.location == c.DEVICE:
            host = Matrix.create(info.rows, info.cols, self.dtype, context=self.context)
            self.copy_to(host)
            return host.numpy()
        strides = (info.ld, 1) if info.flags & c.ROW_MAJOR else (1, info.ld)
        return in_place(self, info.data, (info.rows, info.cols), strides, info.dtype, bool(info.flags & c.READ_ONLY))

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Row pointers, column indices and values (None = pattern) of a host CSR matrix in place, which live as long as the
        arrays, also after `close()`. Pointers and indices are read-only: plans and products rely on them."""
        info = self.info
        if info.storage != c.CSR:
            raise ValueError(f"storage: is {self.storage}, expected csr")
        if info.location == c.DEVICE:
            raise ValueError("location: is the device, expected the host")

        def flat(address: int, count: int, number: int, is_read_only: bool = True) -> Array:
            return in_place(self, address, (count,), (1,), number, is_read_only)

        return (
            flat(info.row_ptr, info.rows + 1, info.row_ptr_type),
            flat(info.col_idx, info.nnz, info.col_idx_type),
            flat(info.data, info.nnz, info.dtype, bool(info.flags & c.READ_ONLY)) if info.data else None,
        )

    def scipy(self, *, copy: bool = True) -> csr_matrix:
        """A host CSR matrix as SciPy's, with copies of the arrays; needs SciPy. Without `copy` zero-based arrays are shared,
        and live as long as either; SciPy then refuses to change the structure in place, as `eliminate_zeros` does."""
        sparse: Any = importlib.import_module("scipy.sparse")
        info = self.info
        pointers, columns, values = self.arrays()
        if values is None:
            values = np.ones(info.nnz, self.dtype)
        elif flag("copy", copy):
            values = values.copy()
        if copy or info.index_base:
            columns, pointers = columns - info.index_base, pointers - info.index_base
        return sparse.csr_matrix((values, columns, pointers), shape=(info.rows, info.cols), copy=False)

    def copy_to(self, destination: Matrix, *, stream: Stream | None = None) -> None:
        """Copies to a matrix of the same shape and type, host or device either way."""
        queue = stream.handle if stream else None
        self.context._run(lib.purlin_matrix_copy, self.context.handle, queue, self.handle, destination.handle)
