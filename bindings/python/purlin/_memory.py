"""Where an array's elements are: NumPy arrays and DLPack objects, taken in place wherever the library can."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _numbers as numbers
from ._frames import numbers_of, refuse_missing
from ._numbers import shown as shown

Array = npt.NDArray[Any]


class SupportsDLPack(Protocol):
    """An array of another library, on the host or on a CUDA device: torch, CuPy, JAX."""

    def __dlpack__(self, *, stream: int | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, int]: ...


_DTYPES: dict[str, int] = {
    "float32": c.F32,
    "float64": c.F64,
    "complex64": c.CF32,
    "complex128": c.CF64,
    "int32": c.I32,
    "int64": c.I64,
    "uint8": c.U8,
    "uint16": c.U16,
    "float16": c.F16,
    "int8": c.I8,
    "int16": c.I16,
    "uint32": c.U32,
}
_NAMES = {number: name for name, number in _DTYPES.items()}

# DLPack's type codes and widths (dlpack.h): 0 signed, 1 unsigned, 2 float, 5 complex.
_DLPACK_DTYPES = {
    (2, 32): c.F32,
    (2, 64): c.F64,
    (5, 64): c.CF32,
    (5, 128): c.CF64,
    (0, 32): c.I32,
    (0, 64): c.I64,
    (1, 8): c.U8,
    (1, 16): c.U16,
    (2, 16): c.F16,
    (0, 8): c.I8,
    (0, 16): c.I16,
    (1, 32): c.U32,
}
_DLPACK_CUDA = (2, 13)  # device memory, managed memory
_CUDA_LEGACY_STREAM = 1


_COMPUTING = ("float32", "float64", "complex64", "complex128")


def dtype_number(dtype: npt.DTypeLike, names: Sequence[str] = tuple(_DTYPES), argument: str = "dtype") -> int:
    """The library's constant for a NumPy type that a caller gave as `argument`, one of `names`."""
    try:
        name = np.dtype(dtype).name
    except (TypeError, ValueError):
        name = repr(dtype)
    if name not in names:
        raise TypeError(f"{argument}: is {name}, expected one of {', '.join(names)}")
    return _DTYPES[name]


def computing_number(dtype: npt.DTypeLike, argument: str = "dtype") -> int:
    """The library's constant for a NumPy type that a caller wants a call to compute in, or that elements are computed in."""
    return dtype_number(dtype, _COMPUTING, argument)


def _element_number(argument: str, dtype: np.dtype[Any]) -> int:
    """The library's constant for the type of an argument's elements."""
    if dtype.name not in _DTYPES:
        raise TypeError(f"{argument}: is {dtype}, expected one of {', '.join(_DTYPES)}")
    return _DTYPES[dtype.name]


def dtype_of(number: int) -> np.dtype[Any]:
    """The NumPy type for a constant of the library."""
    return np.dtype(_NAMES[number])


@dataclass(frozen=True)
class Memory:
    """Elements of a strided array; `base` keeps them alive. Strides are in elements."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: int
    on_device: bool
    read_only: bool
    base: object

    def reversed(self) -> Memory:
        """The same elements with the axes the other way round: C habit to column-major and back."""
        return replace(self, shape=self.shape[::-1], strides=self.strides[::-1])

    @property
    def flags(self) -> int:
        return c.READ_ONLY if self.read_only else 0


def _in_place(array: Array) -> bool:
    """Whether the library can walk the array: native, aligned, strides of whole elements and none backwards."""
    size = array.itemsize
    return (
        array.dtype.isnative
        and array.flags.aligned
        and all(n <= 1 or (step > 0 and step % size == 0) for n, step in zip(array.shape, array.strides))
    )


def expect_elements(name: str, dtype: np.dtype[Any]) -> None:
    """Refuses types that no array for the library has: truth values and integers of 64 bits are converted."""
    if dtype.kind != "b" and not (dtype.kind in "iu" and dtype.itemsize == 8):
        _element_number(name, dtype)


def host_memory(array: Array, given: object = None, name: str = "array") -> Memory:
    """A NumPy array in place, or where the library could not walk it a copy, which is read-only: results would be lost.
    So is an array that was made of `given` and has not its elements. `name` is the argument in messages."""
    dtype = _element_number(name, array.dtype)
    is_own, is_writable = _in_place(array), array.flags.writeable
    if not is_own:
        array = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    strides = tuple(step // array.itemsize if n > 1 else 1 for n, step in zip(array.shape, array.strides))
    if given is not None:
        is_own = is_own and _shares(given) and np.may_share_memory(array, to_numpy(given))
    is_read_only = not (is_writable and (is_own or array.size == 0))
    return Memory(array.ctypes.data, array.shape, strides, dtype, False, is_read_only, array)


def leading(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[bool, int] | None:
    """Whether a matrix is row-major, and its leading dimension, from strides in elements; None if neither stride is 1 or
    rows or columns overlap. A single row or column has any stride, hence either order."""
    (rows, cols), (row_step, col_step) = shape, strides
    if row_step == 1 and (cols == 1 or col_step >= rows):
        return False, max(col_step if cols > 1 else rows, 1)
    if col_step == 1 and (rows == 1 or row_step >= cols):
        return True, max(row_step if rows > 1 else cols, 1)
    return None


def _overlaps(array: Array) -> bool:
    """Whether elements of an array with positive strides may lie on each other."""
    reach = array.itemsize
    for step, n in sorted((step, n) for step, n in zip(array.strides, array.shape) if n > 1):
        if step < reach:
            return True
        reach += (n - 1) * step
    return False


def _shares(value: object) -> bool:
    """Whether an array made of a value is sure to have the value's own elements."""
    if isinstance(value, np.generic):
        return False
    if isinstance(value, np.ndarray) or hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def require_writable(name: str, value: object, *, as_matrix: bool = False) -> None:
    """Refuses a value to which results cannot be written in place, and says why: every array that a caller gives for
    results comes through here. `as_matrix`: the library takes it with one leading dimension."""
    if on_cuda(value):
        return
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name}: is a masked array, whose mask would not be written; give its data")
    if not _shares(value):
        raise TypeError(f"{name}: is a {type(value).__name__}, expected an array to write to")
    array = to_numpy(value)
    if not array.flags.writeable:
        raise ValueError(f"{name}: is read-only")
    _element_number(name, array.dtype)
    if as_matrix and array.ndim != 2:
        raise ValueError(f"{name}: has {array.ndim} dimensions, expected 2")
    if not array.size:
        return
    if not _in_place(array):
        wrong = "bytes in the other order" if not array.dtype.isnative else "strides that are negative, 0 or no whole elements"
        raise ValueError(f"{name}: has {wrong}, and results cannot be written in place; give an array of numpy.empty")
    if _overlaps(array):
        raise ValueError(f"{name}: has elements that overlap (strides {array.strides}), and results cannot be written in place")
    if as_matrix:
        where = host_memory(array)
        if leading(where.shape, where.strides) is None:
            raise ValueError(
                f"{name}: has strides of {array.strides} bytes, of which one must be {array.itemsize} (an element), and "
                "results cannot be written in place; give an array of numpy.empty"
            )


def on_cuda(value: object) -> bool:
    """Whether an array says that it is on a CUDA device."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return False
    return int(value.__dlpack_device__()[0]) in _DLPACK_CUDA


def without_mask(name: str, value: object) -> Any:
    """A masked array that masks nothing as its data; one that masks entries is refused, as the mask would be lost."""
    if not isinstance(value, np.ma.MaskedArray):
        return value
    masked = int(np.count_nonzero(np.ma.getmaskarray(value)))
    if masked:
        raise ValueError(f"{name}: masks {masked} entries, whose mask would be lost; fill them, as by its filled(value)")
    return value.data


def _first_lost(array: Array, kind: npt.DTypeLike) -> tuple[int, ...] | None:
    """The index of the first integer that a type of floating point does not hold."""
    if array.dtype.kind not in "iu" or not array.size:
        return None
    digits = numbers.digits(kind)
    if 8 * array.dtype.itemsize <= digits or (-(2**digits) <= int(array.min()) and int(array.max()) <= 2**digits):
        return None
    # Magnitudes without the zeros at their ends; that of the least integer is more than the largest.
    values = array.reshape(-1)
    size = values.astype(np.uint64)
    size = np.where(values < 0, ~size + np.uint64(1), size)
    lost = size // np.maximum(size & (~size + np.uint64(1)), np.uint64(1)) >= np.uint64(2**digits)
    return tuple(int(i) for i in np.unravel_index(np.flatnonzero(lost)[0], array.shape)) if lost.any() else None


def expect_held(name: str, array: Array, kind: npt.DTypeLike) -> None:
    """Refuses integers that a type of floating point does not hold: they would be rounded."""
    at = _first_lost(array, kind)
    if at is not None:
        place = f" at index {at[0] if len(at) == 1 else at} (from 0)" if at else ""
        raise ValueError(f"{name}: has {array[at]}{place}, which {np.dtype(kind)} does not hold")


def _lost_in_list(value: object, kind: npt.DTypeLike) -> tuple[tuple[int, ...], object] | None:
    """The index and the value of the first integer among nested lists that a type of floating point does not hold."""
    if isinstance(value, (list, tuple)):
        for k, part in enumerate(value):
            found = _lost_in_list(part, kind)
            if found is not None:
                return (k, *found[0]), found[1]
    elif isinstance(value, (int, np.integer)):
        return None if numbers.holds(int(value), kind) else ((), value)
    elif isinstance(value, np.ndarray):
        at = _first_lost(value, kind)
        return None if at is None else (at, value[at])
    return None


def expect_list_held(name: str, value: object, array: Array, kind: npt.DTypeLike) -> None:
    """As `expect_held`, for lists that NumPy converted to floating point: it rounds integers beside fractions."""
    if not isinstance(value, (list, tuple)) or array.dtype.kind not in "fc":
        return
    # Rounding keeps the magnitude of such an integer.
    if not array.size or not (np.abs(array) >= 2.0 ** numbers.digits(kind)).any():
        return
    found = _lost_in_list(value, kind)
    if found is not None:
        at, lost = found
        place = f" at index {at[0] if len(at) == 1 else at} (from 0)" if at else ""
        raise ValueError(f"{name}: has {lost}{place}, which {np.dtype(kind)} does not hold")


def floating_sparse(name: str, matrix: Any, dtype: npt.DTypeLike = np.float64) -> Any:
    """A sparse matrix of SciPy or CuPy with entries of floating point; others become `dtype`."""
    if matrix.dtype.kind in "fc":
        return matrix
    stored = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    at = _first_lost(stored.data, dtype) if isinstance(stored.data, np.ndarray) else None
    if at is not None:
        line, other = int(np.searchsorted(stored.indptr, at[0], side="right")) - 1, int(stored.indices[at[0]])
        row, col = (line, other) if stored.format == "csr" else (other, line)
        raise ValueError(f"{name}: has {stored.data[at]} at index {(row, col)} (from 0), which {np.dtype(dtype)} does not hold")
    return stored.astype(dtype)


def fill_block(name: str, block: Array, values: object) -> None:
    """Writes the values that a caller's function returned to `block`, if their shape and type fit without loss:
    integers that the type holds, and floating point of another precision, which is rounded."""
    values = without_mask(name, values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name}: returned no array: {error}") from None
    if array.dtype.kind not in "biufc":
        found = array.dtype if hasattr(values, "dtype") or array.dtype != object else type(values).__name__
        raise TypeError(f"{name}: returned {found}, expected {block.dtype}")
    if array.shape != block.shape:
        raise ValueError(f"{name}: returned shape {array.shape}, expected {block.shape}")
    if array.dtype.kind in "iu" and block.dtype.kind in "iu":
        limits = np.iinfo(block.dtype)
        if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
            found = f"{array.min()} to {array.max()}"
            raise ValueError(f"{name}: returned {array.dtype} of {found}, expected {block.dtype}")
    elif not np.can_cast(array.dtype, block.dtype, "same_kind"):
        raise TypeError(f"{name}: returned {array.dtype}, expected {block.dtype}: the values would be truncated")
    try:
        with np.errstate(over="raise"):
            block[...] = array
    except FloatingPointError:
        most = np.finfo(block.dtype).max
        beyond = [part[np.isfinite(part) & (np.abs(part) > most)] for part in (array.real, array.imag)]
        text = f"{name}: returned {np.concatenate(beyond)[0]}, more than {most}, the largest number of {block.dtype}"
        raise FloatingPointError(text) from None
    if block.dtype.kind in "fc":
        expect_list_held(name, values, array, block.dtype)
    at = _first_lost(array, block.dtype) if block.dtype.kind in "fc" else None
    if at is not None:
        raise ValueError(f"{name}: returned {array[at]}, which {block.dtype} does not hold")


def to_numpy(value: object, name: str = "array", kind: npt.DTypeLike = np.float64) -> Array:
    """A host array as NumPy's, without a copy if it is one already or speaks DLPack. `kind` is the type that integers beside
    fractions in a list become."""
    value = without_mask(name, value)
    if not isinstance(value, (np.ndarray, list, tuple)):
        refuse_missing(name, value)
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return np.from_dlpack(value)
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name}: {error}") from None
    if array.dtype.kind not in "biufc":
        if array.dtype == object and array.ndim == 0 and array is not value:
            raise TypeError(f"{name}: is {numbers.shown(value)}, expected an array of numbers")
        array = numbers_of(name, value, array)
    expect_list_held(name, value, array, kind)
    return array


def real_array(value: object, dtype: np.dtype[Any] | None = None, name: str = "array") -> Array:
    """A host array of float32 or float64, the given one or the array's own; other types become float64. Integers that it does not
    hold are refused."""
    array = to_numpy(value, name, np.float64 if dtype is None else dtype)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: is {array.dtype}, expected real numbers")
    expect_elements(name, array.dtype)
    if dtype is None:
        dtype = array.dtype if array.dtype.name in ("float32", "float64") else np.dtype(np.float64)
    expect_held(name, array, dtype)
    return array.astype(dtype.newbyteorder("="), copy=False)


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", DLDevice),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", DELETER)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager_ctx", c_void_p),
        ("deleter", DELETER),
        ("flags", c_uint64),
        ("dl_tensor", DLTensor),
    ]


VERSIONED = b"dltensor_versioned"
UNVERSIONED = b"dltensor"
_READ_ONLY_BIT = 1

api = ctypes.pythonapi
api.PyCapsule_New.argtypes = [c_void_p, ctypes.c_char_p, c_void_p]
api.PyCapsule_New.restype = ctypes.py_object
# By address, not as objects: a capsule's destructor sees it when nobody holds it any more.
api.PyCapsule_IsValid.argtypes = [c_void_p, ctypes.c_char_p]
api.PyCapsule_IsValid.restype = ctypes.c_int
api.PyCapsule_GetPointer.argtypes = [c_void_p, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = c_void_p
api.PyCapsule_SetName.argtypes = [c_void_p, ctypes.c_char_p]
api.PyCapsule_SetName.restype = ctypes.c_int


def capsule_of(value: Any, stream: int | None) -> Any:
    """The DLPack capsule of an object, of version 1 where it offers that."""
    arguments: dict[str, Any] = {} if stream is None else {"stream": stream}
    try:
        return value.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:
        return value.__dlpack__(**arguments)


def device_memory(value: Any, stream: int | None = None, name: str = "array") -> Memory:
    """A CUDA array in place. `stream` is the one that the elements are used on, by default CUDA's legacy stream."""
    capsule = capsule_of(value, _CUDA_LEGACY_STREAM if stream is None else stream)
    version = next((n for n in (VERSIONED, UNVERSIONED) if api.PyCapsule_IsValid(id(capsule), n)), None)
    if version is None:
        raise BufferError("__dlpack__: gave no DLPack capsule")
    address = api.PyCapsule_GetPointer(id(capsule), version)
    read_only = False
    if version == VERSIONED:
        versioned = DLManagedTensorVersioned.from_address(address)
        read_only = bool(versioned.flags & _READ_ONLY_BIT)
        tensor = versioned.dl_tensor
    else:
        tensor = DLManagedTensor.from_address(address).dl_tensor
    dtype = _DLPACK_DTYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise TypeError(f"{name}: has DLPack code {tensor.code} with {tensor.bits} bits, which is not supported")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        strides = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(tensor.ndim))
    strides = tuple(step if n > 1 else 1 for n, step in zip(shape, strides))
    # The capsule is not consumed: when it goes, with `base`, its own destructor releases the elements.
    return Memory((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, True, read_only, (capsule, value))


def memory_of(value: object, stream: int | None = None, name: str = "array") -> Memory:
    """Any array in place: NumPy, DLPack on the host or on a CUDA device. A copy of anything else is read-only."""
    if on_cuda(value):
        return device_memory(value, stream, name)
    where = host_memory(to_numpy(value, name), name=name)
    return where if _shares(value) else replace(where, read_only=True)


def converted(name: str, value: object, dtype: npt.DTypeLike, order: Literal["C"] | None = "C") -> Array:
    """An array of a type, in row-major order, or without `order` in its own. Conversions that lose a part of each number
    are refused: complex numbers to real ones, fractions to integers, integers that do not fit or that floating point
    would round. So is a value that is no array of numbers."""
    kind = np.dtype(dtype)
    value = without_mask(name, value)
    try:
        array = np.asarray(value) if isinstance(value, (list, tuple)) else to_numpy(value, name)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name}: is {array.dtype}, expected {kind}")
    if array.dtype.kind in "fc" and kind.kind in "fc":
        # Those of more than double precision would be rounded.
        expect_elements(name, array.dtype)
        expect_list_held(name, value, array, kind)
    if kind.kind in "iu":
        if array.dtype.kind not in "biu" and array.size:
            raise TypeError(f"{name}: is {array.dtype}, expected integers")
        limits = np.iinfo(kind)
        if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
            raise ValueError(f"{name}: has integers from {array.min()} to {array.max()}, expected {kind}")
    elif not np.can_cast(array.dtype, kind, "same_kind"):
        raise TypeError(f"{name}: is {array.dtype}, expected {kind}")
    elif array.dtype.kind in "iu":
        expect_held(name, array, kind)
    elif array.dtype.itemsize > kind.itemsize and array.dtype.kind in "fc":
        with np.errstate(over="ignore"):
            short = array.astype(kind)
        if np.isfinite(array).all() and not np.isfinite(short).all():
            raise ValueError(f"{name}: has numbers that {kind} does not hold")
        array = short
    return np.ascontiguousarray(array, kind) if order else np.asarray(array, kind)


def path_bytes(path: Any, argument: str = "path") -> bytes:
    """The path for the C interface, whose strings end at the first NUL."""
    try:
        name: bytes = os.fsencode(path)
    except TypeError:
        raise TypeError(f"{argument}: is {shown(path)}, expected a path") from None
    if b"\0" in name:
        raise ValueError(f"{argument}: {path!r} has an embedded null byte")
    return name
