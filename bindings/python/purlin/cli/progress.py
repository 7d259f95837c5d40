"""A progress bar on stderr: tqdm's where it is installed, else a plain one."""

from __future__ import annotations

import importlib
import shutil
import sys
import time
from types import TracebackType
from typing import Any

# Seconds between two drawings.
_INTERVAL = 0.1


class Bar:
    """A progress function of the library. Used in a `with` block, at whose end the bar is removed from the terminal."""

    def __init__(self, name: str, is_shown: bool, measure: str = "") -> None:
        """`measure` is the name of the number that the library reports with each step; empty = it is not shown."""
        self._name, self._is_shown, self._measure = name, is_shown, measure
        self._tqdm: Any = None
        self._drawn = -_INTERVAL
        self._is_on_screen = False
        self._library: Any = None
        if is_shown:
            try:
                self._library = importlib.import_module("tqdm")
            except ImportError:
                pass

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._is_on_screen:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def __call__(self, step: int, steps: int, measure: float) -> None:
        now = time.monotonic()
        if not self._is_shown or (now - self._drawn < _INTERVAL and step < steps):
            return
        self._drawn = now
        shown = f"{self._measure} {measure:.2e}" if self._measure else ""
        if self._library is not None:
            self._draw_tqdm(step, steps, shown)
            return
        self._is_on_screen = True
        sys.stderr.write("\r" + self.line(step, steps, shown, shutil.get_terminal_size().columns) + "\033[K")
        sys.stderr.flush()

    def _draw_tqdm(self, step: int, steps: int, shown: str) -> None:
        if self._tqdm is None:
            self._tqdm = self._library.tqdm(desc=self._name, file=sys.stderr, leave=False, total=steps)
        self._tqdm.total = steps
        # A later stage of a run may begin again at 0.
        self._tqdm.n = step
        self._tqdm.set_postfix_str(shown)

    def line(self, step: int, steps: int, shown: str, columns: int) -> str:
        """The plain bar as text of at most `columns` - 1 characters."""
        done = min(max(step / steps, 0.0), 1.0) if steps > 0 else 0.0
        after = f" {100 * done:3.0f} % {shown}".rstrip()
        width = max(min(columns - len(self._name) - len(after) - 4, 40), 0)
        full = int(done * width)
        return f"{self._name} [{'#' * full}{'.' * (width - full)}]{after}"[: max(columns - 1, 1)]
