"""Statuses of the C interface as exceptions, with the message of the call that failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _choices
from . import _constants as c
from ._lib import lib


class Error(RuntimeError):
    """A call of the library that failed. Programs decide by `status`, the text is for people."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text or status_name(status))
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        # A process pool pickles the exception of a worker: with the status, and with the members of subclasses.
        return (type(self), (self.status, str(self)), dict(self.__dict__))


class InvalidArgument(Error, ValueError):
    """An argument outside the documented domain."""


class InvalidHandle(Error):
    """An object that is closed, or of another kind."""


class Busy(Error):
    """An object in use by another call."""


class OutOfMemory(Error, MemoryError):
    """No host memory, or the context's limit is reached."""


class OutOfDeviceMemory(OutOfMemory):
    """No device memory, or the context's limit is reached."""


class NoConvergence(Error):
    """No result within the allowed iterations."""


class Cancelled(Error):
    """Cancelled by the progress callback or by `Context.cancel`."""


class NoDevice(Error):
    """No driver, or no such GPU."""


class CudaError(Error):
    """A call of the CUDA driver or of one of NVIDIA's libraries failed."""


class NotSupported(Error):
    """A combination of type, shape and device that the library does not have."""


class Numerical(Error, ArithmeticError):
    """Overflow, breakdown or a singular problem."""


class FileError(Error, OSError):
    """A file could not be read or written. `errno` is the system's number where it said one, else None."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        found = re.search(r"\(os error (\d+)\)", text)
        self.errno = int(found[1]) if found else None


class Forked(Error):
    """A context made before fork() was used in the child."""


class InternalError(Error):
    """A fault of purlin itself."""


_CLASSES: dict[int, type[Error]] = {
    c.ERROR_INVALID_ARGUMENT: InvalidArgument,
    c.ERROR_INVALID_HANDLE: InvalidHandle,
    c.ERROR_BUSY: Busy,
    c.ERROR_OUT_OF_MEMORY: OutOfMemory,
    c.ERROR_OUT_OF_DEVICE_MEMORY: OutOfDeviceMemory,
    c.ERROR_NO_CONVERGENCE: NoConvergence,
    c.ERROR_CANCELLED: Cancelled,
    c.ERROR_NO_DEVICE: NoDevice,
    c.ERROR_CUDA: CudaError,
    c.ERROR_NOT_SUPPORTED: NotSupported,
    c.ERROR_NUMERICAL: Numerical,
    c.ERROR_IO: FileError,
    c.ERROR_FORKED: Forked,
    c.ERROR_INTERNAL: InternalError,
}


def status_name(status: int) -> str:
    """The constant's name, such as "PURLIN_ERROR_BUSY"; any integer is accepted."""
    name: bytes = lib.purlin_status_string(status)
    return name.decode()


Wording = Callable[[str], str]
"""Makes of the library's message the one for this package's caller, whose arguments have other names or orders."""


def renaming(**names: str) -> Wording:
    """A wording for a call whose arguments have other names here than in the library."""
    first = re.compile(rf"^((?:[a-z]+ [a-z]+: )?)({'|'.join(names)})(?=[:.\[])")
    return lambda text: first.sub(lambda found: found[1] + names[found[2]], text)


@contextmanager
def sized(name: str, value: object) -> Iterator[None]:
    """Names the argument that arrays are too large by, which are made here."""
    try:
        yield
    except Error:
        raise
    except (ValueError, MemoryError):
        text = f"{name}: is {value}: results of that size cannot be allocated"
        raise OutOfMemory(c.ERROR_OUT_OF_MEMORY, text) from None


_WORDS = {word for name, words in vars(_choices).items() if name.isupper() and isinstance(words, dict) for word in words}
# Abbreviations that are constants, too.
_PLAIN = {"on", "qr", "v", "vh"}
_DTYPES = {
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32)},
    **{f"CF{bits}": f"complex{2 * bits}" for bits in (32, 64)},
}
# A constant, with the prefix of the header or without. Parts of file names are none; "a FIFO" is a kind of file.
_CONSTANT = re.compile(r"(?<![\w./'-])(?<!\ba )(PURLIN_)?([A-Z][A-Z0-9_]*)(?![\w/'-]|\.\w)")
_PATH = re.compile(r"(?:^|\s)\S*/\S")
_FUNCTIONS = (
    (re.compile(r"\bpurlin_tt_(inner|norm|distance|sandwich)_scaled\b"), r"tt.Contraction.\1_scaled"),
    (re.compile(r"\bpurlin_tt_scale\b"), "tt.scale"),
    (re.compile(r"\ba call with exponents\b"), "the method of that name with _scaled"),
    (
        re.compile(r"numerator and denominator gives its mantissa and exponent"),
        "tt.Contraction.sandwich_scaled and inner_scaled give numerator and denominator",
    ),
)


# Choices that the library has as numbers in messages.
_NUMBERED = {
    "basis": _choices.SH,
    "compatibility": _choices.SSHOPM_COMPAT,
    "goal": _choices.SSHOPM_GOAL,
    "shift_kind": _choices.SSHOPM_SHIFT,
    "start_kind": _choices.STARTS,
    "test": _choices.SSHOPM_TEST,
}
_NUMBER = re.compile(rf"^({'|'.join(_NUMBERED)}): is (\d+), but")
_OTHER_BASIS = re.compile(r"(but that of the options is )(\d+)$")


def _word(argument: str, number: str) -> str:
    return next((repr(word) for word, value in _NUMBERED[argument].items() if value == int(number)), number)


def in_python(text: str) -> str:
    """A message of the library with constants, element types and functions as this package has them."""

    def constant(found: re.Match[str]) -> str:
        word = found[2].lower()
        while found[1] and word not in _WORDS and "_" in word:
            word = word.partition("_")[2]  # the prefix of a family
        if found[1] is None and found[2] in _DTYPES and not text.startswith("precision: "):
            return _DTYPES[found[2]]
        return repr(word) if word in _WORDS and (found[1] or word not in _PLAIN) else found[0]

    text = _NUMBER.sub(lambda found: f"{found[1]}: is {_word(found[1], found[2])}, but", text)
    text = _OTHER_BASIS.sub(lambda found: found[1] + _word("basis", found[2]), text)
    for name, own in _FUNCTIONS:
        text = name.sub(own, text)
    # Folders may have any name.
    return text if _PATH.search(text) else _CONSTANT.sub(constant, text)


def check(status: int, wording: Wording | None = None) -> None:
    """Raises the thread's last error unless `status` is success."""
    if status != c.SUCCESS:
        found: bytes = lib.purlin_last_error_message()
        text = in_python(found.decode("utf-8", "replace"))
        raise _CLASSES.get(status, Error)(status, text if wording is None else wording(text))


_LIST = re.compile(r"\[((?:\d+|[a-z]+|\.\.\.)(?:, (?:\d+|[a-z]+|\.\.\.))*)\]")


def in_numpy_order(text: str) -> str:
    """A message whose lists of axes are the other way round, as shapes of NumPy."""

    def shape(found: re.Match[str]) -> str:
        axes = found[1].split(", ")[::-1]
        return f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"

    return _LIST.sub(shape, text)
