"""Writes the reference of C, C++, Fortran and MATLAB: reference.py PAGES

PAGES is the folder of the site's pages, in which api/c has Doxygen's output and api/purlin.tag its list of names. Standard
library only.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from texts import FAMILIES, ROOT, escaped, expect_options, interface, option_tables, sections, write

FORTRAN = ROOT / "bindings/fortran"
MATLAB = ROOT / "bindings/matlab/+purlin"
DOCUMENTATION = "!>"


def expect_tables(page: str, text: list[str]) -> None:
    """Fails for a page whose tables lack an option of the header."""
    heads = {family: f"### Options: {title}" for family, title in FAMILIES.items()}
    expect_options(page, sections("\n".join(text), heads), interface()[0], set())


def c_pages(pages: Path) -> None:
    """The C functions by the objects they belong to, the C++ classes, with links to Doxygen's pages."""
    tags = ET.parse(pages / "api/purlin.tag").getroot()
    functions: dict[str, list[str]] = {}
    header = (ROOT / "include/purlin.h").read_text()
    briefs = {}
    for comment, name in re.findall(r"/\*\*(.*?)\*/\s*(?:[A-Z_]+\s+)?[\w ]+?[ *](purlin_\w+)\(", header, re.S):
        text = re.sub(r"\n\s*\* ?", "\n", comment).strip()
        briefs[name] = re.split(r"(?<=[.:])\s|\n\n|\n@", text, maxsplit=1)[0].replace("\n", " ").rstrip(":")
    objects = sorted(re.findall(r"typedef struct purlin_(\w+) purlin_\1;", header), key=len, reverse=True)
    for member in tags.iterfind(".//compound[@kind='file']/member[@kind='function']"):
        name, file, anchor = (member.findtext(part, "") for part in ("name", "anchorfile", "anchor"))
        if not name.startswith("purlin_"):
            continue
        rest = name[len("purlin_") :]
        group = next((o for o in objects if rest.startswith(o + "_")), rest.split("_")[0])
        row = f"| [`{name}`](../api/c/{file}#{anchor}) | {escaped(briefs.get(name, ''))} |"
        functions.setdefault(group, []).append(row)
    count = sum(map(len, functions.values()))
    if count < header.count("PURLIN_MUST_USE") // 2 or not briefs:
        raise SystemExit(f"error: api/purlin.tag: {count} functions of the header")
    # A group of one function is no heading of its own.
    single = [rows[0] for rows in functions.values() if len(rows) == 1]
    text = ["# C", "", "Every function, struct and constant with all its parameters: [purlin.h](../api/c/index.html).", ""]
    text += [f"There are {count} functions. Rules of all of them, such as errors and ownership, begin that page."]
    for group, rows in sorted(functions.items()):
        if len(rows) > 1:
            text += ["", f"## {group}", "", "| function | |", "| --- | --- |", *sorted(set(rows))]
    text += ["", "## Others", "", "| function | |", "| --- | --- |", *sorted(single)]
    text += ["", "## Options", "", "NULL in place of a struct means these defaults.", "", option_tables(interface()[0])]
    expect_tables("c", text)
    write(pages, "c", text)

    classes: list[str] = []
    for compound in sorted(tags.iterfind("compound"), key=lambda c: c.findtext("name", "")):
        name, file = compound.findtext("name", ""), compound.findtext("filename", "")
        if compound.get("kind") in ("class", "struct") and re.fullmatch(r"purlin::[\w:]+", name):
            members = [m.findtext("name", "") for m in compound.iterfind("member[@kind='function']")]
            own = name.split("::")[-1]
            shown = dict.fromkeys(m for m in members if m != own and not m.startswith(("~", "operator")))
            classes.append(f"| [`{name}`](../api/c/{file}) | {', '.join(f'`{m}`' for m in shown)} |")
    free = []
    for compound in tags.iterfind("compound[@kind='namespace']"):
        name = compound.findtext("name", "")
        for member in compound.iterfind("member[@kind='function']"):
            link = f"../api/c/{member.findtext('anchorfile')}#{member.findtext('anchor')}"
            free.append(f"| [`{name}::{member.findtext('name')}`]({link}) | `{member.findtext('arglist')}`".replace("&&", "&") + " |")
    if not classes:
        raise SystemExit("error: api/purlin.tag: no class of C++")
    text = ["# C++", "", "`#include <purlin.hpp>`: owners of the C objects, errors as exceptions. Option structs derive from the C"]
    text += ["structs, so that options and defaults are those of [the C page](c.md#options).", ""]
    text += ["## Classes", "", "| class | members |", "| --- | --- |", *classes, "", "## Functions", "", "| function | arguments |"]
    text += ["| --- | --- |", *sorted(set(free))]
    write(pages, "cpp", text)


def joined(text: str) -> list[str]:
    """Lines of Fortran, continued ones as one."""
    return re.sub(r"&\s*\n\s*&?", "", text).split("\n")


class Module:
    """The public names of a source file of the Fortran binding."""

    def __init__(self, path: Path) -> None:
        self.lines = joined(path.read_text())
        self.public = set(re.findall(r"\w+", " ".join(m[1] for line in self.lines if (m := re.match(r"\s*public\s*::\s*(.*)", line)))))
        self.documentation: dict[str, str] = {}
        self.signature: dict[str, str] = {}
        self.bound: dict[str, dict[str, list[str]]] = {}
        self.generic: dict[str, list[str]] = {}
        self.head = ""
        self._read()

    def _read(self) -> None:
        pending: list[str] = []
        type_name = generic = ""
        for k, line in enumerate(self.lines):
            text = line.strip()
            if text.startswith(DOCUMENTATION):
                pending.append(text[len(DOCUMENTATION) :].strip())
                continue
            said, pending = " ".join(pending), []
            if m := re.match(r"module (\w+)$", text):
                self.head = said
            elif m := re.match(r"type(?:,[^:]*)?\s*::\s*(\w+)", text):
                type_name = m[1]
                self.documentation[type_name], self.bound[type_name] = said, {}
            elif text.startswith("end type"):
                type_name = ""
            elif type_name and (m := re.match(r"procedure\s*(?:,[^:]*)?::\s*(\w+)\s*(?:=>\s*(\w+))?", text)):
                if "private" not in text.split("::")[0]:
                    self.bound[type_name].setdefault(m[1], []).append(m[2] or m[1])
            elif type_name and (m := re.match(r"generic\s*(?:,[^:]*)?::\s*(\w+)\s*=>\s*(.*)", text)):
                self.bound[type_name].setdefault(m[1], []).extend(re.findall(r"\w+", m[2]))
            elif m := re.match(r"interface (\w+)$", text):
                generic = m[1]
                self.documentation.setdefault(generic, said)
            elif text.startswith("end interface"):
                generic = ""
            elif generic and (m := re.match(r"module procedure\s*(?:::)?\s*(.*)", text)):
                self.generic.setdefault(generic, []).extend(re.findall(r"\w+", m[1]))
            elif m := re.match(r"(?:[\w() ]*\b)?(subroutine|function) (\w+)\s*\((.*?)\)", text):
                if not text.startswith("end"):
                    self.documentation.setdefault(m[2], said)
                    self.signature[m[2]] = self._signature(k, m[1], m[2], m[3])

    def _signature(self, at: int, kind: str, name: str, arguments: str) -> str:
        """The arguments with their types; those that may be left out in brackets."""
        declared: dict[str, str] = {}
        within_interface = False
        for line in self.lines[at + 1 :]:
            if re.match(r"\s*(end )?interface\b", line):
                within_interface = "end" not in line
            elif within_interface:
                # An argument that is a function of the caller.
                if (m := re.match(r"\s*((?:subroutine|function) (\w+)\s*\(.*?\))", line)) and "end" not in line.split()[0]:
                    declared[m[2]] = m[1]
                continue
            if re.match(rf"\s*end {kind}", line):
                break
            if m := re.match(r"\s*((?:type|class|real|complex|integer|character|logical|procedure)\b.*?)\s*::\s*(.*)", line):
                for variable in re.findall(r"(\w+)(\([^()]*\))?", m[2]):
                    declared.setdefault(variable[0], m[1] + (", dimension" + variable[1] if variable[1] else ""))
        rows = []
        for argument in re.findall(r"\w+", arguments):
            if argument == "self":
                continue
            if argument not in declared:
                raise SystemExit(f"error: bindings/fortran: {name}: no type found of the argument {argument}")
            what = declared[argument]
            optional = ", optional" in what
            intent = re.search(r"intent\((\w+)\)", what)
            kept = re.sub(r",\s*(optional|intent\(\w+\)|target|contiguous|value)", "", what)
            rows.append(f"| `{argument}` | {'optional ' if optional else ''}{intent[1] if intent else ''} | `{kept}` |")
        return "\n".join(["| argument | | type |", "| --- | --- | --- |", *rows]) if rows else "No arguments."


def procedures(module: Module, title: str, names: list[str]) -> list[str]:
    known = [n for n in names if n in module.signature]
    said = next((module.documentation[n] for n in known if module.documentation.get(n)), "")
    lines = ["", title, "", escaped(said)]
    if known:
        lines += ["", module.signature[known[0]]]
        if len(known) > 1:
            lines += ["", f"Also for other types and ranks of the arrays: {len(known)} forms in all."]
    return lines


def fortran_page(pages: Path) -> None:
    options = option_tables(interface()[0])
    text = ["# Fortran", "", "`use purlin`. Every procedure has `stat` and `errmsg`, as `allocate` has. Sizes and indices may also be"]
    text += ["default integers. [How to link it](../repository/bindings/fortran/README.md)."]
    shown = 0
    for path in sorted(FORTRAN.glob("purlin_*.f90")):
        if re.match(r"purlin_(c|types|integers|strides)\b|purlin_c_", path.stem):
            continue
        module = Module(path)
        names = sorted(module.public & (set(module.documentation) | set(module.generic)))
        if not names:
            continue
        text += ["", f"## {path.stem.removeprefix('purlin_')}", "", escaped(module.head)]
        for name in names:
            if name in module.bound:
                text += ["", f"### {name}", "", escaped(module.documentation[name])]
                for bound, targets in module.bound[name].items():
                    text += procedures(module, f"#### `{name}%{bound}`", targets)
                    shown += 1
            else:
                text += procedures(module, f"### {name}", module.generic.get(name, [name]))
                if not module.documentation.get(name) == "" and module.documentation.get(name):
                    text += ["", escaped(module.documentation[name])] if module.documentation[name] not in "\n".join(text[-8:]) else []
                shown += 1
    if shown < 100:
        raise SystemExit(f"error: bindings/fortran: {shown} public procedures found")
    text += ["", "## Options", "", "`call purlin_init(options)` gives a struct these defaults. `NULL` is a null pointer.", "", options]
    expect_tables("fortran", text)
    write(pages, "fortran", text)


def help_texts(text: str) -> list[tuple[str, str]]:
    """The help texts of a file and of the public methods of a class: (first line of code, comment)."""
    lines = text.split("\n")
    found = []
    for k, line in enumerate(lines[:-1]):
        if re.match(r"\s*(function|classdef)\b", line):
            while lines[k].rstrip().endswith("..."):
                k += 1
            comment = []
            for after in lines[k + 1 :]:
                if not after.lstrip().startswith("%"):
                    break
                comment.append(re.sub(r"^\s*% ?", "", after))
            if comment:
                found.append((line.strip(), "\n".join(comment)))
            if line.startswith("function"):
                break
    return found


def matlab_page(pages: Path) -> None:
    text = ["# MATLAB and Octave", "", "The help texts; `help purlin.rsvd` prints them. Names and values are given in pairs."]
    text += ["[How to build it](../repository/bindings/matlab/README.md)."]
    shown = set()
    for line in (MATLAB / "Contents.m").read_text().split("\n"):
        entry = re.match(r"%   (\w+) +- (.*)", line)
        if entry and (MATLAB / f"{entry[1]}.m").exists():
            shown.add(entry[1])
            text += ["", f"### {entry[1]}", "", escaped(entry[2])]
            parts = help_texts((MATLAB / f"{entry[1]}.m").read_text())
            if not parts:
                raise SystemExit(f"error: bindings/matlab/+purlin/{entry[1]}.m: no help")
            for code, comment in parts:
                described, example, run = comment.partition("\n   Example\n") if "\n   Example\n" in comment else comment.partition("\n  Example\n")
                if code.startswith("function") and len(parts) > 1:
                    text += ["", f"`{code.removeprefix('function ')}`"]
                text += ["", "```text", described.rstrip(), "```"]
                if run.strip():
                    text += ["", "```matlab", re.sub(r"(?m)^ {2,5}", "", run.rstrip()).lstrip("\n"), "```"]
        elif m := re.match(r"% ([A-Z].*)", line):
            text += ["", f"## {m[1]}"]
    absent = {p.stem for p in MATLAB.glob("*.m")} - shown - {"Contents"}
    if absent:
        raise SystemExit(f"error: bindings/matlab/+purlin/Contents.m: lacks {', '.join(sorted(absent))}")
    text += ["", "## Options", "", "The values that options have in C; words are the constants in lower case.", "", option_tables(interface()[0])]
    expect_tables("matlab", text)
    write(pages, "matlab", text)


def index_page(pages: Path) -> None:
    text = ["# Reference", "", "One name has one meaning in all languages; [the names side by side](../interface.md).", ""]
    text += ["| language | page | full documentation |", "| --- | --- | --- |"]
    text += ["| C | [functions and options](c.md) | [purlin.h](../api/c/index.html) |"]
    text += ["| C++ | [classes](cpp.md) | [purlin.hpp](../api/c/annotated.html) |"]
    text += ["| Python | [modules, classes, options](python.md) | `help(purlin.rsvd)` |"]
    text += ["| Fortran | [types and procedures](fortran.md) | |"]
    text += ["| MATLAB, Octave | [help texts](matlab.md) | `help purlin.rsvd` |"]
    text += ["| Rust | [crates and options](rust.md) | `cargo doc` |"]
    text += ["| shell | [options of the command](command.md) | `purlin COMMAND --help` |"]
    write(pages, "index", text)


def main() -> None:
    pages = Path(sys.argv[1])
    index_page(pages)
    c_pages(pages)
    fortran_page(pages)
    matlab_page(pages)


if __name__ == "__main__":
    main()
