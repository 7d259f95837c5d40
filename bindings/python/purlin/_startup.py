"""Ctrl-C and SIGTERM while the command `purlin` is imported: NumPy and the package take longer to load than some runs.

The package itself comes first, for the script and for `python -m purlin`: no module of the command runs before it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn

_DEFAULTS: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


def _words() -> list[str]:
    """The words that the interpreter was called with."""
    given: list[str] | None = getattr(sys, "orig_argv", None)
    if given is None:  # before Python 3.10
        try:
            with open("/proc/self/cmdline", "rb") as file:
                given = [os.fsdecode(word) for word in file.read().split(b"\0")]
        except OSError:
            given = []
    return given


def is_command() -> bool:
    """Whether this process is the command."""
    first = sys.argv[0] if getattr(sys, "argv", None) else ""
    # "-m" is the name until the module is found, which begins with the import of its package.
    if first == "-m":
        words = _words()
        return "purlin" in words or "-mpurlin" in words
    return os.path.basename(first) == "purlin"


def _interrupted(_signal: int, _frame: FrameType | None) -> NoReturn:
    word = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    name = f"purlin {word}" if word.isalpha() else "purlin"
    os.write(2, os.fsencode(f"{name}: interrupted\n"))
    # An exception would go through modules that are half loaded. There is nothing to write or to remove yet.
    os._exit(130)


def watch() -> None:
    """Ends the process with 130 at either signal, until `release`. A signal that is ignored stays so."""
    if not is_command() or threading.current_thread() is not threading.main_thread():
        return
    for number, default in _DEFAULTS.items():
        if signal.getsignal(number) == default:
            signal.signal(number, _interrupted)


def release() -> None:
    """Python's own handlers again, in the main thread."""
    for number, default in _DEFAULTS.items():
        if signal.getsignal(number) is _interrupted:
            signal.signal(number, default)
