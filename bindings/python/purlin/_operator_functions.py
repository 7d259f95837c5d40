"""Functions of the caller's that multiply: a matrix that is known by its products."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _memory as memory
from ._calls import called_back
from ._lifetime import Copies
from ._memory import Array
from ._structs import APPLY

Product = Callable[[Array], npt.ArrayLike]
"""Called with a block of vectors as columns, a copy that it may keep; returns their products, likewise."""

_Block = tuple[int, int, int, int]
# Length, number, address and distance of vectors.


def adjoint_of(operator: Any, name: str) -> Product:
    """The products with the adjoint of a linear operator of SciPy. `name` is the argument in messages."""

    def adjoint(x: Array) -> Any:
        try:
            return operator.rmatmat(x)
        except (NotImplementedError, TypeError) as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
            is_missing = isinstance(error, NotImplementedError) or str(error) == "'NoneType' object is not callable"
            # SciPy's own error where it has no function to call; those of functions of the caller end in other modules.
            if is_missing and module.startswith("scipy."):
                found = "is a linear operator without rmatvec and rmatmat"
                raise TypeError(f"{name}: {found}, this call needs one of them for the adjoint") from None
            raise

    return adjoint


class ProductRelay:
    """A matrix's products behind the C callback. Their exceptions are kept until the call is over."""

    def __init__(self, apply: Callable[..., Any], adjoint: Callable[..., Any], shape: tuple[int, int], dtype: np.dtype[Any]):
        self._functions = (apply, adjoint)
        self._shape = shape
        self._dtype = dtype
        self._caught: BaseException | None = None
        self.pointer = APPLY(called_back(self._call))

    def _call(
        self, adjoint: int, count: int, x: int, ldx: int, y: int, ldy: int, stream: int, _user: int | None
    ) -> int:
        try:
            rows, cols = self._shape[::-1] if adjoint else self._shape
            self._multiply(1 if adjoint else 0, (cols, count, x, ldx), (rows, count, y, ldy), stream)
            return 0
        except BaseException as error:
            self._caught = error
            return 1

    def _multiply(self, which: int, x: _Block, y: _Block, stream: int) -> None:
        """The product by the function at `which`: 0 for A, 1 for its adjoint."""
        raise NotImplementedError

    def raise_caught(self) -> None:
        """Raises the exception of a product in the last run, once."""
        caught, self._caught = self._caught, None
        if caught is not None:
            raise caught


class HostProducts(ProductRelay):
    """Products of vectors in host memory. `names` are those of the functions in errors."""

    names = ("product", "adjoint")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._copies = (Copies(), Copies())

    def _vectors(self, of: _Block) -> Array:
        length, count, address, ld = of
        size = self._dtype.itemsize
        raw = (ctypes.c_char * ((ld * (count - 1) + length) * size)).from_address(address)
        return np.ndarray((length, count), self._dtype, memoryview(raw), 0, (size, ld * size))

    def _multiply(self, which: int, x: _Block, y: _Block, stream: int) -> None:
        name, function = self.names[which], self._functions[which]
        given, out = self._vectors(x), self._vectors(y)
        self._copies[which].use(given, lambda copy: memory.fill_block(name, out, function(copy)))
        if not np.isfinite(out).all() and np.isfinite(given).all():
            row, col = np.argwhere(~np.isfinite(out))[0]
            # Products of both functions may overflow where those of each alone do not.
            size = float(np.abs(given).max(initial=0.0))
            problem = f"returned {out[row, col]} in row {row} of vector {col} (from 0), given numbers of up to {size:.1e}"
            raise ValueError(f"{name}: {problem}")


class DeviceVectors:
    """Vectors on a device, (n, count), column by column: CuPy, Numba and PyTorch take them in place by
    `__cuda_array_interface__`, which is refused when the product has returned: the memory is the library's, so a function
    that keeps vectors copies them. The first argument of a product is not to be written to, though it is not marked as read-only:
    PyTorch refuses arrays that are."""

    def __init__(self, of: _Block, dtype: np.dtype[Any], stream: int) -> None:
        length, count, address, ld = of
        size = dtype.itemsize
        self.shape = (length, count)
        self.dtype = dtype
        self._interface: dict[str, Any] | None = {
            "version": 3,
            "typestr": dtype.str,
            "shape": self.shape,
            "strides": (size, ld * size),
            "data": (address, False),
            # 0 is not allowed there: the legacy stream's other name.
            "stream": stream or 1,
        }

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._interface is None:
            raise ValueError("vectors: are of a product that has returned, copy them there to keep them")
        return self._interface

    def expire(self) -> None:
        """Ends the use of the memory: the product has returned."""
        self._interface = None


DeviceProduct = Callable[[DeviceVectors, DeviceVectors, int], object]
"""Called with vectors on the device, memory for their products, and the CUDA stream to enqueue on."""


class DeviceProducts(ProductRelay):
    """Products of vectors in device memory."""

    def _multiply(self, which: int, x: _Block, y: _Block, stream: int) -> None:
        vectors = [DeviceVectors(of, self._dtype, stream) for of in (x, y)]
        try:
            self._functions[which](*vectors, stream)
        finally:
            for one in vectors:
                one.expire()
