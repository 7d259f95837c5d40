"""Keyword options in the texts that `help` shows: signatures have no more than `**options`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from . import _structs
from ._context import _word, initialised
from ._keywords import OTHERS, STRUCTS
from ._options import WORDS

HEADER = "Options, with the library's defaults (docs/interface.md has their meanings):"
_OPTIONS = re.compile(r"Unpack\[(\w+)\]")


def _default(value: Any, hint: str, words: dict[str, int] | None) -> str | None:
    """A field of a C struct as Python writes it; None if it stands for no value."""
    if words is not None:
        return repr(_word(value, words)) if value in words.values() else None
    if hint == "bool":
        return repr(bool(value))
    return None if isinstance(value, float) and np.isnan(value) else f"{value:.12g}"


def _lines(options: type) -> Iterator[str]:
    struct = STRUCTS[options]
    raw = initialised(getattr(_structs, "".join(word.capitalize() for word in struct.split("_"))), struct)
    for name, annotation in options.__annotations__.items():
        hint = getattr(annotation, "__forward_arg__", None) or str(annotation)
        words = WORDS[struct].get(name)
        default = "None" if name in OTHERS else _default(getattr(raw, name.rstrip("_")), hint, words)
        kind = hint if words is None else ", ".join(map(repr, words))
        text = f"{name}{'' if default is None else f' = {default}'}  ({kind})"
        yield textwrap.fill(text, 100, initial_indent=" " * 4, subsequent_indent=" " * 8)


def _extend(thing: Any, function: Any) -> None:
    """Appends the options that `function` takes to the documentation of `thing`."""
    if not inspect.isfunction(function) or not thing.__doc__ or HEADER in thing.__doc__:
        return
    for annotation in function.__annotations__.values():
        found = _OPTIONS.fullmatch(annotation) if isinstance(annotation, str) else None
        if found is not None:
            lines = "\n".join(_lines(function.__globals__[found[1]]))
            thing.__doc__ = f"{inspect.cleandoc(thing.__doc__)}\n\n{HEADER}\n\n{lines}\n"


def describe(*modules: ModuleType) -> None:
    """Completes the documentation of the public functions, classes and methods of modules."""
    for module in modules:
        for name, thing in list(vars(module).items()):
            if name.startswith("_") or not getattr(thing, "__module__", "").startswith("purlin"):
                continue
            if not isinstance(thing, type):
                _extend(thing, thing)
                continue
            _extend(thing, thing.__init__)  # type: ignore[misc]
            for member in vars(thing).values():
                if inspect.isfunction(member) and member.__name__ != "__init__":
                    _extend(member, member)


__all__ = ["HEADER", "describe"]
