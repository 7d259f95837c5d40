"""Python callables behind the C callbacks.

Nothing may be raised through the library: the exception is kept, the call is cancelled, and the exception goes on when
the call has returned.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, Union

from ._calls import called_back, calls
from ._error import Wording, check
from ._interrupts import Interruption
from ._lib import lib
from ._progress import ProgressLine
from ._structs import LOG, PROGRESS

ProgressFunction = Callable[[int, int, float], object]
"""Called with step, number of steps and a measure; a true result cancels the call."""

Progress = Union[ProgressFunction, bool]
"""A function, or True for a bar on stderr with the share of the steps and the measure."""

LogFunction = Callable[[int, str], object]
"""Called with a level and one line of text, from any thread."""


def expect_progress(given: object) -> None:
    """Refuses a value that is no `Progress`."""
    if given is not None and not isinstance(given, bool) and not callable(given):
        raise TypeError(f"progress: is {given!r}, expected a function, True, False or None")


class ProgressRelay:
    """The progress function of an object or of one call without an object: `with relay.call() as call: status = f(..)`, and
    then `finish(status, call)`.

    The library calls it without a function of the user's too, because of Ctrl-C, which Python delivers between its own
    instructions only.
    """

    def __init__(self, function: Progress | None, options: Any, *, ends_early: bool = False) -> None:
        """`ends_early`: as of `ProgressLine`."""
        expect_progress(function)
        self.function = function
        self.ends_early = ends_early
        self._running: list[ProgressCall] = []
        self._pointer = PROGRESS(called_back(self._report))
        options.progress = self._pointer

    def call(self) -> ProgressCall:
        """The state of one call of the library."""
        return ProgressCall(self, self._running)

    def _report(self, step: int, steps: int, measure: float, _user: int | None) -> int:
        thread = threading.get_ident()
        running = self._running
        # The library reports on the calling thread, but for a call whose stack is too small for it.
        call = next((call for call in reversed(running) if call.thread == thread), None)
        # None runs where the caller has given the handle to the C function himself.
        call = call or (running[-1] if running else self.call())
        return call.report(step, steps, measure)


class ProgressCall:
    """One call of the library: the exception of its progress function, and Ctrl-C during it. Calls of several threads and a call in
    a callback of another have each their own.

    The interrupt only sets a flag during the call: raised at the entry of a callback it would be lost. The handler that stood
    before the call stands again after it.
    """

    def __init__(self, relay: ProgressRelay, running: list[ProgressCall]) -> None:
        self._function = None if isinstance(relay.function, bool) else relay.function
        self._line = ProgressLine(relay.ends_early) if relay.function is True else None
        self._running = running
        self.thread = threading.get_ident()
        self._is_main = threading.current_thread() is threading.main_thread()
        self._caught: BaseException | None = None
        self._handler: Any = None
        self._interrupted = False

    def __enter__(self) -> ProgressCall:
        if self._is_main:
            # Only the main thread has signals, and a handler that Python did not install is not ours to replace.
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._interrupt)
        self._running.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.remove(self)
        if self._line is not None:
            self._line.finish()
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, _signal: int, _frame: object) -> None:
        self._interrupted = True

    def report(self, step: int, steps: int, measure: float) -> int:
        """Calls the function; 1 cancels the call."""
        function = self._function if self._line is None else self._line
        try:
            stop = function is not None and function(step, steps, measure)
            return 1 if stop or self._interrupted or (calls.ending and not self._is_main) else 0
        except BaseException as error:  # KeyboardInterrupt too: it must not vanish in the C frame
            self._caught = error
            return 1

    def raise_caught(self) -> None:
        """To be called when the library has returned. In a callback of another call the interrupt goes to that call, too."""
        if self._interrupted:
            self._interrupted = False
            self._handler(signal.SIGINT, None)
        caught, self._caught = self._caught, None
        if caught is not None:
            raise caught


def interruptible(work: Callable[[], None], cancel: Callable[[], None]) -> None:
    """Runs a call of the library that has no progress function, so that Ctrl-C ends it by `cancel`. Python handles signals
    between instructions of the main thread alone, which waits while another thread runs the call."""
    caught: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            caught.append(error)
        finally:
            done.set()

    if calls.ending or threading.current_thread() is not threading.main_thread():
        # At the end of the program no other thread's call begins.
        work()
        return
    try:
        # Not joined: in Python 3.11 an exception in `join` marks a thread that runs as stopped.
        threading.Thread(target=run, name="purlin-call").start()
    except RuntimeError:  # the system has no thread left
        work()
        return
    interrupt: BaseException | None = None
    while not done.is_set():
        try:
            done.wait(0.1 if interrupt else None)
        except BaseException as error:
            interrupt = interrupt or error
        if interrupt and not done.is_set():
            # Again and again: the call may not have begun.
            cancel()
    if interrupt:
        raise interrupt
    if caught:
        raise caught[0]


class LogSink:
    """Where a context's log goes. The library keeps `pointer`, so the sink lives as long as the context."""

    def __init__(self, function: LogFunction) -> None:
        if not callable(function):
            raise TypeError(f"log: is a {type(function).__name__}, a function is needed")
        self._function = function
        self._caught: BaseException | None = None
        self._lock = threading.Lock()
        self.context: int | None = None
        self.pointer = LOG(called_back(self._call))

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
        """Raises the function's exception since the last time, once."""
        with self._lock:
            caught, self._caught = self._caught, None
        if caught is not None:
            raise caught


def finish(
    status: int,
    progress: ProgressCall | Interruption | None = None,
    *logs: LogSink | None,
    wording: Wording | None = None,
) -> None:
    """Ends a call: raises a callback's exception or an interrupt first, else the error of `status`."""
    if progress is not None:
        progress.raise_caught()
    for log in logs:
        if log is not None:
            log.raise_caught()
    check(status, wording)
