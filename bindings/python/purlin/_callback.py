"""Python callables behind the C callbacks.

Nothing may be raised through the library: the exception is kept, the call is cancelled, and the exception goes on when
the call has returned.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

from ._error import check
from ._lib import lib
from ._structs import LOG, PROGRESS

Progress = Callable[[int, int, float], object]
"""Called with step, number of steps and a measure; a true result cancels the call."""

LogFunction = Callable[[int, str], object]
"""Called with a level and one line of text, from any thread."""


class ProgressRelay:
    """Lends one progress function to one call: `with ProgressRelay(function, options) as relay: status = call(..)`.

    It is there without a function too, for Ctrl-C, which Python delivers between its own instructions only. The
    interrupt is taken down as a flag for the time of the call: raised at the entry of a callback it would be lost.
    """

    def __init__(self, function: Progress | None, options: Any) -> None:
        self._function = function
        self._caught: BaseException | None = None
        self._handler: Any = None
        self._interrupted = False
        self._pointer = PROGRESS(self._call)
        options.progress = self._pointer

    def __enter__(self) -> ProgressRelay:
        # Only the main thread has signals, and a handler that Python did not install is not ours to replace.
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, _signal: int, _frame: object) -> None:
        self._interrupted = True

    def _call(self, step: int, steps: int, measure: float, _user: int | None) -> int:
        try:
            stop = self._function is not None and self._function(step, steps, measure)
            return 1 if stop or self._interrupted else 0
        except BaseException as error:  # KeyboardInterrupt too: it must not vanish in the C frame
            self._caught = error
            return 1

    def raise_caught(self) -> None:
        """To be called when the library has returned."""
        if self._interrupted:
            self._interrupted = False
            self._handler(signal.SIGINT, None)
        caught, self._caught = self._caught, None
        if caught is not None:
            raise caught


class LogSink:
    """Where a context's log goes. The library keeps `pointer`, so the sink lives as long as the context."""

    def __init__(self, function: LogFunction) -> None:
        self._function = function
        self._caught: BaseException | None = None
        self._lock = threading.Lock()
        self.context: int | None = None
        self.pointer = LOG(self._call)

    def _call(self, level: int, message: bytes, _user: int | None) -> None:
        try:
            self._function(level, message.decode("utf-8", "replace"))
        except BaseException as error:
            with self._lock:
                self._caught = self._caught or error
            if self.context is not None:
                # If the context cannot be cancelled the call runs to its end, and the exception follows it.
                lib.purlin_context_cancel(self.context)

    def raise_caught(self) -> None:
        """Raises what the function raised since the last time, once."""
        with self._lock:
            caught, self._caught = self._caught, None
        if caught is not None:
            raise caught


def finish(status: int, progress: ProgressRelay | None = None, log: LogSink | None = None) -> None:
    """Ends a call: raises a callback's exception first, else the error of `status`."""
    if progress is not None:
        progress.raise_caught()
    if log is not None:
        log.raise_caught()
    check(status)
