"""Texts that `help` shows beside the docstrings: keyword options with their meanings, which signatures show as
`**options` alone, and arguments that many functions share."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import numpy as np

from . import _reports, _structs
from ._arguments import ARGUMENTS
from ._context import _word, initialized
from ._keywords import OTHERS, STRUCTS
from ._meanings import MEANINGS, REPORTS
from ._options import WORDS

HEADER = "Options, with the library's defaults:"
FURTHER = "Further arguments:"
FIELDS = "Fields:"
# Arguments that the documentation of the package explains.
EVERYWHERE = ("context", "stream", "progress")
_OPTIONS = re.compile(r"Unpack\[(\w+)\]")
_ALIAS = re.compile(r"(?:(\w+)\.)?(\w+)(?: \| None)?")

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
    "sshopm.runs": {
        **{name: _WHOLE for name in ("start_kind", "seed", "merge_angle", "merge_value", "degeneracy_tolerance")},
        "goal": ("both",),
    },
    "tt.inner": {"norm_method": _WHOLE, "assume_hermitian": _WHOLE},
    "tt.norm": {"conjugate": _WHOLE, "assume_hermitian": _WHOLE},
    "tt.distance": {name: _WHOLE for name in _DISTANCE},
    "tt.sandwich": _OPERATOR,
    "tt.rayleigh": {**_OPERATOR, "conjugate": _WHOLE},
}


# By classes of reports: the C struct `purlin_<..>` that has their fields.
_REPORTS = {
    "ContextInfo": "context_info",
    "Device": "device_info",
    "FdkFigures": "fdk_info",
    "LanczosInfo": "lanczos_info",
    "RpcaInfo": "rpca_info",
    "RsvdInfo": "rsvd_info",
    "SpmvInfo": "spmv_info",
    "SshopmInfo": "sshopm_info",
    "TtContractionInfo": "tt_contraction_info",
}


def _default(value: Any, hint: str, words: dict[str, int] | None) -> str | None:
    """A field of a C struct as Python writes it; None if it stands for no value."""
    if words is not None:
        return repr(_word(value, words)) if value in words.values() else None
    if hint == "bool":
        return repr(bool(value))
    return None if isinstance(value, float) and np.isnan(value) else f"{value:.12g}"


@cache
def _defaults(options: type) -> Any:
    """The C struct of a class of options with its defaults."""
    struct = STRUCTS[options]
    return initialized(getattr(_structs, "".join(word.capitalize() for word in struct.split("_"))), struct)


# Many functions have the same options.
@cache
def _entry(options: type, name: str, left_out: tuple[str, ...]) -> str:
    """An option with its default, type or words, and meaning."""
    struct, annotation = STRUCTS[options], options.__annotations__[name]
    hint = getattr(annotation, "__forward_arg__", None) or str(annotation)
    words = WORDS[struct].get(name)
    default = "None" if name in OTHERS else _default(getattr(_defaults(options), name.rstrip("_")), hint, words)
    kind = hint if words is None else ", ".join(repr(word) for word in words if word not in left_out)
    text = f"{name}{'' if default is None else f' = {default}'}  ({kind})"
    return f"{_entry_of(text)}\n{_indented(MEANINGS[struct][name.rstrip('_')])}"


def _lines(options: type, refused: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for name in options.__annotations__:
        left_out = refused.get(name)
        if left_out != _WHOLE:
            yield _entry(options, name, left_out or ())


@cache
def _indented(text: str) -> str:
    return textwrap.fill(text, 100, initial_indent=" " * 8, subsequent_indent=" " * 8)


def _entry_of(text: str) -> str:
    """The first line of an entry."""
    return textwrap.fill(text, 100, initial_indent=" " * 4, subsequent_indent=" " * 8)


def _named(function: Any) -> list[str]:
    """The arguments of a function that have defaults."""
    code = function.__code__
    by_position = code.co_varnames[: code.co_argcount][code.co_argcount - len(function.__defaults__ or ()) :]
    return [*by_position, *(function.__kwdefaults__ or ())]


def words_of(function: Any, name: str) -> tuple[str, ...]:
    """The words of an argument whose type is the name of a choice, which a signature shows in place of them; else none."""
    found = _ALIAS.fullmatch(str(function.__annotations__.get(name)))
    if found is None:
        return ()
    kind = function.__globals__.get(found[1] or found[2])
    kind = getattr(kind, found[2], None) if found[1] else kind
    return get_args(kind) if get_origin(kind) is Literal else ()


def _explain(thing: Any, function: Any, place: str) -> None:
    """Appends the arguments with defaults that the documentation of `thing` does not name, as far as a table has them, and
    those whose words it does not list."""
    if not inspect.isfunction(function) or not thing.__doc__ or FURTHER in thing.__doc__:
        return
    lines: list[str] = []
    own = f"{thing.__doc__} {function.__doc__}"
    missing = [name for name in _named(function) if not re.search(rf"\b{name}\b", own)]
    code = function.__code__
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        keys = [f"{place}.{name}", f"{place.rpartition('.')[0]}.{name}", f"{place.partition('.')[0]}.{name}", name]
        text = next((ARGUMENTS[key] for key in keys if key in ARGUMENTS), None)
        words = ", ".join(map(repr, words_of(function, name)))
        is_listed = all(re.search(rf"[\"']{word}[\"']", f"{own} {text}") for word in words_of(function, name))
        if (name in missing and text is not None) or not is_listed:
            lines.append(_entry_of(f"{name}  ({words})" if not is_listed else name))
            lines += [_indented(text)] if text is not None else []
    shared = [f"`{name}`" for name in EVERYWHERE if name in missing]
    if shared:
        several = f"{', '.join(shared[:-1])} and {shared[-1]} are" if len(shared) > 1 else f"{shared[0]} is"
        lines += ["", f"{several} as `help(purlin)` says."] if lines else [f"{several} as `help(purlin)` says."]
    if lines:
        head = f"{FURTHER}\n\n" if lines[0].startswith(" ") else ""
        thing.__doc__ = f"{inspect.cleandoc(thing.__doc__)}\n\n{head}" + "\n".join(lines) + "\n"


def _extend(thing: Any, function: Any, place: str) -> None:
    """Appends the options that `function` takes to the documentation of `thing`; those that it refuses are left out."""
    if not inspect.isfunction(function) or not thing.__doc__ or HEADER in thing.__doc__:
        return
    for annotation in function.__annotations__.values():
        found = _OPTIONS.fullmatch(annotation) if isinstance(annotation, str) else None
        if found is not None:
            refused = REFUSED.get(place, {})
            lines = "\n".join(_lines(function.__globals__[found[1]], refused))
            thing.__doc__ = f"{inspect.cleandoc(thing.__doc__)}\n\n{HEADER}\n\n{lines}\n"


def _name_fields(thing: type) -> None:
    """Appends the meanings of the fields of a report to its documentation, with the words of those that have some."""
    names = [base.__name__ for base in thing.__mro__]
    struct = next((_REPORTS[name] for name in names if name in _REPORTS), None)
    if struct is None or not dataclasses.is_dataclass(thing) or FIELDS in (thing.__doc__ or ""):
        return
    words = next((_reports.WORDS[name] for name in names if name in _reports.WORDS), {})
    lines = []
    for field in dataclasses.fields(thing):
        text = REPORTS[struct].get(field.name.rstrip("_"))
        kind = ", ".join(map(repr, words[field.name])) if field.name in words else str(field.type)
        lines += [_entry_of(f"{field.name}  ({kind})"), *([_indented(text)] if text is not None else [])]
    thing.__doc__ = f"{inspect.cleandoc(thing.__doc__ or '')}\n\n{FIELDS}\n\n" + "\n".join(lines) + "\n"


def describe(*modules: ModuleType, own: Sequence[type] = ()) -> None:
    """Completes the documentation of the public functions, classes and methods of modules, and of classes of the package's
    own."""
    for thing in own:
        _describe(thing, thing.__name__)
    for module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith("purlin"):
                _describe(thing, f"{module.__name__.partition('.')[2]}.{name}")


def _describe(thing: Any, place: str) -> None:
    """Completes the documentation of a function, or of a class and its members. `place` is its name in the package."""
    function = vars(thing).get("__init__", object.__init__) if isinstance(thing, type) else thing
    _explain(thing, function, place)
    _extend(thing, function, place)
    if not isinstance(thing, type):
        return
    _name_fields(thing)
    for base in thing.__mro__:
        members = vars(base).items() if base.__module__.startswith("purlin") else ()
        for name, member in members:
            function = getattr(member, "__func__", member)
            if inspect.isfunction(function) and not name.startswith("_"):
                _explain(function, function, f"{place}.{name}")
                _extend(function, function, f"{place}.{name}")


__all__ = ["HEADER", "REFUSED", "describe"]
