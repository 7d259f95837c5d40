"""The library, and its functions as ctypes. Prototypes and structs are in `_prototypes` and `_structs`."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
import sys
from collections.abc import Iterator
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any

from . import _constants as c
from ._calls import Counted
from ._checked import whole
from ._numbers import real
from ._prototypes import INITS, PROTOTYPES
from ._structs import APPLY, BLOCK, LOG, PROGRESS


class _Whole:
    """An integer argument that is checked: ctypes itself cuts one that does not fit."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def from_param(self, value: Any) -> Any:
        return self.kind(whole("integer", value, self.kind))


class _Real:
    """A real argument that is checked: NumPy cuts a complex number to its real part."""

    kind = c_double

    def from_param(self, value: Any) -> Any:
        return c_double(real("number", value))


# The letters of `_prototypes`.
_TYPES: dict[str, Any] = {
    "i": _Whole(c_int32),
    "l": _Whole(c_int64),
    "u": _Whole(c_uint64),
    "d": _Real(),
    "p": c_void_p,
    "z": _Whole(c_size_t),
    "P": POINTER(c_void_p),
    "I": POINTER(c_int32),
    "L": POINTER(c_int64),
    "F": PROGRESS,
    "G": LOG,
    "B": BLOCK,
    "A": APPLY,
}


def _candidates() -> Iterator[str]:
    """Where the library may be, best first."""
    named = os.environ.get("PURLIN_LIBRARY")
    if named:
        yield named
        return
    # Before 1.0 each minor version may change the interface.
    soname = f"libpurlin.so.0.{c.VERSION_MINOR}" if c.VERSION_MAJOR == 0 else f"libpurlin.so.{c.VERSION_MAJOR}"
    package = Path(__file__).resolve().parent
    # Python 3.9 takes no slice of `parents` itself.
    roots = [package, *list(package.parents)[:6], Path(sys.prefix), Path(sys.base_prefix)]
    multiarch = str(getattr(sys.implementation, "_multiarch", ""))
    for root in roots:
        for folder in ("", "lib", f"lib/{multiarch}" if multiarch else "lib64", "lib64"):
            path = root / folder / soname
            if path.is_file():
                yield str(path)
    found = ctypes.util.find_library("purlin")
    if found:
        yield found
    yield soname


def _open() -> ctypes.CDLL:
    failures = []
    for name in dict.fromkeys(_candidates()):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            failures.append(str(error))
    raise ImportError(
        "libpurlin is not found; set PURLIN_LIBRARY to the file, or LD_LIBRARY_PATH to its folder ("
        + "; ".join(failures)
        + ")"
    )


# The kind of an error, and the name that stands for the argument.
_CLASS = re.compile(r"<class '(\w+)'>")
_REFUSED = re.compile(r"^\w+: (?:integer: |number: )?")


class _Checked:
    """A function whose refusals of arguments are a ValueError or a TypeError that names the function and the argument."""

    def __init__(self, name: str, function: Any) -> None:
        self._name = name
        self._function = function
        self.argtypes = [kind.kind if isinstance(kind, (_Whole, _Real)) else kind for kind in function.argtypes]
        self.restype = function.restype

    def __call__(self, *arguments: Any) -> int:
        try:
            status: int = self._function(*arguments)
        except ctypes.ArgumentError as error:
            # Older versions of Python write the kind of the error as <class 'ValueError'>.
            number, _, text = _CLASS.sub(r"\1", str(error)).partition(": ")
            # Ctrl-C during the check of an argument: ctypes keeps the name of the exception alone.
            if text.startswith("KeyboardInterrupt"):
                raise KeyboardInterrupt from None
            kind = ValueError if text.startswith("ValueError") else TypeError
            raise kind(f"{self._name}, {number}: {_REFUSED.sub('', text)}") from None
        return status


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, letters in PROTOTYPES.items():
        function = getattr(library, "purlin_" + name)
        function.argtypes = [_TYPES[letter] for letter in letters]
        function.restype = c_int32
        checked = _Checked(name, function) if any(letter in "ilud" for letter in letters) else function
        # `_context._destroy` counts destroys: they may come in the middle of anything, where a thread must not be held.
        setattr(library, "purlin_" + name, checked if name.endswith("_destroy") else Counted(checked))
    for name in INITS:
        function = getattr(library, f"purlin_{name}_init")
        function.argtypes = [c_void_p, c_size_t]
        function.restype = c_int32
    library.purlin_version.argtypes = []
    library.purlin_version.restype = c_int32
    library.purlin_live_handles.argtypes = []
    library.purlin_live_handles.restype = c_int64
    library.purlin_build_info.argtypes = []
    library.purlin_build_info.restype = c_char_p
    library.purlin_last_error_message.argtypes = []
    library.purlin_last_error_message.restype = c_char_p
    library.purlin_status_string.argtypes = [c_int32]
    library.purlin_status_string.restype = c_char_p
    return library


def _check_version(library: ctypes.CDLL) -> None:
    """Refuses a library whose structs and constants are not the ones mirrored here."""
    library.purlin_version.restype = c_int32
    major, minor = divmod(library.purlin_version() // 100, 100)
    wanted = (c.VERSION_MAJOR, c.VERSION_MINOR)
    compatible = (major, minor) == wanted if wanted[0] == 0 else major == wanted[0] and minor >= wanted[1]
    if not compatible:
        raise ImportError(f"libpurlin is version {major}.{minor}, this package needs {wanted[0]}.{wanted[1]}")


lib = _open()
_check_version(lib)
_declare(lib)
