"""Sources and sinks: where a computation on data larger than memory reads from and writes to.

Shapes are in NumPy's habit, the last axis fastest: projections (views, rows, columns), volumes (z, y, x). The library
and the files see the same elements with the axes the other way round, so that nothing is rearranged.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Sequence
from ctypes import c_char_p, c_void_p
from dataclasses import dataclass
from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._calls import called_back
from ._checked import how_many
from ._context import Context, Handle, Stream, default_context, initialized
from ._error import InvalidArgument, check, in_numpy_order
from ._lib import lib
from ._lifetime import Copies
from ._memory import Array
from ._numbers import real
from ._structs import BLOCK, ArrayInfo
from ._tensor import Tensor, integers

Path = Union[str, "os.PathLike[str]"]

ReadFunction = Callable[[tuple[slice, ...]], npt.ArrayLike]
"""Called with one slice an axis; returns those elements, of the declared type or one that loses nothing in it, in any byte
order. From a thread of the library, one call at a time."""

WriteFunction = Callable[[tuple[slice, ...], Array], object]
"""Called with one slice an axis and a read-only copy of the elements, which it may keep, in the machine's byte order."""


def borrowed(array: object, context: Context, stream: Stream | None = None, name: str = "array") -> Tensor:
    """An array in place with its axes the other way round; a `Tensor` as it is. `name` is the argument in messages."""
    if isinstance(array, Tensor):
        return array
    where = memory.memory_of(array, stream.cuda_stream if stream else None, name)
    return Tensor.from_memory(where.reversed(), context)


def _wording(text: str) -> str:
    """A message about the shape of a source or a sink, which the library knows as `ndim` and `dims`."""
    text = re.sub(r"^ndim: is (\d+)", r"shape: has \1 axes", text)
    argument, colon, rest = text.rpartition(": ")
    return ("shape" if argument == "dims" else argument) + colon + in_numpy_order(rest)


def _axes(shape: object) -> int:
    """The number of axes of a shape. A path in its place is refused by the name of the argument."""
    is_list = isinstance(shape, Sequence) and not isinstance(shape, (str, bytes))
    if not is_list and not (isinstance(shape, np.ndarray) and shape.ndim == 1):
        raise TypeError(f"shape: is {memory.shown(shape)}, expected a sequence of integers")
    return len(shape)  # type: ignore[arg-type]


def _extents(shape: Sequence[int]) -> Any:
    """The sizes of a shape for the library, whose first axis is the fastest."""
    _axes(shape)
    for size in shape:
        if isinstance(size, (int, np.integer)) and size < 0:
            problem = f"shape: is {tuple(shape)}, expected sizes of at least 0"
            raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, problem)
    return integers(tuple(shape)[::-1])


def _type_and_order(dtype: npt.DTypeLike) -> tuple[int, int]:
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"dtype: is {memory.shown(dtype)}, expected a type of NumPy") from None
    big = kind.byteorder == ">" or (kind.byteorder == "=" and np.dtype("=u2") == np.dtype(">u2"))
    return memory.dtype_number(kind.newbyteorder("=")), c.BIG_ENDIAN if big else c.LITTLE_ENDIAN


class BlockRelay:
    """A Python function behind the C callback of a source or a sink. Its exception is kept until the call is over.

    Blocks are in the byte order of the machine, whatever that of `dtype` is.
    """

    def __init__(self, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        self._ndim = _axes(shape)
        self._dtype = np.dtype(dtype).newbyteorder("=")
        self._caught: BaseException | None = None
        self.pointer = BLOCK(called_back(self._call))

    def _block(self, first: Any, count: Any, address: int) -> tuple[tuple[slice, ...], Array]:
        axes = range(self._ndim - 1, -1, -1)
        where = tuple(slice(first[k], first[k] + count[k]) for k in axes)
        shape = tuple(count[k] for k in axes)
        elements = int(np.prod(shape, dtype=np.int64))
        raw = (ctypes.c_char * (elements * self._dtype.itemsize)).from_address(address)
        return where, np.frombuffer(memoryview(raw), self._dtype).reshape(shape)

    def _call(self, first: Any, count: Any, address: int, _user: int | None) -> int:
        try:
            self._move(*self._block(first, count, address))
            return 0
        except BaseException as error:
            self._caught = error
            return 1

    def _move(self, where: tuple[slice, ...], block: Array) -> None:
        raise NotImplementedError

    def raise_caught(self) -> None:
        """Raises the function's exception of the last run, once."""
        caught, self._caught = self._caught, None
        if caught is not None:
            raise caught


class _Reader(BlockRelay):
    def __init__(self, function: ReadFunction, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        super().__init__(shape, dtype)
        self._function = function

    def _move(self, where: tuple[slice, ...], block: Array) -> None:
        memory.fill_block("read function", block, self._function(where))


class _Writer(BlockRelay):
    def __init__(self, function: WriteFunction, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        super().__init__(shape, dtype)
        self._function = function
        self._copies = Copies()

    def _move(self, where: tuple[slice, ...], block: Array) -> None:
        self._copies.use(block, lambda copy: self._function(where, copy))


@dataclass(frozen=True)
class SourceInfo:
    """Type and sizes of a source; `spacing` and `origin`, mm, are in the order of the shape and None where nothing says."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    spacing: tuple[float, ...] | None
    origin: tuple[float, ...] | None


End = TypeVar("End", bound="_End")


class _End(Handle):
    """The common part of sources and sinks: a handle and, for functions, the relay."""

    def __init__(self, destroy: Any, context: Context, relay: BlockRelay | None, keep: object) -> None:
        """The owner of a handle that a call of the library writes to `_handle_place`."""
        super().__init__(c_void_p(), destroy, context._sinks, relay, keep)
        self.context = context
        self._relay = relay

    def _target(self) -> Any:
        return ctypes.byref(self._handle_place)

    def _made(self: End, status: int, shown: Callable[[], str]) -> End:
        """The object, once the call has made it; `shown` says in its `repr` where the elements are. It is called there alone:
        an interrupt here could hold the object in its frames."""
        self.context.finish(status, wording=_wording)
        self._shown = shown
        return self

    def raise_caught(self) -> None:
        """Raises a function's exception of the last run."""
        if self._relay is not None:
            self._relay.raise_caught()


class Source(_End):
    """An array that is read in blocks. A source may be used again."""

    fortran_order = False
    """Whether `info.shape` has the axes of the stored array the other way round."""

    def __init__(self, context: Context, relay: BlockRelay | None = None, keep: object = None) -> None:
        super().__init__(lib.purlin_source_destroy, context, relay, keep)

    @classmethod
    def from_array(cls, array: object, *, context: Context | None = None) -> Source:
        """An array in place: NumPy, DLPack on the host or a device, or a `Tensor`."""
        context = context or default_context()
        tensor = borrowed(array, context)
        owner = cls(context, keep=tensor)
        status = lib.purlin_source_from_tensor(context.handle, tensor.handle, owner._target())
        return owner._made(status, lambda: "an array")

    @classmethod
    def _from_raw(
        cls,
        create: Callable[..., int],
        path: Path,
        shape: Sequence[int],
        dtype: npt.DTypeLike,
        offset: int,
        context: Context | None,
    ) -> Source:
        context = context or default_context()
        number, order = _type_and_order(dtype)
        owner = cls(context)
        status = create(
            context.handle,
            memory.path_bytes(path),
            how_many("offset", offset),
            number,
            order,
            _axes(shape),
            _extents(shape),
            owner._target(),
        )
        return owner._made(status, lambda: f"the file {path}")

    @classmethod
    def from_file(
        cls, path: Path, shape: Sequence[int], dtype: npt.DTypeLike, offset: int = 0, *, context: Context | None = None
    ) -> Source:
        """A raw file whose elements begin at byte `offset`; `dtype` has the byte order, as in `">u2"`."""
        return cls._from_raw(lib.purlin_source_from_file, path, shape, dtype, offset, context)

    @classmethod
    def from_mapped_file(
        cls, path: Path, shape: Sequence[int], dtype: npt.DTypeLike, offset: int = 0, *, context: Context | None = None
    ) -> Source:
        """The same as `from_file`, which does not map the file either: one that becomes shorter is an error."""
        return cls._from_raw(lib.purlin_source_from_mapped_file, path, shape, dtype, offset, context)

    @classmethod
    def from_npy(cls, path: Path, *, context: Context | None = None) -> Source:
        """A `.npy` file. 64-bit integers are read as float64, and refused beyond 2^53. One in Fortran order has its axes the other way round, and `fortran_order` says so; a matrix made
        of the source has them right again."""
        context = context or default_context()
        owner = cls(context)
        status = lib.purlin_source_from_npy(context.handle, memory.path_bytes(path), owner._target())
        source = owner._made(status, lambda: f"the file {path}")
        source.fortran_order = not source._raw_info().flags & c.ROW_MAJOR
        return source

    @classmethod
    def from_metaimage(cls, path: Path, *, context: Context | None = None) -> Source:
        """A MetaImage, `.mha` or `.mhd`."""
        context = context or default_context()
        owner = cls(context)
        status = lib.purlin_source_from_metaimage(context.handle, memory.path_bytes(path), owner._target())
        return owner._made(status, lambda: f"the file {path}")

    @classmethod
    def from_tiff(cls, paths: Path | Sequence[Path], *, context: Context | None = None) -> Source:
        """TIFF files of one or more pages each; the pages, in order, are the first axis."""
        context = context or default_context()
        names = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        encoded = (c_char_p * max(len(names), 1))(*(memory.path_bytes(name) for name in names))
        owner = cls(context)
        status = lib.purlin_source_from_tiff(
            context.handle, len(names), ctypes.cast(encoded, c_void_p), owner._target()
        )
        return owner._made(status, lambda: f"{len(names)} TIFF files")

    @classmethod
    def from_function(
        cls, function: ReadFunction, shape: Sequence[int], dtype: npt.DTypeLike, *, context: Context | None = None
    ) -> Source:
        """An array that a function delivers, such as `lambda where: zarr_array[where]`. Its exception ends the run
        and is raised by the call."""
        context = context or default_context()
        relay = _Reader(function, shape, dtype)
        owner = cls(context, relay)
        status = lib.purlin_source_from_callback(
            context.handle,
            memory.dtype_number(dtype),
            _axes(shape),
            _extents(shape),
            relay.pointer,
            None,
            owner._target(),
        )
        return owner._made(status, lambda: "a function")

    def _about(self) -> str:
        info = self.info
        return f"{info.shape} {info.dtype}, {super()._about()}"

    def _raw_info(self) -> Any:
        raw = initialized(ArrayInfo, "array_info")
        check(lib.purlin_source_info(self.handle, ctypes.byref(raw)))
        return raw

    @property
    def info(self) -> SourceInfo:
        """Element type, shape, spacing and origin of the array, slowest axis first."""
        raw = self._raw_info()

        def known(values: Any) -> tuple[float, ...] | None:
            numbers = tuple(float(values[k]) for k in range(raw.ndim - 1, -1, -1))
            return None if any(np.isnan(numbers)) else numbers

        shape = tuple(int(raw.dims[k]) for k in range(raw.ndim - 1, -1, -1))
        return SourceInfo(memory.dtype_of(raw.dtype), shape, known(raw.spacing), known(raw.origin))


class Sink(_End):
    """An array that is written in blocks, by one run. A file gets its name when the run has succeeded."""

    def __init__(self, context: Context, relay: BlockRelay | None = None, keep: object = None) -> None:
        super().__init__(lib.purlin_sink_destroy, context, relay, keep)

    @classmethod
    def to_array(cls, array: object, *, context: Context | None = None) -> Sink:
        """A sink that writes into the memory of `array`."""
        context = context or default_context()
        if not isinstance(array, Tensor):
            memory.require_writable("array", array)
        tensor = borrowed(array, context)
        owner = cls(context, keep=tensor)
        status = lib.purlin_sink_to_tensor(context.handle, tensor.handle, owner._target())
        return owner._made(status, lambda: f"{tuple(tensor.shape[::-1])} {tensor.dtype}, an array")

    @classmethod
    def to_file(
        cls, path: Path, shape: Sequence[int], dtype: npt.DTypeLike, offset: int = 0, *, context: Context | None = None
    ) -> Sink:
        """A raw file with `offset` zero bytes before the elements."""
        context = context or default_context()
        number, order = _type_and_order(dtype)
        owner = cls(context)
        status = lib.purlin_sink_to_file(
            context.handle,
            memory.path_bytes(path),
            how_many("offset", offset),
            number,
            order,
            _axes(shape),
            _extents(shape),
            owner._target(),
        )
        return owner._made(status, lambda: f"{tuple(shape)} {np.dtype(dtype)}, the file {path}")

    @classmethod
    def to_metaimage(
        cls,
        path: Path,
        shape: Sequence[int],
        dtype: npt.DTypeLike = np.float32,
        *,
        spacing: Sequence[float] | None = None,
        origin: Sequence[float] | None = None,
        context: Context | None = None,
    ) -> Sink:
        """A MetaImage, `.mha` or `.mhd`; `spacing` and `origin`, mm, in the order of `shape`."""
        context = context or default_context()

        def numbers(name: str, values: Sequence[float] | None) -> Any:
            if values is None:
                return None
            if len(values) != _axes(shape):
                raise ValueError(f"{name}: has {len(values)} elements, expected {len(shape)}")
            given = [real(f"{name}: element {k}", value) for k, value in enumerate(values)]
            for k, value in enumerate(given):
                if not np.isfinite(value) or (name == "spacing" and value <= 0):
                    wanted = "a finite number above 0" if name == "spacing" else "a finite number"
                    problem = f"{name}: element {k} is {values[k]}, expected {wanted}"
                    raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, problem)
            return ctypes.cast((ctypes.c_double * max(len(shape), 1))(*given[::-1]), c_void_p)

        owner = cls(context)
        status = lib.purlin_sink_to_metaimage(
            context.handle,
            memory.path_bytes(path),
            memory.dtype_number(dtype),
            _axes(shape),
            _extents(shape),
            numbers("spacing", spacing),
            numbers("origin", origin),
            owner._target(),
        )
        return owner._made(status, lambda: f"{tuple(shape)} {np.dtype(dtype)}, the file {path}")

    @classmethod
    def to_tiff(
        cls, path: Path, shape: Sequence[int], dtype: npt.DTypeLike = np.float32, *, context: Context | None = None
    ) -> Sink:
        """One TIFF file of `shape[0]` pages."""
        context = context or default_context()
        if _axes(shape) != 3:
            raise ValueError(f"shape: has {len(shape)} axes, expected 3 (pages, height, width)")
        pages, height, width = shape
        owner = cls(context)
        status = lib.purlin_sink_to_tiff(
            context.handle,
            memory.path_bytes(path),
            memory.dtype_number(dtype),
            width,
            height,
            pages,
            owner._target(),
        )
        return owner._made(status, lambda: f"{tuple(shape)} {np.dtype(dtype)}, the file {path}")

    @classmethod
    def to_function(
        cls, function: WriteFunction, shape: Sequence[int], dtype: npt.DTypeLike, *, context: Context | None = None
    ) -> Sink:
        """An array that a function takes, in copies of blocks, which it may keep. Memory limits do not count the copies. Its
        exception ends the run and is raised by the call."""
        context = context or default_context()
        relay = _Writer(function, shape, dtype)
        owner = cls(context, relay)
        status = lib.purlin_sink_to_callback(
            context.handle,
            memory.dtype_number(dtype),
            _axes(shape),
            _extents(shape),
            relay.pointer,
            None,
            owner._target(),
        )
        return owner._made(status, lambda: f"{tuple(shape)} {np.dtype(dtype)}, a function")


__all__ = ["ReadFunction", "Sink", "Source", "SourceInfo", "WriteFunction"]
