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
from ._context import _word, initialized
from ._keywords import OTHERS, STRUCTS
from ._options import WORDS

HEADER = "Options, with the library's defaults (docs/interface.md has their meanings):"
_OPTIONS = re.compile(r"Unpack\[(\w+)\]")

# By functions: the options that every call refuses unless they have their default, and the words that it refuses of an
# option. An empty tuple stands for the whole option. `tests/python/test_help.py` tries them all.
_WHOLE: tuple[str, ...] = ()
_RSVD = {name: _WHOLE for name in ("max_rank", "block_columns", "tolerance", "one_pass", "restart_path")}
_RECTANGULAR = ("basic", "fifo", "row_fused", "gram", "brsvd", "fused", "merge", "krylov", "one_pass", "direct")
_SYMMETRIC = ("nystrom", "rayleigh")
_RANGE = {
    **_RSVD,
    "merge_width": _WHOLE,
    "smallest_ratio": _WHOLE,
    "sign": _WHOLE,
    "method": (*_RECTANGULAR, *_SYMMETRIC),
    "error": ("probes", "power"),
}
_SINGULAR = {name: _WHOLE for name in ("kind", "shift", "sigma", "ordering", "check_symmetry")}
_GRAPH = {name: _WHOLE for name in ("kind", "shift", "sigma", "ordering")}
_OPERATOR = {"norm_method": _WHOLE, "kernel": _WHOLE, "repeat": _WHOLE, "method": ("halves", "power")}
_DISTANCE = ("method", "conjugate", "norm_method", "assume_hermitian", "kernel", "block", "repeat")
REFUSED: dict[str, dict[str, tuple[str, ...]]] = {
    "rsvd.compute": {"method": _SYMMETRIC},
    "rsvd.range_finder": _RANGE,
    "rsvd.qb": _RANGE,
    "rsvd.symmetric": {
        **_RSVD,
        "merge_width": _WHOLE,
        "center": _WHOLE,
        "scale": _WHOLE,
        "method": (*_RECTANGULAR, "range"),
    },
    "pca.PCA": {**_RSVD, "sign": _WHOLE, "method": _SYMMETRIC},
    "lanczos.singular": _SINGULAR,
    "lanczos.plan_singular": _SINGULAR,
    "graph.embed": _GRAPH,
    "graph.cluster": _GRAPH,
    "graph.fiedler": {**_GRAPH, "method": _WHOLE, "orthogonalization": _WHOLE},
    "sshopm.runs": {"start_kind": _WHOLE, "seed": _WHOLE, "goal": ("both",)},
    "tt.inner": {"norm_method": _WHOLE, "assume_hermitian": _WHOLE},
    "tt.norm": {"conjugate": _WHOLE, "assume_hermitian": _WHOLE},
    "tt.distance": {name: _WHOLE for name in _DISTANCE},
    "tt.sandwich": _OPERATOR,
    "tt.rayleigh": {**_OPERATOR, "conjugate": _WHOLE},
}


def _default(value: Any, hint: str, words: dict[str, int] | None) -> str | None:
    """A field of a C struct as Python writes it; None if it stands for no value."""
    if words is not None:
        return repr(_word(value, words)) if value in words.values() else None
    if hint == "bool":
        return repr(bool(value))
    return None if isinstance(value, float) and np.isnan(value) else f"{value:.12g}"


def _lines(options: type, refused: dict[str, tuple[str, ...]]) -> Iterator[str]:
    struct = STRUCTS[options]
    raw = initialized(getattr(_structs, "".join(word.capitalize() for word in struct.split("_"))), struct)
    for name, annotation in options.__annotations__.items():
        left_out = refused.get(name)
        if left_out == _WHOLE:
            continue
        hint = getattr(annotation, "__forward_arg__", None) or str(annotation)
        words = WORDS[struct].get(name)
        default = "None" if name in OTHERS else _default(getattr(raw, name.rstrip("_")), hint, words)
        kind = hint if words is None else ", ".join(repr(word) for word in words if word not in (left_out or ()))
        text = f"{name}{'' if default is None else f' = {default}'}  ({kind})"
        yield textwrap.fill(text, 100, initial_indent=" " * 4, subsequent_indent=" " * 8)


def _extend(thing: Any, function: Any) -> None:
    """Appends the options that `function` takes to the documentation of `thing`; those that it refuses are left out."""
    if not inspect.isfunction(function) or not thing.__doc__ or HEADER in thing.__doc__:
        return
    for annotation in function.__annotations__.values():
        found = _OPTIONS.fullmatch(annotation) if isinstance(annotation, str) else None
        if found is not None:
            refused = REFUSED.get(f"{thing.__module__.removeprefix('purlin.')}.{thing.__qualname__}", {})
            lines = "\n".join(_lines(function.__globals__[found[1]], refused))
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


__all__ = ["HEADER", "REFUSED", "describe"]
