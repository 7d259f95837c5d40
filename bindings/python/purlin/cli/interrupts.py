"""Signals that end a command: like Ctrl-C while it works, without effect once its files get their names."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .._startup import release

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# The handlers before `hold`; None outside of a command in the main thread, which alone has signals.
_held: dict[signal.Signals, Any] | None = None


def _end(_signal: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    # During a call of the library the handler is that of the call, which then ends.
    handler(signal.SIGINT, frame)


def _drop(_signal: int, _frame: FrameType | None) -> None:
    """The handler of `hold`. Other threads may receive a signal, too, so a mask of the main thread would not do."""


@contextmanager
def handled(ends_process: bool) -> Iterator[None]:
    """SIGTERM, which batch systems send before they kill, does what Ctrl-C does, so that no provisional file is left. If the
    process ends with the command, signals that are held stay without effect until it is gone."""
    global _held
    if threading.current_thread() is not threading.main_thread() or _held is not None:
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    held = _held = {}
    try:
        release()
        yield
    finally:
        _held = None
        for number, handler in held.items():
            # The interpreter gives the signals of other handlers their default action before the process is gone.
            signal.signal(number, signal.SIG_IGN if ends_process else handler)
        if not (held and ends_process):
            signal.signal(signal.SIGTERM, before)
            release()


def hold() -> None:
    """Takes the effect of Ctrl-C, SIGTERM and SIGHUP until the command ends. Signals that are ignored stay so."""
    if _held is None:
        return
    for number in _NUMBERS:
        handler = signal.getsignal(number)
        # None: of a program in C around Python.
        if number not in _held and handler not in (signal.SIG_IGN, None):
            _held[number] = handler
            signal.signal(number, _drop)
