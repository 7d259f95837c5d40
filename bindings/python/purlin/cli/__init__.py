"""The command `purlin`: reconstructions, peaks, factors and eigenpairs of files, without a program.

One module a command; each has `add(commands)`, which declares its options, and `run(given)`. Files are read and written by
the library where it knows their format, so data may be larger than memory.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import __version__
from . import eigs, example, fdk, info, interrupts, pca, peaks, rpca, svd
from .failures import report
from .options import Parser, warn

_COMMANDS = (info, example, fdk, peaks, svd, pca, rpca, eigs)

_TEXT = """
exit codes: 0 done, 1 failed, 2 wrong command line, 130 interrupted by Ctrl-C or SIGTERM. No file is replaced without
--force, and a command that fails or is interrupted writes none. `purlin COMMAND --help` has the options of a command and
an example.
"""


def parser() -> Parser:
    """The parser of all commands."""
    made = Parser(
        prog="purlin",
        description="Cone-beam CT, fibre directions, low-rank approximation and spectra of files.",
        epilog=_TEXT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"purlin {__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add(commands)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; `arguments` None = those of the process."""
    return _run(arguments, False)


def main_of_process() -> int:
    """As `main`, for a process that ends with the command: a signal after its files have their names has no effect."""
    return _run(None, True)


@contextmanager
def _warnings_as_lines(given: argparse.Namespace) -> Iterator[None]:
    """Shows the warnings of Python packages as lines of the command. With --debug they have their places in the code."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, *where: Any, **more: Any) -> None:
            if given.debug:
                usual(message, *where, **more)
            else:
                warn(given, " ".join(str(message).split()))

        warnings.showwarning = show
        yield


def _run(arguments: Sequence[str] | None, ends_process: bool) -> int:
    given = argparse.Namespace(command="", debug=False)
    try:
        with interrupts.handled(ends_process), _warnings_as_lines(given):
            parser().parse_args(arguments, given)
            given.run(given)
            return 0
    except KeyboardInterrupt:
        print(f"{f'purlin {given.command}'.strip()}: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if given.debug:
            raise
        return report(given, error)


__all__ = ["main", "main_of_process", "parser"]
