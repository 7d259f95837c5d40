"""Keyword options that become C structs, and C structs that become reports."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from . import _memory as memory
from . import _options, _reports
from ._checked import flag, refuse_flag
from ._context import _word, choice
from ._error import in_python

T = TypeVar("T")

# Options that are not numbers, flags or words: the families set them.
OTHERS = {"dtype", "group", "restart_path"}


# Earlier names of options.
_EARLIER = {
    "algorithm": "method",
    "class": "dtype",
    "norm_way": "norm_method",
    "order": "ordering",
    "orthogonality": "orthogonalization",
    "precision": "dtype",
    "remainder": "sparse",
    "restart": "restart_path",
}


class Known(frozenset[str]):
    """Options that `apply` sets, by their names in C. `written` are all options of a call, as a caller writes them."""

    written: list[str]
    struct: str
    flags: set[str]
    counts: set[str]


# By classes of options: the C struct `purlin_<..>` that has them.
STRUCTS: dict[type, str] = {}


def known(options: type, struct: str, *others: str) -> Known:
    """The options of a class, and others, which are fields of the C struct `purlin_<struct>`."""
    STRUCTS[options] = struct
    written = [*options.__annotations__, *others]
    names = Known({name.rstrip("_") for name in written} - OTHERS)
    names.written, names.struct = sorted(written), struct
    # Annotations of a TypedDict are references, or text.
    kinds = {name: getattr(kind, "__forward_arg__", kind) for name, kind in options.__annotations__.items()}
    names.flags, names.counts = ({name for name in kinds if kinds[name] == kind} for kind in ("bool", "int"))
    return names


def refuse_unknown(names: Known, given: Any) -> None:
    """Refuses keyword options that a call does not have."""
    for name in given:
        if name not in names:
            if _EARLIER.get(name) in names.written:
                raise TypeError(f"{name!r} is not an option; it is {_EARLIER[name]!r} here")
            raise TypeError(f"{name!r} is not an option; there are {', '.join(names.written)}")


def apply(raw: Any, names: Known, given: Any) -> None:
    """Writes keyword options into their C struct."""
    refuse_unknown(names, given)
    words = _options.WORDS[names.struct]
    for name, value in given.items():
        if name in names.flags:
            value = flag(name, value)
        elif name in names.counts:
            refuse_flag(name, value)
        setattr(raw, name, choice(name, value, words[name]) if name in words else value)


def report(made: type[T], raw: Any, **given: Any) -> T:
    """The C struct as a report; `given` are fields that it does not have."""
    for base in made.__mro__:
        if base.__name__ in _reports.FLAGS:
            flags, words = _reports.FLAGS[base.__name__], _reports.WORDS[base.__name__]
            break
    for entry in dataclasses.fields(made):  # type: ignore[arg-type]
        if entry.name in given:
            continue
        value = getattr(raw, entry.name.rstrip("_"))
        if entry.name in words:
            value = _word(value, words[entry.name])
        elif entry.name in flags:
            value = bool(value)
        elif entry.name == "dtype":
            value = memory.dtype_of(value)
        elif isinstance(value, bytes):
            value = in_python(value.decode("utf-8", "replace"))
        given[entry.name] = value
    return made(**given)
