"""The third-party notices and the bill of materials are complete, and faults in their sources are found.

    python3 tools/checks/third_party.py     asks cargo for the packages, and plants faults in copies
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from compiled_in import Crate, compiled_in, host  # noqa: E402
from notices import FURTHER, WITHOUT_TEXT, alternatives, examine, kinds, notices, of_toolchain, standard_library  # noqa: E402
from sbom import bill  # noqa: E402

# Packages that are compiled into the library, and those that only builds and tests run.
INSIDE = {"purlin", "purlin-base", "purlin-tt-contraction", "faer", "rayon-core", "libc", "tiff", "realfft", "cudarc"}
OUTSIDE = {"cc", "thiserror-impl", "bytemuck_derive", "criterion", "proptest", "cbindgen", "paste", "purlin-header"}


def check_list(crates: list[Crate]) -> list[str]:
    names = {crate.name for crate in crates}
    problems = [f"{name} is compiled in, but not listed" for name in sorted(INSIDE - names)]
    problems += [f"{name} is listed, but not compiled in" for name in sorted(OUTSIDE & names)]
    listed = {f"{crate.name} {crate.version}" for crate in crates}
    return problems + [f"WITHOUT_TEXT names {name}, which is not compiled in" for name in sorted(WITHOUT_TEXT - listed)]


def check_notices(crates: list[Crate], text: str) -> list[str]:
    """Each package is in the table, and every file of a licence is named with its text."""
    problems = []
    for crate in (c for c in crates if not c.own):
        name = f"{crate.name} {crate.version}"
        if not re.search(rf"^  {re.escape(name)} +\S", text, re.MULTILINE):
            problems.append(f"the notices do not list {name}")
        for file, content in examine(crate)[0].items():
            if f"\n  {name}: {file}\n" not in text:
                problems.append(f"the notices do not name {file} of {name}")
            if " ".join(content.split()) not in " ".join(text.split()):
                problems.append(f"the notices do not hold {file} of {name}")
    for needed in ("Mozilla Public License Version 2.0", "faer-0.24.4.crate", "Rust's standard library", "UNICODE LICENSE V3"):
        if needed.replace("0.24.4", next(c.version for c in crates if c.name == "faer")) not in text:
            problems.append(f"the notices do not say {needed}")
    return problems


def planted(crates: list[Crate], folder: Path) -> list[str]:
    """Faults that `examine` must find in copies of crates."""
    problems = []

    def expect(what: str, crate: Crate, fault: bool) -> None:
        if bool(examine(crate)[1]) != fault:
            problems.append(f"self-test: {what} is {'not found' if fault else 'refused'}: {crate.name} {crate.version}")

    empty = folder / "empty"
    empty.mkdir()
    others = [crate for crate in crates if not crate.own]
    for crate in others:
        name = f"{crate.name} {crate.version}"
        expect("the crate as it is", crate, False)
        expect("a missing text", replace(crate, folder=empty), name not in WITHOUT_TEXT or crate.name in FURTHER)
        expect("another licence", replace(crate, licence="GPL-3.0-only"), True)
        expect("no licence", replace(crate, licence=""), True)
        expect("one licence too many", replace(crate, licence=f"({crate.licence}) AND GPL-3.0-only"), True)
        expect("a licence more to choose", replace(crate, licence=f"GPL-3.0-only OR {crate.licence}"), False)
    sample = next(crate for crate in others if crate.name == "libc")
    copied = folder / "copied"
    copied.mkdir()
    for file, text in examine(sample)[0].items():
        (copied / file).write_text(text, encoding="utf-8")
    copy = replace(sample, folder=copied)
    expect("a copy", copy, False)
    (copied / "COPYING.GPL").write_text("GNU GENERAL PUBLIC LICENSE\n Version 3\n", encoding="utf-8")
    expect("a text of another licence", copy, True)
    faer = next(crate for crate in others if crate.name == "faer")
    for missing in FURTHER["faer"]:
        part = folder / missing
        part.mkdir()
        for file in set(FURTHER["faer"]) - {missing}:
            (part / file).write_text((faer.folder / file).read_text(encoding="utf-8"), encoding="utf-8")
        expect(f"the lack of {missing}", replace(faer, folder=part), True)
    return problems


def check_standard(target: str, folder: Path) -> list[str]:
    """The standard library's notices: an unknown package, and a page of another form, are found."""
    texts = folder / "licences"
    texts.mkdir()
    (texts / "MIT.txt").write_text("MIT", encoding="utf-8")
    page = (
        '<h2 id="a">In-tree files</h2><p><b>License:</b> MIT</p><h2>Out-of-tree dependencies</h2>'
        "<h3>📦 cfg-if-1.0.4</h3><summary><code>LICENSE</code></summary>\n<pre>a &#60;b&#62;\n</pre>"
    )
    _, found, problems = standard_library(page, ["core", "cfg_if"], texts)
    wrong = [f"self-test: {problem}" for problem in problems]
    if found.get("Rust's standard library, cfg_if: LICENSE") != "a <b>\n" or len(found) != 2:
        wrong.append(f"self-test: texts of the standard library are {found}")
    if len(standard_library(page, ["core", "cfg_if", "intruder"], texts)[2]) != 1:
        wrong.append("self-test: an unknown package of the standard library is not found")
    if len(standard_library(page.replace("> MIT", "> BSD-9"), ["core"], texts)[2]) != 1:
        wrong.append("self-test: a licence of the standard library without a text is not found")
    if not standard_library("<h2>Other</h2>", ["core"], texts)[2]:
        wrong.append("self-test: a page without the part of the standard library's own files is taken")
    return wrong + of_toolchain(target)[1]


def check_expressions() -> list[str]:
    cases: list[tuple[str, list[set[str]]]] = [
        ("MIT", [{"MIT"}]),
        ("MIT OR Apache-2.0", [{"MIT"}, {"Apache-2.0"}]),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", [{"MIT", "Unicode-3.0"}, {"Apache-2.0", "Unicode-3.0"}]),
        ("MIT OR Zlib AND ISC", [{"MIT"}, {"Zlib", "ISC"}]),
    ]
    problems = [f"self-test: {text} is read as {alternatives(text)}" for text, sets in cases if alternatives(text) != sets]
    for text in ("", "MIT OR", "(MIT", "MIT)", "MIT WITH LLVM-exception", "MIT Apache-2.0"):
        try:
            problems.append(f"self-test: {text!r} is read as {alternatives(text)}")
        except ValueError:
            pass
    if kinds("Redistribution and use in source and binary forms") != {"BSD-2-Clause"}:
        problems.append("self-test: the text of BSD-2-Clause is not known")
    return problems


def check_bill(crates: list[Crate], document: dict[str, Any]) -> list[str]:
    """The fields that CycloneDX 1.5 asks for; unique references; every package is reached from purlin."""
    problems = []
    if (document.get("bomFormat"), document.get("specVersion"), document.get("version")) != ("CycloneDX", "1.5", 1):
        problems.append("bill: bomFormat, specVersion and version are wrong")
    uuid = r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    if not re.fullmatch(uuid, document.get("serialNumber", "")):
        problems.append("bill: the serial number is no UUID")
    root = document["metadata"]["component"]
    components = [root, *document["components"]]
    references = [component["bom-ref"] for component in components]
    if len(set(references)) != len(references):
        problems.append("bill: two components have one reference")
    if missing := {crate.reference for crate in crates} - set(references):
        problems.append(f"bill: {sorted(missing)} are missing")
    for component in components:
        if component.get("type") != "library" or not component.get("name") or not component.get("version"):
            problems.append(f"bill: type, name or version of {component} is missing")
        if not re.fullmatch(r"pkg:(cargo|generic)/[\w.-]+@[\w.%-]+", component.get("purl", "")):
            problems.append(f"bill: purl of {component} is missing")
        if [list(entry) for entry in component.get("licenses", [])] != [["expression"]]:
            problems.append(f"bill: {component['bom-ref']} has no licence expression")
        hashes = component.get("hashes", [])
        own = component["name"].startswith("purlin") or component["bom-ref"].startswith("pkg:generic")
        if len(hashes) != (0 if own else 1) or any(not re.fullmatch("[0-9a-f]{64}", h["content"]) for h in hashes):
            problems.append(f"bill: hashes of {component['bom-ref']} are {hashes}")
    needs = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
    if set(needs) != set(references) or len(document["dependencies"]) != len(references):
        problems.append("bill: dependencies are not an entry a component")
    reached, waiting = set(), [root["bom-ref"]]
    while waiting:
        if (reference := waiting.pop()) not in reached:
            reached.add(reference)
            waiting += needs.get(reference, [])
    if reached != set(references):
        problems.append(f"bill: purlin does not lead to {sorted(set(references) - reached)}, or leads to more")
    return problems


def check_bills(crates: list[Crate], compiler: str) -> list[str]:
    problems = check_bill(crates, bill(crates, compiler))
    if bill(crates, compiler) != bill(list(crates), compiler):
        problems.append("bill: two of the same sources differ")
    faults: list[Callable[[dict[str, Any]], object]] = [
        lambda d: d["components"].append(d["components"][0]),
        lambda d: d["components"].pop(0),
        lambda d: d["components"][0].pop("purl"),
        lambda d: d["components"][0].pop("hashes"),
        lambda d: d["dependencies"].pop(),
        lambda d: d.update(specVersion="1.4"),
    ]
    for number, fault in enumerate(faults):
        document = bill(crates, compiler)
        fault(document)
        if not check_bill(crates, document):
            problems.append(f"self-test: fault {number} of the bill of materials is not found")
    return problems


def main() -> int:
    compiler = host()
    crates = compiled_in(compiler["host"])
    standard, _ = of_toolchain(compiler["host"])
    text, problems = notices(crates, standard, compiler["host"])
    problems += check_list(crates) + check_notices(crates, text) + check_expressions()
    with tempfile.TemporaryDirectory() as folder:
        problems += planted(crates, Path(folder)) + check_standard(compiler["host"], Path(folder))
    problems += check_bills(crates, compiler["release"])
    print(*problems, sep="\n", end="\n" if problems else "")
    if not problems:
        print(f"{sum(not crate.own for crate in crates)} packages, {len(text.encode())} bytes of notices")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
