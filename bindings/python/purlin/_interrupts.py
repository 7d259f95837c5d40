"""Ctrl-C during calls of the library that have no progress function.

Python handles signals between instructions of the main thread alone, which waits in the library meanwhile. But the part of
its handler that is written in C writes the number of each signal to the file of `signal.set_wakeup_fd` at once: a thread
reads it, and cancels the call.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from ._calls import calls

# The functions behind those of `signal`, without the search for names of numbers that takes longer than a small call.
_functions: Any = importlib.import_module("_signal" if importlib.util.find_spec("_signal") else "signal")
_SIGINT = int(signal.SIGINT)
# Seconds between two attempts to cancel a call, which may not have begun at the first.
_AGAIN = 0.02
# The longest wait for the thread to see a signal that the main thread has seen.
_SEEN = 0.5


class Interruption:
    """One call of the library in the main thread: `with Interruption(cancel) as call: status = f(..)`, and then `raise_caught()`
    when there is an owner of what the call has made. In other threads, which get no signals, it does nothing."""

    __slots__ = ("_handler", "_is_interrupted", "cancel", "former")

    def __init__(self, cancel: Callable[[], object]) -> None:
        self.cancel = cancel
        self.former = -1
        """The file that signals were written to before the call."""
        self._handler: Any = None
        self._is_interrupted = False

    def __enter__(self) -> Interruption:
        if threading.get_ident() == calls.main:
            # A handler that Python did not install is not ours to replace.
            handler = _functions.getsignal(_SIGINT)
            end = _watch.end() if callable(handler) else -1
            if end >= 0:
                self._handler = handler
                _watch.running.append(self)
                self.former = signal.set_wakeup_fd(end, warn_on_full_buffer=False)
                _functions.signal(_SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            _functions.signal(_SIGINT, self._handler)
            signal.set_wakeup_fd(self.former)
            if self._is_interrupted:
                # Or the thread would take the signal for one of the next call.
                _watch.seen.wait(_SEEN)
                _watch.seen.clear()
            _watch.running.remove(self)

    def _interrupt(self, number: int, frame: object) -> None:
        self._is_interrupted = True
        if frame is None:
            # From a call in a callback of this one, which is ended now.
            _watch.wake(number)

    def raise_caught(self) -> None:
        """Gives an interrupt to the handler that stood before the call; Python's own raises KeyboardInterrupt."""
        if self._is_interrupted:
            self._is_interrupted = False
            self._handler(_SIGINT, None)


class _Watch:
    """The thread that reads the numbers of signals, and the calls that it may cancel."""

    def __init__(self) -> None:
        self.running: list[Interruption] = []
        self.seen = threading.Event()
        """Set when the thread has read a signal."""
        self._ends: tuple[int, int] | None = None
        os.register_at_fork(after_in_child=self._after_fork)

    def end(self) -> int:
        """The file that signals are to be written to; -1 where the system has no file or thread left."""
        if self._ends is None:
            try:
                ends = os.pipe()
            except OSError:
                return -1
            os.set_blocking(ends[1], False)
            try:
                # Its end is that of the process.
                threading.Thread(target=self._read, args=(ends[0],), name="purlin-signals", daemon=True).start()
            except RuntimeError:  # also at the end of the program
                for one in ends:
                    os.close(one)
                return -1
            self._ends = ends
        return self._ends[1]

    def wake(self, number: int) -> None:
        """Does as if a signal had come."""
        if self._ends is not None:
            os.write(self._ends[1], bytes([number]))

    def _read(self, end: int) -> None:
        while True:
            numbers = os.read(end, 64)
            call = self.running[-1] if self.running else None
            if call is not None and call.former >= 0:
                # A loop of events waits for its signals there.
                with contextlib.suppress(OSError):
                    os.write(call.former, numbers)
            self.seen.set()
            while call is not None and _SIGINT in numbers and self.running[-1:] == [call]:
                with contextlib.suppress(Exception):
                    call.cancel()
                time.sleep(_AGAIN)

    def _after_fork(self) -> None:
        """In the child, which does not have the thread."""
        if self._ends is not None:
            for one in self._ends:
                os.close(one)
        self._ends = None
        self.running.clear()
        self.seen = threading.Event()


_watch = _Watch()
