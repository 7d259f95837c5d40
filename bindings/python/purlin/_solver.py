"""The common part of objects of options on contexts: creation, cancellation, plans and reports."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from ctypes import c_void_p
from typing import Any, Generic, TypeVar

from . import _structs
from ._callback import Progress, ProgressCall, ProgressRelay
from ._context import Context, Handle, Members, initialized
from ._error import Wording, check
from ._lib import lib
from ._sshopm_types import Info, read_info

Report = TypeVar("Report")


class Solver(Handle, Generic[Report]):
    """An object of options on one context or several. Its C functions begin with `purlin_<_name>_`; the C struct of its reports
    is `purlin_<_report>`, which `_read` turns into the class of the family."""

    _name: str
    _report: str
    _read: Callable[[Any], Report]

    def __init__(
        self,
        members: Members,
        relay: ProgressRelay,
        *arguments: Any,
        keep: object = None,
        wording: Wording | None = None,
    ) -> None:
        """`arguments` are those of the C function between the context and the new object; `keep` lives as long as the object."""
        self._members = members
        self.context = members.first
        self._relay = relay
        made = c_void_p()
        status = self._function("create")(self.context.handle, *arguments, ctypes.byref(made))
        super().__init__(made.value, self._function("destroy"), *members.sinks, members.group, relay, keep)
        members.finish(status, wording=wording)

    def _about(self) -> str:
        return self._at(*self._members.contexts)

    def _function(self, what: str) -> Any:
        return getattr(lib, f"purlin_{self._name}_{what}")

    def cancel(self) -> None:
        """Makes the running call raise `Cancelled`. May be called from any thread."""
        check(self._function("cancel")(self.handle))

    def last_info(self) -> Report:
        """The report of the last call that succeeded."""
        raw = self._fresh()
        check(self._function("last_info")(self.handle, ctypes.byref(raw)))
        return self._read(raw)

    def _fresh(self) -> Any:
        """The C struct of a report, before a call."""
        words = self._report.split("_")
        return initialized(getattr(_structs, "".join(map(str.capitalize, words))), self._report)

    def _planned(self, *given: Any, what: str = "plan", wording: Wording | None = None) -> Report:
        """The report of the function `what` on these handles."""
        raw = self._fresh()
        self._members.finish(self._function(what)(self.handle, *given, ctypes.byref(raw)), wording=wording)
        return self._read(raw)

    def _call(self, what: str, *arguments: Any) -> tuple[int, ProgressCall, Any]:
        """The status of a call whose last argument is its report, its progress, and the C struct of the report."""
        raw = self._fresh()
        with self._relay.call() as running:
            status: int = self._function(what)(self.handle, *arguments, ctypes.byref(raw))
        return status, running, raw


class PairSolver(Solver[Info]):
    """The objects of eigenpairs and of diffusion MRI, which report a `purlin_sshopm_info`. Calls of several threads wait for each
    other."""

    _report = "sshopm_info"
    _read = staticmethod(read_info)

    def __init__(self, options: Any, progress: Progress | None, context: Context | None) -> None:
        self._lock = threading.RLock()
        self._starts = options.starts
        super().__init__(Members(context, None), ProgressRelay(progress, options), ctypes.byref(options))

    def _run(self, what: str, *arguments: Any, wording: Wording | None = None) -> Info:
        """A call with progress, whose last argument is its report."""
        with self._lock:
            status, running, raw = self._call(what, *arguments)
            self._members.finish(status, running, self._of_starts(wording))
        return self._read(raw)

    def _planned(self, *given: Any, what: str = "plan", wording: Wording | None = None) -> Info:
        return super()._planned(*given, what=what, wording=self._of_starts(wording))

    def _of_starts(self, wording: Wording | None) -> Wording:
        """The wording with the option by which start vectors do not fit into memory."""

        def with_option(text: str) -> str:
            text = text if wording is None else wording(text)
            is_option = self._starts > 0 and text.startswith("start vectors: ")
            return f"starts: is {self._starts}: {text}" if is_option else text

        return with_option
