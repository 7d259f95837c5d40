"""Progress on stderr: a bar on a terminal, tqdm's where it is installed and else a plain one; one line elsewhere. Neither a
stream that cannot be written nor a tqdm that fails ends a computation."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import time
from types import TracebackType
from typing import Any

# Seconds between two drawings.
_INTERVAL = 0.1


class Bar:
    """A progress function of the library. Used in a `with` block, at whose end the bar is removed from the terminal, or with
    `is_left` drawn once more and left there."""

    def __init__(self, name: str, is_shown: bool, measure: str | None = None, *, is_left: bool = False) -> None:
        """`measure` is the name of the number that the library reports with each step; empty: the number alone, where it is
        not 0; None: it is not shown."""
        self._name, self._is_shown, self._measure, self._is_left = name, is_shown, measure, is_left
        self._tqdm: Any = None
        self._drawn = -_INTERVAL
        self._last: tuple[int, int, float] | None = None
        self._is_on_screen = False
        self._library: Any = None
        if is_shown:
            self._library = _tqdm()

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the bar."""
        if self._is_left and self._last is not None:
            self._draw(*self._last)
        with contextlib.suppress(Exception):
            if self._tqdm is not None:
                self._tqdm.close()
            elif self._is_on_screen:
                sys.stderr.write("\n" if self._is_left else "\r\033[K")
                sys.stderr.flush()

    def __call__(self, step: int, steps: int, measure: float) -> None:
        now = time.monotonic()
        if not self._is_shown:
            return
        if now - self._drawn < _INTERVAL and step < steps:
            self._last = (step, steps, measure)
            return
        self._drawn, self._last = now, None
        self._draw(step, steps, measure)

    def _draw(self, step: int, steps: int, measure: float) -> None:
        is_named = self._measure is not None and (self._measure or measure)
        shown = f"{self._measure} {measure:.2e}".strip() if is_named else ""
        with contextlib.suppress(Exception):
            if self._library is not None:
                self._draw_tqdm(step, steps, shown)
                return
            self._is_on_screen = True
            sys.stderr.write("\r" + self.line(step, steps, shown, shutil.get_terminal_size().columns) + "\033[K")
            sys.stderr.flush()

    def _draw_tqdm(self, step: int, steps: int, shown: str) -> None:
        if self._tqdm is None:
            self._tqdm = self._library.tqdm(desc=self._name, file=sys.stderr, leave=self._is_left, total=steps)
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


def _tqdm() -> Any:
    """The module tqdm, or None where there is none that works: also a folder of that name can be imported."""
    try:
        found: Any = importlib.import_module("tqdm")
    except Exception:
        return None
    return found if callable(getattr(found, "tqdm", None)) else None


def is_terminal() -> bool:
    """Whether stderr is a terminal. A program may have replaced it by an object that has no more than `write`."""
    try:
        return bool(sys.stderr.isatty())
    except Exception:  # there is none, it is closed, or it cannot say
        return False


class ProgressLine:
    """The progress of one call with `progress=True`: a bar that stays, or where stderr is no terminal a line at the end."""

    def __init__(self, ends_early: bool = False) -> None:
        """`ends_early`: the call reports its last step when it ends, however few it has made."""
        self._ends_early = ends_early
        # The output of a notebook is drawn anew as a terminal is.
        is_drawn = is_terminal() or (sys.stderr is not None and "ipykernel" in sys.modules)
        self._bar = Bar("purlin", True, "", is_left=True) if is_drawn else None
        self._last = ""

    def __call__(self, step: int, steps: int, measure: float) -> None:
        if self._bar is not None:
            self._bar(step, steps, measure)
            return
        is_end = self._ends_early and step == steps
        where = f"ended, at most {steps} steps" if is_end else f"step {step} of {steps}"
        self._last = f"purlin: {where}" + (f", {measure:.3g}" if measure else "")

    def finish(self) -> None:
        """Ends the bar, or writes the line, if there was a step."""
        if self._bar is not None:
            self._bar.close()
        elif self._last:
            with contextlib.suppress(Exception):
                sys.stderr.write(f"{self._last}\n")
                sys.stderr.flush()
