"""What the objects of eigenpairs and of diffusion MRI share: their calls report a `purlin_sshopm_info`."""

from __future__ import annotations

import ctypes
import threading
from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, TypeVar

from ._callback import Progress, ProgressRelay
from ._context import Context, Handle, initialised
from ._error import check
from ._lib import lib
from ._sshopm_types import Info, read_info
from ._structs import SshopmInfo

if TYPE_CHECKING:
    from types import TracebackType

Self = TypeVar("Self", bound="Solver")


class Solver(Handle):
    """Options on a context. Calls of several threads wait for each other."""

    def __init__(self, name: str, options: Any, progress: Progress | None, context: Context) -> None:
        """An object whose C functions begin with `purlin_<name>_`, with the C options."""
        self.context = context
        self._name = name
        self._relay = ProgressRelay(progress, options)
        self._lock = threading.RLock()
        made = c_void_p()
        status = self._function("create")(context.handle, ctypes.byref(options), ctypes.byref(made))
        super().__init__(made.value, self._function("destroy"), context._sinks, self._relay)
        context.finish(status)

    def _function(self, what: str) -> Any:
        return getattr(lib, f"purlin_{self._name}_{what}")

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def cancel(self) -> None:
        """Makes the running call raise `Cancelled`. May be called from any thread."""
        check(self._function("cancel")(self.handle))

    def last_info(self) -> Info:
        """The report of the last call that succeeded."""
        info = initialised(SshopmInfo, "sshopm_info")
        check(self._function("last_info")(self.handle, ctypes.byref(info)))
        return read_info(info)

    def _planned(self, tensor: c_void_p | int | None) -> Info:
        info = initialised(SshopmInfo, "sshopm_info")
        self.context.finish(self._function("plan")(self.handle, tensor, ctypes.byref(info)))
        return read_info(info)

    def _run(self, call: str, *arguments: Any) -> Info:
        """A call with progress, whose last argument is its report."""
        info = initialised(SshopmInfo, "sshopm_info")
        with self._lock:
            with self._relay.call() as running:
                status = self._function(call)(self.handle, *arguments, ctypes.byref(info))
            self.context.finish(status, running)
        return read_info(info)
