"""Failures of a command as one line and an exit code."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import NamedTuple

from .._options import WORDS
from .. import Error, InvalidArgument, NoConvergence, NoDevice, NotSupported, OutOfDeviceMemory, OutOfMemory


class Failure(Exception):
    """The command cannot do its work: exit code 1."""


class Usage(Failure):
    """The command line is wrong: exit code 2."""


class Contents(NamedTuple):
    """The file that an argument of the library is from, and the part of the file that has it, if that has a name."""

    path: str
    part: str = ""


class StdoutFailure(Failure):
    """Results cannot be printed."""


class Huge(int):
    """An integer that 64 bits do not hold, as the nearest that they do. Messages have it as it was given."""

    written = ""

    @classmethod
    def of(cls, value: int) -> Huge:
        """The nearest integer of 64 bits."""
        made = cls(max(-(2**63), min(value, 2**63 - 1)))
        made.written = str(value)
        return made

    def __str__(self) -> str:
        return self.written

    def __repr__(self) -> str:
        return self.written

    def __format__(self, spec: str) -> str:
        return self.written


# The argument at the begin of a message of the library, with the element of a list or the view of a scan.
_ARGUMENT = re.compile(r"^(?:not supported: )?(\w+)(\[\d+\])?(?:, (view \d+))?: ")
# An argument of the library within a message, as in "count + 1 = 7", "which = 'largest'" or "max_rank bounds it", and a
# word of an option. A word without an underscore is an argument only before a sign.
_INNER = re.compile(r"(?<![\w./-])(?:[a-z]\w*(?= [=+] )|[a-z]+_[a-z_]+(?![\w./]))")
_WORD = re.compile(r"'([a-z][a-z0-9_]*)'")
_WORDS = {word for choices in WORDS.values() for words in choices.values() for word in words}
# Text that may follow a file's name in a message of the library, which writes files under provisional names of its own.
PARTIAL = r"(?:\.[0-9a-f]{16}\.partial)?: "


def in_options(given: argparse.Namespace, text: str) -> str:
    """The part of a message behind its argument, with the options and words of the command line."""

    def option(found: re.Match[str]) -> str:
        if found[0] in given.contents:
            return given.contents[found[0]].part or found[0]
        name: str = given.names.get(found[0], "")
        return name if name.startswith("-") else found[0]

    text = _INNER.sub(option, text)
    return _WORD.sub(lambda found: found[1] if found[1] in _WORDS else found[0], text)


def _named(given: argparse.Namespace, text: str) -> tuple[str, bool]:
    """The message with the name of the option or input that it is about, and whether that is an option, and not the contents
    of the file that an option names."""
    found = _ARGUMENT.match(text)
    name = given.names.get(found[1]) if found else None
    if found is None or name is None:
        return text, False
    problem = text[found.end() :]
    if found[1] in given.contents:
        path, part = given.contents[found[1]]
        place = f"{part}{found[2] or ''} ".lstrip() + (f"{found[3]}: " if found[3] else "")
        return f"{name}: {path}: {place}{in_options(given, problem)}", False
    of_file = _of_file(given, problem)
    if of_file != problem:
        return of_file, False
    view = f"{found[3]} " if found[3] else ""
    return f"{name}{found[2] or ''}: {view}{in_options(given, problem)}", name.startswith("-")


def _of_file(given: argparse.Namespace, text: str) -> str:
    """A message about a file, with the name of the input before it."""
    for path, argument in given.files.items():
        # The library names the files of a stack by their absolute paths.
        for written in (path, os.path.abspath(path)):
            found = re.match(re.escape(written) + PARTIAL, text)
            if found is not None:
                return f"{argument}: {path}: {text[found.end() :]}"
    return text


def _of_memory(given: argparse.Namespace, error: OutOfMemory) -> str:
    """A message about memory, with the limit if the command line set one."""
    on_device = isinstance(error, OutOfDeviceMemory)
    if str(error).startswith("starts: "):
        return _named(given, str(error))[0]
    name, limit = ("--gpu-memory", given.gpu_memory) if on_device else ("--memory", given.memory)
    return f"{name}: is {limit} bytes: {error}" if limit else str(error)


def _as_given(given: argparse.Namespace, text: str) -> str:
    """The message with numbers that 64 bits do not hold as they were given."""
    for value in vars(given).values():
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, Huge):
                text = re.sub(rf"(?<!\d){int(number)}(?!\d)", number.written, text)
    return text


def _text(given: argparse.Namespace, error: Exception) -> tuple[str, int]:
    """The message of an exception, and the exit code."""
    if isinstance(error, Usage):
        return str(error), 2
    if isinstance(error, Failure):
        return str(error), 1
    if isinstance(error, OutOfMemory):
        return _of_memory(given, error), 1
    if isinstance(error, NoDevice):
        return f"--device: {error}", 1
    if isinstance(error, NoConvergence):
        return f"{error}; nothing was written", 1
    if isinstance(error, OSError):
        text = str(error) if error.filename is None else f"{error.filename}: {error.strerror}"
        return _of_file(given, text), 1
    if isinstance(error, (InvalidArgument, NotSupported, ValueError, TypeError)):
        text, is_option = _named(given, str(error))
        return text, 2 if is_option else 1
    if isinstance(error, Error):
        return _named(given, str(error))[0], 1
    if isinstance(error, MemoryError):
        return str(error) or "not enough memory", 1
    return f"{type(error).__name__}: {error} (--debug shows where)", 1


def report(given: argparse.Namespace, error: Exception) -> int:
    """Writes the exception as one line to stderr, and returns the exit code."""
    if isinstance(error, (BrokenPipeError, StdoutFailure)):
        # Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        # The reader of stdout is gone.
        return 1
    text, code = _text(given, error)
    text = _as_given(given, text)
    print(f"purlin {given.command}: error: {' '.join(text.split())}", file=sys.stderr)
    return code
