#!/usr/bin/env python3
"""Writes THIRD-PARTY.txt: the licences and notices of all third-party code in libpurlin.so.

    tools/notices.py [FOLDER]      the folder is target/dist unless one is named

The name is the one that people look for beside LICENSE-MIT and LICENSE-APACHE, and differs from both: those are purlin's own
licence. Each distinct text is printed once, with the crates that use it. The texts are those in the sources of the crates,
as cargo has fetched them. It ends with an error, and writes nothing, if a crate has a licence that is not in ALLOWED, if the
text of its licence is missing, or if it brings a text of another licence.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from compiled_in import ROOT, Crate, compiled_in, host, output

# Licences that ask for no more than their text and the copyright notice, beside that of purlin.
ALLOWED = {"MIT", "Apache-2.0", "ISC", "0BSD", "Zlib", "BSD-2-Clause", "BSD-3-Clause", "Unicode-3.0"}
# Files of licences that the crate's `license` does not name. Those of SuiteSparse are of code that purlin's features of faer
# leave out; the file names do not promise that, so they are printed too.
FURTHER = {
    "faer": {
        "COPYING.EIGEN.MPL2": "MPL-2.0",
        "COPYING.LAPACK.BSD": "BSD-3-Clause",
        "COPYING.SUITE_SPARSE.AMD.BSD": "BSD-3-Clause",
        "COPYING.SUITE_SPARSE.COLAMD.BSD": "BSD-3-Clause",
    }
}
# Crates under the MIT licence whose archives have no text of it: they get the template, with the authors that they name.
WITHOUT_TEXT = {
    "equator 0.2.2",
    "faer 0.24.4",
    "faer-traits 0.24.0",
    "nano-gemm 0.2.2",
    "nano-gemm-c32 0.2.1",
    "nano-gemm-c64 0.2.1",
    "nano-gemm-core 0.2.1",
    "nano-gemm-f32 0.2.1",
    "nano-gemm-f64 0.2.1",
    "pulp-wasm-simd-flag 0.1.1",
}
# Crates in Rust's standard library that its own notices leave out, with their licences. A crate in neither is a problem.
# Of these licences Apache-2.0 asks for its text alone, and the Unlicense for nothing.
STANDARD = {
    "addr2line": "Apache-2.0 OR MIT",
    "adler2": "0BSD OR MIT OR Apache-2.0",
    "memchr": "Unlicense OR MIT",
    "miniz_oxide": "MIT OR Zlib OR Apache-2.0",
    "object": "Apache-2.0 OR MIT",
}
# Libraries of Rust's own tree, which its notices describe as "in-tree files".
IN_TREE = re.compile(r"(alloc|compiler_builtins|core|panic_\w+|proc_macro|profiler_builtins|rustc_std_workspace_\w+|std|std_detect|sysroot|test|unwind)$")

TEXT = re.compile(r"(licen[sc]e|unlicense|copying|copyright|notice|authors)([-._].*)?$", re.IGNORECASE)
BSD = "redistribution and use in source and binary forms"
GRANT = r"permission to use, copy, modify, and(/or)? distribute this software for any purpose with or without fee is hereby granted"
# Phrases that identify the text of a licence; blanks and letters' case do not count.
KINDS = {
    "MIT": re.compile("permission is hereby granted, free of charge, to any person obtaining a copy"),
    "Apache-2.0": re.compile("apache license,? version 2.0,? january 2004"),
    "ISC": re.compile(GRANT + ", provided that"),
    "0BSD": re.compile(GRANT + r"\."),
    "Zlib": re.compile("altered source versions must be plainly marked as such"),
    "BSD-3-Clause": re.compile(BSD + ".*neither the name"),
    "BSD-2-Clause": re.compile(BSD + "(?!.*neither the name)"),
    "Unicode-3.0": re.compile("unicode license v3"),
    "MPL-2.0": re.compile("mozilla public license version 2.0"),
    "GPL or LGPL": re.compile("gnu (lesser )?general public license version"),
}
PERMISSION = """\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
RULE = "=" * 100
HEAD = """\
Third-party software in purlin {version}

The shared library of purlin contains code of the packages below, compiled for {target}, and of Rust's standard
library. purlin itself is under the MIT or the Apache-2.0 licence, at your choice: LICENSE-MIT, LICENSE-APACHE. Where a
package offers several licences, all texts that it brings are printed. No file of any package was changed. NVIDIA's driver and
libraries are opened at run time if they are there; they are no part of the library.
"""
SOURCE = """\
Source code under the Mozilla Public License 2.0: {name} {version} contains algorithms that were ported from Eigen, which is
under that licence. Its whole source, unchanged, is to be had without charge at
  {archive}
  SHA-256 {checksum}
"""


def normalized(text: str) -> str:
    return " ".join(text.split())


def kinds(text: str) -> set[str]:
    """The licences whose texts are in a file."""
    plain = normalized(text).lower()
    return {kind for kind, pattern in KINDS.items() if pattern.search(plain)}


def alternatives(expression: str) -> list[set[str]]:
    """The sets of licences that an SPDX expression offers. WITH is refused: no crate has an exception."""
    words = re.findall(r"[()]|[^\s()]+", expression)

    def either() -> list[set[str]]:
        found = both()
        while words and words[0] == "OR":
            words.pop(0)
            found = found + both()
        return found

    def both() -> list[set[str]]:
        found = single()
        while words and words[0] == "AND":
            words.pop(0)
            further = single()
            found = [a | b for a in found for b in further]
        return found

    def single() -> list[set[str]]:
        word = words.pop(0) if words else ""
        if word == "(":
            inner = either()
            if not words or words.pop(0) != ")":
                raise ValueError(expression)
            return inner
        if word in {"", ")", "AND", "OR", "WITH"}:
            raise ValueError(expression)
        return [{word}]

    found = either()
    if words:
        raise ValueError(expression)
    return found


def texts_of(crate: Crate) -> dict[str, str]:
    """The licence texts and notices at the top of a crate's sources, by file."""
    files = sorted(f for f in crate.folder.iterdir() if f.is_file() and TEXT.match(f.name))
    return {f.name: f.read_text(encoding="utf-8", errors="replace") for f in files}


def examine(crate: Crate) -> tuple[dict[str, str], list[str]]:
    """The texts to print for a crate, and the faults in them."""
    texts, name = texts_of(crate), f"{crate.name} {crate.version}"
    further = FURTHER.get(crate.name, {})
    problems = [f"{name}: {f} is missing, or no text of {k}" for f, k in further.items() if k not in kinds(texts.get(f, ""))]
    for file, text in texts.items():
        if other := kinds(text) - ALLOWED - {further.get(file, "")}:
            problems.append(f"{name}: {file} is a text of {', '.join(sorted(other))}, which ALLOWED and FURTHER do not name")
    here = set().union(*(kinds(text) for file, text in texts.items() if file not in further))
    if name in WITHOUT_TEXT:
        if "MIT" in here:
            problems.append(f"{name}: has a text of MIT, so WITHOUT_TEXT must not name it")
        elif not crate.authors and not crate.repository:
            problems.append(f"{name}: names neither authors nor a repository for the template of the MIT licence")
        else:
            authors = ", ".join(re.sub(r"\s*<[^>]*>", "", author) for author in crate.authors)
            authors = authors or f"the authors of {crate.name}, {crate.repository}"
            texts["(template of the MIT licence)"] = f"MIT License\n\nCopyright (c) {authors}\n\n{PERMISSION}"
            here.add("MIT")
    try:
        offered = [licences for licences in alternatives(crate.licence) if licences <= ALLOWED]
    except ValueError:
        offered = []
    if not offered:
        problems.append(f"{name}: the licence is {crate.licence!r}, which ALLOWED does not cover")
    elif not any(licences <= here for licences in offered):
        problems.append(f"{name}: the licence is {crate.licence}, and the sources have no text of it in {crate.folder}")
    return texts, problems


def plain_text(page: str) -> str:
    """The text of a part of an HTML page."""
    page = re.sub(r"<(h[1-6]|p|div|details|li)\b[^>]*>", "\n", page)
    return "\n\n".join(line for line in map(normalized, html.unescape(re.sub(r"<[^>]+>", "", page)).splitlines()) if line)


def standard_library(page: str, libraries: Iterable[str], texts: Path) -> tuple[str, dict[str, str], list[str]]:
    """Of Rust's standard library: what its notices say of its own files, the texts of what is linked into it by label, and
    problems. `texts` is the folder with the licences that its own files have."""
    parts = re.split(r"(?=<h[23][ >])", page)
    packages = {m[1].replace("-", "_"): part for part in parts if (m := re.match(r"<h3>\W*([\w-]+?)-\d", part))}
    linked = sorted({name for name in libraries if not IN_TREE.match(name)})
    own = next((part for part in parts if part.startswith("<h2") and ">In-tree files<" in part[:80]), "")
    intro, found, problems = plain_text(own), dict[str, str](), list[str]()
    if not own:
        problems.append("the notices of the standard library have no part about the files of its own tree")
    for licence in sorted(set(re.findall(r"[\w.-]+", " ".join(re.findall("License:(.*)", intro)))) - {"OR", "AND", "WITH"}):
        file = texts / f"{licence}.txt"
        if file.is_file():
            found[f"Rust's standard library: {file.name}"] = file.read_text(encoding="utf-8")
        else:
            problems.append(f"the standard library has files under {licence}, of which {file} is no text")
    for name in linked:
        quoted = re.findall(r"<code>([^<]*)</code></summary>\s*<pre>(.*?)</pre>", packages.get(name, ""), re.DOTALL)
        for file, text in quoted:
            found[f"Rust's standard library, {name}: {file}"] = html.unescape(text)
        if not quoted and name not in STANDARD:
            problems.append(f"the standard library contains {name}, of which its notices and STANDARD say nothing")
    if further := [f"{name} ({STANDARD[name]})" for name in linked if name not in packages and name in STANDARD]:
        intro += f"\n\nFurther packages in it: {', '.join(further)}. Apache-2.0 is chosen where it is offered, else Unlicense."
    return intro + "\n", found, problems


def licence_of(crate: Crate) -> str:
    """The SPDX expression of all of a crate's code."""
    further = sorted(set(FURTHER.get(crate.name, {}).values()))
    first = f"({crate.licence})" if further and " OR " in crate.licence else crate.licence
    return " AND ".join([first, *further])


def notices(crates: list[Crate], standard: tuple[str, dict[str, str]], target: str) -> tuple[str, list[str]]:
    """The whole text, and all problems; `standard` is the first two results of `standard_library`."""
    problems: list[str] = []
    others = [crate for crate in crates if not crate.own]
    version = next((crate.version for crate in crates if crate.name == "purlin"), "")
    lines = [HEAD.format(version=version, target=target)]
    lines += [SOURCE.format(**vars(c), archive=c.archive) for c in others if "MPL-2.0" in licence_of(c)]
    width = max((len(f"{c.name} {c.version}") for c in others), default=0)
    lines.append("Packages\n")
    # One copy of each text, whatever its line breaks, and the files that hold it, in the order of the crates.
    users: dict[str, list[str]] = {}
    first: dict[str, str] = {}

    def add(label: str, text: str) -> None:
        first.setdefault(normalized(text), text)
        users.setdefault(normalized(text), []).append(label)

    for crate in others:
        name = f"{crate.name} {crate.version}"
        lines.append(f"  {name:{width}}  {licence_of(crate)}  {crate.repository or crate.archive}")
        texts, wrong = examine(crate)
        problems += wrong
        for file, text in texts.items():
            add(f"{name}: {file}", text)
    lines.append(f"\nRust's standard library {standard[0]}")
    for label, text in standard[1].items():
        add(label, text)
    for number, (key, files) in enumerate(users.items(), 1):
        lines.append(f"{RULE}\nText {number} of {len(users)}\n" + "".join(f"  {f}\n" for f in files) + f"{RULE}\n")
        lines.append(re.sub(r"[ \t]+$", "", first[key].replace("\r", ""), flags=re.MULTILINE).strip("\n") + "\n")
    return "\n".join(lines), problems


def of_toolchain(target: str) -> tuple[tuple[str, dict[str, str]], list[str]]:
    """The notices of the standard library of the compiler that builds purlin."""
    sysroot = Path(output(os.environ.get("RUSTC", "rustc"), "--print", "sysroot").strip())
    documents = sysroot / "share/doc/rust"
    page = documents / "COPYRIGHT-library.html"
    libraries = [f.name.removeprefix("lib").rsplit("-", 1)[0] for f in (sysroot / f"lib/rustlib/{target}/lib").glob("*.rlib")]
    if not page.is_file() or not libraries:
        return ("", {}), [f"{page} or the libraries of {target} are missing: the toolchain must be one of rustup"]
    intro, texts, problems = standard_library(page.read_text(encoding="utf-8"), libraries, documents / "licenses")
    return (f"{host()['release']}\n\n{intro}", texts), problems


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "target/dist", help="where the file is written")
    folder: Path = parser.parse_args(arguments).folder
    target = host()["host"]
    standard, wrong = of_toolchain(target)
    text, problems = notices(compiled_in(target), standard, target)
    if problems := wrong + problems:
        print(*problems, sep="\n", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "THIRD-PARTY.txt").write_text(text, encoding="utf-8")
    print(f"{folder / 'THIRD-PARTY.txt'}: {len(text.encode())} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
