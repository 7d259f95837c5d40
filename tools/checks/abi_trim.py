"""Trims abidw's output to the types that the exported functions reach, so that the baseline is small and stable.

abidw's own --exported-interfaces-only leaves out every Rust function. Names of compilation units hold a hash that
changes with each build, and the standard library's units have none of purlin's types.
"""

import sys
import xml.etree.ElementTree as ElementTree


def main(source: str, destination: str) -> None:
    tree = ElementTree.parse(source)
    corpus = tree.getroot()
    types = {element.get("id"): element for element in corpus.iter() if element.get("id")}

    # All types that a function's parameters and result refer to.
    kept: set[ElementTree.Element] = set()
    # abidw also lists methods of Rust types, which have no symbol that a caller could use.
    exported = {symbol.get("name") for symbol in corpus.iter("elf-symbol")}
    waiting = [function for function in corpus.iter("function-decl") if function.get("elf-symbol-id") in exported]
    missing = exported - {function.get("elf-symbol-id") for function in waiting}
    if missing:
        sys.exit(f"abidw has no type of {', '.join(sorted(missing))}: was the library built with full type information?")
    while waiting:
        element = waiting.pop()
        if element in kept:
            continue
        kept.add(element)
        for part in element.iter():
            kept.add(part)
            # A field or parameter names its type; a declaration may name its definition.
            for attribute in ("type-id", "naming-typedef-id", "def-of-decl-id"):
                target = types.get(part.get(attribute, ""))
                if target is not None and target not in kept:
                    waiting.append(target)

    def prune(parent: ElementTree.Element) -> None:
        for child in list(parent):
            if child in kept:
                continue
            prune(child)
            if child.tag in ("abi-instr", "namespace-decl") and len(child) > 0:
                continue
            parent.remove(child)

    for unit in list(corpus.iter("abi-instr")):
        prune(unit)
        unit.attrib.pop("comp-dir-path", None)
    for child in list(corpus):
        # The libraries needed are checked elsewhere, with a reason for each.
        if child.tag == "elf-needed" or (child.tag == "abi-instr" and len(child) == 0):
            corpus.remove(child)
    # Each unit by a name of its own: of several with one name abidiff reads only one.
    for number, unit in enumerate(corpus.iter("abi-instr"), 1):
        unit.set("path", f"purlin-{number}")
    for element in corpus.iter():
        for attribute in ("filepath", "line", "column"):
            element.attrib.pop(attribute, None)
    ElementTree.indent(tree)
    tree.write(destination, encoding="unicode")
    with open(destination, "a") as file:
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
