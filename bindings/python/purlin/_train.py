"""Tensor trains and TT-matrices: owned by the library, or arrays in place."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Sequence
from ctypes import c_int64, c_uint64, c_void_p
from operator import attrgetter
from typing import Any, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._checked import how_many, sizes
from ._context import Context, Handle, Stream, choice, default_context, initialized
from ._error import InvalidArgument, check
from ._interrupts import Interruption
from ._lib import lib
from ._memory import Array, Memory
from ._structs import TtInfo
from ._tensor import LOCATIONS, Location, Tensor, integers
from ._typing import Self

_SCALARS = (np.float32, np.float64, np.complex64, np.complex128)


def _packed(where: Memory) -> bool:
    """Whether the first index runs fastest, without gaps."""
    step = 1
    for extent, stride in zip(where.shape, where.strides):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True


# Of a core: the copy, and the array that was copied.
Copies = dict[int, tuple[Any, object]]


def _borrowed_cores(
    cores: Sequence[object], axes: int, stream: Stream | None, name: str
) -> tuple[list[Memory], Copies]:
    """The cores in place; one that is not packed with the first index fastest, or not of the common type, is copied once.
    Also the copies. `name` is the argument in messages."""
    if len(cores) == 0:
        raise ValueError(f"{name}: has no cores, at least 1 is needed")
    on_device = [memory.on_cuda(core) for core in cores]
    if any(on_device) != all(on_device):
        raise ValueError(f"{name}: some are on a device and some are not")
    places = []
    copies: Copies = {}
    if all(on_device):
        for k, core in enumerate(cores):
            where = memory.device_memory(core, stream.cuda_stream if stream else None, f"{name}: core {k}")
            if not _packed(where):
                raise ValueError(f"{name}: core {k} is on a device with another order than the first index fastest")
            places.append(where)
    else:
        arrays = [memory.to_numpy(core, f"{name}: core {k}") for k, core in enumerate(cores)]
        dtype = np.result_type(*arrays, np.float32 if all(a.dtype in _SCALARS for a in arrays) else np.float64)
        if dtype not in _SCALARS:
            raise TypeError(f"{name}: are of type {dtype}, expected float32, float64, complex64 or complex128")
        seen: dict[int, Memory] = {}
        packed: dict[int, Any] = {}
        for k, (core, array) in enumerate(zip(cores, arrays)):
            # One array at many places stays one: a uniform train.
            if id(array) not in seen:
                memory.expect_held(f"{name}: core {k}", array, dtype)
                packed[id(array)] = np.require(array, dtype, ["F", "A"])
                seen[id(array)] = memory.host_memory(packed[id(array)], core)
            if packed[id(array)] is not array or array is not core:
                copies[k] = packed[id(array)], core
            places.append(seen[id(array)])
    for k, where in enumerate(places):
        if len(where.shape) != axes:
            raise ValueError(f"{name}: core {k} has {len(where.shape)} axes, expected {axes}")
        if 0 in where.shape:
            raise ValueError(f"{name}: core {k} has shape {where.shape}, expected sizes of at least 1")
        if where.dtype != places[0].dtype:
            raise TypeError(f"{name}: core {k} is of another type than core 0")
        left = places[k - 1].shape[-1] if k else where.shape[0]
        if where.shape[0] != left:
            raise ValueError(f"{name}: core {k} has left rank {where.shape[0]}, the right rank before is {left}")
    first, last = places[0].shape[0], places[-1].shape[-1]
    if first != last:
        problem = f"{name}: the first rank is {first} and the last {last}; they must be equal"
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, problem)
    return places, copies


def _addresses(places: list[Memory]) -> Any:
    kind: Any = c_uint64 if places[0].on_device else c_void_p
    return (kind * len(places))(*[where.address for where in places])


def expect_cores(name: str, given: object) -> tuple[int, ...]:
    """The sizes of cores, of which there is one at least."""
    found = sizes(name, given)
    if not found:
        raise ValueError(f"{name}: is empty, at least 1 is needed")
    return found


T = TypeVar("T", bound="_Cores")


# Elements times rank, of a ring times its cube: a contraction has some 4 operations for each, so it takes milliseconds.
_QUICK = 2**26


class _Cores(Handle):
    """The common part of trains and TT-matrices."""

    _destroy: Any
    _properties: Any
    _set_core: Any
    _get_core: Any

    def __init__(self, handle: int | None, context: Context, *keep: object) -> None:
        super().__init__(handle, self._destroy, context._sinks, *keep)
        self.context = context
        self._dtype: np.dtype[Any] | None = None
        self._complex: bool | None = None
        self._quick: bool | None = None
        self._copies: Copies = {}

    @classmethod
    def _made(
        cls, status: int, made: c_void_p, context: Context, *keep: object, running: Interruption | None = None
    ) -> Self:
        # It owns before the call is ended: the log function may have raised.
        owner = cls.__new__(cls)
        _Cores.__init__(owner, made.value, context, *keep)
        context.finish(status, running)
        return owner

    @property
    def info(self) -> TtInfo:
        """The C struct `purlin_tt_info`, filled at each access."""
        info: TtInfo = initialized(TtInfo, "tt_info")
        check(self._properties(self.handle, ctypes.byref(info)))
        return info

    def __len__(self) -> int:
        return int(self.info.length)

    @property
    def dtype(self) -> np.dtype[Any]:
        # It never changes, and asking takes as long as a small contraction.
        if self._dtype is None:
            self._dtype = memory.dtype_of(self.info.dtype)
        return self._dtype

    @property
    def is_complex(self) -> bool:
        """Whether its elements are complex."""
        if self._complex is None:
            self._complex = self.dtype.kind == "c"
        return self._complex

    @property
    def _is_quick(self) -> bool:
        """Whether a contraction of it ends before anybody could press Ctrl-C."""
        if self._quick is None:
            info = self.info
            self._quick = info.elements * info.max_rank ** (3 if info.cyclic else 1) < _QUICK
        return self._quick

    @property
    def location(self) -> Location:
        return "device" if self.info.location == c.DEVICE else "host"

    @property
    def cyclic(self) -> bool:
        """Whether the trace goes round a ring: the first and the last rank are more than 1."""
        return bool(self.info.cyclic)

    @property
    def max_rank(self) -> int:
        return int(self.info.max_rank)

    def _dims(self, k: int) -> tuple[int, ...]:
        raise NotImplementedError

    def _index(self, k: int) -> int:
        d, k = len(self), how_many("k", k)
        if not -d <= k < d:
            raise IndexError(f"k: is {k}, the train has {d} cores")
        return k % d

    def set_core(self, k: int, core: object, *, stream: Stream | None = None) -> None:
        """Copies an array in any order into core `k`."""
        tensor = Tensor.borrow(core, context=self.context, stream=stream, name="core")
        queue = stream.handle if stream else None
        self.context.finish(self._set_core(self.handle, queue, self._index(k), tensor.handle))

    def _copy_again(self, k: int) -> None:
        """Copies core `k` again if it was copied when the train was made, from an array that has changed since."""
        found = self._copies.get(k)
        if found is None:
            return
        packed, source = found
        array = memory.to_numpy(source, f"k: core {k}")
        if np.shares_memory(packed, array):
            return
        if array.shape != packed.shape:
            raise ValueError(f"k: core {k} was of shape {packed.shape} and is of shape {array.shape} now; use set_trains")
        memory.expect_held(f"k: core {k}", array, packed.dtype)
        np.copyto(packed, array, casting="same_kind")

    def core(self, k: int) -> Array:
        """A copy of core `k`, in Fortran order."""
        k = self._index(k)
        values = np.empty(self._dims(k), self.dtype, order="F")
        tensor = Tensor.borrow(values, context=self.context)
        self.context.finish(self._get_core(self.handle, None, k, tensor.handle))
        return values

    @property
    def cores(self) -> list[Array]:
        """Copies of all cores as arrays, from left to right."""
        return [self.core(k) for k in range(len(self))]


class Train(_Cores):
    """A tensor train (matrix-product state), open or cyclic.

    Core k is an array (r, n, s) of left rank, mode and right rank; the entry at (i, j, ..) is the trace of the product
    of the matrices `core[:, i, :]`.
    """

    _destroy = lib.purlin_tt_destroy
    _properties = lib.purlin_tt_properties
    _set_core = lib.purlin_tt_set_core
    _get_core = lib.purlin_tt_core

    def __init__(
        self,
        cores: Sequence[object],
        *,
        context: Context | None = None,
        stream: Stream | None = None,
        name: str = "cores",
    ) -> None:
        """Over arrays (r, n, s): in place where they are in Fortran order and of one type of four, else copied once.
        The same array at every place makes a uniform train. `name` is the argument in messages."""
        context = context or default_context()
        places, copies = _borrowed_cores(cores, 3, stream, name)
        modes = [where.shape[1] for where in places]
        ranks = [places[0].shape[0], *(where.shape[2] for where in places)]
        flags = c.READ_ONLY if any(where.read_only for where in places) else 0
        borrow = lib.purlin_tt_borrow_device if places[0].on_device else lib.purlin_tt_borrow
        made = c_void_p()
        status = borrow(
            context.handle,
            places[0].dtype,
            flags,
            len(places),
            integers(modes),
            integers(ranks),
            _addresses(places),
            ctypes.byref(made),
        )
        super().__init__(made.value, context, [where.base for where in places])
        context.finish(status)
        self._complex = places[0].dtype in (c.CF32, c.CF64)
        self._copies = copies

    @classmethod
    def create(
        cls,
        modes: Sequence[int],
        ranks: Sequence[int],
        dtype: npt.DTypeLike = np.float64,
        location: Location = "host",
        *,
        context: Context | None = None,
    ) -> Train:
        """A train of given mode sizes (d) and ranks (d + 1) in memory of the library, whose cores have yet to be set."""
        context = context or default_context()
        modes, ranks = expect_cores("modes", modes), sizes("ranks", ranks)
        if len(ranks) != len(modes) + 1:
            raise ValueError(f"ranks: are {len(ranks)}, expected {len(modes) + 1}")
        made = c_void_p()
        status = lib.purlin_tt_create(
            context.handle,
            memory.computing_number(dtype),
            choice("location", location, LOCATIONS),
            0,
            len(modes),
            integers(modes),
            integers(ranks),
            ctypes.byref(made),
        )
        return cls._made(status, made, context)

    @classmethod
    def of(cls, value: object, context: Context, name: str = "train") -> Train:
        """A train as it is, or one over a list of arrays. `name` is the argument in messages."""
        if isinstance(value, Train):
            return value
        if isinstance(value, (list, tuple)):
            return cls(value, context=context, name=name)
        raise TypeError(f"{name}: is a {type(value).__name__}, expected a Train or a list of arrays")

    @property
    def modes(self) -> tuple[int, ...]:
        """Mode sizes n_k, one for each core."""
        d = len(self)
        values = (c_int64 * d)()
        check(lib.purlin_tt_shape(self.handle, d, values, None))
        return tuple(values)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks r_k, one more than cores."""
        d = len(self)
        values = (c_int64 * (d + 1))()
        check(lib.purlin_tt_shape(self.handle, d, None, values))
        return tuple(values)

    def _dims(self, k: int) -> tuple[int, ...]:
        ranks = self.ranks
        return (ranks[k], self.modes[k], ranks[k + 1])

    def copy_to(self, destination: Train, *, stream: Stream | None = None) -> None:
        """Copies the cores to a train of the same shape and type, host or device either way."""
        queue = stream.handle if stream else None
        self.context._run(lib.purlin_tt_copy, self.context.handle, queue, self.handle, destination.handle)

    def __repr__(self) -> str:
        if self.closed:
            return "<purlin.tt.Train closed>"
        kind = "cyclic" if self.cyclic else "open"
        return f"<purlin.tt.Train of {len(self)} cores, {kind}, largest rank {self.max_rank}, {self.dtype}>"


_is_complex = attrgetter("_complex")


class Trains(Sequence[Train]):
    """Trains whose handles are collected once, for batches and Gram matrices that are computed again and again: to go
    through a list of thousands takes as long as to contract them."""

    def __init__(self, trains: Iterable[object], *, context: Context | None = None, name: str = "trains") -> None:
        """`name` is the argument in messages."""
        given = trains if isinstance(trains, list) else list(trains)
        if set(map(type, given)) <= {Train}:
            self._list = cast("list[Train]", given[:])
        else:
            self._list = [
                Train.of(train, context or default_context(), f"{name}[{k}]") for k, train in enumerate(given)
            ]
        known = set(map(_is_complex, self._list))
        self.is_complex: bool = any(train.is_complex for train in self._list) if None in known else True in known
        # The library refuses those that are closed.
        raw = array("Q", [train._handle_place.value or 0 for train in self._list])
        self._handles: Any = (c_void_p * len(raw)).from_buffer(raw) if raw else (c_void_p * 1)()

    def __len__(self) -> int:
        return len(self._list)

    def __repr__(self) -> str:
        return f"<purlin.tt.Trains of {len(self)} trains>"

    @overload
    def __getitem__(self, k: int) -> Train: ...

    @overload
    def __getitem__(self, k: slice) -> list[Train]: ...

    def __getitem__(self, k: int | slice) -> Train | list[Train]:
        return self._list[k]


class TrainMatrix(_Cores):
    """A TT-matrix (matrix-product operator), open or cyclic: core k is an array (w, m, n, v) of left rank, row (bra),
    column (ket) and right rank."""

    _destroy = lib.purlin_tt_matrix_destroy
    _properties = lib.purlin_tt_matrix_properties
    _set_core = lib.purlin_tt_matrix_set_core
    _get_core = lib.purlin_tt_matrix_core

    def __init__(
        self,
        cores: Sequence[object],
        *,
        context: Context | None = None,
        stream: Stream | None = None,
        name: str = "cores",
    ) -> None:
        """Over arrays (w, m, n, v): in place where they are in Fortran order and of one type of four, else copied.
        `name` is the argument in messages."""
        context = context or default_context()
        places, _ = _borrowed_cores(cores, 4, stream, name)
        ranks = [places[0].shape[0], *(where.shape[3] for where in places)]
        flags = c.READ_ONLY if any(where.read_only for where in places) else 0
        borrow = lib.purlin_tt_matrix_borrow_device if places[0].on_device else lib.purlin_tt_matrix_borrow
        made = c_void_p()
        status = borrow(
            context.handle,
            places[0].dtype,
            flags,
            len(places),
            integers([where.shape[1] for where in places]),
            integers([where.shape[2] for where in places]),
            integers(ranks),
            _addresses(places),
            ctypes.byref(made),
        )
        super().__init__(made.value, context, [where.base for where in places])
        context.finish(status)

    @classmethod
    def create(
        cls,
        rows: Sequence[int],
        cols: Sequence[int],
        ranks: Sequence[int],
        dtype: npt.DTypeLike = np.float64,
        location: Location = "host",
        *,
        context: Context | None = None,
    ) -> TrainMatrix:
        """A TT-matrix in memory of the library, whose cores have yet to be set."""
        context = context or default_context()
        rows, cols, ranks = expect_cores("rows", rows), sizes("cols", cols), sizes("ranks", ranks)
        if len(cols) != len(rows) or len(ranks) != len(rows) + 1:
            raise ValueError(f"rows, cols, ranks: are {len(rows)}, {len(cols)} and {len(ranks)}, expected d, d, d + 1")
        made = c_void_p()
        status = lib.purlin_tt_matrix_create(
            context.handle,
            memory.computing_number(dtype),
            choice("location", location, LOCATIONS),
            0,
            len(rows),
            integers(rows),
            integers(cols),
            integers(ranks),
            ctypes.byref(made),
        )
        return cls._made(status, made, context)

    @classmethod
    def of(cls, value: object, context: Context, name: str = "matrix") -> TrainMatrix:
        """A TT-matrix as it is, or one over a list of arrays. `name` is the argument in messages."""
        if isinstance(value, TrainMatrix):
            return value
        if isinstance(value, (list, tuple)):
            return cls(value, context=context, name=name)
        raise TypeError(f"{name}: is a {type(value).__name__}, expected a TrainMatrix or a list of arrays")

    def _sizes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        d = len(self)
        rows, cols, ranks = (c_int64 * d)(), (c_int64 * d)(), (c_int64 * (d + 1))()
        check(lib.purlin_tt_matrix_shape(self.handle, d, rows, cols, ranks))
        return tuple(rows), tuple(cols), tuple(ranks)

    @property
    def rows(self) -> tuple[int, ...]:
        """Row (bra) mode sizes m_k, one for each site."""
        return self._sizes()[0]

    @property
    def cols(self) -> tuple[int, ...]:
        """Column (ket) mode sizes n_k, one for each site."""
        return self._sizes()[1]

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks, one more than cores."""
        return self._sizes()[2]

    def _dims(self, k: int) -> tuple[int, ...]:
        rows, cols, ranks = self._sizes()
        return (ranks[k], rows[k], cols[k], ranks[k + 1])

    def __repr__(self) -> str:
        if self.closed:
            return "<purlin.tt.TrainMatrix closed>"
        kind = "cyclic" if self.cyclic else "open"
        return f"<purlin.tt.TrainMatrix of {len(self)} cores, {kind}, largest rank {self.max_rank}, {self.dtype}>"
