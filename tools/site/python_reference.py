"""Writes the reference of Python: python_reference.py PAGES

Imports the package, so that signatures, defaults and docstrings are those that `help` shows. Needs the installed library.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
import types
import typing
from pathlib import Path
from typing import Any

from texts import Entry, expect_options, interface, meanings, prose, sections

import purlin
from purlin._help import FURTHER, HEADER

MODULES = "fdk sshopm symmetric dwi rsvd pca rpca lanczos graph sparse spmv tt blocks sklearn".split()
STRUCTS = {"graph": "lanczos", "tt": "tt_contraction", "pca": "rsvd"}
# Families whose options are those of a module of another name.
FAMILY_MODULES = {"tt_contraction": "tt", "tt_round": "tt"}
# Options that are no arguments in Python: the data of functions, which are objects.
LEFT_OUT = {
    *((family, "progress_user") for family in ("sshopm", "dwi", "fdk", "rsvd", "rpca", "tt_contraction", "lanczos")),
    ("context", "log_user"),
}
OWN = {"RoundOptions": "tt_round", "PcaOptions": "pca", "FitOptions": "dwi", "CsaOptions": "dwi", "PeaksOptions": "dwi"}


def declared() -> dict[str, tuple[list[str], dict[str, str]]]:
    """The generated classes of options: their parents, and the defaults that they state beside the names."""
    source = inspect.getsource(importlib.import_module("purlin._options"))
    found: dict[str, tuple[list[str], dict[str, str]]] = {}
    for line in source.split("\n"):
        if m := re.match(r"class (\w+)\((.*)\):", line):
            defaults: dict[str, str] = {}
            found[m[1]] = (re.findall(r"\w+Options", m[2]), defaults)
        elif m := re.match(r"    (\w+): .*# default (.*)", line):
            defaults[m[1]] = m[2]
    return found


OPTIONS, REPORTS = interface()
DECLARED = declared()


def is_options(thing: Any) -> bool:
    return isinstance(thing, type) and typing.is_typeddict(thing)


def words(annotation: Any) -> str:
    """A type as written; a choice as its words."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None) or inspect.formatannotation(annotation)
    choices = importlib.import_module("purlin._choices")
    chosen = getattr(choices, text.removeprefix("w."), None)
    if chosen is not None and typing.get_args(chosen):
        return " or ".join(f"`{word!r}`" for word in typing.get_args(chosen))
    return f"`{text}`"


def options_table(thing: Any, module: str) -> list[str]:
    family = OWN.get(thing.__name__, STRUCTS.get(module, module))
    known: dict[str, Entry] = meanings(OPTIONS, family)
    lines = ["| option | type | default | meaning |", "| --- | --- | --- | --- |"]
    for name, annotation in thing.__annotations__.items():
        entry = known.get(name.rstrip("_"))
        default = default_of(thing.__name__, name)
        lines.append(f"| `{name}` | {words(annotation)} | {f'`{default}`' if default else ''} | {entry.meaning if entry else ''} |")
    return lines


def default_of(name: str, option: str) -> str:
    """The default of an option in a class of options or the ones that it inherits from."""
    parents, defaults = DECLARED.get(name, ([], {}))
    return defaults.get(option) or next((value for parent in parents if (value := default_of(parent, option))), "")


def report_table(thing: Any, module: str) -> list[str]:
    known = meanings(REPORTS, STRUCTS.get(module, module))
    lines = ["| figure | type | meaning |", "| --- | --- | --- |"]
    for field in dataclasses.fields(thing):
        entry = known.get(field.name.rstrip("_"))
        lines.append(f"| `{field.name}` | `{field.type}` | {entry.meaning if entry else ''} |")
    return lines


class Bare:
    """An annotation that is shown as it was written, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def bare(annotation: Any) -> Any:
    return Bare(annotation) if isinstance(annotation, str) else annotation


def signature(name: str, thing: Any) -> list[str]:
    try:
        made = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    parameters = [p.replace(annotation=bare(p.annotation)) for p in made.parameters.values() if p.name != "self"]
    made = made.replace(parameters=parameters, return_annotation=bare(made.return_annotation))
    text = str(made)
    if len(name) + len(text) > 100:
        pieces = [str(p) for p in parameters]
        star = next((k for k, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
        if star is not None and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
            pieces.insert(star, "*")
        end = text.rpartition(") ->")[2]
        text = "(\n" + "".join(f"    {piece},\n" for piece in pieces) + (f") ->{end}" if " -> " in text else ")")
    return ["", "```python", name + text, "```"]


def documentation(thing: Any) -> str:
    # The options of a call have tables of their own here.
    own, further, arguments = (inspect.getdoc(thing) or "").partition(HEADER)[0].rstrip().partition(FURTHER)
    if not further:
        return prose(own)
    rows = re.sub(r"^    (\w+)\n((?: {8}.*(?:\n|$))+)", lambda m: f"- `{m[1]}`: {' '.join(m[2].split())}\n", arguments, flags=re.M)
    return f"{prose(own)}\n\n{further}\n{rows}".rstrip()


def members(thing: type, name: str, title: str) -> list[str]:
    lines: list[str] = []
    for key in dir(thing):
        if key.startswith("_"):
            continue
        found = inspect.getattr_static(thing, key)
        owner = next((base for base in thing.__mro__ if key in vars(base)), thing)
        if not owner.__module__.startswith("purlin"):
            continue
        if isinstance(found, property):
            lines += ["", f"{title} `{name}.{key}`", "", documentation(found)]
        elif isinstance(found, (types.FunctionType, staticmethod, classmethod)):
            lines += ["", f"{title} `{name}.{key}`", *signature(key, getattr(thing, key)), "", documentation(getattr(thing, key))]
    return lines


def entry(module: str, name: str, thing: Any) -> list[str]:
    full = f"purlin.{module}.{name}" if module else f"purlin.{name}"
    lines = ["", f"### `{full}`"]
    if is_options(thing):
        return [*lines, "", documentation(thing), "", *options_table(thing, module)]
    if dataclasses.is_dataclass(thing) and "Info" in name:
        return [*lines, "", documentation(thing), "", *report_table(thing, module)]
    if isinstance(thing, types.FunctionType):
        return [*lines, *signature(name, thing), "", documentation(thing)]
    if isinstance(thing, type):
        if not (hasattr(thing, "_fields") or issubclass(thing, BaseException)):
            lines += signature(name, thing)
        lines += ["", documentation(thing)]
        if thing.__init__.__doc__ and thing.__init__ is not object.__init__ and thing.__module__.startswith("purlin") and isinstance(thing.__init__, types.FunctionType):
            lines += ["", documentation(thing.__init__)]
        if hasattr(thing, "_fields"):
            notes = inspect.get_annotations(thing)
            lines += ["", "| field | type |", "| --- | --- |", *(f"| `{f}` | `{notes.get(f, '')}` |" for f in thing._fields)]
        return lines + members(thing, name, "####")
    return [*lines, "", f"`{thing}`".replace("typing.", "")]


def public(module: types.ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") in (module.__name__, "purlin._options") and not isinstance(thing, typing.TypeVar)
    ]


def main() -> None:
    pages = Path(sys.argv[1])
    text = ["# Python", "", documentation(purlin), "", "Options are keyword arguments; those left out have the default of the table."]
    text += ["[Installation, arrays, errors](../repository/bindings/python/README.md).", "", "## purlin"]
    shown = 0
    for name in purlin.__all__:
        thing = getattr(purlin, name)
        if not isinstance(thing, types.ModuleType):
            text += entry("", name, thing)
    public_modules = {name for name in purlin.__all__ if isinstance(getattr(purlin, name), types.ModuleType)}
    if missing := public_modules - set(MODULES):
        sys.exit(f"error: tools/site/python_reference.py: MODULES lacks {', '.join(sorted(missing))}")
    for module in MODULES:
        imported = importlib.import_module(f"purlin.{module}")
        text += ["", f"## purlin.{module}", "", documentation(imported)]
        for name in public(imported):
            thing = getattr(imported, name)
            if isinstance(thing, (types.FunctionType, type)):
                shown += 1
            text += entry(module, name, thing)
    if shown < 100:
        sys.exit(f"error: purlin: {shown} public names found")
    page = "\n".join(text)
    heads = {family: f"## purlin.{FAMILY_MODULES.get(family, family)}" for entry in OPTIONS for family in entry.families}
    expect_options("python", sections(page, {**heads, "context": "## purlin"}), OPTIONS, LEFT_OUT)
    (pages / "reference").mkdir(exist_ok=True)
    (pages / "reference/python.md").write_text(re.sub(r"\n{3,}", "\n\n", page) + "\n")


if __name__ == "__main__":
    main()
