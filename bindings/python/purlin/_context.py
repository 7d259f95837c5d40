"""Devices, contexts, groups of contexts and streams."""

from __future__ import annotations

import ctypes
import os
import reprlib
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Literal, TypeVar

from . import _constants as c
from ._calls import calls
from ._callback import LogFunction, LogSink, ProgressCall, finish
from ._error import InvalidHandle, Wording, check
from ._interrupts import Interruption
from ._lib import lib
from ._structs import LOG
from ._structs import ContextInfo as _CContextInfo
from ._structs import ContextOptions as _CContextOptions
from ._structs import DeviceInfo as _CDeviceInfo
from ._structs import GroupInfo as _CGroupInfo

Self = TypeVar("Self", bound="Handle")

Backend = Literal["auto", "cpu", "cuda"]
Isa = Literal["auto", "portable", "avx2", "avx512"]
Level = Literal["off", "error", "warn", "info", "debug"]


def choice(name: str, value: str, table: dict[str, int]) -> int:
    """The constant behind a word."""
    try:
        return table[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name}: is {value!r}, expected one of {', '.join(map(repr, table))}") from None


_BACKENDS = {"auto": c.BACKEND_AUTO, "cpu": c.BACKEND_CPU, "cuda": c.BACKEND_CUDA}
_ISAS = {"auto": c.ISA_AUTO, "portable": c.ISA_PORTABLE, "avx2": c.ISA_AVX2, "avx512": c.ISA_AVX512}
_LEVELS = {
    "off": c.LOG_OFF,
    "error": c.LOG_ERROR,
    "warn": c.LOG_WARN,
    "info": c.LOG_INFO,
    "debug": c.LOG_DEBUG,
}


def _word(value: int, table: dict[str, int]) -> str:
    return next((word for word, number in table.items() if number == value), str(value))


def initialized(struct: Any, init: str) -> Any:
    """A C struct with its defaults."""
    value = struct()
    check(getattr(lib, f"purlin_{init}_init")(ctypes.byref(value), ctypes.sizeof(value)))
    return value


@dataclass(frozen=True)
class Device:
    """A GPU that the driver shows."""

    ordinal: int
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory_total: int
    memory_free: int
    l2_bytes: int
    shared_memory_per_block: int
    clock_khz: int
    driver_version: int


def devices() -> list[Device]:
    """The GPUs that the driver shows; empty where there is no driver."""
    count = ctypes.c_int32()
    check(lib.purlin_device_count(ctypes.byref(count)))
    found = []
    for ordinal in range(count.value):
        info = initialized(_CDeviceInfo, "device_info")
        check(lib.purlin_device_properties(ordinal, ctypes.byref(info)))
        found.append(
            Device(
                ordinal=info.ordinal,
                name=info.name.decode("utf-8", "replace"),
                compute_capability=(info.compute_capability_major, info.compute_capability_minor),
                multiprocessors=info.multiprocessors,
                memory_total=info.memory_total,
                memory_free=info.memory_free,
                l2_bytes=info.l2_bytes,
                shared_memory_per_block=info.shared_memory_per_block,
                clock_khz=info.clock_khz,
                driver_version=info.driver_version,
            )
        )
    return found


@dataclass(frozen=True)
class ContextInfo:
    """Backend and device of a context, and its memory in bytes (limit 0 = none)."""

    backend: str
    device: int
    threads: int
    cpu_isa: str
    host_memory_limit: int
    device_memory_limit: int
    host_memory_used: int
    device_memory_used: int
    device_name: str


class _Owner:
    """Its end destroys a handle of the library. The `Handle` and the arrays over its memory hold it.

    It alone holds the objects that the library points at, callbacks among them, for the `Handle`: a finalizer that held them
    would keep alive whatever they refer to, often the `Handle` itself. They outlive the handle all the same, as Python calls
    finalizers before it clears an object's members, and before it clears any object of a cycle."""

    __slots__ = ("__weakref__", "keep")

    def __init__(self, keep: tuple[object, ...]) -> None:
        self.keep = keep


class Handle:
    """Owner of a handle of the library: `close()`, a `with` block, or the collector destroys it. If there are arrays over its
    memory, the end of the last one does."""

    _word: str | None = None
    """The object's name in errors, if it is not that of the class."""

    def __init__(self, handle: int | None | ctypes.c_void_p, destroy: Any, *keep: object) -> None:
        """A `c_void_p` is where a call of the library will write the handle. From here on it has an owner, so an exception
        such as Ctrl-C after that call leaves no object."""
        self._handle_place = handle if isinstance(handle, ctypes.c_void_p) else ctypes.c_void_p(handle)
        # Also here: `close` drops the owner, and a matrix of a closed source still calls the source's function.
        self._keep = keep
        self._owner: _Owner | None = _Owner(keep)
        self._is_exported = False
        self._ending = (destroy, self._handle_place, os.getpid(), weakref.ref(self._owner))
        self._finalizer = weakref.finalize(self._owner, _destroy, *self._ending)

    @property
    def handle(self) -> int:
        """The C handle, for calls of the C interface by hand."""
        handle = self._handle_place.value
        if handle is None or self.closed:
            raise InvalidHandle(c.ERROR_INVALID_HANDLE, f"{self._word or type(self).__name__.lower()}: is closed")
        return handle

    @property
    def closed(self) -> bool:
        """Whether the object is closed, and no call takes it any more."""
        return self._owner is None or not self._finalizer.alive

    def close(self) -> None:
        """Destroys the handle now; a second time does nothing. Arrays over its memory (`numpy()`, `arrays()`) stay valid: the
        memory is freed when the last of them goes."""
        if not self._is_exported:
            # Not left to the end of the owner, where Python drops exceptions such as Ctrl-C.
            try:
                self._finalizer()
            finally:
                # The finalizer runs once, and an exception such as Ctrl-C may end it before its call of the library.
                _destroy(*self._ending)
        self._owner = None

    def _export(self) -> object:
        """What an array over memory of the handle has to hold: the memory lives as long."""
        owner = self._owner
        if owner is None or self.closed:
            raise InvalidHandle(c.ERROR_INVALID_HANDLE, f"{self._word or type(self).__name__.lower()}: is closed")
        # Functions at the end of the program may read the array after the finalizers. The end of the process frees the memory.
        self._finalizer.atexit = False
        self._is_exported = True
        return owner

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    context: Context
    _title: str | None = None
    """The public name of a class whose module is private."""
    _shown: str | Callable[[], str] = ""
    """What `repr` says of the object beside its contexts: its options, say."""

    def __repr__(self) -> str:
        title = self._title or f"{type(self).__module__}.{type(self).__qualname__}"
        # Also of an object whose creation failed.
        if getattr(self, "_owner", None) is None or self.closed:
            return f"<{title}, closed>"
        try:
            about = self._about()
        except Exception:  # in the child of a fork, or of an option that cannot be shown
            about = ""
        return f"<{title}{about and ' '}{about}>"

    def _about(self) -> str:
        """The properties that distinguish the object from others of its class."""
        return self._at(self.context)

    def _at(self, *contexts: Context) -> str:
        shown = self._shown if isinstance(self._shown, str) else self._shown()
        return f"{shown}{shown and ' '}on {', '.join(one._where() for one in contexts)}"

    def __reduce__(self) -> Any:
        raise TypeError(f"{type(self).__name__}: holds an object of the library and cannot be pickled or copied")


def _destroy(destroy: Any, place: ctypes.c_void_p, process: int, owner: weakref.ref[_Owner]) -> None:
    """Destroys the handle that `place` holds; a second time does nothing."""
    # At the owner's own end None. In `close` and at the end of the program another thread might end the owner meanwhile.
    held = owner()
    # After a fork the handle belongs to the parent, whose threads the child does not have. At the end of the program that of
    # another thread is left to the end of the process.
    handle = place.value
    if handle is not None and os.getpid() == process and calls.enter():
        try:
            destroy(handle)
            place.value = None
        finally:
            calls.leave()
    del held


def _destroy_context(handle: int) -> None:
    calls.cancels.pop(handle, None)
    lib.purlin_context_destroy(handle)


class Context(Handle):
    """A backend, its threads, its memory limits and its log.

    `device` is the ordinal of the GPU: other than 0 it is refused on the CPU, and with "auto" asks for a GPU. `threads` are
    those of the CPU, 0 for one a core, and `cpu_isa` the instructions that its kernels use. `host_memory_limit` and
    `device_memory_limit` are in bytes, 0 for none. `log` is called with a level and one line of text, from `log_level` on;
    without a function nothing is logged."""

    _title = "purlin.Context"

    def __init__(
        self,
        backend: Backend = "auto",
        *,
        device: int = 0,
        threads: int = 0,
        cpu_isa: Isa = "auto",
        host_memory_limit: int = 0,
        device_memory_limit: int = 0,
        log: LogFunction | None = None,
        log_level: Level = "info",
    ) -> None:
        options = initialized(_CContextOptions, "context_options")
        options.backend = choice("backend", backend, _BACKENDS)
        options.device = device
        options.threads = threads
        options.cpu_isa = choice("cpu_isa", cpu_isa, _ISAS)
        options.host_memory_limit = host_memory_limit
        options.device_memory_limit = device_memory_limit
        level = choice("log_level", log_level, _LEVELS)
        self._log = LogSink(log) if log is not None else None
        if self._log is not None:
            options.log = self._log.pointer
            options.log_level = level
        made = ctypes.c_void_p()
        status = lib.purlin_context_create(ctypes.byref(options), ctypes.byref(made))
        # The list keeps every sink that the library may have seen, also through objects that outlive this one.
        self._sinks = [self._log]
        if made.value is not None:
            super().__init__(made.value, _destroy_context, self._sinks)
            calls.cancels[made.value] = partial(lib.purlin_context_cancel, made.value)
            if self._log is not None:
                self._log.context = made.value
        self.finish(status)

    def _about(self) -> str:
        found = self.properties
        limits = (("host", found.host_memory_limit), ("device", found.device_memory_limit))
        shown = "".join(f", at most {size / 2**30:.3g} GiB of {where} memory" for where, size in limits if size)
        name = f" ({found.device_name})" if found.backend == "cuda" else ""
        return f"{self._where()}{name}, {found.threads} threads{shown}"

    def _where(self) -> str:
        """The backend, and the ordinal of its device, in a few letters."""
        if self.closed:
            return "a closed context"
        found = self.properties
        return f"{found.backend}:{found.device}" if found.backend == "cuda" else found.backend

    def close(self) -> None:
        """Destroys the context now. Objects made on it keep it alive in the library until they are closed."""
        if not self.closed and self._log is not None:
            lib.purlin_context_set_log(self.handle, c.LOG_OFF, LOG(), None)
        super().close()

    def finish(
        self, status: int, progress: ProgressCall | Interruption | None = None, wording: Wording | None = None
    ) -> None:
        """Ends a call on this context: raises the exception of a callback, else the error of `status`, whose message `wording`
        changes. `progress` is the state of the call."""
        finish(status, progress, self._log, wording=wording)

    def _run(self, call: Any, *arguments: Any, wording: Wording | None = None, quick: bool = False) -> None:
        """A call of the library that has no progress function, which Ctrl-C ends unless it is quick."""
        if quick:
            return self.finish(call(*arguments), wording=wording)
        with Interruption(self.cancel) as running:
            status = call(*arguments)
        self.finish(status, running, wording)

    @property
    def properties(self) -> ContextInfo:
        """Backend, device and memory of the context."""
        info = initialized(_CContextInfo, "context_info")
        check(lib.purlin_context_properties(self.handle, ctypes.byref(info)))
        return ContextInfo(
            backend=_word(info.backend, _BACKENDS),
            device=info.device,
            threads=info.threads,
            cpu_isa=_word(info.cpu_isa, _ISAS),
            host_memory_limit=info.host_memory_limit,
            device_memory_limit=info.device_memory_limit,
            host_memory_used=info.host_memory_used,
            device_memory_used=info.device_memory_used,
            device_name=info.device_name.decode("utf-8", "replace"),
        )

    def set_log(self, function: LogFunction | None, level: Level = "info") -> None:
        """Sends the log to `function`, from `level` on; None ends it."""
        number = choice("level", level, _LEVELS)
        if function is None:
            check(lib.purlin_context_set_log(self.handle, c.LOG_OFF, LOG(), None))
            self._log = None
            return
        sink = LogSink(function)
        sink.context = self.handle
        check(lib.purlin_context_set_log(self.handle, number, sink.pointer, None))
        self._sinks.append(sink)
        self._log = sink

    def cancel(self) -> None:
        """Makes the running call of this context raise `Cancelled`. May be called from any thread."""
        check(lib.purlin_context_cancel(self.handle))


class Group(Handle):
    """Contexts that share the work of a call, on devices of one kind: the argument `group` of the families that distribute
    work over devices. Matrices, tensors and streams belong to the first."""

    _title = "purlin.Group"

    def __init__(self, contexts: Sequence[Context]) -> None:
        self.contexts = tuple(contexts)
        for k, one in enumerate(self.contexts):
            if not isinstance(one, Context):
                raise TypeError(f"contexts[{k}]: is a {type(one).__name__}, a Context is needed")
        handles = (ctypes.c_void_p * len(self.contexts))(*[one.handle for one in self.contexts])
        made = ctypes.c_void_p()
        status = lib.purlin_group_create(len(self.contexts), handles, None, ctypes.byref(made))
        super().__init__(made.value, lib.purlin_group_destroy, *[one._sinks for one in self.contexts])
        check(status)

    def _about(self) -> str:
        return "of " + ", ".join(one._where() for one in self.contexts)

    def __len__(self) -> int:
        info = initialized(_CGroupInfo, "group_info")
        check(lib.purlin_group_properties(self.handle, ctypes.byref(info)))
        return int(info.members)


class Stream(Handle):
    """An ordered queue of a context."""

    _title = "purlin.Stream"

    def __init__(self, context: Context | None = None, *, cuda_stream: int | None = None) -> None:
        """A new stream, or one around the caller's `CUstream`, the number `cuda_stream`, which stays the caller's."""
        self.context = context or default_context()
        self.cuda_stream = cuda_stream
        made = ctypes.c_void_p()
        if cuda_stream is None:
            status = lib.purlin_stream_create(self.context.handle, ctypes.byref(made))
        else:
            status = lib.purlin_stream_wrap(self.context.handle, cuda_stream, ctypes.byref(made))
        super().__init__(made.value, lib.purlin_stream_destroy, self.context._sinks)
        self.context.finish(status)

    def _about(self) -> str:
        own = "" if self.cuda_stream is None else f" over the CUDA stream {self.cuda_stream:#x}"
        return f"on {self.context._where()}{own}"

    def synchronize(self) -> None:
        """Waits for everything enqueued so far and raises the error of failed work."""
        self.context.finish(lib.purlin_stream_synchronize(self.handle))


class Members:
    """The contexts of an object, and its group, which live as long as the object does."""

    def __init__(self, context: Context | None, group: Group | None) -> None:
        self.group = group
        self.first = home(context, group)
        others = () if group is None else group.contexts
        self.contexts = (self.first, *[one for one in others if one is not self.first])

    @property
    def sinks(self) -> list[object]:
        """The functions that the library's contexts may call: for the `keep` of a handle."""
        return [one._sinks for one in self.contexts]

    def finish(
        self, status: int, progress: ProgressCall | Interruption | None = None, wording: Wording | None = None
    ) -> None:
        """Ends a call on these contexts: raises the exception of a callback of any of them, else the error of `status`."""
        finish(status, progress, *[one._log for one in self.contexts], wording=wording)


def listed(**options: Any) -> Callable[[], str]:
    """What makes the text of an object's options when its `repr` is asked for: they may be of any size."""
    return lambda: ", ".join(f"{name}={_short.repr(value)}" for name, value in options.items())


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def checked_group(group: Any) -> Group | None:
    """The option `group`, if it is one."""
    if group is not None and not isinstance(group, Group):
        raise TypeError(f"group: is a {type(group).__name__}, a Group is needed")
    return group


def home(context: Context | None, group: Group | None) -> Context:
    """The context of a call's data: the one given, the first of a group, or the default one."""
    group = checked_group(group)
    if context is not None:
        return context
    return group.contexts[0] if group is not None else default_context()


_default: Context | None = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """The context of calls that are given none, made at the first of them."""
    global _default
    with _default_lock:
        if _default is None or _default.closed:
            _default = Context()
        return _default


def close_default_context() -> None:
    """Destroys the default context; the next call that needs one makes another."""
    global _default
    with _default_lock:
        if _default is not None:
            _default.close()
        _default = None


def _after_fork() -> None:
    # The library refuses the parent's context in the child: the child makes its own.
    global _default, _default_lock
    _default_lock = threading.Lock()
    _default = None


os.register_at_fork(after_in_child=_after_fork)
