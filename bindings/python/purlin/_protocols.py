"""Arguments of other libraries by their members, for type hints."""

from __future__ import annotations

from typing import Any, Protocol


class SupportsCuda(Protocol):
    """An array of CuPy, Numba or PyTorch, which may be on a device."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


class SupportsArray(Protocol):
    """An array of NumPy, and what becomes one: tables of pandas, polars and Arrow."""

    def __array__(self) -> Any: ...


class Sparse(Protocol):
    """A sparse matrix of SciPy or CuPy. The results of calls on either are on the host."""

    def tocsr(self) -> Any: ...


class Operator(Protocol):
    """A linear operator of SciPy."""

    def matmat(self, X: Any, /) -> Any: ...

    def rmatmat(self, X: Any, /) -> Any: ...
