"""Calls of the library by threads other than the main one, and the end of the program.

Python ends such a thread where it asks for the interpreter during the end of the program. A thread that does so inside a
callback takes the process with it, as the library's frames cannot be unwound. Any call may call back: by its progress, by a
function behind a matrix, a source or a sink, by the log of a context, by the deleter of borrowed memory. So all calls are
counted here. At the end of the program they are cancelled and waited for, and no further one begins.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Any

# Longest wait for the calls of other threads when the program ends, in seconds.
_PATIENCE = 10.0


class Calls:
    """The calls that run in threads other than the main one."""

    def __init__(self) -> None:
        self.ending = False
        """Whether the program ends, so that a call of another thread is to end soon."""
        self.main = threading.main_thread().ident
        self.cancels: dict[int, Callable[[], object]] = {}
        """By the handle of each context, what cancels the calls in it."""
        self._depths: dict[int, int] = {}  # calls and callbacks that each thread is in
        self._changed = threading.Condition()
        # Functions run last first. The first finalizer registers the one that destroys handles, which has to run after `_end`.
        weakref.finalize(self, int).detach()
        atexit.register(self._end)
        os.register_at_fork(after_in_child=self._after_fork)

    def enter(self) -> bool:
        """Counts a call of this thread, unless it would be the thread's outermost one at the end of the program."""
        if get_ident() == self.main:
            return True
        with self._changed:
            if self.ending and get_ident() not in self._depths:
                return False
            self._deeper()
            return True

    def leave(self) -> bool:
        """Ends what `enter` or `enter_callback` began. Whether the thread may go on: not behind its outermost call at the end
        of the program."""
        thread = get_ident()
        if thread == self.main:
            return True
        with self._changed:
            depth = self._depths.pop(thread, 1) - 1
            if depth:
                self._depths[thread] = depth
            elif self.ending:
                self._changed.notify_all()
            return depth > 0 or not self.ending

    def enter_callback(self) -> None:
        """Counts a callback: on a thread of the library's it is the outermost entry, and calls in it must return."""
        if get_ident() != self.main:
            with self._changed:
                self._deeper()

    def _deeper(self) -> None:
        self._depths[get_ident()] = self._depths.get(get_ident(), 0) + 1

    def _end(self) -> None:
        latest = time.monotonic() + _PATIENCE
        with self._changed:
            self.ending = True
            # A host of the interpreter may end it in a thread of its choice, which calls functions registered before.
            self.main = get_ident()
        while self._depths and time.monotonic() < latest:
            # Again and again: a callback may begin another call.
            for cancel in list(self.cancels.values()):
                cancel()
            with self._changed:
                self._changed.wait_for(lambda: not self._depths, 0.02)

    def _after_fork(self) -> None:
        """In the child, where the thread that forked is the main one, and alone."""
        self.main = get_ident()
        self.cancels.clear()
        self._depths.clear()
        self._changed = threading.Condition()


calls = Calls()


class Counted:
    """A function of the library's whose calls are counted. At the end of the program those of other threads never return, as
    Python's own would not."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.argtypes = function.argtypes
        self.restype = function.restype

    def __call__(self, *arguments: Any) -> int:
        if get_ident() == calls.main:
            status: int = self._function(*arguments)
            return status
        if not calls.enter():
            _hold()
        try:
            status = self._function(*arguments)
            return status
        finally:
            if not calls.leave():
                _hold()


def called_back(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for the library to call, whose own calls are parts of the one that called it."""

    def call(*arguments: Any) -> Any:
        if get_ident() == calls.main:
            return function(*arguments)
        calls.enter_callback()
        try:
            return function(*arguments)
        finally:
            calls.leave()

    return call


def _hold() -> None:
    """Holds a thread until the process is gone."""
    threading.Event().wait()
