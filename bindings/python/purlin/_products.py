"""Products of a matrix with vectors by a plan of the library. `spmv.py` makes plans of it, and `_matrix.py` the products of
a matrix with `@`; so it knows of a matrix only the members that it uses."""

from __future__ import annotations

import ctypes
import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_void_p
from typing import Any, Literal, Protocol, TypeVar, Union, overload

import numpy as np

from . import _memory as memory
from . import _options, _reports
from ._context import Context, Handle, Stream, initialized
from ._error import check
from ._keywords import apply, known, report
from ._lib import lib
from ._memory import Array
from ._numbers import element
from ._protocols import SupportsArray, SupportsCuda
from ._structs import SpmvInfo, SpmvOptions
from ._tensor import Tensor

Vectors = TypeVar("Vectors", bound=SupportsCuda)
Out = TypeVar("Out", bound=Union[SupportsArray, SupportsCuda, Tensor])

_OPTIONS = known(_options.SpmvOptions, "spmv_options")


class Multiplied(Protocol):
    """The members of a matrix that its products use."""

    context: Context

    @property
    def handle(self) -> int: ...

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def raise_caught(self) -> None: ...


class _CachedTensors:
    """Tensors around the vectors of the last product: the next one with the same memory need not make them again."""

    def __init__(self) -> None:
        self._held: list[tuple[object, Tensor] | None] = [None, None]

    def tensor(self, at: int, array: Any, context: Context) -> Tensor:
        address, writable = array.__array_interface__["data"]
        key = (address, writable, array.size)
        held = self._held[at]
        if held is not None:
            if held[0] == key:
                return held[1]
            self._held[at] = None
            held[1].close()
        where = memory.memory_of(array, None)
        # The array may be freed: its memory is not read before another array with the same address is given.
        made = Tensor.from_memory(dataclasses.replace(where, base=None), context)
        self._held[at] = (key, made)
        return made


def _is_plain(array: Any) -> bool:
    """Whether a vector can be borrowed as it is."""
    return type(array) is np.ndarray and array.flags.c_contiguous and array.flags.aligned


class Products(Handle):
    """A plan of products with a matrix, or with an operator made of it. `block` borrows a matrix of vectors, as `Matrix.dense`."""

    def __init__(self, matrix: Multiplied, block: Callable[..., Any], options: Mapping[str, Any]) -> None:
        raw = initialized(SpmvOptions, "spmv_options")
        apply(raw, _OPTIONS, options)
        # Asked for before the call, whose message another one would take away.
        (rows, cols), dtype = matrix.shape, matrix.dtype
        made = c_void_p()
        status = lib.purlin_spmv_create(matrix.handle, ctypes.byref(raw), ctypes.byref(made))
        super().__init__(made.value, lib.purlin_spmv_destroy, matrix.context._sinks)
        self.context = matrix.context
        self._legacy: Stream | None = None
        self.matrix: Any = matrix
        self._block = block
        self._dtype = dtype
        self._one, self._zero = np.array(1, self._dtype), np.array(0, self._dtype)
        self._cached: list[_CachedTensors] = []
        sides = {"gram": cols, "outer_gram": rows, "augmented": rows + cols}
        self.shape = (rows, cols) if options.get("op", "plain") == "plain" else (cols, rows)
        kind = options.get("kind", "matrix")
        if kind in sides:
            self.shape = (sides[kind], sides[kind])
        self.context.finish(status)

    @property
    def info(self) -> _reports.SpmvInfo:
        """The method, why it was chosen, and statistics of the rows."""
        raw = initialized(SpmvInfo, "spmv_info")
        check(lib.purlin_spmv_properties(self.handle, ctypes.byref(raw)))
        return report(_reports.SpmvInfo, raw)

    def close(self) -> None:
        """Destroys the plan, which no product can use afterwards."""
        self._cached.clear()
        super().close()

    @overload
    def apply(
        self, x: Vectors, y: None = None, *, alpha: complex = 1.0, beta: complex = 0.0, stream: Stream | None = None
    ) -> Vectors: ...

    @overload
    def apply(
        self,
        x: SupportsArray | Sequence[object],
        y: None = None,
        *,
        alpha: complex = 1.0,
        beta: complex = 0.0,
        stream: Stream | None = None,
    ) -> Array: ...

    @overload
    def apply(
        self, x: object, y: Out, *, alpha: complex = 1.0, beta: complex = 0.0, stream: Stream | None = None
    ) -> Out: ...

    def apply(
        self,
        x: object,
        y: Any = None,
        *,
        alpha: complex = 1.0,
        beta: complex = 0.0,
        stream: Stream | None = None,
    ) -> SupportsArray | SupportsCuda | Tensor:
        """y = alpha A x + beta y, A being the operator of the plan, for a vector or the columns of a matrix. Row-major blocks (NumPy's own order) of 2 to 16
        columns are read once for all of them. Without `y` a new array.

        In a context on a GPU x may be an array there (CuPy's, torch's, any with `__dlpack__`) of A's type; y is then one too,
        and complete in the order of `stream`, or of the device's legacy stream."""
        alpha_, beta_ = self._factor("alpha", alpha), self._factor("beta", beta)
        if memory.on_cuda(x):
            there: SupportsCuda = self._apply_there(x, y, alpha_, beta_, stream)
            return there
        dtype = self._dtype
        is_plain = type(x) is np.ndarray and x.dtype == dtype
        given: Any = x if is_plain else memory.converted("x", x, dtype, None)
        if given.ndim == 1:
            given = np.ascontiguousarray(given)
        if given.ndim not in (1, 2):
            raise ValueError(f"x: has {given.ndim} dimensions, expected 1 or 2")
        if y is None:
            if beta_ != 0:
                raise ValueError("beta: needs y")
            if not given.flags.forc:
                given = np.ascontiguousarray(given)
            order: Literal["C", "F"] = "F" if given.ndim == 2 and not given.flags.c_contiguous else "C"
            y = np.empty((self.shape[0], *given.shape[1:]), dtype, order=order)
        elif not isinstance(y, np.ndarray) or y.dtype != dtype:
            raise ValueError(f"y: an array of {dtype} is needed")
        elif y.ndim != given.ndim:
            raise ValueError(f"y: has {y.ndim} dimensions, expected {given.ndim}")
        elif not (_is_plain(y) and y.flags.writeable):
            memory.require_writable("y", y, as_matrix=y.ndim == 2)
        self._run(given.ndim, given, y, alpha_, beta_, stream)
        made: Array = y
        return made

    def _apply_there(self, x: Any, y: Any, alpha: Any, beta: Any, stream: Stream | None) -> Any:
        if x.ndim not in (1, 2):
            raise ValueError(f"x: has {x.ndim} dimensions, expected 1 or 2")
        if y is None:
            if beta != 0:
                raise ValueError("beta: needs y")
            # Row-major, as every library makes them; a block in the other order cannot be multiplied into that.
            y = _empty_beside(x, (self.shape[0], *x.shape[1:]))
        elif not memory.on_cuda(y):
            raise ValueError("y: an array on the device is needed, as x is")
        if stream is None:
            # The default stream of other libraries.
            self._legacy = self._legacy or Stream(self.context, cuda_stream=memory._CUDA_LEGACY_STREAM)
        self._run(x.ndim, x, y, alpha, beta, stream or self._legacy)
        return y

    def _run(self, axes: int, x: Any, y: Any, alpha: Any, beta: Any, stream: Stream | None) -> None:
        if axes == 1 and stream is None and _is_plain(x) and _is_plain(y):
            # Take the pair out of the list, so that another thread makes its own.
            tensors = self._cached.pop() if self._cached else _CachedTensors()
            try:
                status = lib.purlin_spmv_apply(
                    self.handle,
                    None,
                    alpha.ctypes.data,
                    self.matrix.handle,
                    tensors.tensor(0, x, self.context).handle,
                    beta.ctypes.data,
                    tensors.tensor(1, y, self.context).handle,
                )
            finally:
                self._cached.append(tensors)
            self._finish(status)
            return
        made: Any = Tensor.borrow if axes == 1 else self._block
        function = lib.purlin_spmv_apply if axes == 1 else lib.purlin_spmv_apply_block
        on: dict[str, Any] = {"context": self.context, "stream": stream}
        with made(x, **on) as source, made(y, **on) as target:
            status = function(
                self.handle,
                stream.handle if stream else None,
                alpha.ctypes.data,
                self.matrix.handle,
                source.handle,
                beta.ctypes.data,
                target.handle,
            )
            self._finish(status)

    def _finish(self, status: int) -> None:
        self.matrix.raise_caught()
        self.context.finish(status)

    def _factor(self, name: str, value: complex) -> Any:
        """A factor as an array of the plan's type."""
        if type(value) in (int, float):
            if value == 1:
                return self._one
            if value == 0:
                return self._zero
        return element(name, value, self._dtype)

    @overload
    def __matmul__(self, x: Vectors) -> Vectors: ...

    @overload
    def __matmul__(self, x: SupportsArray | Sequence[object]) -> Array: ...

    def __matmul__(self, x: Any) -> Array | SupportsCuda:
        product: Array | SupportsCuda = self.apply(x)
        return product


def _empty_beside(x: Any, shape: tuple[int, ...]) -> Any:
    """An array of the library, type and device that x is of."""
    if hasattr(x, "new_empty"):
        return x.new_empty(shape)
    library = sys.modules.get(type(x).__module__.partition(".")[0])
    if library is None or not hasattr(library, "empty"):
        raise ValueError("y: is needed where x is on a device")
    return library.empty(shape, dtype=x.dtype)
